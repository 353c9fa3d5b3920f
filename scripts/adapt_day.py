#!/usr/bin/env python3
"""A day of a drafter that learns while it serves, in a few minutes: many rounds with updates, killed now and then.

    scripts/adapt_day.py --rounds 100000

Runs build/release/examples/adapt on the pair of --pair, which saves every --save-every tokens, kills it (SIGKILL) at random
moments, sees that what was saved is whole, and goes on from there. Prints the memory that the process held, and fails where it
grew, where a saved file is broken, or where the drafter that was saved writes another text than the target's.
"""
import argparse
import json
import pathlib
import random
import shlex
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "build/release/examples"


def require(holds, what):
    if not holds:
        raise SystemExit("adapt_day: " + what)


def whole(file):
    """A safetensors file has the bytes that its header says."""
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    ends = [t["data_offsets"][1] for name, t in header.items() if name != "__metadata__"]
    require(len(data) == 8 + size + max(ends), f"{file}: expected {8 + size + max(ends)} bytes, it has {len(data)}")


def resident(pid):
    """MiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def run(a, saved, chance):
    """The rounds served until it ended or was killed; prints a line for each window."""
    command = [PROGRAMS / "adapt", "--json", *shlex.split(a.pair), "--task", f"day={a.prompts}", "--tokens", a.tokens,
               "--window", a.window, "--remembered", a.remembered, "--save", saved, "--save-every", a.save_every, *a.flags]
    if (saved / "learning_state.safetensors").exists():
        command += ["--resume", saved]
    rounds, lines = 0, []
    with subprocess.Popen(list(map(str, command)), text=True, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            row = json.loads(line)
            if "held_out" in row:
                process.kill()  # what it measures at the end is not asked for
                break
            rounds += row["target_calls"]
            lines.append((a.done + rounds, resident(process.pid), row["tokens_per_target_call"], row["updates"]))
            if a.done + rounds >= a.rounds or chance.random() < a.kill:
                time.sleep(0.1 * chance.random())
                process.send_signal(signal.SIGKILL)
                break
    require(process.returncode in (0, -signal.SIGKILL) and rounds > 0, f"adapt ended with {process.returncode}")
    return rounds, lines


def main(a):
    chance, starts, updates = random.Random(a.seed), 0, 0
    a.done, growth = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        saved = pathlib.Path(folder) / "saved"
        print("| start | rounds | tokens a target call | updates since | resident memory |\n| --- | --- | --- | --- | --- |")
        while a.done < a.rounds:
            rounds, lines = run(a, saved, chance)
            starts += 1
            a.done += rounds
            updates += lines[-1][3]
            for name in ("model.safetensors", "learning_state.safetensors"):
                if (saved / name).exists():
                    whole(saved / name)
            first, last = lines[min(a.settled, len(lines) - 1)], lines[-1]
            growth = max(growth, last[1] - first[1])
            print(f"| {starts} | {last[0]} | {last[2]:.2f} | {last[3]} | {first[1]:.1f} to {last[1]:.1f} MiB |", flush=True)
        pair = ["generate", *shlex.split(a.pair), "-n", "64", "--temperature", "0", "--prompt", "This module provides"]
        texts = [subprocess.run([PROGRAMS / pair[0], *pair[1:], *more], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, check=True).stdout
                 for more in (["--rule", "autoregressive"], ["--rule", "tli", "--drafter", str(saved)])]
        require(texts[0] == texts[1], "the drafter that was saved writes another text")
    print(f"\n{a.done} rounds, {updates} updates, {starts} starts, {starts - 1} of them behind a kill; memory grew by at most "
          f"{growth:.1f} MiB behind the first {a.settled} windows of a start")
    require(growth <= a.most, f"memory grew by {growth:.1f} MiB, expected at most {a.most}")


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pair", default="--models docs", help="flags of the programs that name it")
    p.add_argument("--prompts", type=pathlib.Path, default=ROOT / "models/prompts/docs.txt")
    p.add_argument("--rounds", type=int, default=100000)
    p.add_argument("--tokens", type=int, default=10 ** 9, help="of a start, at most")
    p.add_argument("--window", type=int, default=2000)
    p.add_argument("--save-every", type=int, default=3000)
    p.add_argument("--remembered", type=int, default=8000, help="draft tokens: that memory is full soon")
    p.add_argument("--kill", type=float, default=0.05, help="chance of a kill behind a window")
    p.add_argument("--settled", type=int, default=6, help="windows of a start until its memory is compared")
    p.add_argument("--most", type=float, default=4, help="MiB that memory may grow by")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("flags", nargs="*", help="behind --: to adapt")
    main(p.parse_args())
