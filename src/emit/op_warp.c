/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Operations of a whole warp: what scalar_warp.c computes for a lane, out of the words that all lanes have laid into local memory: word w
 * of a lane's first operand lies at lane + 32 * w. Loops begin at the own lane, so that no two lanes read the same word at once. */
#include "emit/op.h"

enum { LANES = LB_WARP_LANES };

static wide word_of(const op_group *g, const lb_scalar_op *op, ir lane) {
    wide x = {.count = lb_wide_words(lb_word_bits(op->in[0]))};
    for (int i = 0; i < x.count; i++) x.word[i] = lb_ir_load(g->p, g->memory, i ? lb_ir_with(g->p, IR_ADD, lane, LANES * i) : lane);
    return x;
}

/* All lanes one after another, but for the first `skipped`; *times is to be set back at the end. */
static ir lanes_from_own(const op_group *g, int skipped, uint64_t *times) {
    ir_program *p = g->p;
    const ir i = lb_ir_for(p, (uint32_t)(LANES - skipped));
    *times = p->times;
    p->times *= (uint64_t)(LANES - skipped);
    return lb_ir_with(p, IR_AND, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_ADD, g->lane, skipped), i, 0), LANES - 1);
}

static void end_of_lanes(const op_group *g, uint64_t times) {
    lb_ir_end(g->p);
    g->p->times = times;
}

void lb_op_shfl(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir_program *p = g->p;
    const ir lane = lb_ir_to_i(p, g->lane), b = lb_ir_to_i(p, lb_ir_with(p, IR_AND, in[1].word[0], 31));
    const ir c = lb_ir_to_i(p, lb_ir_with(p, IR_AND, in[2].word[0], 31));
    const ir segment = lb_ir_to_i(p, lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, in[2].word[0], 8), 31)),
             others = lb_ir_with(p, IR_XOR, segment, -1);
    const ir least = lb_ir_do(p, IR_AND, lane, segment, 0), most = lb_ir_do(p, IR_OR, least, lb_ir_do(p, IR_AND, c, others, 0), 0);
    const ir from[] = {lb_ir_do(p, IR_SUB, lane, b, 0), lb_ir_do(p, IR_ADD, lane, b, 0), lb_ir_do(p, IR_XOR, lane, b, 0),
                       lb_ir_do(p, IR_OR, least, lb_ir_do(p, IR_AND, b, others, 0), 0)};
    const ir inside = r->what == LB_UP ? lb_ir_do(p, IR_GE, from[LB_UP], most, 0) : lb_ir_do(p, IR_GE, most, from[r->what], 0);
    out[0] = word_of(g, op, lb_ir_to_u(p, lb_ir_select(p, inside, from[r->what], lane)));
    out[1] = lb_wide_of(lb_ir_bit(p, inside));
}

void lb_op_vote(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir_program *p = g->p;
    const ir ballot = lb_ir_var(p, lb_ir_u(p, 0));
    uint64_t times;
    (void)in;
    const ir at = lanes_from_own(g, 0, &times), negative = lb_ir_with(p, IR_SHR, word_of(g, op, at).word[0], 31);
    lb_ir_set(p, ballot, lb_ir_do(p, IR_OR, ballot, lb_ir_do(p, IR_SHL, negative, lb_ir_to_i(p, at), 0), 0));
    end_of_lanes(g, times);
    const ir all = lb_ir_with(p, IR_EQ, ballot, -1), none = lb_ir_with(p, IR_EQ, ballot, 0);
    const ir answer[] = {ballot, lb_ir_bit(p, all), lb_ir_bit(p, lb_ir_not(p, none)), lb_ir_bit(p, lb_ir_either(p, all, none))};
    out[0] = lb_wide_of(answer[r->what]);
}

/* A bit for each lane whose word is this lane's. */
static ir same_as_own(const op_group *g, const lb_scalar_op *op) {
    ir_program *p = g->p;
    const wide own = word_of(g, op, g->lane);
    const ir mask = lb_ir_var(p, lb_ir_u(p, 0));
    uint64_t times;
    const ir at = lanes_from_own(g, 0, &times), same = lb_ir_bit(p, lb_wide_equal(p, word_of(g, op, at), own));
    lb_ir_set(p, mask, lb_ir_do(p, IR_OR, mask, lb_ir_do(p, IR_SHL, same, lb_ir_to_i(p, at), 0), 0));
    end_of_lanes(g, times);
    return mask;
}

void lb_op_match_any(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    (void)r;
    (void)in;
    out[0] = lb_wide_of(same_as_own(g, op));
}

void lb_op_match_all(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir_program *p = g->p;
    (void)r;
    (void)in;
    const ir all = lb_ir_with(p, IR_EQ, same_as_own(g, op), -1);
    out[0] = lb_wide_of(lb_ir_select(p, all, lb_ir_u(p, UINT32_MAX), lb_ir_u(p, 0)));
    out[1] = lb_wide_of(lb_ir_bit(p, all));
}

void lb_op_redux(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    static const ir_op does[] = {IR_ADD, IR_MIN, IR_MAX, IR_AND, IR_OR, IR_XOR};
    ir_program *p = g->p;
    const bool is_signed = lb_word_is_signed(op->in[0]);
    const ir x = lb_ir_var(p, word_of(g, op, g->lane).word[0]);
    uint64_t times;
    (void)in;
    const ir at = lanes_from_own(g, 1, &times), other = word_of(g, op, at).word[0];
    const ir a = is_signed ? lb_ir_to_i(p, x) : x, b = is_signed ? lb_ir_to_i(p, other) : other;
    /* a sum of words wraps, so it is one of U */
    lb_ir_set(p, x, r->what == LB_REDUX_ADD ? lb_ir_do(p, IR_ADD, x, other, 0) : lb_ir_to_u(p, lb_ir_do(p, does[r->what], a, b, 0)));
    end_of_lanes(g, times);
    out[0] = lb_wide_of(x);
}

void lb_op_movmatrix(const op_group *g, const lb_scalar_op *op, const lb_scalar_rule *r, const wide *in, wide *out) {
    ir_program *p = g->p;
    const ir row = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_AND, g->lane, 3), 1), col = lb_ir_with(p, IR_SHR, g->lane, 2);
    const ir first = lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_SHL, row, 2), lb_ir_with(p, IR_SHR, col, 1), 0);
    const ir by = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_AND, col, 1), 4);
    ir halves[2];
    (void)r;
    (void)in;
    for (int half = 0; half < 2; half++) {
        const ir word = word_of(g, op, lb_ir_with(p, IR_ADD, first, 4 * half)).word[0];
        halves[half] = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_SHR, word, by, 0), 0xffff);
    }
    out[0] = lb_wide_of(lb_ir_do(p, IR_OR, halves[0], lb_ir_with(p, IR_SHL, halves[1], 16), 0));
}
