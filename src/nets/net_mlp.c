/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* layers.{i}.weight [out][in], layers.{i}.bias [out], i from 0; GELU between layers, none behind the last. source: seed-002 */
#include "nets/net.h"

#include <stdio.h>

static bool is_mlp(const lb_file *f) {
    return lb_file_find(f, "layers.0.weight") != NULL;
}

static void build_mlp(lb_builder *b, const lb_net_options *o) {
    int x = -1;
    char name[LB_NET_NAME];
    (void)o;
    for (size_t i = 0; b->status == LB_OK; i++) {
        snprintf(name, sizeof name, "layers.%zu.weight", i);
        const lb_tensor *t = lb_file_find(b->n->file, name);
        if (!t) break;
        const size_t rows = t->shape[0], cols = t->rank == 2 ? t->shape[1] : 0;
        if (x < 0) b->n->input = x = lb_build_value(b, LB_VALUE_ROW, cols, "input");
        if (x >= 0 && cols != b->n->values[x].cols) {
            b->status = lb_fail(b->err, LB_E_FILE, lb_file_path(b->n->file),
                                "tensor \"%s\" takes %zu columns; the layer before it gives %zu", name, cols, b->n->values[x].cols);
            return;
        }
        const int w = lb_build_weight(b, lb_load_matrix(b, name, rows, cols, false), rows, cols, name);
        snprintf(name, sizeof name, "layers.%zu.bias", i);
        const int bias = lb_build_weight(b, lb_load_matrix(b, name, 1, rows, false), 1, rows, name);
        if (i) {
            snprintf(name, sizeof name, "layer.%zu.gelu", i - 1);
            x = lb_build_map(b, name, "gelu", x);
        }
        snprintf(name, sizeof name, "layer.%zu", i);
        x = lb_build_linear(b, name, x, w, bias, LB_VALUE_ROW);
        b->n->about.layers = i + 1;
        b->n->about.width = rows > b->n->about.width ? rows : b->n->about.width;
    }
    b->n->output = x;
}

const lb_net_row lb_net_mlp = {"mlp", "layers.{i}.weight and .bias, GELU between layers", is_mlp, build_mlp, NULL};
