#!/usr/bin/env python3
"""specdec, Hugging Face Transformers and llama.cpp on the same models, prompts, threads and lengths: one table.

    scripts/install-peers.sh                              the peers, once; who is missing is said and left out
    build/llama-cpp/bin/python models/write_gguf.py       the repository's models for llama.cpp
    scripts/peers.py                                      the pair in this repository
    scripts/peers.py --pair smollm2 --rules slem,tli --draft-length 4,1 --tokens-at-least 5000 --json peers.json

`compare` runs first; the peers get its prompts as token ids. Each engine decodes in a process of its own, prompt
by prompt and rule by rule; only generation is timed. Draft lengths are fixed. All texts, ours too, are judged by one
forward pass: the target in Transformers at float32. "law" is WRONG where the text's nats a token differ from the
same engine's plain sampling by more than 3 standard errors of the difference (paired by prompt).

What runs: Transformers' assisted generation with another tokenizer: at T = 0 "universal" (retokenised text, our
slem), above it "tli" as it comes and "tli, whole head", with the pruning of the assistant's head switched off;
and its prompt lookup.
llama.cpp through llama-cpp-python, whose interface has no draft model of its own: its prompt lookup, and for
SmolLM2 its 4-bit file drafting greedily for the BF16 one (made by llama_convert) through its LlamaDraftModel.
llama.cpp's own drafters without a model by its program llama-speculative-simple at T = 0, a process a text, timed
by itself: with their usual n-grams, which are long, and two of them with n-grams of 3 ("short").
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from peers_report import OURS, PLAIN, rows_of, sentences, table

ROOT = Path(__file__).resolve().parents[1]
MODELS, FETCHED = ROOT / "models", ROOT / "models/fetched"
SMOLLM2 = "SmolLM2-135M-Instruct"
PAIRS = {  # files that are the same weights; the first llama.cpp file that is there is taken
    "docs": {"target": MODELS / "docs-target", "drafter": MODELS / "docs-drafter", "ends": [0],
             "llama": ["docs-target/docs-target.gguf"], "llama_drafter": "docs-drafter/docs-drafter.gguf",
             "small": None},
    "smollm2": {"target": FETCHED / f"{SMOLLM2}.Q4_1.gguf", "drafter": MODELS / "smollm2-drafter", "ends": [2],
                "llama": [f"{SMOLLM2}.BF16.gguf", f"{SMOLLM2}.Q4_1.gguf"],
                "llama_drafter": "smollm2-drafter/smollm2-drafter.gguf", "small": f"{SMOLLM2}.Q4_1.gguf"},
}


def collect(job, engine, rules_at, emit):
    """Runs rules_at(temperature, draft length), {name: run(prompt, most tokens, seed) -> text, target calls}, on
    all prompts in turns until every rule has its tokens. A rule that fails is said and left out."""
    for temperature, length in job["temperatures"]:
        rules, number = rules_at(temperature, length), 0
        tokens = dict.fromkeys(rules, 0)
        if not rules:
            continue

        def attempt(name, prompt, most, seed):
            if name not in rules:
                return
            begin = time.perf_counter()
            try:
                text, calls, *own_time = rules[name](prompt["prompt"], most, seed)
            except Exception as problem:  # whatever a peer throws is its result
                emit({"rule": name, "temperature": temperature,
                      "problem": f"{engine}, {name}, T = {temperature:g}: {type(problem).__name__}: {problem}"})
                del rules[name], tokens[name]
                return
            return {"engine": engine, "rule": name, "temperature": temperature, "draft_length": length,
                    "line": prompt["line"], "prompt": prompt["prompt"], "text": text, "target_calls": calls,
                    "seconds": own_time[0] if own_time else time.perf_counter() - begin}
        for name in list(rules):
            attempt(name, job["prompts"][0], 16, 0)  # warms up
        wanted = job["tokens_at_least"] if temperature > 0 else 0
        while number == 0 or tokens and min(tokens.values()) < wanted:
            for prompt in job["prompts"]:
                number += 1
                names = sorted(tokens, key=lambda name: (list(tokens).index(name) + number) % len(tokens))
                for name in names:  # nobody is always the first
                    again = [attempt(name, prompt, job["max_tokens"], job["seed"] * 1_000_003 + number)
                             for _ in range(job["repeats"])]
                    if None not in again:
                        tokens[name] += len(again[0]["text"])
                        emit(again[0] | {"seconds": min(a["seconds"] for a in again)})
            print(f"  {engine}, T = {temperature:g}: {tokens}", file=sys.stderr, flush=True)


def load_transformers(path, dtype):
    from transformers import AutoModelForCausalLM, AutoTokenizer
    path = Path(path)
    where = [path.parent] if path.suffix == ".gguf" else [path]
    more = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    return (AutoModelForCausalLM.from_pretrained(*where, dtype=dtype, **more).eval(),
            AutoTokenizer.from_pretrained(*where, **more))


def transformers_worker(job, emit):
    import torch
    from transformers.generation import candidate_generator as peer
    torch.set_num_threads(job["threads"])
    dtype = torch.float32 if job["precision"] == "f32" else torch.bfloat16  # it keeps no file's 4 bits
    target, words = load_transformers(job["target"], dtype)
    emit({"about": f"transformers {importlib.metadata.version('transformers')}, torch {torch.__version__}, "
                   f"{str(dtype).removeprefix('torch.')}"})
    calls = [0]
    target.register_forward_pre_hook(lambda *_: calls.__setitem__(0, calls[0] + 1))

    whole_head, get_translator = [], peer.AssistantVocabTranslatorCache.get_translator

    def choose_pruning(*args, **more):
        if any(pieces is a for pieces in whole_head for a in (*args, *more.values())):
            more["assistant_prune_lm_head"] = False
        return get_translator(*args, **more)
    peer.AssistantVocabTranslatorCache.get_translator = choose_pruning

    def rule(temperature, drafter=None, pieces=None, lookup=0):
        more = {"do_sample": False}
        if temperature > 0:
            more = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        if drafter is not None:
            more |= {"assistant_model": drafter, "tokenizer": words, "assistant_tokenizer": pieces}
        if lookup:
            more |= {"prompt_lookup_num_tokens": lookup}

        def run(prompt, most, seed):
            torch.manual_seed(seed)
            calls[0] = 0
            ids = torch.tensor([prompt])
            out = target.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=most,
                                  eos_token_id=job["ends"], pad_token_id=job["ends"][0], **more)
            return out[0, len(prompt):].tolist(), calls[0]
        return run

    def rules_at(temperature, length):
        rules = {PLAIN: rule(temperature), "prompt lookup": rule(temperature, lookup=length)}
        for name in ["tli", "tli, whole head"] if temperature > 0 else ["universal"]:
            drafter, pieces = load_transformers(job["drafter"], dtype)  # pruning changes it, so each has its own
            settings = drafter.generation_config
            settings.num_assistant_tokens, settings.num_assistant_tokens_schedule = length, "constant"
            settings.assistant_confidence_threshold = 0
            if "whole" in name:
                whole_head.append(pieces)
            rules[name] = rule(temperature, drafter, pieces)
        return rules
    with torch.inference_mode():
        collect(job, "Transformers", rules_at, emit)


def judge_worker(job, emit):
    """Sends the nats of every text under the target at float32; greedy texts under the law of T = 1."""
    import torch
    torch.set_num_threads(job["threads"])
    target, _ = load_transformers(job["target"], torch.float32)
    for number, t in enumerate(job["texts"]):
        with torch.inference_mode():
            fed, text = torch.tensor([t["prompt"] + t["text"][:-1]]), torch.tensor(t["text"])
            logits = target(fed, logits_to_keep=len(text)).logits[0] / (t["temperature"] or 1)
            nats = torch.nn.functional.cross_entropy(logits, text, reduction="sum").item()
        emit({"nats": nats})
        if number % 1000 == 999:
            print(f"  judged {number + 1} of {len(job['texts'])} texts", file=sys.stderr, flush=True)


def llama_worker(job, emit):
    import llama_cpp
    from llama_cpp.llama_speculative import LlamaDraftModel, LlamaPromptLookupDecoding
    import numpy as np
    context = max(len(p["prompt"]) for p in job["prompts"]) + job["max_tokens"] + 64

    def load(path, **more):
        model = llama_cpp.Llama(path, n_ctx=context, n_threads=job["threads"], n_threads_batch=job["threads"],
                                verbose=False, **more)
        decode, model.calls = model._ctx.decode, 0

        def counted(batch):
            model.calls += 1
            return decode(batch)
        model._ctx.decode = counted
        return model

    class draft_by(LlamaDraftModel):
        def __init__(self, path, length):
            self.model, self.length = load(path), length

        def __call__(self, ids, **_):
            draft = []
            for token in self.model.generate(ids.tolist(), temp=0):
                draft.append(token)
                if len(draft) >= self.length:
                    break
            return np.array(draft, dtype=np.intc)

    def rule(temperature, model):
        def run(prompt, most, seed):
            for fresh in [model, *([model.draft_model.model] if isinstance(model.draft_model, draft_by) else [])]:
                fresh.reset()
            model.set_seed(seed)
            model.calls, text = 0, []
            for token in model.generate(prompt, top_k=0, top_p=1.0, min_p=0.0, temp=temperature):
                text.append(token)
                if len(text) == most or token in job["ends"]:
                    break
            return text, model.calls
        return run

    emit({"about": f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}, "
                   f"{Path(job['llama_target']).name}"})

    def rules_at(temperature, length):
        drafters = {PLAIN: None, "prompt lookup": LlamaPromptLookupDecoding(num_pred_tokens=length)}
        if job["llama_small"]:
            drafters[f"draft by {Path(job['llama_small']).name.split('.')[-2]}"] = draft_by(job["llama_small"], length)
        return {name: rule(temperature, load(job["llama_target"], draft_model=d)) for name, d in drafters.items()}
    collect(job, "llama.cpp", rules_at, emit)


def llama_program_worker(job, emit):
    import llama_cpp
    program = job["llama_program"]
    words = llama_cpp.Llama(job["llama_target"], vocab_only=True, verbose=False)
    context = max(len(p["prompt"]) for p in job["prompts"]) + job["max_tokens"] + 64

    def rule(kind, flags):
        def run(prompt, most, seed):
            said = words.detokenize(prompt, special=True).decode()
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(said + "\n")  # the last line's end is taken away
                file.flush()
                done = subprocess.run(
                    [program, "-m", job["llama_target"], "-f", file.name, "--no-escape", "-c", str(context), "-n",
                     str(most - 1), "-t", str(job["threads"]), "--temp", "0", "--seed", str(seed), "--spec-type", kind,
                     *flags], capture_output=True, check=True)
            told = {name: float(value) for name, value in re.findall(
                r"(encoded|decoded) +\d+ tokens in +([0-9.]+) seconds", done.stderr.decode())}
            told |= {name: int(value) for name, value in re.findall(r"(n_predict|n_accept) += (\d+)",
                                                                    done.stderr.decode())}
            text = done.stdout.decode(errors="replace").split(said, 1)[1]
            ids = words.tokenize(text.removesuffix("\n\n\n\n").encode(), add_bos=False, special=True)
            if len(ids) < told["n_predict"]:
                ids.append(job["ends"][0])
            return ids[:most], told["n_predict"] - told["n_accept"], told["encoded"] + told["decoded"]
        return run

    def rules_at(temperature, length):
        if temperature > 0:
            return {}
        most = ["--spec-draft-n-max", str(length)]
        own = {kind: rule(kind, most) for kind in ("ngram-simple", "ngram-map-k", "ngram-mod", "ngram-cache")}
        for kind in ("ngram-simple", "ngram-map-k"):
            own[f"{kind}, short"] = rule(kind, [*most, f"--spec-{kind}-size-n", "3", f"--spec-{kind}-size-m",
                                                str(length)])
        return own
    collect(job, "llama.cpp", rules_at, emit)


WORKERS = {"Transformers": transformers_worker, "llama.cpp": llama_worker,
           "llama.cpp's program": llama_program_worker, "the judge": judge_worker}


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def of_rules_that_ran(sent):
    """Without what rules sent that failed later: half a row compares with nothing."""
    failed = {(s["rule"], s["temperature"]) for s in sent if "problem" in s}
    return [s for s in sent if (s.get("rule"), s.get("temperature")) not in failed]


def ask(worker, python, job):
    """What a worker sends; what is missing is said."""
    if not Path(python).exists():
        say(f"{worker}: left out: there is no {python} (scripts/install-peers.sh)")
        return []
    say(f"{worker} ...")
    quiet = {"TQDM_DISABLE": "1", "TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "job").write_text(json.dumps(job, default=str))
        done = subprocess.run([python, __file__, "--worker", worker, folder],
                              env={**os.environ, **quiet, "OMP_NUM_THREADS": str(job["threads"])})
        out = Path(folder, "out")
        sent = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    for s in sent:
        if "problem" in s:
            say(f"left out: {s['problem']}")
    if done.returncode != 0:
        say(f"{worker}: ended with {done.returncode}, see above; what it had measured is kept")
    return of_rules_that_ran(sent)


def ours(engine, program, args, flags):
    """The texts and the rows of our compare, or of llama_compare."""
    if not program.exists():
        say(f"{engine}: left out: {program} is not built")
        return [], []
    say(f"{engine} ...")
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--json", "--texts", f"{folder}/texts", *flags]
        for name in ("temperatures", "draft_length", "max_tokens", "threads", "limit", "tokens_at_least", "repeats",
                     "seed", "rules"):
            command += ["--" + name.replace("_", "-"), str(getattr(args, name))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            say(f"{engine}: left out: {shlex.join(map(str, command))} ended with {done.returncode}")
            return [], []
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        texts = [json.loads(line) for line in Path(folder, "texts").read_text().splitlines()]
    lengths = {r["temperature"]: r["draft_length"] for r in rows if r["draft_length"] is not None}
    for t in texts + rows:
        t |= {"engine": engine, "draft_length": lengths.get(t["temperature"])}
        t["rule"] = PLAIN if t["rule"] == "autoregressive" else t["rule"]
        t["temperature"] = round(t["temperature"], 4)  # it was a float
    return texts, rows


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pair", choices=PAIRS, default="docs")
    p.add_argument("--prompts", type=Path, help="a file, one prompt per line (default: the pair's own)")
    p.add_argument("--limit", type=int, default=24, help="only the first prompts; 0: all")
    p.add_argument("--max-tokens", type=int, default=64)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--temperatures", default="0,1")
    p.add_argument("--draft-length", default="4,2", help="one, or one a temperature")
    p.add_argument("--tokens-at-least", type=int, default=0, help="a row, above temperature 0")
    p.add_argument("--repeats", type=int, default=1, help="of every text; its shortest time counts")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--rules", default="union,tli,tli-block,nested,slem,slrs,merge,coupled", help="ours")
    p.add_argument("--precision", choices=["bf16", "f32", "native"], default="bf16",
                   help="ours and Transformers', which computes in bf16 where ours is native")
    p.add_argument("--compare", default=ROOT / "build/release/examples/compare", type=Path)
    p.add_argument("--llama-compare", default=ROOT / "build/release/examples/llama_compare", type=Path)
    p.add_argument("--transformers-python", default=ROOT / "build/peers/bin/python")
    p.add_argument("--llama-python", default=ROOT / "build/llama-cpp/bin/python")
    p.add_argument("--llama-program", default=ROOT / "build/llama-cpp/bin/llama-speculative-simple", type=Path)
    p.add_argument("--gguf", default=FETCHED, type=Path, help="folder of what llama.cpp reads")
    p.add_argument("--json", type=Path, help="a file for the rows and what they were measured with")
    args = p.parse_args()
    args.prompts = args.prompts or MODELS / "prompts" / f"{args.pair}.txt"
    lengths = [int(n) for n in args.draft_length.split(",")]
    temperatures = [float(t) for t in args.temperatures.split(",")]
    if len(lengths) not in (1, len(temperatures)):
        p.error("--draft-length: expected one, or one a temperature")
    return args, list(zip(temperatures, lengths if len(lengths) > 1 else lengths * len(temperatures)))


def main():
    args, temperatures = arguments()
    pair = PAIRS[args.pair]
    here = [args.gguf / name for name in pair["llama"] if (args.gguf / name).exists()]
    texts, rows = ours(OURS, args.compare, args, ["--prompts", args.prompts, "--models", args.pair, "--precision",
                                                  args.precision])
    if not texts:
        sys.exit("peers.py: expected texts of our compare: the peers are given their prompts")
    engines = [f"specdec {rows[0]['precision']} ({rows[0]['kernel']})"]
    job = {**pair, "temperatures": temperatures, "threads": args.threads, "max_tokens": args.max_tokens,
           "tokens_at_least": args.tokens_at_least, "repeats": args.repeats, "seed": args.seed,
           "precision": args.precision, "prompts": list({t["line"]: t for t in texts}.values())}

    def add(sent):
        texts.extend(s for s in sent if "text" in s)
        engines.extend(s["about"] for s in sent if "about" in s)
    if here:
        small = args.gguf / (pair["small"] or "")
        job |= {"llama_target": here[0], "llama_small": small if small.is_file() and small != here[0] else None}
        through, facts = ours("specdec on llama.cpp", args.llama_compare, args, [
            "--prompts", args.prompts, "--target", here[0], "--drafter", args.gguf / pair["llama_drafter"],
            "--chat" if args.pair == "smollm2" else "--no-chat"])
        add(through + [{"about": f"specdec on {r['kernel']}, {here[0].name}"} for r in facts[:1]])
        add(ask("llama.cpp", args.llama_python, job))
        if args.llama_program.exists():
            add(ask("llama.cpp's program", args.llama_python, job | {"llama_program": args.llama_program}))
        else:
            say(f"llama.cpp's program: left out: there is no {args.llama_program} (scripts/install-peers.sh)")
    else:
        say(f"llama.cpp: left out: expected {' or '.join(pair['llama'])} in {args.gguf} (models/write_gguf.py)")
    add(ask("Transformers", args.transformers_python, job))
    for t, judged in zip(texts, ask("the judge", args.transformers_python, job | {"texts": texts})):
        t |= judged

    result = rows_of(texts)
    own = {(r["temperature"], r["rule"]): r["nll"] for r in rows}
    off = [abs(r["nll"] - own[r["temperature"], r["rule"]]) for r in result if r["engine"] == OURS and "nll" in r]
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    cpu = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    about = {"date": datetime.date.today().isoformat(), "commit": commit.stdout.strip(),
             "machine": f"{(cpu or ['?'])[0]}, {os.cpu_count()} cores", "threads": args.threads, "pair": args.pair,
             "prompts": len(job["prompts"]), "max_tokens": args.max_tokens, "command": shlex.join(sys.argv),
             "engines": engines, "judge": "the target in Transformers, float32",
             "judge_from_compare": max(off, default=None)}
    print(f"{about['date']}, commit {about['commit']}, {about['machine']}, threads: {args.threads}\n{about['command']}\n"
          f"{args.pair}: {about['prompts']} prompts, at most {args.max_tokens} tokens a text\n{'; '.join(engines)}")
    if off:
        print(f"judge: {about['judge']}; compare's own nats a token differ from its by at most {max(off):.4f}")
    print("", table(result), "", *sentences(result), sep="\n")
    if args.json:
        args.json.write_text(json.dumps({"about": about, "rows": result}, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        with open(Path(sys.argv[3], "out"), "w", encoding="utf-8") as sink:
            WORKERS[sys.argv[2]](json.loads(Path(sys.argv[3], "job").read_text()),
                                 lambda found: print(json.dumps(found), file=sink, flush=True))
    else:
        main()
