/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: leave a function with the status of a failing call. */
#ifndef LB_BASE_TRY_H
#define LB_BASE_TRY_H

#include "lastbit/base.h"

#define LB_TRY(call)                                                                                                                       \
    do {                                                                                                                                   \
        const lb_status s_ = (call);                                                                                                       \
        if (s_ != LB_OK) return s_;                                                                                                        \
    } while (0)

#endif
