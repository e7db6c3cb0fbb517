/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NVIDIA's run-time compiler, opened where it is: CUDA C++ to PTX, without a toolkit or a header of one. LASTBIT_NVRTC names the library. */
#ifndef LB_BACKENDS_CUDA_NVRTC_H
#define LB_BACKENDS_CUDA_NVRTC_H

#include "lastbit/base.h"

typedef struct lb_nvrtc lb_nvrtc;

/** errors LB_E_UNAVAILABLE: no such library here, with what to install. memory lb_nvrtc_close. threads one thread a compiler */
lb_status lb_nvrtc_open(lb_nvrtc **out, lb_error *err);
void lb_nvrtc_close(lb_nvrtc *c); /* NULL is fine */

/** "NVRTC 13.0" into text[size]. */
void lb_nvrtc_describe(const lb_nvrtc *c, char *text, size_t size);

/** PTX of source for the newest architecture that the compiler has and that is not above capability (90 for 9.0). options are separated
 *  by spaces; log: NULL, or what the compiler said (warnings), free(). errors LB_E_DEVICE: the first line of its log; LB_E_UNAVAILABLE: no
 *  such architecture; LB_E_MEMORY. memory *ptx, *log: free() */
lb_status lb_nvrtc_compile(lb_nvrtc *c, const char *source, const char *options, int capability, char **ptx, char **log, lb_error *err);

#endif
