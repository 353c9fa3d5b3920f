#!/usr/bin/env bash
# What scripts/peers.py measures against: Transformers and torch (about 5.5 GB, 3 to 5 minutes) in build/peers,
# llama.cpp by scripts/install-llama-cpp.sh, what its Python interface needs, and its program that drafts without a
# model, out of the same sources. Does nothing where that was done.
#
#   scripts/install-peers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
pip=(-m pip install --quiet --disable-pip-version-check)

[ -x build/peers/bin/python ] || python3 -m venv build/peers
build/peers/bin/python "${pip[@]}" torch==2.15.0 transformers==5.23.0 accelerate gguf sentencepiece
scripts/install-llama-cpp.sh
build/llama-cpp/bin/python "${pip[@]}" typing-extensions diskcache jinja2
program=build/llama-cpp/bin/llama-speculative-simple
[ -x $program ] || {
    version=$(build/llama-cpp/bin/python -c 'import importlib.metadata as m; print(m.version("llama-cpp-python"))')
    sources=$(mktemp -d)
    trap 'rm -rf "$sources"' EXIT
    build/llama-cpp/bin/python -m pip download --quiet --no-deps --no-binary llama-cpp-python --dest "$sources" \
        "llama-cpp-python==$version"
    tar -xzf "$sources"/*.tar.gz -C "$sources" --strip-components=1
    cmake -S "$sources/vendor/llama.cpp" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DLLAMA_USE_SYSTEM_GGML=ON \
        -DCMAKE_PREFIX_PATH="$(realpath build/llama-cpp/lib/python*/site-packages)" -DBUILD_SHARED_LIBS=OFF \
        -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_OPENSSL=OFF > "$sources/log"
    cmake --build "$sources/build" --parallel "$(nproc)" --target llama-speculative-simple >> "$sources/log"
    cp "$sources/build/bin/llama-speculative-simple" $program
}
echo "now: scripts/peers.py"
