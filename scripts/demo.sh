#!/usr/bin/env bash
# From a fresh clone to the main job: installs what is missing, builds the programs, and compares
# every rule with plain decoding on the models in this repository. Arguments go to `compare`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --run
if [ ! -f build/release/build.ninja ]; then
    # The programs need neither Catch2 nor Google Benchmark.
    cmake --preset release -DSPECDEC_BUILD_TESTS=OFF -DSPECDEC_BUILD_BENCHMARKS=OFF >/dev/null
fi
cmake --build --preset release --target compare
exec build/release/examples/compare "$@"
