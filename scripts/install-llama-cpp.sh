#!/usr/bin/env bash
# Builds llama.cpp from the source that PyPI's llama-cpp-python holds (6 to 15 minutes on 2 cores)
# and puts library, headers and CMake files into build/llama-cpp, where this project's CMake looks for
# them; with its RPC backend, and FOLDER/bin/rpc-server, which lends a machine's devices to it. Does
# nothing where that was done. Also for the scripts beside it: models/*.py that write GGUF files find
# `gguf` and `numpy` there. Other backends: CMAKE_ARGS=-DGGML_CUDA=ON scripts/install-llama-cpp.sh
#
#   scripts/install-llama-cpp.sh [FOLDER]        another folder: then configure with
#                                                -DCMAKE_PREFIX_PATH=FOLDER/lib/python3.x/site-packages
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
-*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
version=$(sed -n 's/^llama-cpp-python==\([0-9.]*\).*/\1/p' scripts/pins/llama-cpp-python.txt)
folder=${1:-build/llama-cpp}

installed() {
    [ -x "$folder/bin/rpc-server" ] &&
        "$folder/bin/python" -c "import importlib.metadata as m, sys
sys.exit(m.version('llama-cpp-python') != '$version')" 2>/dev/null
}
say() {
    echo "llama.cpp (llama-cpp-python $version): $(echo "$folder"/lib/python*/site-packages)"
}

if installed; then
    say
    exit 0
fi
echo "building llama-cpp-python $version from source in $folder: this takes minutes"
python3 -m venv "$folder"
pip=("$folder/bin/pip" --disable-pip-version-check)
"${pip[@]}" install --quiet --require-hashes -r scripts/pins/llama-cpp.txt
sources=$(mktemp -d)
trap 'rm -rf "$sources"' EXIT
"${pip[@]}" download --quiet --require-hashes --no-deps --no-build-isolation --no-binary llama-cpp-python \
    --dest "$sources" -r scripts/pins/llama-cpp-python.txt
tar -xzf "$sources"/*.tar.gz -C "$sources" --strip-components=1
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} CMAKE_ARGS="-DGGML_RPC=ON -DLLAVA_BUILD=OFF ${CMAKE_ARGS:-}" \
    "${pip[@]}" install --quiet --no-deps --no-build-isolation --check-build-dependencies "$sources"/*.tar.gz

site=$(echo "$folder"/lib/python*/site-packages)
"${CXX:-c++}" -std=c++17 -O2 "$sources/vendor/llama.cpp/tools/rpc/rpc-server.cpp" -o "$folder/bin/rpc-server" \
    -I"$site/include" -L"$site/llama_cpp/lib" -lggml -lggml-base -Wl,-rpath-link,"$site/llama_cpp/lib" \
    -Wl,-rpath,"\$ORIGIN/../lib/$(basename "$(dirname "$site")")/site-packages/llama_cpp/lib" -pthread
say
