"""Train the router of a drafter that reads features (CORAL, section 3.3): which groups of the vocabulary its head should compute.

    python models/train/train_router.py --features RECORDS --drafter models/smollm2-features --groups 16 --minutes 10

RECORDS: as for train_features.py. The drafter stays as it is; the router W2 (SiLU(W1 h) + h) learns the target's law over
groups of tokens from the drafter's hidden states of the first --steps tokens of a draft. The groups are equal parts of the
vocabulary, in the order of ids as in the paper, or in that of how often the answers have them: then the first ones hold more. Writes
DRAFTER/router.safetensors, the best by held-out loss, and prints how much of the target's law the likeliest groups hold.
"""
import argparse
import math
import os
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

import features
import muon
import precision
import threads
from train_features import Texts


class Router(nn.Module):
    def __init__(self, width, groups):
        super().__init__()
        self.inner = nn.Linear(width, width, bias=False)
        self.groups = nn.Linear(width, groups, bias=False)
        nn.init.zeros_(self.inner.weight)
        nn.init.normal_(self.groups.weight, std=0.02)

    def forward(self, h):
        return self.groups(F.silu(self.inner(h)) + h)


@torch.no_grad()
def examples(drafter, head, members, batch, embedding, steps, most):
    """Hidden states [n, width] of the first steps and the target's law over the groups [n, groups]."""
    ids, states, weights = batch
    states = states.float()
    embedded = F.embedding(ids[:, 1:-1], embedding).float()
    made = list(features.unroll(drafter, embedded, states[:, :-2], steps))
    wanted = (weights == 1).clone()
    wanted[:, :steps] = False
    at = wanted.flatten().nonzero().flatten()
    at = at[torch.randperm(len(at))[:most]]
    law = (states[:, 1:-1].flatten(0, 1)[at].to(head.dtype) @ head.T).float().softmax(-1)
    law = torch.stack([law[:, ids].sum(-1) for ids in members], dim=-1)
    return [m.flatten(0, 1)[at].float() for m in made], law


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--features", type=Path, required=True)
    p.add_argument("--drafter", type=Path, required=True)
    p.add_argument("--groups", type=int, default=16)
    p.add_argument("--order", choices=("ids", "frequency"), default="frequency", help="of the tokens that are parted into groups")
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--tokens", type=int, default=2048, help="tokens a step")
    p.add_argument("--most", type=int, default=512, help="of them, that the router learns from")
    p.add_argument("--rate", type=float, default=1e-3)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="at most")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    cores = threads.Threads(args.threads)

    texts = Texts(args.features, 224)
    head = load_file(args.features / "target.safetensors")["embedding"].to(precision.weights())
    drafter = features.load(args.drafter).eval()
    order = torch.arange(len(head))
    if args.order == "frequency":
        order = texts.counts(len(head)).sort(descending=True, stable=True).indices
    # As token_groups::equal_parts: the k-th token is in group k * groups / vocabulary.
    group_of = torch.empty(len(head), dtype=torch.int32)
    group_of[order] = (torch.arange(len(head)) * args.groups // len(head)).int()
    members = [(group_of == g).nonzero().flatten() for g in range(args.groups)]
    router = Router(head.shape[1], args.groups)
    optimizer = torch.optim.AdamW(router.parameters(), lr=args.rate, betas=(0.9, 0.95))
    make = lambda batch, most: examples(drafter, head, members, batch, head, args.steps, most)

    @torch.no_grad()
    def heldout():
        loss, kept, count = 0.0, torch.zeros(args.groups), 0
        for batch in texts.batches(texts.held, 4096):
            hidden, law = make(batch, 4096)
            for h in hidden:
                logits = router(h)
                loss -= (law * logits.log_softmax(-1)).sum().item()
                kept += law.gather(1, logits.argsort(-1, descending=True)).cumsum(-1).sum(0)
                count += len(law)
        return loss / count, kept / count

    best, began, step = math.inf, time.time(), 0
    looked, stream = began, texts.endless(args.tokens, args.seed)
    while True:
        done = (time.time() - began) / 60 / args.minutes
        if done >= 1 or time.time() - looked > max(60.0, 12 * args.minutes):
            loss, kept = heldout()
            print(f"{(time.time() - began) / 60:6.2f} min  step {step}  held out {loss:.4f}  of the target's law in 1, 2, 4, 8 "
                  "groups: " + " ".join(f"{kept[n - 1]:.3f}" for n in (1, 2, 4, 8) if n <= args.groups), flush=True)
            if loss < best:
                best = loss
                part = args.drafter / "router.safetensors.part"
                tensors = {f"router.{k}": v.detach().to(torch.bfloat16) for k, v in router.state_dict().items()}
                if args.order != "ids":
                    tensors["router.group_of"] = group_of
                save_file(tensors, part, metadata={"format": "pt"})
                part.chmod(0o644)
                os.replace(part, args.drafter / "router.safetensors")
            looked = time.time()
            if done >= 1:
                break
        for g in optimizer.param_groups:
            g["lr"] = args.rate * muon.rate_scale(step, done)
        cores.update()
        hidden, law = make(next(stream), args.most)
        loss = sum(-(law * router(h).log_softmax(-1)).sum(-1).mean() for h in hidden) / len(hidden)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1


if __name__ == "__main__":
    main()
