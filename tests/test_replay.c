/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings: ours made here, and those of five GPUs where they lie beside the tree. */
#include "test.h"

#include "lastbit/run.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 9, K = 20 }; /* K: one and a quarter steps of the unit */

static char path[] = "/tmp/lastbit-test-replay.XXXXXX.safetensors";

static int make_path(void **state) {
    (void)state;
    const int fd = mkstemps(path, 12);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

/* A recording of the model itself, word `bent` changed; the metadata as given. */
static void write_recording(const char *kind, const char *unit, const char *d_format, size_t bent) {
    static uint16_t a[COUNT * K], b[COUNT * K];
    static uint32_t c[COUNT], d[COUNT];
    lb_unit u;
    lb_mat ma = lb_mat_of(lb_format_row(LB_BF16), a, COUNT, K), mb = lb_mat_of(lb_format_row(LB_BF16), b, COUNT, K);
    assert_int_equal(lb_unit_find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32", &u, NULL), LB_OK);
    lb_draw_mat(&ma, LB_DIST_NORMAL, 1, 1);
    lb_draw_mat(&mb, LB_DIST_NORMAL, 1, 2);
    for (size_t i = 0; i < COUNT; i++) {
        const lb_mat row = lb_mat_of(ma.format, a + i * K, 1, K), col = lb_mat_of(mb.format, b + i * K, K, 1);
        lb_mat out = lb_mat_of(lb_format_row(LB_F32), &d[i], 1, 1);
        assert_int_equal(lb_unit_gemm(&u, &row, &col, NULL, &out, NULL), LB_OK);
        d[i] ^= i == bent;
    }
    const lb_tensor tensors[] = {
        {"a", lb_dtype_find("u16"), 2, {COUNT, K}, a, sizeof a},
        {"b", lb_dtype_find("u16"), 2, {COUNT, K}, b, sizeof b},
        {"c", lb_dtype_find("u32"), 1, {COUNT}, c, sizeof c},
        {"d", lb_dtype_find("u32"), 1, {COUNT}, d, sizeof d},
    };
    const char *const metadata[] = {"lastbit.recording", kind,  "unit",     unit,     "a_format", "bf16", "b_format", "bf16",
                                    "c_format",          "f32", "d_format", d_format, "device",   "none"};
    lb_error err = {0};
    if (lb_safetensors_write(path, tensors, 4, metadata, 7, &err) != LB_OK) fail_msg("%s", err.message);
}

static lb_record *replayed(void) {
    lb_record *r;
    lb_error err = {0};
    if (lb_replay(path, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return r;
}

static const char known_unit[] = "sm_80/mma.m16n8k16.f32.bf16.bf16.f32";

static void a_recording_matches_and_one_bent_word_is_found(void **state) {
    (void)state;
    write_recording("dot/1", known_unit, "f32", SIZE_MAX);
    lb_record *r = replayed();
    assert_int_equal(r->verdict, LB_PASS);
    assert_int_equal(r->counts.exact, COUNT);
    assert_non_null(strstr(r->coverage, "not exercised: NaN, Inf"));
    assert_non_null(strstr(r->coverage, "c other than 0"));
    assert_null(strstr(r->coverage, "chained blocks")); /* these are in it */
    lb_record_close(r);
    write_recording("dot/1", known_unit, "f32", 4);
    r = replayed();
    assert_int_equal(r->verdict, LB_FAIL);
    assert_int_equal(r->counts.wrong, 1);
    assert_int_equal(r->first.col, 4);
    lb_record_close(r);
}

static void an_unknown_or_open_unit_is_skipped_with_the_reason(void **state) {
    (void)state;
    write_recording("dot/1", "sm_999/mma.m16n8k16.f32.bf16.bf16.f32", "f32", SIZE_MAX);
    lb_record *r = replayed();
    assert_int_equal(r->verdict, LB_SKIP);
    assert_non_null(strstr(r->reason, "not modelled"));
    lb_record_close(r);
    write_recording("dot/1", "sm_80/mma.m8n8k4.f32.f16.f16.f32", "f32", SIZE_MAX);
    r = replayed();
    assert_int_equal(r->verdict, LB_SKIP);
    lb_record_close(r);
}

static void what_is_no_recording_is_a_bad_file(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *kind, *unit, *d_format, *part;
    } rows[] = {
        {__LINE__, "op/1", known_unit, "f32", "op/1"},
        {__LINE__, "dot/1", known_unit, "f16", "d_format is f16"},
        {__LINE__, "dot/1", known_unit, "f33", "did you mean"},
        {__LINE__, "dot/1", "sm_80/mma.m16n8k16.f32.f16.f16.f32", "f32", "a_format is bf16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_record *r;
        lb_error err = {0};
        write_recording(rows[i].kind, rows[i].unit, rows[i].d_format, SIZE_MAX);
        if (lb_replay(path, &r, &err) == LB_OK) fail_msg("row at %s:%d was replayed", __FILE__, rows[i].line);
        if (!strstr(err.message, rows[i].part)) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
    FILE *f = fopen(path, "w");
    fputs("no recording", f);
    fclose(f);
    lb_record *r;
    lb_error err = {0};
    assert_int_equal(lb_replay(path, &r, &err), LB_E_FILE);
    assert_null(r);
}

static void every_recorded_word_of_five_gpus_matches(void **state) {
    (void)state;
    glob_t files;
    if (glob(LB_SOURCE_DIR "/../shared/hwdata/*.safetensors", 0, NULL, &files) != 0) {
        print_message("SKIP recordings of five GPUs: none beside this tree (../shared/hwdata)\n");
        skip();
    }
    uint64_t words = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        lb_record *r;
        lb_error err = {0};
        if (lb_replay(files.gl_pathv[i], &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (r->verdict != LB_PASS) fail_msg("%s: %s", files.gl_pathv[i], r->reason);
        words += r->counts.exact;
        lb_record_close(r);
    }
    assert_true(words >= 2500);
    print_message("%llu words of %zu recordings match\n", (unsigned long long)words, files.gl_pathc);
    globfree(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_matches_and_one_bent_word_is_found),
        cmocka_unit_test(an_unknown_or_open_unit_is_skipped_with_the_reason),
        cmocka_unit_test(what_is_no_recording_is_a_bad_file),
        cmocka_unit_test(every_recorded_word_of_five_gpus_matches),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
