#!/usr/bin/env python3
"""Question: what does one include of the standard-library part cost an engine's build?
Baseline: <vector> <concepts> <span>, measured in turn with it. Checksum: both must compile.

usage: bench/umbrella_cost.py [COMPILER]
"""
import pathlib, statistics, subprocess, sys, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = sys.argv[1] if len(sys.argv) > 1 else "g++-12"
SOURCES = {"<vector> <concepts> <span>": "#include <vector>\n#include <concepts>\n#include <span>\n",
           "specdec/specdec.hpp": "#include <specdec/specdec.hpp>\n"}
ROUNDS = 9


def compile_once(source, *flags):
    command = [COMPILER, "-std=c++20", f"-I{ROOT}/include", "-x", "c++", *flags, "-"]
    begin = time.perf_counter()
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=True)
    return time.perf_counter() - begin, len(done.stdout.splitlines())


seconds = {name: [] for name in SOURCES}
for _ in range(ROUNDS):
    for name, source in SOURCES.items():
        seconds[name].append(compile_once(source, "-fsyntax-only")[0])
for name, source in SOURCES.items():
    print(f"{name:28} {statistics.median(seconds[name]):.3f} s (median of {ROUNDS})"
          f"  {compile_once(source, '-E')[1]:6} preprocessed lines")
