/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Any text as a record: read or refused; what was read is written, and read again, the same; and each view shows it on its own lines. */
#include "lastbit/record.h"
#include "lastbit/report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* No string of the record ends a line or reaches the terminal: the headline is the record's one line at the margin. */
static void expect_printable(const char *text) {
    for (const char *p = text; *p; p++) {
        if (((unsigned char)*p < 0x20 && *p != '\n') || *p == 0x7f) abort();
        if (*p == '\n' && p[1] && p[1] != ' ') abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    lb_record *r, *again;
    char *first, *second, *text, *brief, *junit;
    lb_error err;
    if (lb_record_from_json(&r, (const char *)bytes, size, "fuzz", &err) != LB_OK) return 0;
    if (lb_record_to_json(r, &first, &err) != LB_OK || lb_report_text(r, false, &text, &err) != LB_OK) abort();
    if (lb_report_brief(r, true, &brief, &err) != LB_OK) abort();
    if (lb_report_junit((const lb_record *const[]){r}, 1, &junit, &err) != LB_OK) abort();
    expect_printable(text);
    if (lb_record_from_json(&again, first, strlen(first), "again", &err) != LB_OK || lb_record_to_json(again, &second, &err) != LB_OK)
        abort();
    if (strcmp(first, second) != 0) abort();
    free(first);
    free(second);
    free(text);
    free(brief);
    free(junit);
    lb_record_close(r);
    lb_record_close(again);
    return 0;
}
