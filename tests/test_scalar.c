/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each scalar operation against a second opinion: this CPU in its rounding modes, MPFR, plain C. */
#include "test.h"

#include "lastbit/scalar.h"

#include <stdlib.h>

#ifdef LB_HAVE_MPFR
#include "oracle/scalar_cpu.h"
#endif

enum { EDGES = 24, CROSSED = EDGES * EDGES, SEED = 7 };

static uint64_t mask_of(lb_word w) {
    const int bits = lb_word_bits(w);
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

#ifdef LB_HAVE_MPFR

/* LB_ONLY=PART: only operations with this in their names, as one wants them after a failure. */
static bool is_asked_for(const lb_scalar_op *op) {
    const char *only = getenv("LB_ONLY");
    return !only || strstr(op->name, only);
}

/* Both NaN in one part of a word counts as the same: which NaN is tested by itself. */
static bool same_word(lb_word w, uint64_t a, uint64_t b) {
    const lb_format *f = lb_word_format(w);
    if (a == b) return true;
    for (int p = 0; f && p < lb_word_parts(w); p++) {
        const uint64_t mask = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
        const uint64_t x = a >> (16 * p) & mask, y = b >> (16 * p) & mask;
        if (x != y && !(lb_code_class(f, x) == LB_NAN && lb_code_class(f, y) == LB_NAN)) return false;
    }
    return f != NULL;
}

static void fail_at(const lb_scalar_op *op, const uint64_t *in, int o, uint64_t got, uint64_t want) {
    char text[512] = "";
    for (int i = 0; i < op->ins; i++) snprintf(text + strlen(text), sizeof text - strlen(text), " 0x%llx", (unsigned long long)in[i]);
    fail_msg("%s: output %d is 0x%llx, the second opinion has 0x%llx; rerun: lastbit eval %s%s", op->name, o, (unsigned long long)got,
             (unsigned long long)want, op->name, text);
}

/* Whether there was an opinion. */
static bool check_row(const lb_scalar_op *op, const uint64_t *in) {
    uint64_t got[LB_SCALAR_MAX_OUT] = {0}, want[LB_SCALAR_MAX_OUT] = {0}, x[LB_SCALAR_MAX_IN] = {0};
    for (int i = 0; i < op->ins; i++) x[i] = in[i];
    if (!oracle_scalar(op->ptx, x, want)) return false;
    assert_int_equal(lb_scalar_eval(op, x, got, NULL), LB_OK);
    for (int o = 0; o < op->outs; o++)
        if (!same_word(op->out[o], got[o], want[o] & mask_of(op->out[o]))) fail_at(op, x, o, got[o], want[o] & mask_of(op->out[o]));
    return true;
}

/* Operations on 16 bits see all of them anyway. */
static uint64_t seeded_rows(const lb_scalar_op *op) {
    int bits = 0;
    for (int i = 0; i < op->ins; i++) {
        const int b = lb_word_bits(op->in[i]) / lb_word_parts(op->in[i]);
        bits = b > bits ? b : bits;
    }
    return (getenv("LB_FULL") ? 10000000 : 100000) / (bits <= 16 ? 10 : 1);
}

static void draw(const lb_scalar_op *op, uint64_t row, uint64_t *in) {
    for (int i = 0; i < op->ins; i++) in[i] = lb_scalar_input(op->in[i], i, SEED, row);
}

/* Every pair of boundary values, with every boundary value of a third operand. */
static bool check_edges(const lb_scalar_op *op) {
    uint64_t in[LB_SCALAR_MAX_IN];
    bool opinion = true;
    for (uint64_t row = 0; row < CROSSED && opinion; row++) {
        for (uint64_t third = 0; third < (op->ins > 2 ? EDGES : 1) && opinion; third++) {
            draw(op, row, in);
            if (op->ins > 2) in[2] = lb_scalar_input(op->in[2], 0, SEED, third * EDGES);
            opinion = check_row(op, in);
        }
    }
    return opinion;
}

/* Every value of each 16-bit operand, the others at their boundaries; LB_FULL: at all of them. */
static void check_all_of_16(const lb_scalar_op *op) {
    const uint64_t partners = getenv("LB_FULL") && op->ins > 1 ? CROSSED : 1;
    uint64_t in[LB_SCALAR_MAX_IN];
    for (int i = 0; i < op->ins; i++) {
        if (lb_word_bits(op->in[i]) / lb_word_parts(op->in[i]) > 16) continue;
        for (uint64_t code = 0; code < 65536; code++)
            for (uint64_t p = 0; p < partners; p++) {
                draw(op, (code * 7 + p) % CROSSED, in);
                in[i] = (code | (lb_word_parts(op->in[i]) == 2 ? (code * 40503 & 0xffff) << 16 : 0)) & mask_of(op->in[i]);
                check_row(op, in);
            }
    }
}

static void every_operation_of_one_lane_equals_a_second_opinion(void **state) {
    const lb_scalar_op *op;
    size_t compared = 0;
    (void)state;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        if (op->warp || op->cls == LB_SCALAR_APPROXIMATE || !is_asked_for(op)) continue;
        uint64_t in[LB_SCALAR_MAX_IN];
        if (!check_edges(op)) fail_msg("%s has no second opinion in tests/oracle", op->name);
        check_all_of_16(op);
        for (uint64_t row = 0; row < seeded_rows(op); row++) {
            draw(op, CROSSED + row, in);
            check_row(op, in);
        }
        compared++;
    }
    print_message("%zu operations\n", compared);
    assert_true(compared > 380 || getenv("LB_ONLY"));
}

/* ---- approximate ones ---------------------------------------------------------------------------------------------------- */

static void approximate_operations_are_measured_from_the_true_value(void **state) {
    const lb_scalar_op *op;
    (void)state;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        if (!is_asked_for(op) || op->cls != LB_SCALAR_APPROXIMATE || lb_word_parts(op->out[0]) > 1 ||
            lb_word_format(op->out[0])->id == LB_F64)
            continue;
        for (uint64_t row = 0; row < 20000; row++) {
            uint64_t in[LB_SCALAR_MAX_IN] = {0}, got, want;
            draw(op, row, in);
            if (strstr(op->name, "div_approx") && (in[1] & 0x7fffffff) > 0x7e800000) continue; /* a zero or NaN by document */
            assert_int_equal(lb_scalar_eval(op, in, &got, NULL), LB_OK);
            assert_true(oracle_scalar_true(op->ptx, in, &want));
            if (!same_word(op->out[0], got, want) && lb_ulp_distance(lb_word_format(op->out[0]), got, want) > 1)
                fail_at(op, in, 0, got, want);
        }
    }
}

#else

static void every_operation_of_one_lane_equals_a_second_opinion(void **state) {
    (void)state;
    print_message("SKIP second opinion on scalar operations: built without MPFR\n");
    skip();
}

static void approximate_operations_are_measured_from_the_true_value(void **state) {
    (void)state;
    print_message("SKIP true values of approximate operations: built without MPFR\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_of_one_lane_equals_a_second_opinion),
        cmocka_unit_test(approximate_operations_are_measured_from_the_true_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
