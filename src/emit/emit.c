/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit as a file of source: its functions, the comment that says what they are, and the counts. */
#include "emit/group.h"
#include "emit/shuffle.h"
#include "emit/source.h"

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

/* ---- the file ------------------------------------------------------------------------------------------------------------- */

static void print_head(lb_text *t, const file *f, const lb_emit_options *o) {
    const rule *r = &f->rule;
    const lb_unit *u = r->u;
    char lanes[64] = "";
    if (o->fragment)
        snprintf(lanes, sizeof lanes, ", one lane of %d%s", f->d.lanes, o->exchange == LB_EMIT_SUBGROUP ? ", by sub-group shuffles" : "");
    lb_text_add(t, "// SPDX-License-Identifier: MIT OR Apache-2.0\n// %s%s, as lastbit %s has it (%s: %s).\n", u->name, lanes, lb_version(),
                lb_evidence_name(u->evidence), u->source);
    r->path->describe(r, t);
    lb_text_add(t, "%s%s", f->l->prelude, r->path == &lb_rule_weights ? lb_ir_more_of(f->l)->prelude : "");
    if (o->exchange == LB_EMIT_SUBGROUP) lb_text_add(t, "%s", lb_ir_more_of(f->l)->shuffle_prelude);
}

static void print_elements(lb_text *t, const file *f, ir_program *p) {
    const lb_unit *u = f->rule.u;
    const char *words = lb_rule_words(f->rule.c) == 2 ? "; of 64 bits in two words, the low one first" : "";
    lb_ir_clear(p);
    lb_text_add(t, "\n// d = c + sum of a[i] * b[i]: codes, right-aligned, the bits above them 0%s\n", words);
    lb_element_print(t, f, p, "_dot", false);
    const ir_program counts = *p; /* of one element */
    lb_ir_clear(p);
    lb_text_add(t, "\n// a [%d][%d], b [%d][%d], c and d [%d][%d]", u->m, f->rule.products, u->k, u->n, u->m, u->n);
    if (f->rule.scales) lb_text_add(t, ", scale_a [%d][%d], scale_b [%d][%d]", u->m, f->rule.scales, f->rule.scales, u->n);
    if (u->sparse_group) lb_text_add(t, ", meta [%d][%d]", u->m, f->rule.products);
    lb_text_add(t, ", row-major\n");
    lb_tile_print(t, f, p);
    memcpy(p->counted, counts.counted, sizeof p->counted);
}

static lb_status open_file(const lb_unit *u, const lb_emit_options *o, file *f, lb_error *err) {
    if ((unsigned)o->language >= LB_EMIT_LANGUAGE_COUNT) return lb_fail(err, LB_E_ARG, "language", "%d is none", (int)o->language);
    if ((unsigned)o->tier >= LB_EMIT_TIER_COUNT) return lb_fail(err, LB_E_ARG, "tier", "%d is none", (int)o->tier);
    if ((unsigned)o->exchange >= LB_EMIT_EXCHANGE_COUNT || (o->exchange && !o->fragment))
        return lb_fail(err, LB_E_ARG, "exchange", "%s", o->fragment ? "it is local or subgroup" : "it is between the lanes of a fragment");
    *f = (file){.l = lb_ir_language_of(o->language)};
    LB_TRY(lb_rule_of(u, o, &f->rule, err));
    lb_source_identifier(u->name, f->name, sizeof f->name);
    if (!o->fragment) return LB_OK;
    LB_TRY(lb_group_suits(&f->rule) ? lb_group_open(f, err) : lb_lane_open(f, err));
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
        (lb_group_suits(&f.rule) ? lb_group_print : lb_lane_print)(&body, &f, &p);
    } else {
        print_elements(&body, &f, &p);
    }
    if (stats) *stats = (lb_emit_stats){.outputs = o->fragment ? f.d.items : 1, .products = f.rule.products};
    const lb_status done = lb_source_close(&body, &p, text, stats, err);
    lb_ir_free(&p);
    return done;
}
