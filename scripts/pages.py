# SPDX-License-Identifier: MIT
"""What the scripts have in common that write a page of the documentation from sources."""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Unreadable(Exception):
    """Of a source, named with its line."""


def table(heads, rows):
    return "".join(re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(row)} |\n") for row in (heads, ["---"] * len(heads), *rows))


def write_or_check(path, text, sources, check):
    """Writes the page; with `check` it ends the program if the page in the repository is another."""
    if not check:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit(f"{path.relative_to(ROOT)} is not what the {sources} say: run scripts/{pathlib.Path(sys.argv[0]).name}")


def main(path, page):
    """Of a script that reads headers: page() gives the text."""
    try:
        text = page()
    except Unreadable as problem:
        sys.exit(str(problem))
    write_or_check(path, text, "headers", "--check" in sys.argv[1:])
