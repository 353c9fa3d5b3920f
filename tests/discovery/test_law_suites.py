#!/usr/bin/env python3
"""The suites that scripts/law_suites.py chooses, and that the seeded bugs can still be planted."""
import json, pathlib, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import law_suites, mutations

SUITES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/law").glob("*.cpp"))
BUGS = json.loads((ROOT / "tests/mutations/bugs.json").read_text())


class LawSuites(unittest.TestCase):
    def test_every_bug_has_one_place_where_it_is_planted(self):
        self.assertEqual(list(mutations.refused(BUGS)), [])
        moved = [{**BUGS[0], "search": text} for text in ("stands nowhere", "e")]
        for bug, why in zip(moved, mutations.refused(moved), strict=True):
            self.assertRegex(why, f"^{bug['name']}: the search text stands \\d+ times in {bug['header']}$")

    def test_every_bug_in_a_header_is_looked_for_by_the_suite_that_catches_it(self):
        for bug in BUGS:
            if bug["test"] in SUITES:
                self.assertIn(bug["test"], law_suites.chosen([bug["header"]], BUGS, SUITES), bug["name"])

    def test_a_header_chooses_less_than_everything_where_its_bugs_are_known(self):
        chosen = law_suites.chosen(["include/specdec/head/features/feature_model.hpp"], BUGS, SUITES)
        self.assertEqual(chosen, ["tests/law/features.cpp", "tests/law/together.cpp"])

    def test_a_header_without_bugs_chooses_those_that_reach_it(self):
        chosen = law_suites.chosen(["include/specdec/core/heap.hpp"], [], SUITES)
        for suite in SUITES:
            self.assertEqual(suite in chosen, "include/specdec/core/heap.hpp" in law_suites.reached(suite))

    def test_a_suite_chooses_itself_and_what_suites_share_all_who_include_it(self):
        self.assertEqual(law_suites.chosen(["tests/law/slrs.cpp"], BUGS, SUITES), ["tests/law/slrs.cpp"])
        self.assertIn("tests/law/windows.cpp", law_suites.chosen(["tests/law/toy_bridges.hpp"], BUGS, SUITES))

    def test_nothing_chooses_nothing(self):
        self.assertEqual(law_suites.chosen([], BUGS, SUITES), [])


if __name__ == "__main__":
    unittest.main()
