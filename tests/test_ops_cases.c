/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rows of operators, and cases from text: what is read, what is refused and how. */
#include "ops_help.h"

#include "refs/op_rows.h"

#include <string.h>

static void every_row_is_whole(void **state) {
    (void)state;
    size_t i = 0;
    for (; lb_op_row(i); i++) {
        const lb_op *op = lb_op_row(i);
        if (lb_op_find(op->name) != op) fail_msg("%s: a name that stands twice", op->name);
        if (!*op->formula || !*op->bound || !*op->edge || !*op->source) fail_msg("%s: an empty column", op->name);
        assert_in_range(op->param_count, 1, LB_OP_PARAMS);
        assert_in_range(op->in_count, 1, LB_OP_INPUTS);
        assert_in_range(op->out_count, 1, LB_OP_OUTPUTS);
        for (unsigned p = 0; p < op->in_count + op->out_count; p++) {
            const lb_op_port *port = p < op->in_count ? &op->in[p] : &op->out[p - op->in_count];
            if (strcmp(port->format, "T") != 0 && !lb_format_find(port->format))
                fail_msg("%s: %s: no format %s", op->name, port->name, port->format);
            const lb_fill_row *fill = lb_fill_find(port->fill);
            if (!fill) fail_msg("%s: %s: no fill %s", op->name, port->name, port->fill);
            bool bound = !*fill->bound;
            for (unsigned k = 0; k < op->param_count; k++) bound = bound || strcmp(op->params[k].name, fill->bound) == 0;
            if (!bound) fail_msg("%s: %s: the fill %s wants a parameter %s", op->name, port->name, port->fill, fill->bound);
        }
    }
    assert_true(i >= 37);
}

static void a_case_reads_back_from_its_own_text(void **state) {
    (void)state;
    static const char *const more[] = {"", "fmt=bf16 dist=gaussian magnitude=0.1 seed=18446744073709551615",
                                       "fmt=f16,dist=outliers,magnitude=3e-5"};
    for (size_t i = 0; lb_op_row(i); i++)
        for (size_t m = 0; m < 3; m++) {
            char text[256], first[LB_OP_TEXT], second[LB_OP_TEXT];
            snprintf(text, sizeof text, "%s op=%s", more[m], lb_op_row(i)->name);
            lb_op_case *a = open_case(__LINE__, text);
            assert_true(lb_op_case_text(a, first, sizeof first) < sizeof first);
            lb_op_case *b = open_case(__LINE__, first);
            lb_op_case_text(b, second, sizeof second);
            assert_string_equal(first, second);
            for (unsigned p = 0; p < a->op->in_count; p++)
                assert_memory_equal(a->in[p].codes, b->in[p].codes, lb_array_count(&a->in[p]) * (size_t)a->in[p].format->bytes);
            lb_op_case_close(a);
            lb_op_case_close(b);
        }
    lb_op_case *x = open_case(__LINE__, "op=attention causal=1 softcap=30 magnitude=0.1");
    char text[LB_OP_TEXT];
    lb_op_case_text(x, text, sizeof text);
    assert_string_equal(text, "op=attention m=4 seq=12 d=32 causal=1 softcap=30 fmt=f32 dist=uniform magnitude=0.1 seed=1");
    assert_int_equal(lb_op_case_text(x, NULL, 0), strlen(text));
    lb_op_case_close(x);
}

static void what_is_wrong_in_a_text_is_said(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text;
        lb_status status;
        const char *says;
    } rows[] = {
        {__LINE__, "", LB_E_ARG, "op=NAME is missing"},
        {__LINE__, "gelu", LB_E_ARG, "\"gelu\" is not key=value"},
        {__LINE__, "op=", LB_E_ARG, "is not key=value"},
        {__LINE__, "=3", LB_E_ARG, "is not key=value"},
        {__LINE__, "op=gleu", LB_E_NAME, "did you mean \"gelu\"?"},
        {__LINE__, "op=gelu op=silu", LB_E_ARG, "op= stands twice"},
        {__LINE__, "op=gelu nn=3", LB_E_NAME, "did you mean \"n\"?"},
        {__LINE__, "op=gelu fmt=fp32", LB_E_NAME, "did you mean \"f32\"?"},
        {__LINE__, "op=gelu dist=gausian", LB_E_NAME, "did you mean \"gaussian\"?"},
        {__LINE__, "op=gelu n=1.5", LB_E_ARG, "whole number"},
        {__LINE__, "op=gelu n=nan", LB_E_ARG, "finite number"},
        {__LINE__, "op=gelu n=0", LB_E_SHAPE, "n is 0"},
        {__LINE__, "op=gelu n=-4", LB_E_SHAPE, "n is -4"},
        {__LINE__, "op=gelu n=16777217", LB_E_ARG, "up to 16777216"},
        {__LINE__, "op=gelu n=1e300", LB_E_ARG, "up to 16777216"},
        {__LINE__, "op=matmul m=16777216 k=16777216", LB_E_SHAPE, "more than 67108864 elements"},
        {__LINE__, "op=gelu seed=-1", LB_E_ARG, "below 2^64"},
        {__LINE__, "op=gelu seed=18446744073709551616", LB_E_ARG, "below 2^64"},
        {__LINE__, "op=gelu magnitude=0", LB_E_ARG, "above 0"},
        {__LINE__, "op=gelu magnitude=inf", LB_E_ARG, "finite number"},
        {__LINE__, "op=layernorm eps=1e39", LB_E_ARG, "beyond f32"},
        {__LINE__, "op=rope rotary=63", LB_E_SHAPE, "rotary%2==0 must hold"},
        {__LINE__, "op=rope rotary=66", LB_E_SHAPE, "rotary<=d must hold"},
        {__LINE__, "op=mha heads=4", LB_E_SHAPE, "heads%kv_heads==0 must hold"},
        {__LINE__, "op=mha kv_heads=0", LB_E_SHAPE, "kv_heads*d is 0"},
        {__LINE__, "op=matmul_w4 group=0", LB_E_FILE, "division by zero"},
        {__LINE__, "op=matmul_mxfp8 k=48", LB_E_SHAPE, "k%32==0 must hold"},
        {__LINE__, "op=top_k k=65", LB_E_SHAPE, "k<=vocab must hold"},
        {__LINE__, "op=kv_write at=6", LB_E_SHAPE, "at+rows<=len must hold"},
        {__LINE__, "op=gelu n=4\x01", LB_E_ARG, "finite number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        lb_op_case *x = NULL;
        const lb_status s = lb_op_case_open(&x, rows[i].text, &err);
        if (s != rows[i].status || x) fail_msg("row at line %d: status %d, want %d: %s", rows[i].line, s, rows[i].status, err.message);
        if (!strstr(err.message, rows[i].says))
            fail_msg("row at line %d: \"%s\" does not say \"%s\"", rows[i].line, err.message, rows[i].says);
        if (strpbrk(err.message, "\n\r\x01")) fail_msg("row at line %d: more than a printable line", rows[i].line);
    }
}

static void given_arrays_must_be_the_rows(void **state) {
    (void)state;
    float x[8] = {0}, w[12] = {0}, b[3] = {0};
    const lb_format *f32 = lb_format_row(LB_F32), *f16 = lb_format_row(LB_F16);
    lb_array in[3] = {{f32, 2, {2, 4}, x}, {f32, 2, {3, 4}, w}, {f32, 1, {3}, b}};
    lb_error err = {0};
    lb_op_case *c = NULL;
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=3", in, 3, &err), LB_OK);
    assert_string_equal(c->dist, "given");
    char text[LB_OP_TEXT];
    lb_op_case_text(c, text, sizeof text);
    assert_string_equal(text, "op=linear m=2 k=4 n=3 fmt=f32");
    lb_op_case_close(c);
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=4", in, 3, &err), LB_E_SHAPE);
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=3", in, 2, &err), LB_E_SHAPE);
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=3 seed=4", in, 3, &err), LB_E_ARG);
    in[0].format = f16;
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=3", in, 3, &err), LB_E_FORMAT);
    in[0] = (lb_array){f32, 2, {2, 4}, NULL};
    assert_int_equal(lb_op_case_of(&c, "op=linear m=2 k=4 n=3", in, 3, &err), LB_E_ARG);
    assert_null(c);
}

static void an_index_out_of_range_is_an_error(void **state) {
    (void)state;
    static const double table[8] = {0}; /* EMB-01 of cases/OPEN.md: tensorflow#5847: vocab 4, ids 4 and -1 */
    static const struct {
        int line;
        double id;
        lb_status want;
    } rows[] = {{__LINE__, 4, LB_E_ARG}, {__LINE__, -1, LB_E_ARG}, {__LINE__, 3, LB_OK}};
    for (size_t i = 0; i < 3; i++) {
        lb_error err = {0};
        lb_op_truth *t = NULL;
        lb_op_case *x = given_case(rows[i].line, "op=embedding vocab=4 d=2 rows=1", (const double *const[]){table, &rows[i].id});
        EXPECT_CODE(rows[i].line, lb_op_truth_open(&t, x, LB_FUNCTIONS_IEEE, &err), rows[i].want);
        EXPECT_CODE(rows[i].line, lb_op_replay(x, LB_REPLAY_SEQUENTIAL, &err), rows[i].want);
        if (rows[i].want != LB_OK) assert_non_null(strstr(err.message, "id[0] is"));
        lb_op_truth_close(t);
        lb_op_case_close(x);
    }
}

/* The seed's generator by hand: 64-bit xorshift 13/7/17 from seed | 1, the top 24 bits. */
static void inputs_are_the_seeds_xorshift_one_state_over_all(void **state) {
    (void)state;
    lb_op_case *x = open_case(__LINE__, "op=matmul_w8 m=2 k=3 n=2 seed=9");
    uint64_t s = 9;
    for (unsigned port = 0; port < 3; port++)
        for (size_t i = 0; i < lb_array_count(&x->in[port]); i++) {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            const float u = (float)(s >> 40) / 16777216.0f * 2.0f - 1.0f;
            const float want = port == 0 ? u : port == 1 ? fabsf(u) * 0.05f + 0.01f : (float)((int)(s % 255) - 127);
            const float got = port == 2 ? (float)((const int8_t *)x->in[2].codes)[i] : ((const float *)x->in[port].codes)[i];
            if (got != want) fail_msg("input %u, element %zu: %a, want %a", port, i, (double)got, (double)want);
        }
    lb_op_case_close(x);
}

static void distributions_are_what_they_say(void **state) {
    (void)state;
    double sum = 0, squares = 0;
    lb_op_case *x = open_case(__LINE__, "op=add n=4096 dist=gaussian seed=5");
    for (int i = 0; i < 4096; i++) {
        const double v = (double)((const float *)x->in[0].codes)[i];
        sum += v;
        squares += v * v;
    }
    assert_true(fabs(sum / 4096) < 0.06 && fabs(squares / 4096 - 1) < 0.08);
    lb_op_case_close(x);
    x = open_case(__LINE__, "op=softmax rows=16 d=64 dist=outliers fmt=f16");
    for (size_t i = 0; i < 1024; i++) {
        const double v = fabs(lb_to_double(x->format, ((const uint16_t *)x->in[0].codes)[i]));
        if (i / 64 % 8 != 0) assert_true(v <= 1);
        sum = i / 64 % 8 == 0 ? fmax(sum, v) : sum;
    }
    assert_true(sum > 900);
    lb_op_case_close(x);
    x = open_case(__LINE__, "op=rope rows=4 magnitude=1000.5 dist=zero_rows");
    assert_int_equal(((const int32_t *)x->in[1].codes)[3], 3000);
    for (size_t i = 0; i < 64; i++) assert_true(((const float *)x->in[0].codes)[64 + i] == 0);
    lb_op_case_close(x);
    x = open_case(__LINE__, "op=add n=64 dist=subnormal fmt=f16 seed=3");
    for (size_t i = 0; i < 64; i++) assert_true((((const uint16_t *)x->in[0].codes)[i] & 0x7fff) < 0x0400);
    lb_op_case_close(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(a_case_reads_back_from_its_own_text),
        cmocka_unit_test(what_is_wrong_in_a_text_is_said),
        cmocka_unit_test(given_arrays_must_be_the_rows),
        cmocka_unit_test(an_index_out_of_range_is_an_error),
        cmocka_unit_test(inputs_are_the_seeds_xorshift_one_state_over_all),
        cmocka_unit_test(distributions_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
