/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs of 16-bit codes that are equal or nearly so are judged at once; a layout that keeps them apart is judged one by one. The records are the same, bit for bit. */
#include "test.h"

#include "lastbit/contracts.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 257, COLS = 301, ALL = ROWS * COLS };

typedef struct outputs {
    uint16_t actual[ALL], reference[ALL], exact[ALL]; /* dense */
    uint16_t wide[3][2 * ALL];                        /* each code followed by one of no interest */
} outputs;

/* 0: numbers of the format, few of them apart; 1: zeros of both signs, subnormals, NaN and Inf among them too; 2: half of them an ordinal or two
 * apart, and a few more; 3: that with zeros and the like; 4: half of them an ordinal apart, two at the end. */
static void fill(outputs *o, const lb_format *f, int how, uint64_t seed) {
    for (size_t i = 0; i < ALL; i++) {
        const uint64_t word = lb_random_u64(seed, 1, i);
        const double x = ((double)(uint32_t)word * 0x1p-32 - 0.5) * 8;
        static const uint16_t special[] = {0x0000, 0x8000, 0x7fff, 0xfc00, 0x7c00, 0x7f80, 0x0001, 0x8003};
        const bool odd = how % 2 && (word >> 32) % 97 == 0, differs = how < 4 && (word >> 40) % 61 == 0,
                   exact_differs = (word >> 48) % 83 == 0;
        o->reference[i] = odd ? special[(word >> 56) % 8] : (uint16_t)lb_from_double(f, x);
        o->actual[i] = (uint16_t)(o->reference[i] ^ (differs ? 1 + (word >> 60) : 0));
        if (how >= 2 && !differs && !odd && word >> 63)
            o->actual[i] = (uint16_t)(o->reference[i] + 1 + (how < 4 ? word >> 62 & 1 : i > ALL - ALL / 16));
        if (odd && differs) o->actual[i] = (uint16_t)(o->reference[i] - 1); /* beside Inf, the largest number */
        o->exact[i] = (uint16_t)(o->reference[i] ^ exact_differs);
        o->wide[0][2 * i] = o->actual[i];
        o->wide[1][2 * i] = o->reference[i];
        o->wide[2][2 * i] = o->exact[i];
    }
}

static lb_mat of(const lb_format *f, outputs *o, int which, bool wide) {
    uint16_t *const dense[] = {o->actual, o->reference, o->exact};
    lb_mat m = lb_mat_of(f, wide ? o->wide[which] : dense[which], ROWS, COLS);
    m.col_stride = wide ? 2 : 1;
    m.row_stride = wide ? 2 * COLS : COLS;
    return m;
}

static char *record_of(const char *rule, const lb_format *f, outputs *o, bool unit, bool wide, bool sentinel) {
    const lb_mat exact = of(f, o, 2, wide);
    size_t near = ALL / 3; /* a pair an ordinal apart, whose actual code means "not written" */
    while (near + 1 < ALL && o->actual[near] != o->reference[near] + 1) near++;
    const lb_grade_input in = {.actual = of(f, o, 0, wide),
                               .reference = of(f, o, 1, wide),
                               .exact = unit ? &exact : NULL,
                               .k = 256,
                               .has_sentinel = sentinel,
                               .sentinel = o->actual[near]};
    lb_record *r;
    lb_error err;
    char *text;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    if (lb_grade_by(rule, &in, r, &err) != LB_OK) fail_msg("%s: %s", rule, err.message);
    assert_true(r->counts.exact > ALL / 3 && r->counts.exact + r->counts.legal + r->counts.wrong == ALL && r->counts.exact < ALL);
    assert_int_equal(lb_record_to_json(r, &text, NULL), LB_OK);
    lb_record_close(r);
    return text;
}

static void runs_of_equal_or_near_codes_leave_the_record_that_single_ones_do(void **state) {
    (void)state;
    static const struct {
        const char *rule;
        lb_format_id format;
    } rows[] = {{"m16-tc", LB_BF16}, {"m16-tc", LB_F16}, {"m16-tc-original", LB_BF16}, {"bitwise", LB_F16}, {"torch", LB_BF16},
                {"nmse", LB_F16},    {"ulp:3", LB_F16}};
    outputs *o = malloc(sizeof *o);
    assert_non_null(o);
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const lb_format *f = lb_format_row(rows[i].format);
        for (int how = 0; how < 5; how++) {
            fill(o, f, how, 7 + i);
            for (int unit = 0; unit < 2; unit++) {
                char *runs = record_of(rows[i].rule, f, o, unit, false, how < 4),
                     *singles = record_of(rows[i].rule, f, o, unit, true, how < 4);
                if (strcmp(runs, singles) != 0) fail_msg("%s in %s:\n%s\n%s", rows[i].rule, f->name, runs, singles);
                free(runs);
                free(singles);
            }
        }
    }
    free(o);
}

static void a_large_output_of_nothing_but_zeros_proves_nothing(void **state) {
    (void)state;
    uint16_t *zeros = calloc(ALL, sizeof *zeros);
    const lb_mat m = lb_mat_of(lb_format_row(LB_BF16), zeros, ROWS, COLS);
    const lb_grade_input in = {.actual = m, .reference = m, .k = 256};
    lb_record *r;
    for (size_t i = 0; i < ALL; i += 2) zeros[i] = 0x8000;
    assert_int_equal(lb_record_open(&r, NULL), LB_OK);
    assert_int_equal(lb_grade_by("bitwise", &in, r, NULL), LB_OK);
    assert_true(r->verdict == LB_UNPROVEN && strstr(r->reason, "vacuous"));
    lb_record_close(r);
    free(zeros);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_equal_or_near_codes_leave_the_record_that_single_ones_do),
        cmocka_unit_test(a_large_output_of_nothing_but_zeros_proves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
