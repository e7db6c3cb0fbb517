/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* x / (1 + exp(-x)), one work-item an element: silu.json. */
kernel void silu(global const float *x, global float *y, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] = x[i] / (1.0f + exp(-x[i]));
}
