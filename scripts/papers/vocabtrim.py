#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goel et al. 2025, "VocabTrim: Vocabulary Pruning for Efficient Speculative Decoding in LLMs".

    scripts/papers/vocabtrim.py            writes docs/papers/data/vocabtrim.json and docs/papers/vocabtrim.md
    scripts/papers/vocabtrim.py --quick    a minute, in build/papers
"""
import json
import lzma

from study import MODELS, PROMPTS, ROOT, Paper, cell, main, number, table

PERCENTS = (50, 25, 12, 6)
# name: (title, flags, rule, vocabulary of the drafter)
DRAFTERS = {
    "features": ("EAGLE-style drafter", ("--models", "smollm2-features"), "identity", 49152),
    "independent": ("independent drafter", ("--models", "smollm2"), "slem", 4096),
}
QUICK = {"docs": ("docs-drafter", ("--models", "docs"), "tli", 2048)}
SOURCES = {"raw": "raw text", "target": "target-made", "drafter": "drafter-made"}
PROGRAMS = PROMPTS / "kinds/programs.txt"
AMOUNTS = (30, 300, 3000)
TREE, BEAM = 32, 8  # tokens and K of draft trees
DEPTHS = (3, 5, 7)
TREE_SHARES = (100, 25)  # % of the rows; 100: all
RAW = sorted((ROOT / "docs/use").glob("*.md")) + sorted((ROOT / "docs/adapt").glob("*.md"))


def sources(folder, quick):
    """target.jsonl: answers of the target to prompts of all kinds; programs.jsonl: of one; few*.jsonl: of fewer; prompts.txt: what was asked."""
    if quick or (folder / "prompts.txt").is_file():
        return
    answers = []
    for file in sorted((MODELS / "train/text").glob("*.jsonl.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            answers += [json.loads(line) for line in lines]
    every = len(answers) // max(AMOUNTS)
    some = [a for a in answers[::every]][:max(AMOUNTS)]
    named = {"target": some, "programs": [a for a in answers if a["kind"] == "programs"][:max(AMOUNTS)]}
    named |= {f"few{n}": some[::len(some) // n][:n] for n in AMOUNTS[:-1]}
    for name, chosen in named.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(a) + "\n" for a in chosen), encoding="utf-8")
    asked = [a["prompt"] for a in some if "\n" not in a["prompt"] and len(a["prompt"]) < 300]
    (folder / "prompts.txt").write_text("\n".join(asked[:400]) + "\n", encoding="utf-8")


def cells(quick):
    out = []
    limit, tokens = (3, 16) if quick else (6, 40)

    def compare(name, drafter, head, prompts, *more, weight=4.0):
        _, flags, rule, _ = drafter
        out.append(cell(name, "compare", *flags, "--json", "--threads", 1, "--temperatures", 0, "--rules", rule, "--draft-length", 4, "--limit", limit, "-n",
                        tokens, "--prompts", prompts, "--head", head, *more, weight=weight))

    def calibrate(file, drafter, vocabulary_percent, *text, weight=1.0):
        _, flags, _, vocabulary = drafter
        out.append(cell(f"list {file}", "calibrate", *flags, *text, "--top-k", vocabulary * vocabulary_percent // 100, "--out",
                        f"{{scratch}}/{file}.json", makes=f"{file}.json", weight=weight))
        return f"trimmed:{{scratch}}/{file}.json"

    raw = [f for text in RAW for f in ("--text", text)]
    texts = {"raw": raw, "target": ["--text", "{scratch}/target.jsonl"],
             "drafter": ["--source", "drafter", "--prompts", "{scratch}/prompts.txt", "-n", 96]}
    if quick:
        texts["target"] = ["--source", "target", "--prompts", PROMPTS / "docs.txt", "--limit", 16, "-n", 32]
        texts["drafter"] = ["--source", "drafter", "--prompts", PROMPTS / "docs.txt", "--limit", 16, "-n", 32]
    domains = {"near": PROMPTS / "docs.txt"} if quick else {"near": PROMPTS / "smollm2.txt", "far": PROMPTS / "far-chat.txt"}
    for name, drafter in (QUICK if quick else DRAFTERS).items():
        for domain, prompts in domains.items():
            compare(f"{name} full {domain}", drafter, "full", prompts)
        for source, text in texts.items():
            if name == "features" and source == "drafter":
                continue  # it writes nothing without its target
            for share in (25,) if quick else PERCENTS[1:3] if name == "independent" else PERCENTS:  # below, no room for single bytes
                list_ = calibrate(f"{name}-{source}-{share}", drafter, share, *text)
                for domain, prompts in domains.items():
                    compare(f"{name} {source} {share} {domain}", drafter, list_, prompts)
    if quick:
        return out
    features = DRAFTERS["features"]
    for depth in DEPTHS:
        for share in TREE_SHARES:
            compare(f"tree {depth} {share}", features, "full" if share == 100 else f"trimmed:{{scratch}}/features-target-{share}.json",
                    PROMPTS / "smollm2.txt", "--tree", TREE, "--tree-growth", "dynamic", "--tree-depth", depth, "--tree-beam", BEAM, weight=8)
    few = calibrate("features-programs-6", features, 6, "--text", "{scratch}/programs.jsonl")
    compare("domain full", features, "full", PROGRAMS)
    compare("domain general", features, "trimmed:{scratch}/features-target-6.json", PROGRAMS)
    compare("domain own", features, few, PROGRAMS)
    for amount in AMOUNTS[:-1]:
        few = calibrate(f"features-few{amount}-12", features, 12, "--text", f"{{scratch}}/few{amount}.jsonl")
        for domain, prompts in domains.items():
            compare(f"amount {amount} {domain}", features, few, prompts)
    return out


def drafted(r, name):
    return r.rows(name)[-1] if name in r else None


def pair(r, name, key="mbsu"):
    """Block efficiency and memory-bound speed-up of a cell."""
    row = drafted(r, name)
    return (number(row["tokens_per_target_call"]), number(row[key])) if row else ("-", "-")


def sizes(r, name, drafter):
    domains = [d for d in ("near", "far") if f"{name} full {d}" in r]
    rows = [["100 %", drafter[3], "all rows", *(n for d in domains for n in pair(r, f"{name} full {d}"))]]
    for source, words in SOURCES.items():
        for share in PERCENTS:
            if f"{name} {source} {share} near" in r:
                rows.append([f"{share} %", drafter[3] * share // 100, words, *(n for d in domains for n in pair(r, f"{name} {source} {share} {d}"))])
    heads = ["rows of the head", "tokens", "list by", "BE", "MBSU", *(["BE, out of domain", "MBSU, out of domain"] if len(domains) > 1 else [])]
    return table(heads, rows)


def change(r, name, source, share, domain="near"):
    """How a list changes block efficiency and MBSU, in parts."""
    full, trimmed = drafted(r, f"{name} full {domain}"), drafted(r, f"{name} {source} {share} {domain}")
    return trimmed["tokens_per_target_call"] / full["tokens_per_target_call"] - 1, trimmed["mbsu"] / full["mbsu"] - 1


def signed(part):
    return f"{100 * part:+.1f} %"


def page(r):
    quick = "docs full near" in r
    parts = ["## Table 1, Figures 3 and 4: size of the list, and what it is counted from"]
    for name, drafter in (QUICK if quick else DRAFTERS).items():
        changes = {s: change(r, name, s, 25) for s in SOURCES if f"{name} {s} 25 near" in r}
        parts += [f"### {drafter[0]}", "With a quarter of the rows, block efficiency and MBSU change by: " + "; ".join(
            f"{signed(be)} and {signed(mbsu)} (list by {SOURCES[s].removesuffix(' text')} text)" for s, (be, mbsu) in changes.items())
            + "." + (" A head this small leaves nothing to save: trimming does not pay." if max(mbsu for _, mbsu in changes.values()) < 0 else ""),
            sizes(r, name, drafter)]
    parts += ["In the paper (Table 1, a quarter of the rows, Llama-3.2-3B-Instruct), target-made lists lose the least block efficiency. EAGLE loses 2 to "
              "5 %, and its MBSU rises by 14 to 18 %. The independent drafter loses 1 to 7 %, and its MBSU rises by 2 to 12 %. Raw text "
              "loses 2 to 9 % of EAGLE's block efficiency. The writing task has these figures:",
              table(["drafter, list", "head (M)", "BE", "MBSU"],
                    [["EAGLE, all rows", "394.0", "3.141", "1.475"], ["EAGLE, raw", "101.3", "2.974", "1.685"],
                     ["EAGLE, target-made", "101.3", "3.081", "1.745"], ["EAGLE, drafter-made", "101.3", "3.057", "1.732"],
                     ["independent, all rows", "131.3", "3.846", "2.765"], ["independent, raw", "33.8", "3.682", "2.900"],
                     ["independent, target-made", "33.8", "3.941", "3.104"], ["independent, drafter-made", "33.8", "3.905", "3.076"]])]
    if not quick:
        own, general, full = (drafted(r, f"domain {n}") for n in ("own", "general", "full"))
        parts += ["## Table 2: a list of its own for a domain",
                  f"On prompts for programs, the EAGLE-style drafter has {number(full['tokens_per_target_call'])} tokens per target pass with all "
                  f"rows, {number(general['tokens_per_target_call'])} with 6 % of them by answers of all kinds, and "
                  f"{number(own['tokens_per_target_call'])} by answers that are programs.",
                  table(["list, 6 % of the rows", "BE", "MBSU"], [["all rows", *pair(r, "domain full")],
                                                                  ["by answers of all kinds", *pair(r, "domain general")],
                                                                  ["by programs", *pair(r, "domain own")]]),
                  "In the paper a list of 5,000 tokens of its own domain (function calls) loses 2.6 % of EAGLE's block efficiency.",
                  "## Amount of calibration text",
                  f"The paper does not vary it. {AMOUNTS[1]} answers give {pair(r, f'amount {AMOUNTS[1]} near')[0]} tokens per target pass, "
                  f"{AMOUNTS[2]:,} give {pair(r, 'features target 12 near')[0]}. A list of 12 % of the rows, EAGLE-style drafter:",
                  table(["answers counted", "BE", "MBSU", "BE, out of domain", "MBSU, out of domain"],
                        [[f"{n:,}", *pair(r, f"amount {n} near"), *pair(r, f"amount {n} far")] for n in AMOUNTS[:-1]]
                        + [[f"{AMOUNTS[-1]:,}", *pair(r, "features target 12 near"), *pair(r, "features target 12 far")]]),
                  *trees(r)]
    return "\n\n".join([*parts, "## Deviations from the paper", DEVIATIONS])


def chains(r):
    """Of the cells that have trees, which measure drafts that do not branch, too."""
    of = {share: next(row for row in r.rows(f"tree {DEPTHS[0]} {share}") if row["rule"] == "identity") for share in TREE_SHARES}
    return "Chains of four tokens in the same runs: " + "; ".join(
        f"block efficiency {number(row['tokens_per_target_call'])} and MBSU {number(row['mbsu'])} with {'all' if share == 100 else f'{share} % of the'} rows"
        for share, row in of.items()) + "."


def trees(r):
    """Table 4, for several sizes of the list."""
    def columns(depth, key):
        return [number(drafted(r, f"tree {depth} {share}")[key]) for share in TREE_SHARES]

    def gain(depth):
        full, quarter = drafted(r, f"tree {depth} 100"), drafted(r, f"tree {depth} 25")
        return [signed(quarter[key] / full[key] - 1) for key in ("tokens_per_target_call", "mbsu")]

    names = ["all rows", *(f"{share} %" for share in TREE_SHARES[1:])]
    best = max(((depth, share) for depth in DEPTHS for share in TREE_SHARES), key=lambda at: drafted(r, "tree {} {}".format(*at))["mbsu"])
    return ["## Table 4: draft trees",
            f"In trees, too, a trimmed head costs little block efficiency and gains MBSU: a quarter of the rows changes them by {gain(DEPTHS[0])[0]} and "
            f"{gain(DEPTHS[0])[1]} at depth {DEPTHS[0]}, and by {gain(DEPTHS[-1])[0]} and {gain(DEPTHS[-1])[1]} at depth {DEPTHS[-1]}. The highest MBSU of all "
            f"is at depth {best[0]} with {best[1]} % of the rows.",
            f"Dynamic trees of {TREE} tokens, {BEAM} nodes of a level with {BEAM} children each, EAGLE-style drafter, lists by target-made text:",
            table(["depth", *(f"BE, {name}" for name in names), *(f"MBSU, {name}" for name in names)],
                  [[depth, *columns(depth, "tokens_per_target_call"), *columns(depth, "mbsu")] for depth in DEPTHS]),
            chains(r),
            "In the paper (Llama-3.2-3B-Instruct, EAGLE, Dolly, 60 tokens) a quarter of the rows gains 24 to 27 % of MBSU at each depth:",
            table(["depth", "BE, all rows", "BE, a quarter", "MBSU, all rows", "MBSU, a quarter"],
                  [["5", "3.551", "3.504", "1.318", "1.631"], ["6", "3.578", "3.510", "1.202", "1.500"], ["7", "3.567", "3.510", "1.094", "1.387"]])]


DEVIATIONS = """- Drafts are chains of four tokens but in the last table; the paper drafts trees of depth 3 with 32 tokens in every table, which
  the first row of our Table 4 has.
- MBSU of trees: the number gamma is the mean number of levels drafted, each of which is one pass. The paper's figures have the depth and one.
- Table 4: trees of 32 tokens, as in the paper's other tables, in place of 60; three of the depths 3 to 7, with two sizes of list.
- Cells of different commits differ by more than noise (chains with all rows: see Tables 1 and 4), so compare within a table.
- MBSU: c is the ratio of bytes that a draft token and a target position read (embedding left out), not of parameters. The number gamma is the mean
  number of drafter forward passes a round, because drafts differ in length.
- Control tokens and single bytes stay in every list (`calibrate --counted-only` lets them go).
- Raw text: this repository's documentation, in place of MiniPile. Target-made text: answers of SmolLM2 to our prompts, in place of
  OIG-small-chip2. Drafter-made text: the drafter's answers to 400 of the same prompts.
- The EAGLE-style drafter writes nothing without its target, so it has no drafter-made list.
- In domain are prompts for stories and explanations; out of domain are code and other languages, on which the drafters were trained, too.
  The nine tasks of Spec-Bench are not run.
- Six prompts and outputs of 40 tokens: differences of 1 to 2 % are noise.
- The lists of Top-P and minimum frequency that the paper mentions are flags of `calibrate`; the paper measures neither, nor does this page."""

PAPER = Paper(
    name="vocabtrim", title="VocabTrim", reference="Goel et al. 2025", cells=cells, page=page, sources=sources,
    about="For readers of Goel et al. 2025, *VocabTrim: Vocabulary Pruning for Efficient Speculative Decoding in LLMs*: the paper's tables on "
          "SmolLM2-135M-Instruct with two drafters, greedy decoding. BE is block efficiency, the mean number of tokens per target pass. MBSU is "
          "the speed-up if nothing but reading weights takes time. Both are counts and do not depend on the machine. "
          "[Trimmed LM heads](../adapt/heads.md) has the code.",
    files=("models/smollm2-drafter/model.safetensors", "models/smollm2-features/model.safetensors",
           "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "models/docs-target/model.safetensors", "models/docs-drafter/model.safetensors",
           "models/prompts/smollm2.txt", "models/prompts/far-chat.txt", "models/prompts/kinds/programs.txt", "models/train/text"))

if __name__ == "__main__":
    main(PAPER)
