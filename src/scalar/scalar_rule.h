/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: how a row is computed: a handler and what it is to do. A handler sees one value a word: packed words whose inputs and outputs
 * are all packed are taken apart before it is called. */
#ifndef LB_SCALAR_RULE_H
#define LB_SCALAR_RULE_H

#include "lastbit/scalar.h"

enum {
    LB_FTZ = 1,          /* f32, f16: subnormal inputs and results become zeros of their sign */
    LB_SAT = 2,          /* floats: into [0, 1], NaN to +0; integers: into the range of the result */
    LB_RELU = 4,         /* negative results become +0 */
    LB_NAN_WINS = 8,     /* min, max: NaN if any operand is */
    LB_XORSIGN = 16,     /* min, max: of magnitudes; sign is the xor of the operands' */
    LB_SATFINITE = 32,   /* an overflow or Inf becomes the largest finite value */
    LB_ADD = 64,         /* video: the third operand is added at the end */
    LB_CLAMP = 128,      /* shifts: counts above the width are the width; else modulo the width */
    LB_UNPACK = 256,     /* cvt: the input holds a pair of `what`; else the output does, where `what` is a format */
    LB_ANY_NAN = 512,    /* grading: the document leaves the bits of a NaN open */
    LB_CHECK_ZERO = 1024 /* grading: the document leaves division by zero and overflow open */
};

typedef struct lb_scalar_rule lb_scalar_rule;

typedef void lb_scalar_lane(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out);
typedef lb_status lb_scalar_warp(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err);

struct lb_scalar_rule {
    lb_scalar_lane *lane; /* NULL where warp is not */
    lb_scalar_warp *warp; /* in [32][ins], out [32][outs] */
    int what, rounding;   /* what: the handler's own; rounding: lb_rounding */
    unsigned flags;
};

const lb_scalar_rule *lb_scalar_rule_of(const lb_scalar_op *op);

/* Every word holds two values, which do not see each other. */
bool lb_scalar_is_packed(const lb_scalar_op *op);

/* what, of the handlers that have several */
enum { LB_DO_ADD, LB_DO_SUB, LB_DO_MUL, LB_DO_FMA, LB_DO_DIV, LB_DO_RCP, LB_DO_SQRT };
enum { LB_DO_MIN, LB_DO_MAX, LB_DO_ABS, LB_DO_NEG, LB_DO_COPYSIGN };
enum { LB_IF_EQ, LB_IF_NE, LB_IF_LT, LB_IF_LE, LB_IF_GT, LB_IF_GE, LB_IF_NUM, LB_IF_NAN, LB_UNORDERED = 8 };
enum { LB_IS_FINITE, LB_IS_INFINITE, LB_IS_NUMBER, LB_IS_NOTANUMBER, LB_IS_NORMAL, LB_IS_SUBNORMAL };
enum {
    LB_DO_RSQRT = LB_DO_SQRT + 1,
    LB_DO_EX2,
    LB_DO_LG2,
    LB_DO_SIN,
    LB_DO_COS,
    LB_DO_TANH,
    LB_DO_DIV_FULL,
    LB_DO_RCP_HIGH,
    LB_DO_RSQRT_HIGH
};
enum { LB_MUL_LO, LB_MUL_HI, LB_MUL_WIDE, LB_MUL24_LO, LB_MUL24_HI };
enum {
    LB_INT_ADD,
    LB_INT_SUB,
    LB_INT_MIN,
    LB_INT_MAX,
    LB_INT_ABS,
    LB_INT_NEG,
    LB_INT_SAD,
    LB_INT_DIV,
    LB_INT_REM,
    LB_INT_CNOT,
    LB_INT_NOT
};
enum { LB_CHAIN_ADD, LB_CHAIN_SUB, LB_CHAIN_MAD };
enum { LB_PRMT, LB_PRMT_F4E, LB_PRMT_B4E, LB_PRMT_RC8, LB_PRMT_ECL, LB_PRMT_ECR, LB_PRMT_RC16, LB_PRMT_MODES };
enum { LB_LEFT, LB_RIGHT };
enum { LB_POPC, LB_CLZ, LB_BREV, LB_BFIND, LB_BFIND_SHIFT };
enum { LB_UP, LB_DOWN, LB_BFLY, LB_IDX };
enum { LB_BALLOT, LB_ALL, LB_ANY, LB_UNI };
enum { LB_REDUX_ADD, LB_REDUX_MIN, LB_REDUX_MAX, LB_REDUX_AND, LB_REDUX_OR, LB_REDUX_XOR };
enum { LB_VADD, LB_VSUB, LB_VABSDIFF, LB_VMIN, LB_VMAX, LB_VSHL, LB_VSHR, LB_VMAD, LB_VSET_LT, LB_VAVRG };

lb_scalar_lane lb_scalar_float, lb_scalar_minmax, lb_scalar_sign, lb_scalar_compare, lb_scalar_testp, lb_scalar_slct, lb_scalar_set,
    lb_scalar_selp;
lb_scalar_lane lb_scalar_float_to_int, lb_scalar_int_to_float, lb_scalar_float_to_float, lb_scalar_to_integral, lb_scalar_cvt_pair,
    lb_scalar_cvt_tf32, lb_scalar_int_to_int;
lb_scalar_lane lb_scalar_int, lb_scalar_mul, lb_scalar_chain, lb_scalar_dp4a, lb_scalar_dp2a, lb_scalar_int_compare;
lb_scalar_lane lb_scalar_count, lb_scalar_bfe, lb_scalar_bfi, lb_scalar_fns, lb_scalar_prmt, lb_scalar_lop3, lb_scalar_shf, lb_scalar_shift,
    lb_scalar_szext, lb_scalar_bmsk;
lb_scalar_lane lb_scalar_video, lb_scalar_video_simd, lb_scalar_approx;
lb_scalar_warp lb_scalar_shfl, lb_scalar_vote, lb_scalar_match_any, lb_scalar_match_all, lb_scalar_redux, lb_scalar_movmatrix,
    lb_scalar_mma;

/* prmt's modes but the plain one: selectors by the low two bits of c. */
extern const uint16_t lb_prmt_modes[LB_PRMT_MODES][4];

/* Selectors of video operands, four bits each: whole word, byte 0-3, half 0-1. rounding holds a's, b's and the shift. */
enum { LB_SEL_ALL, LB_SEL_B0, LB_SEL_B1, LB_SEL_B2, LB_SEL_B3, LB_SEL_H0, LB_SEL_H1 };
#define LB_VIDEO_AT(a, b, shift) (LB_SEL_##a | LB_SEL_##b << 4 | (shift) << 8)
/* Whether a's and b's words are signed, where it is not what the row's types say: in `what`, above the operation. */
enum { LB_VIDEO_SIGNED_A = 256, LB_VIDEO_SIGNED_B = 512 };

#endif
