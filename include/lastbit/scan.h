/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a kernel is made of: matrix and special instructions of a cubin's machine code or of PTX, with the rows that they are.
 * docs/howto/scan-a-kernel.md */
#ifndef LASTBIT_SCAN_H
#define LASTBIT_SCAN_H

#include "lastbit/base.h"
#include "lastbit/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LB_SCAN_KIND_LIST(X)                                                                                                               \
    X(MATRIX, "matrix", "a matrix unit")                                                                                                   \
    X(FUNCTION, "function", "an approximate or composed function")                                                                         \
    X(CONVERT, "convert", "a conversion between number formats")                                                                           \
    X(FLOAT, "float", "floating-point arithmetic")                                                                                         \
    X(DOT, "dot", "an integer dot of packed bytes")                                                                                        \
    X(WARP, "warp", "a value from other lanes")

typedef enum lb_scan_kind {
#define X(id, name, text) LB_SCAN_##id,
    LB_SCAN_KIND_LIST(X)
#undef X
        LB_SCAN_KIND_COUNT
} lb_scan_kind;

/** "matrix", "function" …; "?" if out of range. threads pure */
const char *lb_scan_kind_name(lb_scan_kind kind);

/** One instruction of a kernel, and how often it stands there (not how often it runs). */
typedef struct lb_scan_line {
    char name[192];  /* "HMMA.16816.F32", or as PTX spells it */
    unsigned opcode; /* the low 12 bits of the machine word; 0 in PTX */
    lb_scan_kind kind;
    size_t count;
    const char
        *rows; /* what can be behind it, a space between: "sm_80/mma.m16n8k16.f32.f16.f16.f32", "op:ex2.approx.ftz.f32"; "" if none */
    const char *note; /* what is not known of it, or what goes with it; "" */
    lb_evidence evidence;
    const char *source; /* keys in docs/sources.md */
} lb_scan_line;

/** One kernel (or device function) of a file. */
typedef struct lb_scan_kernel {
    const char *name;
    char arch[16]; /* "sm_90"; in PTX the .target */
    bool ptx;
    size_t instructions; /* all of them */
    const lb_scan_line *lines;
    size_t line_count;
} lb_scan_kernel;

typedef struct lb_scan lb_scan;

/** Scan a cubin, a fatbinary (its cubins that are not compressed) or PTX, of a file or of size bytes that `name` names in errors.
 *  errors   LB_E_FILE, naming the byte or the line; LB_E_MEMORY; *out is NULL then
 *  memory   *out is the caller's, free with lb_scan_close. threads pure */
lb_status lb_scan_file(lb_scan **out, const char *path, lb_error *err);
lb_status lb_scan_bytes(lb_scan **out, const void *bytes, size_t size, const char *name, lb_error *err);

/** Kernel i in file order, NULL past the end. It lives as long as the scan. threads pure */
const lb_scan_kernel *lb_scan_kernel_at(const lb_scan *scan, size_t i);
void lb_scan_close(lb_scan *scan);

/** An opcode that a scan knows, as rows of src/run/sass.def. */
typedef struct lb_sass_op {
    unsigned opcode; /* the low 9 bits; the 3 above are the form of the operands */
    unsigned forms;  /* bit f: form f was recorded */
    const char *name;
    lb_scan_kind kind;
    const char *archs; /* "75 80 89 90 100 120" */
    const char *what;
    lb_evidence evidence;
    const char *source;
} lb_sass_op;

/** Row i, false past the end. threads pure */
bool lb_sass_op_at(size_t i, lb_sass_op *out);

#ifdef __cplusplus
}
#endif
#endif
