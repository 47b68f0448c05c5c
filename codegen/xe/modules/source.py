"""The first stages of a module of kernels: parsing, and lowering to XeGPU."""

from xdsl.dialects.builtin import ModuleOp, f32

from codegen.target import Target
from codegen.xe.dialects import gpu
from codegen.xe.dialects.maps import WgMap
from codegen.xe.locations import check_symbols, verify_at_places
from codegen.xe.modules.blocks import (
    check_blocks,
    check_lanes,
    set_default_blocks,
)
from codegen.xe.modules.kernels import (
    check_doubles,
    check_operations,
    kernels_of,
)
from codegen.xe.modules.reading import read_module
from codegen.xe.modules.registers import check_registers, erase_large_unused
from codegen.xe.modules.source_text import SourceText
from codegen.xe.passes.expand_subgroup_threads import expand_subgroup_threads
from codegen.xe.passes.forms import rewrite_forms
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from codegen.xe.passes.tile_mma_to_contract import tile_mma_to_contract


def parse_source(source: SourceText) -> ModuleOp:
    """Parse and verify a module.

    Raises:
        CompileFailed: stage source; it cannot be parsed, or is not valid.
        OperationFailed: it is not a module of kernels in XeTile or XeGPU.
    """
    module = read_module(source)
    check_operations(kernels_of(module))
    return module


def merge_modules(module: ModuleOp) -> None:
    """Move what all gpu.modules hold into the first: their kernels become one binary.

    Raises:
        OperationFailed: two of them define the same symbol.
    """
    first, *others = (op for op in module.body.ops if isinstance(op, gpu.ModuleOp))
    for other in others:
        for op in other.body.ops:
            op.detach()
            first.body.block.add_op(op)
        other.detach()
    check_symbols(first.body.ops)


def lower_source(module: ModuleOp, target: Target) -> None:
    """Lower a module to XeGPU, with layouts on the operations at work-group level.

    Raises:
        OperationFailed: a form is not supported, two symbols have one name, a block does not match the sub-groups of
            a kernel's layouts, or values do not fit the registers.
    """
    merge_modules(module)
    rewrite_forms(module)
    expand_subgroup_threads(module)
    tile_mma_to_contract(module, of=f32)  # DPAS would round them to tf32
    largest = target.load_shape  # for bytes; fewer of longer elements
    lower_xetile(module, LowerXeTilePass(load_a=largest, load_b=largest, prefetch=largest))
    for op in module.walk():  # now expressed by the layouts, and unknown to MLIR
        if isinstance(op.attributes.get("map"), WgMap):
            del op.attributes["map"]
    verify_at_places(module)
    kernels = kernels_of(module)
    check_blocks(kernels)
    check_lanes(kernels)
    for kernel in kernels:
        check_doubles(kernel, target)
        erase_large_unused(kernel, target)
        check_registers(kernel, target)
    set_default_blocks(kernels)
