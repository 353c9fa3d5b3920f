"""Train docs-target and docs-drafter from the documentation text, step by step.

    python models/train/corpus.py --doc DOC --out TEXT
    python models/train/train_pair.py --corpus TEXT --work WORK --out models

WORK gets the text that the target generates.  --only runs single steps again.  --scale shortens or
lengthens every step; at 1 it takes about an hour on two free cores.
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS = ("tokenizers", "target", "generate", "drafter", "distil", "evaluate")
# Keeps large buffers between steps instead of giving them back to the system: 15 % faster.
MALLOC = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "8000000000", "MALLOC_TOP_PAD_": "268435456"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--corpus", type=Path, required=True)
    p.add_argument("--work", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--only", nargs="*", choices=STEPS, default=STEPS)
    p.add_argument("--scale", type=float, default=1.0)
    args = p.parse_args()
    train, heldout = args.corpus / "train", args.corpus / "heldout"
    target, drafter, generated = args.out / "docs-target", args.out / "docs-drafter", args.work / "generated"

    def run(step, script, *options):
        if step in args.only:
            print(f"--- {step}: {script}", flush=True)
            subprocess.run([sys.executable, HERE / script, *map(str, options)], check=True, env=os.environ | MALLOC)

    def minutes(m):
        return m * args.scale

    def answers(*counts):
        return [max(1, int(c * args.scale)) for c in counts]

    run("tokenizers", "tokenizers_.py", "bytelevel", "--text", train, "--vocab", 4096, "--out", target)
    run("tokenizers", "tokenizers_.py", "sentencepiece", "--text", train, "--vocab", 2048, "--out", drafter)
    run("target", "train.py", "--text", train, "--heldout", heldout, "--heldout-most", 6, "--out", target,
        "--new", "256,704,6,4,2", "--length", 320, "--positions", 1024, "--minutes", minutes(30))
    run("generate", "generate.py", "--model", target, "--prompts", train, "--out", generated, "--tokens", 160,
        "--temperature", 0, 0.7, 1, "--answers", *answers(3800, 600, 2800))
    run("drafter", "train.py", "--text", train, "--heldout", heldout, "--heldout-most", 4, "--out", drafter,
        "--new", "128,288,2,4,2", "--length", 256, "--tokens", 2048, "--rate", 6e-3, "--minutes", minutes(5))
    run("distil", "train.py", "--text", generated, "--heldout-most", 120, "--out", drafter, "--from", drafter,
        "--length", 288, "--tokens", 2048, "--rate", 6e-3, "--minutes", minutes(20))
    run("evaluate", "evaluate.py", "--model", target, "--text", heldout)
    run("evaluate", "evaluate.py", "--model", drafter, "--text", generated, "--heldout-part", 0.04, "--length", 288)


if __name__ == "__main__":
    main()
