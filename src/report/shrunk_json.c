/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit.shrink/1: how far a case was shrunk, with the record of what is left. */
#include "lastbit/shrink.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *shape(size_t m, size_t n, size_t k) {
    return json_pack("{s:I, s:I, s:I}", "m", (json_int_t)m, "n", (json_int_t)n, "k", (json_int_t)k);
}

lb_status lb_shrunk_to_json(const lb_shrunk *s, const char *capsule, char **out, lb_error *err) {
    char *record;
    const lb_case *x = &s->check.x;
    *out = NULL;
    const lb_status status = lb_record_to_json(s->record, &record, err);
    if (status != LB_OK) return status;
    json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:I, s:f, s:b, s:s, s:s?, s:o}", "schema", "lastbit.shrink/1", "failure",
                             lb_failure_name(s->failure), "from", shape(s->from_m, s->from_n, s->from_k), "to",
                             shape(lb_case_m(x), lb_case_n(x), lb_case_k(x)), "runs", (json_int_t)s->runs, "seconds", s->seconds,
                             "out_of_budget", s->out_of_budget, "kept", s->kept, "capsule", capsule, "record", json_loads(record, 0, NULL));
    free(record);
    *out = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "shrink", "no memory");
}
