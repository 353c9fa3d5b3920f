"""Cross entropy of a head, loss and gradients in one visit of some rows at a time, so that their logits stay in cache.

PyTorch's own writes logits, their logarithms and two gradients, each rows x vocabulary in F32, and reads them
again: a fifth of a small model's step.
"""
import torch

import precision

ROWS = precision.at_a_time(256)


class HeadLoss(torch.autograd.Function):
    @staticmethod
    def forward(context, hidden, head, wanted):
        low = precision.weights()
        x, w = hidden.to(low), head.to(low)
        loss = torch.zeros(())
        of_hidden, of_head = torch.empty_like(hidden), torch.zeros_like(head)
        for at in range(0, len(x), ROWS):
            rows, ids = x[at:at + ROWS], wanted[at:at + ROWS, None]
            logits = (rows @ w.T).float()
            normalizer = logits.logsumexp(-1, keepdim=True)
            loss += (normalizer - logits.gather(-1, ids)).sum()
            error = logits.sub_(normalizer).exp_().scatter_add_(-1, ids, torch.full(ids.shape, -1.0)).to(low)
            of_hidden[at:at + ROWS] = error @ w
            of_head += error.T @ rows
        context.save_for_backward(of_hidden, of_head)
        return loss

    @staticmethod
    def backward(context, scale):
        of_hidden, of_head = context.saved_tensors
        return of_hidden * scale, of_head * scale, None


def head_loss(hidden, head, wanted):
    """Sum over rows of -log softmax(hidden @ head.T)[wanted]; hidden [rows, size], head [vocabulary, size]."""
    return HeadLoss.apply(hidden, head, wanted)
