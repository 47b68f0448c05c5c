"""Products of transposed operands, computed transposed: C^T = B^T A^T.

Messages read a matrix as it is stored for either operand of DPAS, but for A no message transposes elements of
less than 32 bits: they are rearranged in registers. If both matrices are stored by columns, each is directly
the other operand of the transposed product. If only B is, the transposed product transposes A instead, which
pays off if A is smaller. The lanes then hold rows of C, so it is transposed back where the product is used
once, not inside a loop.
"""

from collections.abc import Iterator

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.vector_ops import TransposeOp
from codegen.xe.dialects.xegpu import (
    DpasOp,
    LoadNdOp,
    StoreNdOp,
)
from codegen.xe.locations import Rewriting
from codegen.xe.subgroup import subgroup_size

_SWAP = (1, 0)


def turn_products(body: Block) -> None:
    """Transpose the products of a kernel's loops, in place, where that saves messages or moves."""
    products = [op for op in walk(body) if type(op) is DpasOp and isinstance(op.parent_op(), scf.ForOp)]
    # Analyse all before changing any: in an unrolled loop one is the accumulator of the next.
    for op in [product for product in products if _is_better_turned(product)]:
        with Rewriting(op):
            _turn(op)


def _is_better_turned(op: DpasOp) -> bool:
    a, b = op.a.type, op.b.type
    assert isinstance(a, VectorType)
    assert isinstance(b, VectorType)
    if a.get_num_dims() != 2 or b.get_num_dims() != 2 or a.get_shape()[0] % subgroup_size() or not _is_by_columns(op.b):
        return False
    if _is_by_columns(op.a):
        return True
    return _is_by_rows(op.a) and a.get_shape()[0] < b.get_shape()[1] and all(map(_is_stored, _uses(op)))


def _turn(op: DpasOp) -> None:
    swapped = [None if operand is None else TransposeOp(operand, _SWAP) for operand in (op.b, op.a, op.c)]
    b, a, c = (None if swap is None else swap.result for swap in swapped)
    assert a is not None
    assert b is not None
    shape = op.d.type.get_shape()
    product = DpasOp(b, a, c, VectorType(op.d.type.element_type, shape[::-1]), {})
    result = TransposeOp(product.d, _SWAP)
    result.result.name_hint = op.d.name_hint
    before = [swap for swap in swapped if swap is not None]
    Rewriter.insert_op([*before, product, result], InsertPoint.before(op))
    Rewriter.replace_op(op, [], [result.result])


def _is_by_columns(value: SSAValue) -> bool:
    """True if an operand is a block that is stored transposed."""
    origin = _origin(value)
    if isinstance(origin, TransposeOp):
        return (
            origin.dims == _SWAP and isinstance(_origin(origin.vector), LoadNdOp) and not _is_by_columns(origin.vector)
        )
    return isinstance(origin, LoadNdOp) and origin.transpose is not None and origin.transpose_bit_width is None


def _is_by_rows(value: SSAValue) -> bool:
    origin = _origin(value)
    return isinstance(origin, LoadNdOp) and origin.transpose is None and origin.packed is None


def _origin(value: SSAValue) -> Operation | None:
    """Return the defining operation of a value; of a carried value, that of its initial one."""
    while isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index == 0:
            return None
        value = loop.iter_args[value.index - 1]
    return value.owner if isinstance(value.owner, Operation) else None


def _uses(op: DpasOp) -> Iterator[Operation]:
    """Yield the uses of a product after the loops that carry it, following element-wise operations."""
    seen: set[SSAValue] = set()
    pending: list[SSAValue] = [op.d]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.operation
            if isinstance(user, scf.YieldOp):
                loop = user.parent_op()
                if not isinstance(loop, scf.ForOp):
                    yield user
                    continue
                pending += [loop.results[use.index], loop.body.block.args[use.index + 1]]
            elif isinstance(user, DpasOp) and use.index == 2:
                pending.append(user.d)
            elif user.name.startswith(("arith.", "math.")) and all(_follows(o, seen) for o in user.operands):
                pending += user.results
            else:
                yield user


def _follows(operand: SSAValue, seen: set[SSAValue]) -> bool:
    """True if an operand is the product, or the same in every lane."""
    return operand in seen or (isinstance(operand, OpResult) and isinstance(operand.op, arith.ConstantOp))


def _is_stored(user: Operation) -> bool:
    return isinstance(user, StoreNdOp)
