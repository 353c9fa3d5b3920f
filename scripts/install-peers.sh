#!/usr/bin/env bash
# What scripts/peers.py and scripts/serve_clients.py measure against: Transformers and torch (about 5.5 GB, 3 to 5
# minutes) in build/peers, llama.cpp by scripts/install-llama-cpp.sh with what its Python interface needs, and, out of
# the same sources, its program that drafts without a model and its server (15 to 25 minutes on 2 cores). Does nothing
# where that was done.
#
#   scripts/install-peers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
pip=(-m pip --quiet --disable-pip-version-check)

[ -x build/peers/bin/python ] || python3 -m venv build/peers
build/peers/bin/python "${pip[@]}" install --require-hashes -r models/train/requirements.txt
scripts/install-llama-cpp.sh
programs=(llama-speculative-simple llama-server)
[ -x "build/llama-cpp/bin/${programs[0]}" ] && [ -x "build/llama-cpp/bin/${programs[1]}" ] || {
    sources=$(mktemp -d)
    trap 'rm -rf "$sources"' EXIT
    build/llama-cpp/bin/python "${pip[@]}" download --require-hashes --no-deps --no-build-isolation \
        --no-binary llama-cpp-python --dest "$sources" -r scripts/pins/llama-cpp-python.txt
    tar -xzf "$sources"/*.tar.gz -C "$sources" --strip-components=1
    # Static, without a page, and without what would be downloaded.
    cmake -S "$sources/vendor/llama.cpp" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF > "$sources/log"
    cmake --build "$sources/build" --parallel "$(nproc)" --target "${programs[@]}" >> "$sources/log"
    for program in "${programs[@]}"; do
        cp "$sources/build/bin/$program" build/llama-cpp/bin/
    done
}
echo "now: scripts/peers.py"
