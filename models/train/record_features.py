"""Run SmolLM2-135M-Instruct over conversations and keep what its head is multiplied with, for train_features.py.

    python models/train/record_features.py --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf --text CHAT --kind home --out RECORDS

CHAT: folder of *.jsonl or *.jsonl.xz (prompt, text, ended; kind where it has one). Adds folders to RECORDS as write_answers.py
does, which needs no second pass for what it writes itself: ids, features (BF16 as 16-bit numbers, 1,152 bytes a token), lengths,
answers (.npy) and text.jsonl; with --three also EAGLE-3's, what stands before layers 2, n / 2 and n - 3 (layers.npy). Can be
stopped and started again; other text needs another --kind or --seed, which name its folders.
"""
import argparse
import os
import random
import time
from pathlib import Path

import numpy
import torch

import data
import write_answers
import writer


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gguf", type=Path, required=True)
    p.add_argument("--text", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--kind", default="home", help="of conversations that do not say theirs")
    p.add_argument("--limit", type=int, help="only so many conversations, drawn by --seed")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--three", action="store_true", help="EAGLE-3's features, too")
    p.add_argument("--tokens", type=int, default=4096, help="tokens a pass")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    entries = [e for file in data.json_files(args.text) for e in data.json_lines(file)]
    random.Random(args.seed).shuffle(entries)
    entries = entries[:args.limit]
    shards = [(args.out / f"{args.kind}-{args.seed}-{i:05}", entries[i:i + 256]) for i in range(0, len(entries), 256)]
    for folder, some in shards:
        write_answers.expect_made_of(folder, some, ["prompt", "text"], len(some),
                                     f"expected --text and --limit as they were, not {args.text}, or another --seed or --kind")
    w = writer.Writer(args.gguf)
    args.out.mkdir(parents=True, exist_ok=True)
    write_answers.save_target(w, args.out)
    began, done = time.time(), 0
    taken = dict.fromkeys((2, len(w.layers) // 2, len(w.layers) - 3)) if args.three else None
    for folder, some in shards:
        if folder.exists():
            continue
        texts = []
        for e in some:
            ids, begin = w.framed(w.encode(e["prompt"]), w.encode(e["text"]), e["ended"])
            texts.append((ids, begin, {"kind": args.kind, **e}))
        texts.sort(key=lambda t: len(t[0]))
        made, layers, at = [], [], 0
        while at < len(texts):
            batch = texts[at:at + max(1, args.tokens // len(texts[at][0]))]
            longest = len(batch[-1][0])
            ids = torch.tensor([t + [w.end] * (longest - len(t)) for t, _, _ in batch])  # padded behind: causal
            states = w.whole(ids, taken)
            made += [(t, state[:len(t)].clone(), begin) for (t, begin, _), state in zip(batch, states)]
            if taken:
                three = torch.cat(list(taken.values()), dim=-1)
                layers += [state[:len(t)].clone() for (t, _, _), state in zip(batch, three)]
            at += len(batch)
        part = folder.with_name(folder.name + ".part")
        write_answers.save_records(part, made, [e for _, _, e in texts])
        if layers:
            numpy.save(part / "layers.npy", torch.cat(layers).to(torch.bfloat16).view(torch.uint16).numpy())
        part.rename(folder)
        done += sum(len(t) for t, _, _ in texts)
        print(f"{folder.name}: {done} tokens, {done / (time.time() - began):.0f} a second", flush=True)


if __name__ == "__main__":
    main()
