/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Scans of cubins that ptxas made of the PTX beside them (tests/data/scan/make), of PTX, and of what is neither. */
#include "lastbit/scalar.h"
#include "lastbit/scan.h"
#include "lastbit/units.h"

#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#define DATA LB_SOURCE_DIR "/tests/data/scan/"

/* Every line that a kernel of a file has: "count name rows". */
typedef struct row {
    int line;
    const char *file, *kernel, *arch, *name;
    size_t count;
    const char *rows;
} row;

#define ROW(...)                                                                                                                           \
    { __LINE__, __VA_ARGS__ }

static const row rows[] = {
    ROW("half.sm_80.cubin", "half", "sm_80", "HMMA.16816.F32", 1, "sm_80/mma.m16n8k16.f32.f16.f16.f32"),
    ROW("half.sm_80.cubin", "bytes", "sm_80", "IMMA.16832.S8.U8.SAT", 1, "sm_80/mma.m16n8k32.i32.i8.u8.i32.satfinite"),
    ROW("half.sm_80.cubin", "sparse", "sm_80", "HMMA.SP.16832.F32.BF16", 1, "sm_80/mma.m16n8k32.f32.bf16.bf16.f32.sp"),
    ROW("half.sm_80.cubin", "function", "sm_80", "HMMA.1688.F16", 1, "sm_80/mma.m16n8k8.f16.f16.f16.f16"),
    ROW("half.sm_80.cubin", "function", "sm_80", "MUFU.EX2", 1, "op:ex2.approx.ftz.f32"),
    ROW("half.sm_80.cubin", "function", "sm_80", "MUFU.TANH", 1, "op:tanh.approx.f32"),
    ROW("fp8.sm_89.cubin", "fp8", "sm_89", "QMMA.16832.F32.E4M3.E4M3", 1, "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ROW("fp8.sm_89.cubin", "fp8_half", "sm_89", "QMMA.16832.F16.E5M2.E4M3", 1, "sm_89/mma.m16n8k32.f16.e5m2.e4m3.f16"),
    ROW("fp8.sm_90.cubin", "fp8", "sm_90", "HMMA.16816.F32", 2, "sm_90/mma.m16n8k16.f32.f16.f16.f32 sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ROW("fp8.sm_90.cubin", "fp8", "sm_90", "F2FP.F16.E4M3", 12, "op:cvt.rn.f16x2.e4m3x2"),
    ROW("fp8.sm_90.cubin", "fp8", "sm_90", "FADD", 4, ""),
    ROW("fp8.sm_90.cubin", "fp8_half", "sm_90", "F2FP.F16.E4M3", 4, "op:cvt.rn.f16x2.e4m3x2"),
    ROW("fp8.sm_90.cubin", "fp8_half", "sm_90", "F2FP.F16.E5M2", 8, "op:cvt.rn.f16x2.e5m2x2"),
    ROW("fp8.sm_90.cubin", "fp8_half", "sm_90", "HADD2", 2, ""),
    ROW("fp8.sm_90.cubin", "fp8_half", "sm_90", "HMMA.16816.F16", 2,
        "sm_90/mma.m16n8k16.f16.f16.f16.f16 sm_90/mma.m16n8k32.f16.e4m3.e4m3.f16 sm_90/mma.m16n8k32.f16.e4m3.e5m2.f16 "
        "sm_90/mma.m16n8k32.f16.e5m2.e4m3.f16 sm_90/mma.m16n8k32.f16.e5m2.e5m2.f16"),
    ROW("wgmma.sm_90a.cubin", "half", "sm_90", "HGMMA.64x64x16.F32", 1, "sm_90/wgmma.m64n64k16.f32.f16.f16"),
    ROW("wgmma.sm_90a.cubin", "fp8", "sm_90", "QGMMA.64x16x32.F16.E4M3.E5M2", 1, "sm_90/wgmma.m64n16k32.f16.e4m3.e5m2"),
    ROW("wgmma.sm_90a.cubin", "bytes", "sm_90", "IGMMA.64x24x32.S8.S8", 1, "sm_90/wgmma.m64n24k32.i32.i8.i8"),
    ROW("blackwell.sm_120a.cubin", "narrow", "sm_120", "QMMA.16832.F32.E3M2.E2M1", 1, "sm_120/mma.m16n8k32.f32.e3m2.e2m1.f32"),
    ROW("blackwell.sm_120a.cubin", "scaled", "sm_120", "QMMA.SF.16832.F32.E4M3.E2M3.E8", 1,
        "sm_120/mma.m16n8k32.f32.e4m3.e2m3.f32.mxf8f6f4.ue8m0"),
    ROW("blackwell.sm_120a.cubin", "fp4", "sm_120", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X", 1,
        "sm_120/mma.m16n8k64.f32.e2m1.e2m1.f32.mxf4nvf4.ue4m3"),
    ROW("fp8.ptx", "fp8", "sm_89", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 1, "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"),
    ROW("fp8.ptx", "fp8_half", "sm_89", "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16", 1, "sm_89/mma.m16n8k32.f16.e5m2.e4m3.f16"),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static lb_scan *scanned(const char *path) {
    lb_scan *s;
    lb_error err = {0};
    if (lb_scan_file(&s, path, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return s;
}

static const lb_scan_kernel *kernel_of(const lb_scan *s, const char *name) {
    const lb_scan_kernel *k;
    for (size_t i = 0; (k = lb_scan_kernel_at(s, i)); i++)
        if (strcmp(k->name, name) == 0) return k;
    fail_msg("no kernel %s", name);
    return NULL;
}

static const lb_scan_line *line_of(const lb_scan_kernel *k, const char *name) {
    for (size_t i = 0; i < k->line_count; i++)
        if (strcmp(k->lines[i].name, name) == 0) return &k->lines[i];
    return NULL;
}

/* The rows of `file`, with what lies at `path`. */
static void compare(const char *file, const char *path) {
    lb_scan *s = scanned(path);
    size_t seen = 0, lines = 0;
    const lb_scan_kernel *k;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].file, file) != 0) continue;
        k = kernel_of(s, rows[i].kernel);
        const lb_scan_line *l = line_of(k, rows[i].name);
        if (!l) fail_msg("row at %s:%d: no such line", __FILE__, rows[i].line);
        EXPECT_CODE(rows[i].line, l->count, rows[i].count);
        EXPECT_STRING(rows[i].line, l->rows, rows[i].rows);
        EXPECT_STRING(rows[i].line, k->arch, rows[i].arch);
        seen++;
    }
    for (size_t i = 0; (k = lb_scan_kernel_at(s, i)); i++) lines += k->line_count;
    if (lines != seen) fail_msg("%s: %zu lines, %zu of them in this table", file, lines, seen);
    lb_scan_close(s);
}

static void every_instruction_of_the_files_is_found_with_its_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        if (!i || strcmp(rows[i].file, rows[i - 1].file) != 0) {
            char path[512];
            snprintf(path, sizeof path, DATA "%s", rows[i].file);
            compare(rows[i].file, path);
        }
}

static void fresh_cubins_say_the_same(void **state) {
    (void)state;
    char folder[] = "/tmp/lastbit-scan-XXXXXX", command[600], path[512];
    if (access("/usr/local/cuda/bin/ptxas", X_OK) != 0) {
        print_message("SKIP cubins assembled here: no ptxas on this machine (it comes with NVIDIA's toolkit)\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, DATA "make /usr/local/cuda/bin/ptxas %s >/dev/null 2>&1", folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < ROWS; i++) {
        if ((i && strcmp(rows[i].file, rows[i - 1].file) == 0) || !strstr(rows[i].file, ".cubin")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        compare(rows[i].file, path);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------------- */

static unsigned char *read_all(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    unsigned char *bytes = malloc(1 << 16);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

/* A copy of exactly this size, so that a sanitizer sees what is read behind it. */
static lb_status scan_copy(const unsigned char *bytes, size_t size, lb_scan **out, lb_error *err) {
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const lb_status status = lb_scan_bytes(out, copy, size, "test", err);
    free(copy);
    return status;
}

static void must_be_refused(const unsigned char *bytes, size_t size, const char *part) {
    lb_scan *s;
    lb_error err = {0};
    const lb_status status = scan_copy(bytes, size, &s, &err);
    if (status != LB_E_FILE || s || !strstr(err.message, part))
        fail_msg("%zu bytes: status %d, \"%s\", wanted \"%s\"", size, status, err.message, part);
}

static void every_beginning_of_a_cubin_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = read_all(DATA "fp8.sm_89.cubin", &size);
    lb_scan *s;
    for (size_t n = 0; n < size; n++) {
        lb_error err = {0};
        const lb_status status = scan_copy(bytes, n, &s, &err);
        if (status == LB_OK) { /* only program headers, which a scan does not need, may be missing */
            const lb_scan_kernel *k = kernel_of(s, "fp8");
            if (!line_of(k, "QMMA.16832.F32.E4M3.E4M3")) fail_msg("%zu bytes of %zu: an instruction was lost", n, size);
            lb_scan_close(s);
        } else if (status != LB_E_FILE || s || !*err.message) {
            fail_msg("%zu bytes: status %d", n, status);
        }
    }
    must_be_refused(bytes, 63, "cut short");
    must_be_refused(bytes, size / 2, "behind the end of the file");
    free(bytes);
}

/* Each byte of the header and of the section headers, in three ways: refused with a message, or scanned without harm. */
static void no_damage_of_headers_does_harm(void **state) {
    (void)state;
    size_t size, refused = 0;
    unsigned char *bytes = read_all(DATA "fp8.sm_89.cubin", &size);
    const size_t table = bytes[40] | (size_t)bytes[41] << 8;
    for (size_t at = 0; at < size; at++) {
        if (at == 64) at = table;
        for (int bit = 0; bit < 8; bit += 3) {
            lb_scan *s;
            lb_error err = {0};
            bytes[at] ^= (unsigned char)(1 << bit);
            const lb_status status = scan_copy(bytes, size, &s, &err);
            if (status != LB_OK && (status != LB_E_FILE || s || !*err.message || strchr(err.message, '\n')))
                fail_msg("byte %zu bit %d: status %d", at, bit, status);
            refused += status != LB_OK;
            if (status == LB_OK) lb_scan_close(s);
            bytes[at] ^= (unsigned char)(1 << bit);
        }
    }
    assert_true(refused > 100);
    free(bytes);
}

static void a_header_says_what_is_wrong_with_it(void **state) {
    (void)state;
    static const struct {
        int line;
        size_t at;
        unsigned char value;
        const char *part;
    } cases[] = {
        ROW(4, 1, "byte 4: no little-endian ELF"),
        ROW(7, 0, "byte 7: an ABI that this does not know"),
        ROW(18, 62, "byte 18: no machine code of an NVIDIA GPU"),
        ROW(49, 60, "byte 48: machine code of before sm_70"),
        ROW(47, 0x7f, "byte 40: the section headers end behind"),
        ROW(58, 40, "byte 58: section headers are not"),
        ROW(61, 0xff, "byte 40: the section headers end behind"),
        ROW(63, 0xff, "byte 62: no table of section names"),
    };
    size_t size;
    unsigned char *bytes = read_all(DATA "half.sm_80.cubin", &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned char was = bytes[cases[i].at];
        bytes[cases[i].at] = cases[i].value;
        must_be_refused(bytes, size, cases[i].part);
        bytes[cases[i].at] = was;
    }
    free(bytes);
}

/* Each bit of a word that is a matrix instruction: what changes its meaning changes the line, and nothing unknown passes for known. */
static void a_flipped_modifier_is_another_instruction_or_not_decoded(void **state) {
    (void)state;
    size_t size, word = 0, undecoded = 0, others = 0;
    unsigned char *bytes = read_all(DATA "half.sm_80.cubin", &size);
    for (size_t at = 0; at + 16 <= size; at += 16)
        if (bytes[at] == 0x37 && bytes[at + 1] == 0x72) word = at; /* under no predicate */
    assert_true(word > 0);
    for (size_t bit = 72; bit < 88; bit++) {
        bytes[word + bit / 8] ^= (unsigned char)(1 << bit % 8);
        lb_scan *s;
        lb_error err;
        assert_int_equal(scan_copy(bytes, size, &s, &err), LB_OK);
        const lb_scan_kernel *k = kernel_of(s, "bytes");
        assert_int_equal(k->line_count, 1);
        if (line_of(k, "IMMA.16832.S8.U8.SAT")) fail_msg("bit %zu changes nothing", bit);
        undecoded += strstr(k->lines[0].note, "not recorded") != NULL;
        if (bit == 85) assert_string_equal(k->lines[0].name, "IMMA"); /* a shape that nothing has */
        others += strlen(k->lines[0].name) > 4;
        assert_true((strstr(k->lines[0].note, "not recorded") != NULL) == (k->lines[0].evidence == LB_EVIDENCE_OPEN));
        lb_scan_close(s);
        bytes[word + bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_true(undecoded > 3 && others > 3);
    assert_int_equal(undecoded + others, 16);
    free(bytes);
}

/* N of a warpgroup's integers by bits 53 to 58 of the word. */
static void the_columns_of_a_warpgroup_are_those_that_were_recorded(void **state) {
    (void)state;
    static const struct {
        int line;
        unsigned field;
        const char *name;
    } cases[] = {ROW(0, "IGMMA.64x8x32.S8.S8"),
                 ROW(9, "IGMMA.64x32x32.S8.S8"),
                 ROW(12, "IGMMA.64x48x32.S8.S8"),
                 ROW(27, "IGMMA.64x128x32.S8.S8"),
                 ROW(51, "IGMMA.64x256x32.S8.S8"),
                 ROW(1, "IGMMA"),
                 ROW(54, "IGMMA")};
    size_t size, word = 0;
    unsigned char *bytes = read_all(DATA "wgmma.sm_90a.cubin", &size);
    for (size_t at = 0; at + 16 <= size; at += 16)
        if (bytes[at] == 0xf1 && (bytes[at + 1] & 15) == 9) word = at;
    assert_true(word > 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lb_scan *s;
        lb_error err;
        bytes[word + 6] = (unsigned char)((bytes[word + 6] & 0x1f) | cases[i].field << 5);
        bytes[word + 7] = (unsigned char)((bytes[word + 7] & 0xf8) | cases[i].field >> 3);
        assert_int_equal(scan_copy(bytes, size, &s, &err), LB_OK);
        if (!line_of(kernel_of(s, "bytes"), cases[i].name)) fail_msg("row at line %d", cases[i].line);
        lb_scan_close(s);
    }
    free(bytes);
}

static void code_of_no_whole_number_of_words_is_refused(void **state) {
    (void)state;
    size_t size;
    unsigned char *bytes = read_all(DATA "half.sm_80.cubin", &size);
    const size_t table = bytes[40] | (size_t)bytes[41] << 8;
    for (size_t at = table; at + 64 <= size; at += 64)
        if (bytes[at + 4] == 1 && bytes[at + 8] == 6) bytes[at + 32] ^= 8;
    must_be_refused(bytes, size, "no whole number of 16-byte words");
    free(bytes);
}

/* Two kernels whose sections are made one, over most of the file: each fits, both together do not. */
static void sections_that_overlap_are_refused(void **state) {
    (void)state;
    size_t size, changed = 0;
    unsigned char *bytes = read_all(DATA "half.sm_80.cubin", &size);
    const size_t table = bytes[40] | (size_t)bytes[41] << 8;
    for (size_t at = table; at + 64 <= size; at += 64)
        if (bytes[at + 4] == 1 && bytes[at + 8] == 6) { /* bytes of the program, which are code */
            memset(bytes + at + 24, 0, 16);
            bytes[at + 33] = (unsigned char)(size / 2 / 256);
            changed++;
        }
    assert_true(changed >= 3);
    must_be_refused(bytes, size, "overlap");
    free(bytes);
}

/* ---- fatbinaries ----------------------------------------------------------------------------------------------------------- */

static void put(unsigned char *at, size_t x, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) at[i] = (unsigned char)(x >> 8 * i);
}

/* A fatbinary with one entry, laid out as `fatbinary` 13.0 writes it. */
static void the_cubins_of_a_fatbinary_are_scanned(void **state) {
    (void)state;
    size_t size;
    unsigned char *cubin = read_all(DATA "fp8.sm_90.cubin", &size), *fat = calloc(1, size + 80);
    lb_scan *s;
    lb_error err = {0};
    assert_non_null(fat);
    put(fat, 0xba55ed50, 4), put(fat + 4, 1, 2), put(fat + 6, 16, 2), put(fat + 8, size + 64, 8);
    put(fat + 16, 2, 2), put(fat + 18, 0x101, 2), put(fat + 20, 64, 4), put(fat + 24, size, 8);
    memcpy(fat + 80, cubin, size);
    assert_int_equal(scan_copy(fat, size + 80, &s, &err), LB_OK);
    assert_int_equal(line_of(kernel_of(s, "fp8"), "HMMA.16816.F32")->count, 2);
    lb_scan_close(s);
    for (size_t n = 4; n < size + 80; n += 7) must_be_refused(fat, n, "");
    put(fat + 24, size + 1, 8);
    must_be_refused(fat, size + 80, "an entry that ends behind");
    put(fat + 24, size, 8);
    put(fat + 80, 0, 4);
    must_be_refused(fat, size + 80, "compressed cubin");
    put(fat + 16, 1, 2);
    must_be_refused(fat, size + 80, "without cubins");
    free(fat);
    free(cubin);
}

/* ---- PTX ------------------------------------------------------------------------------------------------------------------- */

#define HEAD ".version 8.0\n.target sm_90a // a comment; with { braces\n.address_size 64\n"

static void ptx_is_read_past_comments_blocks_labels_and_guards(void **state) {
    (void)state;
    static const char text[] =
        HEAD ".extern .func (.param .b32 r) outer (.param .b32 x);\n"
             ".global .align 4 .b8 table[4] = {1, 2, 3, 4};\n"
             ".visible .entry k(.param .u64 a)\n.maxntid 128, 1, 1\n{\n.reg .b32 %r<9>;\n.pragma \"a; ex2.approx.f32 b;\";\n.loc 1 2 3\n"
             "/* ex2.approx.f32 %f1, %f2; */ $L_1:\n{ .reg .f32 %f<4>;\n@!%p1 ex2.approx.ftz.f32 %f1, %f2; }\n"
             "@%p2 bra $L_1;\nmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3},\n"
             "{%r0,%r1,%r2,%r3},{%r4,%r5},{%f0,%f1,%f2,%f3};\nadd.s32 %r1,%r1,1; add.f32 %f1,%f1,%f2;\nret;\n}\n"
             ".global .b8 later[2] = {1, 2};\n"
             ".func inner()\n{\nex2.approx.ftz.f32 %f1, %f2; ex2.approx.ftz.f32 %f1, %f2;\n}\n";
    lb_scan *s;
    lb_error err = {0};
    if (lb_scan_bytes(&s, text, sizeof text - 1, "text", &err) != LB_OK) fail_msg("%s", err.message);
    const lb_scan_kernel *k = kernel_of(s, "k"), *f = kernel_of(s, "inner");
    assert_int_equal(k->instructions, 6);
    assert_int_equal(k->line_count, 3);
    assert_string_equal(k->arch, "sm_90a");
    assert_int_equal(line_of(k, "ex2.approx.ftz.f32")->count, 1);
    assert_int_equal(line_of(f, "ex2.approx.ftz.f32")->count, 2);
    assert_string_equal(line_of(k, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")->rows, "sm_90/mma.m16n8k8.f32.tf32.tf32.f32");
    lb_scan_close(s);
}

static void text_that_is_cut_or_no_ptx_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct {
        int line;
        const char *text, *part;
    } cases[] = {
        ROW("", "line 1: neither"),
        ROW("hello", "line 1: neither a cubin, a fatbinary nor PTX"),
        ROW(".version 8.0\n", "without .target"),
        ROW(HEAD ".entry k()\n{\nret;\n", "a body that does not end"),
        ROW(HEAD ".entry k()\n{\nret\n", "line 6: a statement that no ';' ends"),
        ROW(HEAD ".entry k()\n{\n?;\n}", "line 6: neither an instruction"),
        ROW(HEAD "/* x", "a comment that does not end"),
        ROW(HEAD ".entry ()", "without a name"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        must_be_refused((const unsigned char *)cases[i].text, strlen(cases[i].text), cases[i].part);
    must_be_refused((const unsigned char *)"a\0b", 3, "byte 1: neither");
}

/* ---- the tables ------------------------------------------------------------------------------------------------------------ */

static void every_opcode_row_is_whole(void **state) {
    (void)state;
    lb_sass_op op, other;
    size_t count = 0;
    for (; lb_sass_op_at(count, &op); count++) {
        assert_true(op.opcode < 0x200 && op.forms && op.forms < 0x100 && *op.archs && *op.name && *op.source);
        assert_true(strcmp(lb_scan_kind_name(op.kind), "?") != 0);
        for (size_t i = 0; i < count && lb_sass_op_at(i, &other); i++) assert_int_not_equal(op.opcode, other.opcode);
    }
    assert_true(count > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_of_the_files_is_found_with_its_rows),
        cmocka_unit_test(fresh_cubins_say_the_same),
        cmocka_unit_test(every_beginning_of_a_cubin_is_refused),
        cmocka_unit_test(no_damage_of_headers_does_harm),
        cmocka_unit_test(a_header_says_what_is_wrong_with_it),
        cmocka_unit_test(a_flipped_modifier_is_another_instruction_or_not_decoded),
        cmocka_unit_test(the_columns_of_a_warpgroup_are_those_that_were_recorded),
        cmocka_unit_test(code_of_no_whole_number_of_words_is_refused),
        cmocka_unit_test(sections_that_overlap_are_refused),
        cmocka_unit_test(the_cubins_of_a_fatbinary_are_scanned),
        cmocka_unit_test(ptx_is_read_past_comments_blocks_labels_and_guards),
        cmocka_unit_test(text_that_is_cut_or_no_ptx_is_refused_with_its_line),
        cmocka_unit_test(every_opcode_row_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
