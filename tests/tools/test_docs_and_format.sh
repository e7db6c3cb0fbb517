#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# tools/gen_docs and tools/check_format refuse what is stale, unformatted or without a licence, and mend it when asked.
set -euo pipefail
root=$(readlink -f "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{tools,src,docs,build/release,.ci}
cp "$root"/tools/{gen_docs,check_format} "$scratch/tools/"
cp "$root/.clang-format" "$scratch/"
cp "$root/.ci/run" "$scratch/.ci/"
cp "$root"/{check,demo,CMakeLists.txt} "$scratch/"
cd "$scratch"

expect() { # exit code, words, command…
    local want=$1 words=$2 code=0 out
    shift 2
    out=$("$@" 2>&1 </dev/null) || code=$?
    if [[ $code -ne $want || $out != *"$words"* ]]; then
        printf 'not so: exit %d and "%s": %s\nexit %d:\n%s\n' "$want" "$words" "$*" "$code" "$out"
        exit 1
    fi
    echo "ok: $words"
}

# ---- tables: a command that prints two rows
printf '#!/bin/sh\n[ "$1" = formats ] && echo %s\n' "'"'[{"name":"bf16","man bits":7},{"name":"a|b","man bits":8,"alias":["x","y"]}]'"'" \
    >build/release/lastbit
chmod +x build/release/lastbit
printf '# A page\n\n<!-- table: formats name "man bits" alias -->\n| old |\n<!-- end table -->\n\nThe end.\n' >docs/formats.md
expect 1 "docs/formats.md: not what the rows say" tools/gen_docs --check
expect 0 "1 tables, 1 pages written" tools/gen_docs
expect 0 "1 tables, 0 pages stale" tools/gen_docs --check
expect 0 '| a\|b | 8 | x y |' cat docs/formats.md
expect 0 "The end." cat docs/formats.md
printf '<!-- table: nonsense -->\n<!-- end table -->\n' >docs/other.md
expect 1 "lastbit nonsense --json: exit 1" tools/gen_docs --check
printf '<!-- table: formats nmae -->\n<!-- end table -->\n' >docs/other.md
expect 1 "no row has 'nmae'" tools/gen_docs --check
rm docs/*.md
expect 1 "0 tables" tools/gen_docs --check

# ---- format and licence
licence='/* SPDX-License-Identifier: MIT OR Apache-2.0 */'
printf '%s\nint  f( void );\n' "$licence" >src/x.c
expect 1 "tools/check_format --fix rewrites these" tools/check_format
expect 0 "" tools/check_format --fix
expect 0 "1 C files formatted" tools/check_format
printf 'int g(void);\n' >src/y.h
expect 1 "src/y.h: no SPDX line at its head" tools/check_format
