#!/usr/bin/env python3
"""Make losses.txt: rows, and the losses of include/specdec/learn with their gradients as torch gets them.

    python tests/golden/losses.py            (needs torch)

A line is a name, how many numbers follow, and the numbers; "case" begins a case. All in float64, with autograd; the rows
are float32 numbers, so that they are read as they were.
"""
from pathlib import Path

import torch
import torch.nn.functional as F

DRAFT, TARGET, NGRAM, WEIGHT, FLOOR = 17, 15, 3, 0.7, 1e-6
torch.set_default_dtype(torch.float64)
lines = []


def put(name, values):
    values = values.detach().reshape(-1).tolist() if isinstance(values, torch.Tensor) else list(values)
    lines.append(" ".join([name, str(len(values)), *(repr(v) for v in values)]))


def row(size, forbidden):
    z = (2.5 * torch.randn(size)).float().double()
    z[torch.rand(size) < forbidden] = -torch.inf
    z[0] = 0.5
    return z


def with_gradient(name, loss, *leaves):
    gradients = torch.autograd.grad(WEIGHT * loss, leaves, retain_graph=True)
    put(name, [WEIGHT * loss.item(), *torch.cat(gradients).tolist()])


def make_case(seed, temperature, forbidden):
    torch.manual_seed(seed)
    # Several draft tokens of one target token, and tokens without a partner on both sides; the last one of the target has none.
    to_target = [int(torch.randint(TARGET - 1, ())) if d == 0 or torch.rand(()) > 0.3 else -1 for d in range(DRAFT)]
    mapped = torch.tensor([t >= 0 for t in to_target])
    index = torch.tensor([max(t, 0) for t in to_target])
    rows = [row(DRAFT, forbidden).requires_grad_() for _ in range(NGRAM)]
    target = row(TARGET, forbidden)
    target[to_target[0]] = 1.0
    ids = [0]
    for z in rows[1:]:
        ids.append(int(torch.multinomial(torch.softmax(z.detach(), 0), 1)))
    put("case", [temperature])
    put("map", to_target)
    put("target", target)
    put("rows", torch.cat(rows))
    put("ids", ids)

    z = rows[0]
    p = torch.softmax(target, 0)
    q_draft = torch.softmax(z.masked_fill(~mapped, -torch.inf) / temperature, 0)
    q = torch.zeros(TARGET).index_add(0, index, q_draft)
    shared = q.detach() > 0

    conditioned = (p / p[shared].sum())[shared]
    with_gradient("forward", F.kl_div(q[shared].log(), conditioned, reduction="sum"), z)

    def reverse(q, where):
        floored = p.clamp(min=FLOOR)[where]
        return F.kl_div((floored / floored.sum()).log(), q[where], reduction="sum")

    with_gradient("reverse", reverse(q, shared), z)
    with_gradient("variation", (p - q).abs().sum() / 2, z)
    nll = [F.cross_entropy(z[None] / temperature, torch.tensor([d])) for z, d in zip(rows, ids)]
    with_gradient("nll", nll[0], z)
    with_gradient("ngram_nll", sum(nll), *rows)
    with_gradient("exits", sum(F.cross_entropy(z[None], torch.tensor([0])) for z in rows) / NGRAM, *rows)

    merged = q_draft[0]
    for z, d in zip(rows[1:], ids[1:]):
        merged = merged * torch.softmax(z / temperature, 0)[d]
    change = torch.zeros(TARGET)
    change[to_target[0]], change[TARGET - 1] = -1.0, 1.0
    equation_2 = q + change * merged
    with_gradient("ngram_kl", reverse(equation_2, equation_2.detach() > 0), *rows)

    f = (3 * torch.randn(6)).float().double().requires_grad_()
    labels = torch.rand(6).float().double()
    accepted, rejected = 0.5, 6.0
    put("labels", labels)
    put("head", f)
    loss = F.binary_cross_entropy_with_logits(f, labels, reduction="sum", weight=torch.tensor(WEIGHT * rejected),
                                              pos_weight=torch.tensor(accepted / rejected))
    put("acceptance", [loss.item(), *torch.autograd.grad(loss, f)[0].tolist()])


for seed, temperature, forbidden in [(1, 1.0, 0.0), (2, 1.0, 0.2), (3, 0.5, 0.2), (4, 2.0, 0.3), (5, 0.8, 0.4)]:
    make_case(seed, temperature, forbidden)
text = "\n".join(lines) + "\n"
assert "nan" not in text
Path(__file__).with_name("losses.txt").write_text(text)
