/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: operations with their rows, in memory and as files op/1. */
#ifndef LB_RUN_OP_SET_H
#define LB_RUN_OP_SET_H

#include "lastbit/io.h"
#include "lastbit/scalar.h"

typedef struct lb_op_item {
    char name[80];
    const lb_scalar_op *op; /* NULL: a name that no row has; then nothing else is filled in */
    size_t rows;
    uint64_t *in, *out; /* [rows][ins], [rows][outs]; NULL where the file has none */
    char *ptx, *cubin;  /* the text with its NUL; machine code; NULL if none */
    size_t cubin_bytes;
} lb_op_item;

typedef struct lb_op_set {
    lb_op_item *items;
    size_t count;
    char *device; /* as recorded; NULL if none */
} lb_op_set;

/** Read a file op/1, or (any) any file with tensors named like one's. errors LB_E_FILE. memory lb_op_set_close, also where it failed */
lb_status lb_op_set_load(lb_op_set *s, const char *path, bool any, lb_error *err);

/** The same from an open file, which may be closed afterwards. */
lb_status lb_op_set_parse(lb_op_set *s, const lb_file *f, bool any, lb_error *err);

/** The standard rows and the PTX of the table's operations with `part` in their names (NULL: all). errors LB_E_NAME, LB_E_MEMORY */
lb_status lb_op_set_standard(lb_op_set *s, const char *part, uint64_t seed, lb_error *err);

/** Write; metadata as lb_safetensors_write. errors LB_E_FILE, LB_E_MEMORY */
lb_status lb_op_set_write(const lb_op_set *s, const char *path, const char *const *metadata, size_t metadata_count, lb_error *err);

lb_op_item *lb_op_set_find(const lb_op_set *s, const char *name);
void lb_op_set_close(lb_op_set *s);

/** What the models give for an item. errors those of lb_scalar_eval_rows; LB_E_MEMORY. memory free() */
lb_status lb_op_model(const lb_op_item *x, uint64_t **out, lb_error *err);

/* known.json and approx.json. */
typedef struct lb_op_list {
    struct lb_op_entry {
        char name[80], reason[160];
        uint64_t words;
    } * entries;
    size_t count;
} lb_op_list;

/** path NULL: empty. errors LB_E_FILE with the entry, LB_E_NAME for an operation that does not exist. memory free(entries) */
lb_status lb_op_list_load(lb_op_list *list, const char *path, lb_error *err);
const struct lb_op_entry *lb_op_list_find(const lb_op_list *list, const char *name);

#endif
