"""Run SmolLM2-135M-Instruct over conversations and keep what its head is multiplied with, for train_features.py.

    python models/train/record_features.py --gguf models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf --text CHAT --out FEATURES

CHAT: folder of *.jsonl (prompt, text, ended). Writes FEATURES/{ids,features,lengths,answers}.npy (features in BF16 as 16-bit
numbers, 1,152 bytes a token), target.safetensors (embedding, which is the head, too) and config.json.
"""
import argparse
import json
import os
import random
import time
from pathlib import Path

import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

import data
import precision


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gguf", type=Path, required=True)
    p.add_argument("--text", type=Path, required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--limit", type=int, help="only so many conversations, drawn by --seed")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tokens", type=int, default=4096, help="tokens a pass")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    tokenizer = AutoTokenizer.from_pretrained(args.gguf.parent, gguf_file=args.gguf.name)
    model = AutoModelForCausalLM.from_pretrained(args.gguf.parent, gguf_file=args.gguf.name, dtype=precision.weights(),
                                                 quantization_config=GgufConfig(dequantize=True)).eval()
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    texts = []
    entries = data.read(args.text)
    random.Random(args.seed).shuffle(entries)
    for prompt, text, ended in entries[:args.limit]:
        head = tokenizer(data.conversation(prompt), add_special_tokens=False).input_ids
        body = tokenizer(text, add_special_tokens=False).input_ids + [end] * ended
        texts.append((head + body, len(head)))
    texts.sort(key=lambda t: len(t[0]))
    tokens, width = sum(len(ids) for ids, _ in texts), model.config.hidden_size
    args.out.mkdir(parents=True, exist_ok=True)
    features = numpy.lib.format.open_memmap(args.out / "features.npy", mode="w+", dtype=numpy.uint16, shape=(tokens, width))
    began, done, first = time.time(), 0, 0
    while first < len(texts):
        count = max(1, args.tokens // len(texts[first][0]))
        batch = texts[first:first + count]
        longest = len(batch[-1][0])
        ids = torch.tensor([t + [end] * (longest - len(t)) for t, _ in batch])  # padded behind: causal, so it does not matter
        with torch.no_grad():
            states = model.model(input_ids=ids).last_hidden_state.to(torch.bfloat16).view(torch.uint16).numpy()
        for (t, _), state in zip(batch, states):
            features[done:done + len(t)] = state[:len(t)]
            done += len(t)
        first += len(batch)
        if first % 512 < len(batch):
            print(f"{done} of {tokens} tokens, {done / (time.time() - began):.0f} a second", flush=True)
    features.flush()
    numpy.save(args.out / "ids.npy", numpy.concatenate([numpy.array(t, numpy.int32) for t, _ in texts]))
    numpy.save(args.out / "lengths.npy", numpy.array([len(t) for t, _ in texts], numpy.int32))
    numpy.save(args.out / "answers.npy", numpy.array([a for _, a in texts], numpy.int32))
    save_file({"embedding": model.get_input_embeddings().weight.detach().to(torch.bfloat16)}, args.out / "target.safetensors")
    c = model.config
    kept = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
            "num_key_value_heads", "max_position_embeddings", "rms_norm_eps", "bos_token_id", "eos_token_id")
    theta = getattr(c, "rope_theta", None) or c.rope_parameters["rope_theta"]
    (args.out / "config.json").write_text(json.dumps({**{k: getattr(c, k) for k in kept}, "rope_theta": theta}, indent=2) + "\n")
    print(f"{tokens} tokens of {len(texts)} conversations, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
