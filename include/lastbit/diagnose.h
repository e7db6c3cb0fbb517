/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is wrong with an output: one sentence with its evidence, or nothing; and where the error of one element comes from. */
#ifndef LASTBIT_DIAGNOSE_H
#define LASTBIT_DIAGNOSE_H

#include "lastbit/contracts.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The faults that can be named, in the order in which they are tried: id, name, what it says. */
#define LB_CAUSE_LIST(X)                                                                                                                   \
    X(UNWRITTEN, "unwritten", "elements still hold the poison that the output began as")                                                   \
    X(STALE, "stale", "elements hold what the buffer held before")                                                                         \
    X(ZEROED, "zeroed", "every wrong element is zero")                                                                                     \
    X(CONSTANT, "constant", "every wrong element holds one and the same code")                                                             \
    X(NAN_ADDED, "nan", "NaN where the reference has none: one row, one column, or scattered")                                             \
    X(NAN_LOST, "nan-lost", "a NaN or Inf of the reference is missing; with its operand's place")                                          \
    X(OVERFLOW_EARLY, "overflow", "Inf from a magnitude on: a format with a smaller range in between")                                     \
    X(SATURATED, "saturated", "magnitudes stop at the largest value of a format")                                                          \
    X(BYTE_ORDER, "byte-order", "the bytes of each element are swapped")                                                                   \
    X(STUCK_BIT, "bit", "one bit of the output is always set, always clear or flipped")                                                    \
    X(NEGATED, "negated", "the sign is wrong throughout")                                                                                  \
    X(SCALE, "scale", "a power of two or another constant factor")                                                                         \
    X(C_MISSING, "c-missing", "C was not added")                                                                                           \
    X(C_TWICE, "c-twice", "C was added twice")                                                                                             \
    X(C_SIGN, "c-sign", "C was subtracted")                                                                                                \
    X(C_FACTOR, "c-factor", "C enters with another factor (beta)")                                                                         \
    X(AB_MISSING, "ab-missing", "the output is C alone")                                                                                   \
    X(AB_FACTOR, "ab-factor", "A B enters with another factor (alpha), C with its own")                                                    \
    X(C_TRANSPOSED, "c-transposed", "C was read transposed")                                                                               \
    X(OFFSET, "offset", "a constant was added")                                                                                            \
    X(RELU, "relu", "negative results are zero")                                                                                           \
    X(ABSOLUTE, "absolute", "signs are lost")                                                                                              \
    X(TRANSPOSED_D, "transposed-d", "the output is transposed, or written column by column")                                               \
    X(TRANSPOSED_TILE, "transposed-tile", "each square tile of the output is transposed")                                                  \
    X(LINES_COPIED, "copied", "rows or columns hold what belongs to one other row or column")                                              \
    X(LINES_SWAPPED, "swapped", "two rows or columns are exchanged, or all of them in pairs")                                              \
    X(LINES_SHIFTED, "shifted", "rows or columns hold what belongs a fixed distance away: a wrong offset")                                 \
    X(LINES_PERMUTED, "permuted", "rows or columns are reversed, repeated or otherwise out of order")                                      \
    X(TILE_SHIFTED, "tile-shifted", "a tile holds what belongs elsewhere, both rows and columns away")                                     \
    X(LEADING, "leading-dimension", "rows were written with another leading dimension")                                                    \
    X(K_MISSING, "k-missing", "parts of K are missing: a block, a stride, the tail")                                                       \
    X(K_DOUBLED, "k-doubled", "parts of K are counted more than once")                                                                     \
    X(K_REPLACED, "k-replaced", "some parts of K are missing and others counted more than once")                                           \
    X(K_FACTOR, "k-factor", "parts of K enter with a factor: the scale of a group")                                                        \
    X(OPERAND_TRANSPOSED, "operand-transposed", "A or B was read in the other storage order")                                              \
    X(OPERAND_PERMUTED, "operand-permuted", "k of A or B reads k xor a mask: swapped neighbours or halves")                                \
    X(OPERAND_SHIFTED, "operand-shifted", "k of A or B reads k plus an offset")                                                            \
    X(OPERAND_REPEATED, "operand-repeated", "the first part of K of A or B is read again: a wrong half-offset")                            \
    X(OPERAND_MISREAD, "operand-misread", "A's or B's codes were read as another format")                                                  \
    X(OPERAND_ROUNDED, "operand-rounded", "A or B or both were rounded to a shorter format first")                                         \
    X(OPERAND_FLUSHED, "operand-flushed", "subnormals of A or B were taken as zero")                                                       \
    X(LINES_SCALED, "line-scale", "rows or columns have a factor each, maybe in groups")                                                   \
    X(OUTPUT_FLUSHED, "output-flushed", "subnormal results are zero")                                                                      \
    X(OUTPUT_ROUNDING, "output-rounding", "the output was rounded in another direction than to nearest even")                              \
    X(DOUBLE_ROUNDING, "double-rounding", "the result was rounded to another format on its way to the output")                             \
    X(PARTIALS, "rounded-partials", "sums of slices of K were rounded to a short format before they were added")                           \
    X(CHAIN, "accumulator", "a plain chain of additions in a format, in ascending k")                                                      \
    X(OTHER_UNIT, "other-unit", "the bits of another unit or of a variant with a narrower accumulator")                                    \
    X(PLACE, "place", "only a rectangle, tile or stride is wrong, wholly; what fills it is unexplained")

typedef enum lb_cause {
    LB_CAUSE_NONE, /* unexplained */
#define X(id, name, text) LB_CAUSE_##id,
    LB_CAUSE_LIST(X)
#undef X
        LB_CAUSE_COUNT
} lb_cause;

/** Name of a cause ("k-missing") and what it says; "" and "unexplained" for LB_CAUSE_NONE, NULL out of range. threads pure */
const char *lb_cause_name(lb_cause cause);
const char *lb_cause_what(lb_cause cause);

typedef struct lb_diagnose_options {
    lb_case x;                           /* operands and output format */
    lb_mat actual, reference;            /* [m][n] in x.out: the output; what it should be, rounded */
    const lb_mat *exact;                 /* the unit's output, or NULL */
    const lb_unit *unit;                 /* of exact, or NULL */
    const lb_contract *contract;         /* what other bits are legal; NULL: as m16-tc */
    const lb_mat *previous;              /* what the buffer held before, or NULL */
    bool has_poison;                     /* the output began as `poison` */
    uint64_t poison;                     /*  */
    const size_t *row_index, *col_index; /* places in the whole output to report, ascending; NULL: as they are */
    uint64_t seed;                       /* of the elements that are looked at */
    double seconds;                      /* no new hypothesis is begun after this long; 0: 1.5 */
} lb_diagnose_options;

typedef struct lb_diagnosis {
    lb_cause cause;
    char sentence[128];         /* with its evidence; "" where unexplained */
    uint64_t wrong;             /* elements that are wrong */
    uint64_t looked, explained; /* wrong elements that the hypothesis was tried on, and those that it gives */
} lb_diagnosis;

/** Find the one hypothesis that gives the wrong elements and leaves the others as they are.
 *  A hypothesis is named if it gives at least 99 % of the wrong elements looked at (legal under the contract, or their very bits), keeps 99 %
 *  of the others legal, halves the distance at least, and could not have done so by chance; the closest of those wins, the earlier in
 *  the list unless a later one is twice as close.
 *  errors  LB_E_SHAPE, LB_E_FORMAT, LB_E_MEMORY
 *  memory  2 bytes an element, and about 2400 (rows + columns) of the operands as doubles
 *  threads pure */
lb_status lb_diagnose(const lb_diagnose_options *o, lb_diagnosis *out, lb_error *err);

/* ---- where the error of one element comes from -------------------------------------------------------------------- */

#define LB_LEDGER_LIST(X)                                                                                                                  \
    X(INPUTS, "inputs", "rounding of wider operands to those given")                                                                       \
    X(PRODUCTS, "products", "rounding of single products: none, in the units here and in the reference")                                   \
    X(ACCUMULATION, "accumulation", "cuts and roundings of the unit, in its own order")                                                    \
    X(OUTPUT, "output", "the rounding to the output format")                                                                               \
    X(UNEXPLAINED, "unexplained", "what is left")

enum {
#define X(id, name, text) LB_LEDGER_##id,
    LB_LEDGER_LIST(X)
#undef X
        LB_LEDGER_COUNT
};

const char *lb_ledger_name(size_t i); /* NULL past the end */
const char *lb_ledger_what(size_t i);

typedef struct lb_ledger {
    size_t row, col;
    double truth;                  /* the exact sum of the widest operands given, to the nearest double */
    double actual;                 /* the element */
    double entry[LB_LEDGER_COUNT]; /* actual - truth as a sum; each entry is the difference of two values, rounded once */
    double total;                  /* actual - truth */
    double step;                   /* one ULP of the output format at the correctly rounded value */
    bool has_unit;                 /* accumulation is the unit's; else it is part of unexplained */
} lb_ledger;

/** The ledger of element (row, col) of x, which holds `actual`.
 *  wide_a, wide_b: operands before they were rounded to x->a, x->b ([m][k]; [k][n], or [n][k] where b_transposed), or NULL. unit may be NULL.
 *  errors LB_E_SHAPE, LB_E_FORMAT (operands that the unit does not take), LB_E_ARG if a value there is NaN or Inf, LB_E_MEMORY
 *  threads pure */
lb_status lb_error_ledger(const lb_case *x, const lb_mat *wide_a, const lb_mat *wide_b, const lb_unit *unit, size_t row, size_t col,
                          uint64_t actual, lb_ledger *out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
