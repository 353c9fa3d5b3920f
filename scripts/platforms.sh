#!/usr/bin/env bash
# Builds the library's tests (all but reference/ and interop/) for other platforms and runs them, under an
# emulator where the machine needs one. Half an hour a platform on two cores.
#
#   scripts/platforms.sh [--install] [--jobs N] [--build FOLDER] [--short] [PLATFORM...] [-- TEST...]
#
# PLATFORM: clang-libc++, mingw, aarch64, s390x, i686 (all of them; g++ is what every build uses). TEST: test
# programs (test_core ...; all). Prints a line for each program and one for each platform: test cases, what failed.
# Where an emulator runs them, cases tagged [computes] are left out, and of test_law those that take longer than
# two minutes, which are counted. --short: one enumeration of laws of each part. Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc) install=false long=ON build=build/platforms platforms=() tests=()
while [ $# -gt 0 ]; do
    case $1 in
    --install) install=true ;;
    --jobs) jobs=$2 && shift ;;
    --short) long=OFF ;;
    --build) build=$2 && shift ;;
    --) shift && tests=("$@") && break ;;
    *) platforms+=("$1") ;;
    esac
    shift
done
[ ${#platforms[@]} -gt 0 ] || platforms=(clang-libc++ mingw aarch64 s390x i686)

if $install; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends cmake ninja-build catch2 libboost-dev librange-v3-dev clang-16 libc++-16-dev \
        libc++abi-16-dev g++-mingw-w64-x86-64-posix wine wine64 g++-aarch64-linux-gnu \
        g++-s390x-linux-gnu g++-i686-linux-gnu qemu-user
fi

# Headers that are the same everywhere, apart from those of this machine's own library.
mkdir -p "$build/packages"
for folder in boost catch2 range concepts meta std; do # the last four are range-v3's
    ln -sfn "/usr/include/$folder" "$build/packages/$folder"
done

# Sets compiler, flags, how a program is run, what is left out of it, and what a platform lacks (RapidCheck, zlib; on
# Windows POSIX).
choose() {
    flags='' run=() only='' lacks='rapidcheck|testing/property|vocab_tsv' system=Linux
    case $1 in
    clang-libc++) compiler=clang++-16 flags=-stdlib=libc++ ;;
    mingw)
        compiler=x86_64-w64-mingw32-g++-posix flags='-static -Wa,-mbig-obj' run=(env WINEDEBUG=-all wine)
        lacks="$lacks|<sys/|<unistd|<dlfcn|<fenv|count_allocations" system=Windows
        ;;
    aarch64) compiler=aarch64-linux-gnu-g++ flags=-static run=(qemu-aarch64) only='~[computes]' ;;
    s390x) compiler=s390x-linux-gnu-g++ flags=-static run=(qemu-s390x) only='~[computes]' ;;
    i686) compiler=i686-linux-gnu-g++ flags='-static -msse2 -mfpmath=sse' ;;
    *) echo "unknown platform: $1" >&2 && exit 2 ;;
    esac
}

# Runs a program; prints "N test cases", and how many were left out.
run_all() {
    "${run[@]}" "$1" $only > "$1.log" 2>&1 || return
    grep -aoE '[0-9]+ test cases?' "$1.log" | tail -n 1
}
# The same, each case by itself.
run_each() {
    local passed=0 late=0 status
    "${run[@]}" "$1" $only --list-test-names-only | sed -n 's/\r$//;/./p' > "$1.names" || true
    : > "$1.log"
    while IFS= read -r name; do
        printf '"%s"\n' "$name" > "$1.name"
        status=0
        timeout 120 "${run[@]}" "$1" -f "$1.name" >> "$1.log" 2>&1 < /dev/null || status=$?
        case $status in
        0) passed=$((passed + 1)) ;;
        124) late=$((late + 1)) && echo "late: $name" >> "$1.log" ;;
        *) echo "failed: $name" >> "$1.log" && return 1 ;;
        esac
    done < "$1.names"
    echo "$passed test cases, $late left out"
}

failed=false
for platform in "${platforms[@]}"; do
    choose "$platform"
    at=$build/$platform
    cmake -S tests/platforms -B "$at" -G Ninja -DCMAKE_SYSTEM_NAME=$system -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_CXX_FLAGS="-Og -w $flags" -DSPECDEC_PACKAGES="$(realpath -s "$build/packages")" \
        -DSPECDEC_LEFT_OUT="$lacks" -DSPECDEC_BUILD_LONG_TESTS=$long \
        -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" > "$at.log"
    [ ${#tests[@]} -gt 0 ] && programs=("${tests[@]}") ||
        mapfile -t programs < <(ninja -C "$at" -t targets all | sed -n 's/^\(test_[a-z]*\): phony$/\1/p' | sort)
    : > "$at.txt"
    for program in "${programs[@]}"; do
        if ! ninja -C "$at" -j "$jobs" "$program" >> "$at.log" 2>&1; then
            echo "$program: does not compile, see $at.log"
            continue
        fi
        how=run_all
        [ -z "$only" ] || [ "$program" != test_law ] || how=run_each
        if cases=$($how "$at/$program$([ $system = Linux ] || echo .exe)"); then
            echo "$program: ok $cases"
        else
            echo "$program: failed, see $at/$program*.log"
        fi
    done | tee -a "$at.txt"
    awk -v platform="$platform" '
        $2 == "ok" { programs++; cases += $3; late += $6 } $2 != "ok" { bad = bad " " $1 }
        END { printf "%-14s %d programs, %d test cases passed, %d left out%s\n", platform, programs, cases, late,
                     bad == "" ? "" : "; not so:" bad }' "$at.txt"
    ! grep -qv ': ok ' "$at.txt" || failed=true
done
! $failed
