#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# tools/install_packages asks for what is missing, all at once, and for nothing else. The packages and apt-get here are invented.
set -euo pipefail
tool=$(readlink -f "$(dirname "$0")/../../tools/install_packages")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tools" "$scratch/bin"
cp "$tool" "$scratch/tools/"
printf '# a comment\n%s\tbuild\tone\n%s\tbuild\ttwo\n%s\tcheck\tthree\n%s\tcheck\tfour\n' here-a gone-b here-c gone-d >"$scratch/tools/packages.tsv"
cat >"$scratch/bin/dpkg-query" <<'END'
#!/usr/bin/env bash
case ${*: -1} in here-*) printf installed ;; *) exit 1 ;; esac
END
cat >"$scratch/bin/apt-get" <<'END'
#!/usr/bin/env bash
echo "$*" >>"$CALLS"
[[ $1 != "${APT_FAILS:-}" ]]
END
printf '#!/usr/bin/env bash\necho "${USER_ID:-0}"\n' >"$scratch/bin/id"
chmod +x "$scratch"/bin/*
export CALLS=$scratch/calls

try() { # expected exit code, words in the answer, words in the calls of apt-get or "" for no call, settings and groups…
    local want=$1 words=$2 calls=$3 code=0 out
    shift 3
    : >"$CALLS"
    out=$(env PATH="$scratch/bin:$PATH" "$@" 2>&1 </dev/null) || code=$?
    if [[ $code -ne $want || $out != *"$words"* || $(<"$CALLS") != *"$calls"* || (-z $calls && -s $CALLS) ]]; then
        printf 'not so: exit %d and "%s" and calls "%s": %s\nexit %d:\n%s\ncalls:\n%s\n' "$want" "$words" "$calls" "$*" "$code" "$out" "$(<"$CALLS")"
        exit 1
    fi
    echo "ok: $words"
}

run=$scratch/tools/install_packages
try 0 "missing: gone-d (four)" "--no-install-recommends gone-b gone-d" "$run"
try 0 "installing 1 packages from Debian: gone-b" "--no-install-recommends gone-b" "$run" build
try 0 "all 1 Debian packages are there" "" env sh -c "sed -i /gone/d '$scratch/tools/packages.tsv' && '$run' build"
printf 'gone-b\tbuild\ttwo\n' >>"$scratch/tools/packages.tsv"
try 0 "apt-get update failed" "--no-install-recommends gone-b" env APT_FAILS=update "$run"
try 1 "installing 1 packages" "install" env APT_FAILS=install "$run"
only=$scratch/only && mkdir "$only"
for command in bash env dirname readlink mktemp rm cat; do ln -s "$(command -v $command)" "$only/"; done
ln -s "$scratch/bin/id" "$scratch/bin/dpkg-query" "$scratch/bin/apt-get" "$only/"
try 1 "apt-get install --no-install-recommends gone-b" "" env PATH="$only" USER_ID=1000 "$run"
