/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program that lastbit can judge: lastbit check A B --in bf16 --contract m16-tc -- ./my_kernel
 * It is called with a folder. case.json says the formats and whether B is stored transposed; the operands lie in in.safetensors
 * (a [m][k]; b [k][n], or [n][k] where "tb"), and d [m][n] goes to out.safetensors. Here liblastbit reads and writes tensors and
 * jansson reads JSON; any other libraries will do.
 * A fault can be asked for, to see what the verdict looks like: --lose-tail --nan --hang --crash --silent --garbage */
#include <lastbit/lastbit.h>

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int die(const lb_error *err) {
    fprintf(stderr, "my_kernel: %s: %s\n", err->place, err->message);
    return 1;
}

/* The kernel under test: f32 products, summed in f32, in order, rounded to the output format once. */
static void gemm(const lb_mat *a, const lb_mat *b, lb_mat *d, size_t k) {
    for (size_t i = 0; i < d->rows; i++) {
        for (size_t j = 0; j < d->cols; j++) {
            float sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += (float)lb_to_double(a->format, lb_mat_code(a, i, p)) * (float)lb_to_double(b->format, lb_mat_code(b, p, j));
            lb_store_code(lb_mat_at(d, i, j), d->format->bytes, lb_from_double(d->format, (double)sum));
        }
    }
}

/* What case.json says. */
typedef struct product {
    const lb_format *a, *b, *out;
    bool transposed;
} product;

static bool read_case(const char *folder, product *x) {
    char path[1024];
    const char *a, *b, *out;
    int transposed;
    snprintf(path, sizeof path, "%s/case.json", folder);
    json_t *j = json_load_file(path, 0, NULL);
    const bool ok =
        !json_object_get(j, "acc") && json_unpack(j, "{s:s, s:s, s:s, s:b}", "in", &a, "in_b", &b, "out", &out, "tb", &transposed) == 0;
    if (ok) *x = (product){lb_format_find(a), lb_format_find(b), lb_format_find(out), transposed != 0};
    json_decref(j);
    return ok && x->a && x->b && x->out;
}

static const char *fault = "";

static bool wanted(const char *name) {
    return strcmp(fault, name) == 0;
}

static int run(const char *folder, lb_operand *a, lb_operand *b, lb_error *err) {
    char path[1024];
    product x;
    if (!read_case(folder, &x))
        return die(&(lb_error){.place = "case.json", .message = "unreadable, or with a C, which is not added here"});
    snprintf(path, sizeof path, "%s/in.safetensors:a", folder);
    if (lb_operand_open(a, path, x.a, NULL, err) != LB_OK) return die(err);
    snprintf(path, sizeof path, "%s/in.safetensors:b", folder);
    if (lb_operand_open(b, path, x.b, NULL, err) != LB_OK) return die(err);
    const lb_mat b_kn = x.transposed ? lb_mat_transposed(b->mat) : b->mat;
    const size_t m = a->mat.rows, n = b_kn.cols, k = a->mat.cols;
    void *codes = calloc(m * n + 1, (size_t)x.out->bytes);
    if (!codes) return die(&(lb_error){.place = "d", .message = "no memory"});
    lb_mat d = lb_mat_of(x.out, codes, m, n);
    gemm(&a->mat, &b_kn, &d, wanted("--lose-tail") ? k / 16 * 16 : k);
    if (wanted("--nan")) lb_store_code(codes, x.out->bytes, lb_from_double(x.out, (double)NAN));
    snprintf(path, sizeof path, "%s/out.safetensors", folder);
    const lb_status s = lb_mat_write(path, "d", &d, err);
    free(codes);
    return s == LB_OK ? 0 : die(err);
}

int main(int argc, char **argv) {
    lb_error err = {0};
    lb_operand a = {0}, b = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: lastbit check A B --in bf16 --contract m16-tc -- my_kernel [FAULT]\n");
        return 2;
    }
    const char *folder = argv[argc - 1];
    if (argc > 2) fault = argv[1];
    if (wanted("--hang")) pause();
    if (wanted("--crash")) raise(SIGSEGV);
    if (wanted("--silent")) return 0;
    if (wanted("--garbage")) {
        char path[1024];
        snprintf(path, sizeof path, "%s/out.safetensors", folder);
        FILE *f = fopen(path, "w");
        return f && fputs("this is no tensor", f) >= 0 && fclose(f) == 0 ? 0 : 1;
    }
    const int code = run(folder, &a, &b, &err);
    lb_operand_close(&a);
    lb_operand_close(&b);
    return code;
}
