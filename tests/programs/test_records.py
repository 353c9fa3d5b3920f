#!/usr/bin/env python3
"""Folders of records that models/train/ would take for done though other text made them: without PyTorch and models.

usage: test_records.py
"""
import json, lzma, pathlib, subprocess, sys, tempfile, unittest

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
