/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One tensor of a file, read in pieces. Read, not mapped: a file that someone shortens meanwhile gives an error, no signal. */
#include "base/try.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lb_reader {
    lb_file *file; /* its header */
    const lb_format *format;
    size_t rows, cols, place; /* where its elements begin in the file */
    int in;
    struct stat began;
};

enum { MOST_HEADER = 1 << 24 }; /* what is longer is read whole */

static lb_status must_be_whole(const lb_reader *s, lb_error *err, const char *why) {
    return lb_fail(err, LB_E_UNAVAILABLE, s->file->path, "cannot be read in pieces: %s", why);
}

static lb_status read_at(const lb_reader *s, void *to, size_t count, size_t from, lb_error *err) {
    for (size_t done = 0; done < count;) {
        const ssize_t got = pread(s->in, (char *)to + done, count - done, (off_t)(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return lb_fail(err, LB_E_FILE, s->file->path, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return lb_fail(err, LB_E_FILE, s->file->path, "ends before byte %zu now; it had %lld bytes when it was opened", from + done + 1,
                           (long long)s->began.st_size);
        done += (size_t)got;
    }
    return LB_OK;
}

/* How many bytes of the file its header takes, 0: too many to say. */
static size_t header_bytes(const unsigned char *begin, size_t size, bool npy) {
    uint64_t length = 0;
    if (npy) {
        const size_t bytes = begin[6] == 1 ? 2 : 4;
        for (size_t i = bytes; i-- > 0;) length = length << 8 | begin[8 + i];
        length += 8 + bytes;
    } else {
        for (size_t i = 8; i-- > 0;) length = length << 8 | begin[i];
        length = length < MOST_HEADER ? length + 8 : length;
    }
    return length > MOST_HEADER ? 0 : length < size ? (size_t)length : size;
}

static lb_status read_header(lb_reader *s, const lb_file_options *options, lb_error *err) {
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    unsigned char begin[16] = {0};
    lb_file *f = s->file;
    f->size = (size_t)s->began.st_size;
    f->header_only = true;
    size_t count = 0;
    if (!options || !options->raw_dtype) {
        LB_TRY(read_at(s, begin, f->size < sizeof begin ? f->size : sizeof begin, 0, err));
        count = header_bytes(begin, f->size, memcmp(begin, magic, sizeof magic) == 0);
        if (!count && f->size) return must_be_whole(s, err, "its header is too long");
    }
    f->bytes = malloc(count + sizeof begin);
    if (!f->bytes) return lb_fail(err, LB_E_MEMORY, f->path, "no memory for its header");
    memcpy(f->bytes, begin, sizeof begin); /* parsers look at a few bytes before they know how many there are */
    LB_TRY(read_at(s, f->bytes, count, 0, err));
    return lb_parse_opened(f, options, err);
}

static lb_status open_file(lb_reader *s, const lb_file_options *options, lb_error *err) {
    const size_t most = options && options->max_bytes ? options->max_bytes : (size_t)64 << 30;
    if (strcmp(s->file->path, "-") == 0) return must_be_whole(s, err, "it is no file");
    s->in = open(s->file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not wait for its writer */
    if (s->in < 0 || fstat(s->in, &s->began) != 0) return lb_fail(err, LB_E_FILE, s->file->path, "%s", strerror(errno));
    if (!S_ISREG(s->began.st_mode)) return must_be_whole(s, err, "it is no regular file");
    if ((uint64_t)s->began.st_size > most) return lb_fail(err, LB_E_FILE, s->file->path, "larger than %zu bytes", most);
    return read_header(s, options, err);
}

static lb_status take(lb_reader *s, const char *spec, const char *name, const lb_format *said, lb_error *err) {
    const lb_tensor *t;
    LB_TRY(lb_pick_tensor(s->file, spec, name, &t, err));
    LB_TRY(lb_tensor_format(s->file, t, said, spec, &s->format, err));
    if (s->file->rearranged) return must_be_whole(s, err, "its elements do not lie row by row, or in the other byte order");
    if (!lb_tensor_holds(t, s->format)) return must_be_whole(s, err, "its elements must be converted");
    if (s->format->bits != 8 * s->format->bytes) return must_be_whole(s, err, "not every code of its elements is one of the format");
    lb_tensor_fold(t, &s->rows, &s->cols);
    s->place = s->file->places[t - s->file->tensors];
    return LB_OK;
}

lb_status lb_reader_open(lb_reader **out, const char *spec, const lb_format *format, const lb_file_options *options, lb_error *err) {
    char *path = NULL;
    const char *name;
    lb_reader *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return lb_fail(err, LB_E_MEMORY, spec, "no memory");
    s->in = -1;
    lb_status status = lb_split_spec(spec, &path, &name, err);
    if (status == LB_OK) status = lb_file_new(&s->file, path, err);
    if (status == LB_OK) status = open_file(s, options, err);
    if (status == LB_OK) status = take(s, spec, name, format, err);
    free(path);
    if (status == LB_OK)
        *out = s;
    else
        lb_reader_close(s);
    return status;
}

lb_mat lb_reader_shape(const lb_reader *s) {
    return lb_mat_of(s->format, NULL, s->rows, s->cols);
}

lb_status lb_reader_read(lb_reader *s, size_t first, size_t count, void *codes, lb_error *err) {
    const size_t width = (size_t)s->format->bytes, all = s->rows * s->cols;
    if (first > all || count > all - first)
        return lb_fail(err, LB_E_ARG, s->file->path, "elements %zu to %zu of %zu", first, first + count, all);
    return read_at(s, codes, count * width, s->place + first * width, err);
}

lb_status lb_reader_unchanged(const lb_reader *s, lb_error *err) {
    struct stat now;
    if (fstat(s->in, &now) != 0) return lb_fail(err, LB_E_FILE, s->file->path, "%s", strerror(errno));
    const bool same =
        now.st_size == s->began.st_size && now.st_mtim.tv_sec == s->began.st_mtim.tv_sec && now.st_mtim.tv_nsec == s->began.st_mtim.tv_nsec;
    return same ? LB_OK : lb_fail(err, LB_E_FILE, s->file->path, "was changed while it was read");
}

void lb_reader_close(lb_reader *s) {
    if (!s) return;
    if (s->in >= 0) close(s->in);
    lb_file_close(s->file);
    free(s);
}
