/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel table and the choice among its rows. */
#include "kernels/kernels.h"

#include "kernels/chains.h"
#include "kernels/dots.h"
#include "kernels/paranoid.h"
#include "kernels/sparse_drive.h"

#include <string.h>

static bool any_unit(const lb_unit *u) {
    (void)u;
    return true;
}

static bool has_portable(void) {
    return true;
}

#if defined(__x86_64__)
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static lb_status on_tiles(const lb_kernel *k, const lb_product *x, const lb_gemm_options *o, lb_error *err) {
    return lb_drive(k->tiles, k->wide, x, o, err);
}

static lb_status on_chains(const lb_kernel *k, const lb_product *x, const lb_gemm_options *o, lb_error *err) {
    return lb_chain_drive(k->chains, x, o, err);
}

static lb_status on_dense(const lb_kernel *k, const lb_product *x, const lb_gemm_options *o, lb_error *err) {
    (void)k;
    return lb_sparse_drive(x, o, err);
}

static lb_status on_engine(const lb_kernel *k, const lb_product *x, const lb_gemm_options *o, lb_error *err) {
    (void)k;
    (void)o;
    return lb_unit_gemm_with(x->u, x->a, x->b, x->c, &x->with, x->d, err);
}

#define F32(isa, note)                                                                                                                     \
    { "f32_" #isa, note "; rows beyond its exponents as f64_" #isa, has_##isa, lb_plan_can, on_tiles, &lb_tiles_##isa, false, NULL }
#define F64(isa, note)                                                                                                                     \
    { "f64_" #isa, note ": every finite operand", has_##isa, lb_plan_can_wide, on_tiles, &lb_tiles_##isa, true, NULL }
#define CHAIN(isa, note)                                                                                                                   \
    { "chain_" #isa, note ": what is no truncated block of floats", has_##isa, lb_chain_can, on_chains, NULL, false, &lb_chain_tiles_##isa }

static const lb_kernel kernels[] = {
#if defined(__x86_64__)
    F32(avx512, "16 lanes of AVX-512"),
    F32(avx2, "8 lanes of AVX2"),
    F64(avx512, "8 lanes of AVX-512"),
#endif
    F32(portable, "C that compilers vectorise"),
#if defined(__x86_64__)
    F64(avx2, "4 lanes of AVX2"),
#endif
    F64(portable, "C that compilers vectorise"),
#if defined(__x86_64__)
    CHAIN(avx512, "AVX-512"),
    CHAIN(avx2, "AVX2"),
#endif
    CHAIN(portable, "C that compilers vectorise"),
    {"sparse", "a compressed A spread out, on the fastest of the others", has_portable, lb_sparse_can, on_dense, NULL, false, NULL},
    {"engine", "the integer engine: every unit, every machine", has_portable, any_unit, on_engine, NULL, false, NULL},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

bool lb_kernel_row(size_t i, lb_kernel_text *out) {
    if (i >= KERNELS) return false;
    *out = (lb_kernel_text){kernels[i].name, kernels[i].note, kernels[i].usable()};
    return true;
}

static lb_status run(const lb_kernel *kernel, const lb_product *x, const lb_gemm_options *o, lb_error *err) {
#if LB_PARANOID
    if (kernel->run != on_engine) return lb_run_checked(kernel, x, o, err);
#endif
    return kernel->run(kernel, x, o, err);
}

lb_status lb_dot_batch(const lb_unit *u, const void *a, const void *b, const void *c, void *d, size_t count, lb_error *err) {
    const lb_mat am = lb_mat_of(lb_format_row(u->a), a, 1, u->k), bm = lb_mat_of(lb_format_row(u->b), b, u->k, 1);
    const lb_mat cm = lb_mat_of(lb_format_row(u->c), c, 1, 1);
    lb_mat dm = lb_mat_of(lb_format_row(u->d), d, 1, 1);
    for (size_t i = 0; i < KERNELS; i++)
        if (kernels[i].tiles && !kernels[i].wide && kernels[i].usable() && kernels[i].can(u))
            return lb_dots(kernels[i].tiles, u, a, b, c, d, count, err);
    lb_status s = LB_OK;
    for (size_t i = 0; s == LB_OK && i < count; i++) { /* each in its place */
        lb_mat ai = am, bi = bm, ci = cm, di = dm;
        ai.codes = (char *)am.codes + i * u->k * (size_t)am.format->bytes;
        bi.codes = (char *)bm.codes + i * u->k * (size_t)bm.format->bytes;
        if (c) ci.codes = (char *)cm.codes + i * (size_t)cm.format->bytes;
        di.codes = (char *)dm.codes + i * (size_t)dm.format->bytes;
        s = lb_unit_gemm(u, &ai, &bi, c ? &ci : NULL, &di, err);
    }
    return s;
}

lb_status lb_gemm_with(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, const lb_unit_operands *with, lb_mat *d,
                       const lb_gemm_options *options, lb_error *err) {
    const lb_gemm_options o = options ? *options : (lb_gemm_options){0};
    const lb_product x = {u, a, b, c, d, with ? *with : (lb_unit_operands){0}};
    for (size_t i = 0; i < KERNELS; i++) {
        const lb_kernel *kernel = &kernels[i];
        if (o.kernel && strcmp(o.kernel, kernel->name) != 0) continue;
        if (kernel->usable() && kernel->can(u)) return run(kernel, &x, &o, err);
        if (o.kernel) return lb_fail(err, LB_E_UNAVAILABLE, u->name, "kernel %s cannot run this unit on this CPU", o.kernel);
    }
    const char *names[KERNELS];
    for (size_t i = 0; i < KERNELS; i++) names[i] = kernels[i].name;
    const char *nearest = lb_nearest_name(o.kernel, names, KERNELS);
    return lb_fail(err, LB_E_NAME, o.kernel, "no such kernel%s%s%s", nearest ? "; did you mean " : "", nearest ? nearest : "",
                   nearest ? "?" : "");
}

lb_status lb_gemm(const lb_unit *u, const lb_mat *a, const lb_mat *b, const lb_mat *c, lb_mat *d, const lb_gemm_options *options,
                  lb_error *err) {
    return lb_gemm_with(u, a, b, c, NULL, d, options, err);
}
