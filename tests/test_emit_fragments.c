/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted fragments: the registers of a group of 32 lanes, single and chained, are those that lb_warp_mma gives. */
#include "emit_help.h"

#include "lastbit/fragments.h"

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

typedef struct warp_case {
    lb_unit u;
    lb_fragment a, b, c, d;
} warp_case;

static void open_case(const char *name, warp_case *w) {
    lb_error err = {0};
    if (lb_unit_find(name, &w->u, &err) != LB_OK) fail_msg("%s: %s", name, err.message);
    assert_int_equal(lb_fragment_of(&w->u, LB_FRAGMENT_A, NULL, &w->a, &err), LB_OK);
    assert_int_equal(lb_fragment_of(&w->u, LB_FRAGMENT_B, NULL, &w->b, &err), LB_OK);
    assert_int_equal(lb_fragment_of(&w->u, LB_FRAGMENT_C, NULL, &w->c, &err), LB_OK);
    assert_int_equal(lb_fragment_of(&w->u, LB_FRAGMENT_D, NULL, &w->d, &err), LB_OK);
}

/* A warp's registers: of each warp all elements are drawn alike, so that chains of usual numbers stay finite. */
static void draw_registers(const lb_fragment *f, uint64_t seed, uint32_t stream, size_t warp, uint32_t *registers) {
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_UNIFORM, LB_DIST_SPECIAL};
    const lb_dist dist = dists[warp % (sizeof dists / sizeof dists[0])];
    const int each = 32 / f->bits;
    for (int i = 0; i < 32 * f->registers; i++) {
        registers[i] = 0;
        for (int e = 0; e < each; e++) {
            uint64_t code = lb_draw(f->format, dist, seed, stream, (warp << 16) + (uint64_t)(i * each + e));
            if (dist == LB_DIST_SPECIAL && lb_random_u64(seed, stream, (warp << 16) + (uint64_t)(i * each + e)) % 8) code = 0;
            registers[i] |= (uint32_t)code << (e * f->bits + f->shift);
        }
    }
}

static void write_table(const warp_case *cases, size_t count, lb_emit_language language) {
    char path[256], function[200];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    for (size_t i = 0; i < count; i++) {
        char name[32], *text = emit_text(&cases[i].u, language, true, false);
        snprintf(name, sizeof name, "f%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < count; i++) {
        const warp_case *w = &cases[i];
        emit_identifier(&w->u, function, sizeof function);
        fprintf(table, "    {%d, %d, %d, %d, 0, %s_share, %s_lane},\n", w->a.registers, w->b.registers, w->c.registers, w->d.registers,
                function, function);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

enum { MOST = 32 * 32 };

/* Inputs of a unit, and what the model makes of them. */
static void write_warps(const warp_case *w, size_t index, size_t warps, size_t steps, FILE *in, FILE *want) {
    static uint32_t a[MOST], b[MOST];
    const size_t size_c = 32 * (size_t)w->c.registers, size_a = 32 * (size_t)w->a.registers, size_b = 32 * (size_t)w->b.registers;
    uint32_t *acc = malloc(warps * size_c * sizeof *acc);
    assert_non_null(acc);
    const uint32_t head[] = {(uint32_t)index, (uint32_t)warps, (uint32_t)steps, 0};
    fwrite(head, 4, 4, in);
    for (size_t i = 0; i < warps; i++) draw_registers(&w->c, 77, 3, i, acc + i * size_c);
    fwrite(acc, 4, warps * size_c, in);
    for (size_t i = 0; i < steps * warps; i++) {
        lb_error err = {0};
        uint32_t *c = acc + i % warps * size_c;
        draw_registers(&w->a, 77 + i / warps, 1, i % warps, a);
        draw_registers(&w->b, 77 + i / warps, 2, i % warps, b);
        fwrite(a, 4, size_a, in);
        fwrite(b, 4, size_b, in);
        if (lb_warp_mma(&w->u, a, b, c, c, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        fwrite(c, 4, size_c, want);
    }
    free(acc);
}

static void expect_exact(const warp_case *cases, size_t count, size_t warps, size_t steps, lb_emit_language language, const char *compiler,
                         const char *options) {
    char path[2][256];
    emit_path(path[0], sizeof path[0], "in");
    emit_path(path[1], sizeof path[1], "want");
    FILE *in = fopen(path[0], "wb"), *want = fopen(path[1], "wb");
    assert_non_null(in);
    assert_non_null(want);
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        write_warps(&cases[i], i, warps, steps, in, want);
        words += warps * steps * 32 * (size_t)cases[i].d.registers;
    }
    assert_int_equal(fclose(in) | fclose(want), 0);
    write_table(cases, count, language);
    const int status = emit_run("cd %s && %s -Wall -Wextra -Werror -Wno-unused-function %s -I. %s/tests/emit/warps.c -o warps", emit_folder,
                                compiler, options, LB_SOURCE_DIR);
    if (status != 0) fail_msg("%s %s: exit %d", compiler, options, status);
    for (int flush = 0; flush < 2; flush++) {
        assert_int_equal(emit_run("cd %s && ./warps in out %d", emit_folder, flush), 0);
        if (emit_run("cd %s && cmp out want", emit_folder) != 0)
            fail_msg("%s %s, flush %d: not the model's registers", compiler, options, flush);
        assert_int_equal(emit_run("cd %s && test $(stat -c %%s out) = %zu", emit_folder, words * 4), 0);
    }
    print_message("%s: %zu registers of %zu warps, each %zu in a chain, all the model's\n", lb_emit_language_name(language), words, warps,
                  steps);
}

/* The outputs that are published for an emulator of this instruction: 4,718,592, single and chained. */
static void hmma_of_sm_80_is_exact_single_and_chained(void **state) {
    (void)state;
    static warp_case cases[2];
    open_case("sm_80/mma.m16n8k16.f16.f16.f16.f16", &cases[0]);
    open_case("sm_80/mma.m16n8k8.f16.f16.f16.f16", &cases[1]);
    const bool full = emit_full(); /* 2 units of 128 outputs a warp: 4,718,592 outputs of either kind */
    expect_exact(cases, 2, full ? 18432 : 256, 1, LB_EMIT_C, "gcc", "-std=c11 -O3 -ffast-math");
    expect_exact(cases, 2, full ? 2304 : 128, 8, LB_EMIT_C, "clang", "-std=c11 -O3 -ffast-math");
}

static void every_layout_is_exact(void **state) {
    (void)state;
    static const char *const names[] = {
        "sm_70/mma.m8n8k4.f32.f16.f16.f32",     "sm_70/mma.m8n8k4.f16.f16.f16.f16",     "sm_80/mma.m16n8k16.f32.f16.f16.f32",
        "sm_80/mma.m16n8k8.f32.f16.f16.f32",    "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "sm_80/mma.m16n8k8.f32.bf16.bf16.f32",
        "sm_80/mma.m16n8k4.f32.tf32.tf32.f32",  "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",  "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32",
        "sm_89/mma.m16n8k16.f16.e5m2.e4m3.f16", "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32"};
    static warp_case cases[sizeof names / sizeof names[0]];
    const size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) open_case(names[i], &cases[i]);
    char options[400];
    expect_exact(cases, count, 60, 2, LB_EMIT_C, "gcc", "-std=c11 -O1 -ffast-math");
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -I%s/tests/emit/shim", LB_SOURCE_DIR);
    expect_exact(cases, count, 12, 2, LB_EMIT_MSL, "g++", options);
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -Wno-unknown-pragmas -include %s/tests/emit/shim/cuda_shim.h",
             LB_SOURCE_DIR);
    expect_exact(cases, count, 12, 2, LB_EMIT_CUDA, "g++", options);
}

/* A fragment with an edit by sed: whether its registers are still the model's. */
static bool exact_after(const warp_case *w, const char *edit) {
    char path[2][256];
    emit_path(path[0], sizeof path[0], "in");
    emit_path(path[1], sizeof path[1], "want");
    FILE *in = fopen(path[0], "wb"), *want = fopen(path[1], "wb");
    assert_non_null(in);
    assert_non_null(want);
    write_warps(w, 0, 120, 1, in, want);
    assert_int_equal(fclose(in) | fclose(want), 0);
    write_table(w, 1, LB_EMIT_C);
    assert_int_equal(emit_run("cd %s && cp f0.h before.h && sed -E -i '%s' f0.h && ! cmp -s f0.h before.h", emit_folder, edit), 0);
    assert_int_equal(
        emit_run("cd %s && gcc -std=c11 -O1 -w -I. %s/tests/emit/warps.c -o warps && ./warps in out 0", emit_folder, LB_SOURCE_DIR), 0);
    return emit_run("cd %s && cmp -s out want", emit_folder) == 0;
}

static void wrong_fragments_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *what, *edit;
    } edits[] = {
        {"lines that are not marked", "s/ & 0x80000000u;/ \\& 0u;/"},
        {"elements of C that are not looked at", "s/ \\+ 0x800000u;/ + 0u;/"},
        {"a register of the wrong lane", "s/ & 3u;/ \\& 1u;/"},
        {"elements that are redone from the row of another",
         "s/for \\(uint32_t (u[0-9]+) = 0u; (u[0-9]+ < 4u)/for (uint32_t \\1 = 1u; \\2/"},
    };
    warp_case w;
    open_case("sm_80/mma.m16n8k16.f32.f16.f16.f32", &w);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        if (exact_after(&w, edits[i].edit)) fail_msg("%s: not seen", edits[i].what);
    assert_true(exact_after(&w, "1s/$/ /"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmma_of_sm_80_is_exact_single_and_chained),
        cmocka_unit_test(every_layout_is_exact),
        cmocka_unit_test(wrong_fragments_are_seen),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
