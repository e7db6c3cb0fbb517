/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Lines of hex for a scalar operation: its input words out, its output words back. Line i is row i of the standard rows; an operation of a
 * warp takes 32 lines at a time, a lane each. */
#include "run/lines_scalar.h"

#include "base/try.h"
#include "run/describe.h"
#include "run/hex_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = LB_SCALAR_MAX_IN + LB_SCALAR_MAX_OUT };

bool lb_is_op_suite(const char *suite) {
    return strncmp(suite, "op:", 3) == 0;
}

static void draw_row(const lb_scalar_op *op, uint64_t seed, uint64_t row, uint64_t *in) {
    for (int i = 0; i < op->ins; i++) in[i] = lb_scalar_input(op->in[i], i, seed, row);
}

lb_status lb_op_gen_line(const char *suite, uint64_t seed, uint64_t index, char *text, size_t size, lb_error *err) {
    const lb_scalar_op *op;
    uint64_t in[LB_SCALAR_MAX_IN];
    size_t used = 0;
    LB_TRY(lb_scalar_find(suite, &op, err));
    draw_row(op, seed, index, in);
    for (int i = 0; i < op->ins; i++) {
        const int n = snprintf(text + used, size - used, "%s%0*llx", i ? " " : "", lb_word_bits(op->in[i]) / 4, (unsigned long long)in[i]);
        if (n < 0 || (size_t)n >= size - used) return lb_fail(err, LB_E_ARG, suite, "a line does not fit in %zu characters", size);
        used += (size_t)n;
    }
    return LB_OK;
}

struct lb_scalar_judge {
    const lb_scalar_op *op;
    char *suite;
    uint64_t seed, count, read, line;
    uint64_t *got; /* [count][outs] */
    double start;
};

static void judge_free(lb_scalar_judge *j) {
    if (j) free(j->suite), free(j->got);
    free(j);
}

lb_status lb_scalar_judge_open(lb_scalar_judge **out, const char *suite, uint64_t seed, uint64_t count, lb_error *err) {
    const lb_scalar_op *op;
    LB_TRY(lb_scalar_find(suite, &op, err));
    if (count > UINT64_C(1) << 28) return lb_fail(err, LB_E_ARG, suite, "at most 2^28 lines");
    if (op->warp && count % LB_WARP_LANES)
        return lb_fail(err, LB_E_ARG, suite, "%llu lines; a warp answers 32 at a time (--count)", (unsigned long long)count);
    lb_scalar_judge *j = calloc(1, sizeof *j);
    if (!j) return lb_fail(err, LB_E_MEMORY, suite, "no memory for a judge");
    *j = (lb_scalar_judge){.op = op, .suite = strdup(suite), .seed = seed, .count = count, .start = lb_seconds()};
    j->got = malloc((count + 1) * (size_t)op->outs * sizeof *j->got);
    if (!j->suite || !j->got) {
        judge_free(j);
        return lb_fail(err, LB_E_MEMORY, suite, "no memory for %llu lines", (unsigned long long)count);
    }
    *out = j;
    return LB_OK;
}

lb_status lb_scalar_judge_line(lb_scalar_judge *j, const char *line, size_t length, lb_error *err) {
    uint64_t words[MOST_WORDS], in[LB_SCALAR_MAX_IN];
    const size_t ins = (size_t)j->op->ins, outs = (size_t)j->op->outs;
    size_t count;
    char place[64];
    snprintf(place, sizeof place, "line %llu", (unsigned long long)++j->line);
    LB_TRY(lb_hex_words(line, length, place, 16, words, MOST_WORDS, &count, err));
    if (!count) return LB_OK;
    if (j->read == j->count)
        return lb_fail(err, LB_E_FILE, place, "one answer too many: the suite has %llu lines (--count)", (unsigned long long)j->count);
    if (count != outs && count != ins + outs)
        return lb_fail(err, LB_E_FILE, place, "%zu words; an answer is %zu output word%s, maybe behind the %zu input words", count, outs,
                       outs > 1 ? "s" : "", ins);
    draw_row(j->op, j->seed, j->read, in);
    for (size_t i = 0; count > outs && i < ins; i++)
        if (words[i] != in[i])
            return lb_fail(err, LB_E_FILE, place, "word %zu is %llx; the suite has %llx there: same suite, --seed and --count as gen?",
                           i + 1, (unsigned long long)words[i], (unsigned long long)in[i]);
    for (size_t o = 0; o < outs; o++) {
        const int bits = lb_word_bits(j->op->out[o]);
        const uint64_t word = words[count - outs + o];
        if (bits < 64 && word >> bits)
            return lb_fail(err, LB_E_FILE, place, "%llx does not fit in the %d bits of output %zu", (unsigned long long)word, bits, o);
        j->got[j->read * outs + o] = word;
    }
    j->read++;
    return LB_OK;
}

/* ---- the verdict -------------------------------------------------------------------------------------------------------------- */

static lb_element element_of(const lb_scalar_op *op, int o, uint64_t row, uint64_t got, uint64_t want) {
    const lb_format *f = lb_word_parts(op->out[o]) == 1 ? lb_word_format(op->out[o]) : NULL;
    const uint64_t ulp = f ? lb_ulp_distance(f, got, want) : UINT64_MAX;
    lb_element e = {.present = true, .row = row, .col = (size_t)o, .actual = got, .reference = want};
    e.actual_value = f ? lb_to_double(f, got) : NAN;
    e.reference_value = f ? lb_to_double(f, want) : NAN;
    e.ulp = ulp == UINT64_MAX ? INFINITY : (double)ulp;
    e.abs_error = isnan(e.actual_value - e.reference_value) ? INFINITY : fabs(e.actual_value - e.reference_value);
    e.bound = e.row_rms = e.floor = NAN;
    return e;
}

/* 32 rows at a time; those of a warp that were not answered are computed all the same. */
static lb_status grade_block(const lb_scalar_judge *j, uint64_t first, lb_record *r, char *inputs, size_t size, lb_error *err) {
    const lb_scalar_op *op = j->op;
    uint64_t in[LB_WARP_LANES * LB_SCALAR_MAX_IN], model[LB_WARP_LANES * LB_SCALAR_MAX_OUT];
    for (uint64_t i = 0; i < LB_WARP_LANES; i++) draw_row(op, j->seed, first + i, in + i * (uint64_t)op->ins);
    LB_TRY(lb_scalar_eval_rows(op, LB_WARP_LANES, in, model, err));
    for (uint64_t i = 0; i < LB_WARP_LANES && first + i < j->read; i++)
        for (int o = 0; o < op->outs; o++) {
            const uint64_t *x = in + i * (uint64_t)op->ins, want = model[i * (uint64_t)op->outs + (uint64_t)o];
            const uint64_t got = j->got[(first + i) * (uint64_t)op->outs + (uint64_t)o];
            const lb_scalar_grade_of g = lb_scalar_grade(op, x, o, want, got);
            r->counts.total++;
            r->counts.compared += g != LB_SCALAR_GRADE_UNJUDGED;
            r->counts.exact += g == LB_SCALAR_GRADE_SAME;
            r->counts.legal += g == LB_SCALAR_GRADE_ALLOWED;
            r->counts.wrong += g == LB_SCALAR_GRADE_WRONG;
            if (g != LB_SCALAR_GRADE_WRONG || r->first.present) continue;
            r->first = r->worst = element_of(op, o, first + i, got, want);
            for (int w = 0; w < op->ins; w++) snprintf(inputs + strlen(inputs), size - strlen(inputs), " 0x%llx", (unsigned long long)x[w]);
        }
    return LB_OK;
}

static lb_status judge(const lb_scalar_judge *j, lb_record *r, lb_error *err) {
    const lb_scalar_op *op = j->op;
    char inputs[512] = "";
    lb_record_text(&r->case_string, "op=%s suite=%s count=%llu seed=%llu", op->name, j->suite, (unsigned long long)j->count,
                   (unsigned long long)j->seed);
    lb_record_text(&r->op, "%s", op->name);
    lb_record_text(&r->on, "lines");
    lb_record_text(&r->unit_name, "%s", op->name);
    lb_record_text(&r->unit_source, "%s", op->source);
    lb_record_text(&r->unit_note, "%s", lb_scalar_class_text(op->cls));
    lb_record_text(&r->unit_open, "%s", op->open);
    lb_record_text(&r->coverage, "all");
    r->unit_evidence = op->evidence;
    r->seed = j->seed;
    r->has_seed = true;
    r->out_format = lb_word_parts(op->out[0]) == 1 ? lb_word_format(op->out[0]) : NULL;
    for (uint64_t first = 0; first < j->read; first += LB_WARP_LANES) LB_TRY(grade_block(j, first, r, inputs, sizeof inputs, err));
    r->counts.total = j->count * (uint64_t)op->outs;
    r->seconds_total = lb_seconds() - j->start;
    if (r->counts.wrong) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "%llu of %llu words differ; first: line %zu, output %zu is 0x%llx, want 0x%llx: lastbit eval %s%s",
                       (unsigned long long)r->counts.wrong, (unsigned long long)r->counts.compared, r->first.row + 1, r->first.col,
                       (unsigned long long)r->first.actual, (unsigned long long)r->first.reference, op->name, inputs);
    } else if (j->read < j->count && j->read) {
        r->verdict = LB_FAIL;
        lb_record_text(&r->reason, "%llu answers of %llu", (unsigned long long)j->read, (unsigned long long)j->count);
    } else if (!r->counts.compared) {
        r->verdict = LB_UNPROVEN;
        lb_record_text(&r->reason, "%s", j->read ? "nothing of these words is documented" : "no answer was given");
    } else {
        r->verdict = LB_PASS;
        lb_record_text(&r->reason, "%llu words: %llu exact, %llu within what is documented", (unsigned long long)r->counts.compared,
                       (unsigned long long)r->counts.exact, (unsigned long long)r->counts.legal);
    }
    return LB_OK;
}

lb_status lb_scalar_judge_close(lb_scalar_judge *j, lb_record **out, lb_error *err) {
    lb_record *r = NULL;
    *out = NULL;
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = judge(j, r, err);
    judge_free(j);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
