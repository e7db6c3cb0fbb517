/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: the suites op:NAME of gen and judge. */
#ifndef LB_RUN_LINES_SCALAR_H
#define LB_RUN_LINES_SCALAR_H

#include "lastbit/run.h"
#include "lastbit/scalar.h"

bool lb_is_op_suite(const char *suite);

/** As lb_gen_line, of the input words of row `index`. */
lb_status lb_op_gen_line(const char *suite, uint64_t seed, uint64_t index, char *text, size_t size, lb_error *err);

typedef struct lb_scalar_judge lb_scalar_judge;
lb_status lb_scalar_judge_open(lb_scalar_judge **out, const char *suite, uint64_t seed, uint64_t count, lb_error *err);
lb_status lb_scalar_judge_line(lb_scalar_judge *j, const char *line, size_t length, lb_error *err);
/** The verdict; frees j also where it fails. */
lb_status lb_scalar_judge_close(lb_scalar_judge *j, lb_record **out, lb_error *err);

#endif
