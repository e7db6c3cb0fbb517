/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* plugin:FILE.so: the user's shared object as a device; include/lastbit/plugin.h is what it exports. It is given copies of the arrays,
 * each between guard zones. */
#include "lastbit/plugin.h"
#include "backends/device.h"
#include "backends/guard.h"
#include "base/try.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = LB_OP_INPUTS + LB_OP_OUTPUTS };

/* What a plugin has to know of lb_plugin: up to run. */
static const size_t least_size = offsetof(lb_plugin, run) + sizeof(void (*)(void));

typedef struct plugin {
    lb_device base;
    void *library, *state;
    lb_plugin is; /* what it exports, zeros past what it knows */
    bool opened;
} plugin;

/* One case as the plugin sees it. */
typedef struct call {
    lb_plugin_call is;
    lb_plugin_array arrays[ARRAYS]; /* inputs, then outputs */
    lb_plugin_param params[LB_OP_PARAMS];
    lb_job_buffer buffers[ARRAYS]; /* the caller's side */
    unsigned char *images[ARRAYS];
    char message[300];
} call;

static void plugin_close(lb_device *d) {
    plugin *p = (plugin *)d;
    if (p->opened && p->is.close) p->is.close(p->state);
    if (p->library) dlclose(p->library);
    free(p);
}

static lb_status read_exports(plugin *p, const char *path, lb_error *err) {
    const void *symbol = dlsym(p->library, "lastbit_plugin");
    lb_plugin_entry *entry;
    if (!symbol)
        return lb_fail(err, LB_E_FILE, path, "exports no `lastbit_plugin`: see lastbit/plugin.h, and compile without hidden visibility");
    memcpy(&entry, &symbol, sizeof entry);
    const lb_plugin *exported = entry();
    if (!exported) return lb_fail(err, LB_E_UNAVAILABLE, path, "lastbit_plugin() returns nothing");
    if (exported->struct_size < least_size)
        return lb_fail(err, LB_E_FILE, path, "struct_size is %zu; set it to sizeof(lb_plugin), which is %zu", exported->struct_size,
                       sizeof(lb_plugin));
    memcpy(&p->is, exported, exported->struct_size < sizeof p->is ? exported->struct_size : sizeof p->is);
    if (p->is.version != LB_PLUGIN_VERSION)
        return lb_fail(err, LB_E_FILE, path, "is of plugin version %u; this lastbit speaks %d", p->is.version, LB_PLUGIN_VERSION);
    if (!p->is.run) return lb_fail(err, LB_E_FILE, path, "has no run function");
    snprintf(p->base.detail, sizeof p->base.detail, "%s", p->is.detail ? p->is.detail : "plugin");
    return LB_OK;
}

static lb_status load(plugin *p, const char *path, lb_error *err) {
    char local[600];
    const char *why = NULL;
    snprintf(local, sizeof local, "%s%s", strchr(path, '/') ? "" : "./", path); /* a bare name would be sought in the system's folders */
    p->library = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!p->library) return lb_fail(err, LB_E_FILE, path, "cannot be loaded: %s", dlerror());
    LB_TRY(read_exports(p, path, err));
    if (p->is.open && p->is.open(&p->state, &why) != 0)
        return lb_fail(err, LB_E_UNAVAILABLE, path, "the plugin does not open: %s", why ? why : "it says no reason");
    p->opened = true;
    return LB_OK;
}

static lb_status plugin_open(lb_device **out, const char *which, lb_error *err) {
    plugin *p = calloc(1, sizeof *p);
    if (!p) return lb_fail(err, LB_E_MEMORY, which, "no memory");
    const lb_status s = load(p, which, err);
    if (s == LB_OK)
        *out = &p->base;
    else
        plugin_close(&p->base);
    return s;
}

/* ---- a case ----------------------------------------------------------------------------------------------------------------------- */

static void begin(call *c, const char *op, const lb_format *format) {
    *c = (call){.is = {.struct_size = sizeof c->is,
                       .op = op,
                       .format = format->name,
                       .in = c->arrays,
                       .params = c->params,
                       .array_size = sizeof c->arrays[0],
                       .param_size = sizeof c->params[0],
                       .message = c->message,
                       .message_size = sizeof c->message}};
}

/* Inputs first; data: a dense copy. */
static void add_array(call *c, const char *name, const lb_array *a, bool output) {
    const size_t at = c->is.in_count + c->is.out_count, bytes = lb_array_count(a) * (size_t)a->format->bytes;
    lb_plugin_array *to = &c->arrays[at];
    *to = (lb_plugin_array){.name = name, .format = a->format->name, .rank = a->rank, .bytes = bytes};
    for (unsigned i = 0; i < 4; i++) to->dims[i] = i < a->rank ? a->dims[i] : 1;
    c->buffers[at] = (lb_job_buffer){.name = name, .data = a->codes, .bytes = bytes, .output = output};
    if (!output) c->is.in_count++;
    if (output && c->is.out_count++ == 0) c->is.out = to;
}

static void add_param(call *c, const char *name, double value, bool whole) {
    c->params[c->is.param_count++] = (lb_plugin_param){.name = name, .value = value, .whole = whole};
}

static void begin_operator(call *c, const lb_op_case *x) {
    begin(c, x->op->name, x->format);
    for (unsigned i = 0; i < x->op->in_count; i++) add_array(c, x->op->in[i].name, &x->in[i], false);
    for (unsigned i = 0; i < x->op->out_count; i++) add_array(c, x->op->out[i].name, &x->out[i], true);
    for (unsigned i = 0; i < x->op->param_count; i++) add_param(c, x->op->params[i].name, x->params[i], x->op->params[i].whole);
}

/* packed: dense copies of the operands, or NULLs where only `can` is asked. */
static void begin_product(call *c, const lb_case *x, void *const packed[3], void *y) {
    static const char *const names[] = {"a", "b", "c"};
    const lb_mat *const operands[] = {&x->a, &x->b, &x->c};
    begin(c, "product", x->out);
    for (size_t i = 0; i < 3; i++)
        if (operands[i]->codes)
            add_array(
                c, names[i],
                &(lb_array){.format = operands[i]->format, .rank = 2, .dims = {operands[i]->rows, operands[i]->cols}, .codes = packed[i]},
                false);
    add_array(c, "d", &(lb_array){.format = x->out, .rank = 2, .dims = {lb_case_m(x), lb_case_n(x)}, .codes = y}, true);
    add_param(c, "m", (double)lb_case_m(x), true);
    add_param(c, "n", (double)lb_case_n(x), true);
    add_param(c, "k", (double)lb_case_k(x), true);
    add_param(c, "tb", x->b_transposed, true);
}

static bool can(const lb_device *d, const call *c, const char **why_not) {
    const plugin *p = (const plugin *)d;
    const char *why = NULL;
    if (!p->is.can || p->is.can(p->state, &c->is, &why)) return true;
    *why_not = why ? why : "the plugin refuses the case";
    return false;
}

static lb_status run_between_guards(plugin *p, call *c, lb_error *err) {
    const size_t count = c->is.in_count + c->is.out_count;
    for (size_t i = 0; i < count; i++) {
        LB_TRY(lb_guard_make(&c->buffers[i], LB_LEAST_GUARD, &c->images[i], p->base.name, err));
        c->arrays[i].data = c->images[i] + LB_LEAST_GUARD;
    }
    const int failed = p->is.run(p->state, &c->is);
    c->message[sizeof c->message - 1] = 0;
    for (size_t i = 0; i < count; i++) lb_guard_take(&c->buffers[i], LB_LEAST_GUARD, c->images[i], &p->base);
    return failed ? lb_fail(err, LB_E_DEVICE, p->base.name, "run returned %d%s%s", failed, c->message[0] ? ": " : "", c->message) : LB_OK;
}

static lb_status run(lb_device *d, call *c, lb_error *err) {
    const lb_status s = run_between_guards((plugin *)d, c, err);
    for (size_t i = 0; i < ARRAYS; i++) free(c->images[i]);
    return s;
}

static bool plugin_can_op(const lb_device *d, const lb_op_case *x, const char **why_not) {
    call c;
    begin_operator(&c, x);
    return can(d, &c, why_not);
}

static lb_status plugin_run_op(lb_device *d, lb_op_case *x, double timeout_seconds, lb_error *err) {
    call c;
    (void)timeout_seconds; /* whoever runs us in a process of its own ends that process */
    begin_operator(&c, x);
    return run(d, &c, err);
}

static bool plugin_can(const lb_device *d, const lb_case *x, const char **why_not) {
    static void *const none[3] = {NULL};
    call c;
    begin_product(&c, x, none, NULL);
    return can(d, &c, why_not);
}

static lb_status plugin_run(lb_device *d, const lb_case *x, void *y, double timeout_seconds, lb_error *err) {
    const lb_mat *const operands[] = {&x->a, &x->b, &x->c};
    void *packed[3] = {NULL};
    size_t bytes;
    lb_status s = LB_OK;
    (void)timeout_seconds;
    for (size_t i = 0; i < 3 && s == LB_OK; i++)
        if (operands[i]->codes) s = lb_pack_mat(operands[i], &packed[i], &bytes, err);
    if (s == LB_OK) {
        call c;
        begin_product(&c, x, packed, y);
        s = run(d, &c, err);
    }
    for (size_t i = 0; i < 3; i++) free(packed[i]);
    return s;
}

const lb_backend lb_backend_plugin = {.name = "plugin",
                                      .summary =
                                          "plugin:FILE.so, your shared object behind lastbit/plugin.h (docs/howto/write-a-plugin.md)",
                                      .open = plugin_open,
                                      .can = plugin_can,
                                      .run = plugin_run,
                                      .can_op = plugin_can_op,
                                      .run_op = plugin_run_op,
                                      .close = plugin_close};
