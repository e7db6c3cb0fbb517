/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit scan: what kernels are made of. */
#include "cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 64 };

static json_t *line_json(const lb_scan_line *l) {
    char opcode[16] = "";
    json_t *rows = json_array();
    if (l->opcode) snprintf(opcode, sizeof opcode, "0x%03x", l->opcode);
    for (const char *at = l->rows; *at;) {
        const size_t n = strcspn(at, " ");
        json_array_append_new(rows, json_stringn(at, n));
        at += n + (at[n] == ' ');
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:o, s:s, s:s, s:s}", "name", l->name, "opcode", opcode, "kind", lb_scan_kind_name(l->kind),
                     "count", (json_int_t)l->count, "rows", rows, "note", l->note, "evidence", lb_evidence_name(l->evidence), "source",
                     l->source);
}

static json_t *kernel_json(const char *file, const lb_scan_kernel *k) {
    json_t *lines = json_array();
    for (size_t i = 0; i < k->line_count; i++) json_array_append_new(lines, line_json(&k->lines[i]));
    json_t *name = json_string(k->name); /* NULL if it is no UTF-8 */
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:o}", "file", file, "kernel", name ? name : json_string("?"), "code",
                     k->ptx ? "ptx" : "sass", "arch", k->arch, "instructions", (json_int_t)k->instructions, "lines", lines);
}

static void print_kernel(const char *file, const lb_scan_kernel *k) {
    printf("%s: %s (%s, %s): %zu instructions\n", file, k->name, k->ptx ? "PTX" : "machine code", k->arch, k->instructions);
    if (!k->line_count) puts("  no matrix, special or floating-point instruction");
    for (size_t i = 0; i < k->line_count; i++) {
        const lb_scan_line *l = &k->lines[i];
        printf("  %-8s %5zu  %s", lb_scan_kind_name(l->kind), l->count, l->name);
        if (l->opcode) printf("  0x%03x", l->opcode);
        puts("");
        for (const char *at = l->rows; *at;) {
            const size_t n = strcspn(at, " ");
            printf("                  = %.*s\n", (int)n, at);
            at += n + (at[n] == ' ');
        }
        if (*l->note) printf("                  %s\n", l->note);
    }
}

static void list_matrix(const lb_scan_kernel *k) {
    bool first = true;
    for (size_t i = 0; i < k->line_count; i++) {
        if (k->lines[i].kind != LB_SCAN_MATRIX) continue;
        printf("%s%zu %s", first ? "" : " + ", k->lines[i].count, k->lines[i].name);
        first = false;
    }
    printf("%s", first ? "no matrix instruction" : "");
}

/* Where a kernel was given as PTX and as machine code: what became of what. */
static void print_pairs(lb_scan *const *scans, int count) {
    const lb_scan_kernel *p, *c;
    for (int i = 0; i < count; i++)
        for (size_t a = 0; (p = lb_scan_kernel_at(scans[i], a)); a++)
            for (int j = 0; p->ptx && j < count; j++)
                for (size_t b = 0; (c = lb_scan_kernel_at(scans[j], b)); b++) {
                    if (c->ptx || strcmp(c->name, p->name) != 0) continue;
                    printf("%s: ", p->name);
                    list_matrix(p);
                    printf("  ->  %s: ", c->arch);
                    list_matrix(c);
                    puts("");
                }
}

/* How many instructions the scans list. */
static size_t listed(lb_scan *const *scans, int count) {
    const lb_scan_kernel *k;
    size_t lines = 0;
    for (int i = 0; i < count; i++)
        for (size_t j = 0; (k = lb_scan_kernel_at(scans[i], j)); j++) lines += k->line_count;
    return lines;
}

static void print_json(char **files, lb_scan *const *scans, int count) {
    const lb_scan_kernel *k;
    json_t *kernels = json_array();
    for (int i = 0; i < count; i++)
        for (size_t j = 0; (k = lb_scan_kernel_at(scans[i], j)); j++) json_array_append_new(kernels, kernel_json(files[i], k));
    json_dumpf(kernels, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    puts("");
    json_decref(kernels);
}

/* All files are read before anything is printed. */
static int scan_files(char **files, int count, bool json) {
    lb_scan *scans[MAX_FILES] = {NULL};
    const lb_scan_kernel *k;
    lb_error err = {0};
    int read = 0, code = CLI_OK;
    while (read < count && lb_scan_file(&scans[read], files[read], &err) == LB_OK) read++;
    if (read < count) {
        code = cli_error(&err);
    } else if (json) {
        print_json(files, scans, count);
    } else {
        for (int i = 0; i < count; i++)
            for (size_t j = 0; (k = lb_scan_kernel_at(scans[i], j)); j++) print_kernel(files[i], k);
        print_pairs(scans, count);
    }
    if (code == CLI_OK && !listed(scans, count)) {
        fprintf(stderr, "lastbit: scan: nothing was found that a row is about: no matrix, special or floating-point instruction\n");
        code = CLI_UNPROVEN;
    }
    for (int i = 0; i < read; i++) lb_scan_close(scans[i]);
    return code;
}

int cli_scan(int argc, char **argv) {
    bool json = false, stop;
    const cli_option options[] = {{"json", 0, CLI_FLAG, &json, NULL, "one JSON array, an object a kernel"}};
    const cli_usage usage = {
        "lastbit scan FILE… [--json]",
        "Which matrix and special instructions kernels use, and the rows that they are (lastbit units, lastbit scalar).\n"
        "FILE is a cubin, a fatbinary (not compressed) or PTX. Given both of a kernel, the last lines say how many\n"
        "machine instructions its matrix instructions became. Needs no GPU and no toolkit.\n"
        "Exit 0: something was found; 2: a file is none of these, or damaged; 3: nothing was found.",
        options, sizeof options / sizeof options[0], "  lastbit scan kernel.cubin\n  lastbit scan kernel.ptx kernel.cubin"};
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    int count, code = args ? cli_parse(&usage, argc, argv, args, &count, &stop) : CLI_USAGE;
    if (args && !stop) {
        if (!count)
            code = cli_usage_error("scan", "no file given; it takes cubins, fatbinaries and PTX");
        else if (count > MAX_FILES)
            code = cli_usage_error("scan", "%d given; it takes at most %d", count, MAX_FILES);
        else
            code = scan_files(args, count, json);
    }
    free(args);
    return code;
}
