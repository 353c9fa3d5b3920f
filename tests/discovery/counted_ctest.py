#!/usr/bin/env python3
"""usage: counted_ctest.py PRESET [ctest's arguments, for example -R law/]

Runs ctest, then compares for each test program the cases that it lists with those that ran (each
notes itself, see tests/catch_main.cpp), less those whose entries the arguments leave out."""
import json, os, pathlib, shutil, subprocess, sys

from discover import listed, specification


def selected(ctest):
    """The (program, specification) of all ctest entries that have both."""
    shown = subprocess.run(ctest + ["--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
    commands = [test.get("command", []) for test in json.loads(shown)["tests"]]
    return {tuple(command[:2]) for command in commands if len(command) > 1}


def table(programs, every, chosen, ran):
    """Lines, and whether the counts fit."""
    good = True
    rows = [("test program", "listed", "excluded", "ran")]
    for program in programs:
        if not os.path.exists(program):
            rows.append((os.path.basename(program), "not built", "", ""))
            continue
        names = set(listed(program))
        excluded = {name for name in names if (program, specification(name)) in every - chosen}
        file = ran / os.path.basename(program)
        here = set(file.read_text().split("\n")[:-1]) if file.exists() else set()
        wrong = ([f"not run: {name}" for name in sorted(names - excluded - here)] +
                 [f"not chosen: {name}" for name in sorted(here - (names - excluded))])
        verdict = f"  DIFFER: {'; '.join(wrong[:3])}{'; ...' * (len(wrong) > 3)}" if wrong else ""
        good = good and not verdict
        rows.append((os.path.basename(program), len(names), len(excluded), f"{len(here)}{verdict}"))
    return ["%-26s %9s %9s  %s" % row for row in rows], good


def main():
    preset, arguments = sys.argv[1], sys.argv[2:]
    build = pathlib.Path("build", preset).absolute()
    ctest = ["ctest", "--preset", preset]
    ran = build / "tests/ran"
    shutil.rmtree(ran, ignore_errors=True)
    ran.mkdir(parents=True)
    status = subprocess.run(ctest + arguments, env=os.environ | {"SPECDEC_CASES_RAN": str(ran)}).returncode
    if any(argument == "-N" or argument.startswith("--show-only") for argument in arguments):
        return status
    programs = (build / "tests/programs.txt").read_text().split("\n")[:-1]
    lines, good = table(programs, selected(ctest), selected(ctest + arguments), ran)
    print("\n" + "\n".join(lines), flush=True)
    return status or not good


if __name__ == "__main__":
    sys.exit(main())
