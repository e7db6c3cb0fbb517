/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recordings of operations (op/1): made on a GPU that is not there, replayed, judged, refused where they are malformed. */
#include "test.h"

#include "lastbit/io.h"
#include "lastbit/operations.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-test-operations.XXXXXX";
static char recording[96], request[96];

static int prepare(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(recording, sizeof recording, "%s/operations.safetensors", folder);
    snprintf(request, sizeof request, "%s/request.safetensors", folder);
    setenv("LASTBIT_CUDA_DRIVER", LB_FAKE_CUDA, 1);
    return lb_operations_request(request, NULL, 1, NULL) == LB_OK ? 0 : -1;
}

static int clean(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *in_folder(const char *name) {
    static char paths[4][160];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *write_text(const char *name, const char *text) {
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ---- recording ---------------------------------------------------------------------------------------------------------- */

static size_t record(const char *part, size_t *refused) {
    const lb_capture_options o = {.folder = folder};
    lb_capture *c;
    lb_capture_result r;
    lb_error err = {0};
    if (lb_capture_open(&c, &o, &err) != LB_OK) fail_msg("%s", err.message);
    if (lb_capture_operations(c, part, 0, &r, refused, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    lb_capture_close(c);
    assert_string_equal(r.path, recording);
    return r.outputs;
}

static void a_recording_holds_rows_text_and_machine_code_of_every_operation(void **state) {
    const lb_scalar_op *op;
    size_t refused, words = 0;
    lb_file *f;
    (void)state;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) words += LB_OP_ROWS * (size_t)op->outs;
    assert_int_equal(record(NULL, &refused), words);
    assert_int_equal(refused, 0);
    assert_int_equal(lb_file_open(&f, recording, NULL, NULL), LB_OK);
    assert_string_equal(lb_file_metadata(f, "lastbit.recording"), "op/1");
    assert_string_equal(lb_file_metadata(f, "device"), "Fake GPU");
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        char name[96];
        snprintf(name, sizeof name, "%s.i%d", op->name, op->ins - 1);
        assert_non_null(lb_file_find(f, name));
        assert_int_equal(lb_tensor_count(lb_file_find(f, name)), LB_OP_ROWS);
        snprintf(name, sizeof name, "%s.o%d", op->name, op->outs - 1);
        assert_non_null(lb_file_find(f, name));
        snprintf(name, sizeof name, "%s.ptx", op->name);
        assert_non_null(lb_file_find(f, name));
        snprintf(name, sizeof name, "%s.cubin", op->name);
        assert_true(lb_file_find(f, name)->bytes > 100);
    }
    lb_file_close(f);
}

static lb_operations_result *judge(const lb_operations_options *o, size_t *count) {
    lb_operations_result *r;
    lb_error err = {0};
    if (lb_operations_replay(o, &r, count, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return r;
}

static const lb_operations_result *named(const lb_operations_result *r, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(r[i].name, name) == 0) return &r[i];
    fail_msg("no result for %s", name);
    return NULL;
}

static void a_request_is_answered_under_its_own_name(void **state) {
    const lb_capture_options o = {.folder = in_folder("answers")};
    lb_capture *c;
    lb_capture_result r;
    lb_error err = {0};
    size_t count;
    lb_operations_result *results;
    (void)state;
    assert_int_equal(lb_capture_open(&c, &o, &err), LB_OK);
    if (lb_capture_request(c, request, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(lb_capture_request(c, recording, &r, &err), LB_E_FILE); /* has its answers */
    lb_capture_close(c);
    const char *answer = in_folder("answers/request.safetensors");
    assert_int_equal(lb_operations_replay(&(lb_operations_options){.recording = answer}, &results, &count, &err), LB_OK);
    for (size_t i = 0; i < count; i++) assert_true(results[i].recorded && results[i].verdict == LB_PASS);
    free(results);
}

static void the_models_equal_a_recording_of_their_own_word_for_word(void **state) {
    size_t count;
    (void)state;
    lb_operations_result *r = judge(&(lb_operations_options){.recording = recording}, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(r[i].verdict, LB_PASS);
        assert_int_equal(r[i].exact, r[i].total);
        assert_true(r[i].recorded);
    }
    free(r);
}

static void a_gpu_that_differs_in_one_word_of_each_operation_is_found_out(void **state) {
    size_t count;
    (void)state;
    setenv("LASTBIT_FAKE_LIE", "wrong-op", 1);
    lb_operations_result *r = judge(&(lb_operations_options){.recording = recording, .on = "cuda", .part = "lop3"}, &count);
    unsetenv("LASTBIT_FAKE_LIE");
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(r[i].verdict, LB_FAIL);
        assert_int_equal(r[i].differ, 1);
        assert_int_equal(r[i].rows[0].row, 0);
        assert_int_equal(r[i].rows[0].got, r[i].rows[0].want ^ 1);
    }
    free(r);
    r = judge(&(lb_operations_options){.recording = recording, .on = "cuda:0", .part = "lop3"}, &count);
    for (size_t i = 0; i < count; i++) assert_int_equal(r[i].verdict, LB_PASS);
    free(r);
}

static void the_models_against_themselves_prove_nothing(void **state) {
    size_t count;
    (void)state;
    lb_operations_result *r = judge(&(lb_operations_options){.on = "model", .part = "shf"}, &count);
    for (size_t i = 0; i < count; i++) assert_int_equal(r[i].verdict, LB_UNPROVEN);
    free(r);
    r = judge(&(lb_operations_options){.recording = request}, &count);
    for (size_t i = 0; i < count; i++) assert_int_equal(r[i].verdict, LB_UNPROVEN);
    free(r);
}

/* ---- answers of others -------------------------------------------------------------------------------------------------- */

/* Answers to add_s32 and neg_f32: `wrong` words of the first are changed. */
static const char *answers(const char *name, size_t wrong) {
    static const char *const ops[] = {"add_s32", "neg_f32"};
    static uint32_t words[2][LB_OP_ROWS];
    lb_tensor tensors[2];
    lb_error err = {0};
    for (int k = 0; k < 2; k++) {
        const lb_scalar_op *op;
        assert_int_equal(lb_scalar_find(ops[k], &op, NULL), LB_OK);
        for (uint64_t r = 0; r < LB_OP_ROWS; r++) {
            uint64_t in[2] = {lb_scalar_input(op->in[0], 0, 1, r), lb_scalar_input(op->in[0], 1, 1, r)}, out;
            assert_int_equal(lb_scalar_eval(op, in, &out, NULL), LB_OK);
            words[k][r] = (uint32_t)out ^ (k == 0 && r < wrong);
        }
        tensors[k] = (lb_tensor){.name = k ? "neg_f32.o0" : "add_s32.o0",
                                 .dtype = lb_dtype_find("u32"),
                                 .rank = 1,
                                 .shape = {LB_OP_ROWS},
                                 .data = words[k],
                                 .bytes = sizeof words[k]};
    }
    const char *path = in_folder(name);
    if (lb_safetensors_write(path, tensors, 2, NULL, 0, &err) != LB_OK) fail_msg("%s", err.message);
    return path;
}

static void answers_are_counted_and_what_was_not_answered_is_a_skip(void **state) {
    size_t count;
    (void)state;
    for (int with = 0; with < 2; with++) {
        lb_operations_result *r =
            judge(&(lb_operations_options){.recording = with ? recording : NULL, .actual = answers("actual", 7)}, &count);
        const lb_operations_result *add = named(r, count, "add_s32");
        assert_int_equal(add->verdict, LB_FAIL);
        assert_int_equal(add->differ, 7);
        assert_int_equal(add->row_count, LB_OPERATIONS_ROWS);
        assert_int_equal(named(r, count, "neg_f32")->verdict, LB_PASS);
        assert_int_equal(named(r, count, "sub_rn_f32")->verdict, LB_SKIP);
        free(r);
    }
}

static void known_and_approx_hold_to_their_counts(void **state) {
    static const struct {
        int line;
        size_t wrong;
        const char *known, *approx;
        lb_verdict verdict;
        bool is_known;
    } rows[] = {
        {__LINE__, 7, "[]", "[]", LB_FAIL, false},
        {__LINE__, 7, "[{\"op\": \"add_s32\", \"words\": 7, \"reason\": \"issue 12\"}]", "[]", LB_SKIP, true},
        {__LINE__, 8, "[{\"op\": \"add.s32\", \"words\": 7, \"reason\": \"issue 12\"}]", "[]", LB_FAIL, false},
        {__LINE__, 0, "[{\"op\": \"add_s32\", \"words\": 7, \"reason\": \"issue 12\"}]", "[]", LB_FAIL, false},
        {__LINE__, 7, "[]", "[{\"op\": \"add_s32\", \"words\": 7, \"reason\": \"host tables\"}]", LB_PASS, false},
        {__LINE__, 0, "[]", "[{\"op\": \"add_s32\", \"words\": 7, \"reason\": \"host tables\"}]", LB_PASS, false},
        {__LINE__, 8, "[]", "[{\"op\": \"add_s32\", \"words\": 7, \"reason\": \"host tables\"}]", LB_FAIL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count;
        const lb_operations_options o = {.actual = answers("actual", rows[i].wrong),
                                         .known = write_text("known.json", rows[i].known),
                                         .approx = write_text("approx.json", rows[i].approx)};
        lb_operations_result *r = judge(&o, &count);
        EXPECT_CODE(rows[i].line, named(r, count, "add_s32")->verdict, rows[i].verdict);
        EXPECT_CODE(rows[i].line, named(r, count, "add_s32")->known, rows[i].is_known);
        free(r);
    }
}

static void lists_that_are_malformed_are_refused_with_their_place(void **state) {
    static const char *const lists[] = {
        "{}",
        "[1]",
        "[{\"op\": \"add_s32\", \"words\": 0, \"reason\": \"x\"}]",
        "[{\"op\": \"add_s32\", \"words\": 1, \"reason\": \"\"}]",
        "[{\"op\": \"nothing_s32\", \"words\": 1, \"reason\": \"x\"}]",
        "[{\"op\": \"add_s32\", \"words\": 1, \"reason\": \"x\"}, {\"op\": \"add_s32\", \"words\": 1, \"reason\": \"x\"}]",
        "["};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        lb_operations_result *r;
        size_t count;
        lb_error err = {0};
        const lb_operations_options o = {.actual = answers("actual", 0), .known = write_text("known.json", lists[i])};
        if (lb_operations_replay(&o, &r, &count, &err) == LB_OK) fail_msg("taken: %s", lists[i]);
        assert_non_null(strstr(err.place, "known.json"));
        assert_null(r);
    }
}

static void recordings_that_are_malformed_are_refused(void **state) {
    static uint32_t words[64];
    static const struct {
        int line;
        const char *name, *dtype;
        size_t rows;
        const char *kind, *says;
    } files[] = {
        {__LINE__, "add_s32.i0", "u32", 64, "op/1", "no tensor add_s32.i1"},
        {__LINE__, "add_s32.i0", "u16", 64, "op/1", "words of 4 bytes"},
        {__LINE__, "add_s32", "u32", 64, "op/1", "NAME.i0"},
        {__LINE__, "vote_all.i0", "u32", 33, "op/1", "of a warp by 32"},
        {__LINE__, "not_b32.i0", "u32", 0, "op/1", "0 rows"},
        {__LINE__, "not_b32.i0", "u32", 64, "dot/1", "no recording of operations"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const lb_dtype *d = lb_dtype_find(files[i].dtype);
        const lb_tensor t = {files[i].name, d, 1, {files[i].rows}, words, files[i].rows * (size_t)d->bytes};
        const char *const metadata[] = {"lastbit.recording", files[i].kind};
        const char *path = in_folder("bad.safetensors");
        lb_operations_result *r;
        size_t count;
        lb_error err = {0};
        assert_int_equal(lb_safetensors_write(path, &t, 1, metadata, 1, &err), LB_OK);
        EXPECT_CODE(files[i].line, lb_operations_replay(&(lb_operations_options){.recording = path}, &r, &count, &err), LB_E_FILE);
        if (!strstr(err.message, files[i].says)) fail_msg("row at line %d: it says: %s", files[i].line, err.message);
    }
}

static void an_operation_that_is_not_modelled_is_a_skip(void **state) {
    static uint32_t words[32];
    const lb_tensor t = {"frobnicate_b32.i0", lb_dtype_find("u32"), 1, {32}, words, sizeof words};
    const char *const metadata[] = {"lastbit.recording", "op/1"};
    const char *path = in_folder("new.safetensors");
    size_t count;
    (void)state;
    assert_int_equal(lb_safetensors_write(path, &t, 1, metadata, 1, NULL), LB_OK);
    lb_operations_result *r = judge(&(lb_operations_options){.recording = path}, &count);
    assert_int_equal(count, 1);
    assert_int_equal(r[0].verdict, LB_SKIP);
    assert_non_null(strstr(r[0].reason, "no such operation"));
    free(r);
}

/* ---- the text of every operation ---------------------------------------------------------------------------------------- */

static const char *ptxas(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return NULL;
}

/* All of a target in one module, each under its own name. What ptxas says of them is in FOLDER/log. */
static bool assembles(const char *target, const char *arch, size_t *operations) {
    char command[512];
    const lb_scalar_op *op;
    const char *path = in_folder("all.ptx");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    *operations = 0;
    for (size_t i = 0; (op = lb_scalar_row(i)); i++) {
        char *text, *entry;
        if (strcmp(op->target, target) != 0) continue;
        assert_int_equal(lb_operation_ptx(op, &text, NULL), LB_OK);
        char *head = strstr(text, "// op:");
        if (!(*operations)++) fprintf(f, "%.*s", (int)(head - text), text);
        entry = strstr(head, "lastbit_capture");
        fprintf(f, "%.*s%s%s", (int)(entry - head), head, op->name, entry + strlen("lastbit_capture"));
        free(text);
    }
    fclose(f);
    snprintf(command, sizeof command, "%s -arch=%s -o %s/all.cubin %s >%s/log 2>&1", ptxas(), arch, folder, path, folder);
    return *operations == 0 || system(command) == 0;
}

static void ptxas_takes_the_text_of_every_operation(void **state) {
    static const char *const targets[][2] = {
        {"sm_80", "sm_87"}, {"sm_86", "sm_87"}, {"sm_89", "sm_89"}, {"sm_90", "sm_90"}, {"sm_100a", "sm_100a"}};
    size_t all = 0, rows = 0, some;
    (void)state;
    if (!ptxas()) {
        print_message("SKIP PTX of every operation: no ptxas on this machine (it comes with NVIDIA's toolkit)\n");
        skip();
    }
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++, all += some)
        if (!assembles(targets[i][0], targets[i][1], &some)) fail_msg("%s: see what ptxas says of FOLDER/all.ptx", targets[i][0]);
    while (lb_scalar_row(rows)) rows++;
    assert_int_equal(all, rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_holds_rows_text_and_machine_code_of_every_operation),
        cmocka_unit_test(a_request_is_answered_under_its_own_name),
        cmocka_unit_test(the_models_equal_a_recording_of_their_own_word_for_word),
        cmocka_unit_test(a_gpu_that_differs_in_one_word_of_each_operation_is_found_out),
        cmocka_unit_test(the_models_against_themselves_prove_nothing),
        cmocka_unit_test(answers_are_counted_and_what_was_not_answered_is_a_skip),
        cmocka_unit_test(known_and_approx_hold_to_their_counts),
        cmocka_unit_test(lists_that_are_malformed_are_refused_with_their_place),
        cmocka_unit_test(recordings_that_are_malformed_are_refused),
        cmocka_unit_test(an_operation_that_is_not_modelled_is_a_skip),
        cmocka_unit_test(ptxas_takes_the_text_of_every_operation),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
