/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "report/hexfloat.h"

#include "base/u128.h"

#include <stdio.h>

const char *lb_hexfloat(lb_value v, char text[LB_HEXFLOAT_SIZE]) {
    static const char *const names[] = {[LB_ZERO] = "0", [LB_INF] = "inf", [LB_NAN] = "nan"};
    const char *sign = v.negative && v.cls != LB_NAN ? "-" : "";
    const lb_u128 m = (lb_u128)v.hi << 64 | v.lo;
    if (v.cls != LB_FINITE || !m) {
        snprintf(text, LB_HEXFLOAT_SIZE, "%s%s", sign, v.cls == LB_FINITE ? "0" : names[v.cls]);
        return text;
    }
    const int length = lb_bit_length128(m);
    lb_u128 fraction = length > 1 ? m << (129 - length) : 0; /* the bits behind the leading one, from the top */
    int used = snprintf(text, LB_HEXFLOAT_SIZE, "%s0x1%s", sign, fraction ? "." : "");
    for (; fraction; fraction <<= 4) used += snprintf(text + used, LB_HEXFLOAT_SIZE - (size_t)used, "%x", (unsigned)(fraction >> 124));
    snprintf(text + used, LB_HEXFLOAT_SIZE - (size_t)used, "p%+d%s", v.exp + length - 1, v.sticky ? "+" : "");
    return text;
}
