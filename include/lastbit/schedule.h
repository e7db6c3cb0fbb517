/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a kernel cuts a product up around its matrix instruction: the order of K, the parts that K is split into and how they are added,
 * promotion to f32, the epilogue. Two kernels with one instruction and two schedules give different bits; docs/schedules.md. */
#ifndef LASTBIT_SCHEDULE_H
#define LASTBIT_SCHEDULE_H

#include "lastbit/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each list is: id, the word of the text form, what it means. The first of each is what {0} means. */

#define LB_K_ORDER_LIST(X)                                                                                                                 \
    X(ASCENDING, "ascending", "tiles of K from first to last")                                                                             \
    X(DESCENDING, "descending", "tiles of K from last to first; within a tile always ascending")

#define LB_K_DIVIDE_LIST(X)                                                                                                                \
    X(CEIL, "ceil", "each part takes ceil(tiles / parts) tiles that follow each other; the last ones what is left, maybe none")            \
    X(EVEN, "even", "tiles that follow each other, floor(tiles / parts) each; the first tiles % parts of them take one more")              \
    X(DEALT, "dealt", "tile t goes to part t mod parts, as cards are dealt")

#define LB_K_REDUCE_LIST(X)                                                                                                                \
    X(ASCENDING, "ascending", "((p0 + p1) + p2) + …")                                                                                      \
    X(DESCENDING, "descending", "((p[n-1] + p[n-2]) + …) + p0")                                                                            \
    X(TREE, "tree", "neighbours first: p0 + p1, p2 + p3, …, then the sums likewise; an odd one out waits")                                 \
    X(HALVES, "halves", "p[i] + p[i + ceil(n/2)], then likewise, as shuffles across a warp add")                                           \
    X(SLOTS, "slots", "h = ceil(n/2), s[i] = p[i] + p[i+h] where i + h < n - 1, else p[i]; ((p[n-1] + s0) + s1) + …")                      \
    X(ATOMIC, "atomic", "((0 + p[i]) + p[j]) + …, in the order of `arrival`; without one in any, and the result is one of a set")

#define LB_K_TYPE_LIST(X)                                                                                                                  \
    X(F32, "f32", "kept in f32")                                                                                                           \
    X(F16, "f16", "rounded to f16")                                                                                                        \
    X(BF16, "bf16", "rounded to bf16")                                                                                                     \
    X(OUT, "out", "rounded to the output format")

#define LB_K_RAGGED_LIST(X)                                                                                                                \
    X(LAST, "last", "K that is no multiple of a tile: the last tile is short")                                                             \
    X(FIRST, "first", "the first tile of each part is short")

#define LB_K_RASTER_LIST(X)                                                                                                                \
    X(N, "n", "stream-K numbers output tiles along n first")                                                                               \
    X(M, "m", "along m first")

#define LB_C_PLACE_LIST(X)                                                                                                                 \
    X(FIRST, "first", "C is what the accumulator of the first part starts from")                                                           \
    X(LAST, "last", "C is added behind the sum over K, times beta, in f32")

#define LB_BLEND_LIST(X)                                                                                                                   \
    X(SEPARATE, "separate", "rne(rne(alpha x) + rne(beta c))")                                                                             \
    X(FMA_X, "fma-x", "fma(alpha, x, rne(beta c))")                                                                                        \
    X(FMA_C, "fma-c", "fma(beta, c, rne(alpha x))")

/* How a chain x joins the sum s with the scales a of A and b of B; fma rounds once. Behind the sum over K there is no s to join. */
#define LB_SCALING_LIST(X)                                                                                                                 \
    X(PRODUCT_FMA, "product-fma", "s = fma(rne(a b), x, s)")                                                                               \
    X(PRODUCT, "product", "s = s + rne(rne(a b) x)")                                                                                       \
    X(A_FIRST, "a-first", "s = s + rne(rne(x a) b)")                                                                                       \
    X(A_FIRST_FMA, "a-first-fma", "s = fma(rne(x a), b, s)")                                                                               \
    X(B_FIRST, "b-first", "s = s + rne(rne(x b) a)")                                                                                       \
    X(B_FIRST_FMA, "b-first-fma", "s = fma(rne(x b), a, s)")

/* Steps of f32, each rounded; fma rounds once, and erf, exp and tanh are rounded correctly. */
#define LB_ACTIVATION_LIST(X)                                                                                                              \
    X(NONE, "none", "x")                                                                                                                   \
    X(RELU, "relu", "x where x > 0, NaN where x is NaN, else +0")                                                                          \
    X(GELU_ERF, "gelu-erf", "(0.5 x) (1 + erf(x 0x1.6a09e6p-1))")                                                                          \
    X(GELU_TANH, "gelu-tanh", "(0.5 x) (1 + tanh(0x1.988454p-1 fma(0x1.6e4e26p-5, (x x) x, x)))")                                          \
    X(GELU_TAYLOR, "gelu-taylor", "(0.5 x) (1 + tanh((0x1.988454p-1 x) fma(0x1.6e4e26p-5 x, x, 1)))")                                      \
    X(SIGMOID, "sigmoid", "1 / (1 + exp(-x))")                                                                                             \
    X(SILU, "silu", "x / (1 + exp(-x))")

#define X(id, name, text) LB_K_##id,
typedef enum lb_k_order { LB_K_ORDER_LIST(X) LB_K_ORDER_COUNT } lb_k_order;
#undef X
#define X(id, name, text) LB_DIVIDE_##id,
typedef enum lb_k_divide { LB_K_DIVIDE_LIST(X) LB_DIVIDE_COUNT } lb_k_divide;
#undef X
#define X(id, name, text) LB_REDUCE_##id,
typedef enum lb_k_reduce { LB_K_REDUCE_LIST(X) LB_REDUCE_COUNT } lb_k_reduce;
#undef X
#define X(id, name, text) LB_TYPE_##id,
typedef enum lb_k_type { LB_K_TYPE_LIST(X) LB_TYPE_COUNT } lb_k_type;
#undef X
#define X(id, name, text) LB_RAGGED_##id,
typedef enum lb_k_ragged { LB_K_RAGGED_LIST(X) LB_RAGGED_COUNT } lb_k_ragged;
#undef X
#define X(id, name, text) LB_RASTER_##id,
typedef enum lb_k_raster { LB_K_RASTER_LIST(X) LB_RASTER_COUNT } lb_k_raster;
#undef X
#define X(id, name, text) LB_C_##id,
typedef enum lb_c_place { LB_C_PLACE_LIST(X) LB_C_PLACE_COUNT } lb_c_place;
#undef X
#define X(id, name, text) LB_BLEND_##id,
typedef enum lb_blend { LB_BLEND_LIST(X) LB_BLEND_COUNT } lb_blend;
#undef X
#define X(id, name, text) LB_SCALING_##id,
typedef enum lb_scaling { LB_SCALING_LIST(X) LB_SCALING_COUNT } lb_scaling;
#undef X
#define X(id, name, text) LB_ACTIVATION_##id,
typedef enum lb_activation { LB_ACTIVATION_LIST(X) LB_ACTIVATION_COUNT } lb_activation;
#undef X

enum {
    LB_MAX_ARRIVAL = 16, /* parts of which an order can be named */
    LB_MAX_ORDERED = 7   /* parts for which lb_fit_schedule looks for one order that gives every element */
};

/** A schedule; {0} is plain: lb_gemm's own. Plain data. All arithmetic beside the instruction is IEEE f32, single operations rounded to
 *  nearest even, subnormals kept; a NaN that they give is NVIDIA's, 7fffffff.
 *  One output element goes through these steps:
 *   1. K is cut into tiles of tile_k; split, divide (or stream_k) say which tiles are a part; order says how a part takes its tiles. A tile
 *      is padded with zeros to a multiple of the instruction's k.
 *   2. A part is one chain of the instruction from +0 (from C in the first part, where c_place is FIRST). With promote it is a chain from +0
 *      for every `promote` elements of the part's own K, each added to an f32 sum that starts from +0 (from C). With scales each is
 *      scaled as it is added.
 *   3. A part's result is rounded to `partial`; the parts are added in f32 as `reduce` says, each sum then rounded to `sum`.
 *      A part without tiles is +0. The first operand of a sum is rounded to `sum` as well.
 *   4. x is scaled, where scales came without promote; x = alpha x (+ beta c, where c_place is LAST, as `blend` says); x = x + bias; the
 *      activation.
 *   5. x is rounded to `out`, nearest even; overflow goes to Inf, or to the largest finite value with `saturate` (likewise where `partial`
 *      or `sum` is `out`). Where there is one part, neither of the two applies. */
typedef struct lb_schedule {
    lb_k_order order;
    unsigned tile_k;         /* elements of K in a tile; 0: the instruction's k, and 32 of stream-K (or k where that is more) */
    unsigned split;          /* parts; 0 and 1: one */
    unsigned stream_k;       /* not 0: so many workers share the tiles of K of all output tiles evenly (divide: ceil or even) */
    unsigned tile_m, tile_n; /* of the output, for stream-K; 0: 128 */
    lb_k_raster raster;
    lb_k_divide divide;
    lb_k_ragged ragged;
    unsigned promote; /* a multiple of the instruction's k; 0: never */
    lb_k_reduce reduce;
    uint8_t arrival[LB_MAX_ARRIVAL]; /* of ATOMIC: parts as they come in … */
    unsigned arrival_count;          /* … `split` of them; 0: any order */
    lb_k_type partial, sum;
    unsigned scale_m, scale_n; /* rows of A and columns of B that share a scale; 0: 1 and 128 */
    lb_scaling scaling;
    lb_c_place c_place;
    bool scaled;        /* alpha and beta count; else both are 1 */
    double alpha, beta; /* rounded to f32 once */
    lb_blend blend;
    lb_activation activation;
    const lb_format *out; /* NULL: the instruction's d */
    bool saturate;
    /* Operands beside A, B, C and D, which the text form leaves out: */
    const lb_mat *bias;    /* [m][n] in f32, f16 or bf16, strides of 0 where it is one row or one column; NULL: none */
    const lb_mat *scale_a; /* [ceil(m / scale_m)][ceil(k / promote)], without promote one column; NULL: 1 everywhere */
    const lb_mat *scale_b; /* [ceil(k / promote)][ceil(n / scale_n)]; f32, f16 or bf16, both or neither; batches share them */
    size_t batch;          /* products, 0 and 1: one; … */
    ptrdiff_t a_step, b_step, c_step, d_step, bias_step; /* … each so many elements behind the one before */
} lb_schedule;

/** Whether schedules run this unit: it takes A, B and C alone and accumulates in f32 or f16. threads pure */
bool lb_schedule_can(const lb_unit *u);

/** D = A B + C as a kernel of this schedule computes it (NULL: plain, which is lb_gemm).
 *  shapes   as lb_gemm's, d in s->out; c in the unit's c where it starts an accumulator, else (or with promote) in f32, f16 or bf16
 *  accuracy bit-exact: the chains are lb_gemm's, everything beside them IEEE f32
 *  errors   lb_gemm's; LB_E_ARG for a schedule that does not fit the unit: promote or tile_k that are no multiple of k, a split that is
 *           stream-K as well, alpha or beta with C in the accumulator, atomics without an arrival; LB_E_FORMAT for d, c, bias or scales;
 *           LB_E_UNAVAILABLE for an activation of erf, exp or tanh where the caller's floating-point environment is not IEEE's default.
 *           Then nothing is written
 *  memory   one f32 [m][n], all the parts of them where reduce needs them at once, copies of A and B where the tiles are not in a row
 *  threads  pure */
lb_status lb_gemm_scheduled(const lb_unit *u, const lb_schedule *s, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d,
                            const lb_gemm_options *options, lb_error *err);

/* ---- as text ----------------------------------------------------------------------------------------------------------- */

/** "split-k=4,reduce=ascending,partial=f16,out=bf16", or the name of a row below, or a name and then what differs from it:
 *  "cutlass-serial-split-k,split-k=8". Giving alpha or beta moves C to the end unless c= says otherwise.
 *  errors LB_E_ARG with the item; LB_E_NAME for an unknown key or name, with the nearest. threads pure */
lb_status lb_schedule_parse(const char *text, lb_schedule *out, lb_error *err);

enum { LB_SCHEDULE_TEXT_SIZE = 512 };

/** The shortest text that parses to the same schedule ("plain" for {0}); 512 bytes always hold it. threads pure */
void lb_schedule_text(const lb_schedule *s, char *text, size_t size);

/** Whether two schedules have the same text. threads pure */
bool lb_schedule_equal(const lb_schedule *a, const lb_schedule *b);

/** A named schedule, a row of src/kernels/schedules.def. */
typedef struct lb_schedule_named {
    const char *name, *text;
    lb_evidence evidence;
    const char *source; /* keys in docs/sources.md */
    const char *note;
} lb_schedule_named;

/** Row i in table order, NULL past the end. threads pure */
const lb_schedule_named *lb_schedule_row(size_t i);

/* ---- which schedule was it? ---------------------------------------------------------------------------------------------- */

typedef struct lb_fit_options {
    const lb_unit *unit;     /* NULL: every row whose formats fit */
    const lb_schedule *base; /* what is known (alpha, beta, bias, activation, saturate; more is kept as said); NULL: nothing */
    size_t max_found;        /* rows of `found` to keep; 0: 64 */
    const lb_gemm_options *gemm;
    void (*progress)(void *user, const char *stage, double fraction); /* may be NULL */
    void *progress_user;
} lb_fit_options;

/** One candidate: units that compute alike, and a schedule. */
typedef struct lb_fit_row {
    lb_unit unit; /* the first of them */
    size_t alike; /* units of the table that compute like it (lb_units_alike), itself included */
    lb_schedule schedule;
    uint64_t same, compared; /* elements */
    bool any_order; /* each element is what some order of the parts gives; of LB_MAX_ORDERED parts or fewer, no one order gives all */
    double values;  /* of any_order: results that orders give, a mean over elements */
} lb_fit_row;

typedef struct lb_fit {
    lb_verdict verdict; /* PASS: something explains every element; FAIL: nothing; UNPROVEN: the inputs decide nothing */
    char reason[256];
    lb_fit_row *found; /* all that explain it, simplest first */
    size_t found_count, found_total;
    bool has_best;
    lb_fit_row best; /* of the others, the one that came nearest */
    uint64_t tried;  /* candidates */
    uint64_t elements;
} lb_fit;

/** Name the units and schedules that give `actual`, bit for bit (docs/schedules.md lists what is tried). A few elements first, then more,
 *  then all of them for those that are left. Where no fixed order gives them, or the base says ATOMIC: any order of up to ten parts.
 *  shapes   a [m][k], b [k][n], c [m][n] or NULL, actual [m][n]
 *  errors   LB_E_SHAPE; LB_E_FORMAT where no unit takes the operands; LB_E_MEMORY
 *  memory   out->found is the caller's, lb_fit_close
 *  threads  pure */
lb_status lb_fit_schedule(const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_mat *actual, const lb_fit_options *o, lb_fit *out,
                          lb_error *err);
void lb_fit_close(lb_fit *f);

/** Whether chains of two units compute alike: every parameter that has to do with bits is the same (k may differ where blocks are shorter).
 *  threads pure */
bool lb_units_alike(const lb_unit *a, const lb_unit *b);

#ifdef __cplusplus
}
#endif
#endif
