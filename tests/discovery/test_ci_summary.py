#!/usr/bin/env python3
"""What .ci/run says of its legs: ctest's own words are counted; and a leg that finds nothing to run is red."""
import os, pathlib, re, subprocess, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = (ROOT / ".ci/run").read_text()
LEG = re.search(r"^passed=0.*?^}$", SCRIPT, re.M | re.S)[0]


class Summary(unittest.TestCase):
    def leg(self, tests, *more):
        """The line of a leg that runs ctest on entries (command, properties), and the line of all."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "build/logs").mkdir(parents=True)
            (folder / "CTestTestfile.cmake").write_text("".join(
                f"add_test(entry{i} sh -c [[{command}]])\nset_tests_properties(entry{i} PROPERTIES SKIP_RETURN_CODE 77)\n"
                for i, command in enumerate(tests)))
            script = LEG + f"\nboth() {{ ctest; s=$?; {'; '.join([*more, 'return $s'])}; }}\nleg fake both\nprintf %s \"$summary\"\n"
            done = subprocess.run(["bash", "-uo", "pipefail", "-c", script + SCRIPT.splitlines()[-2]], stdout=subprocess.PIPE,
                                  text=True, cwd=folder)
            return [line.split(" s  ")[-1].split() for line in done.stdout.splitlines()[-2:]]

    def test_skipped_tests_have_not_passed(self):
        for tests, counts in ((["true"] * 3, (3, 0, 0)), (["true", "exit 77", "exit 77"], (1, 0, 2)),
                              (["true", "exit 77", "false"], (1, 1, 1)), (["exit 77"], (0, 0, 1))):
            with self.subTest(tests=tests):
                one, all_legs = self.leg(tests)
                self.assertEqual(one, f"{counts[0]} passed {counts[1]} failed {counts[2]} skipped".split())
                self.assertEqual(all_legs, f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped".split())

    def test_other_counts_are_added(self):
        self.assertEqual(self.leg(["true", "exit 77"], "echo 4 passed, 0 failed")[0], "5 passed 0 failed 1 skipped".split())

    def test_a_platform_without_programs_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("cmake", "ninja"):  # which say nothing
                (pathlib.Path(folder) / name).symlink_to("/bin/true")
            done = subprocess.run([ROOT / "scripts/platforms.sh", "--build", folder, "clang-22"], text=True, capture_output=True,
                                  env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("clang-22: expected test programs in ", done.stderr)


unittest.main()
