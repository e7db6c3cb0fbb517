/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a network is values and nodes; a node is a row of ops.def over views of values. */
#ifndef LB_NETS_NET_H
#define LB_NETS_NET_H

#include "lastbit/nets.h"

enum { LB_NET_NAME = 48 };

typedef enum lb_value_kind {
    LB_VALUE_WEIGHT,    /* [rows][cols], of the file */
    LB_VALUE_ROW,       /* one row a row of input */
    LB_VALUE_CACHE,     /* likewise, but kept: a reader sees all rows so far */
    LB_VALUE_TOKENS,    /* the input's tokens */
    LB_VALUE_POSITIONS, /* place of each row, from 0 */
    LB_VALUE_ZEROS      /* one row of cols zeros: the bias of a layer without */
} lb_value_kind;

typedef struct lb_net_value {
    lb_value_kind kind;
    char name[LB_NET_NAME];
    size_t rows, cols; /* rows: of weights */
    const float *weights;
} lb_net_value;

/** Columns col … col + width of a value; width 0: all. */
typedef struct lb_view {
    int value;
    size_t col, width;
} lb_view;

/** A parameter is `fixed`, or follows the run: fixed times the rows of a chunk, all rows so far, the rows before the chunk. */
typedef enum lb_extent { LB_EXTENT_FIXED, LB_EXTENT_ROWS, LB_EXTENT_LENGTH, LB_EXTENT_BEFORE } lb_extent;

typedef struct lb_node {
    char name[LB_NET_NAME];
    const lb_op *op;
    lb_extent extent[LB_OP_PARAMS];
    double fixed[LB_OP_PARAMS];
    lb_view in[LB_OP_INPUTS], out; /* every operator here has one output */
} lb_node;

struct lb_net {
    lb_net_about about;
    lb_file *file; /* NULL: a file of llama2.c, whose floats are owned[0] */
    bool *used;    /* [tensors of the file] */
    float **owned; /* weights that are not in the file as f32 */
    size_t owned_count;
    lb_net_value *values;
    size_t value_count;
    lb_node *nodes;
    size_t node_count;
    int input, output; /* values */
};

/* ---- building ------------------------------------------------------------------------------------------------------------- */

/** A program being written. After a failure every call does nothing; ask `status` at the end. */
typedef struct lb_builder {
    lb_net *n;
    lb_status status;
    lb_error *err;
} lb_builder;

int lb_build_value(lb_builder *b, lb_value_kind kind, size_t cols, const char *format, ...) LB_PRINTF(4, 5);
int lb_build_weight(lb_builder *b, const float *w, size_t rows, size_t cols, const char *name);
/** A node of the row `op`, its parameters as in the row until lb_build_set. */
lb_node *lb_build_node(lb_builder *b, const char *op, const char *format, ...) LB_PRINTF(3, 4);
void lb_build_set(lb_builder *b, lb_node *node, const char *param, lb_extent extent, double fixed);
void lb_build_wire(lb_builder *b, lb_node *node, int out, int in0, int in1, int in2); /* -1: none */

/** y = x w' + bias; w [n][k] a weight, bias -1: zeros. Returns y. */
int lb_build_linear(lb_builder *b, const char *name, int x, int w, int bias, lb_value_kind kind);
int lb_build_embedding(lb_builder *b, const char *name, int table, int ids); /* LB_VALUE_ZEROS as ids: row 0 */
int lb_build_norm(lb_builder *b, const char *name, const char *op, int x, int gamma, int beta, double eps);
int lb_build_map(lb_builder *b, const char *name, const char *op, int x); /* one operand, element by element */
int lb_build_pair(lb_builder *b, const char *name, const char *op, int x, int y);
int lb_build_rope(lb_builder *b, const char *name, const char *op, int x, size_t heads, double theta, lb_value_kind kind);
int lb_build_attention(lb_builder *b, const char *name, int q, int k, int v, size_t heads, size_t kv_heads, bool causal);

/* ---- loading ---------------------------------------------------------------------------------------------------------------- */

/** A tensor of the file as f32 [rows][cols] (a vector is one row), or NULL with b->status set. transposed: it is stored [cols][rows]. */
const float *lb_load_matrix(lb_builder *b, const char *name, size_t rows, size_t cols, bool transposed);
bool lb_load_has(const lb_builder *b, const char *name);
/** Rows and columns of the matrix that the text names, zeros where there is none. */
void lb_load_sizes(const lb_builder *b, size_t *rows, size_t *cols, const char *format, ...) LB_PRINTF(4, 5);
/** How many layers there are: tensors BEFORE0BEHIND, BEFORE1BEHIND … */
size_t lb_load_layers(const lb_builder *b, const char *before, const char *behind);

typedef struct lb_net_row {
    const char *name, *summary;
    bool (*is)(const lb_file *f);
    void (*build)(lb_builder *b, const lb_net_options *o);
    const char *const *passed; /* ends of names of tensors that files have and the network does not use; NULL: none */
} lb_net_row;

extern const lb_net_row lb_net_mlp, lb_net_gpt2, lb_net_llama, lb_net_bert, lb_net_gguf_llama;

/** A file of llama2.c: no magic, so it is told by whether its seven sizes explain its length. *is false: it is something else. */
lb_status lb_net_llama2c(lb_builder *b, const char *path, bool *is, lb_error *err);

#endif
