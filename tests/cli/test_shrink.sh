#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# calibrate, shrink and capsules as a user meets them.
#   usage: test_shrink.sh LASTBIT MY_KERNEL SOURCE_DIR
set -euo pipefail
lastbit=$1 kernel=$2 source_dir=$3
. "$(dirname "$(realpath "$0")")/expect.sh"

# ---- calibrate
unit=sm_90/mma.m16n8k16.f32.bf16.bf16.f32
expect $LINENO 0 out '^  16 +[0-9]+ +0 ' calibrate $unit -k 4096 --shape 16x64
expect $LINENO 0 out '^margin k=65536: .*NOT ENOUGH' calibrate $unit -k 65536 --shape 16x256
expect $LINENO 0 out '^blind k=1048576: lost-last' calibrate mma-tree16 --case depths
expect $LINENO 0 out '1.381e-0?4' calibrate mma-tree16 --case depths
expect $LINENO 0 out 'promote=128 against gemv-64x8' calibrate $unit -k 1024 --shape 2x8 --schedule promote=128 --against gemv-64x8
expect $LINENO 0 out '^  1 +' calibrate split4 -k 512 --shape 2x8 --against sequential --rows
expect $LINENO 0 out 'gemv-64x8 +scalar GEMV.*seed-contract' calibrate --list
expect $LINENO 0 out '^usage: lastbit calibrate' calibrate --help
expect $LINENO 0 out '"schema":"lastbit.calibration/1"' calibrate sequential -k 512 --shape 2x8 --json
python3 -c 'import json; c = json.load(open("out")); assert c["depths"][0]["k"] == 512 and len(c["depths"][0]["rows"]) == 2, c'
expect $LINENO 2 err 'did you mean gemv-64x8' calibrate gemv-64x9 -k 64
expect $LINENO 2 err 'did you mean lm-head' calibrate $unit --case lm-heat
expect $LINENO 2 err 'no list of depths' calibrate $unit -k 64,x
expect $LINENO 2 err 'no depth' calibrate $unit
expect $LINENO 2 err 'no drift' calibrate sm_80/mma.m16n8k32.s32.s8.s8.s32 -k 64
expect $LINENO 2 err 'write MxN' calibrate $unit -k 64 --shape 2x3x4
expect $LINENO 2 err 'belong to a unit' calibrate sequential -k 64 --schedule split-k=2

# ---- shrink
expect $LINENO 0 out 'bf16' gen matmul --in bf16 --shape 40x24x100 --seed 3 -o case
operands=(case/A.safetensors case/B.safetensors)
rule=(--in bf16 --contract m16-tc)
expect $LINENO 1 out '40x24x100 to 1x1x1 .*\(value\)' shrink "${operands[@]}" "${rule[@]}" -o lost.safetensors -- "$kernel" --lose-tail
expect $LINENO 1 out '^FAIL .*m=1 n=1 k=1' check lost.safetensors
expect $LINENO 1 out '^FAIL .*m=1 n=1 k=1' check lost.safetensors --brief -- "$kernel" --lose-tail
expect $LINENO 0 out '^PASS .*m=1 n=1 k=1' check lost.safetensors -- "$kernel"
expect $LINENO 0 out 'lastbit shrink case/A.safetensors' check lost.safetensors -- "$kernel"
expect $LINENO 1 out '"schema":"lastbit.shrink/1"' shrink "${operands[@]}" "${rule[@]}" --json -o json.safetensors -- "$kernel" --nan
python3 -c 'import json; s = json.load(open("out")); assert s["failure"] == "class" and s["to"] == {"m": 1, "n": 1, "k": 1} and s["record"]["verdict"] == "FAIL", s'
expect $LINENO 1 out 'failing alike \(failed\)' shrink "${operands[@]}" "${rule[@]}" -o crash.safetensors -- "$kernel" --crash
expect $LINENO 3 out 'holds no output' check crash.safetensors
expect $LINENO 1 out "to 1x1x" shrink "${operands[@]}" --unit $unit --on model:sm_80/mma.m16n8k16.f32.bf16.bf16.f32 -o unit.safetensors
expect $LINENO 0 out '^PASS' check unit.safetensors --on model:$unit
"$lastbit" gemm sm_80/mma.m16n8k16.f32.bf16.bf16.f32 "${operands[@]}" -o d.npy
expect $LINENO 1 out 'kept +K and the values' shrink "${operands[@]}" --actual d.npy --unit $unit -o given.safetensors
expect $LINENO 1 out '^FAIL .*k=100' check given.safetensors

# ---- wrong calls and files
expect $LINENO 2 err 'does not fail: PASS' shrink "${operands[@]}" "${rule[@]}" -o no.safetensors -- "$kernel"
expect $LINENO 2 err 'give one of' shrink "${operands[@]}" "${rule[@]}"
expect $LINENO 2 err 'what to judge by' shrink "${operands[@]}" --in bf16 -- "$kernel"
expect $LINENO 2 err 'no capsule' check case/A.safetensors
expect $LINENO 2 err 'capsule says what' check lost.safetensors --contract ulp:4
expect $LINENO 2 err 'cannot be (read|opened)|No such' check missing.safetensors
[[ ! -e no.safetensors ]] || { echo "FAIL: a capsule of what does not fail"; failed=$((failed + 1)); }

# ---- an OpenCL kernel, where there is a device
"$lastbit" check "${operands[@]}" "${rule[@]}" --on "kernel:$source_dir/examples/gemm.json" >out 2>err || true
if grep -q '^PASS' out; then
    expect $LINENO 1 out 'to 1x1x1 ' shrink "${operands[@]}" "${rule[@]}" -o cl.safetensors --on "kernel:$source_dir/examples/gemm_lost_tail.json"
    expect $LINENO 1 out '^FAIL' check cl.safetensors --on "kernel:$source_dir/examples/gemm_lost_tail.json"
    expect $LINENO 0 out '^PASS' check cl.safetensors --on "kernel:$source_dir/examples/gemm.json"
else
    echo "SKIP the OpenCL kernels: $(head -n 2 out | tail -n 1)"
fi

finish
