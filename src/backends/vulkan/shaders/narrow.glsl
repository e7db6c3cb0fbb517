// SPDX-License-Identifier: MIT OR Apache-2.0
// Values of codes below 16 bits, by moving their fields into an f32.

// S.EEEE.MMM of bias 7; S.1111.111 is NaN and there is no Inf.
float e4m3_value(uint code) {
    const uint low = code & 0x7fu;
    if (low == 0x7fu) return uintBitsToFloat(0x7fc00000u);
    const float size = low < 8u ? float(low) * 0.001953125 : uintBitsToFloat((low << 20) + (120u << 23));
    return (code & 0x80u) != 0u ? -size : size;
}

// S.EE.M of bias 1: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
float e2m1_value(uint code) {
    const uint low = code & 7u;
    const float size = low < 2u ? float(low) * 0.5 : uintBitsToFloat((low << 22) + (126u << 23));
    return (code & 8u) != 0u ? -size : size;
}

// 2^(code - 127); 0xff is NaN, and code 0 a subnormal of f32.
float e8m0_value(uint code) {
    if (code == 0xffu) return uintBitsToFloat(0x7fc00000u);
    return code == 0u ? uintBitsToFloat(0x00400000u) : uintBitsToFloat(code << 23);
}

#define NIBBLE_LOAD(port, i) bitfieldExtract(port[(i) >> 3], (int(i) & 7) * 4, 4)
