/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second opinion on number formats, in MPFR: its own table, typed by hand, and values instead of bit fields.
 * Shares no code with src/. A format is looked up by name; NULL means that its row here is still missing. */
#ifndef ORACLE_FORMAT_MPFR_H
#define ORACLE_FORMAT_MPFR_H

#include <stdbool.h>
#include <stdint.h>

#include <mpfr.h>

typedef enum oracle_kind { O_IEEE, O_TOP_NAN, O_FNUZ, O_FINITE, O_POWERS, O_INTEGER } oracle_kind;

enum { O_NO_CODE = -1 };

typedef struct oracle_format {
    const char *name;
    int bits, sign, exp, man, bias, pad;
    oracle_kind kind;
    int64_t max, inf, nan; /* codes; O_NO_CODE where the format has none */
} oracle_format;

typedef enum oracle_mode { O_RNE, O_RNA, O_RNZ, O_RNO, O_RZ, O_RU, O_RD, O_RAZ, O_ODD, O_SR } oracle_mode;
typedef enum oracle_over { O_OVER_IEEE, O_OVER_INF, O_OVER_SAT, O_OVER_SAT_KEEP_INF, O_OVER_NAN, O_OVER_WRAP } oracle_over;
typedef enum oracle_flush { O_KEEP, O_FLUSH_SIGNED, O_FLUSH_POSITIVE } oracle_flush;

typedef struct oracle_rule {
    oracle_mode mode;
    oracle_over over;
    oracle_flush flush;
    unsigned n; /* stochastic: bits */
    uint64_t r; /* stochastic: the draw */
} oracle_rule;

/* Where a value stands between two multiples of the last place: |x| = (n + fraction) * 2^q. */
typedef struct oracle_place {
    enum { O_IS_ZERO, O_IS_FINITE, O_IS_INF, O_IS_NAN } is;
    bool negative, far; /* far: an integer that 62 bits do not hold; n is modulo 2^64 */
    uint64_t n;
    long q;
    int side;        /* of the fraction: 0 none, 1 below half, 2 half, 3 above half */
    uint64_t draw32; /* floor(fraction * 2^32) */
} oracle_place;

const oracle_format *oracle_format_named(const char *name);

/** x, of at least 53 bits, becomes the value of code: a number, a zero with its sign, Inf or NaN. */
void oracle_value(const oracle_format *f, uint64_t code, mpfr_t x);

/** The place of x in f; then its code under a rule. One place serves many rules. */
oracle_place oracle_place_of(const oracle_format *f, mpfr_srcptr x);
uint64_t oracle_code(const oracle_format *f, const oracle_place *p, const oracle_rule *rule);

/** Both at once. */
uint64_t oracle_encode(const oracle_format *f, mpfr_srcptr x, const oracle_rule *rule);

#endif
