/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of tests/test_emit.c: units whose parameters are set, and wrong sources. */
#ifndef LB_EMIT_CASES_H
#define LB_EMIT_CASES_H

/* What rows leave open, and other parameters that a caller can set. */
static const char *const emit_set[] = {
    "sm_80/mma.m16n8k16.f16.f16.f16.f16+floor_exp=-14,overflow=max,tiny_sign=plus",
    "sm_80/mma.m16n8k16.f16.f16.f16.f16+c_subnormal=own,specials=step,nan=7e00",
    "sm_80/mma.m16n8k16.f16.f16.f16.f16+subnormals=flush_in",
    "sm_80/mma.m16n8k16.f32.f16.f16.f32+zero_products=count,overflow=max,specials=step",
    "sm_90/mma.m16n8k16.f32.bf16.bf16.f32+zero_products=count,tiny_sign=plus",
    "sm_90/mma.m16n8k16.f32.bf16.bf16.f32+c_subnormal=own,subnormals=flush_out",
    "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=keep_nan",
    "sm_80/mma.m16n8k8.f32.tf32.tf32.f32+tf32=round,floor_exp=-126",
    "sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16+path=truncated,terms=32",
    "sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16+zero_products=count,specials=step",
    "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3+zero_group=sum,frac_bits=25",
    "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3+zero_group=always,floor_exp=-126",
    "sm_120/mma.m16n8k32.f32.e4m3.e5m2.f32.mxf8f6f4.ue8m0+scale_block=16,overflow=max",
    "gfx908/mfma.m16n16k16.f32.f16.f16.f32+path=pairwise,subnormals=keep",
    "gfx90a/mfma.m16n16k8.f32.bf16.bf16.f32+k=4,terms=4",
    "gfx942/mfma.m16n16k16.f32.bf16.bf16.f32+late_floor=twice",
    "gfx942/mfma.m16n16k32.f32.e5m2fnuz.e5m2fnuz.f32+late_floor=twice,nan=ffc00000",
    "gfx942/mfma.m16n16k8.f32.tf32.tf32.f32+tf32=round",
    "x86/tdpbf16ps+nan=7fc00000",
    "sm_80/mma.m16n8k16.f32.f16.f16.f32+frac_bits=20",
    "sm_80/mma.m16n8k16.f32.f16.f16.f32+frac_bits=23",
    "sm_80/mma.m16n8k16.f32.f16.f16.f32+terms=4",
    "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32+frac_bits=10",
};

/* The first run weights of f32, the second shifts of integers. */
static const char weights[] = "sm_80/mma.m16n8k16.f32.f16.f16.f32", shifts[] = "sm_80/mma.m16n8k16.f16.f16.f16.f16";
static const char mxfp4[] = "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3";

/* A unit's C that is wrong behind an edit by sed: the comparison has to see it. Neighbours of one unit share their inputs. */
static const struct {
    const char *unit, *what, *edit;
} emit_edits[] = {
    {weights, "a subnormal that counts as a normal number", "s/( > 0 \\?) (i[0-9]+) : 0;/\\1 \\2 : (-1);/"},
    {weights, "a power of two that the compiler folds to zero", "s/lb_from_bits\\(u[0-9]+\\);/(0x1p-100f * 0x1p-100f);/"},
    {weights, "weights of 8 to a power", "s/ >> 2;/ >> 1;/"},
    {weights, "a weight whose eight alike reach the next power", "s/0x21fff000u/0x22000000u/"},
    {weights, "a small c that is cut where all products are zero", "s/(b[0-9]+) \\? u0 :/0 \\? u0 :/"},
    {weights, "a -0 that stays", "s/(u[0-9]+) < 1u \\? \\1 : 1u;/1u;/"},
    {weights, "an Inf that is not looked for", "s/if \\(b[0-9]+\\)/if (0)/"},
    {weights, "a sum that is rounded to nearest", "s/lb_float_cut\\((i[0-9]+)\\);/(float)\\1;/"},
    {shifts, "a shift that is not clamped", "s/(i[0-9]+) < 31 \\? i[0-9]+ : 31;/\\1;/"},
    {shifts, "an exponent that is off by one", "s/ = 151 - /= 150 - /;s/ = 150 - / = 149 - /"},
    {"sm_80/mma.m16n8k32.i32.u8.i8.i32.satfinite", "a saturation lost", "s/(u[0-9]+) = b[0-9]+ \\? u[0-9]+ : (u[0-9]+);/\\1 = \\2;/"},
    {"sm_80/mma.m16n8k32.i32.i8.u8.i32", "a sign lost", "0,/= (i[0-9]+) >> 24/s//= \\1 >> 24 \\& 255/"},
    {"sm_80/mma.m8n8k128.i32.b1.b1.i32.xor", "a bit more", "0,/ \\^ /s// | /"},
    {"sm_120/mma.m16n8k32.f32.e4m3.e5m2.f32.mxf8f6f4.ue8m0", "a scale off by one", "0,/ - 127;/s// - 126;/"},
    {"sm_120/mma.m16n8k32.f32.e4m3.e5m2.f32.mxf8f6f4.ue8m0", "a NaN scale that counts as a number",
     "s/b[0-9]+ \\? 100000 : (i[0-9]+)/\\1/"},
    {mxfp4, "a group without its first product", "0,/ = a\\[0\\]/s// = 0u * a[0]/"},
    {mxfp4, "scales of a row's next group", "s/scale_a\\[0\\]/scale_a[1]/"},
    {"sm_80/mma.m16n8k16.f16.f16.f16.f16.sp", "metadata in the wrong order", "s/meta\\[0\\]/meta[1]/"},
    {"gfx942/mfma.m16n16k4.f32.f32.f32.f32", "an fma whose product is rounded first",
     "s/(u[0-9]+ = u[0-9]+ \\* u[0-9]+);/\\1 \\& 0xff000000u;/"},
    {"sm_80/mma.m8n8k4.f64.f64.f64.f64", "an fma without its lowest word", "s/= (c\\[0\\])/= \\1 \\& 0xfffffffeu/"},
    {"gfx942/mfma.m16n16k16.f32.f16.f16.f32", "c with a bit less", "s/ = (u[0-9]+) << 1;/ = \\1 << 1 \\& 0xfffffffcu;/"},
    {"gfx908/mfma.m16n16k16.f32.f16.f16.f32", "limbs below the top three that do not count", "s/= b[0-9]+ \\? 0u : 1u;/= 0u;/"},
    {"x86/tdpbf16ps", "what is tiny told by IEEE 754", "s/0xffffff80u/0xffffff00u/"},
    {"arm/bfdot.ebf0", "toward zero instead of to odd", "s/ = b[0-9]+ \\? 1u : 0u;/ = 0u;/"},
};

#endif
