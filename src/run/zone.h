/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: memory shared with a device's process, between guards. A guard reads as NaN in every 16 and 32 bit float, so that what
 * a kernel reads past an array shows in its output too. */
#ifndef LB_RUN_ZONE_H
#define LB_RUN_ZONE_H

#include "lastbit/formats.h"

enum { LB_GUARD = 4096 };

/* [guard][data][guard]. start 4096-aligned. */
typedef struct lb_zone {
    unsigned char *start;
    size_t bytes; /* of data */
} lb_zone;

/** Anonymous memory that a child shares; NULL where there is none. */
void *lb_shared_memory(size_t bytes);

/** How much a zone takes; a multiple of 4096, so that zones can follow each other. */
size_t lb_zone_size(size_t bytes);
void lb_zone_guard(lb_zone *z); /* write both guards */
unsigned char *lb_zone_data(const lb_zone *z);

/** Bytes of the guards that changed. */
uint64_t lb_zone_damage(const lb_zone *z);

/** FNV-1a of the data: tells whether an input is still what it was. */
uint64_t lb_zone_hash(const lb_zone *z);

void lb_zone_poison(const lb_zone *z, const lb_format *f);
uint64_t lb_zone_poisoned(const lb_zone *z, const lb_format *f); /* elements that still hold the poison */

#endif
