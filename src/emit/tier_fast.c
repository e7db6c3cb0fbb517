/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The cheap approximation of a truncated unit, `--tier fast`: each block's products and c added in f32, in order, and rounded once.
 * It is not the unit; how often it gives the unit's bits is measured (tools/gen_fast_rates). */
#include "emit/idiom.h"
#include "emit/rule.h"

#include <string.h>

/* Fields and fraction of an f32. */
enum { FRACTION = 23, BIAS = 127, INF = 0x7f800000 };

static bool takes(const lb_format *f) {
    const bool known = f->special == LB_SPECIAL_IEEE || f->special == LB_SPECIAL_NAN_TOP || f->special == LB_SPECIAL_NONE;
    return known && (f->exp_bits <= 5 || (f->exp_bits == 8 && f->special == LB_SPECIAL_IEEE)) && f->man_bits <= 11;
}

static lb_status open_fast(rule *r, const lb_emit_options *o, lb_error *err) {
    const lb_unit *u = r->u;
    if (u->path != LB_PATH_TRUNCATED)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "tier fast is written for units of path truncated, not %s; --tier exact may be",
                       lb_unit_path_name(u->path));
    if (o->integers) return lb_fail(err, LB_E_ARG, u->name, "tier fast is f32 sums: it is not written in integers");
    if (!lb_unit_is_plain(u) || !takes(r->a) || !takes(r->b) || u->k > 128 || u->round == LB_UNIT_RNE_F32)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "tier fast is written for operands that are f32 numbers, and f32 or f16 results");
    r->finite = o->finite;
    r->of_ab = (rule_registers){1, {IR_F}};
    return LB_OK;
}

static ir from_bits(ir_program *p, ir u) {
    return lb_ir_do(p, IR_FROM_BITS, u, 0, 0);
}

/* ---- numbers -------------------------------------------------------------------------------------------------------------- */

/* Bits of an f32 without its sign, of a magnitude with a narrow exponent: normal ones by their fields, subnormal ones by a conversion. */
static ir widened(const rule *r, ir_program *p, const lb_format *f, ir magnitude) {
    const int up = FRACTION - f->man_bits;
    const ir moved = lb_ir_with(p, IR_SHL, magnitude, up);
    const ir normal = lb_ir_with(p, IR_ADD, moved, (BIAS - f->bias) << FRACTION);
    const ir unit = from_bits(p, lb_ir_u(p, (uint32_t)(BIAS + 1 - f->bias - f->man_bits) << FRACTION));
    const ir small = lb_ir_do(p, IR_MUL, lb_ir_do(p, IR_FLOAT, lb_ir_do(p, IR_AS_I, magnitude, 0, 0), 0, 0), unit, 0);
    const ir finite = lb_ir_select(p, lb_ir_with(p, IR_LT, magnitude, 1 << f->man_bits), lb_ir_do(p, IR_BITS, small, 0, 0), normal);
    if (f->special == LB_SPECIAL_NONE || r->finite) return finite;
    const bool top = f->special == LB_SPECIAL_NAN_TOP;
    const int32_t least = top ? (1 << (f->bits - 1)) - 1 : ((1 << f->exp_bits) - 1) << f->man_bits;
    return lb_ir_select(p, lb_ir_with(p, IR_GE, magnitude, least), lb_ir_with(p, IR_OR, moved, INF | (top ? 1 << 22 : 0)), finite);
}

/* A code as an f32, NaN and Inf included. */
static ir widen(const rule *r, ir_program *p, const lb_format *f, ir code) {
    const int top = f->exp_bits + f->man_bits;
    const ir kept = f->pad_bits ? lb_ir_with(p, IR_SHR, code, f->pad_bits) : code;
    if (f->exp_bits == 8) return from_bits(p, lb_ir_with(p, IR_SHL, kept, FRACTION - f->man_bits));
    const ir magnitude = lb_ir_with(p, IR_AND, kept, (int32_t)((UINT32_C(1) << top) - 1));
    const ir sign = lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_SHR, kept, top), 31);
    return from_bits(p, lb_ir_do(p, IR_OR, widened(r, p, f, magnitude), sign, 0));
}

static rule_operand decode(const rule *r, ir_program *p, const lb_format *f, rule_code code) {
    return (rule_operand){widen(r, p, f, code.low), 0};
}

/* An f32 to the code of an f16, to nearest even, in integers: not every language says how its own conversion rounds. */
static ir narrowed(const rule *r, ir_program *p, ir x) {
    const lb_format *f = r->g.out;
    const int drop = FRACTION - f->man_bits, least = BIAS + 1 - f->bias;
    const ir magnitude = lb_ir_with(p, IR_AND, x, INT32_MAX);
    const ir field = lb_ir_do(p, IR_AS_I, lb_ir_with(p, IR_SHR, magnitude, FRACTION), 0, 0);
    const ir steps = lb_ir_with(p, IR_SUB, lb_ir_with(p, IR_MAX, field, least), least);
    const ir below = lb_ir_with(p, IR_MAX, lb_ir_do(p, IR_SUB, lb_ir_i(p, least), field, 0), 0);
    const ir by = lb_ir_with(p, IR_MIN, lb_ir_with(p, IR_ADD, below, drop), 26); /* which drops all */
    const ir sig = lb_ir_with(p, IR_OR, lb_ir_with(p, IR_AND, magnitude, (1 << FRACTION) - 1), 1 << FRACTION);
    const ir odd = lb_ir_with(p, IR_AND, lb_ir_do(p, IR_SHR, sig, by, 0), 1);
    const ir half = lb_ir_do(p, IR_SHL, lb_ir_u(p, 1), lb_ir_with(p, IR_SUB, by, 1), 0);
    const ir up = lb_ir_do(p, IR_ADD, lb_ir_do(p, IR_ADD, sig, lb_ir_with(p, IR_SUB, half, 1), 0), odd, 0);
    const ir at = lb_ir_with(p, IR_SHL, lb_ir_do(p, IR_AS_U, steps, 0, 0), f->man_bits);
    ir code = lb_ir_with(p, IR_MIN, lb_ir_do(p, IR_ADD, at, lb_ir_do(p, IR_SHR, up, by, 0), 0), (int32_t)r->g.inf_code);
    if (!r->finite) code = lb_ir_select(p, lb_ir_with(p, IR_GE, magnitude, INF + 1), lb_ir_u(p, r->g.nan_code), code);
    return lb_ir_do(p, IR_OR, code, lb_ir_with(p, IR_SHL, lb_ir_with(p, IR_SHR, x, 31), f->bits - 1), 0);
}

static ir sum_of(const rule *r, ir_program *p, const rule_operand *a, const rule_operand *b, ir c) {
    const bool f16 = r->g.out->man_bits < FRACTION;
    ir sum = f16 ? widen(r, p, r->g.out, c) : from_bits(p, c);
    for (int i = 0; i < r->u->k; i++) {
        sum = lb_ir_do(p, IR_ADD, sum, lb_ir_do(p, IR_MUL, a[i].value, b[i].value, 0), 0);
        const bool last = i + 1 == r->u->k;
        if (!last && ((i + 1) % r->u->terms || (!f16 && !r->g.out_pad))) continue;
        ir code = lb_ir_do(p, IR_BITS, sum, 0, 0);
        if (f16) code = narrowed(r, p, code);
        if (r->g.out_pad) code = lb_ir_with(p, IR_AND, code, (int32_t) - (UINT32_C(1) << r->g.out_pad));
        if (last) return code;
        if (f16) sum = widen(r, p, r->g.out, code);
        if (r->g.out_pad) sum = from_bits(p, code);
    }
    return c;
}

static rule_code step(const rule *r, ir_program *p, const rule_inputs *in) {
    return (rule_code){sum_of(r, p, in->a, in->b, in->c.low), 0};
}

/* ---- how often it is right -------------------------------------------------------------------------------------------------- */

typedef struct rate {
    const char *a, *b, *d;
    int k, terms, frac_bits, floor_exp;
    lb_unit_round round;
    int normal, wide; /* of FAST_OF outputs */
} rate;

#define FAST_RATE(a, b, d, k, terms, frac_bits, floor_exp, round, normal, wide)                                                            \
    {a, b, d, k, terms, frac_bits, floor_exp, LB_UNIT_##round, normal, wide},
static const rate rates[] = {
#include "emit/fast_rates.def"
    {0}};
#undef FAST_RATE

enum { FAST_OF = 100000 };

static bool is_named(lb_format_id id, const char *name) {
    return strcmp(lb_format_row(id)->name, name) == 0;
}

static const rate *rate_of(const lb_unit *u) {
    for (const rate *r = rates; r->a; r++)
        if (is_named(u->a, r->a) && is_named(u->b, r->b) && is_named(u->d, r->d) && u->k == r->k && u->terms == r->terms &&
            u->frac_bits == r->frac_bits && u->floor_exp == r->floor_exp && u->round == r->round)
            return r;
    return NULL;
}

/* That it is not exact, how often it is, and where it differs. */
static void describe(const rule *r, lb_text *t) {
    const rate *found = rate_of(r->u);
    lb_text_add(
        t,
        "// NOT EXACT (tier fast): blocks of %d products and c, added in f32 in this order, each sum rounded to nearest; a block's sum\n"
        "// rounded once more to %s.\n",
        r->u->terms, lb_unit_round_name(r->u->round));
    if (found)
        lb_text_add(t,
                    "// Its bits are the unit's in %d of %d outputs of A, B and C drawn `normal` (seed 1), in %d of those drawn `wide`:\n"
                    "// measured on one step (k = %d) of the C text by tools/gen_fast_rates, gcc -O2, no fast-math.\n",
                    found->normal, FAST_OF, found->wide, r->u->k);
    else
        lb_text_add(t, "// How often its bits are the unit's has not been measured: no row has this arithmetic.\n");
    lb_text_add(
        t,
        "// What differs: the unit cuts each product %d bits below the block's largest exponent and then adds exactly; here nothing is\n"
        "// cut, but each addition rounds. Sums that overflow on the way, zeros' signs, NaN's bits where f32 is the result. A compiler's\n"
        "// fast-math may take another order, and drop NaN and Inf; a device that flushes subnormals loses them.\n",
        r->u->frac_bits);
    if (r->finite) lb_text_add(t, "// ONLY for operands without NaN and Inf: nothing looks for them.\n");
}

const rule_path lb_rule_fast = {.open = open_fast, .decode = decode, .step = step, .describe = describe, .lanes = true};
