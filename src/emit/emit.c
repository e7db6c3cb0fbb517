/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit as a file of source: its functions, the comment that says what they are, and the counts. */
#include "emit/shuffle.h"
#include "emit/source.h"
#include "emit/tier_fast.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

const char *lb_emit_language_name(lb_emit_language language) {
    return (unsigned)language < LB_EMIT_LANGUAGE_COUNT ? lb_ir_language_of(language)->name : "?";
}

lb_status lb_emit_language_find(const char *name, lb_emit_language *out, lb_error *err) {
    const char *names[LB_EMIT_LANGUAGE_COUNT];
    for (int i = 0; i < LB_EMIT_LANGUAGE_COUNT; i++) {
        names[i] = lb_emit_language_name((lb_emit_language)i);
        if (strcmp(name, names[i]) == 0) {
            *out = (lb_emit_language)i;
            return LB_OK;
        }
    }
    const char *near = lb_nearest_name(name, names, LB_EMIT_LANGUAGE_COUNT);
    return lb_fail(err, LB_E_NAME, "--lang", "\"%s\": it is c, opencl, glsl, hlsl, msl or cuda%s%s", name, near ? "; did you mean " : "",
                   near ? near : "");
}

lb_status lb_emit_can(const lb_unit *u, lb_error *err) {
    static const lb_emit_options o = {0};
    rule r;
    return lb_rule_of(u, &o, &r, err);
}

/* ---- one element, and a tile of them -------------------------------------------------------------------------------------- */

static void print_dot(lb_text *t, const file *f, ir_program *p) {
    const rule *r = &f->rule;
    rule_operand a[128], b[128];
    lb_ir_clear(p);
    const ir c = lb_ir_input(p, IR_U);
    p->part = IR_DECODE;
    for (int i = 0; i < r->u->k; i++) a[i] = lb_rule_decode(r, p, r->a, lb_ir_load(p, "a", lb_ir_i(p, i)));
    for (int i = 0; i < r->u->k; i++) b[i] = lb_rule_decode(r, p, r->b, lb_ir_load(p, "b", lb_ir_i(p, i)));
    p->part = IR_MAIN;
    lb_ir_return(p, lb_rule_step(r, p, a, b, c));
    lb_ir_prune(p);
    lb_text_add(t, "\n// d = c + sum of a[i] * b[i]: codes, right-aligned, the bits above them 0\n%s%s %s_dot(", f->l->function,
                f->l->type[IR_U], f->name);
    lb_ir_print_named(t, f->l->array_in, "a", r->u->k);
    lb_text_add(t, ", ");
    lb_ir_print_named(t, f->l->array_in, "b", r->u->k);
    lb_text_add(t, ", %s ", f->l->type[IR_U]);
    lb_ir_print_name(t, p, c);
    lb_text_add(t, ") {\n");
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

static void print_tile(lb_text *t, const file *f, ir_program *p) {
    const lb_unit *u = f->rule.u;
    const char *const names[] = {"a", "b", "c", "d"};
    const int sizes[] = {u->m * u->k, u->k * u->n, u->m * u->n, u->m * u->n};
    char function[LB_EMIT_NAME + 8];
    snprintf(function, sizeof function, "%s_dot", f->name);
    lb_ir_clear(p);
    p->part = IR_ADDRESS;
    lb_ir_array(p, "row", u->k);
    lb_ir_array(p, "column", u->k);
    const ir i = lb_ir_for(p, u->m), j = lb_ir_for(p, u->n), k = lb_ir_for(p, u->k);
    lb_ir_store(p, "row", k, lb_ir_load(p, "a", lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, i, u->k), k, 0)));
    lb_ir_store(p, "column", k, lb_ir_load(p, "b", lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, k, u->n), j, 0)));
    lb_ir_end(p);
    const ir at = lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, i, u->n), j, 0);
    lb_ir_store(p, "d", at, lb_ir_call(p, function, "row, column", lb_ir_load(p, "c", at)));
    lb_ir_end(p);
    lb_ir_end(p);
    lb_text_add(t, "\n// a [%d][%d], b [%d][%d], c and d [%d][%d], row-major\n%svoid %s_tile(", u->m, u->k, u->k, u->n, u->m, u->n,
                f->l->function, f->name);
    for (int x = 0; x < 4; x++) {
        if (x) lb_text_add(t, ", ");
        lb_ir_print_named(t, x == 3 ? f->l->array_out : f->l->array_in, names[x], sizes[x]);
    }
    lb_text_add(t, ") {\n");
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

/* ---- the file ------------------------------------------------------------------------------------------------------------- */

static void describe_exact(lb_text *t, const rule *r) {
    const lb_unit *u = r->u;
    lb_text_add(t,
                "// Blocks of %d products and c: each magnitude cut %d bits below the largest exponent, summed exactly, rounded to %s.\n",
                u->terms, u->frac_bits, lb_unit_round_name(u->round));
    lb_text_add(t, r->finite ? "// ONLY for operands without NaN and Inf and sums that do not overflow: nothing looks for them. Subnormals "
                               "are the hardware's.\n"
                             : "// NaN, Inf and subnormals are the hardware's. Shifts are clamped below 32.\n");
    if (r->floats)
        lb_text_add(
            t,
            "// Exact under any fast-math option: the f32 steps are int -> f32 of few bits, products of two significands of at most %d\n"
            "// bits together, multiplications by powers of two, and f32 -> int. None rounds, so none can be contracted or reordered into\n"
            "// another result; where one could be subnormal, its integer is 0 with and without it. No f32 is NaN or Inf.\n",
            r->a->man_bits + r->b->man_bits + 2);
    else
        lb_text_add(t, "// Exact under any fast-math option: integers only.\n");
    if (r->weights)
        lb_text_add(t, "// An exponent travels as a weight, about 16 to its power. Weights are positive and normal, and of a sum of at "
                       "most 8 products of\n"
                       "// two only the exponent's upper bits are taken: the largest product's, in any order, rounded in any way, "
                       "contracted or not.\n");
}

static void print_head(lb_text *t, const file *f, const lb_emit_options *o) {
    const rule *r = &f->rule;
    const lb_unit *u = r->u;
    lb_text_add(t, "// SPDX-License-Identifier: MIT OR Apache-2.0\n// %s%s, as lastbit %s has it (%s: %s).\n", u->name,
                o->exchange == LB_EMIT_SUBGROUP ? ", one lane of 32, by sub-group shuffles"
                : o->fragment                   ? ", one lane of 32"
                                                : "",
                lb_version(), lb_evidence_name(u->evidence), u->source);
    if (r->fast)
        lb_fast_describe(r, t);
    else
        describe_exact(t, r);
    lb_text_add(t, "%s%s", f->l->prelude, r->weights ? lb_ir_more_of(f->l)->prelude : "");
    if (o->exchange == LB_EMIT_SUBGROUP) lb_text_add(t, "%s", lb_ir_more_of(f->l)->shuffle_prelude);
}

static lb_status open_file(const lb_unit *u, const lb_emit_options *o, file *f, lb_error *err) {
    if ((unsigned)o->language >= LB_EMIT_LANGUAGE_COUNT) return lb_fail(err, LB_E_ARG, "language", "%d is none", (int)o->language);
    if ((unsigned)o->tier >= LB_EMIT_TIER_COUNT) return lb_fail(err, LB_E_ARG, "tier", "%d is none", (int)o->tier);
    if ((unsigned)o->exchange >= LB_EMIT_EXCHANGE_COUNT || (o->exchange && !o->fragment))
        return lb_fail(err, LB_E_ARG, "exchange", "%s", o->fragment ? "it is local or subgroup" : "it is between the lanes of a fragment");
    *f = (file){.l = lb_ir_language_of(o->language)};
    LB_TRY(lb_rule_of(u, o, &f->rule, err));
    lb_source_identifier(u->name, f->name, sizeof f->name);
    if (o->fragment) LB_TRY(lb_lane_open(f, err));
    return o->exchange == LB_EMIT_SUBGROUP ? lb_shuffle_check(f, err) : LB_OK;
}

lb_status lb_emit_unit(const lb_unit *u, const lb_emit_options *o, char **text, lb_emit_stats *stats, lb_error *err) {
    file f;
    LB_TRY(open_file(u, o, &f, err));
    lb_text body = {0};
    ir_program p = {0};
    print_head(&body, &f, o);
    if (o->exchange == LB_EMIT_SUBGROUP) {
        lb_shuffle_print(&body, &f, &p);
    } else if (o->fragment) {
        lb_lane_print(&body, &f, &p);
    } else {
        print_dot(&body, &f, &p);
        const ir_program counts = p; /* of one element */
        print_tile(&body, &f, &p);
        memcpy(p.counted, counts.counted, sizeof p.counted);
    }
    if (stats) *stats = (lb_emit_stats){.outputs = o->fragment ? f.d.items : 1, .products = u->k};
    const lb_status done = lb_source_close(&body, &p, text, stats, err);
    lb_ir_free(&p);
    return done;
}
