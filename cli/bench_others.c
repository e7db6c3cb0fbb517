/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double bench_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- OpenBLAS ------------------------------------------------------------------------------------------------------------------ */

static void clear_environment(void) {
    for (bool again = true; again;) {
        again = false;
        for (char **e = environ; *e && !again; e++) {
            char name[64];
            const size_t length = strcspn(*e, "=");
            if (strncmp(*e, "OPENBLAS_", 9) != 0 || length >= sizeof name) continue;
            memcpy(name, *e, length);
            name[length] = 0;
            unsetenv(name);
            again = true; /* environ has changed */
        }
    }
}

/* dlsym gives an object pointer; POSIX says that its bytes are those of the function's. */
static bool symbol(void *library, const char *name, void *function, size_t size) {
    void *address = dlsym(library, name);
    if (address) memcpy(function, &address, size);
    return address != NULL;
}

static const char library_name[] = "libopenblas.so.0";

/* The core whose kernels OpenBLAS would take, asked in a process of its own: it is decided once, when the library is loaded. */
static void ask_core(char *core, size_t size) {
    int ends[2];
    core[0] = 0;
    fflush(NULL);
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
        char *(*name)(void);
        void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
        if (library && symbol(library, "openblas_get_corename", &name, sizeof name) && write(ends[1], name(), strlen(name())) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    const ssize_t got = child > 0 ? read(ends[0], core, size - 1) : 0;
    core[got > 0 ? got : 0] = 0;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
}

/* An OpenBLAS older than the processor takes it for an old one, and would be an easy rival: name the best kernels that the processor has. */
static const char *better_core(const char *core) {
#if defined(__x86_64__)
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"}, *const narrow[] = {"Haswell", "Zen", "Excavator"};
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    for (size_t i = 0; i < 3; i++)
        if (strcasecmp(core, wide[i]) == 0) return NULL;
    if (avx512) return wide[0];
    for (size_t i = 0; i < 3; i++)
        if (strcasecmp(core, narrow[i]) == 0) return NULL;
    if (avx2) return narrow[0];
#endif
    (void)core;
    return NULL;
}

void bench_open_blas(bench_blas *b, int threads, size_t size) {
    char *(*core)(void), *(*config)(void), own[64];
    *b = (bench_blas){0};
    clear_environment();
    ask_core(own, sizeof own);
    const char *better = own[0] ? better_core(own) : NULL;
    if (better) setenv("OPENBLAS_CORETYPE", better, 1);
    b->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!b->library) {
        snprintf(b->why_not, sizeof b->why_not, "%s is not here; apt-get install libopenblas0-pthread", library_name);
        return;
    }
    if (symbol(b->library, "openblas_set_num_threads", &b->set_threads, sizeof b->set_threads)) b->set_threads(threads);
    if (symbol(b->library, "openblas_get_corename", &core, sizeof core)) snprintf(b->core, sizeof b->core, "%s", core());
    if (symbol(b->library, "openblas_get_config", &config, sizeof config)) snprintf(b->config, sizeof b->config, "%s", config());
    if (better) snprintf(b->taken_for, sizeof b->taken_for, "%s", own);
    b->a = malloc(size * size * sizeof *b->a);
    b->b = malloc(size * size * sizeof *b->b);
    b->c = calloc(size * size, sizeof *b->c);
    if (!b->a || !b->b || !b->c || !symbol(b->library, "sgemm_", &b->gemm, sizeof b->gemm)) {
        b->gemm = NULL;
        snprintf(b->why_not, sizeof b->why_not, "no sgemm_ in %s, or no memory", library_name);
        return;
    }
    const lb_format *f16 = lb_format_row(LB_F16);
    for (size_t i = 0; i < size * size; i++) {
        b->a[i] = (float)lb_to_double(f16, lb_draw(f16, LB_DIST_NORMAL, 1, 1, i));
        b->b[i] = (float)lb_to_double(f16, lb_draw(f16, LB_DIST_NORMAL, 1, 2, i));
    }
}

void bench_close_blas(bench_blas *b) {
    free(b->a);
    free(b->b);
    free(b->c);
    *b = (bench_blas){0}; /* the library stays: it has threads of its own */
}

bench_time bench_sgemm(bench_blas *b, size_t n, int threads) {
    const float one = 1, zero = 0;
    const int size = (int)n;
    if (b->set_threads) b->set_threads(threads);
    const double start = bench_seconds(), cpu = bench_cpu_seconds();
    b->gemm("N", "N", &size, &size, &size, &one, b->a, &size, b->b, &size, &zero, b->c, &size);
    return (bench_time){bench_seconds() - start, bench_cpu_seconds() - cpu};
}

/* ---- other models ---------------------------------------------------------------------------------------------------------------- */

/* Each prints MAC/s, or a line that begins with "no ". They run until two seconds are over. */
static const char mmasim_program[] = "import time\n"
                                     "try:\n"
                                     "    import torch\n"
                                     "    from mmasim.nv_ptx import MMA\n"
                                     "except ImportError as e:\n"
                                     "    print('no', e.name); raise SystemExit\n"
                                     "torch.set_num_threads(1)\n"
                                     "f = MMA('Ampere', 'm16n8k16.f32.f16.f16.f32')\n"
                                     "a, b, c = torch.randn(16, 16).half(), torch.randn(16, 8).half(), torch.randn(16, 8)\n"
                                     "f(a, b, c)\n"
                                     "n, t = 0, time.perf_counter()\n"
                                     "while time.perf_counter() - t < 2: f(a, b, c); n += 1\n"
                                     "print(n * 16 * 8 * 16 / (time.perf_counter() - t))\n";

static const char mmaemu_program[] = "import time\n"
                                     "try:\n"
                                     "    import torch, mmaemu\n"
                                     "except ImportError as e:\n"
                                     "    print('no', e.name); raise SystemExit\n"
                                     "torch.set_num_threads(1)\n"
                                     "k = 1024\n"
                                     "a = torch.randn(64, k).to(torch.float8_e4m3fn); b = torch.randn(64, k).to(torch.float8_e4m3fn)\n"
                                     "mmaemu.accumulate(a, b, use_fast_accum=True, splitk=1)\n"
                                     "n, t = 0, time.perf_counter()\n"
                                     "while time.perf_counter() - t < 2: mmaemu.accumulate(a, b, use_fast_accum=True, splitk=1); n += 1\n"
                                     "print(n * 64 * 64 * k / (time.perf_counter() - t))\n";

static const struct {
    const char *name, *what, *program;
} rivals[] = {
    {"mmasim", "MMA-Sim, Ampere m16n8k16.f32.f16.f16.f32, one thread", mmasim_program},
    {"mmaemu", "mmaemu, H100 PCIe e4m3, 64x64x1024, one thread", mmaemu_program},
};

enum { RIVALS = sizeof rivals / sizeof rivals[0] };

/* The last line that the program prints; "" if it prints none. */
static void run_python(const char *program, char *line, size_t size) {
    char path[] = "/tmp/lastbit-bench-XXXXXX", command[128], text[256];
    const int fd = mkstemp(path);
    line[0] = 0;
    if (fd < 0) return;
    FILE *f = fdopen(fd, "w");
    if (f) {
        fputs(program, f);
        fclose(f);
        snprintf(command, sizeof command, "python3 %s 2>/dev/null </dev/null", path);
        FILE *pipe = popen(command, "r");
        while (pipe && fgets(text, sizeof text, pipe)) snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
        if (pipe) pclose(pipe);
    }
    unlink(path);
}

lb_status bench_against(const char *name, bench_rival *out, lb_error *err) {
    const char *names[RIVALS];
    for (size_t i = 0; i < RIVALS; i++) {
        char line[256], *end;
        names[i] = rivals[i].name;
        if (strcmp(name, rivals[i].name) != 0) continue;
        *out = (bench_rival){.name = rivals[i].name, .gmac_s = NAN};
        snprintf(out->what, sizeof out->what, "%s", rivals[i].what);
        run_python(rivals[i].program, line, sizeof line);
        const double macs = strtod(line, &end);
        if (end != line && *end == 0 && macs > 0)
            out->gmac_s = 1e-9 * macs;
        else if (strncmp(line, "no ", 3) == 0)
            snprintf(out->why_not, sizeof out->why_not, "Python has no module %.100s: pip install %s", line + 3, name);
        else
            snprintf(out->why_not, sizeof out->why_not, "python3 could not run it");
        return LB_OK;
    }
    const char *near = lb_nearest_name(name, names, RIVALS);
    return lb_fail(err, LB_E_NAME, "--against", "\"%s\" is not known; did you mean %s?", name, near ? near : names[0]);
}
