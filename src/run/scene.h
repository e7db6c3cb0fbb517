/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: what hypotheses about a wrong output are tried on, and how they are judged.
 * The scene is a grid of rows and columns drawn from those that hold wrong elements, and a few that hold none. */
#ifndef LB_RUN_SCENE_H
#define LB_RUN_SCENE_H

#include "lastbit/diagnose.h"

typedef struct lb_scene {
    const lb_diagnose_options *o;
    const lb_format *out;
    lb_mat b; /* as [k][n] */
    size_t m, n, k;
    double max_ulp;  /* what is legal beside a guess: ordinals, */
    double *floors;  /* or [m] an absolute distance */
    double *table;   /* values of a short output format, or NULL */
    uint8_t *wrong;  /* [m][n] */
    uint8_t *inside; /* [m][n] the region that holds the wrong ones */
    uint64_t wrong_count;
    bool far;            /* wrong means beyond the tolerance; else only other bits */
    uint32_t *row_wrong; /* [m] wrong elements */
    uint32_t *col_wrong; /* [n] */
    char where[64];      /* of the region: "rows 16..31", "" for everywhere */
    bool region_proper;  /* the region is not everywhere */
    double fill;         /* share of the region that is wrong */

    size_t *rows, *cols; /* the grid: [gm], [gn] */
    size_t gm, gn;
    double *a, *b_lines; /* [gm][k], [gn][k] */
    double *c;           /* [gm][gn], zeros without C */
    double *dot;         /* [gm][gn] A B, f64 */
    double *actual;      /* [gm][gn] */
    bool *is_wrong, *is_inside;

    double *value;             /* [gm][gn] a guess before the output rounding, for lb_scene_try */
    uint64_t *code;            /* [gm][gn] or its code, for lb_scene_try_codes */
    bool *unknown;             /* [gm][gn] the guess says nothing of this element; false again after each trial */
    double *a_guess, *b_guess; /* room for lines of other operands */

    double bits; /* that one wrong element, explained, says against chance */
    double end;  /* when no new hypothesis is begun */
    lb_diagnosis best;
    double best_score;
    bool best_everywhere;
    lb_error *err;
} lb_scene;

/* A hypothesis under trial. `what` reads on as: what + where + evidence. */
typedef struct lb_trial {
    lb_cause cause;
    double choices; /* log2 of how many like it were tried */
    bool bits;      /* the very codes count, not their neighbourhood */
    bool slight;    /* it moves values little, so that chance explains more */
    bool places;    /* `what` says where already */
    char what[112];
} lb_trial;

lb_status lb_scene_open(lb_scene *s, const lb_diagnose_options *o, lb_error *err);
void lb_scene_close(lb_scene *s);

/* Judge s->value (rounded once), or s->code, as a guess; keep it where it is accepted and beats the best so far. */
bool lb_scene_try(lb_scene *s, const lb_trial *t);
bool lb_scene_try_codes(lb_scene *s, const lb_trial *t);

/* The code of a guess at element e of the grid, worked out only as far as it is needed. */
typedef uint64_t lb_guess(const lb_scene *s, const void *user, size_t e);
bool lb_scene_try_each(lb_scene *s, const lb_trial *t, lb_guess *guess, const void *user);

/* Name what is a fact about all wrong elements rather than an inference. */
void lb_scene_fact(lb_scene *s, lb_cause cause, uint64_t holds, const char *what);

/* Whether one already explains so well that dearer ones are not worth trying. */
bool lb_scene_settled(const lb_scene *s);

double lb_scene_value(const lb_scene *s, uint64_t code);
bool lb_scene_legal(const lb_scene *s, size_t row, uint64_t actual, uint64_t guess);
double lb_scene_ratio(const lb_scene *s, size_t row, uint64_t actual, double value, uint64_t guess);

/* The shortest decimal within this share of x. */
double lb_tidy(double x, double slack);

/* printf into out, cut where it does not fit. */
void lb_words(char *out, size_t size, const char *format, ...) LB_PRINTF(3, 4);

/* Rows or columns as text: "rows 16..31", "every 4th row from 1"; "" where all n. index: places to report, or NULL. */
void lb_lines_text(char *out, size_t size, const char *noun, const size_t *lines, size_t count, size_t n, const size_t *index);

/* The region of the wrong elements; fills inside, where, fill. */
lb_status lb_scene_find_region(lb_scene *s);

/* x rounded once to f, as a value: to nearest even, toward zero, or to nearest away. */
double lb_round_value(const lb_format *f, lb_rounding way, double x);

double lb_dot(const double *a, const double *b, size_t k);

/* Hypotheses, a file each. */
void lb_try_facts(lb_scene *s);
void lb_try_factors(lb_scene *s);
void lb_try_line_factors(lb_scene *s);
void lb_try_places(lb_scene *s);
void lb_try_lines(lb_scene *s);
void lb_try_depth(lb_scene *s);
void lb_try_operands(lb_scene *s);
void lb_try_rounding(lb_scene *s);
void lb_try_accumulators(lb_scene *s);

#endif
