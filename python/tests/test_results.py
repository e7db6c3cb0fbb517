# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts from Python: the record of the command, readable, never truthy by accident."""
import json
import os
import subprocess
from pathlib import Path

import lastbit as lb
import numpy as np
import pytest

F16 = "sm_80/mma.m16n8k16.f32.f16.f16.f32"
SHARED = Path(__file__).resolve().parents[3] / "shared/hwdata"


def draw(shape, format="bf16", seed=1):
    return lb.quantize(np.random.default_rng(seed).standard_normal(shape), format)


def product(a, b):
    return lb.quantize(a.astype(np.float64) @ b.astype(np.float64), "bf16")


A, B = draw((24, 200)), draw((200, 16), seed=2)


def test_a_right_output_passes_and_prints_a_block():
    result = lb.check(A, B, product(A, B), contract="m16-tc")
    assert result.verdict == "PASS" and result.passed and result.counts["compared"] == 24 * 16
    assert str(result).startswith("PASS op=matmul in=bf16 out=bf16 contract=m16-tc m=24 n=16 k=200: compared=384")
    assert "PASS op=matmul" in repr(result) and result.brief().startswith("PASS")


def test_a_verdict_is_not_a_truth_value():
    result = lb.check(A, B, product(A, B), contract="m16-tc")
    with pytest.raises(TypeError, match="ask .passed"):
        assert result


def test_a_lost_tail_fails_with_place_and_numbers():
    result = lb.check(A, B, product(A[:, :-8], B[:-8]), contract="m16-tc")
    assert result.verdict == "FAIL" and result.counts["wrong"] > 100
    row, col = result.record["worst"]["at"]
    assert f" at={row},{col}\n" in str(result) and result.record["worst"]["ulp"] > 2


def test_nothing_compared_is_unproven():
    result = lb.check(A[:0], B, np.zeros((0, 16), A.dtype), contract="m16-tc")
    assert result.verdict == "UNPROVEN" and not result.passed


def test_a_nan_never_slips_through():
    d = product(A, B)
    d[3, 4] = np.nan
    result = lb.check(A, B, d, contract="m16-tc")
    assert result.verdict == "FAIL" and result.record["first"]["at"] == [3, 4] and result.counts["class_mismatch"] == 1


def test_the_record_is_that_of_the_command(tmp_path):
    unit = lb.unit(F16)
    a, b = draw((16, 32), "f16"), draw((32, 8), "f16", 2)
    c, d = draw((16, 8), "f32", 3), None
    d = unit.gemm(a, b, c)
    d[5, 6] = np.nextafter(d[5, 6], np.float32(9))
    for name, x in zip("ABCD", (a, b, c, d)):
        np.save(tmp_path / f"{name}.npy", x)
    ours = lb.check(a, b, d, c, unit=unit, contract="m16-tc", seed=3).record
    run = subprocess.run(["lastbit", "check", *(tmp_path / f"{n}.npy" for n in "ABC"), "--actual", tmp_path / "D.npy", "--unit", F16,
                          "--contract", "m16-tc", "--seed", "3", "--json"], capture_output=True, text=True)
    theirs = json.loads(run.stdout)
    for record in (ours, theirs):
        for key in ("rerun", "on", "timing", "environment"):
            del record[key]
    assert ours == theirs and ours["counts"]["legal"] == 1


def test_a_device_is_run_behind_guards():
    result = lb.check(A, B, on="model:sm_80/mma.m16n8k16.f32.bf16.bf16.f32", contract="m16-tc", out="bf16")
    assert result.passed and result.record["on"].startswith("model:")


def test_b_may_be_stored_transposed_and_formats_said_for_codes():
    d = product(A, B)
    result = lb.check(A.view(np.uint16), B.T.copy().view(np.uint16), d.view(np.uint16), contract="m16-tc", in_="bf16", out="bf16",
                      transpose_b=True)
    assert result.passed and result.counts["compared"] == d.size


@pytest.mark.parametrize("options, words", [
    ({}, "give unit=, contract= or both"),
    ({"contract": "m16-tc", "on": "model:x"}, "one of the two"),
    ({"contract": "m16tc"}, "did you mean m16-tc?"),
    ({"contract": "m16-tc", "reference": "f32"}, "there are auto, f64, exact"),
    ({"contract": "m16-tc", "nan": "all"}, "there are bits, class"),
    ({"contract": "m16-tc", "in_": "bf1"}, "did you mean bf16?"),
    ({"unit": "sm_80/mma"}, "sm_80"),
])
def test_a_bad_call_is_an_exception_not_a_verdict(options, words):
    with pytest.raises(lb.Error) as raised:
        lb.check(A, B, product(A, B), **options)
    assert words in str(raised.value)


def test_grade_compares_two_matrices():
    r = product(A, B)
    assert lb.grade(r, r, k=200).counts["exact"] == r.size
    d = r.view(np.uint16).copy()
    d[7, 8] += 3
    result = lb.grade(d, r, "m16-tc", k=200)
    assert result.verdict == "FAIL" and result.record["first"]["at"] == [7, 8]
    assert lb.grade(d[::2, ::-1], r[::2, ::-1], k=200).passed  # row 7 is not in it
    with pytest.raises(lb.ShapeError, match=r"actual is \[24, 15\]; reference is \[24, 16\]"):
        lb.grade(d[:, 1:], r, k=200)
    with pytest.raises(lb.ArgumentError):
        lb.grade(d, r, k=0)
    with pytest.raises(lb.FormatError, match="uint16 elements name no number format"):
        lb.grade(d, d, k=200)


def test_contracts_are_those_of_the_command():
    rows = json.loads(subprocess.run(["lastbit", "contracts", "--json"], capture_output=True, text=True).stdout)
    assert [c.name for c in lb.contracts()] == [row["name"] for row in rows]
    assert lb.contract("m16-tc").floor(5120, 39.13) == pytest.approx(1.335103e-3, abs=1e-8)


def test_contracts_take_parameters_and_files(tmp_path):
    r = product(A, B)
    d = r.view(np.uint16).copy()
    d[7, 8] += 3
    off = d.view(r.dtype)
    assert lb.grade(off, r, "ulp:3", k=200).passed and lb.grade(off, r, "ulp:2", k=200).verdict == "FAIL"
    assert lb.contract("ulp:3").max_ulp == 3 and lb.contract("ulp:3").name == "ulp:3"
    path = tmp_path / "mine.json"
    path.write_text('{"rule": "ulp", "name": "mine", "bound": {"max_ulp": 3}}')
    assert lb.grade(off, r, str(path), k=200).record["contract"]["name"] == "mine"
    with pytest.raises(lb.ArgumentError, match="whole number"):
        lb.contract("ulp:x")
    with pytest.raises(lb.FileError, match="cannot be opened"):
        lb.contract(str(tmp_path / "absent.json"))
    with pytest.raises(lb.ArgumentError, match="lastbit check"):
        lb.grade(r, r, "gamma", k=200)


def test_a_recording_is_replayed_or_its_absence_said(tmp_path):
    with pytest.raises(lb.FileError, match="nothing.safetensors"):
        lb.replay(tmp_path / "nothing.safetensors")
    recordings = sorted(SHARED.glob("*.safetensors"))
    if not recordings:
        pytest.skip("no recordings beside this tree (../shared/hwdata)")
    result = lb.replay(recordings[0])
    assert result.passed and result.counts["compared"] > 0


def test_a_saved_recording_of_our_own_is_replayed(tmp_path):
    safetensors_header = {"__metadata__": {"lastbit.recording": "dot/1"}}
    (tmp_path / "x.safetensors").write_bytes(len(json.dumps(safetensors_header)).to_bytes(8, "little") +
                                             json.dumps(safetensors_header).encode())
    with pytest.raises(lb.FileError):  # a recording without tensors is none
        lb.replay(os.fspath(tmp_path / "x.safetensors"))


def test_a_device_runs_behind_guards_also_after_products_on_threads():
    unit = lb.unit("sm_80/mma.m16n8k16.f32.bf16.bf16.f32")
    a = draw((256, 256))
    unit.gemm(a, a, threads=2)  # leaves OpenMP's threads behind, which a forked process does not have
    assert lb.check(a, a, on=f"model:{unit.name}", unit=unit, timeout=20).passed


def test_a_contract_that_misses_faults_is_unproven_unless_they_are_allowed():
    result = lb.check(A, B, product(A, B), contract="nmse", power=True)
    missed = [row["fault"] for row in result.record["power"]["faults"] if row["end"] == "missed"]
    assert result.verdict == "UNPROVEN" and "ulp-3" in missed and result.reason.startswith("blind: nmse would pass")
    assert lb.check(A, B, product(A, B), contract="nmse", power=True, allow_blind=missed).passed
    assert lb.check(A, B, product(A, B), contract="m16-tc", power=True).record["power"]["score"] == 1
    assert lb.check(A, B, product(A, B), contract="m16-tc").record["power"] is None
    d = product(A, B)
    assert lb.grade(d, d, "m16-tc", k=200, power=True).passed
    with pytest.raises(lb.UnknownNameError, match="did you mean ulp-3"):
        lb.grade(d, d, "m16-tc", k=200, power=True, allow_blind=["ulp-33"])
    with pytest.raises(AssertionError, match="blind: nmse"):
        lb.assert_within(d, A, B, contract="nmse", power=True)
