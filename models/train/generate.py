"""Let a target write the text its drafter is trained on.

    python models/train/generate.py --model models/docs-target --prompts TEXT/train --out GENERATED \
        --temperature 0 0.7 1 --answers 2000 2000 2000

Prompts are short beginnings taken from the text: half at the start of a paragraph, half at any word.
Writes GENERATED/temperature_T.jsonl with prompt, text and ended; top-k and top-p are off.  --plain
marks the texts, so that they may stand among conversations.
"""
import argparse
import json
import os
import random
import re
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer

import data
import llama
import precision
import threads


def prompts_of(entries, tokenizer, count, length, rng):
    """`count` beginnings of exactly `length` tokens: [(text, ids)]."""
    texts = [t for _, t, _ in entries]
    sizes = [len(t) for t in texts]
    starts = {True: re.compile(r"\n\n(?=\S)"), False: re.compile(r"\s(?=\S)")}
    found = []
    while len(found) < count:
        text = rng.choices(texts, sizes)[0]
        place = starts[rng.random() < 0.5].search(text, rng.randrange(len(text)))
        if place is None:
            continue
        ids = tokenizer.encode(text[place.end():place.end() + 12 * length]).ids[:length]
        prompt = tokenizer.decode(ids)
        if len(ids) == length and tokenizer.encode(prompt).ids == ids:
            found.append((prompt, ids))
    return found


@torch.no_grad()
def continue_batch(model, ids, count, temperature, generator, cores):
    """`count` further ids for every row of `ids`."""
    cache = llama.Cache(ids.shape[1] + count)
    made, last = [], ids
    for _ in range(count):
        cores.update()
        first = cache.used
        positions = torch.arange(first, first + last.shape[1])[None]
        with precision.autocast():
            hidden = model.hidden(last, positions=positions, cache=cache)[:, -1]
            logits = torch.nn.functional.linear(hidden, model.embed_tokens.weight).float()
        if temperature == 0:
            chosen = logits.argmax(-1)
        else:
            # argmax of p / e with e exponential is a sample from p.
            noise = torch.empty_like(logits).exponential_(generator=generator)
            chosen = (logits / temperature - noise.log()).argmax(-1)
        made.append(chosen)
        last = chosen[:, None]
    return torch.stack(made, 1)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", type=Path, required=True)
    p.add_argument("--prompts", type=Path, required=True, help="folder of *.txt")
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--temperature", type=float, nargs="+", default=[0.0, 0.7, 1.0])
    p.add_argument("--answers", type=int, nargs="+", default=[2000, 2000, 2000])
    p.add_argument("--tokens", type=int, default=192)
    p.add_argument("--batch", type=int, default=200)
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="at most")
    p.add_argument("--plain", action="store_true", help="for train_exits.py --chat: these are no conversations")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    plain = {"plain": True} if args.plain else {}
    cores = threads.Threads(args.threads)
    model = llama.load(args.model).eval()
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    entries = data.read(args.prompts)
    end = model.config.eos_token_id
    args.out.mkdir(parents=True, exist_ok=True)
    for temperature, answers in zip(args.temperature, args.answers, strict=True):
        rng = random.Random(f"{args.seed} {temperature}")
        generator = torch.Generator(precision.DEVICE).manual_seed(args.seed)
        began, tokens = time.time(), 0
        with open(args.out / f"temperature_{temperature}.jsonl", "w", encoding="utf-8") as f:
            for start in range(0, answers, args.batch):
                rows = prompts_of(entries, tokenizer, min(args.batch, answers - start), rng.randrange(5, 33), rng)
                made = continue_batch(model, torch.tensor([i for _, i in rows]), args.tokens, temperature, generator,
                                      cores)
                for (prompt, _), ids in zip(rows, made.tolist()):
                    ended = end in ids
                    ids = ids[:ids.index(end)] if ended else ids
                    tokens += len(ids)
                    text = tokenizer.decode(ids)
                    f.write(json.dumps({"prompt": prompt, "text": text, "ended": ended, **plain}, ensure_ascii=False) + "\n")
                f.flush()
        print(f"T={temperature}: {answers} answers, {tokens} tokens, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
