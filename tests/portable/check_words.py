#!/usr/bin/env python3
"""Preprocesses all headers of the standard-library layers and reports words of a compiler's own that
are left in them.

usage: check_words.py INCLUDE_FOLDER COMPILER ARGUMENT...        exit status 1 if any is reported
"""
import pathlib, re, subprocess, sys

WORDS = re.compile(r"\b(?:__builtin_\w+|__attribute__|__extension__|__asm__|asm|__int128|vector_size|_Pragma)\b|"
                   r"\[\[(?:gnu|clang)::\w+")
OUTSIDE = ("interop", "reference")

root = pathlib.Path(sys.argv[1])
headers = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*.hpp"))]
headers = [h for h in headers if not h.startswith(tuple(f"specdec/{o}" for o in OUTSIDE))]
done = subprocess.run(sys.argv[2:] + [f"-I{root}", "-E", "-x", "c++", "-"], capture_output=True, text=True,
                      input="".join(f"#include <{h}>\n" for h in headers))
if done.returncode:
    sys.exit(done.stderr)
found, file = {}, ""
for line in done.stdout.splitlines():
    if marker := re.match(r'# \d+ "(.*?)"', line):
        file = marker[1]
    elif file.startswith(f"{root}/specdec"):
        for word in WORDS.findall(line):
            found.setdefault(f"{pathlib.Path(file).relative_to(root / 'specdec')}: {word}")
print("\n".join(found) or f"{len(headers)} headers, no such words")
sys.exit(1 if found else 0)
