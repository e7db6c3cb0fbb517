#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The steps of ./check: a failure is counted, shown and makes the whole fail; a skip is counted and shown.
set -euo pipefail
steps=$(readlink -f "$(dirname "$0")/../../tools/steps.sh")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

expect() { # what is claimed, exit code, last line, lines of a script
    local claim=$1 want_code=$2 want_last=$3 code=0 out
    out=$(LB_LOGS=logs bash -euo pipefail -c "source '$steps'; $4" 2>&1 </dev/null) || code=$?
    if [[ $code -ne $want_code || ${out##*$'\n'} != "$want_last" ]]; then
        printf 'not so: %s\n  exit %d, want %d; last line: want %s; all of it:\n%s\n' "$claim" "$code" "$want_code" "$want_last" "$out"
        exit 1
    fi
    echo "ok: $claim"
}

half='half() { false; echo "went on after a failure"; }'
note='note() { echo "SKIP device: none here"; echo done; }'
fake='ctest() { mkdir -p build/p; printf "<testsuite name=\"x\"\n\ttests=\"5\"\n\tfailures=\"%s\"\n\tskipped=\"%s\"\n" $fails $none >build/p/tests.xml; return $code; }'

expect "steps that pass are counted" 0 "check: 2 passed, 0 failed, 0 skipped" "step a true; step b true; finish check"
expect "a failing step fails the run" 1 "check: 1 passed, 1 failed, 0 skipped" "step a true; step b false; finish check"
expect "steps after a failing one still run" 1 "check: 1 passed, 1 failed, 0 skipped" "step b false; step a true; finish check"
expect "a step ends at its first failing command" 1 "check: 0 passed, 1 failed, 0 skipped" "$half; step half half; finish check"
expect "a missing command fails" 1 "check: 0 passed, 1 failed, 0 skipped" "step x no-such-command; finish check"
expect "a skip is counted beside its step" 0 "check: 1 passed, 0 failed, 1 skipped" "$note; step note note; finish check"
expect "every test counts" 0 "check: 4 passed, 0 failed, 1 skipped" "fails=0 none=1 code=0; $fake; step_tests p; finish check"
expect "a failing test fails the run" 1 "check: 3 passed, 2 failed, 0 skipped" "fails=2 none=0 code=8; $fake; step_tests p; finish check"
expect "tests that did not run fail" 1 "check: 0 passed, 1 failed, 0 skipped" "ctest() { return 8; }; step_tests p2; finish check"
expect "tests that say nothing fail" 1 "check: 0 passed, 1 failed, 0 skipped" "ctest() { true; }; step_tests p2; finish check"
