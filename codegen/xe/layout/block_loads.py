"""2-D block loads of a sub-group, derived as linear layouts from the DPAS instructions of a work-group.

A load reads the operands of several instructions at once: `offset` counts elements of one operand,
`iteration` operands of a load, `load` loads. Source: Intel's Triton backend, the document on linear layouts
for 2-D block loads.
"""

from dataclasses import dataclass

from codegen.xe.layout.cover import PlacedMessage
from codegen.xe.layout.dpas import (
    COLUMN,
    ROW,
    DpasLayout,
    Operand,
)
from codegen.xe.layout.limits import BlockLimits
from codegen.xe.layout.linear import (
    Coordinate,
    LinearLayout,
)
from codegen.xe.layout.messages import (
    BlockMessage,
    Transfer,
)
from codegen.xe.layout.plan import (
    Shuffle,
    messages_for,
    shuffles_of,
)
from codegen.xe.layout.refusal import LayoutRefused


@dataclass(frozen=True, slots=True)
class BlockLoadLayout:
    """The block loads of one operand, for the sub-group at the origin.

    tile, iterations and loads are the three steps as the document prints them: offsets and iterations count
    32-bit slots if a message packs or transposes, loads count elements with M or N first and K second.
    `elements` maps (part, offset, iteration, load) to elements of the stored matrix; `part` is the element
    within a slot.
    """

    message: BlockMessage
    tile: LinearLayout
    iterations: LinearLayout
    loads: LinearLayout
    elements: LinearLayout
    shuffles: tuple[Shuffle, ...]

    @property
    def origins(self) -> tuple[Coordinate, ...]:
        """Row and column of each load in the stored matrix, in elements."""
        return _origins(self.elements)


def block_load_layout(
    dpas: DpasLayout, operand: Operand, shape: tuple[int, int], element_bits: int, limits: BlockLimits
) -> BlockLoadLayout:
    """Return the block loads of a sub-group for an operand of a work-group's tile.

    shape: of the stored matrix, [M, K], [K, N] or, transposed, [N, K].

    Raises:
        LayoutRefused: sizes are not powers of two, the operand is C, or no message fits.
    """
    if operand is Operand.C:
        raise LayoutRefused("expected operand a, b or b_transposed to load; --view hardware and work-items show c")
    geometry = _geometry(dpas, operand, shape)
    message = _largest_message(geometry, element_bits, operand, limits)
    pack = _pack(message, element_bits)
    tile = _tile_layout(geometry.tile, pack)
    iterations = tile
    for dim in geometry.dims:
        iterations *= LinearLayout.identity(_count(message, geometry, element_bits, dim), "iteration", dim)
    steps = _load_steps(geometry, message, element_bits)
    outer, k = geometry.dims
    loads = iterations.extended("load", [(of.get(outer, 0), of.get(k, 0)) for of in steps])
    places = [(of.get(ROW, 0), of.get(COLUMN, 0)) for of in steps]
    elements = _in_elements(iterations, pack).extended("load", places)
    tiles = _operand_places(dpas, operand, shape)
    found = shuffles_of([PlacedMessage(*at, message) for at in _origins(elements)], element_bits, tiles, dpas, operand)
    return BlockLoadLayout(message, tile, iterations, loads, elements, tuple(found))


@dataclass(frozen=True, slots=True)
class _Geometry:
    """`dims`: that of M or N, then that of K. The rest by dimension: elements, instructions, elements, repetitions."""

    dims: tuple[str, str]
    tile: dict[str, int]
    adjacent: dict[str, int]
    stride: int
    repeats: int


def _geometry(dpas: DpasLayout, operand: Operand, shape: tuple[int, int]) -> _Geometry:
    dim_of = dict(zip(operand.dims, (ROW, COLUMN), strict=True))
    size_of = dict(zip(operand.dims, shape, strict=True))
    outer = next(d for d in operand.dims if d != "k")
    stride = dpas.mnk[outer] * dpas.clusters[outer] * dpas.warps[outer]
    if min(shape) < 1 or size_of["k"] % dpas.mnk["k"] or size_of[outer] % (dpas.mnk[outer] * dpas.clusters[outer]):
        raise LayoutRefused(
            f"expected a multiple of {dpas.cluster_shape(operand)} as the tile of operand {operand.value}, got {shape}"
        )
    return _Geometry(
        dims=(dim_of[outer], dim_of["k"]),
        tile=dict(zip((ROW, COLUMN), dpas.tile_shape(operand), strict=True)),
        adjacent={dim_of[outer]: dpas.clusters[outer], dim_of["k"]: size_of["k"] // dpas.mnk["k"]},
        stride=stride,
        repeats=max(1, size_of[outer] // stride),
    )


def _largest_message(geometry: _Geometry, element_bits: int, operand: Operand, limits: BlockLimits) -> BlockMessage:
    """Return the message that reads the tiles of the most instructions, the widest among equals."""
    found: list[BlockMessage] = []
    for message in messages_for(element_bits, operand, limits):
        reach = {ROW: message.rows, COLUMN: message.row_bytes * 8 // element_bits}
        if all(
            reach[d] % geometry.tile[d] == 0 and geometry.adjacent[d] % (reach[d] // geometry.tile[d]) == 0
            for d in geometry.dims
        ):
            found.append(message)
    if not found:
        shape = geometry.tile[ROW], geometry.tile[COLUMN]
        raise LayoutRefused(f"no 2-D block message reads tiles {shape} of {element_bits}-bit elements")
    return max(found, key=lambda m: (m.rows * m.row_bytes, m.row_bytes))


def _pack(message: BlockMessage, element_bits: int) -> dict[str, int]:
    """Return the elements of a slot, along rows and along columns."""
    if message.transfer is Transfer.PLAIN:
        return {ROW: 1, COLUMN: 1}
    packed = ROW if message.bits == element_bits and message.slot_elements > 1 else COLUMN
    each = max(message.slot_elements, message.bits // element_bits)
    return {ROW: 1, COLUMN: 1} | {packed: each}


def _tile_layout(tile: dict[str, int], pack: dict[str, int]) -> LinearLayout:
    layout = LinearLayout.identity(tile[COLUMN] // pack[COLUMN], "offset", COLUMN)
    return (layout * LinearLayout.identity(tile[ROW] // pack[ROW], "offset", ROW)).transpose_outs((ROW, COLUMN))


def _count(message: BlockMessage, geometry: _Geometry, element_bits: int, dim: str) -> int:
    reach = message.rows if dim == ROW else message.row_bytes * 8 // element_bits
    return reach // geometry.tile[dim]


def _load_steps(geometry: _Geometry, message: BlockMessage, element_bits: int) -> list[dict[str, int]]:
    """Return the steps of `load` by dimension, in elements: along K, then within a cluster, then between clusters."""
    steps: list[dict[str, int]] = []
    for dim in reversed(geometry.dims):
        count = _count(message, geometry, element_bits, dim)
        steps += [{dim: s} for s in _doublings(geometry.tile[dim] * count, geometry.adjacent[dim] // count)]
    return steps + [{geometry.dims[0]: s} for s in _doublings(geometry.stride, geometry.repeats)]


def _doublings(step: int, count: int) -> list[int]:
    if count & (count - 1):
        raise LayoutRefused(f"expected a power of two of repetitions, got {count}")
    return [step << bit for bit in range(count.bit_length() - 1)]


def _in_elements(layout: LinearLayout, pack: dict[str, int]) -> LinearLayout:
    packed = ROW if pack[ROW] > 1 else COLUMN
    part = LinearLayout.identity(pack[packed], "part", packed)
    return (part * layout).transpose_outs((ROW, COLUMN))


def _origins(elements: LinearLayout) -> tuple[tuple[int, int], ...]:
    places = [elements.apply({"load": load}) for load in range(elements.in_sizes["load"])]
    return tuple((row, column) for row, column in places)


def _operand_places(dpas: DpasLayout, operand: Operand, shape: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the start of the operand of each instruction of the sub-group, in the order of its registers."""
    layout = dpas.tensor_layout(operand, shape)
    step = dpas.tile_layout(operand).in_sizes["register"]
    places = [layout.apply({"register": r}) for r in range(0, layout.in_sizes["register"], step)]
    return [(row, column) for row, column in places]
