"""A small Llama in plain PyTorch, saved in and loaded from the Hugging Face folder format.

Only what the models here need: RMSNorm, rotary positions, grouped-query attention,
SwiGLU, tied embeddings, a key-value cache for batched generation.
"""
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn


@dataclass
class Config:
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5
    bos_token_id: int = 0
    eos_token_id: int = 0
    trained_context: int = 0  # tokens of the texts it learns from; a drafter's longer contexts are windowed to it

    @property
    def head_dim(self):
        return self.hidden_size // self.num_attention_heads


def rope_tables(config, length):
    inverse = 1.0 / config.rope_theta ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim)
    angle = torch.outer(torch.arange(length).float(), inverse)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv_heads, self.dim = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        self.q_proj = nn.Linear(c.hidden_size, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, self.kv_heads * self.dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, self.kv_heads * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, c.hidden_size, bias=False)

    def forward(self, x, cos, sin, mask, cache):
        b, t, _ = x.shape
        q = rotate(self.q_proj(x).view(b, t, self.heads, self.dim).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.append(self, k, v)
        if t == 1:
            # One new position: the query heads of a group stand as rows of its key-value head.
            y = F.scaled_dot_product_attention(q.view(b, self.kv_heads, -1, self.dim), k, v)
            return self.o_proj(y.reshape(b, 1, -1))
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(c.hidden_size, eps=c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = nn.RMSNorm(c.hidden_size, eps=c.rms_norm_eps)
        self.mlp = Mlp(c)

    def forward(self, x, cos, sin, mask, cache, dropout):
        x = x + dropout(self.self_attn(self.input_layernorm(x), cos, sin, mask, cache))
        return x + dropout(self.mlp(self.post_attention_layernorm(x)))


class Cache:
    """Keys and values of a batch, in buffers of a fixed length."""

    def __init__(self, length):
        self.length, self.used, self.buffers = length, 0, {}

    def append(self, layer, k, v):
        b, h, t, d = k.shape
        if layer not in self.buffers:
            self.buffers[layer] = k.new_zeros(b, h, self.length, d), v.new_zeros(b, h, self.length, d)
        keys, values = self.buffers[layer]
        keys[:, :, self.used:self.used + t] = k
        values[:, :, self.used:self.used + t] = v
        return keys[:, :, :self.used + t], values[:, :, :self.used + t]


class Llama(nn.Module):
    def __init__(self, config, dropout=0.0):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.dropout = nn.Dropout(dropout)
        cos, sin = rope_tables(config, max(config.max_position_embeddings, 4096))  # longer texts may be tried
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(p, std=0.02 / (math.sqrt(2 * config.num_hidden_layers) if residual else 1))

    def hidden(self, ids, positions=None, mask=None, cache=None):
        """Final hidden states. `positions` [batch, time] only where they are not 0, 1, 2, ..."""
        if positions is None:
            cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        else:
            cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        x = self.dropout(self.embed_tokens(ids))
        for layer in self.layers:
            x = layer(x, cos, sin, mask, cache, self.dropout)
        if cache is not None:
            cache.used += ids.shape[1]
        return self.norm(x)

    def forward(self, ids, **more):
        return F.linear(self.hidden(ids, **more), self.embed_tokens.weight)

    def parameter_count(self):
        return sum(p.numel() for p in self.parameters())


def save(model, folder, more={}):
    """Write config.json (with `more` fields), generation_config.json and model.safetensors (BF16), each by rename."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    c = model.config
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **asdict(c),
              "head_dim": c.head_dim, "hidden_act": "silu", "attention_bias": False, "mlp_bias": False,
              "attention_dropout": 0.0, "initializer_range": 0.02, "rope_scaling": None,
              "tie_word_embeddings": True, "torch_dtype": "bfloat16", "use_cache": True, **more}
    if not c.trained_context:
        del config["trained_context"]
    generation = {"bos_token_id": c.bos_token_id, "eos_token_id": c.eos_token_id}
    for name, value in (("config.json", config), ("generation_config.json", generation)):
        part = folder / (name + ".part")
        part.write_text(json.dumps(value, indent=2) + "\n")
        os.replace(part, folder / name)
    tensors = {k if k.startswith("exits.") else "model." + k: v.detach().to(torch.bfloat16).contiguous()
               for k, v in model.state_dict().items()}
    part = folder / "model.safetensors.part"
    save_file(tensors, part, metadata={"format": "pt"})
    part.chmod(0o644)
    os.replace(part, folder / "model.safetensors")


def load(folder, dropout=0.0):
    folder = Path(folder)
    stored = json.loads((folder / "config.json").read_text())
    config = Config(**{k: stored[k] for k in Config.__dataclass_fields__ if k in stored})
    model = Llama(config, dropout)
    tensors = load_file(folder / "model.safetensors")
    model.load_state_dict({k.removeprefix("model."): v.float() for k, v in tensors.items()})
    return model
