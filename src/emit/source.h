/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what every file of source has: a name that languages take, a hash of its text in the first line. */
#ifndef LB_EMIT_SOURCE_H
#define LB_EMIT_SOURCE_H

#include "emit/ir.h"

/* A name as an identifier: `_` for all that is no letter or digit. Cut to fit size. */
void lb_source_identifier(const char *name, char *out, size_t size);

/* The file: the line with the hash, then the body, which is freed. counts, if not NULL, gets what the program counted and the hash. */
lb_status lb_source_close(lb_text *body, const ir_program *p, char **text, lb_emit_stats *counts, lb_error *err);

#endif
