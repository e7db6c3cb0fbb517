/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* npy: a magic, a version, a header written as a Python dict, one array. Only what the format's writers write is read: a dict of
 * descr, fortran_order and shape, in any order. source: npy-format */
#include "base/try.h"
#include "io/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    char order; /* '<' '>' '|' '=' */
    const lb_dtype *dtype;
    bool fortran;
    int rank;
    size_t shape[LB_MAX_RANK];
    bool has_descr, has_order, has_shape;
} header;

/* The header's text and where reading stands. */
typedef struct scanner {
    const lb_file *f;
    const char *start, *p, *end;
    lb_error *err;
} scanner;

static lb_status bad(const scanner *s, const char *what) {
    return lb_fail(s->err, LB_E_FILE, s->f->path, "byte %zu: %s", (size_t)(s->p - (const char *)s->f->bytes), what);
}

static void skip_space(scanner *s) {
    while (s->p < s->end && isspace((unsigned char)*s->p)) s->p++;
}

/* The next character that is no space, if it is c. */
static bool take(scanner *s, char c) {
    skip_space(s);
    if (s->p == s->end || *s->p != c) return false;
    s->p++;
    return true;
}

/* 'text' or "text", without escapes: no writer needs them. */
static lb_status take_string(scanner *s, const char **text, size_t *length) {
    skip_space(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"')) return bad(s, "a quoted string should stand here");
    const char quote = *s->p++;
    *text = s->p;
    while (s->p < s->end && *s->p != quote && *s->p != '\\' && *s->p != '\n') s->p++;
    if (s->p == s->end || *s->p != quote) return bad(s, "a string does not end");
    *length = (size_t)(s->p++ - *text);
    return LB_OK;
}

static bool take_word(scanner *s, const char *word) {
    const size_t n = strlen(word);
    skip_space(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) return false;
    s->p += n;
    return true;
}

static lb_status take_descr(scanner *s, header *h) {
    const char *text = "";
    size_t length = 0;
    skip_space(s);
    if (s->p < s->end && *s->p == '[') return bad(s, "structured types are not read");
    LB_TRY(take_string(s, &text, &length));
    const bool ordered = length && strchr("<>|=", text[0]);
    h->order = '|';
    if (ordered) {
        h->order = text[0];
        text++;
        length--;
    }
    h->dtype = lb_dtype_by_npy(text, length);
    if (!h->dtype) {
        s->p = text;
        return lb_fail(s->err, LB_E_FILE, s->f->path, "byte %zu: type \"%.*s\" is not read; f i u b and V1, V2 are",
                       (size_t)(text - (const char *)s->f->bytes), (int)(length < 32 ? length : 32), text);
    }
    return LB_OK;
}

static lb_status take_shape(scanner *s, header *h) {
    if (!take(s, '(')) return bad(s, "the shape should be a tuple");
    h->rank = 0;
    while (!take(s, ')')) {
        size_t n = 0;
        skip_space(s);
        if (s->p == s->end || !isdigit((unsigned char)*s->p)) return bad(s, "a dimension should stand here");
        if (h->rank == LB_MAX_RANK) return bad(s, "more than eight dimensions");
        for (; s->p < s->end && isdigit((unsigned char)*s->p); s->p++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (size_t)(*s->p - '0'), &n))
                return bad(s, "a dimension is too large");
        h->shape[h->rank++] = n;
        if (!take(s, ',')) {
            if (h->rank == 1) return bad(s, "a tuple of one has a comma: (3,)");
            if (!take(s, ')')) return bad(s, "a comma or the end of the tuple should stand here");
            break;
        }
    }
    return LB_OK;
}

static lb_status take_field(scanner *s, header *h) {
    const char *key = "";
    size_t n = 0;
    LB_TRY(take_string(s, &key, &n));
    if (!take(s, ':')) return bad(s, "a colon should stand here");
    const struct {
        const char *name;
        bool *seen;
    } fields[] = {{"descr", &h->has_descr}, {"fortran_order", &h->has_order}, {"shape", &h->has_shape}};
    for (size_t i = 0; i < 3; i++) {
        if (strlen(fields[i].name) != n || memcmp(fields[i].name, key, n) != 0) continue;
        if (*fields[i].seen) return bad(s, "a key stands twice");
        *fields[i].seen = true;
        if (i == 0) return take_descr(s, h);
        if (i == 2) return take_shape(s, h);
        h->fortran = take_word(s, "True");
        return h->fortran || take_word(s, "False") ? LB_OK : bad(s, "fortran_order should be True or False");
    }
    return bad(s, "a key other than descr, fortran_order and shape");
}

static lb_status take_dict(scanner *s, header *h) {
    if (!take(s, '{')) return bad(s, "the header should be a dict");
    while (!take(s, '}')) {
        LB_TRY(take_field(s, h));
        if (!take(s, ',') && (skip_space(s), s->p == s->end || *s->p != '}'))
            return bad(s, "a comma or the end of the dict should stand here");
    }
    skip_space(s);
    if (s->p != s->end) return bad(s, "something stands behind the dict");
    if (!h->has_descr || !h->has_order || !h->has_shape) return bad(s, "descr, fortran_order and shape must all be there");
    return LB_OK;
}

/* Elements of the file in row-major order and this machine's byte order. */
static void lay_out(const header *h, const unsigned char *from, unsigned char *to, size_t count) {
    const size_t width = (size_t)h->dtype->bytes;
    const bool swap = h->order == '>' && width > 1;
    if (!swap && !h->fortran) {
        if (count) memcpy(to, from, count * width);
        return;
    }
    size_t index[LB_MAX_RANK] = {0};
    for (size_t i = 0; i < count; i++) { /* i counts row-major; index is its position */
        size_t at = i;
        if (h->fortran) {
            at = 0;
            for (int d = h->rank - 1; d >= 0; d--) at = at * h->shape[d] + index[d];
            for (int d = h->rank - 1; d >= 0 && ++index[d] == h->shape[d]; d--) index[d] = 0;
        }
        for (size_t b = 0; b < width; b++) to[i * width + b] = from[at * width + (swap ? width - 1 - b : b)];
    }
}

lb_status lb_parse_npy(lb_file *f, lb_error *err) {
    if (f->size < 10) return lb_fail(err, LB_E_FILE, f->path, "byte 6: the file ends in its npy header");
    const unsigned major = f->bytes[6];
    if (major < 1 || major > 3) return lb_fail(err, LB_E_FILE, f->path, "byte 6: npy version %u; 1 to 3 are read", major);
    const size_t length_bytes = major == 1 ? 2 : 4, start = 8 + length_bytes;
    size_t length = 0;
    if (f->size < start) return lb_fail(err, LB_E_FILE, f->path, "byte 8: the file ends in its npy header");
    for (size_t i = length_bytes; i-- > 0;) length = length << 8 | f->bytes[8 + i];
    if (length > f->size - start)
        return lb_fail(err, LB_E_FILE, f->path, "byte 8: the header is to have %zu bytes; the file has %zu behind it: is it whole?", length,
                       f->size - start);
    const char *text = (const char *)f->bytes + start;
    scanner s = {f, text, text, text + length, err};
    header h = {0};
    LB_TRY(take_dict(&s, &h));
    size_t want, have = f->size - start - length;
    if (!lb_shape_bytes(h.shape, h.rank, (size_t)h.dtype->bytes, &want))
        return lb_fail(err, LB_E_FILE, f->path, "byte %zu: the header's shape is too large", start);
    if (want != have)
        return lb_fail(err, LB_E_FILE, f->path, "byte %zu: the shape wants %zu bytes of data; the file has %zu", start + length, want,
                       have);
    LB_TRY(lb_file_reserve(f, 1, want, err));
    lb_tensor *t = &f->tensors[0];
    *t = (lb_tensor){.name = "", .dtype = h.dtype, .rank = h.rank, .data = f->data, .bytes = want};
    memcpy(t->shape, h.shape, sizeof t->shape);
    f->count = 1;
    if (f->header_only) {
        f->places[0] = start + length;
        f->rearranged = (h.order == '>' && h.dtype->bytes > 1) || (h.fortran && h.rank > 1);
        return LB_OK;
    }
    lay_out(&h, f->bytes + start + length, f->data, want / (size_t)h.dtype->bytes);
    return LB_OK;
}
