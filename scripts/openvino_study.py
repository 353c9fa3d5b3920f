#!/usr/bin/env python3
"""OpenVINO plain, OpenVINO GenAI's own prompt lookup, and specdec on OpenVINO: one table for each model.

    scripts/install-openvino.sh                              once; then build openvino_compare
    scripts/openvino_study.py                                SmolLM2, also with a drafter that reads its
                                                             features, and Gemma 3 270M; fetched if need be
    scripts/openvino_study.py --models smollm2 --limit 4 --rounds 1 --max-tokens 32        a try

All engines decode the same prompts (SmolLM2 in its chat form; Gemma's file is a base model, its prompts are continued)
from the same file, with as many threads. Each round runs GenAI and then `openvino_compare`, whose rules take turns text
by text; the times of a row are sums over the rounds. "1st token" is the mean time of a run that ends after its first
token: it contains the prompt. "a token" is the time of each further one. "same text" counts the texts that are equal to
specdec's plain decoding; nats a token (`nll`) are judged by the target itself, at temperature 1.
"""
import argparse
import datetime
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FETCHED = ROOT / "models/fetched"
MODELS = {"smollm2": ("SmolLM2-135M-Instruct.Q4_1.gguf", "fetch_smollm2.py"),
          "smollm2-features": ("SmolLM2-135M-Instruct.Q4_1.gguf", "fetch_smollm2.py"),
          "gemma3": ("gemma-3-270m.Q4_K_M.gguf", "fetch_gemma3.py")}
PLAIN = "autoregressive"


def genai_worker(job):
    """Sends {rule, temperature, line, text, first, seconds} of every text."""
    import numpy
    import openvino
    import openvino_genai as genai
    threads = {"INFERENCE_NUM_THREADS": job["threads"]}
    pipes = {"GenAI plain": genai.LLMPipeline(job["target"], "CPU", **threads),
             "GenAI prompt lookup": genai.LLMPipeline(job["target"], "CPU", **threads, prompt_lookup=True)}

    def run(rule, ids, temperature, tokens, seed):
        config = genai.GenerationConfig()
        config.max_new_tokens, config.stop_token_ids = tokens, set(job["ends"])
        config.apply_chat_template, config.do_sample = False, temperature > 0
        if temperature > 0:
            config.temperature, config.top_p, config.top_k, config.rng_seed = temperature, 1.0, 0, seed
        if "lookup" in rule:
            config.num_assistant_tokens, config.max_ngram_size = job["lookup_tokens"], 3
        inputs = genai.TokenizedInputs(openvino.Tensor(numpy.array([ids], numpy.int64)),
                                       openvino.Tensor(numpy.ones((1, len(ids)), numpy.int64)))
        begin = time.perf_counter()
        out = pipes[rule].generate(inputs, config)
        return list(map(int, out.tokens[0])), time.perf_counter() - begin

    for rule in pipes:
        run(rule, job["prompts"][0]["prompt"], 0, 8, 0)  # warms caches
    for temperature in job["temperatures"]:
        for number, prompt in enumerate(job["prompts"]):
            for rule in pipes:
                try:
                    _, first = run(rule, prompt["prompt"], temperature, 1, number)
                    text, seconds = run(rule, prompt["prompt"], temperature, job["max_tokens"], number)
                except Exception as problem:  # whatever it throws is its result
                    yield {"problem": f"{rule}, T = {temperature:g}: {problem}"}
                    continue
                yield {"rule": rule, "temperature": temperature, "line": prompt["line"], "text": text,
                       "first": first, "seconds": seconds}


def fetch(name):
    file, script = MODELS[name]
    if not (FETCHED / file).exists():
        subprocess.run([sys.executable, ROOT / "models" / script], check=True)
    return FETCHED / file


def compare(args, name, *more):
    """The rows and the texts of openvino_compare."""
    rules = "identity" if name.endswith("-features") else args.rules  # it has its target's tokens
    with tempfile.TemporaryDirectory() as folder:
        command = [args.compare, "--json", "--texts", f"{folder}/texts", "--models", name, "--threads", args.threads,
                   "--limit", args.limit, "--rules", rules, *shlex.split(args.flags), *more]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
        return ([json.loads(line) for line in done.stdout.splitlines()],
                [json.loads(line) for line in Path(folder, "texts").read_text().splitlines()])


def genai(args, job):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job").write_text(json.dumps(job, default=str))
        done = subprocess.run([args.python, __file__, "--worker", folder], stdout=sys.stderr)
        out = Path(folder, "out")
        sent = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    for problem in {s["problem"] for s in sent if "problem" in s}:
        print(f"left out: {problem}", file=sys.stderr)
    if done.returncode != 0:
        print(f"OpenVINO GenAI ended with {done.returncode}", file=sys.stderr)
    return [s for s in sent if "text" in s]


def study(args, name):
    target = fetch(name)
    temperatures = ",".join(f"{t:g}" for t in args.temperatures)
    sums = {}  # (temperature, rule): what its texts came to
    nll, calls, kernel = {}, {}, ""

    def add(t, first=None):
        key = round(t["temperature"], 4), t["rule"]
        row = sums.setdefault(key, {"tokens": 0, "seconds": 0.0, "first": [], "texts": []})
        if first is None:
            row["tokens"] += len(t["text"])
            row["seconds"] += t["seconds"]
            row["texts"].append(tuple(t["text"]))
        else:
            row["first"].append(first)

    for number in range(args.rounds):
        print(f"{name}: round {number + 1} of {args.rounds}", file=sys.stderr, flush=True)
        rows, texts = compare(args, name, "--temperatures", temperatures, "--max-tokens", args.max_tokens,
                              "--seed", number)
        _, firsts = compare(args, name, "--temperatures", temperatures, "--max-tokens", 1, "--seed", number)
        for t in texts:
            add(t)
        for t in firsts:
            add(t, t["seconds"])
        kernel = f"{rows[0]['precision']}, {rows[0]['kernel']}"
        for r in rows:
            key = round(r["temperature"], 4), r["rule"]
            nll.setdefault(key, []).append((r["nll"], r["nll_stderr"], r["nll_difference"], r["nll_difference_stderr"]))
            calls.setdefault(key, []).append(r["tokens_per_target_call"])
        if (number == 0 or args.genai_each_round) and not name.endswith("-features"):  # the same target
            prompts = list({t["line"]: {"line": t["line"], "prompt": t["prompt"]} for t in texts}.values())
            for t in genai(args, {"target": target, "threads": args.threads, "prompts": prompts, "ends": args.ends[name],
                                  "temperatures": args.temperatures, "max_tokens": args.max_tokens,
                                  "lookup_tokens": args.lookup_tokens}):
                add(t)
                add(t, t["first"])
    out = []
    for (temperature, rule), row in sorted(sums.items(), key=lambda item: item[0][0]):
        plain = sums[temperature, PLAIN]
        first = statistics.mean(row["first"])
        # Of runs of whole texts, less their first tokens.
        count = len(row["texts"])
        rest = (row["seconds"] - first * count) / max(row["tokens"] - count, 1)
        same = sum(a == b for a, b in zip(row["texts"], plain["texts"] * 99))
        out.append({"model": name, "temperature": temperature, "rule": rule, "tokens": row["tokens"],
                    "tokens_per_second": row["tokens"] / row["seconds"],
                    "speedup": row["tokens"] / row["seconds"] / (plain["tokens"] / plain["seconds"]),
                    "first_token_ms": 1e3 * first, "token_ms": 1e3 * rest,
                    "tokens_per_target_call": statistics.mean(calls[temperature, rule]) if (temperature, rule) in calls else None,
                    "same_text": f"{same}/{count}" if temperature == 0 else "-",
                    "nll": nll.get((temperature, rule), [None])[0]})
    print(f"\n{name}: {target.name} ({kernel}), {len({t['line'] for t in texts})} prompts, at most {args.max_tokens} "
          f"tokens a text, {args.threads} threads, {args.rounds} rounds\n")
    print("| T | | tokens a second | speed-up | tokens a target pass | 1st token, ms | a token, ms | same text | nll |\n"
          "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for r in out:
        judged = f"{r['nll'][0]:.3f} ± {r['nll'][1]:.3f}" if r["nll"] and r["nll"][1] else "-"
        calls_made = "-" if r["tokens_per_target_call"] is None else f"{r['tokens_per_target_call']:.2f}"
        print(f"| {r['temperature']:g} | {r['rule']} | {r['tokens_per_second']:.1f} | {r['speedup']:.2f}x | "
              f"{calls_made} | {r['first_token_ms']:.1f} | {r['token_ms']:.2f} | "
              f"{r['same_text']} | {judged} |")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", default="smollm2,smollm2-features,gemma3")
    p.add_argument("--limit", type=int, default=8, help="only the first prompts; 0: all")
    p.add_argument("--max-tokens", type=int, default=128)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--temperatures", default="0,1")
    p.add_argument("--rules", default="tli,slem,slrs,coupled,lookup", help="of specdec, as compare takes them")
    p.add_argument("--flags", default="", help="for openvino_compare, in one word: '--lookup'")
    p.add_argument("--exact", action="store_true", help="specdec's caches in f32 and no quantised activations, so that "
                   "greedy text does not depend on how many positions share a pass")
    p.add_argument("--lookup-tokens", type=int, default=5, help="that GenAI's prompt lookup proposes")
    p.add_argument("--genai-each-round", action="store_true")
    p.add_argument("--compare", default=ROOT / "build/release/examples/openvino_compare", type=Path)
    p.add_argument("--python", default=ROOT / "build/openvino/bin/python")
    p.add_argument("--json", type=Path, help="a file for the rows")
    args = p.parse_args()
    args.temperatures = [float(t) for t in args.temperatures.split(",")]
    if args.exact:
        args.flags += "".join(f" --property {p}" for p in ("INFERENCE_PRECISION_HINT=f32", "KV_CACHE_PRECISION=f32",
                                                           "DYNAMIC_QUANTIZATION_GROUP_SIZE=0"))
    args.ends = {"smollm2": [2, 0], "smollm2-features": [2, 0], "gemma3": [1, 106]}
    if not args.compare.exists():
        sys.exit(f"openvino_study.py: {args.compare} is not built (scripts/install-openvino.sh, then cmake)")
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    cpu = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    print(f"{datetime.date.today().isoformat()}, commit {commit.stdout.strip()}, {(cpu or ['?'])[0]}, "
          f"{os.cpu_count()} cores\n{shlex.join(sys.argv)}")
    rows = [row for name in args.models.split(",") for row in study(args, name)]
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        with open(Path(sys.argv[2], "out"), "w", encoding="utf-8") as sink:
            for found in genai_worker(json.loads(Path(sys.argv[2], "job").read_text())):
                print(json.dumps(found), file=sink, flush=True)
    else:
        main()
