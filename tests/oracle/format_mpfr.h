/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second opinion on number formats: values by MPFR, parameters typed by hand from the formats' documents, no code of src/. */
#ifndef ORACLE_FORMAT_MPFR_H
#define ORACLE_FORMAT_MPFR_H

#include <mpfr.h>

typedef struct oracle_format {
    int line; /* of the row */
    const char *name;
    int bits, has_sign, man_bits, emin; /* emin: exponent of the least normal value */
    char kind;                          /* 'i' IEEE, 't' NaN at the top, 'z' fnuz, 'n' neither, 'p' powers of two */
    double max, min_normal, min_subnormal;
    int inf_code, nan_code; /* -1: none */
} oracle_format;

/** Row i; name NULL past the end. */
const oracle_format *oracle_format_row(int i);

/** Value of a code, NaN and Inf included. */
double oracle_decode(const oracle_format *f, unsigned code);

/** x rounded to f, as a value; mode is one of "rne rna rnz rno rz ru rd raz odd". Beyond the largest finite value: that value, or
 *  Inf with x's sign, as IEEE 754 has it for the mode. */
double oracle_round(const oracle_format *f, mpfr_t x, const char *mode);

#endif
