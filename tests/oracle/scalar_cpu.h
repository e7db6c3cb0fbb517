/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A second opinion on scalar operations, from their PTX text alone: this CPU's arithmetic in its own rounding modes for f32 and f64, MPFR
 * for the narrower formats, plain C for integers. Shares no code with src/. */
#ifndef ORACLE_SCALAR_CPU_H
#define ORACLE_SCALAR_CPU_H

#include <stdbool.h>
#include <stdint.h>

/** Output words of one lane, false if there is no opinion here. A NaN result is any NaN. */
bool oracle_scalar(const char *ptx, const uint64_t *in, uint64_t *out);

/** Of integers, bits and video; oracle_scalar asks it where the operation is no float's. */
bool oracle_scalar_integer(const char *ptx, const uint64_t *in, uint64_t *out);

/** An approximate operation's true value, rounded to f32, f16, bf16 or f64; its inputs are taken as they are. */
bool oracle_scalar_true(const char *ptx, const uint64_t *in, uint64_t *out);

/** Whether the first instruction of the text has this part (".ftz" is "ftz"). */
bool oracle_has(const char *ptx, const char *part);

#endif
