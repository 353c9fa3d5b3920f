#!/usr/bin/env python3
"""Draws what `compare --json` measured as one SVG picture: a bar a rule, a group a temperature.

usage: compare --rules all --json | scripts/draw_results.py > results.svg
       scripts/draw_results.py SMOLLM2.json DOCS.json > results.svg              (a panel a file)
"""
import json
import sys
from html import escape

WIDTH, BAR, GAP, LEFT, RIGHT = 720, 22, 6, 170, 190
COLORS = {0: "#2f6f9f", 1: "#c9742b"}  # by place in the list of temperatures


def rows_of(file):
    rows = [json.loads(line) for line in file if line.strip()]
    if not rows:
        raise SystemExit(f"{file.name}: rows: expected one JSON object a line, found none")
    return rows


def text(x, y, words, size=13, anchor="start", extra=""):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" {extra}>{escape(words)}</text>'


def panel(rows, top, longest):
    """The picture of one run, and where it ends."""
    first = rows[0]
    drafter = next((r["drafter"] for r in rows if r.get("drafter")), None)
    scale = (WIDTH - LEFT - RIGHT) / longest
    out = [text(0, top + 16, f"{first['target']} with {drafter}", 15, extra='font-weight="bold"'),
           text(0, top + 34, f"speed-up over autoregressive decoding in the same run; {first['texts']} texts, "
                             f"{first['precision']}, {first['threads']} threads", 12)]
    y = top + 48
    zero = y
    notes = []  # above the line of 1x
    for place, temperature in enumerate(dict.fromkeys(r["temperature"] for r in rows)):
        color = COLORS.get(place, "#666")
        out.append(text(0, y + 15, f"T = {temperature:g}", extra='font-weight="bold"'))
        for r in (r for r in rows if r["temperature"] == temperature):
            length = max(r["speedup"] * scale, 1)
            plain = r["rule"] == "autoregressive"
            note = f"{r['speedup']:.2f}x" + ("" if plain else f", {r['tokens_per_target_call']:.2f} tokens a call")
            notes.append(text(LEFT + length + 6, y + 15, note, 12,
                              extra='stroke="#fff" stroke-width="3" paint-order="stroke"'))
            out += [text(LEFT - 8, y + 15, r["rule"], anchor="end"),
                    f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" rx="2" '
                    f'fill="{"#9aa0a6" if plain else color}"/>']
            y += BAR + 2
        y += GAP
    one = LEFT + scale
    out.append(f'<line x1="{one:.1f}" y1="{zero - 4}" x2="{one:.1f}" y2="{y - GAP}" '
               'stroke="#444" stroke-dasharray="3 3"/>')
    return out + notes, y + 14


def main():
    files = [open(name, encoding="utf-8") for name in sys.argv[1:]] or [sys.stdin]
    runs = [rows_of(f) for f in files]
    longest = max(r["speedup"] for rows in runs for r in rows)
    body, y = [], 6
    for rows in runs:
        drawn, y = panel(rows, y, longest)
        body += drawn
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 {WIDTH + 20} {y}" width="{WIDTH + 20}" '
          f'font-family="sans-serif" fill="#222">')
    print(f'<rect x="-10" width="{WIDTH + 20}" height="{y}" fill="#fff"/>')
    print("\n".join(body))
    print("</svg>")


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, ValueError) as problem:
        sys.exit(f"draw_results.py: {type(problem).__name__}: {problem}")
