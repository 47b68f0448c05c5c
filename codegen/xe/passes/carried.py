"""Uses of a value carried by a loop."""

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

_BOUNDS_OF_LOOP = 3  # operands of scf.for before the carried ones


def carried_as(op: Operation, number: int) -> tuple[SSAValue, ...]:
    """Return the values that an operand of a loop or its yield becomes, in the loop and after it."""
    yields = isinstance(op, scf.YieldOp)
    loop = op.parent_op() if yields else op
    if not isinstance(loop, scf.ForOp):
        return ()
    number -= 0 if yields else _BOUNDS_OF_LOOP
    return () if number < 0 else (loop.body.block.args[number + 1], loop.results[number])
