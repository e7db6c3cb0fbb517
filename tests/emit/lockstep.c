/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Runs emitted fragments that exchange by sub-group shuffles, 32 lanes in lock-step as C++: lockstep IN OUT FIRST. FIRST: number of the
 * group's first lane in its sub-group, 0 or 32. table.h:
 *   static const struct entry table[] = {{registers of a, b, c, d, NAME}, …};
 * IN and OUT as warps.c has them. A lane that is somewhere else than the others, or takes from outside the group, is exit 6 or 7. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>

typedef void lane_function(uint32_t lane, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d);
struct entry {
    uint32_t a, b, c, d;
    lane_function *run;
};
#include "table.h"

enum { LANES = 32, MOST = 32, STACK = 1 << 18 };

static ucontext_t home, lanes[LANES];
static char stacks[LANES][STACK];
static uint32_t values[2][LANES], shuffles[LANES], first_lane;
static bool done[LANES];
static int current;
static uint32_t a[LANES * MOST], b[LANES * MOST], d[LANES * MOST], *acc;
static const entry *running;

static void next_lane() {
    const int me = current;
    current = (me + 1) % LANES;
    if (done[current]) std::exit(6);
    swapcontext(&lanes[me], &lanes[current]);
}

/* All lanes give their n-th value before the first takes one; two sets of values, since lane 0 gives the next before lane 31 has taken. */
uint32_t lb_lockstep_shuffle(uint32_t value, uint32_t from) {
    const int me = current;
    const uint32_t n = shuffles[me]++;
    values[n & 1][me] = value;
    next_lane();
    if (from - first_lane >= LANES) std::exit(7);
    return values[n & 1][from - first_lane];
}

static void run_lane() {
    const int me = current;
    running->run(first_lane + me, a + me * running->a, b + me * running->b, acc + me * running->c, d + me * running->d);
    done[me] = true;
    if (me == LANES - 1) setcontext(&home);
    current = me + 1;
    setcontext(&lanes[current]);
}

static void run_warp() {
    for (int i = 0; i < LANES; i++) {
        getcontext(&lanes[i]);
        lanes[i].uc_stack.ss_sp = stacks[i];
        lanes[i].uc_stack.ss_size = STACK;
        lanes[i].uc_link = &home;
        makecontext(&lanes[i], run_lane, 0);
        done[i] = false;
        shuffles[i] = 0;
    }
    current = 0;
    swapcontext(&home, &lanes[0]);
    for (int i = 0; i < LANES; i++)
        if (shuffles[i] != shuffles[0] || shuffles[i] == 0) std::exit(6);
}

static int run(size_t warps, size_t steps, FILE *in, FILE *out) {
    const entry *e = running;
    const size_t size_c = LANES * e->c;
    uint32_t *c = (uint32_t *)malloc(warps * size_c * 4);
    if (!c || e->c != e->d || fread(c, 4, warps * size_c, in) != warps * size_c) return 3;
    for (size_t i = 0; i < steps * warps; i++) {
        acc = c + i % warps * size_c;
        if (fread(a, 4, LANES * e->a, in) != LANES * e->a || fread(b, 4, LANES * e->b, in) != LANES * e->b) return 3;
        run_warp();
        for (size_t j = 0; j < size_c; j++) acc[j] = d[j];
        if (fwrite(d, 4, LANES * e->d, out) != LANES * e->d) return 4;
    }
    free(c);
    return 0;
}

int main(int argc, char **argv) {
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !out) return 2;
    first_lane = (uint32_t)atoi(argv[3]);
    uint32_t head[4];
    int status = 0;
    while (status == 0 && fread(head, 4, 4, in) == 4) {
        running = &table[head[0]];
        status = run(head[1], head[2], in, out);
    }
    return fclose(out) == 0 ? status : 5;
}
