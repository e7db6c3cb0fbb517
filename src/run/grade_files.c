/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two tensors of files, read and graded in bands: memory does not grow with them. */
#include "base/try.h"
#include "lastbit/run.h"
#include "run/describe.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct job {
    const lb_grade_files_options *o;
    lb_reader *actual, *reference;
    size_t rows, cols, band; /* band: elements that are in memory of each */
    const lb_format *format;
    lb_grading *grading;
    struct band {
        void *a, *r;      /* [band] codes */
        double *rms;      /* of the rows of r; [band / cols], or [1] */
        size_t row, rows; /* of the output */
        lb_status status;
        lb_error error;
    } bands[2]; /* one is judged while the other is read */
} job;

typedef struct band band;

static void job_free(job *j) {
    lb_reader_close(j->actual);
    lb_reader_close(j->reference);
    lb_grading_close(j->grading, NULL);
    for (int i = 0; i < 2; i++) {
        free(j->bands[i].a);
        free(j->bands[i].r);
        free(j->bands[i].rms);
    }
}

static lb_status open_both(job *j, lb_error *err) {
    const lb_grade_files_options *o = j->o;
    lb_file_options raw = o->files;
    LB_TRY(lb_reader_open(&j->reference, o->reference, o->format, &o->files, err));
    const lb_mat r = lb_reader_shape(j->reference);
    raw.raw_rank = 0; /* as many as there are; compared below */
    LB_TRY(lb_reader_open(&j->actual, o->actual, r.format, &raw, err));
    const lb_mat a = lb_reader_shape(j->actual);
    const bool same = o->files.raw_dtype ? a.cols == r.rows * r.cols : a.rows == r.rows && a.cols == r.cols;
    if (!same) return lb_fail(err, LB_E_SHAPE, o->actual, "ACTUAL is %zux%zu; REFERENCE is %zux%zu", a.rows, a.cols, r.rows, r.cols);
    j->rows = r.rows;
    j->cols = r.cols;
    j->format = r.format;
    return LB_OK;
}

static lb_status make_room(job *j, lb_error *err) {
    const size_t width = (size_t)j->format->bytes, bytes = j->o->band_bytes ? j->o->band_bytes : (size_t)4 << 20, all = j->rows * j->cols;
    j->band = bytes / width ? bytes / width : 1;
    if (j->cols && j->band > j->cols) j->band = j->band / j->cols * j->cols; /* whole rows */
    if (j->band > all) j->band = all;
    bool enough = true;
    for (int i = 0; i < 2; i++) {
        band *b = &j->bands[i];
        b->a = malloc(j->band * width + 1);
        b->r = malloc(j->band * width + 1);
        b->rms = malloc((j->band / (j->cols ? j->cols : 1) + 1) * sizeof *b->rms);
        enough = enough && b->a && b->r && b->rms;
    }
    return enough ? LB_OK : lb_fail(err, LB_E_MEMORY, "grade", "no memory for bands of %zu elements", j->band);
}

static lb_grade_input input_of(const job *j, const band *b, size_t rows, size_t cols) {
    return (lb_grade_input){.actual = lb_mat_of(j->format, b ? b->a : NULL, rows, cols),
                            .reference = lb_mat_of(j->format, b ? b->r : NULL, rows, cols),
                            .contract = j->o->contract,
                            .k = j->o->k,
                            .row_rms = b ? b->rms : NULL,
                            .has_sentinel = j->o->has_sentinel,
                            .sentinel = j->o->sentinel,
                            .max_outliers = j->o->max_outliers,
                            .elements = (double)j->rows * (double)j->cols};
}

static lb_status read_both(job *j, band *b, size_t first, size_t count, lb_error *err) {
    LB_TRY(lb_reader_read(j->actual, first, count, b->a, err));
    return lb_reader_read(j->reference, first, count, b->r, err);
}

/* Rows from `row` on, as many as a band takes, and their RMS. */
static void load_rows(job *j, band *b, size_t row) {
    const size_t step = j->band / j->cols;
    b->row = row;
    b->rows = j->rows - row < step ? j->rows - row : step;
    b->status = read_both(j, b, row * j->cols, b->rows * j->cols, &b->error);
    const lb_mat r = lb_mat_of(j->format, b->r, b->rows, j->cols);
    if (b->status == LB_OK) lb_grading_rms(j->grading, &r, b->rms);
}

static void judge_rows(job *j, band *b) {
    const lb_grade_input in = input_of(j, b, b->rows, j->cols);
    if (b->status == LB_OK) b->status = lb_grading_add(j->grading, &in, b->row, 0, &b->error);
}

/* What the other thread does. */
typedef struct loading {
    job *j;
    band *b;
    size_t row;
} loading;

static void *load_there(void *user) {
    const loading *l = user;
    load_rows(l->j, l->b, l->row);
    return NULL;
}

/* Judge one band while the next is read, in a thread of its own: OpenMP's would not survive a fork. */
static void judge_and_load(job *j, band *now, band *next, size_t row) {
    loading l = {j, next, row};
    pthread_t thread;
    const bool apart = j->band >= 1 << 16 && pthread_create(&thread, NULL, load_there, &l) == 0;
    judge_rows(j, now);
    if (apart)
        pthread_join(thread, NULL);
    else
        load_there(&l);
}

static lb_status grade_rows(job *j, lb_error *err) {
    band *now = &j->bands[0], *next = &j->bands[1];
    if (!j->rows) return LB_OK;
    for (load_rows(j, now, 0);;) {
        const size_t row = now->row + now->rows;
        if (row < j->rows)
            judge_and_load(j, now, next, row);
        else
            judge_rows(j, now);
        if (now->status != LB_OK) {
            if (err) *err = now->error;
            return now->status;
        }
        if (row >= j->rows) return LB_OK;
        band *done = now;
        now = next;
        next = done;
    }
}

/* A row that is longer than a band: once for its RMS, once more to judge it. */
static lb_status grade_long_row(job *j, size_t row, lb_error *err) {
    band *b = &j->bands[0];
    for (size_t col = 0; col < j->cols; col += j->band) {
        const size_t cols = j->cols - col < j->band ? j->cols - col : j->band;
        const lb_mat part = lb_mat_of(j->format, b->r, 1, cols);
        LB_TRY(lb_reader_read(j->reference, row * j->cols + col, cols, b->r, err));
        b->rms[0] = lb_grading_scan(j->grading, &part, col == 0);
    }
    for (size_t col = 0; col < j->cols; col += j->band) {
        const size_t cols = j->cols - col < j->band ? j->cols - col : j->band;
        const lb_grade_input in = input_of(j, b, 1, cols);
        LB_TRY(read_both(j, b, row * j->cols + col, cols, err));
        LB_TRY(lb_grading_add(j->grading, &in, row, col, err));
    }
    return LB_OK;
}

static lb_status grade_all(job *j, lb_record *r, lb_error *err) {
    const lb_grade_input whole = input_of(j, NULL, j->rows, j->cols);
    LB_TRY(lb_grading_open(&j->grading, &whole, err));
    lb_status s = LB_OK;
    if (j->cols && j->cols <= j->band) {
        s = grade_rows(j, err);
    } else {
        for (size_t row = 0; s == LB_OK && j->cols && row < j->rows; row++) s = grade_long_row(j, row, err);
    }
    if (s == LB_OK) s = lb_reader_unchanged(j->actual, err);
    if (s == LB_OK) s = lb_reader_unchanged(j->reference, err);
    if (s != LB_OK) return s;
    lb_grading_close(j->grading, r);
    j->grading = NULL;
    return LB_OK;
}

static lb_status grade_files(job *j, lb_record *r, lb_error *err) {
    const double start = lb_seconds();
    LB_TRY(open_both(j, err));
    LB_TRY(make_room(j, err));
    LB_TRY(grade_all(j, r, err));
    lb_describe_grade(r, j->format, j->o->contract, j->rows, j->cols, j->o->k);
    lb_record_text(&r->on, "file:%s", j->o->actual);
    r->seconds_total = lb_seconds() - start;
    return LB_OK;
}

lb_status lb_grade_files(const lb_grade_files_options *o, lb_record **out, lb_error *err) {
    job j = {.o = o};
    lb_record *r = NULL;
    *out = NULL;
    if (!o->contract) return lb_fail(err, LB_E_ARG, "grade", "nothing to judge by: give a contract");
    lb_status s = lb_record_open(&r, err);
    if (s == LB_OK) s = grade_files(&j, r, err);
    job_free(&j);
    if (s == LB_OK)
        *out = r;
    else
        lb_record_close(r);
    return s;
}
