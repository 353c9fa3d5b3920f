#!/usr/bin/env python3
"""Which files of tests/law a change of headers can turn red, and runs them.

usage: scripts/law_suites.py [--since COMMIT] [--run PROGRAM] [HEADER...]

HEADER: what changed; without any, what differs from COMMIT (HEAD unless told) in include/.
A header for which tests/mutations/bugs.json knows bugs chooses the suites that catch them; any other
one the suites that catch bugs in a header that includes it, or that include it where there are none.
Generated courses (courses.cpp) are no bug's own: they go with every header that they reach.
A change of a suite, or of what suites share, chooses it or them. --run: PROGRAM (test_law) with these
suites alone. All of them: ctest -L '^law$'.
"""
import argparse, json, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COURSES = "tests/law/courses.cpp"


def includes(file):
    """Files of this repository that a file includes, relative to its root."""
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)', (ROOT / file).read_text(), re.M):
        for place in ("include", "engine/include", "tests", pathlib.Path(file).parent.as_posix()):
            if (ROOT / place / name).is_file():
                yield f"{place}/{name}"
                break


def reached(file, known={}):
    """All files that a file includes, itself among them."""
    if file not in known:
        seen, todo = {file}, [file]
        while todo:
            for other in includes(todo.pop()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        known[file] = seen
    return known[file]


def chosen(changed, bugs, suites):
    """The suites for these changed files."""
    catching = {}  # header: suites that catch its bugs
    for bug in bugs:
        if bug["test"] in suites:
            catching.setdefault(bug["header"], set()).add(bug["test"])
    found = {COURSES for file in changed if COURSES in suites and file in reached(COURSES)}
    for file in changed:
        if file in catching:
            found |= catching[file]
            continue
        above = [suites_of for header, suites_of in catching.items()
                 if file.startswith("include/") and file in reached(header)]
        users = {suite for suite in suites if file in reached(suite)}
        found |= set().union(*above) & users if above else users
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--since", default="HEAD")
    parser.add_argument("--run")
    parser.add_argument("headers", nargs="*")
    options = parser.parse_args()
    changed = options.headers or subprocess.run(
        ["git", "diff", "--name-only", "--diff-filter=d", options.since, "--", "include", "tests/law", "tests/support"],
        cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    suites = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests/law").glob("*.cpp"))
    bugs = json.loads((ROOT / "tests/mutations/bugs.json").read_text())
    found = chosen(changed, bugs, suites)
    print("\n".join(found) or "no suite", flush=True)
    if options.run and found:
        tags = ",".join(f"[#{pathlib.Path(suite).stem}]" for suite in found)
        sys.exit(subprocess.run([options.run, "-#", tags]).returncode)


if __name__ == "__main__":
    main()
