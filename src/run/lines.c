/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lines of hex: gen writes the inputs of a suite, any program answers, judge compares. Both sides draw the same inputs from the
 * seed, so a program that drops, repeats or changes a line is found out. */
#include "base/try.h"
#include "lastbit/run.h"
#include "run/describe.h"
#include "run/hex_words.h"
#include "run/lines_scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TERMS = 256, MAX_WORDS = 2 * MAX_TERMS + 2 };

static const char dot_prefix[] = "dot:";

static lb_status suite_unit(const char *suite, lb_unit *u, lb_error *err) {
    if (strncmp(suite, dot_prefix, sizeof dot_prefix - 1) != 0)
        return lb_fail(err, LB_E_NAME, suite, "no such suite; a suite is dot:UNIT, as dot:sm_80/mma.m16n8k16.f32.f16.f16.f32, or op:NAME");
    LB_TRY(lb_unit_find(suite + sizeof dot_prefix - 1, u, err));
    LB_TRY(lb_unit_dot_check(u, err));
    return u->k <= MAX_TERMS ? LB_OK : lb_fail(err, LB_E_ARG, u->name, "k is %u; a line holds %d products", u->k, MAX_TERMS);
}

/* Line `index`: mostly normal draws, then wide exponents, any bits, and every eighth with NaN, Inf, zeros and subnormals. */
static void draw_line(const lb_unit *u, uint64_t seed, uint64_t index, uint32_t words[MAX_WORDS]) {
    static const lb_dist mix[8] = {LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_NORMAL,  LB_DIST_BITS,
                                   LB_DIST_NORMAL, LB_DIST_WIDE, LB_DIST_UNIFORM, LB_DIST_SPECIAL};
    const lb_dist dist = mix[index % 8];
    const size_t k = u->k;
    for (size_t i = 0; i < k; i++) {
        words[i] = (uint32_t)lb_draw(lb_format_row(u->a), dist, seed, 1, index * k + i);
        words[k + i] = (uint32_t)lb_draw(lb_format_row(u->b), dist, seed, 2, index * k + i);
    }
    words[2 * k] = (uint32_t)lb_draw(lb_format_row(u->c), dist, seed, 3, index);
}

static lb_format_id word_format(const lb_unit *u, size_t i) {
    return i < u->k ? u->a : i < 2u * u->k ? u->b : u->c;
}

static int hex_digits(lb_format_id format) {
    return (lb_format_row(format)->bits + 3) / 4;
}

lb_status lb_gen_line(const char *suite, uint64_t seed, uint64_t index, char *text, size_t size, lb_error *err) {
    lb_unit u;
    uint32_t words[MAX_WORDS];
    if (lb_is_op_suite(suite)) return lb_op_gen_line(suite, seed, index, text, size, err);
    LB_TRY(suite_unit(suite, &u, err));
    draw_line(&u, seed, index, words);
    size_t used = 0;
    for (size_t i = 0; i <= 2u * u.k; i++) {
        const int n = snprintf(text + used, size - used, "%s%0*x", i ? " " : "", hex_digits(word_format(&u, i)), words[i]);
        if (n < 0 || (size_t)n >= size - used) return lb_fail(err, LB_E_ARG, suite, "a line does not fit in %zu characters", size);
        used += (size_t)n;
    }
    return LB_OK;
}

struct lb_judge {
    lb_scalar_judge *op; /* of a suite op:NAME; then nothing else is used */
    lb_unit unit;
    char *suite;
    uint64_t seed, count, read; /* read: answers so far */
    uint64_t line;              /* lines so far, comments too */
    void *actual, *model;       /* [count] codes of d */
    double start;
};

static void judge_free(lb_judge *j) {
    if (!j) return;
    free(j->suite);
    free(j->actual);
    free(j->model);
    free(j);
}

static lb_status open_op(lb_judge **out, const char *suite, uint64_t seed, uint64_t count, lb_error *err) {
    lb_judge *j = calloc(1, sizeof *j);
    if (!j) return lb_fail(err, LB_E_MEMORY, suite, "no memory for a judge");
    const lb_status s = lb_scalar_judge_open(&j->op, suite, seed, count, err);
    if (s == LB_OK)
        *out = j;
    else
        free(j);
    return s;
}

lb_status lb_judge_open(lb_judge **out, const char *suite, uint64_t seed, uint64_t count, lb_error *err) {
    lb_unit u;
    *out = NULL;
    if (lb_is_op_suite(suite)) return open_op(out, suite, seed, count, err);
    LB_TRY(suite_unit(suite, &u, err));
    if (count > (UINT64_C(1) << 32)) return lb_fail(err, LB_E_ARG, suite, "at most 2^32 lines");
    const size_t bytes = (size_t)lb_format_row(u.d)->bytes;
    lb_judge *j = calloc(1, sizeof *j);
    if (!j) return lb_fail(err, LB_E_MEMORY, suite, "no memory for a judge");
    *j = (lb_judge){.unit = u, .suite = strdup(suite), .seed = seed, .count = count, .start = lb_seconds()};
    j->actual = calloc(count + 1, bytes);
    j->model = calloc(count + 1, bytes);
    if (!j->suite || !j->actual || !j->model) {
        judge_free(j);
        return lb_fail(err, LB_E_MEMORY, suite, "no memory for %llu lines", (unsigned long long)count);
    }
    *out = j;
    return LB_OK;
}

lb_status lb_judge_line(lb_judge *j, const char *line, size_t length, lb_error *err) {
    uint64_t words[MAX_WORDS];
    uint32_t inputs[MAX_WORDS];
    size_t count;
    if (j->op) return lb_scalar_judge_line(j->op, line, length, err);
    const size_t k = j->unit.k, input_count = 2 * k + 1;
    char place[64];
    snprintf(place, sizeof place, "line %llu", (unsigned long long)++j->line);
    LB_TRY(lb_hex_words(line, length, place, 8, words, MAX_WORDS, &count, err));
    if (!count) return LB_OK;
    if (j->read == j->count)
        return lb_fail(err, LB_E_FILE, place, "one answer too many: the suite has %llu lines (--count)", (unsigned long long)j->count);
    if (count != 1 && count != input_count + 1)
        return lb_fail(err, LB_E_FILE, place, "%zu words; an answer is the output word, or the %zu input words and the output", count,
                       input_count);
    draw_line(&j->unit, j->seed, j->read, inputs);
    for (size_t i = 0; count > 1 && i < input_count; i++)
        if (words[i] != inputs[i])
            return lb_fail(err, LB_E_FILE, place, "word %zu is %x; the suite has %x there: same suite, --seed and --count as gen?", i + 1,
                           (unsigned)words[i], inputs[i]);
    const uint32_t answer = (uint32_t)words[count - 1];
    if (j->unit.round == LB_UNIT_RNE_F16 && answer > 0xffff) return lb_fail(err, LB_E_FILE, place, "%x is no 16-bit code", answer);
    uint32_t model;
    LB_TRY(lb_unit_dot(&j->unit, inputs, inputs + k, k, inputs[2 * k], &model, err));
    const int bytes = lb_format_row(j->unit.d)->bytes;
    lb_store_code((char *)j->actual + j->read * (size_t)bytes, bytes, answer);
    lb_store_code((char *)j->model + j->read * (size_t)bytes, bytes, model);
    j->read++;
    return LB_OK;
}

static lb_status judge(lb_judge *j, lb_record *r, lb_error *err) {
    const lb_format *d = lb_format_row(j->unit.d);
    lb_record_text(&r->case_string, "op=dot unit=%s suite=%s count=%llu seed=%llu", j->unit.name, j->suite, (unsigned long long)j->count,
                   (unsigned long long)j->seed);
    lb_record_text(&r->op, "dot");
    lb_record_text(&r->on, "lines");
    r->seed = j->seed;
    r->has_seed = true;
    lb_describe_unit(r, &j->unit);
    const lb_mat actual = lb_mat_of(d, j->actual, 1, j->read), model = lb_mat_of(d, j->model, 1, j->read);
    const lb_grade_input in = {.actual = actual, .reference = model, .exact = &model, .k = j->unit.k};
    LB_TRY(lb_grade(&in, r, err));
    r->counts.total = j->count;
    lb_record_text(&r->coverage, "all");
    if (j->read < j->count) {
        lb_record_text(&r->coverage, "%llu of %llu lines answered", (unsigned long long)j->read, (unsigned long long)j->count);
        if (!j->read) lb_record_text(&r->reason, "no answer was given");
        if (j->read && r->verdict != LB_FAIL) {
            r->verdict = LB_FAIL;
            lb_record_text(&r->reason, "the program answered %llu of %llu lines", (unsigned long long)j->read,
                           (unsigned long long)j->count);
        }
    }
    r->seconds_total = lb_seconds() - j->start;
    return LB_OK;
}

lb_status lb_judge_close(lb_judge *j, lb_record **out, lb_error *err) {
    lb_record *r = NULL;
    *out = NULL;
    if (j->op) {
        lb_scalar_judge *op = j->op;
        judge_free(j);
        return lb_scalar_judge_close(op, out, err);
    }
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = judge(j, r, err);
    judge_free(j);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
