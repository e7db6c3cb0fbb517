/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Views of records: text for people, JUnit for CI. JSON lines are the record itself (record.h). And views of explanations. */
#ifndef LASTBIT_REPORT_H
#define LASTBIT_REPORT_H

#include "lastbit/explain.h"
#include "lastbit/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A readable block: first line `VERDICT case: counts worst bound at`, greppable and stable; then what a person wants to know.
 *  color: ANSI colours on the verdict. *out is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_report_text(const lb_record *r, bool color, char **out, lb_error *err);

/** The first lines of it: verdict, reason, cause, the unit's exact count, the first wrong element. *out is the caller's to free(). */
lb_status lb_report_brief(const lb_record *r, bool color, char **out, lb_error *err);

/** One JUnit document of all records: failure for FAIL, error for UNPROVEN, skipped for SKIP. *out is the caller's to free(). */
lb_status lb_report_junit(const lb_record *const *records, size_t count, char **out, lb_error *err);

/** K steps first … last, from 0. */
typedef struct lb_explain_steps {
    size_t first, last;
} lb_explain_steps;

/** An explanation within 80 columns: each operation's terms, what alignment kept and cut, sum and rounding; then D beside the exact answer.
 *  steps: which K steps to show; NULL: the first two and the last. *out is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_report_explanation(const lb_explanation *e, const lb_explain_steps *steps, char **out, lb_error *err);

/** All of it as one JSON object, "lastbit.explanation/1" (docs/explain.md). *out is the caller's to free(). errors LB_E_MEMORY */
lb_status lb_report_explanation_json(const lb_explanation *e, char **out, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
