/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Small models made from a seed, written as files of each kind, for tests of networks. */
#ifndef LB_TEST_NET_FILES_H
#define LB_TEST_NET_FILES_H

#include "test.h"

#include "lastbit/nets.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char net_folder[64];

static inline int make_net_folder(void **state) {
    (void)state;
    strcpy(net_folder, "/tmp/lastbit-test-net.XXXXXX");
    return mkdtemp(net_folder) ? 0 : -1;
}

static inline int remove_net_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", net_folder);
    return system(command);
}

static inline const char *net_path(const char *name) {
    static char path[4][160];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", net_folder, name);
    return path[at];
}

/* About normal, of this size. */
static inline float weight_of(uint32_t stream, uint64_t i, float size) {
    const lb_format *f = lb_format_row(LB_F32);
    return (float)lb_to_double(f, lb_draw(f, LB_DIST_NORMAL, 7, stream, i)) * size;
}

/* Tensors of a safetensors file in the making. */
typedef struct tensors {
    lb_tensor t[128];
    char names[128][80];
    size_t count;
} tensors;

static inline float *add_tensor(tensors *all, const char *name, size_t rows, size_t cols) {
    lb_tensor *t = &all->t[all->count];
    float *data = malloc(rows * cols * sizeof *data);
    assert_non_null(data);
    assert_true(all->count < 128);
    snprintf(all->names[all->count], sizeof all->names[0], "%s", name);
    *t = (lb_tensor){.name = all->names[all->count], .dtype = lb_dtype_find("f32"), .data = data, .bytes = rows * cols * sizeof *data};
    t->rank = rows ? 2 : 1;
    t->shape[0] = rows ? rows : cols;
    t->shape[1] = rows ? cols : 0;
    if (!rows) {
        free(data);
        data = malloc(cols * sizeof *data);
        assert_non_null(data);
        t->data = data;
        t->bytes = cols * sizeof *data;
    }
    all->count++;
    return data;
}

/* One drawn from a stream that its place gives; norms lie about 1. */
static inline float *draw_tensor(tensors *all, const char *name, size_t rows, size_t cols, float size, float centre) {
    const uint32_t stream = (uint32_t)all->count;
    float *x = add_tensor(all, name, rows, cols);
    for (size_t i = 0; i < (rows ? rows : 1) * cols; i++) x[i] = centre + weight_of(stream, i, size);
    return x;
}

static inline const char *write_tensors(tensors *all, const char *file) {
    lb_error err = {0};
    const char *path = net_path(file);
    if (lb_safetensors_write(path, all->t, all->count, NULL, 0, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return path;
}

static inline void free_tensors(tensors *all) {
    for (size_t i = 0; i < all->count; i++) free((void *)(uintptr_t)all->t[i].data);
}

static inline void write_text(const char *name, const char *text) {
    FILE *f = fopen(net_path(name), "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static inline lb_net *net_of(const char *path, const lb_net_options *o) {
    lb_net *n;
    lb_error err = {0};
    if (lb_net_open(&n, path, o, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return n;
}

static inline lb_arith *arith_of(const char *name) {
    lb_arith *a;
    lb_error err = {0};
    if (lb_arith_open(&a, name, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    return a;
}

/* [rows][out_cols], free() */
static inline double *answer(const lb_net *n, const char *arith, const lb_net_input *in) {
    lb_arith *a = arith_of(arith);
    lb_net_run *r;
    lb_error err = {0};
    double *y = malloc(in->rows * lb_net_describe(n).out_cols * sizeof *y);
    assert_non_null(y);
    assert_int_equal(lb_net_run_open(&r, n, a, &err), LB_OK);
    if (lb_net_run_step(r, in, y, &err) != LB_OK) fail_msg("%s: %s: %s", arith, err.place, err.message);
    lb_net_run_close(r);
    lb_arith_close(a);
    return y;
}

static inline double farthest(const double *a, const double *b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = !(fabs(a[i] - b[i]) <= most) ? fabs(a[i] - b[i]) : most;
    return most;
}

/* ---- one Llama, as three files ------------------------------------------------------------------------------------------------ */

enum { DIM = 32, HIDDEN = 48, LAYERS = 2, HEADS = 4, KV_HEADS = 2, VOCAB = 40, CONTEXT = 24, HEAD = DIM / HEADS, KV = HEAD * KV_HEADS };

/* Row r of a head of adjacent pairs, as the row of a head of halves that it becomes. */
static inline size_t half_row(size_t r) {
    const size_t h = r / HEAD, i = r % HEAD;
    return h * HEAD + (i % 2) * (HEAD / 2) + i / 2;
}

static inline void llama_part(tensors *all, size_t i, const char *part, size_t rows, size_t cols, bool turned) {
    char name[80];
    snprintf(name, sizeof name, "model.layers.%zu.%s.weight", i, part);
    const uint32_t stream = (uint32_t)all->count;
    float *x = add_tensor(all, name, rows, cols);
    for (size_t r = 0; r < (rows ? rows : 1); r++)
        for (size_t c = 0; c < cols; c++)
            x[(turned ? half_row(r) : r) * cols + c] = (rows ? 0 : 1) + weight_of(stream, r * cols + c, rows ? 0.2f : 0.1f);
}

/* With Hugging Face's names; halves: q and k are permuted as its rotation wants. */
static inline void draw_llama(tensors *all, bool halves) {
    draw_tensor(all, "model.embed_tokens.weight", VOCAB, DIM, 1, 0);
    for (size_t i = 0; i < LAYERS; i++) {
        llama_part(all, i, "input_layernorm", 0, DIM, false);
        llama_part(all, i, "self_attn.q_proj", DIM, DIM, halves);
        llama_part(all, i, "self_attn.k_proj", KV, DIM, halves);
        llama_part(all, i, "self_attn.v_proj", KV, DIM, false);
        llama_part(all, i, "self_attn.o_proj", DIM, DIM, false);
        llama_part(all, i, "post_attention_layernorm", 0, DIM, false);
        llama_part(all, i, "mlp.gate_proj", HIDDEN, DIM, false);
        llama_part(all, i, "mlp.up_proj", HIDDEN, DIM, false);
        llama_part(all, i, "mlp.down_proj", DIM, HIDDEN, false);
    }
    draw_tensor(all, "model.norm.weight", 0, DIM, 0.1f, 1);
}

static inline const char *llama_safetensors(void) {
    tensors all = {.count = 0};
    draw_llama(&all, true);
    const char *path = write_tensors(&all, "llama.safetensors");
    free_tensors(&all);
    write_text("config.json",
               "{\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-5, \"max_position_embeddings\": 24}\n");
    return path;
}

/* The order of llama2.c: kind by kind. */
static inline const char *llama_bin(void) {
    static const char *const kinds[] = {"input_layernorm", "q_proj",    "k_proj",    "v_proj", "o_proj",
                                        "post_attention",  "gate_proj", "down_proj", "up_proj"};
    const int32_t head[7] = {DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCAB, CONTEXT};
    tensors all = {.count = 0};
    draw_llama(&all, false);
    FILE *f = fopen(net_path("llama.bin"), "wb");
    assert_non_null(f);
    fwrite(head, sizeof head, 1, f);
    fwrite(all.t[0].data, all.t[0].bytes, 1, f);
    for (size_t k = 0; k < 9; k++)
        for (size_t i = 0; i < all.count; i++)
            if (strstr(all.names[i], kinds[k])) fwrite(all.t[i].data, all.t[i].bytes, 1, f);
    fwrite(all.t[all.count - 1].data, all.t[all.count - 1].bytes, 1, f);
    for (size_t i = 0; i < (size_t)CONTEXT * HEAD; i++) fwrite(&(float){0}, sizeof(float), 1, f);
    assert_int_equal(fclose(f), 0);
    free_tensors(&all);
    return net_path("llama.bin");
}

#endif
