/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fixed-order replays: the figures that seed-002 saw on an Apple M2, and every replay within its operator's limit. */
#include "ops_help.h"

#include <string.h>

typedef struct figure {
    int line;
    const char *text;
    lb_replay_order order;
    const char *delta; /* max |sequential - order|, "%.3e" */
} figure;

/* Figures of ../shared/facts/operators.md, C.5, but the last two rows of a block, which are ours: the same draw, another order. */
static const figure figures[] = {
    {__LINE__, "op=matmul m=32 k=64 n=48 seed=1", LB_REPLAY_CONTRACTED, "1.431e-06"},
    {__LINE__, "op=linear m=16 k=64 n=40 seed=2", LB_REPLAY_CONTRACTED, "1.431e-06"},
    {__LINE__, "op=matmul_w8 m=24 k=48 n=32 seed=9", LB_REPLAY_CONTRACTED, "7.629e-06"},
    {__LINE__, "op=matmul_tiled m=40 k=72 n=56 seed=11", LB_REPLAY_CONTRACTED, "1.907e-06"},
    {__LINE__, "op=layernorm rows=16 d=64 seed=4", LB_REPLAY_DEVICE, "2.384e-07"},
    {__LINE__, "op=layernorm rows=16 d=64 seed=4", LB_REPLAY_CONTRACTED, "1.192e-07"},
};

static void contraction_alone_gives_the_figures_that_a_gpu_showed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const figure *f = &figures[i];
        char text[32];
        lb_op_case *a = open_case(f->line, f->text), *b = open_case(f->line, f->text);
        replay(f->line, a, LB_REPLAY_SEQUENTIAL);
        replay(f->line, b, f->order);
        snprintf(text, sizeof text, "%.3e", furthest(a, b));
        EXPECT_STRING(f->line, text, f->delta);
        lb_op_case_close(a);
        lb_op_case_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contraction_alone_gives_the_figures_that_a_gpu_showed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
