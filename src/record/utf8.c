/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "record/utf8.h"

/* Rows by first byte; the second byte's range excludes overlong forms, surrogates and what is beyond U+10FFFF. */
static const struct {
    unsigned char first_least, first_most, second_least, second_most, length;
} rows[] = {
    {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t lb_utf8_length(const char *s) {
    const unsigned char *b = (const unsigned char *)s;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (b[0] < rows[i].first_least || b[0] > rows[i].first_most) continue;
        if (rows[i].length > 1 && (b[1] < rows[i].second_least || b[1] > rows[i].second_most)) return 0;
        for (size_t j = 2; j < rows[i].length; j++)
            if ((b[j] & 0xc0) != 0x80) return 0;
        return rows[i].length;
    }
    return 0;
}

size_t lb_utf8_printable_length(const char *s) {
    const unsigned char *b = (const unsigned char *)s;
    const size_t n = lb_utf8_length(s);
    const int c0 = n == 1 && (b[0] < 0x20 || b[0] == 0x7f);
    const int c1 = n == 2 && b[0] == 0xc2 && b[1] < 0xa0;
    const int noncharacter = n == 3 && b[0] == 0xef && b[1] == 0xbf && b[2] >= 0xbe;
    return c0 || c1 || noncharacter ? 0 : n;
}
