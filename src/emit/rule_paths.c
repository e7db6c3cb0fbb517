/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which rule writes which path, and a unit made ready for it. */
#include "emit/rule.h"
#include "units/path.h"

#include "base/try.h"

static const rule_path *const paths[LB_PATH_COUNT] = {
    [LB_PATH_TRUNCATED] = &lb_rule_truncated,   [LB_PATH_TWO_HALVES] = &lb_rule_truncated, [LB_PATH_SPARSE] = &lb_rule_truncated,
    [LB_PATH_BLOCK_SCALED] = &lb_rule_scaled,   [LB_PATH_INTEGER] = &lb_rule_integer,      [LB_PATH_XOR_POPC] = &lb_rule_integer,
    [LB_PATH_AND_POPC] = &lb_rule_integer,      [LB_PATH_FMA_CHAIN] = &lb_rule_fma_chain,  [LB_PATH_PAIRWISE] = &lb_rule_pairwise,
    [LB_PATH_PAIR_ODD] = &lb_rule_pair,         [LB_PATH_PAIR_FUSED] = &lb_rule_pair,      [LB_PATH_ODD_FIRST] = &lb_rule_odd_first,
    [LB_PATH_TWO_CHAINS] = &lb_rule_two_chains, [LB_PATH_EXACT] = &lb_rule_exact,          [LB_PATH_LATE_C] = &lb_rule_late,
    [LB_PATH_LATE_C_SPLIT] = &lb_rule_late,
};

/* The engine's parameters, and whether the path holds what the unit asks of it. */
static lb_status open_engine(rule *r, lb_error *err) {
    const lb_unit *u = r->u;
    if (!lb_is_code_path(u->path)) {
        if (u->scale_block || u->sparse_group)
            return lb_fail(err, LB_E_ARG, u->name, "path %s knows no scales and no compressed A", lb_unit_path_name(u->path));
        return lb_engine_of(u, &r->g, err);
    }
    lb_code_path path;
    LB_TRY(lb_code_path_of(u, &path, err));
    r->g = path.g;
    return LB_OK;
}

lb_status lb_rule_of(const lb_unit *u, const lb_emit_options *o, rule *out, lb_error *err) {
    if (u->path == LB_PATH_NONE)
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "it has no model to write: %s; `lastbit emit --list` names what has one", u->note);
    if ((unsigned)u->path >= LB_PATH_COUNT || !paths[u->path])
        return lb_fail(err, LB_E_UNAVAILABLE, u->name, "path %s is not written as source; `lastbit emit --list` names what is",
                       lb_unit_path_name(u->path));
    const rule_path *path = o->tier == LB_EMIT_FAST ? &lb_rule_fast : paths[u->path];
    rule r = {.u = u, .path = path, .a = lb_format_row(u->a), .b = lb_format_row(u->b), .c = lb_format_row(u->c)};
    LB_TRY(open_engine(&r, err));
    r.scale = lb_format_row(u->scale);
    r.each = 1;
    r.products = u->sparse_group ? u->k / 2 : u->k;
    r.scales = u->scale_block ? u->k / u->scale_block : 0;
    LB_TRY(r.path->open(&r, o, err));
    *out = r;
    return LB_OK;
}
