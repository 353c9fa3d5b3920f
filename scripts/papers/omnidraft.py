#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ramakrishnan et al. 2025, "OmniDraft: A Cross-vocabulary, Online Adaptive Drafter for On-device Speculative Decoding".

    scripts/papers/omnidraft.py            writes docs/papers/data/omnidraft.json and docs/papers/omnidraft.md
    scripts/papers/omnidraft.py --quick    a minute, in build/papers
"""
import random
import statistics

from study import MODELS, PROMPTS, Paper, cell, first_layers, listed, main, number, percent, table

# name: (prompts, how many of them, of which 60 % are served, served tokens)
TASKS = {"docs": (PROMPTS / "docs.txt", 64, 2400), "recipes": (PROMPTS / "tasks/recipes.txt", 24, 900)}
DOCS = ("--target", MODELS / "docs-target")
ENDS = ("--equivalences", "{scratch}/equivalences.json")
# name: (title, target and drafter, task)
SETTINGS = {
    "docs": ("docs-target, the drafter made for SmolLM2", (*DOCS, "--drafter", MODELS / "smollm2-drafter", *ENDS), "docs"),
    "recipes": ("SmolLM2, its drafter, recipes", ("--models", "smollm2"), "recipes"),
    "own": ("docs-target, a drafter with its vocabulary", (*DOCS, "--drafter", "{scratch}/layers"), "docs"),
}
MAIN = ("docs", "recipes")
LAYERS = 2  # of docs-target's six: the drafter of the setting "own"
ORDERS = (1, 2, 3)  # in which docs-target's prompts are served; the first is the file's
LOSSES = {"none+ngram": "NLL of n-grams alone", "nll+ngram": "NLL of tokens and of n-grams", "dm": "reverse KL of shared tokens (L_DM)",
          "dm+ngram": "L_DM + 0.2 L_N-gram (the paper's)", "dm+ngram-p": "L_DM + p(t) L_N-gram", "dm+ngram-kl": "reverse KL of both",
          "fkl+ngram": "forward KL, 0.2 L_N-gram"}
HEADS = {"joint": "joint head (Alg. 3)", "interleaved": "interleaved head (Alg. 4)"}
LABELS = {"again": "as printed", "round": "ours"}
VARIANTS = [(kind, labels) for labels in LABELS for kind in HEADS]
RANKS = (8, 32)
THRESHOLDS = (0.3, 0.7)
OTHER = PROMPTS / "smollm2.txt"  # what a head is trained on before: questions, not documentation
CACHES = (("lru", 32), ("lfu", 32), ("lru", 64), ("lfu", 64), ("lfu", 0))  # 0: unlimited
GROWTH = (4, 16, 64)
LONG = 64
KEPT = ("--cache", "{scratch}/docs.ngrams")  # of the first visit to docs-target
METHODS = (("dm tli", "tli", "dm", ()), ("dm+ngram merge", "merge", "dm+ngram", KEPT))  # cell, rule, loss, cache


def ordered(name, order):
    return name if order == 1 else f"{name} order {order}"


def reordered(task, order):
    """The prompts of a task, those that are served in another order."""
    file, count, _ = TASKS[task]
    prompts = file.read_text(encoding="utf-8").splitlines()[:count]
    served = prompts[:count * 6 // 10]
    random.Random(order).shuffle(served)
    return served + prompts[len(served):]


def sources(folder, quick):
    """Control tokens that vocabularies share, other orders of prompts, and a drafter of the target's first layers."""
    (folder / "equivalences.json").write_text('{"pairs": [["</s>", "<|endoftext|>"]]}\n', encoding="utf-8")
    for order in ORDERS[1:]:
        (folder / f"docs-{order}.txt").write_text("\n".join(reordered("docs", order)) + "\n", encoding="utf-8")
    first_layers(MODELS / "docs-target", LAYERS, folder / "layers")


def cells(quick):
    out = []

    def learn(name, rule, loss, *more, setting="docs", order=1, pair=None, makes=""):
        """A loss of "": the drafter learns nothing."""
        _, own, task = SETTINGS[setting]
        file, limit, tokens = TASKS[task]
        if quick:
            limit, tokens = 8, 200
        served = file if order == 1 else f"{{scratch}}/{task}-{order}.txt"
        how = ("--every", 64, "--budget", 1, "--rule", rule, "--loss", loss) if loss else ("--rule", rule, "--learn", "none")
        out.append(cell(ordered(f"{setting} {name}", order), "adapt", *(pair or own), "--json", "--threads", 1, "--task", f"{task}={served}", "--limit",
                        limit, "--tokens", tokens, "-n", 20 if quick else LONG, "--window", 100 if quick else 300, *how, *more,
                        makes=makes, weight=10 if task == "docs" else 30))

    def head(name, kind, labels, rule, loss, *more, **where):
        learn(name, rule, loss, "--acceptance-head", kind, *(("--head-labels", labels) if labels != "round" else ()), *more, **where)

    if quick:
        learn("dm tli", "tli", "dm")
        learn("dm+ngram merge", "merge", "dm+ngram")
        head("head interleaved round", "interleaved", "round", "merge", "dm+ngram")
        head("interleaved again", "interleaved", "again", "identity", "dm", setting="own")
    else:
        for setting in MAIN:
            for order in ORDERS if setting == "docs" else ORDERS[:1]:  # the first of docs-target goes on to another target
                save = setting == "docs" and order == 1
                for name, rule, loss, cache in METHODS:
                    learn(name, rule, loss, *(("--save", f"{{scratch}}/{loss}-A", *cache) if save else ()), setting=setting, order=order,
                          makes=f"{loss}-A/model.safetensors" if save else "")
        for name, rule, loss, cache in METHODS:
            learn(f"{name} after docs", rule, loss, "--save", f"{{scratch}}/{loss}-B", setting="recipes", makes=f"{loss}-B/model.safetensors",
                  pair=("--models", "smollm2", "--drafter", f"{{scratch}}/{loss}-A"))
            back = (*DOCS, "--drafter", f"{{scratch}}/{loss}-B", *ENDS)
            if cache:
                learn(f"{name} back, new cache", rule, loss, pair=back)
            learn(f"{name} back", rule, loss, *cache, pair=back)
        learn("dm", "identity", "dm", setting="own")
        head("head alone", "interleaved", "again", "identity", "", setting="own")
        for kind, labels in VARIANTS:
            head(f"{kind} {labels}", kind, labels, "identity", "dm", setting="own")
        for kind in HEADS:
            head(f"merge {kind} round", kind, "round", "merge", "dm+ngram")
        for threshold in THRESHOLDS:
            head(f"gamma {threshold}", "interleaved", "again", "identity", "dm", "--head-threshold", threshold, setting="own")
            head(f"gamma {threshold}", "interleaved", "round", "merge", "dm+ngram", "--head-threshold", threshold)
        head("pretrained again", "interleaved", "again", "identity", "dm", "--pretrain-head", OTHER, setting="own")
        learn("fkl tli", "tli", "fkl")
        for loss in LOSSES:
            if loss != "dm+ngram":
                learn(f"{loss} merge", "merge", loss)
        for rank in RANKS:
            learn(f"lora {rank}", "merge", "dm+ngram", "--learn", f"lora:{rank}")
    common = ("--models", "docs", "--json", "--threads", 1, "--temperatures", 0, "--draft-length", 3, "-n", 16 if quick else 64)
    for limit in GROWTH[:1] if quick else GROWTH:
        out.append(cell(f"growth {limit}", "compare", *common, "--rules", "merge", "--limit", limit, weight=limit / 16))
    for policy, size in CACHES[:1] if quick else CACHES:
        file = f"{policy}{size}.ngrams"
        cache = ("--limit", 4 if quick else 64, "--cache", f"{{scratch}}/{file}", "--cache-policy", policy, "--cache-size", size)
        out.append(cell(f"fill {policy} {size}", "compare", *common, "--rules", "merge", *cache, makes=file, weight=4))
        out.append(cell(f"cache {policy} {size}", "compare", *common, "--rules", "tli,merge", *cache, weight=4))
    return out


def held(r, name, drafter="adapted"):
    """A measurement, of every order of the prompts that there is."""
    named = [n for n in (ordered(name, order) for order in ORDERS) if n in r]
    return [row for n in named for row in r.rows(n) if row.get("held_out") == drafter]


def values(rows, key):
    return [row[key] for row in rows if row[key] is not None]


def mean(rows, key):
    found = values(rows, key)
    return statistics.fmean(found) if found else None


def spread(rows, key):
    """The mean and, of several orders, the range."""
    found = values(rows, key)
    if len(found) < 2 or number(min(found)) == number(max(found)):
        return number(mean(rows, key))
    return f"{number(mean(rows, key))} ({number(min(found))} to {number(max(found))})"


def per_pass(rows, key):
    return statistics.fmean(row[key] / row["target_calls"] for row in rows) if all(key in row for row in rows) else None


def line(title, rows, *more):
    return [title, percent(mean(rows, "acceptance_rate")), spread(rows, "tokens_per_target_call"),
            number(mean(rows, "tokens_per_target_call_ratio")), *more]


def drafted(title, rows):
    """A line that also has how long drafts are."""
    return line(title, rows, number(per_pass(rows, "draft_tokens")))


COLUMNS = ["drafter", "acceptance rate", "tokens per target pass", "compared with unadapted"]


def passes(r, name, drafter="adapted"):
    return mean(held(r, name, drafter), "tokens_per_target_call")


def ratio(r, name, drafter="adapted"):
    return passes(r, name, drafter) / passes(r, name, "unadapted")


def losses(r, task):
    several = f"{task} dm tli order 2" in r
    return table([*COLUMNS[:2], COLUMNS[2] + " (range)" * several, COLUMNS[3]], [
        line("as it was, shared tokens alone", held(r, f"{task} dm tli", "unadapted")),
        line("as it was, with n-grams", held(r, f"{task} dm+ngram merge", "unadapted")),
        line("L_DM, shared tokens alone", held(r, f"{task} dm tli")),
        line("L_DM + 0.2 L_N-gram, with n-grams", held(r, f"{task} dm+ngram merge")),
        *([line("the same, LoRA of rank 32", held(r, f"{task} lora 32"))] if f"{task} lora 32" in r else []),
        *([line("forward KL, shared tokens alone (ours)", held(r, f"{task} fkl tli"))] if f"{task} fkl tli" in r else [])])


def worse(r, settings):
    """Where learning did not pay."""
    lost = [title for name, title in settings.items() if ratio(r, f"{name} dm+ngram merge") < 1]
    return f" With n-grams, so few updates lose for {listed(lost)}: that drafter was distilled from this target." if lost else ""


def curve(r, names, *more):
    """Tokens per target pass of each window of the streams; more: (title, what of a window of the last stream)."""
    streams = {title: [row for row in r.rows(name) if "held_out" not in row] for title, name in names.items()}
    count = min(len(rows) for rows in streams.values())
    last = [*streams.values()][-1]
    return table(["served tokens", *streams, *(title for title, _ in more)],
                 [[f"{last[i]['served']:,}", *(number(rows[i]["tokens_per_target_call"]) for rows in streams.values()),
                   *(of(last[i]) for _, of in more)] for i in range(count)])


def page(r):
    settings = {name: SETTINGS[name][0] for name in MAIN if f"{name} dm tli" in r}
    full = "own dm" in r  # not a quick run
    parts = ["## Table 1: what is learnt",
             "Tokens per target pass on other prompts of the same kind change by these factors when the drafter learns from the served text. "
             + " ".join(
                 f"For {title}: {ratio(r, f'{name} dm tli'):.2f} with L_DM, {ratio(r, f'{name} dm+ngram merge'):.2f} with n-grams "
                 "and their loss." for name, title in settings.items()) + worse(r, settings)]
    if full:
        parts += ["Rows with a range are the mean of three runs, each of which serves the same prompts in another order."]
    for name, title in settings.items():
        parts += [f"### {title[0].upper()}{title[1:]}", losses(r, name)]
    parts += ["The paper's acceptance rates and speed-ups with Llama-68M, where the n-gram loss helps on every task:",
              table(["target, method", "GSM8K", "MBPP and HumanEval", "Alpaca", "XSum"],
                    [["Llama3-8B, as it was", "0.10, 0.94x", "0.09, 1.03x", "0.09, 0.96x", "0.11, 0.91x"],
                     ["Llama3-8B, L_DM", "0.32, 1.58x", "0.22, 1.26x", "0.16, 1.25x", "0.20, 1.20x"],
                     ["Llama3-8B, L_DM + 0.2 L_N-gram", "0.42, 1.70x", "0.27, 1.33x", "0.20, 1.30x", "0.24, 1.24x"],
                     ["Llama3-8B, the same, LoRA", "0.37, 1.59x", "0.19, 1.28x", "0.17, 1.21x", "0.23, 1.21x"],
                     ["Qwen2-7B, as it was", "0.14, 1.04x", "0.09, 0.91x", "0.13, 1.01x", "0.12, 0.96x"],
                     ["Qwen2-7B, L_DM", "0.33, 1.50x", "0.22, 1.29x", "0.17, 1.25x", "0.19, 1.16x"],
                     ["Qwen2-7B, L_DM + 0.2 L_N-gram", "0.37, 1.61x", "0.26, 1.36x", "0.20, 1.30x", "0.22, 1.22x"],
                     ["Qwen2-7B, the same, LoRA", "0.31, 1.41x", "0.21, 1.21x", "0.18, 1.25x", "0.22, 1.21x"]])]
    parts += ["## Figures 2, 4 and 8: while it serves",
              "Tokens per target pass in the stream on docs-target, by window. The prompts of a window differ, so a curve is noisy.",
              curve(r, {"L_DM": "docs dm tli", "L_DM + 0.2 L_N-gram": "docs dm+ngram merge"},
                    ("accepted n-grams per target pass", lambda window: number(per_pass([window], "ngram_merges_accepted"))))]
    if full:
        parts += heads(r) + caches(r) + shift(r)
        parts += ["## Table 12: rank of LoRA",
                  f"Adapters learn {amount(ratio(r, f'docs lora {RANKS[-1]}'), ratio(r, 'docs dm+ngram merge'))} all weights here, at four times the rate "
                  "(2e-3). They are of all seven projections, and merged into the weights for drafting.",
                  table(COLUMNS, [*(line(f"rank {n}", held(r, f"docs lora {n}")) for n in RANKS),
                                  line("all weights", held(r, "docs dm+ngram merge")[:1])]),
                  "In the paper (Llama3-8B, GSM8K) rank 8 accepts 0.30, rank 32 0.37, rank 128 0.38 and all weights 0.42.",
                  "## Table 6: losses",
                  "All with n-grams, after the same number of served tokens. " + best_loss(r),
                  table(COLUMNS, [line(title, held(r, f"docs {loss} merge")[:1]) for loss, title in LOSSES.items()]),
                  "In the paper (Llama3-8B, a part of GSM8K) the loss of both parts matters, and the kind of n-gram loss hardly does:",
                  table(["loss", "acceptance rate, T = 0.01", "speed-up", "acceptance rate, T = 1", "speed-up"],
                        [["NLL of n-grams alone", "0.090", "0.86x", "0.070", "0.79x"], ["NLL of both", "0.368", "1.51x", "0.271", "1.23x"],
                         ["L_DM + 0.2 L_N-gram", "0.375", "1.57x", "0.273", "1.27x"], ["KL of both", "0.376", "1.57x", "0.275", "1.31x"]])]
    unlimited = "cache lfu 0"
    parts += ["## Figure 9 and Table 4: growth of the n-gram cache",
              "The cache grows more slowly than the text: docs-target with docs-drafter, T = 0, three draft tokens.",
              table(["prompts", "tokens", "n-grams", "n-grams a token", "bytes", "accepted merges"],
                    [[n, g["ngram_tokens"], g["ngrams"], number(g["ngrams"] / g["ngram_tokens"], 4), g["ngram_bytes"], g["ngram_merges_accepted"]]
                     for n in GROWTH if f"growth {n}" in r for g in [r.rule(f"growth {n}", "merge")]]),
              "The paper's caches hold 2,238 n-grams (0.5 MB) after 910 programs and 20,339 (4.6 MB) after 8,000 prompts of Alpaca.",
              "## Table 14: size and eviction policy",
              "Small caches lose little, and LFU less than LRU. A warm cache: the second pass over the same prompts, same pair." + (
                  f" Without n-grams it is {number(r.rule(unlimited, 'tli')['tokens_per_target_call'])} tokens per target pass."
                  if unlimited in r else ""),
              table(["policy", "n-grams at most", "acceptance rate", "tokens per target pass", "evicted", "accepted merges"],
                    [[policy.upper(), size or "unlimited", percent(m["acceptance_rate"]), number(m["tokens_per_target_call"]), m["ngrams_evicted"],
                      m["ngram_merges_accepted"]]
                     for policy, size in CACHES if f"cache {policy} {size}" in r for m in [r.rule(f"cache {policy} {size}", "merge")]]),
              "In the paper (programs) no cache accepts 0.219, a quarter of the full cache 0.254 (LRU) and 0.259 (LFU), the full one 0.267.",
              "## Deviations from the paper", DEVIATIONS]
    return "\n\n".join(parts)


def amount(one, other, near=0.02):
    """How much of something there is."""
    return "as much as" if abs(one / other - 1) <= near else "more than" if one > other else "less than"


def best_loss(r):
    found = {title: passes(r, f"docs {loss} merge") for loss, title in LOSSES.items()}
    best, worst = max(found, key=found.get), min(found, key=found.get)
    return f"The most tokens per target pass has {best} ({found[best]:.2f}), the fewest {worst} ({found[worst]:.2f})."


def heads(r):
    """Tables 2 and 11, and section 4.3.5."""
    columns = [*COLUMNS, "draft tokens per target pass"]
    own = {"as it was": held(r, "own dm", "unadapted"), "head alone (adapt only)": held(r, "own head alone", "with head"),
           "learns (distill only)": held(r, "own dm")}
    own |= {f"learns, {HEADS[kind]}, {LABELS[labels]}": held(r, f"own {kind} {labels}", "with head") for kind, labels in VARIANTS}
    more = {f"interleaved as printed, gamma = {g}": held(r, f"own gamma {g}", "with head") for g in THRESHOLDS}
    more["interleaved as printed, head trained before"] = held(r, "own pretrained again", "with head")
    two = {"learns, drafts of four": held(r, "docs dm+ngram merge")[:1]}
    two |= {f"learns, {title}, ours": held(r, f"docs merge {kind} round", "with head") for kind, title in HEADS.items()}
    two |= {f"interleaved, ours, gamma = {g}": held(r, f"docs gamma {g}", "with head") for g in THRESHOLDS}
    fixed = own["learns (distill only)"]

    def against(rows):
        accepted = mean(rows, "acceptance_rate") / mean(fixed, "acceptance_rate")
        length = mean(rows, "tokens_per_target_call") / mean(fixed, "tokens_per_target_call")
        return f"{accepted:.2f} times the acceptance rate and {length:.2f} times the tokens per target pass of drafts of four"

    def printed(kind):
        return against(held(r, f"own {kind} again", "with head"))

    trained, untrained = (mean(held(r, f"own {n} again", "with head"), "tokens_per_target_call") for n in ("pretrained", "interleaved"))
    return ["## Tables 2 and 11: an acceptance head that learns",
            f"As in the paper, the head raises the acceptance rate and shortens drafts. As printed, the joint head has {printed('joint')}. The "
            f"interleaved one has {printed('interleaved')}.",
            "A head drafts up to eight tokens, and fewer where it expects a rejection. \"As printed\" means labels min(1, p/q) that the updated drafter "
            "computes again, and for the interleaved head one step after each text; \"ours\" means labels of the round, and eight steps after each "
            "update. At T = 0 both labels are 1 or 0.",
            "### One vocabulary, as in the paper",
            f"The drafter is {LAYERS} of docs-target's six layers as they are, which learn with L_DM; gamma is 0.6:",
            table(columns, [drafted(title, rows) for title, rows in own.items()]),
            "The paper's acceptance rates and speed-ups with Llama-68M and Vicuna-7B:",
            table(["method", "GSM8K", "MBPP and HumanEval", "Alpaca", "XSum"],
                  [["as it was", "0.21, 1.44x", "0.14, 1.22x", "0.20, 1.44x", "0.20, 1.42x"],
                   ["adapt only", "0.38, 1.50x", "0.28, 1.34x", "0.38, 1.52x", "0.38, 1.51x"],
                   ["distill only", "0.42, 2.20x", "0.35, 1.92x", "0.25, 1.57x", "0.23, 1.53x"],
                   ["joint", "0.61, 2.08x", "0.51, 1.91x", "0.44, 1.61x", "0.42, 1.59x"],
                   ["interleaved", "0.52, 2.15x", "0.48, 1.94x", "0.41, 1.60x", "0.38, 1.58x"],
                   ["LoRA, distill only", "0.37, 1.95x", "0.24, 1.52x", "0.25, 1.54x", "0.23, 1.49x"],
                   ["LoRA, joint", "0.49, 1.87x", "0.39, 1.59x", "0.39, 1.58x", "0.41, 1.54x"],
                   ["LoRA, interleaved", "0.49, 1.94x", "0.38, 1.61x", "0.42, 1.58x", "0.39, 1.55x"]]),
            "Figure 3 has the curves while the drafter serves, here in tokens per target pass:",
            curve(r, {"distill only": "own dm", "joint, as printed": "own joint again", "interleaved, as printed": "own interleaved again"},
                  ("acceptance rate of the last", lambda window: percent(window["acceptance_rate"]))),
            "### Threshold and pre-trained head (section 4.3.5)",
            f"A larger gamma ends drafts later: more tokens per target pass, a lower acceptance rate. A head that was trained before on questions, with "
            f"the drafter as it was, has {trained / untrained:.2f} times the tokens per target pass of one that was not.",
            table(columns, [drafted(title, rows) for title, rows in more.items()]),
            "The paper prints no table: gamma = 0.3 is enough on Alpaca and XSum, GSM8K and programs need 0.7. A head that was trained on Alpaca "
            "before harms on GSM8K and XSum, and helps a little on programs.",
            "### Two vocabularies",
            "The paper has no head across vocabularies. The drafter made for SmolLM2 on docs-target, with n-grams and their loss:",
            table(COLUMNS, [line(title, rows) for title, rows in two.items()])]


def caches(r):
    """Table 5."""
    rows = [held(r, "docs dm tli", "unadapted")[:1], held(r, "docs dm+ngram merge", "unadapted")[:1], held(r, "docs dm tli")[:1],
            held(r, "docs dm merge"), held(r, "docs dm+ngram merge")[:1]]
    plain, cached, _, _, both = (mean(x, "tokens_per_target_call") for x in rows)
    columns = ["as it was", "as it was, n-grams", "L_DM", "L_DM, n-grams", "L_DM + 0.2 L_N-gram"]
    return ["## Table 5: what the n-gram cache adds",
            f"The cache alone gives {cached / plain:.2f} times the tokens per target pass with drafts of four, learning with it {both / plain:.2f} times. "
            "\"Hits\" are accepted n-grams per target pass.",
            table(["docs-target, k = 4", *columns], [["acceptance rate", *(percent(mean(x, "acceptance_rate")) for x in rows)],
                                                     ["tokens per target pass", *(number(mean(x, "tokens_per_target_call")) for x in rows)],
                                                     ["hits", *(number(per_pass(x, "ngram_merges_accepted")) for x in rows)]]),
            "In the paper (Llama3-8B, a part of GSM8K) the cache helps, learning helps more, and both together most:",
            table(["Llama3-8B", *columns],
                  [["k = 3: acceptance rate, speed-up", "0.16, 1.04x", "0.20, 1.16x", "0.40, 1.59x", "0.42, 1.61x", "0.46, 1.66x"],
                   ["k = 3: hits", "0", "0.87", "0", "0.48", "2.40"],
                   ["k = 4: acceptance rate, speed-up", "0.12, 1.01x", "0.16, 1.11x", "0.32, 1.51x", "0.35, 1.54x", "0.41, 1.61x"],
                   ["k = 4: hits", "0", "1.49", "0", "0.75", "3.66"]])]


def shift(r):
    """Figure 6."""
    stages = {"docs-target": "docs {}", "then SmolLM2, recipes": "recipes {} after docs", "then docs-target again": "docs {} back",
              "the same, new cache": "docs {} back, new cache"}

    def begins_and_ends(name):
        return [number(mean(held(r, name, d)[:1], "tokens_per_target_call")) for d in ("unadapted", "adapted")] if name in r else ["-", "-"]

    def first_window(name):
        return number(r.rows(name)[0]["tokens_per_target_call"])

    methods = [name for name, *_ in METHODS]
    first, back = ([mean(held(r, stages[s].format(m), d)[:1], "tokens_per_target_call") for m in methods]
                   for s, d in (("docs-target", "adapted"), ("then docs-target again", "unadapted")))
    kept, new = (first_window(stages[s].format(methods[-1])) for s in ("then docs-target again", "the same, new cache"))
    return ["## Figure 6: from one target to another, and back",
            f"What was learnt on docs-target is mostly kept through another target: of {first[0]:.2f} tokens per target pass without n-grams, {back[0]:.2f} "
            f"are left when the drafter returns, and of {first[1]:.2f} with n-grams {back[1]:.2f}.",
            table(["target", "no n-grams: begins", "ends", "n-grams and their loss: begins", "ends"],
                  [[title, *(x for m in methods for x in begins_and_ends(name.format(m)))] for title, name in stages.items()]),
            f"In the first window after the return, the cache of the first visit gives {kept} tokens per target pass, and a new one {new}. SmolLM2 "
            "has a cache of its own, because its vocabulary is another. The paper draws curves: after each change of the target (Qwen2.5 14B, "
            "7B, 14B) the drafter recovers, and faster with the cache."]


DEVIATIONS = """- Scale: targets of 5 and 135 million parameters, a drafter of 3 million, 900 and 2,400 served tokens (13 and 19 updates); the
  paper has targets of 7B and 8B and
  thousands of responses.
- Table 1 on docs-target is the mean of three orders of the prompts, as the paper averages three seeds. Its range says what is noise in the
  other tables, whose cells are one run.
- An update follows each 64 trained tokens and takes as long as it takes (`--budget 1`), so that results do not depend on the machine.
- Targets at T = 0; the paper has 0.01.
- Tables 2 and 11: no text drafter here was made with its target's vocabulary, so layers of the target take its place. The cross-entropy is
  unweighted, because the paper does not say its weights. LoRA with a head is not run.
- Table 3 (larger targets and drafters) is not measured: no family of models here has several sizes.
- Tables 5 and 6: k = 4 and T = 0 alone.
- Labels as printed need one token for one: with n-grams the head learns with ours.
- Hits and the column of Figure 8 count accepted n-grams, not proposed ones. Their acceptance ratio is not counted.
- Figure 6: two families of targets, where the paper has one, so that a cache serves one of them.
- The speed-up is left out: it depends on the machine, and [learning](../results/learning.md) has some.
- Not measured: Figure 5 (shift of data), because [learning](../results/learning.md) has three tasks one after the other; Figure 7, because a
  distribution of frequencies says nothing at 139 n-grams.
- [Papers and headers](../understand/papers.md#omnidraft) has the deviations of the method itself."""

PAPER = Paper(
    name="omnidraft", title="OmniDraft", reference="Ramakrishnan et al. 2025", cells=cells, page=page, sources=sources,
    about="For readers of *OmniDraft: A Cross-vocabulary, Online Adaptive Drafter for On-device Speculative Decoding*: the paper's tables on the "
          "models here. One drafter serves two targets of different vocabularies. Prompts of a kind that it was not trained on are served while it "
          "learns; then other prompts of that kind are measured. [Online learning](../adapt/learning.md) and the rule [`merge`](../rules/merge.md) have the code.",
    files=("models/docs-target/model.safetensors", "models/docs-drafter/model.safetensors", "models/smollm2-drafter/model.safetensors",
           "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "models/prompts/docs.txt", "models/prompts/tasks/recipes.txt"))

if __name__ == "__main__":
    main(PAPER)
