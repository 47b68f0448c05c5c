"""Divisors and constant values of indices."""

from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from codegen.xe.dialects.index_list import Index


def divisor(value: Index) -> int:
    """Return a number that is known to divide an index; 0 for 0, which every number divides."""
    return _divisor(value, frozenset())


def _divisor(value: Index, assumed: frozenset[SSAValue]) -> int:
    """Return a divisor; values in `assumed` have any: those carried by a loop while its steps are analysed."""
    known = number(value)
    if known is not None or not isinstance(value, SSAValue) or value in assumed:
        return abs(known or 0)
    owner = value.owner
    if isinstance(value, BlockArgument):
        return _divisor_of_argument(value, assumed)
    if isinstance(owner, arith.AddiOp | arith.SubiOp | arith.RemUIOp | arith.RemSIOp | arith.MinUIOp | arith.MaxUIOp):
        return gcd(_divisor(owner.lhs, assumed), _divisor(owner.rhs, assumed))
    if isinstance(owner, arith.MuliOp):
        return _divisor(owner.lhs, assumed) * _divisor(owner.rhs, assumed)
    if isinstance(owner, Operation) and owner.name == "arith.select":
        return gcd(*(_divisor(operand, assumed) for operand in owner.operands[1:]))
    if isinstance(owner, Operation) and owner.name == "arith.index_cast":
        return _divisor(owner.operands[0], assumed)
    return 1


def _divisor_of_argument(value: BlockArgument, assumed: frozenset[SSAValue]) -> int:
    loop = value.block.parent_op()
    if not isinstance(loop, scf.ForOp):
        return 1
    if value.index == 0:
        return gcd(_divisor(loop.lb, assumed), _divisor(loop.step, assumed))
    yielded = value.block.last_op
    assert isinstance(yielded, scf.YieldOp)
    start, step = loop.iter_args[value.index - 1], yielded.operands[value.index - 1]
    return gcd(_divisor(start, assumed), _divisor(step, assumed | {value}))


def number(value: Index) -> int | None:
    """Return the value of a constant index, else None."""
    if isinstance(value, int):
        return value
    owner = value.owner
    if type(owner) is arith.ConstantOp and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None
