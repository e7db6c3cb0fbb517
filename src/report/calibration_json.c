/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit.calibration/1. Numbers that JSON has no form for are null. */
#include "lastbit/calibrate.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *number(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(uint64_t n) {
    return json_integer((json_int_t)n);
}

static json_t *figures_of(const lb_calibration_figures *f) {
    json_t *faults = json_object();
    for (size_t i = 0; lb_calibration_fault_name(i); i++)
        json_object_set_new(faults, lb_calibration_fault_name(i), number(f->fault_ratio[i]));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:s}",
        "first_row", count(f->first_row), "rows", count(f->rows), "row_rms", number(f->row_rms), "floor", number(f->floor), "old_floor",
        number(f->old_floor), "drift_rms", number(f->drift_rms), "drift_max", number(f->drift_max), "bias", number(f->bias), "decided",
        count(f->decided), "spread", number(f->spread), "largest", number(f->largest), "tail", lb_calibration_tail_name(f->tail),
        "margin_needed", number(f->margin_needed), "max_ulp", number(f->max_ulp), "sign_flips", count(f->sign_flips), "over_ulp",
        count(f->over_ulp), "over_floor", count(f->over_floor), "over_old_floor", count(f->over_old), "max_abs", number(f->max_abs),
        "rel_rms", number(f->rel_rms), "worst_ratio", number(f->worst_ratio), "worst_at", count(f->worst_row), count(f->worst_col),
        "faults", faults, "weakest", lb_calibration_fault_name(f->weakest));
}

static json_t *list_of(const lb_calibration_figures *f, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, figures_of(&f[i]));
    return list;
}

lb_status lb_calibration_to_json(const lb_calibration *c, char **out, lb_error *err) {
    char seed[24];
    json_t *depths = json_array();
    snprintf(seed, sizeof seed, "0x%llx", (unsigned long long)c->seed);
    for (size_t i = 0; i < c->depth_count; i++) {
        const lb_calibration_depth *d = &c->depths[i];
        json_array_append_new(depths, json_pack("{s:o, s:o, s:o, s:o}", "k", count(d->k), "blocks", list_of(d->blocks, d->block_count),
                                                "rows", list_of(d->rows, c->m), "seconds", number(d->seconds)));
    }
    json_t *root = json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:o}", "schema",
                             "lastbit.calibration/1", "what", c->what, "against", c->against, "case", c->named ? c->named->name : NULL,
                             "recorded", c->named ? c->named->recorded : NULL, "in", c->in->name, "out", c->out->name, "m", count(c->m),
                             "n", count(c->n), "seed", seed, "margin", number(c->margin), "false_alarm", number(c->false_alarm), "elements",
                             number(c->elements), "truncates", c->truncates, "depths", depths);
    *out = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "calibration", "no memory");
}
