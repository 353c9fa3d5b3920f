#!/usr/bin/env python3
"""Reads the Markdown files and reports what a reader would stumble over.

usage: check_documents.py ROOT                      links, anchors, named files, README's length
       check_documents.py ROOT COMPILER ARGUMENT..  compiles the C++ blocks (-fsyntax-only)
exit status 1 if anything is reported

A ```cpp block is a complete program, unless a comment right before it says what it is:

    <!-- fragment -->          lines that need what the text around them tells of; not compiled
    <!-- frame: NAME.cpp -->   compiled in tests/architecture/frames/NAME.cpp, where "// THE BLOCK" stands

A program that stands in examples/ word for word is compiled there.
"""
import pathlib, re, subprocess, sys

LONGEST_README = 180
MOST_COMPILED = 6  # each costs seconds
FRAME_MARK = "// THE BLOCK"
SOURCE_PLACES = ("", "include/specdec", "include")  # where `folder/file.ext` may be, besides beside the page

root = pathlib.Path(sys.argv[1]).resolve()
pages = [p for p in (root / "README.md", root / "CONTRIBUTING.md", root / "models/README.md",
                     *sorted(root.glob("docs/*.md"))) if p.is_file()]


def blocks(page):
    """(line number, language, comment right before, text) of every fenced block."""
    lines, found, begin = page.read_text().split("\n"), [], None
    for i, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = i
            continue
        before = re.fullmatch(r"<!-- (.+) -->", lines[begin - 1]) if begin > 0 else None
        found.append((begin + 1, lines[begin][3:].strip(), before and before[1],
                      "\n".join(lines[begin + 1:i]) + "\n"))
        begin = None
    return found


def prose(page):
    """(line number, line) of what is neither a fenced nor an indented block."""
    fenced = False
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(page):
    """The names of a page's headings, as GitHub makes them."""
    names = set()
    for _, line in prose(page):
        if heading := re.match(r"#+ (.+?)\s*$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            base = name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            again = 0
            while name in names:
                again += 1
                name = f"{base}-{again}"
            names.add(name)
    return names


def broken_links(page):
    for number, line in prose(page):
        for target in re.findall(r"\]\(([^()\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield number, f"links to {target}, which does not exist"
            elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
                yield number, f"links to {target}: no such heading"
        for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:hpp|cpp|py|sh|md|json|txt))`", line):
            if not any((place / name).exists() for place in (page.parent, *(root / s for s in SOURCE_PLACES))):
                yield number, f"names {name}, which does not exist"


def unknown_marks(page):
    for number, language, mark, _ in blocks(page):
        if language != "cpp" or mark is None or mark == "fragment":
            continue
        frame = re.fullmatch(r"frame: ([\w-]+\.cpp)", mark)
        if not frame:
            yield number, f"has a block marked '{mark}'; expected fragment or frame: NAME.cpp"
        elif not (root / "tests/architecture/frames" / frame[1]).is_file():
            yield number, f"has a block for {frame[1]}, which is not in tests/architecture/frames"


def programs():
    """(where, source) of every block to compile."""
    examples = {p.read_text() for p in root.glob("examples/*.cpp")}
    for page in pages:
        for number, language, mark, text in blocks(page):
            if language != "cpp" or mark == "fragment" or text in examples:
                continue
            text = f'#line {number + 1} "{page.relative_to(root)}"\n{text}'
            frame = re.fullmatch(r"frame: (.+)", mark or "")
            if frame:
                outer = (root / "tests/architecture/frames" / frame[1]).read_text()
                assert outer.count(FRAME_MARK) == 1, f"{frame[1]}: expected one line '{FRAME_MARK}'"
                text = outer.replace(FRAME_MARK, text)
            yield f"{page.relative_to(root)}:{number}", text


def complaints():
    for page in pages:
        for number, what in (*broken_links(page), *unknown_marks(page)):
            yield f"{page.relative_to(root)}:{number}: {what}"
    length = len((root / "README.md").read_text().splitlines())
    if length > LONGEST_README:
        yield f"README.md: has {length} lines, more than {LONGEST_README}"


def refused_programs(command):
    found = list(programs())
    if len(found) > MOST_COMPILED:
        yield f"{len(found)} blocks to compile, more than {MOST_COMPILED}"
    for where, source in found:
        done = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=source, text=True, cwd=root,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            yield f"{where}: does not compile\n{done.stderr}"
    print(f"{len(found)} blocks compiled")


found = list(refused_programs(sys.argv[2:]) if len(sys.argv) > 2 else complaints())
print(*found, sep="\n", end="\n" if found else "")
sys.exit(1 if found else 0)
