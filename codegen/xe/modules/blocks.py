"""Work-group sizes of kernels: from the kernel, its launches, an argument or its layouts."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.gpu.host import (
    Extents,
    Launch,
    launched_block,
)
from codegen.xe.locations import OperationFailed
from codegen.xe.passes.distribute.analysis import layout_attributes, most_subgroups
from codegen.xe.passes.distribute.attributes import lanes_of
from codegen.xe.passes.expand_subgroup_threads import counts_subgroups
from codegen.xe.subgroup import subgroup_size

_MOST_ITEMS = 2**31 - 1


def set_blocks(kernels: Sequence[gpu.FuncOp], launches: Sequence[Launch], given: Extents | None = None) -> None:
    """Set the block of kernels without one from their launches, else, if they count sub-groups, from `given`.

    Raises:
        OperationFailed: the launches of a kernel differ, or a block is invalid.
    """
    for kernel in kernels:
        said = kernel.known_block_size
        block = _launched_block(kernel, launches) if said is None else tuple(said.get_values())
        if block is None and counts_subgroups(kernel):
            block = given
        if block is not None:
            _check_extents(kernel, block)
            kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, block)


def set_default_blocks(kernels: Sequence[gpu.FuncOp]) -> None:
    """Set the block of work-group-level kernels without one to as many sub-groups as their largest layout has."""
    for kernel in kernels:
        subgroups = most_subgroups(kernel)
        if subgroups and kernel.known_block_size is None:
            kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, (subgroups * subgroup_size(), 1, 1))


def check_blocks(kernels: Sequence[gpu.FuncOp]) -> None:
    """Check that blocks are whole sub-groups, and match the number of sub-groups in XeGPU layouts.

    Raises:
        OperationFailed: otherwise, since a kernel would skip parts of its tiles.
    """
    for kernel in kernels:
        size, needed = kernel.known_block_size, most_subgroups(kernel)
        if size is None:
            continue
        items = prod(size.get_values())
        if items % subgroup_size() or items < needed * subgroup_size():
            least = f", at least {needed} as its maps count" if needed else ""
            raise OperationFailed.at(
                kernel,
                f"kernel {kernel.sym_name.data}: expected a block of whole sub-groups of {subgroup_size()} "
                f"work-items{least}, got {_shown(size.get_values())} work-items",
            )


def check_lanes(kernels: Sequence[gpu.FuncOp]) -> None:
    """Check that layouts count the work-items of a sub-group.

    Raises:
        OperationFailed: otherwise, since the layout would be ignored.
    """
    for kernel in kernels:
        for op in kernel.walk():
            for layout in layout_attributes(op):
                lanes = lanes_of(layout)
                if lanes is not None and lanes != subgroup_size():
                    raise OperationFailed.at(
                        op,
                        f"kernel {kernel.sym_name.data}: {op.name}: expected a layout of {subgroup_size()} work-items "
                        f"a sub-group, got {lanes} in {layout}",
                    )


def _launched_block(kernel: gpu.FuncOp, launches: Sequence[Launch]) -> Extents | None:
    try:
        return launched_block(kernel.sym_name.data, launches)
    except VerifyException as error:
        raise OperationFailed.at(kernel, str(error)) from error


def _check_extents(kernel: gpu.FuncOp, block: Sequence[int]) -> None:
    if min(block) < 1 or prod(block) * subgroup_size() > _MOST_ITEMS:
        raise OperationFailed.at(
            kernel,
            f"kernel {kernel.sym_name.data}: expected a block of three numbers of at least 1, got {_shown(block)}",
        )


def _shown(block: Sequence[int]) -> str:
    return "x".join(map(str, block))
