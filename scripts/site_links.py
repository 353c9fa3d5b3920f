# SPDX-License-Identifier: MIT
"""A hook of mkdocs: what pages link to outside of docs/ becomes pages of the site, too.

A file of the repository that a page names by a link (a header, an example, CONTRIBUTING.md) is shown as a page under
source/. Markdown is shown as it is, anything else as code. A link to the folder of the headers becomes one to the
reference of the API in build/api, a link to any other folder plain text. A search shows answers first, and no code.
"""
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).parent.parent
LINK = re.compile(r"\]\(([^()\s:#]+)(#[^()\s]*)?\)")
API = ROOT / "build/api"  # Doxygen's (scripts/api.doxyfile)
ANSWERS = ("use/faq.md", "use/troubleshooting.md", "use/coming-from.md")  # what a search should show first
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".json": "json", ".txt": "text"}


def place(uri):
    """Where a page of the site stands in the repository."""
    if not uri.startswith("source/"):
        return "docs/" + uri
    path = uri.removeprefix("source/").removesuffix(".md")
    return path if (ROOT / path).is_file() else "." + path


def target(uri, link):
    """The repository's path that a page's link names."""
    return os.path.normpath(os.path.join(os.path.dirname(place(uri)), link))


def outside(uri, link):
    path = target(uri, link)
    return None if path.startswith("docs/") or path.startswith("..") else path


def page_of(path):
    return f"source/{path.lstrip('.')}.md"  # a site has no hidden folders


def on_files(files, config):
    for path in sorted(API.rglob("*")):
        if path.is_file():
            files.append(File(path.relative_to(API.parent).as_posix(), API.parent, config.site_dir, use_directory_urls=False))
    waiting = [f.src_uri for f in files if f.src_uri.endswith(".md")]
    made = set()
    while waiting:
        uri = waiting.pop()
        file = ROOT / place(uri)
        if file.suffix != ".md":
            continue
        for link, _ in LINK.findall(file.read_text()):
            path = outside(uri, link)
            if path is None or path in made or not (ROOT / path).is_file():
                continue
            made.add(path)
            text = (ROOT / path).read_text(errors="replace")
            if not path.endswith(".md"):
                fence = "`" * 8
                text = f"# {path}\n\n{fence}{LANGUAGES.get(pathlib.Path(path).suffix, 'text')}\n{text}\n{fence}\n"
            files.append(File.generated(config, page_of(path), content=text))
            waiting.append(page_of(path))
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    if uri in ANSWERS:
        page.meta["search"] = {"boost": 4}
    elif uri.startswith("source/"):
        page.meta["search"] = {"boost": 0.5} if uri.endswith(".md.md") else {"exclude": True}  # code is not searched
    if uri.startswith("source/") and not uri.endswith(".md.md"):
        return markdown

    def rewrite(match):
        link, anchor = match.group(1), match.group(2) or ""
        path = target(uri, link)
        if path == "include/specdec":
            to = "api/index.html"
        elif path.startswith("docs/"):
            to = path.removeprefix("docs/")
        elif (ROOT / path).is_file():
            to = page_of(path)
        else:
            return "]"  # a folder: the text stays
        return f"]({os.path.relpath(to, os.path.dirname(uri) or '.')}{anchor})"

    return LINK.sub(rewrite, markdown)
