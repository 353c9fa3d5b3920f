#!/usr/bin/env python3
"""Compares what a benchmark program measured before and after a change.

usage: scripts/compare_benchmarks.py [--slower PERCENT] [--counter NAME] BEFORE.json AFTER.json

The files are those of the flags --benchmark_format=json or --benchmark_out=FILE. Prints a table of the shortest times
of each benchmark (several, if Google Benchmark repeated it) and their ratio. The exit status is 1 if a benchmark took
longer by more than PERCENT (by default 10), and 2 if a file cannot be read or a benchmark failed in it.

Two runs of one program differ by more than two cases of one run: on such a machine, name a counter that is a ratio
within the run (--counter ratio, --counter reads). Then that is compared in place of the time.
"""
import argparse, json, re, sys

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Unreadable(Exception):
    pass


def values(text, counter=None):
    """The least value of every benchmark that has it, in the order of the file: nanoseconds, or the counter."""
    try:
        runs = json.loads(text)["benchmarks"]
    except (json.JSONDecodeError, TypeError, KeyError) as problem:
        raise Unreadable("expected the JSON of a benchmark program") from problem
    found = {}
    for run in runs:
        name = re.sub(r"/(iterations:\d+|manual_time|real_time|repeats:\d+)(?=/|$)", "", run.get("run_name", run["name"]))
        if run.get("error_occurred"):
            raise Unreadable(f"{name}: {run.get('error_message')}")
        if run.get("run_type", "iteration") != "iteration" or (counter and counter not in run):
            continue
        value = run[counter] if counter else run["real_time"] * NANOSECONDS[run["time_unit"]]
        found[name] = min(value, found.get(name, value))
    if not found:
        raise Unreadable(f"expected benchmarks with the counter {counter}" if counter else "expected benchmarks")
    return found


def shown(value, counter=None):
    if counter:
        return f"{value:.3f}"
    unit = next((u for u in ("s", "ms", "us") if value >= NANOSECONDS[u]), "ns")
    return f"{value / NANOSECONDS[unit]:.2f} {unit}"


def compare(before, after, slower, counter=None):
    """The lines of the table, and the names of the benchmarks that are slower by more than so many per cent."""
    names = [name for name in before if name in after]
    if not names:
        raise Unreadable("the files have no benchmark in common")
    rows, worse = [("", "before", "after", "ratio")], []
    for name in names:
        if before[name] <= 0:
            continue
        ratio = after[name] / before[name]
        rows.append((name, shown(before[name], counter), shown(after[name], counter), f"{ratio:.3f}"))
        if ratio > 1 + slower / 100:
            worse.append(name)
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [f"{row[0]:{widths[0]}}" + "".join(f"  {row[c]:>{widths[c]}}" for c in (1, 2, 3)) for row in rows]
    for title, one, other in (("only before", before, after), ("only after", after, before)):
        lines += [f"{title}: {name}" for name in one if name not in other]
    lines += [f"slower by more than {slower:g} %: {name}" for name in worse]
    return lines, worse


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--slower", type=float, default=10, metavar="PERCENT")
    arguments.add_argument("--counter", metavar="NAME")
    arguments.add_argument("before")
    arguments.add_argument("after")
    asked = arguments.parse_args()
    read = []
    try:
        for path in (asked.before, asked.after):
            try:
                with open(path, encoding="utf-8") as file:
                    read.append(values(file.read(), asked.counter))
            except (OSError, UnicodeDecodeError, Unreadable) as problem:
                raise Unreadable(f"{path}: {problem}") from problem
        lines, worse = compare(*read, asked.slower, asked.counter)
    except Unreadable as problem:
        print(problem, file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
