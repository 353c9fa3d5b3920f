"""Held-out loss and first-choice rate of a model, for each file by itself.

    python models/train/evaluate.py --model models/docs-drafter --text GENERATED --heldout-part 0.04

With --heldout-part, only the entries that train.py holds out with that part and --split; without, all.
"""
import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer

import data
import llama
from train import heldout_loss


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", type=Path, required=True)
    p.add_argument("--text", type=Path, required=True)
    p.add_argument("--heldout-part", type=float, default=0.0)
    p.add_argument("--chat", action="store_true")
    p.add_argument("--length", type=int, default=512)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--split", type=int, default=data.SPLIT, help="as the training had it")
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    model = llama.load(args.model).eval()
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    entries = data.read(args.text)
    held = {e[0] for e in data.split(entries, args.heldout_part, args.split)[1]} if args.heldout_part else None
    files = data.json_files(args.text)
    groups = {f.name: data.read_jsonl(f) for f in files} if files else {args.text.name: entries}
    for name, group in groups.items():
        group = [e for e in group if held is None or e[0] in held]
        if not group:
            continue
        documents = data.encode(tokenizer, model.config.eos_token_id, group, chat=args.chat, prompt_weight=0.0)
        loss, hit = heldout_loss(model, documents, args.length)
        print(f"{args.model.name} {name}: {len(group)} texts, loss {loss:.4f}, first choice {hit:.4f}", flush=True)


if __name__ == "__main__":
    main()
