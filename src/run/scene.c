/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The scene of a diagnosis: what is wrong, a grid of elements to try hypotheses on, and the rule by which one is accepted. */
#include "run/scene.h"
#include "run/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PICKS = 320, ELEMENTS = 2048, LINES_MOST = 48, SPARE = 6 };

double lb_dot(const double *a, const double *b, size_t k) {
    double s[8] = {0};
    size_t p = 0;
    for (; p + 8 <= k; p += 8)
        for (int l = 0; l < 8; l++) s[l] += a[p + l] * b[p + l];
    for (; p < k; p++) s[0] += a[p] * b[p];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

double lb_round_value(const lb_format *f, lb_rounding way, double x) {
    const lb_encoding how = {.rounding = way};
    const bool plain = f->exp_bits && f->sign_bits && (f->special == LB_SPECIAL_IEEE || f->special == LB_SPECIAL_NAN_TOP) && f->bits < 64;
    const int least = 1 - f->bias;
    if (x == 0) return x;
    if (plain && fabs(x) < ldexp(1, f->bias) && fabs(x) > 0x1p-900) { /* below the top binade: nothing overflows */
        int e;
        frexp(x, &e);
        const double step = ldexp(1, (e - 1 < least ? least : e - 1) - f->man_bits), n = x / step; /* exact */
        return (way == LB_RZ ? trunc(n) : way == LB_RNA ? round(n) : rint(n)) * step;
    }
    return lb_to_double(f, lb_encode(f, lb_value_of(x), &how, NULL));
}

double lb_scene_value(const lb_scene *s, uint64_t code) {
    return s->table ? s->table[code & ((UINT64_C(1) << s->out->bits) - 1)] : lb_to_double(s->out, code);
}

/* Distance as a share of what is legal: up to 1 is legal, 2 stands for all that is further. */
double lb_scene_ratio(const lb_scene *s, size_t row, uint64_t actual, double value, uint64_t guess) {
    if (actual == guess) return 0;
    const double a = lb_scene_value(s, actual), g = lb_scene_value(s, guess);
    if (!isfinite(a) || !isfinite(g)) return a == g || (isnan(a) && isnan(g)) ? 0 : 2;
    const double ulps = (double)lb_ulp_distance(s->out, actual, guess) / s->max_ulp;
    const double off = fmin(fabs(a - g), isfinite(value) ? fabs(a - value) : INFINITY);
    const double ratio = s->floors[row] > 0 ? fmin(ulps, off / s->floors[row]) : ulps;
    return ratio < 2 ? ratio : 2;
}

bool lb_scene_legal(const lb_scene *s, size_t row, uint64_t actual, uint64_t guess) {
    return lb_scene_ratio(s, row, actual, NAN, guess) <= 1;
}

/* ---- what is wrong ----------------------------------------------------------------------------------------------------- */

/* Unit roundoff of the coarsest accumulator that the case allows for. */
static double roundoff(const lb_diagnose_options *o) {
    const double contract = o->contract ? o->contract->unit_roundoff : 0;
    const lb_unit *u = o->unit;
    const double unit = !u || u->path == LB_PATH_NONE  ? 0
                        : u->round == LB_UNIT_RNE_F16  ? 0x1p-11
                        : u->round == LB_UNIT_RZ_E8M13 ? 0x1p-13
                                                       : 0;
    return fmax(fmax(contract, unit), LB_F32_UNIT_ROUNDOFF);
}

static void set_tolerance(lb_scene *s) {
    const lb_contract *c = s->o->contract;
    const double margin = fmax(c ? c->margin : 0, LB_M16_FLOOR_MARGIN);
    s->max_ulp = fmax(c ? c->max_ulp : 0, LB_M16_MAX_ULP);
    for (size_t i = 0; i < s->m; i++) {
        double sum = 0;
        size_t n = 0;
        for (size_t j = 0; j < s->n; j++) {
            const double v = lb_scene_value(s, lb_mat_code(&s->o->reference, i, j));
            if (!isfinite(v)) continue;
            sum += v * v;
            n++;
        }
        s->floors[i] = margin * roundoff(s->o) * sqrt((double)s->k) * (n ? sqrt(sum / (double)n) : 0);
    }
}

static void mark(lb_scene *s, bool far) {
    const lb_mat *want = !far && s->o->exact ? s->o->exact : &s->o->reference;
    s->wrong_count = 0;
    s->far = far;
    for (size_t i = 0; i < s->m; i++) {
        for (size_t j = 0; j < s->n; j++) {
            const uint64_t actual = lb_mat_code(&s->o->actual, i, j), code = lb_mat_code(want, i, j);
            bool wrong = actual != code;
            if (wrong && far) wrong = !lb_scene_legal(s, i, actual, code);
            if (wrong && !far) wrong = !(lb_code_class(s->out, actual) == LB_NAN && lb_code_class(s->out, code) == LB_NAN);
            s->wrong[i * s->n + j] = wrong;
            s->wrong_count += wrong;
        }
    }
    memset(s->row_wrong, 0, s->m * sizeof *s->row_wrong);
    memset(s->col_wrong, 0, s->n * sizeof *s->col_wrong);
    for (size_t e = 0; e < s->m * s->n; e++) {
        if (!s->wrong[e]) continue;
        s->row_wrong[e / s->n]++;
        s->col_wrong[e % s->n]++;
    }
}

/* ---- the grid ------------------------------------------------------------------------------------------------------------- */

static void add_line(size_t *lines, size_t *count, size_t line) {
    size_t at = *count;
    for (size_t i = 0; i < *count; i++)
        if (lines[i] == line) return;
    while (at && lines[at - 1] > line) {
        lines[at] = lines[at - 1];
        at--;
    }
    lines[at] = line;
    ++*count;
}

/* A few lines that hold nothing wrong: what a hypothesis does to them tells whether it holds everywhere. */
static void add_clean(const lb_scene *s, size_t *lines, size_t *count, const uint32_t *wrong, size_t n, uint32_t stream) {
    for (size_t tries = 0, added = 0; tries < 64 && added < SPARE && n; tries++) {
        const size_t line = (size_t)(lb_random_u64(s->o->seed, stream, tries) % n);
        const size_t before = *count;
        if (!wrong[line]) add_line(lines, count, line);
        added += *count > before;
    }
}

static size_t pick_wrong(const lb_scene *s, size_t *picks) {
    size_t seen = 0, count = 0;
    for (size_t e = 0; e < s->m * s->n; e++) {
        if (!s->wrong[e]) continue;
        const size_t at = count < PICKS ? count++ : (size_t)(lb_random_u64(s->o->seed, 901, e) % (seen + 1));
        if (at < PICKS) picks[at] = e;
        seen++;
    }
    for (size_t i = count; i > 1; i--) { /* shuffled: the scan was in order */
        const size_t j = (size_t)(lb_random_u64(s->o->seed, 902, i) % i), t = picks[i - 1];
        picks[i - 1] = picks[j];
        picks[j] = t;
    }
    return count;
}

static lb_status choose_grid(lb_scene *s) {
    size_t picks[PICKS];
    const size_t count = pick_wrong(s, picks);
    const size_t most = (size_t)fmax(8, fmin(PICKS, 0x1p24 / ((double)s->k + 1)));
    s->rows = calloc(PICKS + SPARE + 1, sizeof *s->rows);
    s->cols = calloc(PICKS + SPARE + 1, sizeof *s->cols);
    if (!s->rows || !s->cols) return lb_fail(s->err, LB_E_MEMORY, "diagnose", "no memory for a grid");
    for (size_t i = 0; i < count && s->gm * s->gn < ELEMENTS && s->gm + s->gn < most; i++) {
        add_line(s->rows, &s->gm, picks[i] / s->n);
        add_line(s->cols, &s->gn, picks[i] % s->n);
    }
    add_clean(s, s->rows, &s->gm, s->row_wrong, s->m, 903);
    add_clean(s, s->cols, &s->gn, s->col_wrong, s->n, 904);
    return LB_OK;
}

static void load_line(double *out, const lb_mat *m, size_t row) {
    for (size_t p = 0; p < m->cols; p++) out[p] = lb_to_double(m->format, lb_mat_code(m, row, p));
}

static lb_status load_grid(lb_scene *s) {
    const size_t count = s->gm * s->gn + 1;
    const lb_mat bt = lb_mat_transposed(s->b);
    double **const lines[] = {&s->a, &s->a_guess, &s->b_lines, &s->b_guess};
    double **const each[] = {&s->c, &s->dot, &s->actual, &s->value};
    bool ok = true;
    for (size_t i = 0; i < 4; i++) ok = (*lines[i] = calloc((i < 2 ? s->gm : s->gn) * s->k + 1, sizeof(double))) && ok;
    for (size_t i = 0; i < 4; i++) ok = (*each[i] = calloc(count, sizeof(double))) && ok;
    ok = (s->code = calloc(count, sizeof *s->code)) && ok;
    ok = (s->is_wrong = calloc(count, 1)) && ok;
    ok = (s->is_inside = calloc(count, 1)) && ok;
    ok = (s->unknown = calloc(count, 1)) && ok;
    if (!ok) return lb_fail(s->err, LB_E_MEMORY, "diagnose", "no memory for %zux%zu elements of depth %zu", s->gm, s->gn, s->k);
    for (size_t i = 0; i < s->gm; i++) load_line(s->a + i * s->k, &s->o->x.a, s->rows[i]);
    for (size_t j = 0; j < s->gn; j++) load_line(s->b_lines + j * s->k, &bt, s->cols[j]);
    for (size_t i = 0; i < s->gm; i++) {
        for (size_t j = 0; j < s->gn; j++) {
            const size_t e = i * s->gn + j, at = s->rows[i] * s->n + s->cols[j];
            if (s->o->x.c.codes) s->c[e] = lb_to_double(s->o->x.c.format, lb_mat_code(&s->o->x.c, s->rows[i], s->cols[j]));
            s->dot[e] = lb_dot(s->a + i * s->k, s->b_lines + j * s->k, s->k);
            s->actual[e] = lb_scene_value(s, lb_mat_code(&s->o->actual, s->rows[i], s->cols[j]));
            s->is_wrong[e] = s->wrong[at];
            s->is_inside[e] = s->inside[at];
        }
    }
    return LB_OK;
}

/* What one explained element says against chance: how seldom some other element's reference would be legal there. */
static void measure_chance(lb_scene *s) {
    size_t tried = 0, hit = 0;
    for (size_t t = 0; t < 2000 && s->gm > 1 && s->gn > 1; t++) {
        const size_t i = (size_t)(lb_random_u64(s->o->seed, 905, t) % s->gm), j = (size_t)(lb_random_u64(s->o->seed, 906, t) % s->gn);
        const size_t i2 = (i + 1 + t % (s->gm - 1)) % s->gm, j2 = (j + 1 + t % (s->gn - 1)) % s->gn;
        if (!s->is_wrong[i * s->gn + j]) continue;
        tried++;
        hit += lb_scene_legal(s, s->rows[i], lb_mat_code(&s->o->actual, s->rows[i], s->cols[j]),
                              lb_mat_code(&s->o->reference, s->rows[i2], s->cols[j2]));
    }
    s->bits = tried < 50 ? 4 : fmin(9, -log2(((double)hit + 1) / ((double)tried + 2)));
    if (s->bits < 0.5) s->bits = 0.5;
}

lb_status lb_scene_open(lb_scene *s, const lb_diagnose_options *o, lb_error *err) {
    *s = (lb_scene){
        .o = o, .out = o->x.out, .b = lb_case_b(&o->x), .m = lb_case_m(&o->x), .n = lb_case_n(&o->x), .k = lb_case_k(&o->x), .err = err};
    s->end = lb_seconds() + (o->seconds > 0 ? o->seconds : 1.5);
    const size_t count = s->m * s->n + 1;
    if (s->n && s->m > SIZE_MAX / 16 / s->n) return lb_fail(err, LB_E_MEMORY, "diagnose", "%zux%zu is too large", s->m, s->n);
    s->floors = calloc(s->m + 1, sizeof *s->floors);
    s->wrong = calloc(count, 1);
    s->inside = calloc(count, 1);
    s->row_wrong = calloc(s->m + 1, sizeof *s->row_wrong);
    s->col_wrong = calloc(s->n + 1, sizeof *s->col_wrong);
    if (!s->floors || !s->wrong || !s->inside || !s->row_wrong || !s->col_wrong)
        return lb_fail(err, LB_E_MEMORY, "diagnose", "no memory for %zux%zu elements", s->m, s->n);
    if (s->out->bits <= 16) s->table = malloc(sizeof *s->table << s->out->bits);
    for (uint64_t code = 0; s->table && code >> s->out->bits == 0; code++) s->table[code] = lb_to_double(s->out, code);
    set_tolerance(s);
    mark(s, true);
    if (!s->wrong_count) mark(s, false);
    s->best.wrong = s->wrong_count;
    if (!s->wrong_count) return LB_OK;
    lb_status status = lb_scene_find_region(s);
    if (status == LB_OK) status = choose_grid(s);
    if (status == LB_OK) status = load_grid(s);
    if (status == LB_OK) measure_chance(s);
    return status;
}

void lb_scene_close(lb_scene *s) {
    void *all[] = {s->floors,  s->table,   s->wrong, s->inside, s->row_wrong, s->col_wrong, s->rows,      s->cols,  s->a,    s->b_lines,
                   s->a_guess, s->b_guess, s->c,     s->dot,    s->actual,    s->is_wrong,  s->is_inside, s->value, s->code, s->unknown};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* ---- judging a guess ------------------------------------------------------------------------------------------------------ */

typedef struct tally {
    size_t wrong, wrong_given, right, right_kept, beyond, beyond_kept, inside, unknown; /* unknown: wrong ones */
    double distance, null; /* sums over the region: of the guess, of the reference */
} tally;

static bool nearly_all(size_t part, size_t whole) {
    return whole - part <= whole / 100;
}

static tally tally_guess(const lb_scene *s, bool bits, bool with_value) {
    tally t = {0};
    const lb_mat *null = bits && s->o->exact ? s->o->exact : &s->o->reference;
    for (size_t e = 0; e < s->gm * s->gn; e++) {
        const size_t i = s->rows[e / s->gn], j = s->cols[e % s->gn];
        const uint64_t actual = lb_mat_code(&s->o->actual, i, j), plain = lb_mat_code(null, i, j);
        const double ratio =
            bits ? (actual == s->code[e] ? 0 : 2) : lb_scene_ratio(s, i, actual, with_value ? s->value[e] : NAN, s->code[e]);
        if (s->unknown[e]) {
            t.unknown += s->is_wrong[e];
            continue;
        }
        if (!s->is_inside[e]) {
            t.beyond++;
            t.beyond_kept += ratio <= 1;
            continue;
        }
        t.inside++;
        t.distance += ratio;
        t.null += bits ? (actual == plain ? 0 : 2) : lb_scene_ratio(s, i, actual, NAN, plain);
        t.wrong += s->is_wrong[e];
        t.right += !s->is_wrong[e];
        t.wrong_given += s->is_wrong[e] && ratio <= 1;
        t.right_kept += !s->is_wrong[e] && ratio <= 1;
    }
    return t;
}

static bool judge(lb_scene *s, const lb_trial *t, bool with_value) {
    if (!t->bits && !s->far) return false; /* the reference itself is as close */
    const tally y = tally_guess(s, t->bits, with_value);
    const double enough = t->bits ? 8 : t->slight ? 12 : (t->choices + 12) / s->bits;
    if (!nearly_all(y.wrong_given, y.wrong) || !nearly_all(y.right_kept, y.right) || y.wrong < 4 * y.unknown || !y.wrong) return false;
    if ((double)y.wrong_given < enough || y.distance > 0.5 * y.null) return false;
    const double score = y.distance / y.null;
    if (s->best.cause && !(score < 0.5 * s->best_score && s->best_score > 0.02)) return true;
    const bool everywhere = nearly_all(y.beyond_kept, y.beyond) || !s->region_proper;
    s->best_score = score;
    s->best_everywhere = everywhere;
    s->best.cause = t->cause;
    s->best.looked = y.wrong;
    s->best.explained = y.wrong_given;
    lb_words(s->best.sentence, sizeof s->best.sentence, "%s%s%s: explains %zu/%zu wrong elements tried", t->what,
             t->places || everywhere || !s->where[0] ? "" : " in ", t->places || everywhere ? "" : s->where, y.wrong_given, y.wrong);
    return true;
}

/* A few wrong elements: whether most of them are given. guess NULL: s->value, or s->code. */
static bool few_agree(lb_scene *s, const lb_trial *t, lb_guess *guess, const void *user, bool with_value) {
    enum { FEW = 40 };
    const size_t count = s->gm * s->gn;
    size_t seen = 0, missed = 0;
    for (size_t e = s->gn / 2; e < count && seen < FEW; e += count / 211 + 1) {
        if (!s->is_wrong[e] || s->unknown[e]) continue;
        const size_t i = s->rows[e / s->gn];
        const uint64_t actual = lb_mat_code(&s->o->actual, i, s->cols[e % s->gn]);
        if (guess)
            s->code[e] = guess(s, user, e);
        else if (with_value)
            s->code[e] = lb_from_double(s->out, s->value[e]);
        seen++;
        missed += t->bits ? actual != s->code[e] : lb_scene_ratio(s, i, actual, with_value ? s->value[e] : NAN, s->code[e]) > 1;
    }
    return missed * 8 <= seen;
}

bool lb_scene_try(lb_scene *s, const lb_trial *t) {
    if ((!t->bits && !s->far) || !few_agree(s, t, NULL, NULL, true)) return false;
    for (size_t e = 0; e < s->gm * s->gn; e++) s->code[e] = lb_from_double(s->out, s->value[e]);
    return judge(s, t, true);
}

bool lb_scene_try_codes(lb_scene *s, const lb_trial *t) {
    return few_agree(s, t, NULL, NULL, false) && judge(s, t, false);
}

bool lb_scene_try_each(lb_scene *s, const lb_trial *t, lb_guess *guess, const void *user) {
    if ((!t->bits && !s->far) || !few_agree(s, t, guess, user, false)) return false;
    for (size_t e = 0; e < s->gm * s->gn; e++) s->code[e] = guess(s, user, e);
    return judge(s, t, false);
}

void lb_scene_fact(lb_scene *s, lb_cause cause, uint64_t holds, const char *what) {
    if (s->best.cause) return;
    s->best.cause = cause;
    s->best.looked = s->wrong_count;
    s->best.explained = holds;
    s->best_score = 0;
    lb_words(s->best.sentence, sizeof s->best.sentence, "%s%s%s (%llu of %llu wrong elements)", what, s->where[0] ? " in " : "", s->where,
             (unsigned long long)holds, (unsigned long long)s->wrong_count);
}

bool lb_scene_settled(const lb_scene *s) {
    return (s->best.cause && s->best_score <= 0.1) || lb_seconds() > s->end;
}
