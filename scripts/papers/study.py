# SPDX-License-Identifier: MIT
"""What the studies of the papers share: cells that are measured once, a progress bar, one JSON and one page.

A study is a list of cells. A cell is a command of a built program whose JSON is kept; a cell that makes a file prints none.
Measured cells stand in build/papers, a line each, so an interrupted study goes on where it was. When all are measured,
docs/papers/data/PAPER.json has them with machine, commit and hashes, and docs/papers/PAPER.md is made from that file alone:
"--page" makes the page anew, "--check" compares. A cell has the commit and the date that it was measured at; "--keep" keeps
those of the JSON.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import pages  # noqa: E402
import tensor_files  # noqa: E402

MODELS = ROOT / "models"
PROMPTS = MODELS / "prompts"
SMOLLM2 = MODELS / "fetched/SmolLM2-135M-Instruct.Q4_1.gguf"
GEMMA = MODELS / "fetched/gemma-3-270m.Q4_K_M.gguf"
WIDTH = 30  # of the progress bar


@dataclass(frozen=True)
class Cell:
    """A command: a built program, or a script of the repository (models/train/....py), which this Python runs. With `makes` it writes that file of the scratch folder, which stands as {NAME} in later commands."""
    name: str
    program: str
    flags: tuple
    makes: str = ""
    weight: float = 1  # expected time, compared with the others' where no earlier run tells


def cell(name, program, *flags, makes="", weight=1.0):
    return Cell(name, program, tuple(str(f) for f in flags), makes, weight)


def first_layers(model, layers, folder, **config):
    """Makes a model of the first layers of another, as they are; `config` is what its config.json has besides."""
    shutil.copytree(model, folder, dirs_exist_ok=True)
    (folder / "config.json").write_text(json.dumps(json.loads((model / "config.json").read_text()) | {"num_hidden_layers": layers} | config))
    def kept(name):
        layer = re.match(r"model\.layers\.(\d+)\.", name)
        return layer is None or int(layer[1]) < layers

    tensors = tensor_files.read(model / "model.safetensors")
    tensor_files.write(folder / "model.safetensors", {name: tensor for name, tensor in tensors.items() if kept(name)})


@dataclass
class Paper:
    """What a study consists of. cells(quick) lists the cells; page(results) gives the page's parts after its head."""
    name: str
    title: str
    reference: str
    cells: object
    page: object
    files: tuple = ()
    sources: object = None  # makes files in the scratch folder first: sources(folder, quick)
    about: str = field(default="")


def sha256(path):
    path = ROOT / path
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()


def first_line(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout.split("\n")[0]


def commit():
    """Of the checkout; "unknown" for files that were unpacked."""
    return first_line("git", "rev-parse", "HEAD") if (ROOT / ".git").exists() else "unknown"


def today():
    return datetime.date.today().isoformat()


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def compiler(programs):
    cache = next((p / "CMakeCache.txt" for p in pathlib.Path(programs).resolve().parents if (p / "CMakeCache.txt").is_file()), None)
    if cache is None:
        raise SystemExit(f"{programs}: expected a folder of a CMake build, found no CMakeCache.txt above it")
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache.read_text(), re.M)[1]
    return first_line(path, "--version")


class Bar:
    """How much is done, of what it will take. Silent where nobody reads it."""

    def __init__(self, total):
        self.total, self.done, self.spent, self.measured = total, 0.0, 0.0, 0.0

    def left(self):
        rate = self.spent / self.measured if self.measured else None
        if rate is None:
            return "time left: after the first cell"
        seconds = rate * (self.total - self.done)
        return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"

    def show(self, name):
        full = int(WIDTH * self.done / self.total) if self.total else WIDTH
        line = f"[{'#' * full}{'.' * (WIDTH - full)}] {100 * self.done / max(self.total, 1e-9):3.0f} %, {self.left()}: {name}"
        if sys.stderr.isatty():
            print("\r\x1b[K" + line[:119], end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def add(self, weight, seconds=None):
        self.done += weight
        if seconds is not None:
            self.measured += weight
            self.spent += seconds

    def end(self):
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Store:
    """Measured cells, a line each, by their command. A last line that was cut is measured again."""

    def __init__(self, path):
        self.path, self.cells = path, {}
        if not path.is_file():
            return
        there = path.read_text(encoding="utf-8")
        whole = there[:there.rfind("\n") + 1]
        try:
            for line in whole.splitlines():
                found = json.loads(line)
                self.cells[found["key"]] = found
        except (ValueError, KeyError, TypeError):
            raise SystemExit(f"{path}: expected cells of an earlier run, a JSON object a line; delete it to begin again") from None
        if whole != there:
            path.write_text(whole, encoding="utf-8")

    def add(self, found):
        self.cells[found["key"]] = found
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(found) + "\n")


def parsed(text):
    """One JSON object, or one a line."""
    if not text.strip().startswith("{"):
        return []
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def key_of(c):
    """The command of a cell, as it is shown."""
    return shlex.join([c.program, *(f.replace(f"{ROOT}/", "") for f in c.flags), *(["->", c.makes] if c.makes else [])])


def run(paper, a):
    """{name, command, seconds, commit, date, rows} of all cells, in order."""
    scratch = a.out / ("quick" if a.quick else "full") / paper.name
    scratch.mkdir(parents=True, exist_ok=True)
    if paper.sources:
        paper.sources(scratch, a.quick)
    cells = paper.cells(a.quick)
    places = {c.makes: scratch / c.makes for c in cells if c.makes}
    if a.quick:
        (scratch / "cells.jsonl").unlink(missing_ok=True)
    store = Store(scratch / "cells.jsonl")
    data = data_file(paper, a)
    earlier, kept = {}, {}
    if data.is_file():
        there = json.loads(data.read_text())
        earlier = {c["name"]: c["seconds"] for c in there["cells"]}
        if a.keep:
            kept = {c["name"]: {"commit": there["commit"], "date": there["date"], **c} for c in there["cells"]}
    weights = [earlier.get(c.name, 0) if len(earlier) == len(cells) else c.weight for c in cells]
    bar = Bar(sum(weights))
    if len(earlier) == len(cells):
        print(f"{paper.name}: {len(cells)} cells, {sum(weights) / 60:.1f} minutes in the last run", file=sys.stderr)
    else:
        print(f"{paper.name}: {len(cells)} cells", file=sys.stderr)
    found = []
    keys = [key_of(c) for c in cells]
    measured = [c for c, key in zip(cells, keys, strict=True) if key not in store.cells and (c.name not in kept or kept[c.name]["command"] != key)]

    def old(c, key):
        """A cell of the JSON that stands for this one: the same command, or a file that no cell needs that is to be measured."""
        if key in store.cells or c.name not in kept:
            return None
        needed = c.makes and any(c.makes.partition("/")[0] in f for other in measured if other is not c for f in other.flags)
        return kept[c.name] if not needed and (c.makes or kept[c.name]["command"] == key) else None

    for c, key, weight in zip(cells, keys, weights, strict=True):
        if one := old(c, key):
            bar.add(weight)
            found.append(one)
            continue
        if key not in store.cells or (c.makes and not places[c.makes].is_file()):
            bar.show(c.name)
            flags = [f.format(scratch=scratch, **{name.partition(".")[0]: str(p) for name, p in places.items()}) for f in c.flags]
            begin = time.monotonic()
            called = [sys.executable, ROOT / c.program] if c.program.endswith(".py") else [a.programs / c.program]
            done = subprocess.run([*called, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
            took = time.monotonic() - begin
            if done.returncode != 0:
                bar.end()
                raise SystemExit(f"{key}: exit status {done.returncode}\n{done.stderr.strip()}")
            store.add({"key": key, "seconds": round(took, 2), "commit": commit(), "date": today(), "rows": parsed(done.stdout)})
            bar.add(weight, took)
        else:
            bar.add(weight)
        found.append({"name": c.name, "command": key, **{k: store.cells[key][k] for k in ("seconds", "commit", "date", "rows")}})
    bar.end()
    return found


def data_file(paper, a):
    return (a.out / "quick" / f"{paper.name}.json") if a.quick else ROOT / f"docs/papers/data/{paper.name}.json"


def page_file(paper, a):
    return (a.out / "quick" / f"{paper.name}.md") if a.quick else ROOT / f"docs/papers/{paper.name}.md"


class Results:
    """The cells of a JSON, by name. A cell that a quick run leaves out is None."""

    def __init__(self, data):
        self.data, self.cells = data, {c["name"]: c for c in data["cells"]}

    def __contains__(self, name):
        return name in self.cells

    def rows(self, name):
        return self.cells[name]["rows"]

    def only(self, name):
        return self.rows(name)[0]

    def rule(self, name, rule, temperature=None):
        """The row of a rule (and temperature) of a cell of compare."""
        for row in self.rows(name):
            if row["rule"] == rule and (temperature is None or abs(row["temperature"] - temperature) <= 1e-6 * temperature):
                return row
        return None


def head(paper, data):
    machine = (f"{data['cpu']}, {data['cores']} cores, {data['compiler']}, {data['date']}, on top of commit {data['commit'][:8]}. All cells "
               f"together took {data['seconds'] / 60:.0f} minutes.")
    newest = (data["date"], data["commit"][:8])
    made = [(c.get("date", newest[0]), c.get("commit", newest[1])[:8]) for c in data["cells"]]
    older = [f"{made.count(one)} of {one[0]} ({one[1]})" for one in sorted({*made} - {newest})]
    if older:
        machine += f" Of the {len(made)} cells, {listed(older)} are of earlier commits."
    if data["load"] > 0.5:
        machine += (f" Other programs ran at the same time (load average {data['load']:.1f} before the first cell): counts are results, times "
                    "are only indicative.")
    return "\n\n".join([f"# {paper.title}", paper.about, f"`{data['command']}` makes this page and [its data](data/{paper.name}.json).", machine])


def filled(text):
    """Prose and lists with lines of at most 118 characters; tables and headings stay."""
    def fill(words, begin=""):
        return textwrap.fill(" ".join(words.split()), 118, initial_indent=begin, subsequent_indent=" " * len(begin), break_long_words=False,
                             break_on_hyphens=False)

    out = []
    for block in text.split("\n\n"):
        if block.startswith(("#", "|")):
            out.append(block.rstrip())
        elif block.startswith("- "):
            out.append("\n".join(fill(item, "- ") for item in re.split(r"^- ", block, flags=re.M)[1:]))
        else:
            out.append(fill(block))
    return "\n\n".join(out).strip() + "\n"


def page(paper, data):
    files = table(["file", "SHA-256"], [[f"`{name}`", f"`{digest[:16]}`"] for name, digest in data["files"].items()])
    return filled("\n\n".join([head(paper, data), paper.page(Results(data)), "## Files", files]))


def main(paper):
    p = argparse.ArgumentParser(description=f"{paper.title}: measures, and writes docs/papers/{paper.name}.md.",
                                epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="a minute, on the models in this repository; writes to --out alone")
    p.add_argument("--page", action="store_true", help="measure nothing, make the page of the JSON that is there")
    p.add_argument("--check", action="store_true", help="as --page, but write nothing: exit status 1 if the page is another")
    p.add_argument("--keep", action="store_true", help="measure what the JSON lacks, and keep its cells, whatever code they are of")
    p.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/examples", help="folder of the built programs")
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/papers", help="folder of measured cells")
    a = p.parse_args()
    if a.page or a.check:
        data = json.loads(data_file(paper, a).read_text())
        return pages.write_or_check(page_file(paper, a), page(paper, data), "results", a.check)
    for file, script in (SMOLLM2, "fetch_smollm2.py"), (GEMMA, "fetch_gemma3.py"):
        name = file.relative_to(ROOT).as_posix()
        if not a.quick and name in paper.files and not file.is_file():
            raise SystemExit(f"{name}: expected a model's weights; run: python3 models/{script}")
    load = os.getloadavg()[0]
    begin = time.monotonic()
    cells = run(paper, a)
    data = {"paper": paper.name, "date": today(),
            "commit": commit(), "cpu": cpu(), "cores": os.cpu_count(),
            "compiler": compiler(a.programs), "load": round(load, 2), "command": f"scripts/papers/{paper.name}.py" + " --quick" * a.quick,
            "files": {name: sha256(name) for name in paper.files if (ROOT / name).exists()},
            "seconds": round(sum(c["seconds"] for c in cells), 1), "cells": cells}
    data_file(paper, a).parent.mkdir(parents=True, exist_ok=True)
    data_file(paper, a).write_text(json.dumps(data, indent=1) + "\n")
    page_file(paper, a).write_text(page(paper, data))
    print(f"{page_file(paper, a)}: {len(cells)} cells, {time.monotonic() - begin:.0f} s", file=sys.stderr)


# What pages print.
def table(heads, rows):
    return pages.table(heads, [[str(c) for c in row] for row in rows])


def percent(value, digits=1):
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def number(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def milliseconds(value):
    return "-" if value is None else f"{1000 * value:.1f}"


def listed(words):
    return " and ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + " and " + words[-1]
