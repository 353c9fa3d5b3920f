#!/usr/bin/env python3
"""Make gradients.json in golden folders, and adamw.json: what PyTorch gets, in double.

    python tests/golden/gradients.py              (needs torch, transformers; after make_golden.py)

gradients.json: the loss is the mean cross-entropy of the next tokens of two sequences, ids[:17] and ids[10:24] of
the folder's ids.json. For each parameter: the norm of its gradient and some of its numbers, `stride` apart.
adamw.json: weights, gradients and learning rates of a few steps, with the norm before clipping at 1 and the weights
behind each step; the matrix decays by 0.1, the vector does not.
"""
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM

HERE = Path(__file__).resolve().parent
MOST = 24  # numbers of a parameter


def rounded(values):
    return [float(f"{v:.8g}") for v in values]


def gradients(name):
    folder = HERE / name
    ids = torch.tensor(json.loads((folder / "ids.json").read_text()))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    rows, wanted = [], []
    for s in (ids[:17], ids[10:24]):
        rows.append(model(s[None]).logits[0, :-1].double())
        wanted.append(s[1:])
    loss = F.cross_entropy(torch.cat(rows), torch.cat(wanted))
    loss.backward()
    tensors = {}
    for n, p in sorted(model.named_parameters()):
        g = p.grad.flatten()
        stride = max(1, g.numel() // MOST) | 1  # odd, so that it walks over all columns
        tensors[n] = {"norm": float(f"{g.norm():.10g}"), "stride": stride, "values": rounded(g[::stride].tolist())}
    out = {"loss": float(f"{loss.item():.12g}"), "tensors": tensors}
    lines = ",\n".join(f"  {json.dumps(n)}: {json.dumps(t)}" for n, t in tensors.items())
    (folder / "gradients.json").write_text(f'{{"loss": {out["loss"]}, "tensors": {{\n{lines}\n}}}}\n')
    print(name, out["loss"], (folder / "gradients.json").stat().st_size, "bytes")


def adamw():
    torch.manual_seed(11)
    matrix = torch.randn(3, 4, dtype=torch.float64).requires_grad_()
    vector = torch.randn(5, dtype=torch.float64).requires_grad_()
    optimiser = torch.optim.AdamW([{"params": [matrix], "weight_decay": 0.1}, {"params": [vector], "weight_decay": 0.0}],
                                  lr=1.0, betas=(0.9, 0.95), eps=1e-6)

    def flat(a, b):
        return torch.cat([a.detach().flatten(), b.detach()]).tolist()

    out = {"weights": flat(matrix, vector), "steps": []}
    for step in range(6):
        rate = 0.05 / (1 + step)
        for group in optimiser.param_groups:
            group["lr"] = rate
        matrix.grad, vector.grad = torch.randn_like(matrix) * 0.3**step, torch.randn_like(vector) * 0.3**step
        given = flat(matrix.grad, vector.grad)
        norm = torch.nn.utils.clip_grad_norm_([matrix, vector], 1.0)
        optimiser.step()
        out["steps"].append({"rate": rate, "gradient": given, "norm": norm.item(), "weights": flat(matrix, vector)})
    steps = ",\n  ".join(map(json.dumps, out["steps"]))
    (HERE / "adamw.json").write_text(f'{{"weights": {json.dumps(out["weights"])},\n "steps": [\n  {steps}]}}\n')
    print("adamw", [s["norm"] for s in out["steps"]])


def main():
    for name in ("llama", "llama3", "qwen2"):
        gradients(name)
    adamw()


if __name__ == "__main__":
    main()
