/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The PTX of every unit that is captured: NVIDIA's assembler takes it for the unit's own target; and where the elements lie. */
#include "test.h"

#include "lastbit/scan.h"

#include "run/capture_ptx.h"

#include <stdlib.h>
#include <unistd.h>

enum { MOST_ELEMENTS = 256 * 256 };

static char folder[] = "/tmp/lastbit-test-ptx.XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *ptxas(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return NULL;
}

/* Whether ptxas takes the text for `target`; what it said is left in FOLDER/log. */
static bool assembles(const char *text, const char *target) {
    char path[64], command[512];
    snprintf(path, sizeof path, "%s/unit.ptx", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof command, "%s -arch=%s -o %s/unit.cubin %s >%s/log 2>&1", ptxas(), target, folder, path, folder);
    return system(command) == 0;
}

static void fail_with_log(const char *name, const char *text) {
    char path[64], log[2048] = "";
    snprintf(path, sizeof path, "%s/log", folder);
    FILE *f = fopen(path, "r");
    if (f) {
        log[fread(log, 1, sizeof log - 1, f)] = 0;
        fclose(f);
    }
    fail_msg("%s: ptxas says: %s\n%s", name, log, text);
}

/* The target that the text names; this ptxas has no sm_70, whose instruction sm_75 has too. */
static void target_of(const char *text, char target[16]) {
    assert_int_equal(sscanf(strstr(text, ".target "), ".target %15s", target), 1);
    if (strcmp(target, "sm_70") == 0) strcpy(target, "sm_75");
}

/* Whether a scan of what was assembled names the unit, or a unit of its name on another architecture. *matrix: of how many lines */
static bool scan_names(const lb_unit *u, size_t *matrix) {
    char path[64];
    lb_scan *s;
    lb_error err = {0};
    bool named = false;
    const lb_scan_kernel *k;
    const char *wanted = strchr(u->name, '/');
    snprintf(path, sizeof path, "%s/unit.cubin", folder);
    if (lb_scan_file(&s, path, &err) != LB_OK) fail_msg("%s: %s", u->name, err.message);
    *matrix = 0;
    for (size_t i = 0; (k = lb_scan_kernel_at(s, i)); i++)
        for (size_t j = 0; j < k->line_count; j++) {
            *matrix += k->lines[j].kind == LB_SCAN_MATRIX;
            for (const char *at = k->lines[j].rows; (at = strstr(at, wanted)); at++)
                named = named || at[strlen(wanted)] == ' ' || !at[strlen(wanted)];
        }
    lb_scan_close(s);
    return named;
}

static void ptxas_takes_the_kernel_of_every_unit_that_is_captured(void **state) {
    (void)state;
    size_t taken = 0;
    if (!ptxas()) {
        print_message("SKIP PTX of every unit: no ptxas on this machine (it comes with NVIDIA's toolkit)\n");
        skip();
    }
    for (size_t i = 0; lb_unit_row(i); i++) {
        lb_capture_shape s;
        lb_error err = {0};
        char *text, target[16];
        const lb_status can = lb_capture_shape_of(lb_unit_row(i), &s, &err);
        if (can != LB_OK) {
            assert_int_equal(can, LB_E_UNAVAILABLE);
            assert_non_null(strstr(err.message, "not captured: "));
            continue;
        }
        assert_int_equal(lb_capture_ptx_of(&s, &text, &err), LB_OK);
        target_of(text, target);
        if (!assembles(text, target)) fail_with_log(s.unit.name, text);
        free(text);
        /* m8n8k4 of f16 is no tensor path from sm_80 on: the row is open, and there is nothing to name. */
        size_t matrix;
        const bool named = scan_names(&s.unit, &matrix), old = s.unit.k == 4 && s.unit.m == 8 && s.unit.evidence == LB_EVIDENCE_OPEN;
        if (old ? matrix != 0 : !named) fail_msg("%s: a scan of its machine code names something else", s.unit.name);
        taken++;
    }
    print_message("ptxas takes the kernels of %zu units\n", taken);
    assert_true(taken >= 80);
}

/* One version lower is refused where the version is the instruction's, not the target's; so an old driver gets what it knows. */
static void the_version_is_the_lowest_that_knows_the_instruction(void **state) {
    (void)state;
    if (!ptxas()) {
        print_message("SKIP PTX versions: no ptxas on this machine\n");
        skip();
    }
    static const struct {
        int line;
        const char *unit, *lower;
    } rows[] = {
        {__LINE__, "sm_80/mma.m16n8k16.f32.f16.f16.f32", "6.5"},   {__LINE__, "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "8.3"},
        {__LINE__, "sm_89/mma.m16n8k32.f16.e4m3.e4m3.f16", "8.6"}, {__LINE__, "sm_89/mma.m16n8k16.f32.e4m3.e4m3.f32", "8.6"},
        {__LINE__, "sm_90/wgmma.m64n8k16.f32.f16.f16", "7.8"},     {__LINE__, "sm_100/mma.m16n8k16.f32.f16.f16.f32", "8.5"},
        {__LINE__, "sm_120/mma.m16n8k16.f32.f16.f16.f32", "8.6"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_unit u;
        lb_capture_shape s;
        char *text, target[16];
        assert_int_equal(lb_unit_find(rows[i].unit, &u, NULL), LB_OK);
        assert_int_equal(lb_capture_shape_of(&u, &s, NULL), LB_OK);
        assert_int_equal(lb_capture_ptx_of(&s, &text, NULL), LB_OK);
        target_of(text, target);
        memcpy(strstr(text, ".version ") + strlen(".version "), rows[i].lower, 3);
        if (assembles(text, target)) fail_msg("row at %s:%d: PTX %s would do", __FILE__, rows[i].line, rows[i].lower);
        free(text);
    }
}

/* Each element of each operand lies in exactly one place (C, D), A and B too. */
static void places_are_a_bijection(void **state) {
    (void)state;
    static unsigned char seen[MOST_ELEMENTS];
    for (size_t u = 0; lb_unit_row(u); u++) {
        lb_capture_shape s;
        if (lb_capture_shape_of(lb_unit_row(u), &s, NULL) != LB_OK) continue;
        const int m = s.unit.m, n = s.unit.n, k = s.unit.k;
        const int sizes[][2] = {{m, k}, {k, n}, {m, n}};
        for (int operand = 0; operand < LB_CAPTURE_OPERANDS; operand++) {
            const lb_capture_part *p = &s.part[operand];
            const int rows = sizes[operand][0], cols = sizes[operand][1], all = rows * cols * s.matrices;
            int found = 0;
            assert_true(all <= MOST_ELEMENTS);
            memset(seen, 0, sizeof seen);
            for (int at = 0; at < s.lanes * p->words * (p->word_bytes * 8 / p->slot_bits); at++) {
                const int slots = p->word_bytes * 8 / p->slot_bits;
                lb_capture_place where;
                if (!lb_capture_place_of(&s, operand, at / slots % s.lanes, at / slots / s.lanes, at % slots, &where)) continue;
                if (where.row < 0 || where.row >= rows || where.col < 0 || where.col >= cols || where.matrix >= s.matrices)
                    fail_msg("%s: operand %d has a place %d,%d", s.unit.name, operand, where.row, where.col);
                if (seen[(where.matrix * rows + where.row) * cols + where.col]++)
                    fail_msg("%s: operand %d has %d,%d twice", s.unit.name, operand, where.row, where.col);
                found++;
            }
            if (found != all) fail_msg("%s: operand %d has %d of %d places", s.unit.name, operand, found, all);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_a_bijection),
        cmocka_unit_test(ptxas_takes_the_kernel_of_every_unit_that_is_captured),
        cmocka_unit_test(the_version_is_the_lowest_that_knows_the_instruction),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
