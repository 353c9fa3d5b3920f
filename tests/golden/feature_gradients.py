#!/usr/bin/env python3
"""Make feature_gradients.json: what PyTorch gets, in double, for a drafter that reads features, by models/train/features.py.

    python tests/golden/feature_gradients.py              (needs torch, safetensors)

Three steps (HASS) over a text of 12 places. Weights, embeddings and features are sines that the test makes, too: number j of
a tensor is scale sin(0.37 j + phase). The loss is the sum of w s + s^2 / 2 over the states s of step k at the places i >= k,
w = sin(3 i + 5 k + number). For each tensor: the norm of its gradient and some of its numbers, `stride` apart.
"""
import json
import sys
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "models" / "train"))
import features  # noqa: E402
import llama  # noqa: E402

PLACES, STEPS, MOST = 12, 3, 16


def sines(shape, phase, scale, around=0.0):
    n = torch.Size(shape).numel()
    return (scale * torch.sin(0.37 * torch.arange(n, dtype=torch.float64) + phase) + around).reshape(shape)


def main():
    c = llama.Config(vocab_size=64, hidden_size=36, intermediate_size=50, num_hidden_layers=1, num_attention_heads=6,
                     num_key_value_heads=3, max_position_embeddings=64)
    drafter = features.Drafter(c).double()
    for k, (name, p) in enumerate(sorted(drafter.named_parameters())):
        p.data = sines(p.shape, k, 0.3 if p.dim() == 2 else 0.1, 0.0 if p.dim() == 2 else 1.0)
    embedded = sines((1, PLACES, 36), 20, 1.0)
    given = sines((1, PLACES, 36), 30, 1.0)
    loss = 0.0
    number = torch.arange(36)
    for step, made in enumerate(features.unroll(drafter, embedded, given, STEPS)):
        for i in range(step, PLACES):
            s = made[0, i]
            loss = loss + (torch.sin((3.0 * i + 5.0 * step + number).double()) * s + s * s / 2).sum()
    loss.backward()
    tensors = {}
    for name, p in sorted(drafter.named_parameters()):
        g = p.grad.flatten()
        stride = max(1, g.numel() // MOST) | 1
        tensors[name if name.startswith("fc.") else "layers.0." + name] = {
            "norm": float(f"{g.norm():.10g}"), "stride": stride, "values": [float(f"{v:.8g}") for v in g[::stride].tolist()]}
    lines = ",\n".join(f"  {json.dumps(n)}: {json.dumps(t)}" for n, t in tensors.items())
    (HERE / "feature_gradients.json").write_text(f'{{"loss": {loss.item():.12g}, "tensors": {{\n{lines}\n}}}}\n')
    print(loss.item())


if __name__ == "__main__":
    main()
