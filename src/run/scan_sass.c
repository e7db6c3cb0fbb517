/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Words of machine code by the rows of sass.def and sass_fields.def. */
#include "run/scan.h"

#include "lastbit/scalar.h"
#include "lastbit/units.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

/* BIT(n): bit n of the word's two halves. */
#define BIT(n)  (UINT64_C(1) << ((n)&63))
#define UNKNOWN "its modifier bits were not recorded: shape and formats are not known"

enum { LB_BEFORE_90 = 0x1000, LB_FROM_90 = 0x2000, WORD = 16 };

typedef enum part { NONE, NAME, SHAPE, N_EIGHTS, N_THIRDS, N_STEPS, D, A, B, AB, SPARSE, TAIL, SCALAR, PARTS } part;

/* A row of sass.def, with what decoding needs beside what is public. */
typedef struct op {
    lb_sass_op pub;
    const char *instr, *d; /* of a unit's name; d "" where a field says it */
    uint64_t check, want;  /* of bits 64 to 127 */
} op;

static const op ops[] = {
#define LB_SASS(op9, forms, name, kind, instr, d, check, want, archs, what)                                                                \
    {{op9, forms, name, LB_SCAN_##kind, archs, what, LB_EVIDENCE_RECORDED, "ptxas-13.0 nvdisasm-13.5"}, instr, d, check, want},
#include "run/sass.def"
#undef LB_SASS
};

enum { OPS = sizeof ops / sizeof ops[0] };

typedef struct field {
    unsigned op, forms;
    part part;
    uint64_t low, low_is, high, high_is;
    const char *text, *unit;
} field;

static const field fields[] = {
#define LB_FIELD(op, forms, part, low, low_is, high, high_is, text, unit) {op, forms, part, low, low_is, high, high_is, text, unit},
#include "run/sass_fields.def"
#undef LB_FIELD
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

/* A word, decoded as far as the rows go. */
typedef struct decoded {
    const op *op;
    char name[96];
    const char *unit[PARTS]; /* NULL: not said */
    char shape[24];          /* of a unit whose N is in the word */
    const char *why;         /* why there are no rows; "" */
} decoded;

bool lb_sass_op_at(size_t i, lb_sass_op *out) {
    if (i >= OPS) return false;
    *out = ops[i].pub;
    return true;
}

static const op *op_of(unsigned op9) {
    for (size_t i = 0; i < OPS; i++)
        if (ops[i].pub.opcode == op9) return &ops[i];
    return NULL;
}

/* The architecture that sass.def names for one: minor versions count as what they are a version of. 0: none was recorded */
static unsigned family_of(unsigned arch) {
    static const unsigned families[][2] = {{70, 75}, {72, 75}, {75, 75},   {80, 80},   {86, 80},   {87, 80},   {88, 80},
                                           {89, 89}, {90, 90}, {100, 100}, {103, 100}, {110, 100}, {120, 120}, {121, 120}};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (families[i][0] == arch) return families[i][1];
    return 0;
}

static bool seen_on(const lb_sass_op *row, unsigned arch) {
    char text[8];
    snprintf(text, sizeof text, "%u", family_of(arch));
    return family_of(arch) && strstr(row->archs, text) != NULL;
}

static bool same_field(const field *a, const field *b) {
    return a->op == b->op && a->forms == b->forms && a->part == b->part && a->low == b->low && a->high == b->high;
}

static bool belongs(const field *f, const op *o, unsigned form, unsigned arch) {
    const unsigned era = arch < 90 ? LB_BEFORE_90 : LB_FROM_90;
    return (f->op == o->pub.opcode || f->op == (o->pub.opcode | era)) && (!f->forms || f->forms >> form & 1);
}

/* N of a warpgroup's instruction, by bits 53 to 58 of the word; 0 if they were not recorded. */
static unsigned columns(part p, uint64_t low) {
    const unsigned x = low >> 53 & 63;
    if (p == N_EIGHTS) return x < 32 ? 8 * (x + 1) : 0;
    if (p == N_THIRDS && x % 3) return 0;
    const unsigned step = p == N_THIRDS ? x / 3 : x; /* 8, 16, 24, 32, 48, 64 … 256 */
    return step > 17 ? 0 : step < 4 ? 8 * (step + 1) : 16 * (step - 1);
}

static void append(char *text, size_t size, const char *dot, const char *more) {
    const size_t used = strlen(text);
    if (*more) snprintf(text + used, size - used, "%s%s", dot, more);
}

/* Take what a field's row says. false: a size that was not recorded */
static bool take(decoded *d, const field *f, uint64_t low) {
    const bool wide = f->part == N_EIGHTS || f->part == N_THIRDS || f->part == N_STEPS;
    if (!wide) {
        if (f->part == NAME)
            snprintf(d->name, sizeof d->name, "%s", f->text);
        else
            append(d->name, sizeof d->name, ".", f->text);
        d->unit[f->part] = f->unit;
        return true;
    }
    /* TF32's bit 58 is how its B lies, which is no part of N. */
    const unsigned n = columns(f->part, f->part == N_EIGHTS ? low & ~BIT(58) : low);
    char size[16];
    if (!n) return false;
    snprintf(size, sizeof size, "64x%ux%s", n, f->text);
    append(d->name, sizeof d->name, ".", size);
    snprintf(d->shape, sizeof d->shape, "m64n%u%s", n, f->unit);
    d->unit[SHAPE] = d->shape;
    return true;
}

/* The fields of a word. false if one of them has bits that no row has */
static bool take_fields(decoded *d, unsigned form, unsigned arch, uint64_t low, uint64_t high, uint64_t *read) {
    for (size_t i = 0; i < FIELDS;) {
        size_t end = i + 1;
        bool fits = false;
        while (end < FIELDS && same_field(&fields[i], &fields[end])) end++;
        if (!belongs(&fields[i], d->op, form, arch)) {
            i = end;
            continue;
        }
        *read |= fields[i].high;
        for (; i < end; i++) {
            const field *f = &fields[i];
            if (fits || (low & f->low) != f->low_is || (high & f->high) != f->high_is) continue;
            fits = true;
            if (!take(d, f, low)) return false;
        }
        if (!fits) return false;
    }
    return true;
}

static void decode(const op *o, unsigned arch, uint64_t low, uint64_t high, decoded *d) {
    const unsigned form = low >> 9 & 7;
    uint64_t read = 0;
    *d = (decoded){.op = o, .why = ""};
    snprintf(d->name, sizeof d->name, "%s", o->pub.name);
    if (!seen_on(&o->pub, arch)) {
        d->why = "nothing was recorded on this architecture, where the opcode may be another instruction";
    } else if (!(o->pub.forms >> form & 1)) {
        d->why = "operands of a form that was not recorded: not decoded";
    } else if (!take_fields(d, form, arch, low, high, &read) || ((high & o->check & ~read) != (o->want & ~read))) {
        snprintf(d->name, sizeof d->name, "%s", o->pub.name);
        *d = (decoded){.op = o, .why = o->pub.kind == LB_SCAN_MATRIX ? UNKNOWN : ""};
        snprintf(d->name, sizeof d->name, "%s", o->pub.name);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

/* "sm_80/mma.m16n8k16.f32.f16.f16.f32" of what was decoded, with one of the tails that it can have; "" where a part is missing. */
static void unit_name(const decoded *d, unsigned arch, const char *tail, int tail_length, char *out, size_t size) {
    const char *to = d->unit[D] ? d->unit[D] : d->op->d, *a = d->unit[AB] ? d->unit[AB] : d->unit[A], *b = d->unit[AB] ? a : d->unit[B];
    const bool wgmma = strcmp(d->op->instr, "wgmma") == 0;
    *out = 0;
    if (!d->unit[SHAPE] || !*to || !a || !b || !*d->op->instr) return;
    snprintf(out, size, "sm_%u/%s.%s.%s.%s.%s%s%s%s%.*s", arch, d->op->instr, d->unit[SHAPE], to, a, b, wgmma ? "" : ".", wgmma ? "" : to,
             tail_length ? "." : "", tail_length, tail);
    if (d->unit[SPARSE]) append(out, size, ".", d->unit[SPARSE]);
}

/* Instructions that PTX has and an architecture does by two of another kind. recorded: ptxas-13.0 */
static const struct {
    unsigned arch;
    const char *sass, *unit; /* unit behind "sm_90/" */
} halves[] = {
#define HALVES(arch, shape, d, ab)                                                                                                         \
    {arch, "HMMA.16816." shape, "mma.m16n8k32." d ab d}, {                                                                                 \
        arch, "HMMA.1688." shape, "mma.m16n8k16." d ab d                                                                                   \
    }
#define FP8_HALVES(arch)                                                                                                                   \
    HALVES(arch, "F32", "f32", ".e4m3.e4m3."), HALVES(arch, "F32", "f32", ".e4m3.e5m2."), HALVES(arch, "F32", "f32", ".e5m2.e4m3."),       \
        HALVES(arch, "F32", "f32", ".e5m2.e5m2."), HALVES(arch, "F16", "f16", ".e4m3.e4m3."), HALVES(arch, "F16", "f16", ".e4m3.e5m2."),   \
        HALVES(arch, "F16", "f16", ".e5m2.e4m3."), HALVES(arch, "F16", "f16", ".e5m2.e5m2.")
    FP8_HALVES(90),
    FP8_HALVES(100),
};

static bool widens(const char *unit, bool e4m3, bool e5m2) {
    return (e4m3 || !strstr(unit, ".e4m3")) && (e5m2 || !strstr(unit, ".e5m2"));
}

/* A row that exists, or "" and why not. */
static void add_row(char *rows, size_t size, const char *name, const char **note) {
    lb_unit u;
    if (!*name) return;
    if (lb_unit_find(name, &u, NULL) == LB_OK)
        append(rows, size, *rows ? " " : "", u.name);
    else if (!*rows)
        *note = "no unit row has this shape and these formats on this architecture";
}

/* What a kernel widens to f16: then an HMMA may be half of an fp8 product. */
typedef struct widened {
    bool e4m3, e5m2;
} widened;

static void add_halves(lb_scan *s, unsigned arch, const widened *w, lb_scan_line *line) {
    char rows[1024], name[96];
    const unsigned of = family_of(arch);
    snprintf(rows, sizeof rows, "%s", line->rows);
    const size_t before = strlen(rows);
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        const char *note = "";
        if (halves[i].arch != of || strcmp(halves[i].sass, line->name) != 0 || !widens(halves[i].unit, w->e4m3, w->e5m2)) continue;
        snprintf(name, sizeof name, "sm_%u/%s", arch, halves[i].unit);
        add_row(rows, sizeof rows, name, &note);
    }
    if (strlen(rows) == before) return;
    line->rows = lb_scan_keep(s, rows);
    line->note = "this kernel widens fp8 to f16, so two of these may be one fp8 mma";
}

/* An instruction of PTX that an architecture does by a larger one. recorded: ptxas-13.0 */
static const struct {
    unsigned family;
    const char *sass, *shape, *smaller;
} larger[] = {
    {100, "IMMA.16816.", "m16n8k16", "m8n8k16"},
    {120, "IMMA.16816.", "m16n8k16", "m8n8k16"},
};

static void add_smaller(const decoded *d, unsigned arch, const char *unit, char *rows, size_t size, const char **note) {
    char name[192];
    for (size_t i = 0; i < sizeof larger / sizeof larger[0]; i++) {
        const char *at = strstr(unit, larger[i].shape);
        if (larger[i].family != family_of(arch) || !at || strncmp(d->name, larger[i].sass, strlen(larger[i].sass)) != 0) continue;
        snprintf(name, sizeof name, "%.*s%s%s", (int)(at - unit), unit, larger[i].smaller, at + strlen(larger[i].shape));
        add_row(rows, size, name, note);
    }
}

static void fill_line(lb_scan *s, const decoded *d, unsigned arch, lb_scan_line *line) {
    char rows[1024] = "", name[192];
    const lb_scalar_op *scalar;
    line->kind = d->op->pub.kind;
    line->note = *d->why ? d->why : d->op->pub.what;
    line->evidence = *d->why ? LB_EVIDENCE_OPEN : d->op->pub.evidence;
    line->source = d->op->pub.source;
    if (*d->why) return;
    const char *tail = d->unit[TAIL] ? d->unit[TAIL] : "";
    while (true) { /* several can be behind one word, a space between */
        const size_t n = strcspn(tail, " ");
        unit_name(d, arch, tail, (int)n, name, sizeof name);
        add_row(rows, sizeof rows, name, &line->note);
        add_smaller(d, arch, name, rows, sizeof rows, &line->note);
        if (!tail[n]) break;
        tail += n + 1;
    }
    if (d->unit[SCALAR] && lb_scalar_find(d->unit[SCALAR], &scalar, NULL) == LB_OK) snprintf(rows, sizeof rows, "op:%s", d->unit[SCALAR]);
    line->rows = lb_scan_keep(s, rows);
}

lb_status lb_scan_code(lb_scan *s, unsigned arch, const uint8_t *code, size_t size, lb_error *err) {
    widened w = {false, false};
    lb_scan_line *line;
    decoded d;
    bool fresh;
    for (size_t at = 0; at < size; at += WORD) {
        const uint64_t low = lb_scan_le(code + at, 8), high = lb_scan_le(code + at + 8, 8);
        const op *o = op_of(low & 0x1ff);
        lb_scan_last(s)->instructions++;
        if (!o) continue;
        decode(o, arch, low, high, &d);
        if (family_of(arch) && !seen_on(&o->pub, arch)) continue; /* another instruction there: 0x036 is VIADD from sm_90 on */
        LB_TRY(lb_scan_count(s, d.name, low & 0xfff, &line, &fresh, err));
        if (fresh) fill_line(s, &d, arch, line);
        if (strcmp(d.name, "F2FP.F16.E4M3") == 0) w.e4m3 = true;
        if (strcmp(d.name, "F2FP.F16.E5M2") == 0) w.e5m2 = true;
    }
    lb_scan_kernel *k = lb_scan_last(s);
    if (w.e4m3 || w.e5m2)
        for (size_t i = 0; i < k->line_count; i++) add_halves(s, arch, &w, (lb_scan_line *)&k->lines[i]);
    return LB_OK;
}
