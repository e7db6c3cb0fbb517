#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The command as a user meets it: exit codes, one line an error, the four forms of check for a right and a wrong kernel.
#   usage: test_cli.sh LASTBIT MY_KERNEL SOURCE_DIR
set -euo pipefail
lastbit=$1 kernel=$2 source_dir=$3
. "$(dirname "$(realpath "$0")")/expect.sh"

# ---- operands and outputs
unit=sm_80/mma.m16n8k16.f32.f16.f16.f32
bf16_unit=sm_80/mma.m16n8k16.f32.bf16.bf16.f32
expect $LINENO 0 out 'f16 \[40\]\[100\]' gen matmul --in f16 --shape 40x24x100 --as npy -o f16
expect $LINENO 0 out 'bf16 \[24\]\[100\]' gen matmul --in bf16 --shape 40x24x100 --tb -o bf16t
expect $LINENO 0 out 'bf16' gen matmul --in bf16 --shape 40x24x100 -o bf16
expect $LINENO 0 out 'npy' gen matmul --in bf16 --shape 40x24x100 --as npy -o codes
"$lastbit" gemm $unit f16/A.npy f16/B.npy -o f16/D.npy
"$lastbit" gemm sm_90/mma.m16n8k16.f32.f16.f16.f32 f16/A.npy f16/B.npy -o f16/other.npy
"$lastbit" gemm $bf16_unit bf16t/A.safetensors bf16t/B.safetensors --tb --out bf16 -o bf16t/D.safetensors
"$lastbit" gemm $bf16_unit bf16/A.safetensors bf16/B.safetensors --out bf16 -o bf16/D.safetensors
examples=$source_dir/examples

# ---- the four forms, for a right kernel and a wrong one
expect $LINENO 0 out '^PASS .*exact=960 ' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit
expect $LINENO 1 out '^FAIL .*exact=[0-9]+ legal=0 wrong=[1-9]' check f16/A.npy f16/B.npy --actual f16/other.npy --unit $unit
expect $LINENO 0 out '^PASS .*tb=1' check bf16t/A.safetensors bf16t/B.safetensors --tb --actual bf16t/D.safetensors --in bf16 --out bf16 --contract m16-tc
expect $LINENO 1 out '^FAIL' check bf16t/A.safetensors bf16t/B.safetensors --tb --actual bf16/D.safetensors --in bf16 --out bf16 --contract m16-tc
expect $LINENO 0 out '^PASS' check codes/A.npy codes/B.npy --in bf16 --out bf16 --contract m16-tc --on "kernel:$examples/gemm.json"
expect $LINENO 1 out '^  first ' check codes/A.npy codes/B.npy --in bf16 --out bf16 --contract m16-tc --on "kernel:$examples/gemm_lost_tail.json"
expect $LINENO 0 out '^PASS' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc -- "$kernel"
expect $LINENO 1 out '^  rerun .*--lose-tail' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc -- "$kernel" --lose-tail
expect $LINENO 0 out 'legal=[1-9]' check f16/A.npy f16/B.npy --actual f16/other.npy --unit $unit --contract m16-tc

# ---- what goes wrong in a run
expect $LINENO 1 out 'the device hung' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc --timeout 0.3 -- "$kernel" --hang
expect $LINENO 1 out 'the device failed' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc -- "$kernel" --crash
expect $LINENO 1 out 'worst=Infinityulp' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc -- "$kernel" --nan
expect $LINENO 2 err 'cannot be run' check codes/A.npy codes/B.npy --in bf16 --contract m16-tc -- ./absent
expect $LINENO 3 out '^UNPROVEN .*nobody|nobody knows' check f16/A.npy f16/B.npy --actual f16/D.npy --unit sm_80/mma.m8n8k4.f32.f16.f16.f32

# ---- nothing to compare, zeros, samples
expect $LINENO 0 out 'f16' gen matmul --in f16 --shape 0x4x4 -o empty
"$lastbit" gemm $unit empty/A.safetensors empty/B.safetensors -o empty/D.safetensors
expect $LINENO 3 out 'nothing was compared' check empty/A.safetensors empty/B.safetensors --actual empty/D.safetensors --unit $unit
head -c 256 /dev/zero >zeros.bin
expect $LINENO 3 out 'vacuous' check zeros.bin zeros.bin --actual zeros.bin --in bf16 --shape 8x8x16 --out f32 --contract m16-tc
expect $LINENO 0 out 'coverage +8 of 40 rows x 8 of 24 columns' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --sample 8
expect $LINENO 0 out 'compared=64 ' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --sample 8 --seed 5

# ---- explain, parameters, units from files
small=sm_80/mma.m16n8k8.f32.f16.f16.f32
expect $LINENO 0 out '^exact [0-9a-f]{8} = ' explain $unit f16/A.npy f16/B.npy --at 39,23
expect $LINENO 0 out 'D\[39,23\]: 100 products in 7 steps of 16' explain $unit f16/A.npy f16/B.npy --at 39,23
element=$("$lastbit" gemm $unit f16/A.npy f16/B.npy | sed -n 40p | cut -d ' ' -f 24 | cut -d = -f 1)
expect $LINENO 0 out "^D     $element = " explain $unit f16/A.npy f16/B.npy --at 39,23
expect $LINENO 0 out '^… 4 steps$' explain $unit f16/A.npy f16/B.npy
expect $LINENO 0 out '#6 block, k 48..55' explain $unit f16/A.npy f16/B.npy --steps 3..3
expect $LINENO 0 out "\"d\": \\{\"bits\": \"0x$element\"" explain $unit f16/A.npy f16/B.npy --at 39,23 --json
expect $LINENO 0 out '^  set floor_exp=-126,frac_bits=10$' explain $unit f16/A.npy f16/B.npy --set e_lim=-126 --set frac_bits=10
expect $LINENO 0 out 'D\[3,5\]: 100 products' explain $bf16_unit bf16t/A.safetensors bf16t/B.safetensors --tb --at 3,5
expect $LINENO 2 err 'no element 40,0: D is 40x24' explain $unit f16/A.npy f16/B.npy --at 40,0
expect $LINENO 2 err '"3" is no place' explain $unit f16/A.npy f16/B.npy --at 3
expect $LINENO 2 err '"3,4x" is no place' explain $unit f16/A.npy f16/B.npy --at 3,4x
expect $LINENO 2 err '"-1,0" is no place' explain $unit f16/A.npy f16/B.npy --at -1,0
expect $LINENO 2 err 'no steps 7..9: there are 7' explain $unit f16/A.npy f16/B.npy --steps 7..9
expect $LINENO 2 err 'it takes UNIT A B' explain $unit f16/A.npy
expect $LINENO 3 err 'open' explain sm_80/mma.m8n8k4.f32.f16.f16.f32 f16/A.npy f16/B.npy
expect $LINENO 2 err 'did you mean frac_bits' gemm $unit f16/A.npy f16/B.npy --set frac_bit=3
expect $LINENO 2 err 'terms: "0" is no value' gemm $unit f16/A.npy f16/B.npy --set terms=0
expect $LINENO 2 err 'path truncated does not read it' mma $unit f16/A.npy f16/B.npy --set late_floor=twice
expect $LINENO 2 err 'give --unit' check f16/A.npy f16/B.npy --actual f16/D.npy --contract m16-tc --set terms=4
"$lastbit" gemm $unit f16/A.npy f16/B.npy --set terms=16,frac_bits=25,floor_exp=-133 -o f16/set.npy
cmp f16/set.npy f16/other.npy || { echo "FAIL: an A100 with an H100's parameters is no H100" && failed=$((failed + 1)); }
expect $LINENO 0 out '^PASS .*unit=sm_80/[^ ]*\+terms=16,frac_bits=25 ' check f16/A.npy f16/B.npy --actual f16/other.npy --unit $unit --set terms=16,frac_bits=25
expect $LINENO 0 out '^PASS' check f16/A.npy f16/B.npy --on model:$unit+terms=16,frac_bits=25 --unit sm_90/mma.m16n8k16.f32.f16.f16.f32
expect $LINENO 1 out '^FAIL' check f16/A.npy f16/B.npy --actual f16/other.npy --unit $unit --set terms=16,frac_bits=26
expect $LINENO 0 out '=' gemm file:$examples/unit.json f16/A.npy f16/B.npy
echo '{"like": "'$small'", "terms": 4, "frac_bit": 3}' >typo.json
expect $LINENO 2 err 'typo.json: unknown key "frac_bit"; did you mean "frac_bits"' gemm file:typo.json f16/A.npy f16/B.npy
expect $LINENO 2 err 'absent.json: cannot be opened' check f16/A.npy f16/B.npy --actual f16/D.npy --unit file:absent.json
truncate -s 17M zeros.json
expect $LINENO 2 err 'larger than 16 MiB' explain file:zeros.json f16/A.npy f16/B.npy
expect $LINENO 2 err 'zeros.bin: line 1' explain file:zeros.bin f16/A.npy f16/B.npy

# ---- bad calls and bad files
expect $LINENO 2 err 'absent.npy: No such file' check absent.npy f16/B.npy --actual f16/D.npy --unit $unit
expect $LINENO 2 err 'did you mean --contract' check f16/A.npy f16/B.npy --actual f16/D.npy --contrct m16-tc
expect $LINENO 2 err 'the nearest is sm_80' check f16/A.npy f16/B.npy --actual f16/D.npy --unit sm_80/mma.m16n8k16.f32.f16.f61.f32
expect $LINENO 2 err 'did you mean m16-tc' check f16/A.npy f16/B.npy --actual f16/D.npy --contract m16
expect $LINENO 2 err 'what to judge by' check f16/A.npy f16/B.npy --actual f16/D.npy
expect $LINENO 2 err 'what is to be judged' check f16/A.npy f16/B.npy --unit $unit
expect $LINENO 2 err '--tb' check bf16t/A.safetensors bf16t/B.safetensors --actual bf16t/D.safetensors --contract m16-tc
expect $LINENO 2 err 'this unit takes bf16' check f16/A.npy f16/B.npy --in f16 --actual f16/D.npy --unit $bf16_unit
expect $LINENO 2 err 'say which, with --in' check codes/A.npy codes/B.npy --actual f16/D.npy --contract m16-tc
expect $LINENO 2 err 'did you mean check' chekc
expect $LINENO 2 err 'one tile takes 16x16' mma $unit f16/A.npy f16/B.npy
expect $LINENO 2 err 'write .npy or .safetensors' gemm $unit f16/A.npy f16/B.npy -o D.txt
printf 'no tensor at all' >garbage
expect $LINENO 2 err '^lastbit: garbage: byte 8' replay garbage
expect $LINENO 2 err '__metadata__ has no' replay bf16/A.safetensors
expect $LINENO 2 err 'no row has "zzz"' units zzz
expect $LINENO 2 err 'not a whole number' gen dot:$unit --count many
expect $LINENO 2 err '"64" is no shape|three sizes' gen matmul --in f16 --shape 64 -o x
expect $LINENO 2 err 'did you mean bf16' gen matmul --in bf166 --shape 2x2x2 -o x

# ---- units with scales and with metadata; integers
nvfp4=sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3
expect $LINENO 0 out 'e2m1' gen matmul --in e2m1 --shape 16x8x64 --as npy -o fp4
expect $LINENO 0 out 'ue4m3' gen matmul --in ue4m3 --shape 16x8x4 --as npy -o scales
expect $LINENO 0 out '^([0-9a-f]{8}=[^ ]+ ){7}' mma $nvfp4 fp4/A.npy fp4/B.npy --scale-a scales/A.npy --scale-b scales/B.npy
"$lastbit" gemm $nvfp4 fp4/A.npy fp4/B.npy --scale-a scales/A.npy --scale-b scales/B.npy -o fp4/D.npy
expect $LINENO 2 err 'no scales of A: this unit takes ue4m3, one for 16' mma $nvfp4 fp4/A.npy fp4/B.npy
expect $LINENO 2 err 'scales of A are 4x8; one for 16 elements makes 16x4' mma $nvfp4 fp4/A.npy fp4/B.npy --scale-a scales/B.npy --scale-b scales/B.npy
expect $LINENO 2 err 'takes no scales' mma $unit f16/A.npy f16/B.npy --scale-a scales/A.npy
expect $LINENO 2 err 'takes scales' gen dot:$nvfp4
expect $LINENO 2 err 'no scales' check fp4/A.npy fp4/B.npy --in e2m1 --actual fp4/D.npy --unit $nvfp4
# A [1][4] = 1 2 3 4 at k = 1, 3, 4, 6 of eight: D = 1*10 + 2*100 + 3*50 + 4*20
python3 -c 'import sys
for name, row in (("a", [1, 2, 3, 4]), ("meta", [1, 3, 0, 2]), ("bad", [1, 3, 2, 2]), ("b", [0, 10, 0, 100, 50, 0, 20, 0])):
    open(f"sparse_{name}.bin", "wb").write(bytes(row))'
sparse=sm_80/mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
expect $LINENO 0 out '^000001b8=440$' gemm $sparse sparse_a.bin sparse_b.bin --shape 1x1x8 --meta sparse_meta.bin
expect $LINENO 2 err 'metadata .0,3. is 2: the places of a group ascend' gemm $sparse sparse_a.bin sparse_b.bin --shape 1x1x8 --meta sparse_bad.bin
expect $LINENO 2 err 'A of this unit is compressed' gemm $sparse sparse_a.bin sparse_b.bin --shape 1x1x8
expect $LINENO 2 err 'A of this unit is dense' gemm $nvfp4 fp4/A.npy fp4/B.npy --scale-a scales/A.npy --scale-b scales/B.npy --meta fp4/A.npy
expect $LINENO 0 out 'i8' gen matmul --in i8 --shape 16x8x32 --as npy -o int8
expect $LINENO 0 out '^[0-9a-f]{8}=-?[0-9]+ ' mma sm_80/mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 int8/A.npy int8/B.npy
expect $LINENO 0 out 'e4m3fnuz' gen matmul --in e4m3fnuz --shape 16x16x32 --as npy -o fnuz
expect $LINENO 0 out '^[0-9a-f]{8}=' mma gfx942/v_mfma_f32_16x16x32_fp8_fp8 fnuz/A.npy fnuz/B.npy
expect $LINENO 0 out 'f64' gen matmul --in f64 --shape 8x8x4 --as npy -o f64
expect $LINENO 0 out '^[0-9a-f]{16}=' mma sm_80/mma.m8n8k4.f64.f64.f64.f64 f64/A.npy f64/B.npy
expect $LINENO 2 err 'the nearest is x86/vdpbf16ps' mma x86/vdpbf16 f16/A.npy f16/B.npy
expect $LINENO 0 out '^[0-9a-f]{4} ' gen dot:x86/vdpbf16ps --count 3

# ---- views and lists
expect $LINENO 0 out '^\{"schema":"lastbit.result/1",.*"verdict":"PASS"' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --json --junit junit.xml
grep -q '<testsuite name="lastbit" tests="1" failures="0"' junit.xml || { echo "FAIL: no JUnit" && failed=$((failed + 1)); }
expect $LINENO 0 out '^PASS' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --brief
[[ $(wc -l <out) -eq 3 ]] || { echo "FAIL: --brief is not brief" && failed=$((failed + 1)); }
for list in units parameters formats contracts schedules backends; do
    expect $LINENO 0 out 'name' $list
    expect $LINENO 0 out '^\[' $list --json
    expect $LINENO 0 out '^\| name' $list --markdown
done
expect $LINENO 0 out 'recorded' units sm_90/wgmma.m64n8k32.f32.e4m3
expect $LINENO 0 out '^lastbit [0-9]' --version
expect $LINENO 0 out 'exit: 0 PASS' --help
for command in check grade gemm mma explain fit-schedule replay capture fit decide gen judge fragment units parameters formats contracts explain-contract schedules backends bench faults blindness; do
    expect $LINENO 0 out '--help' $command --help
done

# ---- fragments
expect $LINENO 0 out '^    9  L4 r1 +L5 r1 +L6 r1 +L7 r1 +L4 r3' fragment $unit --operand a
expect $LINENO 0 out '^  column = 2\*\(L%4\) \+ i%2 \+ 8\*\(i/4\)$' fragment $unit
expect $LINENO 0 out '^operand b: B lies in shared memory$' fragment sm_90a/wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
expect $LINENO 0 out '^  matrix = L/4%4$' fragment sm_70/mma.m8n8k4.f32.f16.f16.f32 --operand c
expect $LINENO 0 out '"register"' fragment $unit --json
python3 - out <<'P' || { echo "FAIL: fragment --json" && failed=$((failed + 1)); }
import json, sys
found = {f["operand"]: f for f in json.load(open(sys.argv[1]))}
assert list(found) == ["a", "b", "d"] and found["a"]["registers"] == 4 and len(found["a"]["elements"]) == 256
assert {"matrix": 0, "row": 9, "col": 5, "lane": 6, "register": 1, "element": 1} in found["a"]["elements"]
P
expect $LINENO 0 out '^mma.m16n8k\* +d +- +-  \[L/4' fragment
expect $LINENO 0 out '"evidence": "stated"' fragment --json
expect $LINENO 2 err 'the nearest is sm_80/mma.m16n8k16' fragment sm_80/mma.m16n8k16.f32.f16.f61.f32
expect $LINENO 2 err 'operand a: A lies in shared or tensor memory' fragment sm_100/tcgen05.m128n64k16.f32.f16.f16
expect $LINENO 2 err 'operand b: B lies in shared memory' fragment sm_90/wgmma.m64n64k16.f32.f16.f16 --operand b
expect $LINENO 2 err 'it takes no scales' fragment $unit --operand scale-a
expect $LINENO 2 err 'did you mean meta' fragment $unit --operand metas
expect $LINENO 2 err 'it takes one UNIT' fragment $unit $unit

# ---- contracts by parameter and from a file, and what they say of one element
echo '{"name": "mine", "rule": "gamma", "accumulator": {"rounding": "truncate", "step": 8, "frac_bits": 24}, "specials": "flush"}' >mine.json
echo '{"rule": "gamma", "accumulater": {}}' >typo.json
head -c 2000 /dev/urandom >noise.json
expect $LINENO 0 out 'contract   mine, stated' check f16/A.npy f16/B.npy --actual f16/D.npy --contract mine.json
expect $LINENO 1 out 'contract=ulp:4 ' check f16/A.npy f16/B.npy --actual f16/D.npy --contract ulp:4
expect $LINENO 2 err 'typo.json: unknown key "accumulater"; did you mean accumulator' check f16/A.npy f16/B.npy --actual f16/D.npy --contract typo.json
expect $LINENO 2 err '^lastbit: noise.json: ' check f16/A.npy f16/B.npy --actual f16/D.npy --contract noise.json
expect $LINENO 2 err 'absent.json: cannot be opened' check f16/A.npy f16/B.npy --actual f16/D.npy --contract absent.json
expect $LINENO 2 err 'max_ulp should be a whole number' check f16/A.npy f16/B.npy --actual f16/D.npy --contract ulp:x
expect $LINENO 2 err 'use lastbit check' grade bf16/D.safetensors bf16/D.safetensors --contract gamma --k 100
expect $LINENO 0 out '^PASS' grade bf16/D.safetensors bf16/D.safetensors --contract bitwise --k 100
expect $LINENO 0 out 'power .*catches [0-9]* of [0-9]* faults' check f16/A.npy f16/B.npy --actual f16/D.npy --out f32 --contract m16-tc --power --allow-blind tf32-inputs
expect $LINENO 2 err 'did you mean zeroed-row' grade bf16/D.safetensors bf16/D.safetensors --contract m16-tc --k 100 --power --allow-blind zeroed-rov
expect $LINENO 2 err 'give --power' grade bf16/D.safetensors bf16/D.safetensors --contract m16-tc --k 100 --allow-blind nan
expect $LINENO 3 out 'blind: nmse would pass' grade bf16/D.safetensors bf16/D.safetensors --contract nmse --k 100 --power
expect $LINENO 0 out '"power": *{"score"' grade bf16/D.safetensors bf16/D.safetensors --contract m16-tc --k 100 --power --json
expect $LINENO 0 out 'flushed-subnormals' faults --json
expect $LINENO 0 out '^limit .*decided by' explain-contract gamma f16/A.npy f16/B.npy --at 0,0
expect $LINENO 0 out '"decided": ' explain-contract mine.json f16/A.npy f16/B.npy --at 1,2 --k 4096 --json
expect $LINENO 0 out 'none of this element' explain-contract nmse f16/A.npy f16/B.npy --at 0,0
expect $LINENO 2 err 'is outside the' explain-contract gamma f16/A.npy f16/B.npy --at 9999,0
expect $LINENO 2 err 'write ROW,COLUMN' explain-contract gamma f16/A.npy f16/B.npy --at 3
expect $LINENO 2 err 'give --at' explain-contract gamma f16/A.npy f16/B.npy
expect $LINENO 2 err 'did you mean gamma' explain-contract gama f16/A.npy f16/B.npy --at 0,0

# ---- grade, and lines of hex
expect $LINENO 0 out '^PASS op=grade' grade bf16/D.safetensors bf16/D.safetensors --contract m16-tc --k 100
expect $LINENO 1 out '^FAIL op=grade' grade bf16t/D.safetensors bf16/D.safetensors --contract m16-tc --k 100
expect $LINENO 2 err 'give --contract NAME and --k' grade bf16/D.safetensors bf16/D.safetensors --contract m16-tc
python3 - <<'P' # 3 rows of 4 elements at a stride of 6, guards of 8 bytes; one gap damaged in the second file
import struct
row = [0x3f80 + i for i in range(4)]
for name, gap in (("good.bin", 0x5a5a), ("bad.bin", 0)):
    cells = [0x5a5a] * 4
    for r in range(3): cells += row + [0x5a5a, gap if r == 1 else 0x5a5a]
    open(name, "wb").write(struct.pack("<%dH" % (len(cells) + 4), *cells, *[0x5a5a] * 4))
open("ref.bin", "wb").write(struct.pack("<12H", *row * 3))
P
block=(--in bf16 --shape 3x4 --ld 6 --guard 8 --sentinel 0x5a5a --contract m16-tc --k 64)
expect $LINENO 0 out 'ld=6: compared=12 exact=12' grade good.bin ref.bin "${block[@]}"
expect $LINENO 1 out '1 elements of gaps and guards' grade bad.bin ref.bin "${block[@]}"
expect $LINENO 2 err 'no code of 16 bits' grade good.bin ref.bin "${block[@]}" --sentinel 0x15a5a
"$lastbit" gen dot:$unit --count 5 >lines
[[ $(wc -l <lines) -eq 5 ]] || { echo "FAIL: gen" && failed=$((failed + 1)); }
awk '{print $0, "0"}' lines >zero_answers
expect $LINENO 1 out '^FAIL op=dot' judge dot:$unit zero_answers --count 5
expect $LINENO 2 err 'line 1' judge dot:$unit lines --count 5
expect $LINENO 3 out 'no answer was given' judge dot:$unit /dev/null --count 5

# ---- schedules
"$lastbit" gemm $unit f16/A.npy f16/B.npy --schedule split-k=3 -o f16/split.npy
expect $LINENO 1 out '^FAIL' check f16/A.npy f16/B.npy --actual f16/split.npy --unit $unit
"$lastbit" gemm $unit f16/A.npy f16/B.npy --schedule plain -o f16/plain.npy
cmp -s f16/plain.npy f16/D.npy || { echo "FAIL: --schedule plain is not plain" && failed=$((failed + 1)); }
expect $LINENO 0 out '^  it (is|may be) +sm_[0-9]+/mma\S+  split-k=3$' fit-schedule f16/A.npy f16/B.npy f16/split.npy
expect $LINENO 0 out '^PASS op=fit-schedule .*found=[1-9]' fit-schedule $unit f16/A.npy f16/B.npy f16/D.npy
expect $LINENO 0 out '"verdict":"PASS".*"found":\[\{"unit":"sm_[^"]*","units":\[.*"schedule":"split-k=3"' fit-schedule f16/A.npy f16/B.npy f16/split.npy --json
expect $LINENO 1 out '^FAIL .*found=0$' fit-schedule sm_90/mma.m16n8k16.f32.f16.f16.f32 f16/A.npy f16/B.npy f16/split.npy
expect $LINENO 1 out '^  best .* of 960 elements' fit-schedule sm_90/mma.m16n8k16.f32.f16.f16.f32 f16/A.npy f16/B.npy f16/split.npy
"$lastbit" gen matmul --in f16 --shape 40x24x100 --dist integer --as npy -o easy >/dev/null
"$lastbit" gemm $unit easy/A.npy easy/B.npy -o easy/D.npy
expect $LINENO 3 out '^UNPROVEN .*|every unit and every division' fit-schedule easy/A.npy easy/B.npy easy/D.npy
expect $LINENO 3 out 'all zeros' fit-schedule zeros.bin zeros.bin zeros.bin --in bf16 --shape 8x8x16 --out f32
expect $LINENO 2 err 'the nearest is sm_80' fit-schedule sm_80/mma.m16n8k16.f32.f16.f61.f32 f16/A.npy f16/B.npy f16/D.npy
expect $LINENO 2 err 'do not make one product' fit-schedule f16/B.npy f16/A.npy f16/D.npy
expect $LINENO 2 err 'it takes \[UNIT\]' fit-schedule f16/A.npy f16/B.npy
expect $LINENO 2 err 'did you mean split-k' gemm $unit f16/A.npy f16/B.npy --schedule spilt-k=4
expect $LINENO 2 err 'did you mean deepgemm-promote-128' gemm $unit f16/A.npy f16/B.npy --schedule deepgemm-promote-12
expect $LINENO 2 err 'gelu is three: gelu-erf' gemm $unit f16/A.npy f16/B.npy --schedule act=gelu
expect $LINENO 2 err 'in any order, which gives a set of results: arrival=' gemm $unit f16/A.npy f16/B.npy --schedule split-k=3,reduce=atomic
"$lastbit" gemm $unit f16/A.npy f16/B.npy --schedule split-k=3,reduce=atomic,arrival=1.2.0 -o f16/atomic.npy
expect $LINENO 0 out '^  (it is|it may be|or) .*split-k=3,reduce=atomic,arrival=1\.2\.0$' fit-schedule $unit f16/A.npy f16/B.npy f16/atomic.npy --schedule reduce=atomic
expect $LINENO 0 out '"schedule":"split-k=3,reduce=atomic,arrival=1.2.0".*"any_order":false' fit-schedule $unit f16/A.npy f16/B.npy f16/atomic.npy --schedule reduce=atomic --json
expect $LINENO 2 err 'unknown option --schedule' mma $unit f16/A.npy f16/B.npy --schedule plain
python3 - <<'P' # biases of 24 columns, of 40 rows, of neither
import struct
for name, shape in (("bias", (24,)), ("rows", (40, 1)), ("neither", (5,))):
    count = shape[0]
    header = ("{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (shape,)).ljust(117) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%df" % count, *range(count)))
P
# rows and columns with scales of their own, and all at once; what fit-schedule says to run makes the bits
"$lastbit" gemm $unit f16/A.npy f16/B.npy --scale-a rows.npy --scale-b bias.npy --schedule scaling=a-first,act=silu -o f16/scaled.npy
expect $LINENO 0 out '^  again +lastbit gemm .*scaling=a-first,act=silu.* --scale-a rows.npy --scale-b bias.npy$' fit-schedule $unit f16/A.npy f16/B.npy f16/scaled.npy --scale-a rows.npy --scale-b bias.npy --schedule act=silu
again=$(sed -n 's/^  again *lastbit //p' out)
eval "\"\$lastbit\" $again -o f16/again.npy" && cmp -s f16/scaled.npy f16/again.npy || { echo "FAIL: what fit-schedule says to run" && failed=$((failed + 1)); }
expect $LINENO 2 err 'come together' gemm $unit f16/A.npy f16/B.npy --scale-a rows.npy
expect $LINENO 2 err 'there are none' gemm $unit f16/A.npy f16/B.npy --schedule deepgemm-fp8-1d2d
expect $LINENO 2 err 'takes scales of 40x1' gemm $unit f16/A.npy f16/B.npy --scale-a neither.npy --scale-b bias.npy
"$lastbit" gemm $unit f16/A.npy f16/B.npy --bias bias.npy --schedule split-k=2,act=relu -o f16/bias.safetensors
"$lastbit" gemm $unit f16/A.npy f16/B.npy --bias rows.npy --out bf16 -o f16/rows.safetensors
expect $LINENO 2 err 'a bias of D' gemm $unit f16/A.npy f16/B.npy --bias neither.npy
expect $LINENO 0 out '^  (it is|it may be|or) .*split-k=2,act=relu' fit-schedule $unit f16/A.npy f16/B.npy f16/bias.safetensors --bias bias.npy --schedule act=relu
expect $LINENO 0 out '^  next +lastbit fit-schedule f16/A.npy f16/B.npy f16/D.npy: ' check f16/A.npy f16/B.npy --actual f16/D.npy --contract m16-tc
expect $LINENO 0 out '^PASS' check f16/A.npy f16/B.npy --actual f16/D.npy --contract m16-tc --unit $unit
grep -q fit-schedule out && { echo "FAIL: with --unit nothing is offered" && failed=$((failed + 1)); }

# ---- what a newcomer gets wrong is one line that says what to do
head -c 100 f16/A.npy >cut.npy
echo '[' >bad.json
expect $LINENO 2 err 'cut.npy: .*is it whole' check cut.npy f16/B.npy --actual f16/D.npy --unit $unit
expect $LINENO 2 err '6 bytes: neither npy nor safetensors \(raw files want --shape\)' check <(echo hello) f16/B.npy --actual f16/D.npy --unit $unit
expect $LINENO 2 err 'no capsule, which `lastbit shrink` writes' check f16/bias.safetensors
expect $LINENO 2 err 'absent.json: cannot be opened: No such file' parity --known absent.json --op add --on cpu
expect $LINENO 2 err 'bad.json: line 2: .* expected' parity --known bad.json --op add --on cpu
expect $LINENO 2 err 'f16: is a folder' parity --known f16 --op add --on cpu
expect $LINENO 2 err 'docs/networks.md' verify f16/bias.safetensors
expect $LINENO 2 err '--k: its value is missing' grade f16/D.npy f16/D.npy --contract ulp --k
expect $LINENO 0 out '^PASS' grade f16/D.npy f16/D.npy --contract ulp -k 100

# ---- bench: the shape of its JSON
expect $LINENO 0 out '^\{"rows":\[\{"unit":"sm_80' bench gemm --size 64 --reps 1 --units sm_80/mma.m16n8k16.f32 --json
python3 - out <<'P' || { echo "FAIL: bench --json" && failed=$((failed + 1)); }
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert len(rows) == len({r["unit"] for r in rows}) and sum(r["dense"] for r in rows) == 2, rows
for r in rows:
    assert r["dense"] is not r["unit"].endswith(".sp") and isinstance(r["path"], str) and r["gmac_s"] > 0, r
    both = r["sgemm_gmac_s"], r["speed_vs_sgemm"]
    assert both == (None, None) or abs(r["gmac_s"] / both[0] - both[1]) < 1e-3 * both[1], r
P
expect $LINENO 0 out 'engine +[0-9.]+' bench gemm --size 32 --reps 1 --units sm_80/mma.m16n8k16.f32.f16 --paths
expect $LINENO 2 err 'no unit that runs' bench gemm --units zzz --size 16
expect $LINENO 2 err 'say what' bench
expect $LINENO 2 err 'did you mean mmasim' bench gemm --size 16 --reps 1 --units sm_80/mma.m16n8k16.f32.f16 --against mmasin
expect $LINENO 2 err '-steps 1 to 65536' bench emit --steps 0
expect $LINENO 2 err 'it has no model to write' bench emit sm_90/mma.m16n8k16.f32.e4m3.e4m3.f32
expect $LINENO 2 err 'one tile a group of 32' bench emit gfx942/mfma.m16n16k16.f32.f16.f16.f32
OCL_ICD_VENDORS=/nowhere VK_ICD_FILENAMES=/nowhere expect $LINENO 3 out '^SKIP sm_80/mma.m16n8k8.f32.f16.f16.f32 on ' bench emit --groups 1 --steps 1 --reps 1 sm_80/mma.m16n8k8.f32.f16.f16.f32
# 3 where this machine has no device. The compiler within PoCL leaks, which is not looked for here.
code=0
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 "$lastbit" bench emit --groups 2 --steps 8 --reps 1 --json sm_80/mma.m16n8k8.f16.f16.f16.f16 >out 2>err || code=$?
[[ $code -eq 0 || $code -eq 3 ]] || { echo "FAIL: bench emit: exit $code" && head -n 5 err && failed=$((failed + 1)); }
python3 - out <<'P' || { echo "FAIL: bench emit --json" && failed=$((failed + 1)); }
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert rows and all(r["why_not"] is None or r["device"] is None for r in rows), rows
for r in (r for r in rows if r["device"] and r["form"] in ("exact", "finite")):
    assert r["equal"] == 1 and (r["seconds"] is None or r["times_fma"] > 0), r
P

finish
