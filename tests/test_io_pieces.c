/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A safetensors file that is written in pieces is the one that is written at once; until the end it is not there. */
#include "test.h"

#include "lastbit/io.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/lastbit-test-pieces.XXXXXX", whole[64], pieces[64];

static int start(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(whole, sizeof whole, "%s/whole.safetensors", folder);
    snprintf(pieces, sizeof pieces, "%s/pieces.safetensors", folder);
    return 0;
}

static int end(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static size_t read_all(const char *path, char *bytes, size_t size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, size, f);
    fclose(f);
    return n;
}

static size_t files(void) {
    char command[128], text[16] = "";
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *f = popen(command, "r");
    assert_non_null(fgets(text, sizeof text, f));
    pclose(f);
    return strtoul(text, NULL, 10);
}

static uint8_t narrow[5] = {1, 2, 3, 4, 5};
static uint32_t wide[3] = {6, 7, 8};
static uint16_t zeros[4];
static const char *const metadata[] = {"key", "value"};

static void tensors_of(lb_tensor t[3]) {
    t[0] = (lb_tensor){"n", lb_dtype_find("u8"), 1, {5}, narrow, sizeof narrow};
    t[1] = (lb_tensor){"w", lb_dtype_find("u32"), 1, {3}, wide, sizeof wide};
    t[2] = (lb_tensor){"z", lb_dtype_find("u16"), 2, {2, 2}, zeros, sizeof zeros};
}

static void pieces_in_any_order_make_the_same_file(void **state) {
    (void)state;
    char want[1024], got[1024];
    lb_tensor t[3];
    lb_writer *w;
    tensors_of(t);
    assert_int_equal(lb_safetensors_write(whole, t, 3, metadata, 1, NULL), LB_OK);
    for (int i = 0; i < 3; i++) t[i].data = NULL;
    assert_int_equal(lb_safetensors_begin(&w, pieces, t, 3, metadata, 1, NULL), LB_OK);
    assert_int_equal(lb_safetensors_put(w, 1, 8, &wide[2], 4, NULL), LB_OK);
    assert_int_equal(lb_safetensors_put(w, 0, 0, narrow, 5, NULL), LB_OK);
    assert_int_equal(lb_safetensors_put(w, 1, 0, wide, 8, NULL), LB_OK); /* z is never put: zeros */
    assert_int_equal(access(pieces, F_OK), -1);
    assert_int_equal(lb_safetensors_end(w, true, NULL), LB_OK);
    const size_t n = read_all(whole, want, sizeof want);
    assert_int_equal(read_all(pieces, got, sizeof got), n);
    assert_memory_equal(got, want, n);
    assert_int_equal(files(), 2);
    unlink(pieces);
}

static void what_is_given_up_leaves_no_trace(void **state) {
    (void)state;
    lb_tensor t[3];
    lb_writer *w;
    lb_error err = {0};
    tensors_of(t);
    const size_t before = files();
    assert_int_equal(lb_safetensors_begin(&w, pieces, t, 3, metadata, 1, NULL), LB_OK);
    assert_int_equal(lb_safetensors_put(w, 0, 0, narrow, 5, NULL), LB_OK);
    assert_int_equal(lb_safetensors_put(w, 0, 1, narrow, 5, &err), LB_E_ARG); /* beyond its end */
    assert_int_equal(lb_safetensors_put(w, 0, SIZE_MAX, narrow, 2, &err), LB_E_ARG);
    assert_int_equal(lb_safetensors_put(w, 3, 0, narrow, 1, &err), LB_E_ARG);
    assert_int_equal(lb_safetensors_end(w, false, NULL), LB_OK);
    assert_int_equal(files(), before);
    assert_int_equal(lb_safetensors_end(NULL, true, NULL), LB_OK);
    t[0].bytes = 4; /* not what its shape says */
    assert_int_equal(lb_safetensors_begin(&w, pieces, t, 3, metadata, 1, &err), LB_E_ARG);
    assert_int_equal(lb_safetensors_begin(&w, "/no/such/folder/x", t + 1, 2, metadata, 1, &err), LB_E_FILE);
    assert_null(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_in_any_order_make_the_same_file),
        cmocka_unit_test(what_is_given_up_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, start, end);
}
