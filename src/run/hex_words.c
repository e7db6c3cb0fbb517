/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/hex_words.h"

#include <ctype.h>

lb_status lb_hex_words(const char *line, size_t length, const char *place, size_t digits, uint64_t *words, size_t most, size_t *count,
                       lb_error *err) {
    size_t i = 0;
    for (*count = 0;;) {
        while (i < length && isspace((unsigned char)line[i])) i++;
        if (i == length || (*count == 0 && line[i] == '#')) return LB_OK;
        if (i + 1 < length && line[i] == '0' && (line[i + 1] == 'x' || line[i + 1] == 'X')) i += 2;
        const size_t start = i;
        uint64_t word = 0;
        for (; i < length && isxdigit((unsigned char)line[i]); i++) {
            const int ch = tolower((unsigned char)line[i]);
            word = word << 4 | (uint64_t)(ch <= '9' ? ch - '0' : ch - 'a' + 10);
        }
        if (i == start || i - start > digits || (i < length && !isspace((unsigned char)line[i])))
            return lb_fail(err, LB_E_FILE, place, "column %zu: not a hexadecimal word of up to %zu digits", i + 1, digits);
        if (*count == most) return lb_fail(err, LB_E_FILE, place, "more than %zu words", most);
        words[(*count)++] = word;
    }
}
