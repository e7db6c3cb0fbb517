/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any bytes as a file (npy and safetensors are told apart by content): read or refused, and every byte that is handed out is readable. */
#include "lastbit/io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    lb_file *f;
    lb_error err;
    unsigned sum = 0;
    if (lb_file_parse(&f, bytes, size, "fuzz", NULL, &err) != LB_OK) return 0;
    for (size_t i = 0; i < lb_file_count(f); i++) {
        const lb_tensor *t = lb_file_tensor(f, i);
        for (size_t b = 0; b < t->bytes; b++) sum += ((const unsigned char *)t->data)[b];
        if (lb_tensor_count(t) * (size_t)t->dtype->bytes != t->bytes) abort();
    }
    lb_file_close(f);
    volatile unsigned keep = sum; /* the reads must stay */
    (void)keep;
    return 0;
}
