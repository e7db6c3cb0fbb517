/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a process in which a device may do to itself what it likes. */
#ifndef LB_RUN_CHILD_H
#define LB_RUN_CHILD_H

#include "lastbit/run.h"

#include <sys/types.h>

enum { LB_TOLD = 0x701d };

/* What a child tells its parent; in shared memory, where a kernel gone wild can write too: no field trusts the others. */
typedef struct lb_told {
    uint32_t told; /* LB_TOLD once the rest is filled */
    uint32_t inputs_changed, cannot;
    lb_status status;
    lb_error error;
    char detail[256];
    uint64_t guard_damage;
    double seconds; /* of the run alone */
} lb_told;

/** First thing in the child: a group of its own, dead with its parent, deaf to the caller's handlers, silent but for `complaints`. */
void lb_child_begin(int complaints);

/** What the device left behind, told last. */
void lb_child_tell(lb_told *m, const lb_device *d);

/** The message, fit to be read whatever became of it. */
lb_told lb_child_heard(const lb_told *m);

/** A pipe for what the child prints on stderr: what it cannot hold is lost. errors LB_E_MEMORY */
lb_status lb_child_pipe(int ends[2], int flags, lb_error *err);
void lb_child_pipe_close(int ends[2]);

/** End the child and its group, and wait for it; its status as waitpid gives it. */
int lb_child_end(pid_t pid);

/** Fill report->end and why of a child that ended by itself (status) or in time (told); complaints: where its stderr is read.
 *  errors those of a run that could not begin: the device cannot be opened, the case is malformed */
lb_status lb_child_conclude(const lb_told *m, bool in_time, bool ended, int status, double timeout, int complaints, lb_run_report *r,
                            lb_error *err);

#endif
