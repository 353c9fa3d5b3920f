#!/usr/bin/env bash
# Runs clang-tidy 16 with the checks of .clang-tidy on the C++ files that differ from a commit. All library headers are
# read as one source, every other file is read by itself. Adapters of engines that Debian does not have are left out.
#
#   scripts/tidy.sh [--since COMMIT] [--most N]   COMMIT: the merge base with origin/main unless told, or HEAD~1 where
#                                                 there is no origin/main; N: read at most N of the files that are no
#                                                 library headers, chosen by the last commit
#   scripts/tidy.sh FILE...                       these files, whatever has changed
set -euo pipefail
cd "$(dirname "$0")/.."

since="" most="" files=()
while [ $# -gt 0 ]; do
    case "$1" in
    --since) since=${2:?"expected a commit after --since"} && shift 2 ;;
    --most) most=${2:?"expected a number after --most"} && shift 2 ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) files+=("$1") && shift ;;
    esac
done
if [ ${#files[@]} -eq 0 ]; then
    since=${since:-$(git merge-base origin/main HEAD 2>/dev/null || echo HEAD~1)}
    git rev-parse --quiet --verify "$since^{commit}" >/dev/null || {
        echo "$since: expected a commit; a clone of one commit has nothing to compare with"
        exit 0
    }
    # Without files that only moved.
    left_out='llama_cpp|openvino|^(packages|conan|cmake)/|^tests/(architecture|catch2_3|compile_fail|consumer)/'
    mapfile -t files < <(git diff --name-status --find-renames --diff-filter=d "$since" |
        sed -nE '/^R100/d; s/.*\t([^\t]+\.[hc]pp)$/\1/p' | grep -vE "$left_out" || true)
fi

mapfile -t headers < <(printf '%s\n' "${files[@]}" | grep -E '(^|/)include/.*\.hpp$' || true)
mapfile -t others < <(printf '%s\n' "${files[@]}" | grep -vE '(^|/)include/.*\.hpp$' | sed '/^$/d' || true)
if [ -n "$most" ] && [ ${#others[@]} -gt "$most" ]; then
    echo "$most of ${#others[@]} files that are no library headers"
    mapfile -t others < <(printf '%s\n' "${others[@]}" |
        shuf --head-count="$most" --random-source=<(yes "$(git rev-parse HEAD)"))
fi
mapfile -t roots < <(git ls-files '*.hpp' | sed -nE 's#^((.*/)?include)/.*#-I\1#p' | sort -u)
read -ra eigen < <(pkg-config --cflags-only-I eigen3 | sed 's/-I/-isystem /')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tidy SOURCE FILE...: SOURCE is read, and what is found in the FILEs is reported. What takes long to compile stands in
# other objects (cmake/compiled). -I tests and the like, for FILE's own folder.
tidy() {
    local source=$1 filter top
    shift
    top=$(sed -nE 's#^(.*/)?(tests|examples|bench)/.*#-I\1\2#p' <<<"$1")
    filter=$(printf '|%s' "$@")
    clang-tidy-16 --quiet --config-file=.clang-tidy --header-filter="(^|/)(${filter:1})$" "$source" -- \
        -x c++ -std=c++20 "${roots[@]}" ${top:+"$top"} -Itests -Ibench -I. "${eigen[@]}" \
        -DSPECDEC_RULES_COMPILED -DSPECDEC_ENGINE_COMPILED -DSPECDEC_SOURCE_DIR="\"$PWD\"" 2>&1 |
        sed -E '/^[0-9]+ (warnings?|errors?).* generated|^Suppressed/d'
}

pending=()
if [ ${#headers[@]} -gt 0 ]; then
    printf '%s\n' "${headers[@]}" | sed -E 's#^(.*/)?include/(.*)#\#include <\2>#' >"$scratch/headers.cpp"
    tidy "$scratch/headers.cpp" "${headers[@]}" &
    pending+=($!)
fi
failed=0 cores=$(nproc)
for file in "${others[@]}"; do
    if [ ${#pending[@]} -ge "$cores" ]; then
        wait "${pending[0]}" || failed=1
        pending=("${pending[@]:1}")
    fi
    source=$file
    if [[ $file = *.hpp ]]; then
        source=$scratch/${file//\//_}.cpp
        echo "#include \"$PWD/$file\"" >"$source"
    fi
    tidy "$source" "$file" &
    pending+=($!)
done
for job in "${pending[@]}"; do
    wait "$job" || failed=1
done
echo "${#headers[@]} library headers and ${#others[@]} other files read"
exit "$failed"
