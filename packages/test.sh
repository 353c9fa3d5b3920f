#!/usr/bin/env bash
# Builds the program in packages/user, in a folder of its own, against every package that can be made here:
# CMake's install, Conan's recipe in conan/, and the one for Conan Center (without a remote; what it requires is
# Debian's). The vcpkg port's steps run with stand-ins of vcpkg's functions. A minute.
#
#   packages/test.sh [CONAN]        CONAN: the program (conan); a version of 2.12 or newer
set -euo pipefail
cd "$(dirname "$0")/.."

conan=$(realpath -s "$(command -v "${1:-conan}")")
root=$PWD at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
export CONAN_HOME=${CONAN_HOME:-$at/conan}
export CMAKE_GENERATOR=Ninja CXX=${CXX:-g++-12}
version=$(sed -n 's/^project(specdec VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

step() {
    local name=$1
    shift
    if "$@" > "$at/log" 2>&1; then
        echo "$name: ok"
    else
        cat "$at/log"
        echo "$name: failed"
        exit 1
    fi
}

# build_user NAME ARGUMENT...: a stranger's program; it decodes. What takes longest to compile, all rules, is the same
# in every package: the first one's headers are compiled for all.
build_user() {
    local name=$1
    shift
    rm -rf "$at/$name" && cp -r packages/user "$at/$name" && (cd "$at/$name" &&
        CXXFLAGS=-DSPECDEC_RULES_COMPILED LDFLAGS=$at/rules.o cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug \
            -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" "$@" && cmake --build build && ./build/user)
}

# The archive of a release, of what git has.
mkdir "$at/release"
git archive --prefix="specdec-$version/" -o "$at/release/specdec.tar.gz" "${PACKAGES_COMMIT:-HEAD}"

by_cmake() {
    tar xf "$at/release/specdec.tar.gz" -C "$at/release" &&
        cmake -S "$at/release/specdec-$version" -B "$at/release/build" -DSPECDEC_BUILD_TESTS=OFF \
            -DSPECDEC_BUILD_EXAMPLES=OFF -DSPECDEC_BUILD_BENCHMARKS=OFF -DSPECDEC_COMPONENTS= &&
        cmake --install "$at/release/build" --prefix "$at/installed" &&
        $CXX -std=c++20 -I "$at/installed/include" -c cmake/compiled/rules.cpp -o "$at/rules.o" &&
        build_user by-cmake -DCMAKE_PREFIX_PATH="$at/installed"
}
step "CMake's install" by_cmake

# conan_user NAME REFERENCE PROFILE: the program with what Conan says of the package.
conan_user() {
    local profile
    profile=$(realpath "$3")
    # From there: it writes CMakeUserPresets.json beside a CMakeLists.txt.
    (cd "$at" && "$conan" install --requires "$2" --no-remote -pr:a "$profile" -s build_type=Debug -g CMakeDeps \
        -g CMakeToolchain -of "$at/$1-files") &&
        build_user "$1" -DCMAKE_TOOLCHAIN_FILE="$at/$1-files/conan_toolchain.cmake"
}
own_recipe() {
    "$conan" create conan --no-remote -pr:a conan/profiles/debian12 -tf "" &&
        conan_user own-recipe "specdec/$version" conan/profiles/debian12
}
step "Conan, the recipe of this repository" own_recipe

# The index's recipe names an archive and its sum: here the one from above. The packages that it requires, by
# the versions that it requires, stand for Debian's headers.
stand_in_boost() {
    mkdir "$at/boost" && cat > "$at/boost/conanfile.py" << 'END'
import os
from conan import ConanFile

class Boost(ConanFile):
    name, package_type = "boost", "header-library"
    def package(self):
        os.makedirs(os.path.join(self.package_folder, "include"))
        os.symlink("/usr/include/boost", os.path.join(self.package_folder, "include", "boost"))
    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "Boost")
        self.cpp_info.components["headers"].set_property("cmake_target_name", "Boost::headers")
END
    "$conan" create "$at/boost" --version 1.86.0 --no-remote -pr:a "$at/profile"
}
center_recipe() {
    local sum
    sum=$(sha256sum "$at/release/specdec.tar.gz" | cut -d' ' -f1)
    cp -r packages/conan-center "$at/center" &&
        sed -i "s|@URL@|file://$at/release/specdec.tar.gz|; s|@SHA256@|$sum|; s|0\.2\.0|$version|" \
            "$at/center/all/conandata.yml" "$at/center/config.yml" &&
        sed "/^specdec/d; /^\[options\]/d; /^\[platform_requires\]/,$ d" conan/profiles/debian12 > "$at/profile" &&
        stand_in_boost &&
        "$conan" remove -c 'specdec/*' &&
        "$conan" create "$at/center/all" --version "$version" --no-remote -pr:a "$at/profile" \
            -c tools.cmake.cmake_layout:test_folder="$at/center-test" &&
        conan_user center-recipe "specdec/$version" "$at/profile"
}
step "Conan, the recipe for its index" center_recipe

port() {
    local sum
    sum=$(sha512sum "$at/release/specdec.tar.gz" | cut -d' ' -f1)
    cp -r packages/vcpkg "$at/port" &&
        python3 -m json.tool "$at/port/vcpkg.json" > /dev/null &&
        sed -i "s|@REPOSITORY@|a/specdec|; s|@SHA512@|$sum|" "$at/port/portfile.cmake" &&
        cmake -D ARCHIVE="$at/release/specdec.tar.gz" -D OUT="$at/vcpkg" -D VERSION="$version" \
            -P packages/vcpkg_stand_in.cmake &&
        build_user port -DCMAKE_PREFIX_PATH="$at/vcpkg/installed"
}
step "vcpkg's port, by stand-ins" port
