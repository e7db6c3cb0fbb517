/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whole networks over any arithmetic: a model file becomes a program of operators (operators.h), and each arithmetic is a way to run it. */
#ifndef LASTBIT_NETS_H
#define LASTBIT_NETS_H

#include "lastbit/backends.h"
#include "lastbit/io.h"
#include "lastbit/operators.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

typedef struct lb_net lb_net;

/** Kinds of networks: rows of src/nets/nets.def. NULL past the end. threads pure */
const char *lb_net_kind(size_t i);
const char *lb_net_kind_summary(size_t i);

typedef struct lb_net_options {
    size_t heads;      /* of a model whose file does not say: 0 where it does */
    bool drop_unknown; /* tensors that the kind does not know are passed over; else they are an error */
} lb_net_options;

/** Read a model: llama2.c version 0, gguf (architecture llama), or safetensors of an MLP, GPT-2, Llama or BERT (docs/networks.md).
 *  Told by content. Weights are kept as f32; a quantised one is expanded once.
 *  errors LB_E_FILE: what is missing, of another shape, or unknown, by name; LB_E_MEMORY. memory lb_net_close */
lb_status lb_net_open(lb_net **out, const char *path, const lb_net_options *options, lb_error *err);
void lb_net_close(lb_net *n); /* NULL is fine */

typedef struct lb_net_about {
    const char *kind;
    bool takes_tokens; /* else rows of numbers */
    bool grows;        /* keeps keys and values: rows come in any chunks */
    size_t layers, width, heads, kv_heads, context;
    size_t in_cols;  /* 1 for tokens */
    size_t out_cols; /* the vocabulary, or the last layer's width */
    size_t nodes;
    uint64_t weights;
} lb_net_about;

lb_net_about lb_net_describe(const lb_net *n);

/** Name of operator number i of the program ("layer.2.ffn.down"), and the row of ops.def that it is; NULL past the end. threads pure */
const char *lb_net_node(const lb_net *n, size_t i, const lb_op **op);

/* ---- arithmetics ------------------------------------------------------------------------------------------------------------- */

/** How a network is computed; rows of src/nets/ariths.def, a unit, or a device. */
typedef struct lb_arith lb_arith;

/** Names and summaries of the rows; NULL past the end. threads pure */
const char *lb_arith_name(size_t i);
const char *lb_arith_summary(size_t i);

/** "f64", "f32" …; a unit ("sm_80/mma.m16n8k16.f32.bf16.bf16.f32"): every matrix product, those of attention too, is that unit's, its
 *  operands rounded to nearest into its formats, the rest is f32; "on:DEVICE", which runs every operator there; or "trace:FILE", an engine's own activations: safetensors whose tensors
 *  are called as operators (heads together: "layer.0.attn") and hold [rows][cols]; what it lacks is computed in f32 from what it has.
 *  Formats of 8 bits and fewer get a power of two as scale a row of each operand, so that its largest value fits; block-scaled ones their own.
 *  errors LB_E_NAME with the nearest; LB_E_UNAVAILABLE; those of lb_device_open. memory lb_arith_close */
lb_status lb_arith_open(lb_arith **out, const char *name, lb_error *err);
/** "on:" and the device's name, of a device that is open already, as lb_device_open_guarded opens it: a device of lb_arith_open runs in the
 *  caller's process, and a crash of it is the caller's.
 *  errors LB_E_MEMORY. memory takes d over, also where it fails; lb_arith_close closes it */
lb_status lb_arith_of_device(lb_arith **out, lb_device *d, lb_error *err);
void lb_arith_close(lb_arith *a); /* NULL is fine */
const char *lb_arith_text(const lb_arith *a);

/* ---- a run ------------------------------------------------------------------------------------------------------------------- */

/** A network in one arithmetic, with its cache of keys and values. One thread at a time. */
typedef struct lb_net_run lb_net_run;

/** errors LB_E_MEMORY. memory lb_net_run_close; borrows both */
lb_status lb_net_run_open(lb_net_run **out, const lb_net *n, const lb_arith *a, lb_error *err);
void lb_net_run_close(lb_net_run *r); /* NULL is fine */

/** What goes in: tokens[rows], or values [rows][in_cols]. */
typedef struct lb_net_input {
    const int32_t *tokens;
    const double *values;
    size_t rows;
} lb_net_input;

/** Run rows that follow those before. out [rows][out_cols].
 *  errors LB_E_ARG for a token outside the vocabulary or more rows than the context; what its operators say. Then the run is spent. */
lb_status lb_net_run_step(lb_net_run *r, const lb_net_input *in, double *out, lb_error *err);

/** Forget all rows. */
void lb_net_run_reset(lb_net_run *r);

/** Value number i of the last step (what operators gave, heads together) and its name: [rows][cols], all rows of a cache. NULL past the end.
 *  The run's, until its next step */
const double *lb_net_run_value(const lb_net_run *r, size_t i, const char **name, size_t *rows, size_t *cols);

/** Called after each operator: its output [rows][cols], valid during the call. */
void lb_net_run_tap(lb_net_run *r, void (*tap)(void *user, const char *node, const double *values, size_t rows, size_t cols), void *user);

/* ---- two arithmetics --------------------------------------------------------------------------------------------------------- */

/** One operator of B on the activations of A. */
typedef struct lb_net_step {
    const char *node;
    const lb_op *op;
    double max_abs;  /* largest |B - A| */
    double max_ulp;  /* the same in f32 ordinals */
    double ratio;    /* largest |B - A| / budget; above 1: outside it. INFINITY where a class differs */
    double budget;   /* at that element */
    size_t row, col; /* of that element */
    bool compared;   /* false: a trace has no such tensor, or no element has a finite budget */
} lb_net_step;

typedef struct lb_net_flip {
    size_t row;
    int32_t token_a, token_b;
    double gap;   /* of A, between its first token and B's */
    double error; /* |error of B| at those two, together */
} lb_net_flip;

typedef struct lb_net_report {
    size_t rows, cols;
    double *a, *b;                /* outputs [rows][cols] */
    double max_abs, max_ulp, rms; /* of the outputs, B run by itself */
    size_t row, col;              /* of max_abs */
    double kl_mean, kl_most;      /* of softmax of outputs, A against B, in nats; NAN where outputs are no logits */
    size_t top1_same, top5_same;  /* rows with the same first, and the same five in order */
    double loss_a, loss_b;        /* mean -log p of the next token of the input; NAN */
    uint64_t class_mismatch;      /* NaN or Inf on one side */
    lb_net_step *steps;
    size_t step_count;
    size_t first_over; /* the first step over its budget; step_count if none */
    lb_net_flip *flips;
    size_t flip_count;
    double seconds_a, seconds_b;
} lb_net_report;

/** Run both, and each operator of B once more on A's activations. progress may be NULL.
 *  The budget of an operator is the limit of operators.h, and for a matrix product on a unit, or in narrower formats, what rounding its
 *  operands and its accumulator can do. A trace is judged on its own activations. errors as lb_net_run_step. memory lb_net_report_close */
lb_status lb_net_compare(const lb_net *n, const lb_arith *a, const lb_arith *b, const lb_net_input *in,
                         void (*progress)(void *user, const char *stage, double fraction), void *user, lb_net_report **out, lb_error *err);
/** The same where B's network is another than A's, of the same program: weights, eps or wiring may differ. */
lb_status lb_net_compare_models(const lb_net *na, const lb_arith *a, const lb_net *nb, const lb_arith *b, const lb_net_input *in,
                                void (*progress)(void *user, const char *stage, double fraction), void *user, lb_net_report **out,
                                lb_error *err);
void lb_net_report_close(lb_net_report *r); /* NULL is fine */

/** One text in one piece and in chunks of `chunk` rows: the same bits, or the first place where they part. */
typedef struct lb_net_parting {
    bool same;
    uint64_t compared; /* numbers, over all operators */
    const char *node;  /* the first operator that differs */
    size_t row, col;
    double whole, chunked;
} lb_net_parting;

/** errors LB_E_ARG for a network that keeps no cache or a chunk of 0; those of lb_net_run_step */
lb_status lb_net_chunks(const lb_net *n, const lb_arith *a, const lb_net_input *in, size_t chunk, lb_net_parting *out, lb_error *err);

/* ---- tokens ------------------------------------------------------------------------------------------------------------------ */

/** How the next token is drawn; {0} takes the largest logit, the first of equal ones. */
typedef struct lb_sampler {
    double temperature; /* 0: greedy */
    size_t top_k;       /* 0: all */
    double top_p;       /* 0 and 1: all */
    uint64_t seed;
} lb_sampler;

/** Token number `index` of a text under this sampler. accuracy f64; the same on every machine for the same logits.
 *  errors LB_E_ARG: count 0, a negative temperature, top_p outside 0 … 1, NaN among the logits. threads pure */
lb_status lb_sample_token(const lb_sampler *s, const double *logits, size_t count, uint64_t index, int32_t *token, lb_error *err);

#ifdef __cplusplus
}
#endif
#endif
