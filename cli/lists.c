/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit units, formats, contracts, schedules, backends, ops and more: the tables, as text, JSON or Markdown, from the rows. */
#include "cli.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one object a row ------------------------------------------------------------------------------------------------ */

static json_t *unit_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_unit_row(i); i++) {
        const lb_unit *u = lb_unit_row(i);
        json_t *row = json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "name", u->name, "m", u->m, "n", u->n, "k", u->k, "a",
                                lb_format_row(u->a)->name, "b", lb_format_row(u->b)->name, "c", lb_format_row(u->c)->name, "d",
                                lb_format_row(u->d)->name, "path", lb_unit_path_name(u->path));
        const bool runs = u->path != LB_PATH_NONE;
        json_object_set_new(row, "terms", runs ? json_integer(u->terms) : json_null());
        json_object_set_new(row, "frac_bits", u->frac_bits ? json_integer(u->frac_bits) : json_null());
        json_object_set_new(row, "floor_exp", runs && u->floor_exp != LB_NO_FLOOR ? json_integer(u->floor_exp) : json_null());
        json_object_set_new(row, "round", runs ? json_string(lb_unit_round_name(u->round)) : json_null());
        json_object_set_new(row, "scale", u->scale_block ? json_string(lb_format_row(u->scale)->name) : json_null());
        json_object_set_new(row, "scale_block", u->scale_block ? json_integer(u->scale_block) : json_null());
        json_object_set_new(row, "group", u->group ? json_integer(u->group) : json_null());
        json_object_set_new(row, "sparse_group", u->sparse_group ? json_integer(u->sparse_group) : json_null());
        json_object_set_new(row, "evidence", json_string(lb_evidence_name(u->evidence)));
        json_object_set_new(row, "source", json_string(u->source));
        json_object_set_new(row, "note", json_string(u->note));
        json_object_set_new(row, "open", json_string(u->open));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void set_code(json_t *row, const char *key, const lb_format *f, bool has, uint64_t code) {
    char text[32];
    snprintf(text, sizeof text, "0x%0*llx", (f->bits + 3) / 4, (unsigned long long)code);
    json_object_set_new(row, key, has ? json_string(text) : json_null());
}

static json_t *format_rows(void) {
    json_t *rows = json_array();
    for (int i = 0; i < LB_FORMAT_COUNT; i++) {
        const lb_format *f = lb_format_row((lb_format_id)i);
        uint64_t inf = 0, nan = 0;
        const bool has_inf = lb_inf_code(f, &inf), has_nan = lb_nan_code(f, &nan);
        json_t *row = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "name", f->name, "alias", f->alias, "bits", f->bits, "sign",
                                f->sign_bits, "exp", f->exp_bits, "man", f->man_bits, "bias", f->bias);
        json_object_set_new(row, "max", json_real(lb_to_double(f, lb_max_code(f))));
        json_object_set_new(row, "least", json_real(lb_to_double(f, lb_min_code(f))));
        set_code(row, "inf", f, has_inf, inf);
        set_code(row, "nan", f, has_nan, nan);
        json_object_set_new(row, "source", json_string(f->source));
        json_object_set_new(row, "note", json_string(f->note));
        json_array_append_new(rows, row);
    }
    for (size_t i = 0; lb_block_format_row(i); i++) {
        const lb_block_format *f = lb_block_format_row(i);
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "name", f->name, "element", lb_format_row(f->element)->name,
                                        "scale", lb_format_row(f->scale)->name, "block", f->size, "source", f->source, "note", f->note));
    }
    return rows;
}

static json_t *real_or_null(double x, bool has) {
    return has && isfinite(x) ? json_real(x) : json_null();
}

static json_t *contract_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_contract_row(i); i++) {
        const lb_contract *c = lb_contract_row(i);
        const bool ordinals = c->bound == LB_BOUND_ULP_OR_FLOOR, rounds = c->unit_roundoff > 0;
        json_t *row = json_pack("{s:s, s:s}", "name", c->name, "bound", lb_bound_name(c->bound));
        json_object_set_new(row, "max_ulp", real_or_null(c->max_ulp, ordinals));
        json_object_set_new(row, "margin", real_or_null(c->margin, c->margin > 0));
        json_object_set_new(row, "unit_roundoff", real_or_null(c->unit_roundoff, rounds));
        json_object_set_new(row, "rel_rms_gate", real_or_null(c->rel_rms_gate, true));
        json_object_set_new(row, "specials", json_string(c->classes_first ? lb_specials_name(c->specials) : "numbers"));
        json_object_set_new(row, "parameters", json_string(c->parameters ? c->parameters : ""));
        json_object_set_new(row, "formats", json_string(c->formats));
        json_object_set_new(row, "evidence", json_string(lb_evidence_name(c->evidence)));
        json_object_set_new(row, "source", json_string(c->source));
        json_object_set_new(row, "note", json_string(c->note));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *schedule_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_schedule_row(i); i++) {
        const lb_schedule_named *r = lb_schedule_row(i);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", r->name, "schedule", r->text, "evidence",
                                              lb_evidence_name(r->evidence), "source", r->source, "note", r->note));
    }
    return rows;
}

static json_t *backend_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_backend_name(i); i++)
        json_array_append_new(rows, json_pack("{s:s, s:s}", "name", lb_backend_name(i), "summary", lb_backend_summary(i)));
    return rows;
}

static json_t *parameter_rows(void) {
    json_t *rows = json_array();
    lb_parameter p;
    for (size_t i = 0; lb_unit_parameter(i, &p); i++) {
        char paths[512] = "";
        size_t used = 0, count = 0;
        for (int path = 1; path < LB_PATH_COUNT; path++) {
            if (!(p.paths >> path & 1)) continue;
            used += (size_t)snprintf(paths + used, sizeof paths - used, "%s%s", count++ ? " " : "", lb_unit_path_name((lb_unit_path)path));
        }
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "name", p.key, "alias", p.alias ? p.alias : "", "values",
                                              p.values, "meaning", p.note, "edge", p.edge, "paths",
                                              count + 1 == LB_PATH_COUNT ? "every path" : paths));
    }
    return rows;
}

static json_t *cause_rows(void) {
    json_t *rows = json_array();
    for (int i = LB_CAUSE_NONE + 1; i < LB_CAUSE_COUNT; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s}", "name", lb_cause_name((lb_cause)i), "what", lb_cause_what((lb_cause)i)));
    return rows;
}

static void port_text(char *text, size_t size, const lb_op_port *ports, unsigned count) {
    size_t used = 0;
    for (unsigned i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s[%s]%s%s", i ? " " : "", ports[i].name, ports[i].format, ports[i].shape,
                                 *ports[i].fill ? "~" : "", ports[i].fill);
}

static json_t *op_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_op_row(i); i++) {
        const lb_op *op = lb_op_row(i);
        char params[512] = "", in[512] = "", out[256] = "";
        size_t used = 0;
        for (unsigned p = 0; p < op->param_count && used < sizeof params; p++)
            used += (size_t)snprintf(params + used, sizeof params - used, op->params[p].whole ? "%s%s=%.0f" : "%s%s=%.3g", p ? " " : "",
                                     op->params[p].name, op->params[p].value);
        port_text(in, sizeof in, op->in, op->in_count);
        port_text(out, sizeof out, op->out, op->out_count);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", op->name, "formula", op->formula,
                                              "params", params, "inputs", in, "outputs", out, "needs", op->needs, "limit", op->bound,
                                              "edge", op->edge, "source", op->source));
    }
    return rows;
}

static json_t *draw_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_op_dist_name(i); i++)
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s}", "name", lb_op_dist_name(i), "kind", "dist=", "what", lb_op_dist_summary(i)));
    for (size_t i = 0; lb_op_fill_name(i); i++)
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s}", "name", lb_op_fill_name(i), "kind", "fill", "what", lb_op_fill_summary(i)));
    return rows;
}

/* "3 + 2|x| ULP + 4.8e-07". */
static void error_text(char *text, size_t size, double ulp, double per_x, double absolute) {
    size_t used = (size_t)snprintf(text, size, "%g", ulp);
    if (per_x > 0) used += (size_t)snprintf(text + used, size - used, " + %g|x|", per_x);
    used += (size_t)snprintf(text + used, size - used, " ULP");
    if (absolute > 0) snprintf(text + used, size - used, " + %.2g", absolute);
}

static json_t *function_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_function_row_at(i); i++) {
        const lb_function_row *f = lb_function_row_at(i);
        json_t *row = json_pack("{s:s}", "name", f->name);
        char text[64], sources[512] = "";
        size_t used = 0;
        for (int c = 0; c < LB_FUNCTION_CLASS_COUNT; c++) {
            error_text(text, sizeof text, f->at[c].ulp, f->at[c].ulp_per_x, f->at[c].absolute);
            json_object_set_new(row, lb_function_class_name((lb_function_class)c), json_string(text));
            used += (size_t)snprintf(sources + used, sizeof sources - used, "%s%s", c ? "; " : "", f->at[c].source);
        }
        json_object_set_new(row, "source", json_string(sources));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *fault_rows(void) {
    json_t *rows = json_array();
    for (size_t i = 0; lb_fault_row(i); i++) {
        const lb_fault *f = lb_fault_row(i);
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s}", "name", f->name, "of", f->of_operands ? "sum" : "output", "what", f->what));
    }
    return rows;
}

/* ---- printing -------------------------------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 12, MAX_CELL = 64 };

static void cell(const json_t *row, const char *key, char *out, size_t size) {
    const json_t *v = json_object_get(row, key);
    if (json_is_string(v))
        snprintf(out, size, "%s", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(out, size, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(out, size, "%.6g", json_real_value(v));
    else
        snprintf(out, size, "-");
}

static void print_text(const json_t *rows, const char *const *columns) {
    size_t width[MAX_COLUMNS] = {0}, i;
    char text[2048];
    const json_t *row;
    for (size_t c = 0; columns[c]; c++) {
        width[c] = strlen(columns[c]);
        json_array_foreach(rows, i, row) {
            cell(row, columns[c], text, sizeof text);
            if (strlen(text) > width[c]) width[c] = strlen(text);
        }
    }
    for (size_t c = 0; columns[c]; c++) printf("%-*s%s", columns[c + 1] ? (int)width[c] : 0, columns[c], columns[c + 1] ? "  " : "\n");
    json_array_foreach(rows, i, row) {
        for (size_t c = 0; columns[c]; c++) {
            cell(row, columns[c], text, sizeof text);
            printf("%-*s%s", columns[c + 1] ? (int)width[c] : 0, text, columns[c + 1] ? "  " : "\n");
        }
    }
}

static void print_markdown(const json_t *rows, const char *const *columns) {
    char text[2048];
    size_t i;
    const json_t *row;
    for (size_t c = 0; columns[c]; c++) printf("| %s ", columns[c]);
    printf("|\n");
    for (size_t c = 0; columns[c]; c++) printf("|---");
    printf("|\n");
    json_array_foreach(rows, i, row) {
        for (size_t c = 0; columns[c]; c++) {
            cell(row, columns[c], text, sizeof text);
            printf("| %s ", text);
        }
        printf("|\n");
    }
}

/* Rows whose name holds the pattern. */
static json_t *filtered(json_t *rows, const char *pattern) {
    json_t *kept = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (!pattern || strstr(name, pattern)) json_array_append(kept, row);
    }
    json_decref(rows);
    return kept;
}

static int list(int argc, char **argv, const char *synopsis, const char *what, json_t *(*build)(void), const char *const *columns,
                const char *const *document) {
    bool json = false, markdown = false, stop;
    const cli_option options[] = {{"json", 0, CLI_FLAG, &json, NULL, "one JSON array of objects, every field"},
                                  {"markdown", 0, CLI_FLAG, &markdown, NULL, "a table for a document"}};
    const cli_usage usage = {synopsis, what, options, sizeof options / sizeof options[0], NULL};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) {
        json_t *all = build(), *rows = all ? filtered(all, count ? args[0] : NULL) : NULL;
        if (!rows)
            code = CLI_USAGE; /* said already */
        else if (count > 1)
            code = cli_usage_error(argv[0], "%d given; it takes one part of a name", count);
        else if (json_array_size(rows) == 0)
            code = cli_usage_error(argv[0], "no row has \"%s\" in its name", count ? args[0] : "");
        else if (json) {
            json_dumpf(rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
            puts("");
        } else if (markdown)
            print_markdown(rows, document);
        else
            print_text(rows, columns);
        json_decref(rows);
    }
    free(args);
    return code;
}

int cli_units(int argc, char **argv) {
    static const char *const columns[] = {"name", "path", "terms", "frac_bits", "floor_exp", "round", "evidence", "note", NULL};
    static const char *const document[] = {"name",        "path",     "terms", "frac_bits", "floor_exp", "round", "scale",
                                           "scale_block", "evidence", "note",  "open",      "source",    NULL};
    return list(argc, argv, "lastbit units [PART-OF-NAME] [--json|--markdown]",
                "The matrix instructions: products a block, fraction bits kept, exponent floor, rounding, and how we know.", unit_rows,
                columns, document);
}

int cli_parameters(int argc, char **argv) {
    static const char *const columns[] = {"name", "values", "edge", "meaning", NULL};
    static const char *const document[] = {"name", "alias", "values", "meaning", "edge", "paths", NULL};
    return list(argc, argv, "lastbit parameters [PART-OF-NAME] [--json|--markdown]",
                "What --set changes: parameters of units, and the open edges (docs/open-edges.md) that they answer another way.",
                parameter_rows, columns, document);
}

int cli_formats_list(int argc, char **argv) {
    static const char *const columns[] = {"name", "bits", "sign", "exp", "man", "bias", "max", "least", "inf", "nan", "note", NULL};
    static const char *const document[] = {"name", "alias", "bits", "sign", "exp",  "man", "bias",
                                           "max",  "least", "inf",  "nan",  "note", NULL};
    return list(argc, argv, "lastbit formats [PART-OF-NAME] [--json|--markdown]",
                "The number formats: bits, the largest and the least positive value, the codes of Inf and NaN.", format_rows, columns,
                document);
}

int cli_contracts(int argc, char **argv) {
    static const char *const columns[] = {"name",     "bound",      "max_ulp", "margin",   "rel_rms_gate",
                                          "specials", "parameters", "formats", "evidence", NULL};
    static const char *const document[] = {"name",     "bound",   "max_ulp",  "margin", "unit_roundoff", "rel_rms_gate",
                                           "specials", "formats", "evidence", "source", "note",          NULL};
    return list(argc, argv, "lastbit contracts [PART-OF-NAME] [--json|--markdown]",
                "The numerics contracts: which bits are allowed beside the exact ones.", contract_rows, columns, document);
}

int cli_schedules(int argc, char **argv) {
    static const char *const columns[] = {"name", "schedule", "evidence", "note", NULL};
    static const char *const document[] = {"name", "schedule", "evidence", "source", "note", NULL};
    return list(argc, argv, "lastbit schedules [PART-OF-NAME] [--json|--markdown]",
                "Named schedules of whole products: what gemm --schedule takes, alone or with what differs (split-k=8).", schedule_rows,
                columns, document);
}

int cli_backends(int argc, char **argv) {
    static const char *const columns[] = {"name", "summary", NULL};
    return list(argc, argv, "lastbit backends [PART-OF-NAME] [--json|--markdown]", "What --on takes.", backend_rows, columns, columns);
}

static json_t *named_rows(const char *(*name)(size_t), const char *(*summary)(size_t)) {
    json_t *rows = json_array();
    for (size_t i = 0; name(i); i++) json_array_append_new(rows, json_pack("{s:s, s:s}", "name", name(i), "what", summary(i)));
    return rows;
}

static json_t *network_rows(void) {
    return named_rows(lb_net_kind, lb_net_kind_summary);
}

static json_t *arith_rows(void) {
    return named_rows(lb_arith_name, lb_arith_summary);
}

int cli_networks(int argc, char **argv) {
    static const char *const columns[] = {"name", "what", NULL};
    return list(argc, argv, "lastbit networks [PART-OF-NAME] [--json|--markdown]", "What kinds of model files `lastbit verify` reads.",
                network_rows, columns, columns);
}

int cli_ariths(int argc, char **argv) {
    static const char *const columns[] = {"name", "what", NULL};
    return list(argc, argv, "lastbit ariths [PART-OF-NAME] [--json|--markdown]",
                "What `lastbit verify --arith` takes beside a unit, on:DEVICE and trace:FILE.", arith_rows, columns, columns);
}

int cli_causes(int argc, char **argv) {
    static const char *const columns[] = {"name", "what", NULL};
    return list(argc, argv, "lastbit causes [PART-OF-NAME] [--json|--markdown]", "What the line `cause` of a failing check can name.",
                cause_rows, columns, columns);
}

int cli_ops(int argc, char **argv) {
    static const char *const columns[] = {"name", "params", "formula", NULL};
    static const char *const document[] = {"name", "formula", "params", "inputs", "outputs", "needs", "limit", "edge", "source", NULL};
    return list(argc, argv, "lastbit ops [PART-OF-NAME] [--json|--markdown]",
                "The operators: shapes, formula, what their limit is made of, policy at the edges (docs/operators.md).", op_rows, columns,
                document);
}

int cli_draws(int argc, char **argv) {
    static const char *const columns[] = {"name", "kind", "what", NULL};
    return list(argc, argv, "lastbit draws [PART-OF-NAME] [--json|--markdown]",
                "How an operator's inputs are drawn: distributions (dist=) of data, fills of what is not data.", draw_rows, columns,
                columns);
}

int cli_functions(int argc, char **argv) {
    static const char *const columns[] = {"name", "ieee", "opencl", "vulkan", NULL};
    static const char *const document[] = {"name", "ieee", "opencl", "vulkan", "source", NULL};
    return list(argc, argv, "lastbit functions [PART-OF-NAME] [--json|--markdown]",
                "What f32 functions of a device may be off by; part of every operator's limit.", function_rows, columns, document);
}

int cli_faults(int argc, char **argv) {
    static const char *const columns[] = {"name", "of", "what", NULL};
    return list(argc, argv, "lastbit faults [PART-OF-NAME] [--json|--markdown]",
                "What --power injects into a correct output: into any output, or (of the sum) where A and B are known.", fault_rows,
                columns, columns);
}

int cli_blindness(int argc, char **argv) {
    static const char *const columns[] = {"name",  "m16-tc", "m16-tc-original", "bitwise",     "blas", "gamma-rz",
                                          "torch", "nmse",   "benchdnn",        "baseline-2x", NULL};
    return list(argc, argv, "lastbit blindness [PART-OF-NAME] [--json|--markdown]",
                "Which faults each rule catches on a made case, and how many correct kernels it refuses.", cli_blindness_rows, columns,
                columns);
}
