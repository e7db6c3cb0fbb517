/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A model file: llama2.c, gguf or safetensors. One that is read runs, or says why not. */
#include "lastbit/nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void run_one(const lb_net *n) {
    const lb_net_about about = lb_net_describe(n);
    const int32_t token = 0;
    lb_arith *a;
    lb_net_run *r;
    lb_error err;
    if (about.nodes > 200 || about.weights > 10000 || about.in_cols > 1000 || about.out_cols > 10000) return; /* time */
    double *x = calloc(about.in_cols + 1, sizeof *x), *y = calloc(about.out_cols + 1, sizeof *y);
    const lb_net_input in = {.tokens = about.takes_tokens ? &token : NULL, .values = about.takes_tokens ? NULL : x, .rows = 1};
    if (!x || !y || lb_arith_open(&a, "f32", &err) != LB_OK) abort();
    if (lb_net_run_open(&r, n, a, &err) != LB_OK) abort();
    if (lb_net_run_step(r, &in, y, &err) != LB_OK && !*err.message) abort();
    lb_net_run_close(r);
    lb_arith_close(a);
    free(x);
    free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static char path[64];
    lb_net *n;
    lb_error err = {0};
    if (!*path) snprintf(path, sizeof path, "/tmp/lastbit-fuzz-net.%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) abort();
    const lb_net_options o = {.heads = 2, .drop_unknown = true};
    if (lb_net_open(&n, path, &o, &err) == LB_OK) {
        run_one(n);
        lb_net_close(n);
    } else if (n || !*err.message) {
        abort();
    }
    unlink(path);
    return 0;
}
