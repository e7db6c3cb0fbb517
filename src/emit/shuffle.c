/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/shuffle.h"
#include "emit/idiom.h"

#include "base/try.h"

#include <string.h>

enum { LANES = LANE_COUNT, LANE_BITS = 5, MAX_ITEMS = LANE_ITEMS, MAX_LINES = 8, MAX_K = 128 };

/* Where an operand of an element of D lies: the same item of every lane's source, in lane first + the sum of the steps of the bits that
 * are set in the lane's own number. */
typedef struct source {
    int item, first, step[LANE_BITS];
} source;

static bool slot_for(const file *f, const lb_fragment *from, int lane, int d_item, int k, lb_slot *out) {
    const int each = 32 / f->d.bits;
    lb_place at;
    if (!lb_fragment_place(&f->d, (lb_slot){lane, d_item / each, d_item % each}, &at)) return false;
    if (from == &f->a)
        at.col = k;
    else
        at.row = k;
    return lb_fragment_slot(from, at, out);
}

static bool find_source(const file *f, const lb_fragment *from, int d_item, int k, source *s) {
    const int each = 32 / from->bits;
    lb_slot at[LANES];
    for (int lane = 0; lane < LANES; lane++)
        if (!slot_for(f, from, lane, d_item, k, &at[lane])) return false;
    *s = (source){.item = at[0].reg * each + at[0].element, .first = at[0].lane};
    for (int b = 0; b < LANE_BITS; b++) s->step[b] = at[1 << b].lane - s->first;
    for (int lane = 0; lane < LANES; lane++) {
        int want = s->first;
        for (int b = 0; b < LANE_BITS; b++) want += lane >> b & 1 ? s->step[b] : 0;
        if (at[lane].lane != want || at[lane].reg * each + at[lane].element != s->item) return false;
    }
    return true;
}

lb_status lb_shuffle_check(const file *f, lb_error *err) {
    if (f->d.lanes != LANES || !f->rule.path->lanes || f->rule.scales || f->rule.u->sparse_group)
        return lb_fail(err, LB_E_UNAVAILABLE, f->rule.u->name,
                       "sub-group shuffles are written for dense blocks; exchange through local memory is written");
    if (!lb_ir_more_of(f->l)->op[IR_SHUFFLE])
        return lb_fail(err, LB_E_UNAVAILABLE, "exchange", "%s has no sub-groups; exchange through local memory is written", f->l->name);
    const lb_fragment *const operands[] = {&f->a, &f->b};
    for (int o = 0; o < 2; o++) {
        source first, s;
        for (int i = 0; i < f->d.items; i++) {
            for (int k = 0; k < f->rule.u->k; k++) {
                const bool found = find_source(f, operands[o], i, k, &s);
                if (found && i + k == 0) first = s;
                if (!found || memcmp(s.step, first.step, sizeof s.step) != 0)
                    return lb_fail(err, LB_E_UNAVAILABLE, f->rule.u->name,
                                   "which register another lane gives depends on the lane; exchange through local memory is written");
            }
        }
    }
    return LB_OK;
}

/* The lane that gives item 0 of k 0, but for its constant: bits that move together are taken together. */
static ir source_lane(ir_program *p, ir lane, const int *step) {
    ir sum = lb_ir_with(p, IR_AND, lane, -LANES);
    for (int b = 0; b < LANE_BITS;) {
        int count = 1;
        while (b + count < LANE_BITS && step[b] && step[b + count] == step[b] << count) count++;
        if (step[b]) {
            const ir above = b ? lb_ir_with(p, IR_SHR, lane, b) : lane;
            const ir digit = lb_ir_with(p, IR_AND, above, (1 << count) - 1);
            sum = lb_ir_do(p, IR_ADD, sum, step[b] > 1 ? lb_ir_with(p, IR_MUL, digit, step[b]) : digit, 0);
        }
        b += count;
    }
    return sum;
}

/* A lane's own items of A or B, decoded, as words. */
typedef struct own {
    const lb_fragment *from;
    ir value[MAX_ITEMS], e[MAX_ITEMS], lane;
    struct {
        int item, first; /* of k 0: lines differ in these */
        rule_operand operand[MAX_K];
    } line[MAX_LINES];
    int lines;
} own;

static void decode(const file *f, ir_program *p, const lb_fragment *from, ir lane, own *o) {
    const rule *r = &f->rule;
    const bool is_a = from == &f->a;
    ir registers[MAX_ITEMS];
    source s;
    o->from = from;
    o->lines = 0;
    lb_lane_registers(p, from, is_a ? "a" : "b", registers);
    for (int i = 0; i < from->items; i++) {
        p->part = IR_ADDRESS;
        const ir code = lb_lane_code(p, from, registers, i);
        p->part = IR_DECODE;
        const rule_operand x = r->path->decode(r, p, is_a ? r->a : r->b, (rule_code){code, 0});
        o->value[i] = to_word(p, r->of_ab.type[0], x.value);
        if (r->of_ab.count == 2) o->e[i] = to_word(p, r->of_ab.type[1], x.e);
    }
    p->part = IR_ADDRESS;
    if (find_source(f, from, 0, 0, &s)) o->lane = source_lane(p, lane, s.step);
}

/* A whole row of A (column of B) of an element of D. */
static const rule_operand *fetch(const file *f, ir_program *p, own *o, int d_item) {
    const rule *r = &f->rule;
    source s;
    if (!find_source(f, o->from, d_item, 0, &s)) return o->line[0].operand; /* lb_shuffle_check has seen that it is found */
    for (int i = 0; i < o->lines; i++)
        if (o->line[i].item == s.item && o->line[i].first == s.first) return o->line[i].operand;
    const int at = o->lines++; /* lb_lane_open has counted them */
    o->line[at].item = s.item;
    o->line[at].first = s.first;
    p->part = IR_ADDRESS;
    for (int k = 0; k < r->u->k; k++) {
        rule_operand *x = &o->line[at].operand[k];
        find_source(f, o->from, d_item, k, &s);
        const ir lane = s.first ? lb_ir_with(p, IR_ADD, o->lane, s.first) : o->lane;
        x->value = from_word(p, r->of_ab.type[0], lb_ir_do(p, IR_SHUFFLE, o->value[s.item], lane, 0));
        if (r->of_ab.count == 2) x->e = from_word(p, r->of_ab.type[1], lb_ir_do(p, IR_SHUFFLE, o->e[s.item], lane, 0));
    }
    return o->line[at].operand;
}

static void compute(const file *f, ir_program *p, ir lane) {
    own a, b;
    ir registers[MAX_ITEMS], d[MAX_ITEMS];
    const rule_operand *x[MAX_ITEMS], *y[MAX_ITEMS];
    decode(f, p, &f->a, lane, &a);
    decode(f, p, &f->b, lane, &b);
    lb_ir_comment(p, "every lane gives and takes: nothing before this may leave one out");
    for (int i = 0; i < f->d.items; i++) {
        x[i] = fetch(f, p, &a, i);
        y[i] = fetch(f, p, &b, i);
    }
    lb_lane_registers(p, &f->c, "c", registers);
    for (int i = 0; i < f->d.items; i++) {
        p->part = IR_ADDRESS;
        const ir c = lb_lane_code(p, &f->c, registers, i);
        p->part = IR_MAIN;
        lb_ir_comment(p, "element %d of this lane", i);
        d[i] = lb_rule_step(&f->rule, p, x[i], y[i], c);
    }
    lb_lane_store(f, p, d);
}

void lb_shuffle_print(lb_text *t, const file *f, ir_program *p) {
    lb_ir_clear(p);
    const ir lane = lb_ir_input(p, IR_U);
    compute(f, p, lane);
    lb_text_add(
        t,
        "\n// For sub-groups of 32 lanes or a multiple of it, all of them there; `u%d` is the lane's number in its sub-group. A smaller\n"
        "// sub-group gives wrong results. Layouts: %s.\n",
        lane, f->d.source);
    lb_text_add(t, "%svoid %s(%s u%d", f->l->function, f->name, f->l->type[IR_U], lane);
    lb_lane_arrays(t, f, true, true);
    lb_text_add(t, ") {\n");
    lb_ir_prune(p);
    lb_ir_print_body(t, f->l, p);
    lb_text_add(t, "}\n");
}
