/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "run/capture_tiles.h"

#include "base/try.h"

#include <stdlib.h>
#include <string.h>

enum { D = LB_CAPTURE_OPERANDS, BUFFERS, CHUNK_BYTES = 16 << 20 };

/* Where one slot of a block's words lies in a tile. */
typedef struct slot {
    lb_capture_place where;
    int word, shift; /* word: among the block's */
} slot;

typedef struct engine {
    lb_cuda *cu;
    const lb_capture_shape *s;
    const lb_cuda_kernel *kernel;
    const lb_capture_tiles *tiles;
    slot *slots[LB_CAPTURE_OPERANDS];
    size_t slot_count[LB_CAPTURE_OPERANDS];
    size_t blocks;             /* that a launch takes at most */
    size_t words[BUFFERS];     /* of a block, all steps */
    uint64_t address[BUFFERS]; /* on the device */
    char *host[BUFFERS], *again;
} engine;

static void engine_close(engine *e) {
    for (int i = 0; i < BUFFERS; i++) {
        lb_cuda_free(e->cu, e->address[i]);
        free(e->host[i]);
        if (i < D) free(e->slots[i]);
    }
    free(e->again);
}

static const lb_capture_part *part(const engine *e, int buffer) {
    return &e->s->part[buffer == D ? LB_CAPTURE_C : buffer];
}

static size_t buffer_bytes(const engine *e, int buffer, size_t blocks) {
    return blocks * e->words[buffer] * (size_t)part(e, buffer)->word_bytes;
}

static lb_status no_memory(const engine *e, lb_error *err) {
    return lb_fail(err, LB_E_MEMORY, e->s->unit.name, "no memory for the tiles of a launch");
}

static lb_status list_slots(engine *e, int operand, lb_error *err) {
    const lb_capture_part *p = &e->s->part[operand];
    const int per_word = p->word_bytes * 8 / p->slot_bits, words = p->words * e->s->lanes;
    slot *list = calloc((size_t)(words * per_word), sizeof *list);
    if (!list) return no_memory(e, err);
    e->slots[operand] = list;
    for (int w = 0; w < words; w++)
        for (int i = 0; i < per_word; i++) {
            slot x = {.word = w, .shift = i * p->slot_bits + p->slot_shift};
            if (lb_capture_place_of(e->s, operand, w % e->s->lanes, w / e->s->lanes, i, &x.where)) list[e->slot_count[operand]++] = x;
        }
    return LB_OK;
}

static lb_status engine_open(engine *e, lb_error *err) {
    size_t block_bytes = 1;
    const size_t all = (e->tiles->count + (size_t)e->s->matrices - 1) / (size_t)e->s->matrices;
    for (int i = 0; i < BUFFERS; i++) {
        const bool per_step = i == LB_CAPTURE_A || i == LB_CAPTURE_B;
        e->words[i] = (size_t)part(e, i)->words * (size_t)e->s->lanes * (per_step ? e->tiles->steps : 1);
        block_bytes += buffer_bytes(e, i, 1);
        if (i < D) LB_TRY(list_slots(e, i, err));
    }
    e->blocks = CHUNK_BYTES / block_bytes + 1;
    if (e->blocks > all) e->blocks = all;
    for (int i = 0; i < BUFFERS; i++) {
        e->host[i] = malloc(buffer_bytes(e, i, e->blocks));
        if (!e->host[i]) return no_memory(e, err);
        LB_TRY(lb_cuda_alloc(e->cu, buffer_bytes(e, i, e->blocks), &e->address[i], err));
    }
    e->again = malloc(buffer_bytes(e, D, e->blocks));
    return e->again ? LB_OK : no_memory(e, err);
}

static char *word_at(const engine *e, int buffer, size_t block, size_t step, int word) {
    const lb_capture_part *p = part(e, buffer);
    const size_t index = block * e->words[buffer] + step * (size_t)p->words * (size_t)e->s->lanes + (size_t)word;
    return e->host[buffer] + index * (size_t)p->word_bytes;
}

static void pack(engine *e, int operand, size_t first, size_t blocks) {
    const lb_capture_part *p = part(e, operand);
    const size_t k = e->s->unit.k, steps = operand == LB_CAPTURE_C ? 1 : e->tiles->steps;
    memset(e->host[operand], 0, buffer_bytes(e, operand, blocks));
    for (size_t block = 0; block < blocks; block++)
        for (size_t step = 0; step < steps; step++)
            for (size_t i = 0; i < e->slot_count[operand]; i++) {
                const slot *x = &e->slots[operand][i];
                const size_t tile = (first + block) * (size_t)e->s->matrices + (size_t)x->where.matrix;
                if (tile >= e->tiles->count) continue;
                const size_t row = (size_t)x->where.row + (operand == LB_CAPTURE_B ? step * k : 0);
                const size_t col = (size_t)x->where.col + (operand == LB_CAPTURE_A ? step * k : 0);
                char *word = word_at(e, operand, block, step, x->word);
                const uint64_t code = e->tiles->get(e->tiles->user, operand, tile, row, col) << x->shift;
                lb_store_code(word, p->word_bytes, lb_load_code(word, p->word_bytes) | code);
            }
}

static void unpack(const engine *e, size_t first, size_t blocks) {
    const lb_capture_part *p = part(e, D);
    const uint64_t mask = ~UINT64_C(0) >> (64 - p->format->bits);
    for (size_t block = 0; block < blocks; block++)
        for (size_t i = 0; i < e->slot_count[LB_CAPTURE_C]; i++) {
            const slot *x = &e->slots[LB_CAPTURE_C][i];
            const size_t tile = (first + block) * (size_t)e->s->matrices + (size_t)x->where.matrix;
            if (tile >= e->tiles->count) continue;
            const uint64_t word = lb_load_code(word_at(e, D, block, 0, x->word), p->word_bytes);
            e->tiles->put(e->tiles->user, tile, (size_t)x->where.row, (size_t)x->where.col, word >> x->shift & mask);
        }
}

/* Once, over an output whose bytes are all `fill`. */
static lb_status launch(engine *e, size_t blocks, int fill, char *out, lb_error *err) {
    const size_t bytes = buffer_bytes(e, D, blocks);
    unsigned steps = (unsigned)e->tiles->steps;
    void *params[] = {&e->address[0], &e->address[1], &e->address[2], &e->address[3], &steps};
    memset(out, fill, bytes);
    LB_TRY(lb_cuda_write(e->cu, e->address[D], out, bytes, err));
    LB_TRY(lb_cuda_launch(e->cu, e->kernel, (unsigned)blocks, (unsigned)e->s->lanes, params, err));
    return lb_cuda_read(e->cu, out, e->address[D], bytes, err);
}

static lb_status run_blocks(engine *e, size_t first, size_t blocks, lb_error *err) {
    for (int i = 0; i < D; i++) {
        pack(e, i, first, blocks);
        LB_TRY(lb_cuda_write(e->cu, e->address[i], e->host[i], buffer_bytes(e, i, blocks), err));
    }
    LB_TRY(launch(e, blocks, 0x00, e->host[D], err));
    LB_TRY(launch(e, blocks, 0xff, e->again, err));
    if (memcmp(e->host[D], e->again, buffer_bytes(e, D, blocks)) != 0)
        return lb_fail(err, LB_E_DEVICE, e->s->unit.name,
                       "two runs of the same inputs differ: outputs were left unwritten, or are not stable");
    unpack(e, first, blocks);
    return LB_OK;
}

lb_status lb_capture_tiles_run(lb_cuda *cu, const lb_capture_shape *s, const lb_cuda_kernel *kernel, const lb_capture_tiles *tiles,
                               lb_error *err) {
    engine e = {.cu = cu, .s = s, .kernel = kernel, .tiles = tiles};
    if (!tiles->count) return LB_OK;
    lb_status status = engine_open(&e, err);
    const size_t all = (tiles->count + (size_t)s->matrices - 1) / (size_t)s->matrices;
    for (size_t first = 0; status == LB_OK && first < all; first += e.blocks)
        status = run_blocks(&e, first, all - first < e.blocks ? all - first : e.blocks, err);
    engine_close(&e);
    return status;
}
