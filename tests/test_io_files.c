/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Files on a disk: what is opened and how it fails, what is written and that it is whole or not there. */
#include "io_image.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const f32_dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
static const float one_two[2] = {1.0f, 2.0f};

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

static void expect_unopened(int line, const char *path, const lb_file_options *options, const char *part) {
    lb_file *f;
    lb_error err = {0};
    if (lb_file_open(&f, path, options, &err) != LB_E_FILE) fail_msg("row at %s:%d was opened", __FILE__, line);
    assert_null(f);
    EXPECT_STRING(line, err.place, path);
    if (!strstr(err.message, part)) fail_msg("row at %s:%d: \"%s\" says nothing of \"%s\"", __FILE__, line, err.message, part);
}

static void what_is_no_readable_file_is_refused(void **state) {
    (void)state;
    const image empty = {.size = 0};
    expect_unopened(__LINE__, folder, NULL, "is a folder");
    expect_unopened(__LINE__, in_folder("absent"), NULL, "No such file");
    expect_unopened(__LINE__, file_of("empty", &empty), NULL, "0 bytes");
    expect_unopened(__LINE__, "/dev/null", NULL, "is a device");
    expect_unopened(__LINE__, "/dev/zero", NULL, "is a device"); /* it would never end */
    const char *path = npy_file("shut", f32_dict, one_two, 8);
    expect_unopened(__LINE__, path, &(lb_file_options){.max_bytes = 20}, "larger than 20 bytes");
    assert_int_equal(chmod(path, 0), 0);
    const uid_t me = geteuid();
    if (me == 0 && seteuid(65534) != 0)
        print_message("SKIP the unreadable file: root reads everything\n");
    else
        expect_unopened(__LINE__, path, NULL, "Permission denied");
    if (me == 0) assert_int_equal(seteuid(me), 0);
}

/* A child writes the image into `path`, or into a pipe that becomes this process's standard input where path is NULL. */
static pid_t feed(const char *path, const image *f) {
    int ends[2] = {-1, -1};
    if (!path) assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *out = path ? fopen(path, "wb") : fdopen(ends[1], "wb");
        for (size_t i = 0; out && i < f->size; i++) { /* in many small pieces */
            fputc(f->bytes[i], out);
            if (i % 7 == 0) fflush(out);
        }
        _exit(out && fclose(out) == 0 ? 0 : 1);
    }
    if (!path) {
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
    }
    return child;
}

static void pipes_are_read_to_their_end(void **state) {
    (void)state;
    const image f = npy_of(1, f32_dict, one_two, 8);
    const char *fifo = in_folder("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *const paths[] = {fifo, "-"};
    for (size_t i = 0; i < 2; i++) {
        lb_file *in;
        lb_error err = {0};
        int status;
        const pid_t child = feed(i == 0 ? fifo : NULL, &f);
        if (lb_file_open(&in, paths[i], NULL, &err) != LB_OK) fail_msg("%s: %s", paths[i], err.message);
        assert_memory_equal(lb_file_tensor(in, 0)->data, one_two, 8);
        lb_file_close(in);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void a_long_pipe_is_read_whole(void **state) {
    (void)state;
    image f = {.size = MOST};
    for (size_t i = 0; i < MOST; i++) f.bytes[i] = (unsigned char)(i * 7);
    lb_file *in;
    lb_error err = {0};
    const pid_t child = feed(NULL, &f);
    if (lb_file_open(&in, "-", &(lb_file_options){.raw_dtype = "u8"}, &err) != LB_OK) fail_msg("%s", err.message);
    assert_int_equal(lb_file_tensor(in, 0)->bytes, MOST);
    assert_memory_equal(lb_file_tensor(in, 0)->data, f.bytes, MOST);
    lb_file_close(in);
    waitpid(child, NULL, 0);
}

static void a_pipe_that_is_too_long_is_refused(void **state) {
    (void)state;
    const image f = npy_of(1, f32_dict, one_two, 8);
    const pid_t child = feed(NULL, &f);
    expect_unopened(__LINE__, "-", &(lb_file_options){.max_bytes = 70}, "larger than 70 bytes");
    waitpid(child, NULL, 0);
}

static void every_recording_of_hardware_is_read(void **state) {
    (void)state;
    const char *recordings = LB_SOURCE_DIR "/../shared/hwdata";
    DIR *d = opendir(recordings);
    if (!d) {
        print_message("SKIP files of recordings: none beside the source tree\n");
        skip();
    }
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[600];
        lb_file *f;
        lb_error err = {0};
        if (!strstr(e->d_name, ".safetensors")) continue;
        snprintf(path, sizeof path, "%s/%s", recordings, e->d_name);
        if (lb_file_open(&f, path, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        assert_string_equal(lb_file_metadata(f, "lastbit.recording"), "dot/1");
        const lb_tensor *a = lb_file_find(f, "a"), *out = lb_file_find(f, "d");
        assert_int_equal(a->shape[0], 2500);
        assert_int_equal(lb_tensor_count(out), 2500);
        assert_int_equal(lb_file_count(f), 4);
        lb_file_close(f);
        count++;
    }
    closedir(d);
    assert_true(count > 0);
}

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

static void a_matrix_comes_back_from_both_kinds_of_file(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        for (int kind = 0; kind < 2; kind++) {
            const lb_format *f = lb_format_row((lb_format_id)id);
            uint64_t codes[6] = {0};
            const lb_mat m = lb_mat_of(f, codes, 2, 3);
            for (size_t e = 0; e < 6; e++) /* six codes of which the format has all bits */
                lb_store_code(lb_mat_at(&m, e / 3, e % 3), f->bytes, f->bits == 1 ? e % 2 : (e + 1) << f->pad_bits);
            const char *path = in_folder(kind ? "m.npy" : "m.safetensors");
            lb_error err = {0};
            lb_operand o;
            if (lb_mat_write(path, "x", &m, &err) != LB_OK || lb_operand_open(&o, path, f, NULL, &err) != LB_OK)
                fail_msg("%s: %s", f->name, err.message);
            assert_int_equal(o.mat.rows * 10 + o.mat.cols, 23);
            for (size_t e = 0; e < 6; e++) EXPECT_CODE(__LINE__, lb_mat_code(&o.mat, e / 3, e % 3), lb_mat_code(&m, e / 3, e % 3));
            lb_operand_close(&o);
        }
    }
}

static lb_tensor tensor(const char *name, const char *dtype, size_t elements, const void *data) {
    const lb_dtype *type = lb_dtype_find(dtype);
    return (lb_tensor){.name = name, .dtype = type, .rank = 1, .shape = {elements}, .data = data, .bytes = elements * (size_t)type->bytes};
}

static void npy_of_any_rank_comes_back(void **state) {
    (void)state;
    static const uint16_t codes[6] = {1, 2, 3, 4, 5, 6};
    static const struct {
        int line, rank;
        size_t shape[3], count;
    } rows[] = {{__LINE__, 0, {0}, 1}, {__LINE__, 1, {6}, 6}, {__LINE__, 1, {0}, 0}, {__LINE__, 3, {1, 3, 2}, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_tensor t = {.name = "", .dtype = lb_dtype_find("u16"), .rank = rows[i].rank, .data = codes, .bytes = rows[i].count * 2};
        memcpy(t.shape, rows[i].shape, sizeof rows[i].shape);
        lb_file *f = NULL;
        lb_error err = {0};
        if (lb_npy_write(in_folder("t.npy"), &t, &err) != LB_OK || lb_file_open(&f, in_folder("t.npy"), NULL, &err) != LB_OK)
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        EXPECT_CODE(rows[i].line, lb_file_tensor(f, 0)->rank, t.rank);
        assert_memory_equal(lb_file_tensor(f, 0)->shape, t.shape, sizeof t.shape);
        if (t.bytes) assert_memory_equal(lb_file_tensor(f, 0)->data, codes, t.bytes);
        lb_file_close(f);
    }
}

static void safetensors_comes_back_with_its_metadata_and_wide_elements_first(void **state) {
    (void)state;
    static const uint8_t bytes[3] = {1, 2, 3};
    static const uint16_t halves[1] = {0x1234};
    static const double wide[1] = {-2.5};
    const lb_tensor written[] = {tensor("b", "u8", 3, bytes), tensor("none", "f32", 0, NULL), tensor("h", "bf16", 1, halves),
                                 tensor("w", "f64", 1, wide), tensor("\xc3\xa9\"\\", "u8", 1, bytes)};
    const char *const metadata[] = {"k", "v", "line", "a\nb"};
    const char *path = in_folder("several.safetensors");
    static const char *const order[] = {"w", "none", "h", "b", "\xc3\xa9\"\\"}; /* of the data */
    lb_file *f;
    lb_error err = {0};
    if (lb_safetensors_write(path, written, 5, metadata, 2, &err) != LB_OK) fail_msg("%s", err.message);
    if (lb_file_open(&f, path, NULL, &err) != LB_OK) fail_msg("%s", err.message);
    assert_int_equal(lb_file_count(f), 5);
    assert_string_equal(lb_file_metadata(f, "k"), "v");
    assert_string_equal(lb_file_metadata(f, "line"), "a\nb");
    for (size_t i = 0; i < 5; i++) {
        const lb_tensor *t = lb_file_find(f, written[i].name);
        assert_non_null(t);
        assert_ptr_equal(t->dtype, written[i].dtype);
        assert_int_equal(t->bytes, written[i].bytes);
        if (t->bytes) assert_memory_equal(t->data, written[i].data, t->bytes);
        assert_string_equal(lb_file_tensor(f, i)->name, order[i]);
    }
    lb_file_close(f);
    FILE *in = fopen(path, "rb");
    uint64_t length = 0;
    assert_int_equal(fread(&length, sizeof length, 1, in), 1);
    fclose(in);
    assert_int_equal(length % 8, 0);
}

static void what_a_reader_would_refuse_is_not_written(void **state) {
    (void)state;
    static const uint8_t bytes[4];
    lb_tensor bad_shape = tensor("a", "u8", 4, bytes), bad_rank = bad_shape;
    bad_shape.shape[0] = 5;
    bad_rank.rank = -1;
    bad_rank.bytes = 1;
    const struct {
        int line;
        lb_tensor t[2];
        size_t count;
        const char *metadata[4];
        size_t metadata_count;
    } rows[] = {
        {__LINE__, {tensor("a", "u8", 4, bytes), tensor("a", "u8", 4, bytes)}, 2, {NULL}, 0},
        {__LINE__, {tensor("", "u8", 4, bytes)}, 1, {NULL}, 0},
        {__LINE__, {tensor("__metadata__", "u8", 4, bytes)}, 1, {NULL}, 0},
        {__LINE__, {tensor("\xff", "u8", 4, bytes)}, 1, {NULL}, 0}, /* no UTF-8 */
        {__LINE__, {tensor("a", "v2", 2, bytes)}, 1, {NULL}, 0},    /* a type that safetensors has not */
        {__LINE__, {bad_shape}, 1, {NULL}, 0},
        {__LINE__, {bad_rank}, 1, {NULL}, 0},
        {__LINE__, {tensor("a", "u8", 4, bytes)}, 1, {"k", "1", "k", "2"}, 2},
        {__LINE__, {tensor("a", "u8", 4, bytes)}, 1, {"k", "\xff"}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_error err = {0};
        if (lb_safetensors_write(in_folder("bad.safetensors"), rows[i].t, rows[i].count, rows[i].metadata, rows[i].metadata_count, &err) !=
            LB_E_ARG)
            fail_msg("row at %s:%d was written", __FILE__, rows[i].line);
        assert_int_equal(access(in_folder("bad.safetensors"), F_OK), -1);
    }
    assert_int_equal(lb_npy_write(in_folder("bad.npy"), &bad_shape, NULL), LB_E_ARG);
    const lb_tensor nameless = tensor("", "bf16", 2, bytes);
    assert_int_equal(lb_npy_write(in_folder("bad.npy"), &nameless, NULL), LB_E_ARG); /* npy has no bf16 */
    assert_int_equal(access(in_folder("bad.npy"), F_OK), -1);
}

static void expect_no_parts(void) {
    DIR *d = opendir(folder);
    for (struct dirent *e; (e = readdir(d));) assert_null(strstr(e->d_name, ".part"));
    closedir(d);
}

static void a_failed_write_leaves_nothing_behind(void **state) {
    (void)state;
    uint32_t code = 0;
    const lb_mat m = lb_mat_of(lb_format_row(LB_F32), &code, 1, 1);
    lb_error err = {0};
    assert_int_equal(lb_mat_write("/nonexistent/x.npy", "x", &m, &err), LB_E_FILE);
    assert_int_equal(lb_mat_write(in_folder("x.txt"), "x", &m, &err), LB_E_ARG);
    assert_int_equal(access(in_folder("x.txt"), F_OK), -1);
    assert_int_equal(mkdir(in_folder("taken.npy"), 0700), 0);
    assert_int_equal(lb_mat_write(in_folder("taken.npy"), "x", &m, &err), LB_E_FILE);
    rmdir(in_folder("taken.npy"));
    assert_int_equal(mkfifo(in_folder("pipe.npy"), 0600), 0); /* renaming over it would succeed, and lose it */
    assert_int_equal(lb_mat_write(in_folder("pipe.npy"), "x", &m, &err), LB_E_FILE);
    expect_no_parts();
}

/* The old file stays whole where the new one cannot be finished: the disk is "full" after 100 bytes. */
static void a_full_disk_leaves_the_old_file(void **state) {
    (void)state;
    static uint32_t codes[4096];
    static const size_t sides[] = {1, 64}; /* a file that fails when it is closed, one that fails in between */
    const char *path = npy_file("old.npy", f32_dict, one_two, 8);
    struct rlimit before, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    full = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    for (size_t i = 0; i < 2; i++) {
        const lb_mat m = lb_mat_of(lb_format_row(LB_F32), codes, sides[i], sides[i]);
        lb_file *f;
        lb_error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
        const lb_status s = lb_mat_write(path, "x", &m, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(s, LB_E_FILE);
        assert_non_null(strstr(err.message, "File too large"));
        expect_no_parts();
        assert_int_equal(lb_file_open(&f, path, NULL, &err), LB_OK);
        assert_memory_equal(lb_file_tensor(f, 0)->data, one_two, 8);
        lb_file_close(f);
    }
}

static void a_part_that_a_killed_process_left_is_no_obstacle(void **state) {
    (void)state;
    uint32_t code = 0;
    const lb_mat m = lb_mat_of(lb_format_row(LB_F32), &code, 1, 1);
    char part[64];
    lb_error err = {0};
    snprintf(part, sizeof part, "m.npy.%ld-0.part", (long)getpid());
    const image left = {.size = 0};
    file_of(part, &left);
    if (lb_mat_write(in_folder("m.npy"), "x", &m, &err) != LB_OK) fail_msg("%s", err.message);
    assert_int_equal(access(in_folder(part), F_OK), 0); /* and it is not ours to remove */
    unlink(in_folder(part));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_readable_file_is_refused),
        cmocka_unit_test(pipes_are_read_to_their_end),
        cmocka_unit_test(a_long_pipe_is_read_whole),
        cmocka_unit_test(a_pipe_that_is_too_long_is_refused),
        cmocka_unit_test(every_recording_of_hardware_is_read),
        cmocka_unit_test(a_matrix_comes_back_from_both_kinds_of_file),
        cmocka_unit_test(npy_of_any_rank_comes_back),
        cmocka_unit_test(safetensors_comes_back_with_its_metadata_and_wide_elements_first),
        cmocka_unit_test(what_a_reader_would_refuse_is_not_written),
        cmocka_unit_test(a_failed_write_leaves_nothing_behind),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_part_that_a_killed_process_left_is_no_obstacle),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
