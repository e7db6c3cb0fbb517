/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted fragments: the registers of a group of 32 lanes, single and chained, are those that lb_warp_mma gives. */
#include "emit_warps.h"

static int set_up(void **state) {
    (void)state;
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

static void write_table(const warp_case *cases, size_t count, lb_emit_language language, lb_emit_exchange exchange) {
    char path[256], function[200];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    for (size_t i = 0; i < count; i++) {
        const lb_emit_options o = {.language = language, .fragment = true, .exchange = exchange};
        char name[32], *text = emit_text_of(&cases[i].u, o);
        snprintf(name, sizeof name, "f%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < count; i++) {
        const warp_case *w = &cases[i];
        emit_identifier(&w->u, function, sizeof function);
        if (exchange == LB_EMIT_SUBGROUP)
            fprintf(table, "    {%d, %d, %d, %d, %s},\n", w->a.registers, w->b.registers, w->c.registers, w->d.registers, function);
        else
            fprintf(table, "    {%d, %d, %d, %d, %d, %d, %d, (any_function *)%s_share, (any_function *)%s_lane},\n", w->d.lanes,
                    w->a.registers, w->b.registers, w->c.registers, w->d.registers, w->extras == 2, w->extras == 1, function, function);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

enum { MOST = 64 * 64 };

/* B for an instruction that takes it out of shared memory: each lane's share, and the matrix. */
static void draw_shared(const warp_case *w, uint64_t seed, size_t warp, uint32_t *shares, lb_mat *b) {
    static const lb_dist dists[] = {LB_DIST_NORMAL, LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_BITS, LB_DIST_UNIFORM, LB_DIST_SPECIAL};
    static unsigned char bytes[4 * MOST];
    const lb_format *f = lb_format_row(w->u.b);
    const size_t count = (size_t)w->u.k * w->u.n;
    *b = lb_mat_of(f, bytes, w->u.k, w->u.n);
    for (size_t i = 0; i < count; i++)
        lb_store_code(lb_mat_at(b, i / w->u.n, i % w->u.n), f->bytes, lb_draw(f, dists[warp % 6], seed, 2, (warp << 16) + i));
    const size_t lanes = (size_t)w->b.lanes, each = (size_t)w->b.registers;
    for (size_t i = 0; i < lanes * each; i++) {
        const size_t at = (i / each + lanes * (i % each)) % count;
        shares[i] = (uint32_t)lb_mat_code(b, at / w->u.n, at % w->u.n);
    }
}

/* Inputs of a unit, and what the model makes of them. */
static void write_warps(const warp_case *w, size_t index, size_t warps, size_t steps, FILE *in, FILE *want) {
    static uint32_t a[MOST], b[MOST], more[2][MOST];
    const size_t size_c = words_of(&w->c);
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
        lb_mat shared;
        if (w->b_shared)
            draw_shared(w, 77 + i / warps, i % warps, b, &shared);
        else
            draw_registers(&w->b, 77 + i / warps, 2, i % warps, b);
        for (int x = 0; x < w->extras; x++) draw_registers(&w->more[x], 77 + i / warps, 4 + (uint32_t)x, i % warps, more[x]);
        fwrite(a, 4, words_of(&w->a), in);
        fwrite(b, 4, words_of(&w->b), in);
        for (int x = 0; x < w->extras; x++) fwrite(more[x], 4, (size_t)w->d.lanes, in);
        const lb_warp_options o = {.b = w->b_shared ? &shared : NULL,
                                   .metadata = w->extras == 1 ? more[0] : NULL,
                                   .scale_a = w->extras == 2 ? more[0] : NULL,
                                   .scale_b = w->extras == 2 ? more[1] : NULL};
        if (lb_warp_mma(&w->u, a, w->b_shared ? NULL : b, c, c, &o, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        fwrite(c, 4, size_c, want);
    }
    free(acc);
}

/* in, want; how many words. */
static size_t write_cases(const warp_case *cases, size_t count, size_t warps, size_t steps) {
    char path[2][256];
    emit_path(path[0], sizeof path[0], "in");
    emit_path(path[1], sizeof path[1], "want");
    FILE *in = fopen(path[0], "wb"), *want = fopen(path[1], "wb");
    assert_non_null(in);
    assert_non_null(want);
    size_t words = 0;
    for (size_t i = 0; i < count; i++) {
        write_warps(&cases[i], i, warps, steps, in, want);
        words += warps * steps * words_of(&cases[i].d);
    }
    assert_int_equal(fclose(in) | fclose(want), 0);
    return words;
}

/* What drives the lanes: warps.c with flush-to-zero off and on, or lockstep.c in the first and the second half of a sub-group. */
static void expect_exact(const warp_case *cases, size_t count, size_t warps, size_t steps, lb_emit_language language,
                         lb_emit_exchange exchange, const char *compiler, const char *options) {
    const char *driver = exchange == LB_EMIT_SUBGROUP ? "lockstep" : "warps";
    const size_t words = write_cases(cases, count, warps, steps);
    write_table(cases, count, language, exchange);
    const int status = emit_run("cd %s && %s -Wall -Wextra -Werror -Wno-unused-function %s -I. %s/tests/emit/%s.c -o warps", emit_folder,
                                compiler, options, LB_SOURCE_DIR, driver);
    if (status != 0) fail_msg("%s %s: exit %d", compiler, options, status);
    for (int how = 0; how < 2; how++) {
        const int argument = exchange == LB_EMIT_SUBGROUP ? 32 * how : how;
        assert_int_equal(emit_run("cd %s && ./warps in out %d", emit_folder, argument), 0);
        if (emit_run("cd %s && cmp out want", emit_folder) != 0)
            fail_msg("%s %s, %s %d: not the model's registers", compiler, options, driver, argument);
        assert_int_equal(emit_run("cd %s && test $(stat -c %%s out) = %zu", emit_folder, words * 4), 0);
    }
    print_message("%s%s: %zu registers of %zu warps, each %zu in a chain, all the model's\n", lb_emit_language_name(language),
                  exchange == LB_EMIT_SUBGROUP ? " by shuffles" : "", words, warps, steps);
}

/* The outputs that are published for an emulator of this instruction: 4,718,592, single and chained. */
static void hmma_of_sm_80_is_exact_single_and_chained(void **state) {
    (void)state;
    static warp_case cases[2];
    open_case("sm_80/mma.m16n8k16.f16.f16.f16.f16", &cases[0]);
    open_case("sm_80/mma.m16n8k8.f16.f16.f16.f16", &cases[1]);
    const bool full = emit_full(); /* 2 units of 128 outputs a warp: 4,718,592 outputs of either kind */
    expect_exact(cases, 2, full ? 18432 : 256, 1, LB_EMIT_C, LB_EMIT_LOCAL, "gcc", "-std=c11 -O3 -ffast-math");
    expect_exact(cases, 2, full ? 2304 : 128, 8, LB_EMIT_C, LB_EMIT_LOCAL, "clang", "-std=c11 -O3 -ffast-math");
}

/* What a C++ compiler takes for Metal and CUDA. */
static void shim_options(lb_emit_language language, char *out, size_t size) {
    if (language == LB_EMIT_MSL)
        snprintf(out, size, "-x c++ -std=c++17 -O1 -ffast-math -I%s/tests/emit/shim", LB_SOURCE_DIR);
    else
        snprintf(out, size, "-x c++ -std=c++17 -O1 -ffast-math -Wno-unknown-pragmas -include %s/tests/emit/shim/cuda_shim.h",
                 LB_SOURCE_DIR);
}

/* One of each kind of layout, and every unit that has one. */
static size_t open_layouts(warp_case *cases, size_t room) {
    static const char *const names[] = {"sm_70/mma.m8n8k4.f32.f16.f16.f32",
                                        "sm_70/mma.m8n8k4.f16.f16.f16.f16",
                                        "sm_80/mma.m16n8k16.f32.f16.f16.f32",
                                        "sm_80/mma.m16n8k8.f32.f16.f16.f32",
                                        "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
                                        "sm_80/mma.m16n8k8.f32.bf16.bf16.f32",
                                        "sm_80/mma.m16n8k4.f32.tf32.tf32.f32",
                                        "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",
                                        "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32",
                                        "sm_89/mma.m16n8k16.f16.e5m2.e4m3.f16",
                                        "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32",
                                        "sm_90/wgmma.m64n8k16.f32.f16.f16",
                                        "sm_90/wgmma.m64n8k8.f32.tf32.tf32",
                                        "sm_90/wgmma.m64n8k32.f32.e4m3.e5m2",
                                        "sm_80/mma.m8n8k16.i32.i8.u8.i32",
                                        "sm_80/mma.m16n8k32.i32.u8.i8.i32.satfinite",
                                        "sm_80/mma.m16n8k64.i32.i4.u4.i32",
                                        "sm_80/mma.m16n8k256.i32.b1.b1.i32.xor",
                                        "sm_75/mma.m8n8k128.i32.b1.b1.i32.xor",
                                        "sm_80/mma.m16n8k32.f32.f16.f16.f32.sp",
                                        "sm_80/mma.m16n8k16.f16.f16.f16.f16.sp",
                                        "sm_90/mma.m16n8k16.f32.tf32.tf32.f32.sp",
                                        "sm_80/mma.m16n8k8.f32.tf32.tf32.f32.sp",
                                        "sm_89/mma.m16n8k64.f32.e4m3.e5m2.f32.sp",
                                        "sm_80/mma.m16n8k64.i32.i8.u8.i32.satfinite.sp",
                                        "sm_120/mma.m16n8k32.f32.e4m3.e2m1.f32.mxf8f6f4.ue8m0",
                                        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4.ue8m0",
                                        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3",
                                        "sm_80/mma.m8n8k4.f64.f64.f64.f64",
                                        "sm_90/mma.m16n8k16.f64.f64.f64.f64",
                                        "gfx908/mfma.m4n4k4.f32.f16.f16.f32",
                                        "gfx908/mfma.m16n16k8.f32.bf16.bf16.f32",
                                        "gfx90a/mfma.m32n32k4.f32.bf16.bf16.f32.1k",
                                        "gfx90a/mfma.m4n4k4.f64.f64.f64.f64",
                                        "gfx942/mfma.m16n16k4.f64.f64.f64.f64",
                                        "gfx942/mfma.m16n16k32.f32.e4m3fnuz.e5m2fnuz.f32",
                                        "gfx942/mfma.m32n32k16.i32.i8.i8.i32",
                                        "gfx942/mfma.m32n32k1.f32.f32.f32.f32"};
    size_t count = 0;
    for (; count < sizeof names / sizeof names[0]; count++) open_case(names[count], &cases[count]);
    for (size_t i = 0; emit_full() && lb_unit_row(i); i++) {
        cases[count].u = *lb_unit_row(i);
        if (lb_emit_can(&cases[count].u, NULL) == LB_OK && find_layouts(&cases[count], NULL)) count++;
        assert_true(count < room);
    }
    return count;
}

static void every_layout_is_exact(void **state) {
    (void)state;
    static warp_case cases[EMIT_MAX_UNITS];
    const size_t count = open_layouts(cases, EMIT_MAX_UNITS);
    char options[400];
    expect_exact(cases, count, 60, 2, LB_EMIT_C, LB_EMIT_LOCAL, "gcc", "-std=c11 -O1 -ffast-math");
    shim_options(LB_EMIT_MSL, options, sizeof options);
    expect_exact(cases, count, 12, 2, LB_EMIT_MSL, LB_EMIT_LOCAL, "g++", options);
    shim_options(LB_EMIT_CUDA, options, sizeof options);
    expect_exact(cases, count, 12, 2, LB_EMIT_CUDA, LB_EMIT_LOCAL, "g++", options);
}

static void shuffles_are_exact(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32",   "sm_80/mma.m16n8k16.f16.f16.f16.f16",
                                        "sm_80/mma.m16n8k8.f32.bf16.bf16.f32",  "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",
                                        "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32", "sm_70/mma.m8n8k4.f32.f16.f16.f32",
                                        "sm_120/mma.m16n8k32.f32.e2m1.e3m2.f32"};
    static warp_case cases[sizeof names / sizeof names[0]];
    const size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) open_case(names[i], &cases[i]);
    static const lb_emit_language languages[] = {LB_EMIT_MSL, LB_EMIT_CUDA};
    for (size_t i = 0; i < 2; i++) {
        char options[400];
        shim_options(languages[i], options, sizeof options);
        expect_exact(cases, count, 24, 2, languages[i], LB_EMIT_SUBGROUP, "g++", options);
    }
}

/* A fragment with an edit by sed: whether its registers are still the model's. */
static bool exact_after(const warp_case *w, lb_emit_exchange exchange, const char *edit) {
    char options[400] = "-std=c11 -O1";
    const bool shuffles = exchange == LB_EMIT_SUBGROUP;
    const lb_emit_language language = shuffles ? LB_EMIT_CUDA : LB_EMIT_C;
    if (shuffles) shim_options(language, options, sizeof options);
    write_cases(w, 1, 120, 1);
    write_table(w, 1, language, exchange);
    assert_int_equal(emit_run("cd %s && cp f0.h before.h && sed -E -i '%s' f0.h && ! cmp -s f0.h before.h", emit_folder, edit), 0);
    assert_int_equal(emit_run("cd %s && %s %s -w -I. %s/tests/emit/%s.c -o warps && ./warps in out 0", emit_folder,
                              shuffles ? "g++" : "gcc", options, LB_SOURCE_DIR, shuffles ? "lockstep" : "warps"),
                     0);
    return emit_run("cd %s && cmp -s out want", emit_folder) == 0;
}

static void wrong_fragments_are_seen(void **state) {
    (void)state;
    static const struct {
        const char *what, *edit;
        lb_emit_exchange exchange;
    } edits[] = {
        {"lines that are not marked", "s/ & 0x80000000u;/ \\& 0u;/", LB_EMIT_LOCAL},
        {"elements of C that are not looked at", "s/ \\+ 0x800000u;/ + 0u;/", LB_EMIT_LOCAL},
        {"a register of the wrong lane", "s/ & 3u;/ \\& 1u;/", LB_EMIT_LOCAL},
        {"elements that are redone from the row of another",
         "s/for \\(uint32_t (u[0-9]+) = 0u; (u[0-9]+ < 4u)/for (uint32_t \\1 = 1u; \\2/", LB_EMIT_LOCAL},
        {"a row that another lane has",
         "0,/__shfl_sync\\(0xffffffffu, (u[0-9]+), \\(int\\)(u[0-9]+)\\)/s//__shfl_sync(0xffffffffu, \\1, \\2 ^ 4)/", LB_EMIT_SUBGROUP},
        {"a value that is not exchanged", "0,/__shfl_sync\\(0xffffffffu, (u[0-9]+), \\(int\\)u[0-9]+\\)/s//(__shfl_sync(0u, \\1, 0), \\1)/",
         LB_EMIT_SUBGROUP},
    };
    warp_case w;
    open_case("sm_80/mma.m16n8k16.f32.f16.f16.f32", &w);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        if (exact_after(&w, edits[i].exchange, edits[i].edit)) fail_msg("%s: not seen", edits[i].what);
    assert_true(exact_after(&w, LB_EMIT_SUBGROUP, "1s/$/ /"));
    assert_true(exact_after(&w, LB_EMIT_LOCAL, "1s/$/ /"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmma_of_sm_80_is_exact_single_and_chained),
        cmocka_unit_test(every_layout_is_exact),
        cmocka_unit_test(shuffles_are_exact),
        cmocka_unit_test(wrong_fragments_are_seen),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
