# SPDX-License-Identifier: MIT OR Apache-2.0
"""The gate and its pytest plugin, run on test files of their own: what fails, what it says, what it leaves behind."""
import json
import shlex
import subprocess

import lastbit as lb
import numpy as np
import pytest

CASES = """
import lastbit as lb, numpy as np, pytest
rng = np.random.default_rng(7)
A, B = lb.quantize(rng.standard_normal((32, 1000)), "bf16"), lb.quantize(rng.standard_normal((1000, 24)), "bf16")

def product(a, b, lost=0):
    k = a.shape[1] - lost
    return lb.quantize(a[:, :k].astype(float) @ b[:k].astype(float), "bf16")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a test file in a session of its own: its result, and its whole output."""
    monkeypatch.delenv("LASTBIT_DIR", raising=False)

    def run(body, *arguments):
        pytester.makepyfile(test_kernel=CASES + body)
        done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
        return done, done.stdout.str() + done.stderr.str()
    return run


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


LOST_TAIL = """
def test_tail():
    lb.assert_within(product(A, B, lost=8), A, B, contract="m16-tc")
"""


def test_a_lost_tail_fails_with_element_bits_bound_counts_and_what_reruns_it(run, pytester):
    done, output = run(LOST_TAIL)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([
        "E * FAIL op=matmul in=bf16 out=bf16 contract=m16-tc m=32 n=24 k=1000: compared=768 exact=* legal=* wrong=* worst=*ulp bound=* at=*",
        "E *   reason     * of 768 elements are wrong",
        "E *   first      row *, column *: 0x* (*), reference 0x* (*); * ulp, off by *, allowed *",
        "E *   rerun      lastbit check .lastbit/test_kernel.py-test_tail/A.safetensors *",
        "lastbit: 1 comparisons, 768 elements: 1 FAIL",
    ])
    rerun = next(line for line in output.splitlines() if "  rerun  " in line).split("rerun", 1)[1].strip()
    again = subprocess.run(shlex.split(rerun), cwd=pytester.path, capture_output=True, text=True)
    assert again.returncode == 1 and again.stdout.splitlines()[0] in output
    assert (pytester.path / ".lastbit/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("options, extra", [
    ("unit='sm_80/mma.m16n8k16.f32.bf16.bf16.f32', out='f32'", ".astype(np.float32)"),
    ("contract='m16-tc', unit='sm_80/mma.m16n8k16.f32.bf16.bf16.f32'", ""),
    ("contract='m16-tc', sample=8, seed=5, reference='exact'", ""),
])
def test_what_is_left_behind_judges_alike(run, pytester, options, extra):
    done, output = run(f"def test_x():\n    lb.assert_within(product(A, B, 8){extra}, A, B, {options})\n", "--lastbit-report=report.jsonl")
    done.assert_outcomes(failed=1)
    record, = records(pytester.path / "report.jsonl")
    again = subprocess.run([*shlex.split(record["rerun"]), "--json"], cwd=pytester.path, capture_output=True, text=True)
    theirs = json.loads(again.stdout)
    assert theirs["counts"] == record["counts"] and theirs["case"] == record["case"] and theirs["verdict"] == "FAIL"


def test_transposed_b_and_c_are_left_behind_too(run, pytester):
    done, _ = run("""
def test_x():
    c = np.ones((32, 24), np.float32)
    lb.assert_within(product(A, B), A, B.T.copy(), c, contract="m16-tc", transpose_b=True)
""", "--lastbit-report=report.jsonl", "--lastbit-dir=left")
    done.assert_outcomes(failed=1)
    record, = records(pytester.path / "report.jsonl")
    assert "--tb" in record["rerun"] and "left/test_kernel.py-test_x/C.safetensors" in record["rerun"]
    again = subprocess.run([*shlex.split(record["rerun"]), "--json"], cwd=pytester.path, capture_output=True, text=True)
    assert json.loads(again.stdout)["counts"] == record["counts"]


def test_a_right_output_passes_and_is_reported(run, pytester):
    done, output = run("def test_x():\n    assert lb.assert_within(product(A, B), A, B, contract='m16-tc').counts['wrong'] == 0\n",
                       "--lastbit-report=report.jsonl")
    done.assert_outcomes(passed=1)
    record, = records(pytester.path / "report.jsonl")
    assert record["test"] == "test_kernel.py::test_x" and record["verdict"] == "PASS" and record["schema"] == "lastbit.result/1"
    assert "lastbit: 1 comparisons, 768 elements: 1 PASS; report: report.jsonl" in output
    assert not (pytester.path / ".lastbit").exists()


@pytest.mark.parametrize("body", [
    "lb.assert_within(product(A, B)[:0], A[:0], B, contract='m16-tc')",
    "lb.assert_within(product(0 * A, B), 0 * A, B, contract='m16-tc')",  # an all-zero reference proves nothing
])
def test_nothing_compared_fails(run, body):
    done, output = run(f"def test_x():\n    {body}\n")
    done.assert_outcomes(failed=1)
    assert "E       lastbit.Mismatch: UNPROVEN op=matmul" in output


@pytest.mark.parametrize("body, outcome", [("pass", "failed"), ("lb.assert_within(product(A, B), A, B, contract='m16-tc')", "passed"),
                                           ("pytest.skip('no GPU here')", "skipped"), ("lb.check(A, B, product(A, B), contract='m16-tc')", "failed")])
def test_a_marked_test_has_to_compare_something(run, body, outcome):
    done, output = run(f"@pytest.mark.lastbit\ndef test_x():\n    {body}\n")
    done.assert_outcomes(**{outcome: 1})
    assert ("nothing was compared" in output) == (outcome == "failed")


MANY = """
@pytest.mark.parametrize("lost", [0, 0, 8, 0, 16, 0, 0, 24])
def test_x(lost):
    lb.assert_within(product(A, B, lost), A, B, contract="m16-tc")

def test_twice():
    lb.assert_within(product(A, B), A, B, contract="m16-tc")
    for lost in (8, 9):
        with pytest.raises(AssertionError):
            lb.assert_within(product(A, B, lost), A, B, contract="m16-tc")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"], ["-n", "2", "--dist", "loadfile"]])
def test_every_record_is_reported_whoever_ran_the_test(run, pytester, workers):
    if workers:
        pytest.importorskip("xdist", reason="no pytest-xdist: pip install -r python/requirements-test.txt")
    done, output = run(MANY, "--lastbit-report=report.jsonl", *workers)
    done.assert_outcomes(passed=6, failed=3)
    found = records(pytester.path / "report.jsonl")
    assert len(found) == 11 and [r["verdict"] for r in found].count("FAIL") == 5
    assert len({r["test"] for r in found}) == 9
    assert "lastbit: 11 comparisons, 8448 elements: 5 FAIL, 6 PASS; report: report.jsonl" in output
    folders = sorted(p.name for p in (pytester.path / ".lastbit").iterdir() if p.is_dir())
    assert folders == ["test_kernel.py-test_twice", "test_kernel.py-test_twice-2", "test_kernel.py-test_x-16",
                       "test_kernel.py-test_x-24", "test_kernel.py-test_x-8"]


def test_a_report_that_cannot_be_written_is_refused_before_any_test_runs(run):
    done, output = run(LOST_TAIL, "--lastbit-report=nowhere/report.jsonl")
    assert done.ret == pytest.ExitCode.USAGE_ERROR and "nowhere is not there or not writable" in output


def test_a_bad_call_is_an_error_and_no_mismatch():
    with pytest.raises(lb.UnknownNameError):
        lb.assert_within(np.float16([[1]]), np.float16([[1]]), np.float16([[1]]), contract="m17")
    with pytest.raises(lb.ArgumentError, match="give unit=, contract= or both"):
        lb.assert_within(np.float16([[1]]), np.float16([[1]]), np.float16([[1]]))


def test_a_disk_that_refuses_does_not_hide_the_mismatch(tmp_path, monkeypatch):
    from lastbit._assert import session
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(session, "folder", tmp_path / "file")
    a = lb.quantize(np.ones((2, 3)), "bf16")
    with pytest.raises(lb.Mismatch, match="not saved") as raised:
        lb.assert_within(lb.quantize(np.ones((2, 2)), "bf16"), a, a.T, contract="m16-tc")
    assert str(raised.value).startswith("FAIL op=matmul") and raised.value.result.verdict == "FAIL"
