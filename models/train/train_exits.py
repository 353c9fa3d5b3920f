"""Sorted fine-tuning (SoFT; S2D, Eq. 3): train a drafter at several depths at once.

    python models/train/train_exits.py --chat --text CHAT --from models/smollm2-drafter --exits 2,4,6 \\
        --out EXITS --minutes 30

The loss is the mean of the exits' cross entropies; embedding and head are theirs together, and each
exit has a norm of its own unless --shared-norm.  --exits names the layers behind which the drafter may
stop; the last one is how many it has.  Layers that --from lacks are put on top and begin as doing
nothing.  The folder is what specdec's exit_model reads: config.json has "specdec_exits", the weights
exits.0.norm.weight and so on.  Data, optimisers and schedule are train.py's.

--from may be the target itself, whose first layers then become the drafter (S2D, 3.3).  --features
names a target with the drafter's tokenizer and hidden size whose last states the exits' states also
learn (S2D, 4.4.3; EAGLE): L = w_reg SmoothL1 + w_cls cross entropy with the target's distribution,
embedding and head fixed.
"""
import argparse
import dataclasses
import functools
import json
import math
import shutil
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

import data
import llama
import muon
import precision
import threads
import train


class ExitLlama(llama.Llama):
    def __init__(self, config, exits, own_norms):
        super().__init__(config)
        self.depths = exits
        self.exits = nn.ModuleList(nn.ModuleDict({"norm": nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)})
                                   for _ in exits[:-1] if own_norms)

    def hidden_of_exits(self, ids):
        """What the head is multiplied with, of every exit."""
        cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        x = self.embed_tokens(ids)
        found = []
        for i, layer in enumerate(self.layers):
            x = layer(x, cos, sin, None, None, self.dropout)
            if i + 1 in self.depths:
                e = self.depths.index(i + 1)
                found.append((self.exits[e]["norm"] if e < len(self.exits) else self.norm)(x))
        return found


def grown(folder, exits, own_norms, length):
    """The model of a folder, deeper or cut to the last exit's layers; with its exits' norms if it has some."""
    stored = json.loads((folder / "config.json").read_text())
    config = llama.Config(**{k: stored[k] for k in llama.Config.__dataclass_fields__ if k in stored})
    config = dataclasses.replace(config, num_hidden_layers=exits[-1], trained_context=config.trained_context or length)
    model = ExitLlama(config, exits, own_norms)
    tensors = {k.removeprefix("model."): v.float() for k, v in load_file(folder / "model.safetensors").items()}
    names = set(model.state_dict())
    missing = names - set(tensors)
    model.load_state_dict({k: v for k, v in tensors.items() if k in names}, strict=False)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name in missing and name.startswith("exits."):
                p.copy_(tensors["norm.weight"])
            elif name in missing and name.endswith(("o_proj.weight", "down_proj.weight")):
                p.zero_()
    return model


def losses_of(model, ids, wanted, weights):
    """The summed loss of every exit, and how much weight it has; with the exits' first choices."""
    with precision.autocast():
        logits = [F.linear(x, model.embed_tokens.weight) for x in model.hidden_of_exits(ids)]
    each = [F.cross_entropy(l.float().flatten(0, 1), wanted.flatten(), reduction="none") for l in logits]
    hits = [((l.argmax(-1) == wanted) * weights).sum() for l in logits]
    return [(e * weights.flatten()).sum() for e in each], hits, weights.sum()


def aligned_losses_of(model, ids, weights, target, regression, classification):
    """The summed loss of every exit beside a target, and how much weight it has."""
    with precision.autocast():
        with torch.no_grad():
            states = target.hidden(ids)
            wanted = F.linear(states, target.embed_tokens.weight).float().softmax(-1)
        found = model.hidden_of_exits(ids)
        logits = [F.linear(x, model.embed_tokens.weight) for x in found]
    sums = []
    for x, l in zip(found, logits):
        each = regression * F.smooth_l1_loss(x.float(), states.float(), reduction="none").mean(-1)
        if classification:
            each = each + classification * F.cross_entropy(l.float().flatten(0, 1), wanted.flatten(0, 1), reduction="none").view_as(each)
        sums.append((each * weights).sum())
    return sums, weights.sum()


@torch.no_grad()
def heldout(model, documents, length):
    """For each exit: the mean loss over the tokens of weight 1, and the part that is its first choice."""
    model.eval()
    total, right, count = [0.0] * len(model.depths), [0.0] * len(model.depths), 0.0
    for ids, wanted, weights in data.batches(documents, length, 4096):
        sums, hits, n = losses_of(model, ids, wanted, (weights == 1.0).float())
        total = [t + s.item() for t, s in zip(total, sums)]
        right = [r + h.item() for r, h in zip(right, hits)]
        count += n.item()
    model.train()
    return [t / count for t in total], [r / count for r in right]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--text", type=Path, nargs="+", required=True, help="folders of *.txt or *.jsonl")
    p.add_argument("--heldout-part", type=float, default=0.04)
    p.add_argument("--heldout-most", type=int, default=400, help="texts to evaluate on, at most")
    p.add_argument("--chat", action="store_true", help="the text is SmolLM2 conversations")
    p.add_argument("--prompt-weight", type=float, default=0.1)
    p.add_argument("--from", dest="start", type=Path, required=True, help="a drafter's folder")
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--exits", required=True, help="layers behind which it may stop: 2,4,6")
    p.add_argument("--shared-norm", action="store_true", help="one norm before the head for all exits")
    p.add_argument("--features", type=Path, help="a target's folder, whose last states the exits learn, too")
    p.add_argument("--weights", type=float, nargs=2, default=[1.0, 0.1], metavar=("REG", "CLS"), help="with --features: of both losses")
    p.add_argument("--json", action="store_true", help="print one JSON object on standard output, all else on standard error")
    p.add_argument("--length", type=int, default=320, help="longest window")
    p.add_argument("--tokens", type=int, default=1800, help="tokens a step")
    p.add_argument("--rate", type=float, default=1.5e-3)
    p.add_argument("--decay", type=float, default=0.1)
    p.add_argument("--minutes", type=float)
    p.add_argument("--steps", type=int)
    p.add_argument("--every", type=float, default=5.0, help="minutes between evaluations")
    p.add_argument("--threads", type=int, default=1, help="at most")
    p.add_argument("--split", type=int, default=data.SPLIT, help="which texts are held out depends on this and their prompts alone")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    if bool(args.minutes) == bool(args.steps):
        p.error("--minutes or --steps: expected one of the two")
    try:
        exits = [int(e) for e in args.exits.split(",")]
    except ValueError:
        exits = [0]
    if exits != sorted(set(exits)) or exits[0] < 1:
        p.error("--exits: expected numbers of layers that rise, such as 2,4,6")
    torch.manual_seed(args.seed)
    cores = threads.Threads(args.threads)
    say = functools.partial(print, file=sys.stderr if args.json else sys.stdout, flush=True)

    args.out.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "equivalences.json"):
        if (args.start / name).exists() and args.start.resolve() != args.out.resolve():
            shutil.copy(args.start / name, args.out / name)
    model = grown(args.start, exits, not args.shared_norm, args.length)
    tokenizer = Tokenizer.from_file(str(args.out / "tokenizer.json"))
    target = None
    if args.features:
        target = llama.load(args.features).eval().requires_grad_(False)
        model.embed_tokens.requires_grad_(False)
        if target.embed_tokens.weight.shape != model.embed_tokens.weight.shape:
            p.error("--features: expected a target with the drafter's tokenizer and hidden size")
    texts, held = train.read_texts(args, tokenizer, model.config.eos_token_id)
    say(f"{len(texts)} texts, {sum(len(d[0]) for d in texts)} tokens; held out {len(held)} texts; "
          f"{model.parameter_count()} parameters, exits behind {exits} layers")

    opts = train.optimizers(model, args.rate, args.decay)
    base = [[g["lr"] for g in o.param_groups] for o in opts]
    best, seen, began, looked, step = math.inf, 0, time.time(), -math.inf, 0
    stream = data.endless(texts, args.length, args.tokens, args.seed)
    while True:
        done = step / args.steps if args.steps else (time.time() - began) / 60 / args.minutes
        if done >= 1 or time.time() - looked > 60 * args.every:
            loss, hit = heldout(model, held, args.length)
            say(f"{(time.time() - began) / 60:6.2f} min  step {step}  {seen} tokens  held out, exit by exit: "
                + "  ".join(f"{l:.4f} ({h:.1%})" for l, h in zip(loss, hit)))
            if sum(loss) < best:
                best, kept = sum(loss), {"step": step, "heldout_loss": loss, "first_choice": hit}
                llama.save(model, args.out, {"specdec_exits": exits})
            looked = time.time()
            if done >= 1:
                break
        cores.update()
        ids, wanted, weights = next(stream)
        if target:
            sums, count = aligned_losses_of(model, ids, weights, target, *args.weights)
        else:
            sums, _, count = losses_of(model, ids, wanted, weights)
        train.descend(model, opts, base, muon.rate_scale(step, done), sum(sums) / len(sums) / count)
        seen += int((weights > 0).sum())
        step += 1
    if args.json:
        print(json.dumps({"exits": exits, "parameters": model.parameter_count(), "steps": step, "tokens": seen, "kept": kept}))


if __name__ == "__main__":
    main()
