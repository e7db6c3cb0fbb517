/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the fields of a record as lists, so that opening, closing, writing and reading cannot differ. */
#ifndef LB_RECORD_FIELDS_H
#define LB_RECORD_FIELDS_H

/* clang-format off */

/* Every string of lb_record. */
#define LB_RECORD_TEXTS(X) \
    X(case_string) X(op) X(on) \
    X(unit_name) X(unit_source) X(unit_note) X(unit_open) \
    X(contract_name) X(contract_source) X(contract_note) X(contract_rule) X(contract_specials) \
    X(reason) X(cause) X(reference) X(coverage) X(rerun) X(environment) X(known)

/* Every field of lb_counts, which are also the keys of "counts". */
#define LB_COUNT_FIELDS(X) LB_FIRST_COUNT_FIELDS(X) LB_ADDED_COUNT_FIELDS(X)

#define LB_FIRST_COUNT_FIELDS(X) \
    X(total) X(compared) X(exact) X(legal) X(wrong) \
    X(nan_actual) X(nan_reference) X(inf_actual) X(inf_reference) X(class_mismatch) \
    X(sign_flips) X(over_ulp) X(not_written) X(guard_damage)

/* Those that the first records had not. */
#define LB_ADDED_COUNT_FIELDS(X) \
    X(nan_payload) X(zero_sign) X(flushed) X(saturated) X(overflowed) X(subnormal_inputs)

/* Every number of lb_metrics: keys of "metrics". */
#define LB_METRIC_FIELDS(X) X(max_ulp) X(max_abs) X(rel_rms) X(rms) X(row_rms_least) X(row_rms_most)

/* "timing": key, field. */
#define LB_TIMING_FIELDS(X) \
    X(total_s, seconds_total) X(device_s, seconds_device) X(model_s, seconds_model) X(reference_s, seconds_reference)

/* clang-format on */

#endif
