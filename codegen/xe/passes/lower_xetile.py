"""Lowers XeTile to XeGPU: at work-group level with layouts on the operations, at sub-group level without."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.target import Target
from codegen.xe.dialects.creation import erase, walk
from codegen.xe.dialects.upstream.memref_ops import TransposeOp as TransposedMemRefOp
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    BroadcastOp,
    ConvertLayoutOp,
    InitTileOp,
    LoadOp,
    LoadTileOp,
    PrefetchTileOp,
    ReductionOp,
    StoreOp,
    StoreTileOp,
    TileMmaOp,
    TransposeOp,
)
from codegen.xe.locations import Rewriting
from codegen.xe.passes.fold_tile_offsets import fold_tile_offsets
from codegen.xe.passes.infer_maps import infer_maps
from codegen.xe.passes.unblock_tiles import unblock_tiles
from codegen.xe.passes.xetile_to_xegpu.arguments import state_strides
from codegen.xe.passes.xetile_to_xegpu.descriptors import (
    BlockPlace,
    MatrixPlace,
    Place,
    ScatteredPlace,
    find_places,
)
from codegen.xe.passes.xetile_to_xegpu.layouts import Instructions
from codegen.xe.passes.xetile_to_xegpu.memory import (
    lower_load,
    lower_prefetch,
    lower_store,
)
from codegen.xe.passes.xetile_to_xegpu.scattered import (
    lower_atomic,
    lower_gather,
    lower_scatter,
    lower_scattered_prefetch,
)
from codegen.xe.passes.xetile_to_xegpu.slm import allocate_statically
from codegen.xe.passes.xetile_to_xegpu.vectors import (
    lower_broadcast,
    lower_convert_layout,
    lower_mma,
    lower_reduction,
    lower_transpose,
)


@dataclass(frozen=True)
class LowerXeTilePass(ModulePass):
    """Lowers tiles to descriptors and offsets; instruction sizes are limited to what a sub-group owns.

    `dpas` is M, N, K of one DPAS; `load_a`, `load_b` and `prefetch` are rows and columns of one 2-D block
    message.
    """

    name = "lower-xetile"
    dpas: tuple[int, int, int] = (8, 16, 16)
    load_a: tuple[int, int] = (8, 16)
    load_b: tuple[int, int] = (16, 16)
    prefetch: tuple[int, int] = (8, 32)

    def __post_init__(self) -> None:
        for block in (self.dpas, self.load_a, self.load_b, self.prefetch):
            if min(block) < 1:
                raise ValueError(f"lower-xetile: expected sizes of at least 1, got {','.join(map(str, block))}")
        m, n, k = self.dpas
        for option, block, unit in (("load-a", self.load_a, (m, k)), ("load-b", self.load_b, (k, n))):
            if any(have % need and need % have for have, need in zip(block, unit, strict=True)):
                raise ValueError(
                    f"lower-xetile: {option}: expected multiples or parts of {unit[0]},{unit[1]}, which a DPAS takes, "
                    f"got {block[0]},{block[1]}"
                )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_xetile(op, self)


def lower_gemm(module: ModuleOp, problem: GemmProblem, config: XeConfig, target: Target) -> None:
    """Lower a module of `build_gemm` in place, with the load blocks of the configuration.

    Raises:
        PassFailedException: an operation is not supported.
    """
    inner, nbytes = config.matmul.innermost, problem.dtype_a.nbytes
    rows, nbytes_of_row = target.load_shape
    flags = LowerXeTilePass(
        dpas=(target.dpas_m, target.dpas_n, target.dpas_k_bytes // nbytes),
        load_a=(inner.m, inner.k),
        load_b=(inner.k, inner.n),
        prefetch=(rows, nbytes_of_row),  # as far as the elements of each operand allow
    )
    lower_xetile(module, flags)


def lower_xetile(module: ModuleOp, flags: LowerXeTilePass) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: an operation is not supported.
    """
    instructions = Instructions(flags.dpas, flags.load_a, flags.load_b, flags.prefetch)
    state_strides(module)
    allocate_statically(module)
    unblock_tiles(module)
    fold_tile_offsets(module)
    infer_maps(module)
    places = find_places(module, instructions)
    operations = tuple(walk(module))
    for op in operations:  # first, since loads depend on the dpas operand they feed
        if type(op) is TileMmaOp:
            with Rewriting(op):
                lower_mma(op, instructions)
    for op in operations:
        if (lower := _OF_VECTORS.get(type(op))) is not None:
            with Rewriting(op):
                lower(op, instructions)
        elif op.name.startswith("xetile.") and isinstance(op, _Access):
            with Rewriting(op):
                _lower_access(op, places, instructions)
    _erase_unused(operations)


_OF_VECTORS: dict[type[Operation], Callable[[Any, Instructions], None]] = {
    TransposeOp: lower_transpose,
    ReductionOp: lower_reduction,
    BroadcastOp: lower_broadcast,
    ConvertLayoutOp: lower_convert_layout,
}
_Access = LoadTileOp | StoreTileOp | PrefetchTileOp | LoadOp | StoreOp | AtomicRmwOp


def _lower_access(op: _Access, places: dict[InitTileOp, Place], instructions: Instructions) -> None:
    init = _init_of(op.tile)
    match op, places.get(init):
        case AtomicRmwOp(), place:
            lower_atomic(op, init, place, instructions)
        case LoadOp(), ScatteredPlace() as place:
            lower_gather(op, place, instructions)
        case StoreOp(), ScatteredPlace() as place:
            lower_scatter(op, place, instructions)
        case PrefetchTileOp(), ScatteredPlace() as place:
            lower_scattered_prefetch(op, place, instructions)
        case LoadTileOp(), (BlockPlace() | MatrixPlace()) as place:
            lower_load(op, place, instructions)
        case StoreTileOp(), (BlockPlace() | MatrixPlace()) as place:
            lower_store(op, place, instructions)
        case PrefetchTileOp(), (BlockPlace() | MatrixPlace()) as place:
            lower_prefetch(op, place, instructions)
        case _, place:
            raise PassFailedException(f"lower-xetile: {op.name} does not take a tile like {op.tile.type}, at {place}")


def _init_of(tile: SSAValue) -> InitTileOp:
    owner = tile.owner
    if not isinstance(owner, InitTileOp):
        source = owner.name if isinstance(owner, Operation) else "a block argument"
        raise PassFailedException(
            f"lower-xetile: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, "
            f"got one from {source}"
        )
    return owner


_TILES = frozenset((InitTileOp, memref.AllocaOp, memref.ViewOp, TransposedMemRefOp))


def _erase_unused(operations: Sequence[Operation]) -> None:
    """Erase unused tiles, and memory that was replaced by bytes."""
    for op in reversed(operations):
        if type(op) in _TILES and op.parent is not None and all(result.first_use is None for result in op.results):
            erase(op)
