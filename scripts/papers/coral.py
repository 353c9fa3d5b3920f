#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weng et al. 2025, "CORAL: Learning Consistent Representations across Multi-step Training with Lighter Speculative Drafter".

    scripts/papers/coral.py            writes docs/papers/data/coral.json and docs/papers/coral.md
    scripts/papers/coral.py --quick    a minute, in build/papers
"""
import json
import lzma

from study import MODELS, PROMPTS, SMOLLM2, Paper, cell, main, milliseconds, number, percent, table

STEPS = 1, 2, 3, 4
# kind: (title, w_reg, w_CSRA); w_cls is EAGLE's 0.1. w_reg of the authors' Appendix A; w_CSRA makes both losses alike here.
KINDS = {"hass": ("HASS", 1, 0), "csra": ("CSRA", 0.5, 0.1)}
CLASSIFICATION = 0.1
UPDATES, RATE, TEXTS, LENGTH = 80, 3e-3, 480, 112  # of a training: four texts of at most so many tokens an update
MEASURED = 32  # prompts; the others begin the texts for training
GROUPS = 4, 8, 16, 32, 64
CHOSEN = 1, 2, 3, 4, 6, 8
ANSWERS, ANSWER_LENGTH = 160, 160  # of SmolLM2, for routers
HEADS = {"whole head": "full", "routed 16/1": "routed:16/1", "routed 16/2": "routed:16/2", "routed 16/4": "routed:16/4"}
ROUTED = 16  # groups of these
TREE = 12
DOCS = MODELS / "docs-target"
FEATURES = MODELS / "smollm2-features"


def sources(folder, quick):
    """answers.jsonl: answers of SmolLM2 to short prompts of all kinds."""
    if quick or (folder / "answers.jsonl").is_file():
        return
    answers = []
    for file in sorted((MODELS / "train/text").glob("*.jsonl.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            answers += [a for a in map(json.loads, lines) if len(a["prompt"]) < 200 and len(a["text"]) > 200]
    some = answers[::len(answers) // ANSWERS][:ANSWERS]
    (folder / "answers.jsonl").write_text("".join(json.dumps(a) + "\n" for a in some), encoding="utf-8")


def name_of(kind, steps):
    return f"{kind}{steps}"


def cells(quick):
    out = [cell("docs texts", "train_coral", "record", "--target", DOCS, "--prompts", PROMPTS / "docs.txt", "--skip", MEASURED, "--drawn",
                48 if quick else TEXTS, "--length", 48 if quick else LENGTH, "--out", "{scratch}/docs.records", makes="docs.records", weight=30)]
    measured = []
    for kind, steps in [("csra", 2)] if quick else [(kind, steps) for steps in STEPS for kind in KINDS]:
        _, regression, csra = KINDS[kind]
        name = name_of(kind, steps)
        out.append(cell(f"train {name}", "train_coral", "train", "--target", DOCS, "--records", "{scratch}/docs.records", "--steps", steps, "--csra", csra,
                        "--regression", regression, "--classification", CLASSIFICATION, "--updates", 8 if quick else UPDATES, "--rate", RATE, "--out",
                        f"{{scratch}}/{name}", makes=f"{name}/config.json", weight=15 * steps))
        measured.append(compare(f"measure {name}", "--target", DOCS, "--drafter", f"{{scratch}}/{name}", "--prompts", PROMPTS / "docs.txt",
                                "--limit", 2 if quick else MEASURED, "-n", 12 if quick else 48, "--temperatures", "0" if quick else "0,1"))
    if quick:
        out.append(cell("routers", "train_coral", "route", "--target", DOCS, "--drafter", "{scratch}/csra2", "--records", "{scratch}/docs.records",
                        "--groups", 4, "--fine", 4, "--out", "{scratch}/router", makes="router-4/router.safetensors"))
        measured.append(compare("tree routed 4/2", "--target", DOCS, "--drafter", "{scratch}/router-4", "--prompts", PROMPTS / "docs.txt", "--limit",
                                2, "-n", 12, "--temperatures", 0, "--head", "routed:4/2", "--tree", 8, "--tree-growth", "dynamic"))
        return out + measured
    out.append(cell("smollm2 texts", "train_coral", "record", "--target", SMOLLM2, "--text", "{scratch}/answers.jsonl", "--length", ANSWER_LENGTH, "--out",
                    "{scratch}/smollm2.records", makes="smollm2.records", weight=60))
    route = ("--target", SMOLLM2, "--drafter", FEATURES, "--records", "{scratch}/smollm2.records")
    out.append(cell("routers", "train_coral", "route", *route, "--groups", ",".join(map(str, GROUPS)), "--out", "{scratch}/router",
                    makes=f"router-{GROUPS[-1]}/router.safetensors", weight=90))
    out.append(cell("routers by id", "train_coral", "route", *route, "--groups", ROUTED, "--fine", ROUTED, "--order", "ids", "--out", "{scratch}/by-id",
                    makes=f"by-id-{ROUTED}/router.safetensors", weight=40))
    out += measured
    for name, head in HEADS.items():
        out.append(on_smollm2(name, head))
    out.append(on_smollm2("list", f"trimmed:{FEATURES}/kept.json"))
    for name in "whole head", "routed 16/2":
        out.append(on_smollm2(f"tree {name}", HEADS[name], "--tree", TREE, "--tree-growth", "dynamic"))
    return out


def compare(name, *flags, weight=10.0):
    return cell(name, "compare", "--json", "--threads", 1, "--rules", "identity", "--draft-length", 4, *flags, weight=weight)


def on_smollm2(name, head, *more):
    return compare(name, "--target", SMOLLM2, "--drafter", f"{{scratch}}/router-{ROUTED}", "--chat", "--prompts", PROMPTS / "smollm2.txt",
                   "--limit", 4, "-n", 32, "--temperatures", 0, "--head", head, *more, weight=25)


def drafted(r, name, temperature=0):
    """The last row of a cell at that temperature, if there is any: the tree's, where trees are drafted."""
    return next((row for row in reversed(r.rows(name)) if row["temperature"] == temperature), None) if name in r else None


def tau(r, name, temperature=0):
    row = drafted(r, name, temperature)
    return number(row["tokens_per_target_call"]) if row else "-"


def by_position(row):
    return [percent(x, 0) for x in (row["conditional_acceptance_by_position"] + [None] * 4)[:4]]


def steps_of(r):
    return [s for s in STEPS if any(f"train {name_of(k, s)}" in r for k in KINDS)]


def trained(r):
    return [(k, s) for s in steps_of(r) for k in KINDS if f"train {name_of(k, s)}" in r]


def label(kind, steps):
    return "one step (EAGLE)" if (kind, steps) == ("hass", 1) else f"{steps} step{'s' * (steps > 1)}, {KINDS[kind][0]}"


def trainings(r):
    first = r.only(f"train {name_of(*trained(r)[0])}")
    rows = []
    for kind, steps in trained(r):
        name = name_of(kind, steps)
        made = r.only(f"train {name}")
        rows.append([label(kind, steps), tau(r, f"measure {name}"), tau(r, f"measure {name}", 1), *by_position(drafted(r, f"measure {name}")),
                     number(made["seconds"], 0)])
    return first, table(["training", "tau, T = 0", "tau, T = 1", "1st", "2nd", "3rd", "4th", "s"], rows)


def gain(r, steps):
    """CSRA's tokens per target pass in HASS's."""
    hass, csra = (drafted(r, f"measure {name_of(k, steps)}")["tokens_per_target_call"] for k in KINDS)
    return csra / hass - 1


def signed(part):
    return f"{100 * part:+.1f} %"


def held_out(r):
    """Tables 5 and 6 on texts that were held out."""
    rows = [[label(k, s), *(number(x, 3) for x in made["cross_entropy"]), *(percent(x, 1) for x in made["first_choice"])]
            for k, s in trained(r) for made in [r.only(f"train {name_of(k, s)}")]]
    return table(["training", *(f"loss, step {k}" for k in STEPS), *(f"first choice, step {k}" for k in STEPS)], rows)


def infonce(r, names):
    rows = []
    for kind, steps in names:
        matrix = r.only(f"train {name_of(kind, steps)}")["infonce"]
        rows += [[label(kind, steps) if later == 1 else "", f"step {later + 1}", *(number(matrix[later][k]) if k < later else "" for k in range(3))]
                 for later in range(1, 4)]
    return table(["training", "", "step 1", "step 2", "step 3"], rows)


def grid(r):
    rows = []
    for made in r.rows("routers"):
        n = made["groups"]
        rows.append([n, *(f"{percent(made['mass'][k - 1], 0)}, {percent(made['first_choice'][k - 1])}" if k <= n // 2 else "" for k in CHOSEN)])
    return table(["N", *(f"top {k}" for k in CHOSEN)], rows)


def draft_time(row):
    return milliseconds(row["draft_seconds"] / row["draft_tokens"]) if row["draft_tokens"] else "-"


def heads(r):
    rows = []
    for name in [*HEADS, "list"]:
        if name not in r:
            continue
        row = drafted(r, name)
        title = "list of 4,096 tokens (VocabTrim)" if name == "list" else name
        rows.append([title, row["drafter_head_tokens"] or 49152, number(100 * row["drafter_relative_size"], 1), draft_time(row), tau(r, name),
                     number(row["mbsu"])])
    return table(["head", "rows", "bytes a draft token, % of a target position's", "draft ms a token", "tau", "MBSU"], rows)


def tree_counts(r, name):
    """What the routed head did for trees: a cell with trees drafts chains, too, as the cell without them does."""
    tree, chain = (drafted(r, n).get("drafter_routed") for n in (f"tree {name}", name))
    return {key: tree[key] - chain[key] for key in tree} if tree else None


def trees(r):
    rows = []
    for name in HEADS:
        chain, tree = (drafted(r, n) for n in (name, f"tree {name}")) if f"tree {name}" in r else (None, None)
        if tree is None:
            continue
        counts = tree_counts(r, name)
        rows.append([name, number(chain["tokens_per_target_call"]), number(tree["tokens_per_target_call"]),
                     *([number(counts["rows"] / counts["calls"], 1), number(counts["groups"] / counts["calls"], 1)] if counts else ["-", "-"])])
    return table(["head", "tau, chain", f"tau, tree of {TREE}", "candidates a pass", "groups a pass"], rows)


def page(r):
    quick = "smollm2 texts" not in r
    first, measured = trainings(r)
    compared = [s for s in STEPS if all(f"train {name_of(k, s)}" in r for k in KINDS)]
    parts = ["## Tables 2, 3 and 5, Figure 6: training steps, with and without CSRA",
             (f"Compared with HASS, CSRA changes tau at T = 0 by " + ", ".join(f"{signed(gain(r, s))} ({s} step{'s' * (s > 1)})" for s in compared)
              + f". {best_sentence(r)} " if compared else "")
             + "Tau is the number of tokens per target pass, drafts of four tokens in a chain. The columns 1st to 4th are n-alpha: the acceptance of "
             "the n-th draft token, where the target verified it (T = 0). The last column is the time of the training.",
             measured,
             f"Each drafter has {first['parameters']:,} parameters in addition to the target's embedding and head and is trained from random numbers with "
             f"{first['updates']} updates. A training of k steps makes k features for each place.",
             "In the paper (Llama3-8B, mean of three tasks, trees of 60 candidates) tau is 4.38 with one step (EAGLE-2), and with HASS and CSRA:",
             table(["steps", "HASS", "CSRA"], [["2", "4.72", "4.83"], ["3", "4.78", "4.90"], ["4", "4.81", "4.94"]]),
             "With one step, CSRA lowers the paper's tau (MT-bench) from 4.16 to 4.10.",
             "## The same on text that was held out",
             "The loss is the cross-entropy with the target's distribution, and first choice how often drafter and target have the same one. At step k the "
             "drafter reads k - 1 features of its own. " + held_sentence(r),
             held_out(r),
             "## Table 6: InfoNCE between steps",
             infonce_sentence(r),
             infonce(r, [n for n in (("hass", 1), ("hass", 3), ("csra", 3), ("csra", 2)) if n in trained(r)][:3]),
             "In the paper (temperature 0.07) steps 1 and 2 differ by 1.57 (EAGLE-2), 1.46 (HASS) and 0.95 (CSRA), steps 1 and 4 by 2.04, 1.73 and 1.22."]
    if not quick:
        made = {m["groups"]: m for m in r.rows("routers")}
        by_id = r.only("routers by id")
        parts += ["## Table 4: the router, N groups and n chosen",
                  f"Two of 16 groups hold {percent(made[16]['mass'][1], 0)} of the target's distribution, and the routed head's first choice is the target's "
                  f"for {percent(made[16]['first_choice'][1])} of held-out places; the whole head's for {percent(made[16]['first_choice_whole_head'])}. Each cell "
                  "has both figures: the share of the distribution in the chosen groups, and the agreement.",
                  grid(r),
                  f"SmolLM2-135M-Instruct with `smollm2-features`, {made[16]['examples']:,} examples of draft steps 1 to 3, {made[16]['epochs']} epochs, "
                  f"{made[16]['held_out']:,} held-out places. Groups are of tokens of like frequency. Groups by id, as in the paper, hold "
                  f"{percent(by_id['mass'][1], 0)} in two of 16, and agree for {percent(by_id['first_choice'][1])}.",
                  "In the paper (Llama3-8B, MT-bench, speed-ups): no router 2.50x; top 2 of 4 groups 2.46x, of 8 2.61x, of 16 2.63x, of 32 2.59x, of 64 2.51x; "
                  "the best of 64 is top 4, 2.57x.",
                  "## Table 1, Figure 2: cost of the head", heads_sentence(r), heads(r),
                  "MBSU is the speed-up if nothing but reading weights takes time (Eq. 6 by bytes). In the paper the router of Llama3-8B costs 5 % of tau and "
                  "gains 7 % of speed.",
                  "## Appendix F: trees", trees_sentence(r), trees(r),
                  "A pass is a level of a tree. Each group of the union is read once a pass. A node's distribution is over the groups that its own state chose. The "
                  "paper's worst case, all candidates with other groups, is the number of candidates times n."]
    return "\n\n".join([*parts, "## Deviations from the paper", DEVIATIONS])


def best_sentence(r):
    best = max(trained(r), key=lambda n: drafted(r, f"measure {name_of(*n)}")["tokens_per_target_call"])
    return f"The highest tau at T = 0 is {tau(r, f'measure {name_of(*best)}')} ({label(*best)})."


def held_sentence(r):
    best = {k: max(trained(r), key=lambda n: r.only(f"train {name_of(*n)}")["first_choice"][k]) for k in (0, 3)}
    return f"The most first choices agree at step 1 with {label(*best[0])}, at step 4 with {label(*best[3])}."


def infonce_sentence(r):
    if ("hass", 3) not in trained(r) or ("csra", 3) not in trained(r):
        return "Features of two steps at one position, against those of all other positions."
    hass, csra = (r.only(f"train {name_of(k, 3)}")["infonce"][3][0] for k in KINDS)
    return (f"With three steps, features of steps 1 and 4 are {number(hass)} apart after HASS and {number(csra)} after CSRA: "
            f"{'CSRA makes steps alike, as in the paper' if csra < hass else 'the paper found CSRA to make steps alike, which so short a training does not show'}.")


def heads_sentence(r):
    full, two, listed = (drafted(r, n) for n in ("whole head", "routed 16/2", "list"))
    return (f"The head is most of what this drafter reads: two of 16 groups bring a draft token from {percent(full['drafter_relative_size'], 0)} of a target "
            f"position's bytes to {percent(two['drafter_relative_size'], 0)}, and MBSU from {number(full['mbsu'])} to {number(two['mbsu'])}. A fixed list of 4,096 tokens "
            f"has {number(listed['mbsu'])}" + (", so the router does not pay here and is not shipped." if listed["mbsu"] >= two["mbsu"] else ", less than the router."))


def trees_sentence(r):
    counts = tree_counts(r, "routed 16/2")
    most = 2 * counts["rows"] / counts["calls"]
    return (f"With two groups a candidate, a pass over {number(counts['rows'] / counts['calls'], 1)} candidates reads {number(counts['groups'] / counts['calls'], 1)} "
            f"of 16 groups, not the {number(min(most, 16), 1)} of the worst case: frequent tokens are in the first groups, as the paper says.")


DEVIATIONS = """- Scale: a target of 5 million parameters and a drafter of one, trained for seconds on text that the target draws; the paper trains for two
  days. One run each, no seeds: differences of a few per cent are noise. Models of this size and so short a training cannot tell which of HASS and
  CSRA is better.
- Drafts are chains of four tokens, where the paper has trees of depth 6 with 60 candidates; trees have 12 nodes here.
- w_reg 1 and w_cls 0.1 (EAGLE, HASS), w_reg 0.5, w_cls 0.1 and w_CSRA 0.1 (CORAL). Features get no noise in single-step training.
- InfoNCE of Table 6: among the features of both steps at 128 places, the query's own left out; the paper does not say.
- CSRA: the mean over positives outside the logarithm, at 96 places drawn each step.
- The router is trained by the target's mass in 64 groups, which sums to that in fewer. Table 4 has agreement in place of speed-ups, which
  depend on the machine.
- Router: p_router is renormalised over the chosen groups; groups are by frequency.
- The router's drafter is `smollm2-features`, trained on outputs of the kinds of text that the router learns and is measured on.
- Tasks are prompts for Python's documentation and for stories and explanations; Tables 7 and 8 and Llama3-70B are not measured.
- [Papers and headers](../understand/papers.md#coral) has the deviations of the method itself."""

PAPER = Paper(
    name="coral", title="CORAL", reference="Weng et al. 2025", cells=cells, page=page, sources=sources,
    about="For readers of Weng et al. 2025, *CORAL: Learning Consistent Representations across Multi-step Training with Lighter Speculative "
          "Drafter*: the paper's tables on the models here. Drafters of `docs-target` are trained with one to four steps, with and without cross-step "
          "representation alignment (CSRA), and routers for the LM head of SmolLM2's EAGLE-style drafter. The C++ losses of `examples/papers` train "
          "all of them. [EAGLE-style drafters](../adapt/heads.md#eagle-style-drafters) and [groups](../adapt/heads.md#groups) have the code.",
    files=("models/docs-target/model.safetensors", "models/smollm2-features/model.safetensors", "models/smollm2-features/kept.json",
           "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "models/prompts/docs.txt", "models/prompts/smollm2.txt", "models/train/text"))

if __name__ == "__main__":
    main(PAPER)
