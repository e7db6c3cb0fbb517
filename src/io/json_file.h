/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: a file of JSON that a user wrote: a kernel, a unit, a contract, lists of what is known. */
#ifndef LB_IO_JSON_FILE_H
#define LB_IO_JSON_FILE_H

#include "lastbit/base.h"

#include <jansson.h>

/** errors LB_E_FILE, with the line: it cannot be opened, is larger than 16 MiB, is no JSON, names a key twice. memory json_decref */
lb_status lb_json_file(const char *path, json_t **out, lb_error *err);

#endif
