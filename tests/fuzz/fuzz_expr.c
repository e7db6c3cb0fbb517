/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any text as a size expression of a kernel's JSON, and as an answer of a program to `lastbit gen`. */
#include "base/expr.h"
#include "lastbit/run.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const lb_expr_var sizes[] = {{"m", 64}, {"n", 48}, {"k", 100}};
    int64_t value;
    lb_error err;
    lb_judge *j;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = 0;
    lb_expr_eval(text, sizes, 3, "fuzz", &value, &err);
    if (lb_judge_open(&j, "dot:sm_70/mma.m8n8k4.f32.f16.f16.f32", 1, 2, &err) == LB_OK) {
        lb_record *r;
        lb_judge_line(j, text, size, &err);
        if (lb_judge_close(j, &r, &err) == LB_OK) lb_record_close(r);
    }
    free(text);
    return 0;
}
