import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.cpu.emit.writer import Module
from codegen.cpu.nest.partition import (
    largest_part,
    part,
    write_part,
)
from tests.codegen.cpu.jit import AVX512, load

_L = ctypes.c_int64


@given(st.integers(0, 1000), st.integers(1, 40))
def test_parts_follow_each_other_and_differ_by_at_most_one(count: int, parts: int) -> None:
    ranges = [part(count, parts, number) for number in range(parts)]
    assert [i for r in ranges for i in r] == list(range(count))
    lengths = [len(r) for r in ranges]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] - lengths[-1] <= 1
    assert largest_part(count, parts) == lengths[0]


@pytest.mark.parametrize(("count", "parts"), [(17, 5), (20, 4), (3, 7), (9, 1)])
def test_code_computes_the_same_parts(count: int, parts: int) -> None:
    module = Module()
    with module.function("low", [("i64", "%number")], "i64", "") as f:
        f.end(f"ret i64 {write_part(f, count, parts, '%number').low}")
    with module.function("high", [("i64", "%number")], "i64", "") as f:
        f.end(f"ret i64 {write_part(f, count, parts, '%number').high}")
    code = load(module.text, AVX512[:5])
    low, high = (code.entry(name, _L, result=_L) for name in ("low", "high"))
    assert [range(low(i), high(i)) for i in range(parts)] == [part(count, parts, i) for i in range(parts)]
