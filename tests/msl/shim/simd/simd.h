// SPDX-License-Identifier: MIT OR Apache-2.0
// What the kernels use of simd.h is in metal_stdlib.
#include <metal_stdlib>
