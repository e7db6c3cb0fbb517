/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A scalar operation as a file of source: one function over words of 32 bits, or a lane's two halves of an operation of a whole warp. */
#include "emit/op.h"
#include "emit/source.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 96, LANES = LB_WARP_LANES };

/* A file in the making: the operation, and what writes it. */
typedef struct op_file {
    const ir_language *l;
    const lb_scalar_op *op;
    const lb_scalar_rule *rule;
    op_lane *lane;
    op_warp *warp;
    char name[NAME];
} op_file;

/* ---- what is written --------------------------------------------------------------------------------------------------------- */

static bool find_emitter(op_file *f) {
    static const struct {
        lb_scalar_lane *computes;
        op_lane *writes;
    } lanes[] = {
#define EMIT_LANE(name) {lb_scalar_##name, lb_op_##name},
#include "emit/handlers.def"
#undef EMIT_LANE
    };
    static const struct {
        lb_scalar_warp *computes;
        op_warp *writes;
    } warps[] = {
#define EMIT_WARP(name) {lb_scalar_##name, lb_op_##name},
#include "emit/handlers.def"
#undef EMIT_WARP
    };
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
        if (f->rule->lane == lanes[i].computes) f->lane = lanes[i].writes;
    for (size_t i = 0; i < sizeof warps / sizeof warps[0]; i++)
        if (f->rule->warp == warps[i].computes) f->warp = warps[i].writes;
    return f->lane || f->warp;
}

/* The row that rounds correctly what an approximate one approximates, NULL if there is none. */
static const lb_scalar_op *rounded_instead(const lb_scalar_op *op, const lb_scalar_rule *r) {
    const int what = r->what == LB_DO_DIV_FULL ? LB_DO_DIV : r->what == LB_DO_RCP_HIGH ? LB_DO_RCP : r->what;
    const lb_scalar_op *other;
    for (size_t i = 0; (other = lb_scalar_row(i)) != NULL; i++) {
        const lb_scalar_rule *o = lb_scalar_rule_of(other);
        if (o->lane == lb_scalar_float && o->what == what && o->rounding == LB_RNE && other->in[0] == op->in[0]) return other;
    }
    return NULL;
}

/* A matrix product has a unit, which has a file of its own. */
static lb_status refuse_unit(const lb_scalar_op *op, lb_error *err) {
    char name[160];
    lb_unit u;
    snprintf(name, sizeof name, "%s/%.*s", op->target, (int)strcspn(op->ptx, " "), op->ptx);
    LB_TRY(lb_unit_find(name, &u, err));
    LB_TRY(lb_emit_can(&u, err));
    return lb_fail(err, LB_E_UNAVAILABLE, op->name, "is a matrix unit, written as such: lastbit emit %s --lang LANG --fragment", u.name);
}

static lb_status open_file(const lb_scalar_op *op, op_file *f, lb_error *err) {
    *f = (op_file){.op = op, .rule = lb_scalar_rule_of(op)};
    lb_source_identifier(op->name, f->name, sizeof f->name);
    if (find_emitter(f)) return LB_OK;
    if (f->rule->warp) return refuse_unit(op, err);
    const lb_scalar_op *instead = rounded_instead(op, f->rule);
    if (instead)
        return lb_fail(err, LB_E_UNAVAILABLE, op->name, "is approximate (%s) and its bits are documented nowhere; %s is correctly rounded",
                       op->bound, instead->name);
    return lb_fail(err, LB_E_UNAVAILABLE, op->name,
                   "is approximate (%s) and its bits are documented nowhere; `lastbit judge op:%s` grades answers by the bound", op->bound,
                   op->name);
}

lb_status lb_emit_can_op(const lb_scalar_op *op, lb_error *err) {
    op_file f;
    return open_file(op, &f, err);
}

/* ---- the statements ---------------------------------------------------------------------------------------------------------- */

static int words_of(lb_word w) {
    return lb_wide_words(lb_word_bits(w));
}

static int words_in(const lb_scalar_op *op, int first, int last) {
    int words = 0;
    for (int i = first; i < last; i++) words += words_of(op->in[i]);
    return words;
}

static int words_out(const lb_scalar_op *op) {
    int words = 0;
    for (int i = 0; i < op->outs; i++) words += words_of(op->out[i]);
    return words;
}

/* The name of a word of an input: "in0", or "in0_low" and "in0_high". */
static void parameter(const lb_scalar_op *op, int input, int word, char *name, size_t size) {
    snprintf(name, size, "in%d%s", input, words_of(op->in[input]) == 1 ? "" : word ? "_high" : "_low");
}

static void take_inputs(const op_file *f, ir_program *p, int first, int last, wide *in) {
    for (int i = first; i < last; i++) {
        in[i].count = words_of(f->op->in[i]);
        for (int w = 0; w < in[i].count; w++) {
            char name[16];
            parameter(f->op, i, w, name, sizeof name);
            in[i].word[w] = lb_ir_take(p, name);
        }
        in[i] = lb_wide_masked(p, in[i], lb_word_bits(f->op->in[i]));
    }
}

/* Words whose parts do not see each other are written part by part. */
static void say_lane(const op_file *f, ir_program *p, const wide *in, wide *out) {
    const lb_scalar_op *op = f->op;
    const int parts = lb_scalar_is_packed(op) ? 2 : 1, bits = lb_word_bits(op->out[0]) / parts;
    wide whole = lb_wide_u(p, 0, words_of(op->out[0]));
    for (int part = 0; part < parts; part++) {
        wide x[LB_SCALAR_MAX_IN];
        if (parts > 1) lb_ir_comment(p, part ? "the high half" : "the low half");
        for (int i = 0; i < op->ins; i++) x[i] = lb_wide_masked(p, lb_wide_down(p, in[i], 16 * part), lb_word_bits(op->in[i]) / parts);
        f->lane(p, op, f->rule, x, out);
        const wide d = lb_wide_masked(p, lb_wide_resized(p, out[0], whole.count), bits);
        whole = lb_wide_each(p, IR_OR, whole, lb_wide_up(p, d, 16 * part));
    }
    out[0] = whole;
}

/* One word is returned; what is more lies in d, word behind word. */
static bool is_returned(const lb_scalar_op *op) {
    return words_out(op) == 1;
}

static void put_outputs(const op_file *f, ir_program *p, const wide *out) {
    int at = 0;
    for (int o = 0; o < f->op->outs; o++) {
        for (int w = 0; w < words_of(f->op->out[o]); w++) {
            if (is_returned(f->op))
                lb_ir_return(p, out[o].word[w]);
            else
                lb_ir_store(p, "d", lb_ir_i(p, at++), out[o].word[w]);
        }
    }
    lb_ir_prune(p);
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

static void print_parameters(lb_text *t, const op_file *f, int first, int last, const char *before) {
    for (int i = first; i < last; i++) {
        for (int w = 0; w < words_of(f->op->in[i]); w++) {
            char name[16];
            parameter(f->op, i, w, name, sizeof name);
            lb_text_add(t, "%s%s %s", before, f->l->type[IR_U], name);
            before = ", ";
        }
    }
}

static void print_result(lb_text *t, const op_file *f) {
    if (is_returned(f->op)) return;
    lb_text_add(t, ", ");
    lb_ir_print_named(t, f->l->array_out, "d", words_out(f->op));
}

static const char *type_returned(const op_file *f) {
    return is_returned(f->op) ? f->l->type[IR_U] : "void";
}

/* What each word is: "in0 f64 in two words, in1 u32; returns f32". */
static void print_words(lb_text *t, const lb_scalar_op *op) {
    lb_text_add(t, "\n//");
    for (int i = 0; i < op->ins; i++)
        lb_text_add(t, "%s in%d %s%s", i ? "," : "", i, lb_word_name(op->in[i]), words_of(op->in[i]) > 1 ? " in two words" : "");
    lb_text_add(t, is_returned(op) ? "; returns" : "; d gets");
    for (int o = 0; o < op->outs; o++)
        lb_text_add(t, "%s %s%s", o ? "," : "", lb_word_name(op->out[o]), words_of(op->out[o]) > 1 ? " in two words, the lower first" : "");
    lb_text_add(t, ". Bits above a word are passed over, and come out as 0.\n");
}

static void print_lane(lb_text *t, const op_file *f, ir_program *p) {
    wide in[LB_SCALAR_MAX_IN], out[LB_SCALAR_MAX_OUT];
    lb_ir_clear(p);
    take_inputs(f, p, 0, f->op->ins, in);
    say_lane(f, p, in, out);
    put_outputs(f, p, out);
    print_words(t, f->op);
    lb_text_add(t, "%s%s %s(", f->l->function, type_returned(f), f->name);
    print_parameters(t, f, 0, f->op->ins, "");
    print_result(t, f);
    lb_text_add(t, ") {\n");
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

/* ---- operations of a whole warp ------------------------------------------------------------------------------------------------ */

/* Local memory as the functions name it: an argument, or an array at file scope. */
static const char *memory_of(const op_file *f, char *name, size_t size) {
    snprintf(name, size, f->l->shared_global ? "%s_words" : "local_words", f->name);
    return name;
}

static void print_memory(lb_text *t, const op_file *f) {
    if (!f->l->shared_argument) return;
    lb_text_add(t, ", ");
    lb_ir_print_named(t, f->l->shared_argument, "local_words", LANES * words_in(f->op, 0, 1));
}

static void print_half(lb_text *t, const op_file *f, const ir_program *p, bool first) {
    lb_text_add(t, "%s%s %s%s(%s lane", f->l->function, first ? "void" : type_returned(f), f->name, first ? "_share" : "_lane",
                f->l->type[IR_U]);
    print_parameters(t, f, first ? 0 : 1, first ? 1 : f->op->ins, ", ");
    if (!first) print_result(t, f);
    print_memory(t, f);
    lb_text_add(t, ") {\n");
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

static void say_share(const op_file *f, ir_program *p, const char *memory) {
    wide in[1];
    lb_ir_clear(p);
    const ir lane = lb_ir_take(p, "lane");
    take_inputs(f, p, 0, 1, in);
    for (int w = 0; w < in[0].count; w++) lb_ir_store(p, memory, w ? lb_ir_with(p, IR_ADD, lane, LANES * w) : lane, in[0].word[w]);
}

static void print_arguments(lb_text *t, const op_file *f, int first, int last) {
    for (int i = first; i < last; i++) {
        for (int w = 0; w < words_of(f->op->in[i]); w++) {
            char name[16];
            parameter(f->op, i, w, name, sizeof name);
            lb_text_add(t, ", %s", name);
        }
    }
}

/* Both halves with the barriers, for a lane; every lane of the group has to call it. */
static void print_both(lb_text *t, const op_file *f) {
    const char *memory = f->l->shared_argument ? ", local_words" : "", *u = f->l->type[IR_U];
    lb_text_add(t, "\n// Both, for every lane of the group at once; local memory is free again when it returns.\n%s%s %s(%s lane",
                f->l->function, type_returned(f), f->name, u);
    print_parameters(t, f, 0, f->op->ins, ", ");
    print_result(t, f);
    print_memory(t, f);
    lb_text_add(t, ") {\n    %s_share(lane", f->name);
    print_arguments(t, f, 0, 1);
    lb_text_add(t, "%s);\n    %s\n    ", memory, f->l->barrier);
    if (is_returned(f->op)) lb_text_add(t, "%s result = ", u);
    lb_text_add(t, "%s_lane(lane", f->name);
    print_arguments(t, f, 1, f->op->ins);
    lb_text_add(t, "%s%s);\n    %s\n%s}\n", is_returned(f->op) ? "" : ", d", memory, f->l->barrier,
                is_returned(f->op) ? "    return result;\n" : "");
}

/* In C, which has no barrier: all lanes one after another. */
static void print_group(lb_text *t, const op_file *f) {
    const char *u = f->l->type[IR_U];
    const int ins = words_in(f->op, 0, f->op->ins), shared = words_in(f->op, 0, 1), outs = words_out(f->op);
    lb_text_add(t, "\n// A whole group: in [32][%d] words, d [32][%d]\n%svoid %s(const %s *in, %s *d) {\n    %s local_words[%d];\n", ins,
                outs, f->l->function, f->name, u, u, u, LANES * shared);
    lb_text_add(t, "    for (%s lane = 0; lane < 32; lane++) %s_share(lane", u, f->name);
    for (int i = 0; i < shared; i++) lb_text_add(t, ", in[%d * lane + %d]", ins, i);
    lb_text_add(t, ", local_words);\n    for (%s lane = 0; lane < 32; lane++) ", u);
    if (is_returned(f->op)) lb_text_add(t, "d[lane] = ");
    lb_text_add(t, "%s_lane(lane", f->name);
    for (int i = shared; i < ins; i++) lb_text_add(t, ", in[%d * lane + %d]", ins, i);
    if (!is_returned(f->op)) lb_text_add(t, ", d + %d * lane", outs);
    lb_text_add(t, ", local_words);\n}\n");
}

static void print_warp(lb_text *t, const op_file *f, ir_program *p) {
    char name[NAME + 16];
    const char *memory = memory_of(f, name, sizeof name);
    wide in[LB_SCALAR_MAX_IN], out[LB_SCALAR_MAX_OUT];
    const int words = LANES * words_in(f->op, 0, 1);
    lb_text_add(t, "\n// Local memory of the group: %d words.\n", words);
    if (f->l->shared_global) {
        lb_ir_print_named(t, f->l->shared_global, memory, words);
        lb_text_add(t, "\n");
    }
    say_share(f, p, memory);
    print_words(t, f->op);
    lb_text_add(t, "// Before the barrier: this lane's first operand, for all lanes\n");
    print_half(t, f, p, true);
    lb_ir_clear(p);
    const op_group g = {p, memory, lb_ir_take(p, "lane")};
    take_inputs(f, p, 1, f->op->ins, in);
    f->warp(&g, f->op, f->rule, in, out);
    put_outputs(f, p, out);
    lb_text_add(t, "\n// Behind the barrier: this lane's result\n");
    print_half(t, f, p, false);
    if (*f->l->barrier)
        print_both(t, f);
    else
        print_group(t, f);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

static void print_head(lb_text *t, const op_file *f) {
    const lb_scalar_op *op = f->op;
    lb_text_add(t, "// SPDX-License-Identifier: MIT OR Apache-2.0\n// %s%s, as lastbit %s has it (%s: %s).\n// PTX: %s\n", op->name,
                op->warp ? ", one lane of 32" : "", lb_version(), lb_evidence_name(op->evidence), op->source, op->ptx);
    lb_text_add(t, "// Class %s: %s.\n", lb_scalar_class_name(op->cls), lb_scalar_class_text(op->cls));
    if (*op->open) lb_text_add(t, "// Open: %s.\n", op->open);
    lb_text_add(t, "// Exact under any fast-math option: integers only. Shifts are clamped below their width.\n%s", f->l->prelude);
}

lb_status lb_emit_op(const lb_scalar_op *op, const lb_emit_options *o, char **text, lb_emit_stats *stats, lb_error *err) {
    op_file f;
    lb_text body = {0};
    ir_program p = {0};
    if ((unsigned)o->language >= LB_EMIT_LANGUAGE_COUNT) return lb_fail(err, LB_E_ARG, "language", "%d is none", (int)o->language);
    LB_TRY(open_file(op, &f, err));
    f.l = lb_ir_language_of(o->language);
    print_head(&body, &f);
    if (f.warp)
        print_warp(&body, &f, &p);
    else
        print_lane(&body, &f, &p);
    if (stats) *stats = (lb_emit_stats){.outputs = op->outs};
    const lb_status done = lb_source_close(&body, &p, text, stats, err);
    lb_ir_free(&p);
    return done;
}
