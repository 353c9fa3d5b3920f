#!/usr/bin/env python3
"""What scripts/compare_benchmarks.py reads of Google Benchmark's JSON, and when it says that one is slower."""
import json, pathlib, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/compare_benchmarks.py"
sys.path.insert(0, str(ROOT / "scripts"))
from compare_benchmarks import Unreadable, compare, values


def run(name, time, unit="us", **more):
    return {"name": f"{name}/iterations:1/manual_time", "run_name": f"{name}/iterations:1/manual_time",
            "run_type": "iteration", "real_time": time, "time_unit": unit, **more}


def written(*runs):
    return json.dumps({"context": {}, "benchmarks": list(runs)})


class CompareBenchmarks(unittest.TestCase):
    def test_each_benchmark_has_its_least_time(self):
        text = written(run("q/a", 3), run("q/a", 2), run("q/b", 1, "ms"),
                       {**run("q/a", 1), "run_type": "aggregate", "aggregate_name": "mean"})
        self.assertEqual(values(text), {"q/a": 2e3, "q/b": 1e6})

    def test_a_name_may_go_on_after_what_is_left_out(self):
        self.assertEqual(list(values(written(run("q/iterations:10x/a", 1), run("q/repeats:3/a", 1)))),
                         ["q/iterations:10x/a", "q/a"])

    def test_a_counter_takes_the_place_of_the_time(self):
        text = written(run("q/a", 3, ratio=1.0), run("q/b", 6, ratio=2.0), run("q/c", 1))
        self.assertEqual(values(text, "ratio"), {"q/a": 1, "q/b": 2})

    def test_what_is_slower_by_more_than_the_limit_is_named(self):
        lines, worse = compare({"a": 100, "b": 100, "c": 1}, {"a": 110, "b": 111, "d": 1}, 10)
        self.assertEqual(worse, ["b"])
        self.assertEqual([line.split() for line in lines],
                         [["before", "after", "ratio"], "a 100.00 ns 110.00 ns 1.100".split(),
                          "b 100.00 ns 111.00 ns 1.110".split(), "only before: c".split(), "only after: d".split(),
                          "slower by more than 10 %: b".split()])

    def test_what_cannot_be_compared_is_refused(self):
        for text, why in (("", "JSON of a benchmark"), ("[]", "JSON of a benchmark"), (written(), "expected benchmarks"),
                          (written(run("q/a", 0, error_occurred=True, error_message="no file")), "q/a: no file")):
            with self.subTest(text=text), self.assertRaisesRegex(Unreadable, why):
                values(text)
        with self.assertRaisesRegex(Unreadable, "with the counter reads"):
            values(written(run("q/a", 1)), "reads")
        with self.assertRaisesRegex(Unreadable, "in common"):
            compare({"a": 1}, {"b": 1}, 10)

    def test_the_exit_status_says_whether_one_is_slower(self):
        with tempfile.TemporaryDirectory() as folder:
            before, after = (pathlib.Path(folder) / name for name in ("before.json", "after.json"))
            before.write_text(written(run("q/a", 100)))
            for time, flags, status in ((100, [], 0), (120, [], 1), (120, ["--slower", "25"], 0), (50, [], 0)):
                with self.subTest(time=time, flags=flags):
                    after.write_text(written(run("q/a", time)))
                    done = subprocess.run([sys.executable, SCRIPT, *flags, before, after], capture_output=True, text=True)
                    self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                    self.assertIn(f"{time / 100:.3f}", done.stdout)
            done = subprocess.run([sys.executable, SCRIPT, before, folder + "/none.json"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("none.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
