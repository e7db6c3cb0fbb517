/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Questions as a request: a dot/1 recording that waits for its answers. */
#include "lastbit/io.h"
#include "lastbit/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row of the request asks: "floor_exp: -133 gives 0x00000007, none gives 0x00000008". */
static void describe(const lb_decision *d, const lb_question *q, char text[160]) {
    char row[24], other[24];
    const int digits = (lb_format_row(d->unit.d)->bits + 3) / 4;
    lb_candidate_value_text(q->parameter, lb_candidate_get(&d->row, q->parameter), row);
    lb_candidate_value_text(q->parameter, lb_candidate_get(&q->other, q->parameter), other);
    snprintf(text, 160, "%s: %s gives 0x%0*" PRIx32 ", %s gives 0x%0*" PRIx32, lb_candidate_name(q->parameter), row, digits, q->row_code,
             other, digits, q->other_code);
}

static void store(void *codes, size_t at, const lb_format *f, uint32_t code) {
    lb_store_code((char *)codes + at * (size_t)f->bytes, f->bytes, code);
}

static lb_status write_rows(const lb_decision *d, size_t rows, const char *path, void *a, void *b, void *c, char (*asks)[160],
                            lb_error *err) {
    enum { FIXED = 9, MOST = 32 };
    const lb_unit *u = &d->unit;
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
    char k[16], keys[MOST][16];
    const char *metadata[2 * (FIXED + MOST)] = {"lastbit.recording",
                                                "dot/1",
                                                "lastbit.request",
                                                "1",
                                                "unit",
                                                u->name,
                                                "a_format",
                                                fa->name,
                                                "b_format",
                                                fb->name,
                                                "c_format",
                                                fc->name,
                                                "d_format",
                                                lb_format_row(u->d)->name,
                                                "k",
                                                k,
                                                "note",
                                                "asks.N says what row N tells apart"};
    size_t at = 0;
    for (size_t i = 0; i < d->count; i++) {
        const lb_question *q = &d->questions[i];
        if (!q->found) continue;
        for (size_t p = 0; p < u->k; p++) {
            store(a, at * u->k + p, fa, q->a[p]);
            store(b, at * u->k + p, fb, q->b[p]);
        }
        store(c, at, fc, q->c);
        describe(d, q, asks[at]);
        snprintf(keys[at], sizeof keys[at], "asks.%zu", at);
        metadata[2 * (FIXED + at)] = keys[at];
        metadata[2 * (FIXED + at) + 1] = asks[at];
        at++;
    }
    snprintf(k, sizeof k, "%u", u->k);
    const lb_tensor tensors[] = {
        {"a", lb_dtype_of_codes(fa), 2, {rows, u->k}, a, rows * u->k * (size_t)fa->bytes},
        {"b", lb_dtype_of_codes(fb), 2, {rows, u->k}, b, rows * u->k * (size_t)fb->bytes},
        {"c", lb_dtype_of_codes(fc), 1, {rows}, c, rows * (size_t)fc->bytes},
    };
    return lb_safetensors_write(path, tensors, 3, metadata, FIXED + rows, err);
}

lb_status lb_decision_write(const lb_decision *d, const char *path, lb_error *err) {
    size_t rows = 0;
    for (size_t i = 0; i < d->count; i++) rows += d->questions[i].found;
    if (!rows) return lb_fail(err, LB_E_ARG, d->unit.name, "no input was found that tells anything apart: nothing to ask");
    void *a = calloc(rows * d->unit.k, 8), *b = calloc(rows * d->unit.k, 8), *c = calloc(rows, 8);
    char(*asks)[160] = calloc(rows, sizeof *asks);
    const lb_status s = a && b && c && asks ? write_rows(d, rows, path, a, b, c, asks, err) : lb_fail(err, LB_E_MEMORY, path, "no memory");
    free(a);
    free(b);
    free(c);
    free(asks);
    return s;
}
