/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An explanation as one JSON object, with everything in it. docs/explain.md says what each key means. */
#include "lastbit/report.h"
#include "report/hexfloat.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

static json_t *code(const lb_format *f, uint64_t bits) {
    char text[24];
    snprintf(text, sizeof text, "0x%0*" PRIx64, (f->bits + 3) / 4, bits);
    return json_string(text);
}

static json_t *value(lb_value v) {
    char text[LB_HEXFLOAT_SIZE];
    return json_string(lb_hexfloat(v, text));
}

static json_t *exponent(int32_t e) {
    return e == LB_NO_EXPONENT ? json_null() : json_integer(e);
}

static json_t *count(size_t n) {
    return json_integer((json_int_t)n);
}

static json_t *number(const lb_format *f, uint64_t bits) {
    const double x = lb_to_double(f, bits);
    json_t *decimal = isnan(x) ? json_string("NaN") : isinf(x) ? json_string(x < 0 ? "-Infinity" : "Infinity") : json_real(x);
    return json_pack("{s:o, s:o, s:o}", "bits", code(f, bits), "value", decimal, "hex", value(lb_decode(f, bits)));
}

static json_t *term(const lb_explanation *e, const lb_explain_term *t) {
    static const char *const sources[] = {"product", "c", "op"};
    const lb_unit *u = &e->unit;
    json_t *j = json_pack("{s:s}", "from", sources[t->source]);
    if (t->source == LB_EXPLAIN_FROM_PRODUCT) {
        json_object_set_new(j, "k", count(t->k));
        json_object_set_new(j, "a", code(lb_format_row(u->a), t->a));
        json_object_set_new(j, "b", code(lb_format_row(u->b), t->b));
        if (u->scale_block && !u->group) {
            json_object_set_new(j, "scale_a", code(lb_format_row(u->scale), t->scale_a));
            json_object_set_new(j, "scale_b", code(lb_format_row(u->scale), t->scale_b));
        }
    } else if (t->source == LB_EXPLAIN_FROM_C) {
        json_object_set_new(j, "bits", code(lb_format_row(u->c), t->a));
    } else {
        json_object_set_new(j, "op", count(t->from));
    }
    json_object_set_new(j, "flushed", json_boolean(t->flushed));
    json_object_set_new(j, "value", value(t->value));
    json_object_set_new(j, "exponent", exponent(t->exponent));
    json_object_set_new(j, "max", json_boolean(t->sets_max));
    json_object_set_new(j, "kept", value(t->kept));
    json_object_set_new(j, "cut", value(t->cut));
    return j;
}

static json_t *operation(const lb_explanation *e, size_t n) {
    const lb_explain_op *op = &e->ops[n];
    json_t *terms = json_array();
    for (size_t i = 0; i < op->term_count; i++) json_array_append_new(terms, term(e, &e->terms[op->first_term + i]));
    json_t *j = json_pack("{s:o, s:s, s:o, s:o, s:[o,o]}", "op", count(n), "what", lb_explain_what_name(op->what), "step", count(op->step),
                          "block", count(op->block), "k", count(op->first_k), count(op->last_k));
    if (op->what == LB_EXPLAIN_GROUP) {
        json_object_set_new(j, "scale_a", code(lb_format_row(e->unit.scale), op->scale_a));
        json_object_set_new(j, "scale_b", code(lb_format_row(e->unit.scale), op->scale_b));
    }
    json_object_set_new(j, "terms", terms);
    json_object_set_new(j, "max_exp", exponent(op->max_exp));
    json_object_set_new(j, "unit_exp", op->aligned ? json_integer(op->unit_exp) : json_null());
    json_object_set_new(j, "c_unit_exp", op->aligned ? json_integer(op->c_unit_exp) : json_null());
    json_object_set_new(j, "floor", json_boolean(op->floor_sets_max));
    json_object_set_new(j, "alone", json_boolean(op->alone));
    json_object_set_new(j, "sum", value(op->sum));
    json_object_set_new(j, "sum_exponent", exponent(op->sum_exponent));
    json_object_set_new(j, "round", op->rounded ? json_string(lb_unit_round_name(op->round)) : json_null());
    json_object_set_new(j, "result", op->rounded ? number(lb_format_row(op->format), op->result) : json_null());
    json_object_set_new(j, "lost", value(op->lost));
    json_object_set_new(j, "overflow", json_boolean(op->overflow));
    json_object_set_new(j, "flushed", json_boolean(op->result_flushed));
    return j;
}

static json_t *unit(const lb_unit *u) {
    json_t *j = json_pack("{s:s, s:s, s:i}", "name", u->name, "path", lb_unit_path_name(u->path), "k", u->k);
    json_object_set_new(j, "terms", u->terms ? json_integer(u->terms) : json_null());
    json_object_set_new(j, "frac_bits", u->frac_bits ? json_integer(u->frac_bits) : json_null());
    json_object_set_new(j, "floor_exp", u->floor_exp != LB_NO_FLOOR ? json_integer(u->floor_exp) : json_null());
    json_object_set_new(j, "round", json_string(lb_unit_round_name(u->round)));
    json_object_set_new(j, "evidence", json_string(lb_evidence_name(u->evidence)));
    return j;
}

lb_status lb_report_explanation_json(const lb_explanation *e, char **out, lb_error *err) {
    const lb_format *c = lb_format_row(e->unit.c), *d = lb_format_row(e->unit.d);
    json_t *ops = json_array();
    for (size_t i = 0; i < e->op_count; i++) json_array_append_new(ops, operation(e, i));
    json_t *j = json_pack("{s:s, s:o, s:[o,o], s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "lastbit.explanation/1", "unit",
                          unit(&e->unit), "at", count(e->row), count(e->col), "k", count(e->k), "steps", count(e->steps), "blocks",
                          count(e->blocks), "c", number(c, e->c), "d", number(d, e->d), "exact", number(d, e->exact), "exact_value",
                          value(e->exact_value), "ulp", e->ulp > INT64_MAX ? json_null() : json_integer((json_int_t)e->ulp), "ops", ops);
    *out = j ? json_dumps(j, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(j);
    return *out ? LB_OK : lb_fail(err, LB_E_MEMORY, "", "no memory for the explanation");
}
