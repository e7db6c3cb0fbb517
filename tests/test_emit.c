/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted C, under the options that break floating point: every word is the model's. */
#include "emit_help.h"

static lb_unit units[EMIT_MAX_UNITS];
static size_t unit_count;
static emit_batch batch;

static int set_up(void **state) {
    (void)state;
    unit_count = emit_units(units, emit_full());
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* table.h, and a file of source a unit. */
static void write_sources(bool integers) {
    char path[256];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    for (size_t i = 0; i < unit_count; i++) {
        char name[32], *text = emit_text(&units[i], LB_EMIT_C, false, integers);
        snprintf(name, sizeof name, "u%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < unit_count; i++) {
        char function[200];
        emit_identifier(&units[i], function, sizeof function);
        fprintf(table, "    {%d, %s_dot},\n", units[i].k, function);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

static void write_inputs(void) {
    char path[256];
    emit_path(path, sizeof path, "in");
    FILE *f = fopen(path, "wb");
    emit_path(path, sizeof path, "want");
    FILE *want = fopen(path, "wb");
    assert_non_null(f);
    assert_non_null(want);
    for (size_t i = 0; i < unit_count; i++) {
        for (int kind = 0; kind < EMIT_BATCHES; kind++) {
            emit_draw(&units[i], kind, &batch);
            emit_want(&units[i], &batch);
            const uint32_t head[] = {(uint32_t)i, batch.m, batch.n, batch.k};
            fwrite(head, 4, 4, f);
            fwrite(batch.a, 4, batch.m * batch.k, f);
            fwrite(batch.b, 4, batch.n * batch.k, f);
            fwrite(batch.c, 4, batch.m * batch.n, f);
            fwrite(batch.d, 4, batch.m * batch.n, want);
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
    uint32_t x, y;
    size_t wrong = 0;
    for (*compared = 0; fread(&y, 4, 1, want) == 1; ++*compared) {
        if (fread(&x, 4, 1, out) == 1 && x == y) continue;
        const size_t each = EMIT_SIDE * EMIT_SIDE, unit = *compared / each / EMIT_BATCHES;
        if (wrong++ == 0)
            snprintf(first, size, "%s, batch %zu, element %zu: got %08x, want %08x", units[unit].name, *compared / each % EMIT_BATCHES,
                     *compared % each, x, y);
    }
    fclose(out);
    fclose(want);
    return wrong;
}

static void compile(const char *compiler, const char *options) {
    const int status = emit_run("cd %s && %s -std=c11 -Wall -Wextra -Werror -Wno-unused-function %s -I. %s/tests/emit/driver.c -o driver",
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
        print_message("%s %s, flush-to-zero %s: %zu words of %zu units, all the model's\n", compiler, options, flush ? "on" : "off",
                      compared, unit_count);
        assert_true(compared == unit_count * EMIT_BATCHES * EMIT_SIDE * EMIT_SIDE);
    }
}

static void c_is_exact_under_fast_math(void **state) {
    (void)state;
    write_inputs();
    write_sources(false);
    expect_exact("gcc", "-O3 -ffast-math", 2);
    expect_exact("clang", "-O3 -ffast-math", 2);
    write_sources(true);
    expect_exact("gcc", "-O1 -ffast-math", 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_is_exact_under_fast_math),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
