/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* lastbit verify: a whole network, against a recorded answer or in two arithmetics. */
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- input -------------------------------------------------------------------------------------------------------------------- */

static lb_status add_token(verify_input *in, const char *word, const char *place, lb_error *err) {
    char *end;
    const long id = strtol(word, &end, 10);
    int32_t *grown = in->count % 256 ? in->tokens : realloc(in->tokens, (in->count + 256) * sizeof *grown);
    if (!grown) return lb_fail(err, LB_E_MEMORY, place, "out of memory");
    in->tokens = grown;
    if (end == word || *end || id < 0 || id > INT32_MAX) return lb_fail(err, LB_E_ARG, place, "\"%.40s\" is no token", word);
    in->tokens[in->count++] = (int32_t)id;
    return LB_OK;
}

/* Numbers with commas or white space between them; text is cut up. */
static lb_status read_tokens(verify_input *in, char *text, const char *place, lb_error *err) {
    lb_status s = LB_OK;
    for (char *word = strtok(text, ", \t\r\n[]"); s == LB_OK && word; word = strtok(NULL, ", \t\r\n[]"))
        s = add_token(in, word, place, err);
    if (s == LB_OK && !in->count) s = lb_fail(err, LB_E_ARG, place, "no tokens");
    return s;
}

static lb_status read_token_file(verify_input *in, const char *path, lb_error *err) {
    enum { MOST = 16 << 20 };
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = f ? malloc(MOST + 1) : NULL;
    if (!f) return lb_fail(err, LB_E_FILE, path, "cannot be opened");
    const size_t size = text ? fread(text, 1, MOST + 1, f) : 0;
    if (f != stdin) fclose(f);
    if (!text) return lb_fail(err, LB_E_MEMORY, path, "out of memory");
    lb_status s = size > MOST             ? lb_fail(err, LB_E_FILE, path, "larger than 16 MiB")
                  : memchr(text, 0, size) ? lb_fail(err, LB_E_FILE, path, "it holds a zero byte: no text of numbers")
                                          : LB_OK;
    if (s == LB_OK) {
        text[size] = 0;
        s = read_tokens(in, text, path, err);
    }
    free(text);
    return s;
}

/* A tensor of a reference: rows of its last dimension, as doubles. */
static lb_status read_rows(const lb_file *f, const char *name, double **out, size_t *rows, size_t *cols, lb_error *err) {
    const lb_tensor *t = lb_file_find(f, name);
    if (!t) return lb_fail(err, LB_E_FILE, lb_file_path(f), "it has no tensor \"%s\"", name);
    const size_t n = lb_tensor_count(t);
    *cols = t->rank ? t->shape[t->rank - 1] : 1;
    *rows = *cols ? n / *cols : 0;
    if (!n) return lb_fail(err, LB_E_FILE, lb_file_path(f), "tensor \"%s\" is empty", name);
    float *values = malloc(n * sizeof *values);
    double *d = *out = malloc(n * sizeof *d);
    lb_status s = values && d ? LB_OK : lb_fail(err, LB_E_MEMORY, name, "out of memory");
    if (s == LB_OK && strcmp(t->dtype->name, "i64") == 0) {
        for (size_t i = 0; i < n; i++) d[i] = (double)((const int64_t *)t->data)[i];
    } else if (s == LB_OK) {
        s = lb_tensor_values(t, 0, n, values, err);
        for (size_t i = 0; s == LB_OK && i < n; i++) d[i] = (double)values[i];
    }
    free(values);
    return s;
}

static lb_status take_reference(verify_input *in, const char *path, const lb_net_about *about, lb_error *err) {
    size_t rows, cols;
    lb_status s = lb_file_open(&in->file, path, NULL, err);
    if (s == LB_OK) s = read_rows(in->file, "input", &in->values, &rows, &cols, err);
    if (s == LB_OK && about->takes_tokens) {
        in->count = rows * cols;
        in->tokens = malloc(in->count * sizeof *in->tokens);
        if (!in->tokens) return lb_fail(err, LB_E_MEMORY, path, "out of memory");
        for (size_t i = 0; i < in->count; i++) {
            if (in->values[i] != floor(in->values[i]) || !(fabs(in->values[i]) <= INT32_MAX))
                return lb_fail(err, LB_E_FILE, path, "tensor \"input\": element %zu is no token", i);
            in->tokens[i] = (int32_t)in->values[i];
        }
    } else if (s == LB_OK) {
        in->count = rows;
        if (cols != about->in_cols)
            return lb_fail(err, LB_E_SHAPE, path, "tensor \"input\" has rows of %zu numbers; the network takes %zu", cols, about->in_cols);
    }
    if (s == LB_OK) s = read_rows(in->file, "output", &in->output, &in->output_rows, &cols, err);
    if (s == LB_OK && (cols != about->out_cols || (in->output_rows != in->count && in->output_rows != 1)))
        s = lb_fail(err, LB_E_SHAPE, path, "tensor \"output\" is [%zu, %zu]; the network gives [%zu, %zu] (or its last row alone)",
                    in->output_rows, cols, in->count, about->out_cols);
    return s;
}

static lb_status draw_values(verify_input *in, const verify_args *a, const lb_net_about *about, lb_error *err) {
    const lb_format *f = lb_format_row(LB_F32);
    in->count = a->rows ? (size_t)a->rows : 4;
    if (about->takes_tokens) {
        in->tokens = malloc(in->count * sizeof *in->tokens);
        for (size_t i = 0; in->tokens && i < in->count; i++)
            in->tokens[i] = (int32_t)(lb_random_u64(a->sampler.seed, 1, i) % (about->out_cols ? about->out_cols : 1));
    } else {
        in->values = malloc(in->count * about->in_cols * sizeof *in->values);
        for (size_t i = 0; in->values && i < in->count * about->in_cols; i++)
            in->values[i] = lb_to_double(f, lb_draw(f, LB_DIST_NORMAL, a->sampler.seed, 1, i));
    }
    return in->tokens || in->values ? LB_OK : lb_fail(err, LB_E_MEMORY, "input", "out of memory");
}

static lb_status take_input(verify_input *in, const verify_args *a, const lb_net_about *about, lb_error *err) {
    if ((a->tokens || a->token_file) && !about->takes_tokens)
        return lb_fail(err, LB_E_ARG, "--tokens", "a network of kind %s takes no tokens", about->kind);
    if (a->reference) return take_reference(in, a->reference, about, err);
    if (a->token_file) return read_token_file(in, a->token_file, err);
    if (!a->tokens) return draw_values(in, a, about, err);
    char *text = strdup(a->tokens);
    const lb_status s = text ? read_tokens(in, text, "--tokens", err) : lb_fail(err, LB_E_MEMORY, "", "out of memory");
    free(text);
    return s;
}

static void free_input(verify_input *in) {
    free(in->tokens);
    free(in->values);
    free(in->output);
    lb_file_close(in->file);
}

/* ---- running ------------------------------------------------------------------------------------------------------------------- */

static lb_net_input input_of(const verify_input *in, const lb_net_about *about) {
    return (lb_net_input){
        .tokens = about->takes_tokens ? in->tokens : NULL, .values = about->takes_tokens ? NULL : in->values, .rows = in->count};
}

/* Against the recorded output of a reference file. */
static lb_status against_file(const verify_args *a, const lb_net *n, const lb_arith *arith, const verify_input *in, lb_record **out,
                              lb_error *err) {
    const lb_net_about about = lb_net_describe(n);
    const lb_net_input x = input_of(in, &about);
    lb_net_run *r = NULL;
    double *y = malloc(in->count * about.out_cols * sizeof *y);
    lb_status s = y ? lb_net_run_open(&r, n, arith, err) : lb_fail(err, LB_E_MEMORY, "output", "out of memory");
    if (s == LB_OK) s = lb_net_run_step(r, &x, y, err);
    if (s == LB_OK)
        s = verify_grade(a, n, lb_arith_text(arith), in->file ? lb_file_path(in->file) : "",
                         y + (in->count - in->output_rows) * about.out_cols, in->output, in->output_rows, out, err);
    lb_net_run_close(r);
    free(y);
    return s;
}

/* Every operator's output of one arithmetic, as a file that --arith trace:FILE reads. */
static lb_status dump(const verify_args *a, const lb_net *n, const lb_arith *arith, const verify_input *in, lb_error *err) {
    const lb_net_about about = lb_net_describe(n);
    const lb_net_input x = input_of(in, &about);
    lb_net_run *r = NULL;
    size_t count = 0, rows, cols;
    const char *name;
    double *y = malloc(in->count * about.out_cols * sizeof *y);
    lb_tensor *tensors = calloc(about.nodes + 1, sizeof *tensors);
    lb_status s = y && tensors ? lb_net_run_open(&r, n, arith, err) : lb_fail(err, LB_E_MEMORY, "output", "out of memory");
    if (s == LB_OK) s = lb_net_run_step(r, &x, y, err);
    for (const double *v; s == LB_OK && (v = lb_net_run_value(r, count, &name, &rows, &cols)); count++) {
        float *f = malloc(rows * cols * sizeof *f);
        tensors[count] = (lb_tensor){
            .name = name, .dtype = lb_dtype_find("f32"), .rank = 2, .shape = {rows, cols}, .data = f, .bytes = rows * cols * sizeof *f};
        if (!f) s = lb_fail(err, LB_E_MEMORY, name, "out of memory");
        for (size_t i = 0; f && i < rows * cols; i++) f[i] = (float)v[i];
    }
    if (s == LB_OK) s = lb_safetensors_write(a->dump, tensors, count, NULL, 0, err);
    for (size_t i = 0; tensors && i <= count && i < about.nodes; i++) free((void *)(uintptr_t)tensors[i].data);
    free(tensors);
    free(y);
    lb_net_run_close(r);
    return s;
}

static lb_status generate(const verify_args *a, const lb_net *n, const lb_arith *arith, const verify_input *in, lb_error *err) {
    const lb_net_about about = lb_net_describe(n);
    lb_net_input x = input_of(in, &about);
    lb_net_run *r = NULL;
    int32_t token = 0;
    if (!about.grows) return lb_fail(err, LB_E_ARG, "--generate", "a network of kind %s writes no text", about.kind);
    double *y = malloc(in->count * about.out_cols * sizeof *y);
    lb_status s = y ? lb_net_run_open(&r, n, arith, err) : lb_fail(err, LB_E_MEMORY, "output", "out of memory");
    for (uint64_t i = 0; s == LB_OK && i < a->generate; i++) {
        s = lb_net_run_step(r, &x, y, err);
        if (s == LB_OK) s = lb_sample_token(&a->sampler, y + (x.rows - 1) * about.out_cols, about.out_cols, i, &token, err);
        if (s == LB_OK) printf("%s%d", i ? "," : "", token);
        fflush(stdout);
        x = (lb_net_input){.tokens = &token, .rows = 1};
    }
    if (s == LB_OK) puts("");
    lb_net_run_close(r);
    free(y);
    return s;
}

static lb_status chunks(const verify_args *a, const lb_net *n, const lb_arith *arith, const lb_net_input *x, lb_record **out,
                        lb_error *err) {
    lb_net_parting p;
    lb_status s = lb_net_chunks(n, arith, x, (size_t)a->chunk, &p, err);
    if (s == LB_OK) s = lb_record_open(out, err);
    if (s != LB_OK) return s;
    verify_name_record(*out, a, n, lb_arith_text(arith), "the same text in one piece");
    (*out)->verdict = p.compared == 0 ? LB_UNPROVEN : p.same ? LB_PASS : LB_FAIL;
    (*out)->counts.total = (*out)->counts.compared = p.compared;
    (*out)->counts.wrong = p.compared && !p.same;
    (*out)->counts.exact = p.compared - (*out)->counts.wrong;
    if (p.same)
        lb_record_text(&(*out)->reason, "chunks of %llu give the same bits in all %llu numbers", (unsigned long long)a->chunk,
                       (unsigned long long)p.compared);
    else
        lb_record_text(&(*out)->reason, "chunks of %llu part from the whole at %s, row %zu, column %zu: %.9g, and %.9g in one piece",
                       (unsigned long long)a->chunk, p.node, p.row, p.col, p.chunked, p.whole);
    return LB_OK;
}

typedef struct verify_run {
    lb_net *net, *other; /* other: --model-b */
    lb_arith *a, *b[VERIFY_ARITHS];
    lb_record *records[VERIFY_ARITHS];
    lb_net_report *reports[VERIFY_ARITHS];
    size_t count, ran; /* ran: records */
    verify_input in;
} verify_run;

static lb_status run_one(const verify_args *args, verify_run *v, size_t i, lb_error *err) {
    const lb_net_about about = lb_net_describe(v->net);
    const lb_net_input x = input_of(&v->in, &about);
    if (args->chunk) return chunks(args, v->net, v->b[i], &x, &v->records[i], err);
    if (args->reference) return against_file(args, v->net, v->b[i], &v->in, &v->records[i], err);
    const lb_status s =
        lb_net_compare_models(v->net, v->a, v->other ? v->other : v->net, v->b[i], &x, cli_progress, NULL, &v->reports[i], err);
    cli_progress(NULL, "", 1);
    if (s != LB_OK) return s;
    return verify_judge(args, v->net, lb_arith_text(v->b[i]), lb_arith_text(v->a), v->reports[i], &v->records[i], err);
}

static lb_status run_each(const verify_args *args, verify_run *v, lb_error *err) {
    for (size_t i = 0; i < v->count; i++) {
        lb_status s = run_one(args, v, i, err);
        if (s != LB_OK) s = verify_end(args, v->net, lb_arith_text(v->b[i]), lb_arith_text(v->a), s, &v->records[i], err);
        if (s != LB_OK) return s;
        v->ran++;
    }
    return LB_OK;
}

/* A device runs behind a guard: its end is a verdict, not ours. */
static lb_status open_arith(const verify_args *args, lb_arith **out, const char *name, lb_error *err) {
    lb_device *d;
    if (strncmp(name, "on:", 3) != 0) return lb_arith_open(out, name, err);
    const lb_status s = lb_device_open_guarded(&d, name + 3, args->timeout, err);
    return s == LB_OK ? lb_arith_of_device(out, d, err) : s;
}

static lb_status open_all(const verify_args *args, const char *model, verify_run *v, lb_error *err) {
    const lb_net_options options = {.heads = (size_t)args->heads, .drop_unknown = args->drop_unknown};
    lb_status s = lb_net_open(&v->net, model, &options, err);
    if (s == LB_OK && args->other) s = lb_net_open(&v->other, args->other, &options, err);
    if (s == LB_OK) s = open_arith(args, &v->a, args->against ? args->against : "f64", err);
    for (size_t i = 0; s == LB_OK && i < args->ariths.count; i++) s = open_arith(args, &v->b[v->count++], args->ariths.items[i], err);
    for (size_t i = 0; s == LB_OK && i < args->on.count; i++) {
        char name[600];
        snprintf(name, sizeof name, "on:%s", args->on.items[i]);
        s = open_arith(args, &v->b[v->count++], name, err);
    }
    if (s == LB_OK && !v->count) s = open_arith(args, &v->b[v->count++], "f32", err);
    const lb_net_about about = s == LB_OK ? lb_net_describe(v->net) : (lb_net_about){0};
    return s == LB_OK ? take_input(&v->in, args, &about, err) : s;
}

static int verify(const verify_args *args, const char *model) {
    lb_error err = {0};
    verify_run v = {0};
    int code;
    lb_status s = open_all(args, model, &v, &err);
    if (s == LB_OK && args->dump) s = dump(args, v.net, v.b[0], &v.in, &err);
    if (s == LB_OK) s = args->generate ? generate(args, v.net, v.b[0], &v.in, &err) : run_each(args, &v, &err);
    if (s != LB_OK && v.b[0] && !v.ran) { /* a device's end, in a dump or in text that it writes */
        s = verify_end(args, v.net, lb_arith_text(v.b[0]), NULL, s, &v.records[0], &err);
        v.ran = s == LB_OK;
    }
    if (s != LB_OK)
        code = cli_error(&err);
    else
        code = args->generate && !v.ran ? CLI_OK : verify_emit(args, v.net, v.records, v.reports, v.ran);
    for (size_t i = 0; i < VERIFY_ARITHS; i++) {
        lb_record_close(v.records[i]);
        lb_net_report_close(v.reports[i]);
        lb_arith_close(v.b[i]);
    }
    lb_arith_close(v.a);
    lb_net_close(v.net);
    lb_net_close(v.other);
    free_input(&v.in);
    return code;
}

/* ---- the call ------------------------------------------------------------------------------------------------------------------ */

static int refuse(const verify_args *a, int count) {
    if (count != 1) return cli_usage_error("verify", "%d given; it takes one MODEL", count);
    if (a->ariths.count + a->on.count > VERIFY_ARITHS) return cli_usage_error("verify", "more than %d arithmetics", VERIFY_ARITHS);
    if (a->reference && (a->tokens || a->token_file || a->against || a->other))
        return cli_usage_error("verify", "--reference brings its own input and answer; leave --tokens, --against and --model-b out");
    if (a->tokens && a->token_file) return cli_usage_error("verify", "give --tokens or --tokens-file");
    if (a->generate && a->ariths.count + a->on.count > 1) return cli_usage_error("verify", "--generate takes one arithmetic");
    return CLI_OK;
}

int cli_verify(int argc, char **argv) {
    verify_args a = {0};
    double tolerance = 1e-3;
    a.tolerance = &tolerance;
    a.timeout = 60;
    const cli_option options[] = {
        {"reference", 0, CLI_TEXT, &a.reference, "REF", "safetensors with `input` and `output`: the answer to give"},
        {"arith", 0, CLI_TEXTS, &a.ariths, "A",
         "f64 f32 contracted pairwise bf16 f16, a unit, or trace:FILE; may be repeated (default f32)"},
        {"on", 0, CLI_TEXTS, &a.on, "DEVICE", "run every operator on a device: opencl, vulkan … (`lastbit backends`); may be repeated"},
        {"against", 0, CLI_TEXT, &a.against, "A", "the arithmetic to compare with (default f64)"},
        {"model-b", 0, CLI_TEXT, &a.other, "FILE", "the model of --arith where it is another file of the same shape"},
        {"tokens", 0, CLI_TEXT, &a.tokens, "N,N…", "what goes in"},
        {"tokens-file", 0, CLI_TEXT, &a.token_file, "F", "the same from a text file, or - for standard input"},
        {"rows", 0, CLI_COUNT, &a.rows, "N", "rows to draw where no input is given (default 4)"},
        {"timeout", 0, CLI_SECONDS, &a.timeout, "SECONDS", "for one operator on a device (default 60)"},
        {"tolerance", 0, CLI_SECONDS, &tolerance, "X", "largest |difference| of an output (default 1e-3)"},
        {"contract", 0, CLI_TEXT, &a.contract, "RULE", "grade the outputs by this rule in place of the tolerance (`lastbit contracts`)"},
        {"chunk", 0, CLI_COUNT, &a.chunk, "N", "do chunks of N rows give the bits of one piece?"},
        {"dump", 0, CLI_FILE, &a.dump, "FILE", "write every operator's output too, as safetensors"},
        {"generate", 0, CLI_COUNT, &a.generate, "N", "write N tokens that follow, as --arith says them"},
        {"temperature", 0, CLI_SECONDS, &a.sampler.temperature, "T", "draw tokens; without it the largest is taken"},
        {"top-k", 0, CLI_COUNT, &a.top_k, "K", "from the K largest"},
        {"top-p", 0, CLI_SECONDS, &a.sampler.top_p, "P", "from the fewest whose probabilities reach P"},
        {"seed", 0, CLI_COUNT, &a.sampler.seed, "N", "of drawn rows and tokens (default 0)"},
        {"heads", 0, CLI_COUNT, &a.heads, "N", "attention heads, where neither the file nor config.json says"},
        {"drop-unknown", 0, CLI_FLAG, &a.drop_unknown, NULL, "pass over tensors that the network does not use"},
        {"steps", 0, CLI_FLAG, &a.steps, NULL, "print every operator"},
        CLI_OUTPUT_OPTIONS(a.output),
    };
    const cli_usage usage = {
        "lastbit verify MODEL [--reference REF | --tokens N,N… --arith A --against A] [options]",
        "A whole network, end to end: llama2.c, gguf, safetensors (docs/networks.md lists the kinds). With --reference its\n"
        "answer is compared with a recorded one. Otherwise it runs in two arithmetics; each operator also runs on the activations\n"
        "of --against, and the first that is off by more than its arithmetic can be is named.",
        options, sizeof options / sizeof options[0],
        "  lastbit verify model.safetensors --reference reference.safetensors\n"
        "  lastbit verify stories260K.bin --tokens 1,100,200 --arith sm_80/mma.m16n8k16.f32.bf16.bf16.f32 --against f64\n"
        "  lastbit verify stories260K.bin --tokens 1 --generate 20"};
    bool stop;
    int count;
    char **args = malloc((size_t)(argc + 1) * sizeof *args);
    if (!args) return cli_usage_error("verify", "no memory");
    int code = cli_parse(&usage, argc, argv, args, &count, &stop);
    a.sampler.top_k = (size_t)a.top_k;
    a.command = cli_command_line(argc, argv);
    if (!stop) code = refuse(&a, count);
    if (!stop && code == CLI_OK) code = verify(&a, args[0]);
    free(a.command);
    free(args);
    return code;
}
