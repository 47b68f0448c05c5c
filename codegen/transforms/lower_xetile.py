"""Lowers work-group-level XeTile to XeGPU with layouts on the operations."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.config import KernelConfig
from codegen.dialects import text
from codegen.dialects.cache_hint import HINTS, TileCacheHint, XeGPUCacheHint
from codegen.dialects.maps import Ints, format_ints
from codegen.dialects.xegpu import Distribution, DpasOp, LayoutAttr, LoadNdOp, PrefetchNdOp, StoreNdOp
from codegen.dialects.xetile import InitTileOp, LoadTileOp, PrefetchTileOp, StoreTileOp, TileMmaOp, WgMap
from codegen.problem import GemmProblem
from codegen.target import target_of
from codegen.transforms.descriptors import create_descriptors
from codegen.transforms.fold_tile_offsets import fold_tile_offsets
from hal import DeviceSpec


@dataclass(frozen=True)
class LowerXeTilePass(ModulePass):
    """A tile becomes a descriptor and offsets; what one instruction takes is cut to what a sub-group owns.

    `dpas` is M, N, K of one DPAS; `load_a`, `load_b` and `prefetch` are rows and columns of one 2-D block message.
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

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_xetile(op, self)


def lower_gemm(module: ModuleOp, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> str:
    """Lower a module of `build_gemm` in place; its XeGPU in MLIR's generic form.

    Raises:
        Refused: codegen cannot target the device.
    """
    target, inner = target_of(spec), config.matmul.innermost
    nbytes = problem.dtype_a.nbytes
    flags = LowerXeTilePass(
        dpas=(target.dpas_m, target.dpas_n, target.dpas_k_bytes // nbytes),
        load_a=(inner.m, inner.k),
        load_b=(inner.k, inner.n),
        prefetch=(target.block2d_max_rows, target.block2d_max_width_bytes // nbytes),
    )
    lower_xetile(module, flags)
    return text(module, generic=True)


def lower_xetile(module: ModuleOp, flags: LowerXeTilePass) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: something that is not lowered; the message says what was expected.
    """
    fold_tile_offsets(module)
    descriptors = create_descriptors(module)
    operations = tuple(module.walk())
    for op in operations:  # first, as loads ask which operand of a dpas they feed
        if isinstance(op, TileMmaOp):
            _lower_mma(op, flags)
    for op in operations:
        if isinstance(op, LoadTileOp | StoreTileOp | PrefetchTileOp):
            init = _init_of(op.tile)
            _lower_access(op, descriptors[init], init, flags)
    for init in reversed(descriptors):
        if not init.tile.uses:
            Rewriter.erase_op(init)


def _lower_mma(op: TileMmaOp, flags: LowerXeTilePass) -> None:
    m, n, k = flags.dpas
    if len(cast(VectorType, op.a.type).get_shape()) != 2:
        raise PassFailedException(f"lower-xetile: expected a tile_mma of two dimensions, got {op.a.type}")
    map_a, map_b = _wg_map(op.wg_map_a, op.a), _wg_map(op.wg_map_b, op.b)
    _verify_mma_maps(op, map_a, map_b)
    map_c = op.wg_map_c or WgMap.of(map_a.sg_layout, (map_a.sg_data[0], map_b.sg_data[1]))
    layouts: dict[str, Attribute] = {
        "layout_a": _layout(map_a, (m, k)),
        "layout_b": _layout(map_b, (k, n)),
        "layout_cd": _layout(map_c, (m, n)),
    }
    _replace(op, DpasOp(op.a, op.b, op.c, op.d.type, layouts))


def _verify_mma_maps(op: TileMmaOp, map_a: WgMap, map_b: WgMap) -> None:
    """A sub-group sums over all of K, and operands arrive as they are used: nothing here moves or adds parts."""
    depth = cast(VectorType, op.a.type).get_shape()[1]
    if not map_a.sg_data[1] == map_b.sg_data[0] == depth:
        raise PassFailedException(
            f"lower-xetile: expected every sub-group to have all of K = {depth}, "
            f"got sg_data {format_ints(map_a.sg_data)} of a and {format_ints(map_b.sg_data)} of b"
        )
    for name, value, wg_map in (("a", op.a, map_a), ("b", op.b, map_b)):
        loaded = value.owner.tile_type.traits.wg_map if isinstance(value.owner, LoadTileOp) else wg_map
        if loaded != wg_map:
            raise PassFailedException(
                f"lower-xetile: expected {name} of tile_mma distributed as it is loaded, got {wg_map} and {loaded}"
            )


def _lower_access(
    op: LoadTileOp | StoreTileOp | PrefetchTileOp, desc: SSAValue, init: InitTileOp, flags: LowerXeTilePass
) -> None:
    wg_map = init.tile.type.traits.wg_map
    assert wg_map is not None  # create_descriptors refuses tiles without one
    properties = _hints(op)
    if isinstance(op, LoadTileOp):
        _verify_padding(op)
        properties["layout"] = _layout(wg_map, _load_block(op.value, flags))
        _replace(op, LoadNdOp(desc, init.offsets, properties))
    elif isinstance(op, StoreTileOp):
        properties["layout"] = _layout(wg_map, flags.dpas[:2])
        _replace(op, StoreNdOp(op.value, desc, init.offsets, properties))
    else:
        properties["layout"] = _layout(wg_map, flags.prefetch)
        _replace(op, PrefetchNdOp(desc, init.offsets, properties))


def _init_of(tile: SSAValue) -> InitTileOp:
    owner = tile.owner
    if not isinstance(owner, InitTileOp):
        source = owner.name if isinstance(owner, Operation) else "a block argument"
        raise PassFailedException(
            f"lower-xetile: expected a tile from init_tile, update_tile_offset or scf.for, got one from {source}"
        )
    return owner


def _layout(wg_map: WgMap, instruction: Sequence[int]) -> LayoutAttr:
    inst_data = tuple(gcd(i, d) for i, d in zip(instruction, wg_map.sg_data, strict=True))
    return LayoutAttr(Distribution(sg_layout=wg_map.sg_layout, sg_data=wg_map.sg_data, inst_data=inst_data))


def _load_block(value: SSAValue, flags: LowerXeTilePass) -> Ints:
    """The block of one load: that of A or B where the value feeds a dpas, else that of the accumulator."""
    feeds = {use.index for use in value.uses if isinstance(use.operation, DpasOp)}
    if 0 in feeds:
        return flags.load_a
    return flags.load_b if 1 in feeds else flags.dpas[:2]


def _wg_map(stated: WgMap | None, value: SSAValue) -> WgMap:
    """The map of an operand: what the operation states, or that of the tile it was loaded from."""
    if stated is not None:
        return stated
    owner = value.owner
    wg_map = owner.tile_type.traits.wg_map if isinstance(owner, LoadTileOp) else None
    if wg_map is None:
        raise PassFailedException("lower-xetile: expected a wg_map on tile_mma or on the tiles it loads, got none")
    return wg_map


def _verify_padding(op: LoadTileOp) -> None:
    if isinstance(op.padding, FloatAttr | IntegerAttr) and op.padding.value.data != 0:
        raise PassFailedException(f"lower-xetile: expected padding 0, as the hardware pads, got {op.padding}")


def _hints(op: Operation) -> dict[str, Attribute]:
    hints = {name: op.properties[name] for name in HINTS if name in op.properties}
    return {name: XeGPUCacheHint(hint.data) for name, hint in hints.items() if isinstance(hint, TileCacheHint)}


def _replace(old: Operation, new: Operation) -> None:
    for before, after in zip(old.results, new.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(old, new)
