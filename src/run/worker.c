/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/worker.h"
#include "backends/device.h"
#include "base/try.h"
#include "run/child.h"
#include "run/describe.h"
#include "run/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARRAYS = LB_OP_INPUTS + LB_OP_OUTPUTS };
static const size_t first_arena_bytes = (size_t)16 << 20;

/* A case as it lies in shared memory: nothing in it points anywhere, since the child is older than the case. */
typedef struct wire_array {
    int format; /* lb_format_id; -1: the port is not used */
    unsigned rank;
    size_t dims[LB_OP_RANK], offset; /* offset: of the zone in the arena */
} wire_array;

typedef struct wire {
    lb_told told;
    char op[32], dist[24];
    int format;
    double params[LB_OP_PARAMS], magnitude;
    uint64_t seed;
    wire_array arrays[ARRAYS]; /* inputs, then outputs */
    double timeout;
} wire;

struct lb_worker {
    lb_device_opener *open;
    const void *what;
    double timeout;
    wire *w;
    unsigned char *arena;
    size_t arena_bytes;
    pid_t pid;                  /* 0: no process */
    int line[2], complaints[2]; /* line: the parent's end, the child's end */
    lb_zone zones[ARRAYS];
    uint64_t before[LB_OP_INPUTS];
    double asked;    /* when */
    unsigned starts; /* of the process */
    char detail[256];
};

/* ---- the child --------------------------------------------------------------------------------------------------------------- */

static lb_status array_of_wire(const struct lb_worker *k, const wire_array *from, lb_array *to, lb_error *err) {
    if (from->format < 0) return LB_OK;
    to->format = lb_format_row((lb_format_id)from->format);
    if (!to->format) return lb_fail(err, LB_E_FORMAT, "device", "format number %d is not known", from->format);
    to->rank = from->rank;
    memcpy(to->dims, from->dims, sizeof to->dims);
    to->codes = k->arena + from->offset + LB_GUARD;
    return LB_OK;
}

static lb_status case_of_wire(const struct lb_worker *k, lb_op_case *x, lb_error *err) {
    const wire *w = k->w;
    x->op = lb_op_find(w->op);
    if (!x->op) return lb_fail(err, LB_E_NAME, "device", "no operator \"%.31s\"", w->op);
    x->format = lb_format_row((lb_format_id)w->format);
    memcpy(x->params, w->params, sizeof x->params);
    memcpy(x->dist, w->dist, sizeof x->dist);
    x->magnitude = w->magnitude;
    x->seed = w->seed;
    for (size_t i = 0; i < LB_OP_INPUTS; i++) LB_TRY(array_of_wire(k, &w->arrays[i], &x->in[i], err));
    for (size_t i = 0; i < LB_OP_OUTPUTS; i++) LB_TRY(array_of_wire(k, &w->arrays[LB_OP_INPUTS + i], &x->out[i], err));
    return LB_OK;
}

static void run_case(const struct lb_worker *k, lb_device *d) {
    lb_told *m = &k->w->told;
    lb_op_case x = {0};
    const char *why = "";
    m->status = case_of_wire(k, &x, &m->error);
    if (m->status == LB_OK && !lb_device_can_op(d, &x, &why)) {
        m->cannot = 1;
        snprintf(m->error.message, sizeof m->error.message, "%s", why ? why : "");
    } else if (m->status == LB_OK) {
        const double start = lb_seconds();
        m->status = lb_device_run_op(d, &x, k->w->timeout, &m->error);
        m->seconds = lb_seconds() - start;
    }
    lb_child_tell(m, d);
}

/* One byte: "a case is there", "it is done". A side that is no more is no signal here. */
static void say(int fd) {
    const char byte = 1;
    while (send(fd, &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

static bool hear(int fd) {
    char byte;
    ssize_t n;
    while ((n = recv(fd, &byte, 1, 0)) < 0 && errno == EINTR) continue;
    return n == 1;
}

static void serve(struct lb_worker *k) {
    lb_told *m = &k->w->told;
    lb_device *d = NULL;
    lb_child_begin(k->complaints[1]);
    close(k->line[0]); /* so that the end of the parent is heard */
    m->status = k->open(&d, k->what, &m->error);
    if (m->status == LB_OK) lb_child_tell(m, d);
    m->told = LB_TOLD;
    say(k->line[1]);
    while (d && hear(k->line[1])) {
        run_case(k, d);
        m->told = LB_TOLD;
        say(k->line[1]);
    }
    lb_device_close(d);
    _exit(0);
}

/* ---- the parent -------------------------------------------------------------------------------------------------------------- */

static void stop(lb_worker *k) {
    if (k->pid > 0) lb_child_end(k->pid);
    k->pid = 0;
    lb_child_pipe_close(k->line);
    lb_child_pipe_close(k->complaints);
}

static bool has_ended(lb_worker *k, int *status) {
    if (waitpid(k->pid, status, WNOHANG) != k->pid) return false;
    kill(-k->pid, SIGKILL); /* what is left of its group */
    k->pid = 0;
    return true;
}

/* Wait for the byte that ends an answer. ended: the child is no more. False: neither in time. */
static bool wait_for_answer(lb_worker *k, double until, bool *ended, int *status) {
    struct pollfd p = {k->line[0], POLLIN, 0};
    *ended = false;
    for (;;) {
        const double left = until - lb_seconds();
        const int slice = left > 0.05 ? 50 : left > 0 ? (int)(left * 1000) + 1 : 0; /* what the child started may keep the line open */
        if (poll(&p, 1, slice) > 0 && (p.revents & POLLIN) && hear(k->line[0])) return true;
        if (p.revents & (POLLHUP | POLLERR)) nanosleep(&(struct timespec){0, 1000000}, NULL); /* it is about to be no more */
        if (has_ended(k, status)) return *ended = true;
        if (lb_seconds() >= until) return false;
    }
}

static void drain(int fd) {
    char line[256];
    while (read(fd, line, sizeof line) > 0) continue;
}

static lb_status start(lb_worker *k, lb_error *err) {
    lb_run_report report = {.end = LB_RUN_DONE};
    bool ended;
    int status = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, k->line) != 0)
        return lb_fail(err, LB_E_MEMORY, "device", "no line to a process: %s", strerror(errno));
    LB_TRY(lb_child_pipe(k->complaints, O_NONBLOCK, err));
    k->w->told = (lb_told){0};
    fflush(NULL); /* what waits in stdio must not be written twice */
    k->pid = fork();
    if (k->pid < 0) return lb_fail(err, LB_E_MEMORY, "device", "cannot start a process: %s", strerror(errno));
    if (k->pid == 0) serve(k);
    k->starts++;
    close(k->line[1]);
    k->line[1] = -1;
    const bool in_time = wait_for_answer(k, lb_seconds() + k->timeout, &ended, &status);
    LB_TRY(lb_child_conclude(&k->w->told, in_time, ended, status, k->timeout, k->complaints[0], &report, err));
    if (report.end != LB_RUN_DONE) return lb_fail(err, LB_E_DEVICE, "device", "it cannot be opened: %s", report.why);
    snprintf(k->detail, sizeof k->detail, "%s", report.detail);
    return LB_OK;
}

static lb_status restart(lb_worker *k, lb_error *err) {
    stop(k);
    const lb_status s = start(k, err);
    if (s != LB_OK) stop(k);
    return s;
}

lb_status lb_worker_open(lb_worker **out, lb_device_opener *open, const void *what, double timeout_seconds, lb_error *err) {
    lb_worker *k = calloc(1, sizeof *k);
    *out = NULL;
    if (!k) return lb_fail(err, LB_E_MEMORY, "device", "no memory");
    *k = (lb_worker){
        .open = open, .what = what, .timeout = timeout_seconds, .line = {-1, -1}, .complaints = {-1, -1}, .arena_bytes = first_arena_bytes};
    k->w = lb_shared_memory(sizeof *k->w);
    k->arena = lb_shared_memory(k->arena_bytes);
    const lb_status s = k->w && k->arena ? restart(k, err) : lb_fail(err, LB_E_MEMORY, "device", "no shared memory");
    if (s == LB_OK)
        *out = k;
    else
        lb_worker_close(k);
    return s;
}

void lb_worker_close(lb_worker *k) {
    if (!k) return;
    stop(k);
    if (k->w) munmap(k->w, sizeof *k->w);
    if (k->arena) munmap(k->arena, k->arena_bytes);
    free(k);
}

const char *lb_worker_detail(const lb_worker *k) {
    return k->detail;
}

unsigned lb_worker_restarts(const lb_worker *k) {
    return k->starts - 1;
}

/* ---- a case over ------------------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const lb_array *a) {
    return a->format ? lb_array_count(a) * (size_t)a->format->bytes : 0;
}

/* Room for all zones; more of it means a new process, since memory is shared by inheritance. */
static lb_status make_room(lb_worker *k, const lb_op_case *x, lb_error *err) {
    size_t need = 0;
    for (size_t i = 0; i < LB_OP_INPUTS; i++) need += lb_zone_size(bytes_of(&x->in[i]));
    for (size_t i = 0; i < LB_OP_OUTPUTS; i++) need += lb_zone_size(bytes_of(&x->out[i]));
    if (need > k->arena_bytes) {
        unsigned char *more = lb_shared_memory(need);
        if (!more) return lb_fail(err, LB_E_MEMORY, "device", "no memory for %zu bytes", need);
        munmap(k->arena, k->arena_bytes);
        k->arena = more;
        k->arena_bytes = need;
        stop(k);
    }
    int status;
    return k->pid > 0 && !has_ended(k, &status) ? LB_OK : restart(k, err);
}

static void place(lb_worker *k, size_t i, const lb_array *a, size_t *at) {
    wire_array *w = &k->w->arrays[i];
    w->format = -1;
    k->zones[i] = (lb_zone){0};
    if (!a->format) return;
    k->zones[i] = (lb_zone){k->arena + *at, bytes_of(a)};
    *w = (wire_array){.format = (int)a->format->id, .rank = a->rank, .offset = *at};
    memcpy(w->dims, a->dims, sizeof w->dims);
    *at += lb_zone_size(k->zones[i].bytes);
    lb_zone_guard(&k->zones[i]);
}

static void write_case(lb_worker *k, const lb_op_case *x) {
    wire *w = k->w;
    size_t at = 0;
    w->told = (lb_told){0};
    snprintf(w->op, sizeof w->op, "%s", x->op->name);
    memcpy(w->dist, x->dist, sizeof w->dist);
    w->format = (int)x->format->id;
    memcpy(w->params, x->params, sizeof w->params);
    w->magnitude = x->magnitude;
    w->seed = x->seed;
    w->timeout = k->timeout;
    for (size_t i = 0; i < LB_OP_INPUTS; i++) {
        place(k, i, &x->in[i], &at);
        if (!x->in[i].format) continue;
        memcpy(lb_zone_data(&k->zones[i]), x->in[i].codes, k->zones[i].bytes);
        k->before[i] = lb_zone_hash(&k->zones[i]);
    }
    for (size_t i = 0; i < LB_OP_OUTPUTS; i++) {
        place(k, LB_OP_INPUTS + i, &x->out[i], &at);
        if (x->out[i].format) lb_zone_poison(&k->zones[LB_OP_INPUTS + i], x->out[i].format);
    }
}

lb_status lb_worker_ask(lb_worker *k, const lb_op_case *x, lb_error *err) {
    LB_TRY(make_room(k, x, err));
    write_case(k, x);
    drain(k->complaints[0]);
    k->asked = lb_seconds();
    say(k->line[0]);
    return LB_OK;
}

static void look_at_zones(lb_worker *k, lb_op_case *x, lb_run_report *r) {
    for (size_t i = 0; i < ARRAYS; i++) {
        const lb_zone *z = &k->zones[i];
        if (!z->start) continue;
        r->guard_damage += lb_zone_damage(z);
        if (i < LB_OP_INPUTS) {
            r->inputs_changed |= lb_zone_hash(z) != k->before[i];
            continue;
        }
        lb_array *y = &x->out[i - LB_OP_INPUTS];
        r->not_written += lb_zone_poisoned(z, y->format);
        memcpy(y->codes, lb_zone_data(z), z->bytes);
    }
}

lb_status lb_worker_answer_of(lb_worker *k, lb_op_case *x, lb_worker_answer *out, lb_error *err) {
    lb_run_report *r = &out->report;
    bool ended;
    int status = 0;
    *out = (lb_worker_answer){.report = {.end = LB_RUN_DONE}};
    const bool in_time = wait_for_answer(k, k->asked + k->timeout, &ended, &status);
    r->seconds = lb_seconds() - k->asked;
    const lb_told m = lb_child_heard(&k->w->told);
    const lb_status s = lb_child_conclude(&m, in_time, ended, status, k->timeout, k->complaints[0], r, err);
    if (!in_time || ended) stop(k);
    if (s != LB_OK) return s;
    if (m.told == LB_TOLD && m.cannot) {
        out->cannot = true;
        snprintf(r->why, sizeof r->why, "%s", m.error.message);
        return LB_OK;
    }
    if (m.told == LB_TOLD && m.status == LB_OK && m.seconds > 0) r->seconds = m.seconds;
    look_at_zones(k, x, r);
    if (r->end != LB_RUN_DONE || r->guard_damage || r->inputs_changed) stop(k); /* a launch may still run; it may have written elsewhere */
    return LB_OK;
}
