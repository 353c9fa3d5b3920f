#!/usr/bin/env bash
# Formats all C++ of the project with clang-format 16; with --check only says what differs.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [ "${1:-}" = --check ]; then
    mode=(--dry-run -Werror)
fi
find include engine tests bench examples cmake conan \( -name '*.[ch]pp' -o -name '*.inc' \) -print0 |
    xargs -0 clang-format-16 "${mode[@]}"
