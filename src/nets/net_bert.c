/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An encoder with BERT's names, with or without "bert." before them: three embeddings, layer norms behind each half, GELU by erf, every
 * row sees every row. Token types are 0. The output is the last hidden state. source: bert */
#include "nets/config.h"
#include "nets/net.h"

#include <stdio.h>
#include <string.h>

typedef struct bert {
    lb_builder *b;
    const char *prefix;
    size_t d, hidden, layers, heads;
    double eps;
} bert;

static const char *const first = "embeddings.word_embeddings.weight";

static bool is_bert(const lb_file *f) {
    return lb_file_find(f, first) || lb_file_find(f, "bert.embeddings.word_embeddings.weight");
}

static int load(const bert *m, const char *name, size_t rows, size_t cols) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", m->prefix, name);
    return lb_build_weight(m->b, lb_load_matrix(m->b, full, rows, cols, false), rows, cols, full);
}

/* "encoder.layer.{i}.{part}.weight" and ".bias", applied to x. */
static int dense(const bert *m, size_t i, const char *part, const char *name, int x, size_t rows, size_t cols) {
    char full[128];
    snprintf(full, sizeof full, "encoder.layer.%zu.%s.weight", i, part);
    const int w = load(m, full, rows, cols);
    snprintf(full, sizeof full, "encoder.layer.%zu.%s.bias", i, part);
    const int bias = load(m, full, 1, rows);
    snprintf(full, sizeof full, "layer.%zu.%s", i, name);
    return lb_build_linear(m->b, full, x, w, bias, LB_VALUE_ROW);
}

static int norm(const bert *m, const char *part, const char *name, int x) {
    char full[128];
    snprintf(full, sizeof full, "%s.weight", part);
    const int gamma = load(m, full, 1, m->d);
    snprintf(full, sizeof full, "%s.bias", part);
    return lb_build_norm(m->b, name, "layernorm", x, gamma, load(m, full, 1, m->d), m->eps);
}

static int layer(const bert *m, size_t i, int x) {
    lb_builder *b = m->b;
    char name[LB_NET_NAME], part[96];
    const size_t d = m->d;
#define NAME(what) (snprintf(name, sizeof name, "layer.%zu." what, i), name)
    const int q = dense(m, i, "attention.self.query", "attn.q", x, d, d), k = dense(m, i, "attention.self.key", "attn.k", x, d, d);
    const int v = dense(m, i, "attention.self.value", "attn.v", x, d, d);
    int h = lb_build_attention(b, NAME("attn"), q, k, v, m->heads, m->heads, false);
    h = dense(m, i, "attention.output.dense", "attn.o", h, d, d);
    x = lb_build_pair(b, NAME("attn.add"), "add", x, h);
    snprintf(part, sizeof part, "encoder.layer.%zu.attention.output.LayerNorm", i);
    x = norm(m, part, NAME("attn.norm"), x);
    h = dense(m, i, "intermediate.dense", "ffn.up", x, m->hidden, d);
    h = lb_build_map(b, NAME("ffn.act"), "gelu_erf", h);
    h = dense(m, i, "output.dense", "ffn.down", h, d, m->hidden);
    x = lb_build_pair(b, NAME("ffn.add"), "add", x, h);
    snprintf(part, sizeof part, "encoder.layer.%zu.output.LayerNorm", i);
    return norm(m, part, NAME("ffn.norm"), x);
#undef NAME
}

static void build_bert(lb_builder *b, const lb_net_options *o) {
    lb_net *n = b->n;
    bert m = {.b = b, .prefix = lb_file_find(n->file, first) ? "" : "bert."};
    lb_config c;
    size_t vocab, context, types, unused;
    char layer_name[64];
    b->status = lb_config_beside(lb_file_path(n->file), &c, b->err);
    if (b->status != LB_OK) return;
    lb_load_sizes(b, &vocab, &m.d, "%s%s", m.prefix, first);
    lb_load_sizes(b, &context, &unused, "%sembeddings.position_embeddings.weight", m.prefix);
    lb_load_sizes(b, &types, &unused, "%sembeddings.token_type_embeddings.weight", m.prefix);
    lb_load_sizes(b, &m.hidden, &unused, "%sencoder.layer.0.intermediate.dense.weight", m.prefix);
    snprintf(layer_name, sizeof layer_name, "%sencoder.layer.", m.prefix);
    m.layers = lb_load_layers(b, layer_name, ".output.dense.weight");
    m.heads = o->heads ? o->heads : c.heads;
    m.eps = c.eps > 0 ? c.eps : 1e-12;
    if (!m.heads || !m.d || m.d % m.heads || !context || !types || !m.hidden || m.d > (size_t)1 << 20 || m.hidden > (size_t)1 << 22) {
        b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(n->file),
                            "width %zu, hidden %zu and %zu heads make no encoder; put config.json beside it or give --heads N", m.d,
                            m.hidden, m.heads);
        return;
    }
    n->about.layers = m.layers;
    n->about.width = m.d;
    n->about.heads = n->about.kv_heads = m.heads;
    n->about.context = context;
    n->input = lb_build_value(b, LB_VALUE_TOKENS, 1, "tokens");
    const int pos = lb_build_value(b, LB_VALUE_POSITIONS, 1, "positions"), type = lb_build_value(b, LB_VALUE_ZEROS, 1, "types");
    const int words = load(&m, first, vocab, m.d), places = load(&m, "embeddings.position_embeddings.weight", context, m.d);
    const int kinds = load(&m, "embeddings.token_type_embeddings.weight", types, m.d);
    int x = lb_build_pair(b, "embedding.typed", "add", lb_build_embedding(b, "embedding.token", words, n->input),
                          lb_build_embedding(b, "embedding.type", kinds, type));
    x = lb_build_pair(b, "embedding", "add", x, lb_build_embedding(b, "embedding.position", places, pos));
    x = norm(&m, "embeddings.LayerNorm", "embedding.norm", x);
    for (size_t i = 0; b->status == LB_OK && i < m.layers; i++) x = layer(&m, i, x);
    n->output = x;
}

static const char *const passed[] = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias", NULL};

const lb_net_row lb_net_bert = {"bert", "a BERT-style encoder; config.json beside it", is_bert, build_bert, passed};
