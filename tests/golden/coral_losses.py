#!/usr/bin/env python3
"""Make alignment.txt and router.txt: losses and gradients of CORAL's alignment and router that PyTorch gets, by models/train.

    python tests/golden/coral_losses.py                   (needs torch, safetensors)

Inputs are sines that the tests make, too: number j of an array is sin(0.37 j + phase). alignment.txt: the loss of step 3 at 5
positions of 6 numbers (phases 1, 2, 3 of the steps, 4 of the target), then its gradients [3, 5, 6]. router.txt: the loss of a
router of 4 groups over 7 states of 6 numbers (phases 1 of W1, 2 of W2, 3 of the states; the target's mass is the softmax of
phase 4), a mean over the states, then the gradients of W1 [6, 6] and W2 [4, 6].
"""
import sys
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "models" / "train"))
import features  # noqa: E402
import train_router  # noqa: E402


def sines(shape, phase):
    n = torch.Size(shape).numel()
    return torch.sin(0.37 * torch.arange(n, dtype=torch.float64) + phase).float().reshape(shape)


def write(name, loss, *gradients):
    numbers = [loss.item(), *(x for g in gradients for x in g.flatten().tolist())]
    (HERE / name).write_text("".join(f"{x:.8g}\n" for x in numbers))


def main():
    made = [sines((1, 5, 6), phase).requires_grad_() for phase in (1, 2, 3)]
    loss = features.alignment_loss(made, sines((1, 5, 6), 4), torch.ones(1, 5), 0.07, 768)
    loss.backward()
    write("alignment.txt", loss, *(m.grad for m in made))
    router = train_router.Router(6, 4)
    router.inner.weight.data, router.groups.weight.data = sines((6, 6), 1), sines((4, 6), 2)
    law = sines((7, 4), 4).softmax(-1)
    loss = -(law * router(sines((7, 6), 3)).log_softmax(-1)).sum(-1).mean()  # as train_router.py has it
    loss.backward()
    write("router.txt", loss, router.inner.weight.grad, router.groups.weight.grad)


if __name__ == "__main__":
    main()
