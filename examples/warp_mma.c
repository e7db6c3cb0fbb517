/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An emulator's view: it has a register file and meets `mma.sync`. The instruction's text names the unit, once; then each time the warp
 * comes by, its registers go in and the registers that hardware would leave come out.
 *   usage: warp_mma [INSTRUCTION]      prints the accumulators of a few lanes; exit 1 if the product is not the one it should be */
#include <lastbit/fragments.h>

#include <stdio.h>

enum { LANES = 32, REGISTERS = 16 };

typedef struct warp {
    uint32_t r[REGISTERS][LANES]; /* as an emulator keeps them: %r0 of every lane, %r1 of every lane … */
} warp;

/* mma.sync d, a, b, c: each operand is so many registers from a first one on. */
static lb_status execute_mma(warp *w, const lb_unit *u, int d, int a, int b, int c, lb_error *err) {
    uint32_t in[3][LANES * REGISTERS], out[LANES * REGISTERS]; /* [lane][register] */
    const int first[] = {a, b, c, d};
    lb_fragment f;
    lb_status s = LB_OK;
    for (int operand = 0; s == LB_OK && operand < 3; operand++) {
        s = lb_fragment_of(u, (lb_fragment_operand)operand, NULL, &f, err); /* an emulator does this when it decodes */
        for (int lane = 0; s == LB_OK && lane < LANES; lane++)
            for (int i = 0; i < f.registers; i++) in[operand][lane * f.registers + i] = w->r[first[operand] + i][lane];
    }
    if (s == LB_OK) s = lb_warp_mma(u, in[0], in[1], in[2], out, NULL, err);
    if (s == LB_OK) s = lb_fragment_of(u, LB_FRAGMENT_D, NULL, &f, err);
    for (int lane = 0; s == LB_OK && lane < LANES; lane++)
        for (int i = 0; i < f.registers; i++) w->r[first[3] + i][lane] = out[lane * f.registers + i];
    return s;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "sm_80/mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    enum { A = 0, B = 4, D = 8 };
    static warp w; /* all zeros: +0 in every format */
    lb_unit u;
    lb_fragment a, b, d;
    lb_error err = {0};
    if (lb_unit_find(name, &u, &err) != LB_OK || lb_fragment_of(&u, LB_FRAGMENT_A, NULL, &a, &err) != LB_OK ||
        lb_fragment_of(&u, LB_FRAGMENT_B, NULL, &b, &err) != LB_OK || lb_fragment_of(&u, LB_FRAGMENT_D, NULL, &d, &err) != LB_OK) {
        fprintf(stderr, "warp_mma: %s: %s\n", err.place, err.message);
        return 2;
    }
    if (a.format->id != LB_F16 || d.format->id != LB_F32 || a.matrices > 1 || a.lanes != LANES) {
        fprintf(stderr, "warp_mma: %s: this example holds f16 and f32\n", u.name);
        return 2;
    }
    for (int k = 0; k < u.k; k++) { /* A [i][k] = i, B [k][j] = j + 1: D [i][j] = k i (j + 1) */
        for (int i = 0; i < u.m + u.n; i++) {
            const bool of_a = i < u.m;
            lb_slot s;
            lb_fragment_slot(of_a ? &a : &b, of_a ? (lb_place){0, i, k} : (lb_place){0, k, i - u.m}, &s);
            const uint64_t code = lb_from_double(a.format, of_a ? i : i - u.m + 1);
            w.r[(of_a ? A : B) + s.reg][s.lane] |= (uint32_t)(code << (16 * s.element));
        }
    }
    if (execute_mma(&w, &u, D, A, B, D, &err) != LB_OK) {
        fprintf(stderr, "warp_mma: %s: %s\n", err.place, err.message);
        return 2;
    }
    int wrong = 0;
    for (int lane = 0; lane < LANES; lane++) {
        if (lane % 9 == 0) printf("lane %2d:", lane);
        for (int r = 0; r < d.registers; r++) {
            lb_place p;
            lb_fragment_place(&d, (lb_slot){lane, r, 0}, &p);
            const double value = lb_to_double(d.format, w.r[D + r][lane]);
            wrong += value != (double)u.k * p.row * (p.col + 1);
            if (lane % 9 == 0) printf("  %%r%d = %08x, D[%d][%d] = %g", D + r, (unsigned)w.r[D + r][lane], p.row, p.col, value);
        }
        if (lane % 9 == 0) puts("");
    }
    printf("%d of %d elements are wrong\n", wrong, d.rows * d.cols);
    return wrong != 0;
}
