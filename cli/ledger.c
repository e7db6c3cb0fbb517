/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* check --ledger: where the error of the first and the worst element comes from. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static void print_text(const char *which, const lb_ledger *l) {
    printf("  ledger     %s, row %zu, column %zu: true %.9g, actual %.9g\n", which, l->row, l->col, l->truth, l->actual);
    for (size_t i = 0; lb_ledger_name(i); i++) {
        if (l->entry[i] == 0 && i != LB_LEDGER_UNEXPLAINED) continue;
        printf("    %-14s %+14.6g %+12.4g ulp  %s\n", lb_ledger_name(i), l->entry[i], l->entry[i] / l->step, lb_ledger_what(i));
    }
    printf("    %-14s %+14.6g %+12.4g ulp\n", "total", l->total, l->total / l->step);
}

static lb_status print_json(const char *which, const lb_ledger *l, lb_error *err) {
    json_t *entries = json_object();
    for (size_t i = 0; lb_ledger_name(i); i++) json_object_set_new(entries, lb_ledger_name(i), json_real(l->entry[i]));
    json_t *root = json_pack("{s:s, s:s, s:[I,I], s:f, s:f, s:f, s:f, s:b, s:o}", "schema", "lastbit.ledger/1", "element", which, "at",
                             (json_int_t)l->row, (json_int_t)l->col, "true", l->truth, "actual", l->actual, "total", l->total, "ulp",
                             l->step, "unit", l->has_unit, "entries", entries);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    if (text) printf("%s\n", text);
    free(text);
    json_decref(root);
    return text ? LB_OK : lb_fail(err, LB_E_MEMORY, "ledger", "no memory");
}

static lb_status print_one(const char *which, const lb_check_options *o, const lb_element *e, bool json, lb_error *err) {
    lb_ledger l;
    const lb_status s = lb_error_ledger(&o->x, NULL, NULL, o->unit, e->row, e->col, e->actual, &l, err);
    if (s == LB_OK && json) return print_json(which, &l, err);
    if (s == LB_OK) print_text(which, &l);
    if (s != LB_E_ARG) return s;
    if (!json) printf("  ledger     %s: %s\n", which, err->message); /* NaN or Inf: nothing to add up */
    return LB_OK;
}

lb_status cli_ledger(const lb_check_options *o, const lb_record *r, bool json, lb_error *err) {
    const bool both = r->first.present && r->worst.present && (r->first.row != r->worst.row || r->first.col != r->worst.col);
    if (!r->first.present && !r->worst.present && !json) printf("  ledger     no element differs\n");
    lb_status s = LB_OK;
    if (r->first.present) s = print_one("first", o, &r->first, json, err);
    if (s == LB_OK && r->worst.present && (both || !r->first.present)) s = print_one("worst", o, &r->worst, json, err);
    return s;
}
