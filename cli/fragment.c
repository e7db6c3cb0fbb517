/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit fragment: which lane and register holds which element. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- digits as formulas ------------------------------------------------------------------------------------------------- */

/* The value of digit i of the number x: "L", "L%4", "L/4", "L/2%2". */
static void digit_text(char *out, size_t size, const lb_digit *digits, int i, const char *x) {
    int below = 1, rest = 1; /* all digits below, those above */
    for (int j = 0; j < i; j++) below *= digits[j].size;
    for (int j = i + 1; j < LB_FRAGMENT_DIGITS; j++) rest *= digits[j].size > 1 || (!digits[j].size && digits[j].step) ? 2 : 1;
    char divided[32], modulus[16] = "";
    snprintf(divided, sizeof divided, below == 1 ? "%s" : "%s/%d", x, below);
    if (rest > 1) snprintf(modulus, sizeof modulus, "%%%d", digits[i].size);
    snprintf(out, size, "%s%s", divided, modulus);
}

/* Add " + step*(digit)" for each digit of x that steps along an axis. */
static void add_terms(char *out, size_t size, const lb_digit *digits, const char *x, lb_axis axis) {
    for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
        const lb_digit *d = &digits[i];
        if (d->axis != axis || d->size == 1 || !d->step) continue;
        char text[48], term[64];
        digit_text(text, sizeof text, digits, i, x);
        if (d->step == 1)
            snprintf(term, sizeof term, "%s", text);
        else
            snprintf(term, sizeof term, strlen(text) > 1 ? "%d*(%s)" : "%d*%s", d->step, text);
        const size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used ? " + " : "", term);
    }
}

/* "2*(L%4) + i%2": an axis as a formula of the lane L and the element i of a lane; "0" if nothing steps along it. */
static void formula(char *out, size_t size, const lb_digit *lane, const lb_digit *item, lb_axis axis) {
    *out = 0;
    add_terms(out, size, lane, "L", axis);
    add_terms(out, size, item, "i", axis);
    if (!*out) snprintf(out, size, "0");
}

/* "L/2%2 = 1, i = 0": what the selectors choose; "" if nothing is to be chosen. In a row, which chooses nothing yet, "L/2%2, i". */
static void chosen(char *out, size_t size, const lb_digit *lane, const lb_digit *item, bool values) {
    *out = 0;
    for (int both = 0; both < 2; both++) {
        const lb_digit *digits = both ? item : lane;
        for (int i = 0; i < LB_FRAGMENT_DIGITS; i++) {
            if (digits[i].axis != LB_AXIS_CHOSEN) continue;
            char text[48], value[16] = "";
            digit_text(text, sizeof text, digits, i, both ? "i" : "L");
            if (values) snprintf(value, sizeof value, " = %d", digits[i].step);
            const size_t used = strlen(out);
            snprintf(out + used, size - used, "%s%s%s", used ? ", " : "", text, value);
        }
    }
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static json_t *any_or(int value) {
    return value ? json_integer(value) : json_null();
}

static json_t *row_json(const lb_fragment_row *r) {
    char name[64], size[3][16], row[96], col[96], matrix[96], selected[96];
    const int sizes[] = {r->m, r->n, r->k};
    for (int i = 0; i < 3; i++) snprintf(size[i], sizeof size[i], sizes[i] ? "%d" : "*", sizes[i]);
    snprintf(name, sizeof name, "%s.m%sn%sk%s%s%s", r->instr, size[0], size[1], size[2], *r->only ? "." : "", r->only);
    formula(row, sizeof row, r->lane, r->item, LB_AXIS_ROW);
    formula(col, sizeof col, r->lane, r->item, LB_AXIS_COL);
    formula(matrix, sizeof matrix, r->lane, r->item, LB_AXIS_MATRIX);
    chosen(selected, sizeof selected, r->lane, r->item, false);
    const bool scale = r->operand == LB_FRAGMENT_SCALE_A || r->operand == LB_FRAGMENT_SCALE_B;
    json_t *j = json_pack("{s:s, s:s}", "name", name, "operand", lb_fragment_operand_name(r->operand));
    json_object_set_new(j, "in_bits", any_or(r->in_bits));
    json_object_set_new(j, "own_bits", any_or(scale ? 8 : r->own_bits));
    json_object_set_new(j, "scales", scale ? json_integer(r->own_bits) : json_null());
    json_object_set_new(j, "row", json_string(row));
    json_object_set_new(j, "col", json_string(col));
    json_object_set_new(j, "matrix", json_string(matrix));
    json_object_set_new(j, "selected", json_string(selected));
    json_object_set_new(j, "evidence", json_string(lb_evidence_name(r->evidence)));
    json_object_set_new(j, "source", json_string(r->source));
    json_object_set_new(j, "note", json_string(r->note));
    return j;
}

static const char *text_of(const json_t *row, const char *key) {
    return json_string_value(json_object_get(row, key));
}

static void print_row(const json_t *r) {
    char bits[2][8];
    for (int i = 0; i < 2; i++) {
        const json_int_t n = json_integer_value(json_object_get(r, i ? "own_bits" : "in_bits"));
        snprintf(bits[i], sizeof bits[i], n ? "%d" : "-", (int)n);
    }
    printf("%-18s %-7s %2s %3s  [%s, %s]", text_of(r, "name"), text_of(r, "operand"), bits[0], bits[1], text_of(r, "row"),
           text_of(r, "col"));
    if (strcmp(text_of(r, "matrix"), "0") != 0) printf(" of matrix %s", text_of(r, "matrix"));
    if (*text_of(r, "selected")) printf(", selected: %s", text_of(r, "selected"));
    puts("");
}

static void print_json(json_t *rows) {
    json_dumpf(rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    puts("");
}

static void print_table(bool json) {
    json_t *rows = json_array();
    const json_t *r;
    size_t i;
    for (i = 0; lb_fragment_row_at(i); i++) json_array_append_new(rows, row_json(lb_fragment_row_at(i)));
    if (json)
        print_json(rows);
    else {
        printf("%-18s %-7s %2s %3s  %s\n", "instruction", "operand", "in", "own", "place of element i of lane L");
        json_array_foreach(rows, i, r) print_row(r);
    }
    json_decref(rows);
}

/* ---- one operand --------------------------------------------------------------------------------------------------------- */

static json_t *layout_json(const lb_unit *u, const lb_fragment *f) {
    json_t *elements = json_array();
    for (int matrix = 0; matrix < f->matrices; matrix++) {
        for (int r = 0; r < f->rows; r++) {
            for (int c = 0; c < f->cols; c++) {
                lb_slot s;
                lb_fragment_slot(f, (lb_place){matrix, r, c}, &s);
                json_array_append_new(elements, json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "matrix", matrix, "row", r, "col", c, "lane",
                                                          s.lane, "register", s.reg, "element", s.element));
            }
        }
    }
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:o}", "unit", u->name, "operand",
                     lb_fragment_operand_name(f->operand), "format", f->format->name, "matrices", f->matrices, "rows", f->rows, "cols",
                     f->cols, "lanes", f->lanes, "registers", f->registers, "bits", f->bits, "shift", f->shift, "evidence",
                     lb_evidence_name(f->evidence), "source", f->source, "note", f->note, "elements", elements);
}

/* Elements that lie side by side in one register share a cell: so many, along that axis. */
static int cell_elements(const lb_fragment *f, lb_axis *axis) {
    *axis = f->item[0].axis;
    if (f->bits >= 32 || f->item[0].step != 1 || *axis == LB_AXIS_CHOSEN || *axis == LB_AXIS_MATRIX) return 1;
    const int each = 32 / f->bits;
    return f->item[0].size < each ? f->item[0].size : each;
}

/* "L12 r3", with the elements of the register where a cell is not all of it: "L12 r3.4-7". */
static void cell_text(const lb_fragment *f, lb_place place, int count, char *out, size_t size) {
    lb_slot s;
    lb_fragment_slot(f, place, &s);
    int used = snprintf(out, size, "L%d r%d", s.lane, s.reg);
    if (f->bits >= 32 || count == 32 / f->bits) return;
    used += snprintf(out + used, size - (size_t)used, ".%d", s.element);
    if (count > 1) snprintf(out + used, size - (size_t)used, "-%d", s.element + count - 1);
}

static int cell_width(const lb_fragment *f, int count, int down, int along) {
    size_t width = 0;
    for (int r = 0; r < f->rows; r += down) {
        for (int c = 0; c < f->cols; c += along) {
            char text[48];
            cell_text(f, (lb_place){f->matrices - 1, r, c}, count, text, sizeof text);
            if (strlen(text) > width) width = strlen(text);
        }
    }
    return (int)width;
}

static void range_text(int first, int count, char *out, size_t size) {
    if (count == 1)
        snprintf(out, size, "%d", first);
    else
        snprintf(out, size, "%d-%d", first, first + count - 1);
}

static void print_cell(const char *text, int width, bool last) {
    if (last)
        puts(text);
    else
        printf("%-*s", width, text);
}

/* Columns in strips of eight cells, or four, in 80 characters. */
static void print_grid(const lb_fragment *f, int matrix) {
    enum { LINE = 80, CELLS = 8 };
    lb_axis axis;
    char text[48];
    const int count = cell_elements(f, &axis), down = axis == LB_AXIS_ROW ? count : 1, along = axis == LB_AXIS_COL ? count : 1;
    range_text(f->rows - down, down, text, sizeof text);
    const int label = strlen(text) > 5 ? (int)strlen(text) : 5, least = cell_width(f, count, down, along) + 1, room = LINE - label - 2;
    const int width = room / (least + 1) >= CELLS ? least + 1 : least, strip = (room / width >= CELLS ? CELLS : CELLS / 2) * along;
    for (int first = 0; first < f->cols; first += strip) {
        const int end = first + strip < f->cols ? first + strip : f->cols;
        printf("%*s", label + 2, "");
        for (int c = first; c < end; c += along) {
            range_text(c, along, text, sizeof text);
            print_cell(text, width, c + along >= end);
        }
        for (int r = 0; r < f->rows; r += down) {
            range_text(r, down, text, sizeof text);
            printf("%*s  ", label, text);
            for (int c = first; c < end; c += along) {
                cell_text(f, (lb_place){matrix, r, c}, count, text, sizeof text);
                print_cell(text, width, c + along >= end);
            }
        }
    }
}

static void print_layout(const lb_fragment *f) {
    char row[96], col[96], matrix[96], selected[96];
    formula(row, sizeof row, f->lane, f->item, LB_AXIS_ROW);
    formula(col, sizeof col, f->lane, f->item, LB_AXIS_COL);
    formula(matrix, sizeof matrix, f->lane, f->item, LB_AXIS_MATRIX);
    chosen(selected, sizeof selected, f->lane, f->item, true);
    printf("\n%s: %dx%d %s, %d lanes of %d register%s\n", lb_fragment_operand_name(f->operand), f->rows, f->cols, f->format->name, f->lanes,
           f->registers, f->registers == 1 ? "" : "s");
    printf("  row = %s\n  column = %s\n", row, col);
    if (f->matrices > 1) printf("  matrix = %s\n", matrix);
    if (*selected) printf("  selected: %s\n", selected);
    printf("  %s by %s:\n  %s\n", lb_evidence_name(f->evidence), f->source, f->note);
    if (f->bits == 64) printf("  an element fills registers r and r+1, the low half first\n");
    if (f->shift) printf("  an element has a byte of its register, its %d bits at bit %d\n", f->format->bits, f->shift);
    for (int m = 0; m < f->matrices; m++) {
        if (f->matrices > 1) printf("  matrix %d\n", m);
        print_grid(f, m);
    }
}

/* ---- the command --------------------------------------------------------------------------------------------------------- */

typedef struct fragment_args {
    const char *operand;
    uint64_t sparsity, byte_id, thread_id;
    bool json;
} fragment_args;

static lb_status operand_named(const char *name, int *out, lb_error *err) {
    const char *names[LB_FRAGMENT_OPERAND_COUNT];
    for (int i = 0; i < LB_FRAGMENT_OPERAND_COUNT; i++) {
        names[i] = lb_fragment_operand_name((lb_fragment_operand)i);
        if (strcmp(name, names[i]) == 0) {
            *out = i;
            return LB_OK;
        }
    }
    const char *near = lb_nearest_name(name, names, LB_FRAGMENT_OPERAND_COUNT);
    return lb_fail(err, LB_E_NAME, "--operand", "\"%s\": it is a, b, c, d, meta, scale-a or scale-b%s%s", name,
                   near ? "; did you mean " : "", near ? near : "");
}

static int selector(uint64_t value) {
    return value > 255 ? 255 : (int)value; /* far out of range is as wrong */
}

/* All operands that the unit has, or the one that is asked for. C is held as D where their formats are one. */
static lb_status show(const fragment_args *a, const char *name, lb_error *err) {
    const lb_fragment_selectors s = {selector(a->sparsity), selector(a->byte_id), selector(a->thread_id), selector(a->byte_id),
                                     selector(a->thread_id)};
    lb_unit u;
    lb_fragment layouts[LB_FRAGMENT_OPERAND_COUNT];
    lb_status found[LB_FRAGMENT_OPERAND_COUNT];
    lb_error why[LB_FRAGMENT_OPERAND_COUNT] = {0};
    int only = -1, known = 0;
    lb_status status = lb_unit_find(name, &u, err);
    if (status == LB_OK && a->operand) status = operand_named(a->operand, &only, err);
    if (status != LB_OK) return status;
    for (int i = 0; i < LB_FRAGMENT_OPERAND_COUNT; i++) {
        found[i] = lb_fragment_of(&u, (lb_fragment_operand)i, &s, &layouts[i], &why[i]);
        if (i == only && found[i] != LB_OK) return lb_fail(err, found[i], why[i].place, "%s", why[i].message);
        known += found[i] == LB_OK && (only < 0 || i == only);
    }
    if (!known) return lb_fail(err, LB_E_UNAVAILABLE, why[0].place, "%s", why[0].message);
    json_t *rows = json_array();
    if (!a->json) printf("%s\nL a lane, r a register, i an element of a lane, low bits first\n", u.name);
    for (int i = 0; i < LB_FRAGMENT_OPERAND_COUNT; i++) {
        const bool as_d = i == LB_FRAGMENT_C && only < 0 && u.c == u.d;
        if ((only >= 0 && i != only) || as_d || found[i] == LB_E_ARG) continue;
        if (found[i] == LB_OK && a->json)
            json_array_append_new(rows, layout_json(&u, &layouts[i]));
        else if (found[i] == LB_OK)
            print_layout(&layouts[i]);
        else if (!a->json)
            printf("\n%s\n", why[i].message);
    }
    if (a->json) print_json(rows);
    json_decref(rows);
    return LB_OK;
}

int cli_fragment(int argc, char **argv) {
    fragment_args a = {0};
    const cli_option options[] = {
        {"operand", 0, CLI_TEXT, &a.operand, "OPERAND", "a, b, c, d, meta, scale-a or scale-b (default all; c is held as d)"},
        {"sparsity", 0, CLI_COUNT, &a.sparsity, "N", "the sparsity selector of mma.sp (default 0)"},
        {"byte-id", 0, CLI_COUNT, &a.byte_id, "N", "the byte-id of block_scale (default 0)"},
        {"thread-id", 0, CLI_COUNT, &a.thread_id, "N", "the thread-id of block_scale (default 0)"},
        {"json", 0, CLI_FLAG, &a.json, NULL, "an array with an object an operand (without UNIT: a layout)"}};
    const cli_usage usage = {"lastbit fragment [UNIT] [--operand OPERAND] [--json]",
                             "Which lane and register holds which element of a tile; without UNIT the layouts that are known.", options,
                             sizeof options / sizeof options[0], "  lastbit fragment sm_80/mma.m16n8k16.f32.f16.f16.f32 --operand a"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    bool stop;
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    lb_error err = {0};
    if (args && !stop) {
        if (count > 1)
            code = cli_usage_error(argv[0], "%d given; it takes one UNIT", count);
        else if (count == 0)
            print_table(a.json);
        else if (show(&a, args[0], &err) != LB_OK) {
            cli_error(&err);
            code = CLI_USAGE; /* nothing was to be proven here: what is not known cannot be shown */
        }
    }
    free(args);
    return code;
}
