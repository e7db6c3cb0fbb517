/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Special values: counted whatever the contract says, graded by its policy, in no norm; format by format. */
#include "grade_one.h"

enum { POLICIES = 6 };
static const char *const policies[POLICIES] = {"ieee", "strict", "flush", "saturate", "flush-saturate", "no-nan"};

/* A contract of 0 ULP with this policy. */
static lb_contract *contract_of(const char *policy) {
    char text[128];
    lb_contract *c;
    lb_error err;
    snprintf(text, sizeof text, "{\"rule\": \"ulp\", \"bound\": {\"max_ulp\": 0}, \"specials\": \"%s\"}", policy);
    if (lb_contract_from_json(text, strlen(text), "test", &c, &err) != LB_OK) fail_msg("%s", err.message);
    return c;
}

typedef struct pair {
    int line;
    lb_format_id format;
    uint64_t actual, reference;
    const char *wrong; /* one letter a policy, in their order: x is wrong, . is not */
    size_t counter;    /* offset in lb_counts of what counts it */
} pair;

#define COUNTER(name) offsetof(lb_counts, name)

static const pair pairs[] = {
    /* NaN: the same bits, other bits, the other sign. e4m3 has one a sign, fnuz formats one */
    {__LINE__, LB_F32, 0x7fc00000, 0x7fc00000, ".....x", COUNTER(nan_actual)},
    {__LINE__, LB_F32, 0x7fc00001, 0x7fc00000, ".x...x", COUNTER(nan_payload)},
    {__LINE__, LB_F16, 0xfe00, 0x7e00, ".x...x", COUNTER(nan_payload)},
    {__LINE__, LB_E4M3, 0xff, 0x7f, ".x...x", COUNTER(nan_payload)},
    {__LINE__, LB_E5M2FNUZ, 0x80, 0x80, ".....x", COUNTER(nan_reference)},
    /* zeros of both signs */
    {__LINE__, LB_F32, 0x80000000, 0x00000000, ".x....", COUNTER(zero_sign)},
    {__LINE__, LB_BF16, 0x0000, 0x8000, ".x....", COUNTER(zero_sign)},
    {__LINE__, LB_E4M3, 0x80, 0x00, ".x....", COUNTER(zero_sign)},
    /* zero where the reference is subnormal: greatest and least of them; not the least normal number */
    {__LINE__, LB_F32, 0x00000000, 0x007fffff, "xx.x.x", COUNTER(flushed)},
    {__LINE__, LB_BF16, 0x8000, 0x8001, "xx.x.x", COUNTER(flushed)},
    {__LINE__, LB_F16, 0x8000, 0x03ff, "xx.x.x", COUNTER(flushed)},
    {__LINE__, LB_E4M3, 0x00, 0x07, "xx.x.x", COUNTER(flushed)},
    {__LINE__, LB_F16, 0x0000, 0x0400, "xxxxxx", COUNTER(wrong)},
    {__LINE__, LB_F16, 0x0001, 0x0000, "xxxxxx", COUNTER(wrong)}, /* a subnormal for zero is no flush */
    /* the largest finite value for an overflow; of the same sign, where the format has Inf */
    {__LINE__, LB_F16, 0x7bff, 0x7c00, "xxx..x", COUNTER(saturated)},
    {__LINE__, LB_F16, 0xfbff, 0xfc00, "xxx..x", COUNTER(saturated)},
    {__LINE__, LB_F16, 0xfbff, 0x7c00, "xxxxxx", COUNTER(class_mismatch)},
    {__LINE__, LB_F16, 0x7bff, 0xfc00, "xxxxxx", COUNTER(class_mismatch)},
    {__LINE__, LB_F16, 0x7bfe, 0x7c00, "xxxxxx", COUNTER(class_mismatch)},
    {__LINE__, LB_E5M2, 0x7b, 0x7c, "xxx..x", COUNTER(saturated)},
    {__LINE__, LB_E4M3, 0x7e, 0x7f, "xxx..x", COUNTER(saturated)}, /* an overflow is NaN there, its sign lost */
    {__LINE__, LB_E4M3, 0xfe, 0x7f, "xxx..x", COUNTER(saturated)},
    {__LINE__, LB_E4M3, 0x7d, 0x7f, "xxxxxx", COUNTER(class_mismatch)},
    /* an overflow where there is none */
    {__LINE__, LB_F16, 0x7c00, 0x7bff, "xxxxxx", COUNTER(overflowed)},
    {__LINE__, LB_F32, 0xff800000, 0x3f800000, "xxxxxx", COUNTER(overflowed)},
    {__LINE__, LB_E4M3, 0x7f, 0x7e, "xxxxxx", COUNTER(overflowed)},
    /* the same Inf, the other Inf, NaN for Inf */
    {__LINE__, LB_F16, 0x7c00, 0x7c00, "......", COUNTER(inf_actual)},
    {__LINE__, LB_F16, 0xfc00, 0x7c00, "xxxxxx", COUNTER(class_mismatch)},
    {__LINE__, LB_F16, 0x7e00, 0x7c00, "xxxxxx", COUNTER(class_mismatch)},
};

static void each_policy_takes_what_it_says_and_counts_the_same(void **state) {
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        lb_contract *c = contract_of(policies[p]);
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
            const lb_format *f = lb_format_row(pairs[i].format);
            uint64_t a = 0, r = 0;
            lb_record *record;
            lb_error err;
            lb_store_code(&a, f->bytes, pairs[i].actual);
            lb_store_code(&r, f->bytes, pairs[i].reference);
            const lb_grade_input in = {.actual = lb_mat_of(f, &a, 1, 1), .reference = lb_mat_of(f, &r, 1, 1), .contract = c, .k = 1};
            assert_int_equal(lb_record_open(&record, NULL), LB_OK);
            if (lb_grade(&in, record, &err) != LB_OK) fail_msg("%s", err.message);
            if (record->counts.wrong != (pairs[i].wrong[p] == 'x'))
                fail_msg("row at %s:%d under %s: wrong %d", __FILE__, pairs[i].line, policies[p], (int)record->counts.wrong);
            uint64_t counted;
            memcpy(&counted, (const char *)&record->counts + pairs[i].counter, sizeof counted);
            EXPECT_CODE(pairs[i].line, counted, 1);
            EXPECT_STRING(pairs[i].line, record->contract_specials, policies[p]);
            assert_true(isfinite(record->metrics.rms) && isfinite(record->metrics.rel_rms) && isfinite(record->metrics.max_abs));
            lb_record_close(record);
        }
        lb_contract_close(c);
    }
}

static void a_nan_that_no_overflow_made_is_not_excused_as_saturation(void **state) {
    (void)state;
    const lb_format *f = lb_format_row(LB_E4M3);
    const uint8_t actual = 0x7e, reference = 0x7f;
    const double finite = 1000, infinite = INFINITY; /* sum |a||b|, which NaN and Inf among the operands make infinite */
    lb_contract *c = contract_of("saturate");
    for (int i = 0; i < 2; i++) {
        lb_grade_input in = {.actual = lb_mat_of(f, &actual, 1, 1), .reference = lb_mat_of(f, &reference, 1, 1), .contract = c, .k = 1};
        lb_record *r;
        in.gauge = i ? &infinite : &finite;
        assert_int_equal(lb_record_open(&r, NULL), LB_OK);
        assert_int_equal(lb_grade(&in, r, NULL), LB_OK);
        assert_true(r->counts.wrong == (uint64_t)i && r->counts.saturated == (uint64_t)!i);
        lb_record_close(r);
    }
    lb_contract_close(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_takes_what_it_says_and_counts_the_same),
        cmocka_unit_test(a_nan_that_no_overflow_made_is_not_excused_as_saturation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
