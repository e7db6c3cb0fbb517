/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One case in a process of its own. Operands and output lie in memory shared with that process, each between guard zones; the
 * output is poisoned. Whatever the device does to itself ends with its process. */
#include "backends/device.h"
#include "base/try.h"
#include "run/describe.h"
#include "run/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GUARD = 4096, GUARD_BYTE = 0xa5, ZONES = 4 };

uint64_t lb_poison_code(const lb_format *f) {
    uint64_t inf = 0, nan = 0, sign = UINT64_C(1) << (f->bits - 1);
    switch (f->special) {
    case LB_SPECIAL_IEEE: { /* a NaN that no arithmetic makes: its payload is a pattern, or the least bit in small formats */
        const uint64_t mantissa = (~UINT64_C(0) >> (64 - f->man_bits)), pattern = UINT64_C(0xa5a5a5a5a5a5a5a5) & mantissa;
        lb_inf_code(f, &inf);
        return inf | (f->man_bits > 3 ? pattern : 1) << f->pad_bits;
    }
    case LB_SPECIAL_NAN_TOP: lb_nan_code(f, &nan); return f->sign_bits ? nan | sign : nan;
    case LB_SPECIAL_INT: return UINT64_C(0xa5) & (~UINT64_C(0) >> (64 - f->bits));
    case LB_SPECIAL_E8M0: return 0xa5;
    case LB_SPECIAL_FNUZ:
    case LB_SPECIAL_NONE: break;
    }
    return sign | lb_max_code(f); /* no NaN to spare: the largest negative value */
}

/* [guard][data][guard] in shared memory. */
typedef struct zone {
    unsigned char *start;
    size_t bytes;
} zone;

enum { TOLD = 0x701d };

/* What the child tells the parent; in shared memory, where a kernel gone wild can write too: no field trusts the others. */
typedef struct message {
    uint32_t told; /* TOLD once the rest is filled */
    uint32_t inputs_changed;
    lb_status status;
    lb_error error;
    char detail[256];
    uint64_t guard_damage;
} message;

typedef struct guarded_run {
    lb_device_opener *open;
    const void *what;
    lb_case x; /* its operands lie in the zones */
    double timeout, grace;
    zone zones[ZONES]; /* a, b, c, y */
    message *m;
    int complaints[2];  /* a pipe for what the child prints on stderr; what it cannot hold is lost */
    uint64_t before[3]; /* hashes of the inputs */
    lb_run_report *report;
} guarded_run;

static void *shared_memory(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void clear_up(guarded_run *g) {
    for (size_t i = 0; i < ZONES; i++)
        if (g->zones[i].start) munmap(g->zones[i].start, g->zones[i].bytes + 2 * GUARD);
    if (g->m) munmap(g->m, sizeof *g->m);
    for (size_t i = 0; i < 2; i++)
        if (g->complaints[i] >= 0) close(g->complaints[i]);
}

static lb_status make_zone(zone *z, size_t bytes, lb_error *err) {
    z->bytes = bytes;
    z->start = shared_memory(bytes + 2 * GUARD);
    if (!z->start) return lb_fail(err, LB_E_MEMORY, "device", "no memory for %zu bytes", bytes);
    memset(z->start, GUARD_BYTE, GUARD);
    memset(z->start + GUARD + bytes, GUARD_BYTE, GUARD);
    return LB_OK;
}

static lb_status make_operand(zone *z, lb_mat *m, lb_error *err) {
    const size_t width = (size_t)m->format->bytes;
    LB_TRY(make_zone(z, m->rows * m->cols * width, err));
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) memcpy(z->start + GUARD + (r * m->cols + c) * width, lb_mat_at(m, r, c), width);
    *m = lb_mat_of(m->format, z->start + GUARD, m->rows, m->cols);
    return LB_OK;
}

static uint64_t damage(const zone *z) {
    uint64_t n = 0;
    for (size_t i = 0; i < GUARD; i++) n += (z->start[i] != GUARD_BYTE) + (uint64_t)(z->start[GUARD + z->bytes + i] != GUARD_BYTE);
    return n;
}

/* FNV-1a: tells whether an input is still what it was. */
static uint64_t hash(const zone *z) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < z->bytes; i++) h = (h ^ z->start[GUARD + i]) * UINT64_C(0x100000001b3);
    return h;
}

static lb_status set_up(guarded_run *g, lb_error *err) {
    lb_mat *const operands[3] = {&g->x.a, &g->x.b, &g->x.c};
    g->m = shared_memory(sizeof *g->m);
    if (!g->m) return lb_fail(err, LB_E_MEMORY, "device", "no shared memory");
    if (pipe2(g->complaints, O_CLOEXEC | O_NONBLOCK) != 0) return lb_fail(err, LB_E_MEMORY, "device", "no pipe: %s", strerror(errno));
    for (size_t i = 0; i < 3; i++) {
        if (!operands[i]->codes) continue;
        LB_TRY(make_operand(&g->zones[i], operands[i], err));
        g->before[i] = hash(&g->zones[i]);
    }
    const size_t count = lb_case_m(&g->x) * lb_case_n(&g->x), width = (size_t)g->x.out->bytes;
    LB_TRY(make_zone(&g->zones[3], count * width, err));
    for (size_t i = 0; i < count; i++) lb_store_code(g->zones[3].start + GUARD + i * width, (int)width, lb_poison_code(g->x.out));
    return LB_OK;
}

/* ---- the child --------------------------------------------------------------------------------------------------------------- */

/* Devices and drivers print what they like; ours is the record. */
static void silence(int complaints) {
    const int null = open("/dev/null", O_RDWR);
    if (null < 0) return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(complaints, STDERR_FILENO);
}

/* The caller's handlers are for the caller: what falls here ends here, and its signal is the answer. */
static void forget_handlers(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
}

static void child(guarded_run *g) {
    message *m = g->m;
    lb_device *d = NULL;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forget_handlers();
    silence(g->complaints[1]);
    m->status = g->open(&d, g->what, &m->error);
    if (m->status == LB_OK) {
        m->status = lb_device_run(d, &g->x, g->zones[3].start + GUARD, g->timeout, &m->error);
        bool inputs_changed;
        lb_device_marks(d, &m->guard_damage, &inputs_changed);
        m->inputs_changed = inputs_changed;
        snprintf(m->detail, sizeof m->detail, "%s", lb_device_detail(d));
    }
    m->told = TOLD;
    lb_device_close(d);
    _exit(0);
}

/* ---- the parent -------------------------------------------------------------------------------------------------------------- */

/* Wait for the child, then end what is left of its group; true if it ended by itself in time. */
static bool wait_for(pid_t pid, double timeout, int *status) {
    const double end = lb_seconds() + timeout;
    pid_t done;
    while ((done = waitpid(pid, status, WNOHANG)) == 0 && lb_seconds() < end) nanosleep(&(struct timespec){0, 1000000}, NULL);
    kill(-pid, SIGKILL);
    if (done != 0) return true;
    kill(pid, SIGKILL); /* it may not lead its group yet */
    waitpid(pid, status, 0);
    return false;
}

/* Failures of the device are the report's; that the run could not begin is the caller's error. */
static bool could_not_begin(lb_status s) {
    return s == LB_E_NAME || s == LB_E_FILE || s == LB_E_UNAVAILABLE || s == LB_E_FORMAT || s == LB_E_SHAPE || s == LB_E_ARG ||
           s == LB_E_MEMORY;
}

/* The message, fit to be read whatever became of it. */
static message heard(const guarded_run *g) {
    message m = *g->m;
    m.error.place[sizeof m.error.place - 1] = 0;
    m.error.message[sizeof m.error.message - 1] = 0;
    m.detail[sizeof m.detail - 1] = 0;
    return m;
}

/* The first line that the child printed on stderr, as ": LINE"; "" if it printed nothing. */
static void first_complaint(const guarded_run *g, char *out, size_t size) {
    char line[200];
    const ssize_t n = read(g->complaints[0], line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    line[strcspn(line, "\r\n")] = 0;
    snprintf(out, size, "%s%s", line[0] ? ": " : "", line);
}

static lb_status conclude(guarded_run *g, bool in_time, int status, lb_error *err) {
    lb_run_report *r = g->report;
    const message m = heard(g);
    char said[210];
    first_complaint(g, said, sizeof said);
    if (!in_time) {
        r->end = LB_RUN_TIMED_OUT;
        snprintf(r->why, sizeof r->why, "no answer in %g s (--timeout)", g->timeout);
    } else if (WIFSIGNALED(status)) {
        r->end = LB_RUN_CRASHED;
        snprintf(r->why, sizeof r->why, "killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)), said);
    } else if (m.told != TOLD) {
        r->end = LB_RUN_CRASHED;
        snprintf(r->why, sizeof r->why, "ended with exit code %d before it answered%s", WEXITSTATUS(status), said);
    } else if (could_not_begin(m.status)) {
        return lb_fail(err, m.status, m.error.place, "%s", m.error.message);
    } else if (m.status != LB_OK) {
        r->end = m.status == LB_E_TIMEOUT ? LB_RUN_TIMED_OUT : LB_RUN_FAILED;
        snprintf(r->why, sizeof r->why, "%s", m.error.message);
    }
    if (m.told == TOLD) {
        snprintf(r->detail, sizeof r->detail, "%s", m.detail);
        r->guard_damage = m.guard_damage;
        r->inputs_changed = m.inputs_changed;
    }
    for (size_t i = 0; i < ZONES; i++) {
        if (!g->zones[i].start) continue;
        r->guard_damage += damage(&g->zones[i]);
        if (i < 3 && hash(&g->zones[i]) != g->before[i]) r->inputs_changed = true;
    }
    return LB_OK;
}

static uint64_t still_poisoned(const guarded_run *g) {
    const int width = g->x.out->bytes;
    const uint64_t poison = lb_poison_code(g->x.out);
    uint64_t n = 0;
    for (size_t at = 0; at < g->zones[3].bytes; at += (size_t)width) n += lb_load_code(g->zones[3].start + GUARD + at, width) == poison;
    return n;
}

static lb_status run(guarded_run *g, void *y, lb_error *err) {
    int status = 0;
    LB_TRY(set_up(g, err));
    const double start = lb_seconds();
    fflush(NULL); /* what waits in stdio must not be written twice */
    const pid_t pid = fork();
    if (pid < 0) return lb_fail(err, LB_E_MEMORY, "device", "cannot start a process: %s", strerror(errno));
    if (pid == 0) child(g);
    const bool in_time = wait_for(pid, g->timeout + g->grace, &status);
    g->report->seconds = lb_seconds() - start;
    LB_TRY(conclude(g, in_time, status, err));
    g->report->not_written = still_poisoned(g);
    memcpy(y, g->zones[3].start + GUARD, g->zones[3].bytes);
    return LB_OK;
}

lb_status lb_run_guarded_by(lb_device_opener *open, const void *what, double grace_seconds, const lb_case *x, double timeout_seconds,
                            void *y, lb_run_report *report, lb_error *err) {
    guarded_run g = {
        .open = open, .what = what, .x = *x, .timeout = timeout_seconds, .grace = grace_seconds, .complaints = {-1, -1}, .report = report};
    *report = (lb_run_report){.end = LB_RUN_DONE};
    LB_TRY(lb_case_check(x, err));
    const lb_status s = run(&g, y, err);
    clear_up(&g);
    return s;
}

static lb_status open_by_name(lb_device **out, const void *on, lb_error *err) {
    return lb_device_open(out, on, err);
}

static lb_status open_program(lb_device **out, const void *argv, lb_error *err) {
    return lb_device_open_command(out, *(char *const *const *)argv, err);
}

lb_status lb_run_guarded(const char *on, char *const *argv, const lb_case *x, double timeout_seconds, void *y, lb_run_report *report,
                         lb_error *err) {
    const double program_grace_seconds = 5; /* a program is timed by its backend, which then clears up */
    return on ? lb_run_guarded_by(open_by_name, on, 0, x, timeout_seconds, y, report, err)
              : lb_run_guarded_by(open_program, &argv, program_grace_seconds, x, timeout_seconds, y, report, err);
}
