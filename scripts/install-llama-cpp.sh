#!/usr/bin/env bash
# Builds llama.cpp from the source that PyPI's llama-cpp-python holds (6 to 15 minutes on 2 cores)
# and puts library, headers and CMake files into build/llama-cpp, where this project's CMake looks for
# them. Does nothing where that was done. Also for the scripts beside it: models/*.py that write GGUF
# files find `gguf` and `numpy` there.
#
#   scripts/install-llama-cpp.sh [FOLDER]        another folder: then configure with
#                                                -DCMAKE_PREFIX_PATH=FOLDER/lib/python3.x/site-packages
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
-*)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
version=0.3.36
folder=${1:-build/llama-cpp}

installed() {
    "$folder/bin/python" -c "import importlib.metadata as m, sys
sys.exit(m.version('llama-cpp-python') != '$version')" 2>/dev/null
}
say() {
    local site
    site=$(echo "$folder"/lib/python*/site-packages)
    echo "llama.cpp (llama-cpp-python $version): $site"
}

if installed; then
    say
    exit 0
fi
echo "building llama-cpp-python $version from source in $folder: this takes minutes"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check numpy gguf
CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} CMAKE_ARGS="${CMAKE_ARGS:-}" \
    "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    --no-binary llama-cpp-python "llama-cpp-python==$version"
say
