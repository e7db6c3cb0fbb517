/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/child.h"
#include "backends/device.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the child ------------------------------------------------------------------------------------------------------------ */

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

void lb_child_begin(int complaints) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forget_handlers();
    silence(complaints);
}

void lb_child_tell(lb_told *m, const lb_device *d) {
    bool inputs_changed;
    lb_device_marks(d, &m->guard_damage, &inputs_changed);
    m->inputs_changed = inputs_changed;
    snprintf(m->detail, sizeof m->detail, "%s", lb_device_detail(d));
}

/* ---- in the parent ----------------------------------------------------------------------------------------------------------- */

lb_told lb_child_heard(const lb_told *from) {
    lb_told m = *from;
    m.error.place[sizeof m.error.place - 1] = 0;
    m.error.message[sizeof m.error.message - 1] = 0;
    m.detail[sizeof m.detail - 1] = 0;
    return m;
}

lb_status lb_child_pipe(int ends[2], int flags, lb_error *err) {
    return pipe2(ends, O_CLOEXEC | flags) == 0 ? LB_OK : lb_fail(err, LB_E_MEMORY, "device", "no pipe: %s", strerror(errno));
}

void lb_child_pipe_close(int ends[2]) {
    for (size_t i = 0; i < 2; i++) {
        if (ends[i] >= 0) close(ends[i]);
        ends[i] = -1;
    }
}

int lb_child_end(pid_t pid) {
    int status = 0;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL); /* it may not lead its group yet */
    waitpid(pid, &status, 0);
    return status;
}

/* Failures of the device are the report's; that the run could not begin is the caller's error. */
static bool could_not_begin(lb_status s) {
    return s == LB_E_NAME || s == LB_E_FILE || s == LB_E_UNAVAILABLE || s == LB_E_FORMAT || s == LB_E_SHAPE || s == LB_E_ARG ||
           s == LB_E_MEMORY;
}

/* The first line that the child printed on stderr, as ": LINE"; "" if it printed nothing. */
static void first_complaint(int complaints, char *out, size_t size) {
    char line[200];
    const ssize_t n = read(complaints, line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    line[strcspn(line, "\r\n")] = 0;
    snprintf(out, size, "%s%s", line[0] ? ": " : "", line);
}

lb_status lb_child_conclude(const lb_told *from, bool in_time, bool ended, int status, double timeout, int complaints, lb_run_report *r,
                            lb_error *err) {
    const lb_told m = lb_child_heard(from);
    char said[210];
    first_complaint(complaints, said, sizeof said);
    if (!in_time) {
        r->end = LB_RUN_TIMED_OUT;
        snprintf(r->why, sizeof r->why, "no answer in %g s (--timeout)", timeout);
    } else if (ended && WIFSIGNALED(status)) {
        r->end = LB_RUN_CRASHED;
        snprintf(r->why, sizeof r->why, "killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)), said);
    } else if (m.told != LB_TOLD) {
        r->end = LB_RUN_CRASHED;
        snprintf(r->why, sizeof r->why, "ended with exit code %d before it answered%s", WEXITSTATUS(status), said);
    } else if (could_not_begin(m.status)) {
        return lb_fail(err, m.status, m.error.place, "%s", m.error.message);
    } else if (m.status != LB_OK) {
        r->end = m.status == LB_E_TIMEOUT ? LB_RUN_TIMED_OUT : LB_RUN_FAILED;
        snprintf(r->why, sizeof r->why, "%s", m.error.message);
    }
    if (m.told == LB_TOLD) {
        snprintf(r->detail, sizeof r->detail, "%s", m.detail);
        r->guard_damage = m.guard_damage;
        r->inputs_changed = m.inputs_changed;
    }
    return LB_OK;
}
