/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cubins (ELF64 of machine 190) and fatbinaries. Every offset of a file is checked against its size before it is followed. */
#include "run/scan.h"

#include "base/try.h"

#include <stdio.h>
#include <string.h>

enum {
    EHDR = 64,
    SHDR = 64,
    EM_CUDA = 190,
    ABI_CUDA_8 = 0x41, /* e_flags has the architecture in bits 8 to 15: recorded, ptxas 13.0 */
    ABI_CUDA_7 = 0x33, /* in bits 0 to 7: inferred from older toolkits' files */
    SHT_PROGBITS = 1,
    SHT_NOBITS = 8
};

typedef struct elf {
    const uint8_t *bytes;
    size_t size, base;
    const char *file;
    unsigned arch;
    const uint8_t *names; /* the strings that sections are named from */
    size_t names_size;
    size_t code_left, names_left; /* what sections that do not overlap can still have */
} elf;

typedef struct section {
    const char *name;
    size_t name_length;
    uint32_t type;
    uint64_t at, size;
} section;

static lb_status broken(const elf *e, size_t at, lb_error *err, const char *what) {
    return lb_fail(err, LB_E_FILE, e->file, "byte %zu: %s", e->base + at, what);
}

static lb_status read_section(const elf *e, size_t header, section *out, lb_error *err) {
    const uint8_t *h = e->bytes + header;
    out->type = (uint32_t)lb_scan_le(h + 4, 4);
    out->at = lb_scan_le(h + 24, 8);
    out->size = lb_scan_le(h + 32, 8);
    out->name = "";
    out->name_length = 0;
    if (out->type != SHT_NOBITS && (out->at > e->size || out->size > e->size - out->at))
        return broken(e, header + 24, err, "a section ends behind the end of the file: it is cut short or damaged");
    if (!e->names) return LB_OK;
    const size_t name = (size_t)lb_scan_le(h, 4);
    const uint8_t *end = name < e->names_size ? memchr(e->names + name, 0, e->names_size - name) : NULL;
    if (!end) return broken(e, header, err, "a section's name is not in the table of names");
    out->name = (const char *)e->names + name;
    out->name_length = (size_t)(end - (e->names + name));
    return LB_OK;
}

static lb_status read_arch(elf *e, lb_error *err) {
    const uint32_t flags = (uint32_t)lb_scan_le(e->bytes + 48, 4);
    if (e->bytes[7] == ABI_CUDA_8)
        e->arch = flags >> 8 & 0xff;
    else if (e->bytes[7] == ABI_CUDA_7)
        e->arch = flags & 0xff;
    else
        return broken(e, 7, err, "an ABI that this does not know; cubins have 0x41 or 0x33 here");
    if (e->arch >= 70) return LB_OK;
    return broken(e, 48, err, "machine code of before sm_70, which is not scanned");
}

/* ".text.NAME" is a kernel or a device function. */
static lb_status scan_section(lb_scan *s, elf *e, const section *x, lb_error *err) {
    static const char text[] = ".text.";
    char arch[16];
    if (x->type != SHT_PROGBITS || x->name_length < sizeof text || strncmp(x->name, text, sizeof text - 1) != 0) return LB_OK;
    if (x->size % 16) return broken(e, (size_t)x->at, err, "machine code that is no whole number of 16-byte words");
    if (x->size > e->code_left || x->name_length > e->names_left)
        return broken(e, (size_t)x->at, err, "sections of machine code overlap: the file is damaged");
    e->code_left -= (size_t)x->size;
    e->names_left -= x->name_length;
    snprintf(arch, sizeof arch, "sm_%u", e->arch);
    LB_TRY(lb_scan_add_kernel(s, x->name + sizeof text - 1, x->name_length - (sizeof text - 1), arch, false, err));
    return lb_scan_code(s, e->arch, e->bytes + x->at, (size_t)x->size, err);
}

lb_status lb_scan_elf(lb_scan *s, const uint8_t *bytes, size_t size, size_t base, const char *file, lb_error *err) {
    elf e = {.bytes = bytes, .size = size, .base = base, .file = file, .code_left = size, .names_left = size};
    section x;
    if (size < EHDR) return broken(&e, size, err, "an ELF header ends here: it is cut short");
    if (bytes[4] != 2 || bytes[5] != 1) return broken(&e, 4, err, "no little-endian ELF of 64 bits, as cubins are");
    if (lb_scan_le(bytes + 18, 2) != EM_CUDA)
        return broken(&e, 18, err, "no machine code of an NVIDIA GPU; take the cubins out of a program first (cuobjdump -xelf all)");
    LB_TRY(read_arch(&e, err));
    const uint64_t table = lb_scan_le(bytes + 40, 8);
    const size_t count = (size_t)lb_scan_le(bytes + 60, 2), names = (size_t)lb_scan_le(bytes + 62, 2);
    if (lb_scan_le(bytes + 58, 2) != SHDR) return broken(&e, 58, err, "section headers are not of 64 bytes");
    if (table > size || count > (size - table) / SHDR) return broken(&e, 40, err, "the section headers end behind the end of the file");
    if (names >= count) return broken(&e, 62, err, "no table of section names");
    LB_TRY(read_section(&e, (size_t)table + names * SHDR, &x, err));
    if (x.type == SHT_NOBITS) return broken(&e, (size_t)table + names * SHDR + 4, err, "the table of section names has no bytes");
    e.names = bytes + x.at;
    e.names_size = (size_t)x.size;
    for (size_t i = 0; i < count; i++) {
        LB_TRY(read_section(&e, (size_t)table + i * SHDR, &x, err));
        LB_TRY(scan_section(s, &e, &x, err));
    }
    return LB_OK;
}

/* A header of 16 bytes, then entries, each a header and its bytes. Recorded: what `fatbinary` 13.0 writes. */
enum { FAT_HEADER = 16, ENTRY_HEADER = 64, ENTRY_ELF = 2 };

static lb_status fat_broken(const char *file, size_t at, lb_error *err, const char *what) {
    return lb_fail(err, LB_E_FILE, file, "byte %zu: %s", at, what);
}

lb_status lb_scan_fatbinary(lb_scan *s, const uint8_t *bytes, size_t size, const char *file, lb_error *err) {
    static const uint8_t magic[4] = {0x7f, 'E', 'L', 'F'};
    if (size < FAT_HEADER) return fat_broken(file, size, err, "a fatbinary's header ends here: it is cut short");
    const uint64_t header = lb_scan_le(bytes + 6, 2), whole = lb_scan_le(bytes + 8, 8);
    if (header < FAT_HEADER || header > size || whole > size - header)
        return fat_broken(file, 8, err, "a fatbinary that ends behind the end of the file: it is cut short or damaged");
    size_t at = (size_t)header, cubins = 0;
    const size_t end = (size_t)(header + whole);
    while (at < end) {
        if (end - at < ENTRY_HEADER) return fat_broken(file, at, err, "an entry's header ends behind the fatbinary");
        const uint64_t kind = lb_scan_le(bytes + at, 2), head = lb_scan_le(bytes + at + 4, 4), length = lb_scan_le(bytes + at + 8, 8);
        if (head < ENTRY_HEADER || head > end - at || length > end - at - head)
            return fat_broken(file, at, err, "an entry that ends behind the fatbinary");
        if (kind == ENTRY_ELF) {
            const uint8_t *cubin = bytes + at + head;
            if (length < 4 || memcmp(cubin, magic, 4) != 0)
                return fat_broken(file, at, err,
                                  "a compressed cubin; write it with nvcc --no-compress, or take it out with cuobjdump -xelf all");
            LB_TRY(lb_scan_elf(s, cubin, (size_t)length, at + (size_t)head, file, err));
            cubins++;
        }
        at += (size_t)(head + length);
    }
    if (cubins) return LB_OK;
    return fat_broken(file, FAT_HEADER, err, "a fatbinary without cubins; take its PTX out with cuobjdump -xptx all");
}
