/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A gguf file behind its magic and version. What is read has tensors whose values all come out. */
#include "lastbit/io.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void read_all(const lb_file *f) {
    for (size_t i = 0; i < lb_file_count(f); i++) {
        const lb_tensor *t = lb_file_tensor(f, i);
        const size_t n = lb_tensor_count(t);
        float *values = malloc(n * sizeof *values + 1);
        lb_error err;
        if (lb_file_find(f, t->name) != t) abort();
        if (!values || lb_tensor_values(t, 0, n, values, &err) == LB_E_ARG) abort();
        free(values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    uint8_t *whole = malloc(size + 8);
    lb_file *f;
    lb_error err;
    if (!whole) return 0;
    memcpy(whole, "GGUF\3\0\0\0", 8);
    if (size) memcpy(whole + 8, bytes, size);
    if (lb_file_parse(&f, whole, size + 8, "fuzz", NULL, &err) == LB_OK) {
        read_all(f);
        lb_file_close(f);
    } else if (f || !*err.message) {
        abort();
    }
    free(whole);
    return 0;
}
