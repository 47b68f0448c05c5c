"""Check that what is live in a sub-group fits its registers and what may spill: more compiles in unbounded time."""

from math import prod

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FixedBitwidthType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from codegen.target import LARGE_GRF, Target
from codegen.xe.dialects import gpu
from codegen.xe.dialects.kernel_attributes import WORK_ITEMS
from codegen.xe.dialects.literals import is_splat
from codegen.xe.dialects.xegpu.types import bits
from codegen.xe.locations import OperationFailed
from codegen.xe.passes.distribute.analysis import most_subgroups
from codegen.xe.subgroup import subgroup_size

_INDEX_BITS = 64
_MOST_SPILLED = 8
"""Live values may take this many times the registers."""


_LOADS = ("xegpu.load", "xegpu.load_nd", "xegpu.load_matrix")


def erase_large_unused(kernel: gpu.FuncOp, target: Target) -> None:
    """Erase values that nobody uses and that the registers of a sub-group have no room for."""
    for op in reversed(list(kernel.walk())):
        unused = bool(op.results) and not any(result.uses for result in op.results)
        large = any(_nbytes_of(result.type) > _registers(target) for result in op.results)
        if unused and large and (op.name in _LOADS or is_side_effect_free(op)):
            Rewriter.erase_op(op)


def _registers(target: Target) -> int:
    return max(target.grf_modes, default=LARGE_GRF) * target.grf_bytes


def check_registers(kernel: gpu.FuncOp, target: Target) -> None:
    """Check that what is live at each operation of an XeGPU kernel is a small multiple of the registers that hold it.

    Raises:
        OperationFailed: rule module-registers, with what is live at the operation, and the available registers.
    """
    have = _registers(target)
    subgroups = most_subgroups(kernel) or 1
    holders = subgroup_size() if WORK_ITEMS in kernel.attributes else 1
    nbytes, at = max(
        (_most_live(block) for block in kernel.body.blocks), key=lambda found: found[0], default=(0, kernel)
    )
    if (nbytes := nbytes * holders) > _MOST_SPILLED * have * subgroups:
        raise OperationFailed.at(
            at,
            f"kernel {kernel.sym_name.data}: {nbytes} bytes of values are live at {at.name}; the registers of "
            f"{_threads(subgroups)} are {have * subgroups}, and {_MOST_SPILLED} times as much may spill: use smaller "
            "tiles, or maps with more sub-groups",
            "module-registers",
        )


def _most_live(block: Block) -> tuple[int, Operation]:
    """Return the most bytes of values that are live at an operation of a block, and the operation."""
    most, at = 0, block.parent_op()
    assert at is not None
    live: set[SSAValue] = set()
    for op in reversed(list(block.ops)):
        now = sum(map(_nbytes, live.union(op.results)))
        inner = [_most_live(b) for region in op.regions for b in region.blocks]
        live.difference_update(op.results)
        live.update(v for nested in op.walk() for v in nested.operands if _block_of(v) is block)
        deepest = max(inner, key=lambda found: found[0], default=(0, op))
        found = max((now, op), (sum(map(_nbytes, live)) + deepest[0], deepest[1]), key=lambda found: found[0])
        if found[0] > most:
            most, at = found
    return most, at


def _block_of(value: SSAValue) -> Block | None:
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


def _nbytes(value: SSAValue) -> int:
    """Return the bytes that a value takes; splats take one register, and unused values none."""
    owner = value.owner
    if isinstance(owner, ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr) and is_splat(owner.value):
        return 0
    return _nbytes_of(value.type) if value.uses else 0


def _nbytes_of(type_: Attribute) -> int:
    if not isinstance(type_, VectorType):
        return 0
    element = type_.element_type
    width = bits(element) if isinstance(element, FixedBitwidthType) else _INDEX_BITS
    return prod(type_.get_shape()) * width // 8


def _threads(subgroups: int) -> str:
    return "one sub-group" if subgroups == 1 else f"{subgroups} sub-groups"
