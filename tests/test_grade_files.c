/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files graded in bands give the record of files graded whole, in memory that does not grow, and survive files that change. */
#include "test.h"

#include "lastbit/run.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-bands-XXXXXX";

static const char *path_of(const char *name) {
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static lb_mat new_mat(lb_format_id id, size_t rows, size_t cols) {
    const lb_format *f = lb_format_row(id);
    void *codes = calloc(rows * cols + 1, (size_t)f->bytes);
    assert_non_null(codes);
    return lb_mat_of(f, codes, rows, cols);
}

/* The record without its timing. */
static char *record_text(lb_record *r) {
    char *text;
    r->seconds_total = NAN;
    lb_record_text(&r->on, "x");
    assert_int_equal(lb_record_to_json(r, &text, NULL), LB_OK);
    lb_record_close(r);
    return text;
}

/* ---- the same record ------------------------------------------------------------------------------------------------------ */

/* A reference, and an output that is a few ULP off here and there; at times far off, NaN, or another class. */
static void draw_pair(lb_mat *actual, lb_mat *reference, uint64_t seed, bool specials) {
    lb_draw_mat(reference, specials ? LB_DIST_SPECIAL : LB_DIST_NORMAL, seed, 1);
    for (size_t i = 0; i < reference->rows; i++)
        for (size_t j = 0; j < reference->cols; j++) {
            const uint64_t code = lb_mat_code(reference, i, j), w = lb_random_u64(seed, 2, i * reference->cols + j);
            const uint64_t off = w % 16 < 3 ? w >> 8 & 3 : w % 4096 == 17 ? 0x1234 : 0;
            lb_store_code(lb_mat_at(actual, i, j), actual->format->bytes, code ^ off);
        }
}

static void bands_of_any_size_give_the_record_of_the_whole(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {1, 70000}, {300, 257}, {70000, 1}, {5, 0}, {0, 5}};
    static const size_t bands[] = {2, 64, 514, 4096, 100000, 0};
    static const char *const rules[] = {"m16-tc", "m16-tc-original", "statistical", "nmse", "bitwise"};
    static const lb_format_id ids[] = {LB_BF16, LB_F32, LB_F16};
    for (size_t c = 0; c < 6 * 6 * 5 * 2; c++) {
        const size_t *shape = shapes[c % 6], band = bands[c / 6 % 6];
        const lb_format_id id = ids[c % 5 % 3];
        const char *rule = id == LB_BF16 ? rules[c / 36 % 5] : rules[c / 36 % 5 == 1 ? 0 : c / 36 % 5];
        if (band && band < 4096 && shape[0] * shape[1] > 30000 && c % 7) continue; /* many small reads */
        lb_mat actual = new_mat(id, shape[0], shape[1]), reference = new_mat(id, shape[0], shape[1]);
        const char *a = path_of("a.safetensors"), *r = path_of(c % 2 ? "r.npy" : "r.safetensors");
        lb_contract *contract;
        lb_record *one, *other;
        lb_error err = {0};
        draw_pair(&actual, &reference, c, c / 180);
        assert_int_equal(lb_mat_write(a, "d", &actual, &err), LB_OK);
        assert_int_equal(lb_mat_write(r, "d", &reference, &err), LB_OK);
        assert_int_equal(lb_contract_open(rule, &contract, NULL), LB_OK);
        const lb_block_options whole = {.reference = reference,
                                        .actual = actual.codes,
                                        .actual_bytes = shape[0] * shape[1] * (size_t)actual.format->bytes,
                                        .contract = contract,
                                        .k = 300};
        const lb_grade_files_options o = {
            .actual = a, .reference = r, .format = actual.format, .contract = contract, .k = 300, .band_bytes = band};
        assert_int_equal(lb_grade_block(&whole, &one, &err), LB_OK);
        if (lb_grade_files(&o, &other, &err) != LB_OK) fail_msg("case %zu: %s: %s", c, err.place, err.message);
        char *x = record_text(one), *y = record_text(other);
        if (strcmp(x, y) != 0) fail_msg("case %zu, band %zu:\n%s\n%s", c, band, x, y);
        free(x);
        free(y);
        lb_contract_close(contract);
        free(actual.codes);
        free(reference.codes);
    }
}

/* ---- what cannot be read in pieces, and what is no file ------------------------------------------------------------------------ */

static void write_bytes(const char *path, const void *bytes, size_t count) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static size_t npy_of(char *out, const char *dict, size_t data) {
    const size_t length = strlen(dict);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)length;
    out[9] = 0;
    memcpy(out + 10, dict, length);
    memset(out + 10 + length, 1, data);
    return 10 + length + data;
}

static void what_can_only_be_read_whole_is_unavailable(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *dict, *why;
        lb_format_id as;
    } rows[] = {
        {__LINE__, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", "byte order", LB_F32},
        {__LINE__, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", "row by row", LB_F32},
        {__LINE__, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "converted", LB_F64},
        {__LINE__, "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 6)}", "not every code", LB_E2M1},
    };
    const char *path = path_of("x.npy");
    char bytes[512];
    lb_reader *reader;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        write_bytes(path, bytes, npy_of(bytes, rows[i].dict, 24));
        EXPECT_CODE(rows[i].line, lb_reader_open(&reader, path, lb_format_row(rows[i].as), NULL, &err), LB_E_UNAVAILABLE);
        if (!strstr(err.message, rows[i].why) || reader) fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
    }
    const char *pipe = path_of("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(lb_reader_open(&reader, pipe, NULL, NULL, NULL), LB_E_UNAVAILABLE); /* and does not wait */
    assert_int_equal(lb_reader_open(&reader, "-", NULL, NULL, NULL), LB_E_UNAVAILABLE);
    assert_int_equal(lb_reader_open(&reader, path_of("none"), NULL, NULL, NULL), LB_E_FILE);
    assert_int_equal(lb_reader_open(&reader, folder, NULL, NULL, NULL), LB_E_UNAVAILABLE);
}

/* Every beginning of a file, and every single byte of its header changed: the reader takes what the whole reading takes. */
static void a_broken_header_is_refused_as_it_is_whole(void **state) {
    (void)state;
    const char *good = path_of("good.safetensors"), *path = path_of("bad");
    static char bytes[2048], bent[2048];
    lb_mat m = new_mat(LB_BF16, 3, 4);
    size_t refused = 0;
    for (size_t kind = 0; kind < 2; kind++) {
        size_t size;
        if (kind) {
            size = npy_of(bytes, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
        } else {
            assert_int_equal(lb_mat_write(good, "d", &m, NULL), LB_OK);
            FILE *f = fopen(good, "rb");
            assert_non_null(f);
            size = fread(bytes, 1, sizeof bytes, f);
            fclose(f);
        }
        for (size_t i = 0; i < 2 * size; i++) {
            lb_operand whole;
            lb_reader *reader;
            lb_error err = {0}, other = {0};
            memcpy(bent, bytes, size);
            if (i >= size) bent[i - size] ^= (char)(1 << i % 7);
            write_bytes(path, bent, i < size ? i : size);
            const lb_status s = lb_operand_open(&whole, path, NULL, NULL, &err), t = lb_reader_open(&reader, path, NULL, NULL, &other);
            if (s != t && t != LB_E_UNAVAILABLE) fail_msg("%zu: %s, but %s", i, err.message, other.message);
            refused += s != LB_OK;
            if (s == LB_OK) lb_operand_close(&whole);
            lb_reader_close(reader);
        }
    }
    assert_true(refused > 200);
    free(m.codes);
}

static void a_file_that_shrinks_or_changes_is_an_error_and_no_signal(void **state) {
    (void)state;
    lb_mat m = new_mat(LB_BF16, 64, 1000);
    const char *path = path_of("m.safetensors");
    uint16_t codes[1000];
    lb_reader *reader;
    lb_error err = {0};
    struct stat st;
    lb_draw_mat(&m, LB_DIST_NORMAL, 1, 1);
    assert_int_equal(lb_mat_write(path, "d", &m, NULL), LB_OK);
    assert_int_equal(lb_reader_open(&reader, path, NULL, NULL, &err), LB_OK);
    assert_int_equal(lb_reader_read(reader, 63000, 1000, codes, &err), LB_OK);
    assert_memory_equal(codes, (uint16_t *)m.codes + 63000, sizeof codes);
    assert_int_equal(lb_reader_unchanged(reader, &err), LB_OK);
    assert_int_equal(lb_reader_read(reader, 63001, 1000, codes, &err), LB_E_ARG);
    assert_int_equal(lb_reader_read(reader, SIZE_MAX, 2, codes, &err), LB_E_ARG);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, 1000), 0);
    assert_int_equal(lb_reader_read(reader, 63000, 1000, codes, &err), LB_E_FILE);
    assert_non_null(strstr(err.message, "ends before byte"));
    assert_int_equal(truncate(path, st.st_size), 0); /* as long as before, but another file */
    assert_int_equal(lb_reader_unchanged(reader, &err), LB_E_FILE);
    lb_reader_close(reader);
    free(m.codes);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------------- */

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) };
#endif

/* A raw file of `rows` rows of 8192 bf16, most of them holes; one in 997 is drawn. */
static void write_sparse(const char *path, size_t rows) {
    enum { COLS = 8192 };
    lb_mat line = new_mat(LB_BF16, 1, COLS);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < rows; i += 997) {
        lb_draw_mat(&line, LB_DIST_NORMAL, i, 1);
        assert_int_equal(fseeko(f, (off_t)(i * COLS * 2), SEEK_SET), 0);
        assert_int_equal(fwrite(line.codes, 2, COLS, f), COLS);
    }
    assert_int_equal(fflush(f), 0);
    assert_int_equal(ftruncate(fileno(f), (off_t)(rows * COLS * 2)), 0);
    fclose(f);
    free(line.codes);
}

/* In a process whose private memory may not grow beyond `most` bytes: the exit code says how it ended. */
static int grade_within(const char *a, const char *r, size_t rows, rlim_t most, bool whole) {
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {most, most};
        lb_contract *c;
        lb_record *record = NULL;
        lb_operand operand;
        lb_file_options raw = {.raw_dtype = "u16", .raw_rank = 2, .raw_shape = {rows, 8192}};
        if (setrlimit(RLIMIT_DATA, &limit) != 0 || lb_contract_open("m16-tc", &c, NULL) != LB_OK) _exit(9);
        if (whole) _exit(lb_operand_open(&operand, a, lb_format_row(LB_BF16), &raw, NULL) == LB_E_MEMORY ? 7 : 8);
        const lb_grade_files_options o = {
            .actual = a, .reference = r, .format = lb_format_row(LB_BF16), .files = raw, .contract = c, .k = 4096};
        const lb_status s = lb_grade_files(&o, &record, NULL);
        _exit(s != LB_OK ? 1 : record->counts.compared == rows * 8192 && record->verdict == LB_PASS ? 0 : 2);
    }
    int status = 0;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void large_files_are_graded_in_little_memory(void **state) {
    (void)state;
    if (SANITIZED) {
        puts("SKIP large_files_are_graded_in_little_memory: a sanitizer's own memory is larger");
        return;
    }
    const bool full = getenv("LB_FULL") != NULL;
    const size_t rows = full ? 262144 : 16384; /* 4 GiB each, or 256 MiB */
    const rlim_t most = (full ? (rlim_t)256 : 96) << 20;
    const char *a = path_of("sparse-a.bin"), *r = path_of("sparse-r.bin");
    write_sparse(a, rows);
    write_sparse(r, rows);
    assert_int_equal(grade_within(a, r, rows, most, false), 0);
    assert_int_equal(grade_within(a, r, rows, most, true), 7); /* the limit bites: read whole, it does not fit */
    unlink(a);
    unlink(r);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_of_any_size_give_the_record_of_the_whole),
        cmocka_unit_test(what_can_only_be_read_whole_is_unavailable),
        cmocka_unit_test(a_broken_header_is_refused_as_it_is_whole),
        cmocka_unit_test(a_file_that_shrinks_or_changes_is_an_error_and_no_signal),
        cmocka_unit_test(large_files_are_graded_in_little_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
