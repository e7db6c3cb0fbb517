/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An engine's own activations in place of ours. */
#include "base/try.h"
#include "nets/node.h"

#include <math.h>
#include <stdlib.h>

/* Half a unit in the last place of the format that the engine wrote: its rounding on the way to the file. */
static double written_rounding(const lb_tensor *t, double value) {
    const lb_format *f = t->dtype->format >= 0 ? lb_format_row((lb_format_id)t->dtype->format) : lb_format_row(LB_F32);
    if (f->man_bits >= 23 || !isfinite(value)) return 0;
    const int least = 2 - (1 << (f->exp_bits - 1)), e = value == 0 ? least : ilogb(value);
    return ldexp(1, (e < least ? least : e) - f->man_bits - 1);
}

static lb_status check_shape(const lb_node_job *job, const lb_tensor *t, size_t cols, lb_error *err) {
    const size_t have = t->rank ? t->shape[t->rank - 1] : 0, n = lb_tensor_count(t);
    if (have == cols && n / cols >= job->before + job->rows) return LB_OK;
    return lb_fail(err, LB_E_FILE, lb_file_path(job->arith->trace),
                   "tensor \"%.64s\" has %zu numbers in rows of %zu; %zu rows of %zu are wanted", t->name, n, have, job->before + job->rows,
                   cols);
}

static lb_status take(const lb_node_job *job, const lb_tensor *t, lb_node_result *out, lb_error *err) {
    const lb_view *view = &job->node->out;
    const size_t cols = job->net->values[view->value].cols, width = view->width ? view->width : cols;
    float *line = malloc(width * sizeof *line + 1);
    lb_status s = line ? check_shape(job, t, cols, err) : lb_fail(err, LB_E_MEMORY, t->name, "out of memory");
    for (size_t r = 0; s == LB_OK && r < job->rows; r++) {
        s = lb_tensor_values(t, (job->before + r) * cols + view->col, width, line, err);
        for (size_t c = 0; s == LB_OK && c < width; c++) {
            const size_t i = r * width + c;
            out->out[i] = (double)line[c];
            if (out->budget) out->budget[i] += written_rounding(t, out->value[i]);
        }
    }
    free(line);
    return s;
}

lb_status lb_node_traced(const lb_node_job *job, bool judged, lb_node_result *out, lb_error *err) {
    const lb_arith f32 = {.how = LB_ARITH_REPLAY, .format = lb_format_row(LB_F32), .order = LB_REPLAY_SEQUENTIAL};
    const lb_tensor *t = lb_file_find(job->arith->trace, job->net->values[job->node->out.value].name);
    lb_node_job ours = *job;
    ours.arith = &f32;
    LB_TRY(lb_node_run(&ours, judged, out, err));
    out->absent = !t;
    return t ? take(job, t, out, err) : LB_OK;
}
