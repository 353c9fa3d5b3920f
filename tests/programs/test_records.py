#!/usr/bin/env python3
"""models/train/ as far as it goes without PyTorch and models: records that other text made, what is read, split and cut.

usage: test_records.py
"""
import json, lzma, pathlib, random, subprocess, sys, tempfile, types, unittest, unittest.mock

TRAIN = pathlib.Path(__file__).resolve().parents[2] / "models/train"
# Stands in for what is not on every machine. Nothing is left to compute where all folders are there.
WITHOUT_TORCH = """
import sys, unittest.mock
sys.dont_write_bytecode = True
for name in "torch", "numpy", "safetensors", "safetensors.torch", "writer":
    sys.modules[name] = unittest.mock.MagicMock()
import write_answers
write_answers.save_target = lambda *_: None
import record_features
{"record_features": record_features, "write_answers": write_answers}[sys.argv.pop(1)].main()
"""


class Data(unittest.TestCase):
    """data.py and the filters of kinds.py."""

    @classmethod
    def setUpClass(cls):
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(TRAIN))
        with unittest.mock.patch.dict(sys.modules, torch=unittest.mock.MagicMock()):
            import data, kinds
        cls.data, cls.kinds = data, kinds

    def test_read(self):
        lines = "".join(json.dumps({"prompt": p, "text": "a\u2028b", "ended": p == "x", **more}, ensure_ascii=False) + "\n"
                        for p, more in (("x", {}), ("y", {"plain": True})))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertRaises(SystemExit, self.data.read, folder)
            (folder / "a.jsonl").write_text(lines)
            with lzma.open(folder / "b.jsonl.xz", "wt") as out:
                out.write(lines)
            (folder / "c.txt").write_text("plain")
            read = self.data.read(folder)
        self.assertEqual(read, [("", "plain", True)] + 2 * [("x", "a\u2028b", True), ("y", "a\u2028b", False)])
        words = types.SimpleNamespace(encode_batch_fast=lambda texts: [types.SimpleNamespace(ids=list(t.encode())) for t in texts])
        frame = len(self.data.conversation("x"))
        (plain, _), (chat, weights), (on, all_ones), *_ = self.data.encode(words, 0, read, chat=True, prompt_weight=0.25)
        self.assertEqual((chat[-1], len(chat), weights), (0, frame + 6, [0.25] * frame + [1.0] * 6))
        self.assertEqual((bytes(on).decode(), all_ones), ("ya\u2028b", [1.0] * 6))  # no end: it goes on; Plain has no frame

    def test_split_hangs_on_the_prompt_alone(self):
        entries = [(f"prompt {i % 500}", str(i), True) for i in range(1000)] + [("", "document", True)]
        train, held = self.data.split(entries, 0.1, self.data.SPLIT)
        self.assertFalse({p for p, _, _ in train} & {p for p, _, _ in held})
        self.assertIn(entries[-1], train)
        self.assertTrue(60 < len(held) < 140)
        self.assertEqual(self.data.split(entries[::-1][:700], 0.1, self.data.SPLIT)[1], [e for e in entries[::-1][:700] if e in held])

    def test_every_token_is_wanted_once(self):
        for n in range(3, 40):
            for seed in None, 1, 2:
                cut = self.data.pieces([(list(range(n)), [1.0] * n)], 8, seed and random.Random(seed))
                wanted = [i for ids, _ in cut for i in ids[1:]]
                self.assertEqual(len(set(wanted)), len(wanted))
                self.assertLessEqual(n - 1 - len(wanted), 2)  # windows of two tokens are left out
                self.assertTrue(all(2 < len(ids) <= 9 for ids, _ in cut))
        made = self.data.together([3, 9, 1, 4, 4], lambda x: x, 9)
        self.assertEqual(made, [[9], [4, 4], [3, 1]])

    def test_filters(self):
        self.assertTrue(self.kinds.good("Why is the sky so blue?"))
        for bad in "Why is it?", "well well well well why", "Wo ist \u4e2d\u4e2d\u4e2d\u4e2d die Stadt?":
            self.assertFalse(self.kinds.good(bad), bad)
        self.assertEqual(self.kinds.turns("q", "a", "m").count("<|im_end|>"), 2)
        rng = random.Random(1)
        for _ in range(50):
            self.assertEqual(len(self.kinds.misspelt("seven words stand here beside one another", rng).split()), 7)


class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "records"

    def entries(self, first, n):
        return [{"kind": "lists", "prompt": f"prompt {i}", "text": "a\u2028b", "ended": True} for i in range(first, first + n)]

    def write(self, name, entries):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries))
        return file.parent

    def main(self, script, *arguments):
        """The exit status, and what it says on standard error."""
        done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, script, "--gguf", "none", "--out", self.out, "--threads", "1", *arguments],
                              cwd=TRAIN, stderr=subprocess.PIPE, timeout=60)
        return done.returncode, done.stderr.decode()

    def test_record_features(self):
        text = self.write("text/a.jsonl", self.entries(0, 5))
        other = self.write("other/a.jsonl", self.entries(3, 5))
        shard = self.write("records/home-1-00000/text.jsonl", self.entries(0, 5)[::-1])
        self.assertEqual(self.main("record_features", "--text", text), (0, ""))
        file = shard / "text.jsonl"
        for arguments in (("--text", other), ("--text", text, "--limit", "2")):
            status, said = self.main("record_features", *arguments)
            self.assertEqual(status, 1)
            self.assertIn(f"{file}: line ", said)
            self.assertIn(f"not {arguments[1]}, or another --seed or --kind", said)
        self.write("text/b.jsonl", self.entries(5, 2))
        self.assertIn(f"{file}: 5 lines: made of other text", self.main("record_features", "--text", text)[1])

    def test_write_answers(self):
        prompts = self.write("prompts/0000.jsonl", self.entries(0, 5))
        other = self.write("other/0000.jsonl", self.entries(3, 5))
        shard = self.write("records/0000-00000/text.jsonl", self.entries(0, 5)[1:])  # one was degenerate
        self.assertEqual(self.main("write_answers", "--prompts", prompts), (0, ""))
        status, said = self.main("write_answers", "--prompts", other)
        self.assertEqual(status, 1)
        self.assertIn(f"{shard / 'text.jsonl'}: line 1: made of other text", said)
        self.assertIn(f"--prompts, --longest and --batch as they were, not {other}", said)
        (shard / "text.jsonl").unlink()  # somebody is at it
        self.assertEqual(self.main("write_answers", "--prompts", other), (0, ""))

    def test_pack(self):
        made = [self.write(f"records/{name}/text.jsonl", self.entries(first, 2)) / "text.jsonl"
                for name, first in (("0000-00000", 0), ("0000-00256", 2), ("home-1-00000", 4), ("0000-00512.part", 6))]
        self.assertEqual(self.main("write_answers", "--pack", self.folder / "text"), (0, ""))
        packed = {f.name: lzma.open(f).read() for f in (self.folder / "text").iterdir()}
        self.assertEqual(packed, {"0000.jsonl.xz": made[0].read_bytes() + made[1].read_bytes(), "home-1.jsonl.xz": made[2].read_bytes()})


if __name__ == "__main__":
    unittest.main()
