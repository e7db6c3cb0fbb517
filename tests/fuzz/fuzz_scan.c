/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A scan: the first byte says whether the rest is as it is, a cubin behind its magic, or PTX behind its first lines. */
#include "lastbit/scan.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const heads[] = {"", "\177ELF\2\1\1\101", ".version 8.0\n.target sm_90\n.entry k(){\n"};
    const char *head = heads[size ? bytes[0] % 3 : 0];
    const size_t length = strlen(head), rest = size ? size - 1 : 0;
    uint8_t *whole = malloc(length + rest + 1);
    const lb_scan_kernel *k;
    lb_scan *s;
    lb_error err = {0};
    if (!whole) return 0;
    memcpy(whole, head, length);
    if (rest) memcpy(whole + length, bytes + 1, rest);
    if (lb_scan_bytes(&s, whole, length + rest, "fuzz", &err) == LB_OK) {
        for (size_t i = 0; (k = lb_scan_kernel_at(s, i)); i++)
            for (size_t j = 0; j < k->line_count; j++)
                if (!k->lines[j].count || !*k->lines[j].name) abort();
        lb_scan_close(s);
    } else if (s || !*err.message) {
        abort();
    }
    free(whole);
    return 0;
}
