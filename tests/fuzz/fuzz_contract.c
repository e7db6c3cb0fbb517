/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any text as a contract file: read or refused in one line; what was read has a rule, and limits that are no NaN. */
#include "lastbit/contracts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const lb_format *f = lb_format_row(LB_F32);
    const lb_limit_input in = {.format = f, .reference = 0x3f800000, .k = 4096, .row_rms = 1, .elements = 1000, .gauge = 64};
    lb_contract *c;
    lb_limit limit;
    lb_error err;
    char *rule;
    if (lb_contract_from_json((const char *)bytes, size, "fuzz", &c, &err) != LB_OK) {
        if (c || !*err.message || strchr(err.message, '\n')) abort();
        return 0;
    }
    if (lb_contract_rule(c, f, 4096, 1000, &rule, &err) != LB_OK || lb_contract_limit(c, &in, &limit, &err) != LB_OK) abort();
    const bool of_block = c->bound == LB_BOUND_NORM || c->bound == LB_BOUND_BASELINE;
    if (isnan(limit.bound) != of_block || limit.bound < 0) abort();
    free(rule);
    lb_contract_close(c);
    return 0;
}
