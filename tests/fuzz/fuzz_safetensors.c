/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A safetensors header and its data, with a NUL between them: the length is put before them here, so that a changed header stays one.
 * (fuzz_files changes the length too.) What is read is readable, apart, and all of the data. */
#include "lastbit/io.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const lb_file *f, const uint8_t *data, size_t data_size) {
    size_t at = 0;
    for (size_t i = 0; i < lb_file_count(f); i++) {
        const lb_tensor *t = lb_file_tensor(f, i);
        if ((uintptr_t)t->data % 64 || at + t->bytes > data_size) abort();
        if (t->bytes && memcmp(t->data, data + at, t->bytes) != 0) abort();
        if (lb_tensor_count(t) * (size_t)t->dtype->bytes != t->bytes || lb_file_find(f, t->name) != t) abort();
        at += t->bytes;
    }
    if (at != data_size) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
    const size_t header = end ? (size_t)(end - bytes) : size, data_size = end ? size - header - 1 : 0;
    uint8_t *whole = malloc(8 + size);
    lb_file *f;
    lb_error err;
    if (!whole) return 0;
    for (int i = 0; i < 8; i++) whole[i] = (uint8_t)((uint64_t)header >> 8 * i);
    if (header) memcpy(whole + 8, bytes, header);
    if (data_size) memcpy(whole + 8 + header, end + 1, data_size);
    if (lb_file_parse(&f, whole, 8 + header + data_size, "fuzz", NULL, &err) == LB_OK) {
        check(f, whole + 8 + header, data_size);
        lb_file_close(f);
    } else if (f || !*err.message) {
        abort();
    }
    free(whole);
    return 0;
}
