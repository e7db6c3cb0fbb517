/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One lane of a group of 32 or 64, for every path but the dense truncated blocks of lane.c: it decodes its own registers once, lays them
 * into local memory for the others, and calls the function of one K step for each of its own elements of D. */
#include "emit/group.h"
#include "emit/idiom.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ITEMS = 128, MOST_REGISTERS = 64, MOST_WORDS = 8192 };

bool lb_group_suits(const rule *r) {
    return !r->path->lanes || r->scales || r->u->sparse_group;
}

/* ---- what lanes share ------------------------------------------------------------------------------------------------------- */

/* An operand in local memory: [matrix][line][cell][register]. A cell is a code, decoded, or a register of several codes. */
typedef struct shared {
    const lb_fragment *from;
    const char *array, *line;   /* a function's argument; a line's copy */
    const lb_format *format;    /* NULL: places of a compressed A */
    lb_axis across, along;      /* which axis counts lines, which one k */
    int lines, length;          /* cells of a line */
    int each, registers, first; /* codes of a cell, registers of a cell, its first word in local memory */
} shared;

typedef struct sharing {
    shared of[5];
    int count, words;
} sharing;

static void add_shared(sharing *s, shared x) {
    x.first = s->words;
    s->words += x.from->matrices * x.lines * x.length * x.registers;
    s->of[s->count++] = x;
}

static sharing sharing_of(const file *f) {
    const rule *r = &f->rule;
    const lb_unit *u = r->u;
    sharing s = {.count = 0};
    const int each = r->each, cells = r->of_ab.count, scale = r->of_scale.count;
    add_shared(&s, (shared){&f->a, "a", "row", r->a, LB_AXIS_ROW, LB_AXIS_COL, u->m, r->products / each, each, cells, 0});
    add_shared(&s, (shared){&f->b, "b", "column", r->b, LB_AXIS_COL, LB_AXIS_ROW, u->n, u->k / each, each, cells, 0});
    if (r->scales) {
        add_shared(&s, (shared){&f->scale_a, "scale_a", "scale_row", r->scale, LB_AXIS_ROW, LB_AXIS_COL, u->m, r->scales, 1, scale, 0});
        add_shared(&s, (shared){&f->scale_b, "scale_b", "scale_column", r->scale, LB_AXIS_COL, LB_AXIS_ROW, u->n, r->scales, 1, scale, 0});
    }
    if (u->sparse_group) add_shared(&s, (shared){&f->meta, "meta", "", NULL, LB_AXIS_ROW, LB_AXIS_COL, u->m, r->products, 1, 1, 0});
    return s;
}

static bool power_of_2(int x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/* Whether the lane's number reads as digits of bits, and registers hold whole cells. */
static bool usable(const lb_fragment *f, int lanes, int each, lb_axis along) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        if (!power_of_2(f->lane[i].size)) return false;
        if (f->lane[i].axis == along && f->lane[i].size > 1 && f->lane[i].step % each) return false;
    }
    const lb_digit *first = &f->item[0];
    const bool whole = each == 1 || (first->axis == along && first->step == 1 && first->size % each == 0);
    return whole && f->lanes == lanes && f->items <= MOST_ITEMS && f->registers <= MOST_REGISTERS;
}

lb_status lb_group_open(file *f, lb_error *err) {
    const rule *r = &f->rule;
    LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_A, NULL, &f->a, err));
    LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_B, NULL, &f->b, err));
    LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_C, NULL, &f->c, err));
    LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_D, NULL, &f->d, err));
    if (r->scales) LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_SCALE_A, NULL, &f->scale_a, err));
    if (r->scales) LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_SCALE_B, NULL, &f->scale_b, err));
    if (r->u->sparse_group) LB_TRY(lb_fragment_of(r->u, LB_FRAGMENT_METADATA, NULL, &f->meta, err));
    const sharing s = sharing_of(f);
    const int lanes = f->d.lanes;
    bool good = (lanes == 32 || lanes == 64) && s.words <= MOST_WORDS && usable(&f->c, lanes, 1, LB_AXIS_COL) &&
                usable(&f->d, lanes, 1, LB_AXIS_COL);
    for (int i = 0; i < s.count; i++) good = good && usable(s.of[i].from, lanes, s.of[i].each, s.of[i].along);
    if (good) return LB_OK;
    return lb_fail(err, LB_E_UNAVAILABLE, r->u->name,
                   "fragments are written for groups of 32 or 64 lanes; without --fragment it is written");
}

/* ---- places ------------------------------------------------------------------------------------------------------------------- */

/* Words of local memory for a step along each axis. */
typedef struct steps {
    int of[LB_AXIS_CHOSEN + 1];
    lb_axis along;
    int each;
} steps;

/* Within an operand, or of its lines alone. */
static steps steps_of(const shared *x, bool within) {
    steps s = {.along = x->along, .each = x->each};
    const int line = x->length * x->registers;
    s.of[x->across] = line;
    s.of[x->along] = within ? x->registers : 0;
    s.of[LB_AXIS_MATRIX] = line * x->lines;
    return s;
}

static int words_for(const steps *s, lb_axis axis, int places) {
    return (axis == s->along ? places / s->each : places) * s->of[axis];
}

/* What the lane's number adds to a word's number. *chosen: whether this lane holds anything, a B; 0 where all do. */
static ir lane_part(ir_program *p, const lb_fragment *f, ir lane, const steps *s, ir *chosen) {
    ir sum = lb_ir_u(p, 0);
    int shift = 0;
    *chosen = 0;
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const lb_digit *d = &f->lane[i];
        const ir digit = lb_ir_with(p, IR_AND, lb_ir_with(p, IR_SHR, lane, shift), d->size - 1);
        if (d->axis == LB_AXIS_CHOSEN)
            *chosen = lb_ir_with(p, IR_EQ, digit, d->step);
        else if (d->size > 1 && words_for(s, d->axis, d->step))
            sum = lb_ir_do(p, IR_ADD, sum, lb_ir_with(p, IR_MUL, digit, words_for(s, d->axis, d->step)), 0);
        for (int size = d->size; size > 1; size /= 2) shift++;
    }
    return sum;
}

/* A slot of lane 0, or of the lane that a selector chose: what the item alone adds. */
static bool item_place(const lb_fragment *f, int item, lb_place *out) {
    const int codes = f->bits < 32 ? 32 / f->bits : 1, span = f->bits > 32 ? 2 : 1;
    return lb_fragment_place(f, (lb_slot){0, item / codes * span, item % codes}, out);
}

static int item_part(const lb_fragment *f, int item, const steps *s) {
    lb_place at = {0, 0, 0};
    item_place(f, item, &at);
    return words_for(s, LB_AXIS_ROW, at.row) + words_for(s, LB_AXIS_COL, at.col) + words_for(s, LB_AXIS_MATRIX, at.matrix);
}

static ir offset(ir_program *p, ir base, int words) {
    return lb_ir_with(p, IR_ADD, base, words);
}

/* ---- registers ------------------------------------------------------------------------------------------------------------------ */

static void load_registers(ir_program *p, const lb_fragment *f, const char *array, ir *registers) {
    for (int i = 0; i < f->registers; i++) registers[i] = lb_ir_load(p, array, lb_ir_i(p, i));
}

/* The code of an item. */
static rule_code item_code(ir_program *p, const lb_fragment *f, const ir *registers, int item) {
    if (f->bits == 64) return (rule_code){registers[2 * item], registers[2 * item + 1]};
    const int codes = 32 / f->bits, low = item % codes * f->bits + f->shift;
    const int bits = f->operand == LB_FRAGMENT_METADATA ? f->bits : f->format->bits;
    const ir moved = lb_ir_with(p, IR_SHR, registers[item / codes], low);
    return (rule_code){low + bits < 32 ? lb_ir_with(p, IR_AND, moved, (int32_t)((UINT32_C(1) << bits) - 1)) : moved, 0};
}

/* The registers of a cell, as they travel. */
static void cell_of(const rule *r, ir_program *p, const shared *x, const ir *registers, int item, ir *out) {
    if (x->each > 1) {
        out[0] = registers[item / x->each];
        return;
    }
    const rule_code code = item_code(p, x->from, registers, item);
    if (!x->format) { /* tf32 says its two places as 0x4 and 0xe. source: ptx-isa 9.7.14.6.1 */
        out[0] = x->from->bits == 4 ? lb_ir_with(p, IR_SHR, code.low, 3) : code.low;
        return;
    }
    p->part = IR_DECODE;
    const rule_operand decoded = r->path->decode(r, p, x->format, code);
    const rule_registers *as = x->format == r->scale && x->array[0] == 's' ? &r->of_scale : &r->of_ab;
    out[0] = to_word(p, as->type[0], decoded.value);
    if (as->count == 2) out[1] = to_word(p, as->type[1], decoded.e);
    p->part = IR_ADDRESS;
}

/* A lane's items of an operand into local memory. */
static void share(const file *f, ir_program *p, const char *memory, const shared *x, ir lane) {
    const steps s = steps_of(x, true);
    ir registers[MOST_REGISTERS], chosen;
    load_registers(p, x->from, x->array, registers);
    p->part = IR_ADDRESS;
    const ir base = lane_part(p, x->from, lane, &s, &chosen);
    if (chosen) lb_ir_if(p, chosen);
    for (int i = 0; i < x->from->items; i += x->each) {
        lb_place place;
        ir cell[2] = {0, 0};
        if (!item_place(x->from, i, &place)) continue;
        cell_of(&f->rule, p, x, registers, i, cell);
        const ir at = offset(p, base, x->first + item_part(x->from, i, &s));
        for (int w = 0; w < x->registers; w++) lb_ir_store(p, memory, offset(p, at, w), cell[w]);
    }
    if (chosen) lb_ir_end(p);
}

/* ---- elements of D -------------------------------------------------------------------------------------------------------------- */

/* Where a line begins for this lane, and how far the items' lines are from there. */
typedef struct reading {
    const shared *x;
    steps s;
    ir base;
    int last; /* the item's part that the copy holds; -1: none */
} reading;

static void copy_line(ir_program *p, const char *memory, reading *r, int at) {
    if (at == r->last) return;
    r->last = at;
    const ir start = offset(p, r->base, r->x->first + at);
    const ir k = lb_ir_for(p, (uint32_t)(r->x->length * r->x->registers));
    lb_ir_store(p, r->x->line, k, lb_ir_load(p, memory, lb_ir_do(p, IR_ADD, start, k, 0)));
    lb_ir_end(p);
}

/* What a compressed row keeps of a column. */
static void gather(const rule *r, ir_program *p, const char *memory, const reading *b, int at_b, const reading *meta, int at_meta) {
    const int group = r->u->sparse_group, registers = b->x->registers;
    const ir start = offset(p, b->base, b->x->first + at_b), places = offset(p, meta->base, meta->x->first + at_meta);
    const ir i = lb_ir_for(p, (uint32_t)r->products);
    const ir place = lb_ir_with(p, IR_AND, lb_ir_load(p, memory, lb_ir_do(p, IR_ADD, places, i, 0)), group - 1);
    const ir first = lb_ir_with(p, IR_MUL, group == 4 ? lb_ir_with(p, IR_SHR, i, 1) : i, group);
    const ir k = lb_ir_do(p, IR_ADD, first, place, 0);
    const ir from = lb_ir_do(p, IR_ADD, start, lb_ir_with(p, IR_MUL, k, registers), 0), to = lb_ir_with(p, IR_MUL, i, registers);
    for (int w = 0; w < registers; w++)
        lb_ir_store(p, b->x->line, lb_ir_with(p, IR_ADD, to, w), lb_ir_load(p, memory, lb_ir_with(p, IR_ADD, from, w)));
    lb_ir_end(p);
}

static void read_lines(const file *f, ir_program *p, const char *memory, reading *all, int count, int item) {
    for (int i = 0; i < count; i++) {
        const int at = item_part(&f->d, item, &all[i].s);
        if (!all[i].x->format) continue;
        if (i == 1 && f->rule.u->sparse_group)
            gather(&f->rule, p, memory, &all[1], at, &all[count - 1], item_part(&f->d, item, &all[count - 1].s));
        else
            copy_line(p, memory, &all[i], at);
    }
}

static rule_code call_step(const file *f, ir_program *p, const char *more, rule_code c) {
    char function[LB_EMIT_NAME + 8];
    snprintf(function, sizeof function, "%s_step", f->name);
    if (lb_rule_words(f->rule.c) == 1) return (rule_code){lb_ir_call(p, function, "row, column", c.low, more), 0};
    lb_ir_store(p, "c_words", lb_ir_i(p, 0), c.low);
    lb_ir_store(p, "c_words", lb_ir_i(p, 1), c.high);
    lb_ir_line(p, "%s(row, column, c_words, d_words%s);", function, more);
    return (rule_code){lb_ir_load(p, "d_words", lb_ir_i(p, 0)), lb_ir_load(p, "d_words", lb_ir_i(p, 1))};
}

static void store_results(const file *f, ir_program *p, const rule_code *results) {
    const int codes = f->d.bits < 32 ? 32 / f->d.bits : 1;
    if (f->d.bits == 64) {
        for (int i = 0; i < f->d.items; i++) {
            lb_ir_store(p, "d", lb_ir_i(p, 2 * i), results[i].low);
            lb_ir_store(p, "d", lb_ir_i(p, 2 * i + 1), results[i].high);
        }
        return;
    }
    for (int r = 0; r < f->d.registers; r++) {
        ir word = results[r * codes].low;
        for (int e = 1; e < codes; e++)
            word = lb_ir_do(p, IR_OR, word, lb_ir_with(p, IR_SHL, results[r * codes + e].low, e * f->d.bits), 0);
        lb_ir_store(p, "d", lb_ir_i(p, r), word);
    }
}

static void compute(const file *f, ir_program *p, const char *memory, const sharing *s, ir lane) {
    reading all[5];
    rule_code results[MOST_ITEMS];
    ir registers[MOST_REGISTERS], chosen;
    p->part = IR_ADDRESS;
    for (int i = 0; i < s->count; i++) {
        const shared *x = &s->of[i];
        const int length = i == 1 ? f->rule.products / f->rule.each : x->length;
        all[i] = (reading){x, steps_of(x, false), 0, -1};
        all[i].base = lane_part(p, &f->d, lane, &all[i].s, &chosen);
        if (x->format) lb_ir_array(p, x->line, (uint32_t)(length * x->registers));
    }
    if (lb_rule_words(f->rule.c) == 2) {
        lb_ir_array(p, "c_words", 2);
        lb_ir_array(p, "d_words", 2);
    }
    load_registers(p, &f->c, "c", registers);
    for (int i = 0; i < f->d.items; i++) {
        lb_ir_comment(p, "element %d of this lane", i);
        read_lines(f, p, memory, all, s->count, i);
        results[i] = call_step(f, p, f->rule.scales ? ", scale_row, scale_column" : "", item_code(p, &f->c, registers, i));
    }
    store_results(f, p, results);
}

/* ---- text -------------------------------------------------------------------------------------------------------------------------- */

/* Arguments of a half: 1 what is shared, 2 C and D, 3 both. */
static void print_arrays(lb_text *t, const file *f, const sharing *s, int halves) {
    for (int i = 0; i < 2 && halves & 1; i++) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->array_in, s->of[i].array, s->of[i].from->registers);
    }
    if (halves & 2) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->array_in, "c", f->c.registers);
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->array_out, "d", f->d.registers);
    }
    for (int i = 2; i < s->count && halves & 1; i++) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->array_in, s->of[i].array, s->of[i].from->registers);
    }
}

/* A function's head; local memory is an argument where a language can pass it. */
static void open_function(lb_text *t, const file *f, const sharing *s, const char *suffix, const char *lane, int halves) {
    lb_text_add(t, "%svoid %s%s(%s %s", f->l->function, f->name, suffix, f->l->type[IR_U], lane);
    print_arrays(t, f, s, halves);
    if (f->l->shared_argument) {
        lb_text_add(t, ", ");
        lb_ir_print_named(t, f->l->shared_argument, "local_words", s->words);
    }
    lb_text_add(t, ") {\n");
}

static void print_half(lb_text *t, const file *f, ir_program *p, const sharing *s, ir lane, const char *suffix, int half) {
    char name[16];
    snprintf(name, sizeof name, "u%d", lane);
    lb_ir_prune(p);
    open_function(t, f, s, suffix, name, half);
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}

/* A barrier of the whole group: where 32 lanes have one of their own, more of them need another. */
const char *lb_lane_barrier(const file *f) {
    return f->d.lanes > 32 && strcmp(f->l->barrier, "__syncwarp();") == 0 ? "__syncthreads();" : f->l->barrier;
}

/* Both halves, where the language has barriers. In C, which has none, all lanes one after another. */
static void print_whole(lb_text *t, const file *f, const sharing *s) {
    const char *u = f->l->type[IR_U];
    char more[64] = "", each[160] = "";
    for (int i = 2; i < s->count; i++) {
        snprintf(more + strlen(more), sizeof more - strlen(more), ", %s", s->of[i].array);
        snprintf(each + strlen(each), sizeof each - strlen(each), ", %s + %d * lane", s->of[i].array, s->of[i].from->registers);
    }
    if (*f->l->barrier) {
        const char *memory = f->l->shared_argument ? ", local_words" : "";
        lb_text_add(t, "\n// Both, for every lane of the group at once; local memory is free again when it returns.\n");
        open_function(t, f, s, "", "lane", 3);
        lb_text_add(t, "    %s_share(lane, a, b%s%s);\n    %s\n    %s_lane(lane, c, d%s);\n    %s\n}\n", f->name, more, memory,
                    lb_lane_barrier(f), f->name, memory, lb_lane_barrier(f));
        return;
    }
    const int lanes = f->d.lanes;
    lb_text_add(t, "\n// A whole group: a [%d][%d] registers, b [%d][%d], c [%d][%d], d [%d][%d]%s\n", lanes, f->a.registers, lanes,
                f->b.registers, lanes, f->c.registers, lanes, f->d.registers, s->count > 2 ? ", the others one each" : "");
    lb_text_add(t, "%svoid %s(const %s *a, const %s *b, const %s *c, %s *d", f->l->function, f->name, u, u, u, u);
    for (int i = 2; i < s->count; i++) lb_text_add(t, ", const %s *%s", u, s->of[i].array);
    lb_text_add(t, ") {\n    %s local_words[%d];\n", u, s->words);
    lb_text_add(t, "    for (%s lane = 0; lane < %d; lane++) %s_share(lane, a + %d * lane, b + %d * lane%s, local_words);\n", u, lanes,
                f->name, f->a.registers, f->b.registers, each);
    lb_text_add(t, "    for (%s lane = 0; lane < %d; lane++) %s_lane(lane, c + %d * lane, d + %d * lane, local_words);\n}\n", u, lanes,
                f->name, f->c.registers, f->d.registers);
}

void lb_group_print(lb_text *t, const file *f, ir_program *p) {
    const sharing s = sharing_of(f);
    char memory[LB_EMIT_NAME + 8] = "local_words";
    lb_text_add(t, "\n// Local memory of the group: %d words. Layouts: %s.\n", s.words, f->d.source);
    if (f->rule.u->sparse_group || f->rule.scales)
        lb_text_add(t, "// Every selector of the instruction (sparsity, byte-id, thread-id) is 0.\n");
    if (f->l->shared_global) {
        snprintf(memory, sizeof memory, "%s_words", f->name);
        lb_ir_print_named(t, f->l->shared_global, memory, s.words);
        lb_text_add(t, "\n");
    }
    lb_ir_clear(p);
    p->times = (uint64_t)f->d.items;
    lb_text_add(t, "\n// One K step of one element, of operands as they lie in local memory\n");
    lb_element_print(t, f, p, "_step", true);
    lb_ir_clear(p);
    ir lane = lb_ir_input(p, IR_U);
    for (int i = 0; i < s.count; i++) share(f, p, memory, &s.of[i], lane);
    lb_text_add(t, "\n// Before the barrier: this lane's registers, decoded, for all lanes\n");
    print_half(t, f, p, &s, lane, "_share", 1);
    lb_ir_clear(p);
    lane = lb_ir_input(p, IR_U);
    compute(f, p, memory, &s, lane);
    lb_text_add(t, "\n// Behind the barrier: this lane's registers of D\n");
    print_half(t, f, p, &s, lane, "_lane", 2);
    print_whole(t, f, &s);
}
