#!/usr/bin/env python3
"""Doxygen's filter of a header (scripts/api.doxyfile): prints it with comments that Doxygen reads as they are meant.

usage: scripts/api_filter.py FILE

A comment is plain text here: characters that are commands or Markdown elsewhere are escaped, but in indented code. The
fixed words of a contract (Paper:, Errors: and so on) begin a line of their own.
"""
import re, sys

WORDS = "Paper|Papers|Symbols|Pre|Post|Shapes|Complexity|Sites|Allocates|Errors|Thread safety|Lossless|Expected acceptance at a position"
COMMENT = re.compile(r"^(\s*|.*?[;,{}]\s+|\s*\w+\s+)(///<?)( ?)(.*)$")


def comment(text):
    if text.startswith("    "):
        return text
    parts = text.split("`")  # every second one is code, if the last one was closed
    if len(parts) % 2 == 0:
        parts = [text]
    parts[::2] = [re.sub(r"([\\@<>#%*&\"|])", r"\\\1", part) for part in parts[::2]]
    return re.sub(rf"(^|(?<=[.;] ))({WORDS}):(?= |$)", r"<br/>**\2:**", "`".join(parts))


def filtered(text):
    text = re.sub(r"\n\s+requires [^\n]*(?=\n\s*\{)", "", text)  # which Doxygen 1.9 takes for a member with an initializer
    out = []
    for line in text.split("\n"):
        found = COMMENT.match(line)
        out.append(f"{found[1]}{found[2]}{found[3]}{comment(found[4])}" if found else line)
    return "\n".join(out)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    sys.stdout.write(text if sys.argv[1].endswith(".md") else filtered(text))


if __name__ == "__main__":
    main()
