/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Uses one function of several layers, and the whole of the headers. */
#include <stdio.h>
#include <string.h>

#include <lastbit/lastbit.h>

int main(void) {
    lb_unit unit;
    lb_error err;
    if (strcmp(lb_version(), LB_VERSION) != 0) return 1;
    if (lb_format_find("bf16") == NULL) return 2;
    if (lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &unit, &err) != LB_OK) return 3;
    puts(lb_version());
    return 0;
}
