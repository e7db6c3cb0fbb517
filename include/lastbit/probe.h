/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which arithmetic explains what a unit answered, and which inputs would tell two explanations apart. */
#ifndef LASTBIT_PROBE_H
#define LASTBIT_PROBE_H

#include "lastbit/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- candidates ------------------------------------------------------------------------------------------------- */

/* One parameter a row: field, name, the names of its values (NULL: a number), what it is. */
#define LB_CANDIDATE_LIST(X)                                                                                                               \
    X(terms, "terms", NULL, "products per block")                                                                                          \
    X(frac_bits, "frac_bits", NULL, "fraction bits kept below the largest exponent")                                                       \
    X(align, "align", "rz rd rne", "how alignment cuts: toward zero, down, to nearest even")                                               \
    X(c_joins, "c", "with last ignored", "where c joins: with the products, added last to nearest even, never")                            \
    X(product, "product", "raw normalized", "the exponent of a product: ea + eb, or one more where the significand is 2 or above")         \
    X(round, "round", "rz rne ru rd", "the rounding of each block")                                                                        \
    X(out_bits, "out_bits", NULL, "fraction bits of each block's result")                                                                  \
    X(order, "order", "ascending halves", "products in ascending k, or k mod 4 in {0,1} before {2,3}")                                     \
    X(floor_exp, "floor_exp", NULL, "least exponent that aligns a block (D1); none")                                                       \
    X(zero_products, "zero_products", "ignored counted", "whether a zero product takes part in the largest exponent (D2)")                 \
    X(c_exponent, "c_exponent", "clamped normalized", "the exponent of a subnormal c (D3)")                                                \
    X(overflow, "overflow", "inf max", "a result beyond the largest: Inf, or the largest finite value (D4)")                               \
    X(underflow, "underflow", "signed positive", "the sign of a result that rounds to zero (D5)")                                          \
    X(nan, "nan", "ones quiet", "NaN: all ones below the sign, or the quiet bit alone (D6)")

/** A truncated fused dot-product-add with everything that sources disagree about as a parameter. Plain data. */
typedef struct lb_candidate {
#define X(field, name, values, text) int field;
    LB_CANDIDATE_LIST(X)
#undef X
} lb_candidate;

enum {
#define X(field, name, values, text) LB_CANDIDATE_##field,
    LB_CANDIDATE_LIST(X)
#undef X
        LB_CANDIDATE_PARAMETERS
};

/** Name of parameter i of LB_CANDIDATE_LIST and what it is; NULL past the end. threads pure */
const char *lb_candidate_name(size_t i);
const char *lb_candidate_what(size_t i);

/** Value of parameter i, and its text ("8", "rz", "none") into text[24]. threads pure */
int lb_candidate_get(const lb_candidate *c, size_t i);
void lb_candidate_value_text(size_t i, int value, char *text);

/** The candidate that a row is. errors LB_E_UNAVAILABLE for an open row, LB_E_FORMAT for a path that is no truncated one */
lb_status lb_candidate_of(const lb_unit *u, lb_candidate *out, lb_error *err);

/** What the candidate gives for one K step of u: d = c + sum a[i]*b[i].
 *  shapes   a, b [count] codes in the unit's formats, count <= u->k and <= 256
 *  accuracy by definition; equals lb_unit_dot for lb_candidate_of(u)
 *  errors   LB_E_SHAPE, LB_E_FORMAT, LB_E_ARG for parameters that 63 bits do not hold. threads pure */
lb_status lb_candidate_dot(const lb_candidate *x, const lb_unit *u, const uint32_t *a, const uint32_t *b, size_t count, uint32_t c,
                           uint32_t *d, lb_error *err);

/* ---- fit: which of them explain a recording ------------------------------------------------------------------------ */

typedef struct lb_fit_share {
    lb_candidate candidate;
    uint64_t words; /* that it gives */
} lb_fit_share;

/* What the recording says about one parameter. */
typedef struct lb_fit_parameter {
    const char *name;
    int *values; /* [count]: those of the candidates that give every word, ascending */
    size_t count;
    bool all;            /* every value that was tried is among them */
    bool has_next;       /* the best candidate with another value: */
    int next;            /* that value, */
    uint64_t next_words; /* and how many words it gives */
} lb_fit_parameter;

typedef struct lb_fit_named {
    char *name;
    uint64_t words;
} lb_fit_named;

typedef struct lb_recording_fit {
    char *path, *unit;
    uint64_t words, tried; /* in the recording; candidates */
    lb_fit_share *explain; /* [explain_count] candidates that give every word */
    size_t explain_count;
    lb_fit_share best_other; /* the best of the rest */
    lb_fit_parameter parameters[LB_CANDIDATE_PARAMETERS];
    lb_fit_named *rows; /* [row_count] rows of the unit table with the same formats, best first */
    size_t row_count;
    lb_fit_named *rules; /* [rule_count] plain rules that people guess: a chain of f32 FMAs, … */
    size_t rule_count;
} lb_recording_fit;

/** Score every candidate on a dot/1 recording, or on a request that was answered.
 *  errors LB_E_FILE if it is no recording or has no answers, LB_E_FORMAT for formats without a truncated unit, LB_E_MEMORY
 *  memory *out is the caller's, lb_recording_fit_close. threads pure */
lb_status lb_fit_recording(const char *path, void (*progress)(void *user, const char *stage, double fraction), void *user,
                           lb_recording_fit **out, lb_error *err);
void lb_recording_fit_close(lb_recording_fit *f); /* NULL is fine */

/* ---- decide: the inputs that tell candidates apart ------------------------------------------------------------------ */

typedef struct lb_question {
    lb_candidate other; /* what the unit's row is compared with: it differs in one parameter */
    size_t parameter;   /* which */
    bool found;         /* false: no input was found that tells them apart */
    uint32_t *a, *b;    /* [k] codes */
    uint32_t c;
    size_t terms;                  /* products that are not zero */
    uint32_t row_code, other_code; /* what each gives */
} lb_question;

typedef struct lb_decision {
    lb_unit unit;
    lb_candidate row;
    lb_question *questions; /* [count] */
    size_t count;
} lb_decision;

/** For each way in which the row could be otherwise, the smallest input that would show it: fewest products, then fewest bits.
 *  tries: inputs tried a question (0: 400000). errors as lb_candidate_of. memory *out is the caller's, lb_decision_close. threads pure */
lb_status lb_decide(const lb_unit *u, uint64_t seed, uint64_t tries, lb_decision **out, lb_error *err);
void lb_decision_close(lb_decision *d); /* NULL is fine */

/** Write the questions as a request: a dot/1 recording without d, which `lastbit capture` answers and lb_fit_recording reads then.
 *  errors LB_E_ARG if nothing was found, LB_E_FILE */
lb_status lb_decision_write(const lb_decision *d, const char *path, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
