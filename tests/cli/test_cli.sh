#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# The command as a user meets it: exit codes, one line an error, the four forms of check for a right and a wrong kernel.
#   usage: test_cli.sh LASTBIT MY_KERNEL SOURCE_DIR
set -euo pipefail
lastbit=$1 kernel=$2 source_dir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$work/pocl} TMPDIR=$work
mkdir -p "$POCL_CACHE_DIR"
cd "$work"
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

# ---- views and lists
expect $LINENO 0 out '^\{"schema":"lastbit.result/1",.*"verdict":"PASS"' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --json --junit junit.xml
grep -q '<testsuite name="lastbit" tests="1" failures="0"' junit.xml || { echo "FAIL: no JUnit" && failed=$((failed + 1)); }
expect $LINENO 0 out '^PASS' check f16/A.npy f16/B.npy --actual f16/D.npy --unit $unit --brief
[[ $(wc -l <out) -eq 3 ]] || { echo "FAIL: --brief is not brief" && failed=$((failed + 1)); }
for list in units formats contracts backends; do
    expect $LINENO 0 out 'name' $list
    expect $LINENO 0 out '^\[' $list --json
    expect $LINENO 0 out '^\| name' $list --markdown
done
expect $LINENO 0 out 'recorded' units sm_90/wgmma.m64n8k32.f32.e4m3
expect $LINENO 0 out '^lastbit [0-9]' --version
expect $LINENO 0 out 'exit: 0 PASS' --help
for command in check grade gemm mma replay gen judge units formats contracts explain-contract backends; do
    expect $LINENO 0 out '--help' $command --help
done

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
expect $LINENO 3 out 'nothing was compared' judge dot:$unit /dev/null --count 5

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
