/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lastbit/record.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "record/fields.h"

const char *lb_verdict_name(lb_verdict v) {
    static const char *const names[LB_VERDICT_COUNT] = {
#define X(id, name, exit_code) [LB_##id] = name,
        LB_VERDICT_LIST(X)
#undef X
    };
    return (unsigned)v < LB_VERDICT_COUNT ? names[v] : "?";
}

const char *lb_evidence_name(lb_evidence e) {
    static const char *const names[LB_EVIDENCE_COUNT] = {
#define X(id, name, text) [LB_EVIDENCE_##id] = name,
        LB_EVIDENCE_LIST(X)
#undef X
    };
    return (unsigned)e < LB_EVIDENCE_COUNT ? names[e] : "?";
}

const char *lb_power_end_name(lb_power_end e) {
    static const char *const names[LB_POWER_COUNT] = {
#define X(id, name, text) [LB_POWER_##id] = name,
        LB_POWER_LIST(X)
#undef X
    };
    return (unsigned)e < LB_POWER_COUNT ? names[e] : "?";
}

/* What is here, without names of hosts or folders: the processor's model is the second field of /proc/cpuinfo's line. */
static void describe_machine(lb_record *r) {
    struct utsname u;
    char line[256], cpu[160] = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(cpu, sizeof cpu, "; %.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (f) fclose(f);
    const bool known = uname(&u) == 0;
    lb_record_text(&r->environment, "lastbit %s; %s %s%s", lb_version(), known ? u.sysname : "?", known ? u.machine : "?", cpu);
}

lb_status lb_record_open(lb_record **out, lb_error *err) {
    lb_record *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r) return lb_fail(err, LB_E_MEMORY, "record", "no memory");
    bool complete = true;
#define TEXT(field) complete = (r->field = strdup("")) != NULL && complete;
    LB_RECORD_TEXTS(TEXT)
#undef TEXT
    if (!complete) {
        lb_record_close(r);
        return lb_fail(err, LB_E_MEMORY, "record", "no memory");
    }
    r->verdict = LB_UNPROVEN;
    r->contract_k = r->contract_max_ulp = r->contract_rel_rms_gate = NAN;
    r->seconds_total = r->seconds_device = r->seconds_model = r->seconds_reference = NAN;
    r->power.score = NAN;
    lb_record_text(&r->reason, "nothing ran yet");
    describe_machine(r);
    *out = r;
    return LB_OK;
}

void lb_record_close(lb_record *r) {
    if (!r) return;
#define TEXT(field) free(r->field);
    LB_RECORD_TEXTS(TEXT)
#undef TEXT
    free(r->outliers);
    free(r->power.rows);
    free(r);
}

void lb_record_text(char **field, const char *format, ...) {
    va_list args;
    char *text = NULL;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) return;
    free(*field); /* after formatting: the old text may be an argument */
    *field = text;
}

lb_status lb_record_add_outlier(lb_record *r, const lb_element *e, lb_error *err) {
    lb_element *grown = realloc(r->outliers, (r->outlier_count + 1) * sizeof *grown);
    if (!grown) return lb_fail(err, LB_E_MEMORY, "record", "no memory for an outlier");
    r->outliers = grown;
    r->outliers[r->outlier_count++] = *e;
    return LB_OK;
}

lb_status lb_record_add_power(lb_record *r, const lb_power_row *row, lb_error *err) {
    lb_power_row *grown = realloc(r->power.rows, (r->power.row_count + 1) * sizeof *grown);
    if (!grown) return lb_fail(err, LB_E_MEMORY, "record", "no memory for a fault");
    r->power.rows = grown;
    r->power.rows[r->power.row_count++] = *row;
    return LB_OK;
}

int lb_records_exit(const lb_verdict *verdicts, size_t count) {
    static const int exits[LB_VERDICT_COUNT] = {
#define X(id, name, exit_code) [LB_##id] = exit_code,
        LB_VERDICT_LIST(X)
#undef X
    };
    size_t seen[LB_VERDICT_COUNT] = {0};
    for (size_t i = 0; i < count; i++) seen[verdicts[i]]++;
    return exits[seen[LB_FAIL] ? LB_FAIL : seen[LB_UNPROVEN] || !seen[LB_PASS] ? LB_UNPROVEN : LB_PASS];
}
