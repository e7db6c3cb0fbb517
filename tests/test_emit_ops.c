/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted scalar operations, compiled by the compilers of this machine: every word is the model's, on the rows that operations are
 * recorded with and on hard ones. */
#include "emit_ops_help.h"

static size_t rows_each = OPS_ROWS;

static int set_up(void **state) {
    (void)state;
    if (emit_full()) rows_each *= 16;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

static FILE *create(const char *name) {
    char path[256];
    emit_path(path, sizeof path, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    return f;
}

static FILE *read_back(const char *name) {
    char path[256];
    emit_path(path, sizeof path, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    return f;
}

/* ---- the files: an emitted one each, rows, and a table of calls ------------------------------------------------------------ */

/* Arguments of words first … last - 1 of a row; `lane` of a group's rows has its own. */
static void write_words(FILE *table, const lb_scalar_op *op, int first, int last, const char *before) {
    for (int w = first; w < last; w++, before = ", ") fprintf(table, "%sin[%d * lane + %d]", before, ops_words_in(op), w);
}

static void write_call(FILE *table, size_t i) {
    const lb_scalar_op *op = ops[i];
    const int ins = ops_words_in(op), outs = ops_words_out(op), shared = ops_words(op->in[0]);
    const char *loop = "for (uint32_t lane = 0; lane < 32; lane++)";
    fprintf(table, "static void row%zu(const uint32_t *in, uint32_t *d) {\n", i);
    if (op->warp) {
        fprintf(table, "    uint32_t words[64];\n    %s %s_share(lane", loop, op->name);
        write_words(table, op, 0, shared, ", ");
        fprintf(table, ", words);\n    %s %s%s_lane(lane", loop, outs == 1 ? "d[lane] = " : "", op->name);
        write_words(table, op, shared, ins, ", ");
        if (outs > 1) fprintf(table, ", d + %d * lane", outs);
        fprintf(table, ", words);\n}\n");
    } else {
        fprintf(table, "    const uint32_t lane = 0;\n    %s%s(", outs == 1 ? "d[0] = " : "", op->name);
        write_words(table, op, 0, ins, "");
        fprintf(table, "%s);\n}\n", outs > 1 ? ", d" : "");
    }
}

static void write_sources(lb_emit_language language) {
    FILE *table = create("table.h");
    for (size_t i = 0; i < op_count; i++) {
        char name[32], *text = ops_text(ops[i], language);
        snprintf(name, sizeof name, "o%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    for (size_t i = 0; i < op_count; i++) write_call(table, i);
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < op_count; i++) {
        const int lanes = ops[i]->warp ? LB_WARP_LANES : 1;
        fprintf(table, "    {%d, %d, row%zu},\n", lanes * ops_words_in(ops[i]), lanes * ops_words_out(ops[i]), i);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

static void put_words(FILE *f, lb_word w, uint64_t word) {
    const uint32_t words[] = {(uint32_t)word, (uint32_t)(word >> 32)};
    fwrite(words, 4, (size_t)ops_words(w), f);
}

static void write_rows(void) {
    enum { EACH = LB_WARP_LANES };
    FILE *f = create("in"), *want = create("want");
    for (size_t i = 0; i < op_count; i++) {
        const lb_scalar_op *op = ops[i];
        const uint32_t head[] = {(uint32_t)i, (uint32_t)(op->warp ? rows_each / EACH : rows_each)};
        fwrite(head, 4, 2, f);
        for (size_t first = 0; first < rows_each; first += EACH) {
            uint64_t in[EACH * LB_SCALAR_MAX_IN], out[EACH * LB_SCALAR_MAX_OUT];
            lb_error err = {0};
            for (size_t r = 0; r < EACH; r++) ops_row(op, first + r, rows_each, in + r * (size_t)op->ins);
            if (lb_scalar_eval_rows(op, EACH, in, out, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
            for (size_t r = 0; r < EACH; r++) {
                for (int x = 0; x < op->ins; x++)
                    put_words(f, op->in[x], ops_dirty(op->in[x], x, first + r, in[r * (size_t)op->ins + (size_t)x]));
                for (int x = 0; x < op->outs; x++) put_words(want, op->out[x], out[r * (size_t)op->outs + (size_t)x]);
            }
        }
    }
    assert_int_equal(fclose(f) | fclose(want), 0);
}

/* ---- running ------------------------------------------------------------------------------------------------------------------ */

static void describe(const lb_scalar_op *op, size_t row, size_t word, uint32_t got, uint32_t want, char *text, size_t size) {
    uint64_t in[LB_SCALAR_MAX_IN];
    ops_row(op, row, rows_each, in);
    int n = snprintf(text, size, "%s, row %zu, word %zu: got %08x, want %08x; lastbit eval %s", op->name, row, word, got, want, op->name);
    for (int i = 0; i < op->ins && n > 0 && (size_t)n < size; i++)
        n += snprintf(text + n, size - (size_t)n, " 0x%llx", (unsigned long long)in[i]);
}

/* Words of `out` that differ from `want`; the first of them in *first. */
static size_t count_wrong(size_t *compared, char *first, size_t size) {
    FILE *out = read_back("out"), *want = read_back("want");
    size_t wrong = 0;
    *compared = 0;
    for (size_t i = 0; i < op_count; i++) {
        const size_t words = (size_t)ops_words_out(ops[i]);
        for (size_t at = 0; at < rows_each * words; at++, ++*compared) {
            uint32_t x = 0, y = 0;
            assert_int_equal(fread(&y, 4, 1, want), 1);
            if (fread(&x, 4, 1, out) == 1 && x == y) continue;
            if (wrong++ == 0) describe(ops[i], at / words, at % words, x, y, first, size);
        }
    }
    fclose(out);
    fclose(want);
    return wrong;
}

static void compile(const char *compiler, const char *options) {
    const int status = emit_run("cd %s && %s -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter %s -I. %s/tests/emit/ops.c "
                                "-o driver",
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
        assert_true(compared >= op_count * rows_each && op_count > 0);
    }
}

static void c_is_exact_under_fast_math(void **state) {
    (void)state;
    ops_take_all();
    write_rows();
    write_sources(LB_EMIT_C);
    expect_exact("gcc", "-std=c11 -O3 -ffast-math", 2);
    expect_exact("clang", "-std=c11 -O3 -ffast-math", 2);
}

static void every_value_of_a_narrow_operand_is_exact(void **state) {
    (void)state;
    const size_t before = rows_each;
    ops_take_narrow();
    rows_each = 1 << 16;
    write_rows();
    write_sources(LB_EMIT_C);
    expect_exact("gcc", "-std=c11 -O1 -ffast-math", 1);
    rows_each = before;
}

/* Shifts, sums and loads: nothing that C leaves undefined. */
static void c_leaves_nothing_undefined(void **state) {
    (void)state;
    if (!emit_full()) ops_take_spread();
    write_rows();
    write_sources(LB_EMIT_C);
    expect_exact("gcc", "-std=c11 -O1 -fsanitize=undefined,address -fno-sanitize-recover=all", 1);
}

/* Metal's and CUDA's dialects by a C++ compiler, over a header that stands in for their own. */
static void metal_and_cuda_are_exact_as_cpp(void **state) {
    (void)state;
    char options[400];
    if (!emit_full()) ops_take_spread();
    write_rows();
    write_sources(LB_EMIT_MSL);
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -I%s/tests/emit/shim", LB_SOURCE_DIR);
    expect_exact("g++", options, 1);
    write_sources(LB_EMIT_CUDA);
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -include %s/tests/emit/shim/cuda_shim.h", LB_SOURCE_DIR);
    expect_exact("g++", options, 1);
}

/* The real compiler of CUDA C++, where it is. Nothing here runs what it makes. */
static void cuda_compiles(void **state) {
    (void)state;
    static const int architectures[] = {90, 80, 120};
    const char *nvcc = access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "nvcc";
    const size_t count = emit_full() ? sizeof architectures / sizeof architectures[0] : 1;
    if (!emit_have(nvcc)) {
        print_message("[   SKIP   ] no nvcc\n");
        return;
    }
    ops_take_spread();
    FILE *f = create("ops.cu");
    for (size_t i = 0; i < op_count; i++) {
        char *text = ops_text(ops[i], LB_EMIT_CUDA);
        const lb_scalar_op *op = ops[i];
        fprintf(f, "%s__global__ void run_%s(const unsigned *in, unsigned *d) {\n    ", text, op->name);
        if (op->warp) fprintf(f, "__shared__ unsigned words[64];\n    ");
        if (ops_words_out(op) == 1) fprintf(f, "d[threadIdx.x] = ");
        fprintf(f, "%s(%s", op->name, op->warp ? "threadIdx.x % 32, " : "");
        for (int w = 0; w < ops_words_in(op); w++) fprintf(f, "%sin[%d * threadIdx.x + %d]", w ? ", " : "", ops_words_in(op), w);
        if (ops_words_out(op) > 1) fprintf(f, ", d + %d * threadIdx.x", ops_words_out(op));
        fprintf(f, "%s);\n}\n", op->warp ? ", words" : "");
        free(text);
    }
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < count; i++) {
        const int status =
            emit_run("cd %s && %s -arch=sm_%d -O3 --use_fast_math -cubin -o ops.cubin ops.cu", emit_folder, nvcc, architectures[i]);
        if (status != 0) fail_msg("nvcc -arch=sm_%d: exit %d", architectures[i], status);
        print_message("nvcc -arch=sm_%d: %zu operations compiled\n", architectures[i], op_count);
    }
}

/* ---- wrong sources: the comparison sees each of them -------------------------------------------------------------------------- */

/* One operation's C with an edit by sed. */
static size_t wrong_after(const char *op, const char *edit) {
    char first[400];
    size_t compared;
    lb_error err = {0};
    if (lb_scalar_find(op, &ops[0], &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    op_count = 1;
    write_rows();
    write_sources(LB_EMIT_C);
    assert_int_equal(emit_run("cd %s && cp o0.h before.h && sed -E -i '%s' o0.h && ! cmp -s o0.h before.h", emit_folder, edit), 0);
    compile("gcc", "-std=c11 -O3 -ffast-math -Wno-unused-variable -Wno-unused-but-set-variable");
    assert_int_equal(emit_run("cd %s && ./driver in out 1", emit_folder), 0);
    return count_wrong(&compared, first, sizeof first);
}

static void wrong_sources_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *what, *op, *edit;
    } edits[] = {
        {"a sticky bit that is lost", "fma_rn_f32", "s/(u[0-9]+) < 1u \\? u[0-9]+ : 1u;/0u;/"},
        {"a sticky bit that is lost", "fma_rn_f64", "s/(u[0-9]+) < 1u \\? u[0-9]+ : 1u;/0u;/"},
        {"a subnormal that counts as a normal number", "mul_rn_f16", "0,/ > 0 \\?/s/(i[0-9]+) > 0 \\? i[0-9]+ : 0;/\\1;/"},
        {"a shift that is not clamped", "add_rn_f32", "s/(i[0-9]+) < 31 \\? i[0-9]+ : 31;/\\1;/"},
        {"a tie that rounds up", "add_rn_f32", "s/ >= 0x81u;/ >= 0x80u;/"},
        {"a rest that is not looked at", "fma_rp_f64", "s/(u[0-9]+) & 0x7ffu;/\\1 \\& 0x7feu;/"},
        {"a product by floats", "fma_rn_f64",
         "s/\\(uint32_t\\)\\(\\(uint64_t\\)(u[0-9]+) \\* (u[0-9]+) >> 32\\)/(uint32_t)((float)\\1 * (float)\\2 * 0x1p-32f)/"},
        {"a carry that is lost", "add_s64", "s/ \\? 1u : 0u;/ ? 0u : 0u;/"},
        {"a quotient of a step less", "div_rn_f32", "s/ < 27u; / < 26u; /"},
        {"bits above a word", "min_s16", "s/ & 0xffffu;/;/;s/<< 16;/<< 0;/;s/>> 16;/>> 0;/"},
        {"another NaN", "sqrt_rn_f64", "s/0x7ff80000u/0x7ff00001u/"},
        {"a lane too many", "shfl_down", "s/(i[0-9]+) >= (i[0-9]+);/\\1 + 1 >= \\2;/"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const size_t wrong = wrong_after(edits[i].op, edits[i].edit);
        print_message("%s in %s: %zu words wrong\n", edits[i].what, edits[i].op, wrong);
        if (wrong == 0) fail_msg("%s is not seen in %s", edits[i].what, edits[i].op);
    }
    assert_int_equal(wrong_after("fma_rn_f64", "1s/$/ /"), 0); /* what no compiler sees */
}

/* ---- the text ----------------------------------------------------------------------------------------------------------------- */

static void text_is_the_same_each_time_and_says_what_it_is(void **state) {
    (void)state;
    ops_take_all();
    for (size_t i = 0; i < op_count; i++) {
        char *x = ops_text(ops[i], (lb_emit_language)(i % LB_EMIT_LANGUAGE_COUNT));
        char *y = ops_text(ops[i], (lb_emit_language)(i % LB_EMIT_LANGUAGE_COUNT));
        assert_string_equal(x, y);
        unsigned long long said = 0;
        uint64_t h = UINT64_C(0xcbf29ce484222325);
        for (const char *s = strchr(x, '\n') + 1; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
        assert_int_equal(sscanf(x, "// lastbit emit: hash %llx", &said), 1);
        assert_true(said == h);
        assert_non_null(strstr(x, ops[i]->ptx));
        assert_non_null(strstr(x, ops[i]->open));
        free(x);
        free(y);
    }
}

/* Every row is written but for two kinds, whose message says what to use. */
static void what_cannot_be_written_says_what_to_use(void **state) {
    (void)state;
    size_t approximate = 0, matrix = 0, written = 0;
    const lb_scalar_op *op;
    for (size_t i = 0; (op = lb_scalar_row(i)) != NULL; i++) {
        const lb_emit_options o = {0};
        lb_error err = {0};
        char *text = NULL;
        const lb_status s = lb_emit_op(op, &o, &text, NULL, &err);
        free(text);
        written += s == LB_OK;
        if (s == LB_OK) continue;
        assert_int_equal(s, LB_E_UNAVAILABLE);
        assert_int_equal(lb_emit_can_op(op, NULL), LB_E_UNAVAILABLE);
        if (op->cls == LB_SCALAR_APPROXIMATE) {
            assert_non_null(strstr(err.message, op->bound));
            assert_non_null(strstr(err.message, "_rn_") ? err.message : strstr(err.message, "lastbit judge op:"));
            approximate++;
        } else {
            assert_non_null(strstr(err.message, "lastbit emit"));
            matrix++;
        }
    }
    print_message("%zu written, %zu approximate, %zu matrix units\n", written, approximate, matrix);
    assert_true(written >= 415 && approximate == 26);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_is_exact_under_fast_math),
        cmocka_unit_test(every_value_of_a_narrow_operand_is_exact),
        cmocka_unit_test(c_leaves_nothing_undefined),
        cmocka_unit_test(metal_and_cuda_are_exact_as_cpp),
        cmocka_unit_test(cuda_compiles),
        cmocka_unit_test(wrong_sources_are_seen),
        cmocka_unit_test(text_is_the_same_each_time_and_says_what_it_is),
        cmocka_unit_test(what_cannot_be_written_says_what_to_use),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
