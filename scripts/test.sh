#!/usr/bin/env bash
# Installs what is missing, builds everything but the benchmarks (-DSPECDEC_BUILD_BENCHMARKS=ON) as
# users get it (preset release), runs all tests.
# Arguments go to ctest, for example -R law/
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh --test
cmake --preset release -DSPECDEC_BUILD_TESTS=ON -DSPECDEC_BUILD_BENCHMARKS=OFF |
    { grep -E '^-- (llama.cpp|OpenVINO)' || true; } # whether their adapters are tested, too
cmake --build --preset release
exec tests/discovery/counted_ctest.py release "$@"
