# SPDX-License-Identifier: MIT OR Apache-2.0
"""Networks against an implementation of their own in NumPy, written from the published definitions; quantised weights against gguf's."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import lastbit as lb
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "python" / "make_demo_model.py"
spec = importlib.util.spec_from_file_location("make_demo_model", DEMO)
demo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo)


def verify(*arguments):
    return subprocess.run(["lastbit", "verify", *map(str, arguments)], capture_output=True, text=True)


def record(*arguments):
    done = verify(*arguments, "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout.splitlines()[0])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, g, b, eps):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps) * g + b


def heads_of(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def attention(q, k, v, heads, causal):
    q, k, v = (heads_of(x, heads) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


def draw(rng, *shape, size=0.2, centre=0.0):
    return (centre + size * rng.standard_normal(shape)).astype(np.float32)


# ---- GPT-2 -----------------------------------------------------------------------------------------------------------------------

D, HEADS, LAYERS, VOCAB, CONTEXT = 128, 2, 3, 97, 16


def gpt2_weights(rng):
    w = {"wte.weight": draw(rng, VOCAB, D), "wpe.weight": draw(rng, CONTEXT, D, size=0.1)}
    for i in range(LAYERS):
        h = f"h.{i}."
        w |= {h + "ln_1.weight": draw(rng, D, centre=1), h + "ln_1.bias": draw(rng, D), h + "attn.c_attn.weight": draw(rng, D, 3 * D),
              h + "attn.c_attn.bias": draw(rng, 3 * D), h + "attn.c_proj.weight": draw(rng, D, D), h + "attn.c_proj.bias": draw(rng, D),
              h + "ln_2.weight": draw(rng, D, centre=1), h + "ln_2.bias": draw(rng, D), h + "mlp.c_fc.weight": draw(rng, D, 4 * D),
              h + "mlp.c_fc.bias": draw(rng, 4 * D), h + "mlp.c_proj.weight": draw(rng, 4 * D, D), h + "mlp.c_proj.bias": draw(rng, D)}
    return w | {"ln_f.weight": draw(rng, D, centre=1), "ln_f.bias": draw(rng, D)}


def gpt2(w, tokens, eps=1e-5):
    w = {k: v.astype(np.float64) for k, v in w.items()}
    x = w["wte.weight"][tokens] + w["wpe.weight"][:len(tokens)]
    for i in range(LAYERS):
        p = lambda name: w[f"h.{i}.{name}"]  # noqa: E731
        qkv = layer_norm(x, p("ln_1.weight"), p("ln_1.bias"), eps) @ p("attn.c_attn.weight") + p("attn.c_attn.bias")
        x = x + attention(*np.split(qkv, 3, axis=-1), HEADS, True) @ p("attn.c_proj.weight") + p("attn.c_proj.bias")
        h = demo.gelu(layer_norm(x, p("ln_2.weight"), p("ln_2.bias"), eps) @ p("mlp.c_fc.weight") + p("mlp.c_fc.bias"))
        x = x + h @ p("mlp.c_proj.weight") + p("mlp.c_proj.bias")
    return layer_norm(x, w["ln_f.weight"], w["ln_f.bias"], eps) @ w["wte.weight"].T


@pytest.fixture(scope="module")
def gpt2_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt2")
    weights = gpt2_weights(np.random.default_rng(5))
    tokens = np.array([3, 96, 0, 41, 41, 7, 12], np.float32)
    demo.write_safetensors(folder / "model.safetensors", weights)
    demo.write_safetensors(folder / "reference.safetensors", {"input": tokens, "output": gpt2(weights, tokens.astype(int))})
    demo.write_safetensors(folder / "wrong.safetensors", {"input": tokens, "output": gpt2(weights, tokens.astype(int), eps=1e-3)})
    return folder


@pytest.mark.parametrize("arith, tolerance", [("f64", 1e-5), ("f32", 1e-3), ("pairwise", 1e-3)])
def test_gpt2_answers_as_numpy_does(gpt2_files, arith, tolerance):
    r = record(gpt2_files / "model.safetensors", "--reference", gpt2_files / "reference.safetensors", "--arith", arith, "--tolerance", tolerance)
    assert (r["verdict"], r["counts"]["compared"]) == ("PASS", 7 * VOCAB)


def test_another_eps_is_another_network(gpt2_files):
    r = record(gpt2_files / "model.safetensors", "--reference", gpt2_files / "wrong.safetensors")
    assert r["verdict"] == "FAIL"


def test_greedy_text_is_numpys(gpt2_files):
    weights = gpt2_weights(np.random.default_rng(5))
    tokens = [3, 96]
    done = verify(gpt2_files / "model.safetensors", "--tokens", "3,96", "--generate", 6, "--arith", "f64")
    for _ in range(6):
        tokens.append(int(gpt2(weights, tokens)[-1].argmax()))
    assert [int(t) for t in done.stdout.split(",")] == tokens[2:]


def test_gpt2s_own_weights_give_its_first_five(tmp_path):
    """The figures of seed-002: GPT-2 small, tokens of "The meaning of life is"."""
    weights = os.environ.get("LASTBIT_GPT2")
    if not weights:
        pytest.skip("LASTBIT_GPT2 names no model.safetensors of GPT-2 small")
    done = verify(weights, "--tokens", "464,3616,286,1204,318", "--dump", tmp_path / "out.safetensors", "--brief")
    assert done.returncode == 0, done.stdout + done.stderr
    raw = (tmp_path / "out.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:8 + size])["head"]
    begin, end = head["data_offsets"]
    logits = np.frombuffer(raw[8 + size + begin:8 + size + end], "<f4").reshape(head["shape"])
    assert list(np.argsort(-logits[-1], kind="stable")[:5]) == [407, 284, 262, 326, 257]


# ---- BERT ------------------------------------------------------------------------------------------------------------------------

def bert_weights(rng, d, hidden, layers):
    e = "embeddings."
    w = {e + "word_embeddings.weight": draw(rng, VOCAB, d), e + "position_embeddings.weight": draw(rng, CONTEXT, d),
         e + "token_type_embeddings.weight": draw(rng, 2, d), e + "LayerNorm.weight": draw(rng, d, centre=1), e + "LayerNorm.bias": draw(rng, d)}
    for i in range(layers):
        for part, rows, cols in (("attention.self.query", d, d), ("attention.self.key", d, d), ("attention.self.value", d, d),
                                 ("attention.output.dense", d, d), ("intermediate.dense", hidden, d), ("output.dense", d, hidden)):
            w |= {f"encoder.layer.{i}.{part}.weight": draw(rng, rows, cols), f"encoder.layer.{i}.{part}.bias": draw(rng, rows)}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            w |= {f"encoder.layer.{i}.{part}.weight": draw(rng, d, centre=1), f"encoder.layer.{i}.{part}.bias": draw(rng, d)}
    return w


def bert(w, tokens, heads, layers, eps=1e-12):
    from math import erf
    w = {k: v.astype(np.float64) for k, v in w.items()}
    norm = lambda x, name: layer_norm(x, w[name + ".weight"], w[name + ".bias"], eps)  # noqa: E731
    x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + w["embeddings.position_embeddings.weight"][:len(tokens)], "embeddings.LayerNorm")
    for i in range(layers):
        p = f"encoder.layer.{i}."
        dense = lambda x, name: x @ w[p + name + ".weight"].T + w[p + name + ".bias"]  # noqa: B023, E731
        h = attention(*(dense(x, "attention.self." + n) for n in ("query", "key", "value")), heads, False)
        x = norm(x + dense(h, "attention.output.dense"), p + "attention.output.LayerNorm")
        h = dense(x, "intermediate.dense")
        h = 0.5 * h * (1 + np.vectorize(erf)(h / np.sqrt(2)))
        x = norm(x + dense(h, "output.dense"), p + "output.LayerNorm")
    return x


def test_an_encoder_answers_as_numpy_does(tmp_path):
    weights = bert_weights(np.random.default_rng(6), 48, 96, 2)
    tokens = np.array([1, 5, 90, 33, 2], np.float32)
    demo.write_safetensors(tmp_path / "model.safetensors", weights)
    demo.write_safetensors(tmp_path / "reference.safetensors", {"input": tokens, "output": bert(weights, tokens.astype(int), 4, 2)})
    (tmp_path / "config.json").write_text('{"num_attention_heads": 4}')
    for arith, tolerance in (("f64", 1e-5), ("f32", 1e-4)):
        r = record(tmp_path / "model.safetensors", "--reference", tmp_path / "reference.safetensors", "--arith", arith, "--tolerance", tolerance)
        assert (r["verdict"], r["counts"]["compared"]) == ("PASS", 5 * 48)


# ---- the demo's MLP --------------------------------------------------------------------------------------------------------------

def test_the_demo_model_is_the_same_each_time_and_passes(tmp_path):
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        subprocess.run([sys.executable, DEMO, "--width", "32", "--hidden", "64"], cwd=folder, check=True, capture_output=True)
    model, reference = tmp_path / "a" / "model.safetensors", tmp_path / "a" / "reference.safetensors"
    assert model.read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()
    assert record(model, "--reference", reference)["verdict"] == "PASS"
    broken = bytearray(reference.read_bytes())
    broken[-1] ^= 1
    reference.write_bytes(broken)
    assert record(model, "--reference", reference)["verdict"] == "FAIL"


def test_what_a_reference_lacks_is_said(tmp_path):
    subprocess.run([sys.executable, DEMO, "--width", "8", "--hidden", "8"], cwd=tmp_path, check=True, capture_output=True)
    for tensors, said in (({"input": np.zeros((1, 8))}, 'no tensor "output"'), ({"output": np.zeros((1, 8))}, 'no tensor "input"'),
                          ({"input": np.zeros((1, 7)), "output": np.zeros((1, 8))}, "rows of 7 numbers; the network takes 8"),
                          ({"input": np.zeros((2, 8)), "output": np.zeros((3, 8))}, "the network gives [2, 8]")):
        demo.write_safetensors(tmp_path / "r.safetensors", tensors)
        done = verify(tmp_path / "model.safetensors", "--reference", tmp_path / "r.safetensors")
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


class Layer:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias


class Mlp:
    """Laid out as equinox.nn.MLP is."""
    def __init__(self, layers):
        self.layers = tuple(layers)


def test_a_pytree_is_exported(tmp_path):
    jax = pytest.importorskip("jax.numpy")
    rng = np.random.default_rng(3)
    arrays = [(draw(rng, 5, 4), draw(rng, 5)), (draw(rng, 3, 5), None)]
    x = draw(rng, 2, 4)
    y = demo.gelu(x.astype(np.float64) @ arrays[0][0].T + arrays[0][1]) @ arrays[1][0].T
    demo.write_safetensors(tmp_path / "reference.safetensors", {"input": x, "output": y})
    forms = {"pairs": arrays, "dicts": [{"weight": w, "bias": b} for w, b in arrays],
             "pytree": Mlp(Layer(jax.asarray(w), None if b is None else jax.asarray(b)) for w, b in arrays)}
    for name, model in forms.items():
        lb.export_mlp(model, tmp_path / f"{name}.safetensors")
        assert record(tmp_path / f"{name}.safetensors", "--reference", tmp_path / "reference.safetensors")["verdict"] == "PASS"


@pytest.mark.parametrize("model, said", [([], "no layers"), ([3], "has no weight"), ([(np.zeros(3), None)], "1 dimensions; it should have 2"),
                                         ([(np.zeros((2, 3)), np.zeros(3))], "3 numbers; the weight gives 2"),
                                         ([(np.zeros((2, 3)), None), (np.zeros((2, 3)), None)], "the layer before it gives 2")])
def test_what_is_no_mlp_is_one_line(tmp_path, model, said):
    with pytest.raises(lb.Error, match=said):
        lb.export_mlp(model, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


# ---- quantised weights -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "F16", "BF16"])
def test_quantised_weights_are_ggufs(tmp_path, kind):
    gguf = pytest.importorskip("gguf")
    quant = gguf.GGMLQuantizationType[kind]
    rng = np.random.default_rng(9)
    d, hidden, heads = 256, 256, 4

    def raw_of(rows, cols):
        block, size = gguf.GGML_QUANT_SIZES[quant]
        raw = rng.integers(0, 256, (rows * cols // block, size), dtype=np.uint8)
        if kind in ("F16", "BF16"):
            x = draw(rng, rows, cols, size=0.05)
            raw = (x.astype(np.float16) if kind == "F16" else (x.view(np.uint32) >> 16).astype(np.uint16)).view(np.uint8)
        else:
            places = [208] if kind == "Q6_K" else [0, 2] if kind in ("Q4_1", "Q5_1", "Q4_K", "Q5_K") else [0]
            for at in places:  # scales: no NaN, no Inf, small
                raw[:, at:at + 2] = (np.abs(rng.standard_normal(len(raw))) * 1e-3).astype(np.float16).view(np.uint8).reshape(-1, 2)
        return raw.reshape(rows, -1)

    def write(path, expanded):
        w = gguf.GGUFWriter(str(path), "llama")
        for key, value in (("block_count", 1), ("context_length", 8), ("feed_forward_length", hidden), ("embedding_length", d),
                           ("attention.head_count", heads)):
            w.add_uint32("llama." + key, value)
        for name, shape in shapes.items():
            if len(shape) == 1:
                w.add_tensor(name, norms[name])
            elif expanded:
                w.add_tensor(name, np.ascontiguousarray(gguf.quants.dequantize(weights[name], quant), np.float32))
            else:
                w.add_tensor(name, weights[name], raw_dtype=quant)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()

    b = "blk.0."
    shapes = {"token_embd.weight": (64, d), "output_norm.weight": (d,), b + "attn_norm.weight": (d,), b + "ffn_norm.weight": (d,),
              b + "attn_q.weight": (d, d), b + "attn_k.weight": (d, d), b + "attn_v.weight": (d, d), b + "attn_output.weight": (d, d),
              b + "ffn_gate.weight": (hidden, d), b + "ffn_up.weight": (hidden, d), b + "ffn_down.weight": (d, hidden)}
    weights = {name: raw_of(*shape) for name, shape in shapes.items() if len(shape) == 2}
    norms = {name: draw(rng, *shape, centre=1) for name, shape in shapes.items() if len(shape) == 1}
    write(tmp_path / "q.gguf", False)
    write(tmp_path / "f.gguf", True)
    done = verify(tmp_path / "q.gguf", "--model-b", tmp_path / "f.gguf", "--arith", "f64", "--tokens", "1,2,63", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    r = json.loads(done.stdout.splitlines()[0])
    assert r["counts"]["exact"] == r["counts"]["compared"] == 3 * 64
