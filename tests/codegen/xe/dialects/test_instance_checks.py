"""Instances of xDSL's classes are those by inheritance."""

from abc import ABCMeta
from importlib import import_module
from typing import Any

import pytest
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, f32, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from codegen.xe.dialects import context
from codegen.xe.dialects.instance_checks import kinds

BASES = (Attribute, Block, Operation, Region, SSAValue)


def test_no_class_is_registered_with_another() -> None:
    """Registered ones would not be found."""
    context()
    dump = import_module("_abc")._get_dump
    assert not [kind for base in BASES for kind in kinds(base) if dump(kind)[0]]


def test_every_class_is_checked_by_inheritance() -> None:
    context()
    assert all(type(kind) is not ABCMeta for base in BASES for kind in kinds(base))


@pytest.mark.parametrize(
    ("value", "is_", "is_not"),
    [
        (arith.ConstantOp.from_int_and_width(1, 32), Operation, scf.ForOp),
        (f32, AnyFloat, IntegerType),
        (i32, IntegerType | IndexType, AnyFloat),
        (arith.ConstantOp.from_int_and_width(1, 32).result, OpResult, BlockArgument),
        (Block(arg_types=[i32]).args[0], SSAValue, OpResult),
    ],
)
def test_instances(value: object, is_: Any, is_not: Any) -> None:
    assert isinstance(value, is_)
    assert not isinstance(value, is_not)
    assert not isinstance("text", is_)


def test_a_class_that_is_derived_later_is_checked_alike() -> None:
    class Later(arith.AddiOp):
        """An addition."""

    op = arith.AddiOp.create(result_types=[i32])
    assert not isinstance(op, Later)
    assert isinstance(Later.create(result_types=[i32]), arith.AddiOp)
    assert type(Later) is type(arith.AddiOp)
