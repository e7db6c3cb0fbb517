/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Capsules: what they bring along, and that damaged, hostile or outdated ones prove nothing. */
#include "shrink_help.h"

static void a_capsule_brings_its_contract_along(void **state) {
    (void)state;
    char path[220];
    lb_contract *own;
    lb_shrunk *s = lost_tail();
    snprintf(path, sizeof path, "%s/rule.json", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"name\": \"mine\", \"rule\": \"ulp\", \"bound\": {\"max_ulp\": 1}}", f);
    fclose(f);
    lb_error err = {0};
    if (lb_contract_open(path, &own, &err) != LB_OK) fail_msg("%s: %s", err.place, err.message);
    s->check.contract = own;
    write_capsule(s, &(lb_capsule_notes){.contract = path, .command = "lastbit shrink …"});
    unlink(path);
    assert_int_equal(judged(&(lb_check_options){0}, "wrong"), LB_FAIL);
    lb_capsule *c;
    assert_int_equal(lb_capsule_open(&c, capsule_path, NULL), LB_OK);
    EXPECT_STRING(__LINE__, lb_capsule_text(c, "command"), "lastbit shrink …");
    EXPECT_STRING(__LINE__, lb_capsule_check(c)->contract->name, own->name);
    assert_non_null(lb_capsule_text(c, "environment"));
    lb_capsule_close(c);
    lb_contract_close(own);
    lb_shrunk_close(s);
}

static void a_capsule_without_an_output_proves_nothing_by_itself(void **state) {
    (void)state;
    char *good[] = {kernel, NULL};
    lb_shrunk *s = lost_tail();
    s->observed = (lb_mat){0};
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    assert_int_equal(judged(&(lb_check_options){0}, "holds no output"), LB_UNPROVEN);
    assert_int_equal(judged(&(lb_check_options){.argv = good}, "exact"), LB_PASS);
}

/* The file again with one key or one tensor changed. */
static void rewrite(const char *key, const char *value, const char *tensor, lb_tensor with) {
    lb_file *f;
    const char *keys[64];
    lb_tensor tensors[8];
    size_t key_count = 0, count = 0;
    bool found = false;
    assert_int_equal(lb_file_open(&f, capsule_path, NULL, NULL), LB_OK);
    for (size_t i = 0; lb_file_metadata_key(f, i); i++) {
        const char *k = lb_file_metadata_key(f, i);
        const bool is_it = key && strcmp(k, key) == 0;
        found = found || is_it;
        if (is_it && !value) continue;
        keys[key_count++] = k;
        keys[key_count++] = is_it ? value : lb_file_metadata(f, k);
    }
    if (key && !found && value) {
        keys[key_count++] = key;
        keys[key_count++] = value;
    }
    for (size_t i = 0; i < lb_file_count(f); i++) {
        const lb_tensor *t = lb_file_tensor(f, i);
        const bool is_it = tensor && strcmp(t->name, tensor) == 0;
        if (is_it && !with.name) continue;
        tensors[count++] = is_it ? with : *t;
    }
    assert_int_equal(lb_safetensors_write(other_path, tensors, count, keys, key_count / 2, NULL), LB_OK);
    lb_file_close(f);
}

static void hostile_capsules_are_refused_in_one_line(void **state) {
    (void)state;
    static const uint32_t wide[4];
    const lb_tensor none = {0}, flat = {"a", lb_dtype_find("u16"), 1, {1}, wide, 2},
                    empty = {"a", lb_dtype_find("u16"), 2, {0, 1}, wide, 0}, typed = {"a", lb_dtype_find("f32"), 2, {1, 1}, wide, 4},
                    tall = {"b", lb_dtype_find("u16"), 2, {2, 1}, wide, 4}, large = {"observed", lb_dtype_find("u16"), 2, {1, 2}, wide, 4},
                    larger = {"expected", lb_dtype_find("u16"), 2, {2, 1}, wide, 4};
    const struct {
        int line;
        const char *key, *value, *tensor;
        lb_tensor with;
        const char *words;
    } rows[] = {{__LINE__, "schema", NULL, NULL, none, "no capsule"},
                {__LINE__, "schema", "lastbit.capsule/2", NULL, none, "lastbit.capsule/2"},
                {__LINE__, "op", "conv", NULL, none, "conv"},
                {__LINE__, "op", NULL, NULL, none, "\"op\""},
                {__LINE__, "a_format", "bf17", NULL, none, "a_format"},
                {__LINE__, "out_format", NULL, NULL, none, "out_format"},
                {__LINE__, "tb", "yes", NULL, none, "tb"},
                {__LINE__, "reference", "guess", NULL, none, "reference"},
                {__LINE__, "contract", "m17", NULL, none, "m17"},
                {__LINE__, "contract", "/etc/passwd.json", NULL, none, "contract_json"},
                {__LINE__, "contract", "x.json:1", NULL, none, "contract"},
                {__LINE__, "contract_json", "{", NULL, none, "contract_json"},
                {__LINE__, "contract", NULL, NULL, none, "neither a unit nor a contract"},
                {__LINE__, "unit", "sm_900/none", NULL, none, "sm_900"},
                {__LINE__, NULL, NULL, "a", none, "\"a\""},
                {__LINE__, NULL, NULL, "expected", none, "\"expected\""},
                {__LINE__, NULL, NULL, "a", flat, "matrices"},
                {__LINE__, NULL, NULL, "a", empty, "not empty"},
                {__LINE__, NULL, NULL, "a", typed, "no codes of bf16"},
                {__LINE__, NULL, NULL, "b", tall, "k"},
                {__LINE__, NULL, NULL, "observed", large, "observed"},
                {__LINE__, NULL, NULL, "expected", larger, "expected"}};
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        lb_capsule *c;
        lb_error err = {0};
        rewrite(rows[i].key, rows[i].value, rows[i].tensor, rows[i].with);
        EXPECT_CODE(rows[i].line, lb_capsule_open(&c, other_path, &err), LB_E_FILE);
        if (!strstr(err.message, rows[i].words) || strchr(err.message, '\n'))
            fail_msg("row at %s:%d: %s", __FILE__, rows[i].line, err.message);
        assert_null(c);
    }
}

/* Cut short anywhere, or with any byte of it changed, a capsule is refused or read: never more than that. */
static void damaged_capsules_do_no_harm(void **state) {
    (void)state;
    static char bytes[1 << 16];
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    FILE *f = fopen(capsule_path, "rb");
    assert_non_null(f);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    size_t refused = 0;
    fclose(f);
    for (size_t i = 0; i < 2 * size; i++) {
        lb_capsule *c;
        lb_error err = {0};
        f = fopen(other_path, "wb");
        assert_non_null(f);
        if (i >= size) bytes[i - size] ^= 0x15;
        fwrite(bytes, 1, i < size ? i : size, f);
        if (i >= size) bytes[i - size] ^= 0x15;
        fclose(f);
        const lb_status status = lb_capsule_open(&c, other_path, &err);
        assert_true(status == LB_OK || (status == LB_E_FILE && err.message[0]));
        assert_true(i >= size || status != LB_OK);
        refused += status != LB_OK;
        lb_capsule_close(c);
    }
    assert_true(refused > size);
}

static void other_expectations_are_not_passed_over(void **state) {
    (void)state;
    static const uint16_t two = 0x4000;
    char *good[] = {kernel, NULL};
    lb_shrunk *s = lost_tail();
    write_capsule(s, NULL);
    lb_shrunk_close(s);
    rewrite(NULL, NULL, "expected", (lb_tensor){"expected", lb_dtype_find("u16"), 2, {1, 1}, &two, 2});
    assert_int_equal(rename(other_path, capsule_path), 0);
    assert_int_equal(judged(&(lb_check_options){.argv = good}, "expects 0x4000 at 0, 0, where this lastbit computes 0x3f80"), LB_UNPROVEN);
    assert_int_equal(judged(&(lb_check_options){0}, "expects 0x4000"), LB_FAIL);
}

static void a_unit_of_ones_own_cannot_go_along(void **state) {
    (void)state;
    lb_shrunk *s = lost_tail();
    lb_unit own = sm_90;
    lb_error err;
    own.frac_bits = 22;
    s->check.unit = &own;
    assert_int_equal(lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, NULL, &err), LB_E_ARG);
    assert_int_equal(lb_unit_set(&own, "frac_bits=23", NULL), LB_OK);
    assert_int_equal(lb_capsule_write(capsule_path, &s->check, s->record, &s->observed, NULL, &err), LB_OK); /* its name says it */
    s->check.unit = NULL;
    lb_shrunk_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capsule_brings_its_contract_along),      cmocka_unit_test(a_capsule_without_an_output_proves_nothing_by_itself),
        cmocka_unit_test(hostile_capsules_are_refused_in_one_line), cmocka_unit_test(damaged_capsules_do_no_harm),
        cmocka_unit_test(other_expectations_are_not_passed_over),   cmocka_unit_test(a_unit_of_ones_own_cannot_go_along),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
