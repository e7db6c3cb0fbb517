/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A kernel of one's own as a plugin: docs/howto/write-a-plugin.md. cc -shared -fPIC -I include examples/plugin_gelu.c -o plugin_gelu.so -lm */
#include "lastbit/plugin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The kernel that is to be judged; it knows nothing of lastbit. */
static void my_gelu(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const float inner = 0.79788456F * (x[i] + 0.044715F * x[i] * x[i] * x[i]);
        y[i] = 0.5F * x[i] * (1.0F + tanhf(inner));
    }
}

static int can(void *state, const lb_plugin_call *call, const char **why_not) {
    (void)state;
    *why_not = "this plugin has gelu in f32";
    return strcmp(call->op, "gelu") == 0 && strcmp(call->format, "f32") == 0;
}

static int run(void *state, const lb_plugin_call *call) {
    (void)state;
    if (call->in[0].bytes != call->out[0].bytes) {
        snprintf(call->message, call->message_size, "%s and %s differ in size", call->in[0].name, call->out[0].name);
        return 1;
    }
    my_gelu(call->in[0].data, call->out[0].data, call->out[0].bytes / sizeof(float));
    return 0;
}

const lb_plugin *lastbit_plugin(void);

const lb_plugin *lastbit_plugin(void) {
    static const lb_plugin plugin = {
        .struct_size = sizeof plugin, .version = LB_PLUGIN_VERSION, .detail = "gelu by tanhf of the C library", .can = can, .run = run};
    return &plugin;
}
