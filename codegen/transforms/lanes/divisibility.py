"""What is known of an index: what divides it, and the constant that is added to it."""

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


def is_given(value: Index) -> bool:
    """Whether an index hangs on what a launch gives, or memory, so that only the launch knows what divides it."""
    if not isinstance(value, SSAValue):
        return False
    owner = value.owner
    if isinstance(owner, Operation):
        return owner.name.startswith(("memref.", "llvm.")) or any(map(is_given, owner.operands))
    return not isinstance(owner.parent_op(), scf.ForOp) or not isinstance(value, BlockArgument) or value.index > 0


def constant_part(value: Index) -> int:
    """The number in a sum; 0 of what is not a sum."""
    known = number(value)
    if known is not None or not isinstance(value, SSAValue):
        return known or 0
    owner = value.owner
    if isinstance(owner, arith.AddiOp):
        return constant_part(owner.lhs) + constant_part(owner.rhs)
    return 0


def number(value: Index) -> int | None:
    """An index that is known."""
    if isinstance(value, int):
        return value
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None
