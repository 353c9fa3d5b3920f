#!/usr/bin/env bash
# Builds the library's tests (all but interop/) for other platforms and runs them, under an
# emulator where the machine needs one. Half an hour a platform on two cores.
#
#   scripts/platforms.sh [--install] [--jobs N] [--build FOLDER] [--short] [--limit SECONDS] [PLATFORM...] [-- TEST...]
#
# PLATFORM: clang-22, clang-libc++, mingw, aarch64, s390x, i686, macos (all of them; g++ 12 is what every build uses).
# macos is compiled and linked only. TEST: test programs (test_core ...; all), or engine: the CPU engine decodes
# on aarch64 what it decodes here. Prints a line for each program and one for each platform: test cases, what failed.
# Where an emulator runs them, cases tagged [computes] are left out, apart from test_law, of which those are left out
# that take longer than --limit seconds of a core (120), and counted. The whole law: --limit unlimited -- test_law.
# --short: one enumeration of laws of each part. Debian 12; --install: what the platforms need, with apt (libraries of
# other architectures and ziglang come into FOLDER, from Debian and PyPI).
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc) install=false long=ON limit=120 build=build/platforms platforms=() tests=()
while [ $# -gt 0 ]; do
    case $1 in
    --install) install=true ;;
    --jobs) jobs=$2 && shift ;;
    --short) long=OFF ;;
    --limit) limit=$2 && shift ;;
    --build) build=$2 && shift ;;
    --) shift && tests=("$@") && break ;;
    *) platforms+=("$1") ;;
    esac
    shift
done
[ ${#platforms[@]} -gt 0 ] || platforms=(clang-22 clang-libc++ mingw aarch64 s390x i686 macos)

for test in "${tests[@]}"; do
    [[ $test == engine || $test == test_* ]] || { echo "$test: expected engine or a program: test_law" >&2 && exit 2; }
done

if $install; then
    scripts/install-dependencies.sh --platform "${platforms[@]}"
fi

# Headers that are the same everywhere, apart from those of this machine's own library.
mkdir -p "$build/packages"
for folder in boost catch2 range concepts meta std; do # the last four are range-v3's
    ln -sfn "/usr/include/$folder" "$build/packages/$folder"
done

# fetch ARCHITECTURE: Debian's static libraries of another architecture, into a folder; the machine's own dpkg knows
# nothing of it.
fetch() {
    local at
    at=$(realpath -sm "$build/debian-$1")
    [ ! -e "$at/done" ] || return 0
    mkdir -p "$at/lists/partial" "$at/cache/archives/partial" "$at/sources" "$at/root"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" \
        > "$at/sources/debian.list"
    local apt=(apt-get -qq -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::Lists=$at/lists"
        -o "Dir::Cache=$at/cache" -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$at/sources")
    (cd "$at" && "${apt[@]}" update && "${apt[@]}" download librapidcheck-dev zlib1g-dev libpcre2-dev libutf8proc-dev &&
        for package in *.deb; do dpkg -x "$package" root; done) > "$at/log" 2>&1 || { cat "$at/log" && return 1; }
    touch "$at/done"
}
# Clang 22 and libc++ with macOS's headers, as PyPI's ziglang has them.
fetch_zig() {
    local at
    at=$(realpath -sm "$build/zig")
    [ -e "$at/c++" ] || {
        python3 -m venv "$at" && "$at/bin/pip" install -q --require-hashes -r scripts/pins/ziglang.txt || return
        # float.h first, and with GNU's extensions: else its numbers are hidden by a header of macOS's
        printf '#!/bin/sh\nexec "%s" -m ziglang c++ -target aarch64-macos -include float.h "$@" -std=gnu++20\n' \
            "$at/bin/python" > "$at/c++"
        chmod +x "$at/c++"
    }
    export ZIG_GLOBAL_CACHE_DIR=$at/cache
}

# Sets compiler, flags, libraries, how a program is run, what is left out of it, and which test files are, as the
# platform lacks what they need (RapidCheck; on Windows zlib and POSIX).
choose() {
    flags=-w law_flags='' libraries='-lrapidcheck;-lz' run=() runs=true only='' lacks='' system=Linux debian='' root=''
    local no_properties='rapidcheck|support/property|support/holds'
    case $1 in
    clang-22)
        compiler=clang++-22
        flags='-Werror -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wno-c2y-extensions'
        ;;
    clang-libc++) compiler=clang++-16 flags="$flags -stdlib=libc++" lacks=$no_properties libraries=-lz ;;
    mingw)
        compiler=x86_64-w64-mingw32-g++-posix flags="$flags -Og -static -Wa,-mbig-obj" libraries='' # at -O0 too large for COFF
        lacks="$no_properties|vocab_tsv|<sys/|<unistd|<dlfcn|<fenv|count_allocations"
        run=(env WINEDEBUG=-all wine) system=Windows
        ;;
    aarch64) compiler=aarch64-linux-gnu-g++ debian=arm64 run=(qemu-aarch64) ;;
    s390x) compiler=s390x-linux-gnu-g++ debian=s390x run=(qemu-s390x) ;;
    i686) compiler=i686-linux-gnu-g++ debian=i386 flags="$flags -Og -msse2 -mfpmath=sse" ;;
    macos)
        fetch_zig
        compiler=$(realpath -s "$build/zig/c++") lacks="$no_properties|vocab_tsv" libraries='' runs=false system=Generic
        ;;
    *) echo "unknown platform: $1" >&2 && exit 2 ;;
    esac
    case ${run[*]} in qemu*) flags="$flags -Og" law_flags=-O2 only='~[computes]' ;; esac
    if [ "$debian" ]; then
        fetch $debian
        root=$(realpath -s "$build/debian-$debian/root")
        flags="$flags -static"
        libraries="$(echo "$root"/usr/lib/*/librapidcheck.a);$(echo "$root"/usr/lib/*/libz.a)"
    fi
}

run_none() {
    echo '0 test cases, compiled only'
}
# Runs a program; prints "N test cases".
run_all() {
    "${run[@]}" "$1" $only > "$1.log" 2>&1 || return
    grep -aoE '[0-9]+ test cases?' "$1.log" | tail -n 1
}
# The same, each case by itself, for at most that many seconds of a core, and how many took longer.
run_each() {
    local passed=0 late=0 status
    "${run[@]}" "$1" --list-test-names-only | sed -n 's/\r$//;/./p' > "$1.names" || true
    [ -s "$1.names" ] || return
    : > "$1.log"
    while IFS= read -r name; do
        name=$(sed 's/[\\",]/\\&/g' <<< "$name") # as tests/discovery/discover.py names a case
        status=0
        (ulimit -t "$limit" && exec "${run[@]}" "$1" "\" $name\"" -w NoTests) >> "$1.log" 2>&1 < /dev/null || status=$?
        case $status in
        0) passed=$((passed + 1)) ;;
        137 | 152) late=$((late + 1)) && echo "late: $name" >> "$1.log" ;;
        *) echo "failed: $name" >> "$1.log" && return 1 ;;
        esac
    done < "$1.names"
    echo "$passed test cases, $late left out"
}
# The engine, which needs more packages: README's first program decodes what it decodes here.
run_engine() {
    local build=(-std=c++20 -O1 -w -Iinclude -Iengine/include -isystem /usr/include/eigen3 examples/first_program.cpp)
    mkdir -p "$1" && "$compiler" "${build[@]}" -static -isystem "$root/usr/include" "$root"/usr/lib/*/libpcre2-8.a \
        "$root"/usr/lib/*/libutf8proc.a -o "$1/there" 2> "$1.log" || return
    g++ "${build[@]}" -lpcre2-8 -lutf8proc -o "$1/here" 2>> "$1.log" && "$1/here" > "$1/here.txt" || return
    "${run[@]}" "$1/there" > "$1/there.txt" && diff "$1/here.txt" "$1/there.txt" >> "$1.log" && echo "1 text"
}

logs=()
for platform in "${platforms[@]}"; do
    choose "$platform"
    at=$build/$platform
    cmake -S tests/platforms -B "$at" -G Ninja -DCMAKE_SYSTEM_NAME=$system -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_CXX_FLAGS="$flags" -DSPECDEC_PACKAGES="$(realpath -s "$build/packages")${root:+;$root/usr/include}" \
        -DSPECDEC_LEFT_OUT="$lacks" -DSPECDEC_LIBRARIES="$libraries" -DSPECDEC_BUILD_LONG_TESTS=$long \
        -DSPECDEC_LAW_FLAGS="$law_flags" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" > "$at.log"
    [ ${#tests[@]} -gt 0 ] && programs=("${tests[@]}") ||
        mapfile -t programs < <(ninja -C "$at" -t targets all | sed -n 's/^\(test_[a-z]*\): .*/\1/p' | sort -u)
    [ ${#programs[@]} -gt 0 ] || { echo "$platform: expected test programs in $at" >&2 && exit 1; }
    : > "$at.txt"
    for program in "${programs[@]}"; do
        how=run_all
        if [ "$program" = engine ]; then
            how=run_engine
        elif ! ninja -C "$at" -j "$jobs" "$program" >> "$at.log" 2>&1; then
            echo "$program: does not compile, see $at.log"
            continue
        elif ! $runs; then
            how=run_none
        elif [ "$only" ] && [ "$program" = test_law ]; then
            how=run_each
        fi
        if cases=$($how "$at/$program$([ $system != Windows ] || echo .exe)"); then
            echo "$program: ok $cases"
        else
            echo "$program: failed, see $at/$program*.log"
        fi
    done | tee -a "$at.txt"
    awk -v platform="$platform" '
        $2 == "ok" { programs++; cases += $3; late += $6 } $2 != "ok" { bad = bad " " $1 }
        END { printf "%-14s %d programs, %d test cases passed, %d left out%s\n", platform, programs, cases, late,
                     bad == "" ? "" : "; not so:" bad }' "$at.txt"
    logs+=("$at.txt")
done
awk '$2 == "ok" { good += $3 } $2 != "ok" { bad++ }
    END { printf "%d passed, %d failed\n", good, bad; exit bad > 0 }' "${logs[@]}" # cases, programs
