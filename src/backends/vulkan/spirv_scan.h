/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what a compute shader's SPIR-V says of itself, read before a driver sees it. */
#ifndef LB_BACKENDS_SPIRV_SCAN_H
#define LB_BACKENDS_SPIRV_SCAN_H

#include "lastbit/base.h"

typedef struct lb_spirv {
    char entry[128];
    uint32_t local[3];
    uint32_t bindings; /* one more than the largest binding; 0: none */
    bool uses_length;  /* the shader asks how long a buffer is */
} lb_spirv;

/** Read the words of one module. errors LB_E_FILE with what is wrong: no SPIR-V, no or several compute entry points, another set than 0,
 *  local sizes that are no literals, images or samplers. threads pure */
lb_status lb_spirv_scan(const uint32_t *words, size_t count, const char *place, lb_spirv *out, lb_error *err);

#endif
