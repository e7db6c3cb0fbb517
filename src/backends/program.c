/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/program.h"
#include "base/try.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the folder ---------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

/* With whatever a program left in it; links are removed, not followed. */
static void remove_folder(const char *folder) {
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* In a process of its own: a byte means that the folder is gone, the end of the line that nobody is left to remove it. What still writes
 * there is about to end too, so it is tried for a while. */
static void keep(const char *folder, const int line[2]) {
    char byte;
    ssize_t n;
    static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    setpgid(0, 0);
    for (size_t i = 0; i < sizeof deaf_to / sizeof deaf_to[0]; i++) signal(deaf_to[i], SIG_IGN);
    close(line[1]);
    for (int fd = 0; fd < 3; fd++)
        if (fd != line[0]) close(fd); /* who waits for the end of our output does not wait for this */
    while ((n = read(line[0], &byte, 1)) < 0 && errno == EINTR) continue;
    for (int tries = 0; n == 0 && tries < 100 && access(folder, F_OK) == 0; tries++) {
        remove_folder(folder);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    _exit(0);
}

lb_status lb_scratch_open(lb_scratch *s, const char *place, lb_error *err) {
    const char *base = getenv("TMPDIR");
    int line[2] = {-1, -1};
    *s = (lb_scratch){.line = -1};
    if (snprintf(s->folder, sizeof s->folder, "%s/lastbit.XXXXXX", base && *base ? base : "/tmp") >= (int)sizeof s->folder ||
        !mkdtemp(s->folder))
        return lb_fail(err, LB_E_FILE, place, "no folder can be made in %s: %s", base && *base ? base : "/tmp", strerror(errno));
    if (pipe2(line, O_CLOEXEC) == 0) s->keeper = fork();
    if (s->keeper == 0 && line[0] >= 0) keep(s->folder, line);
    if (s->keeper > 0) setpgid(s->keeper, s->keeper); /* before a signal to our group, whoever of the two comes first */
    if (line[0] >= 0) close(line[0]);
    s->line = line[1];
    if (line[0] >= 0 && s->keeper > 0) return LB_OK;
    const int why = errno;
    if (s->line >= 0) close(s->line);
    rmdir(s->folder);
    return lb_fail(err, LB_E_MEMORY, place, "cannot start a process: %s", strerror(why));
}

void lb_scratch_close(lb_scratch *s) {
    const char byte = 1;
    remove_folder(s->folder);
    while (write(s->line, &byte, 1) < 0 && errno == EINTR) continue;
    close(s->line);
    while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR) continue;
}

/* ---- the program --------------------------------------------------------------------------------------------------------------- */

/* In the child. That it could not begin is told through the pipe, which a program that begins does not inherit. */
static void become(char *const *argv, const char *folder, int tell) {
    char path[600];
    snprintf(path, sizeof path, "%s/log", folder);
    const int log = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("LASTBIT_CASE", folder, 1);
    if (log >= 0 && null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execvp(argv[0], argv);
    }
    const int why = errno;
    _exit(write(tell, &why, sizeof why) == sizeof why ? 127 : 126);
}

/* Start it, and wait until it has begun or could not. */
static lb_status start(char *const *argv, const char *folder, const char *place, pid_t *pid, int *could_not, lb_error *err) {
    int tell[2];
    if (pipe2(tell, O_CLOEXEC) != 0) return lb_fail(err, LB_E_MEMORY, place, "cannot start a process: %s", strerror(errno));
    *pid = fork();
    if (*pid == 0) become(argv, folder, tell[1]);
    const int why = errno;
    close(tell[1]);
    if (*pid > 0 && read(tell[0], could_not, sizeof *could_not) > 0) waitpid(*pid, NULL, 0);
    close(tell[0]);
    return *pid > 0 ? LB_OK : lb_fail(err, LB_E_MEMORY, place, "cannot start a process: %s", strerror(why));
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

lb_status lb_program_run(char *const *argv, const char *folder, double timeout_seconds, const char *place, lb_program_end *end,
                         lb_error *err) {
    const double until = now() + timeout_seconds;
    pid_t pid = 0, done;
    *end = (lb_program_end){0};
    LB_TRY(start(argv, folder, place, &pid, &end->could_not, err));
    if (end->could_not) return LB_OK;
    while ((done = waitpid(pid, &end->status, WNOHANG)) == 0 && now() < until) nanosleep(&(struct timespec){0, 2000000}, NULL);
    kill(-pid, SIGKILL); /* the program, or what it left running */
    end->in_time = done != 0;
    if (end->in_time) return LB_OK;
    kill(pid, SIGKILL); /* it may not lead its group yet */
    waitpid(pid, &end->status, 0);
    return LB_OK;
}
