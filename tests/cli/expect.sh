# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by tests of the command, once $lastbit is set: a folder of their own to work in, and what they expect of each call.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} TMPDIR=$work
mkdir -p "$POCL_CACHE_DIR"
cd "$work" || exit 1
failed=0 passed=0 skipped=0

# expect LINE CODE WHERE PATTERN command…   WHERE: out, err; an error is one line on stderr and nothing on stdout.
expect() {
    local line=$1 want=$2 where=$3 pattern=$4 code=0
    shift 4
    "$lastbit" "$@" >out 2>err </dev/null || code=$?
    if grep -q 'nothing ran: .*OpenCL' out; then
        echo "SKIP line $line: $(grep -o 'nothing ran: .*' out)"
        skipped=$((skipped + 1))
    elif [[ $code -ne $want ]] || ! grep -qE -- "$pattern" "$where"; then
        echo "FAIL line $line: lastbit $*: exit $code, want $want with /$pattern/ on std$where"
        head -n 5 out err
        failed=$((failed + 1))
    elif [[ $want -eq 2 && ($(wc -l <err) -ne 1 || -s out) ]]; then
        echo "FAIL line $line: lastbit $*: an error should be one line on stderr and nothing else"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

# The last line of a test; its exit code is the test's.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [[ $failed -eq 0 ]]
}
