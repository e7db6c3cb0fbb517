/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where an output is wrong: rows by columns, tiles, places within a tile; and the words for it. */
#include "run/scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------------------------------- */

void lb_words(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

static size_t place(const size_t *index, size_t line) {
    return index ? index[line] : line;
}

double lb_tidy(double x, double slack) {
    if (x == 0 || !isfinite(x)) return x;
    for (int digits = 1; digits < 8; digits++) {
        const double unit = pow(10, digits - 1 - floor(log10(fabs(x)))), y = round(x * unit) / unit;
        if (fabs(x - y) <= slack * fabs(x)) return y;
    }
    return x;
}

/* lines are exactly those with line mod period in first..last; false if there is no such period up to half of n. */
static bool find_period(const size_t *lines, size_t count, size_t n, size_t *period, size_t *first, size_t *last) {
    for (size_t p = 2; p <= n / 2 && p <= 1024; p++) {
        size_t low = p, high = 0, want = 0;
        for (size_t i = 0; i < count; i++) {
            const size_t r = lines[i] % p;
            if (r < low) low = r;
            if (r > high) high = r;
        }
        for (size_t i = 0; i < n; i++) want += i % p >= low && i % p <= high;
        if (want != count) continue;
        *period = p;
        *first = low;
        *last = high;
        return true;
    }
    return false;
}

void lb_lines_text(char *out, size_t size, const char *noun, const size_t *lines, size_t count, size_t n, const size_t *index) {
    size_t period, first, last;
    out[0] = 0;
    if (!count || count == n) return;
    const size_t from = place(index, lines[0]), to = place(index, lines[count - 1]);
    if (count == 1)
        lb_words(out, size, "%s %zu", noun, from);
    else if (lines[count - 1] - lines[0] + 1 == count)
        lb_words(out, size, "%ss %zu..%zu", noun, from, to);
    else if (count == 2)
        lb_words(out, size, "%ss %zu and %zu", noun, from, to);
    else if (!index && find_period(lines, count, n, &period, &first, &last) && first == last)
        lb_words(out, size, "every %zuth %s from %zu", period, noun, first);
    else if (!index && find_period(lines, count, n, &period, &first, &last))
        lb_words(out, size, "%ss mod %zu in %zu..%zu", noun, period, first, last);
    else if (count == 3)
        lb_words(out, size, "%ss %zu, %zu and %zu", noun, from, place(index, lines[1]), to);
    else
        lb_words(out, size, "%zu of %zu %ss", count, n, noun);
}

/* ---- regions ------------------------------------------------------------------------------------------------------------ */

/* A region as a class of each element: rows by columns, tiles of t x t, or residues modulo p x q. */
typedef struct shape {
    size_t tile;       /* 0: not tiles */
    size_t rows, cols; /* periods; 0: not residues */
} shape;

static size_t class_of(const shape *h, const lb_scene *s, size_t i, size_t j) {
    return h->tile ? i / h->tile * ((s->n + h->tile - 1) / h->tile) + j / h->tile : i % h->rows * h->cols + j % h->cols;
}

static size_t class_count(const shape *h, const lb_scene *s) {
    if (!h->tile) return h->rows * h->cols;
    return ((s->m + h->tile - 1) / h->tile) * ((s->n + h->tile - 1) / h->tile);
}

/* Elements of the classes that hold anything wrong; hit [classes]. */
static uint64_t cover(const shape *h, const lb_scene *s, uint8_t *hit) {
    uint64_t elements = 0;
    memset(hit, 0, class_count(h, s));
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++)
            if (s->wrong[i * s->n + j]) hit[class_of(h, s, i, j)] = 1;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) elements += hit[class_of(h, s, i, j)];
    return elements;
}

static void describe_classes(const shape *h, lb_scene *s, const uint8_t *hit) {
    const size_t count = class_count(h, s), across = h->tile ? (s->n + h->tile - 1) / h->tile : h->cols;
    size_t hits = 0, first = count, parity[2] = {0};
    for (size_t c = 0; c < count; c++) {
        if (!hit[c]) continue;
        if (first == count) first = c;
        hits++;
        parity[(c / across + c % across) % 2]++;
    }
    if (h->tile && hits > 2 && (!parity[0] || !parity[1]))
        lb_words(s->where, sizeof s->where, "%s %zux%zu tiles (tile row + column)", parity[0] ? "even" : "odd", h->tile, h->tile);
    else if (h->tile)
        lb_words(s->where, sizeof s->where, "%zu tiles of %zux%zu, first (%zu,%zu)", hits, h->tile, h->tile, first / across,
                 first % across);
    else
        lb_words(s->where, sizeof s->where, "%zu of %zu places of each %zux%zu tile, first (%zu,%zu)", hits, count, h->rows, h->cols,
                 first / across, first % across);
}

static void describe_product(lb_scene *s, const size_t *rows, size_t row_count, const size_t *cols, size_t col_count) {
    char r[32], c[32];
    lb_lines_text(r, sizeof r, "row", rows, row_count, s->m, s->o->row_index);
    lb_lines_text(c, sizeof c, "column", cols, col_count, s->n, s->o->col_index);
    lb_words(s->where, sizeof s->where, "%s%s%s", r, r[0] && c[0] ? " x " : "", c);
    s->region_proper = row_count < s->m || col_count < s->n;
}

static size_t lines_with(const uint32_t *wrong, size_t n, size_t *lines) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (wrong[i]) lines[count++] = i;
    return count;
}

/* Tiles or residues, where they hold much less than rows by columns do. */
static void find_classes(lb_scene *s, uint64_t product) {
    static const shape shapes[] = {{.tile = 128},
                                   {.tile = 64},
                                   {.tile = 32},
                                   {.tile = 16},
                                   {.tile = 8},
                                   {.rows = 8, .cols = 8},
                                   {.rows = 16, .cols = 8},
                                   {.rows = 16, .cols = 16},
                                   {.rows = 32, .cols = 32}};
    uint64_t least = product * 6 / 10;
    const shape *chosen = NULL;
    uint8_t *hit = calloc((s->m / 8 + 2) * (s->n / 8 + 2) + 1024, 1);
    for (size_t i = 0; hit && i < sizeof shapes / sizeof shapes[0] && s->wrong_count >= 16; i++) {
        if ((shapes[i].rows && (s->m < 2 * shapes[i].rows || s->n < 2 * shapes[i].cols)) || s->o->row_index || s->o->col_index) continue;
        const uint64_t elements = cover(&shapes[i], s, hit);
        if (elements > least || s->wrong_count * 4 < elements) continue;
        least = elements - 1;
        chosen = &shapes[i];
    }
    if (chosen) {
        cover(chosen, s, hit);
        for (size_t i = 0; i < s->m; i++)
            for (size_t j = 0; j < s->n; j++) s->inside[i * s->n + j] = hit[class_of(chosen, s, i, j)];
        s->fill = (double)s->wrong_count / (double)(least + 1);
        s->region_proper = true;
        describe_classes(chosen, s, hit);
    }
    free(hit);
}

lb_status lb_scene_find_region(lb_scene *s) {
    size_t *rows = malloc((s->m + 1) * sizeof *rows), *cols = malloc((s->n + 1) * sizeof *cols);
    if (!rows || !cols) {
        free(rows);
        free(cols);
        return lb_fail(s->err, LB_E_MEMORY, "diagnose", "no memory for %zu rows and %zu columns", s->m, s->n);
    }
    const size_t row_count = lines_with(s->row_wrong, s->m, rows), col_count = lines_with(s->col_wrong, s->n, cols);
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) s->inside[i * s->n + j] = s->row_wrong[i] && s->col_wrong[j];
    s->fill = (double)s->wrong_count / ((double)row_count * (double)col_count);
    describe_product(s, rows, row_count, cols, col_count);
    if (s->fill < 0.6) find_classes(s, (uint64_t)row_count * col_count);
    free(rows);
    free(cols);
    return LB_OK;
}
