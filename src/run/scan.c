/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A scan as a list of kernels, and which reader a file needs. */
#include "run/scan.h"

#include "base/try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 30, MAX_LINES = 1000 };

/* A kernel with its lines: `pub` is what callers see. */
typedef struct kernel {
    lb_scan_kernel pub;
    lb_scan_line *lines; /* [capacity] */
    size_t capacity;
    char *name;
} kernel;

struct lb_scan {
    kernel *kernels; /* [capacity] */
    size_t count, capacity;
    char **kept; /* [kept_capacity] */
    size_t kept_count, kept_capacity;
};

static const char *const kind_names[] = {
#define X(id, name, text) name,
    LB_SCAN_KIND_LIST(X)
#undef X
};

const char *lb_scan_kind_name(lb_scan_kind kind) {
    return (unsigned)kind < LB_SCAN_KIND_COUNT ? kind_names[kind] : "?";
}

uint64_t lb_scan_le(const uint8_t *at, size_t bytes) {
    uint64_t x = 0;
    for (size_t i = bytes; i-- > 0;) x = x << 8 | at[i];
    return x;
}

/* Room for one more of `size` bytes behind count; false if there is none. */
static bool grow(void **items, size_t size, size_t count, size_t *capacity) {
    if (count < *capacity) return true;
    const size_t wanted = *capacity ? 2 * *capacity : 8;
    void *more = realloc(*items, wanted * size);
    if (!more) return false;
    *items = more;
    *capacity = wanted;
    return true;
}

static lb_status no_memory(lb_error *err) {
    return lb_fail(err, LB_E_MEMORY, "scan", "out of memory");
}

lb_status lb_scan_add_kernel(lb_scan *s, const char *name, size_t name_length, const char *arch, bool ptx, lb_error *err) {
    void *items = s->kernels;
    if (!grow(&items, sizeof *s->kernels, s->count, &s->capacity)) return no_memory(err);
    s->kernels = items;
    char *copy = malloc(name_length + 1);
    if (!copy) return no_memory(err);
    for (size_t i = 0; i < name_length; i++) copy[i] = (unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
    copy[name_length] = 0;
    kernel *k = &s->kernels[s->count++];
    *k = (kernel){.name = copy, .pub = {.name = copy, .ptx = ptx}};
    snprintf(k->pub.arch, sizeof k->pub.arch, "%s", arch);
    return LB_OK;
}

lb_scan_kernel *lb_scan_last(lb_scan *s) {
    return &s->kernels[s->count - 1].pub;
}

lb_status lb_scan_count(lb_scan *s, const char *name, unsigned opcode, lb_scan_line **line, bool *fresh, lb_error *err) {
    kernel *k = &s->kernels[s->count - 1];
    *fresh = false;
    for (size_t i = 0; i < k->pub.line_count; i++) {
        *line = &k->lines[i];
        if ((*line)->opcode != opcode || strcmp((*line)->name, name) != 0) continue;
        (*line)->count++;
        return LB_OK;
    }
    if (k->pub.line_count == MAX_LINES)
        return lb_fail(err, LB_E_FILE, k->name, "more than %d different instructions that a scan lists: this is no kernel", MAX_LINES);
    void *items = k->lines;
    if (!grow(&items, sizeof *k->lines, k->pub.line_count, &k->capacity)) return no_memory(err);
    k->lines = items;
    k->pub.lines = items;
    *line = &k->lines[k->pub.line_count++];
    **line = (lb_scan_line){.opcode = opcode, .count = 1, .rows = "", .note = "", .source = "", .evidence = LB_EVIDENCE_RECORDED};
    snprintf((*line)->name, sizeof(*line)->name, "%s", name);
    *fresh = true;
    return LB_OK;
}

const char *lb_scan_keep(lb_scan *s, const char *text) {
    if (!*text) return "";
    void *items = s->kept;
    char *copy = strdup(text);
    if (!copy || !grow(&items, sizeof *s->kept, s->kept_count, &s->kept_capacity)) {
        free(copy);
        return "";
    }
    s->kept = items;
    return s->kept[s->kept_count++] = copy;
}

const lb_scan_kernel *lb_scan_kernel_at(const lb_scan *scan, size_t i) {
    return i < scan->count ? &scan->kernels[i].pub : NULL;
}

void lb_scan_close(lb_scan *scan) {
    if (!scan) return;
    for (size_t i = 0; i < scan->count; i++) {
        free(scan->kernels[i].lines);
        free(scan->kernels[i].name);
    }
    for (size_t i = 0; i < scan->kept_count; i++) free(scan->kept[i]);
    free(scan->kernels);
    free(scan->kept);
    free(scan);
}

static lb_status scan_into(lb_scan *s, const uint8_t *bytes, size_t size, const char *name, lb_error *err) {
    static const uint8_t elf[4] = {0x7f, 'E', 'L', 'F'}, fat[4] = {0x50, 0xed, 0x55, 0xba};
    if (size >= 4 && memcmp(bytes, elf, 4) == 0) return lb_scan_elf(s, bytes, size, 0, name, err);
    if (size >= 4 && memcmp(bytes, fat, 4) == 0) return lb_scan_fatbinary(s, bytes, size, name, err);
    return lb_scan_ptx(s, (const char *)bytes, size, name, err);
}

lb_status lb_scan_bytes(lb_scan **out, const void *bytes, size_t size, const char *name, lb_error *err) {
    lb_scan *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return no_memory(err);
    const lb_status status = scan_into(s, bytes, size, name, err);
    if (status == LB_OK)
        *out = s;
    else
        lb_scan_close(s);
    return status;
}

/* The whole of a file; free(*bytes). */
static lb_status read_file(const char *path, uint8_t **bytes, size_t *size, lb_error *err) {
    FILE *f = fopen(path, "rb");
    if (!f) return lb_fail(err, LB_E_FILE, path, "%s", strerror(errno));
    size_t capacity = 1 << 16, used = 0, got = 0;
    uint8_t *data = malloc(capacity);
    while (data && (got = fread(data + used, 1, capacity - used, f)) > 0) {
        used += got;
        if (used > MAX_FILE_BYTES) break;
        if (used < capacity) continue;
        uint8_t *more = realloc(data, capacity *= 2);
        if (!more) free(data);
        data = more;
    }
    const bool failed = ferror(f) != 0;
    fclose(f);
    if (!data) return no_memory(err);
    *bytes = data;
    *size = used;
    if (!failed && used <= MAX_FILE_BYTES) return LB_OK;
    free(data);
    return lb_fail(err, LB_E_FILE, path, failed ? "cannot be read" : "has more than 1 GiB; scan the cubins in it");
}

lb_status lb_scan_file(lb_scan **out, const char *path, lb_error *err) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    *out = NULL;
    LB_TRY(read_file(path, &bytes, &size, err));
    const lb_status status = lb_scan_bytes(out, bytes, size, path, err);
    free(bytes);
    return status;
}
