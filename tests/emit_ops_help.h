/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the tests of emitted operations share: which operations, and rows of inputs: those that are recorded, and hard ones. */
#ifndef LB_EMIT_OPS_HELP_H
#define LB_EMIT_OPS_HELP_H

#include "emit_help.h"

#include "lastbit/scalar.h"
#include "scalar/scalar_value.h"

enum { OPS_MAX = 512, OPS_ROWS = 4 * LB_OP_ROWS };

static const lb_scalar_op *ops[OPS_MAX];
static size_t op_count;

static inline void ops_take_all(void) {
    const lb_scalar_op *op;
    op_count = 0;
    for (size_t i = 0; (op = lb_scalar_row(i)) != NULL; i++) {
        assert_true(op_count < OPS_MAX);
        if (lb_emit_can_op(op, NULL) == LB_OK) ops[op_count++] = op;
    }
}

/* One operation of each handler and each thing that it does. */
static inline void ops_take_spread(void) {
    size_t kept = 0;
    ops_take_all();
    for (size_t i = 0; i < op_count; i++) {
        const lb_scalar_rule *r = lb_scalar_rule_of(ops[i]);
        bool seen = false;
        for (size_t j = 0; j < kept; j++) {
            const lb_scalar_rule *k = lb_scalar_rule_of(ops[j]);
            seen = seen || (k->lane == r->lane && k->warp == r->warp && k->what == r->what);
        }
        if (!seen) ops[kept++] = ops[i];
    }
    op_count = kept;
}

/* Operations of one operand of at most 16 bits. */
static inline void ops_take_narrow(void) {
    size_t kept = 0;
    ops_take_all();
    for (size_t i = 0; i < op_count; i++)
        if (ops[i]->ins == 1 && lb_word_bits(ops[i]->in[0]) <= 16 && !ops[i]->warp) ops[kept++] = ops[i];
    op_count = kept;
}

static inline int ops_words(lb_word w) {
    return lb_word_bits(w) > 32 ? 2 : 1;
}

static inline int ops_words_in(const lb_scalar_op *op) {
    int n = 0;
    for (int i = 0; i < op->ins; i++) n += ops_words(op->in[i]);
    return n;
}

static inline int ops_words_out(const lb_scalar_op *op) {
    int n = 0;
    for (int i = 0; i < op->outs; i++) n += ops_words(op->out[i]);
    return n;
}

static inline char *ops_text(const lb_scalar_op *op, lb_emit_language language) {
    const lb_emit_options o = {.language = language};
    lb_error err = {0};
    char *text;
    if (lb_emit_op(op, &o, &text, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return text;
}

/* ---- hard rows: ties at every place, results at both ends of the range, sums that cancel ------------------------------------- */

static inline uint64_t ops_random(uint32_t stream, uint64_t row) {
    return lb_random_u64(11, stream, row);
}

/* Bits of which the lower ones, from a place that is drawn, are 0, 1, about a half, or nearly one; in half of them the upper are alike. */
static inline uint64_t ops_tie(uint64_t random, uint64_t more, int bits) {
    const int low = (int)(random % (uint64_t)bits);
    const uint64_t unit = UINT64_C(1) << low, half = unit / 2;
    const uint64_t rest[] = {0, 1, half - (half > 0), half, half + 1, unit - 1, 0, half};
    const uint64_t upper = random >> 12 & 1 ? more : random >> 13 & 1 ? UINT64_MAX : 0;
    return ((upper & ~(unit - 1)) | (rest[random >> 8 & 7] & (unit - 1))) & lb_word_mask(bits);
}

/* x and y such that x*y (or x/y) lies about one of the ends of the range, and z anywhere; one x in four is at an end itself. */
static inline int64_t ops_field(const lb_format *f, int input, uint64_t row) {
    const int64_t most = (INT64_C(1) << f->exp_bits) - 1, ends[] = {0, 1, 2, most - 1};
    const uint64_t random = ops_random(20, row);
    const int64_t first = random >> 62 ? (int64_t)(random % (uint64_t)(most + 1)) : ends[random & 3];
    const int64_t about = (int64_t)(ops_random(21, row) % (uint64_t)(f->man_bits + 8)) - f->man_bits - 4;
    if (input == 0) return first;
    if (input == 2) return (int64_t)(ops_random(22, row) % (uint64_t)(row & 8 ? most + 1 : 4));
    const int64_t second[] = {f->bias - first + about, most + f->bias - first + about, first + about, first - f->bias - about};
    const int64_t field = second[ops_random(23, row) % 4];
    return field < 0 ? 0 : field > most - 1 ? most - 1 : field;
}

/* Zeros, ones, the ends, Inf and NaN. */
static inline uint64_t ops_special(const lb_format *f, uint64_t random) {
    const uint64_t inf = lb_max_code(f) + 1, one = lb_from_double(f, 1.0), of[] = {0, 1, one, inf, inf, inf, inf + 1, inf - 1};
    return of[random & 7];
}

/* What went before with the other sign, exactly or but for a few steps. */
static inline uint64_t ops_opposite(const lb_format *f, int input, uint64_t random, const uint64_t *before) {
    const lb_value x = lb_decode(f, before[0]), y = input > 1 ? lb_decode(f, before[1]) : lb_value_of(1.0);
    return lb_encode(f, lb_value_mul(x, y), NULL, NULL) ^ UINT64_C(1) << (f->bits - 1) ^ (random & 3);
}

static inline uint64_t ops_hard_float(const lb_format *f, int input, uint64_t row, const uint64_t *before) {
    enum { ENDS, TIES, NEAR, OPPOSITE, SHORT, SPECIAL, POWER, SHORT_ENDS, KINDS };
    const uint64_t random = ops_random(30 + (uint32_t)input, row), sign = random >> 63 << (f->bits - 1);
    const uint64_t man = ops_tie(random, ops_random(40 + (uint32_t)input, row), f->man_bits);
    const uint64_t few = (random >> 32 & 15) << f->man_bits >> 4; /* upper bits of a significand */
    const int64_t near = f->bias + (int64_t)(random >> 20 & 63) % (2 * f->man_bits + 4) - f->man_bits, field = ops_field(f, input, row);
    switch (row % KINDS) {
    case OPPOSITE:                                                                           /* of a product, or of a number */
        if (input == 2 || (input && row & 8)) return ops_opposite(f, input, random, before); /* fall through */
    case NEAR: return sign | (uint64_t)(near < 0 ? 0 : near) << f->man_bits | man;           /* within a significand of each other */
    case SHORT: return sign | (uint64_t)(f->bias + (int64_t)(random >> 20 & 3) - 1) << f->man_bits | few;
    case SPECIAL: return sign | ops_special(f, random);
    case POWER: return sign | (uint64_t)field << f->man_bits | (input == 1 ? 0 : man);
    case SHORT_ENDS: return sign | (uint64_t)field << f->man_bits | few;
    default: return sign | (uint64_t)field << f->man_bits | man;
    }
}

static inline uint64_t ops_hard(lb_word w, int input, uint64_t row, const uint64_t *before) {
    const lb_format *f = lb_word_format(w);
    const uint64_t random = ops_random(50 + (uint32_t)input, row);
    uint64_t word = 0;
    if (!f) {
        const int length = 1 + (int)(random >> 16 & 63) % lb_word_bits(w); /* of the number, or of its complement */
        const uint64_t n = ops_tie(random, ops_random(60 + (uint32_t)input, row), length);
        return (random >> 40 & 1 ? ~n : n) & lb_word_mask(lb_word_bits(w));
    }
    for (int p = 0; p < lb_word_parts(w); p++) {
        uint64_t parts[LB_SCALAR_MAX_IN];
        for (int i = 0; i < input; i++) parts[i] = before[i] >> (16 * p) & lb_word_mask(f->bits);
        word |= ops_hard_float(f, input, row + (uint64_t)p, parts) << (16 * p);
    }
    return word;
}

/* Row number `row` of an operation: as recorded, then hard. Of the hard warps one in four has one word in all lanes, one in all but one.
 * Where there are as many rows as an only operand has values, each of them. */
static inline void ops_row(const lb_scalar_op *op, uint64_t row, uint64_t rows, uint64_t *in) {
    const uint64_t warp = row / LB_WARP_LANES % 4;
    const bool alike = op->warp && row >= LB_OP_ROWS && (warp == 0 || (warp == 1 && row % LB_WARP_LANES != 7));
    const bool every = op->ins == 1 && lb_word_bits(op->in[0]) <= 16 && rows >> lb_word_bits(op->in[0]);
    for (int i = 0; i < op->ins; i++) {
        const uint64_t from = alike && i == 0 ? row - row % LB_WARP_LANES : row;
        in[i] = every              ? row & lb_word_mask(lb_word_bits(op->in[0]))
                : row < LB_OP_ROWS ? lb_scalar_input(op->in[i], i, 1, row)
                                   : ops_hard(op->in[i], i, from, in);
    }
}

/* What lies above an input's bits has to be passed over. */
static inline uint64_t ops_dirty(lb_word w, int input, uint64_t row, uint64_t word) {
    const int bits = lb_word_bits(w);
    return bits < 32 ? word | ops_random(70 + (uint32_t)input, row) << bits : word;
}

#endif
