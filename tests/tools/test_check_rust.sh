#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# tools/check_rust: without cargo it says SKIP, but a header that the declarations do not follow fails all the same.
set -euo pipefail
root=$(readlink -f "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tools" "$scratch/bindings" "$scratch/bin"
cp "$root/tools/check_rust" "$scratch/tools/"
cp -r "$root/include" "$scratch/"
cp -r "$root/bindings/rust" "$scratch/bindings/"
printf '#!/bin/sh\necho "no such command" >&2\nexit 127\n' >"$scratch/bin/cargo" # as where there is none
chmod +x "$scratch/bin/cargo"

expect() { # exit code, text
    local code=0 out
    out=$(env -u CC PATH="$scratch/bin:$PATH" "$scratch/tools/check_rust" 2>&1) || code=$?
    if [[ $code -ne $1 || $out != *"$2"* ]]; then
        printf 'exit %d, want %d and "%s":\n%s\n' "$code" "$1" "$2" "$out"
        exit 1
    fi
    echo "ok: ${2//$'\n'/ }"
}

expect 0 "
SKIP rust: no cargo; apt-get install cargo"
header=$scratch/include/lastbit/contracts.h
cp "$header" "$scratch/kept"
sed -i 's/    size_t sign_flips;/    size_t sign_flips, more;/' "$header"
expect 1 "lastbit-sys/src/generated.rs is not what the headers say"
sed 's/size_t k, double row_rms);/size_t k, float row_rms);/' "$scratch/kept" >"$header"
expect 1 "lastbit-sys/src/generated.rs is not what the headers say"
cp "$scratch/kept" "$header"
echo "fn main() {}" >"$scratch/bindings/rust/lastbit/examples/nobody.rs"
expect 1 "no SPDX line: bindings/rust/lastbit/examples/nobody.rs"
