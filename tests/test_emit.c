/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Emitted C, under the options that break floating point: every word is the model's. */
#include "emit_cases.h"
#include "emit_help.h"

#include "lastbit/io.h"

#include <glob.h>

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
static void write_sources(lb_emit_options options) {
    char path[256];
    emit_path(path, sizeof path, "table.h");
    FILE *table = fopen(path, "w");
    assert_non_null(table);
    for (size_t i = 0; i < unit_count; i++) {
        char name[32], *text = emit_text_of(&units[i], options);
        snprintf(name, sizeof name, "u%zu.h", i);
        emit_write(name, text, strlen(text));
        free(text);
        fprintf(table, "#include \"%s\"\n", name);
    }
    fprintf(table, "static const struct entry table[] = {\n");
    for (size_t i = 0; i < unit_count; i++) {
        char function[200];
        emit_identifier(&units[i], function, sizeof function);
        emit_write_entry(table, &units[i], function, emit_is_first(units, i));
    }
    fprintf(table, "};\n");
    assert_int_equal(fclose(table), 0);
}

/* Where the words of each record begin in `want`. */
static struct record {
    size_t start;
    uint32_t unit, kind;
} records[EMIT_MAX_UNITS * (EMIT_BATCHES + 1)];
static size_t record_count, words_wanted;
static uint32_t side = EMIT_SIDE; /* of a batch */

/* A batch of `kind`, or a tile of the instruction's own size. */
static void write_record(uint32_t index, uint32_t kind, bool tile, FILE *in, FILE *want) {
    const lb_unit *u = &units[index];
    emit_draw_of(u, (int)kind, tile ? u->m : side, tile ? u->n : side, &batch);
    emit_want(u, &batch);
    emit_write_batch(in, index, tile, &batch, u->sparse_group != 0);
    records[record_count++] = (struct record){words_wanted, index, tile ? EMIT_BATCHES : kind};
    words_wanted += fwrite(batch.d, 4, (size_t)batch.m * batch.n * batch.words_d, want);
}

/* Batches of all kinds, of each path also a tile; or batches without NaN, Inf and overflow. */
static void write_batches(bool finite) {
    char path[256];
    emit_path(path, sizeof path, "in");
    FILE *f = fopen(path, "wb");
    emit_path(path, sizeof path, "want");
    FILE *want = fopen(path, "wb");
    assert_non_null(f);
    assert_non_null(want);
    record_count = words_wanted = 0;
    for (uint32_t i = 0; i < unit_count; i++) {
        for (uint32_t kind = 0; kind < EMIT_BATCHES; kind++) write_record(i, finite ? 3 + kind % 2 * 3 : kind, false, f, want);
        if (emit_is_first(units, i)) write_record(i, finite ? 3 : i % EMIT_BATCHES, true, f, want);
    }
    assert_int_equal(fclose(f) | fclose(want), 0);
}

static void write_inputs(void) {
    write_batches(false);
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
    size_t wrong = 0, at = 0;
    for (*compared = 0; fread(&y, 4, 1, want) == 1; ++*compared) {
        if (fread(&x, 4, 1, out) == 1 && x == y) continue;
        while (at + 1 < record_count && records[at + 1].start <= *compared) at++;
        if (wrong++ == 0)
            snprintf(first, size, "%s, %s %u, word %zu: got %08x, want %08x", units[records[at].unit].name,
                     records[at].kind == EMIT_BATCHES ? "tile" : "batch", records[at].kind, *compared - records[at].start, x, y);
    }
    fclose(out);
    fclose(want);
    return wrong;
}

static void compile(const char *compiler, const char *options, const char *driver) {
    const int status = emit_run("cd %s && %s -Wall -Wextra -Werror -Wno-unused-function %s -I. %s/tests/emit/%s.c -o driver", emit_folder,
                                compiler, options, LB_SOURCE_DIR, driver);
    if (status != 0) fail_msg("%s %s: exit %d", compiler, options, status);
}

static void expect_exact(const char *compiler, const char *options, int flushes) {
    if (!emit_have(compiler)) {
        print_message("[   SKIP   ] no %s\n", compiler);
        return;
    }
    compile(compiler, options, "driver");
    for (int flush = 0; flush < flushes; flush++) {
        char first[400] = "";
        size_t compared;
        assert_int_equal(emit_run("cd %s && ./driver in out %d", emit_folder, flush), 0);
        const size_t wrong = count_wrong(&compared, first, sizeof first);
        if (wrong) fail_msg("%s %s, flush %d: %zu of %zu wrong; %s", compiler, options, flush, wrong, compared, first);
        print_message("%s %s, flush-to-zero %s: %zu words of %zu units, all the model's\n", compiler, options, flush ? "on" : "off",
                      compared, unit_count);
        assert_true(compared == words_wanted && record_count >= unit_count * EMIT_BATCHES);
    }
}

/* back() undoes what is done to the list and the size of a batch behind keep(). */
static lb_unit kept[EMIT_MAX_UNITS];
static size_t kept_count;

static void keep(void) {
    memcpy(kept, units, sizeof units);
    kept_count = unit_count;
}

static void back(void) {
    memcpy(units, kept, sizeof units);
    unit_count = kept_count;
    side = EMIT_SIDE;
}

/* One unit in `of` and one of each path, unless all are asked for. */
static void take_one_in(size_t of) {
    keep();
    if (emit_full()) return;
    unit_count = 0;
    for (size_t i = 0; i < kept_count; i++)
        if (i % of == 0 || emit_is_first(kept, i)) units[unit_count++] = kept[i];
}

static bool writes_the_same(const lb_unit *u, lb_emit_options options) {
    char *x = emit_text_of(u, (lb_emit_options){.language = options.language}), *y = emit_text_of(u, options);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* Those of the list whose source is another with these options. */
static void take_affected(lb_emit_options options) {
    size_t count = 0;
    for (size_t i = 0; i < unit_count; i++)
        if (!writes_the_same(&units[i], options)) units[count++] = units[i];
    unit_count = count;
}

enum { AT_ONCE = 150 }; /* units of one file to compile */

/* The units of the list, in turn, by one compiler; `side` says how many dots of each. */
static void expect_list(lb_emit_options options, bool finite, const char *compiler, const char *flags, int flushes) {
    static lb_unit list[EMIT_MAX_UNITS];
    const size_t count = unit_count;
    memcpy(list, units, sizeof units);
    for (size_t first = 0; first < count; first += AT_ONCE) {
        unit_count = count - first < AT_ONCE ? count - first : AT_ONCE;
        memcpy(units, list + first, unit_count * sizeof *units);
        write_batches(finite);
        write_sources(options);
        expect_exact(compiler, flags, flushes);
    }
    memcpy(units, list, sizeof units);
    unit_count = count;
}

static void c_is_exact_under_fast_math(void **state) {
    (void)state;
    const lb_emit_options c = {.language = LB_EMIT_C};
    expect_list(c, false, "gcc", "-std=c11 -O3 -ffast-math", 2);
    take_one_in(3);
    expect_list(c, false, "clang", "-std=c11 -O3 -ffast-math", 2);
    back();
}

enum { FEWER = 32 }; /* of a batch's sides, where the same steps are said in other words */

/* Metal's and CUDA's dialects by a C++ compiler, over a header that stands in for their own. */
static void metal_and_cuda_are_exact_as_cpp(void **state) {
    (void)state;
    char options[400];
    take_one_in(6);
    side = FEWER;
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -I%s/tests/emit/shim", LB_SOURCE_DIR);
    expect_list((lb_emit_options){.language = LB_EMIT_MSL}, false, "g++", options, 1);
    snprintf(options, sizeof options, "-x c++ -std=c++17 -O1 -ffast-math -Wno-unknown-pragmas -include %s/tests/emit/shim/cuda_shim.h",
             LB_SOURCE_DIR);
    expect_list((lb_emit_options){.language = LB_EMIT_CUDA}, false, "g++", options, 1);
    back();
}

/* Nothing that C leaves undefined: shifts, sums, conversions. */
static void nothing_is_undefined(void **state) {
    (void)state;
    take_one_in(6);
    side = FEWER;
    expect_list((lb_emit_options){.language = LB_EMIT_C}, false, "gcc",
                "-std=c11 -O1 -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all", 1);
    back();
}

static void integers_and_finite_sources_are_exact(void **state) {
    (void)state;
    const lb_emit_options ways[] = {{.language = LB_EMIT_C, .integers = true}, {.language = LB_EMIT_C, .finite = true}};
    for (int i = 0; i < 2; i++) {
        take_one_in(6);
        side = FEWER;
        take_affected(ways[i]);
        expect_list(ways[i], ways[i].finite, "gcc", "-std=c11 -O1 -ffast-math", 1);
        back();
    }
}

/* What rows leave open, and other parameters that a caller can set. */
static void what_is_set_is_exact(void **state) {
    (void)state;
    lb_error err = {0};
    keep();
    side = FEWER;
    for (unit_count = 0; unit_count < sizeof emit_set / sizeof emit_set[0]; unit_count++)
        if (lb_unit_find(emit_set[unit_count], &units[unit_count], &err) != LB_OK)
            fail_msg("%s: %s: %s", emit_set[unit_count], err.place, err.message);
    expect_list((lb_emit_options){.language = LB_EMIT_C}, false, "gcc", "-std=c11 -O1 -ffast-math", 1);
    back();
}

/* The real compiler of CUDA C++, where it is. Nothing here runs what it makes. */
static void cuda_compiles(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m16n8k16.f32.f16.f16.f32", "sm_90/mma.m16n8k16.f32.bf16.bf16.f32",
                                        "sm_89/mma.m16n8k32.f16.e4m3.e5m2.f16"};
    static const int architectures[] = {80, 90, 120};
    const char *nvcc = access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "nvcc";
    if (!emit_have(nvcc)) {
        print_message("[   SKIP   ] no nvcc\n");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_unit u;
        char function[200], kernel[1024];
        assert_int_equal(lb_unit_find(names[i], &u, NULL), LB_OK);
        char *text = emit_text_of(&u, (lb_emit_options){.language = LB_EMIT_CUDA});
        emit_write("dot.h", text, strlen(text));
        free(text);
        emit_identifier(&u, function, sizeof function);
        snprintf(kernel, sizeof kernel,
                 "#include \"dot.h\"\n__global__ void run(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *d) {\n"
                 "    d[threadIdx.x] = %s_dot(a + threadIdx.x * %d, b, c[threadIdx.x]);\n}\n",
                 function, u.k);
        emit_write("dot.cu", kernel, strlen(kernel));
        const int status =
            emit_run("cd %s && %s -arch=sm_%d -O3 --use_fast_math -cubin -o dot.cubin dot.cu", emit_folder, nvcc, architectures[i]);
        if (status != 0) fail_msg("nvcc -arch=sm_%d, %s: exit %d", architectures[i], names[i], status);
    }
}

/* ---- recordings ------------------------------------------------------------------------------------------------------------ */

static uint32_t word_of(const lb_tensor *t, size_t i) {
    const size_t bytes = t->bytes / lb_tensor_count(t);
    uint32_t x = 0;
    memcpy(&x, (const char *)t->data + i * bytes, bytes);
    return x;
}

/* All dots of a recording, one a record, with what the GPU answered; false where its unit is not written. */
static bool write_recording(const char *path, FILE *in, FILE *want, size_t *dots) {
    lb_file *f;
    lb_error err = {0};
    lb_unit *u = &units[unit_count];
    if (lb_file_open(&f, path, NULL, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (lb_unit_find(lb_file_metadata(f, "unit"), u, &err) != LB_OK) fail_msg("%s: %s", path, err.message);
    const bool written = lb_emit_can(u, NULL) == LB_OK;
    const lb_tensor *a = lb_file_find(f, "a"), *b = lb_file_find(f, "b"), *c = lb_file_find(f, "c"), *answer = lb_file_find(f, "d");
    const size_t count = lb_tensor_count(c), k = lb_tensor_count(a) / count;
    for (size_t i = 0; written && i < count; i++) {
        const uint32_t head[] = {(uint32_t)unit_count, 1, 1, 0}, zero = 0;
        fwrite(head, 4, 4, in);
        for (int both = 0; both < 2; both++) {
            for (size_t j = 0; j < u->k; j++) {
                const uint32_t x = j < k ? word_of(both ? b : a, i * k + j) : zero;
                fwrite(&x, 4, 1, in);
            }
        }
        const uint32_t accumulator = word_of(c, i), result = word_of(answer, i);
        fwrite(&accumulator, 4, 1, in);
        fwrite(&result, 4, 1, want);
    }
    *dots += written ? count : 0;
    unit_count += written;
    lb_file_close(f);
    return written;
}

static void recordings_of_gpus_are_reproduced(void **state) {
    (void)state;
    glob_t files;
    if (glob(LB_SOURCE_DIR "/../shared/hwdata/*.safetensors", 0, NULL, &files) != 0) {
        print_message("[   SKIP   ] no ../shared/hwdata\n");
        return;
    }
    char path[256];
    keep();
    emit_path(path, sizeof path, "in");
    FILE *in = fopen(path, "wb");
    emit_path(path, sizeof path, "want");
    FILE *want = fopen(path, "wb");
    assert_non_null(in);
    assert_non_null(want);
    size_t dots = 0, recordings = 0;
    unit_count = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const bool written = write_recording(files.gl_pathv[i], in, want, &dots);
        if (!written) print_message("not written: %s\n", files.gl_pathv[i]);
        recordings += written;
    }
    globfree(&files);
    assert_int_equal(fclose(in) | fclose(want), 0);
    record_count = 0;
    write_sources((lb_emit_options){.language = LB_EMIT_C});
    compile("gcc", "-std=c11 -O1 -ffast-math", "driver");
    assert_int_equal(emit_run("cd %s && ./driver in out 1", emit_folder), 0);
    char first[400] = "";
    size_t compared;
    const size_t wrong = count_wrong(&compared, first, sizeof first);
    print_message("%zu recordings: %zu of %zu dots as the GPU gave them\n", recordings, compared - wrong, dots);
    back();
    assert_true(compared == dots && wrong == 0 && recordings == 30);
}

/* ---- wrong sources: the comparison sees each of them ---------------------------------------------------------------------- */

/* The C of the one unit of the list with an edit by sed. */
static size_t wrong_after(const char *edit) {
    char path[256], first[400];
    size_t compared;
    write_sources((lb_emit_options){.language = LB_EMIT_C});
    emit_path(path, sizeof path, "u0.h");
    assert_int_equal(emit_run("cd %s && cp u0.h before.h && sed -E -i '%s' u0.h && ! cmp -s u0.h before.h", emit_folder, edit), 0);
    compile("gcc", "-std=c11 -O1 -ffast-math -Wno-unused-variable", "driver");
    assert_int_equal(emit_run("cd %s && ./driver in out 1", emit_folder), 0);
    return count_wrong(&compared, first, sizeof first);
}

static void wrong_sources_are_seen(void **state) {
    (void)state;
    keep();
    for (size_t i = 0; i < sizeof emit_edits / sizeof emit_edits[0]; i++) {
        lb_error err = {0};
        if (lb_unit_find(emit_edits[i].unit, &units[0], &err) != LB_OK) fail_msg("%s: %s: %s", emit_edits[i].unit, err.place, err.message);
        unit_count = 1;
        if (i == 0 || emit_edits[i].unit != emit_edits[i - 1].unit) write_inputs();
        const size_t wrong = wrong_after(emit_edits[i].edit);
        print_message("%s, %s: %zu of %zu words wrong\n", emit_edits[i].unit, emit_edits[i].what, wrong, words_wanted);
        if (wrong == 0) fail_msg("%s is not seen", emit_edits[i].what);
    }
    assert_int_equal(wrong_after("1s/$/ /"), 0); /* what no compiler sees */
    back();
}

/* ---- the text ------------------------------------------------------------------------------------------------------------- */

static void text_is_the_same_each_time_and_says_its_hash(void **state) {
    (void)state;
    for (int language = 0; language < LB_EMIT_LANGUAGE_COUNT; language++) {
        char *x = emit_text(&units[1], (lb_emit_language)language, false, false);
        char *y = emit_text(&units[1], (lb_emit_language)language, false, false);
        assert_string_equal(x, y);
        uint64_t h = UINT64_C(0xcbf29ce484222325);
        for (const char *s = strchr(x, '\n') + 1; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
        unsigned long long said = 0;
        assert_int_equal(sscanf(x, "// lastbit emit: hash %llx", &said), 1);
        assert_true(said == h);
        free(x);
        free(y);
    }
}

static void what_cannot_be_written_says_what_can(void **state) {
    (void)state;
    static const char *const names[] = {"sm_80/mma.m8n8k4.f32.f16.f16.f32", "sm_80/mma.m16n8k16.f32.f16.f16.f32+frac_bits=30",
                                        "sm_90/mma.m16n8k16.f32.e4m3.e4m3.f32", "gfx942/mfma.m16n16k4.f32.f32.f32.f32+a=f16"};
    const lb_emit_options o = {.language = LB_EMIT_C};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_unit u;
        lb_error err = {0};
        char *text = NULL;
        assert_int_equal(lb_unit_find(names[i], &u, &err), LB_OK);
        assert_int_equal(lb_emit_unit(&u, &o, &text, NULL, &err), LB_E_UNAVAILABLE);
        assert_null(text);
        assert_non_null(strstr(err.message, i % 2 ? "is written for" : "has no model"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_is_exact_under_fast_math),
        cmocka_unit_test(metal_and_cuda_are_exact_as_cpp),
        cmocka_unit_test(nothing_is_undefined),
        cmocka_unit_test(integers_and_finite_sources_are_exact),
        cmocka_unit_test(what_is_set_is_exact),
        cmocka_unit_test(cuda_compiles),
        cmocka_unit_test(recordings_of_gpus_are_reproduced),
        cmocka_unit_test(wrong_sources_are_seen),
        cmocka_unit_test(text_is_the_same_each_time_and_says_its_hash),
        cmocka_unit_test(what_cannot_be_written_says_what_can),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
