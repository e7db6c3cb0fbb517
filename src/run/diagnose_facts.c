/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What can be read off the output itself: not written, stale, one code throughout, NaN and Inf, byte order, bits. */
#include "run/scene.h"

#include <inttypes.h>
#include <math.h>

/* Over all wrong elements, once. */
typedef struct census {
    uint64_t poison, previous, zero, same, same_code; /* same: elements that hold same_code, the first one's */
    uint64_t negative, negative_right;                /* zero where the reference is negative; negative ones that are not wrong */
    uint64_t tiny;                                    /* zero where the reference is subnormal */
    uint64_t nan_added, inf_added, nan_lost, limit;   /* limit: at the largest value of a format */
    const lb_format *limit_format;
    double inf_least, inf_most_right; /* least |reference| where Inf was added; largest where a finite one stayed */
    double limit_least, limit_most_right;
} census;

static const lb_format_id limits[] = {LB_F16, LB_BF16, LB_E4M3, LB_E5M2, LB_F32};

static void count_wrong(const lb_scene *s, census *y, size_t i, size_t j, uint64_t actual, double a, double r) {
    const lb_diagnose_options *o = s->o;
    y->poison += o->has_poison && actual == o->poison;
    y->previous += o->previous && actual == lb_mat_code(o->previous, i, j);
    y->zero += a == 0;
    y->negative += a == 0 && r < 0;
    y->tiny += a == 0 && r != 0 && fabs(r) < ldexp(1, 1 - s->out->bias) && s->out->exp_bits;
    if (!y->same) y->same_code = actual;
    y->same += actual == y->same_code;
    y->nan_added += isnan(a) && !isnan(r);
    y->nan_lost += isfinite(a) && !isfinite(r);
    if (isinf(a) && isfinite(r)) {
        y->inf_added++;
        if (fabs(r) < y->inf_least) y->inf_least = fabs(r);
    }
    for (size_t l = 0; l < sizeof limits / sizeof limits[0] && isfinite(a) && (!isfinite(r) || fabs(r) > fabs(a)); l++) {
        const lb_format *f = lb_format_row(limits[l]);
        if (fabs(a) != lb_to_double(f, lb_max_code(f)) || (y->limit_format && y->limit_format != f)) continue;
        y->limit_format = f;
        y->limit++;
        if (fabs(r) < y->limit_least) y->limit_least = fabs(r);
        break;
    }
}

static census take_census(const lb_scene *s) {
    census y = {.inf_least = INFINITY, .limit_least = INFINITY};
    for (size_t i = 0; i < s->m; i++) {
        for (size_t j = 0; j < s->n; j++) {
            const uint64_t actual = lb_mat_code(&s->o->actual, i, j);
            const double a = lb_scene_value(s, actual), r = lb_scene_value(s, lb_mat_code(&s->o->reference, i, j));
            if (s->wrong[i * s->n + j]) {
                count_wrong(s, &y, i, j, actual, a, r);
            } else if (isfinite(a) && isfinite(r)) {
                y.negative_right += a < 0;
                if (fabs(r) > y.inf_most_right) y.inf_most_right = fabs(r);
            }
        }
    }
    return y;
}

static bool nearly_all(const lb_scene *s, uint64_t part) {
    return part && s->wrong_count - part <= s->wrong_count / 100;
}

/* ---- one code ------------------------------------------------------------------------------------------------------------ */

static void say_one_code(lb_scene *s, const census *y) {
    char what[96];
    if (nearly_all(s, y->poison)) {
        lb_words(what, sizeof what, "not written: the poison is still%s", s->where[0] ? "" : " everywhere that is wrong");
        lb_scene_fact(s, LB_CAUSE_UNWRITTEN, y->poison, what);
    } else if (nearly_all(s, y->previous)) {
        lb_scene_fact(s, LB_CAUSE_STALE, y->previous, "stale: the buffer's previous content remains");
    } else if (nearly_all(s, y->tiny)) {
        lb_scene_fact(s, LB_CAUSE_OUTPUT_FLUSHED, y->tiny, "subnormal results are zero (flushed)");
    } else if (nearly_all(s, y->zero) && y->zero > 8 && y->zero == y->negative && !y->negative_right) {
        lb_scene_fact(s, LB_CAUSE_RELU, y->zero, "negative results are zero (ReLU)");
    } else if (nearly_all(s, y->zero)) {
        lb_scene_fact(s, LB_CAUSE_ZEROED, y->zero, "zero instead of a result");
    } else if (nearly_all(s, y->same) && y->same > 3 && isfinite(lb_scene_value(s, y->same_code)) && !y->limit) {
        lb_words(what, sizeof what, "one code, 0x%0*" PRIx64 " (%.6g),", (s->out->bits + 3) / 4, y->same_code,
                 lb_scene_value(s, y->same_code));
        lb_scene_fact(s, LB_CAUSE_CONSTANT, y->same, what);
    }
}

/* ---- NaN and Inf ----------------------------------------------------------------------------------------------------------- */

/* The first place of an operand that is NaN or Inf and lies in a wrong row of A, or a wrong column of B. */
static bool special_operand(const lb_scene *s, char *text, size_t size) {
    for (size_t i = 0; i < s->m; i++)
        for (size_t p = 0; s->row_wrong[i] && p < s->k; p++)
            if (lb_code_class(s->o->x.a.format, lb_mat_code(&s->o->x.a, i, p)) >= LB_INF) {
                lb_words(text, size, "A[%zu][%zu]", s->o->row_index ? s->o->row_index[i] : i, p);
                return true;
            }
    for (size_t j = 0; j < s->n; j++)
        for (size_t p = 0; s->col_wrong[j] && p < s->k; p++)
            if (lb_code_class(s->b.format, lb_mat_code(&s->b, p, j)) >= LB_INF) {
                lb_words(text, size, "B[%zu][%zu]", p, s->o->col_index ? s->o->col_index[j] : j);
                return true;
            }
    return false;
}

static void say_special(lb_scene *s, const census *y) {
    char what[96], from[40];
    if (nearly_all(s, y->limit) && y->limit >= 2 && y->limit_format &&
        y->inf_most_right <= lb_to_double(y->limit_format, lb_max_code(y->limit_format)) * 1.01) {
        lb_words(what, sizeof what, "saturated at %.6g, the largest %s,", lb_to_double(y->limit_format, lb_max_code(y->limit_format)),
                 y->limit_format->name);
        lb_scene_fact(s, LB_CAUSE_SATURATED, y->limit, what);
    } else if (nearly_all(s, y->inf_added) && y->inf_added >= 2 && y->inf_least >= y->inf_most_right * 0.98) {
        const bool f16 = y->inf_least >= 65000 && y->inf_least < 80000;
        lb_words(what, sizeof what, "overflow: Inf from magnitude %.6g on%s,", y->inf_least, f16 ? ", as f16 (65504) would" : "");
        lb_scene_fact(s, LB_CAUSE_OVERFLOW_EARLY, y->inf_added, what);
    } else if (nearly_all(s, y->nan_added)) {
        size_t rows = 0, cols = 0;
        for (size_t i = 0; i < s->m; i++) rows += s->row_wrong[i] > 0;
        for (size_t j = 0; j < s->n; j++) cols += s->col_wrong[j] > 0;
        const bool a = rows == 1 && cols > 1 && s->fill > 0.9, b = cols == 1 && rows > 1 && s->fill > 0.9;
        lb_words(what, sizeof what, "NaN where the reference has none%s",
                 a   ? " (as from one NaN in that row of A)"
                 : b ? " (as from one NaN in that column of B)"
                     : "");
        lb_scene_fact(s, LB_CAUSE_NAN_ADDED, y->nan_added, what);
    } else if (nearly_all(s, y->nan_lost) && special_operand(s, from, sizeof from)) {
        lb_words(what, sizeof what, "the NaN or Inf of %s is lost", from);
        lb_scene_fact(s, LB_CAUSE_NAN_LOST, y->nan_lost, what);
    }
}

/* ---- bytes and bits ---------------------------------------------------------------------------------------------------------- */

static uint64_t swapped_bytes(uint64_t code, int bytes) {
    uint64_t out = 0;
    for (int i = 0; i < bytes; i++) out |= (code >> (8 * i) & 0xff) << (8 * (bytes - 1 - i));
    return out;
}

static bool bytes_fit(const lb_scene *s, bool wrong_only, uint64_t *tried, uint64_t *given) {
    *tried = *given = 0;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const uint64_t actual = lb_mat_code(&s->o->actual, i, j);
            if (!s->inside[i * s->n + j] || (wrong_only && !s->wrong[i * s->n + j])) continue;
            ++*tried;
            *given += lb_scene_legal(s, i, swapped_bytes(actual, s->out->bytes), lb_mat_code(&s->o->reference, i, j));
        }
    return *tried - *given <= *tried / 100;
}

static void say_bytes(lb_scene *s) {
    uint64_t tried, given;
    if (s->out->bytes < 2 || !s->far || s->wrong_count < 4) return;
    if (bytes_fit(s, true, &tried, &given) && bytes_fit(s, false, &tried, &given))
        lb_scene_fact(s, LB_CAUSE_BYTE_ORDER, s->wrong_count, "byte order: each element's bytes are swapped");
}

/* One bit on which every wrong element differs from what it should be, to within the tolerance. */
static void say_bit(lb_scene *s) {
    if (s->wrong_count < 8 || !s->far) return;
    for (int bit = s->out->bits - 1; bit >= s->out->pad_bits; bit--) {
        const uint64_t mask = UINT64_C(1) << bit;
        uint64_t given = 0, set = 0, seen = 0;
        bool right_set = true, right_clear = true;
        for (size_t i = 0; i < s->m && seen - given <= s->wrong_count / 100; i++) {
            for (size_t j = 0; j < s->n; j++) {
                const uint64_t actual = lb_mat_code(&s->o->actual, i, j);
                if (!s->wrong[i * s->n + j]) {
                    if (s->inside[i * s->n + j]) right_set = right_set && (actual & mask), right_clear = right_clear && !(actual & mask);
                    continue;
                }
                seen++;
                set += (actual & mask) != 0;
                given += lb_scene_legal(s, i, actual ^ mask, lb_mat_code(&s->o->reference, i, j));
            }
        }
        if (seen != s->wrong_count || !nearly_all(s, given)) continue;
        const bool sign = bit == s->out->bits - 1, stuck = (set == seen && right_set) || (set == 0 && right_clear);
        if (sign || !stuck) continue; /* a sign is named as such; a bit that flips now and then is chance */
        char what[64];
        lb_words(what, sizeof what, "bit %d is always %s", bit, set ? "set" : "clear");
        lb_scene_fact(s, LB_CAUSE_STUCK_BIT, given, what);
        return;
    }
}

void lb_try_facts(lb_scene *s) {
    const census y = take_census(s);
    say_one_code(s, &y);
    if (!s->best.cause) say_special(s, &y);
    if (!s->best.cause) say_bytes(s);
    if (!s->best.cause) say_bit(s);
}
