#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# CMake names the Debian package of each required thing that is not there.
unset CMAKE_C_COMPILER_LAUNCHER # a launcher has no row
set -euo pipefail
root=$(readlink -f "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

expect_named() { # package, environment and CMake arguments that hide it…
    local package=$1 out
    shift
    if out=$(env -u CC "$@" -S "$root" -B "$scratch/build" -G Ninja 2>&1); then
        echo "configured without $package"
        exit 1
    fi
    if [[ $out != *"apt-get install $package"* ]]; then
        printf 'this does not name %s:\n%s\n' "$package" "$out"
        exit 1
    fi
    rm -rf "$scratch/build"
    echo "ok: $package"
}

# A PATH that holds these commands and no other.
only() {
    local folder=$scratch/only-$1 command
    shift
    mkdir -p "$folder"
    for command in "$@"; do ln -sf "$(command -v "$command")" "$folder/"; done
    echo "$folder"
}

cmake=$(command -v cmake)
expect_named ninja-build PATH="$(only a cc)" "$cmake"
expect_named gcc PATH="$(only b ninja)" "$cmake"
expect_named pkg-config PATH="$(only c ninja cc as ld)" "$cmake" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
expect_named libjansson-dev PKG_CONFIG_LIBDIR="$scratch" "$cmake"
