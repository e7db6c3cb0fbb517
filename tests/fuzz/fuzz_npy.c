/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A version, an npy header and its data, with a NUL between them: magic and length are put before them here, so that a changed header
 * stays one. (fuzz_files changes those too.) What is read is readable and holds the bytes of the data, in some order. */
#include "lastbit/io.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t sum_of(const uint8_t *bytes, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += bytes[i];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (size == 0) return 0;
    const uint8_t version = bytes[0], *text = bytes + 1, *end = memchr(text, 0, size - 1);
    const size_t header = end ? (size_t)(end - text) : size - 1, data_size = end ? size - header - 2 : 0;
    const size_t length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
    uint8_t *whole = calloc(1, start + size);
    lb_file *f;
    lb_error err;
    if (!whole) return 0;
    memcpy(whole, magic, sizeof magic);
    whole[6] = version;
    for (size_t i = 0; i < length_bytes; i++) whole[8 + i] = (uint8_t)(header >> 8 * i);
    if (header) memcpy(whole + start, text, header);
    if (data_size) memcpy(whole + start + header, end + 1, data_size);
    if (lb_file_parse(&f, whole, start + header + data_size, "fuzz", NULL, &err) == LB_OK) {
        const lb_tensor *t = lb_file_tensor(f, 0);
        if (t->bytes != data_size || lb_tensor_count(t) * (size_t)t->dtype->bytes != data_size) abort();
        if (sum_of(t->data, t->bytes) != sum_of(whole + start + header, data_size)) abort();
        lb_file_close(f);
    } else if (f || !*err.message) {
        abort();
    }
    free(whole);
    return 0;
}
