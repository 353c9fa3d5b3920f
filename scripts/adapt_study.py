#!/usr/bin/env python3
"""Drafters that learn while they serve: OmniDraft's Tables 1, 2, 5, 6 and 11 as shapes, on a pair of models.

    scripts/adapt_study.py --out study.jsonl                        all of them; again, it goes on where it was
    scripts/adapt_study.py --out study.jsonl --tables 6 --tokens 20000

Runs build/release/examples/adapt for each cell: it serves --tokens tokens of a task while the drafter learns, then measures on
prompts of the task that were not served: without a drafter, with it as it was, as it has become, and where an acceptance head
ends drafts. Prints Markdown tables; speed-ups are those over plain decoding in the same run. Loss names are those of adapt --loss.
What stands behind -- goes to adapt in every cell, --learning in those where the drafter learns.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

from kinds_study import measured

ROOT = pathlib.Path(__file__).resolve().parents[1]
DM, BOTH = "dm", "dm+ngram"  # OmniDraft's losses: of shared tokens; of merged ones, too


class Study:
    def __init__(self, a):
        self.a, self.done = a, measured(a.out)

    def cell(self, task, *flags):
        """{drafter: row} of what was held out, and the updates."""
        a = self.a
        command = [*shlex.split(a.pair), "--task", f"{task}={a.prompts / (task + '.txt')}", "--tokens", str(a.tokens), "--limit",
                   str(a.limit), "-n", str(a.max_tokens), "--held-temperature", a.temperature, "-t", a.temperature,
                   "--window", "1000000", *flags, *a.flags]
        name = shlex.join(command)
        if name not in self.done:
            print(name, file=sys.stderr)
            out = subprocess.run([ROOT / "build/release/examples/adapt", "--json", *command], text=True, stdout=subprocess.PIPE)
            if out.returncode != 0:
                raise SystemExit(out.returncode)
            self.done[name] = [json.loads(line) for line in out.stdout.splitlines()]
            with a.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"arguments": name, "rows": self.done[name]}) + "\n")
        rows = self.done[name]
        held = {row["held_out"]: row for row in rows if "held_out" in row}
        held["stream"] = [row for row in rows if "held_out" not in row][-1]
        return held

    def omnidraft(self, task, *flags, head="interleaved", loss=BOTH, rule="merge"):
        learning = () if "none" in flags else ("--loss", loss, *shlex.split(self.a.learning))
        return self.cell(task, "--rule", rule, *learning, *(("--acceptance-head", head) if head else ()), *flags)


def row(name, x):
    return (f"| {name} | {100 * x['acceptance_rate']:.1f} % | {x['tokens_per_target_call']:.2f} "
            f"({x['tokens_per_target_call_ratio']:.2f}x) | {x['speedup']:.2f}x |")


def table(title, first, rows):
    print(f"\n**{title}**\n\n| {first} | acceptance rate | tokens a target call | speed-up |\n| --- | --- | --- | --- |")
    print(*rows, sep="\n", flush=True)


def table_1(s):
    for task in s.a.tasks:
        shared, both = s.omnidraft(task, loss=DM, rule="tli", head=None), s.omnidraft(task)
        table(f"Table 1, {task}: what is learnt", "drafter", [
            row("as it was, shared tokens alone", shared["unadapted"]), row("as it was, with merges", both["unadapted"]),
            row("L_DM, shared tokens alone", shared["adapted"]), row("L_DM + lambda L_N-gram, with merges", both["adapted"]),
            row("the same, LoRA of rank 32", s.omnidraft(task, "--learn", "lora:32")["adapted"])])


def adaptive(s, task, title, *flags):
    kept, joint = s.omnidraft(task, *flags), s.omnidraft(task, *flags, head="joint")
    table(title, "drafter", [
        row("as it was", kept["unadapted"]), row("as it was, an acceptance head", s.omnidraft(task, "--learn", "none")["with head"]),
        row("learns", kept["adapted"]), row("learns, head joint", joint["with head"]),
        row("learns, head interleaved", kept["with head"])])


def table_2(s):
    task = s.a.tasks[0]
    adaptive(s, task, f"Table 2, {task}: an acceptance head beside a drafter that learns")


def table_5(s):
    task = s.a.tasks[0]
    for length in ("3", "4"):
        k = () if length == "4" else ("--draft-length", length)
        shared = s.omnidraft(task, *k, loss=DM, rule="tli", head=None)
        merged = s.omnidraft(task, *k, loss=DM, head=None)
        both = s.omnidraft(task, *k, head="interleaved" if length == "4" else None)
        table(f"Table 5, {task}, k = {length}: merges", "drafter", [
            row("as it was, shared tokens alone", shared["unadapted"]), row("as it was, with merges", merged["unadapted"]),
            row("L_DM, shared tokens alone", shared["adapted"]), row("L_DM, with merges", merged["adapted"]),
            row("L_DM + lambda L_N-gram, with merges", both["adapted"])])


def table_6(s):
    task = s.a.tasks[0]
    names = {"none+ngram": "NLL of merges alone", "nll+ngram": "NLL of the text's tokens, NLL of merges",
             "dm": "reverse KL of shared tokens", "dm+ngram": "reverse KL, NLL of merges (the paper's)",
             "dm+ngram-p": "reverse KL, NLL of merges with lambda = p", "dm+ngram-kl": "reverse KL of both",
             "fkl+ngram": "forward KL, NLL of merges", "tv+ngram": "total variation, NLL of merges"}
    table(f"Table 6, {task}: losses, with merges", "loss", [
        row(name, s.omnidraft(task, loss=loss, head="interleaved" if loss == BOTH else None)["adapted"])
        for loss, name in names.items()])


def table_11(s):
    task = s.a.tasks[0]
    adaptive(s, task, f"Table 11, {task}: the same with LoRA of rank 32", "--learn", "lora:32")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pair", default="--models smollm2", help="flags of adapt that name it")
    p.add_argument("--prompts", type=pathlib.Path, default=ROOT / "models/prompts/tasks", help="folder of TASK.txt")
    p.add_argument("--tasks", nargs="+", default=["recipes", "letters", "python"])
    p.add_argument("--learning", default="", help="flags of adapt that say how it learns: --learning='--rate 1e-4'")
    p.add_argument("--tables", nargs="+", default=["1", "2", "5", "6", "11"], choices=["1", "2", "5", "6", "11"])
    p.add_argument("--tokens", type=int, default=5000)
    p.add_argument("--limit", type=int, default=75, help="prompts of a task, of which 60 %% are served")
    p.add_argument("--max-tokens", type=int, default=96)
    p.add_argument("--temperature", default="0")
    p.add_argument("--out", type=pathlib.Path, required=True, help="a file of what was measured, one cell a line")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    study = Study(a)
    for which in a.tables:
        globals()[f"table_{which}"](study)
