/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Number formats as rows: decode, encode with one rounding from the exact value, ordinals, block-scaled formats.
 * A code is a bit pattern, right-aligned in an unsigned integer; a value is an lb_value or a double, never a float. */
#ifndef LASTBIT_FORMATS_H
#define LASTBIT_FORMATS_H

#include "lastbit/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the table ---------------------------------------------------------------------------------------------- */

typedef enum lb_format_id {
#define LB_FORMAT(id, name, alias, bits, s, e, m, bias, pad, special, source, note) LB_##id,
#include "lastbit/formats.def"
#undef LB_FORMAT
    LB_FORMAT_COUNT
} lb_format_id;

typedef enum lb_special {
    LB_SPECIAL_IEEE,    /* top exponent: mantissa 0 is Inf, others NaN */
    LB_SPECIAL_NAN_TOP, /* only the all-ones code (of each sign) is NaN; no Inf */
    LB_SPECIAL_FNUZ,    /* only the negative-zero code is NaN; no Inf, no -0 */
    LB_SPECIAL_NONE,    /* every code is finite */
    LB_SPECIAL_E8M0,    /* code e is 2^(e-bias), 255 is NaN; no zero, no sign */
    LB_SPECIAL_INT      /* two's complement (sign_bits 1) or unsigned integer, scaled by 2^-man_bits */
} lb_special;

typedef struct lb_format {
    const char *name;  /* canonical: "bf16" */
    const char *alias; /* other accepted names, space-separated; "" if none */
    lb_format_id id;
    lb_special special;
    int bits;  /* width of the code; 32 for tf32, whose low 13 bits are ignored on decode and zero on encode */
    int bytes; /* storage of one code in memory: 1, 2, 4 or 8; sub-byte codes use a byte each */
    int sign_bits, exp_bits, man_bits, bias;
    int pad_bits;       /* low bits of the code that carry nothing (tf32: 13) */
    const char *source; /* key in docs/sources.md */
    const char *note;
} lb_format;

/** Row of a format; NULL if id is out of range. threads pure */
const lb_format *lb_format_row(lb_format_id id);

/** Row by canonical name or alias, NULL if there is none. threads pure */
const lb_format *lb_format_find(const char *name);

/** As lb_format_find, with an error that names the nearest format. errors LB_E_NAME */
lb_status lb_format_get(const char *name, const lb_format **out, lb_error *err);

/* ---- exact values ------------------------------------------------------------------------------------------- */

typedef enum lb_class { LB_ZERO, LB_FINITE, LB_INF, LB_NAN } lb_class;

/** (-1)^negative * (hi*2^64 + lo + s) * 2^exp, s in (0,1) unknown if sticky else 0. Zero, Inf and NaN use cls and negative alone. */
typedef struct lb_value {
    lb_class cls;
    bool negative, sticky;
    int32_t exp;
    uint64_t hi, lo;
} lb_value;

/** Exact value of a code. accuracy exact. threads pure. Bits above f->bits are ignored. */
lb_value lb_decode(const lb_format *f, uint64_t code);

/** Class of a code. threads pure */
lb_class lb_code_class(const lb_format *f, uint64_t code);

/** Exact value of a double. threads pure */
lb_value lb_value_of(double x);

/** Exact a+b and a*b of values that are not sticky; what exceeds 128 bits is kept as sticky, so one rounding of up to 60 bits
 *  stays right. NaN and Inf follow IEEE 754; the sign of an exact zero sum is that of round-to-nearest. threads pure */
lb_value lb_value_add(lb_value a, lb_value b);
lb_value lb_value_mul(lb_value a, lb_value b);

/** Value of a code as double. accuracy exact for every format here. threads pure */
double lb_to_double(const lb_format *f, uint64_t code);

/* ---- encoding: one rounding --------------------------------------------------------------------------------- */

#define LB_ROUNDING_LIST(X)                                                                                                                \
    X(RNE, "rne", "to nearest, ties to even")                                                                                              \
    X(RNA, "rna", "to nearest, ties away from zero")                                                                                       \
    X(RNZ, "rnz", "to nearest, ties toward zero")                                                                                          \
    X(RNO, "rno", "to nearest, ties to odd")                                                                                               \
    X(RZ, "rz", "toward zero")                                                                                                             \
    X(RU, "ru", "toward +infinity")                                                                                                        \
    X(RD, "rd", "toward -infinity")                                                                                                        \
    X(RAZ, "raz", "away from zero")                                                                                                        \
    X(ODD, "odd", "inexact results get an odd last bit")                                                                                   \
    X(SR, "sr", "stochastic: up iff floor(f*2^N) + R >= 2^N, f the discarded fraction, R, N given")

typedef enum lb_rounding {
#define X(id, name, text) LB_##id,
    LB_ROUNDING_LIST(X)
#undef X
        LB_ROUNDING_COUNT
} lb_rounding;

#define LB_OVERFLOW_LIST(X)                                                                                                                \
    X(IEEE, "ieee", "as the rounding says: Inf, or the largest finite value where it rounds toward zero")                                  \
    X(INF, "inf", "always Inf, as matrix units do")                                                                                        \
    X(SATURATE, "saturate", "largest finite value, also for an Inf input; NaN kept")                                                       \
    X(SATURATE_PROPAGATE, "saturate_propagate", "largest finite value; an Inf input stays Inf")                                            \
    X(NAN, "nan", "NaN")                                                                                                                   \
    X(WRAP, "wrap", "integers only: modulo 2^bits")

typedef enum lb_overflow {
#define X(id, name, text) LB_OVERFLOW_##id,
    LB_OVERFLOW_LIST(X)
#undef X
        LB_OVERFLOW_COUNT
} lb_overflow;

typedef enum lb_flush { LB_FLUSH_NONE, LB_FLUSH_KEEP_SIGN, LB_FLUSH_TO_POSITIVE } lb_flush;

/** How to encode; {0} is IEEE 754: nearest even, overflow to Inf, subnormals kept. */
typedef struct lb_encoding {
    lb_rounding rounding;
    lb_overflow overflow;
    lb_flush flush;       /* of a result that is subnormal after rounding */
    unsigned random_bits; /* SR: N, 1..32 */
    uint32_t random;      /* SR: R in [0, 2^N), the caller's */
} lb_encoding;

enum { LB_INEXACT = 1, LB_UNDERFLOW = 2, LB_OVERFLOWED = 4, LB_INVALID = 8 };

/** Code of v in f, rounded once.
 *  A format without Inf turns Inf (input or overflow under ieee, inf) into NaN, or into its largest finite value where it has no
 *  NaN either; a format without NaN turns NaN into its largest finite value with LB_INVALID (integers: 0). A format without
 *  sign gives its least code for negative values, with LB_INVALID. e8m0 has no zero: zero gives code 0 with LB_UNDERFLOW.
 *  NaN comes out canonical: quiet, positive, top mantissa bit (f32 7fc00000, f16 7e00, e4m3 7f, fnuz 80).
 *  units    flags, if not NULL, gets the or of LB_INEXACT...
 *  accuracy correctly rounded, one rounding
 *  threads  pure */
uint64_t lb_encode(const lb_format *f, lb_value v, const lb_encoding *how, unsigned *flags);

/** Code of a double, nearest even, overflow to Inf. threads pure */
uint64_t lb_from_double(const lb_format *f, double x);

/** Flush a subnormal code to zero. threads pure */
uint64_t lb_flush_code(const lb_format *f, uint64_t code, lb_flush flush);

/** Largest finite code and least positive code of f; +Inf and canonical NaN codes, false if f has none. threads pure */
uint64_t lb_max_code(const lb_format *f);
uint64_t lb_min_code(const lb_format *f);
bool lb_inf_code(const lb_format *f, uint64_t *code);
bool lb_nan_code(const lb_format *f, uint64_t *code);

/* ---- ordinals ----------------------------------------------------------------------------------------------- */

/** Place of a code on the number line: neighbours differ by 1, +0 and -0 are both 0, Inf is one past the largest finite value.
 *  NaN has no place: INT64_MAX is returned; test the class first. tf32 counts its own steps (low bits ignored). threads pure */
int64_t lb_ordinal(const lb_format *f, uint64_t code);

/** |ordinal(a) - ordinal(b)|, which cannot overflow; UINT64_MAX if either is NaN. threads pure */
uint64_t lb_ulp_distance(const lb_format *f, uint64_t a, uint64_t b);

/* ---- block-scaled formats ----------------------------------------------------------------------------------- */

typedef enum lb_scale_rule {
    LB_SCALE_FLOOR, /* OCP MX: 2^(floor(log2 amax) - emax) */
    LB_SCALE_CEIL,  /* NVIDIA: least power of two with amax / scale <= max finite */
    LB_SCALE_EVEN,  /* amax rounded to the element's mantissa first, then floor */
    LB_SCALE_AMAX   /* nvfp4: amax / max finite, to nearest even in the scale format, saturating */
} lb_scale_rule;

typedef struct lb_block_format {
    const char *name; /* "mxfp8_e4m3" */
    lb_format_id element, scale;
    int size;           /* elements that share a scale */
    lb_scale_rule rule; /* the format's own rule */
    const char *source, *note;
} lb_block_format;

/** Row number i in table order; NULL past the end. threads pure */
const lb_block_format *lb_block_format_row(size_t i);
const lb_block_format *lb_block_format_find(const char *name);

/** Quantise one block: x[count] doubles, count <= f->size, to codes[count] and *scale_code.
 *  Elements are x / scale, divided exactly and rounded once as `how` says (NULL: nearest even, saturate; one draw serves the block).
 *  mxint8 stays symmetric: -127 stands for -128.
 *  The scale saturates at both ends of its format: a tiny block gets the least e8m0, a huge one the largest and its elements overflow.
 *  A ue4m3 scale may round to zero; a block of zeros has the least e8m0 or a zero ue4m3. Elements of a zero scale are zeros with their
 *  signs. NaN or Inf in x: the scale is NaN and every element code 0.
 *  accuracy one rounding of the scale, one of each element
 *  errors   LB_E_ARG if count is 0 or above f->size; then nothing is written
 *  threads  pure */
lb_status lb_block_encode(const lb_block_format *f, lb_scale_rule rule, const double *x, size_t count, const lb_encoding *how,
                          uint8_t *codes, uint8_t *scale_code, lb_error *err);

/** Value of one element of a block: decode(code) * decode(scale); NaN if the scale is NaN. accuracy exact. threads pure */
double lb_block_decode(const lb_block_format *f, uint8_t code, uint8_t scale_code);

/** lb_block_encode of each block along the rows of x: blocks of f->size, the last of a row maybe shorter.
 *  shapes   x [rows][cols]; codes [rows][cols]; scales [rows][(cols + size - 1) / size]
 *  errors   LB_E_ARG as lb_block_encode. threads pure */
lb_status lb_block_encode_rows(const lb_block_format *f, lb_scale_rule rule, const double *x, size_t rows, size_t cols,
                               const lb_encoding *how, uint8_t *codes, uint8_t *scales, lb_error *err);

/** Values of codes [rows][cols] under scales [rows][(cols + size - 1) / size], into x [rows][cols]. accuracy exact. threads pure */
void lb_block_decode_rows(const lb_block_format *f, const uint8_t *codes, const uint8_t *scales, size_t rows, size_t cols, double *x);

/* ---- matrices of codes -------------------------------------------------------------------------------------- */

/** A view of codes in the caller's memory: element (r, c) lies r*row_stride + c*col_stride elements after codes. */
typedef struct lb_mat {
    const lb_format *format;
    void *codes; /* format->bytes each; inputs are only read */
    size_t rows, cols;
    ptrdiff_t row_stride, col_stride;
} lb_mat;

/** Row-major view of codes[rows][cols]. threads pure */
lb_mat lb_mat_of(const lb_format *format, const void *codes, size_t rows, size_t cols);
lb_mat lb_mat_transposed(lb_mat m);

/** Each code of `from` rounded once, to nearest even with overflow to Inf, to the format of `to`; the shapes must agree. threads pure */
void lb_mat_round(const lb_mat *from, lb_mat *to);

/** Each code of `from` rounded once to the format of `to`, as `how` says (NULL: as lb_mat_round).
 *  shapes   random [rows][cols]: one draw an element under SR, in place of how->random; or NULL
 *  units    flags, if not NULL, gets the or of LB_INEXACT... over all elements
 *  accuracy correctly rounded, one rounding
 *  errors   LB_E_SHAPE; LB_E_ARG for SR without 1 to 32 random bits; then nothing is written
 *  threads  pure */
lb_status lb_mat_encode(const lb_mat *from, lb_mat *to, const lb_encoding *how, const uint32_t *random, unsigned *flags, lb_error *err);

/** The same values in the format of `to`; refused where a value has no code there. NaN comes out canonical.
 *  errors  LB_E_FORMAT with the first element that has none, LB_E_SHAPE; `to` may then be written in part
 *  threads pure */
lb_status lb_mat_convert(const lb_mat *from, lb_mat *to, const char *place, lb_error *err);

/** Whether each code has only bits that its format has. errors LB_E_FORMAT with the first that has others. threads pure */
lb_status lb_mat_check(const lb_mat *m, const char *place, lb_error *err);

static inline uint64_t lb_load_code(const void *p, int bytes) {
    switch (bytes) {
    case 1: return *(const uint8_t *)p;
    case 2: return *(const uint16_t *)p;
    case 4: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

static inline void lb_store_code(void *p, int bytes, uint64_t code) {
    switch (bytes) {
    case 1: *(uint8_t *)p = (uint8_t)code; break;
    case 2: *(uint16_t *)p = (uint16_t)code; break;
    case 4: *(uint32_t *)p = (uint32_t)code; break;
    default: *(uint64_t *)p = code; break;
    }
}

static inline void *lb_mat_at(const lb_mat *m, size_t r, size_t c) {
    return (char *)m->codes + ((ptrdiff_t)r * m->row_stride + (ptrdiff_t)c * m->col_stride) * m->format->bytes;
}

static inline uint64_t lb_mat_code(const lb_mat *m, size_t r, size_t c) {
    return lb_load_code(lb_mat_at(m, r, c), m->format->bytes);
}

#ifdef __cplusplus
}
#endif
#endif
