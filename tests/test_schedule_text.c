/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Schedules as text: what is read is what is written, and hostile text is one line of error. The f32 arithmetic against its specification. */
#include "test.h"

#include "kernels/schedule_f32.h"
#include "lastbit/schedule.h"

#include <math.h>

static void expect_round_trip(int line, const char *text, const char *want) {
    lb_schedule s, again;
    lb_error err = {0};
    char out[LB_SCHEDULE_TEXT_SIZE];
    if (lb_schedule_parse(text, &s, &err) != LB_OK) fail_msg("row at %s:%d: %s: %s: %s", __FILE__, line, text, err.place, err.message);
    lb_schedule_text(&s, out, sizeof out);
    EXPECT_STRING(line, out, want);
    assert_int_equal(lb_schedule_parse(out, &again, NULL), LB_OK);
    assert_true(lb_schedule_equal(&s, &again));
}

static void text_reads_back_as_the_schedule_that_wrote_it(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text, *want;
    } rows[] = {
        {__LINE__, "plain", "plain"},
        {__LINE__, "split-k=4,reduce=ascending,partial=f32,promote=128,alpha=1,beta=0,order=ascending,out=bf16",
         "split-k=4,promote=128,c=last,beta=0,out=bf16"},
        {__LINE__, "split-k=1", "plain"},
        {__LINE__, "alpha=1,beta=1", "c=last"},
        {__LINE__, "alpha=0.1", "c=last,alpha=0.1"},
        {__LINE__, "alpha=0.1,c=first", "c=first,alpha=0.1"},
        {__LINE__, "alpha=-0,beta=1e-45", "c=last,alpha=-0,beta=1e-45"},
        {__LINE__, "alpha=3.14159265358979", "c=last,alpha=3.1415927"},
        {__LINE__, "stream-k=108,tile=256x64,raster=m,divide=even,tile-k=32", "tile-k=32,stream-k=108,tile=256x64,raster=m,divide=even"},
        {__LINE__, "split-k=3,divide=dealt,reduce=slots,partial=out,act=relu,out=e4m3,saturate=1",
         "split-k=3,divide=dealt,reduce=slots,partial=out,act=relu,out=e4m3,saturate=1"},
        {__LINE__, "deepgemm-promote-128", "promote=128"},
        {__LINE__, "cutlass-serial-split-k,split-k=8", "split-k=8,sum=out,c=last,blend=fma-x"},
        {__LINE__, "out=fp16", "out=f16"},
        {__LINE__, "arrival=2.0.1,reduce=atomic,split-k=3", "split-k=3,reduce=atomic,arrival=2.0.1"},
        {__LINE__, "scaling=a-first,scale-block=1x64,promote=128,act=gelu-tanh",
         "promote=128,scale-block=1x64,scaling=a-first,act=gelu-tanh"},
        {__LINE__, "deepgemm-fp8-1d2d", "promote=128,scale-block=1x128,out=bf16"},
        {__LINE__, "ragged=first,order=descending,reduce=halves,sum=bf16,saturate=0",
         "order=descending,ragged=first,reduce=halves,sum=bf16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) expect_round_trip(rows[i].line, rows[i].text, rows[i].want);
}

static void every_named_schedule_parses_to_its_row(void **state) {
    (void)state;
    for (size_t i = 0; lb_schedule_row(i); i++) {
        const lb_schedule_named *row = lb_schedule_row(i);
        lb_schedule named, text = {0};
        assert_int_equal(lb_schedule_parse(row->name, &named, NULL), LB_OK);
        if (*row->text) assert_int_equal(lb_schedule_parse(row->text, &text, NULL), LB_OK);
        if (!lb_schedule_equal(&named, &text)) fail_msg("%s is not %s", row->name, row->text);
        assert_true(*row->source && *row->note);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(row->name, lb_schedule_row(j)->name);
    }
}

static void hostile_text_is_one_line_of_error(void **state) {
    (void)state;
    static char long_item[4096];
    memset(long_item, 'a', sizeof long_item - 1);
    const struct {
        int line;
        const char *text, *message;
        lb_status want;
    } rows[] = {
        {__LINE__, "", "empty", LB_E_ARG},
        {__LINE__, ",", "empty item at character 1", LB_E_ARG},
        {__LINE__, "split-k=4,", "last comma", LB_E_ARG},
        {__LINE__, "split-k=4,,out=f16", "empty item at character 11", LB_E_ARG},
        {__LINE__, "splitk=4", "did you mean split-k?", LB_E_NAME},
        {__LINE__, "deepgem-promote-128", "did you mean deepgemm-promote-128?", LB_E_NAME},
        {__LINE__, "split-k=4,plain", "a name comes first", LB_E_ARG},
        {__LINE__, "split-k=4,split-k=5", "given twice", LB_E_ARG},
        {__LINE__, "split-k=", "no whole number", LB_E_ARG},
        {__LINE__, "split-k=0", "no whole number", LB_E_ARG},
        {__LINE__, "split-k=-3", "no whole number", LB_E_ARG},
        {__LINE__, "split-k=4x", "no whole number", LB_E_ARG},
        {__LINE__, "split-k=99999999999999999999999", "no whole number", LB_E_ARG},
        {__LINE__, "tile=128", "shape as 128x128", LB_E_ARG},
        {__LINE__, "tile=128x0", "shape as 128x128", LB_E_ARG},
        {__LINE__, "reduce=assending", "did you mean ascending?", LB_E_ARG},
        {__LINE__, "act=gelu", "gelu is three", LB_E_ARG},
        {__LINE__, "act=swish", "did you mean", LB_E_ARG},
        {__LINE__, "arrival=0.2", "no order of parts", LB_E_ARG},
        {__LINE__, "arrival=1.0.1", "no order of parts", LB_E_ARG},
        {__LINE__, "arrival=", "no order of parts", LB_E_ARG},
        {__LINE__, "arrival=0.1.", "no order of parts", LB_E_ARG},
        {__LINE__, "arrival=0.1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16", "at most 16", LB_E_ARG},
        {__LINE__, "arrival=99999999999", "no order of parts", LB_E_ARG},
        {__LINE__, "scale-block=128", "shape as 128x128", LB_E_ARG},
        {__LINE__, "scaling=fma", "is not known", LB_E_ARG},
        {__LINE__, "alpha=nan", "no finite number", LB_E_ARG},
        {__LINE__, "alpha=1e39", "no finite number", LB_E_ARG},
        {__LINE__, "alpha=1 2", "no finite number", LB_E_ARG},
        {__LINE__, "saturate=2", "0 or 1", LB_E_ARG},
        {__LINE__, "out=bf166", "did you mean bf16", LB_E_NAME},
        {__LINE__, "\n\033[31m=1", "no such key", LB_E_NAME},
        {__LINE__, "%s%n=%d", "no such key", LB_E_NAME},
        {__LINE__, long_item, "an item of 4095 characters", LB_E_ARG},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_schedule s = {.split = 77};
        lb_error err = {0};
        EXPECT_CODE(rows[i].line, lb_schedule_parse(rows[i].text, &s, &err), rows[i].want);
        if (!strstr(err.message, rows[i].message)) fail_msg("row at %s:%d: \"%s: %s\"", __FILE__, rows[i].line, err.place, err.message);
        assert_null(strpbrk(err.message, "\n\033"));
        assert_null(strpbrk(err.place, "\n\033"));
        EXPECT_CODE(rows[i].line, s.split, 77); /* nothing written */
    }
}

static void text_is_cut_to_its_room(void **state) {
    (void)state;
    lb_schedule s;
    char small[12];
    assert_int_equal(lb_schedule_parse("split-k=4,divide=dealt,out=bf16", &s, NULL), LB_OK);
    memset(small, 'x', sizeof small);
    lb_schedule_text(&s, small, sizeof small - 1);
    assert_int_equal(small[10], 0);
    assert_int_equal(small[11], 'x');
    lb_schedule_text(&s, small, 0);
}

/* ---- f32 ------------------------------------------------------------------------------------------------------------------ */

/* Any bits, or magnitudes close to those of another number, so that sums cancel and round. */
static float drawn(uint64_t i, uint32_t stream) {
    const uint64_t r = lb_random_u64(11, stream, i);
    const uint32_t any = (uint32_t)r, near_one = (any & 0x80ffffff) | 0x3f000000, tiny = any & 0x81ffffff;
    return float_of(r >> 62 == 0 ? any : r >> 62 == 1 ? tiny : near_one);
}

static void expect_same(uint64_t i, const char *what, float got, float want) {
    if (isnan(got) && isnan(want)) return;
    if (bits_of(got) != bits_of(want))
        fail_msg("%s of draw %llu: got %08x, want %08x", what, (unsigned long long)i, bits_of(got), bits_of(want));
}

static void native_floats_equal_their_specification(void **state) {
    (void)state;
    assert_true(lb_f32_native());
    for (uint64_t i = 0; i < 200000; i++) {
        const float x = drawn(i, 1), y = drawn(i, 2), z = drawn(i, 3);
        float sum = x, product = x, fused = x;
        lb_f32_add(&sum, &y, 1, true);
        lb_f32_scale(&product, y, 1, true);
        lb_f32_fma(&fused, y, &z, 1, true);
        expect_same(i, "sum", sum, lb_f32_add_exactly(x, y));
        expect_same(i, "product", product, lb_f32_mul_exactly(x, y));
        expect_same(i, "fma", fused, lb_f32_fma_exactly(y, x, z));
        lb_f32_add(&sum, &z, 1, false);
        expect_same(i, "exact sum", sum, lb_f32_add_exactly(lb_f32_add_exactly(x, y), z));
    }
}

/* A host program may flush subnormals: then the specification does the work. */
static void an_environment_that_flushes_is_noticed(void **state) {
    (void)state;
#ifdef __SSE2__
    static const unsigned flags[] = {0x8000, 0x0040, 0x6000}; /* flush to zero, subnormals are zeros, round toward zero */
    const unsigned before = __builtin_ia32_stmxcsr();
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        __builtin_ia32_ldmxcsr(before | flags[i]);
        const bool native = lb_f32_native();
        float x = 0x1p-126f;
        lb_f32_scale(&x, 0.5f, 1, native);
        __builtin_ia32_ldmxcsr(before);
        assert_false(native);
        EXPECT_CODE(__LINE__, bits_of(x), 0x00400000);
    }
    assert_true(lb_f32_native());
#else
    print_message("SKIP flushing: only on x86-64\n");
#endif
}

static void codes_of_f32_equal_lb_encode_in_every_float_format(void **state) {
    (void)state;
    for (int id = 0; id < LB_FORMAT_COUNT; id++) {
        const lb_format *f = lb_format_row((lb_format_id)id);
        if (!lb_f32_holds(f)) continue;
        for (uint64_t i = 0; i < 60000; i++) {
            const uint32_t spread = (uint32_t)lb_random_u64(12, 1, i); /* half of them near what f can hold, ties often */
            const uint32_t exp = (uint32_t)(127 - f->bias + (int)(spread >> 8 & 63) - 28) & 255;
            const uint32_t tie = UINT32_C(1) << (22 - f->man_bits % 22) | (spread & 0x7f0000);
            const float x = i % 2 ? drawn(i, 4) : float_of((spread & UINT32_C(0x80000000)) | exp << 23 | (i % 4 ? tie : spread & 0x7fffff));
            const lb_encoding how = {.overflow = i % 3 ? LB_OVERFLOW_IEEE : LB_OVERFLOW_SATURATE};
            const uint64_t got = lb_f32_code(f, x, i % 3 == 0),
                           want = lb_encode(f, lb_decode(lb_format_row(LB_F32), bits_of(x)), &how, NULL);
            if (got != want && !(isnan(x) && lb_code_class(f, got) == lb_code_class(f, want)))
                fail_msg("%s of %08x: got %llx, want %llx", f->name, bits_of(x), (unsigned long long)got, (unsigned long long)want);
            const float back = lb_f32_of(f, want);
            if (!isnan(back)) assert_true((double)back == lb_to_double(f, want));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_reads_back_as_the_schedule_that_wrote_it),
        cmocka_unit_test(every_named_schedule_parses_to_its_row),
        cmocka_unit_test(hostile_text_is_one_line_of_error),
        cmocka_unit_test(text_is_cut_to_its_room),
        cmocka_unit_test(native_floats_equal_their_specification),
        cmocka_unit_test(an_environment_that_flushes_is_noticed),
        cmocka_unit_test(codes_of_f32_equal_lb_encode_in_every_float_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
