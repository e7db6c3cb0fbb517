/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Public bug reports as operators: the right answer passes, the one that was reported does not. Transcribed from the open cases; the
 * source is the report. Left out, as no operator of ops.def: quantisers and conversions (tests of formats), samplers, softplus, ALiBi's
 * slopes, alpha and beta of BLAS, exp alone (ACT-13), sums with compensation; metamorphic cases (GEM-05, PLT-22) are parity's. */
#include "ops_help.h"

#include <string.h>

/* Values of all inputs in turn ("|" between inputs), "4*0" for four zeros; right: of all outputs in turn; wrong: "element=value" with
 * elements counted over all outputs; each is to be refused. right "?" for an element that may be anything. */
static const struct {
    int line;
    const char *id, *source, *text, *in, *right, *wrong;
} rows[] = {
    {__LINE__, "ACT-02", "pytorch/executorch#22323", "op=gelu n=5", "-13.24 30 -30 1e4 -1e4", "-0 30 -0 1e4 -0",
     "0=nan 1=nan 2=nan 3=nan 4=nan"},
    {__LINE__, "ACT-03", "ooples/AiDotNet.Tensors#594", "op=gelu n=2", "22 -22", "22 -0", "0=nan 1=nan"},
    {__LINE__, "ACT-04", "pytorch/pytorch#187293", "op=gelu_erf n=3", "inf -inf nan", "inf -0 nan", "0=nan 1=nan 2=0"},
    {__LINE__, "ACT-04", "pytorch/pytorch#185770", "op=gelu n=3", "inf -inf nan", "inf -0 nan", "0=nan 1=nan 2=0"},
    {__LINE__, "ACT-06", "tenstorrent/tt-metal#56490", "op=gelu_erf n=3", "-4.5 -5.25 -5.5", "-1.528953e-5 -3.992604e-7 -1.044426e-7",
     "1=-4.69e-7 2=-1.64e-7"},
    {__LINE__, "ACT-08", "antirez/ds4#498", "op=silu n=3", "-inf -200 -89", "-0 -0 -1.98235e-37", "0=nan 1=nan 2=nan"},
    {__LINE__, "ACT-10", "sonos/tract#2506", "op=silu n=2", "-100 -1e6", "-3.7e-42 -0", "0=-1.523e-6 1=-1.523e-2"},
    {__LINE__, "ACT-11", "skyzh/tiny-llm#161", "op=silu n=1 fmt=bf16", "-8", "-0.002685547", "0=0"},
    {__LINE__, "SMX-01", "pytorch/pytorch#41508", "op=softmax rows=2 d=4", "4*1 4*-inf", "4*0.25 4*nan", "4=0.25 5=0"},
    {__LINE__, "SMX-01", "ml-explore/mlx#2395", "op=attention m=2 seq=2 d=1 causal=1 q_offset=-1", "2*0|2*0|1 2", "0 1",
     "0=nan 0=1.5 1=1.5"},
    {__LINE__, "SMX-03", "huggingface/transformers#27114", "op=softmax rows=1 d=3", "3*-3.4028235e38", "3*0.33333334", "0=nan 1=1"},
    {__LINE__, "SMX-04", "ggml-org/llama.cpp#7434", "op=softmax rows=1 d=2", "1 -inf", "1 0", "0=nan 1=nan"},
    {__LINE__, "SMX-05", "huggingface/candle#3727", "op=softmax rows=1 d=4096 fmt=f16", "4096*0", "4096*0.00024414",
     "0=0.00048828 4095=0.00048828"},
    {__LINE__, "ATT-01", "ml-explore/mlx#2835", "op=attention m=1 seq=4 d=1 causal=1 q_offset=3", "0|4*0|1 2 3 4", "2.5", "0=1"},
    {__LINE__, "ATT-01", "pytorch/pytorch#103082", "op=attention m=1 seq=4 d=1 causal=1 q_offset=0", "0|4*0|1 2 3 4", "1", "0=2.5"},
    {__LINE__, "ATT-03", "huggingface/transformers#39408", "op=attention m=1 seq=8 d=1 causal=1 q_offset=7 window=3",
     "0|8*0|0 1 2 3 4 5 6 7", "6", "0=5.5"},
    {__LINE__, "ATT-04", "Dao-AILab/flash-attention#2199", "op=attention m=5 seq=2 d=1 causal=1 q_offset=-3 window=2", "5*0|2*0|10 20",
     "0 0 0 10 15", "0=nan 2=10 3=15"},
    {__LINE__, "ATT-05", "onnx/onnx#7274", "op=mha seq=1 heads=4 kv_heads=2 d=1", "4*0|2*0|10 20", "10 10 20 20", "1=20 2=10"},
    {__LINE__, "ATT-07", "vllm-project/vllm#945", "op=attention m=1 seq=4 d=1 causal=1 q_offset=3 alibi=0.5", "0|4*0|0 1 2 3", "2.0845765",
     "0=1.5"},
    {__LINE__, "ATT-07", "vllm-project/vllm#945", "op=attention m=1 seq=4 d=1 q_offset=4 alibi=0.5", "0|4*0|0 1 2 3", "2.0845765", "0=1.5"},
    {__LINE__, "ATT-11", "NVIDIA/TransformerEngine#3391", "op=attention m=1 seq=2 d=1 causal=1 q_offset=1 scale=1 softcap=10 alibi=-5",
     "1|30 0|1 0", "0.99999968", "0=0.99995373"},
    {__LINE__, "ATT-13", "ggml-org/llama.cpp#7805", "op=attention m=1 seq=2 d=128 fmt=f16", "128*32|256*32|128*1 128*3", "128*2", "0=nan"},
    {__LINE__, "ATT-15", "ikawrakow/ik_llama.cpp#1196", "op=attention m=1 seq=2048 d=1 fmt=f16", "0|2048*0|2048*32", "32", "0=inf 0=31.97"},
    {__LINE__, "ATT-17", "NVIDIA/TransformerEngine#2541", "op=attention_sink m=1 seq=1 d=1 q_offset=0", "1|20|1|20", "0.5", "0=1"},
    {__LINE__, "KVC-01", "Dao-AILab/flash-attention#1745", "op=attention_cached len=3 d=1 rows=1", "1|0.5 nan nan|1 nan nan", "1", "0=nan"},
    {__LINE__, "KVC-03", "deepbeepmeep/Wan2GP#1628", "op=attention_cached len=2 d=1 rows=1", "1|1 nan|2 3", "2", "0=nan 0=2.5"},
    {__LINE__, "KVC-04", "Lightning-AI/litgpt#2182", "op=attention m=6 seq=6 d=1 causal=1 window=4", "6*0|6*0|0 1 2 3 4 5",
     "0 0.5 1 1.5 2.5 3.5", "1=4.5"},
    {__LINE__, "KVC-06", "pytorch/executorch#20346", "op=attention m=6 seq=6 d=1 causal=1 window=2", "6*0|6*0|0 1 2 3 4 5",
     "0 0.5 1.5 2.5 3.5 4.5", "4=4"},
    {__LINE__, "NRM-01", "pytorch/pytorch#133085", "op=rmsnorm rows=1 d=4 eps=1e-6 fmt=f16", "4*300|4*1", "4*1", "0=0 3=0"},
    {__LINE__, "NRM-03", "apple/coremltools#2821", "op=rmsnorm rows=2 d=100 eps=1e-2", "10 99*0 100*0|100*1", "9.950372 199*0",
     "0=7.071068 100=nan 199=nan"},
    {__LINE__, "NRM-05", "tracel-ai/burn#5607", "op=layernorm rows=1 d=16",
     "1000 1000.001 1000.002 1000.003 1000.004 1000.005 1000.006 1000.007 1000.008 1000.009 1000.010 1000.011 1000.012 1000.013 1000.014 "
     "1000.015|16*1|16*0",
     "-1.341508 14*? 1.344237", "0=-2.3740 15=nan"},
    {__LINE__, "NRM-06", "microsoft/onnxruntime#21935", "op=layernorm rows=1 d=256", "256*1234|256*1|256*0", "256*0", "0=nan 255=nan"},
    {__LINE__, "NRM-10", "microsoft/CNTK#3816", "op=layernorm rows=1 d=2", "1e-4 -1e-4|2*1|2*0", "0.031606977 -0.031606977",
     "0=0.909091 1=-0.909091"},
    {__LINE__, "NRM-12", "utensils/mold#1078", "op=rmsnorm rows=1 d=2 eps=0", "2*1|2*1.5", "2*1.5", "0=2.5 1=2.5"},
    {__LINE__, "NRM-13", "sgl-project/sglang#27540", "op=rmsnorm rows=1 d=4096 eps=0 fmt=bf16", "4096*1|4096*1", "4096*1", "0=4 4095=4"},
    {__LINE__, "ROP-01", "huggingface/candle#3520", "op=rope rows=1 d=2 rotary=2", "1 0|15962", "-0.908016 ?", "0=-0.267950"},
    {__LINE__, "ROP-02", "EleutherAI/gpt-neox#1016", "op=rope rows=1 d=2 rotary=2", "1 0|257", "0.819306 -0.573357",
     "0=-0.039791 1=-0.999208"},
    {__LINE__, "ROP-05", "huggingface/candle#3410", "op=rope rows=1 d=4 rotary=4", "1 2 3 4|1", "-1.984111 1.959901 2.462378 4.019800",
     "0=-1.142640 1=1.922076 2=2.959851 3=4.029800"},
    {__LINE__, "ROP-05", "huggingface/candle#3410", "op=rope_interleaved rows=1 d=4 rotary=4", "1 2 3 4|1",
     "-1.142640 1.922076 2.959851 4.029800", "0=-1.984111 1=1.959901 2=2.462378 3=4.019800"},
    {__LINE__, "ROP-07", "kekzl/imp#584", "op=rope rows=1 d=2 rotary=2 scale=4", "1 0|8", "-0.416147 ?", "0=0.834223"},
    {__LINE__, "GEM-01", "ggml-org/llama.cpp#13607", "op=matmul m=1 k=1024 n=1", "1024*8|1024*8", "65536", "0=inf 0=-inf"},
    {__LINE__, "GEM-03", "ml-explore/mlx#3953", "op=matmul m=1 k=1 n=2", "1|2*1.000244140625", "2*1.000244140625", "0=1 1=1"},
    {__LINE__, "GEM-11", "ROCm/rocBLAS#340", "op=matmul m=3 k=3 n=3 fmt=f16", "9 8 7 6 5 4 3 2 1|1 2 3 4 5 6 7 8 9",
     "90 114 138 54 69 84 18 24 30", "6=0 7=0 8=0"},
    {__LINE__, "GEM-13", "tile-ai/tilelang-ascend#1341", "op=matmul_tiled m=4 k=200 n=8 fmt=f16", "800*1|1600*1", "32*200", "0=192 31=128"},
    {__LINE__, "GEM-14", "jax-ml/jax#11678", "op=linear m=2 k=2 n=2", "1 2 3 4|1 2 3 4|0 0", "5 11 11 25", "0=5e-324 3=0"},
    {__LINE__, "GEM-15", "ROCm/rocm-libraries#9055", "op=matmul m=2 k=2 n=2 fmt=bf16", "4*1|4*1", "4*2", "3=nan"},
    {__LINE__, "BSF-01", "NVIDIA/TransformerEngine#3262", "op=matmul_mxfp8 m=1 k=32 n=1", "32*1|5.877471754111438e-39|32*1|1",
     "1.8807909613156600e-37", "0=0"},
    {__LINE__, "BSF-01", "NVIDIA/TransformerEngine#3262", "op=matmul_mxfp8 m=1 k=32 n=1", "32*1|nan|32*1|1", "nan", "0=inf"},
    {__LINE__, "BSF-03", "tile-ai/tilelang#2704", "op=matmul_mxfp4 m=2 k=32 n=1", "1 15*0 152 15*0|2*1|16*34|1", "0.5 -0.5",
     "0=1.25 0=0.75 1=-1.25"},
    {__LINE__, "BSF-11", "jundot/omlx#2159", "op=matmul_mxfp8 m=1 k=32 n=1", "1 31*0|0.0078125|32*1|1", "0.0078125", "0=120"},
    {__LINE__, "BSF-12", "tinygrad/tinygrad#14849", "op=matmul_mxfp4 m=1 k=32 n=1", "7 15*0|1|16*34|1", "6", "0=12 0=3"},
    {__LINE__, "BSF-13", "ROCm/aiter#2900", "op=matmul_mxfp8 m=2 k=160 n=1", "320*1|10*1|160*1|5*1", "2*160", "0=192 1=736"},
    {__LINE__, "BSF-15", "modular/modular#6600", "op=matmul_nvfp4 m=1 k=16 n=1 scale=0.25", "5 7*0|2|8*34|1", "1.5", "0=24"},
    {__LINE__, "BSF-16", "vllm-project/vllm#50084", "op=matmul_nvfp4 m=1 k=32 n=2", "16*34|1 2|8*34 8*0 8*0 8*34|4*1", "16 32",
     "0=32 1=16"},
    {__LINE__, "INT-03", "pytorch/pytorch#76390", "op=matmul_w8 m=1 k=2 n=1", "2*255|1|2*113", "57630", "0=32767"},
    {__LINE__, "INT-05", "ggml-org/ggml#1393", "op=dequant_w8 rows=1 cols=1", "-128|-1", "128", "0=-128"},
    {__LINE__, "INT-09", "ROCm/hip-ep#178", "op=matmul_w4 m=1 k=2 n=3 group=2", "1 0|15 8 0|3*1|3*8", "7 0 -8", "0=-1 1=-8 2=0"},
    {__LINE__, "INT-14", "ggml-org/llama.cpp#21652", "op=matmul_w8 m=1 k=32 n=1", "32*4000|1|32*1", "128000", "0=inf 0=65504"},
    {__LINE__, "MOE-01", "vllm-project/vllm#39391", "op=moe_route rows=1 experts=4 k=2", "4*nan", "2*nan 0 1", "3=0"},
    {__LINE__, "MOE-03", "sgl-project/sglang#35160", "op=moe_route rows=1 experts=4 k=2", "2 1 0 -1", "0.73105858 0.26894142 0 1",
     "0=0.643914 1=0.236883 0=2 1=1"},
    {__LINE__, "MOE-05", "databricks/megablocks#87", "op=moe_route rows=2 experts=2 k=1", "0.7 0.3 0.6 0.4", "1 1 0 0",
     "0=0.538462 1=0.461538"},
    {__LINE__, "MOE-06", "vllm-project/vllm#42608", "op=moe_route rows=1 experts=3 k=2", "-inf 5 -inf", "1 0 1 0", "3=1"},
    {__LINE__, "SSM-01", "state-spaces/mamba#368", "op=selective_scan seq=4 d=1 state=1", "4*1|1 1 1 0|-1|4*1|4*1",
     "1 1.3678794 1.5032147 1.5032147", "3=1.4447548"},
    {__LINE__, "SSM-03", "MzeroMiko/mamba-mini#6", "op=selective_scan seq=3 d=1 state=1", "3*1|3*1|-50|3*1|3*1", "3*1", "0=nan 2=nan"},
    {__LINE__, "SMP-01", "flashinfer-ai/flashinfer#2202", "op=top_p rows=1 vocab=4", "-0.69314718 -1.2039728 -1.8971200 -2.9957323",
     "0.52631579 0.31578947 0.15789474 0", "0=0.625 1=0.375 2=0"},
    {__LINE__, "SMP-08", "openvinotoolkit/openvino#33626", "op=argmax rows=1 vocab=61", "61*nan", "0", "0=1 0=6"},
    {__LINE__, "SMP-10", "tenstorrent/tt-metal#56626", "op=top_k rows=1 vocab=3 k=2", "-nan 1 2", "nan 2 0 2", "0=2 2=2"},
    {__LINE__, "PLT-01", "ggml-org/llama.cpp#10764", "op=add n=1 fmt=f16", "1|0.00048923492431640625", "1.0009765625", "0=1"},
    {__LINE__, "PLT-17", "ggml-org/llama.cpp#10923", "op=softmax rows=1 d=33", "33*0", "33*0.030303030", "32=0.0625"},
    {__LINE__, "PLT-17", "ggml-org/llama.cpp#10923", "op=softmax rows=1 d=1023", "1023*0", "1023*0.00097751711", "1022=0.0009765625"},
    {__LINE__, "PLT-19", "invergent-ai/surogate#163", "op=cumsum rows=1 d=3", "1e8 1 -1e8", "1e8 1e8 0", "2=1e8"},
    {__LINE__, "PLT-19", "invergent-ai/surogate#163", "op=cumsum rows=1 d=3", "1e8 1 -1e8", "1e8 1e8 1", "2=nan"},
    {__LINE__, "VER-15", "sgl-project/sglang#35795", "op=add n=1 fmt=bf16", "24|0.0620", "24", "0=24.25"},
    {__LINE__, "VER-24", "KhronosGroup/OpenCL-CTS#2024", "op=add n=1 fmt=f16", "60000|60000", "inf", "0=65504 0=-inf"},
};

/* ---- reading a row ------------------------------------------------------------------------------------------------------------ */

static uint64_t code_of(const lb_format *f, const char *word) {
    if (strncmp(word, "-nan", 4) == 0 && f->id == LB_F32) return 0xFFC00000;
    return lb_from_double(f, strtod(word, NULL));
}

/* Next value of a list: *word its text, repeated *times; false at the end. */
static bool next_value(const char **p, const char **word, size_t *times) {
    while (**p == ' ' || **p == '|') ++*p;
    if (!**p) return false;
    char *star;
    *times = strtoul(*p, &star, 10);
    *word = star > *p && *star == '*' ? star + 1 : *p;
    if (*word == *p) *times = 1;
    *p = *word + strcspn(*word, " |");
    return true;
}

typedef struct filler {
    lb_array *arrays;
    unsigned count, array;
    size_t at;
} filler;

static bool place_of(filler *f, void **place, const lb_format **format) {
    while (f->array < f->count && f->at == lb_array_count(&f->arrays[f->array])) {
        f->array++;
        f->at = 0;
    }
    if (f->array == f->count) return false;
    *format = f->arrays[f->array].format;
    *place = (char *)f->arrays[f->array].codes + f->at++ * (size_t)(*format)->bytes;
    return true;
}

/* Values of a list into arrays, all of them; "?" leaves an element as it is. */
static void fill(int line, const char *list, lb_array *arrays, unsigned count) {
    filler f = {arrays, count, 0, 0};
    const lb_format *format = NULL;
    const char *word;
    void *place = NULL;
    size_t times;
    while (next_value(&list, &word, &times))
        for (size_t i = 0; i < times; i++) {
            if (!place_of(&f, &place, &format)) fail_msg("row at line %d: more values than elements", line);
            if (*word != '?') lb_store_code(place, format->bytes, code_of(format, word));
        }
    if (place_of(&f, &place, &format)) fail_msg("row at line %d: fewer values than elements", line);
}

static lb_op_case *case_of_row(size_t r) {
    lb_error err = {0};
    lb_op_case *x = open_case(rows[r].line, rows[r].text), *y = NULL;
    fill(rows[r].line, rows[r].in, x->in, x->op->in_count);
    if (lb_op_case_of(&y, rows[r].text, x->in, x->op->in_count, &err) != LB_OK) fail_msg("row at line %d: %s", rows[r].line, err.message);
    lb_op_case_close(x);
    return y;
}

/* Output and place of element number n over all outputs. */
static void locate(const lb_op_case *x, size_t n, unsigned *port, size_t *at) {
    for (*port = 0, *at = n; *at >= lb_array_count(&x->out[*port]); ++*port) *at -= lb_array_count(&x->out[*port]);
}

static lb_op_verdict judge(int line, const lb_op_case *x, size_t n, lb_function_class c) {
    lb_error err = {0};
    unsigned port;
    size_t at;
    lb_op_truth *t = truth_of(line, x, c);
    if (lb_op_truth_settle(t, x, &err) != LB_OK) fail_msg("row at line %d: %s", line, err.message);
    locate(x, n, &port, &at);
    const lb_op_verdict v = lb_op_judge(t, x, port, at, NULL);
    lb_op_truth_close(t);
    return v;
}

static size_t elements(const lb_op_case *x) {
    size_t n = 0;
    for (unsigned i = 0; i < x->op->out_count; i++) n += lb_array_count(&x->out[i]);
    return n;
}

static bool is_right(lb_op_verdict v) {
    return v == LB_OP_EXACT || v == LB_OP_LEGAL;
}

static void every_reports_right_answer_passes_and_its_wrong_one_does_not(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        lb_op_case *x = case_of_row(r);
        const size_t n = elements(x);
        replay(rows[r].line, x, LB_REPLAY_SEQUENTIAL); /* elements that the report leaves open */
        fill(rows[r].line, rows[r].right, x->out, x->op->out_count);
        for (size_t i = 0; i<n; i += n> 64 ? n / 16 : 1)
            if (!is_right(judge(rows[r].line, x, i, LB_FUNCTIONS_IEEE)))
                fail_msg("%s (%s), row at line %d: the right element %zu is refused", rows[r].id, rows[r].source, rows[r].line, i);
        for (const char *p = rows[r].wrong; *p;) {
            char *value;
            unsigned port;
            size_t at, i = strtoul(p, &value, 10);
            locate(x, i, &port, &at);
            const lb_format *f = x->out[port].format;
            void *place = (char *)x->out[port].codes + at * (size_t)f->bytes;
            const uint64_t kept = lb_load_code(place, f->bytes);
            lb_store_code(place, f->bytes, code_of(f, value + 1));
            if (judge(rows[r].line, x, i, LB_FUNCTIONS_IEEE) != LB_OP_WRONG)
                fail_msg("%s (%s), row at line %d: the wrong element %s passes", rows[r].id, rows[r].source, rows[r].line, p);
            lb_store_code(place, f->bytes, kept);
            p = value + strcspn(value, " ");
            while (*p == ' ') p++;
        }
        lb_op_case_close(x);
    }
}

/* The replays are kernels too: none of them shows any of these bugs. */
static void the_replays_have_none_of_the_bugs(void **state) {
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int order = 0; order < LB_REPLAY_COUNT; order++) {
            lb_op_case *x = case_of_row(r);
            replay(rows[r].line, x, (lb_replay_order)order);
            const size_t n = elements(x);
            for (size_t i = 0; i<n; i += n> 64 ? n / 16 : 1)
                if (!is_right(judge(rows[r].line, x, i, LB_FUNCTIONS_IEEE)))
                    fail_msg("%s, row at line %d: %s: element %zu", rows[r].id, rows[r].line, lb_replay_name((lb_replay_order)order), i);
            lb_op_case_close(x);
        }
}

/* ATT-17: a sink of 0 beside a score of 20 tells nothing: 1, as if there were no sink, passes as well. */
static void a_zero_sink_is_uninformative(void **state) {
    (void)state;
    lb_op_case *x = given_case(__LINE__, "op=attention_sink m=1 seq=1 d=1 q_offset=0",
                               (const double *const[]){(double[]){1}, (double[]){20}, (double[]){1}, (double[]){0}});
    set_output(x, 0, 0, 1);
    assert_true(is_right(judge(__LINE__, x, 0, LB_FUNCTIONS_IEEE)));
    lb_op_case_close(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reports_right_answer_passes_and_its_wrong_one_does_not),
        cmocka_unit_test(the_replays_have_none_of_the_bugs),
        cmocka_unit_test(a_zero_sink_is_uninformative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
