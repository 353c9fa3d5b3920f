#!/usr/bin/env python3
"""What scripts/write_results_pages.py reads of rows, and what it refuses."""
import copy, hashlib, json, pathlib, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import write_results_pages
from write_results_pages import Data, Unreadable, written

ROW = {"rule": "slem", "temperature": 0.0, "tokens": 64, "tokens_per_second": 20.0, "tokens_per_target_call": 2.5, "speedup": 1.5, "texts": 4,
       "identical_texts": 4, "precision": "bf16", "kernel": "avx2", "threads": 2, "costs": [0.1, 0, 1, 1, 1, 1, 1.25],
       "conditional_acceptance_by_position": [0.5, 0.25]}
STUDY = {"model": "smollm2", "temperature": 0.0, "rule": "slem", "tokens": 8, "tokens_per_second": 2.0, "speedup": 1.1,
         "tokens_per_target_call": None, "same_text": "1/8"}
CAPTION = {"date": "2026-11-28", "commit": None, "cpu": "a CPU", "compiler": "g++ 12", "runs": 1, "weights": {}, "command": "measure it"}


class ResultsPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "data").mkdir()
        (self.root / "models/drafter").mkdir(parents=True)
        (self.root / "models/drafter/model.safetensors").write_text("weights")
        (self.root / "page.md").write_text("It was 1.25 times as fast.\n")
        self.caption = copy.deepcopy(CAPTION)
        self.caption["weights"]["drafter"] = hashlib.sha256(b"weights").hexdigest()
        self.cells = [{"arguments": f"--threads 2 {kind}", "rows": [{**ROW, "speedup": speedup}, {**ROW, "rule": "autoregressive"}]}
                      for kind, speedup in (("home", 1.5), ("lists", 2.0), ("travel", 1.75))]
        self.study = [copy.deepcopy(STUDY)]
        self.recorded = [{"what": "slem", "figures": [1.25], "cpu": "a CPU", "date": "2026-11-27", "page": "page.md"}]

    def data(self, captions=None, lines=None, study=None):
        folder = self.root / "data"
        captions = {"a.jsonl": self.caption, "openvino-zen3.json": self.caption} if captions is None else captions
        (folder / "captions.json").write_text(json.dumps(captions))
        (folder / "recorded.json").write_text(json.dumps(self.recorded))
        (folder / "a.jsonl").write_text("".join(json.dumps(cell) + "\n" for cell in self.cells) if lines is None else lines)
        (folder / "openvino-zen3.json").write_text(json.dumps(self.study) if study is None else study)
        return Data(folder, self.root / "models", self.root)

    def refused(self, said, **changes):
        with self.assertRaises(Unreadable) as caught:
            self.data(**changes)
        self.assertIn(said, str(caught.exception))

    def test_a_table_has_the_rows_their_median_and_a_caption(self):
        text = write_results_pages.kinds_table(self.data(), [("`slem`", "a.jsonl", "slem")])
        self.assertIn("| home | 2.50, 1.50x |\n", text)
        self.assertIn("| travel (held out) | 2.50, 1.75x |\n", text)
        self.assertIn("| median (lowest speed-up) | 2.50, 1.75x (1.50) |\n", text)
        self.assertIn("a CPU, 28 November 2026, one run, 2 threads, 4 prompts a kind.", text)
        self.assertIn("Plain decoding made 20 to 20 tokens a second.", text)
        self.assertIn("Commit: not\nrecorded; compiler: g++ 12.\n\n    measure it\n", text)
        self.assertEqual(write_results_pages.positions(ROW), "50, 25")

    def test_the_figures_of_the_repository_are_those_of_its_rows(self):
        data = Data()
        rows = {kind: found["slem+lookup"] for kind, found in data.kinds["zen3-text-t0-bf16.jsonl"].items()}
        self.assertEqual(write_results_pages.medians(rows), ("2.31", "1.63 (1.20)"))
        self.assertIn("| T = 1, BF16 | own tokenizer, `tli-block` | 1.50 | 1.26 (0.82) | |\n", write_results_pages.decodings(data, True))

    def test_a_page_gets_its_tables_and_keeps_the_rest(self):
        before = "# A\n\n<!-- table: decodings-readme -->\nold\n<!-- end of table -->\n\nprose\n"
        made = set()
        after = written(before, Data(), "a.md", made)
        self.assertTrue(after.startswith("# A\n\n<!-- table: decodings-readme -->\n\n| decoding |"))
        self.assertTrue(after.endswith("\n\n<!-- end of table -->\n\nprose\n"))
        self.assertEqual(made, {"decodings-readme"})
        self.assertEqual(written(after, Data(), "a.md", made), after)
        with self.assertRaisesRegex(Unreadable, "a.md: marks a table nothing; expected one of"):
            written(before.replace("decodings-readme", "nothing"), Data(), "a.md", made)

    def test_rows_that_cannot_be_read_are_named_with_file_line_and_field(self):
        for change, said in ((lambda row: row.pop("speedup"), ":2: rows[0]: expected a field speedup"),
                             (lambda row: row.update(speedup="1.5"), ':2: rows[0]: speedup: expected a whole number or a number, found "1.5"'),
                             (lambda row: row.update(tokens=True), ":2: rows[0]: tokens: expected a whole number, found true"),
                             (lambda row: row.update(speedup=float("nan")), ":2: expected a number or null, found NaN"),
                             (lambda row: row.update(costs=[1, 2]), ":2: rows[0]: costs: expected at least 7 numbers, found 2"),
                             (lambda row: row.update(identical_texts=3), ":2: rows[0]: identical_texts: expected 4 at temperature 0, found 3")):
            with self.subTest(said=said):
                self.setUp()
                change(self.cells[1]["rows"][0])
                self.refused(f"data/a.jsonl{said}")
        self.setUp()
        self.refused("a.jsonl:1: expected JSON", lines="{\n")
        self.refused("a.jsonl:1: expected an object, found 3", lines="3\n")
        self.refused("a.jsonl:1: expected a field arguments", lines="{}\n")
        self.cells[1]["rows"].pop()
        self.refused("a.jsonl:2: rows: expected autoregressive and the rules of the first line, each once, found slem")
        self.setUp()
        self.cells[2]["arguments"] = "home"
        self.refused("a.jsonl:3: expected each kind once, found home again")
        self.setUp()
        self.study[0]["same_text"] = 1
        self.refused("openvino-zen3.json: row 0: same_text: expected a string, found 1")
        self.refused("openvino-zen3.json: expected a list of rows", study="{}")

    def test_a_caption_says_when_and_by_which_weights(self):
        both = {"a.jsonl": self.caption, "openvino-zen3.json": self.caption}
        self.refused("a.jsonl: expected an entry in captions.json", captions={"openvino-zen3.json": self.caption})
        self.refused("b.jsonl: captions.json has an entry, expected the file", captions={**both, "b.jsonl": self.caption})
        self.refused("captions.json: a.jsonl: expected a field command",
                     captions={**both, "a.jsonl": {k: v for k, v in self.caption.items() if k != "command"}})
        self.refused('captions.json: a.jsonl: date: expected YYYY-MM-DD, found "today"', captions={**both, "a.jsonl": {**self.caption, "date": "today"}})
        self.refused("captions.json: a.jsonl: weights: drafter: expected the hash of",
                     captions={**both, "a.jsonl": {**self.caption, "weights": {"drafter": "0" * 64}}})
        self.refused("weights: nobody: expected the hash of", captions={**both, "a.jsonl": {**self.caption, "weights": {"nobody": "0" * 64}}})

    def test_a_figure_without_rows_stands_on_the_page_that_is_named(self):
        self.recorded[0]["figures"] = [1.2]
        self.refused("recorded.json: entry 0: expected 1.20 on")
        self.recorded[0].update(figures=[1.25], page="none.md")
        self.refused("recorded.json: entry 0: expected 1.25 on")

    def test_files_of_one_caption_are_of_one_machine(self):
        data = self.data()
        data.captions["openvino-zen3.json"] = {**self.caption, "cpu": "another"}
        with self.assertRaisesRegex(Unreadable, "expected one machine, date and number of runs of a.jsonl, openvino-zen3.json"):
            write_results_pages.caption(data, ["a.jsonl", "openvino-zen3.json"])


if __name__ == "__main__":
    unittest.main()
