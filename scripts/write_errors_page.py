#!/usr/bin/env python3
"""Writes docs/use/errors.md: every error of the headers with its source, its field and its message.

usage: scripts/write_errors_page.py [--check]

--check: writes nothing, exit status 1 if the page is another. It reads each `fail(source, field, expected)` and each
`throw error(...)`. If a function hands its own string parameters on to one of them, its calls are read in its place. A call
that cannot be read, or a text "expected ..." that comes to no error, is an error that names file and line.
"""
import bisect, itertools, re
from dataclasses import dataclass

import pages
from pages import ROOT, Unreadable, table

PAGE = ROOT / "docs/use/errors.md"
FOLDERS = ["include", "engine/include"]
THROWER = "specdec/core/error.hpp"  # has fail() and error themselves
INTRODUCTION = """# Errors

For those who read an error message: every message of the headers, so that a search for a part of yours finds its line.
`scripts/write_errors_page.py` writes this page from the headers, and a test compares them. For what to do about it see
[troubleshooting](troubleshooting.md).

Every error is a `specdec::error`, which is a `std::runtime_error`. Its `what()` is one line:

    SOURCE: FIELD: MESSAGE

The source is a file, a class or an argument. The field is the part of it that is wrong. The message says what was
expected there. Control bytes are written as `\\x00`. Without exceptions (`-fno-exceptions`) your function
[`specdec::on_error`](../adapt/adapter.md#engines-without-exceptions) receives the error, and must not return.

In the tables, &lt;n> is a number. Other names in angle brackets stand for text of yours: &lt;source> for the name of
the file or of the class, &lt;where> for source and field, &lt;side> for `target` or `drafter`. Each folder of headers
has a table.
"""
LITERAL = 0xF0000  # of the code points for string literals, which stand in the code in their place
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.[^\']*|[^\'\\])\'', re.S)
NO_FUNCTION = re.compile(r"(?:else\b|if\b|for\b|while\b|switch\b|do\b|try\b|catch\b)")
STRING = re.compile(r"\bstd::string(?:_view)?\b|\bchar\s*(?:const\s*)?\*")
PLAIN = {"string", "c_str", "value", "second", "size", "dump", "get", "index", "get_name", "get_any_name",
         "get_type_name", "to_string", "std", "text_of", "shape_text", "printed", "number"}


@dataclass(frozen=True)
class Computed:
    """A part of a message that is no literal."""
    code: str


@dataclass
class Function:
    header: "Header"
    name: str
    at: int  # of its name
    begin: int
    end: int
    parameters: list  # (name, whether it is text, whether it has a default)
    local: bool  # a lambda

    def takes(self, n):
        return sum(not default for _, _, default in self.parameters) <= n <= len(self.parameters)


@dataclass(frozen=True)
class Row:
    folder: str
    columns: tuple  # source, field, message: each a tuple of strings and Computed

    def says_more(self, other):
        """Than the row of the function around it. The field alone counts where the source is known: files have many."""
        source, message = known(self.columns[0][:1]), known(self.columns[2])
        return message > known(other.columns[2]) or source > 0 and sum(map(known, self.columns)) > sum(map(known, other.columns))


def known(column):
    """How many letters of it are literal."""
    return sum(c.isalpha() for part in column if isinstance(part, str) for c in part)


def closing(code, at):
    """The index of the bracket that closes the one at `at`, or None."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return None


def split(code, separator):
    """At a separator outside of brackets; a comma outside of <> of templates, too."""
    found, depth, angles, begin = [], 0, 0, 0
    for i, c in enumerate(code):
        depth += (c in "([{") - (c in ")]}")
        if separator == "," and c == "<" and re.search(r"\w", code[max(0, i - 1):i]):
            angles += 1
        elif c == ">" and angles:
            angles -= 1
        if c == separator and depth == angles == 0:
            found.append(code[begin:i].strip())
            begin = i + 1
    return [*found, code[begin:].strip()]


class Header:
    def __init__(self, name, text, literals):
        self.name, self.literals = name, literals
        self.code = TOKEN.sub(self.stand_in, text)
        self.lines = [m.start() for m in re.finditer("\n", self.code)]
        self.includes = re.findall(r"#include <(specdec\w*/[^>]+)>", text)
        self.folder = re.match(r"(specdec/\w+|specdec_engine/\w+(?=/)|specdec_engine)", name)[1]
        self.functions = list(self.find_functions())
        self.declared = {f.at for f in self.functions}
        self.called = {}  # name: where
        for call in re.finditer(r"(\w+)\s*(?:<[\w:<>, *]*>)?\(", self.code):
            if call.start() not in self.declared:
                self.called.setdefault(call[1], []).append((call.start(), call.end()))

    def stand_in(self, token):
        """One character for a literal, nothing but line ends for a comment."""
        if token[0][0] != '"':
            return "\n" * token[0].count("\n") if token[0][0] == "/" else "0"
        self.literals.append(re.sub(r"\\(.)", lambda m: m[1] if m[1] in '"\\' else m[0], token[0][1:-1]))
        return chr(LITERAL + len(self.literals) - 1)

    def fail(self, at, expected):
        folder = FOLDERS[self.name.startswith("specdec_engine/")]
        raise Unreadable(f"{folder}/{self.name}:{bisect.bisect_left(self.lines, at) + 1}: expected {expected}")

    def find_functions(self):
        breaks = [0]  # where the statement of each open bracket began
        for bracket in re.finditer(r"[(){}\[\];]", self.code):
            i, c = bracket.start(), bracket[0]
            if c == "{" and (found := self.function(breaks[-1], i)):
                yield found
            if c in "{([":
                breaks.append(i + 1)
            elif c in "})]" and len(breaks) > 1:
                breaks.pop()
            if c in ";}":
                breaks[-1] = i + 1

    def function(self, begin, brace):
        head = self.code[begin:brace]
        if lambda_ := re.search(r"(\w+) = \[[^\[\]]*\]\s*\(", head):
            name, local = lambda_[1], True
            at = begin + lambda_.start()
            opened = begin + lambda_.end() - 1
        else:
            blank = re.sub(r"\[\[\w+\]\]|#[^\n]*|\b(?:public|private|protected):", lambda m: " " * len(m[0]), head)
            while template := re.search(r"\b(?:template|requires)\s*([<(])", blank):
                until, depth = template.start(1), 0
                while until < len(blank):
                    depth += (blank[until] in "<(") - (blank[until] in ")" or blank[until] == ">" and blank[until - 1] != "-")
                    until += 1
                    if depth == 0:
                        break
                blank = blank[:template.start()] + " " * (until - template.start()) + blank[until:]
            called = re.search(r"(~?\w+)\s*\(", blank)
            if not called or NO_FUNCTION.match(blank.strip()) or re.match(r"\s*(?:class|struct|enum|namespace|union)\b", blank):
                return None
            if re.search(r"[=,(]\s*$", blank) or re.search(r"\breturn\b", blank):
                return None
            name, local, at, opened = called[1], False, begin + called.start(), begin + called.end() - 1
        closed = closing(self.code, opened)
        end = closing(self.code, brace)
        if closed is None or end is None or closed > brace:
            return None
        parameters = []
        for given in split(self.code[opened + 1:closed], ","):
            declared, _, default = given.partition("=")
            if word := re.search(r"(\w+)\s*$", declared):
                parameters.append((word[1], bool(STRING.search(declared)) and "<" not in declared, bool(default)))
        return Function(self, name, at, brace, end, parameters, local)

    def around(self, at):
        """The innermost function with a name."""
        inside = [f for f in self.functions if f.begin < at < f.end]
        return max(inside, key=lambda f: f.begin) if inside else None

    def calls(self, name):
        """(index, arguments) of each call; None for arguments that do not end."""
        for at, begin in self.called.get(name, []):
            until = closing(self.code, begin - 1)
            arguments = None if until is None else split(self.code[begin:until], ",")
            if not arguments or not any(a.startswith(("const ", "std::string ")) for a in arguments):  # else a declaration
                yield at, arguments

    def in_scope(self, declared, at):
        """Whether no bracket around the declaration ends before `at`."""
        depth = 0
        for bracket in re.finditer(r"[{}]", self.code[declared:at]):
            depth += 1 if bracket[0] == "{" else -1
            if depth < 0:
                return False
        return declared <= at

    def initial(self, name, at):
        """What a constant or a local text begins as, or is in a loop over a list of texts."""
        value = r"[^;{]*[%s-%s][^;{]*" % (chr(LITERAL), chr(LITERAL + 0xFFFF))
        text = r"(?:auto|std::string|std::string_view|char\s*\*|char)\s+(?:const\s+)?"
        found = [*re.finditer(rf"{text}{name}(?:\[\])? = ({value});", self.code),
                 *re.finditer(rf"(?:std::string|std::string_view)\s+{name}[({{]({value})[)}}];", self.code),
                 *re.finditer(rf"for \([^:;()]*\b{name} : \{{({value})\}}\)", self.code)]
        near = {m: self.in_scope(m.end(), at) for m in found}
        constant = re.compile(r"(?:inline|static) constexpr\s+(?:const )?$")
        seen = [m for m in found if near[m] or constant.search(self.code[max(0, m.start() - 40):m.start()])]
        if not seen:
            return None
        nearest = max(seen, key=lambda m: (near[m], m.start()))
        given = nearest[1]
        if nearest[0].startswith("for"):
            *others, last = split(given, ",")
            given = "".join(f"0 ? {one} : " for one in others) + last  # as a condition
        return nearest.start(), given


class Library:
    def __init__(self, headers):
        """headers: (name as in an include, text)."""
        self.literals = []
        self.headers = {name: Header(name, text, self.literals) for name, text in headers}
        self.reached = {}
        self.functions = {}  # by name
        for header in self.headers.values():
            for function in header.functions:
                self.functions.setdefault(function.name, []).append(function)

    def sees(self, header):
        """The headers that this one includes, also by others."""
        if header.name not in self.reached:
            seen, todo = set(), [header.name]
            while todo:
                if (name := todo.pop()) in self.headers and name not in seen:
                    seen.add(name)
                    todo += self.headers[name].includes
            self.reached[header.name] = seen
        return self.reached[header.name]

    def called(self, header, at, name, arguments):
        """The functions that a call may mean: those of its header before others."""
        there = [f for f in self.functions.get(name, []) if f.takes(len(arguments))]
        own = [f for f in there if f.header is header]
        if own:
            before = [f for f in own if f.local and f.at < at]
            return [max(before, key=lambda f: f.at)] if before else own
        return [f for f in there if not f.local and f.header.name in self.sees(header)]

    def read(self, code, header, at):
        """The ways that a text can read: lists of strings and Computed."""
        code = code.strip()
        while code.startswith("(") and closing(code, 0) == len(code) - 1:
            code = code[1:-1].strip()
        parts = split(code, "?")
        if len(parts) > 1:
            rest = "?".join(parts[1:])
            sides = split(rest.replace("::", "\x01\x01"), ":")
            yes, no = sides[0], ":".join(sides[1:])
            first, second = (self.read(side.replace("\x01\x01", "::"), header, at) for side in (yes, no))
            if any(isinstance(way[0], Computed) and way[1:][-len(first[0]):] == first[0] for way in second):
                return first  # the other one has something computed before it
            return [way for way in first + second if way != [Computed("nullptr")]]
        terms = split(code, "+")
        if len(terms) > 1:
            return [sum(ways, []) for ways in itertools.product(*(self.read(term, header, at) for term in terms))]
        if code and all(ord(c) >= LITERAL or c.isspace() for c in code):
            return [["".join(self.literals[ord(c) - LITERAL] for c in code if not c.isspace())]]
        if of := re.match(r"std::string(?:_view)?\s*[({]", code):
            if closing(code, of.end() - 1) == len(code) - 1 and len(split(code[of.end():-1], ",")) == 1:
                return self.read(code[of.end():-1], header, at)
        if call := re.fullmatch(r"(\w+)\((.*)\)", code, re.S):
            told = re.search(rf"\b{call[1]} = \[[^\]]*\]\(([^()]*)\)[^{{;]*{{\s*return ([^;{{]*);\s*}}", header.code)
            if told and "," not in told[1]:
                parameter = re.search(r"(\w+)\s*$", told[1])[1]
                return self.read(re.sub(rf"\b{parameter}\b", lambda _: f"({call[2]})", told[2]), header, at)
        if re.fullmatch(r"\w+\.problem\(\)", code):  # what refuse() was given before
            told = [ways for i, given in header.calls("refuse") for ways in self.read(given[0], header, i)]
            if told:
                return told
        if re.fullmatch(r"(?:\w+::)*\w+", code) and not any(code == p[0] for f in header.functions if f.begin < at < f.end
                                                             for p in f.parameters):
            name = code.rpartition("::")[2]
            for other in (header, *(self.headers[h] for h in sorted(self.sees(header)) if h != header.name)):
                if given := other.initial(name, at if other is header else -1):
                    ways = self.read(given[1], other, given[0])
                    return ways if any(isinstance(part, str) for way in ways for part in way) else [[Computed(code)]]
                if len(name) < 8:
                    break  # short names are not those of constants elsewhere
        return [[Computed(code)]]

    def rows(self, columns, header, at, inside=()):
        """Of an error that is thrown at `at`: of the calls of the function around it where they say more."""
        own = Row(header.folder, tuple(map(tuple, columns)))
        function = header.around(at)
        texts = {p[0] for p in function.parameters if p[1]} if function else set()
        used = {part.code for column in columns for part in column if isinstance(part, Computed) and part.code in texts}
        if not used or function.name in inside:
            return [own]
        found, whole = [], True  # whether each call says more
        for other in self.headers.values():
            if function.local and other is not function.header or function.header.name not in self.sees(other):
                continue
            for i, arguments in other.calls(function.name):
                if arguments is None:
                    other.fail(i, f"the end of this call of {function.name}")
                if function not in self.called(other, i, function.name, arguments):
                    continue
                given = {p[0]: self.read(a, other, i) for p, a in zip(function.parameters, arguments) if p[0] in used}
                for ways in itertools.product(*given.values()):
                    bound = dict(zip(given, ways))
                    now = [sum((bound.get(part.code, [part]) if isinstance(part, Computed) else [part] for part in column), [])
                           for column in columns]
                    more = [row for row in self.rows(now, other, i, (*inside, function.name)) if row.says_more(own)]
                    found, whole = found + more, whole and bool(more)
        return found if found and (whole or not known(own.columns[2])) else [*found, own]

    def errors(self):
        """A Row for each error that the headers throw."""
        for header in self.headers.values():
            if header.name == THROWER:
                continue
            for call in re.finditer(r"(?<![\w.>])(?:specdec::)?(fail|error)\s*([({])", header.code):
                at = call.start(1)
                before = header.code[:call.start()].rstrip()
                until = closing(header.code, call.end() - 1)
                arguments = None if until is None else split(header.code[call.end():until], ",")
                if at in header.declared or arguments == [""]:
                    continue
                if call[1] == "error" and (not before.endswith("throw") or call[2] != "("):
                    header.fail(at, "`throw error(...)`")
                if arguments is None:
                    header.fail(at, "the end of this call")
                if call[1] == "fail" and len(arguments) != 3:
                    if not self.called(header, at, "fail", arguments):
                        header.fail(at, f"fail(source, field, expected), found {len(arguments)} arguments")
                    continue  # the function of this name is read at its own error
                if len(arguments) not in (1, 3):
                    header.fail(at, f"error(source, field, expected) or error(text), found {len(arguments)} arguments")
                for ways in itertools.product(*(self.read(argument, header, at) for argument in arguments)):
                    yield from self.rows(list(ways) if len(ways) == 3 else self.columns_of(ways[0], header, at), header, at)

    def require_all(self, rows):
        """Each literal "expected ..." is part of an error's text."""
        told = "\n".join({"".join(p if isinstance(p, str) else "\n" for p in column) for row in rows for column in row.columns})
        for header in self.headers.values():
            for at, c in enumerate(header.code):
                if ord(c) >= LITERAL and (text := self.literals[ord(c) - LITERAL]).startswith("expected ") and text not in told:
                    header.fail(at, f'"{text}" to be the text of an error')

    def columns_of(self, text, header, at):
        """Of an error that is given as one text, whose source and field are one name before ': '."""
        for i, part in enumerate(text):
            if isinstance(part, str) and ": " in part:
                where, _, rest = part.partition(": ")
                return [[*text[:i], where] if where else text[:i], [], [rest, *text[i + 1:]]]
        header.fail(at, "a source before ': '")


def shown(column):
    """As Markdown: what is computed is a name in angle brackets."""
    out = ""
    for part in column:
        out += part if isinstance(part, str) else f"<{name_of(part.code)}>"
    return re.sub(r"([*`|]|(?<!\w)_|_(?!\w)|\](?=\())", r"\\\1", out.replace("<", "&lt;"))


def name_of(code):
    """In angle brackets: what a user can make of an expression."""
    if re.match(r"(?:std::to_string|number)\(", code):
        return "n"
    if code.endswith(".what()") or "strerror" in code:
        return "reason"
    code = re.sub(r"\[[^\]]*\]", "", code)
    opened = next((m for m in re.finditer(r"(\w+)(?:<\w+>)?\(", code) if closing(code, m.end() - 1) == len(code) - 1), None)
    words = [w for w in re.findall(r"[A-Za-z_]\w*", code) if w not in PLAIN]
    if opened and opened[1] not in PLAIN:
        words = [opened[1]]
    name = (words or ["text"])[0 if code.startswith("std::string(") else -1]
    return {"why": "reason"}.get(name, name.strip("_").removesuffix("_of").removeprefix("get_"))


def page_of(library):
    folders, rows = {}, list(library.errors())
    library.require_all(rows)
    for row in rows:
        if any(map(known, row.columns)):  # not of an error that says where another one was
            folders.setdefault(row.folder, set()).add(tuple(map(shown, row.columns)))
    out = [INTRODUCTION]
    for folder in sorted(folders):
        lines = sorted(folders[folder], key=lambda row: [column.lower() for column in row])
        out.append(f"\n## {folder}\n\n" + table(["source", "field", "message"], lines))
    return "".join(out)


def page():
    return page_of(Library([(path.relative_to(ROOT / folder).as_posix(), path.read_text())
                            for folder in FOLDERS for path in sorted((ROOT / folder).glob("**/*.hpp"))]))


if __name__ == "__main__":
    pages.main(PAGE, page)
