/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit emit: what concerns scalar operations. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nearest of all names that it takes: units, operations and their PTX spellings. */
static lb_status fail_unknown(const char *name, lb_error *err) {
    const lb_unit *u;
    const lb_scalar_op *op;
    size_t units = 0, ops = 0, count = 0;
    while (lb_unit_row(units)) units++;
    while (lb_scalar_row(ops)) ops++;
    const char **names = malloc((units + 2 * ops) * sizeof *names);
    char(*spellings)[96] = malloc(ops * sizeof *spellings);
    for (size_t i = 0; names && (u = lb_unit_row(i)) != NULL; i++) names[count++] = u->name;
    for (size_t i = 0; names && spellings && (op = lb_scalar_row(i)) != NULL; i++) {
        snprintf(spellings[i], sizeof *spellings, "%.*s", (int)strcspn(op->ptx, " "), op->ptx);
        names[count++] = op->name;
        names[count++] = spellings[i];
    }
    const char *near = names ? lb_nearest_name(name, names, count) : NULL;
    const lb_status s = lb_fail(err, LB_E_NAME, name, "neither a unit nor an operation%s%s; `lastbit emit --list` names what is written",
                                near ? "; did you mean " : "", near ? near : "");
    free(spellings);
    free(names);
    return s;
}

lb_status cli_emit_find(const char *name, const cli_texts *set, lb_unit *u, const lb_scalar_op **op, lb_error *err) {
    const bool is_row = !strpbrk(name, "+:"); /* else a unit with settings or of a file, or an operation by "op:" */
    if (lb_scalar_find(name, op, err) == LB_OK) return LB_OK;
    if (strncmp(name, "op:", 3) == 0) return LB_E_NAME;
    return is_row && lb_unit_find(name, u, NULL) != LB_OK ? fail_unknown(name, err) : cli_find_unit(name, set, u, err);
}

void cli_emit_list_ops(void) {
    size_t written = 0, all = 0;
    for (const lb_scalar_op *op; (op = lb_scalar_row(all)) != NULL; all++) {
        if (lb_emit_can_op(op, NULL) != LB_OK) continue;
        printf("%-48s %s\n", op->name, op->warp ? "op lane" : "op");
        written++;
    }
    fprintf(stderr, "%zu of %zu operations\n", written, all);
}

void cli_emit_op_stats(const lb_scalar_op *op, const char *language, const lb_emit_stats *s) {
    printf("op=%s lang=%s form=%s steps=integers hash=%s\noutputs=%d statements=%" PRIu64 "\n", op->name, language,
           op->warp ? "lane" : "function", s->hash, s->outputs, s->path);
}
