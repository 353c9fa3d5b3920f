#!/usr/bin/env python3
"""Make the golden files: small random checkpoints and the logits Transformers gets from them.

    python tests/golden/make_golden.py [NAME ...]     (needs torch, transformers, safetensors, numpy)

Each folder gets config.json, the weights, ids.json (24 token ids) and logits.f32 (little-endian
float32, [24, vocabulary], computed in float32 with eager attention from the weights as stored).
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import (AutoModelForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM,
                          MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config,
                          Qwen3ForCausalLM, SmolLM3Config, SmolLM3ForCausalLM)

HERE = Path(__file__).resolve().parent
BASE = dict(num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
            bos_token_id=1, eos_token_id=2, attn_implementation="eager")


def stored_config(config, theta, scaling, dtype, **more):
    """The keys that published checkpoints have (Transformers 5 would write rope_parameters)."""
    keys = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
            "num_key_value_heads", "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings", "bos_token_id",
            "eos_token_id")
    out = {"architectures": more.pop("architectures"), "model_type": config.model_type}
    out |= {k: getattr(config, k) for k in keys}
    act = "hidden_act" if hasattr(config, "hidden_act") else "hidden_activation"
    out[act] = getattr(config, act)
    return out | {"rope_theta": theta, "rope_scaling": scaling, "torch_dtype": dtype, **more}


def make(name, seed, model_class, config, theta=10000.0, scaling=None, dtype=torch.float32, shards=1, **more):
    if sys.argv[1:] and name not in sys.argv[1:]:
        return
    rotary = {"rope_type": "default", "rope_theta": theta} | (scaling or {})
    if "rope_local_base_freq" in more:
        rotary = {"full_attention": rotary,
                  "sliding_attention": {"rope_type": "default", "rope_theta": more["rope_local_base_freq"]}}
    config.rope_parameters = rotary
    torch.manual_seed(seed)
    model = model_class(config).float().eval()
    with torch.no_grad():
        for n, p in sorted(model.named_parameters()):
            if n.endswith("norm.weight") and config.model_type.startswith("gemma"):
                p.copy_(0.2 * torch.randn_like(p))  # which adds one to it
            elif n.endswith("norm.weight"):
                p.copy_(1 + 0.2 * torch.randn_like(p))
            else:
                p.copy_((0.5 if "bias" in n else 0.2) * torch.randn_like(p))
            p.copy_(p.to(dtype).float())
        ids = torch.randint(0, config.vocab_size, (24,))
        logits = model(ids[None]).logits[0].float().numpy()

    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    stored = stored_config(config, theta, scaling, str(dtype).removeprefix("torch."),
                           architectures=[model_class.__name__], **more)
    (folder / "config.json").write_text(json.dumps(stored, indent=2) + "\n")
    (folder / "ids.json").write_text(json.dumps(ids.tolist()) + "\n")
    logits.astype("<f4").tofile(folder / "logits.f32")

    tensors = {n: t.to(dtype).contiguous() for n, t in model.state_dict().items()
               if not (config.tie_word_embeddings and n == "lm_head.weight")}
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        names, where = sorted(tensors), {}
        for s in range(shards):
            file = f"model-{s + 1:05}-of-{shards:05}.safetensors"
            mine = names[len(names) * s // shards:len(names) * (s + 1) // shards]
            save_file({n: tensors[n] for n in mine}, folder / file, metadata={"format": "pt"})
            where |= dict.fromkeys(mine, file)
        size = sum(t.numel() * t.element_size() for t in tensors.values())
        index = {"metadata": {"total_size": size}, "weight_map": where}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    for file in folder.iterdir():
        file.chmod(0o644)

    # What lies in the folder now gives the same logits when it is loaded.
    loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        again = loaded(ids[None]).logits[0].numpy()
    assert np.abs(again - logits).max() < 1e-5, name
    print(f"{name}: {sum(f.stat().st_size for f in folder.iterdir())} bytes, logits std {logits.std():.2f}, "
          f"max {np.abs(logits).max():.2f}")


def main():
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64}
    small = dict(vocab_size=80, hidden_size=32, intermediate_size=64)

    def llama(**more):
        return LlamaConfig(**BASE, **small, rms_norm_eps=1e-5, **more)

    make("llama", 1, LlamaForCausalLM, llama(tie_word_embeddings=False))
    # Larger heads, so that some frequencies are scaled, some smoothed and some left as they are.
    make("llama3", 2, LlamaForCausalLM, llama(tie_word_embeddings=True, head_dim=16), theta=50000.0, scaling=scaling,
         head_dim=16)
    make("qwen2", 3, Qwen2ForCausalLM, Qwen2Config(**BASE, **small, rms_norm_eps=1e-6, tie_word_embeddings=True),
         theta=1000000.0, use_sliding_window=False)
    make("mistral", 4, MistralForCausalLM,
         MistralConfig(**BASE, **small, rms_norm_eps=1e-5, tie_word_embeddings=False, sliding_window=None, head_dim=16),
         sliding_window=None, head_dim=16)
    make("qwen3", 7, Qwen3ForCausalLM,
         Qwen3Config(**BASE, **small, rms_norm_eps=1e-6, tie_word_embeddings=True, head_dim=16), theta=1000000.0,
         dtype=torch.bfloat16, head_dim=16, use_sliding_window=False)
    # A window that closes within the 24 tokens; a last layer that has none; a query scale that is not of the heads.
    gemma = dict(head_dim=16, sliding_window=8, query_pre_attn_scalar=24)
    make("gemma3", 8, Gemma3ForCausalLM,
         Gemma3TextConfig(**BASE | dict(num_hidden_layers=3), **small, rms_norm_eps=1e-6, tie_word_embeddings=True,
                          layer_types=["sliding_attention", "sliding_attention", "full_attention"], **gemma),
         theta=1000000.0, scaling={"rope_type": "linear", "factor": 8.0}, rope_local_base_freq=10000.0,
         dtype=torch.bfloat16, sliding_window_pattern=3, **gemma)
    make("smollm3", 9, SmolLM3ForCausalLM,
         SmolLM3Config(**BASE | dict(num_hidden_layers=4), **small, rms_norm_eps=1e-6, tie_word_embeddings=True,
                       pad_token_id=0, use_sliding_window=False, no_rope_layers=[1, 1, 1, 0]),
         theta=2000000.0, dtype=torch.bfloat16, no_rope_layers=[1, 1, 1, 0], pad_token_id=0)
    make("mistral-window", 10, MistralForCausalLM,
         MistralConfig(**BASE, **small, rms_norm_eps=1e-5, tie_word_embeddings=False, sliding_window=8, head_dim=16),
         dtype=torch.bfloat16, sliding_window=8, head_dim=16)
    # The first again, in two shards, once with F16 and once with BF16 weights.
    make("llama-f16-sharded", 5, LlamaForCausalLM, llama(tie_word_embeddings=False), dtype=torch.float16, shards=2)
    make("llama-bf16", 6, LlamaForCausalLM, llama(tie_word_embeddings=True), dtype=torch.bfloat16)


if __name__ == "__main__":
    main()
