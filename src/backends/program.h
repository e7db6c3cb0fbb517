/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a program, the user's or a compiler, in a folder of its own. */
#ifndef LB_BACKENDS_PROGRAM_H
#define LB_BACKENDS_PROGRAM_H

#include "lastbit/base.h"

#include <stdbool.h>
#include <sys/types.h>

/* A folder that goes when it is closed, and also where our process ends before that: Ctrl-C, a crash, a guard that had enough. */
typedef struct lb_scratch {
    char folder[512];
    int line; /* to the process that looks after it */
    pid_t keeper;
} lb_scratch;

/** Make a folder in $TMPDIR. place is for errors. errors LB_E_FILE, LB_E_MEMORY. memory lb_scratch_close, after which folder is no more */
lb_status lb_scratch_open(lb_scratch *s, const char *place, lb_error *err);
void lb_scratch_close(lb_scratch *s);

typedef struct lb_program_end {
    int could_not; /* errno: why it could not begin; 0: it did */
    bool in_time;
    int status; /* as waitpid gives it */
} lb_program_end;

/** Run a program to its end, or for so long; what it started ends with it. Standard input is empty, what it prints goes to FOLDER/log, and
 *  LASTBIT_CASE is the folder. place is for errors. errors LB_E_MEMORY where no process is to be had; how it ended is in *end */
lb_status lb_program_run(char *const *argv, const char *folder, double timeout_seconds, const char *place, lb_program_end *end,
                         lb_error *err);

#endif
