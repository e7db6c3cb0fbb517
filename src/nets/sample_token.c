/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The next token of a text, from its logits. */
#include "lastbit/nets.h"

#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    double logit, p;
    size_t token;
} candidate;

static int larger_first(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
    return x->token < y->token ? -1 : 1;
}

/* How many of the sorted candidates are kept; their p then sum to *total. */
static size_t keep(const lb_sampler *s, candidate *c, size_t count, double *total) {
    const size_t most = s->top_k && s->top_k < count ? s->top_k : count;
    double sum = 0;
    for (size_t i = 0; i < most; i++) sum += c[i].p = exp((c[i].logit - c[0].logit) / s->temperature);
    *total = sum;
    if (!(s->top_p > 0 && s->top_p < 1)) return most;
    double part = 0;
    for (size_t i = 0; i < most; i++) {
        part += c[i].p;
        if (part >= s->top_p * sum) {
            *total = part;
            return i + 1;
        }
    }
    return most;
}

lb_status lb_sample_token(const lb_sampler *s, const double *logits, size_t count, uint64_t index, int32_t *token, lb_error *err) {
    size_t best = 0;
    double total;
    if (!count) return lb_fail(err, LB_E_ARG, "sampler", "no logits");
    if (!(s->temperature >= 0) || !isfinite(s->temperature))
        return lb_fail(err, LB_E_ARG, "temperature", "%g; it is 0 or above", s->temperature);
    if (!(s->top_p >= 0 && s->top_p <= 1)) return lb_fail(err, LB_E_ARG, "top-p", "%g; it is between 0 and 1", s->top_p);
    for (size_t i = 0; i < count; i++) {
        if (isnan(logits[i])) return lb_fail(err, LB_E_ARG, "sampler", "logit %zu is NaN", i);
        if (logits[i] > logits[best]) best = i;
    }
    *token = (int32_t)best;
    if (s->temperature == 0 || isinf(logits[best])) return LB_OK;
    candidate *c = malloc(count * sizeof *c);
    if (!c) return lb_fail(err, LB_E_MEMORY, "sampler", "out of memory");
    for (size_t i = 0; i < count; i++) c[i] = (candidate){logits[i], 0, i};
    qsort(c, count, sizeof *c, larger_first);
    const size_t kept = keep(s, c, count, &total);
    double left = (double)(lb_random_u64(s->seed, 0, index) >> 11) * 0x1p-53 * total;
    size_t at = 0;
    while (at + 1 < kept && left >= c[at].p) left -= c[at++].p;
    *token = (int32_t)c[at].token;
    free(c);
    return LB_OK;
}
