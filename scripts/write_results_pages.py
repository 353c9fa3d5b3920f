#!/usr/bin/env python3
"""Writes the tables of the documents whose rows are kept in docs/results/data, each with its caption.

usage: scripts/write_results_pages.py [--check]

A page marks where a table stands:

    <!-- table: NAME -->
    what this script writes
    <!-- end of table -->

docs/results/data/captions.json says of each file of rows when, where and how it was measured; recorded.json has the figures
whose rows were not kept, each with the page that reports it. --check: writes nothing, exit status 1 if a page is another.
"""
import datetime, hashlib, json, pathlib, re, shlex, statistics, sys, textwrap

from pages import ROOT, Unreadable, table, write_or_check

RESULTS = ROOT / "docs/results"
DATA = RESULTS / "data"
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)
NUMBER = (int, float)
# What a field of a row must be. A JSON true is no number.
COMPARED = {"rule": str, "temperature": NUMBER, "tokens": int, "tokens_per_second": NUMBER, "tokens_per_target_call": NUMBER,
            "speedup": NUMBER, "texts": int, "identical_texts": int, "precision": str, "kernel": str, "threads": int, "costs": list,
            "conditional_acceptance_by_position": list}
TIMED = {"prompt_tokens": int, "time_to_first_token": NUMBER, "time_per_output_token_speedup": NUMBER, "by_default": bool}
STUDIED = {"model": str, "temperature": NUMBER, "rule": str, "tokens_per_second": NUMBER, "speedup": NUMBER,
           "tokens_per_target_call": (*NUMBER, type(None)), "same_text": str}
LONG = {"arguments": str, "tokens": int, "temperature": NUMBER, "tokens_per_target_call": NUMBER, "seconds_by_tokens": list,
        "resident_early": int, "resident_end": int}
CAPTION = {"date": str, "commit": (str, type(None)), "cpu": str, "compiler": (str, type(None)), "runs": int, "weights": dict, "command": str}
RECORDED = {"what": str, "figures": list, "cpu": str, "date": str, "page": str}
NAMES = {str: "a string", bool: "true or false", int: "a whole number", float: "a number", list: "a list", dict: "an object", type(None): "null"}
FIVE = 6  # of "costs", which begins with a draft token and no position: a pass over five positions, in passes over one
HELD_OUT = ("retrieval", "recipes", "travel")  # no drafter was trained on any


def checked(value, fields, where):
    """The object, if it has these fields."""
    if not isinstance(value, dict):
        raise Unreadable(f"{where}: expected an object, found {json.dumps(value)[:40]}")
    for name, kinds in fields.items():
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if name not in value:
            raise Unreadable(f"{where}: expected a field {name}")
        if not isinstance(value[name], kinds) or (isinstance(value[name], bool) and bool not in kinds):
            wanted = " or ".join(dict.fromkeys(NAMES[kind] for kind in kinds))
            raise Unreadable(f"{where}: {name}: expected {wanted}, found {json.dumps(value[name])[:40]}")
    return value


def dated(value, where):
    try:
        datetime.date.fromisoformat(value["date"])
    except ValueError:
        raise Unreadable(f"{where}: date: expected YYYY-MM-DD, found {json.dumps(value['date'])}") from None
    return value


def loaded(text, where):
    def no_number(word):
        raise Unreadable(f"{where}: expected a number or null, found {word}")
    try:
        return json.loads(text, parse_constant=no_number)
    except ValueError as problem:
        raise Unreadable(f"{where}: expected JSON: {problem}") from None


def shown(path):
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def cells(path):
    """{kind: {rule: row}} of what kinds_study.py --out wrote."""
    found, names = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{shown(path)}:{number}"
        cell = checked(loaded(line, where), {"arguments": str, "rows": list}, where)
        kind = cell["arguments"].split()[-1]
        if kind in found:
            raise Unreadable(f"{where}: expected each kind once, found {kind} again")
        for i, row in enumerate(cell["rows"]):
            checked(row, COMPARED, f"{where}: rows[{i}]")
            if len(row["costs"]) <= FIVE:
                raise Unreadable(f"{where}: rows[{i}]: costs: expected at least {FIVE + 1} numbers, found {len(row['costs'])}")
            if row["temperature"] == 0 and row["identical_texts"] != row["texts"]:
                raise Unreadable(f"{where}: rows[{i}]: identical_texts: expected {row['texts']} at temperature 0, found {row['identical_texts']}")
        rules = [row["rule"] for row in cell["rows"]]
        names = names or rules
        if rules != names or "autoregressive" not in rules or len(set(rules)) < len(rules):
            raise Unreadable(f"{where}: rows: expected autoregressive and the rules of the first line, each once, found {', '.join(rules)}")
        found[kind] = dict(zip(rules, cell["rows"]))
    return found


def outputs(path):
    """{(decoding, temperature): row} of what long_outputs.py --out wrote, a line a run."""
    rows = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{shown(path)}:{number}"
        run = checked(loaded(line, where), {"arguments": str, "rows": list}, where)
        row = checked({"arguments": run["arguments"], **run["rows"][0]}, LONG, where)
        rows[shlex.split(run["arguments"])[-1], row["temperature"]] = row
    return rows


def studied(path):
    """{(model, temperature, rule): row} of what openvino_study.py --json wrote."""
    rows = loaded(path.read_text(), shown(path))
    if not isinstance(rows, list):
        raise Unreadable(f"{shown(path)}: expected a list of rows")
    rows = [checked(row, STUDIED, f"{shown(path)}: row {i}") for i, row in enumerate(rows)]
    return {(row["model"], row["temperature"], row["rule"]): row for row in rows}


class Data:
    """All that docs/results/data has, checked."""

    def __init__(self, folder=DATA, models=ROOT / "models", results=RESULTS):
        self.captions = checked(loaded((folder / "captions.json").read_text(), shown(folder / "captions.json")), {}, "captions.json")
        files = {p.name for p in folder.glob("*.json*")} - {"captions.json", "recorded.json"}
        for name in sorted(files ^ self.captions.keys()):
            raise Unreadable(f"{shown(folder)}/{name}: " + ("expected an entry in captions.json" if name in files
                                                             else "captions.json has an entry, expected the file"))
        for name, caption in self.captions.items():
            where = f"{shown(folder)}/captions.json: {name}"
            dated(checked(caption, CAPTION, where), where)
            for model, digest in caption["weights"].items():
                weights = models / model / "model.safetensors"
                there = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.is_file() else "no such file"
                if there != digest:
                    raise Unreadable(f"{where}: weights: {model}: expected the hash of {shown(weights)}, {there}: measure again")
        self.outputs = {name: outputs(folder / name) for name in sorted(files) if name.startswith("outputs-")}
        self.kinds = {name: cells(folder / name) for name in sorted(files) if name.endswith(".jsonl") and name not in self.outputs}
        self.openvino = {name: studied(folder / name) for name in sorted(files) if name.endswith(".json")}
        self.recorded = {}
        for i, entry in enumerate(loaded((folder / "recorded.json").read_text(), f"{shown(folder)}/recorded.json")):
            where = f"{shown(folder)}/recorded.json: entry {i}"
            dated(checked(entry, RECORDED, where), where)
            page = results / entry["page"]
            text = page.read_text() if page.is_file() else ""
            for figure in entry["figures"]:
                if not re.search(rf"(?<![\d.]){figure:.2f}(?!\d)", text):
                    raise Unreadable(f"{where}: expected {figure:.2f} on {shown(page)}")
            self.recorded[entry["what"]] = entry


def day(date):
    d = datetime.date.fromisoformat(date)
    return f"{d.day} {d:%B %Y}"


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n"


def caption(data, names, more=""):
    """Machine, date and runs once, then each command. The files are of one machine and day."""
    said = {(c["cpu"], c["date"], c["runs"], c["commit"], c["compiler"]) for c in (data.captions[name] for name in names)}
    if len(said) != 1:
        raise Unreadable(f"docs/results/data/captions.json: expected one machine, date and number of runs of {', '.join(names)}")
    cpu, date, runs, commit, compiler = said.pop()
    parts = [f"{cpu}, {day(date)}, {'one run' if runs == 1 else f'{runs} runs'}"]
    rows = [row for name in names if name in data.kinds for kind in data.kinds[name].values() for row in kind.values()]
    if rows:
        texts, threads = ({row[key] for row in rows} for key in ("texts", "threads"))
        plain = [row["tokens_per_second"] for row in rows if row["rule"] == "autoregressive"]
        parts[0] += f", {' or '.join(map(str, sorted(threads)))} thread{'s' * (threads != {1})}, {' or '.join(map(str, sorted(texts)))} prompts a kind"
        parts.append(f"Plain decoding made {min(plain):.0f} to {max(plain):.0f} tokens a second")
    parts.append("; ".join(f"{what} {value or 'not recorded'}" for what, value in (("Commit:", commit), ("compiler:", compiler))))
    if more:
        parts.append(more)
    commands = "".join(f"    {command}\n" for command in dict.fromkeys(data.captions[name]["command"] for name in names))
    return "\n" + wrapped(". ".join(parts) + ".") + "\n" + commands


def medians(rows):
    """tokens per target pass, and speed-up as median (lowest), of {kind: row}."""
    speedups = [row["speedup"] for row in rows.values()]
    return (f"{statistics.median(row['tokens_per_target_call'] for row in rows.values()):.2f}",
            f"{statistics.median(speedups):.2f} ({min(speedups):.2f})")


# decoding, drafter, rule as a page says it, file of rows, rule of the rows, entry of recorded.json; whether README shows it
DECODINGS = [
    ("greedy, BF16", "own tokenizer", "`slem` with lookup", "zen3-text-t0-bf16.jsonl", "slem+lookup", "greedy, BF16, slem with lookup", True),
    ("greedy, BF16", "own tokenizer", "`slem`", "zen3-text-t0-bf16.jsonl", "slem", "greedy, BF16, slem", False),
    ("greedy, BF16", "EAGLE-style", "`identity` with lookup", "zen3-feat-t0-bf16.jsonl", "identity+lookup",
     "greedy, BF16, identity with lookup", True),
    ("greedy, 4 bits", "own tokenizer", "`slem` with lookup", "zen3-text-t0-q4.jsonl", "slem+lookup", "greedy, 4 bits, slem with lookup", True),
    ("T = 1, BF16", "own tokenizer", "`tli-block`", "zen3-text-t1-bf16.jsonl", "tli-block", None, True),
    ("T = 1, 4 bits", "own tokenizer", "`tli-block`", "zen3-text-t1-q4.jsonl", "tli-block", None, True),
    ("T = 1, BF16", "EAGLE-style", "`identity-block`", "zen3-feat-t1-bf16.jsonl", "identity-block", "T = 1, BF16, identity-block", True),
]


def decodings(data, readme):
    rows = []
    for decoding, drafter, rule, file, name, recorded, first in DECODINGS:
        if readme and not first:
            continue
        tokens, speedup = medians({kind: found[name] for kind, found in data.kinds[file].items()})
        other = "{:.2f} ({:.2f})".format(*data.recorded[recorded]["figures"]) if recorded else ""
        count = len(data.kinds[file])
        five = statistics.median(found[name]["costs"][FIVE] for found in data.kinds[file].values())
        rows.append([decoding, f"{drafter}, {rule}", tokens, *([] if readme else [f"{five:.2f}"]),
                     speedup + ("" if count == 15 else f", {count} kinds"), other])
    heads = ["decoding", "drafter, rule", "tokens per target pass", *([] if readme else ["cost of 5 positions / 1"]), "Zen 3 (AVX2)", "Zen 4 (AVX-512)"]
    return aligned(heads, rows, 2)


def aligned(heads, rows, left):
    """A table whose columns after the first `left` are numbers."""
    lines = table(heads, rows).split("\n")
    lines[1] = "| " + " | ".join(["---"] * left + ["---:"] * (len(heads) - left)) + " |"
    return "\n".join(lines)


def by_kind(data, columns, cell):
    kinds = list(data.kinds[columns[0][1]])
    rows = [[f"{kind} (held out)" if kind in HELD_OUT else kind,
             *(cell(data.kinds[file][kind][rule]) if kind in data.kinds[file] else "" for _, file, rule in columns)] for kind in kinds]
    return aligned(["kind", *(name for name, _, _ in columns)], rows, 1)


def speed(row):
    return f"{row['tokens_per_target_call']:.2f}, {row['speedup']:.2f}x"


def positions(row):
    return ", ".join(f"{100 * p:.0f}" for p in row["conditional_acceptance_by_position"][:4])


GREEDY = [("`slem`, BF16", "zen3-text-t0-bf16.jsonl", "slem"), ("with lookup", "zen3-text-t0-bf16.jsonl", "slem+lookup"),
          ("`identity`, BF16", "zen3-feat-t0-bf16.jsonl", "identity"), ("with lookup", "zen3-feat-t0-bf16.jsonl", "identity+lookup"),
          ("`slem` with lookup, 4 bits", "zen3-text-t0-q4.jsonl", "slem+lookup")]
SAMPLED = [("`tli-block`, BF16", "zen3-text-t1-bf16.jsonl", "tli-block"), ("`identity-block`, BF16", "zen3-feat-t1-bf16.jsonl", "identity-block"),
           ("`tli-block`, 4 bits", "zen3-text-t1-q4.jsonl", "tli-block")]


def kinds_table(data, columns, cell=speed):
    text = by_kind(data, columns, cell)
    if cell is speed:
        last = ["median (lowest speed-up)"]
        for _, file, rule in columns:
            tokens, speedup = medians({kind: found[rule] for kind, found in data.kinds[file].items()})
            last.append(f"{tokens}, {speedup.replace(' (', 'x (')}")
        text += "| " + " | ".join(last) + " |\n"
    return text + caption(data, list(dict.fromkeys(file for _, file, _ in columns)))


DRAFTERS = {"text drafter, 4 bits": "text-q4.jsonl", "EAGLE-style, 4 bits": "features-q4.jsonl",
            "text drafter, BF16": "text-bf16.jsonl", "EAGLE-style, BF16": "features-bf16.jsonl"}


def by_default(found, where):
    """The row of what the pair does by default, with its times."""
    rows = [row for row in found.values() if checked(row, TIMED, where)["by_default"]]
    if len(rows) != 1:
        raise Unreadable(f"{where}: expected one row by_default, found {len(rows)}")
    return rows[0]


def prompts_by_length(data, machine):
    files = [f"{machine}-lengths-{file}" for file in DRAFTERS.values()]
    rows = []
    for kind in data.kinds[files[0]]:
        found = [by_default(data.kinds[file][kind], f"{file}: {kind}") if kind in data.kinds[file] else None for file in files]
        rows.append([f"{found[0]['prompt_tokens'] / found[0]['texts']:,.0f}", *(
            f"{row['tokens_per_target_call']:.2f}, {row['speedup']:.2f}x, {row['time_per_output_token_speedup']:.2f}x" if row else ""
            for row in found), f"{1000 * found[0]['time_to_first_token']:,.0f}"])
    return aligned(["prompt tokens", *DRAFTERS, "time to first token, ms"], rows, 0) + caption(data, files)


def long_outputs(data):
    import long_outputs as study
    files = {f"{name[0].upper()}{name[1:]}": f"outputs-emerald-{file}" for name, file in DRAFTERS.items()}
    tables = "\n\n".join(f"**{name}**\n\n" + "\n".join(study.table(data.outputs[file])) for name, file in files.items())
    return tables + "\n" + caption(data, list(files.values()))


CHOICES = {"text drafter": "emerald-choices-text-q4.jsonl", "EAGLE-style": "emerald-choices-features-q4.jsonl"}


def choices(data):
    import kinds_study as study
    found = {kind: {name: list(data.kinds[file][kind].values()) for name, file in CHOICES.items()} for kind in data.kinds[CHOICES["text drafter"]]}
    return "\n".join(study.choices_table(0, found, study.counted_speed)) + "\n" + caption(data, list(CHOICES.values()))


GEMMA = ["zen4-gemma3-t0.jsonl", "zen4-gemma3-t1.jsonl"]


def gemma(data):
    """Tokens a second and speed-up of each rule."""
    rows = []
    for file in GEMMA:
        for kind, found in data.kinds[file].items():
            default = by_default(found, f"{file}: {kind}")
            rules = [found[rule] for rule in ("slem", "tli", "tli-block")] + [default]
            rows.append([f"{default['temperature']:g}", kind, f"{found['autoregressive']['tokens_per_second']:.1f}",
                         *(f"{row['tokens_per_second']:.1f}, {row['speedup']:.2f}x" for row in rules)])
    return aligned(["T", "kind", "plain", "`slem`", "`tli`", "`tli-block`", "default"], rows, 2) + caption(data, GEMMA)


def openvino(data, file):
    names = {"autoregressive": "plain, through specdec", "GenAI plain": "OpenVINO GenAI, plain", "GenAI prompt lookup": "OpenVINO GenAI, prompt lookup",
             "identity": "`identity`, EAGLE-style drafter, a run of its own"}
    rows = []
    for (model, temperature, rule), row in data.openvino[file].items():
        if temperature != 0 or (rule == "autoregressive" and model == "smollm2-features"):
            continue
        other = data.openvino[file].get((model, 1, rule))
        tokens = row["tokens_per_target_call"]
        rows.append(["Gemma 3 270M" if model == "gemma3" else "SmolLM2-135M", names.get(rule, f"`{rule}`"), f"{row['tokens_per_second']:.1f}",
                     f"{row['speedup']:.2f}x", "" if tokens is None else f"{tokens:.2f}", row["same_text"], f"{other['speedup']:.2f}x" if other else ""])
    return aligned(["target", "decoding", "tokens a second, T = 0", "speed-up", "tokens per target pass", "greedy text is plain's", "speed-up, T = 1"],
                   rows, 2) + caption(data, [file])


def headings(path):
    """(heading, whether a table by hand stands below it) of a page."""
    text = MARKED.sub("", path.read_text())
    heading, found = "", {}
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            heading = line.lstrip("# ")
        elif not fenced and re.match(r"\| -", line):
            found.setdefault(heading, 0)
            found[heading] += 1
    return found


def by_hand(data):
    """The tables without rows, and the figures of generated tables without them."""
    rows = []
    for page in sorted(RESULTS.glob("*.md")):
        found = headings(page)
        if page.name != "README.md" and found:
            rows.append([f"[{page.stem}]({page.name})", str(sum(found.values())), "; ".join(found)])
    figures = [[entry["what"], "{:.2f} ({:.2f})".format(*entry["figures"]), entry["cpu"], day(entry["date"]), f"[{pathlib.Path(entry['page']).stem}]({entry['page']})"]
               for entry in data.recorded.values()]
    return (table(["page", "tables", "under"], rows) + "\nFigures of the tables above:\n\n"
            + table(["figure: median (lowest)", "", "CPU", "date", "reported on"], figures))


TABLES = {
    "decodings-readme": lambda data: decodings(data, True),
    "decodings": lambda data: decodings(data, False) + caption(data, sorted({row[3] for row in DECODINGS})),
    "kinds-greedy": lambda data: kinds_table(data, GREEDY),
    "kinds-sampled": lambda data: kinds_table(data, SAMPLED),
    "positions": lambda data: kinds_table(data, [GREEDY[1], GREEDY[3], *SAMPLED[:2]], positions),
    "prompts-by-length": lambda data: prompts_by_length(data, "zen4"),
    "prompts-by-length-xeon": lambda data: prompts_by_length(data, "emerald"),
    "long-outputs": long_outputs,
    "choices": choices,
    "gemma3": gemma,
    "openvino-zen3": lambda data: openvino(data, "openvino-zen3.json"),
    "openvino-emerald-rapids": lambda data: openvino(data, "openvino-emerald-rapids.json"),
    "by-hand": by_hand,
}


def written(text, data, where, made):
    """The page with its tables as the data say them."""
    def block(match):
        if match[2] not in TABLES:
            raise Unreadable(f"{where}: marks a table {match[2]}; expected one of {', '.join(TABLES)}")
        made.add(match[2])
        return f"{match[1]}\n{TABLES[match[2]](data)}\n{match[3]}"
    return MARKED.sub(block, text)


def main():
    made = set()
    try:
        data = Data()
        for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))):
            text = page.read_text()
            if "<!-- table: " in text:
                write_or_check(page, written(text, data, shown(page), made), "rows in docs/results/data", "--check" in sys.argv[1:])
        for name in TABLES.keys() - made:
            raise Unreadable(f"expected a page that marks the table {name}")
    except Unreadable as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
