"""What is known of an index: what divides it, and its number."""

from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from codegen.dialects.index_list import Index


def divisor(value: Index) -> int:
    """A number that divides an index for sure; 0, which all divide, of 0."""
    known = number(value)
    if known is not None or not isinstance(value, SSAValue):
        return abs(known or 0)
    owner = value.owner
    if isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if isinstance(loop, scf.ForOp) and value.index == 0:
            return gcd(divisor(loop.lb), divisor(loop.step))
        return 1
    if isinstance(owner, arith.AddiOp | arith.SubiOp | arith.RemUIOp | arith.RemSIOp | arith.MinUIOp | arith.MaxUIOp):
        return gcd(divisor(owner.lhs), divisor(owner.rhs))
    if isinstance(owner, arith.MuliOp):
        return divisor(owner.lhs) * divisor(owner.rhs)
    if isinstance(owner, Operation) and owner.name == "arith.select":
        return gcd(*map(divisor, owner.operands[1:]))
    if isinstance(owner, Operation) and owner.name == "arith.index_cast":
        return divisor(owner.operands[0])
    return 1


def number(value: Index) -> int | None:
    """An index that is known."""
    if isinstance(value, int):
        return value
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None
