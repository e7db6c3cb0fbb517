/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of A against a panel of B: which path each row takes, the chain over K, and the way in and out of the scaled domain. */
#include "kernels/job.h"
#include "kernels/scale.h"

/* ---- which path ------------------------------------------------------------------------------------------------- */

static bool is_late(const lb_plan *p) {
    return p->finish == LB_FINISH_LATE || p->finish == LB_FINISH_LATE_SPLIT;
}

/* Where c joins late, a product of 2^128 or more is an Inf: below 2^(hi + 2) there is none. */
static bool may_overflow(const lb_job *job, size_t i, const lb_panel *panel) {
    return is_late(job->p) && job->rows[i].range.hi + panel->range.hi > 126;
}

static bool row_fits(const lb_job *job, size_t i, const lb_panel *panel, int *x) {
    const lb_range *a = &job->rows[i].range, *b = &panel->range;
    return !job->wide_only && lb_plan_fits(job->p, a->lo + b->lo, a->hi + b->hi, job->k_padded, x);
}

/* panel->first, from the codes of the first chunk. */
static void find_first(const lb_job *job, lb_panel *panel, const uint32_t *codes) {
    const lb_codes *b = &job->p->b;
    if (panel->first_known) return;
    panel->first_known = true;
    memset(panel->first, 0, sizeof panel->first);
    for (int t = 0; t < job->p->terms; t++)
        for (int j = 0; j < LB_NR; j++) {
            const uint32_t mag = codes[t * LB_NR + j] >> b->pad & b->mag_mask;
            panel->first[j] |= (uint64_t)(mag != 0 && mag < b->special) << t;
        }
}

/* c by magnitudes (f32 bits): too large for the domain; or with bits below its last place, which is right only if the first block has
 * a product: otherwise D keeps them. */
static bool c_fits(const lb_job *job, lb_panel *panel, size_t i, int x, const uint32_t *c, const uint32_t *codes) {
    const int lo = x - 126 + job->p->frac_bits;
    if (job->p->finish > LB_FINISH_F16) return true; /* c stays out of the domain */
    const int most = lo + 124 < 124 ? lo + 124 : 124, least = lo - job->p->frac_bits + 23;
    const uint32_t too_large = most < -126 ? 1 : (uint32_t)(most + 1 + 127) << 23, low = least < -126 ? 0 : (uint32_t)(least + 127) << 23;
    uint32_t bad = 0, tiny = 0;
    for (int j = 0; j < panel->columns; j++) {
        const uint32_t mag = c[j] & 0x7fffffff;
        bad |= mag >= too_large && job->p->finish != LB_FINISH_F16;
        tiny |= mag != 0 && mag < low;
    }
    if (tiny) find_first(job, panel, codes);
    for (int j = 0; tiny && j < panel->columns; j++) {
        const uint32_t mag = c[j] & 0x7fffffff;
        bad |= mag != 0 && mag < low && (job->rows[i].first & panel->first[j]) == 0;
    }
    return !bad;
}

/* ---- the caller's c and d ---------------------------------------------------------------------------------------- */

/* f32 bits of a row of c; NaN and Inf become zeros and are flagged. */
static void read_c(const lb_job *job, const lb_panel *panel, size_t i, uint32_t *c, uint8_t *flags) {
    memset(c, 0, (size_t)panel->width * sizeof *c);
    memset(flags, 0, (size_t)panel->width);
    if (!job->c) return;
    lb_codes_line(lb_mat_at(job->c, i, panel->column0), job->c->format->bytes, job->c->col_stride, panel->columns, c);
    if (job->p->c16)
        for (int j = 0; j < panel->columns; j++) c[j] = widen16(c[j]);
    uint32_t any = 0;
    for (int j = 0; j < panel->columns; j++) any |= (c[j] & 0x7fffffff) >= 0x7f800000;
    for (int j = 0; any && j < panel->columns; j++) {
        const uint32_t mag = c[j] & 0x7fffffff;
        if (mag < 0x7f800000) continue;
        flags[j] = mag > 0x7f800000 ? LB_IS_NAN : c[j] >> 31 ? LB_MINUS_INF : LB_PLUS_INF;
        c[j] = 0;
    }
}

static void write_d(const lb_job *job, const lb_panel *panel, size_t i, const float *values) {
    uint32_t codes[LB_NR];
    for (int j = 0; j < panel->columns; j++)
        codes[j] = job->p->c16 ? narrow16(values[j]) : values[j] != values[j] ? job->p->nan32 : bits_of(values[j]);
    char *to = lb_mat_at(&job->d, i, panel->column0);
    const int bytes = job->d.format->bytes;
    if (bytes == 4 && job->d.col_stride == 1) {
        memcpy(to, codes, (size_t)panel->columns * 4);
        return;
    }
    for (int j = 0; j < panel->columns; j++) lb_store_code(to + j * job->d.col_stride * bytes, bytes, codes[j]);
}

/* ---- the chain --------------------------------------------------------------------------------------------------- */

static int chunk_length(const lb_job *job, size_t k0) {
    return job->k_padded - k0 < (size_t)job->chunk ? (int)(job->k_padded - k0) : job->chunk;
}

static void run_fast(const lb_job *job, const lb_panel *panel, size_t k0, int length, size_t row0, size_t rows, const lb_scratch *w) {
    const lb_plan *p = job->p;
    const size_t m = job->d.rows;
    for (size_t r = 0; r < rows; r++) {
        if (w->x[r] >= LB_X_WIDE) continue;
        const size_t at = k0 * m + (row0 + r) * (size_t)length;
        const lb_strip s = {.a = job->packed + at,
                            .a_exp = job->packed_exp + at,
                            .a_neg = job->by_sign ? job->packed_neg + at : NULL,
                            .b = w->b,
                            .b_exp = w->b_exp,
                            .c = w->c + r * LB_NR,
                            .columns = panel->columns,
                            .blocks = length / p->terms,
                            .terms = p->terms,
                            .frac_bits = p->frac_bits,
                            .blocks_a_step = p->k / p->terms,
                            .start = lb_plan_start(p, w->x[r]),
                            .x = w->x[r],
                            .split = job->rows[row0 + r].split};
        if (job->by_sign)
            job->tiles->strip_by_sign(&s, p->finish);
        else
            job->tiles->strip(&s, p->finish);
    }
}

/* Exponents of the scales in column `line`, of each position k0 + t, to out[t][stride]. */
static void read_scales(const lb_job *job, const lb_mat *scales, size_t k0, int length, size_t line, int stride, int16_t *out, bool *nan) {
    for (int t = 0; t < length; t++) {
        const size_t block = (k0 + (size_t)t) / (size_t)job->p->u->scale_block;
        const uint64_t code = block < scales->rows ? lb_mat_code(scales, block, line) : 127; /* e8m0: 2^(code - 127) */
        *nan = *nan || code == 255;
        out[t * stride] = (int16_t)(code == 255 ? 0 : (int)code - 127);
    }
}

/* Row i of A for the f64 path. */
static void pack_wide_row(const lb_job *job, size_t i, size_t k0, int length, double *a, uint32_t *a_exp, uint32_t *a_neg,
                          uint32_t *special, bool *nan_scale) {
    const lb_plan *p = job->p;
    uint32_t codes[LB_KC];
    int16_t scales[LB_KC];
    lb_codes_row(p, &p->a, &job->a, i, k0, length, codes);
    if (job->scaled) read_scales(job, &job->scale_a, k0, length, i, 1, scales, nan_scale);
    job->tiles->wide_a(&p->a, codes, job->scaled ? scales : NULL, length, a, a_exp, a_neg, special);
}

static void pack_wide_panel(const lb_job *job, lb_panel *panel, const uint32_t *codes, size_t k0, int length, const lb_scratch *w) {
    if (job->scaled) {
        memset(w->b_scales, 0, (size_t)length * LB_NR * sizeof *w->b_scales);
        for (int j = 0; j < panel->columns; j++)
            read_scales(job, &job->scale_b, k0, length, panel->column0 + (size_t)j, LB_NR, w->b_scales + j, &panel->nan_scale[j]);
    }
    job->tiles->wide_b(&job->p->b, codes, job->scaled ? w->b_scales : NULL, length, w->wide_b, w->wide_b_exp, panel->special);
}

static int wide_part(const lb_job *job, int left) {
    const int most = lb_wide_part(job->p->k);
    return left < most ? left : most;
}

/* In parts that stay in the first cache. */
static void run_wide(const lb_job *job, lb_panel *panel, size_t k0, int length, size_t row0, size_t rows, const lb_scratch *w) {
    const lb_plan *p = job->p;
    const int zero = 1023 - job->tiles->wide_x, least = zero - 290, floor_field = p->floor_exp + zero; /* least: below every product */
    for (int t0 = 0, here; t0 < length; t0 += here) {
        here = wide_part(job, length - t0);
        pack_wide_panel(job, panel, w->codes + (ptrdiff_t)t0 * LB_NR, k0 + (size_t)t0, here, w);
        for (size_t r = 0; r < rows; r++) {
            if (w->x[r] != LB_X_WIDE) continue;
            const size_t at = (k0 + (size_t)t0) * job->d.rows + (row0 + r) * (size_t)here;
            const bool ready = job->wide_packed;
            uint32_t special = 0;
            bool nan_scale = false;
            if (!ready) pack_wide_row(job, row0 + r, k0 + (size_t)t0, here, w->wide_a, w->wide_a_exp, w->wide_a_neg, &special, &nan_scale);
            const lb_wide_strip s = {.a = ready ? job->wide_packed + at : w->wide_a,
                                     .a_exp = ready ? job->packed_exp + at : w->wide_a_exp,
                                     .a_neg = ready ? job->packed_neg + at : w->wide_a_neg,
                                     .b = w->wide_b,
                                     .b_exp = w->wide_b_exp,
                                     .c = w->c + r * LB_NR,
                                     .columns = panel->columns,
                                     .blocks = here / p->terms,
                                     .terms = p->terms,
                                     .frac_bits = p->frac_bits,
                                     .start = floor_field > least ? floor_field : least};
            job->tiles->wide(&s, p->finish);
        }
    }
}

/* Range of a panel; w->codes: its first chunk. */
static void look_at(const lb_job *job, lb_panel *panel, const lb_scratch *w) {
    const lb_plan *p = job->p;
    panel->range = (lb_range){p->b.e_min, p->b.e_max};
    if (!p->b.narrow && (!job->wide_only || is_late(p))) {
        panel->range = (lb_range){1000, -1000};
        for (size_t k0 = 0; k0 < job->k_padded; k0 += (size_t)job->chunk) {
            const int length = chunk_length(job, k0);
            lb_codes_panel(p, &p->b, &job->b, k0, length, panel->column0, w->codes);
            lb_codes_range(&p->b, w->codes, length * LB_NR, &panel->range);
        }
        if (panel->range.lo > panel->range.hi) panel->range = (lb_range){0, 0};
    }
    const int length = chunk_length(job, 0);
    lb_codes_panel(p, &p->b, &job->b, 0, length, panel->column0, w->codes);
    memset(panel->special, 0, sizeof panel->special);
    memset(panel->nan_scale, 0, sizeof panel->nan_scale);
    panel->first_known = false;
    panel->width = panel->columns <= 16 ? 32 : LB_NR;
}

/* Reads c into w->c, scaled where the row is fast; w->x says which. False if no row is fast; *wide: some are not. */
static bool begin(const lb_job *job, lb_panel *panel, size_t row0, size_t rows, const lb_scratch *w, bool *wide) {
    bool fast = false;
    *wide = false;
    for (size_t r = 0; r < rows; r++) {
        uint32_t c[LB_NR];
        int x;
        read_c(job, panel, row0 + r, c, w->c_flags + r * LB_NR);
        const bool ok = row_fits(job, row0 + r, panel, &x) && c_fits(job, panel, row0 + r, x, c, w->codes);
        w->x[r] = ok ? x : may_overflow(job, row0 + r, panel) ? LB_X_ENGINE : LB_X_WIDE;
        fast = fast || ok;
        *wide = *wide || !ok;
        const bool scaled = ok && job->p->finish < LB_FINISH_F16;
        if (scaled)
            scale_c(c, panel->width, x, w->c + r * LB_NR);
        else
            memcpy(w->c + r * LB_NR, c, (size_t)panel->width * sizeof *c);
    }
    return fast;
}

lb_status lb_job_unit(const lb_job *job, lb_panel *panel, size_t row0, size_t rows, const lb_scratch *w, lb_error *err) {
    const lb_plan *p = job->p;
    bool wide;
    look_at(job, panel, w);
    const bool fast = begin(job, panel, row0, rows, w, &wide);
    for (size_t k0 = 0; k0 < job->k_padded; k0 += (size_t)job->chunk) {
        const int length = chunk_length(job, k0);
        if (k0) lb_codes_panel(p, &p->b, &job->b, k0, length, panel->column0, w->codes);
        if (fast) {
            job->tiles->pack_b(&p->b, w->codes, length, panel->range.lo, 126 - p->frac_bits - job->half_x, p->frac_bits + 1, panel->width,
                               job->by_sign, w->b, w->b_exp, panel->special);
            run_fast(job, panel, k0, length, row0, rows, w);
        }
        if (wide) run_wide(job, panel, k0, length, row0, rows, w);
    }
    lb_job_list_specials(job, panel, w->codes, (size_t)LB_KC * LB_NR);
    lb_status s = LB_OK;
    for (size_t r = 0; s == LB_OK && r < rows; r++) {
        float *values = w->c + r * LB_NR;
        if (w->x[r] < LB_X_WIDE && p->finish < LB_FINISH_F16) unscale(values, panel->width, w->x[r]);
        if (w->x[r] == LB_X_ENGINE)
            s = lb_job_by_engine(job, row0 + r, panel->column0, panel->columns, values, err);
        else
            s = lb_job_specials(job, panel, row0 + r, w->c_flags + r * LB_NR, values, err);
        write_d(job, panel, row0 + r, values);
    }
    return s;
}

static void pack_row_wide_only(const lb_job *job, size_t i, lb_line *line) {
    uint32_t special = 0;
    for (size_t k0 = 0; k0 < job->k_padded; k0 += (size_t)job->chunk) {
        const int length = chunk_length(job, k0);
        for (int t0 = 0, here; t0 < length; t0 += here) {
            here = wide_part(job, length - t0);
            const size_t at = (k0 + (size_t)t0) * job->d.rows + i * (size_t)here;
            pack_wide_row(job, i, k0 + (size_t)t0, here, job->wide_packed + at, job->packed_exp + at, job->packed_neg + at, &special,
                          &line->nan_scale);
        }
    }
    line->special = special != 0 || line->nan_scale;
}

void lb_job_pack_row(const lb_job *job, size_t i) {
    const lb_plan *p = job->p;
    uint32_t codes[LB_KC];
    lb_line *line = &job->rows[i];
    *line = (lb_line){.range = {p->a.e_min, p->a.e_max}};
    if (!p->a.narrow && (!job->wide_only || is_late(p))) {
        line->range = (lb_range){1000, -1000};
        for (size_t k0 = 0; k0 < job->k_padded; k0 += (size_t)job->chunk) {
            const int length = chunk_length(job, k0);
            lb_codes_row(p, &p->a, &job->a, i, k0, length, codes);
            lb_codes_range(&p->a, codes, length, &line->range);
        }
        if (line->range.lo > line->range.hi) line->range = (lb_range){0, 0};
    }
    if (job->wide_only) {
        pack_row_wide_only(job, i, line);
        return;
    }
    for (size_t k0 = 0; k0 < job->k_padded; k0 += (size_t)job->chunk) {
        const int length = chunk_length(job, k0);
        const size_t at = k0 * job->d.rows + i * (size_t)length;
        lb_seen seen;
        lb_codes_row(p, &p->a, &job->a, i, k0, length, codes);
        job->tiles->pack_a(&p->a, codes, length, line->range.lo, job->half_x, p->may_split ? p->terms : 0, job->packed + at,
                           job->packed_exp + at, job->by_sign ? job->packed_neg + at : NULL, &seen);
        line->special = line->special || seen.special;
        line->split = line->split || (p->may_split && seen.sig_most > p->sig_limit);
        if (k0 == 0) line->first = seen.first & ((UINT64_C(2) << (p->terms - 1)) - 1);
    }
}
