/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A plugin that does what the environment variable LB_BAD_PLUGIN says; by itself a right product and a right add, both in f32. */
#include "lastbit/plugin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *behaviour) {
    const char *asked = getenv("LB_BAD_PLUGIN");
    return asked && strcmp(asked, behaviour) == 0;
}

static double param(const lb_plugin_call *c, const char *name) {
    for (size_t i = 0; i < c->param_count; i++)
        if (strcmp(c->params[i].name, name) == 0) return c->params[i].value;
    return -1;
}

static void product(const lb_plugin_call *c) {
    const size_t m = (size_t)param(c, "m"), n = (size_t)param(c, "n"), k = (size_t)param(c, "k");
    const float *a = c->in[0].data, *b = c->in[1].data, *start = c->in_count > 2 ? c->in[2].data : NULL;
    const int turned = param(c, "tb") != 0;
    float *d = c->out[0].data;
    for (size_t i = 0; i < m * n; i++) {
        float sum = start ? start[i] : 0.0F;
        for (size_t l = 0; l < k; l++) sum += a[i / n * k + l] * (turned ? b[i % n * k + l] : b[l * n + i % n]);
        d[i] = sum;
    }
}

static void add(const lb_plugin_call *c) {
    const float *x = c->in[0].data, *y = c->in[1].data;
    float *z = c->out[0].data;
    for (size_t i = 0; i < c->out[0].dims[0]; i++) z[i] = x[i] + y[i];
}

static int can(void *state, const lb_plugin_call *c, const char **why_not) {
    (void)state;
    if (is("refuse")) return 0;
    *why_not = "product and add, in f32";
    return (strcmp(c->op, "product") == 0 || strcmp(c->op, "add") == 0) && strcmp(c->in[0].format, "f32") == 0 &&
           strcmp(c->format, "f32") == 0;
}

static int run(void *state, const lb_plugin_call *c) {
    float *out = c->out[0].data;
    const size_t count = c->out[0].bytes / sizeof *out;
    if (is("state") && (!state || *(int *)state != 17)) return 9; /* run gets what open gave */
    if (is("nothing")) return 0;
    if (is("crash")) raise(SIGSEGV);
    if (is("exit")) _Exit(3);
    while (is("hang")) {}
    if (is("fail")) {
        snprintf(c->message, c->message_size, "the tank is empty");
        return 7;
    }
    if (strcmp(c->op, "add") == 0)
        add(c);
    else
        product(c);
    if (is("behind")) memset(out + count, 0, 5 * sizeof *out);
    if (is("before")) memset(out - 1, 0, sizeof *out);
    if (is("input")) *(float *)c->in[1].data += 1.0F;
    return 0;
}

static int open_it(void **state, const char **why) {
    static int mine = 17;
    *state = &mine;
    *why = "no licence";
    return is("closed");
}

const lb_plugin *lastbit_plugin(void);

const lb_plugin *lastbit_plugin(void) {
    static lb_plugin plugin = {.version = LB_PLUGIN_VERSION, .detail = "a bad plugin", .open = open_it, .can = can, .run = run};
    plugin.struct_size = is("short") ? sizeof plugin.struct_size : sizeof plugin;
    if (is("version")) plugin.version = 99;
    if (is("no run")) plugin.run = NULL;
    return is("null") ? NULL : &plugin;
}
