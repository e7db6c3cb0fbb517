/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Kernels as engineers write them (split K, online softmax, reciprocals, any order of summation), on a device whose functions are off by
 * as much as its class allows: all within the limit, for every class. */
#include "ops_help.h"

#include <float.h>
#include <string.h>

typedef struct device {
    lb_op_case *x;
    lb_function_class c;
    uint64_t state;
} device;

static uint64_t random_word(device *d) {
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

/* v, off by up to what row `name` of functions.def allows at x. */
static float coarse(device *d, const char *name, double x, double v) {
    size_t i = 0;
    if (!(fabs(v) < (double)FLT_MAX)) return (float)v;
    while (strcmp(lb_function_row_at(i)->name, name) != 0) i++;
    const lb_function_bound *b = &lb_function_row_at(i)->at[d->c];
    const double ulp = ldexp(1, (fabs(v) < FLT_MIN ? -126 : ilogb(v)) - 23);
    const double most = (b->ulp + b->ulp_per_x * fabs(x) - 0.5) * ulp + b->absolute; /* half an ULP is for rounding */
    const double by = (random_word(d) & 1 ? 1 : -1) * (random_word(d) % 4 ? 1.0 : 0.5);
    return (float)(v + (most > 0 ? most * by : 0));
}

static float divide(device *d, float a, float b) {
    return a == 0 ? 0 : coarse(d, "div", 0, (double)a / (double)b);
}

static float exponential(device *d, float x) {
    if (x == 0 && d->c != LB_FUNCTIONS_VULKAN) return 1; /* C's and OpenCL's edge case */
    return coarse(d, "exp", (double)x, exp((double)x));
}

/* Four partial sums that terms go to at random, products by fma or not. */
static float sum_any(device *d, const float *a, const float *b, size_t n) {
    float parts[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        float *s = &parts[random_word(d) % 4];
        if (!b)
            *s += a[i];
        else if (random_word(d) & 1)
            *s = fmaf(a[i], b[i], *s);
        else
            *s += a[i] * b[i];
    }
    return (parts[3] + parts[0]) + (parts[2] + parts[1]);
}

static float in(const device *d, unsigned port, size_t i) {
    const lb_format *f = d->x->in[port].format;
    return (float)lb_to_double(f, lb_load_code((char *)d->x->in[port].codes + i * (size_t)f->bytes, f->bytes));
}

static size_t whole(const device *d, const char *name) {
    return (size_t)lb_op_case_param(d->x, name);
}

static void put(device *d, size_t i, float v) {
    set_output(d->x, 0, i, (double)v);
}

enum { MOST = 256 };

/* ---- kernels ---------------------------------------------------------------------------------------------------------------- */

static void matmul(device *d) {
    const size_t n = whole(d, "n"), k = whole(d, "k");
    float a[MOST], b[MOST];
    for (size_t i = 0; i < whole(d, "m") * n; i++) {
        for (size_t l = 0; l < k; l++) {
            a[l] = in(d, 0, i / n * k + l);
            b[l] = in(d, 1, l * n + i % n);
        }
        put(d, i, sum_any(d, a, b, k));
    }
}

static void gelu(device *d) {
    for (size_t i = 0; i < whole(d, "n"); i++) {
        const float x = in(d, 0, i), u = 0.79788456f * fmaf(0.044715f * x * x, x, x), v = u > 15 ? 15 : u < -15 ? -15 : u;
        float t = coarse(d, "tanh", (double)v, tanh((double)v));
        t = t > 1 ? 1 : t < -1 ? -1 : t;
        put(d, i, 0.5f * x * (1 + t));
    }
}

static void silu(device *d) {
    for (size_t i = 0; i < whole(d, "n"); i++) put(d, i, in(d, 0, i) * divide(d, 1, 1 + exponential(d, -in(d, 0, i))));
}

/* One pass, rescaled at each rise of the maximum. */
static void attend(device *d, const float *s, size_t keys, size_t columns, size_t out) {
    float top = -INFINITY, sum = 0, o[MOST] = {0};
    for (size_t j = 0; j < keys; j++) {
        if (s[j] > top) {
            const float by = top == -INFINITY ? 0 : exponential(d, top - s[j]);
            for (size_t c = 0; c < columns; c++) o[c] *= by;
            sum *= by;
            top = s[j];
        }
        const float w = exponential(d, s[j] - top);
        for (size_t c = 0; c < columns; c++) o[c] = fmaf(w, in(d, 2, j * columns + c), o[c]);
        sum += w;
    }
    const float by = divide(d, 1, sum);
    for (size_t c = 0; c < columns; c++) put(d, out + c, o[c] * by);
}

static void attention(device *d) {
    const size_t width = whole(d, "d"), seq = whole(d, "seq");
    float q[MOST], k[MOST], s[MOST];
    const float scale = coarse(d, "rsqrt", 0, 1 / sqrt((double)width));
    for (size_t i = 0; i < whole(d, "m"); i++) {
        for (size_t j = 0; j < seq; j++) {
            for (size_t c = 0; c < width; c++) {
                q[c] = in(d, 0, i * width + c) * scale; /* before the product */
                k[c] = in(d, 1, j * width + c);
            }
            s[j] = sum_any(d, q, k, width);
        }
        attend(d, s, seq, width, i * width);
    }
}

/* Four parts, each with its own maximum, then joined. */
static void softmax(device *d) {
    const size_t n = whole(d, "d");
    for (size_t row = 0; row < whole(d, "rows"); row++) {
        float top[4], sum[4] = {0}, all = -INFINITY, total = 0, w[MOST];
        for (size_t p = 0; p < 4; p++) {
            top[p] = -INFINITY;
            for (size_t j = p; j < n; j += 4) top[p] = fmaxf(top[p], in(d, 0, row * n + j));
            for (size_t j = p; j < n; j += 4) sum[p] += w[j] = exponential(d, in(d, 0, row * n + j) - top[p]);
            all = fmaxf(all, top[p]);
        }
        for (size_t p = 0; p < 4; p++) {
            const float by = exponential(d, top[p] - all);
            total = fmaf(sum[p], by, total);
            for (size_t j = p; j < n; j += 4) w[j] *= by;
        }
        const float by = divide(d, 1, total);
        for (size_t j = 0; j < n; j++) put(d, row * n + j, w[j] * by);
    }
}

static void layernorm(device *d) {
    const size_t n = whole(d, "d");
    const float per = 1.0f / (float)n;
    float x[MOST], away[MOST];
    for (size_t row = 0; row < whole(d, "rows"); row++) {
        for (size_t i = 0; i < n; i++) x[i] = in(d, 0, row * n + i);
        const float mean = sum_any(d, x, NULL, n) * per;
        for (size_t i = 0; i < n; i++) away[i] = x[i] - mean;
        const double square = (double)(float)(sum_any(d, away, away, n) * per + 1e-5f);
        const float scale = coarse(d, "rsqrt", 0, 1 / sqrt(square));
        for (size_t i = 0; i < n; i++) put(d, row * n + i, fmaf(away[i] * scale, in(d, 1, i), in(d, 2, i)));
    }
}

static void rmsnorm(device *d) {
    const size_t n = whole(d, "d");
    float x[MOST];
    for (size_t row = 0; row < whole(d, "rows"); row++) {
        for (size_t i = 0; i < n; i++) x[i] = in(d, 0, row * n + i);
        const float scale = coarse(d, "rsqrt", 0, 1 / sqrt((double)(divide(d, sum_any(d, x, x, n), (float)n) + 1e-5f)));
        for (size_t i = 0; i < n; i++) put(d, row * n + i, x[i] * (scale * in(d, 1, i)));
    }
}

static void rope(device *d) {
    const size_t n = whole(d, "d"), half = n / 2;
    for (size_t i = 0; i < whole(d, "rows") * half; i++) {
        const float power = divide(d, -2.0f * (float)(i % half), (float)n);
        const double turns = power == 0 ? 1 : pow(10000, (double)power);
        const float frequency = power == 0 ? 1 : coarse(d, "pow", (double)power * log2(10000), turns),
                    angle = in(d, 1, i / half) * frequency;
        const float c = coarse(d, "cos", 0, cos((double)angle)), s = coarse(d, "sin", 0, sin((double)angle));
        const size_t a = i / half * n + i % half, b = a + half;
        put(d, a, fmaf(in(d, 0, a), c, -(in(d, 0, b) * s)));
        put(d, b, in(d, 0, b) * c + in(d, 0, a) * s);
    }
}

static void scan(device *d) {
    const size_t width = whole(d, "d"), state = whole(d, "state");
    for (size_t c = 0; c < width; c++) {
        float h[MOST] = {0}, out[MOST];
        for (size_t i = 0; i < whole(d, "seq"); i++) {
            const float delta = in(d, 1, i * width + c), u = in(d, 0, i * width + c);
            for (size_t n = 0; n < state; n++) {
                h[n] = fmaf(exponential(d, delta * in(d, 2, c * state + n)), h[n], delta * u * in(d, 3, i * state + n));
                out[n] = in(d, 4, i * state + n);
            }
            put(d, i * width + c, sum_any(d, out, h, state));
        }
    }
}

/* ---- all of them -------------------------------------------------------------------------------------------------------------- */

static const struct {
    int line;
    const char *name;
    void (*run)(device *d);
} kernels[] = {
    {__LINE__, "matmul m=8 k=200 n=9", matmul},
    {__LINE__, "gelu n=1000 magnitude=4", gelu},
    {__LINE__, "silu n=1000 magnitude=20", silu},
    {__LINE__, "attention m=5 seq=40 d=16", attention},
    {__LINE__, "attention m=5 seq=200 d=4 magnitude=4", attention},
    {__LINE__, "softmax rows=8 d=200 magnitude=5", softmax},
    {__LINE__, "layernorm rows=8 d=100", layernorm},
    {__LINE__, "rmsnorm rows=8 d=100", rmsnorm},
    {__LINE__, "rope rows=16 d=32 rotary=32 magnitude=20", rope},
    {__LINE__, "selective_scan seq=30 d=4 state=5", scan},
};

static double worst_ratio(int line, device *d, const char *text) {
    lb_op_truth *t = truth_of(line, d->x, d->c);
    double worst = 0;
    for (size_t i = 0; i < t->count[0]; i++) {
        double ratio;
        if (lb_op_judge(t, d->x, 0, i, &ratio) == LB_OP_WRONG)
            fail_msg("row at line %d: %s, %s: element %zu is %.9g, truth %.9g, limit %g", line, text, lb_function_class_name(d->c), i,
                     output(d->x, 0, i), t->value[0][i], t->limit[0][i]);
        worst = fmax(worst, ratio);
    }
    lb_op_truth_close(t);
    return worst;
}

static void a_competent_kernel_is_within_the_limit_of_its_devices_class(void **state) {
    (void)state;
    static const char *const dists[] = {"uniform", "gaussian", "outliers", "cancelling", "offset", "zero_rows"};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (int c = 0; c < LB_FUNCTION_CLASS_COUNT; c++) {
            double worst = 0;
            for (size_t i = 0; i < 6 * 6; i++) {
                char text[200];
                snprintf(text, sizeof text, "op=%s dist=%s fmt=%s seed=%zu", kernels[k].name, dists[i % 6], i % 4 ? "f32" : "f16", i + 1);
                device d = {open_case(kernels[k].line, text), (lb_function_class)c, 77 + i};
                kernels[k].run(&d);
                worst = fmax(worst, worst_ratio(kernels[k].line, &d, text));
                lb_op_case_close(d.x);
            }
            printf("%-44s %-7s worst %.3f of the limit\n", kernels[k].name, lb_function_class_name((lb_function_class)c), worst);
            if (!(worst > 0.005)) fail_msg("row at line %d: a limit that nothing comes near", kernels[k].line);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_competent_kernel_is_within_the_limit_of_its_devices_class)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
