/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* GPT-2 with Hugging Face's names, with or without "transformer." before them: Conv1D weights [in][out], learned positions, layer norms
 * before each half, a head that is the embedding. Heads of 64 columns unless config.json says otherwise. source: gpt2 */
#include "nets/config.h"
#include "nets/net.h"

#include <stdio.h>

typedef struct gpt2 {
    lb_builder *b;
    const char *prefix;
    size_t d, layers, heads;
    double eps;
} gpt2;

static const char *prefix_of(const lb_file *f) {
    if (lb_file_find(f, "wte.weight") && lb_file_find(f, "h.0.attn.c_attn.weight")) return "";
    if (lb_file_find(f, "transformer.wte.weight") && lb_file_find(f, "transformer.h.0.attn.c_attn.weight")) return "transformer.";
    return NULL;
}

static bool is_gpt2(const lb_file *f) {
    return prefix_of(f) != NULL;
}

/* name: behind the prefix. */
static int load(const gpt2 *g, const char *name, size_t rows, size_t cols, bool transposed) {
    char full[128];
    snprintf(full, sizeof full, "%s%s", g->prefix, name);
    return lb_build_weight(g->b, lb_load_matrix(g->b, full, rows, cols, transposed), rows, cols, full);
}

static int of_layer(const gpt2 *g, size_t i, const char *part, size_t rows, size_t cols, bool transposed) {
    char name[96];
    snprintf(name, sizeof name, "h.%zu.%s", i, part);
    return load(g, name, rows, cols, transposed);
}

/* q, k and v are thirds of one weight; keys and values are kept. */
static void third(const gpt2 *g, size_t i, int which, int x, int w, int bias, int *out) {
    static const char *const names[] = {"q", "k", "v"};
    lb_builder *b = g->b;
    char name[LB_NET_NAME];
    *out = -1;
    if (b->status != LB_OK) return;
    const float *rows = b->n->values[w].weights + (size_t)which * g->d * g->d, *add = b->n->values[bias].weights + (size_t)which * g->d;
    b->n->about.weights -= g->d * g->d + g->d; /* counted when they were read */
    snprintf(name, sizeof name, "layer.%zu.attn.%s", i, names[which]);
    const int part = lb_build_weight(b, rows, g->d, g->d, name), part_bias = lb_build_weight(b, add, 1, g->d, name);
    *out = lb_build_linear(b, name, x, part, part_bias, which ? LB_VALUE_CACHE : LB_VALUE_ROW);
}

static int layer(const gpt2 *g, size_t i, int x) {
    lb_builder *b = g->b;
    const size_t d = g->d;
    char name[LB_NET_NAME];
    int q, k, v;
#define NAME(part) (snprintf(name, sizeof name, "layer.%zu." part, i), name)
    const int g1 = of_layer(g, i, "ln_1.weight", 1, d, false), b1 = of_layer(g, i, "ln_1.bias", 1, d, false);
    const int wa = of_layer(g, i, "attn.c_attn.weight", 3 * d, d, true), ba = of_layer(g, i, "attn.c_attn.bias", 1, 3 * d, false);
    const int wo = of_layer(g, i, "attn.c_proj.weight", d, d, true), bo = of_layer(g, i, "attn.c_proj.bias", 1, d, false);
    const int g2 = of_layer(g, i, "ln_2.weight", 1, d, false), b2 = of_layer(g, i, "ln_2.bias", 1, d, false);
    const int wf = of_layer(g, i, "mlp.c_fc.weight", 4 * d, d, true), bf = of_layer(g, i, "mlp.c_fc.bias", 1, 4 * d, false);
    const int wp = of_layer(g, i, "mlp.c_proj.weight", d, 4 * d, true), bp = of_layer(g, i, "mlp.c_proj.bias", 1, d, false);
    int h = lb_build_norm(b, NAME("attn.norm"), "layernorm", x, g1, b1, g->eps);
    third(g, i, 0, h, wa, ba, &q);
    third(g, i, 1, h, wa, ba, &k);
    third(g, i, 2, h, wa, ba, &v);
    h = lb_build_attention(b, NAME("attn"), q, k, v, g->heads, g->heads, true);
    h = lb_build_linear(b, NAME("attn.o"), h, wo, bo, LB_VALUE_ROW);
    x = lb_build_pair(b, NAME("attn.add"), "add", x, h);
    h = lb_build_norm(b, NAME("ffn.norm"), "layernorm", x, g2, b2, g->eps);
    h = lb_build_linear(b, NAME("ffn.up"), h, wf, bf, LB_VALUE_ROW);
    h = lb_build_map(b, NAME("ffn.act"), "gelu", h);
    h = lb_build_linear(b, NAME("ffn.down"), h, wp, bp, LB_VALUE_ROW);
    return lb_build_pair(b, NAME("ffn.add"), "add", x, h);
#undef NAME
}

static void build_gpt2(lb_builder *b, const lb_net_options *o) {
    lb_net *n = b->n;
    gpt2 g = {.b = b, .prefix = prefix_of(n->file)};
    lb_config c;
    size_t vocab, context, unused;
    char layer_name[64];
    b->status = lb_config_beside(lb_file_path(n->file), &c, b->err);
    if (b->status != LB_OK) return;
    lb_load_sizes(b, &vocab, &g.d, "%swte.weight", g.prefix);
    lb_load_sizes(b, &context, &unused, "%swpe.weight", g.prefix);
    snprintf(layer_name, sizeof layer_name, "%sh.", g.prefix);
    g.layers = lb_load_layers(b, layer_name, ".ln_1.weight");
    g.heads = o->heads ? o->heads : c.heads ? c.heads : g.d / 64;
    g.eps = c.eps > 0 ? c.eps : 1e-5;
    if (!g.heads || !g.d || g.d % g.heads || !context || g.d > (size_t)1 << 20) {
        b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(n->file), "width %zu and %zu heads make no GPT-2; say --heads N", g.d, g.heads);
        return;
    }
    n->about.grows = true;
    n->about.layers = g.layers;
    n->about.width = g.d;
    n->about.heads = n->about.kv_heads = g.heads;
    n->about.context = context;
    n->input = lb_build_value(b, LB_VALUE_TOKENS, 1, "tokens");
    const int pos = lb_build_value(b, LB_VALUE_POSITIONS, 1, "positions");
    const int wte = load(&g, "wte.weight", vocab, g.d, false), wpe = load(&g, "wpe.weight", context, g.d, false);
    int x = lb_build_pair(b, "embedding", "add", lb_build_embedding(b, "embedding.token", wte, n->input),
                          lb_build_embedding(b, "embedding.position", wpe, pos));
    for (size_t i = 0; b->status == LB_OK && i < g.layers; i++) x = layer(&g, i, x);
    const int gf = load(&g, "ln_f.weight", 1, g.d, false), bf = load(&g, "ln_f.bias", 1, g.d, false);
    x = lb_build_norm(b, "norm", "layernorm", x, gf, bf, g.eps);
    n->output = lb_build_linear(b, "head", x, wte, -1, LB_VALUE_ROW);
}

static const char *const passed[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight", NULL}; /* masks; the embedding again */

const lb_net_row lb_net_gpt2 = {"gpt2", "GPT-2 with Hugging Face's names", is_gpt2, build_gpt2, passed};
