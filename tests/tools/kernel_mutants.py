#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bugs planted in copies of the kernels, one at a time; tests/test_kernels.c must see each.

usage: kernel_mutants.py [BUILD_FOLDER [WORDS]]   (default: build/release, where CMake wrote how to compile; WORDS: only bugs whose text
holds one of them, "," between them). LB_ONLY=PATTERN in the environment: only those tests, which saves the minutes that the first takes.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
KERNELS = ROOT / "src/kernels"

# file, what stands there, what is planted, what that breaks; and, where few units see it, part of their names: only those are tested
MUTANTS = [
    ("fast_body.h", "(s->frac_bits + 127) << 23)", "(s->frac_bits + 126) << 23)", "one fraction bit fewer"),
    ("fast_body.h", "if (odd) f = f_sticky", "if (0 && odd) f = f_sticky", "the f16 accumulator without its sticky bit"),
    ("fast_body.h", "if (f16) e = i_max_if(f_bits(scaled), e, q->low);", "", "a subnormal f16 c with an exponent of its own"),
    ("fast_body.h", "c[g] = f16 ? f_unless_inf(c[g], f_to_f16(r)) : r;", "c[g] = f16 ? f_to_f16(r) : r;", "an Inf that finite terms bring back"),
    # Not planted, for it changes nothing that a row can have: the bit that falls off a sum of 33 bits (round_two). It tells only an f16 accumulator,
    # whose sixteen products of 11 bits reach 2^31 units of 2^-25 only if each is near 4, and then are multiples of 32 of them.
    ("fast_body.h", "i_set(-1024)", "i_set(-512)", "14 fraction bits for 13"),
    ("plan.c", "p->may_split = ", "p->may_split = 0 * ", "sums beyond int32"),
    ("plan.c", "return floor_field > p->frac_bits + 1 ? floor_field : p->frac_bits + 1;", "return p->frac_bits + 1 + 0 * floor_field;", "no exponent floor"),
    ("plan.c", "hi - lo > p->span", "hi - lo > p->span + 30", "exponent bytes that wrap"),
    ("plan.c", "return lo - F >= -149 && most <= 126;", "return lo > -1000;", "results that are subnormal or overflow"),
    ("unit_of_work.c", "tiny |= mag != 0 && mag < low;", "tiny |= 0 * low;", "a tiny c that no product joins"),
    ("unit_of_work.c", "bad |= mag >= too_large", "bad |= 0 && mag >= too_large", "a c beyond the scaled domain"),
    ("specials.c", "(values[j] == -inf || isnan(values[j]))", "0", "an overflow before an Inf"),
    ("specials.c", "other == KIND_ZERO) return LB_IS_NAN", "0) return LB_IS_NAN", "Inf times zero"),
    ("by_sign.h", "*other = bt + LB_NR - a_neg[t]", "*other = bt + LB_NR", "negative products of a negative a"),
    ("by_sign.h", "f_sub(positive, scaled)", "positive", "a negative c among few bits"),
    ("wide_body.h", "finish == LB_FINISH_F16 ? -14 : -126", "-148", "a subnormal c in the f64 path"),
    ("pack_body.h", "(int32_t)(field | (tiny & 1))", "(int32_t)field", "subnormal operands one exponent too low"),
    ("operands.c", "natural[t0 + p->from[t]]", "natural[t0 + t]", "the order of the two halves"),
    ("scale.h", "mag >= UINT32_C(113) << 23", "mag >= UINT32_C(112) << 23", "f16 codes of subnormal results"),
    ("dots_f16.h", "_mm512_max_epu16(i_and(x, exp_mask), one)", "i_and(x, exp_mask)", "dots: subnormal operands one exponent too low"),
    ("dots_f16.h", "_mm512_mask_max_epu16(top, live, top, sum)", "_mm512_mask_max_epu16(top, live | ~0u, top, sum)", "dots: the exponent of a zero operand"),
    ("dots_f16.h", "return split ? round_two(low, high,", "return split && !dots ? round_two(low, high,", "dots: sums beyond int32"),
    ("dots_f16.h", "least) != UINT32_MAX, 0)", "least) == 0, 0)", "dots: zeros and subnormals as other numbers"),
    ("dots_f16.h", "_mm512_fpclass_ps_mask(look, 0x99)", "_mm512_fpclass_ps_mask(look, 0x18)", "dots: NaN"),
    ("dots_f16.h", "const __mmask16 bad = tiny |", "const __mmask16 bad = (tiny & 0) |", "dots: a tiny c that no product joins"),
    ("wide_body.h", "q_set((int64_t)(52 - s->frac_bits) << 52)", "q_set((int64_t)(51 - s->frac_bits) << 52)", "f64: one fraction bit more", "gfx942/mfma.m16n16k16"),
    ("wide_body.h", "*other = b + LB_NR - s->a_neg[t]", "*other = b + LB_NR", "f64: negative products of a negative a", "gfx942/mfma.m16n16k16"),
    ("wide_body.h", "LATE_SUM = 31", "LATE_SUM = 32", "late c: a sum with one bit more", "gfx942/mfma.m16n16k16"),
    ("wide_body.h", "LATE_KEPT = 25", "LATE_KEPT = 26", "late c: a small c kept one binade longer", "gfx942/mfma.m16n16k32"),
    ("wide_body.h", "field_of_c(c[g], c_least, true)", "field_of_c(c[g], c_least, false)", "late c: a zero c has no exponent", "gfx942/mfma.m16n16k16"),
    ("plan.c", "block + t % 2 * (terms / 2) + t / 2", "block + t", "late c: the even and the odd products", "gfx942/mfma.m16n16k32"),
    ("unit_of_work.c", "panel->range.hi > 126", "panel->range.hi > 127", "late c: a product of 2^128", "gfx942/mfma.m16n16k16.f32.bf16"),
    ("unit_of_work.c", "*nan = *nan || code == 255;", "*nan = *nan && code == 255;", "a scale that is NaN", "mxf8f6f4"),
    ("specials.c", "if (job->rows[i].nan_scale)", "if (0)", "a NaN scale of A", "mxf8f6f4"),
    ("floor_at.h", "INT64_C(1) << 51", "0", "floors of negative numbers", "gfx942/mfma.m16n16k16"),
    ("vec_avx2.h", "q_add(d_bits(x), odd)", "q_add(d_bits(x), q_sub(odd, odd))", "AVX2: ties to even", "gfx942/mfma.m16n16k16"),
    ("vec_avx2.h", "q_add(q_add(bits, odd), q_set((1 << 28) - 1))", "q_add(bits, q_set(1 << 28))", "AVX2, in the bits: ties to even", "gfx942/mfma.m16n16k16"),
    ("vec_avx2.h", "_mm256_cmp_pd(size, d_set(0x1p-126), _CMP_LT_OQ)", "_mm256_cmp_pd(size, d_set(0x1p-140), _CMP_LT_OQ)", "AVX2, in the bits: subnormals", "gfx942/mfma.m16n16k16"),
    ("vec_avx2.h", "_mm256_cmp_pd(size, d_set(0x1p127)", "_mm256_cmp_pd(size, d_set(0x1p140)", "AVX2, in the bits: overflow", "gfx942/mfma.m16n16k16"),
    ("vec_avx2.h", "_mm256_and_pd(_mm256_cmp_pd(above, below, _CMP_EQ_OQ), odd_mask)", "_mm256_setzero_pd()", "AVX2: ties among subnormals", "gfx942/mfma"),
    ("vec_any.h", "near - d_select(near > x, unit, d_set(0))", "near - d_select(near > x, unit * 0, d_set(0))", "portable: floors as nearest", "gfx942/mfma.m16n16k16"),
    ("chain_body.h", "sum = odd_sum(part[i], sum)", "sum = d_add(part[i], sum)", "exact sums rounded twice", "gfx908/mfma.m16n16k16"),
    ("chain_pack.c", "if (x == 0 || !(fabs(x) < f->least)) return x;", "if (!(fabs(x) < f->least)) return x;", "CDNA2: a zero of A or B without its sign", "gfx90a/mfma.m32n32k4.f32.f16"),
    ("chain_body.h", "d_set(0x1p-126 - 0x1p-151)", "d_set(0x1p-126)", "x86: tiny before rounding, not after", "x86/"),
    ("chain_body.h", "return f32_odd(odd_sum(c, f32_odd(pair)));", "return f32_odd(odd_sum(c, pair));", "Arm: the sum of a pair not rounded", "arm/bfdot"),
    ("chain_body.h", "tree[i] = d_flush(d_near(d_add", "tree[i] = (d_near(d_add", "CDNA2: subnormal sums kept", "gfx90a/mfma.m16n16k16"),
    ("chain_ints.h", "t += s->step) c = saturated", "t += 2 * s->step) c = saturated", "every second K step", "satfinite"),
    ("chain_ints.h", "i_xor(i_sar(c, 31), i_set(INT32_MAX))", "i_set(INT32_MAX)", "saturation at the lower end", "satfinite"),
    ("chain_ints.h", "d_copysign(floor_at(d_abs(x), e, frac), x)", "floor_at(x, e, frac)", "fp4: floors for cuts", "mxf4"),
    ("chain_ints.h", "d_where_any(s->ga.live[first + i], s->gb.live + at, power)", "power", "fp4: groups of zeros count", "mxf4"),
    ("chain_pack.c", "1 - 2 * (int32_t)bit", "1 - (int32_t)bit", "xor as and", "xor"),
    ("chain_pack.c", "pair = j->a_nan[i] > b_nan ? j->a_nan[i] : b_nan", "pair = b_nan < 0 ? j->a_nan[i] : j->a_nan[i]", "VDPBF16PS: a NaN of B", "x86/vdpbf16ps"),
    ("chain_pack.c", "(p0 + i) ^ (size_t)j->odd_first", "(p0 + i)", "VDPBF16PS: odd ones first", "x86/vdpbf16ps"),
    ("sparse_drive.c", "dense.terms = 2 * u->terms;", "dense.terms = u->terms;", "sparse: blocks of half the length", ".sp"),
    ("sparse_drive.c", "if (lb_code_class(b->format, lb_mat_code(b, k, j)) >= LB_INF)", "if (0)", "sparse: an Inf of B that A does not keep", ".sp"),
    ("small.c", "memset(out, 0, K * sizeof *out);", "if (m->cols > 3) memset(out, 0, K * sizeof *out);", "a K step that is not full"),
]


def commands():
    """How the objects of the kernels and the test were compiled, and the test linked."""
    run = subprocess.run(["ninja", "-C", BUILD, "-t", "compdb"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def touched(name):
    """The files that a planted bug is compiled into; the rest comes from the library."""
    if name.endswith(".c"):
        return {name}
    tiles = {"tiles_avx512.c", "tiles_avx2.c", "tiles_portable.c"}
    chains = {"chain_" + name for name in tiles}
    if name.startswith("chain_"):
        return chains
    return {"unit_of_work.c", "dots.c"} if name == "scale.h" else tiles | (chains if name.startswith(("vec_", "floor_")) else set())


def build(copy, entries):
    objects = []
    for entry in entries:
        source = pathlib.Path(entry["file"])
        out = copy / (source.stem + ".o")
        words = shlex.split(entry["command"])
        words = [w for i, w in enumerate(words) if w not in ("-MD", "-Werror") and words[i - 1] not in ("-MT", "-MF") and w not in ("-MT", "-MF")]
        words = [str(copy / "src/kernels" / source.name) if w == str(source) else w for w in words]
        words[words.index("-o") + 1] = str(out)
        first = next(i for i, w in enumerate(words) if w.startswith("-"))  # before the tree's own, behind ccache and the compiler
        words.insert(first, f"-I{copy / 'src'}")
        objects.append((words, out))
    codes = [running.wait() for running in [subprocess.Popen(words, cwd=BUILD, stderr=subprocess.DEVNULL) for words, _ in objects]]
    return [str(out) for _, out in objects] if not any(codes) else None


def main():
    entries = [e for e in commands() if pathlib.Path(e["file"]).parent == KERNELS and e["output"].endswith(".o")]
    missed, words = 0, sys.argv[2].split(",") if len(sys.argv) > 2 else [""]
    chosen = [m for m in MUTANTS if any(word in f"{m[0]}: {m[3]}" for word in words)]
    for name, old, new, what, *units in chosen:
        text = (KERNELS / name).read_text()
        if text.count(old) != 1:
            print(f"FAIL {name}: '{old}' is there {text.count(old)} times")
            missed += 1
            continue
        with tempfile.TemporaryDirectory() as scratch:
            copy = pathlib.Path(scratch)
            shutil.copytree(KERNELS, copy / "src/kernels")
            (copy / "src/kernels" / name).write_text(text.replace(old, new))
            objects = build(copy, [e for e in entries if pathlib.Path(e["file"]).name in touched(name)])
            if objects is None:
                print(f"FAIL {name}: {what}: does not compile", flush=True)
                missed += 1
                continue
            test = BUILD / "tests/CMakeFiles/test_kernels.dir/test_kernels.c.o"
            libraries = subprocess.run(["pkg-config", "--libs", "jansson", "cmocka"], capture_output=True, text=True, check=True)
            link = ["cc", "-fopenmp", str(test), *objects, str(BUILD / "liblastbit.a"), *libraries.stdout.split(), "-lm", "-o", str(copy / "test")]
            if any("libOpenCL" in str(p) for p in pathlib.Path("/usr/lib").rglob("libOpenCL.so")):
                link.insert(-2, "-lOpenCL")
            subprocess.run(link, check=True)
            caught = subprocess.run([copy / "test"], capture_output=True, env=os.environ | {"CMOCKA_TEST_ABORT": "1"} | ({"LB_UNITS": units[0], "LB_ONLY": os.environ.get("LB_ONLY", "each*")} if units else {})).returncode != 0
        print(f"{'caught' if caught else 'MISSED'} {name}: {what}", flush=True)
        missed += not caught
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
