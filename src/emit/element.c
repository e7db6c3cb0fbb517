/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One element of D as a function of codes, or of operands that were decoded before; and a tile of elements. */
#include "emit/idiom.h"
#include "emit/lane.h"

#include <stdio.h>
#include <string.h>

/* ---- the arrays that a unit takes ------------------------------------------------------------------------------------------- */

int lb_element_arrays(const rule *r, lb_element_array *out) {
    const lb_unit *u = r->u;
    const int k = u->k, n = u->n, m = u->m, words = lb_rule_words(r->c);
    int count = 0;
    out[count++] = (lb_element_array){LB_ARRAY_OPERAND, "a", "row", m, r->products, true, lb_rule_words(r->a), r->of_ab.count};
    out[count++] = (lb_element_array){LB_ARRAY_OPERAND, "b", "column", n, k, false, lb_rule_words(r->b), r->of_ab.count};
    out[count++] = (lb_element_array){LB_ARRAY_C, "c", "c_words", m, n, true, words, words};
    out[count++] = (lb_element_array){LB_ARRAY_D, "d", "d_words", m, n, true, words, words};
    if (r->scales) {
        out[count++] = (lb_element_array){LB_ARRAY_OPERAND, "scale_a", "scale_row", m, r->scales, true, 1, r->of_scale.count};
        out[count++] = (lb_element_array){LB_ARRAY_OPERAND, "scale_b", "scale_column", n, r->scales, false, 1, r->of_scale.count};
    }
    if (u->sparse_group) out[count++] = (lb_element_array){LB_ARRAY_META, "meta", "meta_row", m, r->products, true, 1, 1};
    return count;
}

static bool is_line(const lb_element_array *x) {
    return x->kind == LB_ARRAY_OPERAND || x->kind == LB_ARRAY_META;
}

/* ---- one element ------------------------------------------------------------------------------------------------------------ */

static rule_code load_code(ir_program *p, const char *array, int words, int i) {
    rule_code code = {0, 0};
    code.low = lb_ir_load(p, array, lb_ir_i(p, words * i));
    if (words == 2) code.high = lb_ir_load(p, array, lb_ir_i(p, 2 * i + 1));
    return code;
}

/* Where the compressed element i goes along k. */
static ir place_of(const rule *r, ir_program *p, int i) {
    const int group = r->u->sparse_group, first = i / (group / 2) * group;
    const ir place = lb_ir_with(p, IR_AND, lb_ir_load(p, "meta", lb_ir_i(p, i)), group - 1);
    return first ? lb_ir_with(p, IR_ADD, place, first) : place;
}

typedef struct operands {
    rule_operand a[RULE_MAX_K], b[RULE_MAX_K], scale_a[RULE_MAX_SCALES], scale_b[RULE_MAX_SCALES];
} operands;

static void load_codes(const rule *r, ir_program *p, operands *x) {
    p->part = IR_DECODE;
    for (int i = 0; i < r->products; i++) x->a[i] = r->path->decode(r, p, r->a, load_code(p, "a", lb_rule_words(r->a), i));
    for (int i = 0; i < r->products; i++) {
        rule_code code;
        if (r->u->sparse_group) {
            p->part = IR_ADDRESS;
            code = (rule_code){lb_ir_load(p, "b", place_of(r, p, i)), 0};
            p->part = IR_DECODE;
        } else {
            code = load_code(p, "b", lb_rule_words(r->b), i);
        }
        x->b[i] = r->path->decode(r, p, r->b, code);
    }
    for (int i = 0; i < r->scales; i++) {
        x->scale_a[i] = r->path->decode(r, p, r->scale, load_code(p, "scale_a", 1, i));
        x->scale_b[i] = r->path->decode(r, p, r->scale, load_code(p, "scale_b", 1, i));
    }
    p->part = IR_MAIN;
}

static rule_operand load_registers(ir_program *p, const rule_registers *as, const char *array, int i) {
    rule_operand x = {0, 0};
    x.value = from_word(p, as->type[0], lb_ir_load(p, array, lb_ir_i(p, as->count * i)));
    if (as->count == 2) x.e = from_word(p, as->type[1], lb_ir_load(p, array, lb_ir_i(p, 2 * i + 1)));
    return x;
}

static void load_decoded(const rule *r, ir_program *p, operands *x) {
    for (int i = 0; i < r->products / r->each; i++) {
        x->a[i] = load_registers(p, &r->of_ab, "a", i);
        x->b[i] = load_registers(p, &r->of_ab, "b", i);
    }
    for (int i = 0; i < r->scales; i++) {
        x->scale_a[i] = load_registers(p, &r->of_scale, "scale_a", i);
        x->scale_b[i] = load_registers(p, &r->of_scale, "scale_b", i);
    }
}

static void print_head(lb_text *t, const file *f, const ir_program *p, const char *suffix, bool decoded, ir c) {
    lb_element_array arrays[LB_ELEMENT_ARRAYS];
    const int count = lb_element_arrays(&f->rule, arrays);
    const bool wide = lb_rule_words(f->rule.c) == 2;
    lb_text_add(t, "%s%s %s%s(", f->l->function, wide ? "void" : f->l->type[IR_U], f->name, suffix);
    for (int i = 0; i < count; i++) {
        const lb_element_array *x = &arrays[i];
        if ((x->kind == LB_ARRAY_D && !wide) || (x->kind == LB_ARRAY_META && decoded)) continue;
        if (i) lb_text_add(t, ", ");
        if (x->kind == LB_ARRAY_C && !wide) {
            lb_text_add(t, "%s ", f->l->type[IR_U]);
            lb_ir_print_name(t, p, c);
            continue;
        }
        const int length = !is_line(x) ? 1 : decoded && x->name[0] == 'b' ? f->rule.products : x->length;
        const int each = decoded && (x->name[0] == 'a' || x->name[0] == 'b') ? f->rule.each : 1;
        lb_ir_print_named(t, x->kind == LB_ARRAY_D ? f->l->array_out : f->l->array_in, x->name,
                          length / each * (decoded ? x->registers : x->words));
    }
    lb_text_add(t, ") {\n");
}

/* ---- blocks of a loop --------------------------------------------------------------------------------------------------------- */

static rule_operand load_at(const rule *r, ir_program *p, const lb_format *f, const char *array, ir at, bool decoded) {
    const int each = decoded ? r->of_ab.count : lb_rule_words(f);
    const ir first = each > 1 ? lb_ir_with(p, IR_MUL, at, each) : at;
    rule_code words = {lb_ir_load(p, array, first), 0};
    if (each > 1) words.high = lb_ir_load(p, array, lb_ir_with(p, IR_ADD, first, 1));
    if (!decoded) return r->path->decode(r, p, f, words);
    return (rule_operand){from_word(p, r->of_ab.type[0], words.low), each > 1 ? from_word(p, r->of_ab.type[1], words.high) : 0};
}

/* What one block is, said once. */
static rule_code print_blocks(const rule *r, ir_program *p, bool decoded, rule_code c) {
    const rule_path *path = r->path;
    const uint32_t count = (uint32_t)(r->products / r->block);
    const bool two = path->begin || lb_rule_words(r->c) == 2;
    const uint64_t times = p->times;
    operands x;
    const rule_code first = path->begin ? path->begin(r, p, c) : c;
    const rule_code state = {lb_ir_var(p, first.low), two ? lb_ir_var(p, first.high) : 0};
    const ir i = lb_ir_for(p, count);
    p->times = times * count;
    p->part = IR_DECODE;
    const ir at = r->block > 1 ? lb_ir_with(p, IR_MUL, i, r->block) : i;
    for (int k = 0; k < r->block; k++) {
        const ir place = k ? lb_ir_with(p, IR_ADD, at, k) : at;
        x.a[k] = load_at(r, p, r->a, "a", place, decoded);
        x.b[k] = load_at(r, p, r->b, "b", place, decoded);
    }
    p->part = IR_MAIN;
    const rule_inputs in = {.a = x.a, .b = x.b, .c = state};
    const rule_code next = path->step(r, p, &in);
    lb_ir_set(p, state.low, next.low);
    if (two) lb_ir_set(p, state.high, next.high);
    lb_ir_end(p);
    p->times = times;
    return path->end ? path->end(r, p, state, c) : state;
}

static rule_code print_step(const rule *r, ir_program *p, bool decoded, rule_code c) {
    if (r->block) return print_blocks(r, p, decoded, c);
    operands x;
    if (decoded)
        load_decoded(r, p, &x);
    else
        load_codes(r, p, &x);
    const rule_inputs in = {.a = x.a, .b = x.b, .scale_a = x.scale_a, .scale_b = x.scale_b, .c = c};
    return r->path->step(r, p, &in);
}

void lb_element_print(lb_text *t, const file *f, ir_program *p, const char *suffix, bool decoded) {
    const rule *r = &f->rule;
    const bool wide = lb_rule_words(r->c) == 2;
    const ir c = wide ? 0 : lb_ir_input(p, IR_U);
    const rule_code d = print_step(r, p, decoded, wide ? load_code(p, "c", 2, 0) : (rule_code){c, 0});
    if (wide) {
        lb_ir_store(p, "d", lb_ir_i(p, 0), d.low);
        lb_ir_store(p, "d", lb_ir_i(p, 1), d.high);
    } else {
        lb_ir_return(p, d.low);
    }
    lb_ir_prune(p);
    print_head(t, f, p, suffix, decoded, c);
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

/* ---- a tile ------------------------------------------------------------------------------------------------------------------- */

/* Element i of a line of an operand to a local array. */
static void copy_element(ir_program *p, const lb_element_array *x, ir line, ir i) {
    const ir at = x->row_major_lines ? lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, line, x->length), i, 0)
                                     : lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, i, x->lines), line, 0);
    if (x->words == 1) {
        lb_ir_store(p, x->local, i, lb_ir_load(p, x->name, at));
        return;
    }
    const ir from = lb_ir_with(p, IR_MUL, at, 2), to = lb_ir_with(p, IR_MUL, i, 2);
    lb_ir_store(p, x->local, to, lb_ir_load(p, x->name, from));
    lb_ir_store(p, x->local, lb_ir_with(p, IR_ADD, to, 1), lb_ir_load(p, x->name, lb_ir_with(p, IR_ADD, from, 1)));
}

/* A row of A, a column of B and what belongs to them; neighbours of one length in one loop. */
static void copy_lines(ir_program *p, const lb_element_array *arrays, int count, ir row, ir column) {
    for (int x = 0; x < count; x++) {
        if (!is_line(&arrays[x])) continue;
        const ir k = lb_ir_for(p, (uint32_t)arrays[x].length);
        for (int length = arrays[x].length; x < count && is_line(&arrays[x]) && arrays[x].length == length; x++)
            copy_element(p, &arrays[x], arrays[x].row_major_lines ? row : column, k);
        lb_ir_end(p);
        x--;
    }
}

/* d[row][column] by a call. */
static void call_element(const file *f, ir_program *p, const lb_element_array *arrays, int count, ir at) {
    char function[LB_EMIT_NAME + 8], more[64] = "";
    snprintf(function, sizeof function, "%s_dot", f->name);
    for (int x = 4; x < count; x++) snprintf(more + strlen(more), sizeof more - strlen(more), ", %s", arrays[x].local);
    if (lb_rule_words(f->rule.c) == 1) {
        lb_ir_store(p, "d", at, lb_ir_call(p, function, "row, column", lb_ir_load(p, "c", at), more));
        return;
    }
    const ir low = lb_ir_with(p, IR_MUL, at, 2), high = lb_ir_with(p, IR_ADD, low, 1);
    lb_ir_store(p, "c_words", lb_ir_i(p, 0), lb_ir_load(p, "c", low));
    lb_ir_store(p, "c_words", lb_ir_i(p, 1), lb_ir_load(p, "c", high));
    lb_ir_line(p, "%s(row, column, c_words, d_words%s);", function, more);
    lb_ir_store(p, "d", low, lb_ir_load(p, "d_words", lb_ir_i(p, 0)));
    lb_ir_store(p, "d", high, lb_ir_load(p, "d_words", lb_ir_i(p, 1)));
}

void lb_tile_print(lb_text *t, const file *f, ir_program *p) {
    const lb_unit *u = f->rule.u;
    lb_element_array arrays[LB_ELEMENT_ARRAYS];
    const int count = lb_element_arrays(&f->rule, arrays);
    p->part = IR_ADDRESS;
    for (int x = 0; x < count; x++)
        if (is_line(&arrays[x]) || arrays[x].words == 2)
            lb_ir_array(p, arrays[x].local, (uint32_t)((is_line(&arrays[x]) ? arrays[x].length : 1) * arrays[x].words));
    const ir i = lb_ir_for(p, u->m), j = lb_ir_for(p, u->n);
    copy_lines(p, arrays, count, i, j);
    call_element(f, p, arrays, count, lb_ir_do(p, IR_ADD, lb_ir_with(p, IR_MUL, i, u->n), j, 0));
    lb_ir_end(p);
    lb_ir_end(p);
    lb_text_add(t, "%svoid %s_tile(", f->l->function, f->name);
    for (int x = 0; x < count; x++) {
        if (x) lb_text_add(t, ", ");
        lb_ir_print_named(t, arrays[x].kind == LB_ARRAY_D ? f->l->array_out : f->l->array_in, arrays[x].name,
                          arrays[x].lines * arrays[x].length * arrays[x].words);
    }
    lb_text_add(t, ") {\n");
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}
