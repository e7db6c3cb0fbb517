/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Faults of the sum: operands are changed, or added up in another way, and the output is computed again. */
#include "lastbit/gemm.h"
#include "run/faults.h"
#include "run/gather.h"
#include "run/plant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies of the operands that a fault changes. */
typedef struct operands {
    lb_mat a, b; /* [m][k], [k][n], row-major */
    void *a_codes, *b_codes;
} operands;

static lb_status copy_operands(const lb_plant *p, operands *o, lb_error *err) {
    const lb_mat b = lb_case_b(p->x);
    *o = (operands){0};
    lb_status s = lb_gather(&o->a, &o->a_codes, &p->x->a, NULL, p->x->a.rows, NULL, p->x->a.cols, err);
    return s == LB_OK ? lb_gather(&o->b, &o->b_codes, &b, NULL, b.rows, NULL, b.cols, err) : s;
}

static void free_operands(operands *o) {
    free(o->a_codes);
    free(o->b_codes);
}

static lb_status by_unit(lb_plant *p, const lb_case *x, lb_error *err) {
    const lb_format *own = lb_format_row(p->unit->d);
    const lb_mat b = lb_case_b(x), *c = x->c.codes ? &x->c : NULL;
    void *wide = NULL;
    lb_mat d = p->out;
    if (own != p->out.format) {
        wide = calloc(p->out.rows * p->out.cols + 1, (size_t)own->bytes);
        if (!wide) return lb_fail(err, LB_E_MEMORY, "power", "no memory for %zux%zu elements", p->out.rows, p->out.cols);
        d = lb_mat_of(own, wide, p->out.rows, p->out.cols);
    }
    const lb_status s = lb_gemm(p->unit, &x->a, &b, c, &d, NULL, err);
    if (s == LB_OK && wide) lb_mat_round(&d, &p->out);
    free(wide);
    return s;
}

/* The output of other operands, made as the right one was. */
static lb_status compute(lb_plant *p, const lb_case *x, lb_error *err) {
    if (p->unit) return by_unit(p, x, err);
    /* a sum in f64 is rounded to 16 bits as the exact one is, but for one in 10^9; beside it the fault counts */
    const lb_reference_mode mode = p->out.format->bits <= 16 ? LB_REFERENCE_F64 : LB_REFERENCE_AUTO;
    return lb_reference_matmul(x, mode, NULL, 0, NULL, 0, &p->out, NULL, NULL, err);
}

static bool same_codes(const lb_mat *x, const lb_mat *y) {
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            if (lb_mat_code(x, i, j) != lb_mat_code(y, i, j)) return false;
    return true;
}

/* Sums did change, as the operands show, and the output did not: that is a fact about these inputs. */
static void see_whether_it_shows(lb_plant *p) {
    if (same_codes(&p->out, p->right)) lb_plant_hidden(p, "what it changes of the sums is lost in the output's rounding");
}

static lb_status compute_operands(lb_plant *p, const operands *o, lb_error *err) {
    const lb_mat b = lb_case_b(p->x);
    lb_case x = *p->x;
    if (same_codes(&o->a, &p->x->a) && same_codes(&o->b, &b)) return LB_OK; /* nothing was planted, and the caller sees it */
    x.a = o->a;
    x.b = o->b;
    x.b_transposed = false;
    const lb_status s = compute(p, &x, err);
    if (s == LB_OK) see_whether_it_shows(p);
    return s;
}

/* ---- parts of K ------------------------------------------------------------------------------------------------------ */

static bool all_zero(const lb_mat *m, size_t top, size_t bottom, size_t left, size_t right) {
    for (size_t i = top; i <= bottom; i++)
        for (size_t j = left; j <= right; j++)
            if (lb_code_class(m->format, lb_mat_code(m, i, j)) != LB_ZERO) return false;
    return true;
}

lb_status lb_fault_lost_k_tail(lb_plant *p, lb_error *err) {
    const size_t k = lb_case_k(p->x), ragged = k % 16 ? k % 16 : 16, tail = ragged < k ? ragged : (k + 1) / 2, first = k - tail;
    operands o;
    lb_status s = copy_operands(p, &o, err);
    const bool zero_a = s == LB_OK && all_zero(&o.a, 0, o.a.rows - 1, first, k - 1);
    const bool zero_b = s == LB_OK && !zero_a && all_zero(&o.b, first, k - 1, 0, o.b.cols - 1);
    if (zero_a || zero_b) {
        lb_plant_hidden(p, "%s is zero in K %zu..%zu", zero_a ? "A" : "B", first, k - 1);
    } else if (s == LB_OK) {
        lb_plant_fill(&o.a, (lb_rectangle){0, o.a.rows - 1, first, k - 1}, 0);
        lb_plant_say(p, "K %zu..%zu", first, k - 1);
        s = compute_operands(p, &o, err);
    }
    free_operands(&o);
    return s;
}

lb_status lb_fault_half_k(lb_plant *p, lb_error *err) {
    const size_t k = lb_case_k(p->x), half = (k + 1) / 2;
    operands o;
    lb_status s = copy_operands(p, &o, err);
    if (s == LB_OK && k > 1) lb_plant_move(&o.a, &p->x->a, (lb_rectangle){0, o.a.rows - 1, half, k - 1}, 0, -(ptrdiff_t)half);
    if (s == LB_OK && k < 2)
        lb_plant_hidden(p, "K is 1");
    else if (s == LB_OK && same_codes(&o.a, &p->x->a))
        lb_plant_hidden(p, "A repeats along K every %zu", half);
    if (s == LB_OK && !p->hidden) {
        lb_plant_say(p, "K %zu..%zu", half, k - 1);
        s = compute_operands(p, &o, err);
    }
    free_operands(&o);
    return s;
}

lb_status lb_fault_lost_c(lb_plant *p, lb_error *err) {
    const lb_mat *c = &p->x->c;
    if (!c->codes) {
        lb_plant_hidden(p, "there is no C");
        return LB_OK;
    }
    if (all_zero(c, 0, c->rows - 1, 0, c->cols - 1)) {
        lb_plant_hidden(p, "C is zero");
        return LB_OK;
    }
    lb_case x = *p->x;
    x.c = (lb_mat){0};
    lb_plant_say(p, "everywhere");
    const lb_status s = compute(p, &x, err);
    if (s == LB_OK) see_whether_it_shows(p);
    return s;
}

/* ---- roundings of operands -------------------------------------------------------------------------------------------- */

static void round_codes(lb_mat *m, const lb_format *to) {
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            double v = lb_to_double(m->format, lb_mat_code(m, i, j));
            lb_plant_round_values(&v, 1, to);
            lb_store_code(lb_mat_at(m, i, j), m->format->bytes, lb_from_double(m->format, v));
        }
}

static bool same_values(const lb_mat *x, const lb_mat *y) {
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            const double v = lb_to_double(x->format, lb_mat_code(x, i, j)), w = lb_to_double(y->format, lb_mat_code(y, i, j));
            if (v != w && !(isnan(v) && isnan(w))) return false;
        }
    return true;
}

static lb_status rounded_inputs(lb_plant *p, lb_format_id id, lb_error *err) {
    const lb_format *to = lb_format_row(id);
    const lb_mat b = lb_case_b(p->x);
    operands o;
    lb_status s = copy_operands(p, &o, err);
    if (s == LB_OK) {
        round_codes(&o.a, to);
        round_codes(&o.b, to);
        if (same_values(&o.a, &p->x->a) && same_values(&o.b, &b)) {
            lb_plant_hidden(p, "every element of A and B is a %s", to->name);
        } else {
            lb_plant_say(p, "everywhere");
            s = compute_operands(p, &o, err);
        }
    }
    free_operands(&o);
    return s;
}

lb_status lb_fault_tf32_inputs(lb_plant *p, lb_error *err) {
    return rounded_inputs(p, LB_TF32, err);
}

lb_status lb_fault_bf16_inputs(lb_plant *p, lb_error *err) {
    return rounded_inputs(p, LB_BF16, err);
}

static size_t flush(lb_mat *m) {
    size_t count = 0;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const uint64_t code = lb_mat_code(m, i, j), flushed = lb_flush_code(m->format, code, LB_FLUSH_KEEP_SIGN);
            count += code != flushed;
            lb_store_code(lb_mat_at(m, i, j), m->format->bytes, flushed);
        }
    return count;
}

lb_status lb_fault_flushed_subnormals(lb_plant *p, lb_error *err) {
    operands o;
    lb_status s = copy_operands(p, &o, err);
    const size_t inputs = s == LB_OK ? flush(&o.a) + flush(&o.b) : 0;
    if (s == LB_OK && inputs) s = compute_operands(p, &o, err);
    const bool lost = p->hidden;
    const size_t outputs = s == LB_OK ? flush(&p->out) : 0;
    free_operands(&o);
    if (s == LB_OK && !inputs && !outputs) lb_plant_hidden(p, "A, B and the output hold no subnormals");
    if (p->hidden && !(lost && outputs)) return s;
    p->hidden = false;
    lb_plant_say(p, "%zu of A and B, %zu of the output", inputs, outputs);
    return s;
}

/* ---- accumulators ------------------------------------------------------------------------------------------------------- */

enum { STEP = 16 };

static lb_status values_of(const lb_mat *m, double **out, lb_error *err) {
    *out = malloc((m->rows * m->cols + 1) * sizeof **out);
    if (!*out) return lb_fail(err, LB_E_MEMORY, "power", "no memory for %zux%zu values", m->rows, m->cols);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) (*out)[i * m->cols + j] = lb_to_double(m->format, lb_mat_code(m, i, j));
    return LB_OK;
}

/* a [k], b [k] the column, side by side. *rounded says that one addition was. */
static double chain(const double *a, const double *b, size_t k, double sum, const lb_format *f, bool *rounded) {
    for (size_t q = 0; q < k; q += STEP) {
        double part = 0;
        for (size_t t = q; t < q + STEP && t < k; t++) part += a[t] * b[t];
        part += sum;
        sum = part;
        lb_plant_round_values(&sum, 1, f);
        *rounded = *rounded || sum != part;
    }
    return sum;
}

static lb_status accumulated_in(lb_plant *p, lb_format_id id, lb_error *err) {
    const lb_format *f = lb_format_row(id);
    const lb_mat bt = lb_mat_transposed(lb_case_b(p->x)), *c = &p->x->c;
    const size_t k = lb_case_k(p->x);
    double *a = NULL, *b = NULL;
    bool rounded = false;
    lb_status s = values_of(&p->x->a, &a, err);
    if (s == LB_OK) s = values_of(&bt, &b, err);
    for (size_t i = 0; s == LB_OK && i < p->out.rows; i++)
        for (size_t j = 0; j < p->out.cols; j++) {
            const double start = c->codes ? lb_to_double(c->format, lb_mat_code(c, i, j)) : 0;
            const double sum = chain(a + i * k, b + j * k, k, start, f, &rounded);
            lb_store_code(lb_mat_at(&p->out, i, j), p->out.format->bytes, lb_from_double(p->out.format, sum));
        }
    free(a);
    free(b);
    if (s != LB_OK) return s;
    if (!same_codes(&p->out, p->right))
        lb_plant_say(p, "everywhere");
    else if (rounded)
        lb_plant_hidden(p, "sums in %s round to the same outputs", f->name);
    else
        lb_plant_hidden(p, "every partial sum is a %s", f->name);
    return LB_OK;
}

lb_status lb_fault_f16_accumulation(lb_plant *p, lb_error *err) {
    return accumulated_in(p, LB_F16, err);
}

lb_status lb_fault_bf16_accumulation(lb_plant *p, lb_error *err) {
    return accumulated_in(p, LB_BF16, err);
}
