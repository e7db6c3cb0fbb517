/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/guard.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTE = 0xa5 };

size_t lb_guard_size(const lb_job_buffer *b, size_t guard) {
    return 2 * guard + (b->bytes ? b->bytes : 1);
}

lb_status lb_guard_make(const lb_job_buffer *b, size_t guard, unsigned char **image, const char *place, lb_error *err) {
    const size_t size = lb_guard_size(b, guard);
    *image = malloc(size);
    if (!*image) return lb_fail(err, LB_E_MEMORY, place, "no memory for %zu bytes", size);
    memset(*image, GUARD_BYTE, size);
    if (b->bytes) memcpy(*image + guard, b->data, b->bytes);
    return LB_OK;
}

void lb_guard_take(const lb_job_buffer *b, size_t guard, const unsigned char *image, lb_device *marks) {
    const size_t size = lb_guard_size(b, guard), end = guard + b->bytes;
    for (size_t i = 0; i < size; i++)
        if ((i < guard || i >= end) && image[i] != GUARD_BYTE) marks->guard_damage++;
    if (b->output && b->bytes)
        memcpy(b->data, image + guard, b->bytes);
    else if (b->bytes && memcmp(b->data, image + guard, b->bytes) != 0)
        marks->inputs_changed = true;
}
