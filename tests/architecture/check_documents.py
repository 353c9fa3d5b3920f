#!/usr/bin/env python3
"""Reads the Markdown files and reports what a reader would stumble over.

usage: check_documents.py ROOT                      links, anchors, files and functions that text and commands name,
                                                   widths, long sentences, private words, figures without a source,
                                                   layers, versions, numbers of bugs, pages that headers name, the
                                                   parts of each rule's page and of papers.md
       check_documents.py ROOT COMPILER ARGUMENT..  compiles the C++ blocks (-fsyntax-only)
exit status 1 if anything is reported

A ```cpp block is a complete program, unless a comment right before it says what it is:

    <!-- fragment -->          lines that need what the text around them tells of; not compiled
    <!-- frame: NAME.cpp -->   compiled in tests/architecture/frames/NAME.cpp, where "// THE BLOCK" stands, in a
                               scope of its own; all blocks of a frame are compiled as one
    <!-- frame: NAME.cpp, goes on -->                   the same in the scope of the frame's block before

A program that stands in examples/ word for word is compiled there.
"""
import json, pathlib, re, subprocess, sys

WIDEST = 120          # characters of a line of prose; in README of any line
LONGEST_SENTENCE = 35 # words
# Words that mean something else to a reader who knows the field, and what the field says.
PRIVATE_WORDS = {
    "laws?": "distribution", "coins?": "random source", "lessons?": "training example", "teach(?:es|ing)?|taught": "train",
    "reads? features": "EAGLE-style drafter", "behind": "after", "beside": "with, in addition to, compared with", "dear": "expensive",
    "anew": "again", "of then|wished for|hoped for": "", "as it comes": "by default", "not to be had": "impossible",
    "off home": "out-of-domain", "small pair": "`docs-target` with `docs-drafter`", "tokens? a (?:target )?call": "tokens per target pass",
    "free tokens?": "bonus token", "kept tokens?|tokens? (?:is|are|was|were) kept": "accepted", "that (?:day|evening|night)'s": ""}
COPIED = ("docs/use/errors.md",)  # word for word what headers say
# Whose figures with two decimals or more stand in a table of the page or on a page of results.
FIGURED = ("README.md", "docs/results/README.md", "docs/*.md", "docs/use/*.md", "docs/rules/*.md", "docs/adapt/*.md")
RULE_PARTS = ["Algorithm", "Distribution", "Acceptance", "Theorem and paper", "Deviation from the paper", "Cost", "Headers", "Tests",
              "Seeded bugs", "Measured"]
MOST_COMPILED = 9  # each costs seconds
FRAME_MARK = "// THE BLOCK"
SOURCE_PLACES = ("", "include/specdec", "include", "engine/include")  # where `folder/file.ext` may be, besides beside the page

root = pathlib.Path(sys.argv[1]).resolve()
pages = [p for p in (root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md", root / "SECURITY.md",
                     *(root / folder / "README.md" for folder in ("models", "engine", "scripts", "tests", "bench", "examples")),
                     *sorted(root.glob("models/*/README.md")), *sorted(root.glob("docs/**/*.md"))) if p.is_file()]


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


def unknown_functions(page):
    """Links that are named after a function or class, [`batch::round`](../batch.hpp): the file has to know the name."""
    for number, line in prose(page):
        for name, path in re.findall(r"\[`([\w:]+)(?:\(\)|<\w+>)?`\]\(([^()\s]+\.(?:hpp|cpp|py))\)", line):
            file = page.parent / path
            for word in name.split("::"):
                if file.is_file() and not re.search(rf"\b{word}\b", file.read_text()):
                    yield number, f"links to {path} for {name}: no {word} in it"


def paragraphs(page):
    """(line number, lines) of every paragraph and item of a list; tables and headings are none."""
    found, last = [], 0
    for number, line in prose(page):
        if not line.strip() or line.lstrip().startswith(("#", "|", "<!--", "![")):
            continue
        begins = re.match(r" *(-|\*|\d+\.) ", line)
        if found and not begins and last == number - 1:
            found[-1][1].append(line)
        else:
            found.append((number, [line]))
        last = number
    return found


def wide_lines(page):
    """Of prose; in README of everything."""
    whole = page == root / "README.md"
    for number, line in enumerate(page.read_text().split("\n"), 1) if whole else prose(page):
        if len(line) > WIDEST and (whole or not line.startswith("|")):
            yield number, f"has {len(line)} characters, more than {WIDEST}"


def sentences(page):
    """(line number, sentence) of prose. A sentence ends before a space and anything but a small letter; the address of a
    link is no part of it."""
    for number, lines in paragraphs(page):
        text = re.sub(r"\]\([^)]*\)", "]", " ".join(line.strip() for line in lines))
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+(?![a-z])", text):
            yield number, sentence


def missing_in_commands(page):
    """Files of the repository that a command names."""
    lines = page.read_text().split("\n")
    shown = {number for number, _ in prose(page)}
    for number, line in enumerate(lines, 1):
        if number in shown or line.startswith("```"):
            continue
        for name in re.findall(r"(?<![\w/.$-])((?:docs|models|scripts|tests|bench|examples|packages)/[\w/.-]*\.\w+)(?![\w/*])", line):
            if not name.startswith("models/fetched/") and not (root / name).exists():
                yield number, f"has a command that names {name}, which does not exist"


def long_sentences(page):
    for number, sentence in sentences(page):
        words = sum(any(c.isalnum() for c in word) for word in sentence.split())
        if words > LONGEST_SENTENCE:
            yield number, f"has a sentence of {words} words, more than {LONGEST_SENTENCE}: {' '.join(sentence.split()[:6])} ..."


def passages(page):
    """(line number, text) of paragraphs, headings and rows of tables, without code and addresses of links."""
    lone = [(number, line) for number, line in prose(page) if line.lstrip().startswith(("#", "|"))]
    for number, text in (*((number, "\n".join(lines)) for number, lines in paragraphs(page)), *lone):
        text = re.sub(r"`[^`]*`", lambda code: "\n" * code[0].count("\n") + "``", text)
        yield number, re.sub(r"\]\([^)]*\)", "]", text)


def private_words(page):
    if page.relative_to(root).as_posix() in COPIED:
        return
    for number, text in passages(page):
        for words, instead in PRIVATE_WORDS.items():
            for found in re.finditer(rf"\b(?:{words})\b", text.replace("\n", " "), re.I):
                yield number + text.count("\n", 0, found.start()), f"says '{found[0]}'; " + (f"the field says {instead}" if instead else "leave it out")


FIGURE = re.compile(r"(?<![\w.-])\d{1,3}\.\d\d+(?![\d.])")


def figures_without_source(page):
    if not any(page in root.glob(pattern) for pattern in FIGURED) or page.relative_to(root).as_posix() in COPIED:
        return
    index = root / "docs/results/README.md"
    sources = [result.read_text() for result in root.glob("docs/results/*.md") if result != index]
    sources += [line for _, line in (*prose(page), *(prose(index) if index.is_file() else ())) if line.startswith("|")]
    there = set(FIGURE.findall(re.sub(r"(\d)x", r"\1 ", "\n".join(sources))))
    for number, text in passages(page):
        if not text.startswith("|"):
            for found in FIGURE.finditer(re.sub(r"(\d)x", r"\1 ", text)):
                if found[0] not in there:
                    yield number + text.count("\n", 0, found.start()), f"has the figure {found[0]}, which no table of it and no page of results has"


def unknown_marks(page):
    for number, language, mark, _ in blocks(page):
        if language != "cpp" or mark is None or mark == "fragment":
            continue
        frame = re.fullmatch(r"frame: ([\w-]+\.cpp)(?:, goes on)?", mark)
        if not frame:
            yield number, f"has a block marked '{mark}'; expected fragment or frame: NAME.cpp"
        elif not (root / "tests/architecture/frames" / frame[1]).is_file():
            yield number, f"has a block for {frame[1]}, which is not in tests/architecture/frames"


def programs():
    """(where, source) of everything to compile: each program, and each frame with its blocks."""
    examples = {p.read_text() for p in root.glob("examples/*.cpp")}
    framed, opened = {}, {}  # of each frame: its blocks, and how many scopes they are in
    for page in pages:
        for number, language, mark, text in blocks(page):
            if language != "cpp" or mark == "fragment" or text in examples:
                continue
            where = page.relative_to(root)
            text = f'#line {number + 1} "{where}"\n{text}'
            frame = re.fullmatch(r"frame: ([^,]+)(, goes on)?", mark or "")
            if not frame:
                yield f"{where}:{number}", text
                continue
            name, goes_on = frame.groups()
            before = "" if goes_on else "}" * opened.get(name, 0)
            framed[name] = framed.get(name, "") + before + "{\n" + text
            opened[name] = opened.get(name, 0) - len(before) + 1
    for name, text in framed.items():
        outer = (root / "tests/architecture/frames" / name).read_text()
        assert outer.count(FRAME_MARK) == 1, f"{name}: expected one line '{FRAME_MARK}'"
        yield f"tests/architecture/frames/{name}", outer.replace(FRAME_MARK, text + "}" * opened[name])


def complaints():
    for page in pages:
        for check in (broken_links, unknown_functions, unknown_marks, wide_lines, missing_in_commands, long_sentences, private_words, figures_without_source):
            for number, what in check(page):
                yield f"{page.relative_to(root)}:{number}: {what}"


def wrong_layers():
    """CONTRIBUTING lists the layers for people, check_includes.py for itself."""
    told, checked = root / "CONTRIBUTING.md", root / "tests/architecture/check_includes.py"
    if not (told.is_file() and checked.is_file()):
        return
    listed = re.search(r"^      core/.*?\n\n", told.read_text(), re.M | re.S)
    layers = re.search(r'LAYERS = """(.*?)"""', checked.read_text(), re.S)[1].split()
    if not listed or re.split(r"[,\s]+", listed[0].strip()) != layers:
        yield "CONTRIBUTING.md: expected the layers as in tests/architecture/check_includes.py: " + ", ".join(layers)


def pages_not_listed():
    """docs/README.md is the index, with each README that it links to: who adds a page says there which question it answers."""
    index = root / "docs/README.md"
    if not index.is_file():
        return

    def links(page):
        return {(page.parent / target.partition("#")[0]).resolve() for target in re.findall(r"\]\(([^()\s]+)\)", page.read_text())}

    linked = links(index)
    for page in pages:
        if page in linked and page.name == "README.md" and index.parent in page.parents:
            linked |= links(page)
    for page in pages:
        if index.parent in page.parents and page != index and page not in linked:
            yield f"docs/README.md: does not link to {page.relative_to(index.parent)}"


def wrong_rule_pages():
    """Each rule by name has a page of RULE_PARTS, which names headers, tests, bugs that are seeded, and a result."""
    table, folder, seeded = (root / name for name in ("include/specdec/speculation/rule.hpp", "docs/rules", "tests/mutations/bugs.json"))
    if not folder.is_dir():
        return
    rules = re.findall(r'rule::\w+,\s*"([\w-]+)"', table.read_text())
    bugs = {bug["name"] for bug in json.loads(seeded.read_text())}
    for name in sorted({*rules, *(page.stem for page in folder.glob("*.md"))} - {"README"}):
        page, where = folder / f"{name}.md", f"docs/rules/{name}.md"
        if name not in rules or not page.is_file():
            yield f"{where}: " + ("expected a page of this rule" if name in rules else f"there is no rule {name}")
            continue
        parts = re.split(r"^## (.+)$", page.read_text(), flags=re.M)[1:]
        if parts[::2] != RULE_PARTS:
            yield f"{where}: has the parts {', '.join(parts[::2])}; expected {', '.join(RULE_PARTS)}"
            continue
        told = dict(zip(parts[::2], parts[1::2]))
        for part, wanted in ("Headers", r"`[\w/]+\.hpp`"), ("Tests", r"`tests/[\w/]+\.cpp`"), ("Measured", r"\]\(\.\./results/|Not measured"):
            if not re.search(wanted, told[part]):
                yield f"{where}: names nothing under {part}"
        for bug in re.findall(r"`([\w'-]+)`", told["Seeded bugs"]):
            if bug not in bugs:
                yield f"{where}: names the seeded bug {bug}, which does not exist"


def wrong_papers_page():
    """Each part of a paper names a header, a test, seeded bugs that exist (or -), and a page."""
    page, seeded = root / "docs/understand/papers.md", root / "tests/mutations/bugs.json"
    if not page.is_file() or not seeded.is_file():
        return
    bugs, heads = {bug["name"] for bug in json.loads(seeded.read_text())}, None
    for number, line in prose(page):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if cells[0] == "part":
            heads = cells
        elif not line.startswith("|"):
            heads = None
        elif heads and not line.startswith("| ---"):
            part = dict(zip(heads, cells))
            for head, wanted in ("headers", r"\.hpp`\]\("), ("tests", r"\.cpp`\]\("), ("page", r"\.md[#)]"):
                if not re.search(wanted, part.get(head, "")):
                    yield f"docs/understand/papers.md:{number}: names nothing under {head}"
            named = re.findall(r"`([\w'-]+)`", part.get("seeded bugs", ""))
            if not named and part.get("seeded bugs") != "-":
                yield f"docs/understand/papers.md:{number}: names no seeded bug; expected some, or -"
            for bug in set(named) - bugs:
                yield f"docs/understand/papers.md:{number}: names the seeded bug {bug}, which does not exist"


def other_numbers():
    """How many bugs are seeded is said where people read it."""
    bugs = root / "tests/mutations/bugs.json"
    if bugs.is_file():
        there = len(json.loads(bugs.read_text()))
        for page in pages:
            for said in re.findall(r"(\d{3})\s+seeded\s+bugs", page.read_text()):
                if int(said) != there:
                    yield f"{page.relative_to(root)}: says {said} seeded bugs, there are {there}"


def other_versions():
    """CMakeLists.txt has the version (Conan's recipe in conan/ and packages/test.sh read it there); what else names it agrees."""
    said = re.search(r"^project\(\w+ VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(), re.M)[1]
    minor = ".".join(said.split(".")[:2])
    places = {"CITATION.cff": r"^version: (\S+)", "packages/vcpkg/vcpkg.json": r'"version": "([^"]*)"', "packages/conan-center/config.yml": r'^  "([^"]*)":',
              "packages/conan-center/all/conandata.yml": r'^  "([^"]*)":', "CHANGELOG.md": r"^## \[?([^\s\]]+)"}
    for name, pattern in places.items():
        file = root / name
        found = re.search(pattern, file.read_text(), re.M) if file.is_file() else None
        if file.is_file() and (not found or found[1] != said):
            yield f"{name}: says version {found[1] if found else 'nothing'}, CMakeLists.txt {said}"
    changes = root / "CHANGELOG.md"
    unreleased = re.findall(r"^## .*unreleased.*", changes.read_text(), re.M) if changes.is_file() else []
    if len(unreleased) > 1:
        yield f"CHANGELOG.md: has {len(unreleased)} unreleased versions, more than 1"
    for file in (*pages, *(root / name for name in ("packages/user/CMakeLists.txt", "packages/vcpkg/usage"))):
        for asked in re.findall(r"find_package\(specdec (\d+(?:\.\d+)*)", file.read_text()) if file.is_file() else []:
            if asked not in (minor, said):
                yield f"{file.relative_to(root)}: asks for version {asked}, CMakeLists.txt has {said}"


def pages_that_headers_name():
    for header in root.glob("include/**/*.hpp"):
        for name in re.findall(r"\bdocs/[\w/.-]*\w", header.read_text()):
            if not (root / name).exists():
                yield f"{header.relative_to(root)}: names {name}, which does not exist"


def refused_programs(command):
    found = list(programs())
    if len(found) > MOST_COMPILED:
        yield f"{len(found)} programs to compile, more than {MOST_COMPILED}"
    for where, source in found:
        done = subprocess.run([*command, "-fsyntax-only", "-x", "c++", "-"], input=source, text=True, cwd=root,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            yield f"{where}: does not compile\n{done.stderr}"
    print(f"{len(found)} programs compiled")


found = list(refused_programs(sys.argv[2:]) if len(sys.argv) > 2 else (
    *complaints(), *wrong_layers(), *pages_not_listed(), *other_numbers(), *other_versions(), *pages_that_headers_name(),
    *wrong_rule_pages(), *wrong_papers_page()))
print(*found, sep="\n", end="\n" if found else "")
sys.exit(1 if found else 0)
