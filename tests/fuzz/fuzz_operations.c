/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings of operations from hostile bytes: what is taken can be computed. */
#include "lastbit/io.h"
#include "run/op_set.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_file *f;
    lb_op_set s;
    lb_error err;
    if (lb_file_parse(&f, data, size, "fuzz", NULL, &err) != LB_OK) return 0;
    const lb_status status = lb_op_set_parse(&s, f, false, &err);
    lb_file_close(f);
    for (size_t i = 0; status == LB_OK && i < s.count; i++) {
        uint64_t *model = NULL;
        if (!s.items[i].op || s.items[i].rows > 4096) continue;
        if (lb_op_model(&s.items[i], &model, &err) != LB_OK) abort();
        free(model);
    }
    lb_op_set_close(&s);
    return 0;
}
