/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of formats, and what follows from a row: classes, exact values, ordinals. */
#include "lastbit/formats.h"

#include <math.h>
#include <string.h>

static const lb_format formats[LB_FORMAT_COUNT] = {
#define BYTES(bits) ((bits) <= 8 ? 1 : (bits) / 8)
#define LB_FORMAT(id, name, alias, bits, s, e, m, bias, pad, special, source, note)                                                        \
    [LB_##id] = {name, alias, LB_##id, LB_SPECIAL_##special, bits, BYTES(bits), s, e, m, bias, pad, source, note},
#include "lastbit/formats.def"
#undef LB_FORMAT
#undef BYTES
};

const lb_format *lb_format_row(lb_format_id id) {
    return (unsigned)id < LB_FORMAT_COUNT ? &formats[id] : NULL;
}

/* Whether `name` is one of the space-separated words of `list`. */
static bool is_word_of(const char *name, const char *list) {
    const size_t n = strlen(name);
    for (const char *p = list; *p; p += strspn(p, " ")) {
        const size_t word = strcspn(p, " ");
        if (word == n && n && memcmp(p, name, n) == 0) return true;
        p += word;
    }
    return false;
}

const lb_format *lb_format_find(const char *name) {
    for (int i = 0; i < LB_FORMAT_COUNT; i++)
        if (strcmp(name, formats[i].name) == 0 || is_word_of(name, formats[i].alias)) return &formats[i];
    return NULL;
}

lb_status lb_format_get(const char *name, const lb_format **out, lb_error *err) {
    *out = lb_format_find(name);
    if (*out) return LB_OK;
    const char *names[LB_FORMAT_COUNT];
    for (int i = 0; i < LB_FORMAT_COUNT; i++) names[i] = formats[i].name;
    const char *near = lb_nearest_name(name, names, LB_FORMAT_COUNT);
    if (near) return lb_fail(err, LB_E_NAME, name, "no such number format; did you mean %s?", near);
    return lb_fail(err, LB_E_NAME, name, "no such number format; `lastbit formats` lists them");
}

/* ---- the parts of a code ---------------------------------------------------------------------------------------- */

/* Bits of the code that mean something, without padding below and ignored bits above. */
static uint64_t payload(const lb_format *f, uint64_t code) {
    const int width = f->special == LB_SPECIAL_INT ? f->bits : f->sign_bits + f->exp_bits + f->man_bits;
    return code >> f->pad_bits & (~UINT64_C(0) >> (64 - width));
}

static uint64_t low_bits(int n) {
    return n ? ~UINT64_C(0) >> (64 - n) : 0;
}

typedef struct parts {
    bool negative;
    uint64_t magnitude; /* code without its sign bit; integers: absolute value */
    uint64_t exp, man;
} parts;

static parts split(const lb_format *f, uint64_t code) {
    const uint64_t p = payload(f, code);
    if (f->special == LB_SPECIAL_INT) {
        const bool negative = f->sign_bits && p >> (f->bits - 1);
        return (parts){negative, negative ? (UINT64_C(1) << f->bits) - p : p, 0, 0};
    }
    const uint64_t magnitude = p & low_bits(f->exp_bits + f->man_bits);
    return (parts){p != magnitude, magnitude, magnitude >> f->man_bits, magnitude & low_bits(f->man_bits)};
}

static lb_class class_of(const lb_format *f, parts p) {
    const uint64_t top = low_bits(f->exp_bits);
    switch (f->special) {
    case LB_SPECIAL_IEEE:
        if (p.exp == top) return p.man ? LB_NAN : LB_INF;
        break;
    case LB_SPECIAL_NAN_TOP:
        if (p.exp == top && p.man == low_bits(f->man_bits)) return LB_NAN;
        break;
    case LB_SPECIAL_FNUZ:
        if (p.negative && p.magnitude == 0) return LB_NAN;
        break;
    case LB_SPECIAL_E8M0: return p.exp == top ? LB_NAN : LB_FINITE;
    case LB_SPECIAL_NONE:
    case LB_SPECIAL_INT: break;
    }
    return p.magnitude ? LB_FINITE : LB_ZERO;
}

lb_class lb_code_class(const lb_format *f, uint64_t code) {
    return class_of(f, split(f, code));
}

lb_value lb_decode(const lb_format *f, uint64_t code) {
    const parts p = split(f, code);
    lb_value v = {.cls = class_of(f, p), .negative = p.negative};
    if (v.cls == LB_NAN && f->special == LB_SPECIAL_FNUZ) v.negative = false;
    if (v.cls != LB_FINITE) return v;
    if (f->special == LB_SPECIAL_INT) {
        v.lo = p.magnitude;
        v.exp = -f->man_bits;
    } else if (f->special == LB_SPECIAL_E8M0) {
        v.lo = 1;
        v.exp = (int32_t)p.exp - f->bias;
    } else { /* subnormals have no hidden bit and the exponent of field 1 */
        v.lo = p.exp ? p.man | UINT64_C(1) << f->man_bits : p.man;
        v.exp = (p.exp ? (int32_t)p.exp : 1) - f->bias - f->man_bits;
    }
    return v;
}

lb_value lb_value_of(double x) {
    uint64_t code;
    memcpy(&code, &x, sizeof code);
    return lb_decode(&formats[LB_F64], code);
}

double lb_to_double(const lb_format *f, uint64_t code) {
    const lb_value v = lb_decode(f, code);
    double x = 0;
    switch (v.cls) {
    case LB_ZERO: break;
    case LB_INF: x = INFINITY; break;
    case LB_NAN: return NAN;
    case LB_FINITE: x = ldexp((double)v.lo, v.exp); break; /* lo has at most 53 bits */
    }
    return v.negative ? -x : x;
}

/* ---- codes that a format has ------------------------------------------------------------------------------------- */

uint64_t lb_max_code(const lb_format *f) {
    const int width = f->exp_bits + f->man_bits;
    const uint64_t all = low_bits(width);
    switch (f->special) {
    case LB_SPECIAL_IEEE: return (all - low_bits(f->man_bits) - 1) << f->pad_bits;
    case LB_SPECIAL_NAN_TOP:
    case LB_SPECIAL_E8M0: return all - 1;
    case LB_SPECIAL_INT: return low_bits(f->bits - f->sign_bits);
    case LB_SPECIAL_FNUZ:
    case LB_SPECIAL_NONE: break;
    }
    return all;
}

uint64_t lb_min_code(const lb_format *f) {
    return f->special == LB_SPECIAL_E8M0 ? 0 : UINT64_C(1) << f->pad_bits;
}

bool lb_inf_code(const lb_format *f, uint64_t *code) {
    if (f->special != LB_SPECIAL_IEEE) return false;
    *code = low_bits(f->exp_bits) << f->man_bits << f->pad_bits;
    return true;
}

bool lb_nan_code(const lb_format *f, uint64_t *code) {
    switch (f->special) {
    case LB_SPECIAL_IEEE: *code = (low_bits(f->exp_bits + 1) << (f->man_bits - 1)) << f->pad_bits; return true;
    case LB_SPECIAL_NAN_TOP:
    case LB_SPECIAL_E8M0: *code = low_bits(f->exp_bits + f->man_bits); return true;
    case LB_SPECIAL_FNUZ: *code = UINT64_C(1) << (f->bits - 1); return true;
    case LB_SPECIAL_NONE:
    case LB_SPECIAL_INT: break;
    }
    return false;
}

uint64_t lb_flush_code(const lb_format *f, uint64_t code, lb_flush flush) {
    const parts p = split(f, code);
    const bool subnormal = f->special != LB_SPECIAL_INT && f->special != LB_SPECIAL_E8M0 && p.exp == 0 && p.man != 0;
    if (flush == LB_FLUSH_NONE || !subnormal) return code;
    const bool keep = flush == LB_FLUSH_KEEP_SIGN && p.negative && f->special != LB_SPECIAL_FNUZ;
    return keep ? UINT64_C(1) << (f->bits - 1) : 0;
}

/* ---- ordinals ---------------------------------------------------------------------------------------------------- */

int64_t lb_ordinal(const lb_format *f, uint64_t code) {
    const parts p = split(f, code);
    if (class_of(f, p) == LB_NAN) return INT64_MAX;
    return p.negative ? -(int64_t)p.magnitude : (int64_t)p.magnitude;
}

uint64_t lb_ulp_distance(const lb_format *f, uint64_t a, uint64_t b) {
    const int64_t x = lb_ordinal(f, a), y = lb_ordinal(f, b);
    if (x == INT64_MAX || y == INT64_MAX) return UINT64_MAX;
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}
