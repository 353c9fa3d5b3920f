#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Timor et al. 2025, "Accelerating LLM Inference with Lossless Speculative Decoding Algorithms for Heterogeneous Vocabularies".

    scripts/papers/heterogeneous.py            writes docs/papers/data/heterogeneous.json and docs/papers/heterogeneous.md
    scripts/papers/heterogeneous.py --quick    a minute, in build/papers
"""
from study import GEMMA, MODELS, PROMPTS, SMOLLM2, Paper, cell, listed, main, milliseconds, number, percent, table

RULES = {"union": "1, union", "slem": "2, SLEM", "slrs": "3, SLRS", "tli": "4, TLI", "identity": "5, one vocabulary"}
RATES = {"union": "sum over T and D of min(p, q)", "slem": "sum over T of p psi", "slrs": "sum over T of min(p, psi)",
         "tli": "sum over T and D of min(p, q / q(T and D))"}
CHAT = ("--target", SMOLLM2, "--drafter", MODELS / "docs-drafter", "--chat")
# name: (title, flags of compare, rules, drafter, target, prompts, limit, tokens that T = 1 has at least)
PAIRS = {
    "docs": ("docs-target, docs-drafter", ("--models", "docs"), "union,slem,slrs,tli", MODELS / "docs-drafter", MODELS / "docs-target",
             PROMPTS / "docs.txt", 24, 4000),
    "smollm2": ("SmolLM2, its drafter", ("--models", "smollm2"), "union,slem,slrs,tli", MODELS / "smollm2-drafter", SMOLLM2,
                PROMPTS / "smollm2.txt", 6, 1000),
    "foreign": ("SmolLM2, a drafter made for another target", CHAT, "slem,tli", MODELS / "docs-drafter", SMOLLM2,
                PROMPTS / "smollm2.txt", 4, 0),
    "gemma": ("Gemma 3 270M, the drafter made for SmolLM2", ("--models", "gemma3"), "slem,tli", None, GEMMA,
              PROMPTS / "smollm2.txt", 4, 500),
    "gemma-smollm2": ("Gemma 3 270M, SmolLM2", ("--target", GEMMA, "--drafter", SMOLLM2), "slem,tli", SMOLLM2, GEMMA, PROMPTS / "smollm2.txt", 4, 0),
    "smollm2-gemma": ("SmolLM2, Gemma 3 270M", ("--target", SMOLLM2, "--drafter", GEMMA), "slem,tli", GEMMA, SMOLLM2, PROMPTS / "smollm2.txt", 4, 0),
    "homogeneous": ("SmolLM2, EAGLE-style drafter", ("--models", "smollm2-features"), "identity", None, SMOLLM2,
                    PROMPTS / "smollm2.txt", 6, 1000),
}
LENGTH, TOKENS, COLD = 4, 64, 1e-7
LIGHTEST = 0, 0.02, 0.1  # probabilities below which SLRS ends a draft


def cells(quick):
    out = []
    for name, (_, flags, rules, drafter, target, prompts, limit, least) in PAIRS.items():
        if quick and name != "docs":
            continue
        common = (*flags, "--json", "--threads", 1, "--rules", rules, "--draft-length", LENGTH, "-n", 16 if quick else TOKENS, "--prompts", prompts)
        few = 3 if quick else limit
        cost = limit * (1 if name == "docs" else 8)
        out.append(cell(f"{name} greedy", "compare", *common, "--temperatures", f"0,{COLD}", "--limit", few, weight=2 * cost))
        out.append(cell(f"{name} sampled", "compare", *common, "--temperatures", 1, "--limit", few,
                        *([] if quick or not least else ["--tokens-at-least", least]), weight=3 * cost))
    for lightest in LIGHTEST[:1] if quick else LIGHTEST:
        out.append(cell(f"psi {lightest}", "compare", "--models", "docs", "--json", "--threads", 1, "--rules", "slrs", "--draft-length", LENGTH, "-n",
                        16 if quick else TOKENS, "--temperatures", 1, "--limit", 3 if quick else 24, "--lightest-draft", lightest, weight=30))
    for name, (_, _, _, drafter, target, prompts, _, _) in PAIRS.items():
        if drafter and (name == "docs" or not quick):
            out.append(cell(f"{name} vocabularies", "vocabularies", drafter, target, "--json", "--text", prompts, "--spell", "hello"))
    return out


TIMES = "time_to_first_token", "time_per_output_token"


def has_times(r):
    return all(row.get(TIMES[0]) for name in PAIRS for run in ("greedy", "sampled") if f"{name} {run}" in r for row in r.rows(f"{name} {run}"))


def measured(r):
    """Tables 1 and 7."""
    rows = []
    times = TIMES if has_times(r) else ()
    for name, (title, *_) in PAIRS.items():
        for temperature in 0, COLD, 1:
            run = f"{name} {'sampled' if temperature == 1 else 'greedy'}"
            if run not in r:
                continue
            plain = r.rule(run, "autoregressive", temperature)
            rows.append([title, f"{temperature:g}", "autoregressive", "-", "1.00", *(milliseconds(plain[t]) for t in times), "1.00"])
            for rule, algorithm in RULES.items():
                if row := r.rule(run, rule, temperature):
                    rows.append([title, f"{temperature:g}", algorithm, percent(row["acceptance_rate"]),
                                 number(row["tokens_per_target_call"]), *(milliseconds(row[t]) for t in times), number(row["speedup"])])
    return rows


def at_one(r, rule, name="docs"):
    return r.rule(f"{name} sampled", rule, 1)


def first_rate(r, rule, name):
    """How often the first proposal of a round is accepted, and its standard error."""
    found = at_one(r, rule, name)
    rate, rounds = found["conditional_acceptance_by_position"][0], found["target_calls"] - found["rounds_by_proposals"][0]
    return rate, (rate * (1 - rate) / rounds) ** 0.5


def rates(r):
    """Table 2."""
    return [[RULES[rule], formula, *("{} ± {}".format(*map(percent, first_rate(r, rule, name))) for name in ("docs", "smollm2")
                                     if f"{name} sampled" in r)] for rule, formula in RATES.items()]


def compared(r, better, worse):
    """The difference of two rates of Table 2."""
    found = []
    for name in "docs", "smollm2":
        if f"{name} sampled" in r:
            (a, da), (b, db) = first_rate(r, better, name), first_rate(r, worse, name)
            found.append(f"{100 * (a - b):+.1f} ± {100 * (da ** 2 + db ** 2) ** 0.5:.1f}")
    return listed(found) + " percentage points"


def cold(r):
    """Whether T = 1e-7 is like T = 0 here."""
    changed = [f"{PAIRS[name][0]} under {RULES[rule]}" for name in PAIRS if f"{name} greedy" in r for rule in RULES
               if (zero := r.rule(f"{name} greedy", rule, 0))
               and abs(zero["tokens_per_target_call"] / r.rule(f"{name} greedy", rule, COLD)["tokens_per_target_call"] - 1) > 0.02]
    if not changed:
        return "Here both temperatures have the same tokens per target pass, within 2 %."
    return f"Here both temperatures have the same tokens per target pass, within 2 %, but for {listed(changed)}."


def vocabularies(r):
    found = []
    for name, (title, *_) in PAIRS.items():
        if f"{name} vocabularies" in r:
            found.append((title, r.only(f"{name} vocabularies")))
    return found


def psi_rows(r):
    rows = []
    for lightest in LIGHTEST:
        if f"psi {lightest}" in r:
            row = r.rule(f"psi {lightest}", "slrs", 1)
            # [n]: rounds in which verification took n forwards
            extra = sum(n * rounds for n, rounds in enumerate(row["rounds_by_extra_forwards"])) / row["target_calls"]
            rows.append([f"{lightest:g}", percent(row["acceptance_rate"]), number(row["tokens_per_target_call"]),
                         number(row["draft_tokens"] / row["target_calls"]), number(extra)])
    return rows


def page(r):
    greedy, sampled = (r.rule("docs greedy", rule, 0) for rule in ("slem", "tli")), (at_one(r, rule) for rule in ("slem", "tli"))
    (slem_0, tli_0), (slem_1, tli_1) = greedy, sampled
    pairs = vocabularies(r)
    changed = sum(v["text"][side]["injective"]["changed"] for _, v in pairs for side in ("draft", "target"))
    lines = sum(v["text"][side]["injective"]["lines"] for _, v in pairs for side in ("draft", "target"))
    psi = psi_rows(r)
    parts = ["## Tables 1 and 7: the algorithms",
             f"On docs-target, SLEM accepts {percent(slem_0['acceptance_rate'])} at T = 0 and TLI {percent(tli_0['acceptance_rate'])}; at T = 1 "
             f"it is {percent(slem_1['acceptance_rate'])} and {percent(tli_1['acceptance_rate'])}. So exact match suits greedy decoding and "
             "rejection sampling suits sampling, as in the paper.",
             f"Four tokens are drafted a round, {TOKENS if 'smollm2 greedy' in r else 16} a text. Acceptance rate is accepted / proposed target "
             "tokens. " + (
                 "The time to the first token (TTFT) ends with the first round, which may yield several tokens; the time per output token "
                 "(TPOT) is of the others. Both are in milliseconds." if has_times(r) else "TTFT and TPOT were not measured in this run."),
             table(["pair", "T", "algorithm", "acceptance rate", "tokens per target pass", *(["TTFT", "TPOT"] if has_times(r) else []), "speed-up"],
                   measured(r)),
             "The paper's Table 1 has tokens a second of gemma-2-9b-it on CNN/DailyMail, from which the speed-ups follow. Its heterogeneous "
             "pairs run Algorithm 2 at T = 0 and Algorithm 4 above.",
             table(["drafter", "T = 0", "T = 1e-7", "T = 1"],
                   [["none", "27.7 (1.00)", "27.3 (1.00)", "27.4 (1.00)"],
                    ["vicuna-68m, heterogeneous", "37.5 (1.35)", "18.4 (0.67)", "35.1 (1.28)"],
                    ["gemma-2-2b-it, homogeneous", "26.0 (0.94)", "11.7 (0.43)", "31.6 (1.15)"]]),
             "At T = 1e-7 the paper's implementation loses what it gains at T = 0. " + cold(r),
             "## Table 2: expected acceptance rates",
             "The share of rounds at T = 1 whose first proposal is accepted estimates the paper's formula over the contexts of real outputs. "
             f"SLRS accepts far more than SLEM ({compared(r, 'slrs', 'slem')}). TLI accepts as much as union within the noise "
             f"({compared(r, 'tli', 'union')}), because the target has nearly all tokens that the drafter proposes.",
             table(["algorithm", "the paper's formula", *(PAIRS[n][0] for n in ("docs", "smollm2") if f"{n} sampled" in r)], rates(r)),
             "One standard error is given, as if rounds were independent. Each rule samples outputs of its own, so that its contexts are others; "
             "in one context TLI accepts at least as much as union (Theorem 4.1). `tests/law/slrs.cpp` compares the formulas with whole enumerations on 19 pairs of small "
             "distributions, without sampling.",
             "## Tables 4 to 6: what vocabularies share",
             "No intersection is empty, as in the paper. What matters for TLI is the share of the tokens that occur, which is larger than "
             "that of the vocabulary if the drafter's vocabulary is small.",
             table(["pair", "size of T", "size of D", "T and D", "of T", "of T, of those in the prompts: different", "all"],
                   [[title, v["target_size"], v["draft_size"], v["byte_intersection"], percent(v["target_share"]),
                     percent(v["text"]["target"]["types"]["share"]), percent(v["text"]["target"]["share"])] for title, v in pairs]),
             "The paper has 0.12 to 0.85 of T in Table 5, and 0.24 to 1.00 of the different tokens in 50 prompts in Table 6.",
             "## Table 8: in how many ways the drafter spells a target token",
             "Most tokens have few spellings and some have very many, as in the paper: a mean far above the median. Drafters with few, short "
             "tokens are those that SLRS suits. As in the paper, the longest 1.1 % of the tokens are left out.",
             table(["pair", "of each text token of T", "mean", "s.d.", "least", "25 %", "median", "75 %", "most"],
                   [[title, what, *(f"{v['spellings']['shortest'][key][k]:.5g}" for k in ("mean", "deviation", "least", "quartile", "median",
                                                                             "third_quartile", "most"))]
                    for title, v in pairs for what, key in (("bytes", "bytes"), ("ways", "ways"), ("forwards for all", "passes"))]
                   + [["Qwen2-7B-Instruct, itself (the paper)", "characters", 6.21, 2.87, 1, 4, 6, 8, 17],
                      ["Qwen2-7B-Instruct, itself (the paper)", "ways", 144.31, 880.98, 1, 7, 15, 56, 65536]]),
             "The word *hello* has 14 ways and 16 forward passes in the paper (Figure 1). Here they are: "
             + " ".join(f"{v['spell']['ways']} and {v['spell']['passes']} ({title})." for title, v in pairs),
             "## What psi costs",
             f"If every draft is continued, SLRS yields {psi[0][2]} tokens per target pass, and verification takes {psi[0][4]} further forward "
             "passes of docs-drafter a round" + (f"; with the default limit it is {psi[1][2]} and {psi[1][4]}." if len(psi) > 1 else "."),
             table(["drafts end below this probability", "acceptance rate", "tokens per target pass", "draft tokens a round",
                    "further forwards a round"], psi),
             "The paper sums psi over all spellings of a token. Here bounds of psi are refined until they settle the random test.",
             "## Table 9: injective tokenizers",
             (f"All {lines} lines come back as they were." if changed == 0 else f"Of {lines} lines {changed} come back changed.")
             + " As in the paper, each line of the prompts is cut after 100 characters, encoded, decoded and compared.",
             table(["pair", "drafter's tokenizer", "target's tokenizer"],
                   [[title, *(("injective" if v["text"][side]["injective"]["changed"] == 0 else "not injective")
                              + f", {v['text'][side]['injective']['lines']} lines" for side in ("draft", "target"))] for title, v in pairs]),
             "The paper finds four of five tokenizers injective on CNN/DailyMail, and that of vicuna-68m not.",
             "## Deviations from the paper", DEVIATIONS]
    return "\n\n".join(parts)


DEVIATIONS = """- Models: 5 to 135 million parameters on two CPU cores, in place of 8 to 141 billion on GPUs; our own prompts, in place of
  CNN/DailyMail, SCROLLS and HumanEval; fewer prompts than 30.
- Draft length: four tokens a round, in place of the length that Hugging Face Transformers adapts.
- Algorithm 2, the context of the next draft: the longest common part of old and new tokens by bytes, then by tokens, where the
  paper looks back for the longest run of matching tokens.
- Algorithm 3, the end of a draft: a draft ends where its probability falls below 0.02 (`--lightest-draft`), which is not in the paper
  and yields fewer tokens per target pass. "What psi costs" has the rule without it.
- Algorithm 3, psi: bounded lazily in place of summed. The outcome of the random test is the same.
- Algorithm 5, the residual: drawn by thinning, exactly, in place of by a sum over the vocabulary.
- The homogeneous pair drafts with an EAGLE-style drafter: no independent drafter with SmolLM2's vocabulary is in the repository.
- Table 9: a text is encoded as a continuation, so that no tokenizer adds a leading space."""

PAPER = Paper(
    name="heterogeneous", title="Heterogeneous vocabularies", reference="Timor et al. 2025", cells=cells, page=page,
    about="For readers of Timor et al. 2025, *Accelerating LLM Inference with Lossless Speculative Decoding Algorithms for Heterogeneous "
          "Vocabularies*: the paper's tables, on the models in this repository and SmolLM2. The rules have pages of their own: "
          "[union](../rules/union.md), [SLEM](../rules/slem.md), [SLRS](../rules/slrs.md), [TLI](../rules/tli.md).",
    files=("models/docs-target/model.safetensors", "models/docs-drafter/model.safetensors", "models/smollm2-drafter/model.safetensors",
           "models/smollm2-features/model.safetensors", "models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf", "models/fetched/gemma-3-270m.Q4_K_M.gguf", "models/prompts/docs.txt",
           "models/prompts/smollm2.txt"))

if __name__ == "__main__":
    main(PAPER)
