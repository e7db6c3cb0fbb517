/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests of lastbit parity: run it, and keep what it says of each case. */
#ifndef LB_PARITY_HELP_H
#define LB_PARITY_HELP_H

#include "test.h"

#include "lastbit/parity.h"

#include <stdlib.h>

enum { SEEN = 64 };

typedef struct seen {
    char text[LB_OP_TEXT], reason[512], cause[256], known[512];
    lb_verdict verdict;
    size_t row, col;
    uint64_t not_written, guard_damage;
} seen;

typedef struct parity_run {
    lb_parity *p;
    seen cases[SEEN]; /* the first ones */
    size_t count, compared, pass, fail, known, skip, unproven;
    int exit_code;
} parity_run;

static inline void parity_keep(parity_run *r, const lb_record *record) {
    if (r->count < SEEN) {
        seen *s = &r->cases[r->count];
        snprintf(s->text, sizeof s->text, "%s", record->case_string);
        snprintf(s->reason, sizeof s->reason, "%s", record->reason);
        snprintf(s->cause, sizeof s->cause, "%s", record->cause);
        snprintf(s->known, sizeof s->known, "%s", record->known);
        s->verdict = record->verdict;
        s->row = record->worst.row;
        s->col = record->worst.col;
        s->not_written = record->counts.not_written;
        s->guard_damage = record->counts.guard_damage;
    }
    r->count++;
    r->compared += record->verdict == LB_PASS || record->verdict == LB_FAIL;
    r->pass += record->verdict == LB_PASS;
    r->known += record->verdict == LB_FAIL && *record->known;
    r->fail += record->verdict == LB_FAIL && !*record->known;
    r->skip += record->verdict == LB_SKIP;
    r->unproven += record->verdict == LB_UNPROVEN;
}

/* A device that is not here skips the test. parity_close(&r) */
static inline void parity_go(parity_run *r, const lb_parity_options *o) {
    lb_error err = {0};
    lb_record *record;
    memset(r, 0, sizeof *r);
    const lb_status s = lb_parity_open(&r->p, o, &err);
    if (s == LB_E_UNAVAILABLE) {
        print_message("SKIP parity: %s\n", err.message);
        skip();
    }
    if (s != LB_OK) fail_msg("%s: %s", err.place, err.message);
    for (;;) {
        if (lb_parity_next(r->p, &record, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
        if (!record) break;
        parity_keep(r, record);
        lb_record_close(record);
    }
    r->exit_code = lb_parity_exit(r->p);
}

static inline void parity_close(parity_run *r) {
    lb_parity_close(r->p);
    r->p = NULL;
}

#endif
