// SPDX-License-Identifier: MIT OR Apache-2.0
// What every operator kernel here begins with. Ports are arrays of words, so that no 8- or 16-bit storage is asked of the device: the
// first bindings are the operator's inputs, then its outputs; parameters are the push constants, all in the order of ops.def.
// T is chosen by LB_T_F32, LB_T_F16 or LB_T_BF16; arithmetic is f32.
#extension GL_GOOGLE_include_directive : require

#define PORT_IN(i, name) layout(set = 0, binding = i, std430) readonly buffer name##_port { uint name[]; };
#define PORT_OUT(i, name) layout(set = 0, binding = i, std430) buffer name##_port { uint name[]; };
#if defined(LB_PARAMS_BINDING) // for languages without push constants: tools/cross_kernels
#define PARAMS(list) layout(set = 0, binding = LB_PARAMS_BINDING, std140) uniform lb_params { list } p;
#else
#define PARAMS(list) layout(push_constant, std430) uniform lb_params { list } p;
#endif

// ---- elements ---------------------------------------------------------------------------------------------------------------------

#define F32_LOAD(port, i) uintBitsToFloat(port[i])
#define F32_STORE(port, i, v) port[i] = floatBitsToUint(v)
#define BYTE_LOAD(port, i) bitfieldExtract(port[(i) >> 2], (int(i) & 3) * 8, 8)
#define I8_LOAD(port, i) float(bitfieldExtract(int(port[(i) >> 2]), (int(i) & 3) * 8, 8))

// Rounded to nearest even, to Inf where it is too large, by integers: what packHalf2x16 does with either is the driver's choice (SwiftShader
// makes NaN of what is too large).
uint f16_round(float v) {
    const uint bits = floatBitsToUint(v), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return sign | 0x7e00u | ((size >> 13) & 0x3ffu);
    if (size >= 0x47800000u) return sign | 0x7c00u;
    if (size >= 0x38800000u) return sign | ((size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13);
    const uint e = size >> 23;
    if (e < 102u) return sign; // less than half of the least subnormal
    const uint man = (size & 0x007fffffu) | 0x00800000u, shift = 126u - e, kept = man >> shift;
    const uint rest = man & ((1u << shift) - 1u), tie = 1u << (shift - 1u);
    return sign | (kept + (rest > tie || (rest == tie && (kept & 1u) != 0u) ? 1u : 0u));
}

uint bf16_round(float v) {
    const uint bits = floatBitsToUint(v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (bits >> 16) | 0x40u;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

#if defined(LB_T_F32)
#define T_CODE(port, i) port[i]
#define T_PUT(port, i, code) port[i] = code
#define T_VALUE(code) uintBitsToFloat(code)
#define T_ROUND(v) floatBitsToUint(v)
#else
// Two elements lie in a word, and two invocations may write them: each changes its own half only.
#define T_CODE(port, i) bitfieldExtract(port[(i) >> 1], (int(i) & 1) * 16, 16)
#define T_PUT(port, i, code)                                                     \
    {                                                                            \
        atomicAnd(port[(i) >> 1], (int(i) & 1) != 0 ? 0x0000ffffu : 0xffff0000u); \
        atomicOr(port[(i) >> 1], (code) << ((int(i) & 1) * 16));                 \
    }
#if defined(LB_T_F16)
#define T_VALUE(code) unpackHalf2x16(code).x
#define T_ROUND(v) f16_round(v)
#else
#define T_VALUE(code) uintBitsToFloat((code) << 16)
#define T_ROUND(v) bf16_round(v)
#endif
#endif
#define T_LOAD(port, i) T_VALUE(T_CODE(port, i))
#define T_STORE(port, i, v) T_PUT(port, i, T_ROUND(v))

// ---- functions --------------------------------------------------------------------------------------------------------------------

bool lb_isnan(float x) {
    return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}

float lb_inf() {
    return uintBitsToFloat(0x7f800000u);
}

// exp within 1 ULP over the whole range, subnormal results too. The built-in one may be off by 3 + 2|x| ULP by the specification.
// x = n log 2 + r; the first part of log 2 has 9 bits, so that its product with n is exact; |r| <= log(2)/2.
float lb_exp(float x) {
    if (lb_isnan(x)) return x;
    if (x > 89.0) return lb_inf();
    const float bounded = max(x, -104.0);
    const float n = roundEven(bounded * 1.44269504);
    precise float r = bounded - n * 0.693359375;
    r = r + n * 2.12194440e-4;
    precise float tail = 0.00139345419 + r * 0.00019891981;
    tail = 0.00833331002 + r * tail;
    tail = 0.0416664568 + r * tail;
    tail = 0.166666667 + r * tail;
    tail = 0.5 + r * tail;
    precise float value = 1.0 + (r + r * r * tail);
    // 2^n in two steps: either factor is normal where the product may not be.
    const int whole = int(n), half_of = whole >> 1;
    value = value * uintBitsToFloat(uint(half_of + 127) << 23);
    value = value * uintBitsToFloat(uint(whole - half_of + 127) << 23);
    return value;
}

// tanh: an odd polynomial near 0, where 1 - 2/(exp(2x) + 1) would cancel; the argument is bounded, so that exp stays finite.
float lb_tanh(float x) {
    if (lb_isnan(x)) return x;
    const float a = abs(x);
    if (a < 0.625) {
        const float z = x * x;
        precise float tail = -0.00834394552 + z * 0.00229274482;
        tail = 0.0217689187 + z * tail;
        tail = -0.0539592596 + z * tail;
        tail = 0.133333036 + z * tail;
        tail = -0.333333332 + z * tail;
        precise float value = x + x * (z * tail);
        return value;
    }
    const float e = lb_exp(2.0 * min(a, 15.0));
    const float value = 1.0 - 2.0 / (e + 1.0);
    return x < 0.0 ? -value : value;
}

// log of a normal x within 2 ULP, near 1 too, where a built-in one may only be good to 2^-21: x = 2^e m, m in [sqrt(1/2), sqrt(2)),
// log m = 2 atanh((m - 1) / (m + 1)).
float lb_log(float x) {
    if (!(x < lb_inf())) return x;
    const uint bits = floatBitsToUint(x);
    int e = int(bits >> 23) - 127;
    uint man = (bits & 0x007fffffu) | 0x3f800000u;
    if (man > 0x3fb504f3u) {
        man -= 0x00800000u;
        e++;
    }
    const float m = uintBitsToFloat(man);
    precise float s = (m - 1.0) / (m + 1.0);
    const float z = s * s;
    precise float series = z * (0.333333333 + z * (0.2 + z * (0.142857143 + z * (0.111111111 + z * 0.0909090909))));
    precise float value = 2.0 * s + (2.0 * s * series - float(e) * 2.12194440e-4);
    value = float(e) * 0.693359375 + value;
    return value;
}
