#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# lastbit emit as a command: what it writes, what it refuses and how.  usage: test_cli_emit.sh LASTBIT
set -euo pipefail
lastbit=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
unit=sm_80/mma.m16n8k16.f16.f16.f16.f16

fail() {
    echo "FAIL $*"
    exit 1
}

# refused CODE TEXT ARGUMENTS…: the exit code, one line that has TEXT, and no file
refused() {
    local code=$1 text=$2 status=0
    shift 2
    "$lastbit" emit "$@" >out 2>err || status=$?
    [[ $status == "$code" ]] || fail "emit $*: exit $status, not $code"
    [[ $(wc -l <err) == 1 ]] || fail "emit $*: $(wc -l <err) lines of error"
    grep -qF -- "$text" err || fail "emit $*: '$text' is not in: $(cat err)"
    [[ ! -s out && ! -e x ]] || fail "emit $*: something was written"
}

"$lastbit" emit $unit --lang msl --fragment --stats -o a.metal >stats
"$lastbit" emit $unit --lang msl --fragment >b.metal
cmp a.metal b.metal || fail "the text differs between two calls"
hash=$(sed -n 1p a.metal | grep -oE '[0-9a-f]{16}')
grep -q "hash=$hash\$" stats || fail "--stats has another hash than the text"
grep -qE '^outputs=4 products=16 statements=[0-9]+: path=[0-9]+ decode=[0-9]+ address=[0-9]+ special=[0-9]+$' stats || fail "stats: $(cat stats)"
statements=$(grep -oE 'statements=[0-9]+' stats | cut -d= -f2)
[[ $statements -gt 1000 && $statements -lt 2015 ]] || fail "$statements statements; 2,015 are published"
"$lastbit" emit --list >list 2>count
grep -q "^$unit *tile fragment\$" list || fail "--list lacks $unit"
grep -q '^698 of 716 units' count || fail "--list: $(cat count)"
grep -q '^sm_100/tcgen05.m128n8k16.f32.f16.f16 *tile$' list || fail "--list has tcgen05 otherwise than as a tile"
for path in sm_80/mma.m8n8k4.f64.f64.f64.f64 sm_80/mma.m16n8k32.f32.f16.f16.f32.sp gfx942/mfma.m16n16k16.f32.f16.f16.f32; do
    grep -q "^$path *tile fragment\$" list || fail "--list lacks $path"
    "$lastbit" emit $path --lang hlsl >text
    "$lastbit" emit $path --lang cuda --fragment --stats >stats
    grep -qE '^outputs=[248] products=[0-9]+ statements=[1-9]' stats || fail "$path: $(cat stats)"
done
for language in c opencl glsl hlsl msl cuda; do
    "$lastbit" emit $unit --lang $language --set frac_bits=23 >text
    grep -q "_frac_bits_23_dot(" text || fail "$language: the name does not say what was set"
done

# scalar operations: by name, PTX spelling and op:, the same text
"$lastbit" emit fma.rz.f32 --lang glsl >a.glsl
"$lastbit" emit op:fma_rz_f32 --lang glsl -o b.glsl
cmp a.glsl b.glsl || fail "an operation's text differs between its spellings"
"$lastbit" emit fma_rz_f32 --lang glsl --stats >stats
hash=$(sed -n 1p a.glsl | grep -oE '[0-9a-f]{16}')
grep -qxF "op=fma_rz_f32 lang=glsl form=function steps=integers hash=$hash" stats || fail "stats: $(cat stats)"
grep -qxE 'outputs=1 statements=[0-9]+' stats || fail "stats: $(cat stats)"
grep -qxE 'fma_rz_f32 +op' list || fail "--list lacks fma_rz_f32"
grep -qxE 'shfl_up +op lane' list || fail "--list lacks shfl_up"
grep -qF 'of 456 operations' count || fail "count: $(cat count)"

refused 2 'neither a unit nor an operation; did you mean fma.rz.f32' fma.rz.f33 --lang c -o x
refused 2 "neither a unit nor an operation; did you mean $unit" sm_80/mma.m16n8k17.f16.f16.f16.f16 --lang c -o x
refused 2 'no such operation; did you mean add_rn_f32' op:add_rn_f33 --lang c -o x
refused 2 'div_rn_f32 is correctly rounded' div.full.f32 --lang c -o x
refused 2 'lastbit judge op:tanh_approx_f32' tanh.approx.f32 --lang c -o x
refused 2 'lastbit emit sm_80/mma.m16n8k16.f32.f16.f16.f32' hmma_16816_f32 --lang c --fragment -o x
refused 2 'an operation has one form' add_s32 --lang c --fragment -o x

"$lastbit" emit $unit --lang c --tier fast >text
grep -q "^// NOT EXACT" text && grep -qE "the unit's in 99[0-9]{3} of 100000 outputs" text || fail "tier fast does not say what it is"
"$lastbit" emit $unit --lang c --tier exact | cmp - <("$lastbit" emit $unit --lang c) || fail "exact is not the default"

"$lastbit" emit $unit --lang hlsl --fragment --exchange subgroup >text
grep -q WaveReadLaneAt text && ! grep -q groupshared text || fail "shuffles through local memory"

refused 2 'c has no sub-groups' $unit --lang c --fragment --exchange subgroup -o x
refused 2 'between the lanes of a fragment' $unit --lang glsl --exchange subgroup -o x
refused 2 'did you mean fast' $unit --lang c --tier fst -o x
refused 2 'units of path truncated' sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32 --lang c --tier fast -o x
refused 2 'did you mean glsl' $unit --lang glsk -o x
refused 2 '--lang is missing' $unit -o x
refused 2 'one UNIT' --lang c -o x
refused 2 'it has no model to write' sm_80/mma.m8n8k4.f32.f16.f16.f32 --lang c -o x
refused 2 '8 to 26 fraction bits' $unit --set frac_bits=30 --lang c -o x
refused 2 'A lies in shared or tensor memory' sm_100/tcgen05.m128n8k16.f32.f16.f16 --lang c --fragment -o x
"$lastbit" emit sm_90/wgmma.m64n8k16.f32.f16.f16 --lang cuda --fragment >text
grep -q 'one lane of 128' text && grep -q __syncthreads text || fail "wgmma is not for 128 lanes"
refused 2 'cannot be written' $unit --lang c -o no/such/folder/x
echo ok
