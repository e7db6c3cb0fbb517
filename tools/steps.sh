# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by ./check: run steps, one line each, and count. A step that runs tests counts as its tests, any other as one.
passed=0 failed=0 skipped=0
logs=${LB_LOGS:-build/logs}
mkdir -p "$logs"

say_step() { # word, name, start, note
    printf '%-4s %-22s %4d s  %s\n' "$1" "$2" $((SECONDS - $3)) "$4"
}

# Run a command with its output in a log, which is shown only if the command fails. Leaves its exit code in step_code.
run_logged() { # name, command…
    local log=$logs/$1.log
    shift
    set +e # a plain call, so that errexit holds inside the command's own shell
    (
        set -euo pipefail
        "$@"
    ) >"$log" 2>&1 </dev/null
    step_code=$?
    set -e
}

# What a step says about itself: its last line that is not empty.
last_line() {
    sed '/^[[:space:]]*$/d' "$1" | tail -n 1 | cut -c 1-100
}

step() { # name, command…
    local start=$SECONDS name=$1 log=$logs/$1.log
    run_logged "$@"
    if [[ $step_code -eq 0 ]]; then
        passed=$((passed + 1))
        say_step ok "$name" "$start" "$(last_line "$log")"
    else
        failed=$((failed + 1))
        say_step FAIL "$name" "$start" "exit $step_code; the whole log: $log"
        tail -n 100 "$log" | sed 's/^/    /'
    fi
    count_skips "$name" <"$log"
}

# Lines "SKIP what: why" of a log are shown and counted, so that a skip never looks like a pass.
count_skips() { # name; the log on stdin
    local line
    while IFS= read -r line; do
        skipped=$((skipped + 1))
        echo "     $line"
    done < <(grep '^SKIP ' | sort -u || true)
}

# CTest over one preset: every test counts.
step_tests() { # preset
    local start=$SECONDS name=tests-$1 log=$logs/tests-$1.log xml=build/$1/tests.xml tests=0 bad=0 unrun=0
    rm -f "$xml"
    run_logged "$name" ctest --preset "$1" -j "$(nproc)"
    if [[ -e $xml ]]; then
        tests=$(suite_count tests "$xml") bad=$(suite_count failures "$xml") unrun=$(suite_count skipped "$xml")
    fi
    passed=$((passed + tests - bad - unrun))
    skipped=$((skipped + unrun))
    failed=$((failed + bad))
    if [[ $step_code -eq 0 && $bad -eq 0 && $tests -gt 0 ]]; then
        say_step ok "$name" "$start" "$tests tests, $unrun skipped"
    else
        if [[ $bad -eq 0 ]]; then failed=$((failed + 1)); fi
        say_step FAIL "$name" "$start" "$bad of $tests tests; the whole log: $log"
        tail -n 200 "$log" | sed 's/^/    /'
    fi
    if [[ -e build/$1/Testing/Temporary/LastTest.log ]]; then
        count_skips "$name" <"build/$1/Testing/Temporary/LastTest.log"
    fi
}

suite_count() { # attribute of <testsuite>, file
    sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1
}

# The last line of the run; its exit code is the run's.
finish() { # name of the run
    echo "$1: $passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 ]]
}
