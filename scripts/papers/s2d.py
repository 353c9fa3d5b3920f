#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kavehzadeh et al. 2024, "S2D: Sorted Speculative Decoding For More Efficient Deployment of Nested Large Language Models".

    scripts/papers/s2d.py            writes docs/papers/data/s2d.json and docs/papers/s2d.md
    scripts/papers/s2d.py --quick    a minute, in build/papers

The whole study trains its drafters, so it needs PyTorch (models/train/requirements.txt) in the Python that runs it; a GPU is used where
PyTorch sees one. The quick one takes layers as they are, and needs none.
"""
import importlib.util
import json
import lzma

from study import MODELS, PROMPTS, ROOT, Paper, cell, first_layers, listed, main, number, percent, table

DEPTHS = (1, 2, 3)
# What the drafter begins as: (title, folder, learning rate).
STARTS = {"cut": ("the target's own layers", MODELS / "docs-target", "6e-3"), "drafter": ("a trained drafter", MODELS / "smollm2-drafter", "2e-3")}
# Targets: (title, flags, prompts, outputs, tokens each).
TARGETS = {"docs": ("docs-target", ("--target", MODELS / "docs-target"), PROMPTS / "docs.txt", 12, 64),
           "smollm2": ("SmolLM2-135M", ("--models", "smollm2"), PROMPTS / "smollm2.txt", 4, 32)}
SETS = ("0.5,0.5", "0.75,0.7", "0.9,0.85")  # Figure 3's
CHOSEN = SETS[1]
# Trainings (Eq. 3): name: (start, exits, texts, more flags).
TRAININGS = {
    "cut-soft": ("cut", "1,2,3", "both", ()), "cut-sft": ("cut", "3", "both", ()),
    "drafter-soft": ("drafter", "1,2,3", "both", ()), "drafter-sft": ("drafter", "3", "both", ()),
    "drafter-docs": ("drafter", "3", "docs", ()), "drafter-smollm2": ("drafter", "3", "smollm2", ()),
}
ALIGNED = {"tokens": ("tokens alone", 0, 1), "both": ("features and tokens", 1, 0.1), "features": ("features alone", 1, 0)}
TRAININGS |= {f"cut-{name}": ("cut", "1,2,3", "docs", ("--features", MODELS / "docs-target", "--weights", reg, cls))
              for name, (_, reg, cls) in ALIGNED.items()}
STEPS = 60
ANSWERS = 900  # of SmolLM2; as many tokens as the text of docs-target
TREE = 16


def sources(folder, quick):
    """prompts/: what docs-target continues; smollm2/: answers of SmolLM2; equivalences; in a quick run a drafter of untrained exits."""
    if quick:
        first_layers(MODELS / "docs-target", DEPTHS[-1], folder / "cut-soft", specdec_exits=[*range(1, DEPTHS[-1] + 1)])
        return
    if importlib.util.find_spec("torch") is None:
        raise SystemExit("S2D trains its drafters: expected a Python with PyTorch; run: python3 -m venv .venv && .venv/bin/pip install -r "
                         "models/train/requirements.txt && .venv/bin/python scripts/papers/s2d.py")
    for target, pair in ("docs", ["<|im_end|>", "<|endoftext|>"]), ("smollm2", ["<|endoftext|>", "<|im_end|>"]):
        (folder / f"{target}-end.json").write_text(json.dumps({"pairs": [pair]}) + "\n", encoding="utf-8")
    for name in "prompts", "smollm2":
        (folder / name).mkdir(exist_ok=True)
    for file in sorted((ROOT / "docs").glob("*/*.md")):
        if file.parent.name != "papers":
            (folder / f"prompts/{file.parent.name}-{file.stem}.txt").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    answers = []
    for file in sorted((MODELS / "train/text").glob("home*.jsonl.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            answers += lines
    (folder / "smollm2/home.jsonl").write_text("".join(answers[:ANSWERS]), encoding="utf-8")


def cells(quick):
    out = []
    texts = {"docs": ("{scratch}/docs",), "smollm2": ("{scratch}/smollm2",)}
    texts["both"] = texts["docs"] + texts["smollm2"]
    if not quick:
        out.append(cell("text of docs-target", "models/train/generate.py", "--model", MODELS / "docs-target", "--prompts", "{scratch}/prompts", "--out",
                        "{scratch}/docs", "--temperature", 0, 1, "--answers", 900, 500, "--tokens", 96, "--plain", "--threads", 2,
                        makes="docs/temperature_1.0.jsonl", weight=90))
        for name, (start, exits, text, more) in TRAININGS.items():
            out.append(cell(f"train {name}", "models/train/train_exits.py", "--json", "--chat", "--text", *texts[text], "--from", STARTS[start][1],
                            "--exits", exits, "--out", f"{{scratch}}/{name}", "--steps", STEPS, "--tokens", 1024, "--length", 256, "--rate", STARTS[start][2],
                            "--heldout-most", 40, "--every", 60, "--threads", 2, *more, makes=f"{name}/model.safetensors", weight=100))

    def compare(name, drafter, target, *more, temperatures="0,1"):
        _, flags, prompts, limit, tokens = TARGETS[target]
        own = drafter.startswith("cut") == (target == "docs")
        equivalences = () if own else ("--equivalences", f"{{scratch}}/{target}-end.json")
        out.append(cell(f"{name} {target}", "compare", *flags, "--drafter", f"{{scratch}}/{drafter}", *equivalences, "--json", "--threads", 1, "--rules",
                        "identity" if own and target == "docs" else "tli", "--temperatures", temperatures, "--draft-length", 4, "--prompts", prompts,
                        "--limit", 3 if quick else limit, "-n", 16 if quick else tokens, *more, weight=2 if target == "docs" else 12))

    targets = ("docs",) if quick else TARGETS
    for start in ("cut",) if quick else STARTS:
        for target in targets:
            if not quick:
                compare(f"{start} SFT", f"{start}-sft", target)
            for depth in DEPTHS:
                compare(f"{start} L{depth}", f"{start}-soft", target, "--exits", f"fixed:{depth}")
            some = quick or (start, target) == ("cut", "smollm2")  # that drafter was cut from a model of other text
            for tau in (CHOSEN,) if some else SETS:
                compare(f"{start} {tau}", f"{start}-soft", target, "--exits", tau)
            if quick or not some:
                compare(f"{start} drawn {CHOSEN}", f"{start}-soft", target, "--exits", f"drawn:{CHOSEN}", temperatures="1")
    for start in ("cut",) if quick else STARTS:
        for target in targets:
            compare(f"tree {start}", f"{start}-soft", target, "--tree", TREE, "--tree-growth", "dynamic", temperatures="0")
    if not quick:
        for own in TARGETS:
            for target in TARGETS:
                compare(f"alone {own}", f"drafter-{own}", target)
        for name in ALIGNED:
            for way, exits in ("L3", "fixed:3"), ("S2D", CHOSEN):
                compare(f"aligned {name} {way}", f"cut-{name}", "docs", "--exits", exits, temperatures="0")
    return out


# What cells say.
def drafted(r, name, temperature=0):
    """The row of the rule with a drafter; a cell of trees has one of chains before it."""
    return [row for row in r.rows(name) if row["rule"] != "autoregressive" and row["temperature"] == temperature][-1]


def spoken(r, name, temperature=0):
    """The share of draft rows that each exit gave. Counts of a program go on from one temperature to the next."""
    rows = [row["drafter_exit_rows"] for row in r.rows(name) if row["rule"] != "autoregressive" and row["temperature"] <= temperature]
    found = [n - (before if len(rows) > 1 else 0) for n, before in zip(rows[-1], rows[0])]
    return [n / max(sum(found), 1) for n in found]


def mbsu(r, name, temperature=0):
    """Speed-up if nothing but reading weights takes time. A row of exit e reads e layers, and the head for each exit that was tried."""
    row = drafted(r, name, temperature)
    start, way, target = name.split(" ", 1)[0], name.rsplit(" ", 1)[0].split(" ", 1)[1], name.rsplit(" ", 1)[1]
    if "," not in way and not way.endswith("S2D"):
        return row["mbsu"]
    first, second = (drafted(r, f"{'cut' if start == 'aligned' else start} L{d} {target}")["drafter_relative_size"] for d in (1, 2))
    layer, head = second - first, 2 * first - second
    c = sum(share * e * (layer + head) for e, share in enumerate(spoken(r, name, temperature), 1))
    return row["tokens_per_target_call"] / (c * row["drafter_forwards_per_target_call"] + 1)


def counts(r, name, temperature=0):
    """Tokens per target pass, MBSU."""
    if name not in r:
        return "-", "-"
    return number(drafted(r, name, temperature)["tokens_per_target_call"]), number(mbsu(r, name, temperature))


def shares(r, name, temperature=0):
    return ", ".join(f"{100 * s:.0f} %" for s in spoken(r, name, temperature)) if name in r else "-"


def best(r, names, temperature=0):
    """The cell with the largest MBSU."""
    return max((n for n in names if n in r), key=lambda n: mbsu(r, n, temperature))


def s2d(r, start, target):
    """The cell with the target's best thresholds, as the paper chooses them (4.4.1)."""
    return best(r, [f"{start} {tau} {target}" for tau in SETS])


def layers(depth):
    return f"{depth} layer{'s' * (int(depth) > 1)}"


def verdict(r, start, targets):
    """S2D beside the best fixed depth, target by target."""
    said, won = [], 0
    for target in targets:
        for t in 0, 1:
            fixed = best(r, [f"{start} L{d} {target}" for d in DEPTHS], t)
            ours, theirs = mbsu(r, s2d(r, start, target), t), mbsu(r, fixed, t)
            won += ours > theirs
            said.append(f"On {TARGETS[target][0]}, T = {t}, it is {number(ours)} against {number(theirs)} with {layers(fixed.split()[1][1:])}.")
    return f"S2D has a larger MBSU than the best fixed depth in {won} of {len(said)} cases. {' '.join(said)}"


def multi(r, start, targets):
    heads = ["drafter", *(f"{TARGETS[target][0]}, T = {t}: {what}" for target in targets for t in (0, 1) for what in ("tokens", "MBSU"))]
    named = [(title, lambda t, way=way: f"{start} {way} {t}") for title, way in
             [("SFT + SD", "SFT"), *((f"SoFT, {layers(d)} + SD", f"L{d}") for d in DEPTHS)] if f"{start} {way} docs" in r]
    named.append(("SoFT + S2D, thresholds " + listed([f"{s2d(r, start, t).split()[1]} ({TARGETS[t][0]})" for t in targets]), lambda t: s2d(r, start, t)))
    return table(heads, [[title, *(n for target in targets for t in (0, 1) for n in counts(r, name(target), t))] for title, name in named])


def page(r):
    quick = "train cut-soft" not in r
    targets = [t for t in TARGETS if f"cut L1 {t}" in r]
    starts = [s for s in STARTS if f"{s} L1 docs" in r]
    parts = []
    if not quick:
        parts += ["## What was trained", trained(r), trainings(r)]
    parts += ["## Table 2 and Table 4: one drafter, several targets",
              "Tokens are per target pass (the paper's MAT). Thresholds are those of Figure 3 with the largest MBSU at T = 0."]
    for start in starts:
        parts += [f"### From {STARTS[start][0]} (`{start}`)", verdict(r, start, targets), multi(r, start, targets)]
    parts += ["The paper's Table 2 (MT-Bench, drafters of 6, 9 and 12 layers of Vicuna 7B), speed-up and MAT:",
              table(["drafter", "Vicuna 7B, T = 0", "Vicuna 13B, T = 0", "LLaMA Chat 70B, T = 0", "Vicuna 7B, T = 1", "Vicuna 13B, T = 1",
                     "LLaMA Chat 70B, T = 1"],
                    [["SFT + SD", "1.19x, 3.19", "1.21x, 3.05", "1.94x, 2.46", "1.16x, 3.44", "1.10x, 3.16", "1.94x, 2.54"],
                     ["SoFT, 6 layers + SD", "1.38x, 2.43", "1.38x, 2.40", "1.83x, 2.05", "1.30x, 2.53", "1.35x, 2.87", "1.87x, 2.14"],
                     ["SoFT, 9 layers + SD", "1.24x, 2.80", "1.31x, 2.78", "1.92x, 2.27", "1.26x, 3.05", "1.32x, 2.87", "1.94x, 2.34"],
                     ["SoFT, 12 layers + SD", "1.17x, 3.11", "1.23x, 3.01", "1.91x, 2.39", "1.07x, 3.22", "1.20x, 3.17", "1.96x, 2.53"],
                     ["SoFT + S2D", "1.34x, 2.86", "1.38x, 2.76", "1.95x, 2.36", "1.27x, 3.01", "1.38x, 2.89", "1.98x, 2.44"]]),
              "There, too, 6 layers are as fast as S2D or faster on Vicuna 7B and, at T = 0, on 13B; S2D gains by being near the best depth on "
              "all three. In its Table 4, drafters from Vicuna 160m have 1.17x, 1.28x and 1.91x with S2D at T = 0, and "
              "1.20x, 1.26x and 1.68x with 6 layers.",
              "## Figure 3: thresholds", thresholds_said(r, starts, targets),
              table(["drafter, thresholds", *(f"{TARGETS[t][0]}: {what}" for t in targets for what in ("tokens", "MBSU", "share of each exit"))],
                    [[f"{start}, {tau}", *(x for t in targets for x in (*counts(r, f"{start} {tau} {t}"), shares(r, f"{start} {tau} {t}")))]
                     for start in starts for tau in SETS if f"{start} {tau} docs" in r]),
              "In the paper, 0.5 and 0.5 are fastest on Vicuna 7B (1.34x, and 1.24x and 1.20x with the others) and 13B (1.38x, 1.35x, 1.32x). "
              "On LLaMA Chat 70B 0.75 and 0.7 are (1.94x, against 1.92x and 1.93x).",
              "## T = 1: the row's confidence or the drawn token's", drawn_said(r, drawn_pairs(r, starts, targets)),
              table(["drafter", "target", "row's: tokens", "row's: MBSU", "drawn token's: tokens", "drawn token's: MBSU"],
                    [[start, TARGETS[t][0], *counts(r, f"{start} {CHOSEN} {t}", 1), *counts(r, f"{start} drawn {CHOSEN} {t}", 1)]
                     for start, t in drawn_pairs(r, starts, targets)])]
    if not quick:
        parts += ["## One drafter for all targets, or one each", each_said(r),
                  table(["drafter", *(f"{TARGETS[t][0]}, T = {u}: {what}" for t in TARGETS for u in (0, 1) for what in ("tokens", "MBSU"))],
                        [[title, *(x for t in TARGETS for u in (0, 1) for x in counts(r, f"{name} {t}" if name else s2d(r, "drafter", t), u))] for title, name in
                         [("trained for docs-target alone", "alone docs"), ("trained for SmolLM2 alone", "alone smollm2"),
                          ("one for both, three layers (SFT)", "drafter SFT"), ("one for both, sorted, three layers", "drafter L3"),
                          ("one for both, sorted, S2D", None)]]),
                  "The paper has no such table. In addition to SFT + SD its baselines are EAGLE, Medusa and Hydra, trained for Vicuna 7B alone, at 2.62x, 1.74x "
                  "and 2.14x (T = 0, with draft trees).",
                  "## Table 3: feature alignment", aligned_said(r),
                  table(["SoFT learns", "w_reg", "w_cls", "three layers: tokens", "three layers: MBSU", f"S2D ({CHOSEN}): tokens", "S2D: MBSU"],
                        [[title, reg, cls, *(n for way in ("L3", "S2D") for n in counts(r, f"aligned {name} {way} docs"))]
                         for name, (title, reg, cls) in ALIGNED.items()]),
                  "In the paper (EAGLE, Llama2 13B, GSM8K) both losses give 2.73x, features alone 2.70x, tokens alone 1.61x. Features align "
                  "a drafter with one target, so SoFT for several targets has none."]
    parts += ["## 4.4.2: draft trees", trees_said(r, starts, targets),
              table(["drafter", "target", f"chain, S2D ({CHOSEN})", "chain, three layers", f"tree of {TREE}, three layers"],
                    [[start, TARGETS[t][0], *(number(drafted(r, name)["tokens_per_target_call"]) for name in
                                              (f"{start} {CHOSEN} {t}", f"{start} L3 {t}", f"tree {start} {t}"))]
                     for start in starts for t in targets if f"tree {start} {t}" in r]),
              "In the paper only EAGLE, Medusa and Hydra draft trees: 2.62x, 1.74x and 2.14x, and 2.04x, 1.34x and 1.78x without (Vicuna 7B, T = 0).",
              "## What these models allow to conclude", CONCLUSION, "## Deviations from the paper", DEVIATIONS]
    return "\n\n".join(parts)


def trainings(r):
    found = []
    for name, (start, exits, text, more) in TRAININGS.items():
        t = r.only(f"train {name}")
        kept = t["kept"]
        found.append([f"`{name}`", STARTS[start][0], exits, {"both": "of both targets"}.get(text, f"of {TARGETS.get(text, ['?'])[0]}"),
                      f"{t['parameters']:,}", kept["step"], f"{t['tokens']:,}", ", ".join(percent(h) for h in kept["first_choice"]),
                      f"{r.cells[f'train {name}']['seconds']:.0f}"])
    return table(["drafter", "begins as", "exits", "text", "parameters", "steps kept", "tokens seen", "held-out tokens that are its first choice, by exit", "seconds"], found)


def trained(r):
    one, many = (r.only(f"train {n}")["kept"]["first_choice"][-1] for n in ("cut-sft", "cut-soft"))
    return (f"Sorted training costs the whole drafter {100 * (one - many):.1f} percentage points of first choices (`cut-soft` against `cut-sft`), "
            f"and gives shallower drafters in return. Each training had {STEPS} steps; the weights with the lowest held-out loss are kept, so a drafter that "
            "no step made better stays as it was (0 steps).")


def thresholds_said(r, starts, targets):
    said = []
    for start in starts:
        for t in targets:
            there = [tau for tau in SETS if f"{start} {tau} {t}" in r]
            top = max(there, key=lambda tau: mbsu(r, f"{start} {tau} {t}"))
            if len(there) > 1:
                said.append(f"{top} for {TARGETS[t][0]} ({STARTS[start][0]})")
    best_of = f"The largest MBSU at T = 0 is with {listed(said)}. " if said else ""
    return f"{best_of}Higher thresholds ask deeper exits, which accept more and read more."


def drawn_pairs(r, starts, targets):
    return [(s, t) for s in starts for t in targets if f"{s} drawn {CHOSEN} {t}" in r]


def drawn_said(r, pairs):
    ahead = sum(mbsu(r, f"{s} drawn {CHOSEN} {t}", 1) > mbsu(r, f"{s} {CHOSEN} {t}", 1) for s, t in pairs)
    return ("Algorithm 1 compares the threshold with the probability of the token that it drew. That needs a corrected distribution to be lossless "
            f"([why](../adapt/exits.md#what-is-exact)). It has the larger MBSU in {ahead} of {len(pairs)} pairs (thresholds {CHOSEN}); at T = 0 both are one "
            "rule.")


def each_said(r):
    said = []
    for t, (title, *_) in TARGETS.items():
        own, one, whole = (mbsu(r, name) for name in (f"alone {t} {t}", s2d(r, "drafter", t), f"drafter SFT {t}"))
        said.append(f"On {title}, MBSU at T = 0 is {number(own)} with a drafter of its own, {number(one)} with one sorted drafter for both (S2D), and "
                    f"{number(whole)} with one of three layers for both.")
    return " ".join(said)


def aligned_said(r):
    found = {title: mbsu(r, f"aligned {name} S2D docs") for name, (title, _, _) in ALIGNED.items()}
    top = max(found, key=found.get)
    return (f"SoFT of the target's own layers on text of docs-target, T = 0, tokens per target pass: {top} is best with S2D ({number(found[top])} MBSU), against "
            + listed([f"{number(v)} ({k})" for k, v in found.items() if k != top]) + ".")


def trees_said(r, starts, targets):
    gains = [drafted(r, f"tree {s} {t}")["tokens_per_target_call"] / drafted(r, f"{s} {CHOSEN} {t}")["tokens_per_target_call"]
             for s in starts for t in targets if f"tree {s} {t}" in r]
    return (f"A dynamic tree of {TREE} nodes, drafted by all three layers, has {min(gains):.2f} to {max(gains):.2f} times the tokens per target pass of "
            "a chain of four with S2D (T = 0). Exits draft chains alone: where siblings stop at different layers, one pass cannot score them.")


CONCLUSION = """- A layer of these drafters has 0.7 million parameters, the head that all exits share 1.0 million. So an exit that is asked
  in vain costs more than a layer. A layer of Vicuna 7B has 202 million, its head 131 million: what thresholds cost here says little about drafters
  of that size.
- Counts do carry over in kind: an exit accepts more the deeper it is, and thresholds move the choice between them.
- docs-target has only six layers of the drafter's size, so a drafter of its own first layers reads a third to two thirds of what its target reads.
  In the paper it is at most 12 of 32 layers, and 12 of a model ten times as large for LLaMA Chat 70B.
- Minutes of training leave every drafter far from what it could accept; `smollm2-drafter` itself had seen 491 million tokens."""

DEVIATIONS = """- Targets of 5 and 135 million parameters, drafters of three layers with an exit after each. The paper has targets of 7B, 13B and 70B, and
  drafters of 12 layers with exits after 6, 9 and 12.
- Trained on 60 steps of about 1,000 tokens of the targets' own outputs; the paper has three epochs of ShareGPT. SmolLM2's are from
  `models/train/text`; docs-target goes on from beginnings in this repository's documentation.
- The targets' vocabularies differ: rule `identity` where drafter and target have one, `tli` otherwise. The paper's targets share one.
- Twelve prompts with outputs of 64 tokens for docs-target, four of 32 for SmolLM2, chains of four draft tokens: differences of ten per cent are
  noise on SmolLM2, of a few on docs-target. MT-Bench and the other tasks of Spec-Bench are not run.
- No speed-up was timed: MBSU counts what is read, and does not depend on the machine.
- Each exit has a norm of its own before the shared head.
- Table 3 is of SoFT on the target's own layers, not of EAGLE: every exit's state learns the target's last state, embedding and head stay fixed.
- Not measured: Tables 1 and 5 (a sorted or a trained target), Figures 2 and 4 (six tasks), EAGLE, Medusa and Hydra.
- [Papers and headers](../understand/papers.md#s2d) has the deviations of the method itself."""

PAPER = Paper(
    name="s2d", title="S2D", reference="Kavehzadeh et al. 2024", cells=cells, page=page, sources=sources,
    about="For readers of Kavehzadeh et al. 2024, *S2D: Sorted Speculative Decoding For More Efficient Deployment of Nested Large Language Models*: "
          "the paper's tables on the models here. A drafter of three layers is trained so that one, two or three of them draft; thresholds of "
          "confidence choose how many. MBSU is the speed-up if nothing but reading weights takes time; a token of exit e reads e layers, and the "
          "head once for each exit that was tried. [Early-exit drafters](../adapt/exits.md) has the code.",
    files=("models/docs-target/model.safetensors", "models/smollm2-drafter/model.safetensors", "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf",
           "models/prompts/docs.txt", "models/prompts/smollm2.txt", "models/train/text"))

if __name__ == "__main__":
    main(PAPER)
