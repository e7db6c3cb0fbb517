/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "emit/source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lb_source_identifier(const char *name, char *out, size_t size) {
    size_t n = 0;
    for (; *name && n + 1 < size; name++) out[n++] = isalnum((unsigned char)*name) ? *name : '_';
    out[n] = 0;
}

static uint64_t fnv1a(const char *s) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h;
}

lb_status lb_source_close(lb_text *body, const ir_program *p, char **text, lb_emit_stats *counts, lb_error *err) {
    lb_text all = {0};
    char hash[sizeof counts->hash] = "";
    if (body->s) snprintf(hash, sizeof hash, "%016" PRIx64, fnv1a(body->s));
    lb_text_add(&all, "// lastbit emit: hash %s of all that follows this line\n%s", hash, body->s ? body->s : "");
    if (counts) {
        counts->decode = p->counted[IR_DECODE];
        counts->address = p->counted[IR_ADDRESS];
        counts->path = p->counted[IR_MAIN];
        counts->special = p->counted[IR_RARE];
        memcpy(counts->hash, hash, sizeof hash);
    }
    all.failed = all.failed || body->failed || p->failed;
    free(body->s);
    *body = (lb_text){0};
    return lb_text_take(&all, text, err);
}
