/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A record for a person who reads a log: the verdict first, on one line that can be searched for. */
#include "base/text.h"
#include "lastbit/report.h"
#include "record/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_number(lb_text *t, const char *before, double x) {
    lb_text_add(t, "%s", before);
    if (isfinite(x) && x != 0 && (fabs(x) < 1e-3 || fabs(x) >= 1e6))
        lb_text_add(t, "%.4e", x);
    else if (isfinite(x))
        lb_text_add(t, "%.6g", x);
    else
        lb_text_add_double(t, x);
}

/* A string of the record on its own line, whatever it holds: a name of a file must not begin a line, or colour a terminal. */
static void add_printable(lb_text *t, const char *s) {
    while (*s) {
        const size_t n = lb_utf8_printable_length(s);
        lb_text_add_bytes(t, n ? s : "?", n ? n : 1);
        s += n ? n : 1;
    }
}

/* The value of a code: exact where nine digits hold it, else the shortest decimal that reads back as the code. */
static void add_value(lb_text *t, const lb_format *f, uint64_t code, double value) {
    char s[32];
    if (!f || !isfinite(value)) {
        lb_text_add_double(t, value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, value);
        const double back = strtod(s, NULL);
        if (back == value || (digits >= 9 && lb_from_double(f, back) == code)) break;
    }
    lb_text_add(t, "%s", s);
}

static void add_hex(lb_text *t, const lb_format *f, uint64_t code, int column) {
    char s[24];
    snprintf(s, sizeof s, "0x%0*" PRIx64, f ? (f->bits + 3) / 4 : 1, code);
    lb_text_add(t, "%-*s", column, s);
}

static void add_code(lb_text *t, const lb_format *f, uint64_t code, double value) {
    add_hex(t, f, code, 0);
    lb_text_add(t, " (");
    add_value(t, f, code, value);
    lb_text_add(t, ")");
}

/* VERDICT case: counts worst bound at */
static void add_headline(lb_text *t, const lb_record *r, bool color) {
    static const char *const colors[LB_VERDICT_COUNT] = {"\033[32m", "\033[31m", "\033[33m", "\033[36m"};
    const char *known = r->verdict == LB_FAIL && *r->known ? " known" : "";
    lb_text_add(t, "%s%s%s%s ", color ? colors[*known ? LB_SKIP : r->verdict] : "", lb_verdict_name(r->verdict), known,
                color ? "\033[0m" : "");
    add_printable(t, r->case_string);
    lb_text_add(t, ": compared=%" PRIu64 " exact=%" PRIu64 " legal=%" PRIu64 " wrong=%" PRIu64, r->counts.compared, r->counts.exact,
                r->counts.legal, r->counts.wrong);
    if (r->worst.present) {
        add_number(t, " worst=", r->worst.ulp);
        lb_text_add(t, "ulp");
        if (!isnan(r->worst.bound)) add_number(t, " bound=", r->worst.bound);
        lb_text_add(t, " at=%zu,%zu", r->worst.row, r->worst.col);
    }
    lb_text_add(t, "\n");
}

static void add_line(lb_text *t, const char *label, const char *value) {
    if (!*value) return;
    lb_text_add(t, "  %-10s ", label);
    add_printable(t, value);
    lb_text_add(t, "\n");
}

static void add_exact(lb_text *t, const lb_record *r) {
    if (!*r->unit_name) return;
    const uint64_t n = r->counts.compared, exact = r->counts.exact;
    lb_text_add(t, "  exact:     %" PRIu64 "/%" PRIu64, exact, n);
    if (exact < n) lb_text_add(t, ", %" PRIu64 " differ", n - exact);
    lb_text_add(t, "\n");
}

/* The keys of the open edges, "D1 D2 D5", of whole sentences "D1: …; D2: …", which the record and `lastbit units --json` have. */
static void add_open_edges(lb_text *t, const char *open) {
    size_t keys = 0;
    for (const char *p = open; *p; p++) {
        const size_t digits = *p == 'D' && (p == open || p[-1] == ' ') ? strspn(p + 1, "0123456789") : 0;
        if (!digits || p[1 + digits] != ':') continue;
        lb_text_add(t, "%s%.*s", keys++ ? " " : "  open       ", (int)digits + 1, p);
    }
    if (keys)
        lb_text_add(t, " (docs/open-edges.md: what no recording settles, and the choice taken)\n");
    else
        add_line(t, "open", open);
}

static void add_unit(lb_text *t, const lb_record *r) {
    if (!*r->unit_name) return;
    lb_text_add(t, "  unit       ");
    add_printable(t, r->unit_name);
    lb_text_add(t, ", %s [", lb_evidence_name(r->unit_evidence));
    add_printable(t, r->unit_source);
    lb_text_add(t, "]\n");
    add_line(t, "evidence", r->unit_note);
    add_open_edges(t, r->unit_open);
}

static void add_contract(lb_text *t, const lb_record *r) {
    if (!*r->contract_name) return;
    lb_text_add(t, "  contract   ");
    add_printable(t, r->contract_name);
    lb_text_add(t, ", %s [", lb_evidence_name(r->contract_evidence));
    add_printable(t, r->contract_source);
    if (*r->contract_rule) {
        lb_text_add(t, "]: ");
        add_printable(t, r->contract_rule);
        lb_text_add(t, "\n");
        return;
    }
    add_number(t, "]: ", r->contract_max_ulp);
    add_number(t, " ulp or the floor at k = ", r->contract_k);
    add_number(t, "; rel_rms <= ", r->contract_rel_rms_gate);
    lb_text_add(t, "\n");
}

static void add_counts(lb_text *t, const lb_record *r) {
    const lb_counts *c = &r->counts;
    const struct {
        const char *name;
        uint64_t n;
    } rows[] = {{"NaN in actual", c->nan_actual},
                {"NaN in reference", c->nan_reference},
                {"Inf in actual", c->inf_actual},
                {"Inf in reference", c->inf_reference},
                {"other class", c->class_mismatch},
                {"sign flips", c->sign_flips},
                {"over the ULP budget", c->over_ulp},
                {"not written", c->not_written},
                {"guard damage", c->guard_damage},
                {"NaN of other bits", c->nan_payload},
                {"zero of other sign", c->zero_sign},
                {"flushed", c->flushed},
                {"saturated", c->saturated},
                {"overflowed", c->overflowed},
                {"subnormal inputs", c->subnormal_inputs}};
    const char *before = "  counts     ";
    if (c->total != c->compared || !c->compared) {
        lb_text_add(
            t, c->compared ? "%s%" PRIu64 " of %" PRIu64 " elements compared" : "%snothing compared: %" PRIu64 " of %" PRIu64 " elements",
            before, c->compared, c->total);
        before = ", ";
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].n) continue;
        lb_text_add(t, "%s%s %" PRIu64, before, rows[i].name, rows[i].n);
        before = ", ";
    }
    if (*before == ',') lb_text_add(t, "\n");
    if (!r->metrics.present) return;
    add_number(t, "  metrics    max_ulp ", r->metrics.max_ulp);
    add_number(t, ", max_abs ", r->metrics.max_abs);
    add_number(t, ", rel_rms ", r->metrics.rel_rms);
    add_number(t, ", rms ", r->metrics.rms);
    lb_text_add(t, "\n");
}

static void add_element(lb_text *t, const lb_record *r, const char *label, const lb_element *e) {
    if (!e->present) return;
    lb_text_add(t, "  %-10s row %zu, column %zu: ", label, e->row, e->col);
    add_code(t, r->out_format, e->actual, e->actual_value);
    lb_text_add(t, ", reference ");
    add_code(t, r->out_format, e->reference, e->reference_value);
    if (e->has_exact && e->exact_code != e->reference && r->out_format) {
        lb_text_add(t, ", unit ");
        add_code(t, r->out_format, e->exact_code, lb_to_double(r->out_format, e->exact_code));
    }
    add_number(t, "; ", e->ulp);
    add_number(t, " ulp, off by ", e->abs_error);
    if (!isnan(e->bound)) add_number(t, ", allowed ", e->bound);
    lb_text_add(t, "\n");
}

/* A number of the table; a dash where the contract has none. */
static void add_cell(lb_text *t, double x) {
    if (isnan(x))
        lb_text_add(t, " %10s", "-");
    else
        lb_text_add(t, " %10.4g", x);
}

/* Under a contract the columns that its floor is made of; without one the words. */
static void add_outliers(lb_text *t, const lb_record *r) {
    if (r->outlier_count < 2) return;
    const bool floors = *r->contract_name;
    lb_text_add(t, "  the first %zu of %" PRIu64 " wrong elements:\n    %8s %8s  ", r->outlier_count, r->counts.wrong, "row", "column");
    if (floors)
        lb_text_add(t, "%-14s %-14s %10s %10s %10s %10s %10s\n", "reference", "actual", "ulp", "|ref|/rms", "row rms", "floor", "allowed");
    else
        lb_text_add(t, "%-14s %-14s %-18s %-18s %10s\n", "reference", "actual", "reference", "actual", "ulp");
    for (size_t i = 0; i < r->outlier_count; i++) {
        const lb_element *e = &r->outliers[i];
        lb_text_add(t, "    %8zu %8zu  %-14.8g %-14.8g ", e->row, e->col, e->reference_value, e->actual_value);
        if (floors) {
            lb_text_add(t, "%10.6g", e->ulp);
            add_cell(t, fabs(e->reference_value) / e->row_rms);
            add_cell(t, e->row_rms);
            add_cell(t, e->floor);
            add_cell(t, e->bound);
            lb_text_add(t, "\n");
        } else {
            add_hex(t, r->out_format, e->reference, 19);
            add_hex(t, r->out_format, e->actual, 19);
            lb_text_add(t, "%10.6g\n", e->ulp);
        }
    }
}

static void add_timing(lb_text *t, const lb_record *r) {
    const struct {
        const char *name;
        double seconds;
    } rows[] = {
        {"device", r->seconds_device}, {"model", r->seconds_model}, {"reference", r->seconds_reference}, {"total", r->seconds_total}};
    const char *before = "  seconds    ";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (isnan(rows[i].seconds)) continue;
        lb_text_add(t, "%s%s %.3g", before, rows[i].name, rows[i].seconds);
        before = ", ";
    }
    if (*before == ',') lb_text_add(t, "\n");
}

/* One line of what the contract catches; with the faults, unless in brief. */
static void add_power(lb_text *t, const lb_record *r, bool faults) {
    const lb_power_score *p = &r->power;
    size_t ends[LB_POWER_COUNT] = {0};
    if (!p->present) return;
    for (size_t i = 0; i < p->row_count; i++) ends[p->rows[i].end]++;
    lb_text_add(t, "  power      catches %zu of %zu faults that no correct kernel shows", p->caught, p->due);
    if (p->due) lb_text_add(t, " (%.3g)", p->score);
    static const struct {
        lb_power_end end;
        const char *what;
    } others[] = {{LB_POWER_BELOW, "below the limit"}, {LB_POWER_HIDDEN, "hidden by the inputs"}, {LB_POWER_INERT, "not injected"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (ends[others[i].end]) lb_text_add(t, ", %zu %s", ends[others[i].end], others[i].what);
    lb_text_add(t, "\n");
    for (size_t i = 0; faults && i < p->row_count; i++) {
        const lb_power_row *f = &p->rows[i];
        lb_text_add(t, "    %-7s  %-18s ", lb_power_end_name(f->end), f->fault);
        if (f->allowed && f->end == LB_POWER_MISSED) lb_text_add(t, "allowed; ");
        if (f->changed) {
            add_number(t, "off by ", f->error);
            add_number(t, ", limit ", f->limit);
            lb_text_add(t, ", at %zu,%zu; ", f->row, f->col);
        }
        add_printable(t, f->why);
        lb_text_add(t, "\n");
    }
}

lb_status lb_report_text(const lb_record *r, bool color, char **out, lb_error *err) {
    lb_text t = {0};
    add_headline(&t, r, color);
    add_line(&t, "reason", r->reason);
    add_line(&t, "known", r->known);
    add_line(&t, "cause", r->cause);
    add_exact(&t, r);
    add_unit(&t, r);
    add_contract(&t, r);
    add_counts(&t, r);
    if (r->counts.wrong) add_element(&t, r, "first", &r->first);
    add_element(&t, r, "worst", &r->worst);
    add_outliers(&t, r);
    add_power(&t, r, true);
    add_line(&t, "on", r->on);
    add_line(&t, "reference", r->reference);
    add_line(&t, "coverage", r->coverage);
    add_timing(&t, r);
    add_line(&t, "machine", r->environment);
    if (r->verdict != LB_PASS) add_line(&t, "rerun", r->rerun);
    return lb_text_take(&t, out, err);
}

lb_status lb_report_brief(const lb_record *r, bool color, char **out, lb_error *err) {
    lb_text t = {0};
    add_headline(&t, r, color);
    add_line(&t, "reason", r->reason);
    add_line(&t, "known", r->known);
    add_line(&t, "cause", r->cause);
    add_exact(&t, r);
    if (r->counts.wrong) add_element(&t, r, "first", &r->first);
    add_power(&t, r, false);
    return lb_text_take(&t, out, err);
}
