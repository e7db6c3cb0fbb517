#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# lastbit capture as a user meets it, through a CUDA driver of our own (tests/fake_cuda.c): exit codes, one line an error, nothing left behind.
#   usage: test_capture.sh LASTBIT FAKE_CUDA FAKE_CUDA_OLD
set -euo pipefail
lastbit=$1 fake=$2 old=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LASTBIT_CUDA_DRIVER=$fake LASTBIT_FAKE_CC=9.0
failed=0 passed=0
unit=sm_90/mma.m16n8k8.f32.f16.f16.f32

# expect LINE CODE WHERE PATTERN arguments…; exit 2 and 3 are one line on stderr and nothing on stdout
expect() {
    local line=$1 want=$2 where=$3 pattern=$4 code=0
    shift 4
    "$lastbit" capture "$@" >out 2>err </dev/null || code=$?
    if [[ $code -ne $want ]] || ! grep -qE -- "$pattern" "$where"; then
        echo "FAIL line $line: lastbit capture $*: exit $code, want $want with /$pattern/ on std$where"
        head -n 5 out err
        failed=$((failed + 1))
    elif [[ $want -ne 0 && ($(wc -l <err) -ne 1 || -s out) ]]; then
        echo "FAIL line $line: lastbit capture $*: an error should be one line on stderr and nothing else"
        head -n 5 out err
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
same() { # LINE, what, got, want
    if [[ $3 == "$4" ]]; then
        passed=$((passed + 1))
    else
        echo "FAIL line $1: $2: got $3, want $4"
        failed=$((failed + 1))
    fi
}
files() { find "$1" -type f 2>/dev/null | wc -l; }

# ---- what is recorded
expect $LINENO 0 out 'Fake GPU \(sm_90, CUDA 13.0\): 5 recordings, .* 0 failed$' --units $unit --dots 32 -o all
same $LINENO "files of five kinds" "$(files all)" 5
same $LINENO "replay" "$("$lastbit" replay all/* | grep -c '^PASS')" 5
expect $LINENO 0 out ': 0 recordings, 0 words; 5 were there, 0 failed$' --units $unit --dots 32 -o all --resume
expect $LINENO 0 out ': 1 recordings, 32 words' --units $unit --kind dots --dots 32 --seed 9 -o other
same $LINENO "another seed, other dots" "$(cmp -s all/*.dots.safetensors other/*.dots.safetensors && echo same || echo other)" other
expect $LINENO 0 out 'm64n48k16.f16.f16.f16.tiles.safetensors  24576 words' --units sm_90/wgmma.m64n48k16.f16.f16.f16 --kind tiles -o free
expect $LINENO 0 out '^sm_90/wgmma.m64n8k16.f32.f16.f16 +captured$' --list
expect $LINENO 0 out '^sm_100/tcgen05.* not captured: this GPU is sm_90$' --list
expect $LINENO 0 out '"captured": ?true' --list --json --units $unit
LASTBIT_FAKE_CC=10.0 expect $LINENO 0 out '^sm_100/tcgen05.* not captured: tcgen05' --list
expect $LINENO 0 out '^    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 \{' --ptx --units $unit

# ---- wrong calls
expect $LINENO 2 err 'give -o FOLDER' --units $unit
expect $LINENO 2 err 'no unit has "zzz"' --units zzz -o x
expect $LINENO 2 err 'a kind is directed' --kind all -o x
expect $LINENO 2 err 'a file needs --request' file -o x
expect $LINENO 2 err '--request takes files' --request -o x
expect $LINENO 2 err 'absent: No such file' --request absent -o x
expect $LINENO 2 err 'is no request' --request all/*.dots.safetensors -o x
expect $LINENO 2 err 'cannot be made' --units $unit -o absent/deep
same $LINENO "wrong calls leave nothing" "$(files x)" 0

# ---- no driver, an old one, units of another GPU
LASTBIT_CUDA_DRIVER=$work/absent.so expect $LINENO 3 err '^lastbit: no NVIDIA driver on this machine: ' --units $unit -o x
LASTBIT_CUDA_DRIVER=$old expect $LINENO 3 err 'has no cuLaunchKernel' --list
LASTBIT_FAKE_LIE=none expect $LINENO 3 err 'cuInit: CUDA_ERROR_NO_DEVICE' --list
expect $LINENO 3 err 'no device 1' --device 1 --list
expect $LINENO 3 err 'not captured: this GPU is sm_90' --units sm_80/mma -o x
expect $LINENO 3 err 'tcgen05' --ptx --units sm_100/tcgen05

# ---- every call, failing once. What only releases may fail when all is written.
LASTBIT_FAKE_FAIL=none expect $LINENO 0 out '1 recordings' --units $unit --kind tiles -o calls
calls=0 released=0
while :; do
    calls=$((calls + 1)) code=0
    LASTBIT_FAKE_FAIL=$calls "$lastbit" capture --units $unit --kind tiles -o each >out 2>err </dev/null || code=$?
    if [[ $code -eq 0 && ! -s err ]]; then
        released=$((released + 1))
        [[ $released -le 6 ]] && continue # four buffers, the module, the context; the seventh call that does not fail is past the last
        break
    fi
    if [[ $code -ne 3 || $(wc -l <err) -ne 1 || -s out ]] || ! grep -q 'CUDA_ERROR_LAUNCH_FAILED' err || [[ $(files each) -ne 0 && $released -eq 0 ]]; then
        echo "FAIL: call $calls failing: exit $code, $(files each) files"
        head -n 5 out err
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done
same $LINENO "calls that were made to fail" "$([[ $calls -gt 25 ]] && echo many)" many
LASTBIT_FAKE_LIE=flaky expect $LINENO 3 err 'two runs of the same inputs differ' --units $unit -o y
LASTBIT_FAKE_LIE=refuses expect $LINENO 3 err "$unit: CUDA driver: cuModuleLoadDataEx: .*fatal : no such unit" --units $unit -o y
LASTBIT_FAKE_FAIL=cuModuleLoadDataEx expect $LINENO 3 err "$unit: CUDA driver: cuModuleLoadDataEx: " --units $unit -o y
same $LINENO "failures leave nothing" "$(files y)" 0

# ---- one unit that the driver does not compile does not lose the others
code=0
LASTBIT_FAKE_LIE=refuses-second "$lastbit" capture --units sm_90/mma.m16n8k16.f32 --kind tiles -o some >out 2>err </dev/null || code=$?
same $LINENO "exit" $code 3
same $LINENO "lines" "$(wc -l <err)" 1
"$lastbit" units sm_90/mma.m16n8k16.f32 >listed # a head line; rows with a compressed A are not recorded
same $LINENO "the others are there" "$(files some)" "$(($(grep -vc '\.sp ' listed) - 2))"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
