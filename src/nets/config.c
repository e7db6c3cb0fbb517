/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "nets/config.h"
#include "base/try.h"
#include "io/json_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first of the names that is there. */
static lb_status number(const json_t *root, const char *const *names, const char *path, double *out, lb_error *err) {
    *out = 0;
    for (; *names; names++) {
        const json_t *j = json_object_get(root, *names);
        if (!j || json_is_null(j)) continue;
        *out = json_number_value(j);
        return json_is_number(j) && *out > 0 && *out < 1e12 ? LB_OK : lb_fail(err, LB_E_FILE, path, "\"%s\" is no number above 0", *names);
    }
    return LB_OK;
}

static lb_status read_all(const json_t *root, const char *path, lb_config *out, lb_error *err) {
    double heads, context;
    LB_TRY(number(root, (const char *const[]){"num_attention_heads", "n_head", NULL}, path, &heads, err));
    LB_TRY(number(root, (const char *const[]){"max_position_embeddings", "n_positions", NULL}, path, &context, err));
    LB_TRY(number(root, (const char *const[]){"rope_theta", NULL}, path, &out->theta, err));
    LB_TRY(number(root, (const char *const[]){"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", NULL}, path, &out->eps, err));
    out->heads = (size_t)heads;
    out->context = (size_t)context;
    return LB_OK;
}

lb_status lb_config_beside(const char *model, lb_config *out, lb_error *err) {
    const char *slash = strrchr(model, '/');
    char path[4200];
    *out = (lb_config){0};
    if (snprintf(path, sizeof path, "%.*sconfig.json", slash ? (int)(slash - model) + 1 : 0, model) >= (int)sizeof path) return LB_OK;
    if (access(path, F_OK) != 0) return LB_OK;
    json_t *root;
    LB_TRY(lb_json_file(path, &root, err));
    const lb_status s = read_all(root, path, out, err);
    json_decref(root);
    return s;
}
