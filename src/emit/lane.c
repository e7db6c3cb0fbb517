/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane of a group of 32: it decodes its own registers of A and B once, lays them into local memory for the others, and computes its
 * own elements of D. Where anything lies is lb_fragment's table. */
#include "emit/lane.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum { LANES = 32, MAX_ITEMS = 64, MAX_LINES = 8, MAX_K = 128 };

static bool power_of_2(int x) {
    return x > 0 && (x & (x - 1)) == 0;
}

static bool usable(const lb_fragment *f) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++)
        if (f->lane[i].axis == LB_AXIS_CHOSEN || f->item[i].axis == LB_AXIS_CHOSEN || !power_of_2(f->lane[i].size)) return false;
    return f->lanes == LANES && f->items <= MAX_ITEMS && f->bits <= 32;
}

/* Different rows (or columns) among the elements of D that a lane has. */
static int count_lines(const lb_fragment *d, lb_axis axis) {
    int count = 1;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++)
        if (d->item[i].axis == axis || d->item[i].axis == LB_AXIS_MATRIX) count *= d->item[i].size;
    return count;
}

lb_status lb_lane_open(file *f, lb_error *err) {
    const lb_unit *u = f->rule.u;
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_A, NULL, &f->a, err));
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_B, NULL, &f->b, err));
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_C, NULL, &f->c, err));
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_D, NULL, &f->d, err));
    if (!usable(&f->a) || !usable(&f->b) || !usable(&f->c) || !usable(&f->d) || u->k > MAX_K ||
        count_lines(&f->d, LB_AXIS_ROW) > MAX_LINES || count_lines(&f->d, LB_AXIS_COL) > MAX_LINES)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "fragments are written for groups of 32 lanes; without --fragment it is written");
    return LB_OK;
}

/* ---- places --------------------------------------------------------------------------------------------------------------- */

/* Steps of a word's number for a step along each axis. */
typedef struct strides {
    int of[3]; /* LB_AXIS_ROW, LB_AXIS_COL, LB_AXIS_MATRIX */
} strides;

/* Local memory: the values of A [matrix][m][k], their exponents, the values of B [matrix][n][k], their exponents. */
static int words_of_a(const file *f) {
    return f->a.matrices * f->rule.u->m * f->rule.u->k;
}

static int words_of_b(const file *f) {
    return f->b.matrices * f->rule.u->n * f->rule.u->k;
}

static strides strides_of_a(const file *f, bool within) {
    return (strides){{[LB_AXIS_ROW] = f->rule.u->k, [LB_AXIS_COL] = within, [LB_AXIS_MATRIX] = f->rule.u->m * f->rule.u->k}};
}

static strides strides_of_b(const file *f, bool within) {
    return (strides){{[LB_AXIS_ROW] = within, [LB_AXIS_COL] = f->rule.u->k, [LB_AXIS_MATRIX] = f->rule.u->n * f->rule.u->k}};
}

/* What the lane's number adds to a word's number. */
static ir lane_part(ir_program *p, const lb_fragment *f, ir lane, strides s) {
    ir sum = lb_ir_u(p, 0);
    bool first = true;
    int shift = 0;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const lb_digit *d = &f->lane[i];
        const int step = d->step * s.of[d->axis];
        if (d->size > 1 && step) {
            const ir above = shift ? lb_ir_with(p, IR_SHR, lane, shift) : lane;
            const ir digit = d->size << shift < LANES ? lb_ir_with(p, IR_AND, above, d->size - 1) : above;
            const ir term = step > 1 ? lb_ir_with(p, IR_MUL, digit, step) : digit;
            sum = first ? term : lb_ir_do(p, IR_ADD, sum, term, 0);
            first = false;
        }
        for (int size = d->size; size > 1; size /= 2) shift++;
    }
    return sum;
}

static lb_slot slot_of(const lb_fragment *f, int item) {
    const int each = 32 / f->bits;
    return (lb_slot){0, item / each, item % each};
}

static lb_place place_of(const lb_fragment *f, int item) {
    lb_place place = {0, 0, 0};
    lb_fragment_place(f, slot_of(f, item), &place); /* of lane 0: what the item alone adds */
    return place;
}

static int item_part(const lb_fragment *f, int item, strides s) {
    const lb_place at = place_of(f, item);
    return at.row * s.of[LB_AXIS_ROW] + at.col * s.of[LB_AXIS_COL] + at.matrix * s.of[LB_AXIS_MATRIX];
}

static ir offset(ir_program *p, ir base, int words) {
    return words ? lb_ir_with(p, IR_ADD, base, words) : base;
}

/* The code of an item out of its register. */
static ir item_code(ir_program *p, const lb_fragment *f, const ir *registers, int item) {
    const lb_slot at = slot_of(f, item);
    const int low = at.element * f->bits + f->shift, bits = f->format->bits;
    const ir moved = low ? lb_ir_with(p, IR_SHR, registers[at.reg], low) : registers[at.reg];
    return bits < 32 && low + bits < 32 ? lb_ir_with(p, IR_AND, moved, (int32_t)((UINT32_C(1) << bits) - 1)) : moved;
}

/* ---- the two halves -------------------------------------------------------------------------------------------------------- */

static void load_registers(ir_program *p, const lb_fragment *f, const char *array, ir *registers) {
    for (int i = 0; i < f->registers; i++) registers[i] = lb_ir_load(p, array, lb_ir_i(p, i));
}

/* A lane's items of A or B, decoded, into local memory. */
static void share(const file *f, ir_program *p, const char *memory, const lb_fragment *from, const lb_format *format, ir lane, strides s,
                  int first, int words) {
    ir registers[MAX_ITEMS];
    load_registers(p, from, from == &f->a ? "a" : "b", registers);
    p->part = IR_ADDRESS;
    const ir base = lane_part(p, from, lane, s);
    for (int i = 0; i < from->items; i++) {
        p->part = IR_ADDRESS;
        const ir code = item_code(p, from, registers, i), at = offset(p, base, first + item_part(from, i, s));
        p->part = IR_DECODE;
        const rule_operand x = lb_rule_decode(&f->rule, p, format, code);
        lb_ir_store(p, memory, at, lb_ir_do(p, f->rule.floats ? IR_BITS : IR_AS_U, x.value, 0, 0));
        p->part = IR_ADDRESS;
        lb_ir_store(p, memory, lb_ir_with(p, IR_ADD, at, words), lb_ir_do(p, IR_AS_U, x.e, 0, 0));
    }
}

/* Operands of a whole row of A or column of B. */
typedef struct line {
    int at; /* the item's part of the line's place */
    rule_operand operand[MAX_K];
} line;

typedef struct lines {
    line list[MAX_LINES];
    int count;
} lines;

static const rule_operand *line_at(const file *f, ir_program *p, const char *memory, lines *all, ir base, int at, int first, int words) {
    for (int i = 0; i < all->count; i++)
        if (all->list[i].at == at) return all->list[i].operand;
    line *l = &all->list[all->count++]; /* lane_open has counted them */
    l->at = at;
    p->part = IR_ADDRESS;
    const ir start = offset(p, base, first + at);
    for (int k = 0; k < f->rule.u->k; k++) {
        const ir value = lb_ir_load(p, memory, offset(p, start, k)), e = lb_ir_load(p, memory, offset(p, start, words + k));
        l->operand[k] = (rule_operand){lb_ir_do(p, f->rule.floats ? IR_FROM_BITS : IR_AS_I, value, 0, 0), lb_ir_do(p, IR_AS_I, e, 0, 0)};
    }
    p->part = IR_MAIN;
    return l->operand;
}

static void compute(const file *f, ir_program *p, const char *memory, ir lane) {
    lines rows, columns;
    rows.count = columns.count = 0;
    ir registers[MAX_ITEMS], results[MAX_ITEMS];
    load_registers(p, &f->c, "c", registers);
    p->part = IR_ADDRESS;
    const strides of_a = strides_of_a(f, false), of_b = strides_of_b(f, false);
    const ir row = lane_part(p, &f->d, lane, of_a), column = lane_part(p, &f->d, lane, of_b);
    const int words_a = words_of_a(f), words_b = words_of_b(f);
    for (int i = 0; i < f->d.items; i++) {
        const rule_operand *a = line_at(f, p, memory, &rows, row, item_part(&f->d, i, of_a), 0, words_a);
        const rule_operand *b = line_at(f, p, memory, &columns, column, item_part(&f->d, i, of_b), 2 * words_a, words_b);
        p->part = IR_ADDRESS;
        const ir c = item_code(p, &f->c, registers, i);
        p->part = IR_MAIN;
        lb_ir_comment(p, "element %d of this lane", i);
        results[i] = lb_rule_step(&f->rule, p, a, b, c);
    }
    p->part = IR_ADDRESS;
    const int each = 32 / f->d.bits;
    for (int r = 0; r < f->d.registers; r++) {
        ir word = results[r * each];
        for (int e = 1; e < each; e++) word = lb_ir_do(p, IR_OR, word, lb_ir_with(p, IR_SHL, results[r * each + e], e * f->d.bits), 0);
        lb_ir_store(p, "d", lb_ir_i(p, r), word);
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

static void print_arrays(lb_text *t, const file *f, bool a_and_b, bool c_and_d) {
    const char *const names[] = {"a", "b", "c", "d"};
    const lb_fragment *const of[] = {&f->a, &f->b, &f->c, &f->d};
    for (int i = a_and_b ? 0 : 2; i < (c_and_d ? 4 : 2); i++) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, i == 3 ? f->l->array_out : f->l->array_in, names[i], of[i]->registers);
    }
}

/* A function's head, from the lane on; local memory is an argument where a language can pass it. */
static void open_function(lb_text *t, const file *f, const char *suffix, const char *lane, bool a_and_b, bool c_and_d, int words) {
    lb_text_add(t, "%svoid %s%s(%s %s", f->l->function, f->name, suffix, f->l->type[IR_U], lane);
    print_arrays(t, f, a_and_b, c_and_d);
    if (f->l->shared_argument) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->shared_argument, "local_words", words);
    }
    lb_text_add(t, ") {\n");
}

static void print_half(lb_text *t, const file *f, ir_program *p, ir lane, const char *suffix, bool first, int words) {
    char name[16];
    snprintf(name, sizeof name, "u%d", lane);
    lb_ir_prune(p);
    open_function(t, f, suffix, name, first, !first, words);
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

/* Both halves, where the language has barriers. In C, which has none, all lanes one after another. */
static void print_whole(lb_text *t, const file *f, int words) {
    const char *memory = f->l->shared_argument ? ", local_words" : "";
    if (*f->l->barrier) {
        lb_text_add(t, "\n// Both, for every lane of the group at once; local memory is free again when it returns.\n");
        open_function(t, f, "", "lane", true, true, words);
        lb_text_add(t, "    %s_share(lane, a, b%s);\n    %s\n    %s_lane(lane, c, d%s);\n    %s\n}\n", f->name, memory, f->l->barrier,
                    f->name, memory, f->l->barrier);
        return;
    }
    lb_text_add(t, "\n// A whole group: a [32][%d] registers, b [32][%d], c [32][%d], d [32][%d]\n", f->a.registers, f->b.registers,
                f->c.registers, f->d.registers);
    lb_text_add(t, "%svoid %s(const %s *a, const %s *b, const %s *c, %s *d) {\n    %s local_words[%d];\n", f->l->function, f->name,
                f->l->type[IR_U], f->l->type[IR_U], f->l->type[IR_U], f->l->type[IR_U], f->l->type[IR_U], words);
    lb_text_add(t, "    for (%s lane = 0; lane < 32; lane++) %s_share(lane, a + %d * lane, b + %d * lane, local_words);\n",
                f->l->type[IR_U], f->name, f->a.registers, f->b.registers);
    lb_text_add(t, "    for (%s lane = 0; lane < 32; lane++) %s_lane(lane, c + %d * lane, d + %d * lane, local_words);\n}\n",
                f->l->type[IR_U], f->name, f->c.registers, f->d.registers);
}

void lb_lane_print(lb_text *t, const file *f, ir_program *p) {
    const int words = 2 * (words_of_a(f) + words_of_b(f));
    char memory[LB_EMIT_NAME + 8] = "local_words";
    lb_text_add(t, "\n// Local memory of the group: %d words. Layouts: %s.\n", words, f->d.source);
    if (f->l->shared_global) {
        snprintf(memory, sizeof memory, "%s_words", f->name);
        lb_ir_print_named(t, f->l->shared_global, memory, words);
        lb_text_add(t, "\n");
    }
    lb_ir_clear(p);
    ir lane = lb_ir_input(p, IR_U);
    share(f, p, memory, &f->a, f->rule.a, lane, strides_of_a(f, true), 0, words_of_a(f));
    share(f, p, memory, &f->b, f->rule.b, lane, strides_of_b(f, true), 2 * words_of_a(f), words_of_b(f));
    lb_text_add(t, "\n// Before the barrier: this lane's registers of A and B, decoded, for all lanes\n");
    print_half(t, f, p, lane, "_share", true, words);
    lb_ir_clear(p);
    lane = lb_ir_input(p, IR_U);
    compute(f, p, memory, lane);
    lb_text_add(t, "\n// Behind the barrier: this lane's registers of D\n");
    print_half(t, f, p, lane, "_lane", false, words);
    print_whole(t, f, words);
}
