#!/usr/bin/env bash
# The documents as a site with search, in build/site: mkdocs in a virtual environment of its own, every link checked.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/site-tools
if [ ! -x "$environment/bin/mkdocs" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet "mkdocs-material==9.8.2"
fi
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict --quiet
echo "build/site/index.html"
