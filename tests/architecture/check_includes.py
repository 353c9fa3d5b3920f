#!/usr/bin/env python3
"""Reads the #include lines of include/specdec and engine/include/specdec_engine and reports what breaks the rules of
CONTRIBUTING.md. The engine is named specdec_engine/... here; nothing of the library includes it.

usage: check_includes.py ROOT        exit status 1 if anything is reported
"""
import pathlib, re, sys

# Each folder is a layer: it includes itself and what stands before it.
LAYERS = """
    core/basic core core/model core/tree
    sampling/law sampling sampling/coin
    verify verify/tree
    vocab/table vocab/encoding vocab/spelling vocab/ngrams
    process
    head head/adaptive head/features head/exits
    bridge/context bridge/strings bridge/token bridge bridge/tree
    draft draft/costs draft/tree draft/lookup draft/counted source decode
    learn learn/loss learn/acceptance
    speculation/any speculation/tree speculation
    interop reference
    testing testing/contract
    specdec_engine/team specdec_engine/kernel specdec_engine/file specdec_engine/attention specdec_engine/transformer
    specdec_engine/tokenizer specdec_engine/tokenizer/file specdec_engine specdec_engine/drafter
    specdec_engine/learn/panels specdec_engine/learn/reverse specdec_engine/learn
    specdec_engine/learn/features""".split()
# Drafter, bridge and verifier never know each other.
STRANGERS = "draft bridge verify".split()
DEAR = "algorithm chrono memory random ranges functional unordered_map iostream".split()
# Where packages may be included: a room or a layer, and what its include lines may begin with.
PACKAGES = {
    "vocab": ("boost/", "dirent.h", "fcntl.h", "sys/", "unistd.h", "windows.h"),
    "interop": ("Eigen/", "xtensor/", "llama.h", "ggml", "openvino/"),
    "reference": ("Eigen/", "xtensor/", "range/v3/", "nlohmann/"),
    "specdec_engine": ("Eigen/", "xtensor/", "nlohmann/", "boost/", "pcre2.h", "utf8proc.h", "immintrin.h",
                       "cpuid.h", "fcntl.h", "unistd.h", "sys/"),
}
HEAVY = tuple({prefix.split("/")[0] for prefixes in PACKAGES.values() for prefix in prefixes})
# Words of a compiler's own, outside the engine: in one header, each beside a branch without; and
# what clang is told about sums, apart from it, for it includes nothing.
BUILTINS = "core/basic/builtins.hpp"
SUMS = "core/basic/sums_as_written.hpp"
OWN_WORDS = re.compile(r"__builtin_\w+|__attribute__|__declspec|__forceinline|__restrict\w*|__extension__|__asm__|"
                       r"\basm\b|__int128|vector_size|_Pragma|\[\[(?:gnu|clang)::|__GNUC__|__clang__|_MSC_VER|"
                       r"__x86_64__")

root = pathlib.Path(sys.argv[1])
lines = {p.relative_to(place).as_posix(): p.read_text().splitlines()
         for place, headers in ((root / "include/specdec", "."), (root / "engine/include", "specdec_engine"))
         for p in (place / headers).rglob("*.*") if p.suffix in (".hpp", ".inc")}
includes = {header: re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)", "\n".join(text), re.M)
            for header, text in lines.items()}
OURS = ("specdec/", "specdec_engine/")
own = {header: [i.removeprefix("specdec/") for i in found if i.startswith(OURS)]
       for header, found in includes.items()}


def layer(header):
    return header.rpartition("/")[0]


def full(header):
    """As include lines have it."""
    return header if header.startswith("specdec_engine/") else "specdec/" + header


def room(header):
    """The folder at the top."""
    return header.split("/")[0]


def reached(header):
    """All own headers that including this one includes."""
    seen, todo = set(), [header]
    while todo:
        for include in own.get(todo.pop(), []):
            if include not in seen:
                seen.add(include)
                todo.append(include)
    return seen


def complaints(header):
    if layer(header) and layer(header) not in LAYERS:
        yield "lies in a folder that is no layer"
        return
    if not layer(header):
        if any(not i.startswith("specdec/") for i in includes[header]):
            yield "an umbrella includes own headers only"
        return
    if header not in (BUILTINS, SUMS) and room(header) not in ("interop", "reference", "specdec_engine"):
        code = [line.partition("//")[0] for line in lines[header]]
        for word in sorted({word for line in code for word in OWN_WORDS.findall(line)}):
            yield f"says {word}, which stands in {BUILTINS} only"
    if header in reached(header):
        yield "includes itself through others"
    for include in own[header]:
        if include not in lines:
            yield f"includes <{full(include)}>, which does not exist"
        elif layer(include) not in LAYERS[: LAYERS.index(layer(header)) + 1]:
            yield f"includes <{full(include)}>, a higher layer"
        elif room(header) != room(include) and {room(header), room(include)} <= set(STRANGERS):
            yield f"includes <{full(include)}>, which it should not know"
    packages = {i for i in includes[header] if "/" in i or "." in i if not i.startswith(OURS)}
    for include in sorted(packages):
        if not include.startswith(PACKAGES.get(layer(header), PACKAGES.get(room(header), ()))):
            yield f"includes <{include}>, no package for this layer"
    if room(header) == "interop" and len({i.split("/")[0] for i in packages}) > 1:
        yield "includes more than one package"
    if room(header) in ("speculation", "interop", "reference", "specdec_engine") or packages:
        return
    for include in sorted(set(includes[header]) & set(DEAR)) if header in reached("specdec.hpp") else ():
        yield f"includes <{include}>, too dear for what the umbrella includes"
    if room(header) != "vocab":
        for other in sorted(reached(header) & set(lines)):
            if any(i.startswith(HEAVY) for i in includes[other]):
                yield f"reaches a package through <{full(other)}>"


found = [f"{header}: {text}" for header in sorted(lines) for text in complaints(header)]
print("\n".join(found) or f"{len(lines)} headers, no complaints")
sys.exit(1 if found or not lines else 0)
