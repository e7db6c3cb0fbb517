/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tensors in files: safetensors, npy, gguf, raw. Every file is treated as hostile: it is checked whole before a byte of it is used,
 * and what is wrong comes back as one line with the file and the place. */
#ifndef LASTBIT_IO_H
#define LASTBIT_IO_H

#include "lastbit/formats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LB_MAX_RANK 8

/* Storage types of files; rows in src/io/dtypes.def. An unsigned type of a format's width may hold that format's codes. */
typedef struct lb_dtype {
    const char *name;        /* ours: "f32", "u16" … what --dtype takes */
    const char *safetensors; /* "F32"; "" if that format has no such type */
    const char *npy;         /* "f4" without byte order; "" likewise */
    int bytes;
    int format; /* lb_format_id that the type names, or -1 */
    int block;  /* elements that `bytes` hold: 1, or those of a quantised block of gguf */
} lb_dtype;

const lb_dtype *lb_dtype_find(const char *name); /* NULL if none. threads pure */

/** Unsigned codes of a format's width; and the type that names the format in npy or safetensors, or else those codes. threads pure */
const lb_dtype *lb_dtype_of_codes(const lb_format *f);
const lb_dtype *lb_dtype_for(const lb_format *f, bool npy);

/** One tensor. data is row-major little-endian, aligned to 64 bytes, and lives as long as the lb_file that it came from. */
typedef struct lb_tensor {
    const char *name; /* "" for npy and raw */
    const lb_dtype *dtype;
    int rank; /* 0..LB_MAX_RANK; 0 is a scalar */
    size_t shape[LB_MAX_RANK];
    const void *data;
    size_t bytes;
} lb_tensor;

/** Elements of a tensor: the product of its shape (1 for rank 0). threads pure */
size_t lb_tensor_count(const lb_tensor *t);

/** Elements first … first + count - 1 as f32: floats as they are (f64 rounded to nearest even), blocks of gguf as scale times code.
 *  accuracy exact for f32 f16 bf16 and the 8-bit floats; quantised blocks: each product and sum rounded to f32 in the order of docs/networks.md
 *  errors LB_E_FORMAT for a type that holds no numbers of its own (u8 … v2); LB_E_ARG outside the tensor. threads pure. source gguf-format */
lb_status lb_tensor_values(const lb_tensor *t, size_t first, size_t count, float *out, lb_error *err);

typedef struct lb_file lb_file;

typedef struct lb_file_options {
    const char *raw_dtype; /* not NULL: the file is raw little-endian elements of this type … */
    int raw_rank;          /* … and this shape; rank 0: one dimension, as many as there are */
    size_t raw_shape[LB_MAX_RANK];
    size_t max_bytes; /* refuse larger files; 0: 64 GiB */
} lb_file_options;

/** Read a file or a pipe whole and check it. The kind is told by content (npy magic, safetensors header), never by name; "-" is stdin.
 *  npy: versions 1 to 3, both byte orders (swapped here, V2 too), Fortran order (re-laid row-major here); types f8 f4 f2, i u of 1 to 8
 *  bytes, b1, V1, V2, and the f1 of ml_dtypes. Complex, object and structured types are refused.
 *  safetensors: every byte of the buffer belongs to exactly one tensor, else the file is refused.
 *  gguf: versions 2 and 3, little-endian; dimensions outermost first, as everywhere here; quantised types of dtypes.def, others are refused;
 *  an alignment is any multiple of 8.
 *  Empty tensors are read where their other dimensions make at most 2^31 bytes.
 *  errors LB_E_FILE (with byte offset or tensor name), LB_E_ARG, LB_E_MEMORY; *out is NULL then
 *  memory *out is the caller's, lb_file_close
 *  source safetensors-format, npy-format */
lb_status lb_file_open(lb_file **out, const char *path, const lb_file_options *options, lb_error *err);
/** The same from memory, which is copied. name stands for the path in errors. */
lb_status lb_file_parse(lb_file **out, const void *bytes, size_t size, const char *name, const lb_file_options *options, lb_error *err);
void lb_file_close(lb_file *f); /* NULL is fine */

size_t lb_file_count(const lb_file *f);
const lb_tensor *lb_file_tensor(const lb_file *f, size_t i);       /* in the order of their data; NULL past the end */
const lb_tensor *lb_file_find(const lb_file *f, const char *name); /* NULL if none */
const char *lb_file_metadata(const lb_file *f,
                             const char *key); /* safetensors __metadata__, gguf's keys (an array as "[3 x u32]"); NULL if none */
const char *lb_file_metadata_key(const lb_file *f, size_t i); /* in the order of the file; NULL past the end */
const char *lb_file_path(const lb_file *f);

/** Write tensors (and key/value pairs metadata[2*metadata_count]) as one safetensors file, or one tensor as npy v1.
 *  The data lie widest elements first, so that each tensor is aligned to its element in the file. The file appears whole under its
 *  name or not at all; what else is under that name (a folder, a pipe, a device) stays.
 *  errors LB_E_FILE; LB_E_ARG if a name is empty, taken or no UTF-8, the file has no such type, or shape and bytes disagree */
lb_status lb_safetensors_write(const char *path, const lb_tensor *tensors, size_t count, const char *const *metadata, size_t metadata_count,
                               lb_error *err);
lb_status lb_npy_write(const char *path, const lb_tensor *t, lb_error *err);

typedef struct lb_writer lb_writer;

/** lb_safetensors_write in pieces, for files that are made while they are written: begin with tensors whose data are not looked at, put
 *  their bytes in any order, then end. What was not put is zeros. Until the end nothing is under the name.
 *  errors as lb_safetensors_write; LB_E_ARG for bytes outside the tensor. memory: one header; *out goes with lb_safetensors_end */
lb_status lb_safetensors_begin(lb_writer **out, const char *path, const lb_tensor *tensors, size_t count, const char *const *metadata,
                               size_t metadata_count, lb_error *err);
lb_status lb_safetensors_put(lb_writer *w, size_t tensor, size_t offset, const void *bytes, size_t count, lb_error *err);
/** Keep the file, or leave no trace of it. Frees w; NULL is fine. */
lb_status lb_safetensors_end(lb_writer *w, bool keep, lb_error *err);

/* ---- operands ------------------------------------------------------------------------------------------------ */

/** A matrix of codes that owns its memory or shares its file's. */
typedef struct lb_operand {
    lb_mat mat;
    lb_file *file; /* kept open while mat points into it */
    void *owned;   /* converted codes, or NULL */
} lb_operand;

/** Load "FILE" or "FILE:tensor" as a matrix in `format` (NULL: the one that the file's type names).
 *  rank 2 as it is; rank 1 as one row; higher ranks fold into rows of the last dimension; rank 0 as 1x1.
 *  An unsigned type of the format's storage width is taken as its codes (V1, V2 likewise); another float type is converted
 *  where every value is representable and refused otherwise, naming the first element that is not; NaN comes out canonical. f32 data
 *  under tf32 is taken bit for bit, as the hardware takes it. Signed integers and bool are no codes of a float format.
 *  The part behind the last colon is a tensor only where no file has the whole name.
 *  errors LB_E_FILE, LB_E_FORMAT, LB_E_NAME (tensor), LB_E_MEMORY
 *  memory close with lb_operand_close */
lb_status lb_operand_open(lb_operand *out, const char *spec, const lb_format *format, const lb_file_options *options, lb_error *err);
void lb_operand_close(lb_operand *o);

/** One tensor of a file that is read in pieces, as a matrix of codes. */
typedef struct lb_reader lb_reader;

/** As lb_operand_open, but only the header is read. The elements are those of the file, row-major and little-endian.
 *  errors  as lb_operand_open; LB_E_UNAVAILABLE, saying why, where only the whole can be read: pipes, Fortran order, the other byte order,
 *          elements that must be converted, formats of which not every stored code is one
 *  memory  the header; *out is the caller's, lb_reader_close */
lb_status lb_reader_open(lb_reader **out, const char *spec, const lb_format *format, const lb_file_options *options, lb_error *err);

lb_mat lb_reader_shape(const lb_reader *s); /* format and shape; no codes */

/** `count` elements from number `first` on, counted row by row, into codes. errors LB_E_FILE, also where the file has become shorter. */
lb_status lb_reader_read(lb_reader *s, size_t first, size_t count, void *codes, lb_error *err);

/** errors LB_E_FILE where the file's size or time is no longer that of lb_reader_open: what was read may be of two files. */
lb_status lb_reader_unchanged(const lb_reader *s, lb_error *err);
void lb_reader_close(lb_reader *s); /* NULL is fine */

/** Write a matrix: .npy (f16 f32 f64 by type, others as unsigned codes) or .safetensors (tensor name given), told by the ending.
 *  errors LB_E_FILE, LB_E_ARG for another ending */
lb_status lb_mat_write(const char *path, const char *tensor_name, const lb_mat *m, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
