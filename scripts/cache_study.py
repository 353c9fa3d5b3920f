#!/usr/bin/env python3
"""The n-gram cache by size and eviction policy (OmniDraft, Table 14 and Figure 9) on a pair of models.

    scripts/cache_study.py                       the pair in this repository
    scripts/cache_study.py --prompts 4 8 16 -- --models smollm2

Runs build/release/examples/compare: one pass to fill an unlimited cache, then a pass with each setting, each
starting with the cache that an earlier pass with the same setting left behind (a warm cache).
What stands behind -- goes to compare.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def compare(binary, flags, rules):
    done = subprocess.run([binary, "--json", "--rules", ",".join(rules), *flags], check=True, text=True,
                          stdout=subprocess.PIPE)
    return {r["rule"]: r for r in map(json.loads, done.stdout.splitlines())}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compare", default="build/release/examples/compare")
    p.add_argument("--temperature", default="0")
    p.add_argument("--draft-length", default="3")
    p.add_argument("--prompts", nargs="+", default=["4", "8", "16", "32", "64"],
                   help="how many, for the growth; the last is what the policies are compared on")
    p.add_argument("flags", nargs="*")
    a = p.parse_args()
    flags = ["--temperatures", a.temperature, "--draft-length", a.draft_length, *a.flags]

    print("growth (Figure 9): n-grams, tokens, n-grams a token")
    for limit in a.prompts:
        r = compare(a.compare, [*flags, "--limit", limit], ["merge"])["merge"]
        print(f"  {r['ngrams']:6} {r['ngram_tokens']:8} {r['ngrams'] / r['ngram_tokens']:.4f}")
    full = r["ngrams"]
    flags += ["--limit", a.prompts[-1]]

    print(f"\n{'cache':>10} {'policy':>7} {'acceptance':>10} {'a call':>7} {'speed-up':>9} {'evicted':>8}"
          f"   (T = {a.temperature}, {a.draft_length} proposals)")
    settings = [("full", "lfu", 0)]
    settings += [(name, policy, max(1, full // part)) for name, part in (("1/4", 4), ("1/2", 2))
                 for policy in ("lru", "lfu")]
    for name, policy, size in settings:
        with tempfile.TemporaryDirectory() as folder:
            cache = ["--cache", os.path.join(folder, "cache"), "--cache-policy", policy, "--cache-size", str(size)]
            compare(a.compare, [*flags, *cache], ["merge"])
            rows = compare(a.compare, [*flags, *cache], ["tli", "merge"])
        if name == "full":
            t = rows["tli"]
            print(f"{'none':>10} {'-':>7} {t['acceptance_rate']:10.3f} {t['tokens_per_target_call']:7.3f} "
                  f"{t['speedup']:8.2f}x {0:8}")
        m = rows["merge"]
        print(f"{name:>10} {policy:>7} {m['acceptance_rate']:10.3f} {m['tokens_per_target_call']:7.3f} "
              f"{m['speedup']:8.2f}x {m['ngrams_evicted']:8}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
