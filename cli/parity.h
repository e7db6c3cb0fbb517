/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the modes of lastbit parity share. */
#ifndef LB_CLI_PARITY_H
#define LB_CLI_PARITY_H

#include "cli.h"

typedef struct cli_parity {
    cli_output output;
    cli_texts on, ops, cases, require;
    const char *pattern, *known, *functions, *table;
    uint64_t seed, jobs, repeats;
    double timeout;
    bool quick, list, verbose, no_known, invariance, sweep;
    char *owned[40]; /* free() */
    size_t owned_count;
} cli_parity;

#define LB_CLI_TRY(call)                                                                                                                   \
    do {                                                                                                                                   \
        const lb_status s_ = (call);                                                                                                       \
        if (s_ != LB_OK) return s_;                                                                                                        \
    } while (0)

int cli_parity_not_covered(void);
int cli_parity_table(const cli_parity *a, const lb_parity_options *o);
int cli_parity_invariance(const cli_parity *a, const lb_parity_options *o);
int cli_parity_sweep(const cli_parity *a, const lb_parity_options *o);

#endif
