"""Train a drafter that reads the target's features: single step (EAGLE), several steps (HASS), and with CORAL's alignment.

    python models/train/train_features.py --features RECORDS --out models/smollm2-features --steps 3 --minutes 60
    python models/train/train_features.py --features RECORDS --out models/smollm2-features --steps 3 --minutes 60 --state STATE
    python models/train/train_features.py --text TEXT --gguf GGUF --out models/smollm2-features --steps 4 --minutes 9 --tokens 32768 --taught 0

RECORDS: folders that write_answers.py and record_features.py wrote; ones that come while it trains are taken up. TEXT: folder of
answers alone (*.jsonl, *.jsonl.xz), whose features are made anew for each step: for a GPU. --rows: the loss looks at so many rows
of the head, the most frequent tokens of the text. One of 25 prompts of each kind is held out. Prints, for that text, how many
tokens of a draft of five are the target's first choice in a row, by kind: an estimate of the block efficiency. --state: a file with the optimizer's state, too, written at
each evaluation; where it is there already, the training goes on from it (--minutes are those of all).
"""
import argparse
import collections
import json
import os
import random
import statistics
import time
import zlib
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


def held_out(prompt):
    """One of 25 prompts, the same on any day."""
    return zlib.crc32(prompt.encode()) % 25 == 1


class Texts:
    """Texts of all folders of records: (folder, first token, tokens, where the answer begins, kind). three: with EAGLE-3's features."""

    def __init__(self, folder, length, three=False):
        self.folder, self.length, self.three, self.parts, self.train, self.held = folder, length, three, {}, [], []
        self.refresh()
        if not self.parts:
            raise SystemExit(f"no records in {folder}")

    def refresh(self):
        """Takes up folders that are new."""
        for part in sorted(f.parent for f in self.folder.glob("*/text.jsonl") if f.parent.suffix != ".part"):
            if part.name in self.parts:
                continue
            ids = torch.from_numpy(numpy.load(part / "ids.npy")).long()
            states = torch.cat([torch.from_numpy(numpy.load(part / f"{name}.npy")).view(torch.bfloat16)
                                for name in ("features", "layers")[:1 + self.three]], dim=-1)
            self.parts[part.name] = ids, states
            begin = 0
            entries = map(json.loads, (part / "text.jsonl").open(encoding="utf-8"))
            for e, n, answer in zip(entries, numpy.load(part / "lengths.npy"), numpy.load(part / "answers.npy"), strict=True):
                if n > answer + 4:
                    text = part.name, begin, min(int(n), self.length + 2), int(answer), e["kind"]
                    (self.held if held_out(e["prompt"]) else self.train).append(text)
                begin += int(n)

    def counts(self, vocabulary):
        """How often each token is in the answers that are trained on."""
        made = torch.zeros(vocabulary, dtype=torch.long, device="cpu")
        for part, begin, n, answer, _ in self.train:
            made += torch.bincount(self.parts[part][0][begin + answer:begin + n], minlength=vocabulary)
        return made

    def batches(self, texts, tokens, rng=None):
        made = data.together(texts, lambda t: t[2], tokens)
        if rng:
            rng.shuffle(made)
        for batch in made:
            longest = max(t[2] for t in batch)
            ids = torch.zeros(len(batch), longest, dtype=torch.long)
            states = torch.zeros(len(batch), longest, next(iter(self.parts.values()))[1].shape[1], dtype=torch.bfloat16)
            weights = torch.zeros(len(batch), longest - 2)
            for row, (part, b, n, answer, _) in enumerate(batch):
                ids[row, :n], states[row, :n] = (x[b:b + n] for x in self.parts[part])
                weights[row, :n - 2] = 0.1
                weights[row, max(answer - 2, 0):n - 2] = 1.0  # features that answer tokens are drawn from
            yield ids, states, weights

    def endless(self, tokens, seed):
        """Groups of texts, in an order of their own each time; what is new takes part in the next group."""
        rng, left = random.Random(seed), []
        group = max(400, tokens // 8)
        while True:
            if len(left) < group:
                self.refresh()
                left = left + rng.sample(self.train, len(self.train))
            yield from self.batches(left[:group], tokens, rng)
            left = left[group:]


class LiveTexts(Texts):
    """Texts of a folder of answers, whose features the target makes when they are asked for; their folder is None."""

    def __init__(self, folder, length, gguf):
        import writer
        self.writer = w = writer.Writer(gguf)
        self.train, self.held = [], []
        entries = [e for file in data.json_files(folder) for e in data.json_lines(file)]
        if not entries:
            raise SystemExit(f"no *.jsonl or *.jsonl.xz in {folder}")
        ids, begin = [], 0
        for at in range(0, len(entries), 8192):
            some = entries[at:at + 8192]
            asked, answers = (w.tokenizer([e[k] for e in some], add_special_tokens=False).input_ids for k in ("prompt", "text"))
            for e, prompt, answer in zip(some, asked, answers):
                whole, before = w.framed(prompt, answer, e["ended"])
                n = min(len(whole), length + 2)
                if n > before + 4:
                    text = None, begin, n, before, e.get("kind", "home")
                    (self.held if held_out(e["prompt"]) else self.train).append(text)
                    ids.append(numpy.array(whole[:n], numpy.int64))
                    begin += n
        self.parts = {None: (torch.from_numpy(numpy.concatenate(ids)), None)}
        self.ids = self.parts[None][0].to(precision.DEVICE)

    def refresh(self):
        pass

    def batches(self, texts, tokens, rng=None):
        made = data.together(texts, lambda t: t[2], tokens)
        if rng:
            rng.shuffle(made)
        for batch in made:
            begins, n, answer = (torch.tensor([t[i] for t in batch])[:, None] for i in (1, 2, 3))
            at = torch.arange(int(n.max()))[None]
            ids = self.ids[(begins + at).clamp(max=len(self.ids) - 1)].masked_fill(at >= n, 0)
            at = at[:, :-2]
            weights = torch.where(at >= (answer - 2).clamp(min=0), 1.0, 0.1) * (at < n - 2)
            yield ids, self.writer.whole(ids), weights


def parted(states, embedding):
    """The features that the head is multiplied with, and EAGLE-3's where they are there."""
    d = embedding.shape[1]
    return states[..., :d].float(), states[..., d:].float()


@torch.no_grad()
def heldout(drafter, texts, embedding, head, steps, most=8):
    """Classification loss of each step, and by kind the mean number of first choices in a row in drafts of five."""
    loss, count = torch.zeros(steps), 0.0
    kinds = collections.defaultdict(list)
    for text in texts.held:
        if len(kinds[text[4]]) < most:
            kinds[text[4]].append(text)
    blocks = {}
    for kind in sorted(kinds):
        run, drafts = 0.0, 0.0
        for ids, states, weights in texts.batches(kinds[kind], 4096):
            weights = (weights == 1).float()
            states, layers = parted(states, embedding)
            embedded = F.embedding(ids[:, 1:-1], embedding).float()
            with precision.autocast():
                _, each, _, total = features.losses(drafter, head, embedded, states[:, :-1], weights, steps, False, layers=layers[:, :-1])
                alive = None
                taught = weights.bool().flatten()
                wanted = torch.zeros(taught.shape, dtype=torch.long)
                wanted[taught] = (states[:, 1:-1].flatten(0, 1)[taught].to(head.dtype) @ head.T).argmax(-1)
                for step, made in enumerate(features.unroll(drafter, embedded, drafter.first(states[:, :-2], layers[:, :-2]), 4)):
                    first = torch.full(taught.shape, -1)
                    first[taught] = F.linear(drafter.to_head(made.flatten(0, 1)[taught]), drafter.head(head)).argmax(-1)
                    hit = (first == wanted).view(weights.shape).float()
                    alive = hit if alive is None else hit * alive.roll(1, dims=1)
                    ok = weights.clone()
                    ok[:, :4] = 0
                    run += (alive * ok).sum().item()
                    if step == 0:
                        drafts += ok.sum().item()
            loss += each.float() * total
            count += total.item()
        blocks[kind] = 1 + run / max(drafts, 1)
    return loss / count, blocks


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--features", type=Path)
    p.add_argument("--text", type=Path, help="instead, with --gguf")
    p.add_argument("--gguf", type=Path)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--from", dest="start", type=Path, help="folder to go on from")
    p.add_argument("--steps", type=int, default=1, help="1: EAGLE; more: HASS")
    p.add_argument("--three", action="store_true", help="EAGLE-3's form, of records with layers.npy; --weights 0 1 0")
    p.add_argument("--norms", nargs="+", default=[], choices=features.NORMS, help="with --three: of EAGLE 3.1")
    p.add_argument("--csra", action="store_true", help="CORAL's cross-step alignment")
    p.add_argument("--state", type=Path, help="file to go on from, and to write")
    p.add_argument("--rows", type=int, default=12288, help="rows of the head in the loss; 0: all")
    p.add_argument("--length", type=int, default=352, help="tokens of a text, at most")
    p.add_argument("--tokens", type=int, default=3072, help="tokens a step")
    p.add_argument("--taught", type=int, default=1024, help="positions of them that the head's loss looks at; 0: all")
    p.add_argument("--step-weight", type=float, default=0.8, help="of a step's loss, of that before it")
    p.add_argument("--hybrid", action="store_true", help="total variation where drafts are good, KL where they are not (lk_hybrid)")
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--decay", type=float, default=0.01)
    p.add_argument("--minutes", type=float, default=60, help="the rate falls as a cosine until then")
    p.add_argument("--every", type=float, default=5.0, help="minutes between evaluations")
    p.add_argument("--weights", type=float, nargs=3, default=[1.0, 0.1, 0.1], metavar=("REG", "CLS", "CSRA"),
                   help="of the losses; CORAL has 0.5 0.1 0.05 to 0.2")
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="at most")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    cores = threads.Threads(args.threads)

    if args.norms and not args.three:
        p.error("--norms: expected --three")
    if (args.features is None) == (args.text is None) or args.text and (args.three or not args.gguf):
        p.error("expected --features, or --text with --gguf and without --three")
    if args.text:
        texts = LiveTexts(args.text, args.length, args.gguf)
        embedding, config = texts.writer.embedding, texts.writer.config
    else:
        texts = Texts(args.features, args.length, args.three)
        embedding = load_file(args.features / "target.safetensors")["embedding"].to(precision.DEVICE, precision.weights())
        stored = json.loads((args.features / "config.json").read_text())
        config = llama.Config(**{k: v for k, v in stored.items() if k in llama.Config.__dataclass_fields__})
    frequent = texts.counts(len(embedding)).argsort(descending=True, stable=True)
    rows = frequent[:args.rows or len(embedding)].sort().values.to(precision.DEVICE)
    if args.start:
        drafter = features.load(args.start)
        if args.three != isinstance(drafter, features.ThreeDrafter):
            raise SystemExit(f"{args.start}: expected EAGLE{'-3' * args.three}'s form")
        if args.three:
            rows = drafter.rows  # its head has these
            if args.norms and drafter.norms != set(args.norms):
                raise SystemExit(f"{args.start}: expected norms {' '.join(sorted(args.norms))}, found {' '.join(sorted(drafter.norms))}")
    else:
        drafter = features.ThreeDrafter(config, rows, embedding[rows], args.norms) if args.three else features.Drafter(config)
    drafter.config.trained_context = args.length
    matrices = [q for n, q in drafter.named_parameters() if q.dim() == 2 and "lm_head" not in n]
    rest = [q for n, q in drafter.named_parameters() if q.dim() == 1 or "lm_head" in n]
    opts = [muon.Muon(matrices, lr=args.rate, weight_decay=args.decay),
            torch.optim.AdamW(rest, lr=args.rate, betas=(0.9, 0.95), fused=True)]
    seen, step, began = 0, 0, time.time()
    if args.state and args.state.exists():
        state = torch.load(args.state)
        drafter.load_state_dict(state["drafter"])
        for o, was in zip(opts, state["optimizers"]):
            o.load_state_dict(was)
        rows, seen, step = state["rows"], state["seen"], state["step"]
        began -= 60 * state["minutes"]
    head = embedding[rows]
    print(f"{sum(q.numel() for q in drafter.parameters())} parameters; {len(texts.train)} conversations, held out {len(texts.held)}; "
          f"{len(head)} rows of the head", flush=True)
    looked, stream = time.time(), texts.endless(args.tokens, args.seed + step)
    while True:
        done = (time.time() - began) / 60 / args.minutes
        if done >= 1 or time.time() - looked > 60 * args.every:
            loss, blocks = heldout(drafter, texts, embedding, head, max(args.steps, 3))
            print(f"{(time.time() - began) / 60:6.2f} min  step {step}  {int(seen)} answer tokens  {len(texts.train)} texts  held out "
                  + " ".join(f"{x:.4f}" for x in loss.tolist()) + "  tokens a block of five "
                  + ", ".join(f"{k} {b:.2f}" for k, b in blocks.items()) + f"  median {statistics.median(blocks.values()):.3f}", flush=True)
            features.save(drafter, args.out)
            if args.state:
                part = args.state.with_suffix(".part")
                torch.save({"drafter": drafter.state_dict(), "optimizers": [o.state_dict() for o in opts], "rows": rows,
                            "seen": int(seen), "step": step, "minutes": (time.time() - began) / 60}, part)
                os.replace(part, args.state)
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
        given, layers = parted(states[:, :-1], embedding)
        inputs = None
        if args.steps == 1 and not args.three:
            inputs = given[:, :-1]
            inputs = inputs + (torch.rand_like(inputs) - 0.5) * 0.2 * inputs.abs().mean()
        embedded = F.embedding(ids[:, 1:-1], embedding).float()
        with precision.autocast():
            regression, classification, alignment, _ = features.losses(
                drafter, head, embedded, given, weights, args.steps, args.csra, inputs, taught=args.taught, hybrid=args.hybrid, layers=layers)
        of_step = args.step_weight ** torch.arange(args.steps)
        total = sum(w * (l * of_step).sum() / of_step.sum() for w, l in zip(args.weights, (regression, classification, alignment)))
        total.backward()
        torch.nn.utils.clip_grad_norm_(drafter.parameters(), 0.5)
        for o in opts:
            o.step()
            o.zero_grad(set_to_none=True)
        seen = seen + (weights == 1).sum()  # of answers
        step += 1


if __name__ == "__main__":
    main()
