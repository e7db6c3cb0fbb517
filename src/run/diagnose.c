/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is wrong with an output: hypotheses in a table, cheapest and most specific first, each tried on the scene. */
#include "run/scene.h"
#include "run/describe.h"

#include <string.h>

static const struct {
    const char *name, *what;
} causes[LB_CAUSE_COUNT] = {[LB_CAUSE_NONE] = {"", "unexplained"},
#define X(id, name, text) [LB_CAUSE_##id] = {name, text},
                            LB_CAUSE_LIST(X)
#undef X
};

const char *lb_cause_name(lb_cause cause) {
    return (unsigned)cause < LB_CAUSE_COUNT ? causes[cause].name : NULL;
}

const char *lb_cause_what(lb_cause cause) {
    return (unsigned)cause < LB_CAUSE_COUNT ? causes[cause].what : NULL;
}

/* Each tries its hypotheses and keeps what is accepted; one that is far closer than the best so far replaces it. */
static const struct {
    const char *name;
    void (*run)(lb_scene *s);
} tries[] = {
    {"facts", lb_try_facts},       {"factors", lb_try_factors},           {"places", lb_try_places},
    {"depth", lb_try_depth},       {"operands", lb_try_operands},         {"line factors", lb_try_line_factors},
    {"rounding", lb_try_rounding}, {"accumulators", lb_try_accumulators},
};

/* Nothing gives the values; but a region that is wrong throughout, and is not everywhere, is worth saying. */
static void say_place(lb_scene *s) {
    if (s->best.cause || !s->far || !s->region_proper || s->fill < 0.9 || s->wrong_count < 16) return;
    s->best.cause = LB_CAUSE_PLACE;
    s->best.looked = s->wrong_count;
    lb_words(s->best.sentence, sizeof s->best.sentence, "only %s wrong, %.3g %% of it; what fills it is unexplained", s->where,
             100 * s->fill);
}

static lb_status check_options(const lb_diagnose_options *o, lb_error *err) {
    const lb_status s = lb_case_check(&o->x, err);
    if (s != LB_OK) return s;
    const lb_mat *all[] = {&o->actual, &o->reference, o->exact, o->previous};
    static const char *const names[] = {"the output", "the reference", "the unit's output", "the previous content"};
    for (size_t i = 0; i < 4; i++) {
        if (!all[i]) continue;
        if (all[i]->rows != lb_case_m(&o->x) || all[i]->cols != lb_case_n(&o->x))
            return lb_fail(err, LB_E_SHAPE, "diagnose", "%s is %zux%zu; A and B make %zux%zu", names[i], all[i]->rows, all[i]->cols,
                           lb_case_m(&o->x), lb_case_n(&o->x));
        if (all[i]->format != o->x.out)
            return lb_fail(err, LB_E_FORMAT, "diagnose", "%s is %s; the output format is %s", names[i], all[i]->format->name,
                           o->x.out->name);
    }
    return LB_OK;
}

lb_status lb_diagnose(const lb_diagnose_options *o, lb_diagnosis *out, lb_error *err) {
    lb_scene s;
    *out = (lb_diagnosis){0};
    lb_status status = check_options(o, err);
    if (status != LB_OK) return status;
    status = lb_scene_open(&s, o, err);
    if (status == LB_OK && s.wrong_count && s.k) {
        for (size_t i = 0; i < sizeof tries / sizeof tries[0] && !lb_scene_settled(&s); i++) tries[i].run(&s);
        say_place(&s);
    }
    *out = s.best;
    lb_scene_close(&s);
    return status;
}
