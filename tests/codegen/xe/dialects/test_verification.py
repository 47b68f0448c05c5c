"""Operations of one form are compared with their definition once, and each that is not valid is found."""

from unittest.mock import patch

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects import parse
from codegen.xe.dialects.verification import verify

CONSTANTS = IntegerAttr(5, i32), IntegerAttr(5, i64)


def sums(count: int, *, other: bool = False) -> ModuleOp:
    """A module that adds a constant to itself some times, and at last one of another type."""
    constant, wide = map(arith.ConstantOp, CONSTANTS)
    added: list[Operation] = [arith.AddiOp(constant, constant) for _ in range(count)]
    if other:
        added.append(arith.AddiOp(constant, wide, result_type=i32))
    return ModuleOp([constant, wide, *added])


def test_a_form_is_compared_once() -> None:
    verify(sums(1))
    with patch("xdsl.irdl.operations.irdl_op_verify_arg_list") as compared:
        verify(sums(3))
    assert {call.args[0].name for call in compared.call_args_list} == {"builtin.module"}


def test_an_operation_of_another_form_is_found() -> None:
    verify(sums(2))
    with pytest.raises(VerifyException):
        verify(sums(2, other=True))
    with pytest.raises(VerifyException):
        verify(sums(2, other=True))


def tile_of(step: int) -> ModuleOp:
    """A module with a tile of a matrix whose columns are so many elements apart, as a constant says."""
    return parse(f"""
gpu.module @m {{
  gpu.func @k(%a: i64, %n: index) kernel {{
    %step = arith.constant {step} : index
    %t = xetile.init_tile %a[0, 0], [%n, %n], [64, %step] : i64 -> !xetile.tile<8x16xf32>
    gpu.return
  }}
}}""")


def test_what_an_operation_verifies_beyond_types_is_verified_each_time() -> None:
    for _ in range(2):
        verify(tile_of(1))
        with pytest.raises(VerifyException, match="init_tile"):
            verify(tile_of(3))
