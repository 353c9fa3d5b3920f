#!/usr/bin/env bash
# The documents as a site with search, in build/site: mkdocs in a virtual environment of its own, every link checked.
# Under it, in build/site/api, the reference of the API: Doxygen, from the comments of the headers. A comment that names
# what does not exist fails.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh --site
environment=build/site-tools
if [ ! -x "$environment/bin/mkdocs" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet "mkdocs-material==9.8.2"
fi
rm -rf build/api
mkdir -p build/api
doxygen scripts/api.doxyfile
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict --quiet
echo "build/site/index.html"
