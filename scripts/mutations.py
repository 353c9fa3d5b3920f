#!/usr/bin/env python3
"""Plants each bug of tests/mutations/bugs.json in a copy of the headers and demands that the law
tests turn red; a bug that no test notices is a hole in the tests.

usage: scripts/mutations.py [NAME...]       all of them, or only the bugs of these names
       scripts/mutations.py --twentieth     every twentieth bug, which ones follows from the commit; only
                                            where all tests are known to be green without them

bugs.json is a list of
    {"name": "...", "header": "include/specdec/...", "engine/include/..." or "examples/...", "search": "...", "replace": "...",
     "test": "tests/law/....cpp", "filter": "optional Catch2 test specification",
     "breaks": "draft"}
A bug that breaks the output law has to be caught by a law test; "breaks": "draft" is for those that
change only what is proposed, or that a seed's text does not depend on the drafter, "rows" for those of
an engine, "report" for those of what is measured and told. The search text must stand exactly once in the header. A mutant must compile: a bug that the compiler
finds proves nothing about the tests. Exit status 0 if every bug is caught and every test is green
without them.

Environment: CXX, the compiler (g++-12); for another platform, as of tests that need no RapidCheck, with its flags
and RUN, what runs its programs:
    CXX="aarch64-linux-gnu-g++ -static -isystem build/platforms/packages" RUN=qemu-aarch64 scripts/mutations.py NAME
"""
import concurrent.futures, json, os, pathlib, shutil, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILER = os.environ.get("CXX", "g++-12")
RUN = os.environ.get("RUN", "").split()  # of another platform
LIBRARIES = [] if RUN else ["-lz", "-lrapidcheck", "-lpcre2-8", "-lutf8proc"]
# Preconditions stay on: a planted bug may be caught by the library's own assertions.
COMPILE = [*COMPILER.split(), "-std=c++20", "-Og", "-w", f"-I{ROOT}/tests", f"-I{ROOT}/engine/tests", *([] if RUN else ["-I/usr/include/eigen3"]),
           f'-DSPECDEC_SOURCE_DIR="{ROOT}"', '-DSPECDEC_SHARED_DIR=""']
if "g++" in COMPILER and "clang" not in COMPILER:
    COMPILE.append("--param=ggc-min-heapsize=1000000")  # a tenth of the time
LONGEST_RUN = 180  # seconds; a mutant that hangs is caught


INCLUDE = ("include", "engine/include", "examples")


def build(root, test, main, program):
    """The compiler's complaint, or nothing; headers are those below `root`."""
    done = subprocess.run(COMPILE + [*(f"-I{root}/{folder}" for folder in INCLUDE), str(ROOT / test), str(main), *LIBRARIES, "-o", program],
                          capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def run(program, wanted):
    """Whether the test is red, and how."""
    try:
        done = subprocess.run([*RUN, program, "--abort"] + ([wanted] if wanted else []), cwd=ROOT,
                              capture_output=True, text=True, timeout=LONGEST_RUN)
    except subprocess.TimeoutExpired:
        return True, "hangs"
    if "No test cases matched" in done.stdout + done.stderr:
        return False, f"no test matches '{wanted}'"
    if done.returncode < 0:
        return True, f"killed by signal {-done.returncode}"
    return done.returncode != 0, (done.stdout.strip().splitlines() or [""])[-1]


def try_original(test, main, folder):
    program = folder / "program"
    problem = build(ROOT, test, main, program)
    if problem:
        return False, f"does not compile:\n{problem}"
    red, how = run(program, None)
    return not red, how


def try_bug(bug, main, folder):
    for include in INCLUDE:
        shutil.copytree(ROOT / include, folder / include)
    header = folder / bug["header"]
    header.write_text(header.read_text().replace(bug["search"], bug["replace"]))
    problem = build(folder, bug["test"], main, folder / "program")
    if problem:
        return False, f"the mutant does not compile:\n{problem}"
    return run(folder / "program", bug.get("filter"))


def refused(bugs):
    """Why bugs cannot be planted; tests/discovery/test_law_suites.py asks for it, too."""
    for bug in bugs:
        if "breaks" not in bug and not bug["test"].startswith("tests/law/"):
            yield f"{bug['name']}: breaks the law, but its test is no law test: {bug['test']}"
        found = (ROOT / bug["header"]).read_text().count(bug["search"])
        if found != 1:
            yield f"{bug['name']}: the search text stands {found} times in {bug['header']}"


def main():
    bugs = json.loads((ROOT / "tests/mutations/bugs.json").read_text())
    if bad := list(refused(bugs)):  # of all bugs, whichever are tried
        sys.exit("\n".join(bad))
    names = sys.argv[1:]
    if names == ["--twentieth"]:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
        bugs = bugs[int(commit.strip() or "0", 16) % 20::20]
    else:
        bugs = [bug for bug in bugs if not names or bug["name"] in names]
        if unknown := set(names) - {bug["name"] for bug in bugs}:
            sys.exit(f"no bug of that name: {', '.join(sorted(unknown))}")
    if not bugs:
        sys.exit("bugs.json: expected a bug")
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        main_object = scratch / "main.o"
        subprocess.run([*COMPILER.split(), "-std=c++20", "-O0", "-c", ROOT / "tests/catch_main.cpp", "-o", main_object],
                       check=True)

        def job(number, name, attempt, subject, words):
            folder = scratch / str(number)
            folder.mkdir()
            begin = time.monotonic()
            good, how = attempt(subject, main_object, folder)
            shutil.rmtree(folder)
            return good, f"{words[not good]:10} {name} ({time.monotonic() - begin:.0f} s): {how}"

        originals = sorted({bug["test"] for bug in bugs}) if names != ["--twentieth"] else []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            tasks = [(test, try_original, test, ("green", "NOT GREEN")) for test in originals]
            tasks += [(bug["name"], try_bug, bug, ("caught", "NOT CAUGHT")) for bug in bugs]
            jobs = [pool.submit(job, number, *task) for number, task in enumerate(tasks)]
            for done in jobs:
                good, line = done.result()
                bad += not good
                print(line, flush=True)
    print(f"{len(jobs) - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
