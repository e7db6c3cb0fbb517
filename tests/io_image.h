/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What tests of files share: files made by hand in memory, and a folder of the test's own. */
#ifndef LB_TEST_IO_IMAGE_H
#define LB_TEST_IO_IMAGE_H

#include "test.h"

#include "lastbit/io.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 5000 };

/* A file in memory. */
typedef struct image {
    unsigned char bytes[MOST];
    size_t size;
} image;

static inline void add(image *f, const void *bytes, size_t n) {
    assert_true(f->size + n <= MOST);
    memcpy(f->bytes + f->size, bytes, n);
    f->size += n;
}

static inline image safetensors_of(const char *header, size_t data_bytes) {
    image f = {.size = 0};
    const size_t n = strlen(header);
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)n >> 8 * i);
    add(&f, length, 8);
    add(&f, header, n);
    for (size_t i = 0; i < data_bytes; i++) add(&f, &(unsigned char){(unsigned char)i}, 1);
    return f;
}

static inline image npy_of(int major, const char *dict, const void *data, size_t data_bytes) {
    image f = {.size = 0};
    const size_t n = strlen(dict);
    const unsigned char front[] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0, (unsigned char)n, (unsigned char)(n >> 8), 0, 0};
    add(&f, front, major == 1 ? 10 : 12);
    add(&f, dict, n);
    add(&f, data, data_bytes);
    return f;
}

static char folder[64];

static inline int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/lastbit-test-io.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
    (void)state;
    char path[512];
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (d) closedir(d);
    return rmdir(folder);
}

static inline const char *in_folder(const char *name) {
    static char path[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

/* The image as a file of the test's folder. */
static inline const char *file_of(const char *name, const image *f) {
    const char *path = in_folder(name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f->bytes, 1, f->size, out), f->size);
    fclose(out);
    return path;
}

static inline const char *npy_file(const char *name, const char *dict, const void *data, size_t bytes) {
    const image f = npy_of(1, dict, data, bytes);
    return file_of(name, &f);
}

#endif
