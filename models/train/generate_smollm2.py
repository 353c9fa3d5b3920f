"""Let SmolLM2-135M-Instruct (or with --plain a base model) write answers to new prompts, as text to train a drafter on.

    python models/fetch_smollm2.py
    python models/train/generate_smollm2.py --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf \
        --not-these models/prompts/smollm2.txt --out CHAT --temperature 0 0.7 1 --answers 2600 1300 900

Prompts come from the templates in prompts.py; those in --not-these (the ones kept for measuring) are
left out.  --plain asks without a chat template ("Question: ... Answer:"), as Gemma 3 270M has to be
asked.  Writes CHAT/temperature_T.jsonl: prompt, text, ended.  About 400 tokens a second on two cores.
"""
import argparse
import json
import os
import random
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

import data
import precision
import prompts


def new_prompt(rng):
    if rng.random() < 0.7:
        return prompts.story(rng)[1]
    return rng.choice(prompts.EXPLANATIONS).format(rng.choice(prompts.SUBJECTS + prompts.NEW_SUBJECTS))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gguf", type=Path, required=True)
    p.add_argument("--not-these", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--temperature", type=float, nargs="+", default=[0.0, 0.7, 1.0])
    p.add_argument("--answers", type=int, nargs="+", default=[2600, 1300, 900])
    p.add_argument("--tokens", type=int, default=192)
    p.add_argument("--plain", action="store_true", help="the model knows no chat template")
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    kept = set(args.not_these.read_text(encoding="utf-8").splitlines())
    tokenizer = AutoTokenizer.from_pretrained(args.gguf.parent, gguf_file=args.gguf.name, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(args.gguf.parent, gguf_file=args.gguf.name, dtype=precision.weights(),
                                                 quantization_config=GgufConfig(dequantize=True)).eval()
    end = tokenizer.eos_token_id if args.plain else tokenizer.convert_tokens_to_ids("<|im_end|>")
    begin = tokenizer.bos_token if args.plain else ""
    plain = {"plain": True} if args.plain else {}
    tokenizer.pad_token_id = end
    args.out.mkdir(parents=True, exist_ok=True)
    for temperature, answers in zip(args.temperature, args.answers, strict=True):
        rng = random.Random(f"{args.seed} {temperature}")
        sampling = dict(do_sample=True, temperature=temperature, top_k=0, top_p=1.0) if temperature else dict(do_sample=False)
        began, tokens, written = time.time(), 0, 0
        with open(args.out / f"temperature_{temperature}.jsonl", "w", encoding="utf-8") as f:
            while written < answers:
                asked = [q for q in (new_prompt(rng) for _ in range(min(args.batch, answers - written))) if q not in kept]
                if not asked:  # the last few, all of them among those
                    continue
                asked = [f"Question: {q} Answer:" if args.plain else q for q in asked]
                batch = tokenizer([begin + q if args.plain else data.conversation(q) for q in asked],
                                  return_tensors="pt", padding=True, add_special_tokens=False)
                with torch.no_grad():
                    made = model.generate(**batch, max_new_tokens=args.tokens, eos_token_id=end, pad_token_id=end, **sampling)
                for prompt, ids in zip(asked, made[:, batch.input_ids.shape[1]:].tolist()):
                    ended = end in ids
                    ids = ids[:ids.index(end)] if ended else ids
                    tokens += len(ids)
                    text = tokenizer.decode(ids)
                    line = {"prompt": prompt, "text": text, "ended": ended, **plain}
                    f.write(json.dumps(line, ensure_ascii=False) + "\n")
                written += len(asked)
                f.flush()
        print(f"T={temperature}: {written} answers, {tokens} tokens, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
