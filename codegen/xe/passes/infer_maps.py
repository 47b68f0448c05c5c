"""Infers the map of every vector of XeTile operations, and inserts conversions where two differ.

Source: XeTile RFC, "Workgroup Level XeTile extension": operands' maps follow from the result's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.maps import (
    WgMap,
    format_ints,
)
from codegen.xe.dialects.spellings import ints
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    BroadcastOp,
    ConvertLayoutOp,
    LoadOp,
    LoadTileOp,
    ReductionOp,
    StoreOp,
    StoreTileOp,
    TileMmaOp,
    TransposeOp,
)
from codegen.xe.dialects.xetile.map_rules import (
    broadcast_source,
    mma_sources,
    reduced_source,
    transposed_source,
)
from codegen.xe.locations import Rewriting

_Wanted = Iterator[tuple[int, WgMap | None]]  # operands by number, with the required map


@dataclass(frozen=True)
class InferMapsPass(ModulePass):
    """Infers maps; kernels without maps, which are at sub-group level, are not changed."""

    name = "infer-maps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        infer_maps(op)


def infer_maps(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: a tile_mma has maps in which a sub-group lacks a part of K.
    """
    maps = _Maps()
    # All others have no map, and `isinstance` with xDSL's abstract classes takes long.
    operations = [op for op in walk(module) if any(type(operand.type) is VectorType for operand in op.operands)]
    wanted: dict[Operation, tuple[tuple[int, WgMap | None], ...]] = {}
    for op in operations:
        with Rewriting(op):
            wanted[op] = tuple(_wanted(op, maps))
    for op, operands in wanted.items():
        _state(op, maps, dict(operands))
    for op, operands in wanted.items():
        with Rewriting(op):
            _convert(op, operands, maps)


def _convert(op: Operation, operands: Iterable[tuple[int, WgMap | None]], maps: "_Maps") -> None:
    """Insert the conversions of operands whose maps are not the wanted ones."""
    for number, wg_map in operands:
        actual = maps.of(op.operands[number])
        if wg_map is not None and actual is not None and actual != wg_map:
            convert = ConvertLayoutOp(op.operands[number], wg_map, actual)
            Rewriter.insert_op(convert, InsertPoint.before(op))
            op.operands[number] = convert.result


def _wanted(op: Operation, maps: "_Maps") -> _Wanted:
    match op:
        case TileMmaOp():
            yield from enumerate(_mma_maps(op, maps)[: len(op.operands)])
        case StoreTileOp() | StoreOp() | AtomicRmwOp():
            for number, operand in enumerate(op.operands):
                if isinstance(operand.type, VectorType):
                    yield number, op.tile_type.traits.wg_map
        case LoadOp():
            if op.mask is not None:
                yield 1, op.tile_type.traits.wg_map
        case TransposeOp() | ReductionOp() | BroadcastOp():
            yield 0, op.wg_map_source or _source(op, maps)
        case scf.ForOp():
            for number, argument in enumerate(op.body.block.args[1:]):
                yield number + 3, maps.of(argument)
        case scf.YieldOp():
            yield from enumerate(_carried(op, maps))
        case _ if _is_elementwise(op):
            for number, operand in enumerate(op.operands):
                if isinstance(operand.type, VectorType):
                    yield number, maps.of(op.results[0])
        case _:
            pass


def _mma_maps(op: TileMmaOp, maps: "_Maps") -> tuple[WgMap | None, WgMap | None, WgMap | None]:
    d = maps.of(op.d)
    if d is None:
        return op.wg_map_a, op.wg_map_b, op.wg_map_c
    depth = cast(VectorType, op.a.type).get_shape()[1]
    a, b = mma_sources(d, depth)
    for stated, k in ((op.wg_map_a, 1), (op.wg_map_b, 0)):
        if stated is not None and stated.sg_data[k] != depth:
            raise PassFailedException(
                f"infer-maps: expected every sub-group to have all of K = {depth}, got sg_data "
                f"{format_ints(stated.sg_data)} of {'ba'[k]} of tile_mma"
            )
    return op.wg_map_a or a, op.wg_map_b or b, d


def _source(op: TransposeOp | ReductionOp | BroadcastOp, maps: "_Maps") -> WgMap | None:
    result = maps.of(op.result)
    if result is None:
        return None
    if isinstance(op, TransposeOp):
        return transposed_source(result)
    if isinstance(op, BroadcastOp):
        return broadcast_source(result, ints(op.broadcast_dims))
    if op.wg_map_result is None:  # sub-groups combine their parts; none needs whole dimensions
        return maps.of(op.source)
    return reduced_source(result, ints(op.reduction_dims), op.source_type.get_shape())


def _carried(end: scf.YieldOp, maps: "_Maps") -> Iterator[WgMap | None]:
    parent = end.parent_op()
    if isinstance(parent, scf.ForOp):
        return map(maps.of, parent.body.block.args[1:])
    return map(maps.of, parent.results) if isinstance(parent, scf.IfOp) else iter(())


def _state(op: Operation, maps: "_Maps", operands: dict[int, WgMap | None]) -> None:
    if not op.name.startswith("xetile."):
        return
    stated: dict[str, WgMap | None] = {}
    if isinstance(op, TileMmaOp):
        stated = dict(zip(("wg_map_a", "wg_map_b", "wg_map_c"), _mma_maps(op, maps), strict=True))
    elif isinstance(op, ReductionOp):  # a map of the result would require whole reduced dimensions in each sub-group
        stated = {"wg_map_source": operands[0]}
    elif isinstance(op, TransposeOp | BroadcastOp):
        stated = {"wg_map_result": maps.of(op.result), "wg_map_source": operands[0]}
    elif isinstance(op, ConvertLayoutOp):
        stated = {"wg_map_source": op.wg_map_source or maps.of(op.source)}
    op.properties.update({name: wg_map for name, wg_map in stated.items() if wg_map is not None})


@dataclass(slots=True)
class _Maps:
    """The map of every vector, memoised. None: unconstrained, so any map will do, as for a constant."""

    known: dict[SSAValue, WgMap | None] = field(default_factory=dict[SSAValue, WgMap | None])
    open: set[SSAValue] = field(default_factory=set[SSAValue])

    def of(self, value: SSAValue) -> WgMap | None:
        """Return the map of a vector."""
        if value in self.known or value in self.open or not isinstance(value.type, VectorType):
            return self.known.get(value)  # a value in a loop must not depend on itself
        self.open.add(value)
        found = self._find(value)
        self.open.remove(value)
        if found is not None or not self.open:  # within a cycle, None is not final
            self.known[value] = found
        return found

    def _find(self, value: SSAValue) -> WgMap | None:
        if isinstance(value.owner, Block):
            return self._of_argument(value.owner, value)
        op = value.owner
        match op:
            case LoadTileOp() | LoadOp() | AtomicRmwOp():
                return op.tile_type.traits.wg_map
            case TileMmaOp():
                return op.wg_map_c or self._of_mma(op)
            case TransposeOp():
                source = op.wg_map_source or self.of(op.source)
                return op.wg_map_result or (source and transposed_source(source))
            case ReductionOp():
                source = op.wg_map_source or self.of(op.source)
                return op.wg_map_result or (source and broadcast_source(source, ints(op.reduction_dims)))
            case BroadcastOp():
                return op.wg_map_result or self._of_users(value) or self._of_broadcast(op)
            case ConvertLayoutOp():
                return op.wg_map_result
            case scf.ForOp():
                return self.of(op.body.block.args[1 + op.results.index(value)])
            case scf.IfOp():
                number = op.results.index(value)
                ends = [region.block.last_op for region in op.regions]
                return self._first(end.operands[number] for end in ends if end is not None)
            case _:
                return self._first(iter(op.operands)) if _is_elementwise(op) else None

    def _of_argument(self, block: Block, value: SSAValue) -> WgMap | None:
        loop = block.parent_op()
        if not isinstance(loop, scf.ForOp) or block.last_op is None:
            return None
        number = block.args.index(value) - 1
        return self._first(iter((loop.iter_args[number], block.last_op.operands[number])))

    def _of_mma(self, op: TileMmaOp) -> WgMap | None:
        c = None if op.c is None else self.of(op.c)
        if c is not None:
            return c
        a, b = op.wg_map_a or self.of(op.a), op.wg_map_b or self.of(op.b)
        if a is not None and b is not None:
            return WgMap.of(a.sg_layout, (a.sg_data[0], b.sg_data[1]))
        return None

    def _of_broadcast(self, op: BroadcastOp) -> WgMap | None:
        source = op.wg_map_source or self.of(op.source)
        return source and reduced_source(source, ints(op.broadcast_dims), op.result_type.get_shape())

    def _of_users(self, value: SSAValue) -> WgMap | None:
        """Return the map that users of a value have for their other operands."""
        for use in value.uses:
            user = use.operation
            if isinstance(user, StoreTileOp | StoreOp | AtomicRmwOp):
                return user.tile_type.traits.wg_map
            if _is_elementwise(user) and (found := self._first(o for o in user.operands if o is not value)):
                return found
        return None

    def _first(self, values: Iterator[SSAValue]) -> WgMap | None:
        return next((found for v in values if (found := self.of(v)) is not None), None)


def _is_elementwise(op: Operation) -> bool:
    return op.name.partition(".")[0] in ("arith", "math") and len(op.results) == 1
