#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# lastbit verify as a user meets it: a real model where it is there, a demo model always, calls that are wrong.
#   usage: test_verify.sh LASTBIT SOURCE_DIR WILD_PLUGIN
set -uo pipefail
lastbit=$1 source=$2 wild=plugin:$3
. "$(dirname "$(realpath "$0")")/expect.sh"

# ---- files of f32 tensors
cat >tensors.py <<'P'
import json, struct
def write(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
P

# ---- a model of zeros made by hand: safetensors, 3 -> 2, so that the answer is the bias
python3 - <<'P'
from tensors import write
model = {"layers.0.weight": ([2, 3], [0] * 6), "layers.0.bias": ([2], [0.5, -2])}
write("model.safetensors", model)
write("good.safetensors", {"input": ([1, 3], [1, 2, 3]), "output": ([1, 2], [0.5, -2])})
write("bad.safetensors", {"input": ([1, 3], [1, 2, 3]), "output": ([1, 2], [0.5, -2.002])})
write("nan.safetensors", {"input": ([1, 3], [1, 2, 3]), "output": ([1, 2], [0.5, float("nan")])})
write("lacks.safetensors", {"input": ([1, 3], [1, 2, 3])})
P
expect $LINENO 0 out '^PASS op=verify kind=mlp .*compared=2 exact=2' verify model.safetensors --reference good.safetensors
expect $LINENO 1 out '^FAIL .*wrong=1' verify model.safetensors --reference bad.safetensors
expect $LINENO 0 out '^PASS' verify model.safetensors --reference bad.safetensors --tolerance 0.01
expect $LINENO 1 out '^FAIL .*wrong=1' verify model.safetensors --reference nan.safetensors
expect $LINENO 2 err 'no tensor "output"' verify model.safetensors --reference lacks.safetensors
expect $LINENO 0 out '"verdict": ?"PASS"' verify model.safetensors --reference good.safetensors --json
expect $LINENO 0 out '^PASS' verify model.safetensors --reference good.safetensors --contract ulp:0 --junit verify.xml
grep -q '<testcase' verify.xml || { echo "FAIL: no JUnit" && failed=$((failed + 1)); }
expect $LINENO 2 err 'takes no tokens' verify model.safetensors --tokens 1
expect $LINENO 2 err 'keeps no cache' verify model.safetensors --chunk 1
expect $LINENO 2 err 'writes no text' verify model.safetensors --generate 3
expect $LINENO 2 err 'brings its own input' verify model.safetensors --reference good.safetensors --against f32
expect $LINENO 2 err 'did you mean "f32"' verify model.safetensors --arith f31
expect $LINENO 2 err 'it takes one MODEL' verify
expect $LINENO 2 err 'No such file' verify absent.safetensors
expect $LINENO 2 err 'of no network that is known' verify good.safetensors

# ---- a device that ends: a verdict with one line, and we live on
python3 - <<'P'
from tensors import write
for n in (100, *range(101, 108), 111):
    write(f"wide{n}.safetensors", {"layers.0.weight": ([n, 3], [0.5] * 3 * n), "layers.0.bias": ([n], [0.25] * n)})
P
expect $LINENO 0 out '^PASS .*compared=400 ' verify wide100.safetensors --on "$wild"
expect $LINENO 1 out 'reason  *layer.0: op=linear .*no answer in 0.5 s' verify wide101.safetensors --on "$wild" --timeout 0.5
expect $LINENO 1 out 'reason  *layer.0: op=linear .*process was killed by signal 11' verify wide102.safetensors --on "$wild"
expect $LINENO 1 out 'reason  *layer.0: op=linear .*wrote 20 bytes outside' verify wide103.safetensors --on "$wild"
expect $LINENO 1 out 'reason  *layer.0: op=linear .*416 elements were not written' verify wide104.safetensors --on "$wild"
expect $LINENO 1 out 'reason  *layer.0: op=linear .*wrote to its inputs' verify wide105.safetensors --on "$wild"
expect $LINENO 1 out 'reason  *layer.0: op=linear .*exit code 3' verify wide106.safetensors --on "$wild" --dump out.safetensors
expect $LINENO 1 out 'reason  *layer.0: op=linear .*the tank is empty' verify wide107.safetensors --on "$wild"
expect $LINENO 3 out '^UNPROVEN .*compared=0 ' verify wide111.safetensors --on "$wild"
expect $LINENO 1 out '^PASS ' verify wide102.safetensors --arith f32 --on "$wild"

# ---- a real one
model=$source/../shared/models/stories260K.bin
if [[ ! -r $model ]]; then
    echo "SKIP the real model: $model is not there"
else
    text=1,461,461,401,401,401,461,378
    expect $LINENO 0 out '"verdict": ?"PASS"' verify "$model" --arith f32 --against f64 --tokens 1,100,200,300 --json
    python3 - out <<'P' || { echo "FAIL: verify --json" && failed=$((failed + 1)); }
import json, sys
record, network = map(json.loads, open(sys.argv[1]))
assert record["counts"]["compared"] == 4 * 512 and network["schema"] == "lastbit.network/1" and network["first_over"] is None
assert len(network["steps"]) == 163 and all(s["compared"] and s["ratio"] <= 1 for s in network["steps"]) and network["top1_same"] == 4
P
    expect $LINENO 0 out '^461,461,401,401,401,461,378$' verify "$model" --tokens 1 --generate 7
    expect $LINENO 0 out '^461,461,401,401,401,461,378$' verify "$model" --tokens 1 --generate 7 --arith f64
    expect $LINENO 0 out '^[0-9,]+$' verify "$model" --tokens 1 --generate 7 --temperature 0.8 --top-k 20 --top-p 0.9 --seed 3
    expect $LINENO 0 out 'chunks of 3 give the same bits' verify "$model" --tokens $text --chunk 3 --arith sm_80/mma.m16n8k16.f32.bf16.bf16.f32
    expect $LINENO 1 out '^FAIL .*arith=sm_90' verify "$model" --tokens $text --arith sm_90/wgmma.m64n8k32.f32.e4m3.e4m3
    grep -q 'first over' out && { echo "FAIL: an exact unit is over its own budget" && failed=$((failed + 1)); }
    expect $LINENO 2 err 'token 512|is not among its 512' verify "$model" --tokens 1,512
    expect $LINENO 2 err '"x" is no token' verify "$model" --tokens 1,x
    for device in opencl vulkan; do
        "$lastbit" verify "$model" --tokens $text --on $device >out 2>err
        case $? in
        0) passed=$((passed + 1)) ;;
        3) echo "SKIP $device: $(head -1 err)" ;;
        *) echo "FAIL $device: $(head -2 out err)" && failed=$((failed + 1)) ;;
        esac
    done
fi
finish
