"""Values without side effects are emitted once per scope and removed if unused."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, Operation, SSAValue

from codegen.xe.passes.lanes.emitter import (
    Emitter,
    index,
)


def operations(block: Block) -> list[type[Operation]]:
    """Return the classes of a block's operations."""
    return [type(op) for op in block.ops]


def test_a_sum_that_was_made_is_taken_again_where_it_is_seen() -> None:
    entry = Block(arg_types=[index, index])
    emitter, (a, b) = Emitter(entry), entry.args
    outer = emitter.sum(a, b)
    with emitter.into(inner := Block()):
        assert emitter.sum(a, b) is outer
        product = emitter.product(a, b)
        assert emitter.product(a, b) is product
    with emitter.into(beside := Block()):
        assert emitter.product(a, b) is not product
    assert emitter.product(a, b) is not product
    assert operations(entry) == [arith.AddiOp, arith.MuliOp]
    assert operations(inner) == operations(beside) == [arith.MuliOp]


def test_what_differs_in_operands_type_or_properties_is_another_value() -> None:
    entry = Block(arg_types=[index, index])
    emitter, (a, b) = Emitter(entry), entry.args
    values: list[SSAValue] = [
        *(emitter.as_int(a, type_) for type_ in (i32, i64)),
        *(emitter.compared(x, y, predicate) for x, y in ((a, b), (b, a)) for predicate in ("ult", "eq")),
    ]
    assert len(set(values)) == len(values)


def test_a_value_of_the_kernel_is_not_taken_at_its_start() -> None:
    """Values that depend only on the lane are hoisted to the start, before the same operation in the body."""
    entry = Block(arg_types=[index])
    emitter = Emitter(entry)
    lane, four = emitter.lane, emitter.constant(4, i32)
    late = emitter.both(lane, four)
    early = emitter.once("early", lambda: emitter.both(lane, four))
    assert late is not early
    assert emitter.once("again", lambda: emitter.both(lane, four)) is early
    assert emitter.both(emitter.lane, four) is late


def test_what_nothing_uses_goes_with_what_only_it_used() -> None:
    entry = Block(arg_types=[index, index])
    emitter, (a, b) = Emitter(entry), entry.args
    emitter.product(emitter.sum(a, b), emitter.sum(b, 3))
    kept = emitter.value(arith.IndexCastOp(emitter.index(emitter.product(a, b)), i64))
    emitter.drop_unused()
    assert operations(entry) == [arith.MuliOp, arith.IndexCastOp]
    assert kept.owner is entry.last_op
