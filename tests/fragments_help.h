/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Units of a name and formats, for layouts of instructions that need not be in the table. */
#ifndef LB_TESTS_FRAGMENTS_HELP_H
#define LB_TESTS_FRAGMENTS_HELP_H

#include "test.h"

#include "lastbit/fragments.h"

/* "sm_80/mma.m16n8k16…" with A, B of one format and C, D of another; m, n, k, sparsity and scales as the name says. */
static inline lb_unit unit_of(const char *name, lb_format_id in, lb_format_id out) {
    lb_unit u = {.a = in, .b = in, .c = out, .d = out};
    unsigned m = 0, n = 0, k = 0;
    snprintf(u.name, sizeof u.name, "%s", name);
    for (const char *at = name; (at = strchr(at, '.')) && sscanf(at, ".m%un%uk%u", &m, &n, &k) != 3;) at++;
    if (!k) fail_msg("no shape in %s", name);
    u.m = (uint16_t)m;
    u.n = (uint16_t)n;
    u.k = (uint16_t)k;
    if (strstr(name, ".sp")) u.sparse_group = in == LB_TF32 || in == LB_F32 ? 2 : 4;
    if (strstr(name, ".mx")) u.scale_block = strstr(name, "ue4m3") ? 16 : 32;
    u.scale = strstr(name, "ue4m3") ? LB_UE4M3 : LB_E8M0;
    return u;
}

static inline lb_fragment layout_of(int line, const lb_unit *u, lb_fragment_operand operand, const lb_fragment_selectors *s) {
    lb_fragment f;
    lb_error err = {0};
    if (lb_fragment_of(u, operand, s, &f, &err) != LB_OK) fail_msg("row at %s:%d: %s: %s", __FILE__, line, err.place, err.message);
    return f;
}

/* The slot of element i of a lane, registers filled from the low bits. */
static inline lb_slot slot_of(const lb_fragment *f, int lane, int i) {
    if (f->bits == 64) return (lb_slot){lane, 2 * i, 0};
    return (lb_slot){lane, i * f->bits / 32, i % (32 / f->bits)};
}

#endif
