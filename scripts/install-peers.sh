#!/usr/bin/env bash
# What scripts/peers.py measures against: Transformers and torch (about 5.5 GB, 3 to 5 minutes) in build/peers,
# llama.cpp by scripts/install-llama-cpp.sh and what its Python interface needs. Does nothing where that was done.
#
#   scripts/install-peers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
pip=(-m pip install --quiet --disable-pip-version-check)

[ -x build/peers/bin/python ] || python3 -m venv build/peers
build/peers/bin/python "${pip[@]}" torch==2.15.0 transformers==5.23.0 accelerate gguf sentencepiece
scripts/install-llama-cpp.sh
build/llama-cpp/bin/python "${pip[@]}" typing-extensions diskcache jinja2
echo "now: scripts/peers.py"
