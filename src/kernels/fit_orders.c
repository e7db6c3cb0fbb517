/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sums by atomics: the parts come in any order, so that an element may be any of a set of results. Is each element of the output in its set;
 * and does one order give them all? */
#include "kernels/fit_orders.h"

#include "base/try.h"
#include "kernels/schedule_f32.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 10, MOST_VALUES = 512, MOST_ORDERS = 5040, FEW = 64, PATCH = 256, PANEL_FLOATS = 1 << 18 };
#define MOST_STEPS 0x1p30 /* additions that one candidate may take; beyond them a sample is looked at */

/* One candidate on one output. */
typedef struct sums {
    lb_scheduled x;
    lb_schedule s;
    const lb_fit_case *c;
    unsigned parts;
    float *value;    /* [2^parts][MOST_VALUES]: what the parts of a subset can have come to … */
    unsigned *count; /* … and how many */
    bool in_order;   /* the second question: */
    uint8_t (*order)[LB_MAX_ORDERED];
    unsigned order_count; /* orders that gave every element so far */
    uint64_t compared, values;
} sums;

/* ---- the set of one element ------------------------------------------------------------------------------------------------ */

/* What one addition leaves. */
static float added(const sums *q, float sum, float part) {
    sum = q->x.native ? sum + part : lb_f32_add_exactly(sum, part);
    if (q->s.sum != LB_TYPE_F32) lb_scheduled_round(&q->x, q->s.sum, &sum, 1);
    return sum;
}

/* Values are one if their bits are; a set that outgrows its room is said to be too large. */
static bool keep(float *list, unsigned *count, float v) {
    for (unsigned i = 0; i < *count; i++)
        if (memcmp(&list[i], &v, sizeof v) == 0) return true;
    if (*count == MOST_VALUES) return false;
    list[(*count)++] = v;
    return true;
}

/* All that parts[n] can come to, starting from +0, into the last place of q->value. */
static bool reach(const sums *q, const float *parts) {
    const unsigned sets = 1u << q->parts;
    q->value[0] = 0;
    q->count[0] = 1;
    for (unsigned set = 1; set < sets; set++) {
        float *list = q->value + (size_t)set * MOST_VALUES;
        q->count[set] = 0;
        for (unsigned i = 0; i < q->parts; i++) {
            const unsigned before = set & ~(1u << i);
            if (before == set) continue;
            for (unsigned v = 0; v < q->count[before]; v++)
                if (!keep(list, &q->count[set], added(q, q->value[(size_t)before * MOST_VALUES + v], parts[i]))) return false;
        }
    }
    return true;
}

static uint64_t code_of(const sums *q, size_t row, size_t col, float sum) {
    uint64_t code = 0;
    float room;
    lb_mat d = lb_mat_of(q->x.out, &code, 1, 1);
    lb_scheduled_finish(&q->x, row, 1, col, 1, &sum, &room, &d);
    return lb_mat_code(&d, 0, 0);
}

/* Whether the element is in its set; the size of the set, in codes of the output, is added up. */
static bool is_in_set(sums *q, size_t row, size_t col, const float *parts) {
    const uint64_t actual = lb_mat_code(&q->c->actual, row, col);
    const unsigned last = (1u << q->parts) - 1;
    uint64_t codes[MOST_VALUES];
    unsigned count = 0;
    bool in = false;
    if (!reach(q, parts)) return false;
    for (unsigned v = 0; v < q->count[last]; v++) {
        const uint64_t code = code_of(q, row, col, q->value[(size_t)last * MOST_VALUES + v]);
        unsigned i = 0;
        while (i < count && codes[i] != code) i++;
        if (i == count) codes[count++] = code;
        in = in || code == actual;
    }
    q->values += count;
    return in;
}

/* ---- one order for all --------------------------------------------------------------------------------------------------- */

/* Orders that differ from an earlier one: where parts are rounded as sums are, the first two may change places. */
static void add_orders(sums *q, uint8_t *order, unsigned at) {
    const bool commute = q->s.sum == LB_TYPE_F32 || q->s.partial == q->s.sum;
    if (at == q->parts || at == LB_MAX_ORDERED) {
        if (commute && q->parts > 1 && order[0] > order[1]) return;
        memcpy(q->order[q->order_count++], order, q->parts);
        return;
    }
    for (uint8_t i = 0; i < q->parts; i++) {
        unsigned used = 0;
        for (unsigned j = 0; j < at; j++) used |= order[j] == i;
        if (used) continue;
        order[at] = i;
        add_orders(q, order, at + 1);
    }
}

/* Strike out the orders that do not give this element; whether any is left. */
static bool strike_out(sums *q, size_t row, size_t col, const float *parts) {
    const uint64_t actual = lb_mat_code(&q->c->actual, row, col);
    unsigned left = 0;
    for (unsigned i = 0; i < q->order_count; i++) {
        float sum = 0;
        for (unsigned j = 0; j < q->parts; j++) sum = added(q, sum, parts[q->order[i][j]]);
        if (code_of(q, row, col, sum) != actual) continue;
        memmove(q->order[left++], q->order[i], sizeof q->order[i]);
    }
    q->order_count = left;
    return left > 0;
}

/* ---- windows --------------------------------------------------------------------------------------------------------------- */

/* Every element of a window; *good false at the first that the question is not true of. */
static lb_status look(sums *q, const lb_k_plan *plan, const lb_fit_window *w, bool *good, lb_error *err) {
    const size_t size = w->rows * w->cols;
    float *all = malloc((size_t)q->parts * size * sizeof *all), own[MOST_PARTS];
    lb_status s = all ? LB_OK : lb_fail(err, LB_E_MEMORY, "fit", "no memory for %u parts of %zu elements", q->parts, size);
    for (size_t p = 0; s == LB_OK && p < q->parts; p++) {
        s = lb_scheduled_part(&q->x, plan, p, w->row, w->rows, w->col, w->cols, all + p * size, err);
        if (s == LB_OK) lb_scheduled_round(&q->x, q->s.partial, all + p * size, size);
    }
    for (size_t i = 0; s == LB_OK && *good && i < size; i++) {
        const size_t row = w->row + i / w->cols, col = w->col + i % w->cols;
        for (size_t p = 0; p < q->parts; p++) own[p] = all[p * size + i];
        *good = q->in_order ? strike_out(q, row, col, own) : is_in_set(q, row, col, own);
        q->compared++;
    }
    free(all);
    return s;
}

/* A few elements of a corner. */
static lb_status look_at_few(sums *q, const lb_k_plan *plan, bool *good, lb_error *err) {
    *good = true;
    for (size_t size = 8; *good && size <= FEW; size *= 8) {
        const lb_fit_window w = lb_fit_patch(q->c->actual.rows, q->c->actual.cols, 0, size);
        LB_TRY(look(q, plan, &w, good, err));
    }
    return LB_OK;
}

/* All of them by panels of rows, or as many patches as MOST_STEPS allow. */
static lb_status look_at_all(sums *q, const lb_k_plan *plan, bool *good, lb_error *err) {
    const size_t m = q->c->actual.rows, n = q->c->actual.cols;
    const double cost = (double)(1u << q->parts) * q->parts * 4, most = MOST_STEPS / cost;
    q->compared = q->values = 0;
    *good = true;
    if ((double)m * (double)n > most) {
        for (size_t i = 0; *good && (double)q->compared < most; i++) {
            const lb_fit_window w = lb_fit_patch(m, n, i, PATCH);
            LB_TRY(look(q, plan, &w, good, err));
        }
        return LB_OK;
    }
    const size_t rows = PANEL_FLOATS / n / q->parts + 1;
    for (size_t row = 0; *good && row < m; row += rows) {
        const lb_fit_window w = {row, m - row < rows ? m - row : rows, 0, n};
        LB_TRY(look(q, plan, &w, good, err));
    }
    return LB_OK;
}

/* ---- candidates ------------------------------------------------------------------------------------------------------------ */

static lb_status open_sums(sums *q, const lb_fit_case *c, const lb_fit_group *g, lb_k_type type, const lb_gemm_options *gemm,
                           lb_error *err) {
    *q = (sums){.c = c, .parts = (unsigned)g->parts, .s = g->s};
    q->s.reduce = LB_REDUCE_ATOMIC;
    if (!c->base->partial && !c->base->sum) q->s.partial = q->s.sum = type;
    LB_TRY(lb_scheduled_check(&q->x, g->u, &q->s, &c->a, &c->b, c->c.codes ? &c->c : NULL, &c->actual, gemm, err));
    q->value = malloc((sizeof *q->value * MOST_VALUES) << q->parts);
    q->count = malloc(sizeof *q->count << q->parts);
    q->order = malloc(MOST_ORDERS * sizeof *q->order);
    return q->value && q->count && q->order ? LB_OK : lb_fail(err, LB_E_MEMORY, "fit", "no memory for the orders of %u parts", q->parts);
}

static void close_sums(sums *q) {
    free(q->value);
    free(q->count);
    free(q->order);
}

/* Whether atomics of this type are another candidate: to f32, or onto an output that is narrower. */
static bool differs(const lb_fit_case *c, lb_k_type type) {
    const lb_format_id out = c->actual.format->id;
    const bool said = c->base->partial || c->base->sum;
    return type == LB_TYPE_F32 || (!said && type == LB_TYPE_OUT && out != LB_F32);
}

/* A part without tiles adds nothing: the same as a split into fewer, which is a candidate too unless the base says how many. */
static bool has_idle_part(const sums *q, const lb_k_plan *plan) {
    bool idle = false;
    for (size_t p = 0; p < plan->parts; p++) idle = idle || plan->first[p] == plan->first[p + 1];
    return idle && q->c->base->split < 2;
}

static lb_status ask(sums *q, const lb_fit_group *g, bool few, lb_fit_row *row, bool *asked, bool *found, lb_error *err) {
    lb_k_plan plan;
    uint8_t order[LB_MAX_ORDERED];
    bool one = false;
    LB_TRY(lb_k_plan_open(&plan, &q->s, g->u->k, q->c->a.cols, NULL, 0, err));
    const bool idle = has_idle_part(q, &plan);
    lb_status s = idle ? LB_OK : few ? look_at_few(q, &plan, found, err) : look_at_all(q, &plan, found, err);
    *row = (lb_fit_row){.unit = *g->u, .schedule = q->s, .same = q->compared, .compared = q->compared, .any_order = true};
    row->values = q->compared ? (double)q->values / (double)q->compared : 0;
    *asked = !idle;
    if (s == LB_OK && *found && !few && q->parts <= LB_MAX_ORDERED) {
        q->in_order = true;
        add_orders(q, order, 0);
        s = look_at_all(q, &plan, &one, err);
    }
    if (s == LB_OK && one) {
        memcpy(row->schedule.arrival, q->order[0], q->parts);
        row->schedule.arrival_count = q->parts;
        row->any_order = false;
    }
    lb_k_plan_close(&plan);
    return s;
}

lb_status lb_fit_orders(const lb_fit_case *c, const lb_fit_group *g, bool narrow, bool few, const lb_gemm_options *gemm, lb_fit_row *row,
                        bool *asked, bool *found, lb_error *err) {
    const lb_k_type type = narrow ? LB_TYPE_OUT : LB_TYPE_F32;
    *asked = *found = false;
    if (g->s.stream_k || g->parts < 2 || g->parts > MOST_PARTS || !differs(c, type)) return LB_OK;
    sums q;
    lb_status s = open_sums(&q, c, g, type, gemm, err);
    if (s == LB_OK) s = ask(&q, g, few, row, asked, found, err);
    close_sums(&q);
    return s;
}
