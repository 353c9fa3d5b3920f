#!/usr/bin/env bash
# What scripts/peers.py measures against: Transformers and torch (about 5.5 GB, 3 to 5 minutes) in build/peers,
# llama.cpp by scripts/install-llama-cpp.sh, what its Python interface needs, and its program that drafts without a
# model, out of the same sources. Does nothing where that was done.
#
#   scripts/install-peers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
pip=(-m pip --quiet --disable-pip-version-check)

[ -x build/peers/bin/python ] || python3 -m venv build/peers
build/peers/bin/python "${pip[@]}" install --require-hashes -r models/train/requirements.txt
scripts/install-llama-cpp.sh
program=build/llama-cpp/bin/llama-speculative-simple
[ -x $program ] || {
    sources=$(mktemp -d)
    trap 'rm -rf "$sources"' EXIT
    build/llama-cpp/bin/python "${pip[@]}" download --require-hashes --no-deps --no-build-isolation \
        --no-binary llama-cpp-python --dest "$sources" -r scripts/pins/llama-cpp-python.txt
    tar -xzf "$sources"/*.tar.gz -C "$sources" --strip-components=1
    cmake -S "$sources/vendor/llama.cpp" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DLLAMA_USE_SYSTEM_GGML=ON \
        -DCMAKE_PREFIX_PATH="$(realpath build/llama-cpp/lib/python*/site-packages)" -DBUILD_SHARED_LIBS=OFF \
        -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_OPENSSL=OFF > "$sources/log"
    cmake --build "$sources/build" --parallel "$(nproc)" --target llama-speculative-simple >> "$sources/log"
    cp "$sources/build/bin/llama-speculative-simple" $program
}
echo "now: scripts/peers.py"
