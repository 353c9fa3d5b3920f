#!/usr/bin/env python3
"""Long outputs: tokens a second by position and the memory of the process, with and without lookup and counts.

    scripts/long_outputs.py --out long.jsonl                       SmolLM2 with its text drafter, 4,000 tokens
    scripts/long_outputs.py --out long.jsonl --max-tokens 1000 -- --models smollm2-features --precision bf16

Runs build/release/examples/generate once for each decoding and prints a Markdown table; what stands behind -- goes to generate.
With --out it goes on where it was. Memory is what the process holds (resident) after the first 250 tokens and at the end.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import threading
import time

from kinds_study import measured

ROOT = pathlib.Path(__file__).resolve().parents[1]
DECODINGS = {"plain": "--rule autoregressive", "drafter": "--no-lookup", "drafter and lookup": "",
             "drafter, lookup and counts": "--counts own"}
PROMPT = "Once upon a time there was an old sailor who told stories to the children of the harbour. This is one of his stories."


def resident(pid):
    """Bytes of the process that are in memory; 0 once it has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return 0


def run(command):
    """What generate says, and [seconds since its start, resident bytes] all the time."""
    begin, samples = time.monotonic(), []
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as program:
        def watch():
            while (now := resident(program.pid)) > 0:
                samples.append([time.monotonic() - begin, now])
                time.sleep(0.05)
        watcher = threading.Thread(target=watch)
        watcher.start()
        out = program.stdout.read()
        ended = time.monotonic() - begin
        watcher.join()
    if program.returncode != 0:
        raise SystemExit(program.returncode)
    return json.loads(out), samples, ended


def figures(said, samples, ended):
    """A row: what of it is kept."""
    first, last = said["seconds_by_tokens"][0], said["seconds_by_tokens"][-1]
    start = ended - said["seconds"]  # of the run, near enough: models are loaded before it
    early = [bytes for seconds, bytes in samples if seconds < start + said["seconds_by_tokens"][1][1]]
    keys = ("rule", "lookup_beside", "target", "drafter", "temperature", "seed", "precision", "kernel", "threads", "prompt_tokens", "tokens",
            "seconds", "finish_reason", "looked_up", "looked_up_accepted", "seconds_by_tokens")
    return {**{key: said[key] for key in keys}, "tokens_per_target_call": said["tokens"] / said["target_calls"],
            "later_tokens_per_second": (last[0] - first[0]) / (last[1] - first[1]),
            "resident_early": early[-1] if early else samples[0][1], "resident_end": max(bytes for _, bytes in samples[-4:])}


def speeds(row, parts=4):
    """Tokens a second in each part of the output, after the first round."""
    marks = row["seconds_by_tokens"]
    cuts = [marks[round(i * (len(marks) - 1) / parts)] for i in range(parts + 1)]
    return [(b[0] - a[0]) / (b[1] - a[1]) for a, b in zip(cuts, cuts[1:])]


def table(rows):
    lines = ["| decoding | T | tokens | tokens per target pass | tokens a second by quarter of the output | memory, MB: early, at the end |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for (name, temperature), row in rows.items():
        lines.append(f"| {name} | {temperature:g} | {row['tokens']:,} | {row['tokens_per_target_call']:.2f} | "
                     + ", ".join(f"{s:.0f}" for s in speeds(row))
                     + f" | {row['resident_early'] / 1e6:.0f}, {row['resident_end'] / 1e6:.0f} |")
    return lines


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True, help="what was measured, a line a run")
    p.add_argument("--max-tokens", type=int, default=4000)
    p.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 0.7])
    p.add_argument("--prompt", default=PROMPT)
    p.add_argument("--decodings", nargs="+", default=list(DECODINGS), choices=list(DECODINGS))
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    flags = a.flags or ["--models", "smollm2", "--threads", "2"]
    done, rows = measured(a.out), {}
    for temperature in a.temperatures:
        for name in a.decodings:
            arguments = [*flags, "--no-chat", "--context", str(min(8192, a.max_tokens + 1024)), "-n", str(a.max_tokens), "--temperature",
                         f"{temperature:g}", *shlex.split(DECODINGS[name])]
            key = shlex.join([*arguments, name])
            if key not in done:
                print(key, file=sys.stderr)
                done[key] = [figures(*run([ROOT / "build/release/examples/generate", "--json", "--prompt", a.prompt, *arguments]))]
                with a.out.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"arguments": key, "rows": done[key]}) + "\n")
            rows[name, temperature] = done[key][0]
    print(*table(rows), sep="\n")


if __name__ == "__main__":
    main()
