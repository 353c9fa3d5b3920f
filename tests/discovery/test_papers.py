#!/usr/bin/env python3
"""What the studies of papers share: cells are measured once, what is cut is measured again, pages are as wide as others."""
import contextlib, io, json, pathlib, sys, tempfile, types, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/papers"))
import coral, heterogeneous, omnidraft, s2d, study, vocabtrim
from study import Paper, Results, Store, cell

PAPERS = (coral.PAPER, heterogeneous.PAPER, omnidraft.PAPER, s2d.PAPER, vocabtrim.PAPER)

# A program: says how often it ran, or writes a file.
COUNTS = """#!/bin/sh
cd "$(dirname "$0")"
echo x >> ran
case "$1" in
fail) echo "it failed" >&2; exit 3;;
--out) echo made > "$2";;
*) echo "{\\"ran\\": $(wc -l < ran)}";;
esac
"""


class Studies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = self.folder / "program"
        program.write_text(COUNTS)
        program.chmod(0o755)
        self.a = types.SimpleNamespace(quick=False, keep=False, out=self.folder / "out", programs=self.folder)

    def run_cells(self, *cells):
        paper = Paper(name="none", title="", reference="", cells=lambda quick: list(cells), page=None)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            found = study.run(paper, self.a)
        self.said = said.getvalue()
        return found

    def lines(self):
        return self.folder / "out/full/none/cells.jsonl"

    def test_what_is_measured_is_measured_once(self):
        one, two = cell("one", "program", 1), cell("two", "program", 2)
        self.assertEqual([c["rows"] for c in self.run_cells(one)], [[{"ran": 1}]])
        self.assertEqual([c["rows"] for c in self.run_cells(one, two)], [[{"ran": 1}], [{"ran": 2}]])
        self.assertIn("50 %", self.said)
        changed = cell("one", "program", 3)
        self.assertEqual([c["rows"] for c in self.run_cells(changed)], [[{"ran": 3}]])

    def test_a_line_that_was_cut_is_measured_again_and_another_file_is_refused(self):
        one = cell("one", "program", 1)
        self.run_cells(one)
        with self.lines().open("a") as file:
            file.write('{"key": "prog')
        self.run_cells(one, cell("two", "program", 2))
        self.assertEqual(len(Store(self.lines()).cells), 2)
        self.lines().write_text("something\n")
        with self.assertRaisesRegex(SystemExit, "expected cells of an earlier run"):
            self.run_cells(one)

    def test_a_file_of_a_cell_is_given_to_others_and_made_again_if_it_is_gone(self):
        made = cell("made", "program", "--out", "{scratch}/list", makes="list")
        self.run_cells(made)
        file = self.folder / "out/full/none/list"
        self.assertTrue(file.is_file())
        file.unlink()
        self.run_cells(made)
        self.assertTrue(file.is_file())

    def test_cells_of_the_data_are_kept_where_that_is_asked_for(self):
        self.a.quick = self.a.keep = True
        one, two = cell("one", "program", 1), cell("two", "program", 2)
        made = cell("made", "program", "--out", "{scratch}/list", makes="list")
        data = self.folder / "out/quick/none.json"
        data.parent.mkdir(parents=True)
        data.write_text(json.dumps({"commit": "older", "date": "then", "cells": [
            {"name": "one", "command": "program 1", "seconds": 1, "rows": [{"ran": 7}]},
            {"name": "made", "command": "program --out another '->' list", "seconds": 1, "rows": []}]}))
        file = self.folder / "out/quick/none/list"
        found = self.run_cells(one, made, two)
        self.assertEqual([c["rows"] for c in found], [[{"ran": 7}], [], [{"ran": 1}]])
        self.assertEqual([c["commit"] for c in found], ["older", "older", study.commit()])
        self.assertFalse(file.is_file())  # nobody needs it
        self.run_cells(made, cell("user", "program", "{scratch}/list"))
        self.assertTrue(file.is_file())

    def test_a_page_counts_the_cells_of_older_code(self):
        data = {"commit": "b" * 40, "date": "2026-02-02", "cpu": "", "cores": 1, "compiler": "", "seconds": 60, "load": 0, "command": "",
                "cells": [{"commit": "a" * 40, "date": "2026-01-01"}, {}, {"commit": "b" * 40, "date": "2026-02-02"}]}
        self.assertIn("Of the 3 cells, 1 of 2026-01-01 (aaaaaaaa) are of earlier commits.", study.head(omnidraft.PAPER, data))
        data["cells"][0] = {}
        self.assertNotIn("earlier", study.head(omnidraft.PAPER, data))

    def test_scripts_of_cells_are_there_and_have_the_flags_that_they_get(self):
        for c in (c for paper in PAPERS for quick in (False, True) for c in paper.cells(quick) if c.program.endswith(".py")):
            text = (ROOT / c.program).read_text() + (ROOT / "models/train/data.py").read_text()
            for flag in (f for f in c.flags if f.startswith("--")):
                self.assertIn(f'"{flag}"', text, c.name)

    def test_a_script_of_the_repository_runs_in_this_python(self):
        script = cell("help", "scripts/mutations.py", "no such bug")
        with self.assertRaisesRegex(SystemExit, "scripts/mutations.py 'no such bug': exit status 1"):
            self.run_cells(script)

    def test_a_program_that_fails_ends_the_study_with_what_it_said(self):
        with self.assertRaisesRegex(SystemExit, "program fail: exit status 3\nit failed"):
            self.run_cells(cell("one", "program", "fail"))

    def test_pages_are_made_of_data_alone_and_are_as_wide_as_others(self):
        for paper in PAPERS:
            file = ROOT / f"docs/papers/data/{paper.name}.json"
            if not file.is_file():
                continue
            data = json.loads(file.read_text())
            page = study.page(paper, data)
            self.assertEqual(page, (ROOT / f"docs/papers/{paper.name}.md").read_text())
            self.assertEqual([c["name"] for c in data["cells"]], [c.name for c in paper.cells(False)])
            self.assertFalse([line for line in page.split("\n") if len(line) > 120 and not line.startswith("|")])

    def test_cells_have_names_of_their_own_and_quick_ones_are_few(self):
        for paper in PAPERS:
            for quick in False, True:
                names = [c.name for c in paper.cells(quick)]
                self.assertEqual(len(names), len(set(names)), paper.name)
            self.assertLess(len(names), 10, paper.name)

    def test_a_row_is_found_by_its_rule_and_temperature(self):
        rows = [{"rule": "slem", "temperature": t, "tokens": t} for t in (0, 1.0000000116860974e-07, 1)]
        found = Results({"cells": [{"name": "x", "rows": rows}]})
        self.assertEqual([found.rule("x", "slem", t)["tokens"] for t in (0, 1e-7, 1)], [r["tokens"] for r in rows])
        self.assertIsNone(found.rule("x", "tli", 0))


if __name__ == "__main__":
    unittest.main()
