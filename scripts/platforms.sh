#!/usr/bin/env bash
# Builds the library's tests (all but reference/ and interop/) for other platforms and runs them, one
# program a test file, under an emulator where the machine needs one. Hours for all of them.
#
#   scripts/platforms.sh [--install] [--jobs N] [PLATFORM...] [-- FILE...]
#
# PLATFORM: g++, clang-libc++, mingw, aarch64, s390x, i686 (all). FILE: test files (all that a
# platform can build: those that need RapidCheck or POSIX are left out where there is none). Prints a
# line for each platform: files, test cases, what failed. Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc) install=false platforms=() files=()
while [ $# -gt 0 ]; do
    case $1 in
    --install) install=true ;;
    --jobs) jobs=$2 && shift ;;
    --) shift && files=("$@") && break ;;
    *) platforms+=("$1") ;;
    esac
    shift
done
[ ${#platforms[@]} -gt 0 ] || platforms=(g++ clang-libc++ mingw aarch64 s390x i686)

if $install; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends catch2 libboost-dev g++-12 clang-16 libc++-16-dev \
        libc++abi-16-dev g++-mingw-w64-x86-64-posix wine wine64 g++-aarch64-linux-gnu \
        g++-s390x-linux-gnu g++-i686-linux-gnu qemu-user
fi

# Headers that are the same everywhere, apart from those of this machine's own library.
build=build/platforms
mkdir -p "$build/packages"
ln -sfn /usr/include/boost "$build/packages/boost"
ln -sfn /usr/include/catch2 "$build/packages/catch2"

compiler_of() {
    case $1 in
    g++) echo g++-12 ;;
    clang-libc++) echo clang++-16 -stdlib=libc++ ;;
    mingw) echo x86_64-w64-mingw32-g++-posix -static -Wa,-mbig-obj ;;
    aarch64) echo aarch64-linux-gnu-g++ -static ;;
    s390x) echo s390x-linux-gnu-g++ -static ;;
    i686) echo i686-linux-gnu-g++ -static -msse2 -mfpmath=sse ;;
    *) echo "unknown platform: $1" >&2 && exit 2 ;;
    esac
}
runner_of() {
    case $1 in
    mingw) echo env WINEDEBUG=-all wine ;;
    aarch64) echo qemu-aarch64 ;;
    s390x) echo qemu-s390x ;;
    esac
}
# What a platform lacks: RapidCheck everywhere but here, POSIX on Windows.
left_out() {
    case $1 in
    g++) echo 'malloc_usable_size^' ;; # nothing
    mingw) echo 'rapidcheck|testing/property|<sys/|<unistd|<dlfcn|<fenv|count_allocations' ;;
    *) echo 'rapidcheck|testing/property' ;;
    esac
}

# test PLATFORM FILE: prints "ok CASES" or "failed FILE".
test_one() {
    local name=$build/$1/${2//\//_}
    if $(compiler_of "$1") -std=c++20 -O1 -Iinclude -Itests -isystem "$build/packages" \
        -DSPECDEC_SOURCE_DIR="\"$PWD\"" -DSPECDEC_SHARED_DIR='""' "$2" "$build/$1/main.o" \
        -o "$name.exe" > "$name.log" 2>&1 &&
        $(runner_of "$1") "$name.exe" >> "$name.log" 2>&1; then
        echo "ok $(grep -aoE '[0-9]+ test cases?' "$name.log" | tail -n 1 | grep -oE '^[0-9]+')"
    else
        echo "failed $2"
    fi
    rm -f "$name.exe"
}
export -f compiler_of runner_of test_one
export build

failed=false
for platform in "${platforms[@]}"; do
    mkdir -p "$build/$platform"
    $(compiler_of "$platform") -std=c++20 -O1 -isystem "$build/packages" -c tests/catch_main.cpp \
        -o "$build/$platform/main.o"
    if [ ${#files[@]} -gt 0 ]; then
        chosen=("${files[@]}")
    else
        mapfile -t chosen < <(find tests/core tests/sampling tests/verify tests/vocab tests/process \
            tests/head tests/bridge tests/draft tests/decode tests/learn tests/speculation \
            tests/law -name '*.cpp' -print0 | xargs -0 grep -LE "$(left_out "$platform")" | sort)
    fi
    printf '%s\n' "${chosen[@]}" |
        xargs -P "$jobs" -I{} bash -c 'test_one "$1" "$2"' _ "$platform" {} > "$build/$platform.txt"
    awk -v platform="$platform" '
        $1 == "ok" { files++; cases += $2 } $1 == "failed" { bad = bad " " $2 }
        END { printf "%-14s %d files, %d test cases passed%s\n", platform, files, cases,
                     bad == "" ? "" : "; failed:" bad }' "$build/$platform.txt"
    ! grep -q ^failed "$build/$platform.txt" || failed=true
done
! $failed
