#!/usr/bin/env bash
# Installs OpenVINO from PyPI's wheels (seconds, nothing is built) into build/openvino, where this project's CMake looks
# for it: the runtime with its headers and CMake files, and OpenVINO GenAI for scripts/openvino_study.py. Versions and
# hashes are those of scripts/install-openvino.txt. Does nothing where that was done.
#
#   scripts/install-openvino.sh [FOLDER]         another folder: then configure with
#                                                -DCMAKE_PREFIX_PATH=FOLDER/lib/python3.x/site-packages
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
-*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
folder=${1:-build/openvino}
wanted=scripts/install-openvino.txt

if ! cmp -s $wanted "$folder/installed.txt"; then
    python3 -m venv "$folder"
    "$folder/bin/pip" --disable-pip-version-check install --quiet --require-hashes --no-deps -r $wanted
    cp $wanted "$folder/installed.txt"
fi
echo "OpenVINO $(sed -n 's/^openvino==\([0-9.]*\).*/\1/p' $wanted): $(echo "$folder"/lib/python*/site-packages)"
