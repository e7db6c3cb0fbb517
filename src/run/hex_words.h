/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a line of hex words, as gen writes and programs answer. */
#ifndef LB_RUN_HEX_WORDS_H
#define LB_RUN_HEX_WORDS_H

#include "lastbit/base.h"

#include <stddef.h>
#include <stdint.h>

/** The words of a line, with or without 0x; a line that is empty or begins with # has none. errors LB_E_FILE, with `place`: another
 *  character, a word of more than `digits` digits, more than `most` words */
lb_status lb_hex_words(const char *line, size_t length, const char *place, size_t digits, uint64_t *words, size_t most, size_t *count,
                       lb_error *err);

#endif
