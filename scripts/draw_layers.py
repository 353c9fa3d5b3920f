#!/usr/bin/env python3
"""Draws docs/understand/layers.svg: the folders of the library and of its engine as layers, the lowest one last.

usage: scripts/draw_layers.py [--check]

The layers are those of tests/architecture/check_includes.py. --check: writes nothing, exit status 1 if the picture is another.
"""
import re, sys, textwrap

from pages import ROOT, Unreadable, write_or_check

PICTURE = ROOT / "docs/understand/layers.svg"
PURPOSES = {
    "core": "ids, proposals, concepts, errors",
    "sampling": "logits to distributions, random numbers",
    "verify": "how many proposals are accepted",
    "vocab": "what two vocabularies share",
    "process": "grammars, penalties, log-probabilities",
    "head": "trimmed heads, features, early exits",
    "bridge": "draft tokens to target tokens",
    "draft": "drafters, draft lengths, seen text",
    "source": "who proposes in a round",
    "decode": "a round, one sequence or many",
    "learn": "losses, training examples",
    "speculation": "one object for any pair of models",
    "interop": "llama.cpp, OpenVINO, Eigen, xtensor",
    "reference": "a transformer that reads like its equations",
    "testing": "contract checks, enumeration",
    "specdec_engine": "the CPU engine, a project of its own",
}
WIDTH, LEFT, LINE = 380, 10, 14


def folders(text):
    """{folder: its layers} of check_includes.py, the lowest one first."""
    listed = re.search(r'LAYERS = """(.*?)"""', text, re.S)
    found = {}
    for layer in listed[1].split() if listed else []:
        folder = layer.split("/")[0]
        if folder in found and folder != list(found)[-1]:
            raise Unreadable(f"tests/architecture/check_includes.py: expected the layers of {folder} one after the other")
        found.setdefault(folder, []).append(layer)
    if found.keys() != PURPOSES.keys():
        other = ", ".join(sorted(found.keys() ^ PURPOSES.keys()))
        raise Unreadable(f"tests/architecture/check_includes.py: expected the folders of scripts/draw_layers.py, which differ by: {other}")
    return found


def picture(found):
    out, y = [], 30
    for folder, layers in reversed(found.items()):
        inner = [layer.removeprefix(folder + "/") for layer in layers if layer != folder]
        lines = textwrap.wrap(", ".join(inner), 58)
        height = 26 + LINE * len(lines)
        color = {"specdec_engine": "#fde8c8", "speculation": "#b2dfdb"}.get(folder, "#e0f2f1")
        out.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH - 2 * LEFT}" height="{height - 4}" rx="3" fill="{color}" stroke="#00695c" stroke-width="0.6"/>')
        out.append(f'<text x="{LEFT + 7}" y="{y + 15}" font-weight="bold">{folder}</text>')
        out.append(f'<text x="{WIDTH - LEFT - 7}" y="{y + 15}" text-anchor="end">{PURPOSES[folder]}</text>')
        for i, line in enumerate(lines):
            out.append(f'<text x="{LEFT + 7}" y="{y + 15 + LINE * (i + 1)}" font-size="11" fill="#455a64">{line}</text>')
        y += height
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" width="560" font-family="sans-serif" font-size="12.5" fill="#111">\n'
            f'<title>The folders of specdec as layers</title>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="{LEFT}" y="19" font-size="12">A folder includes itself and what is below it.</text>\n'
            + "\n".join(out) + "\n</svg>\n")


def main():
    try:
        text = picture(folders((ROOT / "tests/architecture/check_includes.py").read_text()))
    except Unreadable as problem:
        sys.exit(str(problem))
    write_or_check(PICTURE, text, "layers of tests/architecture/check_includes.py", "--check" in sys.argv[1:])


if __name__ == "__main__":
    main()
