#!/usr/bin/env python3
"""Trimmed and routed heads on a pair of models (VocabTrim, Table 1 and Figure 3; CORAL, Table 4).

    scripts/head_study.py --target-text TEXT.jsonl --routed 16/2 --svg docs/results/heads.svg
    scripts/head_study.py --pair "--models smollm2" --rule slem

Chooses lists of 50, 25, 12 and 6 % of the drafter's tokens with build/release/examples/calibrate, by raw text, text that the
target wrote and text that the drafter wrote, and runs compare with each, and with lists of target text that follow, on prompts
of the calibration's domain and on others.
Prints a Markdown table: tokens a target call (block efficiency), the memory-bound speed-up, and what was measured. What stands
behind -- goes to compare.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from draw_results import text

ROOT = pathlib.Path(__file__).resolve().parents[1]
PERCENTS = (50, 25, 12, 6)
COLORS = {"raw": "#7a7f86", "target, follows": "#4f9f5a", "target": "#2f6f9f", "drafter": "#c9742b"}


def call(program, *arguments):
    done = subprocess.run([ROOT / "build/release/examples" / program, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return done.stdout


def study(a):
    pair = shlex.split(a.pair)
    prompts = {"near": a.near, "far": a.far}

    def measured(head, source, percent):
        row = {"head": head, "source": source, "percent": percent}
        for domain, file in prompts.items():
            rows = call("compare", *pair, "--json", "--temperatures", a.temperature, "--rules", a.rule, "--draft-length",
                        a.draft_length, "--limit", a.limit, "-n", a.max_tokens, "--prompts", file, "--head", head, *a.flags)
            drafted = json.loads(rows.splitlines()[-1])
            row[domain] = drafted
            row["draft_ms"] = 1000 * drafted["draft_seconds"] / max(drafted["draft_tokens"], 1)
        print(f"{source} {percent}", file=sys.stderr)
        return row

    sources = {"raw": [f for t in a.raw_text for f in ("--text", t)],
               "target": [f for t in a.target_text for f in ("--text", t)] or ["--source", "target"],
               "drafter": ["--source", "drafter"]}
    if a.pair.endswith("-features"):
        del sources["drafter"]  # it writes nothing without its target
    with tempfile.TemporaryDirectory() as folder:
        full = measured("full", "all rows", 100)
        vocabulary = full["near"]["drafter_head_tokens"] or int(
            call("calibrate", *pair, *sources["raw"]).split(" tokens", 1)[0].rsplit(" ", 1)[1])
        rows = [full]
        for source, flags in sources.items():
            for percent in PERCENTS:
                kept = pathlib.Path(folder) / f"{source}{percent}.json"
                most = vocabulary * percent // 100
                call("calibrate", *pair, *flags, "--top-k", most, "--out", kept)
                rows.append(measured(f"trimmed:{kept}", source, percent))
                if source == "target":
                    rows.append(measured(f"adaptive:{kept}", "target, follows", percent))
        for routed in a.routed:
            groups, active = map(int, routed.split("/"))
            rows.append(measured(f"routed:{routed}", f"router, {active} of {groups}", 100 * active / groups))
    return rows


def table(rows):
    print("| rows | chosen by | tokens a call | MBSU | draft ms a token | tokens a second | off the domain: tokens a call | MBSU |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for r in rows:
        near, far = r["near"], r["far"]
        print(f"| {r['percent']:.4g} % | {r['source']} | {near['tokens_per_target_call']:.2f} | {near['mbsu']:.2f}x | "
              f"{r['draft_ms']:.2f} | {near['tokens_per_second']:.1f} ({near['speedup']:.2f}x) | "
              f"{far['tokens_per_target_call']:.2f} | {far['mbsu']:.2f}x |")


def picture(rows):
    """Two panels over kept rows (a logarithmic axis): block efficiency and MBSU; off the domain dashed."""
    width, height, left, top = 330, 220, 50, 56
    out = []
    full = rows[0]
    for place, (key, name) in enumerate((("tokens_per_target_call", "tokens a target call"), ("mbsu", "memory-bound speed-up"))):
        x0 = 10 + place * (width + 40) + left
        values = [r[d][key] for r in rows for d in ("near", "far")]
        low, high = min(values), max(values)
        low, high = low - 0.08 * (high - low), high + 0.08 * (high - low)
        shares = [100, *PERCENTS]
        x = lambda percent: x0 + (width - left) * shares.index(percent) / (len(shares) - 1)
        y = lambda value: top + height * (high - value) / (high - low)
        out.append(text(x0, top - 12, name, 14, extra='font-weight="bold"'))
        out.append(f'<path d="M{x0} {top}V{top + height}H{x0 + width - left}" fill="none" stroke="#999"/>')
        for percent in shares:
            out.append(text(x(percent), top + height + 18, f"{percent} %", 12, "middle"))
        for k in range(5):
            value = low + (high - low) * k / 4
            out.append(text(x0 - 6, y(value) + 4, f"{value:.2f}", 12, "end"))
            out.append(f'<line x1="{x0}" y1="{y(value):.1f}" x2="{x0 + width - left}" y2="{y(value):.1f}" stroke="#e4e4e4"/>')
        for source, color in COLORS.items():
            for domain, dash in (("near", ""), ("far", 'stroke-dasharray="5 4"')):
                line = [(100, full[domain][key])] + [(r["percent"], r[domain][key]) for r in rows if r["source"] == source]
                if len(line) > 1:
                    points = " ".join(f"{x(p):.1f},{y(v):.1f}" for p, v in line)
                    out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2" {dash}/>')
    bottom = top + height + 40
    at = 10 + left
    for source, color in COLORS.items():
        if any(r["source"] == source for r in rows):
            out.append(f'<rect x="{at}" y="{bottom - 10}" width="12" height="12" fill="{color}"/>')
            out.append(text(at + 17, bottom, f"list by {source}" if "," in source else f"list by {source} text", 12))
            at += 165
    out.append(text(at, bottom, "dashed: off the domain", 12))
    out.append(text(10 + left, 16, f"{full['near']['drafter']} with {full['near']['target']}: rows of the head that are kept", 13))
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width + 80} {bottom + 14}" width="{2 * width + 80}" '
          'font-family="sans-serif" fill="#222"><rect width="100%" height="100%" fill="#fff"/>', *out, "</svg>", sep="\n",
          file=open(a.svg, "w", encoding="utf-8"))


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pair", default="--models smollm2-features", help="flags of the programs that name it")
    p.add_argument("--rule", default="identity")
    p.add_argument("--raw-text", nargs="+", default=sorted(map(str, (ROOT / "docs").rglob("*.md"))))
    p.add_argument("--target-text", nargs="*", default=[], help="that it wrote before; else it writes behind the program's prompts")
    p.add_argument("--near", default=ROOT / "models/prompts/smollm2.txt")
    p.add_argument("--far", default=ROOT / "models/prompts/far-chat.txt")
    p.add_argument("--limit", default=12)
    p.add_argument("--max-tokens", default=48)
    p.add_argument("--draft-length", default=4)
    p.add_argument("--temperature", default=0)
    p.add_argument("--routed", nargs="*", default=[], help="N/n, where the drafter has a router")
    p.add_argument("--svg", help="a file for the picture")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    found = study(a)
    table(found)
    if a.svg:
        picture(found)
