"""What scripts/peers.py makes of texts: rows, one table, sentences. Standard library only.

A text is {"engine", "rule", "temperature", "draft_length", "line" (which prompt), "text" (token ids),
"target_calls", "seconds"} and, where it was judged, "nats": minus log p of it under the target.
"""
import math

PLAIN = "plain"
OURS = "specdec"
SAME_RULE = {"universal": "slem", "tli": "tli", "tli, whole head": "tli"}  # Transformers' and ours
FEWEST_PROMPTS = 8  # to judge a law by: below, the standard error itself is a guess


def mean_a_token(groups, other=None):
    """Mean a token over groups {prompt: (sum, tokens)} with its standard error; with `other`, of the difference of
    the two means, groups paired by prompt. The ratio estimator of examples/support/output/ratio.hpp."""
    def parts(g):
        tokens = sum(n for _, n in g.values())
        mean = sum(s for s, _ in g.values()) / tokens
        return mean, {key: (s - mean * n) / tokens for key, (s, n) in g.items()}
    mean, d = parts(groups)
    if other is not None:
        other_mean, e = parts(other)
        mean, d = mean - other_mean, {key: d.get(key, 0) - e.get(key, 0) for key in d | e}
    m = len(d)
    return mean, math.sqrt(sum(x * x for x in d.values()) * m / (m - 1)) if m > 1 else math.nan


def by_prompt(texts):
    groups = {}
    for t in texts:
        s, n = groups.get(t["line"], (0, 0))
        groups[t["line"]] = (s + t["nats"], n + len(t["text"]))
    return groups


def rows_of(texts):
    """A row an engine, rule and temperature; an engine's plain row is its first, and what its others are measured
    by."""
    found, engines = {}, list(dict.fromkeys(t["engine"] for t in texts))
    for t in texts:
        found.setdefault((t["temperature"], t["engine"], t["rule"]), []).append(t)

    def speed(own):
        return sum(len(t["text"]) for t in own) / sum(t["seconds"] for t in own)

    def place(key):
        temperature, engine, rule = key
        return temperature, engines.index(engine), rule != PLAIN

    rows = []
    for temperature, engine, rule in sorted(found, key=place):
        own = found[temperature, engine, rule]
        tokens = sum(len(t["text"]) for t in own)
        row = {"engine": engine, "rule": rule, "temperature": temperature,
               "draft_length": None if rule == PLAIN else own[0]["draft_length"], "texts": len(own), "tokens": tokens,
               "seconds": sum(t["seconds"] for t in own), "tokens_per_second": speed(own),
               "tokens_per_target_call": tokens / sum(t["target_calls"] for t in own)}
        plain, ours = (found.get((temperature, e, PLAIN)) for e in (engine, OURS))
        if ours:
            row["of_our_plain"] = speed(own) / speed(ours)
        if plain:
            row["speedup"] = speed(own) / speed(plain)
        if plain and temperature == 0:
            known = {t["line"]: t["text"] for t in plain}
            row["identical_texts"] = sum(t["text"] == known.get(t["line"]) for t in own)
        if all("nats" in t for t in own + (plain or [])):
            groups = by_prompt(own)
            row["nll"], row["nll_stderr"] = mean_a_token(groups)
            if plain and temperature > 0 and rule != PLAIN:
                difference, error = mean_a_token(groups, by_prompt(plain))
                row |= {"nll_difference": difference, "nll_difference_stderr": error}
                if len(groups) >= FEWEST_PROMPTS:
                    row["wrong_law"] = abs(difference) > 3 * error
        rows.append(row)
    return rows


def table(rows):
    """Markdown that reads well as it is."""
    head = ["T", "engine", "rule", "draft", "tokens a call", "tokens/s", "of own plain", "of our plain", "same text",
            "nats a token", "minus own plain", "law"]
    lines = [head, ["-" * len(h) for h in head]]
    for r in rows:
        def shown(key, form):
            return form.format(**r) if r.get(key) is not None else "-"
        lines.append([
            f"{r['temperature']:g}", r["engine"], r["rule"], shown("draft_length", "{draft_length}"),
            f"{r['tokens_per_target_call']:.2f}", f"{r['tokens_per_second']:.1f}", shown("speedup", "{speedup:.2f}x"),
            shown("of_our_plain", "{of_our_plain:.2f}x"), shown("identical_texts", "{identical_texts}/{texts}"),
            shown("nll", "{nll:.3f} ± {nll_stderr:.3f}"),
            shown("nll_difference", "{nll_difference:+.3f} ± {nll_difference_stderr:.3f}"),
            {None: "-", False: "kept", True: "**WRONG**"}[r.get("wrong_law")]])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines)


def sentences(rows):
    """Whose law is wrong, and Transformers' rules beside ours of the same idea."""
    known = {(r["temperature"], r["engine"], r["rule"]): r for r in rows}
    out = []
    for r in rows:
        counterpart = SAME_RULE.get(r["rule"]) if r["engine"] == "Transformers" else None
        ours = known.get((r["temperature"], OURS, counterpart))
        if not ours and not r.get("wrong_law"):
            continue
        words = (f"T = {r['temperature']:g}: {r['engine']}, {r['rule']}: {r['tokens_per_target_call']:.2f} tokens a "
                 "target call")
        if r.get("wrong_law"):
            words += f" by a WRONG law ({r['nll']:.2f} nats a token, sampling {r['nll'] - r['nll_difference']:.2f})"
        if ours:
            words += (f"; our {ours['rule']}: {ours['tokens_per_target_call']:.2f}, and "
                      f"{ours['tokens_per_second'] / r['tokens_per_second']:.1f} times the tokens a second")
        out.append(words + ".")
    return out
