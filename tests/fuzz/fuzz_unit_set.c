/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What --set says, on a row that the first two bytes choose: refused with a message and nothing changed, or taken, and then the name that
 * comes of it is found again as the same unit. */
#include "lastbit/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char text[300] = {0};
    size_t rows = 0;
    lb_error err = {0};
    if (size < 2) return 0;
    while (lb_unit_row(rows)) rows++;
    const lb_unit *row = lb_unit_row((bytes[0] | (size_t)bytes[1] << 8) % rows);
    lb_unit u = *row, again;
    memcpy(text, bytes + 2, size - 2 < sizeof text ? size - 2 : sizeof text - 1);
    if (lb_unit_set(&u, text, &err) != LB_OK) {
        if (!*err.message || strcmp(u.name, row->name) != 0 || u.terms != row->terms || u.evidence != row->evidence) abort();
        return 0;
    }
    if (!strchr(u.name, '+') || lb_unit_find(u.name, &again, &err) != LB_OK) abort();
    if (strcmp(u.name, again.name) != 0 || u.path != again.path || u.terms != again.terms || u.edges.nan != again.edges.nan) abort();
    return 0;
}
