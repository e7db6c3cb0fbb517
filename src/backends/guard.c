/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/guard.h"

#include <stdlib.h>
#include <string.h>

/* Around an input NaN in every float format, so that what is read past its end shows; around an output what nobody writes. */
static int guard_byte(const lb_job_buffer *b) {
    return b->output ? 0xa5 : 0xff;
}

size_t lb_guard_size(const lb_job_buffer *b, size_t guard) {
    return 2 * guard + (b->bytes ? b->bytes : 1);
}

void lb_guard_fill(const lb_job_buffer *b, size_t guard, unsigned char *image, size_t size) {
    memset(image, guard_byte(b), size);
    if (b->bytes) memcpy(image + guard, b->data, b->bytes);
}

lb_status lb_guard_make(const lb_job_buffer *b, size_t guard, unsigned char **image, const char *place, lb_error *err) {
    const size_t size = lb_guard_size(b, guard);
    *image = malloc(size);
    if (!*image) return lb_fail(err, LB_E_MEMORY, place, "no memory for %zu bytes", size);
    lb_guard_fill(b, guard, *image, size);
    return LB_OK;
}

void lb_guard_take(const lb_job_buffer *b, size_t guard, const unsigned char *image, lb_device *marks) {
    const size_t size = lb_guard_size(b, guard), end = guard + b->bytes;
    for (size_t i = 0; i < size; i++)
        if ((i < guard || i >= end) && image[i] != guard_byte(b)) marks->guard_damage++;
    if (b->output && b->bytes)
        memcpy(b->data, image + guard, b->bytes);
    else if (b->bytes && memcmp(b->data, image + guard, b->bytes) != 0)
        marks->inputs_changed = true;
}
