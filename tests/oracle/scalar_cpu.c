/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "oracle/scalar_cpu.h"

#include "oracle/format_mpfr.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRECISION = 800 };

/* ---- the text -------------------------------------------------------------------------------------------------------------- */

static bool is_part(const char *at, const char *part) {
    const size_t n = strlen(part);
    return strncmp(at, part, n) == 0 && (at[n] == '.' || at[n] == ' ');
}

static bool find_part(const char *ptx, const char *part) {
    const char *end = strchr(ptx, ' ');
    for (const char *dot = ptx; dot && dot < end; dot = strchr(dot + 1, '.'))
        if (*dot == '.' && is_part(dot + 1, part)) return true;
    return false;
}

/* The same few questions are asked of one text a hundred thousand times: the answers are kept, by the addresses of both. */
bool oracle_has(const char *ptx, const char *part) {
    enum { KEPT = 1024 };
    static struct {
        const char *ptx, *part;
        bool has;
    } kept[KEPT];
    const size_t at = ((uintptr_t)ptx * 31 + (uintptr_t)part) / 2 % KEPT;
    if (kept[at].ptx != ptx || kept[at].part != part) {
        kept[at].has = find_part(ptx, part);
        kept[at].ptx = ptx;
        kept[at].part = part;
    }
    return kept[at].has;
}

static bool is(const char *ptx, const char *name) {
    return is_part(ptx, name);
}

/* Part number i from the end of the first instruction: 0 is the last. */
static void part_from_end(const char *ptx, int i, char out[32]) {
    const char *end = strchr(ptx, ' '), *start = end;
    for (;; end = start) {
        start = end - 1;
        while (start > ptx && *start != '.') start--;
        if (i-- == 0 || start == ptx) break;
    }
    snprintf(out, 32, "%.*s", (int)(end - start - 1), start + 1);
}

static int mode_of(const char *ptx) {
    static const char *const names[4][2] = {{"rn", "rni"}, {"rz", "rzi"}, {"rm", "rmi"}, {"rp", "rpi"}};
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    for (int i = 0; i < 4; i++)
        if (oracle_has(ptx, names[i][0]) || oracle_has(ptx, names[i][1])) return modes[i];
    return FE_TONEAREST;
}

static oracle_mode oracle_mode_of(const char *ptx) {
    const int m = mode_of(ptx);
    if (oracle_has(ptx, "rna")) return O_RNA;
    return m == FE_TOWARDZERO ? O_RZ : m == FE_DOWNWARD ? O_RD : m == FE_UPWARD ? O_RU : O_RNE;
}

/* ---- f32 and f64 on this CPU --------------------------------------------------------------------------------------------------- */

static double f64_of(uint64_t code) {
    double x;
    memcpy(&x, &code, 8);
    return x;
}

static uint64_t code_of_f64(double x) {
    uint64_t code;
    memcpy(&code, &x, 8);
    return code;
}

static float f32_of(uint64_t code) {
    const uint32_t word = (uint32_t)code;
    float x;
    memcpy(&x, &word, 4);
    return x;
}

static uint32_t code_of_f32(float x) {
    uint32_t code;
    memcpy(&code, &x, 4);
    return code;
}

static uint64_t f32_flushed(uint64_t code) {
    return (code & 0x7f800000) == 0 ? code & 0x80000000 : code;
}

static double compute64(const char *ptx, volatile double a, volatile double b, volatile double c) {
    if (is(ptx, "add")) return a + b;
    if (is(ptx, "sub")) return a - b;
    if (is(ptx, "mul")) return a * b;
    if (is(ptx, "fma")) return fma(a, b, c);
    if (is(ptx, "div")) return a / b;
    if (is(ptx, "rcp")) return 1 / a;
    return sqrt(a);
}

static float compute32(const char *ptx, volatile float a, volatile float b, volatile float c) {
    if (is(ptx, "add")) return a + b;
    if (is(ptx, "sub")) return a - b;
    if (is(ptx, "mul")) return a * b;
    if (is(ptx, "fma")) return fmaf(a, b, c);
    if (is(ptx, "div")) return a / b;
    if (is(ptx, "rcp")) return 1 / a;
    return sqrtf(a);
}

static uint64_t arithmetic32(const char *ptx, const uint64_t *in) {
    const bool ftz = oracle_has(ptx, "ftz");
    float x[3];
    for (int i = 0; i < 3; i++) x[i] = f32_of(ftz ? f32_flushed(in[i]) : in[i]);
    fesetround(mode_of(ptx));
    float y = compute32(ptx, x[0], x[1], x[2]);
    fesetround(FE_TONEAREST);
    if (oracle_has(ptx, "sat")) y = isnan(y) || y <= 0 ? 0.0f : y >= 1 ? 1.0f : y;
    return ftz ? f32_flushed(code_of_f32(y)) : code_of_f32(y);
}

static uint64_t arithmetic64(const char *ptx, const uint64_t *in) {
    fesetround(mode_of(ptx));
    const double y = compute64(ptx, f64_of(in[0]), f64_of(in[1]), f64_of(in[2]));
    fesetround(FE_TONEAREST);
    return code_of_f64(y);
}

/* ---- narrower formats in MPFR ------------------------------------------------------------------------------------------------------ */

static void value_of(const oracle_format *f, uint64_t code, bool ftz, mpfr_t x) {
    const uint64_t magnitude = code & ((UINT64_C(1) << (f->bits - 1)) - 1);
    if (ftz && magnitude >> f->man == 0) code &= UINT64_C(1) << (f->bits - 1);
    oracle_value(f, code, x);
}

/* Rounded once, with what the modifiers do to the result. */
static uint64_t finish(const char *ptx, const oracle_format *f, mpfr_t x, bool ftz) {
    const oracle_rule rule = {.mode = oracle_mode_of(ptx),
                              .over = oracle_has(ptx, "satfinite") ? O_OVER_SAT : O_OVER_IEEE,
                              .flush = ftz ? O_FLUSH_SIGNED : O_KEEP};
    if (mpfr_nan_p(x))
        return oracle_has(ptx, "sat") ? 0 : f->kind == O_IEEE ? (UINT64_C(1) << (f->bits - 1)) - 1 : oracle_encode(f, x, &rule);
    if (mpfr_signbit(x) && (oracle_has(ptx, "relu") || oracle_has(ptx, "sat"))) return 0;
    if (oracle_has(ptx, "sat") && mpfr_cmp_ui(x, 1) > 0) mpfr_set_ui(x, 1, MPFR_RNDN);
    return oracle_encode(f, x, &rule);
}

static uint64_t arithmetic16(const char *ptx, const oracle_format *f, const uint64_t *in) {
    const bool ftz = oracle_has(ptx, "ftz");
    const mpfr_rnd_t toward = oracle_mode_of(ptx) == O_RD ? MPFR_RNDD : MPFR_RNDN; /* decides the sign of an exact zero */
    mpfr_t x[3], y;
    mpfr_init2(y, PRECISION);
    for (int i = 0; i < 3; i++) {
        mpfr_init2(x[i], 64);
        value_of(f, in[i] & 0xffff, ftz, x[i]);
    }
    if (is(ptx, "add")) mpfr_add(y, x[0], x[1], toward);
    if (is(ptx, "sub")) mpfr_sub(y, x[0], x[1], toward);
    if (is(ptx, "mul")) mpfr_mul(y, x[0], x[1], toward);
    if (is(ptx, "fma")) mpfr_fma(y, x[0], x[1], x[2], toward);
    const uint64_t code = finish(ptx, f, y, ftz);
    for (int i = 0; i < 3; i++) mpfr_clear(x[i]);
    mpfr_clear(y);
    return code;
}

/* ---- conversions --------------------------------------------------------------------------------------------------------------------- */

static uint64_t convert(const char *ptx, const char *from, const char *to, uint64_t code) {
    const oracle_format *f = oracle_format_named(from), *t = oracle_format_named(to);
    const bool ftz = oracle_has(ptx, "ftz"), from_f32 = strcmp(from, "f32") == 0, to_f32 = strcmp(to, "f32") == 0;
    mpfr_t x;
    mpfr_init2(x, 64);
    value_of(f, code, ftz && from_f32, x);
    const bool integral = oracle_has(ptx, "rni") || oracle_has(ptx, "rzi") || oracle_has(ptx, "rmi") || oracle_has(ptx, "rpi");
    if (integral && mpfr_number_p(x)) {
        static const mpfr_rnd_t rounds[] = {[O_RNE] = MPFR_RNDN, [O_RZ] = MPFR_RNDZ, [O_RU] = MPFR_RNDU, [O_RD] = MPFR_RNDD};
        mpfr_rint(x, x, rounds[oracle_mode_of(ptx)]);
    }
    const bool nan_as_f32 = strcmp(to, "tf32") == 0 && mpfr_nan_p(x);
    const uint64_t result = nan_as_f32 ? 0x7fffffff : finish(ptx, t, x, ftz && to_f32);
    mpfr_clear(x);
    return result;
}

static bool is_float(const char *type) {
    return strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0 || strcmp(type, "f32") == 0 || strcmp(type, "f64") == 0;
}

/* "e4m3x2" is two of e4m3; *bits of each in its word. */
static bool pair_of(const char *type, char one[32], int *bits) {
    const size_t n = strlen(type);
    if (n < 3 || strcmp(type + n - 2, "x2") != 0) return false;
    snprintf(one, 32, "%.*s", (int)(n - 2), type[0] == 'u' ? type + 1 : type);
    if (type[0] == 'u') one[n - 3] = 0;
    *bits = strcmp(one, "f16") == 0 || strcmp(one, "bf16") == 0 ? 16 : strcmp(one, "e2m1") == 0 ? 4 : 8;
    return true;
}

static uint64_t to_integer(const char *ptx, const char *from, const char *to, uint64_t code) {
    const int bits = atoi(to + 1);
    const bool is_signed = to[0] == 's', ftz = oracle_has(ptx, "ftz");
    mpfr_t x;
    mpfr_init2(x, 64);
    value_of(oracle_format_named(from), code, ftz, x);
    uint64_t result;
    if (mpfr_nan_p(x)) {
        result = bits == 64 || strcmp(from, "f64") == 0 ? UINT64_C(1) << (bits - 1) : 0;
    } else {
        const int m = mode_of(ptx);
        mpfr_rint(x, x, m == FE_TONEAREST ? MPFR_RNDN : m == FE_TOWARDZERO ? MPFR_RNDZ : m == FE_UPWARD ? MPFR_RNDU : MPFR_RNDD);
        mpfr_t end;
        mpfr_init2(end, 80);
        mpfr_set_ui_2exp(end, 1, is_signed ? bits - 1 : bits, MPFR_RNDN); /* the first that is too great */
        if (mpfr_cmp(x, end) >= 0) {
            result = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
        } else {
            mpfr_neg(end, end, MPFR_RNDN);
            if (mpfr_sgn(x) < 0 && (!is_signed || mpfr_cmp(x, end) <= 0))
                result = is_signed ? UINT64_C(1) << (bits - 1) : 0;
            else
                result = mpfr_sgn(x) < 0 ? (uint64_t)mpfr_get_si(x, MPFR_RNDZ) : mpfr_get_ui(x, MPFR_RNDZ);
        }
        mpfr_clear(end);
    }
    mpfr_clear(x);
    return result & (UINT64_MAX >> (64 - bits));
}

static uint64_t of_integer(const char *ptx, const char *from, const char *to, uint64_t word) {
    mpfr_t x;
    mpfr_init2(x, 64);
    const int64_t n = strcmp(from, "s32") == 0 ? (int32_t)word : (int64_t)word;
    if (from[0] == 's')
        mpfr_set_si(x, n, MPFR_RNDN);
    else
        mpfr_set_ui(x, strcmp(from, "u32") == 0 ? (uint32_t)word : word, MPFR_RNDN);
    const uint64_t code = finish(ptx, oracle_format_named(to), x, false);
    mpfr_clear(x);
    return code;
}

static bool conversion(const char *ptx, const uint64_t *in, uint64_t *out) {
    char from[32], to[32], one[32];
    int to_bits, from_bits;
    part_from_end(ptx, 0, from);
    part_from_end(ptx, 1, to);
    if (pair_of(to, one, &to_bits)) {
        char element[32];
        const bool together = pair_of(from, element, &from_bits);
        const char *source = together ? element : from;
        const uint64_t mask = together ? (UINT64_C(1) << from_bits) - 1 : 0;
        const uint64_t high = together ? in[0] >> from_bits & mask : in[0], low = together ? in[0] & mask : in[1];
        out[0] = convert(ptx, source, one, high) << to_bits | convert(ptx, source, one, low);
        return true;
    }
    if (is_float(from) && is_float(to))
        out[0] = convert(ptx, from, to, in[0]);
    else if (strcmp(to, "tf32") == 0)
        out[0] = convert(ptx, from, to, in[0]);
    else if (is_float(from))
        out[0] = to_integer(ptx, from, to, in[0]);
    else if (is_float(to))
        out[0] = of_integer(ptx, from, to, in[0]);
    else
        return oracle_scalar_integer(ptx, in, out);
    return true;
}

/* ---- comparisons and selections --------------------------------------------------------------------------------------------------------- */

static double float_value(const char *type, uint64_t code, bool ftz) {
    mpfr_t x;
    if (strcmp(type, "f32") == 0) return f32_of(ftz ? f32_flushed(code) : code);
    if (strcmp(type, "f64") == 0) return f64_of(code);
    mpfr_init2(x, 64);
    value_of(oracle_format_named(type), code & 0xffff, ftz, x);
    const double v = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return v;
}

static bool compare(const char *ptx, double a, double b) {
    const bool unordered = isunordered(a, b) != 0;
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu"};
    int which = 0;
    if (oracle_has(ptx, "num")) return !unordered;
    if (oracle_has(ptx, "nan")) return unordered;
    while (!oracle_has(ptx, names[which])) which++;
    if (unordered) return which >= 6;
    switch (which % 6) {
    case 0: return a == b;
    case 1: return islessgreater(a, b);
    case 2: return isless(a, b);
    case 3: return islessequal(a, b);
    case 4: return isgreater(a, b);
    default: return isgreaterequal(a, b);
    }
}

static uint64_t minimum(const char *ptx, const char *type, const uint64_t *in, int bits) {
    const bool ftz = oracle_has(ptx, "ftz"), xorsign = oracle_has(ptx, "xorsign"), max = is(ptx, "max");
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    double a = float_value(type, in[0], ftz), b = float_value(type, in[1], ftz);
    uint64_t ca = in[0], cb = in[1];
    if (ftz && fabs(a) == 0) ca &= sign;
    if (ftz && fabs(b) == 0) cb &= sign;
    const uint64_t sign_of = (ca ^ cb) & sign;
    if (isnan(a) && (isnan(b) || oracle_has(ptx, "NaN"))) return sign - 1;
    if (isnan(b) && oracle_has(ptx, "NaN")) return sign - 1;
    if (xorsign) {
        a = fabs(a), b = fabs(b);
        ca &= ~sign, cb &= ~sign;
    }
    uint64_t chosen;
    if (isnan(a))
        chosen = cb;
    else if (isnan(b))
        chosen = ca;
    else if (a == b)
        chosen = max ? ca & cb : ca | cb; /* of zeros the sign decides */
    else
        chosen = (a < b) != max ? ca : cb;
    return xorsign ? (chosen & ~sign) | sign_of : chosen;
}

static bool property(const char *ptx, float x) {
    if (oracle_has(ptx, "finite")) return isfinite(x);
    if (oracle_has(ptx, "infinite")) return isinf(x);
    if (oracle_has(ptx, "number")) return !isnan(x);
    if (oracle_has(ptx, "notanumber")) return isnan(x);
    if (oracle_has(ptx, "normal")) return fpclassify(x) == FP_NORMAL || fpclassify(x) == FP_ZERO;
    return fpclassify(x) == FP_SUBNORMAL;
}

static bool float_operation(const char *ptx, const char *type, int bits, const uint64_t *in, uint64_t *out) {
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const bool ftz = oracle_has(ptx, "ftz");
    if (is(ptx, "min") || is(ptx, "max"))
        out[0] = minimum(ptx, type, in, bits);
    else if (is(ptx, "abs"))
        out[0] = (ftz ? f32_flushed(in[0]) : in[0]) & (sign - 1);
    else if (is(ptx, "neg"))
        out[0] = (ftz ? f32_flushed(in[0]) : in[0]) ^ sign;
    else if (is(ptx, "copysign"))
        out[0] = (in[0] & sign) | (in[1] & (sign - 1));
    else if (is(ptx, "testp"))
        out[0] = property(ptx, f32_of(in[0]));
    else if (is(ptx, "setp"))
        out[0] = compare(ptx, float_value(type, in[0], ftz), float_value(type, in[1], ftz));
    else if (strcmp(type, "f32") == 0)
        out[0] = arithmetic32(ptx, in);
    else if (strcmp(type, "f64") == 0)
        out[0] = arithmetic64(ptx, in);
    else
        out[0] = arithmetic16(ptx, oracle_format_named(type), in);
    return true;
}

static bool set_or_select(const char *ptx, const char *type, const uint64_t *in, uint64_t *out) {
    char to[32];
    const bool ftz = oracle_has(ptx, "ftz");
    part_from_end(ptx, 1, to);
    if (is(ptx, "slct")) {
        const bool first = strcmp(type, "s32") == 0 ? (int32_t)in[2] >= 0 : float_value(type, in[2], ftz) >= 0;
        out[0] = first ? in[0] : in[1];
        return true;
    }
    const bool holds = compare(ptx, float_value(type, in[0], ftz), float_value(type, in[1], ftz));
    const uint64_t yes = strcmp(to, "f32") == 0 ? 0x3f800000 : strcmp(to, "u32") == 0 ? 0xffffffff : 0x3c00;
    out[0] = holds ? yes : 0;
    return true;
}

static bool scalar(const char *ptx, const char *type, const uint64_t *in, uint64_t *out) {
    const int bits = strcmp(type, "f64") == 0 ? 64 : strcmp(type, "f32") == 0 ? 32 : 16;
    if (is(ptx, "set") || is(ptx, "slct")) return set_or_select(ptx, type, in, out);
    return float_operation(ptx, type, bits, in, out);
}

bool oracle_scalar(const char *ptx, const uint64_t *in, uint64_t *out) {
    char type[32], one[32];
    int bits;
    if (oracle_has(ptx, "approx") || oracle_has(ptx, "full") || strstr(ptx, ".sync")) return false;
    if (is(ptx, "cvt")) return conversion(ptx, in, out);
    part_from_end(ptx, 0, type);
    if (pair_of(type, one, &bits)) {
        uint64_t whole = 0;
        for (int half = 0; half < 2; half++) {
            uint64_t x[3];
            for (int i = 0; i < 3; i++) x[i] = in[i] >> (16 * half) & 0xffff;
            if (!scalar(ptx, one, x, out)) return false;
            whole |= (out[0] & 0xffff) << (16 * half);
        }
        out[0] = whole;
        return true;
    }
    if (is_float(type) || is(ptx, "slct")) return scalar(ptx, type, in, out);
    return oracle_scalar_integer(ptx, in, out);
}

/* ---- true values of approximate operations ------------------------------------------------------------------------------------------- */

bool oracle_scalar_true(const char *ptx, const uint64_t *in, uint64_t *out) {
    char type[32];
    part_from_end(ptx, 0, type);
    const oracle_format *f = oracle_format_named(type);
    if (!f) return false;
    mpfr_t x, y;
    mpfr_inits2(300, x, y, (mpfr_ptr)NULL);
    value_of(f, in[0], oracle_has(ptx, "ftz"), x);
    value_of(f, in[1], oracle_has(ptx, "ftz"), y);
    if (is(ptx, "rcp"))
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
    else if (is(ptx, "sqrt"))
        mpfr_sqrt(x, x, MPFR_RNDN);
    else if (is(ptx, "rsqrt")) {
        mpfr_sqrt(x, x, MPFR_RNDN);
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
    } else if (is(ptx, "ex2"))
        mpfr_exp2(x, x, MPFR_RNDN);
    else if (is(ptx, "lg2"))
        mpfr_log2(x, x, MPFR_RNDN);
    else if (is(ptx, "sin"))
        mpfr_sin(x, x, MPFR_RNDN);
    else if (is(ptx, "cos"))
        mpfr_cos(x, x, MPFR_RNDN);
    else if (is(ptx, "tanh"))
        mpfr_tanh(x, x, MPFR_RNDN);
    else
        mpfr_div(x, x, y, MPFR_RNDN);
    out[0] = finish(ptx, f, x, oracle_has(ptx, "ftz"));
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    return true;
}
