/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where an answer's bits come from: the same operator in f32 in fixed orders says which of them gives the device's bits, and where none
 * does, whether an order could. */
#include "base/try.h"
#include "run/parity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct replays {
    lb_op_case of[LB_REPLAY_COUNT];
} replays;

static void close_replays(replays *r) {
    for (size_t i = 0; i < LB_REPLAY_COUNT; i++) lb_answer_close(&r->of[i]);
}

static lb_status make_replays(replays *r, const lb_op_case *x, lb_error *err) {
    for (size_t i = 0; i < LB_REPLAY_COUNT; i++) {
        LB_TRY(lb_answer_open(&r->of[i], x, err));
        LB_TRY(lb_op_replay(&r->of[i], (lb_replay_order)i, err));
    }
    return LB_OK;
}

/* Of the elements that are not the sequential replay's: how many another order explains, and how many differ where all orders agree. */
typedef struct split {
    size_t total, differ;
    size_t like[LB_REPLAY_COUNT]; /* the bits of that replay */
    size_t orderless;             /* all replays agree, the device does not */
    size_t narrow16, narrowbf;    /* f32 results that f16, bf16 holds exactly, though the true value is none of its */
    size_t f32s;
} split;

static uint64_t code_at(const lb_array *a, size_t i) {
    return lb_load_code((const unsigned char *)a->codes + i * (size_t)a->format->bytes, a->format->bytes);
}

static bool same(const lb_format *f, uint64_t a, uint64_t b) {
    return a == b || (lb_code_class(f, a) == LB_NAN && lb_code_class(f, b) == LB_NAN);
}

static void look_at(split *s, const lb_op_case *x, const replays *r, unsigned port, size_t i) {
    const lb_format *f = x->out[port].format;
    const uint64_t got = code_at(&x->out[port], i), first = code_at(&r->of[0].out[port], i);
    bool agree = true;
    s->total++;
    if (f->id == LB_F32) {
        const lb_format *half = lb_format_row(LB_F16), *brain = lb_format_row(LB_BF16);
        const double v = lb_to_double(f, got), want = lb_to_double(f, first);
        s->f32s += isfinite(v) && v != 0 && lb_to_double(half, lb_from_double(half, want)) != want;
        s->narrow16 += isfinite(v) && v != 0 && lb_to_double(half, lb_from_double(half, want)) != want &&
                       lb_to_double(half, lb_from_double(half, v)) == v;
        s->narrowbf += isfinite(v) && v != 0 && lb_to_double(half, lb_from_double(half, want)) != want &&
                       lb_to_double(brain, lb_from_double(brain, v)) == v;
    }
    for (size_t k = 0; k < LB_REPLAY_COUNT; k++) {
        const uint64_t it = code_at(&r->of[k].out[port], i);
        s->like[k] += same(f, got, it);
        agree = agree && same(f, it, first);
    }
    if (same(f, got, first)) return;
    s->differ++;
    s->orderless += agree;
}

static split compare(const lb_op_case *x, const replays *r) {
    split s = {0};
    for (unsigned p = 0; p < x->op->out_count; p++)
        for (size_t i = 0; i < lb_array_count(&x->out[p]); i++) look_at(&s, x, r, p, i);
    return s;
}

static size_t wrong_of(const lb_op_case *x, const lb_op_truth *t) {
    size_t n = 0;
    double ratio;
    for (unsigned p = 0; p < x->op->out_count; p++)
        for (size_t i = 0; i < t->count[p]; i++) n += lb_op_judge(t, x, p, i, &ratio) == LB_OP_WRONG;
    return n;
}

/* The strictest and the loosest class of functions tell a library function from an order of additions. */
static lb_status wrong_under(const lb_op_case *x, lb_function_class functions, size_t *out, lb_error *err) {
    lb_op_truth *t;
    LB_TRY(lb_op_truth_open(&t, x, functions, err));
    const lb_status s = lb_op_truth_settle(t, x, err);
    if (s == LB_OK) *out = wrong_of(x, t);
    lb_op_truth_close(t);
    return s;
}

static void say_wrong(const split *s, size_t wrong, size_t loosely, char *text, size_t size) {
    if (!loosely)
        snprintf(text, size, "library function: all %zu wrong elements are within what Vulkan's functions may be off by", wrong);
    else if (s->f32s && s->narrowbf * 10 > s->f32s * 9)
        snprintf(text, size, "precision: %zu of %zu results are bf16 numbers, the true ones are not", s->narrowbf, s->f32s);
    else if (s->f32s && s->narrow16 * 10 > s->f32s * 9)
        snprintf(text, size, "precision: %zu of %zu results are f16 numbers, the true ones are not", s->narrow16, s->f32s);
    else
        snprintf(text, size, "defect: no order of f32 additions and no function of its class gives %zu of %zu elements", wrong, s->total);
}

static void say_legal(const split *s, size_t strictly, char *text, size_t size) {
    for (size_t k = 0; k < LB_REPLAY_COUNT; k++) {
        static const char *const causes[LB_REPLAY_COUNT] = {[LB_REPLAY_SEQUENTIAL] = "none",
                                                            [LB_REPLAY_CONTRACTED] = "contraction",
                                                            [LB_REPLAY_DEVICE] = "contraction, rsqrt",
                                                            [LB_REPLAY_PAIRWISE] = "order"};
        if (s->like[k] != s->total) continue;
        snprintf(text, size, "%s: the %s replay gives its bits", causes[k], lb_replay_name((lb_replay_order)k));
        return;
    }
    const size_t contracted = s->like[LB_REPLAY_CONTRACTED];
    if (strictly)
        snprintf(text, size, "library function: %zu of %zu elements need what its class allows beyond an ULP a function", strictly,
                 s->total);
    else if (s->orderless * 2 > s->differ)
        snprintf(text, size, "library function: %zu of %zu elements differ, %zu where every order gives the same", s->differ, s->total,
                 s->orderless);
    else if (contracted > s->like[LB_REPLAY_SEQUENTIAL] && contracted * 10 >= s->total * 9)
        snprintf(text, size, "contraction: the contracted replay gives %zu of %zu elements", contracted, s->total);
    else
        snprintf(text, size, "order: another order of additions; sequential gives %zu, contracted %zu, pairwise %zu of %zu elements",
                 s->like[LB_REPLAY_SEQUENTIAL], contracted, s->like[LB_REPLAY_PAIRWISE], s->total);
}

lb_status lb_parity_cause(const lb_op_case *x, const lb_op_truth *t, char *text, size_t size, lb_error *err) {
    replays r = {0};
    size_t strictly = 0, loosely = 0;
    text[0] = 0;
    lb_status s = make_replays(&r, x, err);
    if (s == LB_OK) s = wrong_under(x, LB_FUNCTIONS_IEEE, &strictly, err);
    if (s == LB_OK) s = wrong_under(x, LB_FUNCTIONS_VULKAN, &loosely, err);
    if (s == LB_OK) {
        const split all = compare(x, &r);
        const size_t wrong = wrong_of(x, t);
        if (wrong)
            say_wrong(&all, wrong, loosely, text, size);
        else
            say_legal(&all, strictly, text, size);
    }
    close_replays(&r);
    return s;
}
