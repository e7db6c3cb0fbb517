/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Registers to matrices and back, and one instruction of a whole warp. */
#include "lastbit/fragments.h"

#include <stdlib.h>
#include <string.h>

/* tf32: the two codes of metadata that mean anything, for places 0 and 1 of a group of two. source: ptx-isa 9.7.14.6.1 */
static const uint32_t pair_codes[] = {0x4, 0xe};

/* ---- elements of registers ---------------------------------------------------------------------------------------------- */

static uint64_t mask(int bits) {
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static uint64_t load_element(const lb_fragment *f, const uint32_t *regs, lb_slot at) {
    const uint32_t *reg = regs + (size_t)at.lane * (size_t)f->registers + at.reg;
    if (f->bits == 64) return reg[0] | (uint64_t)reg[1] << 32;
    return reg[0] >> (at.element * f->bits) & mask(f->bits);
}

static void store_element(const lb_fragment *f, uint32_t *regs, lb_slot at, uint64_t bits) {
    uint32_t *reg = regs + (size_t)at.lane * (size_t)f->registers + at.reg;
    if (f->bits == 64) {
        reg[0] = (uint32_t)bits;
        reg[1] = (uint32_t)(bits >> 32);
        return;
    }
    const int low = at.element * f->bits;
    reg[0] = (uint32_t)((reg[0] & ~(mask(f->bits) << low)) | bits << low);
}

/* The code that an element's bits are; false if they are none. */
static bool decode_element(const lb_fragment *f, uint64_t bits, uint64_t *code) {
    *code = bits >> f->shift & mask(f->format->bits);
    if (f->operand != LB_FRAGMENT_METADATA || f->bits != 4) return true;
    *code = bits == pair_codes[1];
    return bits == pair_codes[0] || bits == pair_codes[1];
}

static bool encode_element(const lb_fragment *f, uint64_t code, uint64_t *bits) {
    const bool pairs = f->operand == LB_FRAGMENT_METADATA && f->bits == 4;
    if (pairs && code > 1) return false;
    *bits = pairs ? pair_codes[code] : (code & mask(f->format->bits)) << f->shift;
    return *bits <= mask(f->bits);
}

static lb_status check_matrix(const lb_fragment *f, int matrix, const lb_mat *m, lb_error *err) {
    const char *name = lb_fragment_operand_name(f->operand);
    if (matrix < 0 || matrix >= f->matrices) return lb_fail(err, LB_E_ARG, name, "matrix %d of %d", matrix, f->matrices);
    if (m->format->id != f->format->id) return lb_fail(err, LB_E_FORMAT, name, "it is %s, not %s", f->format->name, m->format->name);
    if (m->rows != (size_t)f->rows || m->cols != (size_t)f->cols)
        return lb_fail(err, LB_E_SHAPE, name, "it is %dx%d, not %zux%zu", f->rows, f->cols, m->rows, m->cols);
    return LB_OK;
}

lb_status lb_fragment_gather(const lb_fragment *f, const uint32_t *regs, int matrix, lb_mat *out, lb_error *err) {
    const lb_status s = check_matrix(f, matrix, out, err);
    if (s != LB_OK) return s;
    for (int r = 0; r < f->rows; r++) {
        for (int c = 0; c < f->cols; c++) {
            lb_slot at;
            uint64_t code;
            lb_fragment_slot(f, (lb_place){matrix, r, c}, &at);
            const uint64_t bits = load_element(f, regs, at);
            if (!decode_element(f, bits, &code))
                return lb_fail(err, LB_E_FORMAT, lb_fragment_operand_name(f->operand),
                               "bits %d to %d of lane %d are 0x%x; metadata of tf32 is 0x4 or 0xe", at.element * 4, at.element * 4 + 3,
                               at.lane, (unsigned)bits);
            lb_store_code(lb_mat_at(out, (size_t)r, (size_t)c), f->format->bytes, code);
        }
    }
    return LB_OK;
}

lb_status lb_fragment_scatter(const lb_fragment *f, int matrix, const lb_mat *in, uint32_t *regs, lb_error *err) {
    const lb_status s = check_matrix(f, matrix, in, err);
    if (s != LB_OK) return s;
    for (int r = 0; r < f->rows; r++) {
        for (int c = 0; c < f->cols; c++) {
            lb_slot at;
            uint64_t bits, code = lb_mat_code(in, (size_t)r, (size_t)c);
            if (!encode_element(f, code, &bits))
                return lb_fail(err, LB_E_FORMAT, lb_fragment_operand_name(f->operand), "[%d,%d] is %llu, which is no place", r, c,
                               (unsigned long long)code);
            lb_fragment_slot(f, (lb_place){matrix, r, c}, &at);
            store_element(f, regs, at, bits);
        }
    }
    return LB_OK;
}

/* ---- a warp ---------------------------------------------------------------------------------------------------------------- */

/* One operand of a call: from registers, or a matrix that the caller has. */
typedef struct source {
    lb_fragment layout;
    const uint32_t *regs;
    lb_mat tile;   /* what the unit gets; its codes are of the arena, or the caller's */
    bool gathered; /* of the arena */
} source;

static size_t tile_bytes(const lb_fragment *f) {
    const size_t bytes = (size_t)f->rows * (size_t)f->cols * (size_t)f->format->bytes;
    return (bytes + 7) / 8 * 8;
}

/* Lay an operand out; `instead` is what the caller has in its place. */
static lb_status open_source(const lb_unit *u, lb_fragment_operand operand, const lb_warp_options *o, const uint32_t *regs,
                             const lb_mat *instead, source *out, lb_error *err) {
    *out = (source){.regs = regs};
    if (instead && !regs) {
        out->tile = *instead;
        return LB_OK;
    }
    const char *name = lb_fragment_operand_name(operand);
    if (instead) return lb_fail(err, LB_E_ARG, u->name, "operand %s is given twice: registers and a matrix", name);
    const lb_status s = lb_fragment_of(u, operand, &o->selectors, &out->layout, err);
    if (s != LB_OK) return s;
    if (!regs) return lb_fail(err, LB_E_ARG, u->name, "operand %s has no registers", name);
    out->gathered = true;
    return LB_OK;
}

static char *place_tile(source *s, char *at) {
    if (!s->gathered) return at;
    s->tile = lb_mat_of(s->layout.format, at, (size_t)s->layout.rows, (size_t)s->layout.cols);
    return at + tile_bytes(&s->layout);
}

static lb_status gather(source *s, int matrix, lb_error *err) {
    return s->gathered ? lb_fragment_gather(&s->layout, s->regs, matrix, &s->tile, err) : LB_OK;
}

enum { A, B, C, METADATA, SCALE_A, SCALE_B, SOURCES };

static const lb_fragment_operand operand_of[SOURCES] = {LB_FRAGMENT_A,        LB_FRAGMENT_B,       LB_FRAGMENT_C,
                                                        LB_FRAGMENT_METADATA, LB_FRAGMENT_SCALE_A, LB_FRAGMENT_SCALE_B};

/* Lay out what the unit takes, and refuse what it does not take. */
static lb_status open_sources(const lb_unit *u, const uint32_t *const *regs, const lb_warp_options *o, source *sources, lb_error *err) {
    const bool needed[SOURCES] = {true, true, regs[C] != NULL, u->sparse_group != 0, u->scale_block != 0, u->scale_block != 0};
    const lb_mat *const instead[SOURCES] = {[A] = o->a, [B] = o->b};
    lb_status s = LB_OK;
    for (int i = 0; s == LB_OK && i < SOURCES; i++)
        if (needed[i] || regs[i]) s = open_source(u, operand_of[i], o, regs[i], instead[i], &sources[i], err);
    return s;
}

static const lb_mat *tile_or_none(const source *s) {
    return s->gathered ? &s->tile : NULL;
}

static lb_status run_tiles(const lb_unit *u, source *sources, const lb_fragment *d_layout, char *results, lb_error *err) {
    const lb_unit_operands with = {tile_or_none(&sources[SCALE_A]), tile_or_none(&sources[SCALE_B]), tile_or_none(&sources[METADATA])};
    lb_status s = LB_OK;
    for (int matrix = 0; s == LB_OK && matrix < d_layout->matrices; matrix++) {
        for (int i = 0; s == LB_OK && i < SOURCES; i++) s = gather(&sources[i], matrix, err);
        lb_mat d =
            lb_mat_of(d_layout->format, results + (size_t)matrix * tile_bytes(d_layout), (size_t)d_layout->rows, (size_t)d_layout->cols);
        if (s == LB_OK) s = lb_unit_mma_with(u, &sources[A].tile, &sources[B].tile, tile_or_none(&sources[C]), &with, &d, err);
    }
    return s;
}

lb_status lb_warp_mma(const lb_unit *u, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d,
                      const lb_warp_options *options, lb_error *err) {
    static const lb_warp_options none = {0};
    const lb_warp_options *o = options ? options : &none;
    const uint32_t *const regs[SOURCES] = {a, b, c, o->metadata, o->scale_a, o->scale_b};
    source sources[SOURCES] = {0};
    lb_fragment layout;
    lb_status s = lb_fragment_of(u, LB_FRAGMENT_D, NULL, &layout, err);
    if (s == LB_OK) s = open_sources(u, regs, o, sources, err);
    if (s != LB_OK) return s;
    size_t bytes = (size_t)layout.matrices * tile_bytes(&layout);
    for (int i = 0; i < SOURCES; i++) bytes += sources[i].gathered ? tile_bytes(&sources[i].layout) : 0;
    char *arena = malloc(bytes);
    if (!arena) return lb_fail(err, LB_E_MEMORY, u->name, "no memory for %zu bytes of tiles", bytes);
    char *at = arena + (size_t)layout.matrices * tile_bytes(&layout);
    for (int i = 0; i < SOURCES; i++) at = place_tile(&sources[i], at);
    s = run_tiles(u, sources, &layout, arena, err);
    for (int matrix = 0; s == LB_OK && matrix < layout.matrices; matrix++) {
        const lb_mat tile =
            lb_mat_of(layout.format, arena + (size_t)matrix * tile_bytes(&layout), (size_t)layout.rows, (size_t)layout.cols);
        s = lb_fragment_scatter(&layout, matrix, &tile, d, err);
    }
    free(arena);
    return s;
}
