#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ramakrishnan et al. 2025, "OmniDraft: A Cross-vocabulary, Online Adaptive Drafter for On-device Speculative Decoding".

    scripts/papers/omnidraft.py            writes docs/papers/data/omnidraft.json and docs/papers/omnidraft.md
    scripts/papers/omnidraft.py --quick    a minute, in build/papers
"""
from study import MODELS, PROMPTS, Paper, cell, listed, main, number, percent, table

# name: (title, flags of adapt, task, prompts, of which 60 % are served, served tokens)
SETTINGS = {
    "docs": ("docs-target, the drafter made for SmolLM2", ("--target", MODELS / "docs-target", "--drafter", MODELS / "smollm2-drafter",
              "--equivalences", "{scratch}/equivalences.json"),
             "docs", PROMPTS / "docs.txt", 64, 2400),
    "recipes": ("SmolLM2, its drafter, recipes", ("--models", "smollm2"), "recipes", PROMPTS / "tasks/recipes.txt", 24, 900),
}
LOSSES = {"none+ngram": "NLL of n-grams alone", "nll+ngram": "NLL of tokens and of n-grams", "dm": "reverse KL of shared tokens (L_DM)",
          "dm+ngram": "L_DM + 0.2 L_N-gram (the paper's)", "dm+ngram-p": "L_DM + p(t) L_N-gram", "dm+ngram-kl": "reverse KL of both",
          "fkl+ngram": "forward KL, 0.2 L_N-gram"}
RANKS = (8, 32)
THRESHOLDS = (0.3, 0.7)
CACHES = (("lru", 32), ("lfu", 32), ("lru", 64), ("lfu", 64), ("lfu", 0))  # 0: unlimited
GROWTH = (4, 16, 64)
LONG = 64


def sources(folder, quick):
    """The control tokens that smollm2-drafter shares with docs-target: the end of a text."""
    (folder / "equivalences.json").write_text('{"pairs": [["</s>", "<|endoftext|>"]]}\n', encoding="utf-8")


def cells(quick):
    out = []

    def learn(name, rule, loss, *more, setting="docs"):
        _, pair, task, file, limit, tokens = SETTINGS[setting]
        if quick:
            limit, tokens = 8, 200
        out.append(cell(f"{setting} {name}", "adapt", *pair, "--json", "--threads", 1, "--task", f"{task}={file}", "--limit", limit, "--tokens",
                        tokens, "-n", 20 if quick else LONG, "--window", 100 if quick else 300, "--every", 64, "--budget", 1, "--rule", rule,
                        "--loss", loss, *more, weight=10 if setting == "docs" else 30))

    learn("dm tli", "tli", "dm")
    learn("dm+ngram merge", "merge", "dm+ngram")
    if quick:
        learn("head interleaved", "merge", "dm+ngram", "--acceptance-head", "interleaved")
    else:
        learn("fkl tli", "tli", "fkl")
        for loss in LOSSES:
            if loss != "dm+ngram":
                learn(f"{loss} merge", "merge", loss)
        for kind in "joint", "interleaved":
            learn(f"head {kind}", "merge", "dm+ngram", "--acceptance-head", kind)
        for threshold in THRESHOLDS:
            learn(f"gamma {threshold}", "merge", "dm+ngram", "--acceptance-head", "interleaved", "--head-threshold", threshold)
        for rank in RANKS:
            learn(f"lora {rank}", "merge", "dm+ngram", "--learn", f"lora:{rank}")
        learn("dm tli", "tli", "dm", setting="recipes")
        learn("dm+ngram merge", "merge", "dm+ngram", setting="recipes")
    common = ("--models", "docs", "--json", "--threads", 1, "--temperatures", 0, "--draft-length", 3, "-n", 16 if quick else 64)
    for limit in GROWTH[:1] if quick else GROWTH:
        out.append(cell(f"growth {limit}", "compare", *common, "--rules", "merge", "--limit", limit, weight=limit / 16))
    for policy, size in CACHES[:1] if quick else CACHES:
        file = f"{policy}{size}.ngrams"
        cache = ("--limit", 4 if quick else 64, "--cache", f"{{scratch}}/{file}", "--cache-policy", policy, "--cache-size", size)
        out.append(cell(f"fill {policy} {size}", "compare", *common, "--rules", "merge", *cache, makes=file, weight=4))
        out.append(cell(f"cache {policy} {size}", "compare", *common, "--rules", "tli,merge", *cache, weight=4))
    return out


def held(r, name, drafter):
    return next((row for row in r.rows(name) if row.get("held_out") == drafter), None) if name in r else None


def line(title, row):
    return [title, *(["-"] * 3 if row is None else [percent(row["acceptance_rate"]), number(row["tokens_per_target_call"]),
                                                    number(row["tokens_per_target_call_ratio"])])]


HEADS = ["drafter", "acceptance rate", "tokens per target pass", "compared with unadapted"]


def losses(r, task):
    return table(HEADS, [
        line("as it was, shared tokens alone", held(r, f"{task} dm tli", "unadapted")),
        line("as it was, with n-grams", held(r, f"{task} dm+ngram merge", "unadapted")),
        line("L_DM, shared tokens alone", held(r, f"{task} dm tli", "adapted")),
        line("L_DM + 0.2 L_N-gram, with n-grams", held(r, f"{task} dm+ngram merge", "adapted")),
        *([line("forward KL, shared tokens alone (ours)", held(r, f"{task} fkl tli", "adapted"))] if f"{task} fkl tli" in r else [])])


def ratio(r, name, drafter="adapted"):
    return held(r, name, drafter)["tokens_per_target_call"] / held(r, name, "unadapted")["tokens_per_target_call"]


def worse(r, settings):
    """Where learning did not pay."""
    lost = [title for name, title in settings.items() if max(ratio(r, f"{name} dm tli"), ratio(r, f"{name} dm+ngram merge")) < 1]
    return f" So few updates do not pay for {listed(lost)}: that drafter was distilled from this target." if lost else ""


def curve(r, names):
    """Tokens per target pass of each window of the stream."""
    streams = {title: [row for row in r.rows(name) if "held_out" not in row] for title, name in names.items()}
    count = min(len(rows) for rows in streams.values())
    return table(["served tokens", *streams], [[f"{next(iter(streams.values()))[i]['served']:,}",
                                                *(number(rows[i]["tokens_per_target_call"]) for rows in streams.values())]
                                               for i in range(count)])


def page(r):
    settings = {name: title for name, (title, *_) in SETTINGS.items() if f"{name} dm tli" in r}
    parts = ["## Table 1: what is learnt",
             "Tokens per target pass on other prompts of the same kind change by these factors when the drafter learns from the served text. "
             + " ".join(
                 f"For {title}: {ratio(r, f'{name} dm tli'):.2f} with L_DM, {ratio(r, f'{name} dm+ngram merge'):.2f} with n-grams "
                 "and their loss." for name, title in settings.items()) + worse(r, settings)]
    for name, title in settings.items():
        parts += [f"### {title[0].upper()}{title[1:]}", losses(r, name)]
    parts += ["The paper's acceptance rates and speed-ups with Llama-68M, where the n-gram loss helps on every task:",
              table(["target, method", "GSM8K", "MBPP and HumanEval", "Alpaca", "XSum"],
                    [["Llama3-8B, as it was", "0.10, 0.94x", "0.09, 1.03x", "0.09, 0.96x", "0.11, 0.91x"],
                     ["Llama3-8B, L_DM", "0.32, 1.58x", "0.22, 1.26x", "0.16, 1.25x", "0.20, 1.20x"],
                     ["Llama3-8B, L_DM + 0.2 L_N-gram", "0.42, 1.70x", "0.27, 1.33x", "0.20, 1.30x", "0.24, 1.24x"],
                     ["Qwen2-7B, as it was", "0.14, 1.04x", "0.09, 0.91x", "0.13, 1.01x", "0.12, 0.96x"],
                     ["Qwen2-7B, L_DM", "0.33, 1.50x", "0.22, 1.29x", "0.17, 1.25x", "0.19, 1.16x"],
                     ["Qwen2-7B, L_DM + 0.2 L_N-gram", "0.37, 1.61x", "0.26, 1.36x", "0.20, 1.30x", "0.22, 1.22x"]])]
    parts += ["## Figures 2 and 4: while it serves",
              "Tokens per target pass in the stream on docs-target, by window. The prompts of a window differ, so a curve is noisy.",
              curve(r, {"L_DM": "docs dm tli", "L_DM + 0.2 L_N-gram": "docs dm+ngram merge"})]
    if "docs head joint" in r:  # not of a quick run
        joint, inter = ratio(r, "docs head joint", "with head"), ratio(r, "docs head interleaved", "with head")
        parts += ["## Tables 2 and 11: an acceptance head that learns",
                  f"A head that ends drafts makes {joint:.2f} (joint) and {inter:.2f} (interleaved) times the tokens per target pass of the "
                  "unadapted drafter with drafts of four. It drafts up to eight tokens, and fewer where it expects a rejection.",
                  table(HEADS, [line("learns, drafts of four", held(r, "docs dm+ngram merge", "adapted")),
                                line("learns, joint head (Alg. 3)", held(r, "docs head joint", "with head")),
                                line("learns, interleaved head (Alg. 4)", held(r, "docs head interleaved", "with head")),
                                *(line(f"the same, gamma = {g}", held(r, f"docs gamma {g}", "with head")) for g in THRESHOLDS)]),
                  "A larger gamma ends drafts later: more tokens per target pass, a lower acceptance rate. The default is 0.6. In the paper's Table "
                  "11 (Vicuna-7B, GSM8K) learning alone accepts 0.37 (1.95x) and with an interleaved head 0.49 (1.94x).",
                  "## Table 12: rank of LoRA",
                  f"Adapters learn as much as all weights here ({ratio(r, f'docs lora {RANKS[-1]}'):.2f} against {ratio(r, 'docs dm+ngram merge'):.2f}), at "
                  "four times the rate (2e-3). They are of all seven projections, and merged into the weights for drafting.",
                  table(HEADS, [*(line(f"rank {n}", held(r, f"docs lora {n}", "adapted")) for n in RANKS),
                                line("all weights", held(r, "docs dm+ngram merge", "adapted"))]),
                  "In the paper (Llama3-8B, GSM8K) rank 8 accepts 0.30, rank 32 0.37, rank 128 0.38 and all weights 0.42.",
                  "## Table 6: losses",
                  "All with n-grams, after the same number of served tokens. " + best_loss(r),
                  table(HEADS, [line(title, held(r, f"docs {loss} merge", "adapted")) for loss, title in LOSSES.items()]),
                  "In the paper (Llama3-8B, a part of GSM8K, T = 0.01) the NLL of n-grams alone accepts 0.090, the NLL of both 0.368, the paper's "
                  "loss 0.375 and the KL of both 0.376."]
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


def best_loss(r):
    found = {title: held(r, f"docs {loss} merge", "adapted")["tokens_per_target_call"] for loss, title in LOSSES.items()}
    best, worst = max(found, key=found.get), min(found, key=found.get)
    return f"The most tokens per target pass has {best} ({found[best]:.2f}), the fewest {worst} ({found[worst]:.2f})."


DEVIATIONS = """- Scale: targets of 5 and 135 million parameters, a drafter of 3 million, 900 and 2,400 served tokens (13 and 19 updates); the
  paper has targets of 7B and 8B and
  thousands of responses.
- Each cell is one run with one order of the prompts; the paper averages three seeds. Differences of 2 % are noise.
- An update follows each 64 trained tokens and takes as long as it takes (`--budget 1`), so that results do not depend on the machine.
- Targets at T = 0; the paper has 0.01.
- Tables 2 and 11: two vocabularies, where the paper has one. Labels are 1 and 0, the cross-entropy is unweighted, and labels stay those of
  their round.
- The speed-up is left out: it depends on the machine, and [learning](../results/learning.md) has some.
- Not measured: Table 3 (scaling), Figures 5 and 6 (shifts of data and target), Figure 8, a pre-trained head.
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
