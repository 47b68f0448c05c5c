"""The benchmark of weights on CPUs: what each contender is given stands for the same numbers."""

import numpy as np
import pytest

from benchmarks.cpu.timing import Measured, Times
from benchmarks.cpu.weights import DEFAULT, INT4, W8A8, WeightCase, WeightRow, drawn, operands, table
from codegen import DType
from tuner.verify.weights import dequantised


@pytest.mark.parametrize("dtype", [DType.U4, DType.S8])
def test_operands_hold_the_drawn_numbers(dtype: DType) -> None:
    case = WeightCase(2, 24, 256, dtype.value)
    values, sets = drawn(case), operands(case, drawn(case), 1)
    held, p = sets[0], case.problem
    assert [len(part) for part in held.bytes] == [operand.nbytes(1) for operand in p.operands]
    stored = held.b.view(np.uint32 if dtype is DType.U4 else np.int8).T
    group = np.arange(case.k) // (128 if dtype is DType.U4 else case.k)
    zero = 8 if dtype is DType.U4 else 0
    expected = (values.codes.T - np.float32(zero)) * values.scale[group]
    got = dequantised(p, stored, held.scales[0].view(np.uint16), None, slice(0, case.k))
    assert np.allclose(got, expected, rtol=2**-8, atol=0)
    a = (held.a.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert (a == values.a).all()


def test_operands_of_bytes_hold_the_drawn_numbers() -> None:
    case = WeightCase(3, 24, 256, W8A8)
    values = drawn(case)
    (held, *_), p = operands(case, values, 1), case.problem
    assert [len(part) for part in held.bytes] == [operand.nbytes(1) for operand in p.operands]
    rows, columns = held.scales
    assert (held.a.view(np.int8) * rows.view(np.float32) == values.a).all()
    assert (held.b.view(np.int8).T * columns.view(np.float32) == values.codes.T * values.scale[0]).all()


def test_the_table_has_ratios_and_their_mean() -> None:
    times = {INT4: Times((4.0,), (4.0,)), DEFAULT: Times((2.0,), (2.0,))}
    slow = {INT4: Times((1.0,), (1.0,)), DEFAULT: Times((2.0,), (2.0,))}
    rows = [WeightRow(WeightCase(m, 24, 256, "u4"), Measured(t, 0), "") for m, t in ((1, times), (3, slow))]
    lines = table(rows)
    assert lines[2] == "| u4 1x24x256 | 4 | 2 | 2.00 | 0 |"
    assert lines[-1] == "\nint4pack / default: 1.00 in the geometric mean, least 0.50, 1 below 0.8"
