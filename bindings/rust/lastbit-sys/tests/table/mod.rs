// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/rust/gen_sys from include/lastbit: change the headers and run it.

macro_rules! table {
    ($structs:ident, $integers:ident, $floats:ident, $texts:ident, $functions:ident) => {
        $structs!(lb_error: status, place, message);
        $structs!(lb_format: name, alias, id, special, bits, bytes, sign_bits, exp_bits, man_bits, bias, pad_bits, source, note);
        $structs!(lb_value: cls, negative, sticky, exp, hi, lo);
        $structs!(lb_encoding: rounding, overflow, flush, random_bits, random);
        $structs!(lb_block_format: name, element, scale, size, rule, source, note);
        $structs!(lb_mat: format, codes, rows, cols, row_stride, col_stride);
        $structs!(lb_element: present, row, col, actual, reference, actual_value, reference_value, ulp, abs_error, bound, row_rms, floor, exact_code, has_exact);
        $structs!(lb_counts: total, compared, exact, legal, wrong, nan_actual, nan_reference, inf_actual, inf_reference, class_mismatch, sign_flips, over_ulp, not_written, guard_damage);
        $structs!(lb_metrics: max_ulp, max_abs, rel_rms, rms, row_rms_least, row_rms_most, present);
        $structs!(lb_record: case_string, op, on, unit_name, unit_source, unit_note, unit_open, unit_evidence, contract_name, contract_source, contract_note, contract_k, contract_max_ulp, contract_rel_rms_gate, contract_evidence, out_format, verdict, reason, counts, metrics, first, worst, outliers, outlier_count, cause, reference, coverage, rerun, seed, has_seed, environment, seconds_total, seconds_device, seconds_model, seconds_reference);
        $structs!(lb_unit: name, m, n, k, m_free, n_free, a, b, c, d, path, terms, frac_bits, floor_exp, round, evidence, source, note, open);
        $structs!(lb_case: op, a, b, c, b_transposed, out, seed);
        $structs!(lb_contract: name, max_ulp, margin, unit_roundoff, sign_flip_band, flips_graded, classes_first, rel_rms_gate, formats, evidence, source, note);
        $structs!(lb_grade_input: actual, reference, exact, nan_by_class, contract, k, reference_error, row_rms, row_index, col_index, has_sentinel, sentinel, max_outliers);
        $structs!(lb_m16_outlier: row, col, reference, actual, ulp, row_rms, floor);
        $structs!(lb_m16_diff: max_ulp, over_budget, over_count, over_ulp_only, sign_flips, max_abs, rel_rms, rms, row_rms, row_count);
        $structs!(lb_gemm_options: kernel, threads);
        $structs!(lb_kernel_text: name, note, usable);
        $structs!(lb_dtype: name, safetensors, npy, bytes, format);
        $structs!(lb_tensor: name, dtype, rank, shape, data, bytes);
        $structs!(lb_file_options: raw_dtype, raw_rank, raw_shape, max_bytes);
        $structs!(lb_operand: mat, file, owned);
        $structs!(lb_run_report: end, why, not_written, guard_damage, inputs_changed, seconds, detail);
        $structs!(lb_check_options: x, actual, actual_name, on, argv, unit, contract, nan_by_class, reference, sample, seed, timeout_seconds, max_outliers, progress, progress_user);
        $structs!(lb_block_options: reference, actual, actual_bytes, ld, guard_bytes, has_sentinel, sentinel, contract, k, max_outliers);
        $integers!(lb_status: LB_OK, LB_E_ARG, LB_E_SHAPE, LB_E_FORMAT, LB_E_NAME, LB_E_FILE, LB_E_UNAVAILABLE, LB_E_DEVICE, LB_E_TIMEOUT, LB_E_MEMORY, LB_STATUS_COUNT);
        $integers!(lb_format_id: LB_F64, LB_F32, LB_TF32, LB_F16, LB_BF16, LB_E4M3, LB_E5M2, LB_E4M3_IEEE, LB_E3M4, LB_E4M3FNUZ, LB_E5M2FNUZ, LB_E4M3B11FNUZ, LB_E8M0, LB_UE4M3, LB_E3M2, LB_E2M3, LB_E2M1, LB_I8, LB_U8, LB_I4, LB_U4, LB_B1, LB_MXI8, LB_FORMAT_COUNT);
        $integers!(lb_special: LB_SPECIAL_IEEE, LB_SPECIAL_NAN_TOP, LB_SPECIAL_FNUZ, LB_SPECIAL_NONE, LB_SPECIAL_E8M0, LB_SPECIAL_INT);
        $integers!(lb_class: LB_ZERO, LB_FINITE, LB_INF, LB_NAN);
        $integers!(lb_rounding: LB_RNE, LB_RNA, LB_RNZ, LB_RNO, LB_RZ, LB_RU, LB_RD, LB_RAZ, LB_ODD, LB_SR, LB_ROUNDING_COUNT);
        $integers!(lb_overflow: LB_OVERFLOW_IEEE, LB_OVERFLOW_INF, LB_OVERFLOW_SATURATE, LB_OVERFLOW_SATURATE_PROPAGATE, LB_OVERFLOW_NAN, LB_OVERFLOW_WRAP, LB_OVERFLOW_COUNT);
        $integers!(lb_flush: LB_FLUSH_NONE, LB_FLUSH_KEEP_SIGN, LB_FLUSH_TO_POSITIVE);
        $integers!(int: LB_INEXACT, LB_UNDERFLOW, LB_OVERFLOWED, LB_INVALID);
        $integers!(lb_scale_rule: LB_SCALE_FLOOR, LB_SCALE_CEIL, LB_SCALE_EVEN, LB_SCALE_AMAX);
        $integers!(lb_verdict: LB_PASS, LB_FAIL, LB_UNPROVEN, LB_SKIP, LB_VERDICT_COUNT);
        $integers!(lb_evidence: LB_EVIDENCE_OPEN, LB_EVIDENCE_INFERRED, LB_EVIDENCE_STATED, LB_EVIDENCE_RECORDED, LB_EVIDENCE_COUNT);
        $integers!(lb_unit_path: LB_PATH_NONE, LB_PATH_TRUNCATED, LB_PATH_TWO_HALVES);
        $integers!(lb_unit_round: LB_UNIT_RZ_F32, LB_UNIT_RZ_E8M13, LB_UNIT_RNE_F16);
        $integers!(lb_reference_mode: LB_REFERENCE_AUTO, LB_REFERENCE_F64, LB_REFERENCE_EXACT);
        $integers!(lb_dist: LB_DIST_UNIFORM, LB_DIST_NORMAL, LB_DIST_INTEGER, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_SPECIAL, LB_DIST_COUNT);
        $integers!(lb_run_end: LB_RUN_DONE, LB_RUN_FAILED, LB_RUN_CRASHED, LB_RUN_TIMED_OUT);
        $integers!(int: LB_VERSION_MAJOR);
        $integers!(int: LB_VERSION_MINOR);
        $integers!(int: LB_VERSION_PATCH);
        $texts!(LB_VERSION);
        $integers!(int: LB_M16_MAX_ULP);
        $floats!(LB_F32_UNIT_ROUNDOFF);
        $floats!(LB_M16_FLOOR_MARGIN);
        $floats!(LB_M16_SIGN_FLIP_BAND);
        $floats!(LB_M16_REL_RMS_GATE);
        $floats!(LB_M16_OLD_FLOOR);
        $integers!(int: LB_MAX_RANK);
        $texts!(LB_RECORD_SCHEMA);
        $integers!(int: LB_NO_FLOOR);
        $functions!(lb_status_text, lb_version, lb_fail, lb_nearest_name, lb_random_u64, lb_philox4x32, lb_format_row, lb_format_find, lb_format_get, lb_decode, lb_code_class, lb_value_of, lb_value_add, lb_value_mul, lb_to_double, lb_encode, lb_from_double, lb_flush_code, lb_max_code, lb_min_code, lb_inf_code, lb_nan_code, lb_ordinal, lb_ulp_distance, lb_block_format_row, lb_block_format_find, lb_block_encode, lb_block_decode, lb_block_encode_rows, lb_block_decode_rows, lb_mat_of, lb_mat_transposed, lb_mat_round, lb_mat_encode, lb_mat_convert, lb_mat_check, lb_verdict_name, lb_evidence_name, lb_record_open, lb_record_close, lb_record_text, lb_record_add_outlier, lb_record_to_json, lb_record_from_json, lb_records_exit, lb_unit_row, lb_unit_find, lb_unit_dot, lb_unit_gemm, lb_unit_mma, lb_case_m, lb_case_n, lb_case_k, lb_case_b, lb_case_check, lb_reference_matmul, lb_draw, lb_draw_mat, lb_backend_name, lb_backend_summary, lb_device_open, lb_device_open_command, lb_device_can, lb_device_run, lb_device_name, lb_device_detail, lb_device_close, lb_contract_row, lb_contract_find, lb_contract_floor, lb_grade, lb_bf16_ord, lb_m16_floor, lb_m16_within, lb_m16_compare_block, lb_m16_diff_free, lb_gemm, lb_kernel_row, lb_dtype_find, lb_dtype_of_codes, lb_dtype_for, lb_tensor_count, lb_file_open, lb_file_parse, lb_file_close, lb_file_count, lb_file_tensor, lb_file_find, lb_file_metadata, lb_file_path, lb_safetensors_write, lb_npy_write, lb_operand_open, lb_operand_close, lb_mat_write, lb_report_text, lb_report_brief, lb_report_junit, lb_run_guarded, lb_poison_code, lb_check, lb_sample_indices, lb_grade_block, lb_replay, lb_gen_line, lb_judge_open, lb_judge_line, lb_judge_close);
    };
}
