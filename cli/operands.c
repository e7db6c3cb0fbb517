/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A, B, C and D as the user names them. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lb_status cli_parse_shape(const char *text, size_t *sizes, int *rank, lb_error *err) {
    const char *p = text;
    *rank = 0;
    for (;;) {
        char *end;
        const unsigned long long n = *p >= '0' && *p <= '9' ? strtoull(p, &end, 10) : 0;
        if (!(*p >= '0' && *p <= '9') || *rank == LB_MAX_RANK || n > SIZE_MAX / 64 || (*end && *end != 'x'))
            return lb_fail(err, LB_E_ARG, "--shape", "\"%s\" is no shape; write 64x128x256", text);
        sizes[(*rank)++] = (size_t)n;
        if (!*end) return LB_OK;
        p = end + 1;
    }
}

/* The format that was said, or the fallback, or NULL: whatever the file names. */
static lb_status chosen(const char *said, const lb_format *fallback, const lb_format **out, lb_error *err) {
    *out = fallback;
    return said ? lb_format_get(said, out, err) : LB_OK;
}

/* How to read a raw operand of rows x cols; shape[3] is M, N, K. */
static lb_status raw_options(const cli_formats *f, const lb_format *format, size_t rows, size_t cols, lb_file_options *out, lb_error *err) {
    *out = (lb_file_options){0};
    if (!f->shape) return LB_OK;
    if (!f->dtype && !format) return lb_fail(err, LB_E_FORMAT, "--shape", "raw files name no type: say --in FORMAT or --dtype TYPE");
    out->raw_dtype = f->dtype ? f->dtype : lb_dtype_of_codes(format)->name;
    out->raw_rank = 2;
    out->raw_shape[0] = rows;
    out->raw_shape[1] = cols;
    return LB_OK;
}

lb_status cli_find_unit(const char *name, const cli_texts *set, lb_unit *out, lb_error *err) {
    lb_status s = strncmp(name, "file:", 5) == 0 ? lb_unit_read(name + 5, out, err) : lb_unit_find(name, out, err);
    for (size_t i = 0; s == LB_OK && i < set->count; i++) s = lb_unit_set(out, set->items[i], err);
    return s;
}

typedef struct mnk {
    size_t m, n, k;
} mnk;

static lb_status parse_mnk(const cli_formats *f, mnk *out, lb_error *err) {
    size_t sizes[LB_MAX_RANK];
    int rank;
    *out = (mnk){0};
    if (!f->shape) return LB_OK;
    lb_status s = cli_parse_shape(f->shape, sizes, &rank, err);
    if (s != LB_OK) return s;
    if (rank != 3) return lb_fail(err, LB_E_ARG, "--shape", "\"%s\": a product has three sizes, MxNxK", f->shape);
    *out = (mnk){sizes[0], sizes[1], sizes[2]};
    return LB_OK;
}

static lb_status load(lb_operand *out, const char *spec, const cli_formats *f, const lb_format *format, size_t rows, size_t cols,
                      lb_error *err) {
    lb_file_options options;
    lb_status s = raw_options(f, format, rows, cols, &options, err);
    return s == LB_OK ? lb_operand_open(out, spec, format, &options, err) : s;
}

lb_status cli_load_operands(cli_operands *o, char **args, int count, const cli_formats *f, const lb_unit *unit, lb_error *err) {
    const lb_format *in, *in_b, *acc;
    mnk size;
    *o = (cli_operands){0};
    lb_status s = parse_mnk(f, &size, err);
    if (s == LB_OK) s = chosen(f->in, unit ? lb_format_row(unit->a) : NULL, &in, err);
    if (s == LB_OK) s = chosen(f->in_b, f->in || !unit ? in : lb_format_row(unit->b), &in_b, err);
    if (s == LB_OK) s = chosen(f->acc, unit ? lb_format_row(unit->c) : f->shape ? lb_format_row(LB_F32) : NULL, &acc, err);
    const size_t a_cols = unit && unit->sparse_group ? size.k / 2 : size.k; /* a compressed A */
    if (s == LB_OK) s = load(&o->a, args[0], f, in, size.m, a_cols, err);
    if (s == LB_OK) s = load(&o->b, args[1], f, in_b, f->tb ? size.n : size.k, f->tb ? size.k : size.n, err);
    if (s == LB_OK && count > 2) s = load(&o->c, args[2], f, acc, size.m, size.n, err);
    if (s == LB_OK) {
        o->x = (lb_case){.op = "matmul", .a = o->a.mat, .b = o->b.mat, .c = o->c.mat, .b_transposed = f->tb};
        return LB_OK;
    }
    cli_close_operands(o);
    return s;
}

void cli_close_operands(cli_operands *o) {
    lb_operand_close(&o->a);
    lb_operand_close(&o->b);
    lb_operand_close(&o->c);
    *o = (cli_operands){0};
}

lb_status cli_load_extras(cli_extra_operands *out, const cli_extras *e, const cli_formats *f, const cli_operands *o, const lb_unit *unit,
                          lb_error *err) {
    *out = (cli_extra_operands){0};
    const lb_format *scale = unit->scale_block ? lb_format_row(unit->scale) : NULL;
    const size_t m = lb_case_m(&o->x), n = lb_case_n(&o->x), block = unit->scale_block ? (size_t)unit->scale_block : 1;
    const size_t scales = (lb_case_b(&o->x).rows + block - 1) / block;
    lb_status s = LB_OK;
    if ((e->scale_a || e->scale_b) && !scale) return lb_fail(err, LB_E_ARG, unit->name, "this unit takes no scales");
    if (e->scale_a) s = load(&out->scale_a, e->scale_a, f, scale, m, scales, err);
    if (s == LB_OK && e->scale_b) s = load(&out->scale_b, e->scale_b, f, scale, f->tb ? n : scales, f->tb ? scales : n, err);
    if (s == LB_OK && e->metadata) s = load(&out->metadata, e->metadata, f, lb_format_row(LB_U8), m, o->a.mat.cols, err);
    if (s != LB_OK) {
        cli_close_extras(out);
        return s;
    }
    out->scale_b_mat = f->tb && e->scale_b ? lb_mat_transposed(out->scale_b.mat) : out->scale_b.mat;
    out->with = (lb_unit_operands){.scale_a = e->scale_a ? &out->scale_a.mat : NULL,
                                   .scale_b = e->scale_b ? &out->scale_b_mat : NULL,
                                   .metadata = e->metadata ? &out->metadata.mat : NULL};
    return LB_OK;
}

void cli_close_extras(cli_extra_operands *e) {
    lb_operand_close(&e->scale_a);
    lb_operand_close(&e->scale_b);
    lb_operand_close(&e->metadata);
    *e = (cli_extra_operands){0};
}

/* One number for all. */
static void spread(lb_mat *m, size_t rows, size_t cols) {
    *m = (lb_mat){.format = m->format, .codes = m->codes, .rows = rows, .cols = cols};
}

lb_status cli_load_scales(cli_scales *out, const char *a, const char *b, const cli_formats *f, const lb_case *x, lb_schedule *schedule,
                          lb_error *err) {
    *out = (cli_scales){0};
    lb_status s = a ? lb_operand_open(&out->a, a, NULL, NULL, err) : LB_OK;
    if (s == LB_OK && b) s = lb_operand_open(&out->b, b, NULL, NULL, err);
    if (s != LB_OK) return s;
    const size_t m = lb_case_m(x), n = lb_case_n(x);
    const bool columns = !schedule->promote && out->b.mat.rows == 1 && out->b.mat.cols == n;
    out->a_mat = out->a.mat;
    out->b_mat = f->tb && b && !columns ? lb_mat_transposed(out->b.mat) : out->b.mat;
    if (a) schedule->scale_a = &out->a_mat;
    if (b) schedule->scale_b = &out->b_mat;
    if (schedule->promote || !a || !b) return LB_OK;
    if (out->a_mat.rows == 1 && out->a_mat.cols == m) out->a_mat = lb_mat_transposed(out->a_mat);
    const bool one_of_b = out->b_mat.rows == 1 && out->b_mat.cols == 1, one_of_a = out->a_mat.rows == 1 && out->a_mat.cols == 1;
    if ((columns || one_of_b) && out->a_mat.cols == 1 && !schedule->scale_m && !schedule->scale_n)
        schedule->scale_m = schedule->scale_n = 1;
    if (one_of_a && schedule->scale_m == 1) spread(&out->a_mat, m, 1);
    if (one_of_b && schedule->scale_n == 1) spread(&out->b_mat, 1, n);
    return LB_OK;
}

void cli_close_scales(cli_scales *s) {
    lb_operand_close(&s->a);
    lb_operand_close(&s->b);
    *s = (cli_scales){0};
}

lb_status cli_load_output(lb_operand *out, const char *spec, const cli_formats *f, const lb_case *x, const lb_format *fallback,
                          lb_error *err) {
    const lb_format *said;
    lb_status s = chosen(f->out, NULL, &said, err);
    if (s != LB_OK) return s;
    if (said || f->shape) return load(out, spec, f, said ? said : fallback, lb_case_m(x), lb_case_n(x), err);
    s = load(out, spec, f, NULL, 0, 0, err); /* the type that the file names … */
    if (s == LB_E_FORMAT && fallback) s = load(out, spec, f, fallback, 0, 0, err);
    return s;
}

lb_status cli_spread_bias(const char *spec, const lb_mat *from, lb_mat *bias, size_t m, size_t n, lb_error *err) {
    *bias = *from;
    if (bias->rows == 1) bias->row_stride = 0;
    if (bias->cols == 1) bias->col_stride = 0;
    if (bias->rows == 1) bias->rows = m;
    if (bias->cols == 1) bias->cols = n;
    if (bias->rows == m && bias->cols == n) return LB_OK;
    return lb_fail(err, LB_E_SHAPE, spec, "%zux%zu; a bias of D, %zux%zu, is 1x%zu or %zux1", from->rows, from->cols, m, n, n, m);
}
