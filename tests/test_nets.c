/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Networks: one model as files of several kinds, arithmetics, chunks, planted faults, what is refused. */
#include "net_files.h"

#include "nets/net.h"

static const int32_t text[] = {1, 17, 3, 39, 8, 8, 25, 0, 11};
static const lb_net_input nine = {.tokens = text, .rows = 9};

/* ---- kinds -------------------------------------------------------------------------------------------------------------------- */

static void one_llama_in_two_layouts_answers_alike(void **state) {
    (void)state;
    lb_net *bin = net_of(llama_bin(), NULL), *hf = net_of(llama_safetensors(), NULL);
    const lb_net_about a = lb_net_describe(bin), b = lb_net_describe(hf);
    assert_string_equal(a.kind, "llama2c");
    assert_string_equal(b.kind, "llama");
    assert_int_equal(a.kv_heads, KV_HEADS);
    assert_int_equal(b.kv_heads, KV_HEADS);
    assert_int_equal(a.weights, b.weights);
    assert_int_equal(a.out_cols, VOCAB);
    double *x = answer(bin, "f64", &nine), *y = answer(hf, "f64", &nine), *z = answer(bin, "f32", &nine);
    assert_true(farthest(x, y, 9 * VOCAB) < 1e-12); /* sums of a head in another order */
    const double off = farthest(x, z, 9 * VOCAB);
    if (!(off > 0 && off < 1e-4)) fail_msg("f32 is off f64 by %g", off);
    free(x);
    free(y);
    free(z);
    lb_net_close(bin);
    lb_net_close(hf);
}

/* The published definition of llama2.c, written here once more, in double. */
static void softmax(double *x, size_t n) {
    double most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += x[i] = exp(x[i] - most);
    for (size_t i = 0; i < n; i++) x[i] /= sum;
}

static void product(const float *w, const double *x, size_t rows, size_t cols, double *y) {
    for (size_t r = 0; r < rows; r++) {
        y[r] = 0;
        for (size_t c = 0; c < cols; c++) y[r] += (double)w[r * cols + c] * x[c];
    }
}

static void norm(const double *x, const float *g, double *y) {
    double sum = 0;
    for (size_t i = 0; i < DIM; i++) sum += x[i] * x[i];
    for (size_t i = 0; i < DIM; i++) y[i] = x[i] / sqrt(sum / DIM + (double)1e-5f) * (double)g[i];
}

static void turn(double *x, size_t heads, size_t pos) {
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < HEAD; i += 2) {
            const double angle = (double)pos * pow(10000, -(double)i / HEAD), a = x[h * HEAD + i], b = x[h * HEAD + i + 1];
            x[h * HEAD + i] = a * cos(angle) - b * sin(angle);
            x[h * HEAD + i + 1] = b * cos(angle) + a * sin(angle);
        }
}

static void attend(const double *q, double (*k)[KV], double (*v)[KV], size_t pos, double *o) {
    for (size_t h = 0; h < HEADS; h++) {
        double p[CONTEXT];
        const size_t g = h / (HEADS / KV_HEADS) * HEAD;
        for (size_t t = 0; t <= pos; t++) {
            p[t] = 0;
            for (size_t i = 0; i < HEAD; i++) p[t] += q[h * HEAD + i] * k[t][g + i];
            p[t] /= sqrt(HEAD);
        }
        softmax(p, pos + 1);
        for (size_t i = 0; i < HEAD; i++) {
            o[h * HEAD + i] = 0;
            for (size_t t = 0; t <= pos; t++) o[h * HEAD + i] += p[t] * v[t][g + i];
        }
    }
}

static void layer(tensors *w, size_t l, size_t pos, double *x, double (*k)[KV], double (*v)[KV]) {
    enum { NORM1, Q, K, V, O, NORM2, GATE, UP, DOWN, PARTS };
    const lb_tensor *t = &w->t[1 + l * PARTS];
    double h[DIM], q[DIM], o[DIM], y[DIM], gate[HIDDEN], up[HIDDEN];
    norm(x, t[NORM1].data, h);
    product(t[Q].data, h, DIM, DIM, q);
    product(t[K].data, h, KV, DIM, k[pos]);
    product(t[V].data, h, KV, DIM, v[pos]);
    turn(q, HEADS, pos);
    turn(k[pos], KV_HEADS, pos);
    attend(q, k, v, pos, o);
    product(t[O].data, o, DIM, DIM, y);
    for (size_t i = 0; i < DIM; i++) x[i] += y[i];
    norm(x, t[NORM2].data, h);
    product(t[GATE].data, h, HIDDEN, DIM, gate);
    product(t[UP].data, h, HIDDEN, DIM, up);
    for (size_t i = 0; i < HIDDEN; i++) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    product(t[DOWN].data, gate, DIM, HIDDEN, y);
    for (size_t i = 0; i < DIM; i++) x[i] += y[i];
}

static void a_llama_computes_what_its_definition_says(void **state) {
    (void)state;
    static double k[LAYERS][CONTEXT][KV], v[LAYERS][CONTEXT][KV];
    tensors w = {.count = 0};
    lb_net *n = net_of(llama_bin(), NULL);
    double *got = answer(n, "f64", &nine);
    draw_llama(&w, false);
    for (size_t pos = 0; pos < nine.rows; pos++) {
        double x[DIM], h[DIM], logits[VOCAB];
        for (size_t i = 0; i < DIM; i++) x[i] = (double)((const float *)w.t[0].data)[(size_t)text[pos] * DIM + i];
        for (size_t l = 0; l < LAYERS; l++) layer(&w, l, pos, x, k[l], v[l]);
        norm(x, w.t[w.count - 1].data, h);
        product(w.t[0].data, h, VOCAB, DIM, logits);
        const double off = farthest(logits, got + pos * VOCAB, VOCAB);
        if (!(off < 1e-6)) fail_msg("row %zu is off by %g", pos, off); /* theta and eps are f32 in the operators */
    }
    free_tensors(&w);
    free(got);
    lb_net_close(n);
}

static void draw_mlp(tensors *all) {
    draw_tensor(all, "layers.0.weight", 20, 12, 0.4f, 0);
    draw_tensor(all, "layers.0.bias", 0, 20, 0.4f, 0);
    draw_tensor(all, "layers.1.weight", 7, 20, 0.4f, 0);
    draw_tensor(all, "layers.1.bias", 0, 7, 0.4f, 0);
}

static void an_mlp_is_linear_gelu_linear(void **state) {
    (void)state;
    tensors all = {.count = 0};
    draw_mlp(&all);
    lb_net *n = net_of(write_tensors(&all, "mlp.safetensors"), NULL);
    double x[2][12], want[2][7];
    for (size_t i = 0; i < 24; i++) x[i / 12][i % 12] = (double)weight_of(99, i, 1);
    for (size_t r = 0; r < 2; r++) {
        double h[20];
        product(all.t[0].data, x[r], 20, 12, h);
        for (size_t i = 0; i < 20; i++) {
            h[i] += (double)((const float *)all.t[1].data)[i];
            h[i] = 0.5 * h[i] * (1 + tanh(0.7978845608028654 * (h[i] + 0.044715 * h[i] * h[i] * h[i])));
        }
        product(all.t[2].data, h, 7, 20, want[r]);
        for (size_t i = 0; i < 7; i++) want[r][i] += (double)((const float *)all.t[3].data)[i];
    }
    double *got = answer(n, "f64", &(lb_net_input){.values = &x[0][0], .rows = 2});
    assert_true(farthest(got, &want[0][0], 14) < 1e-6);
    free(got);
    lb_net_close(n);
    free_tensors(&all);
}

/* ---- arithmetics -------------------------------------------------------------------------------------------------------------- */

/* Every honest arithmetic keeps within the budget of each operator; and the budgets are no barn doors (the faults below). */
static void no_arithmetic_is_beyond_its_own_budget(void **state) {
    (void)state;
    static const char *const names[] = {"f64",
                                        "f32",
                                        "contracted",
                                        "pairwise",
                                        "bf16",
                                        "f16",
                                        "sm_70/mma.m8n8k4.f32.f16.f16.f32",
                                        "sm_80/mma.m16n8k16.f32.bf16.bf16.f32",
                                        "sm_80/mma.m16n8k8.f32.tf32.tf32.f32",
                                        "sm_80/mma.m16n8k16.f16.f16.f16.f16",
                                        "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
                                        "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3",
                                        "sm_90/wgmma.m64n8k32.f32.e5m2.e4m3",
                                        "gfx942/mfma.m16n16k16.f32.f16.f16.f32",
                                        "sm_100/tcgen05.m128n8k32.f32.e4m3.e4m3.mxf8f6f4.ue8m0",
                                        "x86/vdpbf16ps"};
    lb_net *n = net_of(llama_bin(), NULL);
    lb_arith *f64 = arith_of("f64");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lb_arith *a = arith_of(names[i]);
        lb_net_report *r;
        lb_error err = {0};
        if (lb_net_compare(n, f64, a, &nine, NULL, NULL, &r, &err) != LB_OK) fail_msg("%s: %s: %s", names[i], err.place, err.message);
        assert_int_equal(r->step_count, lb_net_describe(n).nodes);
        if (r->first_over < r->step_count)
            fail_msg("%s: %s is %g times its budget", names[i], r->steps[r->first_over].node, r->steps[r->first_over].ratio);
        if (i == 0 ? r->max_abs != 0 : !(r->max_abs > 0 && r->max_abs < 8)) fail_msg("%s: outputs are off by %g", names[i], r->max_abs);
        lb_net_report_close(r);
        lb_arith_close(a);
    }
    lb_arith_close(f64);
    lb_net_close(n);
}

static void chunks_change_no_bit(void **state) {
    (void)state;
    static const char *const names[] = {"f64", "f32", "pairwise", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"};
    lb_net *n = net_of(llama_bin(), NULL);
    for (size_t i = 0; i < 4; i++)
        for (size_t chunk = 1; chunk <= 4; chunk += 3) {
            lb_arith *a = arith_of(names[i]);
            lb_net_parting p;
            lb_error err = {0};
            assert_int_equal(lb_net_chunks(n, a, &nine, chunk, &p, &err), LB_OK);
            /* sums by halves depend on how many keys there are, masked ones too: then the first place is an attention head's */
            if (!p.same && !(strcmp(names[i], "pairwise") == 0 && strstr(p.node, ".attn.head.")))
                fail_msg("%s in chunks of %zu parts at %s row %zu: %a, %a", names[i], chunk, p.node, p.row, p.whole, p.chunked);
            assert_true(p.compared > 0);
            lb_arith_close(a);
        }
    lb_net_close(n);
}

/* ---- faults --------------------------------------------------------------------------------------------------------------------- */

static lb_node *node_called(lb_net *n, const char *name) {
    for (size_t i = 0; i < n->node_count; i++)
        if (strcmp(n->nodes[i].name, name) == 0) return &n->nodes[i];
    fail_msg("no node %s", name);
    return NULL;
}

static void wrong_eps(lb_net *n) {
    lb_node *x = node_called(n, "layer.1.ffn.norm");
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (strcmp(x->op->params[i].name, "eps") == 0) x->fixed[i] = 1e-3;
}

static void swapped_heads(lb_net *n) {
    lb_node *a = node_called(n, "layer.1.attn.head.1"), *b = node_called(n, "layer.1.attn.head.2");
    const lb_view q = a->in[0];
    a->in[0] = b->in[0];
    b->in[0] = q;
}

static void stale_cache(lb_net *n) { /* the keys of the layer before */
    node_called(n, "layer.1.attn.head.3")->in[1] = node_called(n, "layer.0.attn.head.3")->in[1];
}

static void no_mask(lb_net *n) {
    lb_node *x = node_called(n, "layer.0.attn.head.0");
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (strcmp(x->op->params[i].name, "causal") == 0) x->fixed[i] = 0;
}

static void late_position(lb_net *n) {
    lb_node *x = node_called(n, "layer.0.attn.k.rope.head.1");
    for (unsigned i = 0; i < x->op->param_count; i++)
        if (strcmp(x->op->params[i].name, "theta") == 0) x->fixed[i] = 20000;
}

static void one_weight(lb_net *n) {
    const int w = node_called(n, "layer.1.ffn.down")->in[1].value;
    float *x = (float *)(uintptr_t)n->values[w].weights;
    x[5] = nextafterf(x[5] * 1.01f, 9);
}

static void a_planted_fault_is_named(void **state) {
    (void)state;
    static const struct {
        void (*plant)(lb_net *n);
        const char *node, *arith;
    } faults[] = {{wrong_eps, "layer.1.ffn.norm", "f32"},
                  {swapped_heads, "layer.1.attn.head.1", "f32"},
                  {swapped_heads, "layer.1.attn.head.1", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"},
                  {stale_cache, "layer.1.attn.head.3", "f32"},
                  {stale_cache, "layer.1.attn.head.3", "sm_80/mma.m16n8k16.f32.f16.f16.f32"},
                  {no_mask, "layer.0.attn.head.0", "bf16"},
                  {late_position, "layer.0.attn.k.rope.head.1", "f32"},
                  {one_weight, "layer.1.ffn.down", "f32"}};
    const char *path = llama_bin();
    lb_net *good = net_of(path, NULL);
    lb_arith *f64 = arith_of("f64");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        lb_net *bad = net_of(path, NULL);
        lb_arith *a = arith_of(faults[i].arith);
        lb_net_report *r;
        lb_error err = {0};
        faults[i].plant(bad);
        if (lb_net_compare_models(good, f64, bad, a, &nine, NULL, NULL, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        const char *named = r->first_over < r->step_count ? r->steps[r->first_over].node : "nothing";
        if (strcmp(named, faults[i].node) != 0) fail_msg("row %zu: %s is named, the fault is in %s", i, named, faults[i].node);
        lb_net_report_close(r);
        lb_arith_close(a);
        lb_net_close(bad);
    }
    lb_arith_close(f64);
    lb_net_close(good);
}

/* What an engine would write down: a run's values, one of them changed by `scale` where it is called `spoilt`, one left out. */
static const char *trace_of(const lb_net *n, const char *spoilt, const char *left_out, float scale) {
    tensors all = {.count = 0};
    lb_arith *a = arith_of("contracted");
    lb_net_run *r;
    lb_error err = {0};
    size_t rows, cols;
    const char *name;
    const double *v;
    double y[9 * VOCAB];
    assert_int_equal(lb_net_run_open(&r, n, a, &err), LB_OK);
    assert_int_equal(lb_net_run_step(r, &nine, y, &err), LB_OK);
    for (size_t i = 0; (v = lb_net_run_value(r, i, &name, &rows, &cols)); i++) {
        if (strcmp(name, left_out) == 0) continue;
        float *x = add_tensor(&all, name, rows, cols);
        for (size_t e = 0; e < rows * cols; e++) x[e] = (float)v[e] * (strcmp(name, spoilt) == 0 && e / cols == 3 ? scale : 1);
    }
    lb_net_run_close(r);
    lb_arith_close(a);
    write_tensors(&all, "trace.safetensors");
    free_tensors(&all);
    return "trace.safetensors";
}

static void a_trace_is_judged_on_its_own_activations(void **state) {
    (void)state;
    lb_net *n = net_of(llama_bin(), NULL);
    lb_arith *f64 = arith_of("f64"), *a;
    char name[200];
    lb_error err = {0};
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        lb_net_report *r;
        size_t over = 0, absent = 0;
        snprintf(name, sizeof name, "trace:%s", net_path(trace_of(n, "layer.1.ffn.act", "layer.0.ffn.norm", spoilt ? 1.001f : 1)));
        a = arith_of(name);
        if (lb_net_compare(n, f64, a, &nine, NULL, NULL, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        for (size_t i = 0; i < r->step_count; i++) {
            absent += !r->steps[i].compared;
            over += r->steps[i].ratio > 1;
        }
        if (spoilt) {
            EXPECT_STRING(__LINE__, r->steps[r->first_over].node, "layer.1.ffn.act");
            assert_int_equal(r->steps[r->first_over].row, 3);
        }
        assert_int_equal(over > 0, spoilt);
        assert_int_equal(absent, 1);
        lb_net_report_close(r);
        lb_arith_close(a);
    }
    tensors other = {.count = 0};
    lb_net_report *r;
    draw_tensor(&other, "x", 2, 2, 1, 0);
    snprintf(name, sizeof name, "trace:%s", write_tensors(&other, "other.safetensors"));
    free_tensors(&other);
    a = arith_of(name);
    assert_int_equal(lb_net_compare(n, f64, a, &nine, NULL, NULL, &r, &err), LB_E_FILE);
    lb_arith_close(a);
    lb_arith_close(f64);
    lb_net_close(n);
}

static void what_has_no_limit_is_not_compared(void **state) {
    (void)state;
    lb_net *n = net_of(llama_bin(), NULL);
    lb_arith *f64 = arith_of("f64"), *f32 = arith_of("f32");
    lb_net_report *r;
    lb_error err = {0};
    float *table = (float *)(uintptr_t)n->values[node_called(n, "embedding")->in[0].value].weights;
    for (size_t i = 0; i < (size_t)VOCAB * DIM; i++) table[i] *= 1e30f; /* squares overflow f32 in the first norm */
    if (lb_net_compare(n, f64, f32, &nine, NULL, NULL, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_string_equal(r->steps[0].node, "embedding");
    assert_true(r->steps[0].compared);
    assert_string_equal(r->steps[1].node, "layer.0.attn.norm");
    assert_false(r->steps[1].compared);
    lb_net_report_close(r);
    lb_arith_close(f64);
    lb_arith_close(f32);
    lb_net_close(n);
}

/* ---- refused -------------------------------------------------------------------------------------------------------------------- */

static void unread(int line, const char *path, const lb_net_options *o, const char *part) {
    lb_net *n;
    lb_error err = {0};
    if (lb_net_open(&n, path, o, &err) != LB_E_FILE) fail_msg("row at %s:%d was read", __FILE__, line);
    assert_null(n);
    if (!strstr(err.message, part)) fail_msg("row at %s:%d: \"%s\" says nothing of \"%s\"", __FILE__, line, err.message, part);
}

static void what_is_wrong_with_a_model_is_said(void **state) {
    (void)state;
    tensors all = {.count = 0};
    draw_mlp(&all);
    draw_tensor(&all, "layers.1.scale", 0, 7, 1, 0);
    unread(__LINE__, write_tensors(&all, "more.safetensors"), NULL, "tensor \"layers.1.scale\" is no part of a mlp network");
    lb_net_close(net_of(net_path("more.safetensors"), &(lb_net_options){.drop_unknown = true}));
    all.t[4].name = "other";
    all.t[3].name = "layers.1.bais";
    unread(__LINE__, write_tensors(&all, "less.safetensors"), NULL, "tensor \"layers.1.bias\": the model needs it");
    all.t[3].name = "layers.1.bias";
    all.t[2].shape[0] = 20;
    all.t[2].shape[1] = 7;
    unread(__LINE__, write_tensors(&all, "turned.safetensors"), NULL, "takes 7 columns; the layer before it gives 20");
    all.t[0].name = "w";
    unread(__LINE__, write_tensors(&all, "none.safetensors"), NULL, "of no network that is known");
    free_tensors(&all);
    unread(__LINE__, net_path("absent"), NULL, "No such file");
    const char *path = llama_bin();
    assert_int_equal(truncate(path, 1000), 0);
    unread(__LINE__, path, NULL, "neither npy nor safetensors");
    char kept[160];
    snprintf(kept, sizeof kept, "%s", llama_safetensors());
    path = kept;
    assert_int_equal(unlink(net_path("config.json")), 0);
    unread(__LINE__, path, NULL, "give --heads");
    unread(__LINE__, path, &(lb_net_options){.heads = 5}, "make no Llama");
    lb_net_close(net_of(path, &(lb_net_options){.heads = HEADS}));
    write_text("config.json", "{\"num_attention_heads\": \"four\"}");
    unread(__LINE__, path, NULL, "is no number above 0");
    write_text("config.json", "{");
    unread(__LINE__, path, NULL, "line ");
}

static void bad_inputs_are_refused(void **state) {
    (void)state;
    static const int32_t high[] = {1, VOCAB}, low[] = {-1};
    static int32_t many[CONTEXT + 1];
    lb_net *n = net_of(llama_bin(), NULL);
    lb_arith *a = arith_of("f32");
    lb_net_run *r;
    lb_error err = {0};
    double *y = malloc((CONTEXT + 1) * VOCAB * sizeof *y);
    assert_int_equal(lb_net_run_open(&r, n, a, &err), LB_OK);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = high, .rows = 2}, y, &err), LB_E_ARG);
    lb_net_run_reset(r);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = low, .rows = 1}, y, &err), LB_E_ARG);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = many, .rows = CONTEXT + 1}, y, &err), LB_E_ARG);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.rows = 1}, y, &err), LB_E_ARG);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = many}, y, &err), LB_E_ARG);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = many, .rows = CONTEXT}, y, &err), LB_OK);
    assert_int_equal(lb_net_run_step(r, &(lb_net_input){.tokens = many, .rows = 1}, y, &err), LB_E_ARG);
    lb_net_run_close(r);
    lb_arith_close(a);
    free(y);
    lb_net_close(n);
    assert_int_equal(lb_arith_open(&a, "f33", &err), LB_E_NAME);
    assert_non_null(strstr(err.message, "f32"));
    assert_int_equal(lb_arith_open(&a, "sm_80/mma.m16n8k32.s32.s8.s8.s32", &err), LB_E_UNAVAILABLE);
    assert_int_equal(lb_arith_open(&a, "on:nowhere", &err), LB_E_NAME);
}

/* ---- tokens ---------------------------------------------------------------------------------------------------------------------- */

static void tokens_are_drawn_as_asked(void **state) {
    (void)state;
    const double logits[5] = {1, 3, 3, -INFINITY, 2};
    size_t seen[5] = {0};
    int32_t token;
    lb_error err = {0};
    assert_int_equal(lb_sample_token(&(lb_sampler){0}, logits, 5, 0, &token, &err), LB_OK);
    assert_int_equal(token, 1); /* the first of equal ones */
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(lb_sample_token(&(lb_sampler){.temperature = 1, .seed = 5}, logits, 5, i, &token, &err), LB_OK);
        seen[token]++;
    }
    const double sum = exp(-2) + 2 + exp(-1);
    assert_int_equal(seen[3], 0);
    assert_true(fabs((double)seen[1] / 20000 - 1 / sum) < 0.015 && fabs((double)seen[0] / 20000 - exp(-2) / sum) < 0.01);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(lb_sample_token(&(lb_sampler){.temperature = 2, .top_k = 2}, logits, 5, i, &token, &err), LB_OK);
        assert_true(token == 1 || token == 2);
        assert_int_equal(lb_sample_token(&(lb_sampler){.temperature = 1, .top_p = 0.3}, logits, 5, i, &token, &err), LB_OK);
        assert_int_equal(token, 1);
    }
    assert_int_equal(lb_sample_token(&(lb_sampler){0}, (double[]){1, NAN}, 2, 0, &token, &err), LB_E_ARG);
    assert_int_equal(lb_sample_token(&(lb_sampler){.temperature = -1}, logits, 5, 0, &token, &err), LB_E_ARG);
    assert_int_equal(lb_sample_token(&(lb_sampler){.top_p = 2}, logits, 5, 0, &token, &err), LB_E_ARG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_llama_in_two_layouts_answers_alike),
        cmocka_unit_test(a_llama_computes_what_its_definition_says),
        cmocka_unit_test(an_mlp_is_linear_gelu_linear),
        cmocka_unit_test(no_arithmetic_is_beyond_its_own_budget),
        cmocka_unit_test(chunks_change_no_bit),
        cmocka_unit_test(a_planted_fault_is_named),
        cmocka_unit_test(a_trace_is_judged_on_its_own_activations),
        cmocka_unit_test(what_has_no_limit_is_not_compared),
        cmocka_unit_test(what_is_wrong_with_a_model_is_said),
        cmocka_unit_test(bad_inputs_are_refused),
        cmocka_unit_test(tokens_are_drawn_as_asked),
    };
    return cmocka_run_group_tests(tests, make_net_folder, remove_net_folder);
}
