/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "io/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

lb_status lb_json_file(const char *path, json_t **out, lb_error *err) {
    const off_t most = 16 << 20;
    json_error_t why;
    struct stat about;
    FILE *f = fopen(path, "rb");
    *out = NULL;
    if (!f) return lb_fail(err, LB_E_FILE, path, "cannot be opened: %s", strerror(errno));
    const bool known = fstat(fileno(f), &about) == 0, folder = known && S_ISDIR(about.st_mode), large = known && about.st_size > most;
    if (!folder && !large) *out = json_loadf(f, JSON_REJECT_DUPLICATES, &why); /* nesting is limited by JSON_PARSER_MAX_DEPTH */
    fclose(f);
    if (folder) return lb_fail(err, LB_E_FILE, path, "is a folder; a file of JSON is wanted");
    if (large) return lb_fail(err, LB_E_FILE, path, "is larger than 16 MiB");
    return *out ? LB_OK : lb_fail(err, LB_E_FILE, path, "line %d: %s", why.line < 1 ? 1 : why.line, why.text);
}
