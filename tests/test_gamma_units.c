/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gamma is rigorous: no unit of the table, its steps declared as its row has them, ever leaves it, whatever it multiplies. */
#include "test.h"

#include "lastbit/gemm.h"
#include "lastbit/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 16, N = 16, K = 256 };

/* The contract that a unit's row declares. A block rounds to f32 (23 bits, cut), to 13 bits (cut) or to f16 (nearest). */
static lb_contract *contract_of(const lb_unit *u) {
    static const char *const rounds[] = {"\"2^-23\"", "\"2^-13\"", "\"2^-11\", \"least_normal\": \"2^-14\""};
    char text[256];
    lb_contract *c;
    lb_error err;
    snprintf(text, sizeof text,
             "{\"rule\": \"gamma\", \"accumulator\": {\"rounding\": \"truncate\", \"unit_roundoff\": %s, \"step\": %d, \"frac_bits\": %d}}",
             rounds[u->round], u->terms, u->frac_bits);
    if (lb_contract_from_json(text, strlen(text), u->name, &c, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
    return c;
}

static void fill(lb_mat *m, void *codes, const lb_format *f, size_t rows, size_t cols, lb_dist dist, uint32_t stream) {
    *m = lb_mat_of(f, codes, rows, cols);
    lb_draw_mat(m, dist, 5, stream);
}

static void no_unit_leaves_the_gamma_of_its_own_row(void **state) {
    (void)state;
    static const lb_dist dists[] = {LB_DIST_UNIFORM, LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS};
    uint64_t *a = calloc(M * K, 8), *b = calloc(K * N, 8), *d = calloc(M * N, 8);
    size_t units = 0;
    double nearest = 0;
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        if (u->path != LB_PATH_TRUNCATED) continue;
        units++;
        for (size_t k = 0; k < sizeof dists / sizeof dists[0]; k++) {
            lb_check_options o = {.x = {.op = "matmul", .out = lb_format_row(u->d)}};
            lb_mat out = lb_mat_of(o.x.out, d, M, N);
            lb_record *r;
            lb_error err;
            lb_contract *c = contract_of(u);
            fill(&o.x.a, a, lb_format_row(u->a), M, K, dists[k], 1);
            fill(&o.x.b, b, lb_format_row(u->b), K, N, dists[k], 2);
            if (lb_gemm(u, &o.x.a, &o.x.b, NULL, &out, NULL, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
            o.actual = &out;
            o.contract = c;
            if (lb_check(&o, &r, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
            if (r->counts.wrong) /* where the order decides whether an f16 overflows, the class may differ */
                if (r->counts.wrong != r->counts.class_mismatch || k < 2) fail_msg("%s, draw %zu: %s", u->name, k, r->reason);
            if (r->worst.present && isfinite(r->worst.abs_error)) nearest = fmax(nearest, r->worst.abs_error / r->worst.bound);
            lb_record_close(r);
            lb_contract_close(c);
        }
    }
    printf("%zu units, the nearest at %.2f of its limit\n", units, nearest);
    assert_true(units > 20);
    free(a);
    free(b);
    free(d);
}

static void a_subnormal_operand_is_aligned_as_a_normal_one_and_weighed_so(void **state) {
    (void)state;
    /* 2^-24, subnormal, times 2^15 makes 2^-9, but is aligned at 2^-14 times 2^15 = 2: 24 bits below it is 2^-23, and seven products of
     * 2^-14 * 2^-9 (1 - 2^-11) are cut to nothing: 7 * 2^-23, 600 times gamma of 2^-9 */
    const uint16_t a[8] = {0x0001, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400};
    const uint16_t b[8] = {0x7800, 0x17ff, 0x17ff, 0x17ff, 0x17ff, 0x17ff, 0x17ff, 0x17ff};
    const lb_format *f16 = lb_format_row(LB_F16);
    uint32_t d = 0;
    lb_mat out = lb_mat_of(lb_format_row(LB_F32), &d, 1, 1);
    lb_check_options o = {.x = {.op = "matmul", .a = lb_mat_of(f16, a, 1, 8), .b = lb_mat_of(f16, b, 8, 1), .out = out.format},
                          .actual = &out};
    lb_unit u;
    lb_record *r;
    lb_error err;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &u, &err), LB_OK);
    assert_int_equal(lb_gemm(&u, &o.x.a, &o.x.b, NULL, &out, NULL, &err), LB_OK);
    assert_true(d == 0x3b000000); /* 2^-9 */
    for (int declared = 0; declared < 2; declared++) {
        lb_contract *c = NULL;
        if (declared)
            c = contract_of(&u);
        else
            assert_int_equal(lb_contract_open("gamma-rz", &c, &err), LB_OK); /* says nothing of steps, so nothing of how they are aligned */
        o.contract = c;
        assert_int_equal(lb_check(&o, &r, &err), LB_OK);
        assert_true((r->counts.wrong == 0) == declared && r->counts.subnormal_inputs == 1);
        lb_record_close(r);
        lb_contract_close(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_unit_leaves_the_gamma_of_its_own_row),
                                       cmocka_unit_test(a_subnormal_operand_is_aligned_as_a_normal_one_and_weighed_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
