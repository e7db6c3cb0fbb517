/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A plugin that adds (and runs linear layers), and misbehaves where n says so: 101 hangs, 102 crashes, 103 writes behind its output, 104 writes nothing, 105 writes
 * to an input, 106 exits, 107 fails, 108 gives other bits each time, 109 is wrong by 2^-20, 110 leaves the last element, 111 cannot.
 * Its matmul adds a row's products forwards where m is 1 and backwards elsewhere; its gelu takes tanh from exp of an unbounded argument. */
#include "lastbit/plugin.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int param(const lb_plugin_call *c, const char *name) {
    for (size_t i = 0; i < c->param_count; i++)
        if (strcmp(c->params[i].name, name) == 0) return (int)c->params[i].value;
    return -1;
}

static int can(void *state, const lb_plugin_call *c, const char **why_not) {
    (void)state;
    static const char *const ops[] = {"add", "linear", "matmul", "gelu"};
    bool known = false;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) known = known || strcmp(c->op, ops[i]) == 0;
    *why_not = "add, linear, matmul and gelu, in f32, and 111 is too many";
    return known && strcmp(c->format, "f32") == 0 && param(c, "n") != 111;
}

static void matmul(const lb_plugin_call *c) {
    const int m = param(c, "m"), k = param(c, "k"), n = param(c, "n");
    const float *a = c->in[0].data, *b = c->in[1].data;
    float *d = c->out[0].data;
    for (int i = 0; i < m * n; i++) {
        float sum = 0;
        for (int l = 0; l < k; l++) {
            const int at = m == 1 ? l : k - 1 - l;
            sum += a[i / n * k + at] * b[at * n + i % n];
        }
        d[i] = sum;
    }
}

static void gelu(const lb_plugin_call *c, int n) {
    const float *x = c->in[0].data;
    float *y = c->out[0].data;
    for (int i = 0; i < n; i++) {
        const float e = expf(2 * 0.7978846F * (x[i] + 0.044715F * x[i] * x[i] * x[i]));
        y[i] = 0.5F * x[i] * (1 + (e - 1) / (e + 1));
    }
}

static void linear(const lb_plugin_call *c) {
    const int m = param(c, "m"), k = param(c, "k"), n = param(c, "n");
    const float *x = c->in[0].data, *w = c->in[1].data, *b = c->in[2].data;
    float *y = c->out[0].data;
    for (int i = 0; i < m * n; i++) {
        y[i] = b[i % n];
        for (int l = 0; l < k; l++) y[i] += x[i / n * k + l] * w[i % n * k + l];
    }
}

static void add(const lb_plugin_call *c, int n) {
    static int calls;
    const float *x = c->in[0].data, *y = c->in[1].data;
    float *z = c->out[0].data;
    for (int i = 0; i < n; i++) z[i] = x[i] + y[i];
    if (n == 108 && calls++) z[7] = nextafterf(z[7], 0);
    if (n == 109) z[7] += 0x1p-20F;
}

static int run(void *state, const lb_plugin_call *c) {
    const int n = param(c, "n"), is_add = strcmp(c->op, "add") == 0, is_linear = strcmp(c->op, "linear") == 0;
    const int count = is_linear ? param(c, "m") * n : n;
    float *z = c->out[0].data;
    (void)state;
    if (strcmp(c->op, "matmul") == 0) matmul(c);
    if (strcmp(c->op, "gelu") == 0) gelu(c, n);
    if (!is_add && !is_linear) return 0;
    while (n == 101) {}
    if (n == 102) raise(SIGSEGV);
    if (n == 106) _Exit(3);
    if (n == 104) return 0;
    if (n == 107) {
        snprintf(c->message, c->message_size, "the tank is empty");
        return 7;
    }
    const float last = z[count - 1];
    if (is_linear)
        linear(c);
    else
        add(c, n);
    if (n == 103) memset(z + count, 0, 5 * sizeof *z);
    if (n == 105) *(float *)c->in[1].data += 1.0F;
    if (n == 110) z[count - 1] = last;
    return 0;
}

const lb_plugin *lastbit_plugin(void);

const lb_plugin *lastbit_plugin(void) {
    static const lb_plugin plugin = {
        .struct_size = sizeof plugin, .version = LB_PLUGIN_VERSION, .detail = "wild plugin, version 1.0", .can = can, .run = run};
    return &plugin;
}
