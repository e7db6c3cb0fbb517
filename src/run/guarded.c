/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One case in a process of its own. Operands and output lie in memory shared with that process, each between guard zones; the
 * output is poisoned. Whatever the device does to itself ends with its process. */
#include "backends/device.h"
#include "base/try.h"
#include "run/child.h"
#include "run/describe.h"
#include "run/guarded.h"
#include "run/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ZONES = 4 };

typedef struct guarded_run {
    lb_device_opener *open;
    const void *what;
    lb_case x; /* its operands lie in the zones */
    double timeout, grace;
    lb_zone zones[ZONES]; /* a, b, c, y */
    lb_told *m;
    int complaints[2];  /* a pipe for what the child prints on stderr; what it cannot hold is lost */
    uint64_t before[3]; /* hashes of the inputs */
    lb_run_report *report;
} guarded_run;

static void clear_up(guarded_run *g) {
    for (size_t i = 0; i < ZONES; i++)
        if (g->zones[i].start) munmap(g->zones[i].start, lb_zone_size(g->zones[i].bytes));
    if (g->m) munmap(g->m, sizeof *g->m);
    lb_child_pipe_close(g->complaints);
}

static lb_status make_zone(lb_zone *z, size_t bytes, lb_error *err) {
    z->bytes = bytes;
    z->start = lb_shared_memory(lb_zone_size(bytes));
    if (!z->start) return lb_fail(err, LB_E_MEMORY, "device", "no memory for %zu bytes", bytes);
    lb_zone_guard(z);
    return LB_OK;
}

static lb_status make_operand(lb_zone *z, lb_mat *m, lb_error *err) {
    const size_t width = (size_t)m->format->bytes;
    LB_TRY(make_zone(z, m->rows * m->cols * width, err));
    for (size_t r = 0; r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++) memcpy(lb_zone_data(z) + (r * m->cols + c) * width, lb_mat_at(m, r, c), width);
    *m = lb_mat_of(m->format, lb_zone_data(z), m->rows, m->cols);
    return LB_OK;
}

static lb_status set_up(guarded_run *g, lb_error *err) {
    lb_mat *const operands[3] = {&g->x.a, &g->x.b, &g->x.c};
    g->m = lb_shared_memory(sizeof *g->m);
    if (!g->m) return lb_fail(err, LB_E_MEMORY, "device", "no shared memory");
    LB_TRY(lb_child_pipe(g->complaints, O_NONBLOCK, err));
    for (size_t i = 0; i < 3; i++) {
        if (!operands[i]->codes) continue;
        LB_TRY(make_operand(&g->zones[i], operands[i], err));
        g->before[i] = lb_zone_hash(&g->zones[i]);
    }
    LB_TRY(make_zone(&g->zones[3], lb_case_m(&g->x) * lb_case_n(&g->x) * (size_t)g->x.out->bytes, err));
    lb_zone_poison(&g->zones[3], g->x.out);
    return LB_OK;
}

/* ---- the child --------------------------------------------------------------------------------------------------------------- */

static void child(guarded_run *g) {
    lb_told *m = g->m;
    lb_device *d = NULL;
    lb_child_begin(g->complaints[1]);
    m->status = g->open(&d, g->what, &m->error);
    if (m->status == LB_OK) {
        m->status = lb_device_run(d, &g->x, lb_zone_data(&g->zones[3]), g->timeout, &m->error);
        lb_child_tell(m, d);
    }
    m->told = LB_TOLD;
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

static lb_status conclude(guarded_run *g, bool in_time, int status, lb_error *err) {
    lb_run_report *r = g->report;
    LB_TRY(lb_child_conclude(g->m, in_time, true, status, g->timeout, g->complaints[0], r, err));
    for (size_t i = 0; i < ZONES; i++) {
        if (!g->zones[i].start) continue;
        r->guard_damage += lb_zone_damage(&g->zones[i]);
        if (i < 3 && lb_zone_hash(&g->zones[i]) != g->before[i]) r->inputs_changed = true;
    }
    return LB_OK;
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
    g->report->not_written = lb_zone_poisoned(&g->zones[3], g->x.out);
    memcpy(y, lb_zone_data(&g->zones[3]), g->zones[3].bytes);
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
