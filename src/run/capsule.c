/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Capsules: a check and what came of it in one safetensors file. docs/capsule.md says what each key means. */
#include "base/try.h"
#include "lastbit/schedule.h"
#include "lastbit/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "lastbit.capsule/1"

enum { CONTRACT_BYTES = 1 << 20 };

struct lb_capsule {
    lb_file *file;
    lb_unit unit;
    lb_contract *contract;
    lb_check_options check;
    lb_mat actual, expected;
    char name[300];
};

static const char *const nans[] = {"bits", "class"}, *const references[] = {"auto", "f64", "exact"};

/* ---- what is expected ------------------------------------------------------------------------------------------------ */

/* The unit's own output where there is one, else the reference; in the output format. */
static lb_status expect(const lb_check_options *o, lb_mat *out, lb_error *err) {
    const lb_mat b = lb_case_b(&o->x);
    if (!o->unit) return lb_reference_matmul(&o->x, LB_REFERENCE_EXACT, NULL, 0, NULL, 0, out, NULL, NULL, err);
    const lb_format *own = lb_format_row(o->unit->d);
    void *wide = calloc(out->rows * out->cols + 1, (size_t)own->bytes);
    if (!wide) return lb_fail(err, LB_E_MEMORY, "capsule", "no memory for %zux%zu", out->rows, out->cols);
    lb_mat d = lb_mat_of(own, wide, out->rows, out->cols);
    const lb_status s = lb_gemm(o->unit, &o->x.a, &b, o->x.c.codes ? &o->x.c : NULL, &d, NULL, err);
    if (s == LB_OK) lb_mat_round(&d, out);
    free(wide);
    return s;
}

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* Tensors and keys of a file that is being made. */
typedef struct draft {
    lb_tensor tensors[5];
    void *owned[5];
    size_t tensor_count;
    const char *keys[64];
    size_t key_count; /* of keys and values */
    char numbers[4][24];
    char *contract_text;
} draft;

static void say(draft *d, const char *key, const char *value) {
    if (!value || !value[0] || d->key_count + 2 > sizeof d->keys / sizeof d->keys[0]) return;
    d->keys[d->key_count++] = key;
    d->keys[d->key_count++] = value;
}

static lb_status add_tensor(draft *d, const char *name, const lb_mat *m, lb_error *err) {
    const lb_dtype *type = lb_dtype_for(m->format, false);
    const size_t bytes = m->rows * m->cols * (size_t)m->format->bytes;
    char *codes = malloc(bytes + 1);
    if (!codes) return lb_fail(err, LB_E_MEMORY, "capsule", "no memory for tensor %s", name);
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++)
            lb_store_code(codes + (r * m->cols + c) * (size_t)m->format->bytes, m->format->bytes, lb_mat_code(m, r, c));
    d->owned[d->tensor_count] = codes;
    d->tensors[d->tensor_count++] = (lb_tensor){name, type, 2, {m->rows, m->cols}, codes, bytes};
    return LB_OK;
}

/* A contract that lies in a file goes along, so that the capsule needs nothing beside it. */
static lb_status add_contract(draft *d, const char *what, lb_error *err) {
    const size_t length = strlen(what);
    say(d, "contract", what);
    if (length < 5 || strcmp(what + length - 5, ".json") != 0) return LB_OK;
    FILE *f = fopen(what, "rb");
    d->contract_text = calloc(CONTRACT_BYTES + 1, 1);
    const size_t got = f && d->contract_text ? fread(d->contract_text, 1, CONTRACT_BYTES, f) : 0;
    const bool whole = f && feof(f) && got;
    if (f) fclose(f);
    if (!d->contract_text) return lb_fail(err, LB_E_MEMORY, what, "no memory");
    if (!whole) return lb_fail(err, LB_E_FILE, what, "cannot be read into the capsule");
    say(d, "contract_json", d->contract_text);
    return LB_OK;
}

static lb_status add_unit(draft *d, const lb_unit *u, lb_error *err) {
    lb_unit again;
    lb_error why;
    if (lb_unit_find(u->name, &again, &why) != LB_OK || !lb_units_alike(u, &again) || again.k != u->k)
        return lb_fail(err, LB_E_ARG, u->name, "its name does not find this unit again: a capsule holds units of the table and --set");
    say(d, "unit", u->name);
    return LB_OK;
}

static lb_status add_operands(draft *d, const lb_check_options *o, const lb_mat *observed, void *expected, lb_error *err) {
    const lb_case *x = &o->x;
    lb_mat want = lb_mat_of(x->out, expected, lb_case_m(x), lb_case_n(x));
    LB_TRY(expect(o, &want, err));
    LB_TRY(add_tensor(d, "a", &x->a, err));
    LB_TRY(add_tensor(d, "b", &x->b, err));
    if (x->c.codes) LB_TRY(add_tensor(d, "c", &x->c, err));
    LB_TRY(add_tensor(d, "expected", &want, err));
    return observed && observed->codes ? add_tensor(d, "observed", observed, err) : LB_OK;
}

static void say_all(draft *d, const lb_check_options *o, const lb_record *r, const lb_capsule_notes *n) {
    const lb_case *x = &o->x;
    say(d, "op", x->op);
    say(d, "a_format", x->a.format->name);
    say(d, "b_format", x->b.format->name);
    if (x->c.codes) say(d, "c_format", x->c.format->name);
    say(d, "out_format", x->out->name);
    say(d, "tb", x->b_transposed ? "1" : "0");
    if (o->unit) say(d, "nan", nans[o->nan_by_class]);
    if (o->contract) say(d, "reference", references[o->reference]);
    snprintf(d->numbers[0], sizeof d->numbers[0], "%" PRIu64, x->seed);
    say(d, "seed", d->numbers[0]);
    say(d, "failure", lb_failure_name(lb_failure_of(r)));
    say(d, "verdict", lb_verdict_name(r->verdict));
    say(d, "reason", r->reason);
    say(d, "cause", r->cause);
    say(d, "on", r->on);
    say(d, "environment", r->environment);
    say(d, "command", n ? n->command : NULL);
    say(d, "shrunk", n ? n->shrunk : NULL);
    say(d, "lastbit", lb_version());
}

lb_status lb_capsule_write(const char *path, const lb_check_options *o, const lb_record *r, const lb_mat *observed,
                           const lb_capsule_notes *notes, lb_error *err) {
    draft d = {0};
    LB_TRY(lb_case_check(&o->x, err));
    void *expected = calloc(lb_case_m(&o->x) * lb_case_n(&o->x) + 1, (size_t)o->x.out->bytes);
    lb_status s = expected ? LB_OK : lb_fail(err, LB_E_MEMORY, path, "no memory");
    say(&d, "schema", SCHEMA);
    if (s == LB_OK) s = add_operands(&d, o, observed, expected, err);
    if (s == LB_OK && o->unit) s = add_unit(&d, o->unit, err);
    if (s == LB_OK && o->contract) s = add_contract(&d, notes && notes->contract ? notes->contract : o->contract->name, err);
    if (s == LB_OK) {
        say_all(&d, o, r, notes);
        s = lb_safetensors_write(path, d.tensors, d.tensor_count, d.keys, d.key_count / 2, err);
    }
    for (size_t i = 0; i < d.tensor_count; i++) free(d.owned[i]);
    free(d.contract_text);
    free(expected);
    return s;
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static lb_status need(const lb_capsule *c, const char *key, const char **out, lb_error *err) {
    *out = lb_file_metadata(c->file, key);
    return *out ? LB_OK : lb_fail(err, LB_E_FILE, lb_file_path(c->file), "no capsule: its metadata lacks \"%s\"", key);
}

static lb_status read_choice(const lb_capsule *c, const char *key, const char *const *names, size_t count, size_t *out, lb_error *err) {
    const char *said = lb_file_metadata(c->file, key);
    *out = 0;
    for (size_t i = 0; said && i < count; i++) {
        *out = i;
        if (strcmp(said, names[i]) == 0) return LB_OK;
    }
    return said ? lb_fail(err, LB_E_FILE, lb_file_path(c->file), "\"%s\" is \"%.60s\", which no capsule says", key, said) : LB_OK;
}

/* A tensor as a matrix of a format; absent ones are left without codes. */
static lb_status read_matrix(const lb_capsule *c, const char *name, const lb_format *f, lb_mat *out, lb_error *err) {
    const char *path = lb_file_path(c->file);
    const lb_tensor *t = lb_file_find(c->file, name);
    *out = (lb_mat){0};
    if (!t) return LB_OK;
    if (t->rank != 2 || !t->shape[0] || !t->shape[1])
        return lb_fail(err, LB_E_FILE, path, "tensor \"%s\": a capsule's tensors are matrices, and not empty", name);
    if (t->dtype != lb_dtype_for(f, false) && t->dtype != lb_dtype_of_codes(f))
        return lb_fail(err, LB_E_FILE, path, "tensor \"%s\" is %s, which holds no codes of %s", name, t->dtype->name, f->name);
    *out = lb_mat_of(f, t->data, t->shape[0], t->shape[1]);
    lb_error why;
    if (lb_mat_check(out, name, &why) != LB_OK) return lb_fail(err, LB_E_FILE, path, "tensor \"%s\": %s", name, why.message);
    return LB_OK;
}

static lb_status read_format(const lb_capsule *c, const char *key, const lb_format **out, lb_error *err) {
    const char *said;
    lb_error why;
    LB_TRY(need(c, key, &said, err));
    if (lb_format_get(said, out, &why) != LB_OK) return lb_fail(err, LB_E_FILE, lb_file_path(c->file), "\"%s\": %s", key, why.message);
    return LB_OK;
}

static lb_status read_operands(lb_capsule *c, lb_error *err) {
    lb_case *x = &c->check.x;
    const lb_format *a, *b, *acc = NULL;
    const char *path = lb_file_path(c->file), *op;
    static const char *const flags[] = {"0", "1"};
    size_t tb;
    LB_TRY(need(c, "op", &op, err));
    if (strcmp(op, "matmul") != 0) return lb_fail(err, LB_E_FILE, path, "\"op\" is \"%.60s\"; capsules hold a matmul", op);
    LB_TRY(read_format(c, "a_format", &a, err));
    LB_TRY(read_format(c, "b_format", &b, err));
    LB_TRY(read_format(c, "out_format", &x->out, err));
    LB_TRY(read_choice(c, "tb", flags, 2, &tb, err));
    LB_TRY(read_matrix(c, "a", a, &x->a, err));
    LB_TRY(read_matrix(c, "b", b, &x->b, err));
    if (lb_file_find(c->file, "c")) LB_TRY(read_format(c, "c_format", &acc, err));
    if (acc) LB_TRY(read_matrix(c, "c", acc, &x->c, err));
    LB_TRY(read_matrix(c, "expected", x->out, &c->expected, err));
    LB_TRY(read_matrix(c, "observed", x->out, &c->actual, err));
    x->op = "matmul";
    x->b_transposed = tb == 1;
    if (!x->a.codes || !x->b.codes || !c->expected.codes)
        return lb_fail(err, LB_E_FILE, path, "no capsule: it lacks tensor \"%s\"", !x->a.codes ? "a" : !x->b.codes ? "b" : "expected");
    lb_error why;
    if (lb_case_check(x, &why) != LB_OK) return lb_fail(err, LB_E_FILE, path, "%s", why.message);
    const lb_mat *outputs[] = {&c->expected, &c->actual};
    for (size_t i = 0; i < 2; i++)
        if (outputs[i]->codes && (outputs[i]->rows != lb_case_m(x) || outputs[i]->cols != lb_case_n(x)))
            return lb_fail(err, LB_E_FILE, path, "tensor \"%s\" is %zux%zu; a and b make %zux%zu", i ? "observed" : "expected",
                           outputs[i]->rows, outputs[i]->cols, lb_case_m(x), lb_case_n(x));
    return LB_OK;
}

static lb_status read_rules(lb_capsule *c, lb_error *err) {
    const char *unit = lb_file_metadata(c->file, "unit"), *contract = lb_file_metadata(c->file, "contract"),
               *json = lb_file_metadata(c->file, "contract_json"), *path = lb_file_path(c->file);
    size_t nan, reference;
    lb_error why = {0};
    lb_status s = LB_OK;
    LB_TRY(read_choice(c, "nan", nans, 2, &nan, err));
    LB_TRY(read_choice(c, "reference", references, 3, &reference, err));
    if (unit) s = lb_unit_find(unit, &c->unit, &why);
    if (s == LB_OK && json)
        s = lb_contract_from_json(json, strlen(json), "contract_json", &c->contract, &why);
    else if (s == LB_OK && contract && strstr(contract, ".json"))
        s = lb_fail(&why, LB_E_FILE, "contract", "a capsule brings a contract's file along as \"contract_json\"");
    else if (s == LB_OK && contract)
        s = lb_contract_open(contract, &c->contract, &why);
    if (s == LB_E_MEMORY) return lb_fail(err, s, path, "%s", why.message);
    if (s != LB_OK) return lb_fail(err, LB_E_FILE, path, "%.100s: %.300s", why.place, why.message);
    if (!unit && !c->contract) return lb_fail(err, LB_E_FILE, path, "no capsule: it names neither a unit nor a contract to judge by");
    c->check.unit = unit ? &c->unit : NULL;
    c->check.contract = c->contract;
    c->check.nan_by_class = nan == 1;
    c->check.reference = (lb_reference_mode)reference;
    return LB_OK;
}

static lb_status read_capsule(lb_capsule *c, const char *path, lb_error *err) {
    LB_TRY(lb_file_open(&c->file, path, NULL, err));
    const char *schema = lb_file_metadata(c->file, "schema");
    if (!schema || strcmp(schema, SCHEMA) != 0)
        return lb_fail(err, LB_E_FILE, path,
                       "no capsule, which `lastbit shrink` writes: its metadata say %s%.60s%s, not schema \"" SCHEMA "\"",
                       schema ? "schema \"" : "no schema", schema ? schema : "", schema ? "\"" : "");
    LB_TRY(read_operands(c, err));
    LB_TRY(read_rules(c, err));
    snprintf(c->name, sizeof c->name, "capsule:%s", path);
    if (c->actual.codes) {
        c->check.actual = &c->actual;
        c->check.actual_name = c->name;
    }
    return LB_OK;
}

lb_status lb_capsule_open(lb_capsule **out, const char *path, lb_error *err) {
    lb_capsule *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c) return lb_fail(err, LB_E_MEMORY, path, "no memory");
    const lb_status s = read_capsule(c, path, err);
    if (s == LB_OK)
        *out = c;
    else
        lb_capsule_close(c);
    return s;
}

void lb_capsule_close(lb_capsule *c) {
    if (!c) return;
    lb_contract_close(c->contract);
    lb_file_close(c->file);
    free(c);
}

const lb_check_options *lb_capsule_check(const lb_capsule *c) {
    return &c->check;
}

const char *lb_capsule_text(const lb_capsule *c, const char *key) {
    return lb_file_metadata(c->file, key);
}

/* ---- judging again --------------------------------------------------------------------------------------------------- */

/* PASS by other expectations than the capsule's proves nothing of it. */
static lb_status compare_expected(const lb_capsule *c, lb_record *r, lb_error *err) {
    const lb_mat *e = &c->expected;
    void *codes = calloc(e->rows * e->cols + 1, (size_t)e->format->bytes);
    if (!codes) return lb_fail(err, LB_E_MEMORY, c->name, "no memory");
    lb_mat now = lb_mat_of(e->format, codes, e->rows, e->cols);
    const lb_status s = expect(&c->check, &now, err);
    for (size_t i = 0; s == LB_OK && i < e->rows * e->cols; i++) {
        const uint64_t then = lb_mat_code(e, i / e->cols, i % e->cols), mine = lb_mat_code(&now, i / e->cols, i % e->cols);
        if (then == mine) continue;
        const char *by = lb_capsule_text(c, "lastbit");
        lb_record_text(&r->reason,
                       "%s; the capsule expects 0x%" PRIx64 " at %zu, %zu, where this lastbit computes 0x%" PRIx64 " (made by %.40s)",
                       r->reason, then, i / e->cols, i % e->cols, mine, by ? by : "an unknown version");
        if (r->verdict == LB_PASS) r->verdict = LB_UNPROVEN;
        break;
    }
    free(codes);
    return s;
}

lb_status lb_capsule_judge(const lb_capsule *c, const lb_check_options *how, lb_record **out, lb_error *err) {
    lb_check_options o = *how;
    const bool device = o.on || o.argv;
    *out = NULL;
    o.x = c->check.x;
    o.actual = device ? NULL : c->check.actual;
    o.actual_name = device ? NULL : c->check.actual_name;
    o.unit = c->check.unit;
    o.contract = c->check.contract;
    o.nan_by_class = c->check.nan_by_class;
    o.reference = c->check.reference;
    if (!device && !o.actual) {
        LB_TRY(lb_record_open(out, err));
        const char *failure = lb_capsule_text(c, "failure");
        lb_record_text(&(*out)->on, "%s", c->name);
        lb_record_text(&(*out)->op, "matmul");
        lb_record_text(&(*out)->case_string, "op=matmul m=%zu n=%zu k=%zu", lb_case_m(&o.x), lb_case_n(&o.x), lb_case_k(&o.x));
        lb_record_text(&(*out)->reason, "the capsule holds no output (%.40s): give --on DEVICE or -- CMD",
                       failure ? failure : "no failure named");
        return LB_OK;
    }
    lb_status s = lb_check(&o, out, err);
    if (s == LB_OK && (!o.unit || o.unit->path != LB_PATH_NONE)) s = compare_expected(c, *out, err);
    if (s != LB_OK) {
        lb_record_close(*out);
        *out = NULL;
    }
    return s;
}
