#!/usr/bin/env python3
"""usage: read_by_peft.py PROGRAM           PROGRAM: the tests of this folder

PEFT itself reads the folder that the library saves, and gives the same logits within 1e-4, with the adapters apart
and merged; so does Transformers with the model that the library merged. Exit status 77 (skipped) where PEFT or Transformers is not installed.
"""
import json, os, pathlib, shutil, subprocess, sys, tempfile

try:
    import peft
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModelForCausalLM
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

GOLDEN = pathlib.Path(__file__).resolve().parents[3] / "tests/golden"


def worst_differences(name, program, folder):
    shutil.copytree(GOLDEN / name, folder / "base")
    done = subprocess.run([program, "a folder for PEFT"], env=os.environ | {"SPECDEC_PEFT_FOLDER": str(folder)})
    if done.returncode != 0:
        sys.exit(f"{program} failed")
    base = AutoModelForCausalLM.from_pretrained(folder / "base", dtype=torch.float32, attn_implementation="eager")
    model = peft.PeftModel.from_pretrained(base, folder / "adapter").eval()
    saved = AutoModelForCausalLM.from_pretrained(folder / "merged", dtype=torch.float32, attn_implementation="eager")
    made = load_file(folder / "logits.safetensors")
    ids, wanted = made["ids"].long()[None], made["logits"]
    with torch.no_grad():
        with model.disable_adapter():
            plain = model(ids).logits[0]
        apart = model(ids).logits[0]
        merged = model.merge_and_unload()(ids).logits[0]
        ours = saved(ids).logits[0]
    if (wanted - plain).abs().max() < 0.1:
        sys.exit("the adapters change nothing")
    return [(x - wanted).abs().max().item() for x in (apart, merged, ours)]


found = {}
for name in ("llama", "llama3", "qwen2"):
    with tempfile.TemporaryDirectory() as folder:
        found[name] = worst_differences(name, sys.argv[1], pathlib.Path(folder))
print(f"PEFT {peft.__version__}: worst differences of logits, adapters apart, merged, merged by us:", json.dumps(found))
sys.exit(1 if max(map(max, found.values())) > 1e-4 else 0)
