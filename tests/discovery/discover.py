#!/usr/bin/env python3
"""usage: discover.py PROGRAM PREFIX FILE

Writes the ctest entries of a Catch2 program's (version 2 or 3) test cases, one each, whatever their names hold.
An entry whose case is not found fails. The tags of LABELS are the entry's labels. Names too long for
a line of a terminal are cut short in ctest's lines; "... (2)" tells apart what is then equal."""
import functools, pathlib, re, subprocess, sys

LABELS = ("computes", "law", "property")  # tags that ctest knows, too (-L, -LE)
LONGEST = 56  # of an entry's name: ctest's lines stay below 100 columns


@functools.cache
def is_catch2_2(program):
    return b"Catch Test\n" in subprocess.run([program, "--libidentify"], stdout=subprocess.PIPE).stdout


def listed(program, *wanted):
    """The names of all test cases of a program, or of those that are wanted."""
    second = is_catch2_2(program)
    flags = ["--list-test-names-only"] if second else ["--list-tests", "--verbosity", "quiet"]
    done = subprocess.run([program, *flags, *wanted], stdout=subprocess.PIPE)
    lines = done.stdout.decode().split("\n")[:-1]
    # Version 2 exits with the number of cases. A name of two lines, for example, counts as two.
    if done.returncode != (len(lines) % 256 if second else 0):
        sys.exit(f"{program}: lists {len(lines)} lines, exit status {done.returncode}")
    # It quotes a name that begins with #.
    return [line[1:-1] if line.startswith('"#') and line.endswith('"') else line for line in lines]


def specification(name):
    """Catch2's argument for one case. The blank (which Catch2 trims) keeps exclude: from being read."""
    return '" ' + re.sub(r'([\\",])', r"\\\1", name) + '"'


def entry_names(names, prefix):
    """What ctest calls them: all different, none long."""
    taken = set()
    for name in names:
        wanted = (prefix + name).strip()
        entry, number = wanted, 1
        while len(entry) > LONGEST or entry in taken:
            mark = "..." if number == 1 else f"... ({number})"
            entry, number = wanted[:LONGEST - len(mark)].rstrip() + mark, number + 1
        taken.add(entry)
        yield entry


def quoted(text):
    """CMake's bracket argument, in which nothing is special."""
    equals = "="
    while f"]{equals}]" in text + "]":
        equals += "="
    return f"[{equals}[{text}]{equals}]"


def entries(program, prefix):
    names = listed(program)
    none_fails = " -w NoTests" if is_catch2_2(program) else ""  # as it always does with version 3
    tagged = {label: set(listed(program, f"[{label}]")) for label in LABELS}
    for name, entry in zip(names, entry_names(names, prefix)):
        yield (f"add_test({quoted(entry)} {quoted(program)} {quoted(specification(name))}{none_fails})\n"
               f"set_tests_properties({quoted(entry)} PROPERTIES TIMEOUT 300 "
               f"LABELS {quoted(';'.join(label for label in LABELS if name in tagged[label]))})\n")


if __name__ == "__main__":
    program, prefix, file = sys.argv[1:]
    pathlib.Path(file).write_text("".join(entries(program, prefix)))
