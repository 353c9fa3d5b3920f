#!/usr/bin/env python3
"""Reports what breaks the order of the rooms in examples/support: each includes itself and those before it.

usage: check_rooms.py EXAMPLES_FOLDER        exit status 1 if anything is reported
"""
import pathlib, re, sys

ROOMS = "program flags pair text output".split()

root = pathlib.Path(sys.argv[1]) / "support"
found, headers = [], 0
for file in sorted(p for p in root.rglob("*") if p.suffix in (".hpp", ".cpp")):
    name = file.relative_to(root).as_posix()
    room = name.rpartition("/")[0]
    if room not in ROOMS:
        found.append(f"{name}: lies in no room ({', '.join(ROOMS)})")
        continue
    headers += file.suffix == ".hpp"
    for include in re.findall(r'^\s*#\s*include\s*"support/([^"]+)"', file.read_text(), re.M):
        if include.rpartition("/")[0] not in ROOMS[:ROOMS.index(room) + 1]:
            found.append(f"{name}: includes support/{include}, a later room")
print("\n".join(found) or f"{headers} headers, no complaints")
sys.exit(1 if found or not headers else 0)
