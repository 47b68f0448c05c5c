"""What becomes of a value that a loop carries."""

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

_BOUNDS_OF_LOOP = 3  # operands of scf.for before those that it carries


def carried_as(op: Operation, number: int) -> tuple[SSAValue, ...]:
    """What an operand of a loop, or of the end of its round, is within the loop and after it."""
    yields = isinstance(op, scf.YieldOp)
    loop = op.parent_op() if yields else op
    if not isinstance(loop, scf.ForOp):
        return ()
    number -= 0 if yields else _BOUNDS_OF_LOOP
    return () if number < 0 else (loop.body.block.args[number + 1], loop.results[number])
