/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* For tests of shrink and of its capsules: a product, what it is judged by, and a capsule in a folder of its own. */
#ifndef LB_SHRINK_HELP_H
#define LB_SHRINK_HELP_H

#include "test.h"

#include "lastbit/shrink.h"

#include <stdlib.h>
#include <unistd.h>

enum { M = 12, N = 10, K = 40 };

#define SM_90 "sm_90/mma.m16n8k16.f32.bf16.bf16.f32"

static char folder[] = "/tmp/lastbit-shrink.XXXXXX", capsule_path[200], other_path[200];
static char kernel[] = LB_BINARY_DIR "/examples/my_kernel";
static uint16_t a[M * K], b[K * N];
static lb_contract *m16;
static lb_unit sm_90;

static inline int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(capsule_path, sizeof capsule_path, "%s/c.safetensors", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    lb_mat ma = lb_mat_of(lb_format_row(LB_BF16), a, M, K), mb = lb_mat_of(lb_format_row(LB_BF16), b, K, N);
    lb_draw_mat(&ma, LB_DIST_NORMAL, 9, 1);
    lb_draw_mat(&mb, LB_DIST_NORMAL, 9, 2);
    return lb_contract_open("m16-tc", &m16, NULL) == LB_OK && lb_unit_find(SM_90, &sm_90, NULL) == LB_OK ? 0 : -1;
}

static inline int tear_down(void **state) {
    (void)state;
    lb_contract_close(m16);
    unlink(capsule_path);
    unlink(other_path);
    return rmdir(folder);
}

static inline lb_check_options check_by_contract(void) {
    const lb_format *bf16 = lb_format_row(LB_BF16);
    return (lb_check_options){.x = {.op = "matmul", .a = lb_mat_of(bf16, a, M, K), .b = lb_mat_of(bf16, b, K, N), .out = bf16},
                              .contract = m16,
                              .timeout_seconds = 20};
}

static inline lb_shrunk *shrunk(const lb_check_options *o) {
    lb_shrunk *s;
    lb_error err = {0};
    if (lb_shrink(&(lb_shrink_options){.check = o}, &s, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    assert_int_equal(s->record->verdict, LB_FAIL);
    assert_int_equal(lb_failure_of(s->record), s->failure);
    return s;
}

static inline lb_shrunk *lost_tail(void) {
    static char lose[] = "--lose-tail", *bad[] = {kernel, lose, NULL};
    static lb_check_options o;
    o = check_by_contract();
    o.argv = bad;
    return shrunk(&o);
}

static inline lb_verdict judged(const lb_check_options *how, const char *words) {
    lb_capsule *c;
    lb_record *r;
    lb_error err = {0};
    if (lb_capsule_open(&c, capsule_path, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    if (lb_capsule_judge(c, how, &r, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    const lb_verdict v = r->verdict;
    if (!strstr(r->reason, words)) fail_msg("%s: no \"%s\"", r->reason, words);
    lb_record_close(r);
    lb_capsule_close(c);
    return v;
}

static inline void write_capsule(const lb_shrunk *s, const lb_capsule_notes *notes) {
    lb_error err = {0};
    if (lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, notes, &err) != LB_OK)
        fail_msg("%s: %s", err.place, err.message);
}

#endif
