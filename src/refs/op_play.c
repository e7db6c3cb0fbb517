/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Replays: the definitions of seed-002 in f32, each operation rounded, sums in the order that was asked for. */
#include "refs/op_play.h"

#include "base/try.h"
#include "refs/op_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    lb_play_function *run;
} plays[] = {
#define LB_OP(name, ...) {#name, lb_play_##name},
#include "refs/ops.def"
#undef LB_OP
};

static const struct {
    const char *name, *summary;
} orders[LB_REPLAY_COUNT] = {
#define X(id, name, text) [LB_REPLAY_##id] = {name, text},
    LB_REPLAY_LIST(X)
#undef X
};

const char *lb_replay_name(lb_replay_order order) {
    return (unsigned)order < LB_REPLAY_COUNT ? orders[order].name : NULL;
}

const char *lb_replay_summary(lb_replay_order order) {
    return (unsigned)order < LB_REPLAY_COUNT ? orders[order].summary : NULL;
}

size_t lb_play_whole(const lb_play *p, const char *name) {
    return (size_t)(int64_t)lb_op_case_param(p->x, name);
}

float lb_play_real(const lb_play *p, const char *name) {
    return (float)lb_op_case_param(p->x, name);
}

float lb_play_in(const lb_play *p, unsigned port, size_t i) {
    return (float)p->in[port][i];
}

void lb_play_put(const lb_play *p, unsigned port, size_t i, double v) {
    const lb_array *a = &p->x->out[port];
    lb_store_code((char *)a->codes + i * (size_t)a->format->bytes, a->format->bytes, lb_from_double(a->format, v));
}

static bool contracts(const lb_play *p) {
    return p->order == LB_REPLAY_CONTRACTED || p->order == LB_REPLAY_DEVICE;
}

float lb_play_mad(const lb_play *p, float a, float b, float c) {
    return contracts(p) ? fmaf(a, b, c) : a * b + c;
}

static float halves(const float *a, size_t a_stride, const float *b, size_t b_stride, size_t n) {
    if (n == 1) return b ? *a * *b : *a;
    const size_t first = n / 2;
    return halves(a, a_stride, b, b_stride, first) +
           halves(a + first * a_stride, a_stride, b ? b + first * b_stride : NULL, b_stride, n - first);
}

float lb_play_dot(const lb_play *p, float start, const float *a, size_t a_stride, const float *b, size_t b_stride, size_t n) {
    if (n == 0) return start;
    if (p->order == LB_REPLAY_PAIRWISE) return start + halves(a, a_stride, b, b_stride, n);
    float sum = start;
    for (size_t i = 0; i < n; i++) sum = b ? lb_play_mad(p, a[i * a_stride], b[i * b_stride], sum) : sum + a[i * a_stride];
    return sum;
}

float lb_play_exp(float x) {
    return (float)exp((double)x);
}

float lb_play_rsqrt(const lb_play *p, float x) {
    return p->order == LB_REPLAY_DEVICE ? (float)(1 / sqrt((double)x)) : 1.0f / sqrtf(x);
}

float *lb_play_room(const lb_play *p, size_t n) {
    float *s = malloc((n + !n) * sizeof *s);
    if (!s) lb_fail(p->err, LB_E_MEMORY, p->x->op->name, "out of memory");
    return s;
}

void lb_play_normalise(const lb_play *p, float *s, size_t n) {
    float top = -INFINITY;
    for (size_t i = 0; i < n; i++) top = s[i] > top ? s[i] : top;
    for (size_t i = 0; i < n; i++) s[i] = lb_play_exp(s[i] - top); /* NaN stays, and spreads by the sum */
    const float sum = lb_play_dot(p, 0, s, 1, NULL, 0, n);
    for (size_t i = 0; i < n; i++) s[i] = s[i] / sum;
}

lb_status lb_op_replay(lb_op_case *x, lb_replay_order order, lb_error *err) {
    const double k = lb_op_case_param(x, "k");
    lb_play p = {.x = x, .order = order, .k = isnan(k) ? 0 : (size_t)k, .err = err};
    lb_status s = LB_OK;
    if ((unsigned)order >= LB_REPLAY_COUNT) return lb_fail(err, LB_E_ARG, x->op->name, "no replay order %d", (int)order);
    LB_TRY(lb_op_check_ids(x, err));
    LB_TRY(lb_op_load(x, p.in, err));
    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++)
        if (strcmp(plays[i].name, x->op->name) == 0) s = plays[i].run(&p);
    for (unsigned i = 0; i < LB_OP_INPUTS; i++) free(p.in[i]);
    return s;
}
