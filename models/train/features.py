"""A drafter that reads the target's features, its training steps, and its files, in two forms: EAGLE's

    x_i = fc([embedding of token i+1; feature behind token i])      -> one decoder layer -> feature behind token i+1

whose feature is what the target's head is multiplied with (behind its last norm), so that the target's embedding and head serve
the drafter, too, and are not in its files; and EAGLE-3's, which reads what stands before three layers of the target and has a
norm and a head of its own, and the norms of EAGLE 3.1 where asked for. Inside a draft the drafter's own features go in again.
"""
import json
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

import llama
import precision


class Attention(llama.Attention):
    """Attention over a text of which the last steps are the drafter's own (HASS): at step k a position sees the keys of
    step 1 up to k - 1 positions before itself, and of the positions since then those of steps 2 .. k."""

    def forward(self, x, cos, sin, steps):
        b, t, _ = x.shape
        q = llama.rotate(self.q_proj(x).view(b, t, self.heads, self.dim).transpose(1, 2), cos, sin)
        k = llama.rotate(self.k_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        steps = steps + [(k, v)]
        n = len(steps)
        if n == 1:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scale = self.dim ** -0.5
            first_k, first_v = steps[0]
            at = torch.arange(t)
            unseen = at[None, :] > at[:, None] - (n - 1)
            scores = (q @ first_k.transpose(2, 3) * scale).float().masked_fill(unseen, float("-inf"))
            own = []  # of step m + 1 at the position n - 1 - m before
            for m in range(1, n):
                back = n - 1 - m
                s = (q * steps[m][0].roll(back, dims=2)).sum(-1, keepdim=True).float() * scale
                own.append(s.masked_fill((at < back)[:, None], float("-inf")))
            p = torch.cat([scores] + own, dim=-1).softmax(-1).to(q.dtype)
            y = p[..., :t] @ first_v
            for m in range(1, n):
                y = y + p[..., t + m - 1:t + m] * steps[m][1].roll(n - 1 - m, dims=2)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1)), steps


class Drafter(nn.Module):
    """`config`: of the layer, llama.Config; its vocabulary is the target's. `fused`: features that fc reads side by side."""

    def __init__(self, config, fused=2):
        super().__init__()
        self.config = config
        d = config.hidden_size
        self.fc = nn.Linear(fused * d, d, bias=False)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = nn.RMSNorm(d, eps=config.rms_norm_eps)
        self.mlp = llama.Mlp(config)
        cos, sin = llama.rope_tables(config, config.max_position_embeddings)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.begin()

    def begin(self):
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def first(self, features, layers):
        """What the first step of a draft reads."""
        return features

    def to_head(self, made):
        """What the head is multiplied with."""
        return made

    def head(self, target):
        """Rows of the head, given the target's."""
        return target

    def forward(self, embedded, features, steps):
        """Features behind the embedded tokens, given those before them; `steps`: of the steps before."""
        x = self.fc(torch.cat([embedded, features], dim=-1))
        return self.block(x, x, steps)

    def block(self, x, read, steps):
        """The layer, whose attention reads `read`."""
        t = x.shape[1]
        y, steps = self.self_attn(read, self.cos[:t], self.sin[:t], steps)
        x = x + y
        return x + self.mlp(self.post_attention_layernorm(x)), steps


NORMS = ("norm_before_fc", "fc_norm", "norm_before_residual", "norm_output")  # as speculators' configurations name them


class ThreeDrafter(Drafter):
    """EAGLE-3's form. `rows`: ids of the tokens that its head has, ascending; `norms`: some of NORMS."""

    def __init__(self, config, rows, head, norms=()):
        super().__init__(config, fused=3)
        d = config.hidden_size
        self.norms = frozenset(norms)
        if not self.norms <= set(NORMS) or {"norm_before_fc", "fc_norm"} <= self.norms:
            raise SystemExit(f"norms: expected some of {', '.join(NORMS)}, and one of the first two at most, found {', '.join(norms)}")
        if "norm_before_fc" in self.norms:
            self.input_norm = nn.RMSNorm(3 * d, eps=config.rms_norm_eps)
        if "fc_norm" in self.norms:
            self.fc_norm = nn.ModuleList(nn.RMSNorm(d, eps=config.rms_norm_eps) for _ in range(3))
        for name in ("q_proj", "k_proj", "v_proj"):
            setattr(self.self_attn, name, nn.Linear(2 * d, getattr(self.self_attn, name).out_features, bias=False))
        self.begin()
        for name in ("input_layernorm", "hidden_norm", "norm"):
            setattr(self, name, nn.RMSNorm(d, eps=config.rms_norm_eps))
        self.lm_head = nn.Linear(d, len(rows), bias=False)
        self.lm_head.weight = nn.Parameter(head.float().clone())
        self.register_buffer("rows", rows)

    def first(self, features, layers):
        if "norm_before_fc" in self.norms:
            layers = self.input_norm(layers)
        if "fc_norm" in self.norms:
            layers = torch.cat([norm(x) for norm, x in zip(self.fc_norm, layers.chunk(3, dim=-1))], dim=-1)
        return self.fc(layers)

    def to_head(self, made):
        return made if "norm_output" in self.norms else self.norm(made)

    def head(self, target):
        return self.lm_head.weight

    def forward(self, embedded, features, steps):
        x = features.float()
        normed = self.hidden_norm(x)
        made, steps = self.block(normed if "norm_before_residual" in self.norms else x,
                                 torch.cat([self.input_layernorm(embedded), normed], dim=-1), steps)
        return self.norm(made) if "norm_output" in self.norms else made, steps


def unroll(drafter, embedded, inputs, steps):
    """What the drafter makes in each step of a draft: in the first of the features, then of what it made a token before."""
    chain, keys = inputs, []
    for _ in range(steps):
        made, keys = drafter(embedded, chain, keys)
        yield made
        chain = torch.cat([inputs[:, :1], made[:, :-1].to(inputs.dtype)], dim=1)


class HeadLoss(torch.autograd.Function):
    """Sum over positions of the cross entropy of law and softmax(made head^T); with hybrid, as lk_hybrid
    (arXiv 2602.23881) weighs it: lambda of it and 1 - lambda of the total variation, lambda = exp(-3 acceptance).

    Some positions at a time, so that their logits stay in the cache, and with the gradient in the same pass: twice as fast on
    a CPU as the same in tensor operations. What is returned is the cross entropy in any case.
    """

    @staticmethod
    def forward(ctx, made, law, head, hybrid=False, at_a_time=precision.at_a_time(128)):
        gradient, loss = torch.empty(made.shape, dtype=torch.float32), 0.0
        of_head = torch.zeros_like(head) if ctx.needs_input_grad[2] else None
        head = head.to(precision.weights())
        made = made.to(head.dtype)
        for i in range(0, len(made), at_a_time):
            part = slice(i, i + at_a_time)
            p = law[part]
            logits = (made[part] @ head.T).float()
            q = logits.softmax(-1)
            log_sum = logits.amax(-1) - q.amax(-1).log()  # cheaper than exponentials again
            loss = loss + log_sum.sum() - (p * logits).sum()
            if ctx.needs_input_grad[0]:
                if hybrid:
                    below = (q < p).float() * q  # -d min(p, q) / d logits = q (sum of it) - it
                    kept = below.sum(-1, keepdim=True)
                    of_kl = (-3 * torch.minimum(p, q).sum(-1).mean()).exp()
                    slope = (q - p).mul_(of_kl).add_((q * kept - below).mul_(1 - of_kl))
                else:
                    slope = q.sub_(p)
                slope = slope.to(head.dtype)
                gradient[part] = (slope @ head).float()
                if of_head is not None:
                    of_head += slope.T @ made[part]
        ctx.save_for_backward(gradient, of_head)
        return torch.as_tensor(loss)

    @staticmethod
    def backward(ctx, scale):
        gradient, of_head = ctx.saved_tensors
        return gradient * scale, None, None if of_head is None else of_head * scale, None, None


def losses(drafter, head, embedded, features, weights, steps, csra, inputs=None, temperature=0.07, most_samples=768, taught=0,
           hybrid=False, layers=None):
    """Mean losses of `steps` steps: (regression, classification, alignment), each [steps], and the weight of them.

    embedded [b, t, d]: of tokens 1 .. t; features [b, t + 1, d]: behind tokens 0 .. t; weights [b, t] of what is predicted
    (the head is taught where it is 1: behind a prompt; with `taught`, at so many of these positions, drawn anew each time).
    head [rows, d]: of the target, or those rows of it that are trained on.
    inputs: of the first step, where they are not the features themselves (noise); layers [b, t + 1, 3 d]: EAGLE-3's features.
    """
    wanted = features[:, 1:]
    if inputs is None:
        inputs = drafter.first(features[:, :-1], None if layers is None else layers[:, :-1])
    at = (weights == 1).flatten().nonzero().flatten()
    total = torch.tensor(len(at))
    if 0 < taught < len(at):
        at = at[torch.randperm(len(at))[:taught]].sort().values
    column = at % weights.shape[1]
    with torch.no_grad():
        law = (wanted.flatten(0, 1)[at].to(head.dtype) @ head.T).float().softmax(-1)
    made, regression, classification, alignment = [], [], [], []
    for step, predicted in enumerate(unroll(drafter, embedded, inputs, steps)):
        # Position i of step k stands behind k - 1 own features: the first ones have none.
        w = weights.clone()
        w[:, :step] = 0
        count = w.sum().clamp(min=1)
        regression.append((F.smooth_l1_loss(predicted.float(), wanted.float(), reduction="none").mean(-1) * w).sum() / count)
        there = column >= step
        everywhere = bool(there.all())
        given = drafter.to_head(predicted.flatten(0, 1)[at if everywhere else at[there]])
        loss = HeadLoss.apply(given, law if everywhere else law[there], drafter.head(head), hybrid)
        classification.append(loss / there.sum().clamp(min=1))
        made.append(predicted)
        if csra:
            alignment.append(alignment_loss(made, wanted, w, temperature, most_samples))
    stack = lambda values: torch.stack(values) if values else torch.zeros(steps)
    return stack(regression), stack(classification), stack(alignment), total


def alignment_loss(made, wanted, weights, temperature, most_samples):
    """CORAL's cross-step alignment (InfoNCE, Eq. 2): the last step's features against those of all steps and the target's,
    at the same position alike, at all others not."""
    chosen = weights.flatten().nonzero().flatten()
    if len(chosen) > most_samples:
        chosen = chosen[torch.randperm(len(chosen))[:most_samples]]
    views = [F.normalize(m.flatten(0, 1)[chosen].float(), dim=-1) for m in made] + [
        F.normalize(wanted.flatten(0, 1)[chosen].float(), dim=-1)]
    query = views[len(made) - 1]
    same = torch.arange(len(chosen))
    scores = torch.cat([query @ v.T / temperature for v in views], dim=-1)
    itself = same + (len(made) - 1) * len(chosen)
    scores = scores.scatter(1, itself[:, None], float("-inf"))
    below = scores.logsumexp(-1)
    positive = [scores[same, same + v * len(chosen)] for v in range(len(views)) if v != len(made) - 1]
    return (below - torch.stack(positive).mean(0)).mean()


def save(drafter, folder):
    """EAGLE's folder: config.json, and model.safetensors with fc.weight and layers.0.*, or EAGLE-3's fc.weight, midlayer.*, norm,
    lm_head and d2t (BF16), each by rename."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    c, three = drafter.config, isinstance(drafter, ThreeDrafter)
    config = {"architectures": ["LlamaForCausalLMEagle3" if three else "LlamaForCausalLM"], "model_type": "llama", "vocab_size": c.vocab_size,
              "hidden_size": c.hidden_size, "intermediate_size": c.intermediate_size, "num_hidden_layers": 1,
              "num_attention_heads": c.num_attention_heads, "num_key_value_heads": c.num_key_value_heads,
              "head_dim": c.head_dim, "max_position_embeddings": c.max_position_embeddings, "rope_theta": c.rope_theta,
              "rms_norm_eps": c.rms_norm_eps, "hidden_act": "silu", "bias": False, "torch_dtype": "bfloat16",
              **({"trained_context": c.trained_context} if c.trained_context else {}),
              **({"draft_vocab_size": len(drafter.rows), **dict.fromkeys(sorted(drafter.norms), True)} if three else {})}
    part = folder / "config.json.part"
    part.write_text(json.dumps(config, indent=2) + "\n")
    os.replace(part, folder / "config.json")
    own = ("fc.", "fc_norm.", "input_norm.", "norm.", "lm_head.")
    name = lambda k: k if k.startswith(own) else ("midlayer." if three else "layers.0.") + k
    tensors = {name(k): v.detach().to(torch.bfloat16).contiguous() for k, v in drafter.state_dict().items() if k != "rows"}
    if three:
        tensors["d2t"] = drafter.rows - torch.arange(len(drafter.rows))
    part = folder / "model.safetensors.part"
    save_file(tensors, part, metadata={"format": "pt"})
    part.chmod(0o644)
    os.replace(part, folder / "model.safetensors")


def load(folder):
    folder = Path(folder)
    stored = json.loads((folder / "config.json").read_text())
    config = llama.Config(**{k: stored[k] for k in llama.Config.__dataclass_fields__ if k in stored})
    tensors = load_file(folder / "model.safetensors")
    rows = tensors.pop("d2t", None)
    weights = {k.removeprefix("layers.0.").removeprefix("midlayer."): v.float() for k, v in tensors.items()}
    if rows is None:
        drafter = Drafter(config)
    else:
        weights["rows"] = rows + torch.arange(len(rows))
        drafter = ThreeDrafter(config, weights["rows"], weights["lm_head.weight"], [n for n in NORMS if stored.get(n)])
    drafter.load_state_dict(weights)
    return drafter
