/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* mma.sync: the words of a warp through the unit that the row's own text names. */
#include "base/try.h"
#include "lastbit/fragments.h"
#include "scalar/scalar_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS = 3 }; /* A, B, C; D lies as C does */

/* Words of `from` beginning at number `first` of each lane, as registers of 32 bits. */
static int to_registers(const lb_scalar_op *op, const uint64_t *in, int *first, int registers, uint32_t *regs) {
    int used = 0, word = *first;
    for (; used < registers && word < op->ins; word++) used += lb_word_bits(op->in[word]) / 32;
    for (int lane = 0; lane < LB_WARP_LANES && used == registers; lane++) {
        uint32_t *reg = regs + lane * registers;
        for (int i = *first; i < word; i++) {
            const uint64_t x = in[lane * op->ins + i];
            *reg++ = (uint32_t)x;
            if (lb_word_bits(op->in[i]) == 64) *reg++ = (uint32_t)(x >> 32);
        }
    }
    *first = word;
    return used;
}

static void from_registers(const lb_scalar_op *op, const uint32_t *regs, uint64_t *out) {
    for (int i = 0; i < LB_WARP_LANES * op->outs; i++) {
        out[i] = *regs++;
        if (lb_word_bits(op->out[0]) == 64) out[i] |= (uint64_t)*regs++ << 32;
    }
}

lb_status lb_scalar_mma(const lb_scalar_op *op, const lb_scalar_rule *r, const uint64_t *in, uint64_t *out, lb_error *err) {
    enum { MOST = LB_WARP_LANES * 8 };
    static const lb_fragment_operand operands[OPERANDS] = {LB_FRAGMENT_A, LB_FRAGMENT_B, LB_FRAGMENT_C};
    uint32_t regs[OPERANDS][MOST], d[MOST];
    char name[160];
    lb_unit u;
    int first = 0;
    (void)r;
    snprintf(name, sizeof name, "%s/%.*s", op->target, (int)strcspn(op->ptx, " "), op->ptx);
    LB_TRY(lb_unit_find(name, &u, err));
    for (int i = 0; i < OPERANDS; i++) {
        lb_fragment f;
        LB_TRY(lb_fragment_of(&u, operands[i], NULL, &f, err));
        if (f.registers > MOST / LB_WARP_LANES || to_registers(op, in, &first, f.registers, regs[i]) != f.registers)
            return lb_fail(err, LB_E_SHAPE, op->name, "operand %s has %d registers", lb_fragment_operand_name(operands[i]), f.registers);
    }
    LB_TRY(lb_warp_mma(&u, regs[0], regs[1], regs[2], d, NULL, err));
    from_registers(op, d, out);
    return LB_OK;
}
