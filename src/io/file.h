/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what the parsers of one kind of file share. */
#ifndef LB_IO_FILE_H
#define LB_IO_FILE_H

#include "lastbit/io.h"

typedef struct lb_pair {
    char *key, *value;
} lb_pair;

struct lb_file {
    char *path;
    unsigned char *bytes; /* the file, whole */
    size_t size;
    void *data; /* tensors' elements, each at a multiple of 64 bytes */
    lb_tensor *tensors;
    char **names; /* [count], what the tensors' names point to */
    size_t count;
    lb_pair *metadata;
    size_t metadata_count;
    bool header_only; /* bytes hold the header alone, size is the whole file's: tensors get a place instead of data */
    size_t *places;   /* header_only: [count] where the tensors' elements begin in the file */
    bool rearranged;  /* header_only: they do not lie as a tensor has them, row-major and little-endian */
};

enum { LB_DATA_ALIGNMENT = 64 };

/* Row of dtypes.def by safetensors' or npy's spelling; NULL if none. */
const lb_dtype *lb_dtype_by_safetensors(const char *name);
const lb_dtype *lb_dtype_by_npy(const char *name, size_t length);

/* The product of a shape times the element's bytes. False if the dimensions other than 0 overflow it, or an empty tensor says more than
 * 2^31 bytes with them: then no product of some of the dimensions can be trusted in a loop or an allocation. */
bool lb_shape_bytes(const size_t *shape, int rank, size_t element_bytes, size_t *out);

/* Fill f from f->bytes; each leaves what it took in f, also when it fails. */
lb_status lb_parse_safetensors(lb_file *f, lb_error *err);
lb_status lb_parse_npy(lb_file *f, lb_error *err);
lb_status lb_parse_gguf(lb_file *f, lb_error *err);

/* What a file begins with, into f->bytes: all that its kind's parser looks at. *most is how much of it there may be. */
lb_status lb_parse_opened(lb_file *f, const lb_file_options *options, lb_error *err);

/* A file without content yet; the tensor that a spec names; its shape as a matrix; whether it holds a format's codes. */
lb_status lb_file_new(lb_file **out, const char *path, lb_error *err);
lb_status lb_split_spec(const char *spec, char **path, const char **tensor, lb_error *err);
lb_status lb_pick_tensor(const lb_file *f, const char *spec, const char *name, const lb_tensor **out, lb_error *err);
lb_status lb_tensor_format(const lb_file *f, const lb_tensor *t, const lb_format *said, const char *spec, const lb_format **out,
                           lb_error *err);
void lb_tensor_fold(const lb_tensor *t, size_t *rows, size_t *cols);
bool lb_tensor_holds(const lb_tensor *t, const lb_format *f);

/* Room for `count` tensors with `bytes` of aligned data. errors LB_E_MEMORY */
lb_status lb_file_reserve(lb_file *f, size_t count, size_t bytes, lb_error *err);

/* bytes rounded up to LB_DATA_ALIGNMENT. */
static inline size_t lb_aligned(size_t bytes) {
    return (bytes + LB_DATA_ALIGNMENT - 1) / LB_DATA_ALIGNMENT * LB_DATA_ALIGNMENT;
}

#endif
