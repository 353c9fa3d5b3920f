#!/usr/bin/env python3
"""Writes docs/use/settings.md: settings, results and enumerations, as their headers declare and explain them.

usage: scripts/write_settings_page.py [--check]

--check: writes nothing, exit status 1 if the page is another. A declaration that cannot be read, or that has no comment, is
an error that names file and line.
"""
import re, textwrap

import pages
from pages import ROOT, Unreadable, table

PAGE = ROOT / "docs/use/settings.md"
INCLUDE = ROOT / "include/specdec"
INTRODUCTION = """# Settings, results and enumerations

For those who write code: every field, its default, its range and its meaning. `scripts/write_settings_page.py` writes
this page from the headers, and a test compares them. For the flags of the programs see [programs](programs.md).

All names are in `namespace specdec`. A field without a default has to be given. A value outside its range is an error
that names the field.
"""
STRUCT, ENUMERATION = r"struct %s {", r"enum class %s(?: : [\w:]+)? {"
RESULTS = "Results"  # whose fields nobody sets
SECTIONS = {
    "Settings of `speculation`": """speculation/side.hpp speculation_side
        speculation/text.hpp decode_settings
        speculation/text.hpp text_request
        sampling/law/parameters.hpp sampling_parameters
        speculation/length_settings.hpp length_settings
        draft/cost_table.hpp cost_table
        speculation/tree/tree_drafts.hpp tree_drafts
        draft/lookup/lookup_memory.hpp lookup_settings
        decode/text_run.hpp generation_limits
        speculation/reuse_settings.hpp reuse_settings
        speculation/any/any_ngram_cache.hpp cache_settings""",
    "Settings of the templates": """decode/session_settings.hpp session_settings
        bridge/tree/tree_buffers.hpp tree_settings
        draft/profitable_length.hpp profitable_length_settings
        core/model/context_window.hpp window_settings
        sampling/residual.hpp thinning_limits""",
    RESULTS: """speculation/text.hpp decode_result
        speculation/text.hpp decode_results
        decode/statistics.hpp statistics
        decode/statistics.hpp batch_counts""",
    "Enumerations": """speculation/rule.hpp rule
        speculation/length_settings.hpp length_kind
        speculation/tree/tree_drafts.hpp tree_growth
        core/tree/tree_drafting.hpp sibling_draw
        decode/text_run.hpp finish_reason
        verify/verdict.hpp token_origin
        core/drafting.hpp no_draft
        core/concepts.hpp encode_mode""",
}
SECTIONS = {title: [tuple(line.split()) for line in listed.splitlines()] for title, listed in SECTIONS.items()}


class Header:
    def __init__(self, name, text):
        self.name, self.text, self.lines = name, text, text.split("\n")

    def fail(self, index, expected):
        raise Unreadable(f"include/specdec/{self.name}:{index + 1}: expected {expected}")

    def block(self, pattern, name):
        """(the comment before it, index of its first line, index of the line that ends it)."""
        begin = [i for i, line in enumerate(self.lines) if re.fullmatch(pattern % name, line)]
        if len(begin) != 1:
            self.fail(0, f"one definition of {name} with a line for each member, found {len(begin)}")
        first = begin[0]
        before = first - 1 if self.lines[first - 1].startswith("template <") else first
        about = before
        while self.lines[about - 1].startswith("///"):
            about -= 1
        comment = [line[3:].strip() for line in self.lines[about:before]]
        if not comment:
            self.fail(first, f"a comment before {name}")
        end = next((i for i in range(first, len(self.lines)) if self.lines[i] == "};"), None)
        if end is None:
            self.fail(first, f"the end of {name}, a line '}};'")
        return comment, first + 1, end

    def members(self, first, end):
        """(index, code without comments, meaning) of each statement; functions without their bodies."""
        i, comment, found = first, [], []
        while i < end:
            line = self.lines[i].strip()
            if line.startswith("///<"):
                self.fail(i, "a declaration before ///<")
            if line.startswith("///"):
                comment.append(line[3:].strip())
            elif not line:
                if comment:
                    self.fail(i, "a declaration after its comment")
            elif not line.startswith("//"):
                begin, code = i, ""
                while True:
                    part, _, after = self.lines[i].partition("//")
                    code = f"{code} {part.strip()}".strip()
                    if after:
                        comment += [after[2:].strip()] if after.startswith("/<") else self.fail(i, "///< for a comment")
                    if code.endswith((";", ",", "{", "}")) and code.count("(") == code.count(")") or i + 1 == end:
                        break
                    i += 1
                if code.endswith("{"):  # to the end of the body
                    while i + 1 < end and not re.fullmatch(r"    }.*", self.lines[i]):
                        i += 1
                while i + 1 < end and (more := re.match(r"\s*///< ?(.*)", self.lines[i + 1])):
                    comment.append(more[1].strip())
                    i += 1
                found.append((begin, code, " ".join(comment)))
                comment = []
            i += 1
        return found

    def struct(self, name):
        """(what it is, [(field, type, default, meaning, index)], [the same of functions that tell something])."""
        about, first, end = self.block(STRUCT, name)
        fields, functions = [], []
        for i, code, meaning in self.members(first, end):
            if told := re.match(r"\[\[nodiscard\]\] (?:static constexpr )?([\w:]+) (\w+)\(\)(?: const)? {", code):
                functions.append((f"{told[2]}()", told[1], "", meaning, i))
            elif re.match(r"[^={]*\boperator\b|[^={]*\(|struct \w+ {", code):
                continue  # other functions, and what they take
            elif field := re.fullmatch(r"([\w:][\w:<>, *&]*)(?<!,) (\w+)(?: = ([^;,{]+(?:{[^;]*}[^;,]*)?)|({[^;]*}))?;", code):
                fields.append((field[2], field[1], field[3] or field[4] or "", meaning, i))
            else:
                self.fail(i, f"a field 'type name = default;', found '{code}'")
        for field, _, _, meaning, i in fields + functions:
            self.require_meaning(i, field, meaning)
        if not fields:
            self.fail(first, f"fields of {name}")
        return about, fields, functions

    def require_meaning(self, i, name, meaning):
        if not meaning:
            self.fail(i, f"a comment that says what {name} is")

    def ranges(self, name, fields):
        """{field: what validate() expects of it}."""
        begin = [i for i, line in enumerate(self.lines) if re.match(rf"\w.* validate\(const {name}& \w+", line)]
        if not begin:
            return {}
        end = self.lines.index("}", begin[0])
        body, found = "\n".join(self.lines[begin[0]:end]), {}
        for said in re.finditer(r'"(\w+)",\s*"expected ([^"]*)"(?:\s*\+\s*std::to_string\((\w+)\)(?:\s*\+\s*"([^"]*)")?)?', body):
            field, what, constant, rest = said.groups()
            i = begin[0] + body.count("\n", 0, said.start())
            if field not in fields:
                self.fail(i, f"a field of {name}, found '{field}'")
            what = (what.removesuffix(", found ") + (value_of(constant) if constant else "") + (rest or "")).strip()
            found.setdefault(field, [])
            if what not in found[field]:
                found[field].append(what)
        return {field: "; ".join(all_of_it) for field, all_of_it in found.items()}

    def enumeration(self, name):
        """(what it is, [(value, meaning)])."""
        about, first, end = self.block(ENUMERATION, name)
        values = []
        for i, code, meaning in self.members(first, end):
            value = re.fullmatch(r"(\w+)( = \w+)?,?", code)
            if not value:
                self.fail(i, f"a line for each value, found '{code}'")
            self.require_meaning(i, value[1], meaning)
            values.append((value[1], meaning))
        if not values:
            self.fail(first, f"values of {name}")
        return about, values


def value_of(constant):
    """The number that a header gives this name."""
    for path in sorted(INCLUDE.glob("**/*.hpp")):
        if found := re.search(rf"constexpr std::size_t {constant} = (\d+);", path.read_text()):
            return found[1]
    raise Unreadable(f"include/specdec: expected a number {constant}")


def cell(text):
    """As Markdown: code stays code, names and headers become code, pages become links."""
    parts = re.split(r"(`[^`]*`)", text)
    for i in range(0, len(parts), 2):
        plain = re.sub(r"([*\[\]])", r"\\\1", parts[i].replace("<", "&lt;"))
        plain = re.sub(r"docs/(?:use/(\S+?)|(\S+?))\.md", lambda m: f"[{m[1] or m[2]}]({m[1] or '../' + m[2]}.md)", plain)
        parts[i] = re.sub(r"(?:[\w/]+\.hpp|\w+(?:::\w+)+|[a-z]+_\w+)(?:\(\))?", r"`\g<0>`", plain)
    return "".join(parts).replace("|", "\\|")


def code(text, known):
    """In a table, linked to the table of what it names."""
    shown = f"`{text}`".replace("|", "\\|")
    named = [word for word in re.findall(r"\w+", text) if word in known]
    return f"[{shown}](#{named[0]})" if named else shown


def default(type_name, given, known):
    if given != "{}":
        return f"`{given}`" if given else ""
    if type_name in known:
        return "its defaults"
    return "empty" if re.match(r"std::(vector|string)\b|borrowed_span<", type_name) else "none"


def struct_part(header, name, result, known):
    about, fields, functions = header.struct(name)
    ranges = header.ranges(name, {field[0] for field in fields})
    heads, columns = ["field", "type"], [lambda f: f"`{f[0]}`", lambda f: code(f[1], known)]
    if not result:
        heads.append("default")
        columns.append(lambda f: default(f[1], f[2], known))
    if ranges:
        heads.append("range")
        columns.append(lambda f: cell(ranges.get(f[0], "")))
    columns.append(lambda f: cell(f[3]))
    text = table([*heads, "meaning"], [[column(field) for column in columns] for field in fields])
    if functions:
        text += "\n" + table(["function", "type", "meaning"], [[f"`{f[0]}`", code(f[1], known - {name}), cell(f[3])] for f in functions])
    return about, text


def rule_part(header, name):
    """The table `rules` in its header has names and meanings."""
    about, first, end = header.block(ENUMERATION, name)
    values = [re.match(r"\w+", code)[0] for _, code, _ in header.members(first, end)][:-1]  # the last counts them
    told = {value: (by_name, "".join(re.findall(r'"([^"]*)"', what))) for value, by_name, what in
            re.findall(r'named_rule{rule::(\w+),\s*"([^"]*)",\s*((?:"[^"]*"\s*)+)', header.text)}
    if list(told) != values:
        header.fail(first, f"a row in `rules` for each of {', '.join(values)}")
    return about, table(["value", "name", "meaning"], [[f"`{v}`", f"[`{told[v][0]}`](../rules/{told[v][0]}.md)", cell(told[v][1])]
                                                       for v in values])


def enumeration_part(header, name):
    if name == "rule":
        return rule_part(header, name)
    about, values = header.enumeration(name)
    return about, table(["value", "meaning"], [[f"`{value}`", cell(meaning)] for value, meaning in values])


def page():
    out = [INTRODUCTION]
    known = {name for listed in SECTIONS.values() for _, name in listed}
    for section, listed in SECTIONS.items():
        out.append(f"\n## {section}\n")
        for path, name in listed:
            header = Header(path, (INCLUDE / path).read_text())
            about, text = (enumeration_part(header, name) if section == "Enumerations"
                           else struct_part(header, name, section == RESULTS, known))
            paragraphs = [textwrap.fill(cell(" ".join(part.split())), 120, break_long_words=False, break_on_hyphens=False)
                          for part in "\n".join(about).split("\n\n")]
            out.append(f"\n### {name}\n\n`{path}`\n\n" + "\n\n".join(paragraphs) + f"\n\n{text}")
    return "".join(out)


if __name__ == "__main__":
    pages.main(PAGE, page)
