#!/usr/bin/env python3
"""The programs as a person or a script calls them: output that parses, promised keys, honest refusals.

usage: test_programs.py FOLDER_OF_PROGRAMS [unittest arguments]
"""
import json, os, pathlib, subprocess, sys, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
COMPARE_KEYS = """rule temperature tokens seconds tokens_per_second target_calls tokens_per_target_call
    proposed accepted acceptance_rate speedup identical_text nll nll_stderr""".split()
VOCABULARIES_KEYS = """draft_size target_size byte_intersection string_intersection sign_intersection
    false_pairs""".split()


def call(program, *arguments, status=0, folder="/"):
    """What the program prints, without a terminal and, unless told, away from the source folder."""
    done = subprocess.run([PROGRAMS / program, *map(str, arguments)], capture_output=True, timeout=240,
                          stdin=subprocess.DEVNULL, cwd=folder, env={**os.environ, "NO_COLOR": "1"})
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if (done.returncode == 0) != (status == 0):
        raise AssertionError(f"{program} {arguments} exits with {done.returncode}:\n{out}\n{err}")
    return out if status == 0 else err


def rows(text):
    """Objects from one JSON array or from one object a line."""
    parsed = json.loads(text) if text.lstrip().startswith("[") else [
        json.loads(line) for line in text.splitlines() if line.strip()]
    return parsed


class FirstProgram(unittest.TestCase):
    def test_runs_where_the_readme_says(self):
        self.assertIn("tokens a target call", call("first_program", folder=ROOT))

    def test_readme_shows_it_as_it_is(self):
        source = (ROOT / "examples/first_program.cpp").read_text().strip()
        readme = (ROOT / "README.md").read_text()
        self.assertIn(source, readme, "README.md does not show examples/first_program.cpp")


class Compare(unittest.TestCase):
    def test_json_has_the_keys_and_greedy_text_is_identical(self):
        found = rows(call("compare", "--json", "--limit", 1, "--max-tokens", 12, "--temperatures", 0))
        self.assertGreaterEqual(len(found), 2)
        for row in found:
            self.assertEqual(set(COMPARE_KEYS) - set(row), set(), row)
            self.assertTrue(row["identical_text"], row)
            self.assertGreater(row["tokens"], 0)

    def test_table_has_no_escape_sequences_without_a_terminal(self):
        self.assertNotIn("\x1b", call("compare", "--limit", 1, "--max-tokens", 4, "--temperatures", 0))


class Generate(unittest.TestCase):
    def test_same_seed_same_text(self):
        arguments = ["--prompt", "The list", "--max-tokens", 8, "--temperature", 1, "--seed", 7]
        text = call("generate", *arguments)
        self.assertTrue(text.strip())
        self.assertNotIn("\x1b", text)
        self.assertEqual(text, call("generate", *arguments))

    def test_json_statistics(self):
        out = call("generate", "--prompt", "The list", "--max-tokens", 8, "--json")
        self.assertIsInstance(json.loads(out[out.index("{"):]), dict)


class Vocabularies(unittest.TestCase):
    def test_json_has_the_keys(self):
        models = ROOT / "models"
        out = call("vocabularies", models / "docs-drafter", models / "docs-target", "--json")
        counts = json.loads(out)
        self.assertEqual(set(VOCABULARIES_KEYS) - set(counts), set(), counts)
        self.assertLessEqual(counts["byte_intersection"], min(counts["draft_size"], counts["target_size"]))


class PlugInYourEngine(unittest.TestCase):
    def test_runs_and_is_short(self):
        self.assertTrue(call("plug_in_your_engine").strip())
        self.assertLess(len((ROOT / "examples/plug_in_your_engine.cpp").read_text().splitlines()), 80)


class BadInput(unittest.TestCase):
    def test_a_missing_model_is_named(self):
        for program in ("generate", "compare"):
            self.assertIn("/nowhere", call(program, "--target", "/nowhere", status=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=2)
