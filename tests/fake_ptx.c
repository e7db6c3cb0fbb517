/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fake_ptx.h"

#include "lastbit/scalar.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 1024, MOST_OPERANDS = 4, MOST_STEPS = 1 << 20, TID = FAKE_REGISTERS - 2, CTAID = FAKE_REGISTERS - 1 };

typedef enum opcode {
    MOVE,
    PARAM,
    ADD,
    SUB,
    MUL,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    AND,
    OR,
    EQUAL,
    BRANCH,
    LOAD,
    STORE,
    STORE_SHARED,
    FENCE,
    BARRIER,
    WGMMA_FENCE,
    WGMMA_COMMIT,
    WGMMA_WAIT,
    MMA,
    SCALAR,
    RETURN
} opcode;

/* What each spelling does, and the bits that are kept of its result. */
static const struct {
    const char *name;
    opcode op;
    int bits;
} spellings[] = {
    {"mov.u32", MOVE, 32},
    {"ld.param.u64", PARAM, 64},
    {"ld.param.u32", PARAM, 32},
    {"cvta.to.global.u64", MOVE, 64},
    {"cvt.u64.u32", MOVE, 32},
    {"mul.wide.u32", MUL, 64},
    {"mul.lo.u64", MUL, 64},
    {"add.u64", ADD, 64},
    {"add.u32", ADD, 32},
    {"sub.u32", SUB, 32},
    {"shl.b32", SHIFT_LEFT, 32},
    {"shr.u32", SHIFT_RIGHT, 32},
    {"and.b64", AND, 64},
    {"or.b64", OR, 64},
    {"setp.eq.u32", EQUAL, 1},
    {"bra.uni", BRANCH, 0},
    {"ld.global.b8", LOAD, 8},
    {"ld.global.s8", LOAD, 8},
    {"ld.global.u8", LOAD, 8},
    {"ld.global.b16", LOAD, 16},
    {"ld.global.s16", LOAD, 16},
    {"ld.global.u16", LOAD, 16},
    {"ld.global.s32", LOAD, 32},
    {"ld.global.u32", LOAD, 32},
    {"ld.global.b64", LOAD, 64},
    {"ld.global.s64", LOAD, 64},
    {"ld.global.u64", LOAD, 64},
    {"st.global.b8", STORE, 8},
    {"st.global.s8", STORE, 8},
    {"st.global.u8", STORE, 8},
    {"st.global.b16", STORE, 16},
    {"st.global.s16", STORE, 16},
    {"st.global.u16", STORE, 16},
    {"st.global.s32", STORE, 32},
    {"st.global.u32", STORE, 32},
    {"st.global.b64", STORE, 64},
    {"st.global.s64", STORE, 64},
    {"st.global.u64", STORE, 64},
    {"ld.global.b32", LOAD, 32},
    {"ld.global.f32", LOAD, 32},
    {"ld.global.f64", LOAD, 64},
    {"st.global.b32", STORE, 32},
    {"st.global.f32", STORE, 32},
    {"st.global.f64", STORE, 64},
    {"st.shared.b32", STORE_SHARED, 32},
    {"fence.proxy.async.shared::cta", FENCE, 0},
    {"bar.sync", BARRIER, 0},
    {"wgmma.fence.sync.aligned", WGMMA_FENCE, 0},
    {"wgmma.commit_group.sync.aligned", WGMMA_COMMIT, 0},
    {"wgmma.wait_group.sync.aligned", WGMMA_WAIT, 0},
    {"ret", RETURN, 0},
};

typedef struct operand {
    int reg;        /* -1: none, only the number */
    uint64_t value; /* a number, or the offset to the register */
} operand;

typedef struct instruction {
    opcode op;
    int bits, predicate, target; /* predicate: register, or -1; target: instruction, of a branch */
    operand o[MOST_OPERANDS];
} instruction;

struct fake_kernel {
    int lanes, count, names_used;
    instruction list[MOST_INSTRUCTIONS];
    char names[FAKE_REGISTERS][24];
    char labels[8][16];
    int label_at[8], labels_used;
    char params[FAKE_PARAMS][16];
    fake_mma mma;
    const lb_scalar_op *op; /* what stands between "// begin" and "// end" */
    char body[512];
    bool in_body;
    char target[16];
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static int register_of(fake_kernel *k, const char *name) {
    if (strcmp(name, "%tid.x") == 0) return TID;
    if (strcmp(name, "%ctaid.x") == 0) return CTAID;
    for (int i = 0; i < k->names_used; i++)
        if (strcmp(k->names[i], name) == 0) return i;
    return -1;
}

/* ".reg .b32 %a<4>;" and ".reg .u32 %lane, %block;" declare registers, in this order. */
static bool declare(fake_kernel *k, char *text) {
    char *rest = NULL;
    for (char *word = strtok_r(text, " ,;", &rest); word; word = strtok_r(NULL, " ,;", &rest)) {
        int count = 0;
        char *angle = strchr(word, '<');
        if (*word != '%') continue;
        if (angle && sscanf(angle, "<%d>", &count) != 1) return false;
        if (angle) *angle = 0;
        for (int i = 0; i < (angle ? count : 1); i++) {
            if (k->names_used >= TID) return false;
            char *name = k->names[k->names_used++];
            const int n = angle ? snprintf(name, sizeof k->names[0], "%s%d", word, i) : snprintf(name, sizeof k->names[0], "%s", word);
            if (n >= (int)sizeof k->names[0]) return false;
        }
    }
    return true;
}

static int label_of(fake_kernel *k, const char *name) {
    for (int i = 0; i < k->labels_used; i++)
        if (strcmp(k->labels[i], name) == 0) return i;
    if (k->labels_used == 8) return -1;
    snprintf(k->labels[k->labels_used], sizeof k->labels[0], "%.15s", name);
    k->label_at[k->labels_used] = -1;
    return k->labels_used++;
}

/* A register, "[%reg+8]", a number, "tile" (the shared array), or a parameter in brackets. */
static bool read_operand(fake_kernel *k, char *text, operand *o) {
    *o = (operand){.reg = -1};
    char *plus = *text == '[' ? strchr(text, '+') : NULL, *end = text;
    if (*text == '[') text++, text[strcspn(text, "]")] = 0;
    if (plus) *plus = 0, o->value = strtoull(plus + 1, NULL, 0);
    if (*text == '%') return (o->reg = register_of(k, text)) >= 0;
    if (isdigit((unsigned char)*text)) {
        o->value = strtoull(text, &end, 0);
        return *end == 0;
    }
    for (int i = 0; i < FAKE_PARAMS; i++)
        if (strcmp(k->params[i], text) == 0) {
            o->value = (uint64_t)i;
            return true;
        }
    o->value = FAKE_SHARED_BASE;
    return strcmp(text, "tile") == 0;
}

/* "{%c0, %c1}": registers that follow each other, as they were declared. */
static bool read_list(fake_kernel *k, char **text, int *first, int *count) {
    char *rest = NULL, *close = strchr(*text, '}');
    if (**text != '{' || !close) return false;
    *close = 0;
    *count = 0;
    for (char *word = strtok_r(*text + 1, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest)) {
        const int r = register_of(k, word);
        if (!*count) *first = r;
        if (r < 0 || r != *first + *count) return false;
        ++*count;
    }
    *text = close + 1 + strspn(close + 1, " ,");
    return *count > 0;
}

/* D and C are the same registers; of wgmma B is a descriptor, then a predicate that is always true. */
static bool read_mma(fake_kernel *k, const char *name, char *text) {
    fake_mma *m = &k->mma;
    int d, d_count;
    if (m->lanes || !fake_mma_find(k->target, name, m) || !read_list(k, &text, &d, &d_count) ||
        !read_list(k, &text, &m->first[0], &m->count[0]))
        return false;
    m->first[2] = d, m->count[2] = d_count;
    if (m->wgmma) {
        const size_t n = strcspn(text, ",;");
        char reg[24];
        snprintf(reg, sizeof reg, "%.*s", (int)n, text);
        m->first[1] = register_of(k, reg), m->count[1] = 1;
        return m->first[1] >= 0 && strncmp(text + n, ", %always", 9) == 0;
    }
    return read_list(k, &text, &m->first[1], &m->count[1]) && read_list(k, &text, &d, &d_count) && d == m->first[2] &&
           d_count == m->count[2];
}

static bool read_instruction(fake_kernel *k, char *text) {
    instruction *i = &k->list[k->count];
    char *space, *rest = NULL;
    *i = (instruction){.predicate = -1};
    if (k->count == MOST_INSTRUCTIONS) return false;
    if (*text == '@') {
        space = text + strcspn(text, " ");
        if (!*space) return false;
        *space = 0;
        i->predicate = register_of(k, text + 1);
        if (i->predicate < 0) return false;
        text = space + 1;
    }
    space = text + strcspn(text, " ;");
    const bool more = *space == ' ';
    *space = 0;
    k->count++;
    if (strncmp(text, "mma.sync.", 9) == 0 || strncmp(text, "wgmma.mma_async.", 16) == 0) {
        i->op = MMA;
        return more && read_mma(k, text, space + 1);
    }
    size_t s = 0;
    while (s < sizeof spellings / sizeof spellings[0] && strcmp(spellings[s].name, text) != 0) s++;
    if (s == sizeof spellings / sizeof spellings[0]) return false;
    i->op = spellings[s].op, i->bits = spellings[s].bits;
    int n = 0;
    for (char *word = more ? strtok_r(space + 1, " ,;", &rest) : NULL; word; word = strtok_r(NULL, " ,;", &rest)) {
        if (n == MOST_OPERANDS) return false;
        if (i->op == BRANCH)
            i->target = label_of(k, word), n++;
        else if (!read_operand(k, word, &i->o[n++]))
            return false;
    }
    return i->op != BRANCH || i->target >= 0;
}

static bool read_entry(fake_kernel *k, const char *line) {
    int n = 0;
    for (const char *p = strstr(line, ".param "); p && n < FAKE_PARAMS; p = strstr(p + 1, ".param "))
        if (sscanf(p, ".param %*s %15[a-z]", k->params[n]) == 1) n++;
    return n == FAKE_PARAMS && strstr(line, ".entry lastbit_capture(");
}

/* The lines of a scalar operation are looked up as one text, and its registers by the names that the text has. */
static bool read_body(fake_kernel *k, const char *line) {
    instruction *i = &k->list[k->count];
    if (strcmp(line, "// end") != 0) {
        const size_t used = strlen(k->body);
        return snprintf(k->body + used, sizeof k->body - used, "%s%s", used ? " " : "", line) < (int)(sizeof k->body - used);
    }
    k->in_body = false;
    *i = (instruction){.op = SCALAR, .predicate = -1};
    k->count++;
    return k->count < MOST_INSTRUCTIONS && lb_scalar_find(k->body, &k->op, NULL) == LB_OK;
}

static bool read_line(fake_kernel *k, char *line) {
    line += strspn(line, " ");
    const size_t n = strlen(line);
    if (k->in_body) return read_body(k, line);
    if (strcmp(line, "// begin") == 0) return !k->op && (k->in_body = true);
    if (!*line || strncmp(line, "//", 2) == 0 || *line == '{' || *line == '}') return true;
    if (strncmp(line, ".version ", 9) == 0 || strcmp(line, ".address_size 64") == 0 ||
        strncmp(line, ".shared .align 128 .b8 tile[", 28) == 0)
        return true;
    if (strncmp(line, ".target ", 8) == 0) return sscanf(line, ".target %15s", k->target) == 1;
    if (strncmp(line, ".visible .entry", 15) == 0) return read_entry(k, line);
    if (strncmp(line, ".reqntid ", 9) == 0) return sscanf(line, ".reqntid %d, 1, 1", &k->lanes) == 1 && k->lanes <= FAKE_LANES;
    if (strncmp(line, ".reg ", 5) == 0) return declare(k, line);
    if (line[n - 1] == ':') {
        line[n - 1] = 0;
        const int label = label_of(k, line);
        if (label >= 0) k->label_at[label] = k->count;
        return label >= 0;
    }
    return line[n - 1] == ';' && read_instruction(k, line);
}

fake_kernel *fake_kernel_load(const char *ptx, char *why, size_t size) {
    fake_kernel *k = calloc(1, sizeof *k);
    char *text = strdup(ptx), *rest = NULL;
    bool ok = k && text;
    for (char *line = ok ? strtok_r(text, "\n", &rest) : NULL; ok && line; line = strtok_r(NULL, "\n", &rest)) {
        snprintf(why, size, "%s", line);
        ok = read_line(k, line);
    }
    for (int i = 0; ok && i < k->labels_used; i++) ok = k->label_at[i] >= 0;
    ok = ok && (k->op ? k->lanes == LB_WARP_LANES && !k->mma.lanes : k->mma.lanes && k->mma.lanes == k->lanes);
    free(text);
    if (ok) return k;
    free(k);
    return NULL;
}

void fake_kernel_free(fake_kernel *k) {
    free(k);
}

unsigned fake_kernel_lanes(const fake_kernel *k) {
    return (unsigned)k->lanes;
}

/* ---- running --------------------------------------------------------------------------------------------------------------- */

typedef struct run {
    const fake_kernel *k;
    const uint64_t *params;
    bool (*reachable)(uint64_t at, size_t bytes);
    fake_state s;
    bool unfenced, unseen; /* shared memory was written: no fence, no barrier yet */
    bool open, pending;    /* wgmma may be issued; is under way */
    bool read;             /* some warp may still read shared memory: no barrier since */
} run;

static uint64_t value(const run *x, const operand *o, int lane) {
    return (o->reg < 0 ? 0 : x->s.r[o->reg][lane]) + o->value;
}

static uint64_t arithmetic(opcode op, uint64_t a, uint64_t b) {
    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case SHIFT_LEFT: return b < 64 ? a << b : 0;
    case SHIFT_RIGHT: return b < 64 ? a >> b : 0;
    case AND: return a & b;
    case OR: return a | b;
    default: return a == b;
    }
}

static bool access_memory(run *x, const instruction *i, int lane) {
    const int bytes = i->bits / 8;
    const uint64_t at = value(x, &i->o[i->op == LOAD], lane);
    void *p = (void *)(uintptr_t)at;
    if (i->op == STORE_SHARED) {
        if (at < FAKE_SHARED_BASE || at - FAKE_SHARED_BASE + 4 > FAKE_SHARED || at % 4) return false;
        memcpy(x->s.shared + (at - FAKE_SHARED_BASE), &x->s.r[i->o[1].reg][lane], 4);
        return true;
    }
    if (!x->reachable(at, (size_t)bytes) || at % (uint64_t)bytes) return false;
    if (i->op == LOAD)
        x->s.r[i->o[0].reg][lane] = lb_load_code(p, bytes);
    else
        lb_store_code(p, bytes, x->s.r[i->o[1].reg][lane]);
    return true;
}

/* What orders memory and wgmma. False where the program breaks an order that a GPU needs. */
static bool order(run *x, opcode op) {
    switch (op) {
    case FENCE: x->unfenced = false; return true;
    case BARRIER: x->unseen = x->unfenced, x->read = false; return !x->pending;
    case WGMMA_FENCE: x->open = true; return true;
    case WGMMA_COMMIT: return x->pending;
    case WGMMA_WAIT: x->pending = x->open = false; return true;
    default: return true;
    }
}

static int run_scalar(run *x) {
    const lb_scalar_op *op = x->k->op;
    uint64_t in[LB_WARP_LANES * LB_SCALAR_MAX_IN], out[LB_WARP_LANES * LB_SCALAR_MAX_OUT];
    char name[16];
    for (int i = 0; i < op->ins + op->outs; i++) {
        snprintf(name, sizeof name, "%%%c%d", i < op->ins ? 'i' : 'o', i < op->ins ? i : i - op->ins);
        const int reg = register_of((fake_kernel *)(uintptr_t)x->k, name);
        if (reg < 0) return FAKE_ILLEGAL_INSTRUCTION;
        for (int lane = 0; lane < LB_WARP_LANES && i < op->ins; lane++) in[lane * op->ins + i] = x->s.r[reg][lane];
        if (i + 1 == op->ins && lb_scalar_eval_warp(op, in, out, NULL) != LB_OK) return FAKE_ILLEGAL_INSTRUCTION;
        for (int lane = 0; lane < LB_WARP_LANES && i >= op->ins; lane++) x->s.r[reg][lane] = out[lane * op->outs + i - op->ins];
    }
    return 0;
}

static int step(run *x, const instruction *i) {
    const uint64_t mask = i->bits ? ~UINT64_C(0) >> (64 - i->bits) : 0;
    if (i->op == MMA) {
        if (x->k->mma.wgmma && (x->unfenced || x->unseen || !x->open || x->pending)) return FAKE_ILLEGAL_INSTRUCTION;
        x->pending = x->read = x->k->mma.wgmma;
        return fake_mma_run(&x->k->mma, &x->s) ? 0 : FAKE_ILLEGAL_INSTRUCTION;
    }
    if (i->op == SCALAR) return run_scalar(x);
    if (i->op >= FENCE) return order(x, i->op) ? 0 : FAKE_ILLEGAL_INSTRUCTION;
    if (i->op == STORE_SHARED && x->read) return FAKE_ILLEGAL_INSTRUCTION;
    if (i->op == STORE_SHARED) x->unfenced = x->unseen = true;
    for (int lane = 0; lane < x->k->lanes; lane++) {
        if (i->op >= LOAD) {
            if (!access_memory(x, i, lane)) return FAKE_ILLEGAL_ADDRESS;
            continue;
        }
        const uint64_t a = value(x, &i->o[1], lane);
        const uint64_t result = i->op == PARAM  ? x->params[i->o[1].value]
                                : i->op == MOVE ? a
                                                : arithmetic(i->op, a, value(x, &i->o[2], lane));
        x->s.r[i->o[0].reg][lane] = result & mask;
    }
    return 0;
}

/* Whether a predicate holds; all lanes must agree. */
static int decide(const run *x, int predicate, bool *holds) {
    *holds = predicate < 0 || x->s.r[predicate][0];
    for (int lane = 0; predicate >= 0 && lane < x->k->lanes; lane++)
        if ((x->s.r[predicate][lane] != 0) != *holds) return FAKE_ILLEGAL_INSTRUCTION;
    return 0;
}

int fake_kernel_run(const fake_kernel *k, unsigned block, const uint64_t params[FAKE_PARAMS],
                    bool (*reachable)(uint64_t at, size_t bytes)) {
    run *x = calloc(1, sizeof *x);
    int code = x ? 0 : FAKE_ILLEGAL_INSTRUCTION;
    if (x) x->k = k, x->params = params, x->reachable = reachable;
    for (int lane = 0; x && lane < FAKE_LANES; lane++) x->s.r[TID][lane] = (uint64_t)lane, x->s.r[CTAID][lane] = block;
    for (int at = 0, steps = 0; !code; steps++) {
        const instruction *i = &k->list[at];
        bool holds;
        if (at >= k->count || steps == MOST_STEPS) {
            code = FAKE_ILLEGAL_INSTRUCTION;
            break;
        }
        if (i->op == RETURN) break;
        code = decide(x, i->predicate, &holds);
        at++;
        if (i->op == BRANCH)
            at = holds ? k->label_at[i->target] : at;
        else if (!code && holds)
            code = step(x, i);
    }
    free(x);
    return code;
}
