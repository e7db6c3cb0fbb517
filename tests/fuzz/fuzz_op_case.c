/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any text as an operator's case: opened and written back, or refused with a line. What opens is small enough to replay and judge. */
#include "lastbit/operators.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t elements(const lb_op_case *x) {
    size_t n = 0;
    for (unsigned i = 0; i < x->op->in_count; i++) n += lb_array_count(&x->in[i]);
    for (unsigned i = 0; i < x->op->out_count; i++) n += lb_array_count(&x->out[i]);
    return n;
}

/* Large sizes are only slow; what is refused of them is in tests/test_ops_cases.c. */
static bool is_large(const char *text) {
    size_t digits = 0;
    for (; *text; text++) {
        const bool digit = *text >= '0' && *text <= '9';
        digits = digit ? digits + 1 : 0;
        if (digits > 3 || ((*text == 'e' || *text == 'E') && text[1] && strchr("+0123456789", text[1]))) return true;
    }
    return false;
}

static void judge(lb_op_case *x) {
    lb_op_truth *t;
    lb_error err;
    if (lb_op_replay(x, LB_REPLAY_PAIRWISE, &err) != LB_OK) return;
    if (lb_op_truth_open(&t, x, LB_FUNCTIONS_VULKAN, &err) != LB_OK) return;
    lb_op_truth_settle(t, x, &err);
    for (unsigned port = 0; port < x->op->out_count; port++)
        for (size_t i = 0; i < t->count[port]; i++) lb_op_judge(t, x, port, i, NULL);
    lb_op_truth_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1), back[LB_OP_TEXT];
    lb_op_case *x, *again;
    lb_error err;
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = 0;
    if (!is_large(text) && lb_op_case_open(&x, text, &err) == LB_OK) {
        lb_op_case_text(x, back, sizeof back);
        if (elements(x) < 2000) {
            if (lb_op_case_open(&again, back, &err) != LB_OK) abort();
            lb_op_case_close(again);
            judge(x);
        }
        lb_op_case_close(x);
    }
    free(text);
    return 0;
}
