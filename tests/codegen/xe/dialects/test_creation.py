"""Operations made by `creation` equal those that xDSL makes."""

import pytest
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from codegen import DType, GemmProblem
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import context, text
from codegen.xe.dialects.creation import (
    append,
    copy,
    create,
    drop,
    erase,
    for_loop,
    initialise,
    insert_before,
    replace,
    replace_uses,
    walk,
)
from hal.facts.xe import find
from tuner.space.xe.heuristic import default_config

B580, PROBLEM = find("b580"), GemmProblem(200, 136, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)
KINDS = [kind for kind in (*context().loaded_ops, llvm.LoadOp, llvm.StoreOp) if issubclass(kind, IRDLOperation)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_defaults_are_those_of_xdsl(kind: type[Operation]) -> None:
    ours, theirs = create(kind, (), ()), kind.create()
    assert (ours.properties, ours.attributes, ours.location) == (theirs.properties, theirs.attributes, theirs.location)


def test_operands_results_and_uses_are_those_of_xdsl() -> None:
    a, b = AnyOp(result_types=[i32, i64]).results
    ours = create(AnyOp, (a, b, a), (i64, i32), {"given": i64})
    theirs = AnyOp.create(operands=(a, b, a), result_types=(i64, i32), properties={"given": i64})
    assert tuple(ours.operands) == tuple(theirs.operands)
    assert [(r.type, r.index) for r in ours.results] == [(r.type, r.index) for r in theirs.results]
    assert ours.properties == theirs.properties
    assert [(use.operation, use.index) for use in a.uses] == [(theirs, 2), (theirs, 0), (ours, 2), (ours, 0)]
    ours.operands[0] = b
    assert [(use.operation, use.index) for use in a.uses] == [(theirs, 2), (theirs, 0), (ours, 2)]
    assert [(use.operation, use.index) for use in b.uses] == [(ours, 0), (theirs, 1), (ours, 1)]


def test_given_properties_precede_defaults_and_none_is_left_out() -> None:
    default = arith.AddiOp.create().properties["overflowFlags"]
    flags = arith.IntegerOverflowAttr((arith.IntegerOverflowFlag.NSW,))
    assert flags != default
    assert create(arith.AddiOp, (), (), {"overflowFlags": flags}).properties == {"overflowFlags": flags}
    op = llvm.LoadOp.__new__(llvm.LoadOp)
    initialise(op, (), (i32,), {"alignment": None})
    assert set(op.properties) == {"ordering"}


def test_appended_operations_are_in_order() -> None:
    block, ops = Block(), [create(AnyOp, (), ()) for _ in range(3)]
    append(block, ops[0])
    block.add_op(ops[1])
    append(block, ops[2])
    assert list(block.ops) == ops
    assert [op.parent for op in ops] == [block] * 3
    assert list(reversed(tuple(block.walk(reverse=True)))) == ops


def test_operations_inserted_before_others_are_in_order() -> None:
    block, ops = Block(), [create(AnyOp, (), ()) for _ in range(4)]
    append(block, ops[3])
    insert_before(ops[0], ops[3])
    insert_before(ops[2], ops[3])
    insert_before(ops[1], ops[2])
    assert list(block.ops) == ops
    assert list(block.walk(reverse=True)) == ops[::-1]
    assert [op.parent for op in ops] == [block] * 4


def test_a_walk_is_that_of_xdsl() -> None:
    inner = Block([AnyOp(), AnyOp(regions=[Region([Block([AnyOp()]), Block([AnyOp(), AnyOp()])])])])
    block = Block([AnyOp(), around := AnyOp(regions=[Region(inner), Region()]), AnyOp()])
    assert len(ops := list(walk(block))) == 8
    assert ops == list(block.walk())
    assert list(walk(around)) == list(around.walk()) == ops[1:7]


def test_a_walk_goes_on_behind_operations_that_are_replaced() -> None:
    block = Block([AnyOp(), AnyOp(), AnyOp()])
    first, second, third = block.ops
    seen: list[Operation] = []
    for op in walk(block):
        seen.append(op)
        if op is second:
            insert_before(create(AnyOp, (), ()), op)
            block.erase_op(op)
    assert seen == [first, second, third]
    assert len(block.ops) == 3


def test_a_copy_is_that_of_xdsl_and_shares_no_operation() -> None:
    module = build_gemm(PROBLEM, default_config(PROBLEM, B580), B580)
    before = text(module)
    made = copy(module)
    made.verify()
    assert text(made) == text(module.clone()) == before
    assert made.is_structurally_equivalent(module)
    for op in walk(made):
        op.attributes["changed"] = i64
        op.properties.clear()
    assert text(module) == before


def test_a_copy_uses_the_given_values() -> None:
    (a, b), (c,) = AnyOp(result_types=[i32, i64]).results, AnyOp(result_types=[i32]).results
    inner = AnyOp(operands=[a, b])
    outer = AnyOp(operands=[a], regions=[Region(Block([inner]))])
    made = copy(outer, {a: c, b: b})
    (copied,) = made.regions[0].block.ops
    assert (tuple(made.operands), tuple(copied.operands)) == ((c,), (c, b))
    assert tuple(inner.operands) == (a, b)


def test_uses_are_replaced_in_the_order_of_xdsl() -> None:
    found: list[list[tuple[int, int]]] = []
    for by in (replace_uses, SSAValue.replace_all_uses_with):
        a, b = AnyOp(result_types=[i32, i32]).results
        a.name_hint = "a"
        users: list[Operation] = [AnyOp(operands=operands) for operands in ((a, b, a), (b,), (a,))]
        by(a, b)
        assert a.first_use is None
        assert b.name_hint == "a"
        assert all(operand is b for user in users for operand in user.operands)
        found.append([(users.index(use.operation), use.index) for use in b.uses])
    assert found[0] == found[1]


def test_replaced_operations_are_gone_and_their_names_stay() -> None:
    op, made = AnyOp(result_types=[i32]), [AnyOp(result_types=[i32]), AnyOp(result_types=[i32])]
    (result,), ((first,), (last,)) = op.results, (new.results for new in made)
    result.name_hint = "sum"
    user = AnyOp(operands=[result])
    block = Block([op, user])
    replace(op, [last], made)
    assert list(block.ops) == [*made, user]
    assert user.operands[0] is last
    assert (first.name_hint, last.name_hint, op.parent) == ("sum", "sum", None)


def test_used_operations_are_dropped_but_not_erased() -> None:
    op, source = AnyOp(result_types=[i32]), AnyOp(result_types=[i32])
    made = AnyOp(operands=source.results, result_types=[i32])
    user = AnyOp(operands=made.results)
    block = Block([op, source, made, user])
    with pytest.raises(ValueError, match=r"whose results are not used, got test\.op"):
        erase(made)
    erase(op)
    drop(made)
    assert list(block.ops) == [source, user]
    assert source.results[0].first_use is None


def test_a_loop_is_that_of_xdsl() -> None:
    start, end, step = AnyOp(result_types=[IndexType()] * 3).results
    (carried,) = AnyOp(result_types=[i32]).results
    bodies = [Block(arg_types=[IndexType(), i32]) for _ in range(2)]
    loops = for_loop((start, end, step), [carried], bodies[0]), scf.ForOp(start, end, step, [carried], bodies[1])
    for loop in loops:
        loop.body.block.add_op(scf.YieldOp(loop.body.block.args[1]))
        loop.verify()
    assert loops[0].is_structurally_equivalent(loops[1])
