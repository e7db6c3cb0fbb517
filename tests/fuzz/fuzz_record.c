/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any text as a record: read or refused; what was read is written, and read again, the same. */
#include "lastbit/record.h"
#include "lastbit/report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    lb_record *r, *again;
    char *first, *second, *text;
    lb_error err;
    if (lb_record_from_json(&r, (const char *)bytes, size, "fuzz", &err) != LB_OK) return 0;
    if (lb_record_to_json(r, &first, &err) != LB_OK || lb_report_text(r, false, &text, &err) != LB_OK) abort();
    if (lb_record_from_json(&again, first, strlen(first), "again", &err) != LB_OK || lb_record_to_json(again, &second, &err) != LB_OK)
        abort();
    if (strcmp(first, second) != 0) abort();
    free(first);
    free(second);
    free(text);
    lb_record_close(r);
    lb_record_close(again);
    return 0;
}
