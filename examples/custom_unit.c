/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A unit that has no row. First as a struct, then from a JSON file; then the other way round: a unit whose answers are all that we see,
 * and how many fraction bits explain them.
 *   usage: custom_unit UNIT.json */
#include <lastbit/lastbit.h>

#include <stdio.h>
#include <string.h>

enum { K = 8, DOTS = 2000 };

static int refuse(const lb_error *err) {
    fprintf(stderr, "custom_unit: %s%s%s\n", err->place, err->place[0] ? ": " : "", err->message);
    return 2;
}

/* Dot number n: operands of many magnitudes, so that alignment cuts something. */
static lb_status answer(const lb_unit *u, uint64_t n, uint32_t *d, lb_error *err) {
    uint32_t a[K], b[K];
    for (uint64_t i = 0; i < K; i++) {
        a[i] = (uint32_t)lb_draw(lb_format_row(u->a), LB_DIST_WIDE, 1, 1, n * K + i);
        b[i] = (uint32_t)lb_draw(lb_format_row(u->b), LB_DIST_WIDE, 1, 2, n * K + i);
    }
    return lb_unit_dot(u, a, b, K, (uint32_t)lb_draw(lb_format_row(u->c), LB_DIST_NORMAL, 1, 3, n), d, err);
}

int main(int argc, char **argv) {
    lb_error err;
    /* A struct: start from a row and change what differs, or fill every field. */
    lb_unit guess;
    if (lb_unit_find("sm_80/mma.m16n8k8.f32.f16.f16.f32", &guess, &err) != LB_OK) return refuse(&err);
    guess.terms = 4;
    guess.floor_exp = LB_NO_FLOOR;
    snprintf(guess.name, sizeof guess.name, "a guess");

    /* A file. */
    lb_unit unknown;
    if (lb_unit_read(argc > 1 ? argv[1] : "examples/unit.json", &unknown, &err) != LB_OK) return refuse(&err);
    if (unknown.k != K || unknown.a != guess.a || unknown.b != guess.b || unknown.c != guess.c || unknown.d != guess.d) {
        fprintf(stderr, "custom_unit: %s is no unit of %d f16 products and f32\n", unknown.name, K);
        return 2;
    }

    /* Which number of fraction bits gives the answers of the unknown unit? */
    printf("%s: of %d answers, explained with\n", unknown.name, DOTS);
    for (int bits = 22; bits <= 28; bits++) {
        int same = 0;
        guess.frac_bits = bits;
        for (uint64_t n = 0; n < DOTS; n++) {
            uint32_t x, y;
            if (answer(&unknown, n, &x, &err) != LB_OK || answer(&guess, n, &y, &err) != LB_OK) return refuse(&err);
            same += x == y;
        }
        printf("  %d fraction bits: %4d%s\n", bits, same, same == DOTS ? "  <- all" : "");
    }
    return 0;
}
