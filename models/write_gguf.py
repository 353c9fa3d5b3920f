#!/usr/bin/env python3
"""Write this repository's models as GGUF files, for llama.cpp.

Reads models/smollm2-drafter, models/docs-drafter and models/docs-target (Hugging Face folders: Llama,
BF16) and writes models/fetched/NAME/NAME.gguf, a drafter's equivalences.json beside it.
Weights keep their 16 bits.  Needs the packages `gguf` and `numpy`:
scripts/install-llama-cpp.sh puts them into build/llama-cpp.

    build/llama-cpp/bin/python models/write_gguf.py [--out DIR] [NAME...]
"""
import argparse
import json
import shutil
import sys
from pathlib import Path

try:
    import gguf
    import numpy as np
except ImportError:
    sys.exit("write_gguf: expected the packages gguf and numpy: run scripts/install-llama-cpp.sh, then "
             "build/llama-cpp/bin/python models/write_gguf.py")

MODELS = Path(__file__).resolve().parent
NAMES = ["smollm2-drafter", "docs-drafter", "docs-target"]


def read_bf16(path: Path) -> dict[str, np.ndarray]:
    """Tensors of a safetensors file, BF16 as uint16."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        if about["dtype"] != "BF16":
            sys.exit(f"write_gguf: {path}: {name}: expected BF16, found {about['dtype']}")
        begin, end = about["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + size + begin:8 + size + end], "<u2").reshape(about["shape"])
    return tensors


def add_vocabulary(w: gguf.GGUFWriter, folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    model, config = tokenizer["model"], json.loads((folder / "tokenizer_config.json").read_text())
    tokens = [token for token, _ in sorted(model["vocab"].items(), key=lambda pair: pair[1])]
    special = {t["content"] for t in tokenizer["added_tokens"] if t["special"]}
    w.add_token_list(tokens)
    w.add_bos_token_id(model["vocab"][config["bos_token"]])
    w.add_eos_token_id(model["vocab"][config["eos_token"]])
    w.add_add_bos_token(config["add_bos_token"])
    kind = gguf.TokenType
    if not model["byte_fallback"]:
        w.add_tokenizer_model("gpt2")
        w.add_tokenizer_pre("dbrx")  # splits like our tokenizer.json
        w.add_token_types([kind.CONTROL if t in special else kind.NORMAL for t in tokens])
        w.add_token_merges([" ".join(pair) for pair in model["merges"]])
        return
    # llama.cpp merges by the score of the piece that comes out, Hugging Face by the rank of the merge.
    scores = dict.fromkeys(tokens, 0.0)
    for rank, (left, right) in reversed(list(enumerate(model["merges"]))):
        scores[left + right] = -1.0 - rank

    def kind_of(token: str) -> gguf.TokenType:
        if token == config["unk_token"]:
            return kind.UNKNOWN
        if token in special:
            return kind.CONTROL
        byte = len(token) == 6 and token.startswith("<0x") and token.endswith(">")
        return kind.BYTE if byte else kind.NORMAL

    w.add_tokenizer_model("llama")
    w.add_token_scores([scores[t] for t in tokens])
    w.add_token_types([kind_of(t) for t in tokens])
    w.add_unk_token_id(model["vocab"][config["unk_token"]])
    w.add_add_space_prefix(False)


def half_to_half(weights: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a query or key matrix, from Hugging Face's rotary order (halves) to llama.cpp's (pairs)."""
    return weights.reshape(heads, 2, -1, weights.shape[-1]).swapaxes(1, 2).reshape(weights.shape)


def write(name: str, out: Path) -> Path:
    folder = MODELS / name
    config = json.loads((folder / "config.json").read_text())
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    path = out / name / f"{name}.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")  # nobody finds half a file
    w = gguf.GGUFWriter(part, "llama")
    w.add_name(name)
    w.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    w.add_vocab_size(config["vocab_size"])
    w.add_context_length(config["max_position_embeddings"])
    if "trained_context" in config:  # a drafter's longer contexts are windowed to it
        w.add_uint32("specdec.trained_context", config["trained_context"])
    w.add_embedding_length(config["hidden_size"])
    w.add_block_count(config["num_hidden_layers"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    w.add_head_count_kv(kv_heads)
    w.add_key_length(config["head_dim"])
    w.add_value_length(config["head_dim"])
    w.add_rope_dimension_count(config["head_dim"])
    w.add_rope_freq_base(config["rope_theta"])
    w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    add_vocabulary(w, folder)

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for source, weights in read_bf16(folder / "model.safetensors").items():
        target = names.get_name(source, try_suffixes=(".weight",))
        if source.endswith("q_proj.weight"):
            weights = half_to_half(weights, heads)
        elif source.endswith("k_proj.weight"):
            weights = half_to_half(weights, kv_heads)
        if weights.ndim == 1:
            w.add_tensor(target, (weights.astype(np.uint32) << 16).view(np.float32))
        else:
            w.add_tensor(target, np.ascontiguousarray(weights).view(np.uint8),
                         raw_dtype=gguf.GGMLQuantizationType.BF16)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    part.replace(path)
    if (folder / "equivalences.json").exists():
        shutil.copy(folder / "equivalences.json", path.parent)
    return path


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME", default=NAMES, help=f"of {', '.join(NAMES)} (default: all)")
    p.add_argument("--out", type=Path, default=MODELS / "fetched")
    args = p.parse_args()
    for name in args.names:
        if name not in NAMES:
            sys.exit(f"write_gguf: {name}: expected one of {', '.join(NAMES)}")
        path = write(name, args.out)
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
