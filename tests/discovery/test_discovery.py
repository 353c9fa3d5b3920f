#!/usr/bin/env python3
"""usage: test_discovery.py PROGRAM    (built from names.cpp)"""
import os, pathlib, subprocess, sys, tempfile, unittest

import counted_ctest, discover

PROGRAM = os.path.abspath(sys.argv.pop(1))
NAMES = discover.listed(PROGRAM)


class Discovery(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.ran = self.folder / "ran"
        self.ran.mkdir()
        self.entries = list(discover.entries(PROGRAM, "some/folder/"))

    def ctest(self, *arguments):
        (self.folder / "CTestTestfile.cmake").write_text("".join(self.entries))
        self.command = ["ctest", "--test-dir", str(self.folder)]
        return subprocess.run(self.command + list(arguments), stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"SPECDEC_CASES_RAN": str(self.ran)})

    def table(self, *arguments):
        return counted_ctest.table([PROGRAM], counted_ctest.selected(self.command),
                                   counted_ctest.selected(self.command + list(arguments)), self.ran)

    def test_all_names_are_listed_as_written(self):
        for name in ("a [0, 1); b", "  blanks around  ", "#hash", "back\\slash\\\\, at the end\\"):
            self.assertIn(name, NAMES)

    def test_every_entry_runs_its_case_in_a_line_of_a_terminal(self):
        done = self.ctest()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"100% tests passed, 0 tests failed out of {len(NAMES)}\n", done.stdout)
        self.assertLess(max(map(len, done.stdout.replace(str(self.folder), "").split("\n"))), 100)
        lines, good = self.table()
        self.assertTrue(good, lines)
        self.assertEqual(lines[1].split()[1:], [str(len(NAMES)), "0", str(len(NAMES))])

    def test_an_entry_runs_its_case_alone(self):
        for name in NAMES:
            self.assertEqual(discover.listed(PROGRAM, discover.specification(name)), [name])

    def test_an_entry_without_case_fails(self):
        self.entries = [entry.replace("opens", "shuts") for entry in self.entries]
        self.assertIn(f"1 tests failed out of {len(NAMES)}\n", self.ctest().stdout)

    def test_tags_are_labels(self):
        done = self.ctest("-LE", "^computes$")
        self.assertIn(f"tests failed out of {len(NAMES) - 1}\n", done.stdout)
        lines, good = self.table("-LE", "^computes$")
        self.assertTrue(good, lines)
        self.assertIn("out of 1\n", self.ctest("-L", "^law$").stdout)

    def test_a_lost_entry_is_noticed(self):
        self.entries.pop()
        self.assertEqual(self.ctest().returncode, 0)
        lines, good = self.table()
        self.assertFalse(good)
        self.assertIn("DIFFER: not run: ", lines[1])

    def test_what_the_arguments_leave_out_is_counted(self):
        self.ctest("-E", "stars")
        lines, good = self.table("-E", "stars")
        self.assertTrue(good, lines)
        self.assertEqual(lines[1].split()[1:], [str(len(NAMES)), "1", str(len(NAMES) - 1)])

    def test_equal_beginnings_stay_different(self):
        names = list(discover.entry_names(["x" * 99 + "1", "x" * 99 + "2", " a", "a"], "f/"))
        self.assertEqual(len(set(names)), 4)
        self.assertLessEqual(max(map(len, names)), discover.LONGEST)


unittest.main()
