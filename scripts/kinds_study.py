#!/usr/bin/env python3
"""Drafters on every kind of text: tokens a call, conditional acceptance by position and speed-up, by kind, drafter and temperature.

    scripts/kinds_study.py --out kinds.jsonl --svg docs/results/kinds.svg            all kinds; again, it goes on where it was
    scripts/kinds_study.py --out kinds.jsonl --drafters "features=--models smollm2-features --rules identity" --kinds home programs \
        -- --draft-length 4 --threads 2

Runs build/release/examples/compare for each kind, drafter and temperature on models/prompts/kinds/*.txt and, as the kind home, on
models/prompts/smollm2.txt. Prints a Markdown table for each temperature; a speed-up is over plain decoding in the same run. What
stands behind -- goes to compare.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

from draw_results import COLORS, text

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROMPTS = ROOT / "models/prompts"
HELD_OUT = ("retrieval", "recipes", "travel")  # no drafter here was trained on any
DRAFTERS = ["features=--models smollm2-features --rules identity", "small=--models smollm2 --rules slem"]


def files():
    """{kind: file}, home first and the kinds that nothing was trained on last."""
    found = {f.stem: f for f in sorted((PROMPTS / "kinds").glob("*.txt"))}
    last = {k: found.pop(k) for k in HELD_OUT if k in found}
    return {"home": PROMPTS / "smollm2.txt", **found, **last}


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

    def cell(self, kind, file, drafter, temperature):
        """What compare says of the drafter's rule."""
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
        return self.done[name][-1]


def positions(row):
    return ", ".join(f"{100 * p:.0f}" for p in row["conditional_acceptance_by_position"][:4])


def table(temperature, found):
    """found: {kind: {drafter: row}}."""
    drafters = list(next(iter(found.values())))
    first = next(iter(found.values()))[drafters[0]]
    lines = [f"**T = {temperature:g}** ({first['texts']} prompts a kind, {first['kernel']}, {first['threads']} threads)", "",
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


def picture(studies, file):
    """A panel a drafter: speed-ups, a bar a kind and temperature, the kind that gains the most first.
    studies: {temperature: {kind: {drafter: row}}}."""
    first = next(iter(studies.values()))
    drafters = list(next(iter(first.values())))
    kinds = sorted(first, key=lambda kind: -statistics.mean(row["speedup"] for row in first[kind].values()))
    left, width, bar = 130, 330, 12
    longest = max(r["speedup"] for s in studies.values() for rows in s.values() for r in rows.values())
    scale = (width - 60) / max(longest, 1)
    out, bottom = [], 44 + len(kinds) * (bar * len(studies) + 8)
    for panel, drafter in enumerate(drafters):
        x = left + panel * width
        out.append(text(x, 30, f"Speed-up, {drafter}", 13, extra='font-weight="bold"'))
        for place, kind in enumerate(kinds):
            y = 42 + place * (bar * len(studies) + 8)
            if panel == 0:
                out.append(text(left - 8, y + bar * len(studies) / 2 + 4, kind + (" *" if kind in HELD_OUT else ""), 12, "end"))
            for line, found in enumerate(studies.values()):
                row = found[kind][drafter]
                out.append(f'<rect x="{x}" y="{y + line * bar}" width="{max(row["speedup"] * scale, 1):.1f}" height="{bar - 2}" rx="2" '
                           f'fill="{COLORS.get(line, "#666")}"/>')
                out.append(text(x + row["speedup"] * scale + 4, y + line * bar + 9, f"{row['speedup']:.2f}x", 10))
        out.append(f'<line x1="{x + scale:.1f}" y1="38" x2="{x + scale:.1f}" y2="{bottom - 4}" stroke="#444" stroke-dasharray="3 3"/>')
    at = left
    for line, temperature in enumerate(studies):
        out.append(f'<rect x="{at}" y="{bottom + 4}" width="12" height="12" fill="{COLORS.get(line, "#666")}"/>')
        out.append(text(at + 17, bottom + 14, f"T = {temperature:g}", 12))
        at += 80
    out.append(text(at, bottom + 14, "* a kind of text that no drafter was trained on", 12))
    whole = left + width * len(drafters)
    file.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {bottom + 24}" width="{whole}" '
                    'font-family="sans-serif" fill="#222">\n<rect width="100%" height="100%" fill="#fff"/>\n'
                    + "\n".join(out) + "\n</svg>\n", encoding="utf-8")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, required=True, help="what was measured, a line a cell")
    p.add_argument("--kinds", nargs="+", default=list(files()), choices=list(files()))
    p.add_argument("--drafters", nargs="+", default=DRAFTERS, metavar="NAME=FLAGS", help="the last rule that compare runs counts")
    p.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 1.0])
    p.add_argument("--limit", type=int, default=8, help="prompts a kind")
    p.add_argument("--max-tokens", type=int, default=64)
    p.add_argument("--svg", type=pathlib.Path)
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    drafters = dict(d.split("=", 1) for d in a.drafters)
    study = Study(a.out, a.limit, a.max_tokens, a.flags)
    studies = {}
    for temperature in a.temperatures:
        studies[temperature] = {kind: {name: study.cell(kind, files()[kind], flags, temperature) for name, flags in drafters.items()}
                                for kind in a.kinds}
        print(*table(temperature, studies[temperature]), "", sep="\n", flush=True)
    if a.svg:
        picture(studies, a.svg)


if __name__ == "__main__":
    main()
