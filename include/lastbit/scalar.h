/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One GPU operation at a time, by its PTX spelling: its exact meaning in integers, as rows (src/scalar/scalar.def). Operations of a whole
 * warp take 32 lanes. Approximate operations have a documented bound and special values, and are graded by them: nobody knows their
 * bits. docs/scalar.md */
#ifndef LASTBIT_SCALAR_H
#define LASTBIT_SCALAR_H

#include "lastbit/formats.h"
#include "lastbit/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a word of an operand holds; x2: two of them, the first in the low half. */
#define LB_WORD_LIST(X)                                                                                                                    \
    X(F64, "f64", 64, 1, LB_F64)                                                                                                           \
    X(F32, "f32", 32, 1, LB_F32)                                                                                                           \
    X(F16, "f16", 16, 1, LB_F16)                                                                                                           \
    X(BF16, "bf16", 16, 1, LB_BF16)                                                                                                        \
    X(F16X2, "f16x2", 32, 2, LB_F16)                                                                                                       \
    X(BF16X2, "bf16x2", 32, 2, LB_BF16)                                                                                                    \
    X(S8, "s8", 8, 1, -1)                                                                                                                  \
    X(U8, "u8", 8, 1, -1)                                                                                                                  \
    X(B8, "b8", 8, 1, -1)                                                                                                                  \
    X(S16, "s16", 16, 1, -1)                                                                                                               \
    X(U16, "u16", 16, 1, -1)                                                                                                               \
    X(B16, "b16", 16, 1, -1)                                                                                                               \
    X(S32, "s32", 32, 1, -1)                                                                                                               \
    X(U32, "u32", 32, 1, -1)                                                                                                               \
    X(B32, "b32", 32, 1, -1)                                                                                                               \
    X(S64, "s64", 64, 1, -1)                                                                                                               \
    X(U64, "u64", 64, 1, -1)                                                                                                               \
    X(B64, "b64", 64, 1, -1)

typedef enum lb_word {
#define X(id, name, bits, parts, format) LB_WORD_##id,
    LB_WORD_LIST(X)
#undef X
        LB_WORD_COUNT
} lb_word;

/** Name of a kind of words ("f16x2"), its bits, how many values it holds, and their number format (NULL: integers or plain bits). Out of
 *  range: "?", 0, 0, NULL. threads pure */
const char *lb_word_name(lb_word w);
int lb_word_bits(lb_word w);
int lb_word_parts(lb_word w);
const lb_format *lb_word_format(lb_word w);

#define LB_SCALAR_CLASS_LIST(X)                                                                                                            \
    X(EXACT, "E", "exact by IEEE 754 or by the definition of integers")                                                                    \
    X(DOCUMENT, "D", "exact by the document and a convention of the platform")                                                             \
    X(SEQUENCE, "E*", "correctly rounded by a sequence of instructions")                                                                   \
    X(APPROXIMATE, "A", "within a documented bound; the bits are not documented")                                                          \
    X(MATRIX, "H", "the sum of a matrix unit")

typedef enum lb_scalar_class {
#define X(id, name, text) LB_SCALAR_##id,
    LB_SCALAR_CLASS_LIST(X)
#undef X
        LB_SCALAR_CLASS_COUNT
} lb_scalar_class;

/** "E", "D", "E*", "A", "H", and what it means; "?" if out of range. threads pure */
const char *lb_scalar_class_name(lb_scalar_class c);
const char *lb_scalar_class_text(lb_scalar_class c);

enum { LB_SCALAR_MAX_IN = 10, LB_SCALAR_MAX_OUT = 4, LB_WARP_LANES = 32 };

typedef struct lb_scalar_op {
    const char *name; /* "fma_rz_f32" */
    const char *ptx;  /* "fma.rz.f32 %o0,%i0,%i1,%i2;" with predicates p0, p1 */
    lb_scalar_class cls;
    int ins, outs;
    lb_word in[LB_SCALAR_MAX_IN], out[LB_SCALAR_MAX_OUT];
    bool warp;          /* takes the 32 lanes of a warp together */
    const char *target; /* the least target that has it, "sm_80"; all with 8x run on sm_87 */
    lb_evidence evidence;
    const char *source;               /* keys in docs/sources.md */
    const char *bound;                /* of class A, in words; else "" */
    double max_ulp, max_rel, max_abs; /* the same in numbers; 0: not that one */
    const char *open;                 /* what no document settles, and what was chosen; "" if nothing */
    unsigned index;                   /* of the row */
} lb_scalar_op;

/** Row i in table order, NULL past the end. threads pure */
const lb_scalar_op *lb_scalar_row(size_t i);

/** Find an operation by its name ("fma_rz_f32"), its PTX spelling ("fma.rz.f32") or its whole PTX text; "op:" before it is passed over.
 *  errors LB_E_NAME, naming the nearest. threads pure */
lb_status lb_scalar_find(const char *name, const lb_scalar_op **out, lb_error *err);

/** One lane: out[op->outs] from in[op->ins], words right-aligned; what is above a word's bits is passed over on input and zero on output.
 *  accuracy bit-exact by definition; class A: the true value rounded once, where the document has no special value
 *  errors   LB_E_ARG for an operation of a whole warp. threads pure */
lb_status lb_scalar_eval(const lb_scalar_op *op, const uint64_t *in, uint64_t *out, lb_error *err);

/** One warp: in [32][ins], out [32][outs]; operations of one lane are done lane by lane.
 *  errors LB_E_MEMORY, and those of lb_warp_mma; nothing is written then. threads pure */
lb_status lb_scalar_eval_warp(const lb_scalar_op *op, const uint64_t *in, uint64_t *out, lb_error *err);

/** Many rows: in [rows][ins], out [rows][outs]; an operation of a whole warp takes 32 consecutive rows at a time.
 *  errors LB_E_SHAPE if rows is then no multiple of 32; those of lb_scalar_eval_warp. threads pure */
lb_status lb_scalar_eval_rows(const lb_scalar_op *op, size_t rows, const uint64_t *in, uint64_t *out, lb_error *err);

#define LB_SCALAR_GRADE_LIST(X)                                                                                                            \
    X(SAME, "exact", "the model's bits")                                                                                                   \
    X(ALLOWED, "allowed", "inside the documented bound, or bits that the document leaves open")                                            \
    X(WRONG, "wrong", "neither")                                                                                                           \
    X(UNJUDGED, "unjudged", "the document says nothing of the result for these inputs")

typedef enum lb_scalar_grade_of {
#define X(id, name, text) LB_SCALAR_GRADE_##id,
    LB_SCALAR_GRADE_LIST(X)
#undef X
        LB_SCALAR_GRADE_COUNT
} lb_scalar_grade_of;

/** "exact", "allowed", "wrong", "unjudged"; "?" if out of range. threads pure */
const char *lb_scalar_grade_name(lb_scalar_grade_of g);

/** Grade word `got` of output number `o`, given the lane's inputs and the model's word there. threads pure */
lb_scalar_grade_of lb_scalar_grade(const lb_scalar_op *op, const uint64_t *in, int o, uint64_t model, uint64_t got);

/** Text of a word: "0x36300007 (0x1.60000ep-19)"; both halves of a packed one. Cut to fit size. threads pure */
void lb_scalar_text(lb_word w, uint64_t word, char *text, size_t size);

/** Word number `row` of input number `input`, of a kind, in the rows that every operation is recorded with: 576 rows cross boundary
 *  values, then 448 are drawn from `seed`; beyond 1024 all are drawn. threads pure. accuracy the same on every machine */
uint64_t lb_scalar_input(lb_word w, int input, uint64_t seed, uint64_t row);

enum { LB_OP_ROWS = 1024 };

#ifdef __cplusplus
}
#endif
#endif
