// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums and maxima over the 64 invocations of a workgroup, as a tree in shared memory: no subgroup size is assumed.
const uint LANES = 64;
layout(local_size_x = 64) in;
shared float group_value[LANES];

float group_sum(uint lane, float v) {
    barrier();
    group_value[lane] = v;
    for (uint step = LANES / 2; step > 0; step >>= 1) {
        barrier();
        if (lane < step) group_value[lane] += group_value[lane + step];
    }
    barrier();
    return group_value[0];
}

// The largest; a NaN anywhere is the result.
float group_max(uint lane, float v) {
    barrier();
    group_value[lane] = v;
    for (uint step = LANES / 2; step > 0; step >>= 1) {
        barrier();
        if (lane < step) {
            const float a = group_value[lane], b = group_value[lane + step];
            group_value[lane] = lb_isnan(a) || a > b ? a : b;
        }
    }
    barrier();
    return group_value[0];
}
