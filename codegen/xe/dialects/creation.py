"""Creation of operations from parts that need no check, several times faster than by xDSL's constructors; their
replacement and walks.

Those constructors accept optional and variadic parts, and look at each. Lane code has thousands of operations of few
kinds.
"""

# pyright: reportPrivateUsage=false
# xDSL has no public way to set the parts of an operation without the work that this avoids.

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation, OptionalDef

_Op = TypeVar("_Op", bound=Operation)
_NONE: Mapping[str, Attribute] = {}


def create(
    kind: type[_Op],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] = _NONE,
    regions: Sequence[Region] = (),
) -> _Op:
    """Return an operation without successors, as `Operation.create` does."""
    op = kind.__new__(kind)
    _fill(op, operands, result_types, properties)
    for region in regions:
        op.add_region(region)
    return op


def for_loop(bounds: Sequence[SSAValue], carried: Sequence[SSAValue], body: Block) -> scf.ForOp:
    """Return a loop from lower bound, upper bound and step, with the start of each carried value."""
    return create(scf.ForOp, (*bounds, *carried), [value.type for value in carried], regions=(Region(body),))


def initialise(
    op: Operation,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute | None] = _NONE,
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
) -> None:
    """Initialise an operation without successors; properties that are None are left out.

    Where several operands, or results, are lists, their lengths are among the properties.
    """
    _fill(op, operands, result_types, {name: value for name, value in properties.items() if value is not None})
    if attributes:
        op.attributes.update(attributes)
    for region in regions:
        op.add_region(region)


def _fill(
    op: Operation,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
) -> None:
    uses: list[Use] = []
    for number, operand in enumerate(operands):
        use = Use(op, number, None, first := operand.first_use)
        if first is not None:
            first._prev_use = use
        operand.first_use = use
        uses.append(use)
    op._operands, op._operand_uses = SSAValues(operands), tuple(uses)
    op.results = SSAValues([OpResult(type_, op, number) for number, type_ in enumerate(result_types)])
    op.properties = {**_defaults(type(op)), **properties}
    op.attributes, op.location = {}, UNKNOWN_LOC


def copy(op: _Op, values: dict[SSAValue, SSAValue] | None = None) -> _Op:
    """Return a copy of an operation without successors, and of all nested in it, as its method `clone` does.

    `values` maps values from outside to those that the copy uses; the results are added.
    """
    values = {} if values is None else values
    made = create(type(op), [values[operand] for operand in op._operands], [value._type for value in op.results])
    made.properties, made.attributes, made.location = op.properties.copy(), op.attributes.copy(), op.location
    for old, new in zip(op.results, made.results, strict=True):
        values[old], new._name = new, old._name
    for region in op.regions:
        made.add_region(Region([_copy_of_block(block, values) for block in region.blocks]))
    return made


def _copy_of_block(block: Block, values: dict[SSAValue, SSAValue]) -> Block:
    made = Block(arg_types=block.arg_types)
    for old, new in zip(block.args, made.args, strict=True):
        values[old], new._name = new, old._name
    op = block._first_op
    while op is not None:
        append(made, copy(op, values))
        op = op._next_op
    return made


def walk(root: Operation | Block) -> Iterator[Operation]:
    """Yield an operation, or those of a block, with all nested in them, as their method `walk` does."""
    if isinstance(root, Block):
        pending = [] if root._first_op is None else [root._first_op]
    else:
        yield root
        pending = _first_nested(root)
    while pending:
        op = pending.pop()
        if (following := op._next_op) is not None:
            pending.append(following)
        yield op
        if op.regions:
            pending += _first_nested(op)


def _first_nested(op: Operation) -> list[Operation]:
    """Return the first operation of each block of an operation, the last block first."""
    return [block._first_op for region in op.regions for block in region.blocks if block._first_op is not None][::-1]


def append(block: Block, op: Operation) -> None:
    """Append an operation that is in no block yet to a block."""
    op.parent = block
    if (last := block._last_op) is None:
        block._first_op = op
    else:
        last._next_op, op._prev_op = op, last
    block._last_op = op


def reorder(block: Block, ops: Sequence[Operation], after: Operation | None) -> None:
    """Set the order of the operations of a block behind one of them, or of all; there is one at least."""
    last = after
    for op in ops:
        op._prev_op = last
        if last is None:
            block._first_op = op
        else:
            last._next_op = op
        last = op
    assert last is not None
    last._next_op, block._last_op = None, last


def insert_before(op: Operation, existing: Operation) -> None:
    """Insert an operation that is in no block yet before one of a block."""
    block = op.parent = existing.parent
    assert block is not None
    before = existing._prev_op
    op._prev_op, op._next_op, existing._prev_op = before, existing, op
    if before is None:
        block._first_op = op
    else:
        before._next_op = op


def replace(op: Operation, values: Sequence[SSAValue], made: Sequence[Operation] = ()) -> None:
    """Replace the results of an operation by values, and the operation by those that were made for it.

    Values take over the names of results, and other results of new operations that of the first, unless they have one.
    """
    for new in made:
        insert_before(new, op)
    for result, value in zip(op.results, values, strict=True):
        replace_uses(result, value)
    if op.results:
        first, *_ = op.results
        for other in (result for new in made for result in new.results if result.name_hint is None):
            other.name_hint = first.name_hint
    erase(op)


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """Replace a value in all its uses, as its method `replace_all_uses_with` does."""
    if new is old:
        return
    while (use := old.first_use) is not None:
        user = use.operation
        operands = [*user._operands]
        operands[use.index] = new
        user._operands = SSAValues(operands)
        old.remove_use(use)
        new.add_use(use)
    if new.name_hint is None:
        new.name_hint = old.name_hint


def erase(op: Operation) -> None:
    """Erase an operation.

    Raises:
        ValueError: a result is used.
    """
    if any(result.first_use is not None for result in op.results):
        raise ValueError(f"expected an operation to erase whose results are not used, got {op.name}")
    drop(op)


def drop(op: Operation) -> None:
    """Erase an operation whose results only operations use that will be erased, too, or are in no block."""
    if op.parent is not None:
        op.detach()
    op.drop_all_references()


@cache
def _defaults(kind: type[Operation]) -> Mapping[str, Attribute]:
    """Return the properties of a kind of operation that have default values."""
    if not issubclass(kind, IRDLOperation):
        return {}
    properties = kind.get_irdl_definition().properties.items()
    values = ((name, None if isinstance(p, OptionalDef) else p.default_value) for name, p in properties)
    return {name: value for name, value in values if value is not None}
