/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an H100 recorded, without an H100. The tensor-core contract (docs/contracts-m16.md) was shaped by a run of a language model's
 * output layer: weights [248077][5120] times M rows of activations, bf16, every operand drawn from one seed. On the GPU 10, 16, 25 and
 * 37 outputs of M = 5, 8, 13 and 16 rows differed from the scalar kernel by more than the contract of that day allowed.
 * Here the same operands are drawn, the scalar kernel's order of summation is replayed in f32, and the tensor core is the exact model
 * of sm_90's bf16 instruction. source: seed-contract
 *   usage: lm_head [--columns N] [--first N] [--at-most SECONDS] [--threads N] [--list] [--if-fast]
 *   --list: each rejected element; --if-fast: SKIP (exit 77) where no kernel is faster than the integer engine
 *   exit 1: the whole layer was run, and its figures are not the recorded ones */
#include <lastbit/lastbit.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 248077, K = 5120, M = 16, LANES = 64, CHUNK = 8, STEPS = K / LANES, PANEL = 128 };

#define SEED UINT64_C(0x0927167C2026)

/* ---- the seeded generator -------------------------------------------------------------------------------------------- */

/* state -> state * mul + add, the step of the generator taken `count` times: by squaring, so that any draw can be had alone. */
static uint64_t skip(uint64_t state, uint64_t count) {
    uint64_t mul = UINT64_C(6364136223846793005), add = 1;
    for (; count; count >>= 1) {
        if (count & 1) state = state * mul + add;
        add *= mul + 1;
        mul *= mul;
    }
    return state;
}

/* Draws first … first + count: ((x mod 2049) - 1024) / 1024 as bf16, x the high half of the state. */
static void draw(uint16_t *codes, uint64_t first, size_t count, const uint16_t alphabet[2049]) {
    uint64_t state = skip(SEED, first);
    for (size_t i = 0; i < count; i++) {
        state = skip(state, 1);
        codes[i] = alphabet[(uint32_t)(state >> 32) % 2049];
    }
}

static float value(uint16_t code) {
    const uint32_t bits = (uint32_t)code << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- the scalar kernel: 64 lanes take chunks of eight; a halving tree for each warp of 32, then the two are added ---- */

/* Operands as the lanes meet them: step s of lane l is element (s / 8 * 64 + l) * 8 + s % 8. */
static void to_lanes(const uint16_t *codes, float *lanes /* [STEPS][LANES] */) {
    for (size_t s = 0; s < STEPS; s++)
        for (size_t l = 0; l < LANES; l++) lanes[s * LANES + l] = value(codes[(s / CHUNK * LANES + l) * CHUNK + s % CHUNK]);
}

static float scalar_kernel(const float *restrict a, const float *restrict w /* [STEPS][LANES] */) {
    float lane[LANES] = {0};
    for (size_t s = 0; s < STEPS; s++)
        for (size_t l = 0; l < LANES; l++) lane[l] += a[s * LANES + l] * w[s * LANES + l]; /* the product of two bf16 is exact */
    for (size_t offset = 16; offset; offset /= 2)
        for (size_t l = 0; l < offset; l++) {
            lane[l] += lane[l + offset];
            lane[32 + l] += lane[32 + l + offset];
        }
    return lane[0] + lane[32];
}

/* ---- the whole layer, panel by panel ----------------------------------------------------------------------------------- */

typedef struct layer {
    lb_unit unit;
    uint16_t alphabet[2049], *a; /* a [M][K] */
    float *a_lanes;              /* [M][STEPS][LANES] */
    uint16_t *scalar, *tensor;   /* [M][columns] */
    size_t first, columns, next; /* of the layer; the next panel to take */
    size_t done;                 /* columns that are finished */
    double start, at_most;       /* seconds */
    bool list;                   /* the elements over the budget */
    lb_error err;                /* the first that a thread met */
    pthread_mutex_t lock;
} layer;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static lb_status panel(layer *x, size_t at, size_t count, uint16_t *w, float *sums, lb_error *err) {
    float w_lanes[K];
    const lb_format *bf16 = lb_format_row(LB_BF16), *f32 = lb_format_row(LB_F32);
    draw(w, (uint64_t)(x->first + at) * K, count * K, x->alphabet);
    for (size_t j = 0; j < count; j++) {
        to_lanes(w + j * K, w_lanes);
        for (size_t i = 0; i < M; i++)
            x->scalar[i * x->columns + at + j] = (uint16_t)lb_from_double(bf16, (double)scalar_kernel(x->a_lanes + i * K, w_lanes));
    }
    const lb_mat a = lb_mat_of(bf16, x->a, M, K), b = lb_mat_transposed(lb_mat_of(bf16, w, count, K));
    lb_mat d = lb_mat_of(f32, sums, M, count), out = lb_mat_of(bf16, x->tensor + at, M, count);
    const lb_gemm_options one = {.threads = 1};
    out.row_stride = (ptrdiff_t)x->columns;
    const lb_status s = lb_gemm(&x->unit, &a, &b, NULL, &d, &one, err);
    if (s == LB_OK) lb_mat_round(&d, &out);
    return s;
}

/* Panels are taken in order, so what is finished when time is up is the beginning of the layer. */
static void *worker(void *shared) {
    layer *x = shared;
    uint16_t *w = malloc((size_t)PANEL * K * sizeof *w);
    float *sums = malloc((size_t)M * PANEL * sizeof *sums);
    lb_error err = {0};
    lb_status s = w && sums ? LB_OK : lb_fail(&err, LB_E_MEMORY, "lm_head", "no memory");
    for (;;) {
        pthread_mutex_lock(&x->lock);
        if (s != LB_OK) x->err = err;
        const bool stop = x->err.status != LB_OK || x->next >= x->columns || now() - x->start > x->at_most;
        const size_t at = x->next, count = stop ? 0 : x->columns - at < PANEL ? x->columns - at : PANEL;
        x->next += count;
        if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%zu of %zu columns %s", x->done, x->columns, stop ? "\r" : "");
        pthread_mutex_unlock(&x->lock);
        if (stop) break;
        s = panel(x, at, count, w, sums, &err);
        pthread_mutex_lock(&x->lock);
        x->done += count;
        pthread_mutex_unlock(&x->lock);
    }
    free(w);
    free(sums);
    return NULL;
}

/* ---- the comparison of that day ----------------------------------------------------------------------------------------- */

typedef struct figures {
    int over_budget, max_ulp, sign_flips;
    double rel_rms;
    size_t worst_row, worst_col;
} figures;

/* 2 ULP or 2^-20 of the block's RMS; a change of sign below 0.05 is counted and not graded. */
static figures compare(const layer *x, size_t rows, bool list) {
    figures f = {0};
    double error = 0, square = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < x->done; j++) {
            const double r = (double)value(x->scalar[i * x->columns + j]), t = (double)value(x->tensor[i * x->columns + j]);
            error += (t - r) * (t - r);
            square += r * r;
        }
    const double floor = LB_M16_OLD_FLOOR * sqrt(square / (double)(rows * x->done));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < x->done; j++) {
            const uint16_t r = x->scalar[i * x->columns + j], t = x->tensor[i * x->columns + j];
            const int ulp = abs(lb_bf16_ord(r) - lb_bf16_ord(t));
            const bool flip = (r ^ t) & 0x8000;
            if (flip && fabs((double)value(r)) < LB_M16_SIGN_FLIP_BAND) {
                f.sign_flips++;
                continue;
            }
            const bool over = ulp > LB_M16_MAX_ULP && !(fabs((double)value(r) - (double)value(t)) <= floor);
            f.over_budget += over;
            if (over && list) printf("  over: row %zu, column %zu, %04x against %04x, %d ULP\n", i, x->first + j, t, r, ulp);
            if (ulp <= f.max_ulp) continue;
            f.max_ulp = ulp;
            f.worst_row = i;
            f.worst_col = x->first + j;
        }
    f.rel_rms = square > 0 ? sqrt(error / square) : 0;
    return f;
}

/* What the H100 recorded (source: seed-contract). */
static const struct {
    size_t rows;
    int over_budget, max_ulp, sign_flips;
} recorded[] = {{5, 10, 32, 0}, {8, 16, 100, 1}, {13, 25, 100, 1}, {16, 37, 100, 1}};

static bool report(const layer *x) {
    bool equal = x->done == N;
    printf("bf16 LM head [%d x %d], %zu columns from %zu, %.1f s\n", N, K, x->done, x->first, now() - x->start);
    puts("   M  over budget  max ULP  sign flips  rel_rms    the H100 recorded");
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        const figures f = compare(x, recorded[i].rows, false);
        const bool same =
            f.over_budget == recorded[i].over_budget && f.max_ulp == recorded[i].max_ulp && f.sign_flips == recorded[i].sign_flips;
        printf("  %2zu  %11d  %7d  %10d  %.4e  %d, %d, %d%s\n", recorded[i].rows, f.over_budget, f.max_ulp, f.sign_flips, f.rel_rms,
               recorded[i].over_budget, recorded[i].max_ulp, recorded[i].sign_flips,
               x->done != N ? ""
               : same       ? ": the same"
                            : ": not the same");
        equal = equal && same;
    }
    const figures f = compare(x, M, x->list);
    if (f.max_ulp > 0)
        printf("worst: row %zu, column %zu, %d ULP: scalar kernel %.9e, tensor core %.9e\n", f.worst_row, f.worst_col, f.max_ulp,
               (double)value(x->scalar[f.worst_row * x->columns + f.worst_col - x->first]),
               (double)value(x->tensor[f.worst_row * x->columns + f.worst_col - x->first]));
    if (x->done == N)
        puts(equal ? "the recorded figures, all of them" : "these are not the recorded figures");
    else
        printf("a part of the layer: the recorded figures are those of all %d columns\n", N);
    return equal;
}

static bool prepare(layer *x, lb_error *err) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    if (lb_unit_find("sm_90/mma.m16n8k16.f32.bf16.bf16.f32", &x->unit, err) != LB_OK) return false;
    x->a = malloc((size_t)M * K * sizeof *x->a);
    x->a_lanes = malloc((size_t)M * K * sizeof *x->a_lanes);
    x->scalar = calloc((size_t)M * x->columns, sizeof *x->scalar);
    x->tensor = calloc((size_t)M * x->columns, sizeof *x->tensor);
    if (!x->a || !x->a_lanes || !x->scalar || !x->tensor) return lb_fail(err, LB_E_MEMORY, "lm_head", "no memory") == LB_OK;
    for (int i = 0; i < 2049; i++) x->alphabet[i] = (uint16_t)lb_from_double(bf16, (i - 1024) / 1024.0);
    draw(x->a, (uint64_t)N * K, (size_t)M * K, x->alphabet); /* the activations come after all weights */
    for (size_t i = 0; i < M; i++) to_lanes(x->a + i * K, x->a_lanes + i * K);
    return true;
}

static int usage(void) {
    fputs("usage: lm_head [--columns N] [--first N] [--at-most SECONDS] [--threads N] [--list] [--if-fast]\n", stderr);
    return 2;
}

int main(int argc, char **argv) {
    enum { MAX_THREADS = 64 };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool if_fast = false;
    size_t threads = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (size_t)cores;
    layer x = {.columns = N, .at_most = HUGE_VAL, .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 1; i < argc; i += 2) {
        char *end;
        if (strcmp(argv[i], "--list") == 0 || strcmp(argv[i], "--if-fast") == 0) {
            x.list = x.list || argv[i][2] == 'l';
            if_fast = if_fast || argv[i][2] == 'i';
            i--;
            continue;
        }
        const double n = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;
        if (i + 1 == argc || *end || !(n >= 0 && n <= N)) return usage();
        if (strcmp(argv[i], "--columns") == 0 && n >= 1)
            x.columns = (size_t)n;
        else if (strcmp(argv[i], "--first") == 0)
            x.first = (size_t)n;
        else if (strcmp(argv[i], "--at-most") == 0)
            x.at_most = n;
        else if (strcmp(argv[i], "--threads") == 0 && n >= 1 && n <= MAX_THREADS)
            threads = (size_t)n;
        else
            return usage();
    }
    if (x.first >= N) return usage();
    lb_kernel_text first_path;
    if (if_fast && lb_kernel_row(0, &first_path) && strcmp(first_path.name, "engine") == 0) {
        puts("SKIP lm_head: only the integer engine is here, which takes minutes");
        return 77;
    }
    if (x.columns > N - x.first) x.columns = N - x.first;
    pthread_t ids[MAX_THREADS];
    size_t started = 0;
    x.start = now();
    int code = 1;
    if (prepare(&x, &x.err)) {
        while (started < threads - 1 && pthread_create(&ids[started], NULL, worker, &x) == 0) started++;
        worker(&x);
        for (size_t i = 0; i < started; i++) pthread_join(ids[i], NULL);
    }
    if (x.err.status != LB_OK)
        fprintf(stderr, "lm_head: %s: %s\n", x.err.place, x.err.message);
    else if (report(&x) || x.done < N)
        code = 0;
    free(x.a);
    free(x.a_lanes);
    free(x.scalar);
    free(x.tensor);
    return code;
}
