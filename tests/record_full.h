/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A record with something in every field, and with what is hard to write down: NaN, Inf, 2^64 - 1, quotes, control characters. */
#ifndef LB_TEST_RECORD_FULL_H
#define LB_TEST_RECORD_FULL_H

#include "test.h"

#include "lastbit/record.h"

#include <math.h>
#include <stdlib.h>

static inline lb_record *empty_record(void) {
    lb_record *r;
    lb_error err = {0};
    if (lb_record_open(&r, &err) != LB_OK) fail_msg("%s", err.message);
    return r;
}

static inline void fill_texts(lb_record *r) {
    lb_record_text(&r->case_string, "op=matmul in=bf16 m=2 n=2 k=3");
    lb_record_text(&r->op, "matmul");
    lb_record_text(&r->on, "file:D \"quoted\" \x01 <&>.npy");
    lb_record_text(&r->unit_name, "sm_80/mma.m16n8k16.f32.bf16.bf16.f32");
    lb_record_text(&r->unit_source, "a-source");
    lb_record_text(&r->unit_note, "2,500 dots");
    lb_record_text(&r->unit_open, "D1: one way (or: another); D16: x");
    lb_record_text(&r->contract_name, "m16-tc");
    lb_record_text(&r->contract_source, "b-source");
    lb_record_text(&r->contract_note, "calibrated");
    lb_record_text(&r->reason, "%d of %d elements are wrong", 2, 4);
    lb_record_text(&r->cause, "not written");
    lb_record_text(&r->reference, "exact, rounded once");
    lb_record_text(&r->coverage, "all");
    lb_record_text(&r->rerun, "lastbit check A B");
}

static const lb_counts full_counts = {.total = UINT64_MAX,
                                      .compared = 4,
                                      .exact = 1,
                                      .legal = 1,
                                      .wrong = 2,
                                      .nan_actual = 1,
                                      .class_mismatch = 1,
                                      .nan_payload = 1,
                                      .zero_sign = 2,
                                      .flushed = 3,
                                      .saturated = 4,
                                      .overflowed = 5,
                                      .subnormal_inputs = 6};

static inline lb_record *full_record(void) {
    lb_record *r = empty_record();
    fill_texts(r);
    r->unit_evidence = LB_EVIDENCE_INFERRED;
    r->contract_evidence = LB_EVIDENCE_RECORDED;
    r->contract_k = 3;
    r->contract_max_ulp = 2;
    r->contract_rel_rms_gate = 1e-3;
    r->out_format = lb_format_row(LB_BF16);
    r->verdict = LB_FAIL;
    r->counts = full_counts;
    r->metrics = (lb_metrics){INFINITY, 1.5, NAN, 0x1.23456789abcdep-3, 0.5, 2, true};
    r->first = (lb_element){.present = true,
                            .row = 0,
                            .col = 1,
                            .actual = 0x7fc0,
                            .reference = 0x3f80,
                            .actual_value = NAN,
                            .reference_value = 1,
                            .ulp = INFINITY,
                            .abs_error = INFINITY,
                            .bound = 0.015625,
                            .row_rms = 1,
                            .floor = 0.0078125,
                            .exact_code = 0x3f81,
                            .has_exact = true};
    r->worst = r->first;
    assert_int_equal(lb_record_add_outlier(r, &r->first, NULL), LB_OK);
    lb_element second = r->first;
    second.row = SIZE_MAX;
    second.bound = second.row_rms = second.floor = NAN;
    second.actual_value = -0.0;
    second.has_exact = false;
    second.exact_code = 0;
    assert_int_equal(lb_record_add_outlier(r, &second, NULL), LB_OK);
    const lb_power_row faults[] = {
        {"zeroed-row", LB_POWER_CAUGHT, false, 64, 12.5, 0.25, 3, 7, "row 3"},
        {"nan", LB_POWER_MISSED, true, 1, INFINITY, 0.125, 1, 2, ""},
        {"stale", LB_POWER_HIDDEN, false, 0, NAN, NAN, 0, 0, "B's columns are \"equal\""},
    };
    for (size_t i = 0; i < 3; i++) assert_int_equal(lb_record_add_power(r, &faults[i], NULL), LB_OK);
    r->power.present = true;
    r->power.caught = 1;
    r->power.due = 2;
    r->power.score = 0.5;
    r->seed = UINT64_MAX - 1;
    r->has_seed = true;
    r->seconds_total = 0.25;
    return r;
}

static inline char *json_of(const lb_record *r) {
    char *text;
    lb_error err = {0};
    if (lb_record_to_json(r, &text, &err) != LB_OK) fail_msg("%s", err.message);
    assert_null(strchr(text, '\n'));
    return text;
}

static inline lb_record *record_of(const char *text) {
    lb_record *r;
    lb_error err = {0};
    if (lb_record_from_json(&r, text, strlen(text), "text", &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return r;
}

#endif
