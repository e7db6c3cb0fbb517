#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# tools/on_gpu through a CUDA driver of our own (tests/fake_cuda.c): what it leaves, and what it says where something is not as it should be.
#   usage: test_on_gpu.sh LASTBIT FAKE_CUDA SOURCE_DIR
set -euo pipefail
lastbit=$1 source_dir=$3
export LASTBIT_CUDA_DRIVER=$2 LASTBIT_FAKE_CC=7.0 LASTBIT_NVRTC=/none/libnvrtc.so # our driver runs no kernels that NVRTC writes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 passed=0

# expect LINE CODE PATTERN arguments…: exit code, and a line of the output
expect() {
    local line=$1 want=$2 pattern=$3 code=0
    shift 3
    "$source_dir/tools/on_gpu" --lastbit "$lastbit" "$@" >"$work/log" 2>&1 </dev/null || code=$?
    if [[ $code -ne $want ]] || ! grep -qE -- "$pattern" "$work/log"; then
        echo "FAIL line $line: on_gpu $*: exit $code, want $want with /$pattern/"
        cat "$work/log"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
so() { # LINE, what is claimed, test…
    local line=$1 claim=$2
    shift 2
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAIL line $line: not so: $claim"
        failed=$((failed + 1))
    fi
}

small=(--dots 16 --wide 64)
units=$("$lastbit" capture --list | grep -c ' captured$')
expect $LINENO 0 "every word is the models'" "${small[@]}" -o "$work/all"
so $LINENO "five kinds of each unit are there" test "$(find "$work/all" -maxdepth 1 -name '*.safetensors' | wc -l)" -eq $((5 * units))
so $LINENO "the operations are there" test -s "$work/all/operations/operations.safetensors"
so $LINENO "their replay is kept" grep -qE '^[0-9]+ operations: [1-9][0-9]* match, 0 differ' "$work/all/operations/replay.txt"
so $LINENO "parity without NVRTC is no failure, and is said" grep -q '^lastbit: cuda: no libnvrtc' "$work/all/parity.txt"
so $LINENO "the replay is kept" grep -qE "^matched [1-9][0-9]*/[0-9]* words of $((5 * units)) recordings\$" "$work/all/replay.txt"
so $LINENO "the list of units is kept" grep -q 'not captured: this GPU is sm_70' "$work/all/units.txt"
expect $LINENO 0 "0 recordings, 0 words; $((5 * units)) were there" "${small[@]}" -o "$work/all" # what is there is not made again
OUT=$work/out expect $LINENO 0 "recordings, .* in $work/out/Fake_GPU$" "${small[@]}" --kind chain

# a word that differs: the recording is kept, and named
"$lastbit" capture --units sm_70/mma.m8n8k4.f32 --kind dots --dots 16 -o "$work/bent" >/dev/null
bent=$(echo "$work"/bent/*.dots.safetensors)
python3 - "$bent" <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[8 + int.from_bytes(data[:8], "little") + 16 * 4] ^= 1  # c and d come first: the first byte of d
open(sys.argv[1], "wb").write(data)
P
expect $LINENO 1 '^  sm_70_mma.m8n8k4.f32.f16.f16.f32.dots.safetensors$' "${small[@]}" --kind dots -o "$work/bent"

# an operation that differs from its model is found
mkdir -p "$work/ops"
LASTBIT_FAKE_LIE=wrong-op "$lastbit" capture --ops lop3 -o "$work/ops/operations" >/dev/null
expect $LINENO 1 'operations: 0 match, 4 differ' "${small[@]}" --wide 0 -o "$work/ops"

# wgmma has a step of its own
LASTBIT_FAKE_CC=9.0 expect $LINENO 0 '^wgmma .*: [1-9][0-9]* recordings' --kind tiles --wide 0 -o "$work/hopper"

# nothing to record
LASTBIT_CUDA_DRIVER=$work/absent.so expect $LINENO 3 'no NVIDIA driver on this machine' -o "$work/none"
LASTBIT_FAKE_LIE=none expect $LINENO 3 'CUDA_ERROR_NO_DEVICE' -o "$work/none"
LASTBIT_FAKE_LIE=refuses expect $LINENO 3 '^on_gpu: nothing was recorded$' -o "$work/none"
LASTBIT_FAKE_FAIL=cuLaunchKernel expect $LINENO 3 'unspecified launch failure' -o "$work/none"
expect $LINENO 3 'SKIP list: of 0 s none are left' --seconds 0 -o "$work/none"
LASTBIT_FAKE_LIE=refuses-second expect $LINENO 1 '^  lastbit: .*CUDA_ERROR_INVALID_PTX' "${small[@]}" --kind tiles -o "$work/some"
so $LINENO "one unit that is refused does not lose the others" test "$(find "$work/some" -name '*.safetensors' | wc -l)" -eq $((units - 1))
so $LINENO "where nothing was recorded there are no recordings" test -z "$(find "$work/none" -name '*.safetensors*' 2>/dev/null)"
expect $LINENO 2 'usage: tools/on_gpu' --bogus 1
expect $LINENO 2 'usage: tools/on_gpu' -o
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
    LASTBIT_CUDA_DRIVER='' expect $LINENO 3 'no NVIDIA GPU on this machine' -o "$work/none"
fi

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
