/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Buffers between guard zones, as host images: what a device's memory is filled with, and what came back of it. Beside an input lie NaNs:
 * a kernel that reads a tail past its end and adds it in gives NaN. */
#ifndef LB_BACKENDS_GUARD_H
#define LB_BACKENDS_GUARD_H

#include "backends/device.h"

enum { LB_LEAST_GUARD = 4096 };

/** Bytes of an image: [guard][data, one byte at least][guard]. threads pure */
size_t lb_guard_size(const lb_job_buffer *b, size_t guard);

/** Fill image[size], size >= lb_guard_size: the zones, and the buffer's data after the first. */
void lb_guard_fill(const lb_job_buffer *b, size_t guard, unsigned char *image, size_t size);

/** An image with the buffer's data in it. errors LB_E_MEMORY. memory free() */
lb_status lb_guard_make(const lb_job_buffer *b, size_t guard, unsigned char **image, const char *place, lb_error *err);

/** Take back an image: count the guard bytes that changed, and say of an input whether it did; an output goes to b->data. */
void lb_guard_take(const lb_job_buffer *b, size_t guard, const unsigned char *image, lb_device *marks);

#endif
