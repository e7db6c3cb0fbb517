/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Truth of a case: the row's function over loaded inputs; and how an output is judged by it. */
#include "refs/op_ref.h"

#include "base/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    lb_ref_function *run;
} refs[] = {
#define LB_OP(name, ...) {#name, lb_ref_##name},
#include "refs/ops.def"
#undef LB_OP
};

int64_t lb_ref_whole(const lb_ref *r, const char *name) {
    return (int64_t)lb_op_case_param(r->x, name);
}

double lb_ref_real(const lb_ref *r, const char *name) {
    return lb_op_case_param(r->x, name);
}

lb_num lb_ref_in(const lb_ref *r, unsigned port, size_t i) {
    return lb_num_of(r->in[port][i], r->c);
}

/* Half an ULP of f at |v|; of an overflowing value that of the top. */
static double half_ulp(const lb_format *f, double v) {
    int e = v > 0 ? ilogb(v) : -100000;
    const int least = 1 - f->bias, most = ilogb(lb_to_double(f, lb_max_code(f)));
    e = e < least ? least : e > most ? most : e;
    return ldexp(0.5, e - f->man_bits);
}

void lb_ref_put(const lb_ref *r, unsigned port, size_t i, lb_num n) {
    const lb_format *f = r->x->out[port].format;
    double limit = n.l + n.e;
    /* Vulkan leaves open which way a conversion to f16 rounds. */
    const double roundings = f->id == LB_F16 && r->c == LB_FUNCTIONS_VULKAN ? 2 : 1;
    if (isfinite(n.v) && f->id != LB_F32) limit += roundings * half_ulp(f, fabs(n.v) + limit);
    r->t->value[port][i] = n.v;
    r->t->error[port][i] = isfinite(n.v) ? n.e : 0;
    r->t->limit[port][i] = isfinite(n.v) ? limit : 0;
}

void lb_ref_put_exact(const lb_ref *r, unsigned port, size_t i, double v) {
    r->t->value[port][i] = v;
    r->t->error[port][i] = r->t->limit[port][i] = 0;
}

lb_status lb_op_load(const lb_op_case *x, double *in[LB_OP_INPUTS], lb_error *err) {
    for (unsigned i = 0; i < LB_OP_INPUTS; i++) in[i] = NULL;
    for (unsigned i = 0; i < x->op->in_count; i++) {
        const lb_array *a = &x->in[i];
        const size_t count = lb_array_count(a);
        in[i] = malloc((count + !count) * sizeof *in[i]);
        if (!in[i]) {
            for (unsigned j = 0; j < i; j++) free(in[j]);
            return lb_fail(err, LB_E_MEMORY, x->op->name, "out of memory");
        }
        const float *f32 = a->codes;
        if (a->format->id == LB_F32)
            for (size_t k = 0; k < count; k++) in[i][k] = (double)f32[k];
        for (size_t k = 0; k < count && a->format->id != LB_F32; k++)
            in[i][k] = lb_to_double(a->format, lb_load_code((const char *)a->codes + k * (size_t)a->format->bytes, a->format->bytes));
    }
    return LB_OK;
}

/* What `id` counts: rows of a table, columns of a row, experts. */
static int64_t id_bound(const lb_op_case *x) {
    const double vocab = lb_op_case_param(x, "vocab"), experts = lb_op_case_param(x, "experts");
    return (int64_t)(isnan(vocab) ? experts : vocab);
}

lb_status lb_op_check_ids(const lb_op_case *x, lb_error *err) {
    const int port = lb_op_input(x->op, "id");
    if (port < 0) return LB_OK;
    const int64_t bound = id_bound(x);
    const int32_t *id = x->in[port].codes;
    for (size_t i = 0; i < lb_array_count(&x->in[port]); i++)
        if (id[i] < 0 || id[i] >= bound)
            return lb_fail(err, LB_E_ARG, x->op->name, "id[%zu] is %d; it should be 0 to %lld", i, id[i], (long long)bound - 1);
    return LB_OK;
}

static lb_status make_truth(lb_op_truth *t, const lb_op_case *x, lb_error *err) {
    for (unsigned i = 0; i < x->op->out_count; i++) {
        const size_t count = t->count[i] = lb_array_count(&x->out[i]);
        t->value[i] = malloc(count * sizeof(double));
        t->error[i] = malloc(count * sizeof(double));
        t->limit[i] = malloc(count * sizeof(double));
        if (!t->value[i] || !t->error[i] || !t->limit[i]) return lb_fail(err, LB_E_MEMORY, x->op->name, "out of memory");
    }
    return LB_OK;
}

lb_status lb_op_truth_open(lb_op_truth **out, const lb_op_case *x, lb_function_class functions, lb_error *err) {
    const double k = lb_op_case_param(x, "k");
    lb_ref r = {.x = x, .c = functions, .k = isnan(k) ? 0 : (size_t)k, .err = err};
    *out = NULL;
    LB_TRY(lb_op_check_ids(x, err));
    LB_TRY(lb_op_load(x, r.in, err));
    r.t = calloc(1, sizeof *r.t);
    lb_status s = r.t ? make_truth(r.t, x, err) : lb_fail(err, LB_E_MEMORY, x->op->name, "out of memory");
    if (s == LB_OK) r.t->functions = functions;
    for (size_t i = 0; s == LB_OK && i < sizeof refs / sizeof refs[0]; i++)
        if (strcmp(refs[i].name, x->op->name) == 0) s = refs[i].run(&r);
    for (unsigned i = 0; i < LB_OP_INPUTS; i++) free(r.in[i]);
    if (s != LB_OK)
        lb_op_truth_close(r.t);
    else
        *out = r.t;
    return s;
}

void lb_op_truth_close(lb_op_truth *t) {
    if (!t) return;
    for (unsigned i = 0; i < LB_OP_OUTPUTS; i++) {
        free(t->value[i]);
        free(t->error[i]);
        free(t->limit[i]);
    }
    free(t);
}

/* ---- judging ---------------------------------------------------------------------------------------------------------------- */

static lb_op_verdict wrong(double *ratio) {
    if (ratio) *ratio = INFINITY;
    return LB_OP_WRONG;
}

lb_op_verdict lb_op_judge(const lb_op_truth *t, const lb_op_case *x, unsigned port, size_t index, double *ratio) {
    const lb_format *f = x->out[port].format;
    const uint64_t code = lb_load_code((const char *)x->out[port].codes + index * (size_t)f->bytes, f->bytes);
    const double got = lb_to_double(f, code), value = t->value[port][index], limit = t->limit[port][index];
    if (ratio) *ratio = 0;
    if (!(limit < INFINITY)) return LB_OP_UNJUDGED;
    if (isnan(value)) return isnan(got) ? LB_OP_EXACT : wrong(ratio);
    if (isnan(got)) return wrong(ratio);
    if (isinf(value)) return got == value ? LB_OP_EXACT : wrong(ratio);
    const uint64_t rounded = lb_from_double(f, value);
    if (code == rounded || got == lb_to_double(f, rounded)) return LB_OP_EXACT;
    if (isinf(got)) { /* right where a value within the limit rounds to it */
        const double top = lb_to_double(f, lb_max_code(f));
        return copysign(1, got) == copysign(1, value) && fabs(value) + limit >= top + half_ulp(f, top) ? LB_OP_LEGAL : wrong(ratio);
    }
    const double far = fabs(got - value);
    if (ratio) *ratio = limit > 0 ? far / limit : INFINITY;
    return far <= limit ? LB_OP_LEGAL : LB_OP_WRONG;
}
