"""Refusals of the memref and index dialects in files with host code."""

import pytest
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.xe.dialects import context

SOURCE = '%m, %i, %n = "test.op"() : () -> (memref<8x32xf16>, index, i32)\n'


def _parse(source: str):
    ctx = context().clone()
    ctx.load_dialect(Test)
    return Parser(ctx, SOURCE + source).parse_module()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("memref.global @x : i32 = dense<1>", "memref.global: expected a memref, got i32"),
        (
            "%t = memref.transpose %m (i, j) -> (j, k) : memref<8x32xf16> to memref<32x8xf16>",
            "memref.transpose: expected a permutation of ['i', 'j'], got ['j', 'k']",
        ),
    ],
)
def test_what_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(ParseError) as refused:
        _parse(source)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "%t = memref.transpose %m (i, j, k) -> (j, i, k) : memref<8x32xf16> to memref<32x8xf16>",
            "memref.transpose: expected a permutation of 2 dimensions, got (1, 0, 2)",
        ),
        (
            "%t = memref.transpose %m (i, j) -> (j, i) : memref<8x32xf16> to memref<8x32xf16>",
            "memref.transpose: expected a result of shape (32, 8), got (8, 32)",
        ),
        (
            "%c = index.castu %n : i32 to i64",
            "index.castu: expected a cast between index and an integer, got i32 and i64",
        ),
        (
            "%c = index.casts %i : index to index",
            "index.casts: expected a cast between index and an integer, got index and index",
        ),
    ],
)
def test_what_is_refused(source: str, message: str) -> None:
    with pytest.raises(VerifyException) as refused:
        _parse(source).verify()
    assert message in str(refused.value)
