# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by ./demo: tell a story in which every command is shown, run, and held to the exit code that it should have.
bold='' dim='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'; fi

# A paragraph for the reader.
say() {
    printf '%s\n' "$@"
}

# Show a command, run it, and end the demo if it does not exit with the code that is expected. Set RUN_AS to show other words.
run() { # expected exit code, command…
    local expected=$1 code=0
    shift
    printf '\n%s$ %s%s\n' "$bold" "${RUN_AS:-$*}" "$plain"
    "$@" </dev/null || code=$?
    if [[ $code -ne $expected ]]; then
        echo "demo: the last command exited with $code; it should have been $expected" >&2
        exit 1
    fi
    printf '%s(exit %d)%s\n\n' "$dim" "$code" "$plain"
}

# A step of the set-up: one line, its output only if it fails.
quietly() { # what it does, command…
    local what=$1 log start=$SECONDS
    log=$(mktemp)
    shift
    if "$@" >"$log" 2>&1 </dev/null; then
        printf '%s%s: done in %d s%s\n' "$dim" "$what" $((SECONDS - start)) "$plain"
        rm -f "$log"
    else
        cat "$log" >&2
        rm -f "$log"
        echo "demo: this failed: $what" >&2
        exit 1
    fi
}
