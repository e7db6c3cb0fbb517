# SPDX-License-Identifier: MIT OR Apache-2.0
"""Scalar operations from Python: arrays of words, against NumPy where NumPy has the operation."""
import lastbit as lb
import numpy as np
import pytest


def words_of(dtype, count, seed):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, count, dtype=dtype, endpoint=True)


def test_integers_wrap_as_numpy_has_them():
    a, b = words_of(np.uint32, 1000, 1), words_of(np.uint32, 1000, 2)
    assert (lb.scalar("add.u32").eval(a, b) == a + b).all()
    assert (lb.scalar("mul.lo.u32").eval(a, b) == a * b).all()
    assert (lb.scalar("mul.wide.u32").eval(a, b) == a.astype(np.uint64) * b).all()
    assert lb.scalar("mul.wide.u32").eval(a, b).dtype == np.uint64


@pytest.mark.parametrize(("name", "function"), [("add.rn.f32", np.add), ("mul.rn.f32", np.multiply), ("div.rn.f32", np.divide)])
def test_floats_round_as_numpy_rounds_them(name, function):
    a, b = words_of(np.uint32, 20000, 3), words_of(np.uint32, 20000, 4)
    with np.errstate(all="ignore"):
        want = function(a.view(np.float32), b.view(np.float32))
    got = lb.scalar(name).eval(a, b).view(np.float32)
    assert (np.isnan(got) == np.isnan(want)).all()
    assert (got.view(np.uint32) == want.view(np.uint32))[~np.isnan(want)].all()


def test_shapes_broadcast_and_single_words_stay_single():
    out = lb.scalar("min_u32").eval(np.arange(6, dtype=np.uint32).reshape(2, 3), 2)
    assert out.tolist() == [[0, 1, 2], [2, 2, 2]]
    assert int(lb.scalar("popc.b32").eval(255)) == 8


def test_what_cannot_be_taken_is_refused():
    with pytest.raises(lb.UnknownNameError, match="did you mean"):
        lb.scalar("fma.rx.f32")
    with pytest.raises(lb.ArgumentError, match="it takes 3"):
        lb.scalar("fma.rz.f32").eval(1)
    with pytest.raises(lb.FormatError, match="words are integers"):
        lb.scalar("neg.f32").eval(1.0)
    with pytest.raises(lb.ShapeError, match="32 at a time"):
        lb.scalar("vote_all").eval([1, 2, 3])
    with pytest.raises(lb.ShapeError):
        lb.scalar("add.u32").eval([1, 2, 3], [1, 2])


def test_every_row_is_listed_with_its_source():
    rows = lb.scalars()
    assert len(rows) >= 430
    assert all(row.source and lb.scalar(row.name).ptx == row.ptx for row in rows)
