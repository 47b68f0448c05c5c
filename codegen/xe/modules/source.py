"""The first stages of a module of kernels: parsing, and lowering to XeGPU."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.ir import Operation

from codegen.errors import CompileFailed
from codegen.target import Target
from codegen.xe.dialects import gpu
from codegen.xe.dialects.maps import WgMap
from codegen.xe.modules.blocks import (
    check_blocks,
    check_lanes,
    set_default_blocks,
)
from codegen.xe.modules.kernels import (
    check_operations,
    kernels_of,
)
from codegen.xe.modules.reading import read_module
from codegen.xe.modules.registers import check_registers, erase_large_unused
from codegen.xe.passes.expand_subgroup_threads import expand_subgroup_threads
from codegen.xe.passes.forms import rewrite_forms
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)
from codegen.xe.passes.tile_mma_to_contract import tile_mma_to_contract


def parse_source(source: str, name: str) -> ModuleOp:
    """Parse and verify a module; errors are located in `name`.

    Raises:
        CompileFailed: stage source; it is not a module of kernels in XeTile or XeGPU.
    """
    module = read_module(source, name)
    check_operations(kernels_of(module))
    return module


def merge_modules(module: ModuleOp) -> None:
    """Move what all gpu.modules hold into the first: their kernels become one binary.

    Raises:
        CompileFailed: stage source; two of them define the same symbol.
    """
    first, *others = (op for op in module.body.ops if isinstance(op, gpu.ModuleOp))
    for other in others:
        for op in other.body.ops:
            op.detach()
            first.body.block.add_op(op)
        other.detach()
    names = [_symbol(op) for op in first.body.ops]
    if twice := sorted({name for name in names if name is not None and names.count(name) > 1}):
        raise CompileFailed("source", f"expected symbols of different names in the gpu.modules, got {', '.join(twice)}")


def _symbol(op: Operation) -> str | None:
    name = op.properties.get("sym_name", op.attributes.get("sym_name"))
    return name.data if isinstance(name, StringAttr) else None


def lower_source(module: ModuleOp, target: Target) -> None:
    """Lower a module to XeGPU, with layouts on the operations at work-group level.

    Raises:
        CompileFailed: stage source or xegpu; two symbols have one name, or a block does not match the sub-groups of
            a kernel's layouts.
        Refused: a value does not fit the registers.
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
    module.verify()
    kernels = kernels_of(module)
    check_blocks(kernels)
    check_lanes(kernels)
    for kernel in kernels:
        erase_large_unused(kernel, target)
        check_registers(kernel, target)
    set_default_blocks(kernels)
