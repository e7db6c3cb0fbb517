/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Llama: RMS norms before each half, rotary positions, grouped key heads, a gated feed-forward. Files: safetensors with Hugging Face's
 * names (rotation of halves), gguf (adjacent pairs: its q and k rows are permuted), llama2.c version 0 (adjacent pairs).
 * source: llama, llama2c, gguf-format */
#include "base/try.h"
#include "nets/config.h"
#include "nets/net.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shape {
    size_t dim, hidden, layers, heads, kv_heads, vocab, context;
    double theta, eps;
    const char *rope;
} shape;

/* Weights of a layer, in the order of `parts`. */
enum { ATTN_NORM, Q, K, V, O, FFN_NORM, GATE, UP, DOWN, PARTS };

typedef struct weights {
    int embedding, norm, head;
    int (*layer)[PARTS]; /* [layers] */
} weights;

static void part_shape(const shape *s, int part, size_t *rows, size_t *cols) {
    const size_t kv = s->dim / s->heads * s->kv_heads;
    const struct {
        size_t rows, cols;
    } sizes[PARTS] = {[ATTN_NORM] = {1, s->dim},    [Q] = {s->dim, s->dim},     [K] = {kv, s->dim},
                      [V] = {kv, s->dim},           [O] = {s->dim, s->dim},     [FFN_NORM] = {1, s->dim},
                      [GATE] = {s->hidden, s->dim}, [UP] = {s->hidden, s->dim}, [DOWN] = {s->dim, s->hidden}};
    *rows = sizes[part].rows;
    *cols = sizes[part].cols;
}

/* ---- the program ---------------------------------------------------------------------------------------------------------- */

static int layer(lb_builder *b, const shape *s, const int *w, size_t i, int x) {
    char name[LB_NET_NAME];
#define NAME(part) (snprintf(name, sizeof name, "layer.%zu." part, i), name)
    int h = lb_build_norm(b, NAME("attn.norm"), "rmsnorm", x, w[ATTN_NORM], -1, s->eps);
    int q = lb_build_linear(b, NAME("attn.q"), h, w[Q], -1, LB_VALUE_ROW);
    int k = lb_build_linear(b, NAME("attn.k"), h, w[K], -1, LB_VALUE_ROW);
    const int v = lb_build_linear(b, NAME("attn.v"), h, w[V], -1, LB_VALUE_CACHE);
    q = lb_build_rope(b, NAME("attn.q.rope"), s->rope, q, s->heads, s->theta, LB_VALUE_ROW);
    k = lb_build_rope(b, NAME("attn.k.rope"), s->rope, k, s->kv_heads, s->theta, LB_VALUE_CACHE);
    h = lb_build_attention(b, NAME("attn"), q, k, v, s->heads, s->kv_heads, true);
    h = lb_build_linear(b, NAME("attn.o"), h, w[O], -1, LB_VALUE_ROW);
    x = lb_build_pair(b, NAME("attn.add"), "add", x, h);
    h = lb_build_norm(b, NAME("ffn.norm"), "rmsnorm", x, w[FFN_NORM], -1, s->eps);
    const int gate = lb_build_linear(b, NAME("ffn.gate"), h, w[GATE], -1, LB_VALUE_ROW);
    const int up = lb_build_linear(b, NAME("ffn.up"), h, w[UP], -1, LB_VALUE_ROW);
    h = lb_build_pair(b, NAME("ffn.act"), "silu_mul", gate, up);
    h = lb_build_linear(b, NAME("ffn.down"), h, w[DOWN], -1, LB_VALUE_ROW);
    return lb_build_pair(b, NAME("ffn.add"), "add", x, h);
#undef NAME
}

static void program(lb_builder *b, const shape *s, const weights *w) {
    lb_net *n = b->n;
    n->about = (lb_net_about){.kind = n->about.kind,
                              .grows = true,
                              .layers = s->layers,
                              .width = s->dim,
                              .heads = s->heads,
                              .kv_heads = s->kv_heads,
                              .context = s->context,
                              .weights = n->about.weights};
    n->input = lb_build_value(b, LB_VALUE_TOKENS, 1, "tokens");
    int x = lb_build_embedding(b, "embedding", w->embedding, n->input);
    for (size_t i = 0; b->status == LB_OK && i < s->layers; i++) x = layer(b, s, w->layer[i], i, x);
    x = lb_build_norm(b, "norm", "rmsnorm", x, w->norm, -1, s->eps);
    n->output = lb_build_linear(b, "head", x, w->head, -1, LB_VALUE_ROW);
}

static bool check_shape(lb_builder *b, const shape *s, const char *place) {
    enum { MOST = 1 << 22, MOST_LAYERS = 1 << 12 };
    const bool good = s->dim && s->hidden && s->layers && s->heads && s->kv_heads && s->vocab && s->context && s->dim <= MOST &&
                      s->hidden <= MOST && s->vocab <= MOST && s->context <= MOST && s->layers <= MOST_LAYERS && s->heads <= s->dim &&
                      s->dim % s->heads == 0 && s->kv_heads <= s->heads && s->heads % s->kv_heads == 0 && s->dim / s->heads % 2 == 0 &&
                      s->theta > 0 && s->eps > 0;
    if (!good)
        b->status =
            lb_fail(b->err, LB_E_FILE, place,
                    "these make no Llama: width %zu, hidden %zu, %zu layers, %zu heads, %zu key heads, vocabulary %zu, context %zu, "
                    "theta %g, eps %g",
                    s->dim, s->hidden, s->layers, s->heads, s->kv_heads, s->vocab, s->context, s->theta, s->eps);
    return good;
}

/* ---- files with named tensors ----------------------------------------------------------------------------------------------- */

typedef struct names {
    const char *embedding, *norm, *head, *layer; /* layer: printf of the number, then the part */
    const char *parts[PARTS];
} names;

static int load(lb_builder *b, const char *name, size_t rows, size_t cols) {
    return lb_build_weight(b, lb_load_matrix(b, name, rows, cols, false), rows, cols, name);
}

static void load_all(lb_builder *b, const shape *s, const names *called) {
    weights w = {.layer = calloc(s->layers, sizeof *w.layer)};
    char name[128];
    if (!w.layer) b->status = lb_fail(b->err, LB_E_MEMORY, "network", "out of memory");
    w.embedding = load(b, called->embedding, s->vocab, s->dim);
    for (size_t i = 0; b->status == LB_OK && i < s->layers; i++)
        for (int part = 0; b->status == LB_OK && part < PARTS; part++) {
            size_t rows, cols;
            part_shape(s, part, &rows, &cols);
            snprintf(name, sizeof name, "%s.%zu.%s.weight", called->layer, i, called->parts[part]);
            w.layer[i][part] = load(b, name, rows, cols);
        }
    w.norm = load(b, called->norm, 1, s->dim);
    w.head = lb_load_has(b, called->head) ? load(b, called->head, s->vocab, s->dim) : w.embedding;
    if (b->status == LB_OK) program(b, s, &w);
    free(w.layer);
}

static const names hugging_face = {"model.embed_tokens.weight",
                                   "model.norm.weight",
                                   "lm_head.weight",
                                   "model.layers",
                                   {[ATTN_NORM] = "input_layernorm",
                                    [Q] = "self_attn.q_proj",
                                    [K] = "self_attn.k_proj",
                                    [V] = "self_attn.v_proj",
                                    [O] = "self_attn.o_proj",
                                    [FFN_NORM] = "post_attention_layernorm",
                                    [GATE] = "mlp.gate_proj",
                                    [UP] = "mlp.up_proj",
                                    [DOWN] = "mlp.down_proj"}};

static bool is_llama(const lb_file *f) {
    return lb_file_find(f, "model.embed_tokens.weight") && lb_file_find(f, "model.layers.0.mlp.gate_proj.weight");
}

static void build_llama(lb_builder *b, const lb_net_options *o) {
    const lb_file *f = b->n->file;
    lb_config c;
    b->status = lb_config_beside(lb_file_path(f), &c, b->err);
    if (b->status != LB_OK) return;
    shape s = {
        .heads = o->heads ? o->heads : c.heads, .theta = c.theta > 0 ? c.theta : 10000, .eps = c.eps > 0 ? c.eps : 1e-5, .rope = "rope"};
    size_t unused, kv;
    lb_load_sizes(b, &s.vocab, &s.dim, "%s", hugging_face.embedding);
    lb_load_sizes(b, &s.hidden, &unused, "model.layers.0.mlp.gate_proj.weight");
    lb_load_sizes(b, &kv, &unused, "model.layers.0.self_attn.k_proj.weight");
    s.layers = lb_load_layers(b, "model.layers.", ".self_attn.q_proj.weight");
    s.context = c.context ? c.context : 2048;
    if (!s.heads) {
        b->status =
            lb_fail(b->err, LB_E_FILE, lb_file_path(f), "it does not say how many heads; put config.json beside it or give --heads N");
        return;
    }
    s.kv_heads = s.dim >= s.heads ? kv / (s.dim / s.heads) : 0;
    if (check_shape(b, &s, lb_file_path(f))) load_all(b, &s, &hugging_face);
}

static const char *const passed[] = {".rotary_emb.inv_freq", NULL};

const lb_net_row lb_net_llama = {"llama", "Llama-style safetensors with Hugging Face's names; config.json beside it", is_llama, build_llama,
                                 passed};

/* ---- gguf ------------------------------------------------------------------------------------------------------------------- */

static const names ggml = {"token_embd.weight",
                           "output_norm.weight",
                           "output.weight",
                           "blk",
                           {[ATTN_NORM] = "attn_norm",
                            [Q] = "attn_q",
                            [K] = "attn_k",
                            [V] = "attn_v",
                            [O] = "attn_output",
                            [FFN_NORM] = "ffn_norm",
                            [GATE] = "ffn_gate",
                            [UP] = "ffn_up",
                            [DOWN] = "ffn_down"}};

static bool is_gguf_llama(const lb_file *f) {
    const char *kind = lb_file_metadata(f, "general.architecture");
    return kind && strcmp(kind, "llama") == 0 && lb_file_find(f, "token_embd.weight");
}

/* A number among the keys; `otherwise` where there is none. */
static double number(lb_builder *b, const char *key, double otherwise) {
    const char *text = lb_file_metadata(b->n->file, key);
    char *end;
    if (!text) return otherwise;
    const double x = strtod(text, &end);
    if (end != text && !*end && isfinite(x) && x >= 0 && x < 9e15) return x;
    if (b->status == LB_OK) b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(b->n->file), "key %s is \"%.40s\", no number", key, text);
    return 0;
}

static void build_gguf_llama(lb_builder *b, const lb_net_options *o) {
    const lb_file *f = b->n->file;
    shape s = {.rope = "rope_interleaved"};
    (void)o;
    lb_load_sizes(b, &s.vocab, &s.dim, "%s", ggml.embedding);
    s.layers = (size_t)number(b, "llama.block_count", 0);
    s.context = (size_t)number(b, "llama.context_length", 0);
    s.hidden = (size_t)number(b, "llama.feed_forward_length", 0);
    s.heads = (size_t)number(b, "llama.attention.head_count", 0);
    s.kv_heads = (size_t)number(b, "llama.attention.head_count_kv", (double)s.heads);
    s.eps = number(b, "llama.attention.layer_norm_rms_epsilon", 1e-5);
    s.theta = number(b, "llama.rope.freq_base", 10000);
    if (b->status != LB_OK || !check_shape(b, &s, lb_file_path(f))) return;
    if (number(b, "llama.rope.dimension_count", (double)(s.dim / s.heads)) != (double)(s.dim / s.heads)) {
        b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(f), "llama.rope.dimension_count is not the width of a head: not built here");
        return;
    }
    load_all(b, &s, &ggml);
}

const lb_net_row lb_net_gguf_llama = {"gguf-llama", "gguf of architecture llama, f32, f16, bf16 or quantised", is_gguf_llama,
                                      build_gguf_llama, NULL};

/* ---- llama2.c --------------------------------------------------------------------------------------------------------------- */

enum { HEAD_INTS = 7, HEAD_BYTES = HEAD_INTS * 4 };

/* Floats of all layers, kind by kind, in the order of the file. */
static const int file_order[PARTS] = {ATTN_NORM, Q, K, V, O, FFN_NORM, GATE, DOWN, UP};

/* How many floats those sizes want; 0 where they are no model's. The rope tables, unused since, are the file's. */
static uint64_t floats_of(const shape *s, bool own_head) {
    uint64_t n =
        (uint64_t)s->vocab * s->dim + s->dim + (uint64_t)s->context * (s->dim / s->heads) + (own_head ? (uint64_t)s->vocab * s->dim : 0);
    for (int part = 0; part < PARTS; part++) {
        size_t rows, cols;
        part_shape(s, part, &rows, &cols);
        n += (uint64_t)rows * cols * s->layers;
    }
    return n;
}

static void build_llama2c(lb_builder *b, const shape *s, const float *p, bool own_head) {
    weights w = {.layer = calloc(s->layers, sizeof *w.layer)};
    char name[64];
    if (!w.layer) {
        b->status = lb_fail(b->err, LB_E_MEMORY, "network", "out of memory");
        return;
    }
    b->n->about.kind = "llama2c";
    w.embedding = lb_build_weight(b, p, s->vocab, s->dim, "token_embedding");
    p += s->vocab * s->dim;
    for (int at = 0; at < PARTS; at++) {
        size_t rows, cols;
        part_shape(s, file_order[at], &rows, &cols);
        for (size_t i = 0; i < s->layers; i++, p += rows * cols) {
            snprintf(name, sizeof name, "layer.%zu.%s", i, ggml.parts[file_order[at]]);
            w.layer[i][file_order[at]] = lb_build_weight(b, p, rows, cols, name);
        }
    }
    w.norm = lb_build_weight(b, p, 1, s->dim, "norm");
    p += s->dim + s->context * (s->dim / s->heads);
    w.head = own_head ? lb_build_weight(b, p, s->vocab, s->dim, "head") : w.embedding;
    if (b->status == LB_OK) program(b, s, &w);
    free(w.layer);
}

static bool read_fully(int in, void *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = read(in, (char *)to + done, bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* The sizes, if they explain the length of the file to the byte. */
static bool read_head(int in, uint64_t file_bytes, shape *s, bool *own_head) {
    int32_t head[HEAD_INTS];
    lb_builder nobody = {NULL, LB_OK, NULL};
    if (file_bytes <= HEAD_BYTES || !read_fully(in, head, HEAD_BYTES)) return false;
    *own_head = head[5] < 0;
    const int64_t vocab = *own_head ? -(int64_t)head[5] : head[5];
    for (int i = 0; i < HEAD_INTS; i++)
        if (i != 5 && head[i] <= 0) return false;
    *s = (shape){.dim = (size_t)head[0],
                 .hidden = (size_t)head[1],
                 .layers = (size_t)head[2],
                 .heads = (size_t)head[3],
                 .kv_heads = (size_t)head[4],
                 .vocab = (size_t)vocab,
                 .context = (size_t)head[6],
                 .theta = 10000,
                 .eps = 1e-5,
                 .rope = "rope_interleaved"};
    return check_shape(&nobody, s, "") && file_bytes == HEAD_BYTES + 4 * floats_of(s, *own_head);
}

lb_status lb_net_llama2c(lb_builder *b, const char *path, bool *is, lb_error *err) {
    struct stat st;
    shape s;
    bool own_head;
    *is = false;
    const int in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) return lb_fail(err, LB_E_FILE, path, "%s", strerror(errno));
    if (fstat(in, &st) == 0 && S_ISREG(st.st_mode) && read_head(in, (uint64_t)st.st_size, &s, &own_head)) {
        const size_t bytes = (size_t)st.st_size - HEAD_BYTES;
        float *p = malloc(bytes);
        *is = true;
        b->n->owned = calloc(1, sizeof *b->n->owned);
        if (!p || !b->n->owned) {
            free(p);
            b->status = lb_fail(err, LB_E_MEMORY, path, "no memory for %zu bytes", bytes);
        } else {
            b->n->owned[b->n->owned_count++] = p;
            if (read_fully(in, p, bytes))
                build_llama2c(b, &s, p, own_head);
            else
                b->status = lb_fail(err, LB_E_FILE, path, "it ends before its weights do");
        }
    }
    close(in);
    return LB_OK;
}
