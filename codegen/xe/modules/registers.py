"""Check that the values of a sub-group fit in its registers; larger kernels compile in unbounded time."""

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, VectorType
from xdsl.ir import Attribute

from codegen.errors import Refused
from codegen.target import LARGE_GRF, Target
from codegen.xe.dialects import gpu
from codegen.xe.dialects.work_items import WORK_ITEMS
from codegen.xe.dialects.xegpu.types import bits
from codegen.xe.passes.distribute.analysis import most_subgroups
from codegen.xe.subgroup import subgroup_size

_INDEX_BITS = 64


def check_registers(kernel: gpu.FuncOp, target: Target) -> None:
    """Check that each value of an XeGPU kernel fits the registers of the threads that hold it.

    Raises:
        Refused: module-registers, with the value and the available registers.
    """
    have = max(target.grf_modes, default=LARGE_GRF) * target.grf_bytes
    subgroups = most_subgroups(kernel) or 1
    holders = subgroup_size() if WORK_ITEMS in kernel.attributes else 1
    for op in kernel.walk():
        for result in op.results:
            if (nbytes := _nbytes(result.type) * holders) > have * subgroups:
                raise Refused(
                    "module-registers",
                    f"kernel {kernel.sym_name.data}: {op.name} makes {result.type}, {nbytes} bytes; the registers of "
                    f"{_threads(subgroups)} are {have * subgroups}: use smaller tiles, or maps with more sub-groups",
                )


def _nbytes(type_: Attribute) -> int:
    if not isinstance(type_, VectorType):
        return 0
    element = type_.element_type
    width = bits(element) if isinstance(element, FixedBitwidthType) else _INDEX_BITS
    return prod(type_.get_shape()) * width // 8


def _threads(subgroups: int) -> str:
    return "one sub-group" if subgroups == 1 else f"{subgroups} sub-groups"
