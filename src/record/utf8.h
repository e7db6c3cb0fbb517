/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: names of files may hold any byte; JSON, XML and terminals may not. */
#ifndef LB_RECORD_UTF8_H
#define LB_RECORD_UTF8_H

#include <stddef.h>

/** Bytes of the UTF-8 character at s (1 … 4), or 0 where s begins none: a stray byte, an overlong form, a surrogate.
 *  s is NUL-terminated and not at its end. threads pure */
size_t lb_utf8_length(const char *s);

/** lb_utf8_length, but 0 also for what a line of a log or XML cannot hold: control characters, U+FFFE, U+FFFF. threads pure */
size_t lb_utf8_printable_length(const char *s);

#endif
