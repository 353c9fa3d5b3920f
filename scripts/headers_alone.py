#!/usr/bin/env python3
"""Reads each header alone (preset parse): one that needs another before it is a complaint of the compiler.

usage: scripts/headers_alone.py           all of them
       scripts/headers_alone.py --tenth   what the last commit changed, what includes that, and a tenth of the
                                          others; which tenth follows from the commit
"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/parse"


def output(*command):
    """What it prints; nothing if it fails: a clone may have one commit only."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def objects():
    """Of each header: what ninja makes of it."""
    targets = output("ninja", "-C", str(BUILD), "-t", "targets", "all")
    return {header: target for target, header in
            re.findall(r"^(\S+_verify_interface_header_sets/(specdec(?:_engine)?/\S+)\.cxx\.o):", targets, re.M)}


def text_of(header):
    root = ROOT / "engine" if header.startswith("specdec_engine/") else ROOT
    return (root / "include" / header).read_text()


def tenth_of(headers):
    commit = int(output("git", "rev-parse", "HEAD").strip() or "0", 16)
    changed = set(re.findall(r"^(?:engine/)?include/(\S+)$", output("git", "diff", "--name-only", "HEAD~1"), re.M))
    for at, header in enumerate(sorted(headers)):
        included = set(re.findall(r"#include <(specdec(?:_engine)?/[^>]+)>", text_of(header)))
        if at % 10 == commit % 10 or header in changed or included & changed:
            yield header


subprocess.run(["cmake", "--preset", "parse"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
found = objects()
chosen = list(tenth_of(found)) if sys.argv[1:] == ["--tenth"] else list(found)
print(f"{len(chosen)} of {len(found)} headers", flush=True)
sys.exit(subprocess.run(["ninja", "-C", str(BUILD), *(found[header] for header in chosen)]).returncode if chosen else 1)
