# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calibration, shrinking and capsules from Python."""
import lastbit as lb
import numpy as np
import pytest

SM_90, SM_80 = "sm_90/mma.m16n8k16.f32.bf16.bf16.f32", "sm_80/mma.m16n8k16.f32.bf16.bf16.f32"


def draw(shape, seed):
    return lb.quantize(np.random.default_rng(seed).standard_normal(shape), "bf16")


A, B = draw((6, 48), 1), draw((48, 5), 2)


def test_the_seeds_drift_comes_out_of_the_named_case():
    c = lb.calibrate("mma-tree16", case="depths")
    assert [d["k"] for d in c["depths"]] == [4096, 65536, 1048576]
    assert [d["blocks"][-1]["drift_rms"] for d in c["depths"]] == pytest.approx([5.801e-6, 1.381e-4, 6.924e-4], rel=5e-4)


def test_a_unit_and_its_name_calibrate_alike():
    by_name, by_unit = lb.calibrate(SM_90, 512, m=2, n=8, seed=3), lb.calibrate(lb.unit(SM_90), [512], m=2, n=8, seed=3)
    for c in by_name, by_unit:
        del c["depths"][0]["seconds"]
    assert by_name == by_unit and by_name["what"] == SM_90


def test_wrong_calls_say_so():
    with pytest.raises(lb.UnknownNameError, match="mma-tree16"):
        lb.calibrate("mma-tree17", 64)
    with pytest.raises(lb.ArgumentError):
        lb.calibrate("sequential")
    with pytest.raises(lb.ArgumentError, match="does not fail: PASS"):
        lb.shrink(A, B, unit=SM_90, on="model:" + SM_90)


def test_another_unit_is_shrunk_and_its_capsule_reruns(tmp_path):
    path = tmp_path / "c.safetensors"
    s = lb.shrink(A, B, unit=SM_90, on="model:" + SM_80, capsule=path)
    assert (s["to"]["m"], s["to"]["n"]) == (1, 1) and s["record"]["verdict"] == "FAIL" and s["failure"] == "value"
    assert lb.check_capsule(path).verdict == "FAIL"
    assert lb.check_capsule(path, on="model:" + SM_80).verdict == "FAIL"
    assert lb.check_capsule(path, on="model:" + SM_90).verdict == "PASS"


def test_a_given_output_keeps_k(tmp_path):
    d = lb.quantize(A.astype(np.float64) @ B.astype(np.float64), "bf16")
    d[4, 2] += 3
    s = lb.shrink(A, B, d, contract="m16-tc", capsule=tmp_path / "c.safetensors")
    assert s["to"] == {"m": 1, "n": 1, "k": 48} and "no device" in s["kept"]
    assert lb.check_capsule(tmp_path / "c.safetensors").counts["wrong"] == 1


def test_no_capsule_is_an_error(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"nothing")
    with pytest.raises(lb.FileError):
        lb.check_capsule(path)
