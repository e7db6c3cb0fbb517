/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A name of a unit: refused with a message, or found, and then found again by the name that the row gives itself. */
#include "lastbit/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char name[250] = {0};
    lb_unit u, again;
    lb_error err = {0};
    if (size) memcpy(name, bytes, size < sizeof name ? size : sizeof name - 1);
    if (lb_unit_find(name, &u, &err) != LB_OK) {
        if (!*err.message) abort();
    } else if (lb_unit_find(u.name, &again, &err) != LB_OK || strcmp(u.name, again.name) != 0) {
        abort();
    }
    return 0;
}
