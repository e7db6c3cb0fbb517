// SPDX-License-Identifier: MIT OR Apache-2.0
// Written by bindings/rust/gen_sys from include/lastbit: change the headers and run it.

use core::ffi::c_void;
use std::os::raw::{c_char, c_int, c_uint};

pub const LB_VERSION_MAJOR: i32 = 0;
pub const LB_VERSION_MINOR: i32 = 1;
pub const LB_VERSION_PATCH: i32 = 0;
pub const LB_VERSION: &str = "0.1.0";
pub const LB_M16_MAX_ULP: i32 = 2;
pub const LB_F32_UNIT_ROUNDOFF: f64 = 5.960464477539063e-08;
pub const LB_M16_FLOOR_MARGIN: f64 = 8.0;
pub const LB_M16_SIGN_FLIP_BAND: f64 = 0.05;
pub const LB_M16_REL_RMS_GATE: f64 = 0.001;
pub const LB_M16_OLD_FLOOR: f64 = 9.5367431640625e-07;
pub const LB_NO_EXPONENT: i32 = -1000000;
pub const LB_MAX_RANK: i32 = 8;
pub const LB_RECORD_SCHEMA: &str = "lastbit.result/1";
pub const LB_NO_FLOOR: i32 = -100000;

pub type lb_status = c_uint;
pub const LB_OK: lb_status = 0;
pub const LB_E_ARG: lb_status = 1;
pub const LB_E_SHAPE: lb_status = 2;
pub const LB_E_FORMAT: lb_status = 3;
pub const LB_E_NAME: lb_status = 4;
pub const LB_E_FILE: lb_status = 5;
pub const LB_E_UNAVAILABLE: lb_status = 6;
pub const LB_E_DEVICE: lb_status = 7;
pub const LB_E_TIMEOUT: lb_status = 8;
pub const LB_E_MEMORY: lb_status = 9;
pub const LB_STATUS_COUNT: lb_status = 10;

pub type lb_format_id = c_uint;
pub const LB_F64: lb_format_id = 0;
pub const LB_F32: lb_format_id = 1;
pub const LB_TF32: lb_format_id = 2;
pub const LB_F16: lb_format_id = 3;
pub const LB_BF16: lb_format_id = 4;
pub const LB_E4M3: lb_format_id = 5;
pub const LB_E5M2: lb_format_id = 6;
pub const LB_E4M3_IEEE: lb_format_id = 7;
pub const LB_E3M4: lb_format_id = 8;
pub const LB_E4M3FNUZ: lb_format_id = 9;
pub const LB_E5M2FNUZ: lb_format_id = 10;
pub const LB_E4M3B11FNUZ: lb_format_id = 11;
pub const LB_E8M0: lb_format_id = 12;
pub const LB_UE4M3: lb_format_id = 13;
pub const LB_E3M2: lb_format_id = 14;
pub const LB_E2M3: lb_format_id = 15;
pub const LB_E2M1: lb_format_id = 16;
pub const LB_I8: lb_format_id = 17;
pub const LB_U8: lb_format_id = 18;
pub const LB_I4: lb_format_id = 19;
pub const LB_U4: lb_format_id = 20;
pub const LB_B1: lb_format_id = 21;
pub const LB_MXI8: lb_format_id = 22;
pub const LB_I32: lb_format_id = 23;
pub const LB_FORMAT_COUNT: lb_format_id = 24;

pub type lb_special = c_uint;
pub const LB_SPECIAL_IEEE: lb_special = 0;
pub const LB_SPECIAL_NAN_TOP: lb_special = 1;
pub const LB_SPECIAL_FNUZ: lb_special = 2;
pub const LB_SPECIAL_NONE: lb_special = 3;
pub const LB_SPECIAL_E8M0: lb_special = 4;
pub const LB_SPECIAL_INT: lb_special = 5;

pub type lb_class = c_uint;
pub const LB_ZERO: lb_class = 0;
pub const LB_FINITE: lb_class = 1;
pub const LB_INF: lb_class = 2;
pub const LB_NAN: lb_class = 3;

pub type lb_rounding = c_uint;
pub const LB_RNE: lb_rounding = 0;
pub const LB_RNA: lb_rounding = 1;
pub const LB_RNZ: lb_rounding = 2;
pub const LB_RNO: lb_rounding = 3;
pub const LB_RZ: lb_rounding = 4;
pub const LB_RU: lb_rounding = 5;
pub const LB_RD: lb_rounding = 6;
pub const LB_RAZ: lb_rounding = 7;
pub const LB_ODD: lb_rounding = 8;
pub const LB_SR: lb_rounding = 9;
pub const LB_ROUNDING_COUNT: lb_rounding = 10;

pub type lb_overflow = c_uint;
pub const LB_OVERFLOW_IEEE: lb_overflow = 0;
pub const LB_OVERFLOW_INF: lb_overflow = 1;
pub const LB_OVERFLOW_SATURATE: lb_overflow = 2;
pub const LB_OVERFLOW_SATURATE_PROPAGATE: lb_overflow = 3;
pub const LB_OVERFLOW_NAN: lb_overflow = 4;
pub const LB_OVERFLOW_WRAP: lb_overflow = 5;
pub const LB_OVERFLOW_COUNT: lb_overflow = 6;

pub type lb_flush = c_uint;
pub const LB_FLUSH_NONE: lb_flush = 0;
pub const LB_FLUSH_KEEP_SIGN: lb_flush = 1;
pub const LB_FLUSH_TO_POSITIVE: lb_flush = 2;
pub const LB_INEXACT: c_uint = 1;
pub const LB_UNDERFLOW: c_uint = 2;
pub const LB_OVERFLOWED: c_uint = 4;
pub const LB_INVALID: c_uint = 8;

pub type lb_scale_rule = c_uint;
pub const LB_SCALE_FLOOR: lb_scale_rule = 0;
pub const LB_SCALE_CEIL: lb_scale_rule = 1;
pub const LB_SCALE_EVEN: lb_scale_rule = 2;
pub const LB_SCALE_AMAX: lb_scale_rule = 3;

pub type lb_verdict = c_uint;
pub const LB_PASS: lb_verdict = 0;
pub const LB_FAIL: lb_verdict = 1;
pub const LB_UNPROVEN: lb_verdict = 2;
pub const LB_SKIP: lb_verdict = 3;
pub const LB_VERDICT_COUNT: lb_verdict = 4;

pub type lb_evidence = c_uint;
pub const LB_EVIDENCE_OPEN: lb_evidence = 0;
pub const LB_EVIDENCE_INFERRED: lb_evidence = 1;
pub const LB_EVIDENCE_STATED: lb_evidence = 2;
pub const LB_EVIDENCE_RECORDED: lb_evidence = 3;
pub const LB_EVIDENCE_COUNT: lb_evidence = 4;

pub type lb_power_end = c_uint;
pub const LB_POWER_CAUGHT: lb_power_end = 0;
pub const LB_POWER_MISSED: lb_power_end = 1;
pub const LB_POWER_BELOW: lb_power_end = 2;
pub const LB_POWER_HIDDEN: lb_power_end = 3;
pub const LB_POWER_INERT: lb_power_end = 4;
pub const LB_POWER_COUNT: lb_power_end = 5;

pub type lb_unit_path = c_uint;
pub const LB_PATH_NONE: lb_unit_path = 0;
pub const LB_PATH_TRUNCATED: lb_unit_path = 1;
pub const LB_PATH_TWO_HALVES: lb_unit_path = 2;
pub const LB_PATH_FMA_CHAIN: lb_unit_path = 3;
pub const LB_PATH_EXACT: lb_unit_path = 4;
pub const LB_PATH_PAIRWISE: lb_unit_path = 5;
pub const LB_PATH_LATE_C: lb_unit_path = 6;
pub const LB_PATH_LATE_C_SPLIT: lb_unit_path = 7;
pub const LB_PATH_BLOCK_SCALED: lb_unit_path = 8;
pub const LB_PATH_SPARSE: lb_unit_path = 9;
pub const LB_PATH_INTEGER: lb_unit_path = 10;
pub const LB_PATH_XOR_POPC: lb_unit_path = 11;
pub const LB_PATH_AND_POPC: lb_unit_path = 12;
pub const LB_PATH_ODD_FIRST: lb_unit_path = 13;
pub const LB_PATH_TWO_CHAINS: lb_unit_path = 14;
pub const LB_PATH_PAIR_ODD: lb_unit_path = 15;
pub const LB_PATH_PAIR_FUSED: lb_unit_path = 16;
pub const LB_PATH_COUNT: lb_unit_path = 17;

pub type lb_unit_round = c_uint;
pub const LB_UNIT_RZ_F32: lb_unit_round = 0;
pub const LB_UNIT_RZ_E8M13: lb_unit_round = 1;
pub const LB_UNIT_RNE_F16: lb_unit_round = 2;
pub const LB_UNIT_RNE_F32: lb_unit_round = 3;
pub const LB_UNIT_RNE_F64: lb_unit_round = 4;
pub const LB_UNIT_ODD_F32: lb_unit_round = 5;
pub const LB_UNIT_WRAP_I32: lb_unit_round = 6;
pub const LB_UNIT_SATURATE_I32: lb_unit_round = 7;
pub const LB_UNIT_ROUND_COUNT: lb_unit_round = 8;

pub type lb_zero_products = c_uint;
pub const LB_ZERO_PRODUCTS_SKIP: lb_zero_products = 0;
pub const LB_ZERO_PRODUCTS_COUNT: lb_zero_products = 1;

pub type lb_c_subnormal = c_uint;
pub const LB_C_SUBNORMAL_LEAST: lb_c_subnormal = 0;
pub const LB_C_SUBNORMAL_OWN: lb_c_subnormal = 1;

pub type lb_unit_overflow = c_uint;
pub const LB_UNIT_OVERFLOW_INF: lb_unit_overflow = 0;
pub const LB_UNIT_OVERFLOW_MAX: lb_unit_overflow = 1;

pub type lb_tiny_sign = c_uint;
pub const LB_TINY_SIGN_KEEP: lb_tiny_sign = 0;
pub const LB_TINY_SIGN_PLUS: lb_tiny_sign = 1;

pub type lb_late_floor = c_uint;
pub const LB_LATE_FLOOR_ONCE: lb_late_floor = 0;
pub const LB_LATE_FLOOR_TWICE: lb_late_floor = 1;

pub type lb_special_scope = c_uint;
pub const LB_SPECIALS_BLOCK: lb_special_scope = 0;
pub const LB_SPECIALS_STEP: lb_special_scope = 1;

pub type lb_tf32_input = c_uint;
pub const LB_TF32_TRUNCATE: lb_tf32_input = 0;
pub const LB_TF32_KEEP_NAN: lb_tf32_input = 1;
pub const LB_TF32_ROUND: lb_tf32_input = 2;

pub type lb_zero_group = c_uint;
pub const LB_ZERO_GROUP_PRODUCTS: lb_zero_group = 0;
pub const LB_ZERO_GROUP_SUM: lb_zero_group = 1;
pub const LB_ZERO_GROUP_ALWAYS: lb_zero_group = 2;

pub type lb_unit_subnormals = c_uint;
pub const LB_SUBNORMALS_PATH: lb_unit_subnormals = 0;
pub const LB_SUBNORMALS_KEEP: lb_unit_subnormals = 1;
pub const LB_SUBNORMALS_FLUSH_IN: lb_unit_subnormals = 2;
pub const LB_SUBNORMALS_FLUSH_OUT: lb_unit_subnormals = 3;
pub const LB_SUBNORMALS_FLUSH: lb_unit_subnormals = 4;

pub type lb_reference_mode = c_uint;
pub const LB_REFERENCE_AUTO: lb_reference_mode = 0;
pub const LB_REFERENCE_F64: lb_reference_mode = 1;
pub const LB_REFERENCE_EXACT: lb_reference_mode = 2;

pub type lb_dist = c_uint;
pub const LB_DIST_UNIFORM: lb_dist = 0;
pub const LB_DIST_NORMAL: lb_dist = 1;
pub const LB_DIST_INTEGER: lb_dist = 2;
pub const LB_DIST_WIDE: lb_dist = 3;
pub const LB_DIST_BITS: lb_dist = 4;
pub const LB_DIST_SPECIAL: lb_dist = 5;
pub const LB_DIST_COUNT: lb_dist = 6;
pub const LB_OP_INPUTS: c_uint = 6;
pub const LB_OP_OUTPUTS: c_uint = 3;
pub const LB_OP_PARAMS: c_uint = 16;
pub const LB_OP_RANK: c_uint = 4;
pub const LB_OP_TEXT: c_uint = 1024;

pub type lb_function_class = c_uint;
pub const LB_FUNCTIONS_IEEE: lb_function_class = 0;
pub const LB_FUNCTIONS_OPENCL: lb_function_class = 1;
pub const LB_FUNCTIONS_VULKAN: lb_function_class = 2;
pub const LB_FUNCTION_CLASS_COUNT: lb_function_class = 3;

pub type lb_op_verdict = c_uint;
pub const LB_OP_EXACT: lb_op_verdict = 0;
pub const LB_OP_LEGAL: lb_op_verdict = 1;
pub const LB_OP_WRONG: lb_op_verdict = 2;
pub const LB_OP_UNJUDGED: lb_op_verdict = 3;

pub type lb_replay_order = c_uint;
pub const LB_REPLAY_SEQUENTIAL: lb_replay_order = 0;
pub const LB_REPLAY_CONTRACTED: lb_replay_order = 1;
pub const LB_REPLAY_DEVICE: lb_replay_order = 2;
pub const LB_REPLAY_PAIRWISE: lb_replay_order = 3;
pub const LB_REPLAY_COUNT: lb_replay_order = 4;

pub type lb_k_order = c_uint;
pub const LB_K_ASCENDING: lb_k_order = 0;
pub const LB_K_DESCENDING: lb_k_order = 1;
pub const LB_K_ORDER_COUNT: lb_k_order = 2;

pub type lb_k_divide = c_uint;
pub const LB_DIVIDE_CEIL: lb_k_divide = 0;
pub const LB_DIVIDE_EVEN: lb_k_divide = 1;
pub const LB_DIVIDE_DEALT: lb_k_divide = 2;
pub const LB_DIVIDE_COUNT: lb_k_divide = 3;

pub type lb_k_reduce = c_uint;
pub const LB_REDUCE_ASCENDING: lb_k_reduce = 0;
pub const LB_REDUCE_DESCENDING: lb_k_reduce = 1;
pub const LB_REDUCE_TREE: lb_k_reduce = 2;
pub const LB_REDUCE_HALVES: lb_k_reduce = 3;
pub const LB_REDUCE_SLOTS: lb_k_reduce = 4;
pub const LB_REDUCE_ATOMIC: lb_k_reduce = 5;
pub const LB_REDUCE_COUNT: lb_k_reduce = 6;

pub type lb_k_type = c_uint;
pub const LB_TYPE_F32: lb_k_type = 0;
pub const LB_TYPE_F16: lb_k_type = 1;
pub const LB_TYPE_BF16: lb_k_type = 2;
pub const LB_TYPE_OUT: lb_k_type = 3;
pub const LB_TYPE_COUNT: lb_k_type = 4;

pub type lb_k_ragged = c_uint;
pub const LB_RAGGED_LAST: lb_k_ragged = 0;
pub const LB_RAGGED_FIRST: lb_k_ragged = 1;
pub const LB_RAGGED_COUNT: lb_k_ragged = 2;

pub type lb_k_raster = c_uint;
pub const LB_RASTER_N: lb_k_raster = 0;
pub const LB_RASTER_M: lb_k_raster = 1;
pub const LB_RASTER_COUNT: lb_k_raster = 2;

pub type lb_c_place = c_uint;
pub const LB_C_FIRST: lb_c_place = 0;
pub const LB_C_LAST: lb_c_place = 1;
pub const LB_C_PLACE_COUNT: lb_c_place = 2;

pub type lb_blend = c_uint;
pub const LB_BLEND_SEPARATE: lb_blend = 0;
pub const LB_BLEND_FMA_X: lb_blend = 1;
pub const LB_BLEND_FMA_C: lb_blend = 2;
pub const LB_BLEND_COUNT: lb_blend = 3;

pub type lb_scaling = c_uint;
pub const LB_SCALING_PRODUCT_FMA: lb_scaling = 0;
pub const LB_SCALING_PRODUCT: lb_scaling = 1;
pub const LB_SCALING_A_FIRST: lb_scaling = 2;
pub const LB_SCALING_A_FIRST_FMA: lb_scaling = 3;
pub const LB_SCALING_B_FIRST: lb_scaling = 4;
pub const LB_SCALING_B_FIRST_FMA: lb_scaling = 5;
pub const LB_SCALING_COUNT: lb_scaling = 6;

pub type lb_activation = c_uint;
pub const LB_ACTIVATION_NONE: lb_activation = 0;
pub const LB_ACTIVATION_RELU: lb_activation = 1;
pub const LB_ACTIVATION_GELU_ERF: lb_activation = 2;
pub const LB_ACTIVATION_GELU_TANH: lb_activation = 3;
pub const LB_ACTIVATION_GELU_TAYLOR: lb_activation = 4;
pub const LB_ACTIVATION_SIGMOID: lb_activation = 5;
pub const LB_ACTIVATION_SILU: lb_activation = 6;
pub const LB_ACTIVATION_COUNT: lb_activation = 7;
pub const LB_MAX_ARRIVAL: c_uint = 16;
pub const LB_MAX_ORDERED: c_uint = 7;
pub const LB_SCHEDULE_TEXT_SIZE: c_uint = 512;
pub const LB_CALIBRATION_FAULTS_MAX: c_uint = 16;

pub type lb_calibration_tail = c_uint;
pub const LB_TAIL_NORMAL: lb_calibration_tail = 0;
pub const LB_TAIL_WALK: lb_calibration_tail = 1;
pub const LB_TAIL_SEEN: lb_calibration_tail = 2;
pub const LB_TAIL_COUNT: lb_calibration_tail = 3;

pub type lb_capture_kind = c_uint;
pub const LB_CAPTURE_DIRECTED: lb_capture_kind = 0;
pub const LB_CAPTURE_DOTS: lb_capture_kind = 1;
pub const LB_CAPTURE_CHAIN: lb_capture_kind = 2;
pub const LB_CAPTURE_TILES: lb_capture_kind = 3;
pub const LB_CAPTURE_GEMM: lb_capture_kind = 4;
pub const LB_CAPTURE_KIND_COUNT: lb_capture_kind = 5;

pub type lb_bound = c_uint;
pub const LB_BOUND_ULP_OR_FLOOR: lb_bound = 0;
pub const LB_BOUND_GAUGE: lb_bound = 1;
pub const LB_BOUND_GAMMA: lb_bound = 2;
pub const LB_BOUND_STATISTICAL: lb_bound = 3;
pub const LB_BOUND_RELATIVE: lb_bound = 4;
pub const LB_BOUND_SWITCHED: lb_bound = 5;
pub const LB_BOUND_NORM: lb_bound = 6;
pub const LB_BOUND_BASELINE: lb_bound = 7;
pub const LB_BOUND_COUNT: lb_bound = 8;

pub type lb_specials = c_uint;
pub const LB_SPECIALS_IEEE: lb_specials = 0;
pub const LB_SPECIALS_STRICT: lb_specials = 1;
pub const LB_SPECIALS_FLUSH: lb_specials = 2;
pub const LB_SPECIALS_SATURATE: lb_specials = 3;
pub const LB_SPECIALS_FLUSH_SATURATE: lb_specials = 4;
pub const LB_SPECIALS_NO_NAN: lb_specials = 5;
pub const LB_SPECIALS_COUNT: lb_specials = 6;

pub type lb_order = c_uint;
pub const LB_ORDER_SEQUENTIAL: lb_order = 0;
pub const LB_ORDER_PAIRWISE: lb_order = 1;

pub type lb_cause = c_uint;
pub const LB_CAUSE_NONE: lb_cause = 0;
pub const LB_CAUSE_UNWRITTEN: lb_cause = 1;
pub const LB_CAUSE_STALE: lb_cause = 2;
pub const LB_CAUSE_ZEROED: lb_cause = 3;
pub const LB_CAUSE_CONSTANT: lb_cause = 4;
pub const LB_CAUSE_NAN_ADDED: lb_cause = 5;
pub const LB_CAUSE_NAN_LOST: lb_cause = 6;
pub const LB_CAUSE_OVERFLOW_EARLY: lb_cause = 7;
pub const LB_CAUSE_SATURATED: lb_cause = 8;
pub const LB_CAUSE_BYTE_ORDER: lb_cause = 9;
pub const LB_CAUSE_STUCK_BIT: lb_cause = 10;
pub const LB_CAUSE_NEGATED: lb_cause = 11;
pub const LB_CAUSE_SCALE: lb_cause = 12;
pub const LB_CAUSE_C_MISSING: lb_cause = 13;
pub const LB_CAUSE_C_TWICE: lb_cause = 14;
pub const LB_CAUSE_C_SIGN: lb_cause = 15;
pub const LB_CAUSE_C_FACTOR: lb_cause = 16;
pub const LB_CAUSE_AB_MISSING: lb_cause = 17;
pub const LB_CAUSE_AB_FACTOR: lb_cause = 18;
pub const LB_CAUSE_C_TRANSPOSED: lb_cause = 19;
pub const LB_CAUSE_OFFSET: lb_cause = 20;
pub const LB_CAUSE_RELU: lb_cause = 21;
pub const LB_CAUSE_ABSOLUTE: lb_cause = 22;
pub const LB_CAUSE_TRANSPOSED_D: lb_cause = 23;
pub const LB_CAUSE_TRANSPOSED_TILE: lb_cause = 24;
pub const LB_CAUSE_LINES_COPIED: lb_cause = 25;
pub const LB_CAUSE_LINES_SWAPPED: lb_cause = 26;
pub const LB_CAUSE_LINES_SHIFTED: lb_cause = 27;
pub const LB_CAUSE_LINES_PERMUTED: lb_cause = 28;
pub const LB_CAUSE_TILE_SHIFTED: lb_cause = 29;
pub const LB_CAUSE_LEADING: lb_cause = 30;
pub const LB_CAUSE_K_MISSING: lb_cause = 31;
pub const LB_CAUSE_K_DOUBLED: lb_cause = 32;
pub const LB_CAUSE_K_REPLACED: lb_cause = 33;
pub const LB_CAUSE_K_FACTOR: lb_cause = 34;
pub const LB_CAUSE_OPERAND_TRANSPOSED: lb_cause = 35;
pub const LB_CAUSE_OPERAND_PERMUTED: lb_cause = 36;
pub const LB_CAUSE_OPERAND_SHIFTED: lb_cause = 37;
pub const LB_CAUSE_OPERAND_REPEATED: lb_cause = 38;
pub const LB_CAUSE_OPERAND_MISREAD: lb_cause = 39;
pub const LB_CAUSE_OPERAND_ROUNDED: lb_cause = 40;
pub const LB_CAUSE_OPERAND_FLUSHED: lb_cause = 41;
pub const LB_CAUSE_LINES_SCALED: lb_cause = 42;
pub const LB_CAUSE_OUTPUT_FLUSHED: lb_cause = 43;
pub const LB_CAUSE_OUTPUT_ROUNDING: lb_cause = 44;
pub const LB_CAUSE_DOUBLE_ROUNDING: lb_cause = 45;
pub const LB_CAUSE_PARTIALS: lb_cause = 46;
pub const LB_CAUSE_CHAIN: lb_cause = 47;
pub const LB_CAUSE_OTHER_UNIT: lb_cause = 48;
pub const LB_CAUSE_PLACE: lb_cause = 49;
pub const LB_CAUSE_COUNT: lb_cause = 50;
pub const LB_LEDGER_INPUTS: c_uint = 0;
pub const LB_LEDGER_PRODUCTS: c_uint = 1;
pub const LB_LEDGER_ACCUMULATION: c_uint = 2;
pub const LB_LEDGER_OUTPUT: c_uint = 3;
pub const LB_LEDGER_UNEXPLAINED: c_uint = 4;
pub const LB_LEDGER_COUNT: c_uint = 5;

pub type lb_word = c_uint;
pub const LB_WORD_F64: lb_word = 0;
pub const LB_WORD_F32: lb_word = 1;
pub const LB_WORD_F16: lb_word = 2;
pub const LB_WORD_BF16: lb_word = 3;
pub const LB_WORD_F16X2: lb_word = 4;
pub const LB_WORD_BF16X2: lb_word = 5;
pub const LB_WORD_S8: lb_word = 6;
pub const LB_WORD_U8: lb_word = 7;
pub const LB_WORD_B8: lb_word = 8;
pub const LB_WORD_S16: lb_word = 9;
pub const LB_WORD_U16: lb_word = 10;
pub const LB_WORD_B16: lb_word = 11;
pub const LB_WORD_S32: lb_word = 12;
pub const LB_WORD_U32: lb_word = 13;
pub const LB_WORD_B32: lb_word = 14;
pub const LB_WORD_S64: lb_word = 15;
pub const LB_WORD_U64: lb_word = 16;
pub const LB_WORD_B64: lb_word = 17;
pub const LB_WORD_COUNT: lb_word = 18;

pub type lb_scalar_class = c_uint;
pub const LB_SCALAR_EXACT: lb_scalar_class = 0;
pub const LB_SCALAR_DOCUMENT: lb_scalar_class = 1;
pub const LB_SCALAR_SEQUENCE: lb_scalar_class = 2;
pub const LB_SCALAR_APPROXIMATE: lb_scalar_class = 3;
pub const LB_SCALAR_MATRIX: lb_scalar_class = 4;
pub const LB_SCALAR_CLASS_COUNT: lb_scalar_class = 5;
pub const LB_SCALAR_MAX_IN: c_uint = 10;
pub const LB_SCALAR_MAX_OUT: c_uint = 4;
pub const LB_WARP_LANES: c_uint = 32;

pub type lb_scalar_grade_of = c_uint;
pub const LB_SCALAR_GRADE_SAME: lb_scalar_grade_of = 0;
pub const LB_SCALAR_GRADE_ALLOWED: lb_scalar_grade_of = 1;
pub const LB_SCALAR_GRADE_WRONG: lb_scalar_grade_of = 2;
pub const LB_SCALAR_GRADE_UNJUDGED: lb_scalar_grade_of = 3;
pub const LB_SCALAR_GRADE_COUNT: lb_scalar_grade_of = 4;
pub const LB_OP_ROWS: c_uint = 1024;

pub type lb_emit_language = c_uint;
pub const LB_EMIT_C: lb_emit_language = 0;
pub const LB_EMIT_OPENCL: lb_emit_language = 1;
pub const LB_EMIT_GLSL: lb_emit_language = 2;
pub const LB_EMIT_HLSL: lb_emit_language = 3;
pub const LB_EMIT_MSL: lb_emit_language = 4;
pub const LB_EMIT_CUDA: lb_emit_language = 5;
pub const LB_EMIT_LANGUAGE_COUNT: lb_emit_language = 6;

pub type lb_emit_tier = c_uint;
pub const LB_EMIT_EXACT: lb_emit_tier = 0;
pub const LB_EMIT_FAST: lb_emit_tier = 1;
pub const LB_EMIT_TIER_COUNT: lb_emit_tier = 2;

pub type lb_emit_exchange = c_uint;
pub const LB_EMIT_LOCAL: lb_emit_exchange = 0;
pub const LB_EMIT_SUBGROUP: lb_emit_exchange = 1;
pub const LB_EMIT_EXCHANGE_COUNT: lb_emit_exchange = 2;

pub type lb_explain_what = c_uint;
pub const LB_EXPLAIN_BLOCK: lb_explain_what = 0;
pub const LB_EXPLAIN_GROUP: lb_explain_what = 1;
pub const LB_EXPLAIN_PARTIAL: lb_explain_what = 2;
pub const LB_EXPLAIN_JOIN: lb_explain_what = 3;
pub const LB_EXPLAIN_LATE: lb_explain_what = 4;
pub const LB_EXPLAIN_FMA: lb_explain_what = 5;
pub const LB_EXPLAIN_EXACT: lb_explain_what = 6;
pub const LB_EXPLAIN_PRODUCT: lb_explain_what = 7;
pub const LB_EXPLAIN_PAIR: lb_explain_what = 8;
pub const LB_EXPLAIN_ADD: lb_explain_what = 9;
pub const LB_EXPLAIN_INTEGER: lb_explain_what = 10;
pub const LB_EXPLAIN_NAN: lb_explain_what = 11;
pub const LB_EXPLAIN_WHAT_COUNT: lb_explain_what = 12;

pub type lb_explain_source = c_uint;
pub const LB_EXPLAIN_FROM_PRODUCT: lb_explain_source = 0;
pub const LB_EXPLAIN_FROM_C: lb_explain_source = 1;
pub const LB_EXPLAIN_FROM_OP: lb_explain_source = 2;

pub type lb_fragment_operand = c_uint;
pub const LB_FRAGMENT_A: lb_fragment_operand = 0;
pub const LB_FRAGMENT_B: lb_fragment_operand = 1;
pub const LB_FRAGMENT_C: lb_fragment_operand = 2;
pub const LB_FRAGMENT_D: lb_fragment_operand = 3;
pub const LB_FRAGMENT_METADATA: lb_fragment_operand = 4;
pub const LB_FRAGMENT_SCALE_A: lb_fragment_operand = 5;
pub const LB_FRAGMENT_SCALE_B: lb_fragment_operand = 6;
pub const LB_FRAGMENT_OPERAND_COUNT: lb_fragment_operand = 7;

pub type lb_axis = c_uint;
pub const LB_AXIS_ROW: lb_axis = 0;
pub const LB_AXIS_COL: lb_axis = 1;
pub const LB_AXIS_MATRIX: lb_axis = 2;
pub const LB_AXIS_CHOSEN: lb_axis = 3;
pub const LB_FRAGMENT_DIGITS: c_uint = 4;
pub const LB_OPERATIONS_ROWS: c_uint = 3;

pub type lb_run_end = c_uint;
pub const LB_RUN_DONE: lb_run_end = 0;
pub const LB_RUN_FAILED: lb_run_end = 1;
pub const LB_RUN_CRASHED: lb_run_end = 2;
pub const LB_RUN_TIMED_OUT: lb_run_end = 3;
pub const LB_CANDIDATE_terms: c_uint = 0;
pub const LB_CANDIDATE_frac_bits: c_uint = 1;
pub const LB_CANDIDATE_align: c_uint = 2;
pub const LB_CANDIDATE_c_joins: c_uint = 3;
pub const LB_CANDIDATE_product: c_uint = 4;
pub const LB_CANDIDATE_round: c_uint = 5;
pub const LB_CANDIDATE_out_bits: c_uint = 6;
pub const LB_CANDIDATE_order: c_uint = 7;
pub const LB_CANDIDATE_floor_exp: c_uint = 8;
pub const LB_CANDIDATE_zero_products: c_uint = 9;
pub const LB_CANDIDATE_c_subnormal: c_uint = 10;
pub const LB_CANDIDATE_overflow: c_uint = 11;
pub const LB_CANDIDATE_tiny_sign: c_uint = 12;
pub const LB_CANDIDATE_nan: c_uint = 13;
pub const LB_CANDIDATE_PARAMETERS: c_uint = 14;

pub type lb_scan_kind = c_uint;
pub const LB_SCAN_MATRIX: lb_scan_kind = 0;
pub const LB_SCAN_FUNCTION: lb_scan_kind = 1;
pub const LB_SCAN_CONVERT: lb_scan_kind = 2;
pub const LB_SCAN_FLOAT: lb_scan_kind = 3;
pub const LB_SCAN_DOT: lb_scan_kind = 4;
pub const LB_SCAN_WARP: lb_scan_kind = 5;
pub const LB_SCAN_KIND_COUNT: lb_scan_kind = 6;

pub type lb_failure = c_uint;
pub const LB_FAILURE_NONE: lb_failure = 0;
pub const LB_FAILURE_VALUE: lb_failure = 1;
pub const LB_FAILURE_CLASS: lb_failure = 2;
pub const LB_FAILURE_UNWRITTEN: lb_failure = 3;
pub const LB_FAILURE_GUARDS: lb_failure = 4;
pub const LB_FAILURE_INPUTS: lb_failure = 5;
pub const LB_FAILURE_FAILED: lb_failure = 6;
pub const LB_FAILURE_CRASHED: lb_failure = 7;
pub const LB_FAILURE_HUNG: lb_failure = 8;
pub const LB_FAILURE_COUNT: lb_failure = 9;

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_device {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_workspace {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_capture {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_grading {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_file {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_writer {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_reader {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_net {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_arith {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_net_run {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_judge {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_parity {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_invariance_run {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_sweep {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_deviations {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_scan {
    _private: [u8; 0],
}

/// Opaque: only behind a pointer.
#[repr(C)]
pub struct lb_capsule {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_error {
    pub status: lb_status,
    pub place: [c_char; 256],
    pub message: [c_char; 512],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_format {
    pub name: *const c_char,
    pub alias: *const c_char,
    pub id: lb_format_id,
    pub special: lb_special,
    pub bits: c_int,
    pub bytes: c_int,
    pub sign_bits: c_int,
    pub exp_bits: c_int,
    pub man_bits: c_int,
    pub bias: c_int,
    pub pad_bits: c_int,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_value {
    pub cls: lb_class,
    pub negative: bool,
    pub sticky: bool,
    pub exp: i32,
    pub hi: u64,
    pub lo: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_encoding {
    pub rounding: lb_rounding,
    pub overflow: lb_overflow,
    pub flush: lb_flush,
    pub random_bits: c_uint,
    pub random: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_block_format {
    pub name: *const c_char,
    pub element: lb_format_id,
    pub scale: lb_format_id,
    pub size: c_int,
    pub rule: lb_scale_rule,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_mat {
    pub format: *const lb_format,
    pub codes: *mut c_void,
    pub rows: usize,
    pub cols: usize,
    pub row_stride: isize,
    pub col_stride: isize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_element {
    pub present: bool,
    pub row: usize,
    pub col: usize,
    pub actual: u64,
    pub reference: u64,
    pub actual_value: f64,
    pub reference_value: f64,
    pub ulp: f64,
    pub abs_error: f64,
    pub bound: f64,
    pub row_rms: f64,
    pub floor: f64,
    pub exact_code: u64,
    pub has_exact: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_counts {
    pub total: u64,
    pub compared: u64,
    pub exact: u64,
    pub legal: u64,
    pub wrong: u64,
    pub nan_actual: u64,
    pub nan_reference: u64,
    pub inf_actual: u64,
    pub inf_reference: u64,
    pub class_mismatch: u64,
    pub sign_flips: u64,
    pub over_ulp: u64,
    pub not_written: u64,
    pub guard_damage: u64,
    pub nan_payload: u64,
    pub zero_sign: u64,
    pub flushed: u64,
    pub saturated: u64,
    pub overflowed: u64,
    pub subnormal_inputs: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_metrics {
    pub max_ulp: f64,
    pub max_abs: f64,
    pub rel_rms: f64,
    pub rms: f64,
    pub row_rms_least: f64,
    pub row_rms_most: f64,
    pub present: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_power_row {
    pub fault: [c_char; 32],
    pub end: lb_power_end,
    pub allowed: bool,
    pub changed: u64,
    pub error: f64,
    pub limit: f64,
    pub row: usize,
    pub col: usize,
    pub why: [c_char; 192],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_power_score {
    pub present: bool,
    pub caught: usize,
    pub due: usize,
    pub score: f64,
    pub rows: *mut lb_power_row,
    pub row_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_record {
    pub case_string: *mut c_char,
    pub op: *mut c_char,
    pub on: *mut c_char,
    pub unit_name: *mut c_char,
    pub unit_source: *mut c_char,
    pub unit_note: *mut c_char,
    pub unit_open: *mut c_char,
    pub unit_evidence: lb_evidence,
    pub contract_name: *mut c_char,
    pub contract_source: *mut c_char,
    pub contract_note: *mut c_char,
    pub contract_k: f64,
    pub contract_max_ulp: f64,
    pub contract_rel_rms_gate: f64,
    pub contract_evidence: lb_evidence,
    pub out_format: *const lb_format,
    pub verdict: lb_verdict,
    pub reason: *mut c_char,
    pub counts: lb_counts,
    pub metrics: lb_metrics,
    pub first: lb_element,
    pub worst: lb_element,
    pub outliers: *mut lb_element,
    pub outlier_count: usize,
    pub cause: *mut c_char,
    pub reference: *mut c_char,
    pub coverage: *mut c_char,
    pub rerun: *mut c_char,
    pub seed: u64,
    pub has_seed: bool,
    pub environment: *mut c_char,
    pub seconds_total: f64,
    pub seconds_device: f64,
    pub seconds_model: f64,
    pub seconds_reference: f64,
    pub contract_rule: *mut c_char,
    pub contract_specials: *mut c_char,
    pub power: lb_power_score,
    pub known: *mut c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_unit_edges {
    pub zero_products: lb_zero_products,
    pub c_subnormal: lb_c_subnormal,
    pub overflow: lb_unit_overflow,
    pub tiny_sign: lb_tiny_sign,
    pub late_floor: lb_late_floor,
    pub specials: lb_special_scope,
    pub tf32: lb_tf32_input,
    pub zero_group: lb_zero_group,
    pub subnormals: lb_unit_subnormals,
    pub nan_set: bool,
    pub nan: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_unit {
    pub name: [c_char; 192],
    pub m: u16,
    pub n: u16,
    pub k: u16,
    pub m_free: bool,
    pub n_free: bool,
    pub a: lb_format_id,
    pub b: lb_format_id,
    pub c: lb_format_id,
    pub d: lb_format_id,
    pub path: lb_unit_path,
    pub terms: c_int,
    pub frac_bits: c_int,
    pub floor_exp: c_int,
    pub round: lb_unit_round,
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub note: *const c_char,
    pub open: *const c_char,
    pub scale: lb_format_id,
    pub scale_block: c_int,
    pub group: c_int,
    pub sparse_group: c_int,
    pub edges: lb_unit_edges,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_parameter {
    pub key: *const c_char,
    pub alias: *const c_char,
    pub values: *const c_char,
    pub edge: *const c_char,
    pub note: *const c_char,
    pub paths: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_unit_operands {
    pub scale_a: *const lb_mat,
    pub scale_b: *const lb_mat,
    pub metadata: *const lb_mat,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_case {
    pub op: *const c_char,
    pub a: lb_mat,
    pub b: lb_mat,
    pub c: lb_mat,
    pub b_transposed: bool,
    pub out: *const lb_format,
    pub seed: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_array {
    pub format: *const lb_format,
    pub rank: c_uint,
    pub dims: [usize; LB_OP_RANK as usize],
    pub codes: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_op_param {
    pub name: [c_char; 16],
    pub whole: bool,
    pub value: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_op_port {
    pub name: [c_char; 16],
    pub format: [c_char; 12],
    pub shape: [c_char; 64],
    pub fill: [c_char; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_op {
    pub name: *const c_char,
    pub formula: *const c_char,
    pub source: *const c_char,
    pub params: [lb_op_param; LB_OP_PARAMS as usize],
    pub r#in: [lb_op_port; LB_OP_INPUTS as usize],
    pub out: [lb_op_port; LB_OP_OUTPUTS as usize],
    pub param_count: c_uint,
    pub in_count: c_uint,
    pub out_count: c_uint,
    pub needs: *const c_char,
    pub bound: *const c_char,
    pub edge: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_op_case {
    pub op: *const lb_op,
    pub format: *const lb_format,
    pub params: [f64; LB_OP_PARAMS as usize],
    pub r#in: [lb_array; LB_OP_INPUTS as usize],
    pub out: [lb_array; LB_OP_OUTPUTS as usize],
    pub dist: [c_char; 24],
    pub magnitude: f64,
    pub seed: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_function_bound {
    pub ulp: f64,
    pub ulp_per_x: f64,
    pub absolute: f64,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_function_row {
    pub name: *const c_char,
    pub at: [lb_function_bound; LB_FUNCTION_CLASS_COUNT as usize],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_op_truth {
    pub functions: lb_function_class,
    pub count: [usize; LB_OP_OUTPUTS as usize],
    pub value: [*mut f64; LB_OP_OUTPUTS as usize],
    pub error: [*mut f64; LB_OP_OUTPUTS as usize],
    pub limit: [*mut f64; LB_OP_OUTPUTS as usize],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_gemm_options {
    pub kernel: *const c_char,
    pub threads: c_int,
    pub workspace: *mut lb_workspace,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_kernel_text {
    pub name: *const c_char,
    pub note: *const c_char,
    pub usable: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_schedule {
    pub order: lb_k_order,
    pub tile_k: c_uint,
    pub split: c_uint,
    pub stream_k: c_uint,
    pub tile_m: c_uint,
    pub tile_n: c_uint,
    pub raster: lb_k_raster,
    pub divide: lb_k_divide,
    pub ragged: lb_k_ragged,
    pub promote: c_uint,
    pub reduce: lb_k_reduce,
    pub arrival: [u8; LB_MAX_ARRIVAL as usize],
    pub arrival_count: c_uint,
    pub partial: lb_k_type,
    pub sum: lb_k_type,
    pub scale_m: c_uint,
    pub scale_n: c_uint,
    pub scaling: lb_scaling,
    pub c_place: lb_c_place,
    pub scaled: bool,
    pub alpha: f64,
    pub beta: f64,
    pub blend: lb_blend,
    pub activation: lb_activation,
    pub out: *const lb_format,
    pub saturate: bool,
    pub bias: *const lb_mat,
    pub scale_a: *const lb_mat,
    pub scale_b: *const lb_mat,
    pub batch: usize,
    pub a_step: isize,
    pub b_step: isize,
    pub c_step: isize,
    pub d_step: isize,
    pub bias_step: isize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_schedule_named {
    pub name: *const c_char,
    pub text: *const c_char,
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit_options {
    pub unit: *const lb_unit,
    pub base: *const lb_schedule,
    pub max_found: usize,
    pub gemm: *const lb_gemm_options,
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit_row {
    pub unit: lb_unit,
    pub alike: usize,
    pub schedule: lb_schedule,
    pub same: u64,
    pub compared: u64,
    pub any_order: bool,
    pub values: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit {
    pub verdict: lb_verdict,
    pub reason: [c_char; 256],
    pub found: *mut lb_fit_row,
    pub found_count: usize,
    pub found_total: usize,
    pub has_best: bool,
    pub best: lb_fit_row,
    pub tried: u64,
    pub elements: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_sum_order {
    pub name: *const c_char,
    pub lanes: c_uint,
    pub chunk: c_uint,
    pub step: c_uint,
    pub tree: bool,
    pub fold: c_uint,
    pub split: c_uint,
    pub wide: bool,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_calibration_case {
    pub name: *const c_char,
    pub m: usize,
    pub n: usize,
    pub k: [usize; 4],
    pub prefixes: [usize; 4],
    pub seed: u64,
    pub activations_first: bool,
    pub fp8_weights: bool,
    pub against: *const c_char,
    pub recorded: *const c_char,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_calibrate_options {
    pub unit: *const lb_unit,
    pub schedule: *const lb_schedule,
    pub order: *const c_char,
    pub against: *const c_char,
    pub case_name: *const c_char,
    pub k: *const usize,
    pub k_count: usize,
    pub m: usize,
    pub n: usize,
    pub seed: u64,
    pub has_seed: bool,
    pub out: *const lb_format,
    pub margin: f64,
    pub false_alarm: f64,
    pub elements: f64,
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_calibration_figures {
    pub first_row: usize,
    pub rows: usize,
    pub cols: usize,
    pub row_rms: f64,
    pub floor: f64,
    pub old_floor: f64,
    pub drift_rms: f64,
    pub drift_max: f64,
    pub bias: f64,
    pub decided: u64,
    pub spread: f64,
    pub largest: f64,
    pub tail: lb_calibration_tail,
    pub margin_needed: f64,
    pub max_ulp: f64,
    pub sign_flips: u64,
    pub over_ulp: u64,
    pub over_floor: u64,
    pub over_old: u64,
    pub max_abs: f64,
    pub rel_rms: f64,
    pub worst_ratio: f64,
    pub worst_row: usize,
    pub worst_col: usize,
    pub fault_ratio: [f64; LB_CALIBRATION_FAULTS_MAX as usize],
    pub weakest: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_calibration_depth {
    pub k: usize,
    pub blocks: *mut lb_calibration_figures,
    pub block_count: usize,
    pub rows: *mut lb_calibration_figures,
    pub seconds: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_calibration {
    pub what: [c_char; 700],
    pub against: [c_char; 64],
    pub named: *const lb_calibration_case,
    pub r#in: *const lb_format,
    pub out: *const lb_format,
    pub m: usize,
    pub n: usize,
    pub seed: u64,
    pub margin: f64,
    pub false_alarm: f64,
    pub elements: f64,
    pub truncates: bool,
    pub depths: *mut lb_calibration_depth,
    pub depth_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_capture_options {
    pub device: c_int,
    pub folder: *const c_char,
    pub dots: usize,
    pub seed: u64,
    pub resume: bool,
    pub command: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_capture_result {
    pub path: [c_char; 4096],
    pub outputs: u64,
    pub there: bool,
    pub seconds: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_level {
    pub order: lb_order,
    pub width: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_reduction {
    pub truncates: bool,
    pub step: f64,
    pub frac_bits: f64,
    pub levels: [lb_level; 8],
    pub level_count: usize,
    pub split_k: f64,
    pub promote: f64,
    pub fold_group: f64,
    pub fold_element: bool,
    pub rounds_products: bool,
    pub least_normal: f64,
    pub flushes_inputs: bool,
    pub flushes_sums: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_contract {
    pub name: *const c_char,
    pub max_ulp: f64,
    pub margin: f64,
    pub unit_roundoff: f64,
    pub sign_flip_band: f64,
    pub flips_graded: bool,
    pub classes_first: bool,
    pub rel_rms_gate: f64,
    pub formats: *const c_char,
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub note: *const c_char,
    pub bound: lb_bound,
    pub specials: lb_specials,
    pub atol: f64,
    pub rtol: f64,
    pub small: f64,
    pub dtypes: *const c_char,
    pub parameters: *const c_char,
    pub false_alarm: f64,
    pub cases: f64,
    pub reduction: lb_reduction,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_limit_input {
    pub format: *const lb_format,
    pub reference: u64,
    pub k: f64,
    pub row_rms: f64,
    pub elements: f64,
    pub gauge: f64,
    pub flushed_gauge: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_limit_term {
    pub name: *const c_char,
    pub what: *const c_char,
    pub value: f64,
    pub part: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_limit {
    pub tolerance: f64,
    pub ulp_reach: f64,
    pub bound: f64,
    pub terms: [lb_limit_term; 24],
    pub term_count: usize,
    pub decided: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_grade_input {
    pub actual: lb_mat,
    pub reference: lb_mat,
    pub exact: *const lb_mat,
    pub nan_by_class: bool,
    pub contract: *const lb_contract,
    pub k: f64,
    pub reference_error: *const f64,
    pub row_rms: *const f64,
    pub row_index: *const usize,
    pub col_index: *const usize,
    pub has_sentinel: bool,
    pub sentinel: u64,
    pub max_outliers: usize,
    pub gauge: *const f64,
    pub flushed_gauge: *const f64,
    pub baseline: *const lb_mat,
    pub elements: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_m16_outlier {
    pub row: usize,
    pub col: usize,
    pub reference: f32,
    pub actual: f32,
    pub ulp: i32,
    pub row_rms: f64,
    pub floor: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_m16_diff {
    pub max_ulp: i32,
    pub over_budget: *mut lb_m16_outlier,
    pub over_count: usize,
    pub over_ulp_only: usize,
    pub sign_flips: usize,
    pub max_abs: f64,
    pub rel_rms: f64,
    pub rms: f64,
    pub row_rms: *mut f64,
    pub row_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_diagnose_options {
    pub x: lb_case,
    pub actual: lb_mat,
    pub reference: lb_mat,
    pub exact: *const lb_mat,
    pub unit: *const lb_unit,
    pub contract: *const lb_contract,
    pub previous: *const lb_mat,
    pub has_poison: bool,
    pub poison: u64,
    pub row_index: *const usize,
    pub col_index: *const usize,
    pub seed: u64,
    pub seconds: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_diagnosis {
    pub cause: lb_cause,
    pub sentence: [c_char; 128],
    pub wrong: u64,
    pub looked: u64,
    pub explained: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_ledger {
    pub row: usize,
    pub col: usize,
    pub truth: f64,
    pub actual: f64,
    pub entry: [f64; LB_LEDGER_COUNT as usize],
    pub total: f64,
    pub step: f64,
    pub has_unit: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_scalar_op {
    pub name: *const c_char,
    pub ptx: *const c_char,
    pub cls: lb_scalar_class,
    pub ins: c_int,
    pub outs: c_int,
    pub r#in: [lb_word; LB_SCALAR_MAX_IN as usize],
    pub out: [lb_word; LB_SCALAR_MAX_OUT as usize],
    pub warp: bool,
    pub target: *const c_char,
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub bound: *const c_char,
    pub max_ulp: f64,
    pub max_rel: f64,
    pub max_abs: f64,
    pub open: *const c_char,
    pub index: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_emit_options {
    pub language: lb_emit_language,
    pub tier: lb_emit_tier,
    pub exchange: lb_emit_exchange,
    pub fragment: bool,
    pub integers: bool,
    pub finite: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_emit_stats {
    pub decode: u64,
    pub address: u64,
    pub path: u64,
    pub special: u64,
    pub outputs: c_int,
    pub products: c_int,
    pub hash: [c_char; 17],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_explain_term {
    pub source: lb_explain_source,
    pub k: usize,
    pub from: usize,
    pub a: u64,
    pub b: u64,
    pub scale_a: u64,
    pub scale_b: u64,
    pub flushed: bool,
    pub value: lb_value,
    pub exponent: i32,
    pub sets_max: bool,
    pub kept: lb_value,
    pub cut: lb_value,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_explain_op {
    pub what: lb_explain_what,
    pub step: usize,
    pub block: usize,
    pub first_k: usize,
    pub last_k: usize,
    pub first_term: usize,
    pub term_count: usize,
    pub scale_a: u64,
    pub scale_b: u64,
    pub aligned: bool,
    pub max_exp: i32,
    pub unit_exp: i32,
    pub c_unit_exp: i32,
    pub floor_sets_max: bool,
    pub alone: bool,
    pub sum: lb_value,
    pub sum_exponent: i32,
    pub rounded: bool,
    pub round: lb_unit_round,
    pub format: lb_format_id,
    pub result: u64,
    pub lost: lb_value,
    pub overflow: bool,
    pub result_flushed: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_explanation {
    pub unit: lb_unit,
    pub row: usize,
    pub col: usize,
    pub k: usize,
    pub steps: usize,
    pub blocks: usize,
    pub c: u64,
    pub d: u64,
    pub exact_value: lb_value,
    pub exact: u64,
    pub ulp: u64,
    pub ops: *mut lb_explain_op,
    pub op_count: usize,
    pub terms: *mut lb_explain_term,
    pub term_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_digit {
    pub size: c_int,
    pub axis: lb_axis,
    pub step: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fragment_row {
    pub instr: *const c_char,
    pub only: *const c_char,
    pub operand: lb_fragment_operand,
    pub m: c_int,
    pub n: c_int,
    pub k: c_int,
    pub in_bits: c_int,
    pub own_bits: c_int,
    pub lane: [lb_digit; LB_FRAGMENT_DIGITS as usize],
    pub item: [lb_digit; LB_FRAGMENT_DIGITS as usize],
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fragment_selectors {
    pub sparsity: c_int,
    pub byte_id_a: c_int,
    pub thread_id_a: c_int,
    pub byte_id_b: c_int,
    pub thread_id_b: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fragment {
    pub operand: lb_fragment_operand,
    pub format: *const lb_format,
    pub matrices: c_int,
    pub rows: c_int,
    pub cols: c_int,
    pub lanes: c_int,
    pub items: c_int,
    pub registers: c_int,
    pub bits: c_int,
    pub shift: c_int,
    pub lane: [lb_digit; LB_FRAGMENT_DIGITS as usize],
    pub item: [lb_digit; LB_FRAGMENT_DIGITS as usize],
    pub evidence: lb_evidence,
    pub source: *const c_char,
    pub note: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_slot {
    pub lane: c_int,
    pub reg: c_int,
    pub element: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_place {
    pub matrix: c_int,
    pub row: c_int,
    pub col: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_warp_options {
    pub metadata: *const u32,
    pub scale_a: *const u32,
    pub scale_b: *const u32,
    pub selectors: lb_fragment_selectors,
    pub a: *const lb_mat,
    pub b: *const lb_mat,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_dtype {
    pub name: *const c_char,
    pub safetensors: *const c_char,
    pub npy: *const c_char,
    pub bytes: c_int,
    pub format: c_int,
    pub block: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_tensor {
    pub name: *const c_char,
    pub dtype: *const lb_dtype,
    pub rank: c_int,
    pub shape: [usize; 8],
    pub data: *const c_void,
    pub bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_file_options {
    pub raw_dtype: *const c_char,
    pub raw_rank: c_int,
    pub raw_shape: [usize; 8],
    pub max_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_operand {
    pub mat: lb_mat,
    pub file: *mut lb_file,
    pub owned: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_options {
    pub heads: usize,
    pub drop_unknown: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_about {
    pub kind: *const c_char,
    pub takes_tokens: bool,
    pub grows: bool,
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub context: usize,
    pub in_cols: usize,
    pub out_cols: usize,
    pub nodes: usize,
    pub weights: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_input {
    pub tokens: *const i32,
    pub values: *const f64,
    pub rows: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_step {
    pub node: *const c_char,
    pub op: *const lb_op,
    pub max_abs: f64,
    pub max_ulp: f64,
    pub ratio: f64,
    pub budget: f64,
    pub row: usize,
    pub col: usize,
    pub compared: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_flip {
    pub row: usize,
    pub token_a: i32,
    pub token_b: i32,
    pub gap: f64,
    pub error: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_report {
    pub rows: usize,
    pub cols: usize,
    pub a: *mut f64,
    pub b: *mut f64,
    pub max_abs: f64,
    pub max_ulp: f64,
    pub rms: f64,
    pub row: usize,
    pub col: usize,
    pub kl_mean: f64,
    pub kl_most: f64,
    pub top1_same: usize,
    pub top5_same: usize,
    pub loss_a: f64,
    pub loss_b: f64,
    pub class_mismatch: u64,
    pub steps: *mut lb_net_step,
    pub step_count: usize,
    pub first_over: usize,
    pub flips: *mut lb_net_flip,
    pub flip_count: usize,
    pub seconds_a: f64,
    pub seconds_b: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_net_parting {
    pub same: bool,
    pub compared: u64,
    pub node: *const c_char,
    pub row: usize,
    pub col: usize,
    pub whole: f64,
    pub chunked: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_sampler {
    pub temperature: f64,
    pub top_k: usize,
    pub top_p: f64,
    pub seed: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_operations_options {
    pub recording: *const c_char,
    pub part: *const c_char,
    pub actual: *const c_char,
    pub command: *const *mut c_char,
    pub on: *const c_char,
    pub known: *const c_char,
    pub approx: *const c_char,
    pub timeout_seconds: f64,
    pub seed: u64,
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_operations_row {
    pub row: usize,
    pub output: c_int,
    pub r#in: [u64; LB_SCALAR_MAX_IN as usize],
    pub got: u64,
    pub want: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_operations_result {
    pub op: *const lb_scalar_op,
    pub name: [c_char; 80],
    pub verdict: lb_verdict,
    pub known: bool,
    pub recorded: bool,
    pub reason: [c_char; 256],
    pub total: u64,
    pub compared: u64,
    pub exact: u64,
    pub allowed: u64,
    pub differ: u64,
    pub rows: [lb_operations_row; LB_OPERATIONS_ROWS as usize],
    pub row_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_run_report {
    pub end: lb_run_end,
    pub why: [c_char; 512],
    pub not_written: u64,
    pub guard_damage: u64,
    pub inputs_changed: bool,
    pub seconds: f64,
    pub detail: [c_char; 256],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_check_options {
    pub x: lb_case,
    pub actual: *const lb_mat,
    pub actual_name: *const c_char,
    pub on: *const c_char,
    pub argv: *const *mut c_char,
    pub unit: *const lb_unit,
    pub contract: *const lb_contract,
    pub nan_by_class: bool,
    pub reference: lb_reference_mode,
    pub sample: usize,
    pub seed: u64,
    pub timeout_seconds: f64,
    pub max_outliers: usize,
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
    pub progress_user: *mut c_void,
    pub power: bool,
    pub allow_blind: *const *const c_char,
    pub allow_blind_count: usize,
    pub quick: bool,
    pub output: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_block_options {
    pub reference: lb_mat,
    pub actual: *const c_void,
    pub actual_bytes: usize,
    pub ld: usize,
    pub guard_bytes: usize,
    pub has_sentinel: bool,
    pub sentinel: u64,
    pub contract: *const lb_contract,
    pub k: f64,
    pub max_outliers: usize,
    pub power: bool,
    pub allow_blind: *const *const c_char,
    pub allow_blind_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_grade_files_options {
    pub actual: *const c_char,
    pub reference: *const c_char,
    pub format: *const lb_format,
    pub files: lb_file_options,
    pub contract: *const lb_contract,
    pub k: f64,
    pub has_sentinel: bool,
    pub sentinel: u64,
    pub max_outliers: usize,
    pub band_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_parity_options {
    pub on: *const *const c_char,
    pub on_count: usize,
    pub ops: *const *const c_char,
    pub op_count: usize,
    pub pattern: *const c_char,
    pub cases: *const *const c_char,
    pub case_count: usize,
    pub quick: bool,
    pub seed: u64,
    pub jobs: c_uint,
    pub repeats: c_uint,
    pub timeout_seconds: f64,
    pub known: *const c_char,
    pub plan_only: bool,
    pub no_shipped_known: bool,
    pub no_power: bool,
    pub functions: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_parity_row {
    pub op: *const c_char,
    pub on: *const c_char,
    pub cases: usize,
    pub pass: usize,
    pub fail: usize,
    pub known: usize,
    pub unproven: usize,
    pub skip: usize,
    pub worst_ratio: f64,
    pub worst: [c_char; LB_OP_TEXT as usize],
    pub power_caught: usize,
    pub power_due: usize,
    pub restarts: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_invariance {
    pub op: *const c_char,
    pub axis: *const c_char,
    pub what: *const c_char,
    pub on: *const c_char,
    pub verdict: lb_verdict,
    pub reason: [c_char; 256],
    pub ulp: f64,
    pub differ: usize,
    pub compared: usize,
    pub text: [c_char; LB_OP_TEXT as usize],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_sweep_row {
    pub op: *const c_char,
    pub on: *const c_char,
    pub last_good: f64,
    pub first_bad: f64,
    pub largest: f64,
    pub reason: [c_char; 256],
    pub text: [c_char; LB_OP_TEXT as usize],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_deviation {
    pub name: *const c_char,
    pub text: *const c_char,
    pub on: *const c_char,
    pub device: [c_char; 512],
    pub tolerance: f64,
    pub stated: f64,
    pub limit: f64,
    pub made_of: *const c_char,
    pub max_abs: f64,
    pub ulp: f64,
    pub row: usize,
    pub col: usize,
    pub margin: f64,
    pub cause: [c_char; 160],
    pub verdict: lb_verdict,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_not_covered {
    pub what: *const c_char,
    pub which: *const c_char,
    pub why: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fault {
    pub name: *const c_char,
    pub what: *const c_char,
    pub of_operands: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_power_input {
    pub grade: *const lb_grade_input,
    pub x: *const lb_case,
    pub unit: *const lb_unit,
    pub faults: *const *const c_char,
    pub fault_count: usize,
    pub allow_blind: *const *const c_char,
    pub allow_blind_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_candidate {
    pub terms: c_int,
    pub frac_bits: c_int,
    pub align: c_int,
    pub c_joins: c_int,
    pub product: c_int,
    pub round: c_int,
    pub out_bits: c_int,
    pub order: c_int,
    pub floor_exp: c_int,
    pub zero_products: c_int,
    pub c_subnormal: c_int,
    pub overflow: c_int,
    pub tiny_sign: c_int,
    pub nan: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit_share {
    pub candidate: lb_candidate,
    pub words: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit_parameter {
    pub name: *const c_char,
    pub values: *mut c_int,
    pub count: usize,
    pub all: bool,
    pub has_next: bool,
    pub next: c_int,
    pub next_words: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_fit_named {
    pub name: *mut c_char,
    pub words: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_recording_fit {
    pub path: *mut c_char,
    pub unit: *mut c_char,
    pub words: u64,
    pub tried: u64,
    pub explain: *mut lb_fit_share,
    pub explain_count: usize,
    pub best_other: lb_fit_share,
    pub parameters: [lb_fit_parameter; LB_CANDIDATE_PARAMETERS as usize],
    pub rows: *mut lb_fit_named,
    pub row_count: usize,
    pub rules: *mut lb_fit_named,
    pub rule_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_question {
    pub other: lb_candidate,
    pub parameter: usize,
    pub found: bool,
    pub a: *mut u32,
    pub b: *mut u32,
    pub c: u32,
    pub terms: usize,
    pub row_code: u32,
    pub other_code: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_decision {
    pub unit: lb_unit,
    pub row: lb_candidate,
    pub questions: *mut lb_question,
    pub count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_explain_steps {
    pub first: usize,
    pub last: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_scan_line {
    pub name: [c_char; 192],
    pub opcode: c_uint,
    pub kind: lb_scan_kind,
    pub count: usize,
    pub rows: *const c_char,
    pub note: *const c_char,
    pub evidence: lb_evidence,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_scan_kernel {
    pub name: *const c_char,
    pub arch: [c_char; 16],
    pub ptx: bool,
    pub instructions: usize,
    pub lines: *const lb_scan_line,
    pub line_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_sass_op {
    pub opcode: c_uint,
    pub forms: c_uint,
    pub name: *const c_char,
    pub kind: lb_scan_kind,
    pub archs: *const c_char,
    pub what: *const c_char,
    pub evidence: lb_evidence,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_shrink_options {
    pub check: *const lb_check_options,
    pub seconds: f64,
    pub runs: u64,
    pub progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_shrunk {
    pub check: lb_check_options,
    pub record: *mut lb_record,
    pub failure: lb_failure,
    pub from_m: usize,
    pub from_n: usize,
    pub from_k: usize,
    pub runs: u64,
    pub seconds: f64,
    pub out_of_budget: bool,
    pub kept: [c_char; 160],
    pub observed: lb_mat,
    pub memory: [*mut c_void; 8],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct lb_capsule_notes {
    pub contract: *const c_char,
    pub command: *const c_char,
    pub shrunk: *const c_char,
}

zero_default! {
    lb_error, lb_format, lb_value, lb_encoding, lb_block_format, lb_mat, lb_element, lb_counts, lb_metrics, lb_power_row, lb_power_score, lb_record, lb_unit_edges, lb_unit, lb_parameter, lb_unit_operands, lb_case, lb_array, lb_op_param, lb_op_port, lb_op, lb_op_case, lb_function_bound, lb_function_row, lb_op_truth, lb_gemm_options, lb_kernel_text, lb_schedule, lb_schedule_named, lb_fit_options, lb_fit_row, lb_fit, lb_sum_order, lb_calibration_case, lb_calibrate_options, lb_calibration_figures, lb_calibration_depth, lb_calibration, lb_capture_options, lb_capture_result, lb_level, lb_reduction, lb_contract, lb_limit_input, lb_limit_term, lb_limit, lb_grade_input, lb_m16_outlier, lb_m16_diff, lb_diagnose_options, lb_diagnosis, lb_ledger, lb_scalar_op, lb_emit_options, lb_emit_stats, lb_explain_term, lb_explain_op, lb_explanation, lb_digit, lb_fragment_row, lb_fragment_selectors, lb_fragment, lb_slot, lb_place, lb_warp_options, lb_dtype, lb_tensor, lb_file_options, lb_operand, lb_net_options, lb_net_about, lb_net_input, lb_net_step, lb_net_flip, lb_net_report, lb_net_parting, lb_sampler, lb_operations_options, lb_operations_row, lb_operations_result, lb_run_report, lb_check_options, lb_block_options, lb_grade_files_options, lb_parity_options, lb_parity_row, lb_invariance, lb_sweep_row, lb_deviation, lb_not_covered, lb_fault, lb_power_input, lb_candidate, lb_fit_share, lb_fit_parameter, lb_fit_named, lb_recording_fit, lb_question, lb_decision, lb_explain_steps, lb_scan_line, lb_scan_kernel, lb_sass_op, lb_shrink_options, lb_shrunk, lb_capsule_notes
}

extern "C" {
    pub fn lb_status_text(status: lb_status) -> *const c_char;
    pub fn lb_version() -> *const c_char;
    pub fn lb_fail(err: *mut lb_error, status: lb_status, place: *const c_char, format: *const c_char, ...) -> lb_status;
    pub fn lb_nearest_name(name: *const c_char, names: *const *const c_char, count: usize) -> *const c_char;
    pub fn lb_random_u64(seed: u64, stream: u32, index: u64) -> u64;
    pub fn lb_philox4x32(counter: *const u32, key: *const u32, out: *mut u32);
    pub fn lb_format_row(id: lb_format_id) -> *const lb_format;
    pub fn lb_format_find(name: *const c_char) -> *const lb_format;
    pub fn lb_format_get(name: *const c_char, out: *mut *const lb_format, err: *mut lb_error) -> lb_status;
    pub fn lb_decode(f: *const lb_format, code: u64) -> lb_value;
    pub fn lb_code_class(f: *const lb_format, code: u64) -> lb_class;
    pub fn lb_value_of(x: f64) -> lb_value;
    pub fn lb_value_add(a: lb_value, b: lb_value) -> lb_value;
    pub fn lb_value_mul(a: lb_value, b: lb_value) -> lb_value;
    pub fn lb_to_double(f: *const lb_format, code: u64) -> f64;
    pub fn lb_encode(f: *const lb_format, v: lb_value, how: *const lb_encoding, flags: *mut c_uint) -> u64;
    pub fn lb_from_double(f: *const lb_format, x: f64) -> u64;
    pub fn lb_flush_code(f: *const lb_format, code: u64, flush: lb_flush) -> u64;
    pub fn lb_max_code(f: *const lb_format) -> u64;
    pub fn lb_min_code(f: *const lb_format) -> u64;
    pub fn lb_inf_code(f: *const lb_format, code: *mut u64) -> bool;
    pub fn lb_nan_code(f: *const lb_format, code: *mut u64) -> bool;
    pub fn lb_ordinal(f: *const lb_format, code: u64) -> i64;
    pub fn lb_ulp_distance(f: *const lb_format, a: u64, b: u64) -> u64;
    pub fn lb_block_format_row(i: usize) -> *const lb_block_format;
    pub fn lb_block_format_find(name: *const c_char) -> *const lb_block_format;
    pub fn lb_block_encode(
        f: *const lb_block_format,
        rule: lb_scale_rule,
        x: *const f64,
        count: usize,
        how: *const lb_encoding,
        codes: *mut u8,
        scale_code: *mut u8,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_block_decode(f: *const lb_block_format, code: u8, scale_code: u8) -> f64;
    pub fn lb_block_encode_rows(
        f: *const lb_block_format,
        rule: lb_scale_rule,
        x: *const f64,
        rows: usize,
        cols: usize,
        how: *const lb_encoding,
        codes: *mut u8,
        scales: *mut u8,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_block_decode_rows(
        f: *const lb_block_format,
        codes: *const u8,
        scales: *const u8,
        rows: usize,
        cols: usize,
        x: *mut f64,
    );
    pub fn lb_mat_of(format: *const lb_format, codes: *const c_void, rows: usize, cols: usize) -> lb_mat;
    pub fn lb_mat_transposed(m: lb_mat) -> lb_mat;
    pub fn lb_mat_round(from: *const lb_mat, to: *mut lb_mat);
    pub fn lb_mat_encode(
        from: *const lb_mat,
        to: *mut lb_mat,
        how: *const lb_encoding,
        random: *const u32,
        flags: *mut c_uint,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_mat_convert(from: *const lb_mat, to: *mut lb_mat, place: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_mat_check(m: *const lb_mat, place: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_verdict_name(v: lb_verdict) -> *const c_char;
    pub fn lb_evidence_name(e: lb_evidence) -> *const c_char;
    pub fn lb_power_end_name(e: lb_power_end) -> *const c_char;
    pub fn lb_record_open(out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_record_close(r: *mut lb_record);
    pub fn lb_record_text(field: *mut *mut c_char, format: *const c_char, ...);
    pub fn lb_record_add_outlier(r: *mut lb_record, e: *const lb_element, err: *mut lb_error) -> lb_status;
    pub fn lb_record_add_power(r: *mut lb_record, row: *const lb_power_row, err: *mut lb_error) -> lb_status;
    pub fn lb_record_to_json(r: *const lb_record, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_record_from_json(
        out: *mut *mut lb_record,
        text: *const c_char,
        size: usize,
        place: *const c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_records_exit(verdicts: *const lb_verdict, count: usize) -> c_int;
    pub fn lb_unit_path_name(path: lb_unit_path) -> *const c_char;
    pub fn lb_unit_round_name(round: lb_unit_round) -> *const c_char;
    pub fn lb_unit_set(u: *mut lb_unit, text: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_unit_parameter(i: usize, out: *mut lb_parameter) -> bool;
    pub fn lb_unit_is_plain(u: *const lb_unit) -> bool;
    pub fn lb_unit_row(i: usize) -> *const lb_unit;
    pub fn lb_unit_find(name: *const c_char, out: *mut lb_unit, err: *mut lb_error) -> lb_status;
    pub fn lb_unit_dot(
        u: *const lb_unit,
        a: *const u32,
        b: *const u32,
        count: usize,
        c: u32,
        d: *mut u32,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_unit_gemm(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        d: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_unit_dot_check(u: *const lb_unit, err: *mut lb_error) -> lb_status;
    pub fn lb_unit_gemm_with(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        with: *const lb_unit_operands,
        d: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_unit_mma_with(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        with: *const lb_unit_operands,
        d: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_unit_expand(
        u: *const lb_unit,
        compressed: *const lb_mat,
        metadata: *const lb_mat,
        dense: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_unit_mma(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        d: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_case_m(x: *const lb_case) -> usize;
    pub fn lb_case_n(x: *const lb_case) -> usize;
    pub fn lb_case_k(x: *const lb_case) -> usize;
    pub fn lb_case_b(x: *const lb_case) -> lb_mat;
    pub fn lb_case_check(x: *const lb_case, err: *mut lb_error) -> lb_status;
    pub fn lb_reference_matmul(
        x: *const lb_case,
        mode: lb_reference_mode,
        rows: *const usize,
        row_count: usize,
        cols: *const usize,
        col_count: usize,
        code: *mut lb_mat,
        error: *mut f64,
        gauge: *mut f64,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_draw(f: *const lb_format, dist: lb_dist, seed: u64, stream: u32, index: u64) -> u64;
    pub fn lb_draw_mat(m: *mut lb_mat, dist: lb_dist, seed: u64, stream: u32);
    pub fn lb_array_count(a: *const lb_array) -> usize;
    pub fn lb_op_row(i: usize) -> *const lb_op;
    pub fn lb_op_find(name: *const c_char) -> *const lb_op;
    pub fn lb_op_dist_name(i: usize) -> *const c_char;
    pub fn lb_op_dist_summary(i: usize) -> *const c_char;
    pub fn lb_op_fill_name(i: usize) -> *const c_char;
    pub fn lb_op_fill_summary(i: usize) -> *const c_char;
    pub fn lb_op_case_open(out: *mut *mut lb_op_case, text: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_op_case_of(
        out: *mut *mut lb_op_case,
        text: *const c_char,
        r#in: *const lb_array,
        in_count: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_op_case_text(x: *const lb_op_case, text: *mut c_char, size: usize) -> usize;
    pub fn lb_op_case_param(x: *const lb_op_case, name: *const c_char) -> f64;
    pub fn lb_op_input(op: *const lb_op, name: *const c_char) -> c_int;
    pub fn lb_op_output(op: *const lb_op, name: *const c_char) -> c_int;
    pub fn lb_op_case_close(x: *mut lb_op_case);
    pub fn lb_function_class_name(c: lb_function_class) -> *const c_char;
    pub fn lb_function_row_at(i: usize) -> *const lb_function_row;
    pub fn lb_op_truth_open(
        out: *mut *mut lb_op_truth,
        x: *const lb_op_case,
        functions: lb_function_class,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_op_truth_close(t: *mut lb_op_truth);
    pub fn lb_op_truth_settle(t: *mut lb_op_truth, x: *const lb_op_case, err: *mut lb_error) -> lb_status;
    pub fn lb_op_judge(t: *const lb_op_truth, x: *const lb_op_case, port: c_uint, index: usize, ratio: *mut f64)
        -> lb_op_verdict;
    pub fn lb_replay_name(order: lb_replay_order) -> *const c_char;
    pub fn lb_replay_summary(order: lb_replay_order) -> *const c_char;
    pub fn lb_op_replay(x: *mut lb_op_case, order: lb_replay_order, err: *mut lb_error) -> lb_status;
    pub fn lb_backend_name(i: usize) -> *const c_char;
    pub fn lb_backend_summary(i: usize) -> *const c_char;
    pub fn lb_device_open(out: *mut *mut lb_device, on: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_device_open_command(out: *mut *mut lb_device, argv: *const *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_device_can(d: *const lb_device, x: *const lb_case, why_not: *mut *const c_char) -> bool;
    pub fn lb_device_run(
        d: *mut lb_device,
        x: *const lb_case,
        y: *mut c_void,
        timeout_seconds: f64,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_device_can_op(d: *const lb_device, x: *const lb_op_case, why_not: *mut *const c_char) -> bool;
    pub fn lb_device_run_op(d: *mut lb_device, x: *mut lb_op_case, timeout_seconds: f64, err: *mut lb_error) -> lb_status;
    pub fn lb_device_name(d: *const lb_device) -> *const c_char;
    pub fn lb_device_detail(d: *const lb_device) -> *const c_char;
    pub fn lb_device_close(d: *mut lb_device);
    pub fn lb_workspace_open(out: *mut *mut lb_workspace, err: *mut lb_error) -> lb_status;
    pub fn lb_workspace_close(w: *mut lb_workspace);
    pub fn lb_gemm(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        d: *mut lb_mat,
        options: *const lb_gemm_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_gemm_with(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        with: *const lb_unit_operands,
        d: *mut lb_mat,
        options: *const lb_gemm_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_dot_batch(
        u: *const lb_unit,
        a: *const c_void,
        b: *const c_void,
        c: *const c_void,
        d: *mut c_void,
        count: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_kernel_row(i: usize, out: *mut lb_kernel_text) -> bool;
    pub fn lb_schedule_can(u: *const lb_unit) -> bool;
    pub fn lb_gemm_scheduled(
        u: *const lb_unit,
        s: *const lb_schedule,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        d: *mut lb_mat,
        options: *const lb_gemm_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_schedule_parse(text: *const c_char, out: *mut lb_schedule, err: *mut lb_error) -> lb_status;
    pub fn lb_schedule_text(s: *const lb_schedule, text: *mut c_char, size: usize);
    pub fn lb_schedule_equal(a: *const lb_schedule, b: *const lb_schedule) -> bool;
    pub fn lb_schedule_row(i: usize) -> *const lb_schedule_named;
    pub fn lb_fit_schedule(
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        actual: *const lb_mat,
        o: *const lb_fit_options,
        out: *mut lb_fit,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_fit_close(f: *mut lb_fit);
    pub fn lb_units_alike(a: *const lb_unit, b: *const lb_unit) -> bool;
    pub fn lb_sum_order_row(i: usize) -> *const lb_sum_order;
    pub fn lb_sum_order_find(name: *const c_char, out: *mut *const lb_sum_order, err: *mut lb_error) -> lb_status;
    pub fn lb_order_sum(
        order: *const lb_sum_order,
        a: *const f32,
        w: *const f32,
        k: usize,
        scale: *const f32,
        scale_block: usize,
        out: *mut f64,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_calibration_case_row(i: usize) -> *const lb_calibration_case;
    pub fn lb_calibration_fault_name(i: usize) -> *const c_char;
    pub fn lb_calibration_fault_what(i: usize) -> *const c_char;
    pub fn lb_calibration_tail_name(t: lb_calibration_tail) -> *const c_char;
    pub fn lb_calibrate(o: *const lb_calibrate_options, out: *mut *mut lb_calibration, err: *mut lb_error) -> lb_status;
    pub fn lb_calibration_close(c: *mut lb_calibration);
    pub fn lb_calibration_to_json(c: *const lb_calibration, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_capture_open(out: *mut *mut lb_capture, options: *const lb_capture_options, err: *mut lb_error) -> lb_status;
    pub fn lb_capture_close(c: *mut lb_capture);
    pub fn lb_capture_device(c: *const lb_capture) -> *const c_char;
    pub fn lb_capture_can(c: *const lb_capture, u: *const lb_unit, err: *mut lb_error) -> lb_status;
    pub fn lb_capture_kind_name(kind: lb_capture_kind) -> *const c_char;
    pub fn lb_capture_kind_text(kind: lb_capture_kind) -> *const c_char;
    pub fn lb_capture_unit(
        c: *mut lb_capture,
        u: *const lb_unit,
        kind: lb_capture_kind,
        out: *mut lb_capture_result,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_capture_request(
        c: *mut lb_capture,
        path: *const c_char,
        out: *mut lb_capture_result,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_capture_ptx(u: *const lb_unit, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_bound_name(b: lb_bound) -> *const c_char;
    pub fn lb_specials_name(s: lb_specials) -> *const c_char;
    pub fn lb_contract_row(i: usize) -> *const lb_contract;
    pub fn lb_contract_find(name: *const c_char, out: *mut *const lb_contract, err: *mut lb_error) -> lb_status;
    pub fn lb_contract_open(what: *const c_char, out: *mut *mut lb_contract, err: *mut lb_error) -> lb_status;
    pub fn lb_contract_close(c: *mut lb_contract);
    pub fn lb_contract_from_json(
        text: *const c_char,
        size: usize,
        place: *const c_char,
        out: *mut *mut lb_contract,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_contract_needs_gauge(c: *const lb_contract) -> bool;
    pub fn lb_contract_needs_baseline(c: *const lb_contract) -> bool;
    pub fn lb_contract_rule(
        c: *const lb_contract,
        out_format: *const lb_format,
        k: f64,
        elements: f64,
        out: *mut *mut c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_contract_floor(c: *const lb_contract, k: f64, row_rms: f64) -> f64;
    pub fn lb_reduction_gamma(c: *const lb_contract, k: f64) -> f64;
    pub fn lb_contract_false_alarm(c: *const lb_contract, elements: f64, per_element: *mut f64) -> f64;
    pub fn lb_contract_limit(
        c: *const lb_contract,
        r#in: *const lb_limit_input,
        out: *mut lb_limit,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_grade(r#in: *const lb_grade_input, r: *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_grade_by(rule: *const c_char, r#in: *const lb_grade_input, r: *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_grading_open(out: *mut *mut lb_grading, whole: *const lb_grade_input, err: *mut lb_error) -> lb_status;
    pub fn lb_grading_scan(g: *mut lb_grading, part: *const lb_mat, first: bool) -> f64;
    pub fn lb_grading_rms(g: *const lb_grading, rows: *const lb_mat, rms: *mut f64);
    pub fn lb_grading_add(
        g: *mut lb_grading,
        piece: *const lb_grade_input,
        row: usize,
        col: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_grading_close(g: *mut lb_grading, r: *mut lb_record);
    pub fn lb_bf16_ord(bits: u16) -> i32;
    pub fn lb_m16_floor(k: usize, row_rms: f64) -> f64;
    pub fn lb_m16_within(actual: u16, reference: u16, k: usize, row_rms: f64) -> bool;
    pub fn lb_m16_compare_block(
        actual: *const c_void,
        actual_bytes: usize,
        reference: *const c_void,
        reference_bytes: usize,
        n: usize,
        k: usize,
        out: *mut lb_m16_diff,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_m16_diff_free(d: *mut lb_m16_diff);
    pub fn lb_cause_name(cause: lb_cause) -> *const c_char;
    pub fn lb_cause_what(cause: lb_cause) -> *const c_char;
    pub fn lb_diagnose(o: *const lb_diagnose_options, out: *mut lb_diagnosis, err: *mut lb_error) -> lb_status;
    pub fn lb_ledger_name(i: usize) -> *const c_char;
    pub fn lb_ledger_what(i: usize) -> *const c_char;
    pub fn lb_error_ledger(
        x: *const lb_case,
        wide_a: *const lb_mat,
        wide_b: *const lb_mat,
        unit: *const lb_unit,
        row: usize,
        col: usize,
        actual: u64,
        out: *mut lb_ledger,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_word_name(w: lb_word) -> *const c_char;
    pub fn lb_word_bits(w: lb_word) -> c_int;
    pub fn lb_word_parts(w: lb_word) -> c_int;
    pub fn lb_word_format(w: lb_word) -> *const lb_format;
    pub fn lb_scalar_class_name(c: lb_scalar_class) -> *const c_char;
    pub fn lb_scalar_class_text(c: lb_scalar_class) -> *const c_char;
    pub fn lb_scalar_row(i: usize) -> *const lb_scalar_op;
    pub fn lb_scalar_find(name: *const c_char, out: *mut *const lb_scalar_op, err: *mut lb_error) -> lb_status;
    pub fn lb_scalar_eval(op: *const lb_scalar_op, r#in: *const u64, out: *mut u64, err: *mut lb_error) -> lb_status;
    pub fn lb_scalar_eval_warp(op: *const lb_scalar_op, r#in: *const u64, out: *mut u64, err: *mut lb_error) -> lb_status;
    pub fn lb_scalar_eval_rows(
        op: *const lb_scalar_op,
        rows: usize,
        r#in: *const u64,
        out: *mut u64,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_scalar_grade_name(g: lb_scalar_grade_of) -> *const c_char;
    pub fn lb_scalar_grade(op: *const lb_scalar_op, r#in: *const u64, o: c_int, model: u64, got: u64) -> lb_scalar_grade_of;
    pub fn lb_scalar_text(w: lb_word, word: u64, text: *mut c_char, size: usize);
    pub fn lb_scalar_input(w: lb_word, input: c_int, seed: u64, row: u64) -> u64;
    pub fn lb_emit_language_name(language: lb_emit_language) -> *const c_char;
    pub fn lb_emit_language_find(name: *const c_char, out: *mut lb_emit_language, err: *mut lb_error) -> lb_status;
    pub fn lb_emit_can(u: *const lb_unit, err: *mut lb_error) -> lb_status;
    pub fn lb_emit_unit(
        u: *const lb_unit,
        o: *const lb_emit_options,
        text: *mut *mut c_char,
        stats: *mut lb_emit_stats,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_emit_can_op(op: *const lb_scalar_op, err: *mut lb_error) -> lb_status;
    pub fn lb_emit_op(
        op: *const lb_scalar_op,
        o: *const lb_emit_options,
        text: *mut *mut c_char,
        stats: *mut lb_emit_stats,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_explain_what_name(what: lb_explain_what) -> *const c_char;
    pub fn lb_explain_what_text(what: lb_explain_what) -> *const c_char;
    pub fn lb_explain(
        u: *const lb_unit,
        a: *const lb_mat,
        b: *const lb_mat,
        c: *const lb_mat,
        with: *const lb_unit_operands,
        row: usize,
        col: usize,
        out: *mut lb_explanation,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_explain_free(e: *mut lb_explanation);
    pub fn lb_fragment_operand_name(operand: lb_fragment_operand) -> *const c_char;
    pub fn lb_fragment_row_at(i: usize) -> *const lb_fragment_row;
    pub fn lb_fragment_of(
        u: *const lb_unit,
        operand: lb_fragment_operand,
        selectors: *const lb_fragment_selectors,
        out: *mut lb_fragment,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_fragment_place(f: *const lb_fragment, slot: lb_slot, out: *mut lb_place) -> bool;
    pub fn lb_fragment_slot(f: *const lb_fragment, place: lb_place, out: *mut lb_slot) -> bool;
    pub fn lb_fragment_gather(
        f: *const lb_fragment,
        regs: *const u32,
        matrix: c_int,
        out: *mut lb_mat,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_fragment_scatter(
        f: *const lb_fragment,
        matrix: c_int,
        r#in: *const lb_mat,
        regs: *mut u32,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_warp_mma(
        u: *const lb_unit,
        a: *const u32,
        b: *const u32,
        c: *const u32,
        d: *mut u32,
        options: *const lb_warp_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_dtype_find(name: *const c_char) -> *const lb_dtype;
    pub fn lb_dtype_of_codes(f: *const lb_format) -> *const lb_dtype;
    pub fn lb_dtype_for(f: *const lb_format, npy: bool) -> *const lb_dtype;
    pub fn lb_tensor_count(t: *const lb_tensor) -> usize;
    pub fn lb_tensor_values(t: *const lb_tensor, first: usize, count: usize, out: *mut f32, err: *mut lb_error) -> lb_status;
    pub fn lb_file_open(
        out: *mut *mut lb_file,
        path: *const c_char,
        options: *const lb_file_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_file_parse(
        out: *mut *mut lb_file,
        bytes: *const c_void,
        size: usize,
        name: *const c_char,
        options: *const lb_file_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_file_close(f: *mut lb_file);
    pub fn lb_file_count(f: *const lb_file) -> usize;
    pub fn lb_file_tensor(f: *const lb_file, i: usize) -> *const lb_tensor;
    pub fn lb_file_find(f: *const lb_file, name: *const c_char) -> *const lb_tensor;
    pub fn lb_file_metadata(f: *const lb_file, key: *const c_char) -> *const c_char;
    pub fn lb_file_metadata_key(f: *const lb_file, i: usize) -> *const c_char;
    pub fn lb_file_path(f: *const lb_file) -> *const c_char;
    pub fn lb_safetensors_write(
        path: *const c_char,
        tensors: *const lb_tensor,
        count: usize,
        metadata: *const *const c_char,
        metadata_count: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_npy_write(path: *const c_char, t: *const lb_tensor, err: *mut lb_error) -> lb_status;
    pub fn lb_safetensors_begin(
        out: *mut *mut lb_writer,
        path: *const c_char,
        tensors: *const lb_tensor,
        count: usize,
        metadata: *const *const c_char,
        metadata_count: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_safetensors_put(
        w: *mut lb_writer,
        tensor: usize,
        offset: usize,
        bytes: *const c_void,
        count: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_safetensors_end(w: *mut lb_writer, keep: bool, err: *mut lb_error) -> lb_status;
    pub fn lb_operand_open(
        out: *mut lb_operand,
        spec: *const c_char,
        format: *const lb_format,
        options: *const lb_file_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_operand_close(o: *mut lb_operand);
    pub fn lb_reader_open(
        out: *mut *mut lb_reader,
        spec: *const c_char,
        format: *const lb_format,
        options: *const lb_file_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_reader_shape(s: *const lb_reader) -> lb_mat;
    pub fn lb_reader_read(s: *mut lb_reader, first: usize, count: usize, codes: *mut c_void, err: *mut lb_error) -> lb_status;
    pub fn lb_reader_unchanged(s: *const lb_reader, err: *mut lb_error) -> lb_status;
    pub fn lb_reader_close(s: *mut lb_reader);
    pub fn lb_mat_write(path: *const c_char, tensor_name: *const c_char, m: *const lb_mat, err: *mut lb_error) -> lb_status;
    pub fn lb_net_kind(i: usize) -> *const c_char;
    pub fn lb_net_kind_summary(i: usize) -> *const c_char;
    pub fn lb_net_open(
        out: *mut *mut lb_net,
        path: *const c_char,
        options: *const lb_net_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_net_close(n: *mut lb_net);
    pub fn lb_net_describe(n: *const lb_net) -> lb_net_about;
    pub fn lb_net_node(n: *const lb_net, i: usize, op: *mut *const lb_op) -> *const c_char;
    pub fn lb_arith_name(i: usize) -> *const c_char;
    pub fn lb_arith_summary(i: usize) -> *const c_char;
    pub fn lb_arith_open(out: *mut *mut lb_arith, name: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_arith_of_device(out: *mut *mut lb_arith, d: *mut lb_device, err: *mut lb_error) -> lb_status;
    pub fn lb_arith_close(a: *mut lb_arith);
    pub fn lb_arith_text(a: *const lb_arith) -> *const c_char;
    pub fn lb_net_run_open(out: *mut *mut lb_net_run, n: *const lb_net, a: *const lb_arith, err: *mut lb_error) -> lb_status;
    pub fn lb_net_run_close(r: *mut lb_net_run);
    pub fn lb_net_run_step(r: *mut lb_net_run, r#in: *const lb_net_input, out: *mut f64, err: *mut lb_error) -> lb_status;
    pub fn lb_net_run_reset(r: *mut lb_net_run);
    pub fn lb_net_run_value(
        r: *const lb_net_run,
        i: usize,
        name: *mut *const c_char,
        rows: *mut usize,
        cols: *mut usize,
    ) -> *const f64;
    pub fn lb_net_run_tap(
        r: *mut lb_net_run,
        tap: Option<unsafe extern "C" fn(user: *mut c_void, node: *const c_char, values: *const f64, rows: usize, cols: usize)>,
        user: *mut c_void,
    );
    pub fn lb_net_compare(
        n: *const lb_net,
        a: *const lb_arith,
        b: *const lb_arith,
        r#in: *const lb_net_input,
        progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
        user: *mut c_void,
        out: *mut *mut lb_net_report,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_net_compare_models(
        na: *const lb_net,
        a: *const lb_arith,
        nb: *const lb_net,
        b: *const lb_arith,
        r#in: *const lb_net_input,
        progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
        user: *mut c_void,
        out: *mut *mut lb_net_report,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_net_report_close(r: *mut lb_net_report);
    pub fn lb_net_chunks(
        n: *const lb_net,
        a: *const lb_arith,
        r#in: *const lb_net_input,
        chunk: usize,
        out: *mut lb_net_parting,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_sample_token(
        s: *const lb_sampler,
        logits: *const f64,
        count: usize,
        index: u64,
        token: *mut i32,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_operations_replay(
        o: *const lb_operations_options,
        out: *mut *mut lb_operations_result,
        count: *mut usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_operations_record(
        o: *const lb_operations_options,
        r: *const lb_operations_result,
        out: *mut *mut lb_record,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_operations_is_recording(path: *const c_char, is: *mut bool, err: *mut lb_error) -> lb_status;
    pub fn lb_operations_request(path: *const c_char, part: *const c_char, seed: u64, err: *mut lb_error) -> lb_status;
    pub fn lb_capture_operations(
        c: *mut lb_capture,
        part: *const c_char,
        seed: u64,
        out: *mut lb_capture_result,
        refused: *mut usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_operation_ptx(op: *const lb_scalar_op, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_run_guarded(
        on: *const c_char,
        argv: *const *mut c_char,
        x: *const lb_case,
        timeout_seconds: f64,
        y: *mut c_void,
        report: *mut lb_run_report,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_device_open_guarded(
        out: *mut *mut lb_device,
        on: *const c_char,
        timeout_seconds: f64,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_poison_code(f: *const lb_format) -> u64;
    pub fn lb_check(o: *const lb_check_options, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_contract_explain(
        x: *const lb_case,
        c: *const lb_contract,
        k: f64,
        row: usize,
        col: usize,
        r#in: *mut lb_limit_input,
        out: *mut lb_limit,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_sample_indices(
        n: usize,
        count: usize,
        seed: u64,
        stream: u32,
        out: *mut *mut usize,
        out_count: *mut usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_grade_block(o: *const lb_block_options, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_grade_files(o: *const lb_grade_files_options, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_unit_read(path: *const c_char, out: *mut lb_unit, err: *mut lb_error) -> lb_status;
    pub fn lb_replay(path: *const c_char, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_gen_line(
        suite: *const c_char,
        seed: u64,
        index: u64,
        text: *mut c_char,
        size: usize,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_judge_open(out: *mut *mut lb_judge, suite: *const c_char, seed: u64, count: u64, err: *mut lb_error) -> lb_status;
    pub fn lb_judge_line(j: *mut lb_judge, line: *const c_char, length: usize, err: *mut lb_error) -> lb_status;
    pub fn lb_judge_close(j: *mut lb_judge, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_parity_open(out: *mut *mut lb_parity, o: *const lb_parity_options, err: *mut lb_error) -> lb_status;
    pub fn lb_parity_close(p: *mut lb_parity);
    pub fn lb_parity_case_count(p: *const lb_parity) -> usize;
    pub fn lb_parity_case_text(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_device_count(p: *const lb_parity) -> usize;
    pub fn lb_parity_device(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_device_name(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_left_out(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_next(p: *mut lb_parity, out: *mut *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_parity_done(p: *const lb_parity) -> usize;
    pub fn lb_parity_row_at(p: *const lb_parity, i: usize) -> *const lb_parity_row;
    pub fn lb_parity_distance(p: *const lb_parity, a: usize, b: usize) -> f64;
    pub fn lb_parity_odd(p: *const lb_parity, device: usize, of: *mut usize) -> usize;
    pub fn lb_parity_known(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_stale(p: *const lb_parity, i: usize) -> *const c_char;
    pub fn lb_parity_exit(p: *const lb_parity) -> c_int;
    pub fn lb_axis_name(i: usize) -> *const c_char;
    pub fn lb_axis_summary(i: usize) -> *const c_char;
    pub fn lb_invariance_open(out: *mut *mut lb_invariance_run, o: *const lb_parity_options, err: *mut lb_error) -> lb_status;
    pub fn lb_invariance_next(
        r: *mut lb_invariance_run,
        out: *mut lb_invariance,
        more: *mut bool,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_invariance_close(r: *mut lb_invariance_run);
    pub fn lb_sweep_open(out: *mut *mut lb_sweep, o: *const lb_parity_options, err: *mut lb_error) -> lb_status;
    pub fn lb_sweep_next(s: *mut lb_sweep, out: *mut lb_sweep_row, more: *mut bool, err: *mut lb_error) -> lb_status;
    pub fn lb_sweep_close(s: *mut lb_sweep);
    pub fn lb_deviations_open(
        out: *mut *mut lb_deviations,
        document: *const c_char,
        o: *const lb_parity_options,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_deviations_next(d: *mut lb_deviations, out: *mut lb_deviation, more: *mut bool, err: *mut lb_error) -> lb_status;
    pub fn lb_deviations_close(d: *mut lb_deviations);
    pub fn lb_parity_not_covered(i: usize, out: *mut lb_not_covered) -> bool;
    pub fn lb_fault_row(i: usize) -> *const lb_fault;
    pub fn lb_fault_find(name: *const c_char, out: *mut *const lb_fault, err: *mut lb_error) -> lb_status;
    pub fn lb_power(r#in: *const lb_power_input, r: *mut lb_record, err: *mut lb_error) -> lb_status;
    pub fn lb_fault_plant(
        name: *const c_char,
        x: *const lb_case,
        unit: *const lb_unit,
        right: *const lb_mat,
        out: *mut lb_mat,
        hidden: *mut bool,
        why: *mut c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_candidate_name(i: usize) -> *const c_char;
    pub fn lb_candidate_what(i: usize) -> *const c_char;
    pub fn lb_candidate_get(c: *const lb_candidate, i: usize) -> c_int;
    pub fn lb_candidate_value_text(i: usize, value: c_int, text: *mut c_char);
    pub fn lb_candidate_of(u: *const lb_unit, out: *mut lb_candidate, err: *mut lb_error) -> lb_status;
    pub fn lb_candidate_dot(
        x: *const lb_candidate,
        u: *const lb_unit,
        a: *const u32,
        b: *const u32,
        count: usize,
        c: u32,
        d: *mut u32,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_fit_recording(
        path: *const c_char,
        progress: Option<unsafe extern "C" fn(user: *mut c_void, stage: *const c_char, fraction: f64)>,
        user: *mut c_void,
        out: *mut *mut lb_recording_fit,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_recording_fit_close(f: *mut lb_recording_fit);
    pub fn lb_decide(u: *const lb_unit, seed: u64, tries: u64, out: *mut *mut lb_decision, err: *mut lb_error) -> lb_status;
    pub fn lb_decision_close(d: *mut lb_decision);
    pub fn lb_decision_write(d: *const lb_decision, path: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_report_text(r: *const lb_record, color: bool, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_report_brief(r: *const lb_record, color: bool, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_report_junit(
        records: *const *const lb_record,
        count: usize,
        out: *mut *mut c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_report_explanation(
        e: *const lb_explanation,
        steps: *const lb_explain_steps,
        out: *mut *mut c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_report_explanation_json(e: *const lb_explanation, out: *mut *mut c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_scan_kind_name(kind: lb_scan_kind) -> *const c_char;
    pub fn lb_scan_file(out: *mut *mut lb_scan, path: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_scan_bytes(
        out: *mut *mut lb_scan,
        bytes: *const c_void,
        size: usize,
        name: *const c_char,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_scan_kernel_at(scan: *const lb_scan, i: usize) -> *const lb_scan_kernel;
    pub fn lb_scan_close(scan: *mut lb_scan);
    pub fn lb_sass_op_at(i: usize, out: *mut lb_sass_op) -> bool;
    pub fn lb_failure_name(f: lb_failure) -> *const c_char;
    pub fn lb_failure_of(r: *const lb_record) -> lb_failure;
    pub fn lb_shrink(o: *const lb_shrink_options, out: *mut *mut lb_shrunk, err: *mut lb_error) -> lb_status;
    pub fn lb_shrunk_close(s: *mut lb_shrunk);
    pub fn lb_shrunk_to_json(s: *const lb_shrunk, capsule: *const c_char, out: *mut *mut c_char, err: *mut lb_error)
        -> lb_status;
    pub fn lb_capsule_write(
        path: *const c_char,
        check: *const lb_check_options,
        record: *const lb_record,
        observed: *const lb_mat,
        notes: *const lb_capsule_notes,
        err: *mut lb_error,
    ) -> lb_status;
    pub fn lb_capsule_open(out: *mut *mut lb_capsule, path: *const c_char, err: *mut lb_error) -> lb_status;
    pub fn lb_capsule_close(c: *mut lb_capsule);
    pub fn lb_capsule_check(c: *const lb_capsule) -> *const lb_check_options;
    pub fn lb_capsule_text(c: *const lb_capsule, key: *const c_char) -> *const c_char;
    pub fn lb_capsule_judge(
        c: *const lb_capsule,
        how: *const lb_check_options,
        out: *mut *mut lb_record,
        err: *mut lb_error,
    ) -> lb_status;
}
