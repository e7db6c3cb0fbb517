/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "lastbit/contracts.h"

#include <math.h>
#include <string.h>

static const lb_contract contracts[] = {
#define LB_CONTRACT(name, max_ulp, margin, unit_roundoff, band, flips_graded, classes_first, gate, formats, evidence, source, note)        \
    {name, max_ulp, margin, unit_roundoff, band, flips_graded, classes_first, gate, formats, LB_EVIDENCE_##evidence, source, note},
#include "contracts/contracts.def"
#undef LB_CONTRACT
};

enum { CONTRACT_COUNT = sizeof contracts / sizeof contracts[0] };

const lb_contract *lb_contract_row(size_t i) {
    return i < CONTRACT_COUNT ? &contracts[i] : NULL;
}

lb_status lb_contract_find(const char *name, const lb_contract **out, lb_error *err) {
    const char *names[CONTRACT_COUNT];
    for (size_t i = 0; i < CONTRACT_COUNT; i++) {
        *out = &contracts[i];
        if (strcmp(contracts[i].name, name) == 0) return LB_OK;
        names[i] = contracts[i].name;
    }
    *out = NULL;
    const char *near = lb_nearest_name(name, names, CONTRACT_COUNT);
    return lb_fail(err, LB_E_NAME, name, "no such contract; did you mean %s?", near ? near : contracts[0].name);
}

double lb_contract_floor(const lb_contract *c, double k, double row_rms) {
    return c->margin * c->unit_roundoff * sqrt(k) * row_rms;
}
