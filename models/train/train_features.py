"""Train a drafter that reads the target's features: single step (EAGLE), several steps (HASS), and with CORAL's alignment.

    python models/train/train_features.py --features FEATURES --out models/smollm2-features --steps 3 --csra --minutes 60

FEATURES: what record_features.py wrote. --rows: the loss looks at so many rows of the head, the most frequent tokens of the
text (a third of the time of all). Keeps the best by held-out classification loss over the steps that are trained. Prints, for
held-out text, how many tokens of a draft of five are the target's first choice in a row: an estimate of the block efficiency.
"""
import argparse
import json
import math
import os
import random
import time
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import data
import features
import llama
import muon
import precision
import threads


class Texts:
    def __init__(self, folder, length):
        self.ids = torch.from_numpy(numpy.load(folder / "ids.npy")).long()
        self.features = torch.from_numpy(numpy.load(folder / "features.npy", mmap_mode="r")).view(torch.bfloat16)
        lengths, answers = numpy.load(folder / "lengths.npy"), numpy.load(folder / "answers.npy")
        begin = numpy.concatenate([[0], numpy.cumsum(lengths)[:-1]])
        self.texts = [(int(b), min(int(n), length + 2), int(a)) for b, n, a in zip(begin, lengths, answers) if n > a + 4]

    def split(self, held, seed):
        """(held out, for training), the same for all who say the same."""
        order = list(self.texts)
        random.Random(seed).shuffle(order)
        return order[:held], order[held:]

    def batches(self, texts, tokens, rng=None):
        made = data.together(texts, lambda t: t[1], tokens)
        if rng:
            rng.shuffle(made)
        for batch in made:
            longest = max(n for _, n, _ in batch)
            ids = torch.zeros(len(batch), longest, dtype=torch.long)
            states = torch.zeros(len(batch), longest, self.features.shape[1], dtype=torch.bfloat16)
            weights = torch.zeros(len(batch), longest - 2)
            for row, (b, n, answer) in enumerate(batch):
                ids[row, :n] = self.ids[b:b + n]
                states[row, :n] = self.features[b:b + n]
                weights[row, :n - 2] = 0.1
                weights[row, max(answer - 2, 0):n - 2] = 1.0  # features that answer tokens are drawn from
            yield ids, states, weights

    def endless(self, texts, tokens, seed):
        rng = random.Random(seed)
        while True:
            yield from self.batches(texts, tokens, rng)


@torch.no_grad()
def heldout(drafter, texts, held, embedding, head, steps):
    """Classification loss of each step, and the mean number of first choices in a row in drafts of five."""
    loss, count, run, drafts = torch.zeros(steps), 0.0, 0.0, 0.0
    for ids, states, weights in texts.batches(held, 4096):
        weights = (weights == 1).float()
        states = states.float()
        embedded = F.embedding(ids[:, 1:-1], embedding).float()
        with precision.autocast():
            _, each, _, total = features.losses(drafter, head, embedded, states[:, :-1], weights, steps, False)
            alive = None
            wanted = (states[:, 1:-1].to(head.dtype) @ head.T).argmax(-1)
            for step, made in enumerate(features.unroll(drafter, embedded, states[:, :-2], 5)):
                hit = ((made.to(head.dtype) @ head.T).argmax(-1) == wanted).float()
                alive = hit if alive is None else hit * alive.roll(1, dims=1)
                ok = weights.clone()
                ok[:, :5] = 0
                run += (alive * ok).sum().item()
                if step == 0:
                    drafts += ok.sum().item()
        loss += each.float() * total
        count += total.item()
    return loss / count, 1 + run / max(drafts, 1)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--features", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--from", dest="start", type=Path, help="folder to go on from")
    p.add_argument("--steps", type=int, default=1, help="1: EAGLE; more: HASS")
    p.add_argument("--csra", action="store_true", help="CORAL's cross-step alignment")
    p.add_argument("--rows", type=int, default=12288, help="rows of the head in the loss; 0: all")
    p.add_argument("--length", type=int, default=224, help="tokens of a text, at most")
    p.add_argument("--tokens", type=int, default=2048, help="tokens a step")
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--decay", type=float, default=0.01)
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--every", type=float, default=5.0, help="minutes between evaluations")
    p.add_argument("--held", type=int, default=150, help="conversations held out")
    p.add_argument("--weights", type=float, nargs=3, default=[1.0, 0.1, 0.1], metavar=("REG", "CLS", "CSRA"))
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="at most")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    cores = threads.Threads(args.threads)

    texts = Texts(args.features, args.length)
    embedding = load_file(args.features / "target.safetensors")["embedding"].to(precision.weights())
    frequent = torch.bincount(texts.ids, minlength=len(embedding)).argsort(descending=True, stable=True)
    head = embedding[frequent[:args.rows or len(embedding)].sort().values]
    held, train = texts.split(args.held, args.seed)
    stored = json.loads((args.features / "config.json").read_text())
    config = llama.Config(**{k: v for k, v in stored.items() if k in llama.Config.__dataclass_fields__})
    drafter = features.load(args.start) if args.start else features.Drafter(config)
    print(f"{sum(q.numel() for q in drafter.parameters())} parameters; {len(train)} conversations, held out {len(held)}; "
          f"{len(head)} rows of the head", flush=True)

    matrices = [q for q in drafter.parameters() if q.dim() == 2]
    rest = [q for q in drafter.parameters() if q.dim() == 1]
    opts = [muon.Muon(matrices, lr=args.rate, weight_decay=args.decay),
            torch.optim.AdamW(rest, lr=args.rate, betas=(0.9, 0.95), fused=True)]
    best, seen, step, began = math.inf, 0, 0, time.time()
    looked, stream = began, texts.endless(train, args.tokens, args.seed)
    while True:
        done = (time.time() - began) / 60 / args.minutes
        if done >= 1 or time.time() - looked > 60 * args.every:
            loss, efficiency = heldout(drafter, texts, held, embedding, head, max(args.steps, 3))
            print(f"{(time.time() - began) / 60:6.2f} min  step {step}  {seen} tokens  held out "
                  + " ".join(f"{x:.4f}" for x in loss.tolist())
                  + f"  tokens a block of five {efficiency:.3f}  ({torch.get_num_threads()} threads)", flush=True)
            value = loss[:args.steps].mean().item()
            if value < best:
                best = value
                features.save(drafter, args.out)
            looked = time.time()
            if done >= 1:
                break
        scale = muon.rate_scale(step, done)
        for o in opts:
            for g in o.param_groups:
                g["lr"] = args.rate * scale
        cores.update()
        ids, states, weights = next(stream)
        # Noise on the features, as EAGLE has it: the drafter's own will not be exact.
        given = states[:, :-1].float()
        inputs = given[:, :-1]
        if args.steps == 1:
            inputs = inputs + (torch.rand_like(inputs) - 0.5) * 0.2 * inputs.abs().mean()
        embedded = F.embedding(ids[:, 1:-1], embedding).float()
        with precision.autocast():
            regression, classification, alignment, _ = features.losses(
                drafter, head, embedded, given, weights, args.steps, args.csra, inputs)
        total = sum(w * l.mean() for w, l in zip(args.weights, (regression, classification, alignment)))
        total.backward()
        torch.nn.utils.clip_grad_norm_(drafter.parameters(), 0.5)
        for o in opts:
            o.step()
            o.zero_grad(set_to_none=True)
        seen += int((weights > 0).sum())
        step += 1
    print(f"best held-out loss {best:.4f}", flush=True)


if __name__ == "__main__":
    main()
