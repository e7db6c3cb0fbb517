/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Integers, bits and video in plain C: native types, casts and builtins, one expression an operation where it can be. */
#include "oracle/scalar_cpu.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static bool is(const char *ptx, const char *name) {
    const size_t n = strlen(name);
    return strncmp(ptx, name, n) == 0 && (ptx[n] == '.' || ptx[n] == ' ');
}

static wide number(const char *ptx, uint64_t x) {
    if (oracle_has(ptx, "s16")) return (int16_t)x;
    if (oracle_has(ptx, "u16")) return (uint16_t)x;
    if (oracle_has(ptx, "s32")) return (int32_t)x;
    if (oracle_has(ptx, "s64")) return (int64_t)x;
    return oracle_has(ptx, "u64") || oracle_has(ptx, "b64") ? (wide)x : (wide)(uint32_t)x;
}

static wide saturate32(wide n) {
    return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
}

static bool arithmetic(const char *ptx, const uint64_t *in, uint64_t *out) {
    const wide a = number(ptx, in[0]), b = number(ptx, in[1]), c = number(ptx, in[2]);
    const bool sat = oracle_has(ptx, "sat");
    wide n;
    if (is(ptx, "add"))
        n = a + b;
    else if (is(ptx, "sub"))
        n = a - b;
    else if (is(ptx, "min"))
        n = b < a ? b : a;
    else if (is(ptx, "max"))
        n = b < a ? a : b;
    else if (is(ptx, "abs"))
        n = a < 0 ? -a : a;
    else if (is(ptx, "neg"))
        n = 0 - a;
    else if (is(ptx, "sad"))
        n = c + (a < b ? b - a : a - b);
    else if (is(ptx, "not"))
        n = -1 - a;
    else if (is(ptx, "cnot"))
        n = !a;
    else if (is(ptx, "div"))
        n = b == 0 ? -1 : a / b;
    else if (is(ptx, "rem"))
        n = b == 0 ? a : a - a / b * b;
    else
        return false;
    out[0] = (uint64_t)(sat ? saturate32(n) : n);
    return true;
}

static bool product(const char *ptx, const uint64_t *in, uint64_t *out) {
    const bool is24 = is(ptx, "mul24") || is(ptx, "mad24");
    if (!is24 && !is(ptx, "mul") && !is(ptx, "mad")) return false;
    if (oracle_has(ptx, "cc")) { /* mad.lo.cc, madc.hi */
        const uint64_t p = (in[0] & UINT32_MAX) * (in[1] & UINT32_MAX), low = (uint32_t)p + (in[2] & UINT32_MAX);
        out[0] = (uint32_t)low;
        out[1] = (uint32_t)((p >> 32) + in[3] + (low >> 32));
        return true;
    }
    wide a = number(ptx, in[0]), b = number(ptx, in[1]);
    const wide c = is(ptx, "mad") || is(ptx, "mad24") ? (oracle_has(ptx, "wide") ? (wide)(int64_t)in[2] : number(ptx, in[2])) : 0;
    int bits = oracle_has(ptx, "s64") || oracle_has(ptx, "u64") ? 64 : 32;
    if (is24) {
        a = oracle_has(ptx, "s32") ? (int32_t)((uint32_t)in[0] << 8) >> 8 : (wide)(in[0] & 0xffffff);
        b = oracle_has(ptx, "s32") ? (int32_t)((uint32_t)in[1] << 8) >> 8 : (wide)(in[1] & 0xffffff);
        bits = 16;
    }
    wide p = (wide)((uwide)a * (uwide)b);
    if (oracle_has(ptx, "hi")) p = oracle_has(ptx, "u64") ? (wide)((uwide)p >> 64) : p >> bits;
    if (oracle_has(ptx, "sat"))
        out[0] = (uint64_t)saturate32((wide)(int32_t)p + c);
    else
        out[0] = (uint64_t)(p + c);
    return true;
}

static bool carry(const char *ptx, const uint64_t *in, uint64_t *out) {
    if (!oracle_has(ptx, "cc")) return false;
    if (is(ptx, "add")) {
        uint32_t low;
        const bool c = __builtin_add_overflow((uint32_t)in[0], (uint32_t)in[2], &low);
        out[0] = low;
        out[1] = (uint32_t)(in[1] + in[3] + c);
        return true;
    }
    if (!is(ptx, "sub")) return false;
    out[0] = (uint32_t)(in[0] - in[2]);
    out[1] = (uint32_t)(in[1] - in[3] - ((uint32_t)in[0] < (uint32_t)in[2]));
    return true;
}

static bool dot(const char *ptx, const uint64_t *in, uint64_t *out) {
    const bool a_signed = strncmp(ptx + (is(ptx, "dp4a") ? 5 : 8), "s32", 3) == 0;
    const char *last = strchr(ptx, ' ') - 3;
    const bool b_signed = strncmp(last, "s32", 3) == 0;
    int64_t sum = (int32_t)in[2];
    if (!is(ptx, "dp4a") && !is(ptx, "dp2a")) return false;
    for (int i = 0; i < (is(ptx, "dp4a") ? 4 : 2); i++) {
        int64_t a, b;
        const int at = oracle_has(ptx, "hi") ? i + 2 : i;
        const uint8_t byte = (uint8_t)(in[1] >> (8 * at));
        b = b_signed ? (int8_t)byte : byte;
        if (is(ptx, "dp4a"))
            a = a_signed ? (int8_t)(in[0] >> (8 * i)) : (uint8_t)(in[0] >> (8 * i));
        else
            a = a_signed ? (int16_t)(in[0] >> (16 * i)) : (uint16_t)(in[0] >> (16 * i));
        sum += a * b;
    }
    out[0] = (uint64_t)sum;
    return true;
}

static uint64_t reversed(uint64_t x, int bits) {
    uint64_t y = 0;
    for (; bits > 0; bits--, x >>= 1) y = y << 1 | (x & 1);
    return y;
}

static int top_bit(uint64_t x) {
    int n = -1;
    for (; x; x >>= 1) n++;
    return n;
}

static bool counts(const char *ptx, const uint64_t *in, uint64_t *out) {
    const bool wide64 = oracle_has(ptx, "b64") || oracle_has(ptx, "s64") || oracle_has(ptx, "u64");
    const int bits = wide64 ? 64 : 32;
    if (is(ptx, "popc")) {
        uint64_t x = in[0];
        for (out[0] = 0; x; x &= x - 1) out[0]++;
    } else if (is(ptx, "clz")) {
        out[0] = (uint64_t)(bits - 1 - top_bit(in[0]));
    } else if (is(ptx, "brev")) {
        out[0] = reversed(in[0], bits);
    } else if (is(ptx, "bfind")) {
        const wide n = number(ptx, in[0]);
        const int at = top_bit((uint64_t)(n < 0 ? ~n : n));
        out[0] = at < 0 ? UINT32_MAX : (uint64_t)(oracle_has(ptx, "shiftamt") ? bits - 1 - at : at);
    } else {
        return false;
    }
    return true;
}

/* Fields by shifts of a wide number instead of bit after bit. */
static bool fields(const char *ptx, const uint64_t *in, uint64_t *out) {
    const bool wide64 = oracle_has(ptx, "b64") || oracle_has(ptx, "s64") || oracle_has(ptx, "u64");
    const int bits = wide64 ? 64 : 32;
    if (is(ptx, "bfe")) {
        const int pos = (int)(in[1] & 255), len = (int)(in[2] & 255);
        wide x = number(ptx, in[0]); /* sign extended: what is above the word is its sign */
        x = pos > 126 ? (x < 0 ? -1 : 0) : x >> pos;
        if (len == 0)
            x = 0;
        else if (len < bits) {
            const wide field = x & (((wide)1 << len) - 1);
            const bool negative = (oracle_has(ptx, "s32") || oracle_has(ptx, "s64")) && field >> (len - 1) & 1;
            x = negative ? field - ((wide)1 << len) : field;
        }
        out[0] = (uint64_t)x;
        return true;
    }
    if (is(ptx, "bfi")) {
        const int pos = (int)(in[2] & 255), len = (int)(in[3] & 255);
        const uwide field = len > 126 ? ~(uwide)0 : ((uwide)1 << len) - 1;
        const uwide mask = pos > 126 ? 0 : field << pos;
        const uwide value = pos > 126 ? 0 : (uwide)in[0] << pos;
        out[0] = (uint64_t)(((uwide)in[1] & ~mask) | (value & mask));
        return true;
    }
    if (!is(ptx, "fns")) return false;
    int32_t n = (int32_t)in[2];
    uint32_t mask = (uint32_t)in[0];
    out[0] = UINT32_MAX;
    if (in[1] > 31) return true;
    const unsigned base = (unsigned)in[1];
    if (n == 0) {
        if (mask >> base & 1) out[0] = base;
        return true;
    }
    const bool up = n > 0;
    mask = up ? mask >> base : (uint32_t)reversed(mask, 32) >> (31 - base); /* the search begins at bit 0 */
    int64_t left = n < 0 ? -(int64_t)n : n;
    while (mask && --left) mask &= mask - 1;
    if (!mask || left) return true;
    const unsigned steps = (unsigned)__builtin_ctz(mask);
    out[0] = up ? base + steps : base - steps;
    return true;
}

static bool permute(const char *ptx, const uint64_t *in, uint64_t *out) {
    uint8_t bytes[8], d[4];
    const unsigned c = (unsigned)in[2], k = c & 3;
    if (!is(ptx, "prmt")) return false;
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(i < 4 ? in[0] >> (8 * i) : in[1] >> (8 * (i - 4)));
    for (unsigned i = 0; i < 4; i++) { /* byte i of the result, the lowest first */
        if (oracle_has(ptx, "f4e"))
            d[i] = bytes[k + i];
        else if (oracle_has(ptx, "b4e"))
            d[i] = bytes[(k + 8 - i) % 8];
        else if (oracle_has(ptx, "rc8"))
            d[i] = bytes[k];
        else if (oracle_has(ptx, "ecl"))
            d[i] = bytes[i > k ? i : k];
        else if (oracle_has(ptx, "ecr"))
            d[i] = bytes[i < k ? i : k];
        else if (oracle_has(ptx, "rc16"))
            d[i] = bytes[(k & 1) * 2 + (i & 1)];
        else {
            const unsigned s = c >> (4 * i) & 15;
            d[i] = s < 8 ? bytes[s] : (int8_t)bytes[s - 8] < 0 ? 255 : 0;
        }
    }
    out[0] = d[0] | (uint64_t)d[1] << 8 | (uint64_t)d[2] << 16 | (uint64_t)d[3] << 24;
    return true;
}

static bool logic_and_shifts(const char *ptx, const uint64_t *in, uint64_t *out) {
    const uint32_t a = (uint32_t)in[0], b = (uint32_t)in[1], c = (uint32_t)in[2];
    if (is(ptx, "lop3")) {
        if (strstr(ptx, "0x96"))
            out[0] = a ^ b ^ c;
        else if (strstr(ptx, "0xe8"))
            out[0] = (a & b) | (b & c) | (a & c);
        else if (strstr(ptx, "0xca"))
            out[0] = (a & b) | (~a & c);
        else if (strstr(ptx, "0x1;"))
            out[0] = (uint32_t) ~(a | b | c);
        else
            return false;
    } else if (is(ptx, "shf")) {
        const unsigned n = oracle_has(ptx, "clamp") ? (c > 32 ? 32 : c) : c % 32;
        if (oracle_has(ptx, "l"))
            out[0] = n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
        else
            out[0] = n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
    } else if (is(ptx, "shl") || is(ptx, "shr")) {
        const int bits = oracle_has(ptx, "b64") || oracle_has(ptx, "s64") || oracle_has(ptx, "u64") ? 64
                         : oracle_has(ptx, "b16") || oracle_has(ptx, "s16")                         ? 16
                                                                                                    : 32;
        const unsigned n = b > (unsigned)bits ? (unsigned)bits : b;
        out[0] = is(ptx, "shl") ? (uint64_t)((uwide)in[0] << n) : (uint64_t)(number(ptx, in[0]) >> n);
    } else {
        return false;
    }
    return true;
}

/* As the document's own text has them. */
static bool masks(const char *ptx, const uint64_t *in, uint64_t *out) {
    const bool clamp = oracle_has(ptx, "clamp");
    const uint32_t a = (uint32_t)in[0], b = (uint32_t)in[1], b1 = b & 31;
    if (is(ptx, "szext")) {
        const bool too_large = b >= 32 && clamp;
        const uint32_t mask = too_large ? 0 : ~0u << b1;
        const bool sign = b1 != 0 && !too_large && oracle_has(ptx, "s32") && a >> (b1 - 1) & 1;
        out[0] = (a & ~mask) | (sign ? mask : 0);
        return true;
    }
    if (!is(ptx, "bmsk")) return false;
    const uint32_t a1 = a & 31, sum = a1 + b1;
    const uint32_t mask0 = clamp && a >= 32 ? 0 : ~0u << a1;
    const bool over = sum >= 32 || (clamp && (a >= 32 || b >= 32));
    const uint32_t mask1 = over ? 0 : ~0u << sum;
    out[0] = mask0 & ~mask1;
    return true;
}

static int64_t taken(const char *text, const char *operand, uint64_t word, bool is_signed) {
    const char *at = strstr(text, operand);
    const char kind = at[3] == '.' ? at[4] : 0;
    const int index = kind ? at[5] - '0' : 0;
    if (kind == 'b') return is_signed ? (int8_t)(word >> (8 * index)) : (int64_t)(uint8_t)(word >> (8 * index));
    if (kind == 'h') return is_signed ? (int16_t)(word >> (16 * index)) : (int64_t)(uint16_t)(word >> (16 * index));
    return is_signed ? (int32_t)word : (int64_t)(uint32_t)word;
}

static bool video(const char *ptx, const uint64_t *in, uint64_t *out) {
    const uint32_t c = (uint32_t)in[2];
    if (is(ptx, "vadd2")) {
        out[0] = 0;
        for (int i = 0; i < 32; i += 16) {
            const int n = (int16_t)(in[0] >> i) + (int16_t)(in[1] >> i);
            out[0] |= (uint64_t)(uint16_t)(n > 32767 ? 32767 : n < -32768 ? -32768 : n) << i;
        }
        return true;
    }
    if (is(ptx, "vavrg4")) {
        out[0] = 0;
        for (int i = 0; i < 32; i += 8) {
            const int n = (int8_t)(in[0] >> i) + (int8_t)(in[1] >> i);
            out[0] |= (uint64_t)(uint8_t)(n >= 0 ? (n + 1) / 2 : -((-n + 1) / 2)) << i;
        }
        return true;
    }
    if (is(ptx, "vabsdiff4")) {
        out[0] = c;
        for (int i = 0; i < 32; i += 8) out[0] += (uint64_t)abs((uint8_t)(in[0] >> i) - (uint8_t)(in[1] >> i));
        return true;
    }
    if (ptx[0] != 'v') return false;
    const char *types = strchr(ptx, '.') + 1;
    const bool set = is(ptx, "vset");
    const bool a_signed = types[set ? 0 : 4] == 's', b_signed = types[set ? 4 : 8] == 's', d_signed = !set && types[0] == 's';
    const int64_t a = taken(ptx, "%i0", in[0], a_signed), b = taken(ptx, "%i1", in[1], b_signed);
    int64_t n;
    if (is(ptx, "vadd"))
        n = a + b;
    else if (is(ptx, "vsub"))
        n = a - b;
    else if (is(ptx, "vabsdiff"))
        n = llabs(a - b);
    else if (is(ptx, "vmin"))
        n = a < b ? a : b;
    else if (is(ptx, "vmax"))
        n = a > b ? a : b;
    else if (is(ptx, "vmad"))
        n = (a * b + (int32_t)c) >> (oracle_has(ptx, "shr7") ? 7 : 0);
    else if (set)
        n = a < b;
    else if (is(ptx, "vshl"))
        n = b >= 32 ? 0 : (int64_t)(uint32_t)((uint64_t)a << b); /* .clamp */
    else
        n = a >> (b & 31); /* vshr .wrap */
    if (oracle_has(ptx, "sat")) n = d_signed ? (int64_t)saturate32(n) : n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : n;
    if (oracle_has(ptx, "add")) n += c;
    out[0] = (uint64_t)n;
    return true;
}

static bool rest(const char *ptx, const uint64_t *in, uint64_t *out) {
    if (is(ptx, "setp") && strstr(ptx, "selp.b32 %o0,%i0")) {
        out[0] = (uint32_t)in[2] ? in[0] : in[1];
        return true;
    }
    if (is(ptx, "cvt")) { /* .sat of s32 */
        const int32_t n = (int32_t)in[0];
        out[0] = (uint64_t)(oracle_has(ptx, "u8") ? (n < 0 ? 0 : n > 255 ? 255 : n) : n < -128 ? -128 : n > 127 ? 127 : n);
        return true;
    }
    if (!is(ptx, "setp")) return false;
    const wide a = number(ptx, in[0]), b = number(ptx, in[1]);
    out[0] = oracle_has(ptx, "eq")                            ? a == b
             : oracle_has(ptx, "ne")                          ? a != b
             : oracle_has(ptx, "lt") || oracle_has(ptx, "lo") ? a < b
             : oracle_has(ptx, "le") || oracle_has(ptx, "ls") ? a <= b
             : oracle_has(ptx, "gt") || oracle_has(ptx, "hi") ? a > b
                                                              : a >= b;
    return true;
}

bool oracle_scalar_integer(const char *ptx, const uint64_t *in, uint64_t *out) {
    return carry(ptx, in, out) || product(ptx, in, out) || dot(ptx, in, out) || arithmetic(ptx, in, out) || counts(ptx, in, out) ||
           fields(ptx, in, out) || permute(ptx, in, out) || logic_and_shifts(ptx, in, out) || masks(ptx, in, out) || video(ptx, in, out) ||
           rest(ptx, in, out);
}
