/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ground floor: status codes, the error that travels with them, version, random numbers. */
#ifndef LASTBIT_BASE_H
#define LASTBIT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LB_VERSION_MAJOR 0
#define LB_VERSION_MINOR 1
#define LB_VERSION_PATCH 0
#define LB_VERSION       "0.1.0"

#if defined(__GNUC__)
#define LB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define LB_PRINTF(fmt, args)
#endif

/* A bad call is a status; a disagreement between numbers never is (see lb_verdict in record.h). */
#define LB_STATUS_LIST(X)                                                                                                                  \
    X(OK, "ok")                                                                                                                            \
    X(E_ARG, "argument out of range")                                                                                                      \
    X(E_SHAPE, "operand shapes do not agree")                                                                                              \
    X(E_FORMAT, "number format not usable here")                                                                                           \
    X(E_NAME, "no such name")                                                                                                              \
    X(E_FILE, "file unreadable, unwritable or malformed")                                                                                  \
    X(E_UNAVAILABLE, "not available on this machine")                                                                                      \
    X(E_DEVICE, "device call failed")                                                                                                      \
    X(E_TIMEOUT, "device did not finish in time")                                                                                          \
    X(E_MEMORY, "out of memory")

typedef enum lb_status {
#define X(id, text) LB_##id,
    LB_STATUS_LIST(X)
#undef X
        LB_STATUS_COUNT
} lb_status;

/** What went wrong and where. Filled by any fallible function that is given one; may be NULL everywhere. */
typedef struct lb_error {
    lb_status status;
    char place[256];   /* file, tensor, option or row; "" if none */
    char message[512]; /* one line, no newline */
} lb_error;

/** Short text of a status ("operand shapes do not agree"); never NULL. threads pure */
const char *lb_status_text(lb_status status);

/** Version of the library that is linked, "major.minor.patch"; compare with LB_VERSION of the header. threads pure */
const char *lb_version(void);

/** Fill *err (if not NULL) and return status. Text is cut to fit and control characters become '?'. threads pure */
lb_status lb_fail(lb_error *err, lb_status status, const char *place, const char *format, ...) LB_PRINTF(4, 5);

/** Name among names[count] nearest to name by edit distance; NULL if nothing is near. Serves "did you mean". threads pure */
const char *lb_nearest_name(const char *name, const char *const *names, size_t count);

/** Random 64-bit word number `index` of stream `stream` of seed `seed`: Philox4x32-10, so any word can be had alone.
 *  accuracy bit-exact; the same on every machine
 *  threads  pure
 *  source   philox-2011 */
uint64_t lb_random_u64(uint64_t seed, uint32_t stream, uint64_t index);

/** Philox4x32-10 itself: out[4] from counter[4] and key[2]. threads pure. source philox-2011 */
void lb_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#ifdef __cplusplus
}
#endif
#endif
