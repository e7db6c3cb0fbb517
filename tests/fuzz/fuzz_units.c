/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit: a row whose parameters the bytes change, with operands made of the rest. Whatever is asked of it, it is
 * refused with a message, or gives the same bits twice; a dot and a product of one element agree. */
#include "lastbit/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_K = 600, FIELDS = 13 };

typedef struct input {
    const uint8_t *bytes;
    size_t size, at;
} input;

static uint8_t next(input *in) {
    return in->at < in->size ? in->bytes[in->at++] : 0;
}

static lb_unit changed_row(input *in) {
    size_t rows = 0;
    while (lb_unit_row(rows)) rows++;
    const size_t row = next(in) | (size_t)next(in) << 8, changes = next(in) | (size_t)next(in) << 8;
    lb_unit u = *lb_unit_row(row % rows);
    int values[FIELDS];
    for (int i = 0; i < FIELDS; i++) values[i] = changes >> i & 1 ? next(in) : -1;
    if (values[0] >= 0) u.path = (lb_unit_path)(values[0] % LB_PATH_COUNT);
    if (values[1] >= 0) u.round = (lb_unit_round)(values[1] % LB_UNIT_ROUND_COUNT);
    if (values[2] >= 0) u.a = (lb_format_id)(values[2] % LB_FORMAT_COUNT);
    if (values[3] >= 0) u.b = (lb_format_id)(values[3] % LB_FORMAT_COUNT);
    if (values[4] >= 0) u.c = u.d = (lb_format_id)(values[4] % LB_FORMAT_COUNT);
    if (values[5] >= 0) u.k = (uint16_t)(values[5] * 2);
    if (values[6] >= 0) u.terms = values[6] - 8;
    if (values[7] >= 0) u.frac_bits = values[7] - 8;
    if (values[8] >= 0) u.floor_exp = values[8] - 250;
    if (values[9] >= 0) u.scale = (lb_format_id)(values[9] % LB_FORMAT_COUNT);
    if (values[10] >= 0) u.scale_block = values[10] - 8;
    if (values[11] >= 0) u.group = values[11] - 8;
    if (values[12] >= 0) u.sparse_group = values[12] % 8 - 1;
    return u;
}

/* rows x cols codes of the format, from the bytes. calloc */
static void *draw(input *in, lb_format_id id, size_t rows, size_t cols, lb_mat *m) {
    const lb_format *f = lb_format_row(id);
    void *codes = calloc(rows * cols + 1, 8);
    if (!codes) abort();
    *m = lb_mat_of(f, codes, rows, cols);
    const uint64_t mask = ~UINT64_C(0) >> (64 - f->bits);
    for (size_t i = 0; i < rows * cols; i++) {
        uint64_t code = 0;
        for (int byte = 0; byte < f->bytes; byte++) code = code << 8 | next(in);
        lb_store_code((char *)codes + i * (size_t)f->bytes, f->bytes, code & mask);
    }
    return codes;
}

static void run(const lb_unit *u, input *in) {
    const size_t k = next(in) % 3 * 7 + u->k, a_cols = u->sparse_group ? k / 2 : k;
    const size_t scales = u->scale_block > 0 ? (k + (size_t)u->scale_block - 1) / (size_t)u->scale_block : 1;
    lb_mat a, b, c, x, y, meta, d;
    uint64_t first = 0, second = 0;
    lb_error err = {0};
    void *owned[] = {draw(in, LB_U8, 1, a_cols, &meta), draw(in, u->c, 1, 1, &c),      draw(in, u->scale, 1, scales, &x),
                     draw(in, u->scale, scales, 1, &y), draw(in, u->a, 1, a_cols, &a), draw(in, u->b, k, 1, &b)};
    for (size_t i = 0; i < a_cols; i++) /* places that may be right */
        ((uint8_t *)meta.codes)[i] =
            (uint8_t)(u->sparse_group == 4 ? (i % 2 ? 2 + ((uint8_t *)meta.codes)[i] % 3 : ((uint8_t *)meta.codes)[i] % 2)
                                           : ((uint8_t *)meta.codes)[i] % 3);
    const lb_unit_operands with = {
        .scale_a = u->scale_block ? &x : NULL, .scale_b = u->scale_block ? &y : NULL, .metadata = u->sparse_group ? &meta : NULL};
    d = lb_mat_of(lb_format_row(u->d), &first, 1, 1);
    const lb_status s = lb_unit_gemm_with(u, &a, &b, &c, &with, &d, &err);
    if (s != LB_OK && (!*err.message || first)) abort();
    d.codes = &second;
    if (lb_unit_gemm_with(u, &a, &b, &c, &with, &d, &err) != s || first != second) abort();
    uint32_t ca[MAX_K], cb[MAX_K], dot = 0;
    if (lb_unit_dot_check(u, &err) == LB_OK && k == u->k && s == LB_OK) {
        for (size_t i = 0; i < k; i++) {
            ca[i] = (uint32_t)lb_mat_code(&a, 0, i);
            cb[i] = (uint32_t)lb_mat_code(&b, i, 0);
        }
        if (lb_unit_dot(u, ca, cb, k, (uint32_t)lb_mat_code(&c, 0, 0), &dot, &err) == LB_OK && dot != (uint32_t)first) abort();
    }
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    input in = {bytes, size, 0};
    const lb_unit u = changed_row(&in);
    run(&u, &in);
    return 0;
}
