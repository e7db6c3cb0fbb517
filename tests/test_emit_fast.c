/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tier fast: what is emitted is what its comment says, and gives the unit's bits as often as the comment says.
 * LB_RATES=FILE measures every row and writes the table (tools/gen_fast_rates). */
#include "emit_help.h"

#include "lastbit/fragments.h"

enum { BATCHES = 10, EACH = EMIT_SIDE * EMIT_SIDE, MOST_ROWS = 512 };

static lb_unit units[MOST_ROWS];
static size_t unit_count;
static emit_batch batch;

static bool same_row(const lb_unit *x, const lb_unit *y) {
    return x->a == y->a && x->b == y->b && x->d == y->d && x->k == y->k && x->terms == y->terms && x->frac_bits == y->frac_bits &&
           x->floor_exp == y->floor_exp && x->round == y->round;
}

static int set_up(void **state) {
    (void)state;
    const lb_emit_options o = {.tier = LB_EMIT_FAST};
    const lb_unit *u;
    for (size_t i = 0; (u = lb_unit_row(i)) != NULL; i++) {
        char *text = NULL;
        bool known = lb_emit_unit(u, &o, &text, NULL, NULL) != LB_OK;
        free(text);
        for (size_t j = 0; !known && j < unit_count; j++) known = same_row(u, &units[j]);
        if (!known) units[unit_count++] = *u;
        assert_true(unit_count < MOST_ROWS);
    }
    return mkdtemp(emit_folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return emit_run("rm -r %s", emit_folder);
}

/* ---- running it ------------------------------------------------------------------------------------------------------------- */

static void build(const size_t *which, size_t count) {
    char path[256];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    for (size_t i = 0; i < count; i++) {
        char name[32], *text = emit_text_of(&units[which[i]], (lb_emit_options){.tier = LB_EMIT_FAST});
        snprintf(name, sizeof name, "u%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < count; i++) {
        char function[200];
        emit_identifier(&units[which[i]], function, sizeof function);
        emit_write_entry(table, &units[which[i]], function, false);
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
    assert_int_equal(emit_run("cd %s && gcc -std=c11 -O2 -Wall -Wextra -Werror -Wno-unused-function -I. %s/tests/emit/driver.c -o driver",
                              emit_folder, LB_SOURCE_DIR),
                     0);
}

static void draw(const lb_unit *u, lb_dist dist, uint64_t number) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fc = lb_format_row(u->c);
    emit_size(u, EMIT_SIDE, EMIT_SIDE, &batch);
    const uint64_t operands = (uint64_t)EMIT_SIDE * u->k;
    for (uint64_t i = 0; i < operands; i++) {
        batch.a[i] = (uint32_t)lb_draw(fa, dist, 1, 1, number * operands + i);
        batch.b[i] = (uint32_t)lb_draw(fb, dist, 1, 2, number * operands + i);
    }
    for (uint64_t i = 0; i < EACH; i++) batch.c[i] = (uint32_t)lb_draw(fc, dist, 1, 3, number * EACH + i);
}

static void run_batch(uint32_t index, uint32_t *out) {
    char path[256];
    emit_path(path, sizeof path, "in");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    const uint32_t head[] = {index, batch.m, batch.n, 0};
    fwrite(head, 4, 4, f);
    fwrite(batch.a, 4, (size_t)batch.m * batch.k, f);
    fwrite(batch.b, 4, (size_t)batch.n * batch.k, f);
    fwrite(batch.c, 4, EACH, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(emit_run("cd %s && ./driver in out 0", emit_folder), 0);
    emit_path(path, sizeof path, "out");
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(out, 4, EACH, f), EACH);
    fclose(f);
}

/* Outputs that have the unit's bits. */
static int measure(const lb_unit *u, uint32_t index, lb_dist dist) {
    static uint32_t out[EACH];
    int equal = 0;
    for (uint64_t number = 0; number < BATCHES; number++) {
        draw(u, dist, number);
        emit_want(u, &batch);
        run_batch(index, out);
        for (size_t i = 0; i < EACH; i++) equal += out[i] == batch.d[i];
    }
    return equal;
}

/* ---- what it is ------------------------------------------------------------------------------------------------------------- */

static float value_of(const lb_format *f, uint32_t code) {
    return (float)lb_to_double(f, code);
}

/* The sum as the comment has it. */
static uint32_t fast_dot(const lb_unit *u, const uint32_t *a, const uint32_t *b, uint32_t c) {
    const lb_format *fa = lb_format_row(u->a), *fb = lb_format_row(u->b), *fd = lb_format_row(u->d);
    float sum = value_of(fd, c);
    for (int i = 0; i < u->k; i++) {
        const float product = value_of(fa, a[i]) * value_of(fb, b[i]);
        sum += product;
        if ((i + 1) % u->terms && i + 1 < u->k) continue;
        if (u->round == LB_UNIT_RNE_F16) {
            c = (uint32_t)lb_from_double(fd, (double)sum);
            sum = value_of(fd, c);
        } else {
            c = bits_of(sum) & (u->round == LB_UNIT_RZ_E8M13 ? ~UINT32_C(0x3ff) : ~UINT32_C(0));
            memcpy(&sum, &c, sizeof sum);
        }
    }
    return c;
}

static bool is_nan(const lb_format *f, uint32_t code) {
    return lb_to_double(f, code) != lb_to_double(f, code);
}

static size_t differing(const lb_unit *u, const uint32_t *out) {
    size_t wrong = 0;
    const lb_format *fd = lb_format_row(u->d);
    for (size_t i = 0; i < EACH; i++) {
        const uint32_t want = fast_dot(u, batch.a + i / EMIT_SIDE * batch.k, batch.b + i % EMIT_SIDE * batch.k, batch.c[i]);
        wrong += out[i] != want && !(is_nan(fd, out[i]) && is_nan(fd, want));
    }
    return wrong;
}

static void it_is_what_its_comment_says(void **state) {
    (void)state;
    static uint32_t out[EACH];
    size_t which[MOST_ROWS] = {0}, count = 0;
    for (size_t i = 0; i < unit_count; i += emit_full() ? 1 : 8) which[count++] = i;
    build(which, count);
    for (size_t i = 0; i < count; i++) {
        for (int kind = 0; kind < EMIT_BATCHES; kind += emit_full() ? 1 : 2) {
            emit_draw(&units[which[i]], kind, &batch);
            run_batch((uint32_t)i, out);
            const size_t wrong = differing(&units[which[i]], out);
            if (wrong) fail_msg("%s, batch %d: %zu words are not the sum in f32", units[which[i]].name, kind, wrong);
        }
    }
    print_message("%zu of %zu arithmetics: the sums in f32\n", count, unit_count);
}

static void a_wrong_sum_is_seen(void **state) {
    (void)state;
    static uint32_t out[EACH];
    static const char *const edits[] = {"s/ - 1u;/ - 0u;/", "s/ < 0x400u;/ < 0xc00u;/", "s/0x7fffu;/0x7ff8u;/"}; /* ties, fields, bits */
    size_t at = 0;
    while (strcmp(units[at].name, "sm_80/mma.m16n8k16.f16.f16.f16.f16") != 0) assert_true(++at < unit_count);
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        build(&at, 1);
        assert_int_equal(emit_run("cd %s && cp u0.h before.h && sed -E -i '%s' u0.h && ! cmp -s u0.h before.h", emit_folder, edits[i]), 0);
        assert_int_equal(emit_run("cd %s && gcc -std=c11 -O2 -w -I. %s/tests/emit/driver.c -o driver", emit_folder, LB_SOURCE_DIR), 0);
        emit_draw(&units[at], i == 1 ? 0 : 3, &batch);
        run_batch(0, out);
        if (differing(&units[at], out) == 0) fail_msg("not seen: %s", edits[i]);
    }
}

/* ---- a lane of 32 ------------------------------------------------------------------------------------------------------------ */

enum { WARPS = 20, MOST = 32 * 32 };

/* A warp's matrix of one operand, as words. */
static void gather(const lb_fragment *f, const uint32_t *regs, uint32_t *out) {
    static unsigned char bytes[MOST * 4];
    lb_mat m = lb_mat_of(f->format, bytes, (size_t)f->rows, (size_t)f->cols);
    assert_int_equal(lb_fragment_gather(f, regs, 0, &m, NULL), LB_OK);
    for (size_t i = 0; i < m.rows * m.cols; i++) out[i] = (uint32_t)lb_mat_code(&m, i / m.cols, i % m.cols);
}

/* What the registers of D have to be. */
static void want_registers(const lb_unit *u, const lb_fragment f[4], uint32_t *const regs[3], uint32_t *want) {
    static uint32_t a[MOST], b[MOST], c[MOST], column[128];
    static unsigned char bytes[MOST * 4];
    lb_mat d = lb_mat_of(f[3].format, bytes, u->m, u->n);
    gather(&f[0], regs[0], a);
    gather(&f[1], regs[1], b);
    gather(&f[2], regs[2], c);
    for (size_t j = 0; j < u->n; j++) {
        for (size_t i = 0; i < u->k; i++) column[i] = b[i * u->n + j];
        for (size_t i = 0; i < u->m; i++)
            lb_store_code(lb_mat_at(&d, i, j), f[3].format->bytes, fast_dot(u, a + i * u->k, column, c[i * u->n + j]));
    }
    memset(want, 0, 32 * (size_t)f[3].registers * 4);
    assert_int_equal(lb_fragment_scatter(&f[3], 0, &d, want, NULL), LB_OK);
}

static void write_warps(const lb_unit *u, const lb_fragment f[4], FILE *in, FILE *want) {
    static uint32_t regs[3][MOST], out[MOST];
    uint32_t *const all[] = {regs[0], regs[1], regs[2]};
    for (size_t w = 0; w < WARPS; w++) {
        const uint32_t head[] = {0, 1, 1, 0};
        for (uint32_t x = 0; x < 3; x++)
            for (int i = 0; i < 32 * f[x].registers; i++)
                for (int e = regs[x][i] = 0; e < 32; e += f[x].bits)
                    regs[x][i] |= (uint32_t)lb_draw(f[x].format, LB_DIST_WIDE, 3, x, (w << 16) + (uint64_t)(i * 32 + e)) << e;
        want_registers(u, f, all, out);
        fwrite(head, 4, 4, in);
        fwrite(regs[2], 4, 32 * (size_t)f[2].registers, in);
        fwrite(regs[0], 4, 32 * (size_t)f[0].registers, in);
        fwrite(regs[1], 4, 32 * (size_t)f[1].registers, in);
        fwrite(out, 4, 32 * (size_t)f[3].registers, want);
    }
}

static void lanes_have_the_same_sums(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "sm_80/mma.m16n8k8.f16.f16.f16.f16",
                                        "sm_90/mma.m16n8k8.f32.tf32.tf32.f32", "sm_89/mma.m16n8k32.f32.e4m3.e5m2.f32"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_unit u;
        lb_fragment f[4];
        char path[2][256], function[200], table[600];
        assert_int_equal(lb_unit_find(names[i], &u, NULL), LB_OK);
        for (int x = 0; x < 4; x++) assert_int_equal(lb_fragment_of(&u, (lb_fragment_operand)x, NULL, &f[x], NULL), LB_OK);
        emit_path(path[0], sizeof path[0], "in");
        emit_path(path[1], sizeof path[1], "want");
        FILE *in = fopen(path[0], "wb"), *want = fopen(path[1], "wb");
        assert_non_null(in);
        assert_non_null(want);
        write_warps(&u, f, in, want);
        assert_int_equal(fclose(in) | fclose(want), 0);
        char *text = emit_text_of(&u, (lb_emit_options){.tier = LB_EMIT_FAST, .fragment = true});
        emit_write("f0.h", text, strlen(text));
        free(text);
        emit_identifier(&u, function, sizeof function);
        snprintf(table, sizeof table,
                 "#include \"f0.h\"\nstatic const struct entry table[] = {\n"
                 "    {%d, %d, %d, %d, %d, 0, 0, (any_function *)%s_share, (any_function *)%s_lane}};\n",
                 f[3].lanes, f[0].registers, f[1].registers, f[2].registers, f[3].registers, function, function);
        emit_write("table.h", table, strlen(table));
        assert_int_equal(
            emit_run("cd %s && gcc -std=c11 -O1 -w -I. %s/tests/emit/warps.c -o warps && ./warps in out 0", emit_folder, LB_SOURCE_DIR), 0);
        if (emit_run("cd %s && cmp out want", emit_folder) != 0) fail_msg("%s: not the sums in f32", u.name);
    }
}

/* ---- how often it is right ---------------------------------------------------------------------------------------------------- */

static void rates_are_written(void **state) {
    (void)state;
    const char *path = getenv("LB_RATES");
    size_t which[MOST_ROWS] = {0};
    for (size_t i = 0; i < unit_count; i++) which[i] = i;
    build(which, unit_count);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n"
               "/* Written by tools/gen_fast_rates: of 100,000 outputs of one step, those of tier fast that have the unit's bits; A, B and "
               "C drawn\n"
               " * `normal`, and `wide`, seed 1. FAST_RATE(a, b, d, k, terms, frac_bits, floor_exp, round, normal, wide) */\n");
    for (size_t i = 0; i < unit_count; i++) {
        const lb_unit *u = &units[i];
        static const char *const rounds[LB_UNIT_ROUND_COUNT] = {
            [LB_UNIT_RZ_F32] = "RZ_F32", [LB_UNIT_RZ_E8M13] = "RZ_E8M13", [LB_UNIT_RNE_F16] = "RNE_F16"};
        assert_non_null(rounds[u->round]);
        fprintf(f, "FAST_RATE(\"%s\", \"%s\", \"%s\", %d, %d, %d, %d, %s, %d, %d)\n", lb_format_row(u->a)->name, lb_format_row(u->b)->name,
                lb_format_row(u->d)->name, u->k, u->terms, u->frac_bits, u->floor_exp, rounds[u->round],
                measure(u, (uint32_t)i, LB_DIST_NORMAL), measure(u, (uint32_t)i, LB_DIST_WIDE));
    }
    assert_int_equal(fclose(f), 0);
    print_message("%zu rows in %s\n", unit_count, path);
}

/* What the first comment of a unit's text says. */
static void read_rates(const lb_unit *u, int *rates) {
    char *text = NULL;
    const lb_emit_options o = {.tier = LB_EMIT_FAST};
    assert_int_equal(lb_emit_unit(u, &o, &text, NULL, NULL), LB_OK);
    const char *said = strstr(text, "// Its bits are the unit's in ");
    if (!said || sscanf(said, "// Its bits are the unit's in %d of 100000 outputs of A, B and C drawn `normal` (seed 1), in %d", rates,
                        rates + 1) != 2)
        fail_msg("%s: no rate is said", u->name);
    free(text);
}

static void rates_are_as_measured(void **state) {
    (void)state;
    size_t which[MOST_ROWS] = {0}, count = 0;
    for (size_t i = 0; i < unit_count; i += emit_full() ? 1 : 16) which[count++] = i;
    build(which, count);
    for (size_t i = 0; i < count; i++) {
        const lb_unit *u = &units[which[i]];
        int said[2] = {-1, -1};
        read_rates(u, said);
        const int got[] = {measure(u, (uint32_t)i, LB_DIST_NORMAL), measure(u, (uint32_t)i, LB_DIST_WIDE)};
        if (got[0] != said[0] || got[1] != said[1])
            fail_msg("%s: %d and %d of 100000, not %d and %d: run tools/gen_fast_rates", u->name, got[0], got[1], said[0], said[1]);
        print_message("%s: %d of 100000 normal, %d wide\n", u->name, said[0], said[1]);
    }
}

static void what_has_no_fast_tier_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *unit, *said;
        bool integers;
    } rows[] = {{"sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32", "units of path truncated", false},
                {"sm_80/mma.m8n8k4.f64.f64.f64.f64", "units of path truncated", false},
                {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "not written in integers", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_unit u;
        lb_error err = {0};
        char *text = NULL;
        assert_int_equal(lb_unit_find(rows[i].unit, &u, &err), LB_OK);
        const lb_emit_options o = {.tier = LB_EMIT_FAST, .integers = rows[i].integers};
        assert_int_not_equal(lb_emit_unit(&u, &o, &text, NULL, &err), LB_OK);
        assert_non_null(strstr(err.message, rows[i].said));
    }
    lb_unit u;
    lb_error err = {0};
    char *text = NULL;
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32+frac_bits=23", &u, &err), LB_OK);
    assert_int_equal(lb_emit_unit(&u, &(lb_emit_options){.tier = LB_EMIT_FAST}, &text, NULL, &err), LB_OK);
    assert_non_null(strstr(text, "has not been measured"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_its_comment_says),      cmocka_unit_test(a_wrong_sum_is_seen),
        cmocka_unit_test(lanes_have_the_same_sums),         cmocka_unit_test(rates_are_as_measured),
        cmocka_unit_test(what_has_no_fast_tier_is_refused),
    };
    const struct CMUnitTest writing[] = {cmocka_unit_test(rates_are_written)};
    const char *path = getenv("LB_RATES");
    return path && *path ? cmocka_run_group_tests(writing, set_up, tear_down) : cmocka_run_group_tests(tests, set_up, tear_down);
}
