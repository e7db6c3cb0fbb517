/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an entry of PTX takes, read from its text: the driver counts no arguments, and reads past those that are missing. */
#ifndef LB_BACKENDS_CUDA_PTX_ENTRY_H
#define LB_BACKENDS_CUDA_PTX_ENTRY_H

#include "lastbit/base.h"

enum { LB_PTX_PARAMS = 64 };

/** Bytes of each parameter of `entry`; *count of them. False where the text has no such entry, or one that cannot be read. threads pure */
bool lb_ptx_entry(const char *ptx, const char *entry, size_t bytes[LB_PTX_PARAMS], size_t *count);

#endif
