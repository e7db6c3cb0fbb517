/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "backends/vulkan/spirv_scan.h"
#include "base/try.h"

#include <stdio.h>
#include <string.h>

/* Numbers of the SPIR-V specification, version 1.6, sections 3.3 (execution models) to 3.42 (instructions). source spirv-1.6 */
enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_VARIABLE = 59,
    OP_ARRAY_LENGTH = 68,
    OP_DECORATE = 71,
    OP_EXECUTION_MODE_ID = 331,
    MODEL_COMPUTE = 5,
    MODE_LOCAL_SIZE = 17,
    CLASS_UNIFORM_CONSTANT = 0,
    DECORATION_BINDING = 33,
    DECORATION_SET = 34
};

static lb_status scan_entry(const uint32_t *at, uint32_t length, const char *place, lb_spirv *out, lb_error *err) {
    if (length < 4 || at[1] != MODEL_COMPUTE) return lb_fail(err, LB_E_FILE, place, "an entry point that is no compute shader");
    if (out->entry[0]) return lb_fail(err, LB_E_FILE, place, "several entry points; one is wanted");
    const size_t room = (length - 3) * sizeof(uint32_t);
    const char *name = (const char *)(at + 3);
    if (!memchr(name, 0, room)) return lb_fail(err, LB_E_FILE, place, "an entry point's name does not end");
    if (!name[0] || strlen(name) >= sizeof out->entry) return lb_fail(err, LB_E_FILE, place, "an entry point's name is empty or too long");
    snprintf(out->entry, sizeof out->entry, "%s", name);
    return LB_OK;
}

static lb_status scan_one(const uint32_t *at, uint32_t op, uint32_t length, const char *place, lb_spirv *out, lb_error *err) {
    switch (op) {
    case OP_ENTRY_POINT: return scan_entry(at, length, place, out, err);
    case OP_EXECUTION_MODE:
        if (length >= 6 && at[2] == MODE_LOCAL_SIZE) memcpy(out->local, at + 3, sizeof out->local);
        return LB_OK;
    case OP_EXECUTION_MODE_ID: return lb_fail(err, LB_E_FILE, place, "local sizes by constant id are not run; write local_size_x = …");
    case OP_ARRAY_LENGTH: out->uses_length = true; return LB_OK;
    case OP_VARIABLE:
        if (length >= 4 && at[3] == CLASS_UNIFORM_CONSTANT)
            return lb_fail(err, LB_E_FILE, place, "images and samplers are not run; buffers are");
        return LB_OK;
    case OP_DECORATE:
        if (length >= 4 && at[2] == DECORATION_SET && at[3] != 0)
            return lb_fail(err, LB_E_FILE, place, "a buffer of set %u; all are in set 0", at[3]);
        if (length >= 4 && at[2] == DECORATION_BINDING && at[3] >= out->bindings) out->bindings = at[3] < UINT32_MAX ? at[3] + 1 : at[3];
        return LB_OK;
    default: return LB_OK;
    }
}

lb_status lb_spirv_scan(const uint32_t *words, size_t count, const char *place, lb_spirv *out, lb_error *err) {
    memset(out, 0, sizeof *out);
    if (count < HEADER_WORDS || words[0] != MAGIC) return lb_fail(err, LB_E_FILE, place, "this is no SPIR-V");
    for (size_t i = HEADER_WORDS; i < count;) {
        const uint32_t length = words[i] >> 16;
        if (length == 0 || length > count - i) return lb_fail(err, LB_E_FILE, place, "SPIR-V is cut off at word %zu", i);
        LB_TRY(scan_one(words + i, words[i] & 0xffffu, length, place, out, err));
        i += length;
    }
    if (!out->entry[0]) return lb_fail(err, LB_E_FILE, place, "no compute entry point");
    for (size_t i = 0; i < 3; i++)
        if (out->local[i] == 0) return lb_fail(err, LB_E_FILE, place, "no local sizes; write layout(local_size_x = …) in;");
    return LB_OK;
}
