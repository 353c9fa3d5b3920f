#!/usr/bin/env python3
"""What five positions cost each engine here, compared with one, and what drafting gains there.

    scripts/engines_study.py --out engines.jsonl                    all engines that are built; started again, it goes on
    scripts/engines_study.py --out engines.jsonl --rows "mine=build/release/examples/compare --target T --drafter D"

Runs each engine's comparison program on the same target (SmolLM2-135M-Instruct), drafter (smollm2-drafter) and prompts,
greedily: plain decoding, slem with four draft tokens a round, slem with automatic lengths. Prints a Markdown table; a
speed-up is over plain decoding in the same run. Arguments after -- go to the programs.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "build/release/examples"
TARGET = ROOT / "models/fetched/SmolLM2-135M-Instruct"
POSITIONS = 5


def rows_built():
    """{name: command} of the engines whose program and target are there."""
    rows = {f"CPU engine, {name}": f"{PROGRAMS}/compare --models smollm2 --precision {precision}"
            for name, precision in (("F32", "f32"), ("BF16", "bf16"), ("Q8_0", "q8"), ("Q4_1", "native"))}
    for kind in ("F32", "BF16", "Q8_0", "Q4_1"):
        rows[f"llama.cpp, {kind}"] = f"{PROGRAMS}/llama_compare --models smollm2 --target {TARGET}.{kind}.gguf"
    rows["OpenVINO, Q4_1"] = f"{PROGRAMS}/openvino_compare --models smollm2"
    there = lambda command: all(pathlib.Path(p).exists() for p in shlex.split(command) if p.startswith("/"))
    return {name: command for name, command in rows.items() if there(command)}


def measured(out):
    """{name: rows} of what an earlier run has measured."""
    if not out.exists():
        return {}
    try:
        return {line["engine"]: line["rows"] for line in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    except (ValueError, TypeError, KeyError):
        raise SystemExit(f"--out {out}: expected what an earlier run has measured, or no such file")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True, help="what was measured, a line an engine")
    p.add_argument("--rows", nargs="+", metavar="NAME=COMMAND", help="instead of the engines that are built here")
    p.add_argument("--limit", type=int, default=8, help="prompts of models/prompts/smollm2.txt")
    p.add_argument("--max-tokens", type=int, default=64)
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    rows = dict(r.split("=", 1) for r in a.rows) if a.rows else rows_built()
    done = measured(a.out)
    print(f"| engine, precision | plain tokens/s | cost of {POSITIONS} positions / 1 | tokens per target pass | "
          f"speed-up, {POSITIONS - 1} drafted | speed-up, automatic lengths | output identical |",
          "| --- | ---: | ---: | ---: | ---: | ---: | --- |", sep="\n", flush=True)
    for name, command in rows.items():
        if name not in done:
            command = [*shlex.split(command), "--rules", f"autoregressive,slem:{POSITIONS - 1},slem", "--temperatures", "0",
                       "--prompts", str(ROOT / "models/prompts/smollm2.txt"), "--limit", str(a.limit),
                       "-n", str(a.max_tokens), "--json", *a.flags]
            print(shlex.join(command), file=sys.stderr)
            run = subprocess.run(command, text=True, stdout=subprocess.PIPE)
            if run.returncode != 0:
                raise SystemExit(run.returncode)
            done[name] = [json.loads(line) for line in run.stdout.splitlines()]
            with a.out.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"engine": name, "rows": done[name]}) + "\n")
        plain, fixed, auto = done[name]
        # costs: a draft token, a token more for the drafter, passes over 1, 2, ... positions
        cost = auto["costs"][1 + POSITIONS] / auto["costs"][2]
        print(f"| {name} | {plain['tokens_per_second']:.0f} | {cost:.2f} | {fixed['tokens_per_target_call']:.2f} | "
              f"{fixed['speedup']:.2f} | {auto['speedup']:.2f} | {'yes' if fixed['identical_text'] else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
