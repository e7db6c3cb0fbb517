/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane of a group of 32, or of 128 (wgmma): it decodes its own registers of A and B once, lays them into local memory for the others, and computes its
 * own elements of D. Where anything lies is lb_fragment's table. */
#include "emit/lane.h"
#include "emit/idiom.h"

#include "emit/weights.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ITEMS = LANE_ITEMS, MAX_LINES = 8, MAX_K = 128 };

static bool power_of_2(int x) {
    return x > 0 && (x & (x - 1)) == 0;
}

static bool usable(const lb_fragment *f, int lanes) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++)
        if (f->lane[i].axis == LB_AXIS_CHOSEN || f->item[i].axis == LB_AXIS_CHOSEN || !power_of_2(f->lane[i].size)) return false;
    return f->lanes == lanes && f->items <= MAX_ITEMS && f->bits <= 32;
}

/* B that lies in shared memory: each lane takes its share of the codes, number lane + lanes * i of [k][n], one a word. Where there are more
 * lanes than codes, several take the same. */
static bool from_shared_memory(const lb_unit *u, int lanes, lb_fragment *out) {
    const int rows = lanes / u->n < u->k ? lanes / u->n : u->k, items = u->k / (rows ? rows : 1);
    if (rows == 0 || !power_of_2(u->n) || !power_of_2(rows) || rows * items != u->k) return false;
    *out = (lb_fragment){
        .operand = LB_FRAGMENT_B,
        .format = lb_format_row(u->b),
        .matrices = 1,
        .rows = u->k,
        .cols = u->n,
        .lanes = lanes,
        .items = items,
        .registers = items,
        .bits = 32,
        .lane = {{u->n, LB_AXIS_COL, 1}, {rows, LB_AXIS_ROW, 1}, {lanes / (u->n * rows), LB_AXIS_ROW, 0}, {1, LB_AXIS_ROW, 0}},
        .item = {{items, LB_AXIS_ROW, rows}, {1, LB_AXIS_ROW, 0}, {1, LB_AXIS_ROW, 0}, {1, LB_AXIS_ROW, 0}}};
    return true;
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
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_C, NULL, &f->c, err));
    LB_TRY(lb_fragment_of(u, LB_FRAGMENT_D, NULL, &f->d, err));
    const int lanes = f->d.lanes;
    const lb_status held = lb_fragment_of(u, LB_FRAGMENT_B, NULL, &f->b, err);
    f->b_shared = held == LB_E_UNAVAILABLE && from_shared_memory(u, lanes, &f->b);
    if (held != LB_OK && !f->b_shared) return held;
    if (f->b_shared && err) *err = (lb_error){0};
    if ((lanes != LANE_COUNT && lanes != 128) || !usable(&f->a, lanes) || !usable(&f->b, lanes) || !usable(&f->c, lanes) ||
        !usable(&f->d, lanes) || u->k > MAX_K || count_lines(&f->d, LB_AXIS_ROW) > MAX_LINES || count_lines(&f->d, LB_AXIS_COL) > MAX_LINES)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name,
                       "fragments are written for groups of 32 and 128 lanes; without --fragment it is written");
    return LB_OK;
}

/* ---- places --------------------------------------------------------------------------------------------------------------- */

/* Steps of a word's number for a step along each axis. */
typedef struct strides {
    int of[3]; /* LB_AXIS_ROW, LB_AXIS_COL, LB_AXIS_MATRIX */
} strides;

/* Local memory: the values of A [matrix][m][k], their exponents, the values of B [matrix][n][k], their exponents; of tier fast values alone. */
static bool has_exponents(const file *f) {
    return f->rule.of_ab.count == 2;
}

static int words_of_a(const file *f) {
    return f->a.matrices * f->rule.u->m * f->rule.u->k;
}

static int words_of_b(const file *f) {
    return f->b.matrices * f->rule.u->n * f->rule.u->k;
}

static int first_of_b(const file *f) {
    return words_of_a(f) << has_exponents(f);
}

static int words_of_both(const file *f) {
    return (words_of_a(f) + words_of_b(f)) << has_exponents(f);
}

static strides strides_of_a(const file *f, bool within) {
    return (strides){{[LB_AXIS_ROW] = f->rule.u->k, [LB_AXIS_COL] = within, [LB_AXIS_MATRIX] = f->rule.u->m * f->rule.u->k}};
}

static strides strides_of_b(const file *f, bool within) {
    return (strides){{[LB_AXIS_ROW] = within, [LB_AXIS_COL] = f->rule.u->k, [LB_AXIS_MATRIX] = f->rule.u->n * f->rule.u->k}};
}

/* What a number of at most `numbers` adds to a word's number, by its digits. */
static ir digits_part(ir_program *p, const lb_digit *digits, ir number, int numbers, strides s) {
    ir sum = lb_ir_u(p, 0);
    bool first = true;
    int shift = 0;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const lb_digit *d = &digits[i];
        const int step = d->step * s.of[d->axis];
        if (d->size > 1 && step) {
            const ir above = shift ? lb_ir_with(p, IR_SHR, number, shift) : number;
            const ir digit = d->size << shift < numbers ? lb_ir_with(p, IR_AND, above, d->size - 1) : above;
            const ir term = step > 1 ? lb_ir_with(p, IR_MUL, digit, step) : digit;
            sum = first ? term : lb_ir_do(p, IR_ADD, sum, term, 0);
            first = false;
        }
        for (int size = d->size; size > 1; size /= 2) shift++;
    }
    return sum;
}

/* What the lane's number adds to a word's number. */
static ir lane_part(ir_program *p, const lb_fragment *f, ir lane, strides s) {
    return digits_part(p, f->lane, lane, f->lanes, s);
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
ir lb_lane_code(ir_program *p, const lb_fragment *f, const ir *registers, int item) {
    const lb_slot at = slot_of(f, item);
    const int low = at.element * f->bits + f->shift, bits = f->format->bits;
    const ir moved = low ? lb_ir_with(p, IR_SHR, registers[at.reg], low) : registers[at.reg];
    return bits < 32 && low + bits < 32 ? lb_ir_with(p, IR_AND, moved, (int32_t)((UINT32_C(1) << bits) - 1)) : moved;
}

/* ---- the two halves -------------------------------------------------------------------------------------------------------- */

void lb_lane_registers(ir_program *p, const lb_fragment *f, const char *array, ir *registers) {
    for (int i = 0; i < f->registers; i++) registers[i] = lb_ir_load(p, array, lb_ir_i(p, i));
}

/* Whether lanes look for NaN and Inf once for all their elements. */
static bool marked(const file *f) {
    return f->rule.path == &lb_rule_weights && !f->rule.finite;
}

/* Whether two items of A (of B) are in the same row (column). */
static bool same_line(const file *f, const lb_fragment *from, int i, int j) {
    const lb_place x = place_of(from, i), y = place_of(from, j);
    return x.matrix == y.matrix && (from == &f->a ? x.row == y.row : x.col == y.col);
}

/* Mark the weights of every row of A (column of B) in which this lane has a NaN or an Inf. Such a line is no longer summed. */
static void mark(const file *f, ir_program *p, const lb_fragment *from, ir *weights) {
    ir marks[MAX_ITEMS];
    p->part = IR_DECODE;
    for (int i = 0; i < from->items; i++) {
        int first = 0;
        while (!same_line(f, from, first, i)) first++;
        marks[i] = first < i ? marks[first] : weights[i];
        for (int j = i + 1; first == i && j < from->items; j++)
            if (same_line(f, from, i, j)) marks[i] = lb_ir_do(p, IR_OR, marks[i], weights[j], 0);
        if (first == i) marks[i] = lb_ir_with(p, IR_AND, marks[i], WEIGHT_MARK);
    }
    for (int i = 0; i < from->items; i++) weights[i] = lb_ir_do(p, IR_OR, weights[i], marks[i], 0);
}

/* A lane's items of A or B, decoded, into local memory. */
static void share(const file *f, ir_program *p, const char *memory, const lb_fragment *from, const lb_format *format, ir lane, strides s,
                  int first, int words) {
    ir registers[MAX_ITEMS], values[MAX_ITEMS], exponents[MAX_ITEMS];
    lb_lane_registers(p, from, from == &f->a ? "a" : "b", registers);
    p->part = IR_ADDRESS;
    const ir base = lane_part(p, from, lane, s);
    for (int i = 0; i < from->items; i++) {
        p->part = IR_ADDRESS;
        const ir code = lb_lane_code(p, from, registers, i);
        p->part = IR_DECODE;
        const rule_operand x = f->rule.path->decode(&f->rule, p, format, (rule_code){code, 0});
        values[i] = to_word(p, f->rule.of_ab.type[0], x.value);
        if (has_exponents(f)) exponents[i] = to_word(p, f->rule.of_ab.type[1], x.e);
    }
    if (marked(f)) mark(f, p, from, exponents);
    p->part = IR_ADDRESS;
    for (int i = 0; i < from->items; i++) {
        const ir at = offset(p, base, first + item_part(from, i, s));
        lb_ir_store(p, memory, at, values[i]);
        if (has_exponents(f)) lb_ir_store(p, memory, lb_ir_with(p, IR_ADD, at, words), exponents[i]);
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

/* An operand out of local memory. */
static rule_operand load_operand(const file *f, ir_program *p, const char *memory, ir at, int words) {
    const rule_registers *as = &f->rule.of_ab;
    rule_operand x = {from_word(p, as->type[0], lb_ir_load(p, memory, at)), 0};
    if (as->count == 2) x.e = from_word(p, as->type[1], lb_ir_load(p, memory, offset(p, at, words)));
    return x;
}

static const rule_operand *line_at(const file *f, ir_program *p, const char *memory, lines *all, ir base, int at, int first, int words) {
    for (int i = 0; i < all->count; i++)
        if (all->list[i].at == at) return all->list[i].operand;
    line *l = &all->list[all->count++]; /* lane_open has counted them */
    l->at = at;
    p->part = IR_ADDRESS;
    const ir start = offset(p, base, first + at);
    for (int k = 0; k < f->rule.u->k; k++) l->operand[k] = load_operand(f, p, memory, offset(p, start, k), words);
    p->part = IR_MAIN;
    return l->operand;
}

/* Whether a lane that decodes A (B) has its first item of a line at this k: between them these say all that a line's marks do. */
static bool says_marks(const lb_fragment *from, bool is_a, int k) {
    for (int lane = 0; lane < from->lanes; lane++) {
        lb_place at;
        if (lb_fragment_place(from, (lb_slot){lane, 0, 0}, &at) && (is_a ? at.col : at.row) == k) return true;
    }
    return false;
}

static ir marks_of(const file *f, ir_program *p, const lines *all, const lb_fragment *from, ir any) {
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < f->rule.u->k; k++)
            if (says_marks(from, from == &f->a, k)) any = lb_ir_do(p, IR_OR, any, lb_ir_do(p, IR_BITS, all->list[i].operand[k].e, 0, 0), 0);
    return any;
}

/* What all elements of a lane come from. */
typedef struct elements {
    ir row, column; /* where the lane's lines begin */
    ir c[MAX_ITEMS], d[MAX_ITEMS];
} elements;

/* In a loop, since it is rare: the elements of D which a NaN or an Inf decides. `d` are variables. */
static void redo_specials(const file *f, ir_program *p, const char *memory, const elements *x) {
    const int words_a = words_of_a(f), words_b = words_of_b(f), items = f->d.items;
    const ir item = lb_ir_rolled(p, (uint32_t)items);
    const uint64_t times = p->times;
    p->times *= (uint64_t)items;
    const ir row = lb_ir_do(p, IR_ADD, x->row, digits_part(p, f->d.item, item, items, strides_of_a(f, false)), 0);
    const ir column = lb_ir_do(p, IR_ADD, x->column, digits_part(p, f->d.item, item, items, strides_of_b(f, false)), 0);
    ir c = x->c[0];
    for (int i = 1; i < items; i++) c = lb_ir_do(p, IR_SEL, lb_ir_with(p, IR_EQ, item, i), x->c[i], c);
    const ir classes = lb_ir_var(p, lb_weights_class_of_c(&f->rule, p, c));
    const ir k = lb_ir_rolled(p, (uint32_t)f->rule.u->k);
    p->times *= (uint64_t)f->rule.u->k;
    const rule_operand a = load_operand(f, p, memory, lb_ir_do(p, IR_ADD, row, k, 0), words_a);
    const rule_operand b = load_operand(f, p, memory, offset(p, lb_ir_do(p, IR_ADD, column, k, 0), first_of_b(f)), words_b);
    lb_ir_set(p, classes, lb_ir_do(p, IR_OR, classes, lb_weights_class(p, a, b), 0));
    lb_ir_end(p);
    p->times = times * (uint64_t)items;
    const ir code = lb_weights_special(&f->rule, p, classes);
    const ir which = lb_ir_do(p, IR_SEL, lb_ir_with(p, IR_EQ, classes, 0), lb_ir_u(p, (uint32_t)items), item);
    for (int i = 0; i < items; i++) lb_ir_set(p, x->d[i], lb_ir_do(p, IR_SEL, lb_ir_with(p, IR_EQ, which, i), code, x->d[i]));
    lb_ir_end(p);
    p->times = times;
}

/* An element's code of c, or 0 where it is NaN or Inf: then *any has a mark. */
static ir finite_c(const file *f, ir_program *p, ir c, ir *any) {
    const ir own = lb_weights_mark_of_c(&f->rule, p, c);
    *any = *any ? lb_ir_do(p, IR_OR, *any, own, 0) : own;
    return lb_ir_do(p, IR_SEL, lb_weights_marked(p, own), lb_ir_u(p, 0), c);
}

void lb_lane_store(const file *f, ir_program *p, const ir *d) {
    p->part = IR_ADDRESS;
    const int each = 32 / f->d.bits;
    for (int r = 0; r < f->d.registers; r++) {
        ir word = d[r * each];
        for (int e = 1; e < each; e++) word = lb_ir_do(p, IR_OR, word, lb_ir_with(p, IR_SHL, d[r * each + e], e * f->d.bits), 0);
        lb_ir_store(p, "d", lb_ir_i(p, r), word);
    }
}

static void compute(const file *f, ir_program *p, const char *memory, ir lane) {
    lines rows, columns;
    rows.count = columns.count = 0;
    ir registers[MAX_ITEMS], any = 0;
    elements x;
    lb_lane_registers(p, &f->c, "c", registers);
    p->part = IR_ADDRESS;
    const strides of_a = strides_of_a(f, false), of_b = strides_of_b(f, false);
    x.row = lane_part(p, &f->d, lane, of_a);
    x.column = lane_part(p, &f->d, lane, of_b);
    const int words_a = words_of_a(f), words_b = words_of_b(f);
    for (int i = 0; i < f->d.items; i++) {
        const rule_operand *a = line_at(f, p, memory, &rows, x.row, item_part(&f->d, i, of_a), 0, words_a);
        const rule_operand *b = line_at(f, p, memory, &columns, x.column, item_part(&f->d, i, of_b), first_of_b(f), words_b);
        p->part = IR_ADDRESS;
        x.c[i] = lb_lane_code(p, &f->c, registers, i);
        p->part = IR_MAIN;
        lb_ir_comment(p, "element %d of this lane", i);
        if (marked(f))
            x.d[i] = lb_ir_var(p, lb_weights_finite(&f->rule, p, a, b, finite_c(f, p, x.c[i], &any)));
        else
            x.d[i] = lb_rule_step(&f->rule, p, a, b, x.c[i]);
    }
    if (marked(f)) {
        lb_ir_comment(p, "NaN and Inf, wherever a line or c has one");
        any = marks_of(f, p, &columns, &f->b, marks_of(f, p, &rows, &f->a, any));
        lb_ir_if(p, lb_weights_marked(p, any));
        p->part = IR_RARE;
        redo_specials(f, p, memory, &x);
        lb_ir_end(p);
    }
    lb_lane_store(f, p, x.d);
}

/* ---- text -------------------------------------------------------------------------------------------------------------------- */

void lb_lane_arrays(lb_text *t, const file *f, bool a_and_b, bool c_and_d) {
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
    lb_lane_arrays(t, f, a_and_b, c_and_d);
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
    const char *memory = f->l->shared_argument ? ", local_words" : "", *u = f->l->type[IR_U];
    const int lanes = f->d.lanes;
    if (*f->l->barrier) {
        const char *barrier = lb_lane_barrier(f);
        lb_text_add(t, "\n// Both, for every lane of the group at once; local memory is free again when it returns.\n");
        open_function(t, f, "", "lane", true, true, words);
        lb_text_add(t, "    %s_share(lane, a, b%s);\n    %s\n    %s_lane(lane, c, d%s);\n    %s\n}\n", f->name, memory, barrier, f->name,
                    memory, barrier);
        return;
    }
    lb_text_add(t, "\n// A whole group: a [%d][%d] registers, b [%d][%d], c [%d][%d], d [%d][%d]\n", lanes, f->a.registers, lanes,
                f->b.registers, lanes, f->c.registers, lanes, f->d.registers);
    lb_text_add(t, "%svoid %s(const %s *a, const %s *b, const %s *c, %s *d) {\n    %s local_words[%d];\n", f->l->function, f->name, u, u, u,
                u, u, words);
    lb_text_add(t, "    for (%s lane = 0; lane < %d; lane++) %s_share(lane, a + %d * lane, b + %d * lane, local_words);\n", u, lanes,
                f->name, f->a.registers, f->b.registers);
    lb_text_add(t, "    for (%s lane = 0; lane < %d; lane++) %s_lane(lane, c + %d * lane, d + %d * lane, local_words);\n}\n", u, lanes,
                f->name, f->c.registers, f->d.registers);
}

void lb_lane_print(lb_text *t, const file *f, ir_program *p) {
    const int words = words_of_both(f);
    char memory[LB_EMIT_NAME + 8] = "local_words";
    lb_text_add(t, "\n// Local memory of the group: %d words. Layouts: %s.\n", words, f->d.source);
    if (f->b_shared)
        lb_text_add(
            t, "// B lies in shared memory: `b` are this lane's codes of it, number lane + %d i of [%d][%d] row-major, one a word%s.\n",
            f->d.lanes, f->b.rows, f->b.cols, f->b.rows * f->b.cols < f->d.lanes ? " (modulo all)" : "");
    if (f->l->shared_global) {
        snprintf(memory, sizeof memory, "%s_words", f->name);
        lb_ir_print_named(t, f->l->shared_global, memory, words);
        lb_text_add(t, "\n");
    }
    lb_ir_clear(p);
    ir lane = lb_ir_input(p, IR_U);
    share(f, p, memory, &f->a, f->rule.a, lane, strides_of_a(f, true), 0, words_of_a(f));
    share(f, p, memory, &f->b, f->rule.b, lane, strides_of_b(f, true), first_of_b(f), words_of_b(f));
    lb_text_add(t, "\n// Before the barrier: this lane's registers of A and B, decoded, for all lanes\n");
    print_half(t, f, p, lane, "_share", true, words);
    lb_ir_clear(p);
    lane = lb_ir_input(p, IR_U);
    compute(f, p, memory, lane);
    lb_text_add(t, "\n// Behind the barrier: this lane's registers of D\n");
    print_half(t, f, p, lane, "_lane", false, words);
    print_whole(t, f, words);
}
