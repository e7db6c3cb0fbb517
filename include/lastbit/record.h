/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one result record, lastbit.result/1: what every command that judges prints, as text, JSON or JUnit.
 * docs/result-schema.md says what each field means; fields are added, never changed. */
#ifndef LASTBIT_RECORD_H
#define LASTBIT_RECORD_H

#include "lastbit/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LB_RECORD_SCHEMA "lastbit.result/1"

#define LB_VERDICT_LIST(X)                                                                                                                 \
    X(PASS, "PASS", 0)                                                                                                                     \
    X(FAIL, "FAIL", 1)                                                                                                                     \
    X(UNPROVEN, "UNPROVEN", 3)                                                                                                             \
    X(SKIP, "SKIP", 3)

typedef enum lb_verdict {
#define X(id, name, exit_code) LB_##id,
    LB_VERDICT_LIST(X)
#undef X
        LB_VERDICT_COUNT
} lb_verdict;

const char *lb_verdict_name(lb_verdict v);

#define LB_EVIDENCE_LIST(X)                                                                                                                \
    X(OPEN, "open", "nobody knows; the row says what was chosen and why")                                                                  \
    X(INFERRED, "inferred", "a public model or reasoning")                                                                                 \
    X(STATED, "stated", "a vendor's document")                                                                                             \
    X(RECORDED, "recorded", "replayed against hardware")

typedef enum lb_evidence {
#define X(id, name, text) LB_EVIDENCE_##id,
    LB_EVIDENCE_LIST(X)
#undef X
        LB_EVIDENCE_COUNT
} lb_evidence;

const char *lb_evidence_name(lb_evidence e);

/** One element of an output, as judged. */
typedef struct lb_element {
    bool present;
    size_t row, col;
    uint64_t actual, reference; /* codes */
    double actual_value, reference_value;
    double ulp;          /* ordinal distance in the output format; INFINITY where classes differ */
    double abs_error;    /* |actual - reference|; INFINITY where classes differ */
    double bound;        /* absolute tolerance at this element; 0 for word-for-word; NAN if none */
    double row_rms;      /* NAN if not used */
    double floor;        /* accumulation floor of the contract there; NAN if not used */
    uint64_t exact_code; /* what the unit model gives, where has_exact */
    bool has_exact;
} lb_element;

/** Every element is in exactly one of exact, legal, wrong; total - compared were not looked at. */
typedef struct lb_counts {
    uint64_t total, compared;
    uint64_t exact; /* the model's bits (with a unit), the reference's bits (without) */
    uint64_t legal; /* other bits, inside the contract */
    uint64_t wrong;
    uint64_t nan_actual, nan_reference, inf_actual, inf_reference;
    uint64_t class_mismatch; /* NaN or Inf where the other side has none, or the other sign of Inf */
    uint64_t sign_flips;     /* signs differ and |reference| is below the contract's band */
    uint64_t over_ulp;       /* beyond the ULP budget, whether or not the floor admitted them */
    uint64_t not_written;    /* still hold the poison or sentinel */
    uint64_t guard_damage;   /* bytes or gap elements outside the output that changed */
    /* special values: counted whatever the contract says of them; its policy grades them, and no norm holds them */
    uint64_t nan_payload;      /* NaN on both sides, other bits */
    uint64_t zero_sign;        /* zero on both sides, other signs */
    uint64_t flushed;          /* zero where the reference is subnormal */
    uint64_t saturated;        /* the largest finite value where the reference overflowed */
    uint64_t overflowed;       /* Inf where the reference is a number; NaN for the largest value of a format without Inf */
    uint64_t subnormal_inputs; /* elements of A and B that a kernel may flush */
} lb_counts;

typedef struct lb_metrics {
    double max_ulp, max_abs, rel_rms, rms;
    double row_rms_least, row_rms_most; /* of the reference's rows: the scales that the floor was taken at */
    bool present;
} lb_metrics;

/* What became of one fault that was injected into a correct output, to see whether the contract catches it (power.h). */
#define LB_POWER_LIST(X)                                                                                                                   \
    X(CAUGHT, "caught", "the faulty output fails")                                                                                         \
    X(MISSED, "missed", "it passes, though its largest error exceeds what correct kernels differ by")                                      \
    X(BELOW, "below", "it passes, and no error exceeds what correct kernels differ by")                                                    \
    X(HIDDEN, "hidden", "the inputs hide it: the faulty output is the correct one")                                                        \
    X(INERT, "inert", "nothing was injected, and the inputs do not say why: nothing is known of this fault")

typedef enum lb_power_end {
#define X(id, name, text) LB_POWER_##id,
    LB_POWER_LIST(X)
#undef X
        LB_POWER_COUNT
} lb_power_end;

const char *lb_power_end_name(lb_power_end e);

/** One injected fault. The largest error is the one furthest beyond the limit there. */
typedef struct lb_power_row {
    char fault[32]; /* a name of `lastbit faults` */
    lb_power_end end;
    bool allowed;        /* the caller accepts that it is missed */
    uint64_t changed;    /* elements that hold other bits than the correct output */
    double error, limit; /* of the largest error, and what correct kernels differ by there; INFINITY where classes differ; NAN: none */
    size_t row, col;     /* where */
    char why[192];       /* hidden: what hides it; else where it was injected */
} lb_power_row;

typedef struct lb_power_score {
    bool present;
    size_t caught, due; /* due: caught or missed */
    double score;       /* caught / due; NAN where none is due */
    lb_power_row *rows; /* [row_count] */
    size_t row_count;
} lb_power_score;

/** The record. Open; every string is the record's own (lb_record_text), "" when it does not apply. */
typedef struct lb_record {
    char *case_string; /* op=matmul in=bf16 out=bf16 m=64 n=64 k=256 … */
    char *op;          /* "matmul", "dot", "grade" */
    char *on;          /* "file:D.npy", "model:sm_80/…", "kernel:examples/gemm.json", "command:./my_kernel" */
    char *unit_name, *unit_source, *unit_note, *unit_open;
    lb_evidence unit_evidence;
    char *contract_name, *contract_source, *contract_note;
    double contract_k, contract_max_ulp, contract_rel_rms_gate; /* NAN if none */
    lb_evidence contract_evidence;
    const lb_format *out_format; /* of every code in the record; NULL if none */
    lb_verdict verdict;
    char *reason; /* one sentence; never empty */
    lb_counts counts;
    lb_metrics metrics;
    lb_element first, worst; /* of the wrong ones; worst: of the legal ones where none is wrong */
    lb_element *outliers;    /* the first outlier_count wrong ones */
    size_t outlier_count;
    char *cause;     /* what is known of the cause; "" if unexplained */
    char *reference; /* how the reference was computed, and its error */
    char *coverage;  /* "all" or what was sampled */
    char *rerun;     /* the command line that judges this again */
    uint64_t seed;
    bool has_seed;
    char *environment;                                                      /* "lastbit 0.1.0; Linux x86_64; …", device and driver */
    double seconds_total, seconds_device, seconds_model, seconds_reference; /* NAN if not measured */
    char *contract_rule;                                                    /* what it allows, in words with numbers */
    char *contract_specials; /* its policy of special values: "ieee"; "numbers" where NaN and Inf are ordinals */
    lb_power_score power;    /* what the contract catches, where that was asked for */
    char *known;             /* of a FAIL: the known defect of the device that it is, "cause; up to N times the limit [source]"; such a FAIL
                    changes no exit code */
} lb_record;

/** A new record: verdict UNPROVEN, reason "nothing ran yet", every string "", environment filled in.
 *  errors LB_E_MEMORY. memory the caller's, lb_record_close */
lb_status lb_record_open(lb_record **out, lb_error *err);
void lb_record_close(lb_record *r); /* NULL is fine */

/** Replace one of the record's strings: lb_record_text(&r->reason, "lost %d", n). On lack of memory the old text stays. */
void lb_record_text(char **field, const char *format, ...) LB_PRINTF(2, 3);

/** Append an element to r->outliers. errors LB_E_MEMORY */
lb_status lb_record_add_outlier(lb_record *r, const lb_element *e, lb_error *err);

/** Append a row to r->power.rows. errors LB_E_MEMORY */
lb_status lb_record_add_power(lb_record *r, const lb_power_row *row, lb_error *err);

/** The record as one line of JSON (no newline), the caller's to free(). Numbers that JSON cannot hold are strings ("NaN", "Infinity");
 *  every code is a hex string. errors LB_E_MEMORY */
lb_status lb_record_to_json(const lb_record *r, char **out, lb_error *err);

/** Read one back; unknown keys are ignored, missing ones are errors. errors LB_E_FILE with the key; LB_E_MEMORY */
lb_status lb_record_from_json(lb_record **out, const char *text, size_t size, const char *place, lb_error *err);

/** Exit code of a run of records: FAIL 1, else UNPROVEN 3, else PASS 0; SKIP beside a PASS changes nothing; none or only SKIP is 3. */
int lb_records_exit(const lb_verdict *verdicts, size_t count);

#ifdef __cplusplus
}
#endif
#endif
