#!/usr/bin/env python3
"""Sorted exits on several targets (S2D, Table 2 and Figure 3): fixed exits, thresholds, and drafters trained for one depth alone.

    scripts/exit_study.py --exits EXITS --alone D1 D2 D3 --out study.jsonl \\
        --target "SmolLM2=compare --models smollm2" \\
        --target "Gemma=llama_compare --models gemma3 --no-chat --prompts questions.txt"

Runs each way's compare (build/release/examples) `--times` times, in turns, so that a slow minute falls on all of them; a speed-up
is over autoregressive of the same run, and the median of the runs counts. Appends a line of JSON for each run to --out and prints a
Markdown table. What stands behind -- goes to compare.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def call(program, *arguments):
    done = subprocess.run([ROOT / "build/release/examples" / program, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return done.stdout


def ways(a):
    """(name, drafter's folder, --exits or nothing)"""
    count = len(json.loads((pathlib.Path(a.exits) / "config.json").read_text())["specdec_exits"])
    found = [(f"always exit {e}", a.exits, f"fixed:{e}") for e in range(1, count + 1)]
    found += [(f"adaptive {t}", a.exits, t) for t in a.thresholds]
    return found + [(f"alone {i}: {pathlib.Path(d).name}", d, None) for i, d in enumerate(a.alone, 1)]


def run(a, command, drafter, exits):
    program, *flags = shlex.split(command)
    rows = call(program, *flags, "--json", "--drafter", drafter, "--rules", a.rule, "--temperatures", a.temperature, "--limit", a.limit,
                "-n", a.max_tokens, "--draft-length", a.draft_length, *(["--exits", exits] if exits else []), *a.flags)
    return json.loads(rows.splitlines()[-1])


def table(rows, names):
    for target in dict.fromkeys(r["on"] for r in rows):
        print(f"\n| {target} | tokens a call | acceptance rate | draft ms a token | rows of each exit | speed-up, least to most |\n"
              "| --- | ---: | ---: | ---: | ---: | ---: |")
        best = max(statistics.median(r["speedup"] for r in rows if (r["on"], r["way"]) == (target, n)) for n in names)
        for name in names:
            those = [r for r in rows if (r["on"], r["way"]) == (target, name)]
            r, speeds = those[0], [r["speedup"] for r in those]
            median = statistics.median(speeds)
            given = r.get("drafter_exit_rows") or []
            shares = ", ".join(f"{100 * n / max(sum(given), 1):.0f} %" for n in given)
            mark = "**" if median == best else ""
            cost = statistics.median(1000 * r["draft_seconds"] / max(r["draft_tokens"], 1) for r in those)
            print(f"| {name} | {r['tokens_per_target_call']:.2f} | {100 * r['acceptance_rate']:.1f} % | {cost:.3f} | {shares} | "
                  f"{mark}{median:.2f}x{mark}, {min(speeds):.2f} to {max(speeds):.2f} |")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--exits", required=True, help="a drafter's folder, with exits")
    p.add_argument("--alone", nargs="*", default=[], help="folders of drafters of one depth each")
    p.add_argument("--thresholds", nargs="*", default=["0.5,0.4", "0.7,0.6", "0.9,0.8"])
    p.add_argument("--target", action="append", required=True, metavar="NAME=COMMAND")
    p.add_argument("--out", required=True)
    p.add_argument("--times", type=int, default=3)
    p.add_argument("--rule", default="tli")
    p.add_argument("--temperature", default="0")
    p.add_argument("--limit", default="24")
    p.add_argument("--max-tokens", default="64")
    p.add_argument("--draft-length", default="4")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    targets = [t.split("=", 1) for t in a.target]
    rows, these = [], ways(a)
    for time in range(a.times):
        for on, command in targets:
            for i in range(len(these)):  # nobody is always the first
                name, drafter, exits = these[(i + time) % len(these)]
                row = {"on": on, "way": name, **run(a, command, drafter, exits)}
                rows.append(row)
                with open(a.out, "a", encoding="utf-8") as f:
                    f.write(json.dumps(row) + "\n")
                print(f"{on}, {name}: {row['speedup']:.2f}x", file=sys.stderr)
    table(rows, [w[0] for w in these])
