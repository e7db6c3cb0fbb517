/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/describe.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double lb_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void lb_describe_unit(lb_record *r, const lb_unit *u) {
    lb_record_text(&r->unit_name, "%s", u->name);
    lb_record_text(&r->unit_source, "%s", u->source);
    lb_record_text(&r->unit_note, "%s", u->note);
    lb_record_text(&r->unit_open, "%s", u->open);
    r->unit_evidence = u->evidence;
}

void lb_describe_case(lb_record *r, const lb_case *x, const lb_unit *u, const lb_contract *c, size_t sample) {
    lb_text t = {0};
    lb_text_add(&t, "op=%s in=%s", x->op, x->a.format->name);
    if (x->b.format != x->a.format) lb_text_add(&t, " in_b=%s", x->b.format->name);
    if (x->c.codes) lb_text_add(&t, " acc=%s", x->c.format->name);
    lb_text_add(&t, " out=%s", x->out->name);
    if (u) lb_text_add(&t, " unit=%s", u->name);
    if (c) lb_text_add(&t, " contract=%s", c->name);
    lb_text_add(&t, " m=%zu n=%zu k=%zu", lb_case_m(x), lb_case_n(x), lb_case_k(x));
    if (x->b_transposed) lb_text_add(&t, " tb=1");
    if (sample) lb_text_add(&t, " sample=%zu", sample);
    char *s;
    if (lb_text_take(&t, &s, NULL) != LB_OK) return;
    lb_record_text(&r->case_string, "%s", s);
    lb_record_text(&r->op, "%s", x->op);
    free(s);
}

void lb_describe_grade(lb_record *r, const lb_format *f, const lb_contract *c, size_t m, size_t n, double k) {
    lb_record_text(&r->op, "grade");
    lb_record_text(&r->case_string, "op=grade in=%s contract=%s m=%zu n=%zu k=%.17g", f->name, c->name, m, n, k);
    lb_record_text(&r->coverage, "all");
}

bool lb_describe_misdeed(const lb_run_report *r, char out[LB_MISDEED]) {
    if (r->end != LB_RUN_DONE)
        snprintf(out, LB_MISDEED, "%s%s", r->end == LB_RUN_CRASHED ? "the device's process was " : "", r->why);
    else if (r->guard_damage)
        snprintf(out, LB_MISDEED, "it wrote %" PRIu64 " bytes outside its arrays", r->guard_damage);
    else if (r->inputs_changed)
        snprintf(out, LB_MISDEED, "it wrote to its inputs");
    else
        return false;
    return true;
}
