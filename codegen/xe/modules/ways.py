"""The two ways from work-group-level XeGPU to lanes: MLIR's pipeline, and our own."""

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseArrayBase, FixedBitwidthType, MemRefType, ModuleOp, i32
from xdsl.ir import Operation

from codegen.artifact.kernel_artifact import (
    Distribution,
    Distributor,
)
from codegen.artifact.stages import Stages
from codegen.errors import CompileFailed
from codegen.target import SUBGROUP_SIZE, Target
from codegen.workers.fork import in_fork
from codegen.xe.dialects import text
from codegen.xe.dialects.generic_text import generic_text
from codegen.xe.dialects.index_list import join
from codegen.xe.dialects.lane_access import LANE_ACCESS
from codegen.xe.dialects.xegpu import CreateNdTdescOp
from codegen.xe.layout import block_limits
from codegen.xe.mlir import XeGpuModule
from codegen.xe.mlir.faults import upstream_faults
from codegen.xe.modules.kernels import kernels_of
from codegen.xe.passes.distribute import distribute_to_subgroups
from codegen.xe.passes.distribute.analysis import most_subgroups
from codegen.xe.passes.lanes import lower_to_lanes
from codegen.xe.passes.lanes.analysis.divisibility import divisor
from codegen.xe.passes.legalise_xegpu import legalise_xegpu

Finished = TypeVar("Finished")

_SUBGROUP_LEVEL = "sub-group-level"
_SURFACE_OF_LAUNCH = "surface-of-launch"
_LANE_ACCESS = "lane-access"
_BASE_BITS = 64 * 8  # what block messages want of where a matrix begins
_REFUSED = "mlir-refused"
_ASKED = "asked-for"
_SHOWN_CHARACTERS = 200
_CPU_LIMIT_S = 20


def lower(
    module: ModuleOp,
    stages: Stages,
    target: Target,
    asked: Distributor | None,
    finish: Callable[[bytes], Finished],
    reason: str = _ASKED,
) -> tuple[Distribution, Finished]:
    """What `finish` makes of the LLVM bitcode of a module of XeGPU, by MLIR's way or by ours.

    Ours is taken where MLIR's has a fault that is known, and where it or `finish` after it fails. `asked` asks for
    one of the two, for a `reason` that is told where ours has no other.

    Raises:
        CompileFailed: a stage failed, or MLIR's way is asked for and has a fault that the module runs into.
    """
    _say_blocks(module)
    because = _why_not_mlir(module)
    if asked is Distributor.MLIR:
        if because:
            raise CompileFailed(
                "xegpu", f"expected a module that MLIR's pipeline lowers rightly, got one with {', '.join(because)}"
            )
        return Distribution(asked), finish(_by_mlir(module, stages, target))
    if asked is Distributor.XETUNE:
        return Distribution(asked, because or (reason,)), finish(_by_xetune(module, stages, target))
    if not because:
        try:
            return Distribution(Distributor.MLIR), finish(_by_mlir(module.clone(), stages, target))
        except CompileFailed as failed:
            because = (f"{_REFUSED}: {failed.message[:_SHOWN_CHARACTERS]}",)
    return Distribution(Distributor.XETUNE, because), finish(_by_xetune(module, stages, target))


def _say_blocks(module: ModuleOp) -> None:
    """A work-group-level kernel that does not say its block has as many sub-groups as its largest layout counts."""
    for kernel in kernels_of(module):
        subgroups = most_subgroups(kernel)
        if subgroups and kernel.known_block_size is None:
            kernel.properties["known_block_size"] = DenseArrayBase.from_list(i32, (subgroups * SUBGROUP_SIZE, 1, 1))


def _why_not_mlir(module: ModuleOp) -> tuple[str, ...]:
    """MLIR's pipeline is given work-group-level kernels that run into none of its faults."""
    because = {fault.name for fault in upstream_faults(module)}
    for name, applies in ((_SURFACE_OF_LAUNCH, _is_surface_of_launch), (_LANE_ACCESS, _is_accessed_by_lanes)):
        if any(applies(op) for op in module.walk()):
            because.add(name)
    if not all(most_subgroups(kernel) for kernel in kernels_of(module)):
        because.add(_SUBGROUP_LEVEL)
    return tuple(sorted(because))


def _is_surface_of_launch(op: Operation) -> bool:
    """A matrix of which only the launch says whether block messages may access it: ours asks it, MLIR's does not."""
    if not isinstance(op, CreateNdTdescOp):
        return False
    source, base = op.source.type, op.source.owner
    if not isinstance(source, MemRefType) or not source.has_static_shape():
        return True
    if not isinstance(base, memref.ReinterpretCastOp):
        return False
    bits = source.element_type.bitwidth if isinstance(source.element_type, FixedBitwidthType) else 0
    return any(divisor(offset) * bits % _BASE_BITS for offset in join(iter(base.offsets), base.static_offsets))


def _is_accessed_by_lanes(op: Operation) -> bool:
    return isinstance(op, CreateNdTdescOp) and LANE_ACCESS in op.attributes


def _by_mlir(module: ModuleOp, stages: Stages, target: Target) -> bytes:
    xegpu = stages.run("xegpu", lambda: _legal(module))
    stages.add("xegpu", "xegpu.mlir", lambda: str(xegpu))
    # Its passes end the process over some modules.
    return stages.run("llvm", lambda: in_fork("llvm", "MLIR", lambda: xegpu.lower(target.chip), _CPU_LIMIT_S))


def _legal(module: ModuleOp) -> XeGpuModule:
    legalise_xegpu(module)
    return XeGpuModule(generic_text(module))


def _by_xetune(module: ModuleOp, stages: Stages, target: Target) -> bytes:
    stages.add("xegpu", "xegpu.mlir", lambda: text(module))
    stages.run("subgroup", lambda: distribute_to_subgroups(module))
    stages.add("subgroup", "subgroup.mlir", lambda: text(module))
    stages.run("lanes", lambda: lower_to_lanes(module, block_limits(target)))
    lanes = stages.run("lanes", lambda: XeGpuModule(generic_text(module)))
    stages.add("lanes", "lanes.mlir", lambda: str(lanes))
    return stages.run("llvm", lambda: lanes.lower(target.chip, "lane"))
