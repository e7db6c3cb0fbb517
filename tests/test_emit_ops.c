/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted scalar operations, compiled by the compilers of this machine: every word is the model's, on the rows that operations are
 * recorded with. */
#include "emit_help.h"

#include "lastbit/scalar.h"

enum { MAX_OPS = 512, MAX_WORDS = LB_SCALAR_MAX_IN * 2 };

static const lb_scalar_op *ops[MAX_OPS];
static size_t op_count, rows_each = LB_OP_ROWS;

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* ---- which operations ------------------------------------------------------------------------------------------------------- */

static void take_all(void) {
    const lb_scalar_op *op;
    op_count = 0;
    for (size_t i = 0; (op = lb_scalar_row(i)) != NULL; i++)
        if (lb_emit_can_op(op, NULL) == LB_OK) ops[op_count++] = op;
}

static int words_of(lb_word w) {
    return lb_word_bits(w) > 32 ? 2 : 1;
}

static int words_in(const lb_scalar_op *op) {
    int n = 0;
    for (int i = 0; i < op->ins; i++) n += words_of(op->in[i]);
    return n;
}

static int words_out(const lb_scalar_op *op) {
    int n = 0;
    for (int i = 0; i < op->outs; i++) n += words_of(op->out[i]);
    return n;
}

/* ---- the files: an emitted one each, rows, and a table of calls ------------------------------------------------------------ */

static void write_call(FILE *table, size_t i) {
    const lb_scalar_op *op = ops[i];
    fprintf(table, "static void row%zu(const uint32_t *in, uint32_t *d) {\n    ", i);
    if (op->warp) {
        fprintf(table, "%s(in, d);\n}\n", op->name);
        return;
    }
    const bool returned = words_out(op) == 1;
    fprintf(table, "%s%s(", returned ? "d[0] = " : "", op->name);
    for (int w = 0; w < words_in(op); w++) fprintf(table, "%sin[%d]", w ? ", " : "", w);
    fprintf(table, "%s);\n}\n", returned ? "" : ", d");
}

static void write_sources(lb_emit_language language) {
    char path[256];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "wb");
    assert_non_null(table);
    for (size_t i = 0; i < op_count; i++) {
        const lb_emit_options o = {.language = language};
        lb_error err = {0};
        char *text, name[32];
        if (lb_emit_op(ops[i], &o, &text, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        snprintf(name, sizeof name, "o%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    for (size_t i = 0; i < op_count; i++) write_call(table, i);
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < op_count; i++) {
        const int lanes = ops[i]->warp ? LB_WARP_LANES : 1;
        fprintf(table, "    {%d, %d, row%zu},\n", lanes * words_in(ops[i]), lanes * words_out(ops[i]), i);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

static void put_words(FILE *f, lb_word w, uint64_t word) {
    const uint32_t words[] = {(uint32_t)word, (uint32_t)(word >> 32)};
    fwrite(words, 4, words_of(w), f);
}

/* Rows as recorded, and what lies above an input's bits drawn: it has to be passed over. */
static void write_rows(void) {
    static uint64_t in[4 * LB_OP_ROWS * LB_SCALAR_MAX_IN], out[4 * LB_OP_ROWS * LB_SCALAR_MAX_OUT];
    char path[256];
    emit_path(path, sizeof path, "in");
    FILE *f = fopen(path, "wb");
    emit_path(path, sizeof path, "want");
    FILE *want = fopen(path, "wb");
    assert_non_null(f);
    assert_non_null(want);
    for (size_t i = 0; i < op_count; i++) {
        const lb_scalar_op *op = ops[i];
        const uint32_t head[] = {(uint32_t)i, (uint32_t)(op->warp ? rows_each / LB_WARP_LANES : rows_each)};
        for (size_t r = 0; r < rows_each; r++)
            for (int x = 0; x < op->ins; x++) in[r * op->ins + x] = lb_scalar_input(op->in[x], x, 1, r);
        lb_error err = {0};
        if (lb_scalar_eval_rows(op, rows_each, in, out, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        fwrite(head, 4, 2, f);
        for (size_t r = 0; r < rows_each; r++) {
            for (int x = 0; x < op->ins; x++) {
                const int bits = lb_word_bits(op->in[x]);
                const uint64_t above = bits < 32 ? lb_random_u64(7, (uint32_t)x, r) << bits : 0;
                put_words(f, op->in[x], in[r * op->ins + x] | above);
            }
            for (int x = 0; x < op->outs; x++) put_words(want, op->out[x], out[r * op->outs + x]);
        }
    }
    assert_int_equal(fclose(f) | fclose(want), 0);
}

/* Words of `out` that differ from `want`; the first of them in *first. */
static size_t count_wrong(size_t *compared, char *first, size_t size) {
    char path[256];
    emit_path(path, sizeof path, "out");
    FILE *out = fopen(path, "rb");
    emit_path(path, sizeof path, "want");
    FILE *want = fopen(path, "rb");
    assert_non_null(out);
    assert_non_null(want);
    size_t wrong = 0;
    *compared = 0;
    for (size_t i = 0; i < op_count; i++) {
        const lb_scalar_op *op = ops[i];
        const size_t words = (size_t)words_out(op);
        size_t here = 0;
        for (size_t at = 0; at < rows_each * words; at++, ++*compared) {
            uint32_t x = 0, y = 0;
            assert_int_equal(fread(&y, 4, 1, want), 1);
            if (fread(&x, 4, 1, out) == 1 && x == y) continue;
            if (here++ == 0 && getenv("LB_SHOW")) {
                print_message("%s, row %zu, word %zu: got %08x, want %08x; in", op->name, at / words, at % words, x, y);
                for (int k = 0; k < op->ins; k++) print_message(" %llx", (unsigned long long)lb_scalar_input(op->in[k], k, 1, at / words));
                print_message("\n");
            }
            if (wrong++ == 0) snprintf(first, size, "%s, row %zu, word %zu: got %08x, want %08x", op->name, at / words, at % words, x, y);
        }
    }
    fclose(out);
    fclose(want);
    return wrong;
}

static void compile(const char *compiler, const char *options) {
    const int status =
        emit_run("cd %s && %s -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter %s -I. %s/tests/emit/ops.c -o driver",
                 emit_folder, compiler, options, LB_SOURCE_DIR);
    if (status != 0) fail_msg("%s %s: exit %d", compiler, options, status);
}

static void expect_exact(const char *compiler, const char *options, int flushes) {
    if (!emit_have(compiler)) {
        print_message("[   SKIP   ] no %s\n", compiler);
        return;
    }
    compile(compiler, options);
    for (int flush = 0; flush < flushes; flush++) {
        char first[400] = "";
        size_t compared;
        assert_int_equal(emit_run("cd %s && ./driver in out %d", emit_folder, flush), 0);
        const size_t wrong = count_wrong(&compared, first, sizeof first);
        if (wrong) fail_msg("%s %s, flush %d: %zu of %zu wrong; %s", compiler, options, flush, wrong, compared, first);
        print_message("%s %s, flush-to-zero %s: %zu words of %zu operations, all the model's\n", compiler, options, flush ? "on" : "off",
                      compared, op_count);
        assert_true(compared > 0);
    }
}

static void c_is_exact_under_fast_math(void **state) {
    (void)state;
    take_all();
    write_rows();
    write_sources(LB_EMIT_C);
    expect_exact("gcc", "-std=c11 -O1 -ffast-math", 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_is_exact_under_fast_math),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
