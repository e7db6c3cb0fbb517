/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: numbers that carry two bounds through a formula. v is the value in double; |v - truth| <= e;
 * a kernel that follows the formula in f32, any order, has |kernel - truth| <= l. NaN and Inf have e = l = 0. */
#ifndef LB_REFS_OP_NUM_H
#define LB_REFS_OP_NUM_H

#include "lastbit/operators.h"

typedef struct lb_num {
    double v, e, l;
} lb_num;

typedef enum lb_function {
#define LB_FUNCTION(name, u0, x0, a0, s0, u1, x1, a1, s1, u2, x2, a2, s2) LB_FN_##name,
#include "refs/functions.def"
#undef LB_FUNCTION
    LB_FN_COUNT
} lb_function;

#define LB_U 0x1p-24 /* half an ULP of f32, relative */

lb_num lb_num_of(double v, lb_function_class c); /* an input as it is */
lb_num lb_num_constant(double v);                /* a constant of the formula: rounded to double here, to f32 in a kernel */
lb_num lb_num_add(lb_num a, lb_num b, lb_function_class c);
lb_num lb_num_sub(lb_num a, lb_num b, lb_function_class c);
lb_num lb_num_mul(lb_num a, lb_num b, lb_function_class c);
lb_num lb_num_div(lb_num a, lb_num b, lb_function_class c);

/** f(a) for the one-argument rows of functions.def. */
lb_num lb_num_call(lb_function f, lb_num a, lb_function_class c);
lb_num lb_num_pow(double base, lb_num y, lb_function_class c);

/** What one call of f at x may add, of a result v: the row's ULP and absolute error as a number. */
double lb_function_error(lb_function f, double x, double v, lb_function_class c);

/** What flushing may add to a result of at least |v| - l. */
double lb_num_floor(double v, double l, lb_function_class c);

/* A sum in double-double with sum|terms|; a kernel may take any order. */
typedef struct lb_sum {
    double hi, lo, gauge, e, l;
    size_t count;
    int quantum;    /* every term is a multiple of 2^quantum */
    double special; /* sum of NaN and Inf terms */
    bool has_special;
} lb_sum;

void lb_sum_start(lb_sum *s);
void lb_sum_add(lb_sum *s, lb_num a);
void lb_sum_product(lb_sum *s, lb_num a, lb_num b);
lb_num lb_sum_value(const lb_sum *s, lb_function_class c);

#endif
