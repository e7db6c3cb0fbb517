/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* References against MPFR: |value - truth| within the error that the reference states, and that error is small. */
#include "ops_help.h"

#include <string.h>

#if LB_HAVE_MPFR

#include "oracle/ops_mpfr.h"

typedef struct looked {
    const lb_op_case *x;
    const lb_op_truth *t;
    double *in[LB_OP_INPUTS];
    double *want; /* of output 0 */
} looked;

static size_t whole(const looked *l, const char *name) {
    return (size_t)(int64_t)lb_op_case_param(l->x, name);
}

static double real(const looked *l, const char *name) {
    return lb_op_case_param(l->x, name);
}

/* ---- what each row is by MPFR ------------------------------------------------------------------------------------------------- */

static void each(looked *l, double (*f)(double)) {
    for (size_t i = 0; i < l->t->count[0]; i++) l->want[i] = f(l->in[0][i]);
}

static void gelu(looked *l) {
    each(l, oracle_gelu_tanh);
}

static void gelu_erf(looked *l) {
    each(l, oracle_gelu_erf);
}

static void silu(looked *l) {
    each(l, oracle_silu);
}

static void sigmoid(looked *l) {
    each(l, oracle_sigmoid);
}

static void matmul(looked *l) {
    const size_t n = whole(l, "n"), k = whole(l, "k");
    double *column = malloc(k * sizeof *column);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < k; i++) column[i] = l->in[1][i * n + j];
        for (size_t i = 0; i < whole(l, "m"); i++) l->want[i * n + j] = oracle_dot(0, l->in[0] + i * k, column, k);
    }
    free(column);
}

static void linear(looked *l) {
    const size_t n = whole(l, "n"), k = whole(l, "k");
    for (size_t i = 0; i < l->t->count[0]; i++) l->want[i] = oracle_dot(l->in[2][i % n], l->in[0] + i / n * k, l->in[1] + i % n * k, k);
}

static void softmax(looked *l) {
    const size_t d = whole(l, "d");
    for (size_t at = 0; at < l->t->count[0]; at += d) oracle_softmax(l->in[0] + at, d, l->want + at);
}

static void cross_entropy(looked *l) {
    const size_t d = whole(l, "vocab");
    for (size_t i = 0; i < l->t->count[0]; i++) l->want[i] = oracle_cross_entropy(l->in[0] + i * d, d, (size_t)l->in[1][i]);
}

static void layernorm(looked *l) {
    const size_t d = whole(l, "d");
    for (size_t at = 0; at < l->t->count[0]; at += d) oracle_layernorm(l->in[0] + at, l->in[1], l->in[2], d, real(l, "eps"), l->want + at);
}

static void rmsnorm(looked *l) {
    const size_t d = whole(l, "d");
    for (size_t at = 0; at < l->t->count[0]; at += d) oracle_rmsnorm(l->in[0] + at, l->in[1], d, real(l, "eps"), l->want + at);
}

static void rope(looked *l) {
    const size_t d = whole(l, "d"), rotary = whole(l, "rotary");
    for (size_t i = 0; i < l->t->count[0]; i++) l->want[i] = l->in[0][i];
    for (size_t row = 0; row < whole(l, "rows"); row++)
        for (size_t i = 0; i < rotary / 2; i++) {
            double y[2];
            const size_t a = row * d + i, b = a + rotary / 2;
            oracle_turn(l->in[0][a], l->in[0][b], l->in[1][row], real(l, "scale"), real(l, "theta"), i, rotary, y);
            l->want[a] = y[0];
            l->want[b] = y[1];
        }
}

static void attention(looked *l) {
    const size_t d = whole(l, "d"), seq = whole(l, "seq");
    for (size_t i = 0; i < whole(l, "m"); i++) {
        const int64_t p = (int64_t)i + (int64_t)real(l, "q_offset"), window = (int64_t)real(l, "window");
        const size_t to = real(l, "causal") != 0 && p + 1 < (int64_t)seq ? (size_t)(p + 1) : seq;
        const size_t from = window && p - window + 1 > 0 ? (size_t)(p - window + 1) : 0;
        oracle_attention(l->in[0] + i * d, l->in[1], l->in[2], d, from, to, real(l, "scale"), real(l, "softcap"), real(l, "alibi"),
                         (double)p, NULL, l->want + i * d);
    }
}

static void attention_sink(looked *l) {
    const size_t d = whole(l, "d"), seq = whole(l, "seq");
    for (size_t i = 0; i < whole(l, "m"); i++) {
        const size_t p = i + whole(l, "q_offset");
        oracle_attention(l->in[0] + i * d, l->in[1], l->in[2], d, 0, p + 1 < seq ? p + 1 : seq, 0, 0, 0, 0, l->in[3], l->want + i * d);
    }
}

static void selective_scan(looked *l) {
    const size_t seq = whole(l, "seq"), d = whole(l, "d"), state = whole(l, "state");
    double *u = malloc(3 * seq * sizeof *u);
    for (size_t c = 0; c < d; c++) {
        for (size_t i = 0; i < seq; i++) {
            u[i] = l->in[0][i * d + c];
            u[seq + i] = l->in[1][i * d + c];
        }
        oracle_scan(u, u + seq, l->in[2] + c * state, l->in[3], l->in[4], seq, state, u + 2 * seq);
        for (size_t i = 0; i < seq; i++) l->want[i * d + c] = u[2 * seq + i];
    }
    free(u);
}

/* ---- the comparison ---------------------------------------------------------------------------------------------------------- */

static const struct {
    int line;
    void (*oracle)(looked *l);
    const char *text;
} rows[] = {
    {__LINE__, gelu, "op=gelu n=512 magnitude=1"},
    {__LINE__, gelu, "op=gelu n=512 magnitude=12"},
    {__LINE__, gelu, "op=gelu n=256 magnitude=1e10"},
    {__LINE__, gelu, "op=gelu n=256 dist=subnormal"},
    {__LINE__, gelu_erf, "op=gelu_erf n=512 magnitude=1"},
    {__LINE__, gelu_erf, "op=gelu_erf n=512 magnitude=12"},
    {__LINE__, gelu_erf, "op=gelu_erf n=128 magnitude=1e10"},
    {__LINE__, silu, "op=silu n=512 magnitude=2"},
    {__LINE__, silu, "op=silu n=512 magnitude=200"},
    {__LINE__, sigmoid, "op=sigmoid n=512 magnitude=4"},
    {__LINE__, sigmoid, "op=sigmoid n=512 magnitude=300"},
    {__LINE__, matmul, "op=matmul"},
    {__LINE__, matmul, "op=matmul dist=cancelling"},
    {__LINE__, matmul, "op=matmul fmt=bf16 dist=near_overflow"},
    {__LINE__, linear, "op=linear dist=outliers"},
    {__LINE__, linear, "op=linear dist=offset fmt=f16"},
    {__LINE__, softmax, "op=softmax magnitude=3"},
    {__LINE__, softmax, "op=softmax magnitude=50 dist=gaussian"},
    {__LINE__, cross_entropy, "op=cross_entropy magnitude=10"},
    {__LINE__, layernorm, "op=layernorm seed=4"},
    {__LINE__, layernorm, "op=layernorm dist=offset"},
    {__LINE__, layernorm, "op=layernorm dist=cancelling"},
    {__LINE__, layernorm, "op=layernorm dist=outliers fmt=f16"},
    {__LINE__, rmsnorm, "op=rmsnorm seed=5"},
    {__LINE__, rmsnorm, "op=rmsnorm dist=subnormal"},
    {__LINE__, rope, "op=rope seed=6"},
    {__LINE__, rope, "op=rope rotary=32 scale=4 theta=500000 magnitude=4000"},
    {__LINE__, attention, "op=attention seed=7"},
    {__LINE__, attention, "op=attention causal=1 q_offset=3 seq=10 seed=8"},
    {__LINE__, attention, "op=attention causal=1 q_offset=8 window=3 softcap=2 alibi=0.25 scale=0.3 magnitude=2"},
    {__LINE__, attention, "op=attention dist=outliers"},
    {__LINE__, attention_sink, "op=attention_sink magnitude=2"},
    {__LINE__, selective_scan, "op=selective_scan"},
    {__LINE__, selective_scan, "op=selective_scan magnitude=100 dist=gaussian"},
};

static double *values(const lb_array *a) {
    const size_t n = lb_array_count(a);
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = lb_to_double(a->format, lb_load_code((char *)a->codes + i * (size_t)a->format->bytes, a->format->bytes));
    return x;
}

static void compare(int line, const char *text, const looked *l) {
    for (size_t i = 0; i < l->t->count[0]; i++) {
        const double value = l->t->value[0][i], error = l->t->error[0][i], far = fabs(value - l->want[i]);
        const double own = 0x1p-53 * fabs(l->want[i]) + 0x1p-1074; /* the oracle is rounded to a double */
        if (!(far <= error + own))
            fail_msg("row at line %d: %s: element %zu is %a, MPFR has %a, error %a", line, text, i, value, l->want[i], error);
        if (l->t->limit[0][i] < INFINITY && !(error <= l->t->limit[0][i] / 1000 + 0x1p-149 + 1e-299))
            fail_msg("row at line %d: %s: element %zu: the reference's error %g is not small beside the limit %g", line, text, i, error,
                     l->t->limit[0][i]);
    }
}

static void references_lie_within_their_stated_error_of_mpfr(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        lb_op_case *x = open_case(rows[r].line, rows[r].text);
        lb_op_truth *t = truth_of(rows[r].line, x, LB_FUNCTIONS_IEEE);
        looked l = {.x = x, .t = t, .want = malloc(t->count[0] * sizeof(double))};
        for (unsigned i = 0; i < x->op->in_count; i++) l.in[i] = values(&x->in[i]);
        rows[r].oracle(&l);
        compare(rows[r].line, rows[r].text, &l);
        for (unsigned i = 0; i < x->op->in_count; i++) free(l.in[i]);
        free(l.want);
        lb_op_truth_close(t);
        lb_op_case_close(x);
    }
}

#endif

int main(void) {
#if LB_HAVE_MPFR
    const struct CMUnitTest tests[] = {cmocka_unit_test(references_lie_within_their_stated_error_of_mpfr)};
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    puts("SKIP references against MPFR: built without libmpfr-dev");
    return 77;
#endif
}
