# SPDX-License-Identifier: MIT OR Apache-2.0
# Written by tools/gen_python; do not edit.
"""The C interface, include/lastbit, as ctypes sees it."""
from __future__ import annotations

from ctypes import (CDLL, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int8, c_int16, c_int32, c_int64,
                    c_size_t, c_ssize_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from enum import IntEnum

VERSION = "0.1.0"


class lb_status(IntEnum):
    OK = 0
    E_ARG = 1
    E_SHAPE = 2
    E_FORMAT = 3
    E_NAME = 4
    E_FILE = 5
    E_UNAVAILABLE = 6
    E_DEVICE = 7
    E_TIMEOUT = 8
    E_MEMORY = 9


class lb_format_id(IntEnum):
    F64 = 0
    F32 = 1
    TF32 = 2
    F16 = 3
    BF16 = 4
    E4M3 = 5
    E5M2 = 6
    E4M3_IEEE = 7
    E3M4 = 8
    E4M3FNUZ = 9
    E5M2FNUZ = 10
    E4M3B11FNUZ = 11
    E8M0 = 12
    UE4M3 = 13
    E3M2 = 14
    E2M3 = 15
    E2M1 = 16
    I8 = 17
    U8 = 18
    I4 = 19
    U4 = 20
    B1 = 21
    MXI8 = 22
    I32 = 23


class lb_special(IntEnum):
    IEEE = 0
    NAN_TOP = 1
    FNUZ = 2
    NONE = 3
    E8M0 = 4
    INT = 5


class lb_class(IntEnum):
    ZERO = 0
    FINITE = 1
    INF = 2
    NAN = 3


class lb_rounding(IntEnum):
    RNE = 0
    RNA = 1
    RNZ = 2
    RNO = 3
    RZ = 4
    RU = 5
    RD = 6
    RAZ = 7
    ODD = 8
    SR = 9


class lb_overflow(IntEnum):
    IEEE = 0
    INF = 1
    SATURATE = 2
    SATURATE_PROPAGATE = 3
    NAN = 4
    WRAP = 5


class lb_flush(IntEnum):
    NONE = 0
    KEEP_SIGN = 1
    TO_POSITIVE = 2


class lb_scale_rule(IntEnum):
    FLOOR = 0
    CEIL = 1
    EVEN = 2
    AMAX = 3


class lb_verdict(IntEnum):
    PASS = 0
    FAIL = 1
    UNPROVEN = 2
    SKIP = 3


class lb_evidence(IntEnum):
    OPEN = 0
    INFERRED = 1
    STATED = 2
    RECORDED = 3


class lb_power_end(IntEnum):
    CAUGHT = 0
    MISSED = 1
    BELOW = 2
    HIDDEN = 3
    INERT = 4


class lb_unit_path(IntEnum):
    NONE = 0
    TRUNCATED = 1
    TWO_HALVES = 2
    FMA_CHAIN = 3
    EXACT = 4
    PAIRWISE = 5
    LATE_C = 6
    LATE_C_SPLIT = 7
    BLOCK_SCALED = 8
    SPARSE = 9
    INTEGER = 10
    XOR_POPC = 11
    AND_POPC = 12
    ODD_FIRST = 13
    TWO_CHAINS = 14
    PAIR_ODD = 15
    PAIR_FUSED = 16


class lb_unit_round(IntEnum):
    RZ_F32 = 0
    RZ_E8M13 = 1
    RNE_F16 = 2
    RNE_F32 = 3
    RNE_F64 = 4
    ODD_F32 = 5
    WRAP_I32 = 6
    SATURATE_I32 = 7


class lb_zero_products(IntEnum):
    SKIP = 0


class lb_c_subnormal(IntEnum):
    LEAST = 0
    OWN = 1


class lb_unit_overflow(IntEnum):
    INF = 0
    MAX = 1


class lb_tiny_sign(IntEnum):
    KEEP = 0
    PLUS = 1


class lb_late_floor(IntEnum):
    ONCE = 0
    TWICE = 1


class lb_special_scope(IntEnum):
    BLOCK = 0
    STEP = 1


class lb_tf32_input(IntEnum):
    TRUNCATE = 0
    KEEP_NAN = 1
    ROUND = 2


class lb_zero_group(IntEnum):
    PRODUCTS = 0
    SUM = 1
    ALWAYS = 2


class lb_unit_subnormals(IntEnum):
    PATH = 0
    KEEP = 1
    FLUSH_IN = 2
    FLUSH_OUT = 3
    FLUSH = 4


class lb_reference_mode(IntEnum):
    AUTO = 0
    F64 = 1
    EXACT = 2


class lb_dist(IntEnum):
    UNIFORM = 0
    NORMAL = 1
    INTEGER = 2
    WIDE = 3
    BITS = 4
    SPECIAL = 5


class lb_function_class(IntEnum):
    IEEE = 0
    OPENCL = 1
    VULKAN = 2


class lb_op_verdict(IntEnum):
    EXACT = 0
    LEGAL = 1
    WRONG = 2
    UNJUDGED = 3


class lb_replay_order(IntEnum):
    SEQUENTIAL = 0
    CONTRACTED = 1
    DEVICE = 2
    PAIRWISE = 3


class lb_k_order(IntEnum):
    ASCENDING = 0
    DESCENDING = 1


class lb_k_divide(IntEnum):
    CEIL = 0
    EVEN = 1
    DEALT = 2


class lb_k_reduce(IntEnum):
    ASCENDING = 0
    DESCENDING = 1
    TREE = 2
    HALVES = 3
    SLOTS = 4
    ATOMIC = 5


class lb_k_type(IntEnum):
    F32 = 0
    F16 = 1
    BF16 = 2
    OUT = 3


class lb_k_ragged(IntEnum):
    LAST = 0
    FIRST = 1


class lb_k_raster(IntEnum):
    N = 0
    M = 1


class lb_c_place(IntEnum):
    FIRST = 0
    LAST = 1


class lb_blend(IntEnum):
    SEPARATE = 0
    FMA_X = 1
    FMA_C = 2


class lb_scaling(IntEnum):
    PRODUCT_FMA = 0
    PRODUCT = 1
    A_FIRST = 2
    A_FIRST_FMA = 3
    B_FIRST = 4
    B_FIRST_FMA = 5


class lb_activation(IntEnum):
    NONE = 0
    RELU = 1
    GELU_ERF = 2
    GELU_TANH = 3
    GELU_TAYLOR = 4
    SIGMOID = 5
    SILU = 6


class lb_calibration_tail(IntEnum):
    NORMAL = 0
    WALK = 1
    SEEN = 2


class lb_capture_kind(IntEnum):
    DIRECTED = 0
    DOTS = 1
    CHAIN = 2
    TILES = 3
    GEMM = 4


class lb_bound(IntEnum):
    ULP_OR_FLOOR = 0
    GAUGE = 1
    GAMMA = 2
    STATISTICAL = 3
    RELATIVE = 4
    SWITCHED = 5
    NORM = 6
    BASELINE = 7


class lb_specials(IntEnum):
    IEEE = 0
    STRICT = 1
    FLUSH = 2
    SATURATE = 3
    FLUSH_SATURATE = 4
    NO_NAN = 5


class lb_order(IntEnum):
    SEQUENTIAL = 0
    PAIRWISE = 1


class lb_cause(IntEnum):
    NONE = 0
    UNWRITTEN = 1
    STALE = 2
    ZEROED = 3
    CONSTANT = 4
    NAN_ADDED = 5
    NAN_LOST = 6
    OVERFLOW_EARLY = 7
    SATURATED = 8
    BYTE_ORDER = 9
    STUCK_BIT = 10
    NEGATED = 11
    SCALE = 12
    C_MISSING = 13
    C_TWICE = 14
    C_SIGN = 15
    C_FACTOR = 16
    AB_MISSING = 17
    AB_FACTOR = 18
    C_TRANSPOSED = 19
    OFFSET = 20
    RELU = 21
    ABSOLUTE = 22
    TRANSPOSED_D = 23
    TRANSPOSED_TILE = 24
    LINES_COPIED = 25
    LINES_SWAPPED = 26
    LINES_SHIFTED = 27
    LINES_PERMUTED = 28
    TILE_SHIFTED = 29
    LEADING = 30
    K_MISSING = 31
    K_DOUBLED = 32
    K_REPLACED = 33
    K_FACTOR = 34
    OPERAND_TRANSPOSED = 35
    OPERAND_PERMUTED = 36
    OPERAND_SHIFTED = 37
    OPERAND_REPEATED = 38
    OPERAND_MISREAD = 39
    OPERAND_ROUNDED = 40
    OPERAND_FLUSHED = 41
    LINES_SCALED = 42
    OUTPUT_FLUSHED = 43
    OUTPUT_ROUNDING = 44
    DOUBLE_ROUNDING = 45
    PARTIALS = 46
    CHAIN = 47
    OTHER_UNIT = 48
    PLACE = 49


class lb_word(IntEnum):
    F64 = 0
    F32 = 1
    F16 = 2
    BF16 = 3
    F16X2 = 4
    BF16X2 = 5
    S8 = 6
    U8 = 7
    B8 = 8
    S16 = 9
    U16 = 10
    B16 = 11
    S32 = 12
    U32 = 13
    B32 = 14
    S64 = 15
    U64 = 16
    B64 = 17


class lb_scalar_class(IntEnum):
    EXACT = 0
    DOCUMENT = 1
    SEQUENCE = 2
    APPROXIMATE = 3
    MATRIX = 4


class lb_scalar_grade_of(IntEnum):
    SAME = 0
    ALLOWED = 1
    WRONG = 2
    UNJUDGED = 3


class lb_emit_language(IntEnum):
    C = 0
    OPENCL = 1
    GLSL = 2
    HLSL = 3
    MSL = 4
    CUDA = 5


class lb_emit_tier(IntEnum):
    EXACT = 0
    FAST = 1


class lb_emit_exchange(IntEnum):
    LOCAL = 0
    SUBGROUP = 1


class lb_explain_what(IntEnum):
    BLOCK = 0
    GROUP = 1
    PARTIAL = 2
    JOIN = 3
    LATE = 4
    FMA = 5
    EXACT = 6
    PRODUCT = 7
    PAIR = 8
    ADD = 9
    INTEGER = 10
    NAN = 11


class lb_explain_source(IntEnum):
    PRODUCT = 0
    C = 1
    OP = 2


class lb_fragment_operand(IntEnum):
    A = 0
    B = 1
    C = 2
    D = 3
    METADATA = 4
    SCALE_A = 5
    SCALE_B = 6


class lb_axis(IntEnum):
    ROW = 0
    COL = 1
    MATRIX = 2
    CHOSEN = 3


class lb_run_end(IntEnum):
    DONE = 0
    FAILED = 1
    CRASHED = 2
    TIMED_OUT = 3


class lb_scan_kind(IntEnum):
    MATRIX = 0
    FUNCTION = 1
    CONVERT = 2
    FLOAT = 3
    DOT = 4
    WARP = 5


class lb_failure(IntEnum):
    NONE = 0
    VALUE = 1
    CLASS = 2
    UNWRITTEN = 3
    GUARDS = 4
    INPUTS = 5
    FAILED = 6
    CRASHED = 7
    HUNG = 8


class lb_error(Structure):
    _fields_ = [
        ("status", c_int),
        ("place", c_char * 256),
        ("message", c_char * 512),
    ]


class lb_format(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("alias", c_char_p),
        ("id", c_int),
        ("special", c_int),
        ("bits", c_int),
        ("bytes", c_int),
        ("sign_bits", c_int),
        ("exp_bits", c_int),
        ("man_bits", c_int),
        ("bias", c_int),
        ("pad_bits", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_value(Structure):
    _fields_ = [
        ("cls", c_int),
        ("negative", c_bool),
        ("sticky", c_bool),
        ("exp", c_int32),
        ("hi", c_uint64),
        ("lo", c_uint64),
    ]


class lb_encoding(Structure):
    _fields_ = [
        ("rounding", c_int),
        ("overflow", c_int),
        ("flush", c_int),
        ("random_bits", c_uint),
        ("random", c_uint32),
    ]


class lb_block_format(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("element", c_int),
        ("scale", c_int),
        ("size", c_int),
        ("rule", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_mat(Structure):
    _fields_ = [
        ("format", POINTER(lb_format)),
        ("codes", c_void_p),
        ("rows", c_size_t),
        ("cols", c_size_t),
        ("row_stride", c_ssize_t),
        ("col_stride", c_ssize_t),
    ]


class lb_element(Structure):
    _fields_ = [
        ("present", c_bool),
        ("row", c_size_t),
        ("col", c_size_t),
        ("actual", c_uint64),
        ("reference", c_uint64),
        ("actual_value", c_double),
        ("reference_value", c_double),
        ("ulp", c_double),
        ("abs_error", c_double),
        ("bound", c_double),
        ("row_rms", c_double),
        ("floor", c_double),
        ("exact_code", c_uint64),
        ("has_exact", c_bool),
    ]


class lb_counts(Structure):
    _fields_ = [
        ("total", c_uint64),
        ("compared", c_uint64),
        ("exact", c_uint64),
        ("legal", c_uint64),
        ("wrong", c_uint64),
        ("nan_actual", c_uint64),
        ("nan_reference", c_uint64),
        ("inf_actual", c_uint64),
        ("inf_reference", c_uint64),
        ("class_mismatch", c_uint64),
        ("sign_flips", c_uint64),
        ("over_ulp", c_uint64),
        ("not_written", c_uint64),
        ("guard_damage", c_uint64),
        ("nan_payload", c_uint64),
        ("zero_sign", c_uint64),
        ("flushed", c_uint64),
        ("saturated", c_uint64),
        ("overflowed", c_uint64),
        ("subnormal_inputs", c_uint64),
    ]


class lb_metrics(Structure):
    _fields_ = [
        ("max_ulp", c_double),
        ("max_abs", c_double),
        ("rel_rms", c_double),
        ("rms", c_double),
        ("row_rms_least", c_double),
        ("row_rms_most", c_double),
        ("present", c_bool),
    ]


class lb_power_row(Structure):
    _fields_ = [
        ("fault", c_char * 32),
        ("end", c_int),
        ("allowed", c_bool),
        ("changed", c_uint64),
        ("error", c_double),
        ("limit", c_double),
        ("row", c_size_t),
        ("col", c_size_t),
        ("why", c_char * 192),
    ]


class lb_power_score(Structure):
    _fields_ = [
        ("present", c_bool),
        ("caught", c_size_t),
        ("due", c_size_t),
        ("score", c_double),
        ("rows", POINTER(lb_power_row)),
        ("row_count", c_size_t),
    ]


class lb_record(Structure):
    _fields_ = [
        ("case_string", c_char_p),
        ("op", c_char_p),
        ("on", c_char_p),
        ("unit_name", c_char_p),
        ("unit_source", c_char_p),
        ("unit_note", c_char_p),
        ("unit_open", c_char_p),
        ("unit_evidence", c_int),
        ("contract_name", c_char_p),
        ("contract_source", c_char_p),
        ("contract_note", c_char_p),
        ("contract_k", c_double),
        ("contract_max_ulp", c_double),
        ("contract_rel_rms_gate", c_double),
        ("contract_evidence", c_int),
        ("out_format", POINTER(lb_format)),
        ("verdict", c_int),
        ("reason", c_char_p),
        ("counts", lb_counts),
        ("metrics", lb_metrics),
        ("first", lb_element),
        ("worst", lb_element),
        ("outliers", POINTER(lb_element)),
        ("outlier_count", c_size_t),
        ("cause", c_char_p),
        ("reference", c_char_p),
        ("coverage", c_char_p),
        ("rerun", c_char_p),
        ("seed", c_uint64),
        ("has_seed", c_bool),
        ("environment", c_char_p),
        ("seconds_total", c_double),
        ("seconds_device", c_double),
        ("seconds_model", c_double),
        ("seconds_reference", c_double),
        ("contract_rule", c_char_p),
        ("contract_specials", c_char_p),
        ("power", lb_power_score),
        ("known", c_char_p),
    ]


class lb_unit_edges(Structure):
    _fields_ = [
        ("zero_products", c_int),
        ("c_subnormal", c_int),
        ("overflow", c_int),
        ("tiny_sign", c_int),
        ("late_floor", c_int),
        ("specials", c_int),
        ("tf32", c_int),
        ("zero_group", c_int),
        ("subnormals", c_int),
        ("nan_set", c_bool),
        ("nan", c_uint64),
    ]


class lb_unit(Structure):
    _fields_ = [
        ("name", c_char * 192),
        ("m", c_uint16),
        ("n", c_uint16),
        ("k", c_uint16),
        ("m_free", c_bool),
        ("n_free", c_bool),
        ("a", c_int),
        ("b", c_int),
        ("c", c_int),
        ("d", c_int),
        ("path", c_int),
        ("terms", c_int),
        ("frac_bits", c_int),
        ("floor_exp", c_int),
        ("round", c_int),
        ("evidence", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
        ("open", c_char_p),
        ("scale", c_int),
        ("scale_block", c_int),
        ("group", c_int),
        ("sparse_group", c_int),
        ("edges", lb_unit_edges),
    ]


class lb_parameter(Structure):
    _fields_ = [
        ("key", c_char_p),
        ("alias", c_char_p),
        ("values", c_char_p),
        ("edge", c_char_p),
        ("note", c_char_p),
        ("paths", c_uint),
    ]


class lb_unit_operands(Structure):
    _fields_ = [
        ("scale_a", POINTER(lb_mat)),
        ("scale_b", POINTER(lb_mat)),
        ("metadata", POINTER(lb_mat)),
    ]


class lb_case(Structure):
    _fields_ = [
        ("op", c_char_p),
        ("a", lb_mat),
        ("b", lb_mat),
        ("c", lb_mat),
        ("b_transposed", c_bool),
        ("out", POINTER(lb_format)),
        ("seed", c_uint64),
    ]


class lb_array(Structure):
    _fields_ = [
        ("format", POINTER(lb_format)),
        ("rank", c_uint),
        ("dims", c_size_t * 4),
        ("codes", c_void_p),
    ]


class lb_op_param(Structure):
    _fields_ = [
        ("name", c_char * 16),
        ("whole", c_bool),
        ("value", c_double),
    ]


class lb_op_port(Structure):
    _fields_ = [
        ("name", c_char * 16),
        ("format", c_char * 12),
        ("shape", c_char * 64),
        ("fill", c_char * 16),
    ]


class lb_op(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("formula", c_char_p),
        ("source", c_char_p),
        ("params", lb_op_param * 16),
        ("in", lb_op_port * 6),
        ("out", lb_op_port * 3),
        ("param_count", c_uint),
        ("in_count", c_uint),
        ("out_count", c_uint),
        ("needs", c_char_p),
        ("bound", c_char_p),
        ("edge", c_char_p),
    ]


class lb_op_case(Structure):
    _fields_ = [
        ("op", POINTER(lb_op)),
        ("format", POINTER(lb_format)),
        ("params", c_double * 16),
        ("in", lb_array * 6),
        ("out", lb_array * 3),
        ("dist", c_char * 24),
        ("magnitude", c_double),
        ("seed", c_uint64),
    ]


class lb_function_bound(Structure):
    _fields_ = [
        ("ulp", c_double),
        ("ulp_per_x", c_double),
        ("absolute", c_double),
        ("source", c_char_p),
    ]


class lb_function_row(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("at", lb_function_bound * 3),
    ]


class lb_op_truth(Structure):
    _fields_ = [
        ("functions", c_int),
        ("count", c_size_t * 3),
        ("value", c_void_p * 3),
        ("error", c_void_p * 3),
        ("limit", c_void_p * 3),
    ]


class lb_gemm_options(Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("threads", c_int),
        ("workspace", c_void_p),
    ]


class lb_kernel_text(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("note", c_char_p),
        ("usable", c_bool),
    ]


class lb_schedule(Structure):
    _fields_ = [
        ("order", c_int),
        ("tile_k", c_uint),
        ("split", c_uint),
        ("stream_k", c_uint),
        ("tile_m", c_uint),
        ("tile_n", c_uint),
        ("raster", c_int),
        ("divide", c_int),
        ("ragged", c_int),
        ("promote", c_uint),
        ("reduce", c_int),
        ("arrival", c_uint8 * 16),
        ("arrival_count", c_uint),
        ("partial", c_int),
        ("sum", c_int),
        ("scale_m", c_uint),
        ("scale_n", c_uint),
        ("scaling", c_int),
        ("c_place", c_int),
        ("scaled", c_bool),
        ("alpha", c_double),
        ("beta", c_double),
        ("blend", c_int),
        ("activation", c_int),
        ("out", POINTER(lb_format)),
        ("saturate", c_bool),
        ("bias", POINTER(lb_mat)),
        ("scale_a", POINTER(lb_mat)),
        ("scale_b", POINTER(lb_mat)),
        ("batch", c_size_t),
        ("a_step", c_ssize_t),
        ("b_step", c_ssize_t),
        ("c_step", c_ssize_t),
        ("d_step", c_ssize_t),
        ("bias_step", c_ssize_t),
    ]


class lb_schedule_named(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("evidence", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_fit_options(Structure):
    _fields_ = [
        ("unit", POINTER(lb_unit)),
        ("base", POINTER(lb_schedule)),
        ("max_found", c_size_t),
        ("gemm", POINTER(lb_gemm_options)),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
    ]


class lb_fit_row(Structure):
    _fields_ = [
        ("unit", lb_unit),
        ("alike", c_size_t),
        ("schedule", lb_schedule),
        ("same", c_uint64),
        ("compared", c_uint64),
        ("any_order", c_bool),
        ("values", c_double),
    ]


class lb_fit(Structure):
    _fields_ = [
        ("verdict", c_int),
        ("reason", c_char * 256),
        ("found", POINTER(lb_fit_row)),
        ("found_count", c_size_t),
        ("found_total", c_size_t),
        ("has_best", c_bool),
        ("best", lb_fit_row),
        ("tried", c_uint64),
        ("elements", c_uint64),
    ]


class lb_sum_order(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("lanes", c_uint),
        ("chunk", c_uint),
        ("step", c_uint),
        ("tree", c_bool),
        ("fold", c_uint),
        ("split", c_uint),
        ("wide", c_bool),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_calibration_case(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("m", c_size_t),
        ("n", c_size_t),
        ("k", c_size_t * 4),
        ("prefixes", c_size_t * 4),
        ("seed", c_uint64),
        ("activations_first", c_bool),
        ("fp8_weights", c_bool),
        ("against", c_char_p),
        ("recorded", c_char_p),
        ("source", c_char_p),
    ]


class lb_calibrate_options(Structure):
    _fields_ = [
        ("unit", POINTER(lb_unit)),
        ("schedule", POINTER(lb_schedule)),
        ("order", c_char_p),
        ("against", c_char_p),
        ("case_name", c_char_p),
        ("k", c_void_p),
        ("k_count", c_size_t),
        ("m", c_size_t),
        ("n", c_size_t),
        ("seed", c_uint64),
        ("has_seed", c_bool),
        ("out", POINTER(lb_format)),
        ("margin", c_double),
        ("false_alarm", c_double),
        ("elements", c_double),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
    ]


class lb_calibration_figures(Structure):
    _fields_ = [
        ("first_row", c_size_t),
        ("rows", c_size_t),
        ("cols", c_size_t),
        ("row_rms", c_double),
        ("floor", c_double),
        ("old_floor", c_double),
        ("drift_rms", c_double),
        ("drift_max", c_double),
        ("bias", c_double),
        ("decided", c_uint64),
        ("spread", c_double),
        ("largest", c_double),
        ("tail", c_int),
        ("margin_needed", c_double),
        ("max_ulp", c_double),
        ("sign_flips", c_uint64),
        ("over_ulp", c_uint64),
        ("over_floor", c_uint64),
        ("over_old", c_uint64),
        ("max_abs", c_double),
        ("rel_rms", c_double),
        ("worst_ratio", c_double),
        ("worst_row", c_size_t),
        ("worst_col", c_size_t),
        ("fault_ratio", c_double * 16),
        ("weakest", c_size_t),
    ]


class lb_calibration_depth(Structure):
    _fields_ = [
        ("k", c_size_t),
        ("blocks", POINTER(lb_calibration_figures)),
        ("block_count", c_size_t),
        ("rows", POINTER(lb_calibration_figures)),
        ("seconds", c_double),
    ]


class lb_calibration(Structure):
    _fields_ = [
        ("what", c_char * 700),
        ("against", c_char * 64),
        ("named", POINTER(lb_calibration_case)),
        ("in", POINTER(lb_format)),
        ("out", POINTER(lb_format)),
        ("m", c_size_t),
        ("n", c_size_t),
        ("seed", c_uint64),
        ("margin", c_double),
        ("false_alarm", c_double),
        ("elements", c_double),
        ("truncates", c_bool),
        ("depths", POINTER(lb_calibration_depth)),
        ("depth_count", c_size_t),
    ]


class lb_capture_options(Structure):
    _fields_ = [
        ("device", c_int),
        ("folder", c_char_p),
        ("dots", c_size_t),
        ("seed", c_uint64),
        ("resume", c_bool),
        ("command", c_char_p),
    ]


class lb_capture_result(Structure):
    _fields_ = [
        ("path", c_char * 4096),
        ("outputs", c_uint64),
        ("there", c_bool),
        ("seconds", c_double),
    ]


class lb_level(Structure):
    _fields_ = [
        ("order", c_int),
        ("width", c_double),
    ]


class lb_reduction(Structure):
    _fields_ = [
        ("truncates", c_bool),
        ("step", c_double),
        ("frac_bits", c_double),
        ("levels", lb_level * 8),
        ("level_count", c_size_t),
        ("split_k", c_double),
        ("promote", c_double),
        ("fold_group", c_double),
        ("fold_element", c_bool),
        ("rounds_products", c_bool),
        ("least_normal", c_double),
        ("flushes_inputs", c_bool),
        ("flushes_sums", c_bool),
    ]


class lb_contract(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("max_ulp", c_double),
        ("margin", c_double),
        ("unit_roundoff", c_double),
        ("sign_flip_band", c_double),
        ("flips_graded", c_bool),
        ("classes_first", c_bool),
        ("rel_rms_gate", c_double),
        ("formats", c_char_p),
        ("evidence", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
        ("bound", c_int),
        ("specials", c_int),
        ("atol", c_double),
        ("rtol", c_double),
        ("small", c_double),
        ("dtypes", c_char_p),
        ("parameters", c_char_p),
        ("false_alarm", c_double),
        ("cases", c_double),
        ("reduction", lb_reduction),
    ]


class lb_limit_input(Structure):
    _fields_ = [
        ("format", POINTER(lb_format)),
        ("reference", c_uint64),
        ("k", c_double),
        ("row_rms", c_double),
        ("elements", c_double),
        ("gauge", c_double),
        ("flushed_gauge", c_double),
    ]


class lb_limit_term(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("what", c_char_p),
        ("value", c_double),
        ("part", c_bool),
    ]


class lb_limit(Structure):
    _fields_ = [
        ("tolerance", c_double),
        ("ulp_reach", c_double),
        ("bound", c_double),
        ("terms", lb_limit_term * 24),
        ("term_count", c_size_t),
        ("decided", c_char_p),
    ]


class lb_grade_input(Structure):
    _fields_ = [
        ("actual", lb_mat),
        ("reference", lb_mat),
        ("exact", POINTER(lb_mat)),
        ("nan_by_class", c_bool),
        ("contract", POINTER(lb_contract)),
        ("k", c_double),
        ("reference_error", c_void_p),
        ("row_rms", c_void_p),
        ("row_index", c_void_p),
        ("col_index", c_void_p),
        ("has_sentinel", c_bool),
        ("sentinel", c_uint64),
        ("max_outliers", c_size_t),
        ("gauge", c_void_p),
        ("flushed_gauge", c_void_p),
        ("baseline", POINTER(lb_mat)),
        ("elements", c_double),
    ]


class lb_m16_outlier(Structure):
    _fields_ = [
        ("row", c_size_t),
        ("col", c_size_t),
        ("reference", c_float),
        ("actual", c_float),
        ("ulp", c_int32),
        ("row_rms", c_double),
        ("floor", c_double),
    ]


class lb_m16_diff(Structure):
    _fields_ = [
        ("max_ulp", c_int32),
        ("over_budget", POINTER(lb_m16_outlier)),
        ("over_count", c_size_t),
        ("over_ulp_only", c_size_t),
        ("sign_flips", c_size_t),
        ("max_abs", c_double),
        ("rel_rms", c_double),
        ("rms", c_double),
        ("row_rms", c_void_p),
        ("row_count", c_size_t),
    ]


class lb_diagnose_options(Structure):
    _fields_ = [
        ("x", lb_case),
        ("actual", lb_mat),
        ("reference", lb_mat),
        ("exact", POINTER(lb_mat)),
        ("unit", POINTER(lb_unit)),
        ("contract", POINTER(lb_contract)),
        ("previous", POINTER(lb_mat)),
        ("has_poison", c_bool),
        ("poison", c_uint64),
        ("row_index", c_void_p),
        ("col_index", c_void_p),
        ("seed", c_uint64),
        ("seconds", c_double),
    ]


class lb_diagnosis(Structure):
    _fields_ = [
        ("cause", c_int),
        ("sentence", c_char * 128),
        ("wrong", c_uint64),
        ("looked", c_uint64),
        ("explained", c_uint64),
    ]


class lb_ledger(Structure):
    _fields_ = [
        ("row", c_size_t),
        ("col", c_size_t),
        ("truth", c_double),
        ("actual", c_double),
        ("entry", c_double * 5),
        ("total", c_double),
        ("step", c_double),
        ("has_unit", c_bool),
    ]


class lb_scalar_op(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("ptx", c_char_p),
        ("cls", c_int),
        ("ins", c_int),
        ("outs", c_int),
        ("in", c_int * 10),
        ("out", c_int * 4),
        ("warp", c_bool),
        ("target", c_char_p),
        ("evidence", c_int),
        ("source", c_char_p),
        ("bound", c_char_p),
        ("max_ulp", c_double),
        ("max_rel", c_double),
        ("max_abs", c_double),
        ("open", c_char_p),
        ("index", c_uint),
    ]


class lb_emit_options(Structure):
    _fields_ = [
        ("language", c_int),
        ("tier", c_int),
        ("exchange", c_int),
        ("fragment", c_bool),
        ("integers", c_bool),
        ("finite", c_bool),
    ]


class lb_emit_stats(Structure):
    _fields_ = [
        ("decode", c_uint64),
        ("address", c_uint64),
        ("path", c_uint64),
        ("special", c_uint64),
        ("outputs", c_int),
        ("products", c_int),
        ("hash", c_char * 17),
    ]


class lb_explain_term(Structure):
    _fields_ = [
        ("source", c_int),
        ("k", c_size_t),
        ("from", c_size_t),
        ("a", c_uint64),
        ("b", c_uint64),
        ("scale_a", c_uint64),
        ("scale_b", c_uint64),
        ("flushed", c_bool),
        ("value", lb_value),
        ("exponent", c_int32),
        ("sets_max", c_bool),
        ("kept", lb_value),
        ("cut", lb_value),
    ]


class lb_explain_op(Structure):
    _fields_ = [
        ("what", c_int),
        ("step", c_size_t),
        ("block", c_size_t),
        ("first_k", c_size_t),
        ("last_k", c_size_t),
        ("first_term", c_size_t),
        ("term_count", c_size_t),
        ("scale_a", c_uint64),
        ("scale_b", c_uint64),
        ("aligned", c_bool),
        ("max_exp", c_int32),
        ("unit_exp", c_int32),
        ("c_unit_exp", c_int32),
        ("floor_sets_max", c_bool),
        ("alone", c_bool),
        ("sum", lb_value),
        ("sum_exponent", c_int32),
        ("rounded", c_bool),
        ("round", c_int),
        ("format", c_int),
        ("result", c_uint64),
        ("lost", lb_value),
        ("overflow", c_bool),
        ("result_flushed", c_bool),
    ]


class lb_explanation(Structure):
    _fields_ = [
        ("unit", lb_unit),
        ("row", c_size_t),
        ("col", c_size_t),
        ("k", c_size_t),
        ("steps", c_size_t),
        ("blocks", c_size_t),
        ("c", c_uint64),
        ("d", c_uint64),
        ("exact_value", lb_value),
        ("exact", c_uint64),
        ("ulp", c_uint64),
        ("ops", POINTER(lb_explain_op)),
        ("op_count", c_size_t),
        ("terms", POINTER(lb_explain_term)),
        ("term_count", c_size_t),
    ]


class lb_digit(Structure):
    _fields_ = [
        ("size", c_int),
        ("axis", c_int),
        ("step", c_int),
    ]


class lb_fragment_row(Structure):
    _fields_ = [
        ("instr", c_char_p),
        ("only", c_char_p),
        ("operand", c_int),
        ("m", c_int),
        ("n", c_int),
        ("k", c_int),
        ("in_bits", c_int),
        ("own_bits", c_int),
        ("lane", lb_digit * 4),
        ("item", lb_digit * 4),
        ("evidence", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_fragment_selectors(Structure):
    _fields_ = [
        ("sparsity", c_int),
        ("byte_id_a", c_int),
        ("thread_id_a", c_int),
        ("byte_id_b", c_int),
        ("thread_id_b", c_int),
    ]


class lb_fragment(Structure):
    _fields_ = [
        ("operand", c_int),
        ("format", POINTER(lb_format)),
        ("matrices", c_int),
        ("rows", c_int),
        ("cols", c_int),
        ("lanes", c_int),
        ("items", c_int),
        ("registers", c_int),
        ("bits", c_int),
        ("shift", c_int),
        ("lane", lb_digit * 4),
        ("item", lb_digit * 4),
        ("evidence", c_int),
        ("source", c_char_p),
        ("note", c_char_p),
    ]


class lb_slot(Structure):
    _fields_ = [
        ("lane", c_int),
        ("reg", c_int),
        ("element", c_int),
    ]


class lb_place(Structure):
    _fields_ = [
        ("matrix", c_int),
        ("row", c_int),
        ("col", c_int),
    ]


class lb_warp_options(Structure):
    _fields_ = [
        ("metadata", c_void_p),
        ("scale_a", c_void_p),
        ("scale_b", c_void_p),
        ("selectors", lb_fragment_selectors),
        ("a", POINTER(lb_mat)),
        ("b", POINTER(lb_mat)),
    ]


class lb_dtype(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("safetensors", c_char_p),
        ("npy", c_char_p),
        ("bytes", c_int),
        ("format", c_int),
        ("block", c_int),
    ]


class lb_tensor(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", POINTER(lb_dtype)),
        ("rank", c_int),
        ("shape", c_size_t * 8),
        ("data", c_void_p),
        ("bytes", c_size_t),
    ]


class lb_file_options(Structure):
    _fields_ = [
        ("raw_dtype", c_char_p),
        ("raw_rank", c_int),
        ("raw_shape", c_size_t * 8),
        ("max_bytes", c_size_t),
    ]


class lb_operand(Structure):
    _fields_ = [
        ("mat", lb_mat),
        ("file", c_void_p),
        ("owned", c_void_p),
    ]


class lb_net_options(Structure):
    _fields_ = [
        ("heads", c_size_t),
        ("drop_unknown", c_bool),
    ]


class lb_net_about(Structure):
    _fields_ = [
        ("kind", c_char_p),
        ("takes_tokens", c_bool),
        ("grows", c_bool),
        ("layers", c_size_t),
        ("width", c_size_t),
        ("heads", c_size_t),
        ("kv_heads", c_size_t),
        ("context", c_size_t),
        ("in_cols", c_size_t),
        ("out_cols", c_size_t),
        ("nodes", c_size_t),
        ("weights", c_uint64),
    ]


class lb_net_input(Structure):
    _fields_ = [
        ("tokens", c_void_p),
        ("values", c_void_p),
        ("rows", c_size_t),
    ]


class lb_net_step(Structure):
    _fields_ = [
        ("node", c_char_p),
        ("op", POINTER(lb_op)),
        ("max_abs", c_double),
        ("max_ulp", c_double),
        ("ratio", c_double),
        ("budget", c_double),
        ("row", c_size_t),
        ("col", c_size_t),
        ("compared", c_bool),
    ]


class lb_net_flip(Structure):
    _fields_ = [
        ("row", c_size_t),
        ("token_a", c_int32),
        ("token_b", c_int32),
        ("gap", c_double),
        ("error", c_double),
    ]


class lb_net_report(Structure):
    _fields_ = [
        ("rows", c_size_t),
        ("cols", c_size_t),
        ("a", c_void_p),
        ("b", c_void_p),
        ("max_abs", c_double),
        ("max_ulp", c_double),
        ("rms", c_double),
        ("row", c_size_t),
        ("col", c_size_t),
        ("kl_mean", c_double),
        ("kl_most", c_double),
        ("top1_same", c_size_t),
        ("top5_same", c_size_t),
        ("loss_a", c_double),
        ("loss_b", c_double),
        ("class_mismatch", c_uint64),
        ("steps", POINTER(lb_net_step)),
        ("step_count", c_size_t),
        ("first_over", c_size_t),
        ("flips", POINTER(lb_net_flip)),
        ("flip_count", c_size_t),
        ("seconds_a", c_double),
        ("seconds_b", c_double),
    ]


class lb_net_parting(Structure):
    _fields_ = [
        ("same", c_bool),
        ("compared", c_uint64),
        ("node", c_char_p),
        ("row", c_size_t),
        ("col", c_size_t),
        ("whole", c_double),
        ("chunked", c_double),
    ]


class lb_sampler(Structure):
    _fields_ = [
        ("temperature", c_double),
        ("top_k", c_size_t),
        ("top_p", c_double),
        ("seed", c_uint64),
    ]


class lb_operations_options(Structure):
    _fields_ = [
        ("recording", c_char_p),
        ("part", c_char_p),
        ("actual", c_char_p),
        ("command", c_void_p),
        ("on", c_char_p),
        ("known", c_char_p),
        ("approx", c_char_p),
        ("timeout_seconds", c_double),
        ("seed", c_uint64),
        ("progress", c_void_p),
        ("user", c_void_p),
    ]


class lb_operations_row(Structure):
    _fields_ = [
        ("row", c_size_t),
        ("output", c_int),
        ("in", c_uint64 * 10),
        ("got", c_uint64),
        ("want", c_uint64),
    ]


class lb_operations_result(Structure):
    _fields_ = [
        ("op", POINTER(lb_scalar_op)),
        ("name", c_char * 80),
        ("verdict", c_int),
        ("known", c_bool),
        ("recorded", c_bool),
        ("reason", c_char * 256),
        ("total", c_uint64),
        ("compared", c_uint64),
        ("exact", c_uint64),
        ("allowed", c_uint64),
        ("differ", c_uint64),
        ("rows", lb_operations_row * 3),
        ("row_count", c_size_t),
    ]


class lb_run_report(Structure):
    _fields_ = [
        ("end", c_int),
        ("why", c_char * 512),
        ("not_written", c_uint64),
        ("guard_damage", c_uint64),
        ("inputs_changed", c_bool),
        ("seconds", c_double),
        ("detail", c_char * 256),
    ]


class lb_check_options(Structure):
    _fields_ = [
        ("x", lb_case),
        ("actual", POINTER(lb_mat)),
        ("actual_name", c_char_p),
        ("on", c_char_p),
        ("argv", c_void_p),
        ("unit", POINTER(lb_unit)),
        ("contract", POINTER(lb_contract)),
        ("nan_by_class", c_bool),
        ("reference", c_int),
        ("sample", c_size_t),
        ("seed", c_uint64),
        ("timeout_seconds", c_double),
        ("max_outliers", c_size_t),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("power", c_bool),
        ("allow_blind", c_void_p),
        ("allow_blind_count", c_size_t),
        ("quick", c_bool),
        ("output", c_void_p),
    ]


class lb_block_options(Structure):
    _fields_ = [
        ("reference", lb_mat),
        ("actual", c_void_p),
        ("actual_bytes", c_size_t),
        ("ld", c_size_t),
        ("guard_bytes", c_size_t),
        ("has_sentinel", c_bool),
        ("sentinel", c_uint64),
        ("contract", POINTER(lb_contract)),
        ("k", c_double),
        ("max_outliers", c_size_t),
        ("power", c_bool),
        ("allow_blind", c_void_p),
        ("allow_blind_count", c_size_t),
    ]


class lb_grade_files_options(Structure):
    _fields_ = [
        ("actual", c_char_p),
        ("reference", c_char_p),
        ("format", POINTER(lb_format)),
        ("files", lb_file_options),
        ("contract", POINTER(lb_contract)),
        ("k", c_double),
        ("has_sentinel", c_bool),
        ("sentinel", c_uint64),
        ("max_outliers", c_size_t),
        ("band_bytes", c_size_t),
    ]


class lb_parity_options(Structure):
    _fields_ = [
        ("on", c_void_p),
        ("on_count", c_size_t),
        ("ops", c_void_p),
        ("op_count", c_size_t),
        ("pattern", c_char_p),
        ("cases", c_void_p),
        ("case_count", c_size_t),
        ("quick", c_bool),
        ("seed", c_uint64),
        ("jobs", c_uint),
        ("repeats", c_uint),
        ("timeout_seconds", c_double),
        ("known", c_char_p),
        ("plan_only", c_bool),
        ("no_shipped_known", c_bool),
        ("no_power", c_bool),
        ("functions", c_char_p),
    ]


class lb_parity_row(Structure):
    _fields_ = [
        ("op", c_char_p),
        ("on", c_char_p),
        ("cases", c_size_t),
        ("pass", c_size_t),
        ("fail", c_size_t),
        ("known", c_size_t),
        ("unproven", c_size_t),
        ("skip", c_size_t),
        ("worst_ratio", c_double),
        ("worst", c_char * 1024),
        ("power_caught", c_size_t),
        ("power_due", c_size_t),
        ("restarts", c_uint),
    ]


class lb_invariance(Structure):
    _fields_ = [
        ("op", c_char_p),
        ("axis", c_char_p),
        ("what", c_char_p),
        ("on", c_char_p),
        ("verdict", c_int),
        ("reason", c_char * 256),
        ("ulp", c_double),
        ("differ", c_size_t),
        ("compared", c_size_t),
        ("text", c_char * 1024),
    ]


class lb_sweep_row(Structure):
    _fields_ = [
        ("op", c_char_p),
        ("on", c_char_p),
        ("last_good", c_double),
        ("first_bad", c_double),
        ("largest", c_double),
        ("reason", c_char * 256),
        ("text", c_char * 1024),
    ]


class lb_deviation(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("on", c_char_p),
        ("device", c_char * 512),
        ("tolerance", c_double),
        ("stated", c_double),
        ("limit", c_double),
        ("made_of", c_char_p),
        ("max_abs", c_double),
        ("ulp", c_double),
        ("row", c_size_t),
        ("col", c_size_t),
        ("margin", c_double),
        ("cause", c_char * 160),
        ("verdict", c_int),
    ]


class lb_not_covered(Structure):
    _fields_ = [
        ("what", c_char_p),
        ("which", c_char_p),
        ("why", c_char_p),
    ]


class lb_fault(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("what", c_char_p),
        ("of_operands", c_bool),
    ]


class lb_power_input(Structure):
    _fields_ = [
        ("grade", POINTER(lb_grade_input)),
        ("x", POINTER(lb_case)),
        ("unit", POINTER(lb_unit)),
        ("faults", c_void_p),
        ("fault_count", c_size_t),
        ("allow_blind", c_void_p),
        ("allow_blind_count", c_size_t),
    ]


class lb_candidate(Structure):
    _fields_ = [
        ("terms", c_int),
        ("frac_bits", c_int),
        ("align", c_int),
        ("c_joins", c_int),
        ("product", c_int),
        ("round", c_int),
        ("out_bits", c_int),
        ("order", c_int),
        ("floor_exp", c_int),
        ("zero_products", c_int),
        ("c_subnormal", c_int),
        ("overflow", c_int),
        ("tiny_sign", c_int),
        ("nan", c_int),
    ]


class lb_fit_share(Structure):
    _fields_ = [
        ("candidate", lb_candidate),
        ("words", c_uint64),
    ]


class lb_fit_parameter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("values", c_void_p),
        ("count", c_size_t),
        ("all", c_bool),
        ("has_next", c_bool),
        ("next", c_int),
        ("next_words", c_uint64),
    ]


class lb_fit_named(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("words", c_uint64),
    ]


class lb_recording_fit(Structure):
    _fields_ = [
        ("path", c_char_p),
        ("unit", c_char_p),
        ("words", c_uint64),
        ("tried", c_uint64),
        ("explain", POINTER(lb_fit_share)),
        ("explain_count", c_size_t),
        ("best_other", lb_fit_share),
        ("parameters", lb_fit_parameter * 14),
        ("rows", POINTER(lb_fit_named)),
        ("row_count", c_size_t),
        ("rules", POINTER(lb_fit_named)),
        ("rule_count", c_size_t),
    ]


class lb_question(Structure):
    _fields_ = [
        ("other", lb_candidate),
        ("parameter", c_size_t),
        ("found", c_bool),
        ("a", c_void_p),
        ("b", c_void_p),
        ("c", c_uint32),
        ("terms", c_size_t),
        ("row_code", c_uint32),
        ("other_code", c_uint32),
    ]


class lb_decision(Structure):
    _fields_ = [
        ("unit", lb_unit),
        ("row", lb_candidate),
        ("questions", POINTER(lb_question)),
        ("count", c_size_t),
    ]


class lb_explain_steps(Structure):
    _fields_ = [
        ("first", c_size_t),
        ("last", c_size_t),
    ]


class lb_scan_line(Structure):
    _fields_ = [
        ("name", c_char * 192),
        ("opcode", c_uint),
        ("kind", c_int),
        ("count", c_size_t),
        ("rows", c_char_p),
        ("note", c_char_p),
        ("evidence", c_int),
        ("source", c_char_p),
    ]


class lb_scan_kernel(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("arch", c_char * 16),
        ("ptx", c_bool),
        ("instructions", c_size_t),
        ("lines", POINTER(lb_scan_line)),
        ("line_count", c_size_t),
    ]


class lb_sass_op(Structure):
    _fields_ = [
        ("opcode", c_uint),
        ("forms", c_uint),
        ("name", c_char_p),
        ("kind", c_int),
        ("archs", c_char_p),
        ("what", c_char_p),
        ("evidence", c_int),
        ("source", c_char_p),
    ]


class lb_shrink_options(Structure):
    _fields_ = [
        ("check", POINTER(lb_check_options)),
        ("seconds", c_double),
        ("runs", c_uint64),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
    ]


class lb_shrunk(Structure):
    _fields_ = [
        ("check", lb_check_options),
        ("record", POINTER(lb_record)),
        ("failure", c_int),
        ("from_m", c_size_t),
        ("from_n", c_size_t),
        ("from_k", c_size_t),
        ("runs", c_uint64),
        ("seconds", c_double),
        ("out_of_budget", c_bool),
        ("kept", c_char * 160),
        ("observed", lb_mat),
        ("memory", c_void_p * 8),
    ]


class lb_capsule_notes(Structure):
    _fields_ = [
        ("contract", c_char_p),
        ("command", c_char_p),
        ("shrunk", c_char_p),
    ]


# name: (result, arguments)
FUNCTIONS = {
    "lb_status_text": (c_char_p, [c_int]),
    "lb_version": (c_char_p, []),
    "lb_nearest_name": (c_char_p, [c_char_p, POINTER(c_void_p), c_size_t]),
    "lb_random_u64": (c_uint64, [c_uint64, c_uint32, c_uint64]),
    "lb_philox4x32": (None, [c_void_p, c_void_p, c_void_p]),
    "lb_format_row": (POINTER(lb_format), [c_int]),
    "lb_format_find": (POINTER(lb_format), [c_char_p]),
    "lb_format_get": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_decode": (lb_value, [POINTER(lb_format), c_uint64]),
    "lb_code_class": (c_int, [POINTER(lb_format), c_uint64]),
    "lb_value_of": (lb_value, [c_double]),
    "lb_value_add": (lb_value, [lb_value, lb_value]),
    "lb_value_mul": (lb_value, [lb_value, lb_value]),
    "lb_to_double": (c_double, [POINTER(lb_format), c_uint64]),
    "lb_encode": (c_uint64, [POINTER(lb_format), lb_value, POINTER(lb_encoding), c_void_p]),
    "lb_from_double": (c_uint64, [POINTER(lb_format), c_double]),
    "lb_flush_code": (c_uint64, [POINTER(lb_format), c_uint64, c_int]),
    "lb_max_code": (c_uint64, [POINTER(lb_format)]),
    "lb_min_code": (c_uint64, [POINTER(lb_format)]),
    "lb_inf_code": (c_bool, [POINTER(lb_format), c_void_p]),
    "lb_nan_code": (c_bool, [POINTER(lb_format), c_void_p]),
    "lb_ordinal": (c_int64, [POINTER(lb_format), c_uint64]),
    "lb_ulp_distance": (c_uint64, [POINTER(lb_format), c_uint64, c_uint64]),
    "lb_block_format_row": (POINTER(lb_block_format), [c_size_t]),
    "lb_block_format_find": (POINTER(lb_block_format), [c_char_p]),
    "lb_block_encode": (c_int, [POINTER(lb_block_format), c_int, c_void_p, c_size_t, POINTER(lb_encoding), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_block_decode": (c_double, [POINTER(lb_block_format), c_uint8, c_uint8]),
    "lb_block_encode_rows": (c_int, [POINTER(lb_block_format), c_int, c_void_p, c_size_t, c_size_t, POINTER(lb_encoding), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_block_decode_rows": (None, [POINTER(lb_block_format), c_void_p, c_void_p, c_size_t, c_size_t, c_void_p]),
    "lb_mat_of": (lb_mat, [POINTER(lb_format), c_void_p, c_size_t, c_size_t]),
    "lb_mat_transposed": (lb_mat, [lb_mat]),
    "lb_mat_round": (None, [POINTER(lb_mat), POINTER(lb_mat)]),
    "lb_mat_encode": (c_int, [POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_encoding), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_mat_convert": (c_int, [POINTER(lb_mat), POINTER(lb_mat), c_char_p, POINTER(lb_error)]),
    "lb_mat_check": (c_int, [POINTER(lb_mat), c_char_p, POINTER(lb_error)]),
    "lb_verdict_name": (c_char_p, [c_int]),
    "lb_evidence_name": (c_char_p, [c_int]),
    "lb_power_end_name": (c_char_p, [c_int]),
    "lb_record_open": (c_int, [POINTER(c_void_p), POINTER(lb_error)]),
    "lb_record_close": (None, [POINTER(lb_record)]),
    "lb_record_add_outlier": (c_int, [POINTER(lb_record), POINTER(lb_element), POINTER(lb_error)]),
    "lb_record_add_power": (c_int, [POINTER(lb_record), POINTER(lb_power_row), POINTER(lb_error)]),
    "lb_record_to_json": (c_int, [POINTER(lb_record), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_record_from_json": (c_int, [POINTER(c_void_p), c_char_p, c_size_t, c_char_p, POINTER(lb_error)]),
    "lb_records_exit": (c_int, [c_void_p, c_size_t]),
    "lb_unit_path_name": (c_char_p, [c_int]),
    "lb_unit_round_name": (c_char_p, [c_int]),
    "lb_unit_set": (c_int, [POINTER(lb_unit), c_char_p, POINTER(lb_error)]),
    "lb_unit_parameter": (c_bool, [c_size_t, POINTER(lb_parameter)]),
    "lb_unit_is_plain": (c_bool, [POINTER(lb_unit)]),
    "lb_unit_row": (POINTER(lb_unit), [c_size_t]),
    "lb_unit_find": (c_int, [c_char_p, POINTER(lb_unit), POINTER(lb_error)]),
    "lb_unit_dot": (c_int, [POINTER(lb_unit), c_void_p, c_void_p, c_size_t, c_uint32, c_void_p, POINTER(lb_error)]),
    "lb_unit_gemm": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_error)]),
    "lb_unit_dot_check": (c_int, [POINTER(lb_unit), POINTER(lb_error)]),
    "lb_unit_gemm_with": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_unit_operands), POINTER(lb_mat), POINTER(lb_error)]),
    "lb_unit_mma_with": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_unit_operands), POINTER(lb_mat), POINTER(lb_error)]),
    "lb_unit_expand": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_error)]),
    "lb_unit_mma": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_error)]),
    "lb_case_m": (c_size_t, [POINTER(lb_case)]),
    "lb_case_n": (c_size_t, [POINTER(lb_case)]),
    "lb_case_k": (c_size_t, [POINTER(lb_case)]),
    "lb_case_b": (lb_mat, [POINTER(lb_case)]),
    "lb_case_check": (c_int, [POINTER(lb_case), POINTER(lb_error)]),
    "lb_reference_matmul": (c_int, [POINTER(lb_case), c_int, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(lb_mat), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_draw": (c_uint64, [POINTER(lb_format), c_int, c_uint64, c_uint32, c_uint64]),
    "lb_draw_mat": (None, [POINTER(lb_mat), c_int, c_uint64, c_uint32]),
    "lb_array_count": (c_size_t, [POINTER(lb_array)]),
    "lb_op_row": (POINTER(lb_op), [c_size_t]),
    "lb_op_find": (POINTER(lb_op), [c_char_p]),
    "lb_op_dist_name": (c_char_p, [c_size_t]),
    "lb_op_dist_summary": (c_char_p, [c_size_t]),
    "lb_op_fill_name": (c_char_p, [c_size_t]),
    "lb_op_fill_summary": (c_char_p, [c_size_t]),
    "lb_op_case_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_error)]),
    "lb_op_case_of": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_array), c_size_t, POINTER(lb_error)]),
    "lb_op_case_text": (c_size_t, [POINTER(lb_op_case), c_void_p, c_size_t]),
    "lb_op_case_param": (c_double, [POINTER(lb_op_case), c_char_p]),
    "lb_op_input": (c_int, [POINTER(lb_op), c_char_p]),
    "lb_op_output": (c_int, [POINTER(lb_op), c_char_p]),
    "lb_op_case_close": (None, [POINTER(lb_op_case)]),
    "lb_function_class_name": (c_char_p, [c_int]),
    "lb_function_row_at": (POINTER(lb_function_row), [c_size_t]),
    "lb_op_truth_open": (c_int, [POINTER(c_void_p), POINTER(lb_op_case), c_int, POINTER(lb_error)]),
    "lb_op_truth_close": (None, [POINTER(lb_op_truth)]),
    "lb_op_truth_settle": (c_int, [POINTER(lb_op_truth), POINTER(lb_op_case), POINTER(lb_error)]),
    "lb_op_judge": (c_int, [POINTER(lb_op_truth), POINTER(lb_op_case), c_uint, c_size_t, c_void_p]),
    "lb_replay_name": (c_char_p, [c_int]),
    "lb_replay_summary": (c_char_p, [c_int]),
    "lb_op_replay": (c_int, [POINTER(lb_op_case), c_int, POINTER(lb_error)]),
    "lb_backend_name": (c_char_p, [c_size_t]),
    "lb_backend_summary": (c_char_p, [c_size_t]),
    "lb_device_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_error)]),
    "lb_device_open_command": (c_int, [POINTER(c_void_p), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_device_can": (c_bool, [c_void_p, POINTER(lb_case), POINTER(c_void_p)]),
    "lb_device_run": (c_int, [c_void_p, POINTER(lb_case), c_void_p, c_double, POINTER(lb_error)]),
    "lb_device_can_op": (c_bool, [c_void_p, POINTER(lb_op_case), POINTER(c_void_p)]),
    "lb_device_run_op": (c_int, [c_void_p, POINTER(lb_op_case), c_double, POINTER(lb_error)]),
    "lb_device_name": (c_char_p, [c_void_p]),
    "lb_device_detail": (c_char_p, [c_void_p]),
    "lb_device_close": (None, [c_void_p]),
    "lb_workspace_open": (c_int, [POINTER(c_void_p), POINTER(lb_error)]),
    "lb_workspace_close": (None, [c_void_p]),
    "lb_gemm": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_gemm_options), POINTER(lb_error)]),
    "lb_gemm_with": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_unit_operands), POINTER(lb_mat), POINTER(lb_gemm_options), POINTER(lb_error)]),
    "lb_dot_batch": (c_int, [POINTER(lb_unit), c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(lb_error)]),
    "lb_kernel_row": (c_bool, [c_size_t, POINTER(lb_kernel_text)]),
    "lb_schedule_can": (c_bool, [POINTER(lb_unit)]),
    "lb_gemm_scheduled": (c_int, [POINTER(lb_unit), POINTER(lb_schedule), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_gemm_options), POINTER(lb_error)]),
    "lb_schedule_parse": (c_int, [c_char_p, POINTER(lb_schedule), POINTER(lb_error)]),
    "lb_schedule_text": (None, [POINTER(lb_schedule), c_void_p, c_size_t]),
    "lb_schedule_equal": (c_bool, [POINTER(lb_schedule), POINTER(lb_schedule)]),
    "lb_schedule_row": (POINTER(lb_schedule_named), [c_size_t]),
    "lb_fit_schedule": (c_int, [POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_fit_options), POINTER(lb_fit), POINTER(lb_error)]),
    "lb_fit_close": (None, [POINTER(lb_fit)]),
    "lb_units_alike": (c_bool, [POINTER(lb_unit), POINTER(lb_unit)]),
    "lb_sum_order_row": (POINTER(lb_sum_order), [c_size_t]),
    "lb_sum_order_find": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_order_sum": (c_int, [POINTER(lb_sum_order), c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(lb_error)]),
    "lb_calibration_case_row": (POINTER(lb_calibration_case), [c_size_t]),
    "lb_calibration_fault_name": (c_char_p, [c_size_t]),
    "lb_calibration_fault_what": (c_char_p, [c_size_t]),
    "lb_calibration_tail_name": (c_char_p, [c_int]),
    "lb_calibrate": (c_int, [POINTER(lb_calibrate_options), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_calibration_close": (None, [POINTER(lb_calibration)]),
    "lb_calibration_to_json": (c_int, [POINTER(lb_calibration), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_capture_open": (c_int, [POINTER(c_void_p), POINTER(lb_capture_options), POINTER(lb_error)]),
    "lb_capture_close": (None, [c_void_p]),
    "lb_capture_device": (c_char_p, [c_void_p]),
    "lb_capture_can": (c_int, [c_void_p, POINTER(lb_unit), POINTER(lb_error)]),
    "lb_capture_kind_name": (c_char_p, [c_int]),
    "lb_capture_kind_text": (c_char_p, [c_int]),
    "lb_capture_unit": (c_int, [c_void_p, POINTER(lb_unit), c_int, POINTER(lb_capture_result), POINTER(lb_error)]),
    "lb_capture_request": (c_int, [c_void_p, c_char_p, POINTER(lb_capture_result), POINTER(lb_error)]),
    "lb_capture_ptx": (c_int, [POINTER(lb_unit), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_bound_name": (c_char_p, [c_int]),
    "lb_specials_name": (c_char_p, [c_int]),
    "lb_contract_row": (POINTER(lb_contract), [c_size_t]),
    "lb_contract_find": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_contract_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_contract_close": (None, [POINTER(lb_contract)]),
    "lb_contract_from_json": (c_int, [c_char_p, c_size_t, c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_contract_needs_gauge": (c_bool, [POINTER(lb_contract)]),
    "lb_contract_needs_baseline": (c_bool, [POINTER(lb_contract)]),
    "lb_contract_rule": (c_int, [POINTER(lb_contract), POINTER(lb_format), c_double, c_double, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_contract_floor": (c_double, [POINTER(lb_contract), c_double, c_double]),
    "lb_reduction_gamma": (c_double, [POINTER(lb_contract), c_double]),
    "lb_contract_false_alarm": (c_double, [POINTER(lb_contract), c_double, c_void_p]),
    "lb_contract_limit": (c_int, [POINTER(lb_contract), POINTER(lb_limit_input), POINTER(lb_limit), POINTER(lb_error)]),
    "lb_grade": (c_int, [POINTER(lb_grade_input), POINTER(lb_record), POINTER(lb_error)]),
    "lb_grade_by": (c_int, [c_char_p, POINTER(lb_grade_input), POINTER(lb_record), POINTER(lb_error)]),
    "lb_grading_open": (c_int, [POINTER(c_void_p), POINTER(lb_grade_input), POINTER(lb_error)]),
    "lb_grading_scan": (c_double, [c_void_p, POINTER(lb_mat), c_bool]),
    "lb_grading_rms": (None, [c_void_p, POINTER(lb_mat), c_void_p]),
    "lb_grading_add": (c_int, [c_void_p, POINTER(lb_grade_input), c_size_t, c_size_t, POINTER(lb_error)]),
    "lb_grading_close": (None, [c_void_p, POINTER(lb_record)]),
    "lb_bf16_ord": (c_int32, [c_uint16]),
    "lb_m16_floor": (c_double, [c_size_t, c_double]),
    "lb_m16_within": (c_bool, [c_uint16, c_uint16, c_size_t, c_double]),
    "lb_m16_compare_block": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t, c_size_t, c_size_t, POINTER(lb_m16_diff), POINTER(lb_error)]),
    "lb_m16_diff_free": (None, [POINTER(lb_m16_diff)]),
    "lb_cause_name": (c_char_p, [c_int]),
    "lb_cause_what": (c_char_p, [c_int]),
    "lb_diagnose": (c_int, [POINTER(lb_diagnose_options), POINTER(lb_diagnosis), POINTER(lb_error)]),
    "lb_ledger_name": (c_char_p, [c_size_t]),
    "lb_ledger_what": (c_char_p, [c_size_t]),
    "lb_error_ledger": (c_int, [POINTER(lb_case), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_unit), c_size_t, c_size_t, c_uint64, POINTER(lb_ledger), POINTER(lb_error)]),
    "lb_word_name": (c_char_p, [c_int]),
    "lb_word_bits": (c_int, [c_int]),
    "lb_word_parts": (c_int, [c_int]),
    "lb_word_format": (POINTER(lb_format), [c_int]),
    "lb_scalar_class_name": (c_char_p, [c_int]),
    "lb_scalar_class_text": (c_char_p, [c_int]),
    "lb_scalar_row": (POINTER(lb_scalar_op), [c_size_t]),
    "lb_scalar_find": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_scalar_eval": (c_int, [POINTER(lb_scalar_op), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_scalar_eval_warp": (c_int, [POINTER(lb_scalar_op), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_scalar_eval_rows": (c_int, [POINTER(lb_scalar_op), c_size_t, c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_scalar_grade_name": (c_char_p, [c_int]),
    "lb_scalar_grade": (c_int, [POINTER(lb_scalar_op), c_void_p, c_int, c_uint64, c_uint64]),
    "lb_scalar_text": (None, [c_int, c_uint64, c_void_p, c_size_t]),
    "lb_scalar_input": (c_uint64, [c_int, c_int, c_uint64, c_uint64]),
    "lb_emit_language_name": (c_char_p, [c_int]),
    "lb_emit_language_find": (c_int, [c_char_p, c_void_p, POINTER(lb_error)]),
    "lb_emit_can": (c_int, [POINTER(lb_unit), POINTER(lb_error)]),
    "lb_emit_unit": (c_int, [POINTER(lb_unit), POINTER(lb_emit_options), POINTER(c_void_p), POINTER(lb_emit_stats), POINTER(lb_error)]),
    "lb_emit_can_op": (c_int, [POINTER(lb_scalar_op), POINTER(lb_error)]),
    "lb_emit_op": (c_int, [POINTER(lb_scalar_op), POINTER(lb_emit_options), POINTER(c_void_p), POINTER(lb_emit_stats), POINTER(lb_error)]),
    "lb_explain_what_name": (c_char_p, [c_int]),
    "lb_explain_what_text": (c_char_p, [c_int]),
    "lb_explain": (c_int, [POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_mat), POINTER(lb_unit_operands), c_size_t, c_size_t, POINTER(lb_explanation), POINTER(lb_error)]),
    "lb_explain_free": (None, [POINTER(lb_explanation)]),
    "lb_fragment_operand_name": (c_char_p, [c_int]),
    "lb_fragment_row_at": (POINTER(lb_fragment_row), [c_size_t]),
    "lb_fragment_of": (c_int, [POINTER(lb_unit), c_int, POINTER(lb_fragment_selectors), POINTER(lb_fragment), POINTER(lb_error)]),
    "lb_fragment_place": (c_bool, [POINTER(lb_fragment), lb_slot, POINTER(lb_place)]),
    "lb_fragment_slot": (c_bool, [POINTER(lb_fragment), lb_place, POINTER(lb_slot)]),
    "lb_fragment_gather": (c_int, [POINTER(lb_fragment), c_void_p, c_int, POINTER(lb_mat), POINTER(lb_error)]),
    "lb_fragment_scatter": (c_int, [POINTER(lb_fragment), c_int, POINTER(lb_mat), c_void_p, POINTER(lb_error)]),
    "lb_warp_mma": (c_int, [POINTER(lb_unit), c_void_p, c_void_p, c_void_p, c_void_p, POINTER(lb_warp_options), POINTER(lb_error)]),
    "lb_dtype_find": (POINTER(lb_dtype), [c_char_p]),
    "lb_dtype_of_codes": (POINTER(lb_dtype), [POINTER(lb_format)]),
    "lb_dtype_for": (POINTER(lb_dtype), [POINTER(lb_format), c_bool]),
    "lb_tensor_count": (c_size_t, [POINTER(lb_tensor)]),
    "lb_tensor_values": (c_int, [POINTER(lb_tensor), c_size_t, c_size_t, c_void_p, POINTER(lb_error)]),
    "lb_file_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_file_options), POINTER(lb_error)]),
    "lb_file_parse": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_char_p, POINTER(lb_file_options), POINTER(lb_error)]),
    "lb_file_close": (None, [c_void_p]),
    "lb_file_count": (c_size_t, [c_void_p]),
    "lb_file_tensor": (POINTER(lb_tensor), [c_void_p, c_size_t]),
    "lb_file_find": (POINTER(lb_tensor), [c_void_p, c_char_p]),
    "lb_file_metadata": (c_char_p, [c_void_p, c_char_p]),
    "lb_file_metadata_key": (c_char_p, [c_void_p, c_size_t]),
    "lb_file_path": (c_char_p, [c_void_p]),
    "lb_safetensors_write": (c_int, [c_char_p, POINTER(lb_tensor), c_size_t, POINTER(c_void_p), c_size_t, POINTER(lb_error)]),
    "lb_npy_write": (c_int, [c_char_p, POINTER(lb_tensor), POINTER(lb_error)]),
    "lb_safetensors_begin": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_tensor), c_size_t, POINTER(c_void_p), c_size_t, POINTER(lb_error)]),
    "lb_safetensors_put": (c_int, [c_void_p, c_size_t, c_size_t, c_void_p, c_size_t, POINTER(lb_error)]),
    "lb_safetensors_end": (c_int, [c_void_p, c_bool, POINTER(lb_error)]),
    "lb_operand_open": (c_int, [POINTER(lb_operand), c_char_p, POINTER(lb_format), POINTER(lb_file_options), POINTER(lb_error)]),
    "lb_operand_close": (None, [POINTER(lb_operand)]),
    "lb_reader_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_format), POINTER(lb_file_options), POINTER(lb_error)]),
    "lb_reader_shape": (lb_mat, [c_void_p]),
    "lb_reader_read": (c_int, [c_void_p, c_size_t, c_size_t, c_void_p, POINTER(lb_error)]),
    "lb_reader_unchanged": (c_int, [c_void_p, POINTER(lb_error)]),
    "lb_reader_close": (None, [c_void_p]),
    "lb_mat_write": (c_int, [c_char_p, c_char_p, POINTER(lb_mat), POINTER(lb_error)]),
    "lb_net_kind": (c_char_p, [c_size_t]),
    "lb_net_kind_summary": (c_char_p, [c_size_t]),
    "lb_net_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_net_options), POINTER(lb_error)]),
    "lb_net_close": (None, [c_void_p]),
    "lb_net_describe": (lb_net_about, [c_void_p]),
    "lb_net_node": (c_char_p, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "lb_arith_name": (c_char_p, [c_size_t]),
    "lb_arith_summary": (c_char_p, [c_size_t]),
    "lb_arith_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_error)]),
    "lb_arith_of_device": (c_int, [POINTER(c_void_p), c_void_p, POINTER(lb_error)]),
    "lb_arith_close": (None, [c_void_p]),
    "lb_arith_text": (c_char_p, [c_void_p]),
    "lb_net_run_open": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_net_run_close": (None, [c_void_p]),
    "lb_net_run_step": (c_int, [c_void_p, POINTER(lb_net_input), c_void_p, POINTER(lb_error)]),
    "lb_net_run_reset": (None, [c_void_p]),
    "lb_net_run_value": (c_void_p, [c_void_p, c_size_t, POINTER(c_void_p), c_void_p, c_void_p]),
    "lb_net_run_tap": (None, [c_void_p, c_void_p, c_void_p]),
    "lb_net_compare": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(lb_net_input), c_void_p, c_void_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_net_compare_models": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(lb_net_input), c_void_p, c_void_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_net_report_close": (None, [POINTER(lb_net_report)]),
    "lb_net_chunks": (c_int, [c_void_p, c_void_p, POINTER(lb_net_input), c_size_t, POINTER(lb_net_parting), POINTER(lb_error)]),
    "lb_sample_token": (c_int, [POINTER(lb_sampler), c_void_p, c_size_t, c_uint64, c_void_p, POINTER(lb_error)]),
    "lb_operations_replay": (c_int, [POINTER(lb_operations_options), POINTER(c_void_p), c_void_p, POINTER(lb_error)]),
    "lb_operations_record": (c_int, [POINTER(lb_operations_options), POINTER(lb_operations_result), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_operations_is_recording": (c_int, [c_char_p, c_void_p, POINTER(lb_error)]),
    "lb_operations_request": (c_int, [c_char_p, c_char_p, c_uint64, POINTER(lb_error)]),
    "lb_capture_operations": (c_int, [c_void_p, c_char_p, c_uint64, POINTER(lb_capture_result), c_void_p, POINTER(lb_error)]),
    "lb_operation_ptx": (c_int, [POINTER(lb_scalar_op), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_run_guarded": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_case), c_double, c_void_p, POINTER(lb_run_report), POINTER(lb_error)]),
    "lb_device_open_guarded": (c_int, [POINTER(c_void_p), c_char_p, c_double, POINTER(lb_error)]),
    "lb_poison_code": (c_uint64, [POINTER(lb_format)]),
    "lb_check": (c_int, [POINTER(lb_check_options), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_contract_explain": (c_int, [POINTER(lb_case), POINTER(lb_contract), c_double, c_size_t, c_size_t, POINTER(lb_limit_input), POINTER(lb_limit), POINTER(lb_error)]),
    "lb_sample_indices": (c_int, [c_size_t, c_size_t, c_uint64, c_uint32, POINTER(c_void_p), c_void_p, POINTER(lb_error)]),
    "lb_grade_block": (c_int, [POINTER(lb_block_options), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_grade_files": (c_int, [POINTER(lb_grade_files_options), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_unit_read": (c_int, [c_char_p, POINTER(lb_unit), POINTER(lb_error)]),
    "lb_replay": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_gen_line": (c_int, [c_char_p, c_uint64, c_uint64, c_void_p, c_size_t, POINTER(lb_error)]),
    "lb_judge_open": (c_int, [POINTER(c_void_p), c_char_p, c_uint64, c_uint64, POINTER(lb_error)]),
    "lb_judge_line": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(lb_error)]),
    "lb_judge_close": (c_int, [c_void_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_parity_open": (c_int, [POINTER(c_void_p), POINTER(lb_parity_options), POINTER(lb_error)]),
    "lb_parity_close": (None, [c_void_p]),
    "lb_parity_case_count": (c_size_t, [c_void_p]),
    "lb_parity_case_text": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_device_count": (c_size_t, [c_void_p]),
    "lb_parity_device": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_device_name": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_left_out": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_next": (c_int, [c_void_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_parity_done": (c_size_t, [c_void_p]),
    "lb_parity_row_at": (POINTER(lb_parity_row), [c_void_p, c_size_t]),
    "lb_parity_distance": (c_double, [c_void_p, c_size_t, c_size_t]),
    "lb_parity_odd": (c_size_t, [c_void_p, c_size_t, c_void_p]),
    "lb_parity_known": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_stale": (c_char_p, [c_void_p, c_size_t]),
    "lb_parity_exit": (c_int, [c_void_p]),
    "lb_axis_name": (c_char_p, [c_size_t]),
    "lb_axis_summary": (c_char_p, [c_size_t]),
    "lb_invariance_open": (c_int, [POINTER(c_void_p), POINTER(lb_parity_options), POINTER(lb_error)]),
    "lb_invariance_next": (c_int, [c_void_p, POINTER(lb_invariance), c_void_p, POINTER(lb_error)]),
    "lb_invariance_close": (None, [c_void_p]),
    "lb_sweep_open": (c_int, [POINTER(c_void_p), POINTER(lb_parity_options), POINTER(lb_error)]),
    "lb_sweep_next": (c_int, [c_void_p, POINTER(lb_sweep_row), c_void_p, POINTER(lb_error)]),
    "lb_sweep_close": (None, [c_void_p]),
    "lb_deviations_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_parity_options), POINTER(lb_error)]),
    "lb_deviations_next": (c_int, [c_void_p, POINTER(lb_deviation), c_void_p, POINTER(lb_error)]),
    "lb_deviations_close": (None, [c_void_p]),
    "lb_parity_not_covered": (c_bool, [c_size_t, POINTER(lb_not_covered)]),
    "lb_fault_row": (POINTER(lb_fault), [c_size_t]),
    "lb_fault_find": (c_int, [c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_power": (c_int, [POINTER(lb_power_input), POINTER(lb_record), POINTER(lb_error)]),
    "lb_fault_plant": (c_int, [c_char_p, POINTER(lb_case), POINTER(lb_unit), POINTER(lb_mat), POINTER(lb_mat), c_void_p, c_void_p, POINTER(lb_error)]),
    "lb_candidate_name": (c_char_p, [c_size_t]),
    "lb_candidate_what": (c_char_p, [c_size_t]),
    "lb_candidate_get": (c_int, [POINTER(lb_candidate), c_size_t]),
    "lb_candidate_value_text": (None, [c_size_t, c_int, c_void_p]),
    "lb_candidate_of": (c_int, [POINTER(lb_unit), POINTER(lb_candidate), POINTER(lb_error)]),
    "lb_candidate_dot": (c_int, [POINTER(lb_candidate), POINTER(lb_unit), c_void_p, c_void_p, c_size_t, c_uint32, c_void_p, POINTER(lb_error)]),
    "lb_fit_recording": (c_int, [c_char_p, c_void_p, c_void_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_recording_fit_close": (None, [POINTER(lb_recording_fit)]),
    "lb_decide": (c_int, [POINTER(lb_unit), c_uint64, c_uint64, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_decision_close": (None, [POINTER(lb_decision)]),
    "lb_decision_write": (c_int, [POINTER(lb_decision), c_char_p, POINTER(lb_error)]),
    "lb_report_text": (c_int, [POINTER(lb_record), c_bool, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_report_brief": (c_int, [POINTER(lb_record), c_bool, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_report_junit": (c_int, [POINTER(c_void_p), c_size_t, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_report_explanation": (c_int, [POINTER(lb_explanation), POINTER(lb_explain_steps), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_report_explanation_json": (c_int, [POINTER(lb_explanation), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_scan_kind_name": (c_char_p, [c_int]),
    "lb_scan_file": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_error)]),
    "lb_scan_bytes": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_char_p, POINTER(lb_error)]),
    "lb_scan_kernel_at": (POINTER(lb_scan_kernel), [c_void_p, c_size_t]),
    "lb_scan_close": (None, [c_void_p]),
    "lb_sass_op_at": (c_bool, [c_size_t, POINTER(lb_sass_op)]),
    "lb_failure_name": (c_char_p, [c_int]),
    "lb_failure_of": (c_int, [POINTER(lb_record)]),
    "lb_shrink": (c_int, [POINTER(lb_shrink_options), POINTER(c_void_p), POINTER(lb_error)]),
    "lb_shrunk_close": (None, [POINTER(lb_shrunk)]),
    "lb_shrunk_to_json": (c_int, [POINTER(lb_shrunk), c_char_p, POINTER(c_void_p), POINTER(lb_error)]),
    "lb_capsule_write": (c_int, [c_char_p, POINTER(lb_check_options), POINTER(lb_record), POINTER(lb_mat), POINTER(lb_capsule_notes), POINTER(lb_error)]),
    "lb_capsule_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(lb_error)]),
    "lb_capsule_close": (None, [c_void_p]),
    "lb_capsule_check": (POINTER(lb_check_options), [c_void_p]),
    "lb_capsule_text": (c_char_p, [c_void_p, c_char_p]),
    "lb_capsule_judge": (c_int, [c_void_p, POINTER(lb_check_options), POINTER(c_void_p), POINTER(lb_error)]),
}


def declare(library: CDLL) -> None:
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
