"""Muon (Jordan et al. 2024) for matrices, its products in the precision the CPU multiplies: torch.optim.Muon always takes BF16."""
import math

import torch

import precision


def rate_scale(step, done):
    """Of the learning rate: 50 steps of warm-up, and a cosine down to 0.03 as `done` goes from 0 to 1."""
    return min(1.0, (step + 1) / 50) * (0.03 + 0.97 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0))))


def orthogonal(update, steps=5):
    """About the nearest matrix with all singular values 1, by Newton and Schulz."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = update.to(precision.weights())
    wide = x.shape[0] <= x.shape[1]
    x = x if wide else x.T
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x if wide else x.T).to(update.dtype)


class Muon(torch.optim.Optimizer):
    """`lr`: as AdamW's: updates have its root mean square (0.2 sqrt(max(rows, columns)) times an orthogonal matrix)."""

    def __init__(self, params, lr, weight_decay=0.0, momentum=0.95):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                mean = self.state[p].setdefault("mean", torch.zeros_like(p))
                mean.lerp_(p.grad, 1 - group["momentum"])
                update = p.grad.lerp(mean, group["momentum"])
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(orthogonal(update), alpha=-group["lr"] * 0.2 * max(p.shape) ** 0.5)
