/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A strided output block against a reference, with the memory around it audited: gaps between rows, guards at both ends. */
#include "base/try.h"
#include "lastbit/power.h"
#include "lastbit/run.h"
#include "run/describe.h"

#include <math.h>
#include <string.h>

typedef struct block {
    const unsigned char *bytes;
    size_t size, guard, ld, m, n, width; /* ld, n in elements of width bytes */
} block;

static lb_status block_of(const lb_block_options *o, block *b, lb_error *err) {
    *b = (block){o->actual,
                 o->actual_bytes,
                 o->guard_bytes,
                 o->ld ? o->ld : o->reference.cols,
                 o->reference.rows,
                 o->reference.cols,
                 (size_t)o->reference.format->bytes};
    if (b->ld < b->n) return lb_fail(err, LB_E_SHAPE, "--ld", "%zu is less than the %zu columns of the reference", b->ld, b->n);
    if (b->guard % b->width)
        return lb_fail(err, LB_E_SHAPE, "--guard", "%zu bytes is no multiple of the %zu-byte elements", b->guard, b->width);
    if (b->ld && b->m > SIZE_MAX / 16 / b->ld) return lb_fail(err, LB_E_SHAPE, "--ld", "%zu rows of %zu are too large", b->m, b->ld);
    const size_t full = b->m * b->ld * b->width, gap = b->m ? (b->ld - b->n) * b->width : 0;
    if (b->guard > SIZE_MAX / 4) return lb_fail(err, LB_E_SHAPE, "--guard", "%zu bytes are too many", b->guard);
    /* the last row's gap may be left out where there are no guards behind it */
    if (b->size != full + 2 * b->guard && !(b->guard == 0 && b->size == full - gap))
        return lb_fail(err, LB_E_SHAPE, "ACTUAL", "%zu bytes; %zu rows of %zu elements of %zu bytes and two guards of %zu make %zu",
                       b->size, b->m, b->ld, b->width, b->guard, full + 2 * b->guard);
    return LB_OK;
}

/* Elements in [from, to), byte offsets, that no longer hold the sentinel; *first is the first such offset. */
static size_t damage_in(const block *b, uint64_t sentinel, size_t from, size_t to, size_t *first) {
    size_t damaged = 0;
    for (size_t at = from; at + b->width <= to && at + b->width <= b->size; at += b->width) {
        if (lb_load_code(b->bytes + at, (int)b->width) == sentinel) continue;
        if (!damaged && *first == SIZE_MAX) *first = at;
        damaged++;
    }
    return damaged;
}

static size_t audit(const block *b, uint64_t sentinel, size_t *first) {
    const size_t row = b->ld * b->width;
    size_t damaged = damage_in(b, sentinel, 0, b->guard, first);
    for (size_t r = 0; r < b->m; r++)
        damaged += damage_in(b, sentinel, b->guard + r * row + b->n * b->width, b->guard + (r + 1) * row, first);
    return damaged + damage_in(b, sentinel, b->guard + b->m * row, b->size, first);
}

static lb_status grade_block(const lb_block_options *o, const block *b, lb_record *r, lb_error *err) {
    const lb_format *f = o->reference.format;
    lb_mat actual = lb_mat_of(f, b->bytes + b->guard, b->m, b->n);
    actual.row_stride = (ptrdiff_t)b->ld;
    const lb_grade_input in = {.actual = actual,
                               .reference = o->reference,
                               .contract = o->contract,
                               .k = o->k,
                               .has_sentinel = o->has_sentinel,
                               .sentinel = o->sentinel,
                               .max_outliers = o->max_outliers};
    LB_TRY(lb_grade(&in, r, err));
    lb_describe_grade(r, f, o->contract, b->m, b->n, o->k);
    if (b->ld != b->n) lb_record_text(&r->case_string, "%s ld=%zu", r->case_string, b->ld);
    if (o->has_sentinel) lb_record_text(&r->coverage, "all, gaps and guards too");
    const lb_power_input p = {.grade = &in, .allow_blind = o->allow_blind, .allow_blind_count = o->allow_blind_count};
    if (o->power) LB_TRY(lb_power(&p, r, err));
    if (!o->has_sentinel) return LB_OK;
    size_t first = SIZE_MAX;
    r->counts.guard_damage = audit(b, o->sentinel, &first);
    if (r->counts.guard_damage) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->cause, "writes outside the output");
        lb_record_text(&r->reason, "%llu elements of gaps and guards were changed, the first at byte %zu",
                       (unsigned long long)r->counts.guard_damage, first);
    }
    return LB_OK;
}

lb_status lb_grade_block(const lb_block_options *o, lb_record **out, lb_error *err) {
    block b;
    lb_record *r = NULL;
    const double start = lb_seconds();
    *out = NULL;
    if (!o->contract) return lb_fail(err, LB_E_ARG, "grade", "nothing to judge by: give a contract");
    if (o->guard_bytes && !o->has_sentinel) return lb_fail(err, LB_E_ARG, "--guard", "guards are known by what they hold: give --sentinel");
    LB_TRY(block_of(o, &b, err));
    LB_TRY(lb_record_open(&r, err));
    const lb_status s = grade_block(o, &b, r, err);
    r->seconds_total = lb_seconds() - start;
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
