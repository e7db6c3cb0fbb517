/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What an emitted fragment becomes on a GPU: machine instructions a thread, where nvcc is on this machine. Nothing else needs it. */
#include "cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INSTRUCTION_BYTES = 16, MOST_BYTES = 1 << 24 };           /* of every architecture since sm_70 */
enum { OPCODE = 0xfff, OPCODE_LDS = 0x984, OPCODE_NOP = 0x918 }; /* the low bits of an instruction */

static bool runs(char *const *argv, const char *log) {
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(126);
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t word(const unsigned char *bytes, size_t size, size_t at, int count) {
    uint64_t x = 0;
    for (int i = 0; i < count && at + (size_t)i < size; i++) x |= (uint64_t)bytes[at + (size_t)i] << 8 * i;
    return x;
}

typedef struct section {
    uint64_t at, bytes;
} section;

/* The section of this name in an ELF file of 64 bits; of no bytes if there is none. */
static section find_section(const unsigned char *elf, size_t size, const char *name) {
    if (size < 64 || memcmp(elf, "\177ELF\2\1", 6) != 0) return (section){0, 0};
    const uint64_t table = word(elf, size, 40, 8), each = word(elf, size, 58, 2), count = word(elf, size, 60, 2);
    const uint64_t names = word(elf, size, (size_t)(table + word(elf, size, 62, 2) * each + 24), 8);
    for (uint64_t i = 0; i < count; i++) {
        const size_t at = (size_t)(table + i * each);
        const uint64_t of_name = names + word(elf, size, at, 4);
        if (of_name < size && strncmp((const char *)elf + of_name, name, size - of_name) == 0)
            return (section){word(elf, size, at + 24, 8), word(elf, size, at + 32, 8)};
    }
    return (section){0, 0};
}

/* Instructions of a kernel, without those that pad it; loads from local memory are counted too. */
static cli_slots count_kernel(const unsigned char *elf, size_t size, const char *name) {
    const section text = find_section(elf, size, name);
    cli_slots found = {0};
    for (uint64_t at = 0; at < text.bytes; at += INSTRUCTION_BYTES) {
        const uint64_t opcode = word(elf, size, (size_t)(text.at + at), 2) & OPCODE;
        found.all += opcode != OPCODE_NOP;
        found.loads += opcode == OPCODE_LDS;
    }
    return found;
}

/* Of the function alone: a kernel around it, less one that has the rest of it, and one load and one operation a register more. */
static cli_slots count_slots(const char *path, int registers) {
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = f ? malloc(MOST_BYTES) : NULL;
    const size_t size = bytes ? fread(bytes, 1, MOST_BYTES, f) : 0;
    cli_slots all = count_kernel(bytes, size, ".text.lastbit_measure"), frame = count_kernel(bytes, size, ".text.lastbit_frame");
    free(bytes);
    if (f) fclose(f);
    const uint64_t extra = frame.loads + (uint64_t)registers;
    if (frame.all <= extra || all.all <= frame.all - extra) return (cli_slots){0};
    all.all -= frame.all - extra;
    return all;
}

/* A kernel around the emitted text: behind the barrier, where local memory holds what the lanes have decoded; the whole function where they
 * exchange by shuffles. And one that lacks the call. */
static void write_call(FILE *out, const lb_fragment f[4], const char *name, bool shuffles) {
    const int ra = f[0].registers, rb = f[1].registers;
    if (!shuffles) {
        fprintf(out, "    %s_lane(threadIdx.x, x, y, words);\n", name);
        return;
    }
    fprintf(out,
            "    unsigned a[%d], b[%d];\n    for (int i = 0; i < %d; i++) a[i] = w[threadIdx.x * %d + i];\n"
            "    for (int i = 0; i < %d; i++) b[i] = w[%d + threadIdx.x * %d + i];\n    %s(threadIdx.x, a, b, x, y);\n",
            ra, rb, ra, ra, rb, 32 * ra, rb, name);
}

static bool write_kernel(const char *path, const lb_unit *u, const lb_emit_options *o, const char *text) {
    lb_fragment f[4];
    for (int i = 0; i < 4; i++)
        if (lb_fragment_of(u, (lb_fragment_operand)i, NULL, &f[i], NULL) != LB_OK) return false;
    char name[sizeof u->name];
    snprintf(name, sizeof name, "%s", u->name);
    for (char *s = name; *s; s++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *s)) *s = '_';
    const int words = (o->tier == LB_EMIT_FAST ? 1 : 2) * (f[0].matrices * u->m * u->k + f[1].matrices * u->n * u->k);
    const int rc = f[2].registers, rd = f[3].registers;
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fprintf(out, "%s\n", text);
    for (int frame = 0; frame < 2; frame++) {
        fprintf(out,
                "extern \"C\" __global__ void lastbit_%s(const unsigned *w, const unsigned *c, unsigned *d) {\n"
                "    __shared__ unsigned words[%d];\n    unsigned x[%d], y[%d];\n"
                "    _Pragma(\"unroll 1\") for (unsigned i = threadIdx.x; i < %du; i += 32u) words[i] = w[i];\n    __syncwarp();\n"
                "    for (int i = 0; i < %d; i++) x[i] = c[threadIdx.x * %d + i];\n",
                frame ? "frame" : "measure", words, rc, rd, words, rc, rc);
        if (frame)
            fprintf(out, "    for (int i = 0; i < %d; i++) y[i] = x[i %% %d] ^ words[threadIdx.x];\n", rd, rc);
        else
            write_call(out, f, name, o->exchange == LB_EMIT_SUBGROUP);
        fprintf(out, "    for (int i = 0; i < %d; i++) d[threadIdx.x * %d + i] = y[i];\n}\n", rd, rd);
    }
    return fclose(out) == 0;
}

cli_slots cli_emit_slots(const lb_unit *u, const lb_emit_options *o, int *sm) {
    lb_emit_options cuda = *o;
    cuda.language = LB_EMIT_CUDA;
    char folder[] = "/tmp/lastbit-slots.XXXXXX", paths[3][64], arch[32], *text = NULL;
    *sm = 80;
    if (sscanf(u->name, "sm_%d", sm) == 1 && *sm < 75) *sm = 80; /* older ones are no longer compiled for */
    if (!o->fragment || lb_emit_unit(u, &cuda, &text, NULL, NULL) != LB_OK || !mkdtemp(folder)) {
        free(text);
        return (cli_slots){0};
    }
    static const char *const names[] = {"k.cu", "k.cubin", "log"};
    for (int i = 0; i < 3; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    snprintf(arch, sizeof arch, "-arch=sm_%d", *sm);
    char *installed = access("/usr/local/cuda/bin/nvcc", X_OK) == 0 ? "/usr/local/cuda/bin/nvcc" : "nvcc";
    char *argv[] = {installed, arch, "-O3", "-cubin", "-o", paths[1], paths[0], NULL};
    lb_fragment d;
    const bool compiled =
        write_kernel(paths[0], u, o, text) && runs(argv, paths[2]) && lb_fragment_of(u, LB_FRAGMENT_D, NULL, &d, NULL) == LB_OK;
    const cli_slots slots = compiled ? count_slots(paths[1], d.registers) : (cli_slots){0};
    for (int i = 0; i < 3; i++) unlink(paths[i]);
    rmdir(folder);
    free(text);
    return slots;
}
