/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: exact values as C's hexadecimal floats, whatever their width. */
#ifndef LB_REPORT_HEXFLOAT_H
#define LB_REPORT_HEXFLOAT_H

#include "lastbit/formats.h"

enum { LB_HEXFLOAT_SIZE = 64 };

/* "-0x1.8p-3", "0", "-0", "inf", "nan" into text. A value of which more than 128 bits are known to exist ends in a +. */
const char *lb_hexfloat(lb_value v, char text[LB_HEXFLOAT_SIZE]);

#endif
