#version 450
// SPDX-License-Identifier: MIT OR Apache-2.0
// What stands before an emitted fragment (docs/tutorial-emulator.md): a group of 32, the matrices as words of two f16.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer A { uint a_words[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b_words[]; };
layout(set = 0, binding = 2) buffer D { uint d_words[]; };
layout(push_constant) uniform Params { int n; int k; } p;
