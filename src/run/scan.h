/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the readers of a scan share. */
#ifndef LB_RUN_SCAN_H
#define LB_RUN_SCAN_H

#include "lastbit/scan.h"

/** Begin a kernel, whose lines follow. errors LB_E_MEMORY */
lb_status lb_scan_add_kernel(lb_scan *s, const char *name, size_t name_length, const char *arch, bool ptx, lb_error *err);
/** The last kernel, for counting. */
lb_scan_kernel *lb_scan_last(lb_scan *s);
/** Count one instruction of the last kernel: the line that has its name and opcode, or a new one with *fresh set, to be filled. */
lb_status lb_scan_count(lb_scan *s, const char *name, unsigned opcode, lb_scan_line **line, bool *fresh, lb_error *err);
/** A copy that lives as long as the scan; "" if out of memory. */
const char *lb_scan_keep(lb_scan *s, const char *text);

/** The machine code of one kernel of sm_ARCH: count what is known of it. size is a multiple of 16. errors LB_E_MEMORY */
lb_status lb_scan_code(lb_scan *s, unsigned arch, const uint8_t *code, size_t size, lb_error *err);

/** A cubin at bytes[0..size), which lies `base` bytes into the file; a fatbinary; PTX. errors LB_E_FILE, LB_E_MEMORY */
lb_status lb_scan_elf(lb_scan *s, const uint8_t *bytes, size_t size, size_t base, const char *file, lb_error *err);
lb_status lb_scan_fatbinary(lb_scan *s, const uint8_t *bytes, size_t size, const char *file, lb_error *err);
lb_status lb_scan_ptx(lb_scan *s, const char *text, size_t size, const char *file, lb_error *err);

/** A little-endian number; the caller has checked that it is there. */
uint64_t lb_scan_le(const uint8_t *at, size_t bytes);

#endif
