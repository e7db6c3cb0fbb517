/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted blocks of sixteen whose sums need two words: products just below 4, of one sign. Random data never fill a block so far. */
#include "emit_help.h"

#include <math.h>

static emit_batch batch;
static lb_unit unit;

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* One row of three has products of either sign. */
static void draw_full(void) {
    const lb_format *fa = lb_format_row(unit.a), *fb = lb_format_row(unit.b), *fc = lb_format_row(unit.c);
    emit_draw(&unit, 3, &batch);
    for (uint32_t i = 0; i < batch.m * batch.k; i++) {
        const uint64_t random = lb_random_u64(11, 1, i);
        const double a = 2 - (double)(1 + random % 3) / (1 << fa->man_bits), b = 2 - (double)(1 + (random >> 8) % 3) / (1 << fb->man_bits);
        const uint32_t kind = i / batch.k % 3;
        batch.a[i] = (uint32_t)lb_from_double(fa, kind == 1 || (kind == 2 && random >> 63) ? -a : a);
        batch.b[i] = (uint32_t)lb_from_double(fb, b);
    }
    for (uint32_t i = 0; i < batch.m * batch.n; i++)
        batch.c[i] = (uint32_t)lb_from_double(fc, ldexp((double)(int64_t)lb_random_u64(11, 2, i), -62 - (int)(i % 5)));
    emit_want(&unit, &batch);
}

/* Whether the unit's C, behind an edit by sed, gives the model's words. */
static bool is_exact(const char *edit, const char *options) {
    char function[200], path[256];
    char *text = emit_text_of(&unit, (lb_emit_options){.language = LB_EMIT_C});
    emit_write("u0.h", text, strlen(text));
    free(text);
    emit_identifier(&unit, function, sizeof function);
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    fprintf(table, "#include \"u0.h\"\nstatic const struct entry table[] = {\n");
    emit_write_entry(table, &unit, function, false);
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
    emit_path(path, sizeof path, "in");
    FILE *in = fopen(path, "wb");
    assert_non_null(in);
    emit_write_batch(in, 0, false, &batch, false);
    assert_int_equal(fclose(in), 0);
    emit_write("want", batch.d, (size_t)batch.m * batch.n * 4);
    if (*edit) assert_int_equal(emit_run("cd %s && cp u0.h before && sed -E -i '%s' u0.h && ! cmp -s u0.h before", emit_folder, edit), 0);
    assert_int_equal(emit_run("cd %s && gcc -std=c11 %s -w -I. %s/tests/emit/driver.c -o driver && ./driver in out 0", emit_folder, options,
                              LB_SOURCE_DIR),
                     0);
    return emit_run("cd %s && cmp -s out want", emit_folder) == 0;
}

static void sums_of_two_words_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_90/wgmma.m64n8k16.f32.f16.f16",
                                        "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "sm_100/tcgen05.m128n8k16.f32.f16.f16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(lb_unit_find(names[i], &unit, NULL), LB_OK);
        draw_full();
        if (!is_exact("", "-O3 -ffast-math")) fail_msg("%s: not the model's words", names[i]);
        if (!is_exact("", "-O1 -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all"))
            fail_msg("%s: not the model's words", names[i]);
        print_message("%s: %u words of full blocks, all the model's\n", names[i], batch.m * batch.n);
    }
}

static void wrong_sums_are_seen(void **state) {
    (void)state;
    static const char *const edits[] = {"s/(u[0-9]+) >> 31;/0u;/",      /* a magnitude that is longer than an int */
                                        "s/(i[0-9]+) >> 1;/\\1 << 1;/", /* a sign that overflows */
                                        "s/ << 23;/ << 22;/"};          /* the unit of a long magnitude */
    assert_int_equal(lb_unit_find("sm_90/mma.m16n8k16.f32.f16.f16.f32", &unit, NULL), LB_OK);
    draw_full();
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        if (is_exact(edits[i], "-O1")) fail_msg("not seen: %s", edits[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_two_words_are_exact),
        cmocka_unit_test(wrong_sums_are_seen),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
