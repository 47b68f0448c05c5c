"""Operations made by `creation` equal those that xDSL makes."""

from collections.abc import Callable, Sequence

import pytest
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, i32, i64
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.dialects.test import TestTermOp as AnyEnd
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import Rewriter

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
Names = tuple[str | None, ...]
Replace = Callable[[Operation, Sequence[SSAValue], Sequence[Operation]], None]


def _named(names: Names, operands: Sequence[SSAValue] = (), types: Sequence[Attribute] | None = None) -> AnyOp:
    """Return an operation with results of these names."""
    op = AnyOp(operands=operands, result_types=types or [i32] * len(names))
    for result, name in zip(op.results, names, strict=True):
        result.name_hint = name
    return op


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


@pytest.mark.parametrize("names", [("a", None), ("a", "b"), (None, "b"), (None, None)])
def test_uses_are_replaced_as_by_xdsl(names: Names) -> None:
    found: list[tuple[str, list[tuple[int, int]]]] = []
    for by in (replace_uses, SSAValue.replace_all_uses_with):
        a, b = (source := _named(names)).results
        users: list[Operation] = [AnyOp(operands=operands) for operands in ((a, b, a), (b,))]
        users.append(AnyEnd(operands=[a]))
        around = AnyOp(operands=[a], regions=[Region(Block([users[2]]))])
        module = ModuleOp([source, *users[:2], around])
        by(a, b)
        module.verify()
        assert a.first_use is None
        places = [*users, around]
        found.append((str(module), [(places.index(use.operation), use.index) for use in b.uses]))
    assert found[0] == found[1]


def test_a_value_is_not_replaced_by_itself() -> None:
    (a,) = _named(("a",)).results
    user = AnyOp(operands=[a, a])
    uses = [*a.uses]
    replace_uses(a, a)
    assert [*a.uses] == uses
    assert tuple(user.operands) == (a, a)


def _by_rewriter(op: Operation, values: Sequence[SSAValue], made: Sequence[Operation]) -> None:
    Rewriter.replace_op(op, made, values)


def _by_pattern_rewriter(op: Operation, values: Sequence[SSAValue], made: Sequence[Operation]) -> None:
    PatternRewriter(op).replace(op, made, values)


def _replaced(by: Replace, names: Names, made: Sequence[Names], values: Sequence[int]) -> str:
    """Return a program after `by` replaced an operation by others.

    `values` number the results of those; -1 is the value that all of them use.
    """
    source = AnyOp(result_types=[i32])
    op, new = _named(names, source.results), [_named(given, source.results) for given in made]
    results = [*(result for other in new for result in other.results), *source.results]
    within = AnyEnd(operands=op.results[::-1])
    module = ModuleOp([source, op, AnyOp(operands=[*op.results, *op.results], regions=[Region(Block([within]))])])
    by(op, [results[number] for number in values], new)
    module.verify()
    assert op.parent is None
    assert all(result.first_use is None for result in op.results)
    assert op not in {use.operation for use in source.results[0].uses}
    return str(module)


@pytest.mark.parametrize(
    ("names", "made", "values"),
    [
        (("sum",), [(None,), (None,)], [1]),
        (("sum",), [(None, None), ("given",), (None, None)], [3]),
        (("sum",), [(None,), ("given",)], [1]),
        (("sum", "carry"), [(None, None), (None,)], [0, 2]),
        (("sum", "carry"), [(None,), ("given", None), (None,)], [2, 1]),
        ((None, "carry"), [("given", None), (None, None)], [3, 2]),
        (("sum", "carry"), [(None,)], [0, -1]),
        (("sum",), [], [-1]),
        ((), [(None,)], []),
        ((), [], []),
    ],
)
def test_a_replacement_is_that_of_xdsl(names: Names, made: list[Names], values: list[int]) -> None:
    assert _replaced(replace, names, made, values) == _replaced(_by_rewriter, names, made, values)


@pytest.mark.parametrize("names", [("sum",), (None,)])
def test_a_replacement_by_one_new_result_is_that_of_a_pattern(names: Names) -> None:
    made: list[Names] = [(None,), ("given", None), (None,)]
    assert _replaced(replace, names, made, [3]) == _replaced(_by_pattern_rewriter, names, made, [3])


@pytest.mark.parametrize("by", [replace, _by_rewriter])
def test_a_replacement_has_a_value_of_each_result(by: Replace) -> None:
    op, made = _named(("sum", "carry")), _named(("given",))
    Block([op])
    with pytest.raises(ValueError):
        by(op, made.results, [made])


@pytest.mark.parametrize("by", [replace, _by_rewriter])
def test_an_operation_that_a_replacement_uses_is_not_erased(by: Replace) -> None:
    op = _named(("sum",))
    Block([op])
    with pytest.raises(ValueError):
        by(op, op.results, [AnyOp(operands=op.results)])


def test_an_erasure_is_that_of_xdsl() -> None:
    found: list[str] = []
    for by in (erase, drop, Rewriter.erase_op):
        source = _named(("a", "b"))
        within = AnyEnd(operands=source.results)
        op = _named(("unused", "too"), source.results)
        op.add_region(Region(Block([within])))
        module = ModuleOp([source, op, user := AnyOp(operands=source.results)])
        by(op)
        module.verify()
        assert op.parent is None
        assert [use.operation for result in source.results for use in result.uses] == [user, user]
        found.append(str(module))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("used", [0, 1])
def test_an_operation_with_a_used_result_is_not_erased(used: int) -> None:
    for by, message in ((erase, r"whose results are not used, got test\.op"), (Rewriter.erase_op, "still has uses")):
        op = _named(("a", "b"))
        module = ModuleOp([op, AnyOp(operands=[op.results[used]])])
        before = str(module)
        with pytest.raises(ValueError, match=message):
            by(op)
        if by is erase:  # xDSL takes it out of its block first
            assert str(module) == before
            module.verify()


def test_an_operation_is_dropped_before_those_that_use_it() -> None:
    source, made = _named(("a",)), _named(("b",))
    made.operands = source.results
    user = AnyOp(operands=made.results)
    module = ModuleOp([source, made, user])
    drop(made)
    assert list(module.ops) == [source, user]
    assert source.results[0].first_use is None


def _loop_of_xdsl(bounds: Sequence[SSAValue], carried: Sequence[SSAValue], body: Block) -> scf.ForOp:
    start, end, step = bounds
    return scf.ForOp(start, end, step, carried, body)


def test_a_loop_is_that_of_xdsl() -> None:
    found: list[str] = []
    for by in (for_loop, _loop_of_xdsl):
        source = _named(("start", "end", "step"), types=[IndexType()] * 3)
        carried = _named(("x", "y", None), types=(i32, i64, i64))
        body = Block(arg_types=[IndexType(), i32, i64, i64])
        for arg, name in zip(body.args, ("i", "a", "b", None), strict=True):
            arg.name_hint = name
        number, a, b, c = body.args
        body.add_ops([AnyOp(operands=[number, *carried.results]), scf.YieldOp(a, c, b)])
        loop = by(source.results, carried.results, body)
        module = ModuleOp([source, carried, loop, AnyOp(operands=loop.results)])
        module.verify()
        assert (loop.body.parent, loop.body.block, body.parent) == (loop, body, loop.body)
        assert tuple(loop.iter_args) == carried.results
        assert [(result.type, result.owner) for result in loop.res] == [(i32, loop), (i64, loop), (i64, loop)]
        found.append(str(module))
    assert found[0] == found[1]
