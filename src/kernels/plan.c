/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What follows from the parameters of a unit. */
#include "kernels/plan.h"

#include "units/path.h"

#include <string.h>

static bool readable(const lb_format *f) {
    const bool plain = f->special == LB_SPECIAL_IEEE || f->special == LB_SPECIAL_NAN_TOP || f->special == LB_SPECIAL_NONE;
    return plain && f->sign_bits == 1 && f->exp_bits >= 2 && f->exp_bits <= 8 && f->man_bits >= 1 && f->man_bits <= 10;
}

/* What the products of a block may add up to in int32, in units of 2^E: c is below 2, and 2^8 is room for a rounding up. */
static double room_of(const lb_unit *u) {
    return (0x1p31 - 0x1p8) / (double)(1 << u->frac_bits) - 2.0;
}

bool lb_plan_can(const lb_unit *u) {
    lb_engine g;
    if ((u->path != LB_PATH_TRUNCATED && u->path != LB_PATH_TWO_HALVES) || !lb_unit_is_plain(u)) return false;
    if (lb_engine_of(u, &g, NULL) != LB_OK || u->k > LB_KC) return false;
    const bool halves = u->path == LB_PATH_TWO_HALVES;
    const lb_format *a = lb_format_row(u->a), *b = lb_format_row(u->b);
    if (!readable(a) || !readable(b) || (halves && (a->bytes != 1 || b->bytes != 1 || u->round == LB_UNIT_RZ_E8M13))) return false;
    const int man = halves ? 20 : a->man_bits + b->man_bits;
    /* F >= man: products of subnormals stay normal in the scaled domain. */
    if (u->frac_bits < man || u->frac_bits > 25 || u->floor_exp > 100) return false;
    const double a_top = halves ? 2 : 2 - 1.0 / (1 << a->man_bits), b_top = halves ? 2 : 2 - 1.0 / (1 << b->man_bits);
    return (u->terms + 1) / 2 * a_top * b_top <= room_of(u); /* half a block fits in int32 */
}

/* Operands of the f64 path; NaN of FNUZ is -0's code, which fnuz_into moves. */
static bool wide_readable(const lb_format *f) {
    return readable(f) || (f->special == LB_SPECIAL_FNUZ && f->bits == 8);
}

/* The paths that the f64 path has beside those of lb_plan_can: up to 64 terms at up to 25 bits stay far below 2^52 units. */
static bool can_late_or_scaled(const lb_unit *u) {
    lb_code_path path;
    const bool late = u->path == LB_PATH_LATE_C || u->path == LB_PATH_LATE_C_SPLIT;
    const bool scaled = u->path == LB_PATH_BLOCK_SCALED && u->group == 0 && u->scale == LB_E8M0;
    if ((!late && !scaled) || !lb_unit_is_plain(u) || lb_code_path_of(u, &path, NULL) != LB_OK) return false;
    if (!wide_readable(lb_format_row(u->a)) || !wide_readable(lb_format_row(u->b))) return false;
    if (scaled && (u->round != LB_UNIT_RZ_F32 || u->c != LB_F32)) return false;
    if (u->path == LB_PATH_LATE_C_SPLIT && u->terms < 2) return false;
    return u->k <= LB_KC && u->terms <= 64 && u->frac_bits <= 25 && u->floor_exp <= 100;
}

static bool can_truncated(const lb_unit *u) {
    lb_engine g;
    return u->path == LB_PATH_TRUNCATED && lb_unit_is_plain(u) && lb_engine_of(u, &g, NULL) == LB_OK && readable(lb_format_row(u->a)) &&
           readable(lb_format_row(u->b)) && u->k <= LB_KC && u->frac_bits <= 25 && u->floor_exp <= 100;
}

bool lb_plan_can_wide(const lb_unit *u) {
    return can_truncated(u) || can_late_or_scaled(u);
}

static lb_codes codes_of(const lb_format *f) {
    const uint32_t mag_mask = (UINT32_C(1) << (f->exp_bits + f->man_bits)) - 1;
    const uint32_t top = ((UINT32_C(1) << f->exp_bits) - 1) << f->man_bits;
    lb_codes c = {.bytes = f->bytes,
                  .pad = f->pad_bits,
                  .man = f->man_bits,
                  .bias = f->bias,
                  .sign_up = 31 - f->exp_bits - f->man_bits,
                  .sign = mag_mask + 1,
                  .mag_mask = mag_mask,
                  .special = f->special == LB_SPECIAL_IEEE      ? top
                             : f->special == LB_SPECIAL_NAN_TOP ? mag_mask
                                                                : mag_mask + 1,
                  .inf = f->special == LB_SPECIAL_IEEE ? top : UINT32_MAX,
                  .e_min = 1 - f->bias};
    c.e_max = (int)((c.special - 1) >> f->man_bits) - f->bias;
    c.narrow = c.e_max - c.e_min <= 32;
    return c;
}

static lb_finish finish_of(const lb_unit *u) {
    const bool f16 = u->round == LB_UNIT_RNE_F16;
    if (u->path == LB_PATH_LATE_C) return LB_FINISH_LATE;
    if (u->path == LB_PATH_LATE_C_SPLIT) return LB_FINISH_LATE_SPLIT;
    if (u->path == LB_PATH_TWO_HALVES) return f16 ? LB_FINISH_HALVES_F16 : LB_FINISH_HALVES_RZ;
    return f16 ? LB_FINISH_F16 : u->round == LB_UNIT_RZ_E8M13 ? LB_FINISH_E8M13 : LB_FINISH_RZ;
}

/* fp8 codes as f16 codes, which hold them exactly; subnormals become normal where f16 can. */
static void widen_into(uint16_t out[256], const lb_format *f) {
    const lb_codes c = codes_of(f);
    for (uint32_t mag = 0; mag <= c.mag_mask; mag++) {
        uint32_t e = mag >> c.man, man = mag & ((UINT32_C(1) << c.man) - 1), code = 0;
        if (e == 0) /* normalise: the leading one becomes the hidden bit */
            for (e = 1; man && man >> c.man == 0 && (int)e + 15 > c.bias + 1; e--) man <<= 1;
        else
            man |= UINT32_C(1) << c.man;
        const uint32_t field = e + 15 - (uint32_t)c.bias;
        if (man) code = (field - 1) * 1024 + (man << (10 - c.man)); /* the hidden bit adds one to the field */
        if (mag >= c.special) code = mag == c.inf ? 0x7c00 : 0x7e00;
        out[mag] = (uint16_t)code;
        out[mag | c.sign] = (uint16_t)(code | 0x8000);
    }
}

/* FNUZ codes as those of the same format with one bit more between sign and exponent, which marks NaN. */
static lb_codes fnuz_into(uint16_t out[256], const lb_format *f) {
    lb_codes c = codes_of(f);
    for (uint32_t code = 0; code < 256; code++) out[code] = (uint16_t)(code == 0x80 ? 0x80 : (code & 0x7f) | (code & 0x80) << 1);
    c.sign = 0x100;
    c.mag_mask = 0xff;
    c.sign_up = 23;
    c.special = 0x80;
    c.e_max = (int)(0x7fu >> c.man) - c.bias;
    c.widen = out;
    return c;
}

/* Position of product i of a K step in the order of the kernels. */
static size_t position_of(const lb_unit *u, size_t i) {
    if (u->path != LB_PATH_LATE_C_SPLIT) return lb_unit_slot(u, i);
    const size_t terms = (size_t)u->terms, block = i - i % terms, t = i % terms;
    return block + t % 2 * (terms / 2) + t / 2; /* even ones first */
}

void lb_plan_of(const lb_unit *u, lb_plan *p) {
    const bool halves = u->path == LB_PATH_TWO_HALVES;
    const lb_format *a = lb_format_row(u->a), *b = lb_format_row(u->b), *f16 = lb_format_row(LB_F16);
    p->u = u;
    p->a = codes_of(halves ? f16 : a);
    p->b = codes_of(halves ? f16 : b);
    p->a.widen = p->b.widen = NULL;
    if (halves) {
        widen_into(p->widen[0], a);
        if (a == b)
            memcpy(p->widen[1], p->widen[0], sizeof p->widen[1]);
        else
            widen_into(p->widen[1], b);
        p->a.widen = p->widen[0];
        p->b.widen = p->widen[1];
        p->a.bytes = p->b.bytes = 1;
    }
    if (a->special == LB_SPECIAL_FNUZ) p->a = fnuz_into(p->widen[0], a);
    if (b->special == LB_SPECIAL_FNUZ) p->b = fnuz_into(p->widen[1], b);
    p->k = u->k;
    p->terms = u->terms;
    p->frac_bits = u->frac_bits;
    p->floor_exp = u->floor_exp > -1000 ? u->floor_exp : -1000;
    p->finish = finish_of(u);
    p->c16 = u->round == LB_UNIT_RNE_F16;
    p->nan32 = p->finish >= LB_FINISH_LATE ? 0x7fc00000 : 0x7fffffff;
    const double room = room_of(u);
    const double a_top = 2 - 1.0 / (1 << p->a.man), b_top = 2 - 1.0 / (1 << p->b.man);
    p->may_split = u->terms * a_top * b_top > room;
    p->sig_limit = room / (a_top > b_top ? a_top : b_top);
    p->few_bits =
        p->finish <= LB_FINISH_F16 && u->path == LB_PATH_TRUNCATED && u->terms * a_top * b_top + 2 <= 0x1p23 / (double)(1 << u->frac_bits);
    p->dots16 = p->finish == LB_FINISH_RZ && u->a == LB_F16 && u->b == LB_F16 && u->k == 16 && (u->terms == 16 || u->terms == 8) &&
                !(p->may_split && u->terms == 8);
    p->span = 125 - u->frac_bits;
    for (size_t i = 0; i < u->k; i++) p->from[position_of(u, i)] = (uint8_t)i;
}

void lb_plan_swap(lb_plan *p) {
    const lb_codes a = p->a;
    p->a = p->b;
    p->b = a;
}

int lb_plan_start(const lb_plan *p, int x) {
    const int floor_field = p->floor_exp - x + 127;
    return floor_field > p->frac_bits + 1 ? floor_field : p->frac_bits + 1;
}

bool lb_plan_fits(const lb_plan *p, int lo, int hi, size_t k, int *x) {
    const int F = p->frac_bits;
    *x = lo + 126 - F;
    if (hi - lo > p->span || lb_plan_start(p, *x) > 127) return false;
    int most = hi + 2; /* the sum of all products is below 2^most */
    while (k > 1) {
        k -= k / 2;
        most++;
    }
    if (most > lo + 125) return false;
    switch (p->finish) {
    case LB_FINISH_RZ:
    case LB_FINISH_E8M13: return lo - F >= -149 && most <= 126; /* every c is a normal f32, or exact */
    case LB_FINISH_F16:
    case LB_FINISH_HALVES_F16: return *x <= 112 && *x >= -100; /* 2^X, 2^-X and the scaled 2^-14 are normal */
    default: return *x <= 126 && *x >= -126;
    }
}
