#!/usr/bin/env python3
"""Writes docs/use/programs.md: every flag of the programs, as their --help says it.

usage: scripts/write_program_pages.py [--check] [FOLDER]

FOLDER: where the programs are (build/release/examples). --check: writes nothing, exit status 1 if the page is another.
"""
import pathlib, re, subprocess, sys, textwrap

from pages import ROOT, write_or_check

PAGE = ROOT / "docs/use/programs.md"
PROGRAMS = "generate compare side_by_side answer specdec-serve adapt calibrate vocabularies".split()
INTRODUCTION = """# The programs and their flags

For those who run the programs: every flag, its meaning and its default. `scripts/write_program_pages.py` writes this
page from what `--help` prints, and a test compares them.

The programs of llama.cpp (`llama_generate` and so on) and of OpenVINO (`openvino_generate`) have the same flags, and
those of their engine ([llama.cpp](llama-cpp.md), [OpenVINO](openvino.md)) in place of the CPU engine's.
"""


def parsed(text):
    """(what the program does, [(group, [(flag, kind, meaning)])]) of what --help printed."""
    about, _, rest = text.partition("\nUsage:")
    groups = []
    for line in rest.split("\n")[1:]:
        if group := re.fullmatch(r"(\w[^:]*):", line):
            groups.append((group[1], []))
        elif option := re.match(r"  ([-A-Z]\S*)( [A-Z]{2,}\S*( \.\.\.)?)?( Excludes: \S+)?(?:\s+(.*))?$", line):
            flags = option[1].replace("{false}", "")  # what the second of two means
            groups[-1][1].append([flags, (option[2] or "").strip(), " ".join((option[5] or "").split())])
        elif line.strip() and groups and groups[-1][1]:
            last = groups[-1][1][-1]
            last[2] = f"{last[2]} {line.strip()}".strip()
    return about.strip(), [(name, options) for name, options in groups if options]


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def page(folder):
    out = [INTRODUCTION]
    for program in PROGRAMS:
        shown = subprocess.run([folder / program, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        about, groups = parsed(shown)
        out.append(f"\n## {program}\n\n" + textwrap.fill(about, 120) + "\n")
        for name, options in groups:
            out.append(f"\n{name}:\n\n| flag | value | meaning |\n| --- | --- | --- |\n")
            for flags, kind, meaning in options:
                shown = f"`{kind}`" if kind else ""
                out.append(f"| `{flags}` | {shown.replace('|', chr(92) + '|')} | {cell(meaning)} |\n")
    return "".join(out)


def main():
    arguments = sys.argv[1:]
    places = [a for a in arguments if a != "--check"]
    text = page(pathlib.Path(places[0] if places else ROOT / "build/release/examples").absolute())
    write_or_check(PAGE, text, "programs", "--check" in arguments)


if __name__ == "__main__":
    main()
