#!/usr/bin/env python3
"""Drafters on every kind of text: tokens a call, conditional acceptance by position and speed-up, by kind, drafter and temperature.

    scripts/kinds_study.py --out kinds.jsonl --svg docs/results/kinds.svg            all kinds; again, it goes on where it was
    scripts/kinds_study.py --out kinds.jsonl --drafters "features=--models smollm2-features --rules identity" --kinds home programs \
        -- --draft-length 4 --threads 2
    scripts/kinds_study.py --out long.jsonl --prompt-tokens 128 512 1024 2048 4000 --limit 5      documents of so many tokens instead
    scripts/kinds_study.py --out choices.jsonl --choices --temperatures 0 --limit 4 -- --threads 2
                                                          is the default within 3 % of the best fixed choice? Kinds and documents
    ... -- --costs 0.07,0,1,1.04,1.09                      the same counted by these costs, not timed: one output a seed on any machine

Runs build/release/examples/compare for each kind, drafter and temperature on models/prompts/kinds/*.txt and, as the kind home, on
models/prompts/smollm2.txt; or on beginnings of models/prompts/documents.txt. Prints a Markdown table for each temperature; a speed-up
is over plain decoding in the same run. What stands behind -- goes to compare.
"""
import argparse
import functools
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

from draw_results import text

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROMPTS = ROOT / "models/prompts"
HELD_OUT = ("retrieval", "recipes", "travel")  # no drafter here was trained on any
BARS = ("#2f6f9f", "#c9742b", "#8db9d6", "#e9bd94")  # the drafters at the first temperature, then at the next one
DRAFTERS = ["features=--models smollm2-features --rules default", "text=--models smollm2 --rules default"]
# The same with what else could be chosen: no drafting, lookup alone, the drafter alone, and the drafter with lookup.
CHOICES = {0: ["features=--models smollm2-features --lookup --rules lookup,identity,identity:4,default",
               "text=--models smollm2 --lookup --rules lookup,slem,slem:4,default"],
           1: ["features=--models smollm2-features --lookup --rules lookup,identity-block,identity-block:2,default",
               "text=--models smollm2 --lookup --rules lookup,tli-block,tli-block:2,default"]}
CHOICES_TOKENS = [128, 512, 1024, 2048]
ALLOWED = 0.97  # of the best fixed choice's speed
DOCUMENTS = PROMPTS / "documents.txt"
DOCUMENT_TOKENS = 4000  # of each line there, with SmolLM2's chat form


def files():
    """{kind: file}, home first and the kinds that nothing was trained on last."""
    found = {f.stem: f for f in sorted((PROMPTS / "kinds").glob("*.txt"))}
    last = {k: found.pop(k) for k in HELD_OUT if k in found}
    return {"home": PROMPTS / "smollm2.txt", **found, **last}


def beginning(document, tokens):
    """About so many tokens of a document, whole words."""
    size = len(document) * tokens // DOCUMENT_TOKENS
    return document if size >= len(document) else document[:size].rsplit(" ", 1)[0]


def documents(lengths, folder):
    """{kind: file} of beginnings of the documents."""
    found = {}
    for tokens in lengths:
        found[f"documents-{tokens}"] = folder / f"{tokens}.txt"
        found[f"documents-{tokens}"].write_text("".join(
            beginning(line, tokens) + "\n" for line in DOCUMENTS.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
    return found


def measured(out):
    """{arguments: rows} of what is there. A last line that was cut is taken away, to be measured again."""
    begin = '{"arguments": '
    try:
        there = out.read_text(encoding="utf-8") if out.exists() else ""
        whole, cut = there[:there.rfind("\n") + 1], there[there.rfind("\n") + 1:]
        done = {cell["arguments"]: cell["rows"] for cell in map(json.loads, whole.splitlines())}
    except (OSError, ValueError, TypeError, KeyError):
        done = None
    if done is None or not begin.startswith(cut[:len(begin)]):
        raise SystemExit(f"--out {out}: expected what an earlier run has measured, or no such file")
    if cut:
        out.write_text(whole, encoding="utf-8")
    return done


class Study:
    def __init__(self, out, limit, max_tokens, flags):
        self.out, self.flags, self.done = out, ["--limit", str(limit), "-n", str(max_tokens), *flags], measured(out)

    def rows(self, kind, file, drafter, temperature):
        """What compare says of each rule."""
        arguments = [*shlex.split(drafter), "--temperatures", f"{temperature:g}", *self.flags]
        name = shlex.join([*arguments, kind])
        if name not in self.done:
            print(name, file=sys.stderr)
            done = subprocess.run([ROOT / "build/release/examples/compare", "--json", "--prompts", file, *arguments], text=True,
                                  stdout=subprocess.PIPE)
            if done.returncode != 0:
                raise SystemExit(done.returncode)
            self.done[name] = [json.loads(line) for line in done.stdout.splitlines()]
            with self.out.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"arguments": name, "rows": self.done[name]}) + "\n")
        return self.done[name]

    def cell(self, *asked):
        """What compare says of the drafter's rule."""
        return self.rows(*asked)[-1]


def counted(n, what):
    return f"{n} {what}{'s' * (n != 1)}"


def choice_of(row):
    """Which of the fixed choices a row of compare is; none for the default."""
    if row["by_default"]:
        return "default"
    if row["rule"] == "autoregressive":
        return "no drafting"
    if row["rule"] == "lookup":
        return "lookup"
    return "with lookup" if row["rule"].endswith("+lookup") else "drafter"


def speed(row):
    """Tokens a second after the first: no choice makes the prompt faster."""
    return row["time_per_output_token_speedup"]


def counted_speed(row):
    """Tokens per pass over one position, by the costs that automatic lengths went by: no clock."""
    draft, _, *passes = row["costs"]
    last = passes[-1] - passes[-2]  # a position more
    rounds = enumerate(row["rounds_by_proposals"], 1)
    cost = sum(n * (passes[k - 1] if k <= len(passes) else passes[-1] + last * (k - len(passes))) for k, n in rounds)
    return row["tokens"] / (cost + draft * row["draft_tokens"])


def choices_table(temperature, found, of_row):
    """found: {kind: {drafter: rows}}; of_row: the speed-up of a row. That of the time per output token of the default and of the fixed choices, the
    best of several lengths, and the default as a share of the best of all."""
    drafters = list(next(iter(found.values())))
    first = next(iter(found.values()))[drafters[0]][0]
    columns = ["default", "drafter", "lookup", "with lookup"]
    lines = [f"**T = {temperature:g}** ({first['texts']} prompts a kind, {first['kernel']}, {counted(first['threads'], 'thread')})", "",
             "| kind | " + " | ".join(f"{d}: {c}" for d in drafters for c in [*columns, "default / best"]) + " |",
             "| --- |" + " ---: |" * (len(columns) + 1) * len(drafters)]
    shares = {d: [] for d in drafters}
    for kind, of in found.items():
        cells = []
        for d, rows in of.items():
            best = {}
            for row in rows:
                best[choice_of(row)] = max(best.get(choice_of(row), 0), of_row(row))
            if missing := {*columns, "no drafting"} - best.keys():
                raise SystemExit(f"--drafters {d}: expected rules that are {', '.join(sorted(missing))}")
            share = best["default"] / max(v for c, v in best.items() if c != "default")
            shares[d].append(share)
            cells += [*(f"{best[c]:.2f}x" for c in columns), f"{share:.2f}" if share >= ALLOWED else f"**{share:.2f}**"]
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    lines.append("| mean | " + " | ".join(" | | | | " + f"{statistics.geometric_mean(shares[d]):.2f}" for d in drafters) + " |")
    lines += ["", f"Below {ALLOWED} of the best: " + "; ".join(
        f"{d}: {sum(s < ALLOWED for s in shares[d])} of {len(shares[d])} kinds, lowest {min(shares[d]):.2f}" for d in drafters)]
    return lines


def positions(row):
    return ", ".join(f"{100 * p:.0f}" for p in row["conditional_acceptance_by_position"][:4])


def table(temperature, found):
    """found: {kind: {drafter: row}}."""
    drafters = list(next(iter(found.values())))
    first = next(iter(found.values()))[drafters[0]]
    lines = [f"**T = {temperature:g}** ({first['texts']} prompts a kind, {first['kernel']}, {counted(first['threads'], 'thread')})", "",
             "| kind | " + " | ".join(f"{d}: tokens a call | conditional acceptance by position, % | speed-up" for d in drafters) + " |",
             "| --- |" + " ---: | ---: | ---: |" * len(drafters)]
    for kind, rows in found.items():
        name = f"{kind} (held out)" if kind in HELD_OUT else kind
        lines.append(f"| {name} | " + " | ".join(
            f"{r['tokens_per_target_call']:.2f} | {positions(r)} | {r['speedup']:.2f}x" for r in rows.values()) + " |")
    middle = lambda d, key: statistics.median(rows[d][key] for rows in found.values())
    lines.append("| **median** | " + " | ".join(
        f"**{middle(d, 'tokens_per_target_call'):.2f}** | | **{middle(d, 'speedup'):.2f}x**" for d in drafters) + " |")
    return lines


def lengths_table(temperature, found):
    """found: {kind: {drafter: row}} of documents."""
    drafters = list(next(iter(found.values())))
    first = next(iter(found.values()))[drafters[0]]
    heads = "tokens per target pass | speed-up | of time per output token | time to first token, ms"
    lines = [f"**T = {temperature:g}** ({first['texts']} documents a length, {first['kernel']}, {counted(first['threads'], 'thread')})", "",
             "| prompt tokens | " + " | ".join(f"{d}: {heads}" for d in drafters) + " |",
             "| ---: |" + " ---: | ---: | ---: | ---: |" * len(drafters)]
    for rows in found.values():
        lines.append(f"| {rows[drafters[0]]['prompt_tokens'] / first['texts']:,.0f} | " + " | ".join(
            f"{r['tokens_per_target_call']:.2f} | {r['speedup']:.2f}x | {r['time_per_output_token_speedup']:.2f}x | "
            f"{1000 * r['time_to_first_token']:,.0f}" for r in rows.values()) + " |")
    return lines


def picture(studies, file):
    """Speed-ups: a bar a kind, drafter and temperature, the kind that gains the most first. Narrow enough for a telephone.
    studies: {temperature: {kind: {drafter: row}}}."""
    first = next(iter(studies.values()))
    bars = [(drafter, temperature) for temperature in studies for drafter in next(iter(first.values()))]
    kinds = sorted(first, key=lambda kind: -statistics.mean(row["speedup"] for row in first[kind].values()))
    left, whole, bar = 90, 380, 11
    longest = max(r["speedup"] for s in studies.values() for rows in s.values() for r in rows.values())
    scale = (whole - left - 44) / max(longest, 1)
    out, y = [text(8, 18, "Speed-up over plain decoding", 13, extra='font-weight="bold"')], 28
    for kind in kinds:
        out.append(text(left - 6, y + bar * len(bars) / 2 + 3, kind + (" *" if kind in HELD_OUT else ""), 11.5, "end"))
        for line, (drafter, temperature) in enumerate(bars):
            speedup = studies[temperature][kind][drafter]["speedup"]
            out.append(f'<rect x="{left}" y="{y + line * bar}" width="{max(speedup * scale, 1):.1f}" height="{bar - 1}" rx="2" '
                       f'fill="{BARS[line % len(BARS)]}"/>')
            out.append(text(left + speedup * scale + 4, y + line * bar + 9, f"{speedup:.2f}x", 10))
        y += bar * len(bars) + 7
    out.append(f'<line x1="{left + scale:.1f}" y1="26" x2="{left + scale:.1f}" y2="{y - 5}" stroke="#444" stroke-dasharray="3 3"/>')
    for line, (drafter, temperature) in enumerate(bars):
        out.append(f'<rect x="8" y="{y + 3}" width="12" height="12" fill="{BARS[line % len(BARS)]}"/>')
        out.append(text(25, y + 13, f"{drafter}, T = {temperature:g}", 11.5))
        y += 17
    out.append(text(8, y + 12, "* a kind of text that no drafter was trained on", 11.5))
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {y + 20}" width="520" '
                    'font-family="sans-serif" fill="#222">\n<rect width="100%" height="100%" fill="#fff"/>\n'
                    + "\n".join(out) + "\n</svg>\n", encoding="utf-8")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True, help="what was measured, a line a cell")
    p.add_argument("--kinds", nargs="+", default=list(files()), choices=list(files()))
    p.add_argument("--prompt-tokens", type=int, nargs="+", metavar="N",
                   help=f"in place of the kinds documents of about so many tokens, at most {DOCUMENT_TOKENS}")
    p.add_argument("--choices", action="store_true",
                   help="the default against each fixed choice, all in turns, on the kinds and on documents")
    p.add_argument("--drafters", nargs="+", metavar="NAME=FLAGS", help="the last rule that compare runs counts; with --choices all of them")
    p.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 1.0])
    p.add_argument("--limit", type=int, default=8, help="prompts a kind")
    p.add_argument("--max-tokens", type=int, default=64)
    p.add_argument("--svg", type=pathlib.Path)
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    if a.svg and a.choices:
        p.error("--svg: expected no --choices")
    study = Study(a.out, a.limit, a.max_tokens, a.flags)
    studies = {}
    with tempfile.TemporaryDirectory() as folder:
        kinds = {kind: files()[kind] for kind in a.kinds}
        lengths = documents(a.prompt_tokens or CHOICES_TOKENS, pathlib.Path(folder)) if a.prompt_tokens or a.choices else {}
        texts = {**kinds, **lengths} if a.choices else lengths or kinds
        ask = study.rows if a.choices else study.cell
        choices = functools.partial(choices_table, of_row=counted_speed if "--costs" in a.flags else speed)
        show = choices if a.choices else lengths_table if lengths else table
        for temperature in a.temperatures:
            usual = CHOICES[temperature > 0] if a.choices else DRAFTERS
            drafters = dict(d.split("=", 1) for d in a.drafters or usual)
            studies[temperature] = {kind: {name: ask(kind, file, flags, temperature) for name, flags in drafters.items()}
                                    for kind, file in texts.items()}
            print(*show(temperature, studies[temperature]), "", sep="\n", flush=True)
    if a.svg:
        picture(studies, a.svg)


if __name__ == "__main__":
    main()
