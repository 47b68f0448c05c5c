"""The fewest 2-D block messages that read, write or prefetch a sub-group's tile, and their parts for each DPAS."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from codegen.xe.layout.cover import (
    Extent,
    Form,
    PlacedMessage,
    cover,
    cut,
    extent_of,
    messages_of,
)
from codegen.xe.layout.dpas import (
    COLUMN,
    ROW,
    DpasLayout,
    Operand,
)
from codegen.xe.layout.limits import BlockLimits
from codegen.xe.layout.linear import LinearLayout
from codegen.xe.layout.messages import (
    LANES,
    WORD,
    BlockMessage,
    Transfer,
)
from codegen.xe.layout.refusal import LayoutRefused


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The operand of the DPAS at (row, column) of the tile: these elements of the result of load number `load`."""

    row: int
    column: int
    load: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockLoadPlan:
    """Messages that read a tile of rows x cols as an operand; transposed messages have their width in 32-bit words."""

    rows: int
    cols: int
    element_bits: int
    operand: Operand
    limits: BlockLimits
    loads: tuple[PlacedMessage, ...]

    @property
    def vnni(self) -> bool:
        """True if the messages pack rows into words."""
        return self.loads[0].message.transfer is Transfer.PACKED

    @property
    def transposed(self) -> bool:
        """True if the messages transpose words."""
        return self.loads[0].message.transfer is Transfer.TRANSPOSED

    @property
    def shuffles(self) -> tuple[Shuffle, ...]:
        """The operand of each DPAS in the loads, row by row of tiles."""
        return _shuffles(self)


@cache
def plan_block_loads(
    rows: int,
    cols: int,
    element_bits: int,
    operand: Operand,
    limits: BlockLimits,
    *,
    overhang: bool = False,
    in_runs: bool = False,
) -> BlockLoadPlan:
    """Return the fewest messages that cover rows x cols of the stored matrix exactly once; the widest among equals.

    Operand.C is any tile whose elements are needed in rows of lanes. With `overhang` messages may extend
    beyond the tile, by less than the smallest message. With `in_runs` each DPAS has its operand in
    consecutive registers: a transposed message of 32 rows interleaves those of two, and separating them costs
    more than it saves.

    Raises:
        LayoutRefused: no messages read such a tile as this operand.
    """
    limits.dpas(element_bits)  # raises for elements that no DPAS supports
    messages = [m for m in messages_for(element_bits, operand, limits) if not (in_runs and _interleaves(m))]
    loads = _covered((rows, cols), element_bits, messages, f"operand {operand.value}", overhang=overhang)
    return BlockLoadPlan(rows, cols, element_bits, operand, limits, loads)


@cache
def plan_any_block_loads(rows: int, cols: int, element_bits: int, limits: BlockLimits) -> tuple[PlacedMessage, ...]:
    """Return the fewest messages that read a tile, in any lanes; they may extend beyond its columns.

    Among equal numbers, those with the most elements in rows of lanes are preferred.

    Raises:
        LayoutRefused: no message reads elements of this width.
    """
    forms: list[Form] = [(Transfer.PLAIN, element_bits, limits.dpas_n)]
    if element_bits == 8:
        forms.append((Transfer.PLAIN, element_bits, 2 * limits.dpas_n))
    return _covered((rows, cols), element_bits, messages_of(forms, limits), "rows of lanes", overhang=True)


@cache
def plan_block_stores(rows: int, cols: int, element_bits: int, limits: BlockLimits) -> tuple[PlacedMessage, ...]:
    """Return the fewest messages that write a tile whose elements are in rows of lanes.

    Raises:
        LayoutRefused: no messages write exactly this tile.
    """
    forms: list[Form] = [(Transfer.WRITTEN, element_bits, limits.dpas_n)]
    return _covered((rows, cols), element_bits, messages_of(forms, limits), "rows of lanes to write", overhang=False)


@cache
def plan_block_prefetches(rows: int, cols: int, element_bits: int, limits: BlockLimits) -> tuple[PlacedMessage, ...]:
    """Return the fewest messages that prefetch a tile into caches; they may extend beyond its columns.

    Raises:
        LayoutRefused: no message prefetches elements of this width.
    """
    forms: list[Form] = [(Transfer.PREFETCHED, element_bits, limits.dpas_n * (2 if element_bits == 8 else 1))]
    return _covered((rows, cols), element_bits, messages_of(forms, limits), "a prefetch", overhang=True)


def messages_for(element_bits: int, operand: Operand, limits: BlockLimits) -> tuple[BlockMessage, ...]:
    """Return the messages that load elements of a width into the lanes where a DPAS needs this operand."""
    return messages_of([_form(element_bits, operand, limits)], limits)


def _interleaves(message: BlockMessage) -> bool:
    return message.transfer is Transfer.TRANSPOSED and message.rows > LANES


def _covered(
    tile: Extent, element_bits: int, messages: Sequence[BlockMessage], what: str, *, overhang: bool
) -> tuple[PlacedMessage, ...]:
    placed = cover(*tile, element_bits, messages, overhang=overhang)
    if placed is None:
        shapes = ", ".join(f"{r}x{c}" for r, c in sorted({extent_of(m, element_bits) for m in messages})) or "nothing"
        raise LayoutRefused(
            f"no 2-D block messages cover {tile[0]}x{tile[1]} of {element_bits}-bit elements as {what}; "
            f"they take {shapes}: make the tile of such parts"
        )
    return placed


def _form(element_bits: int, operand: Operand, limits: BlockLimits) -> Form:
    """Return the form of the messages for an operand: transfer, element bits, and elements per row."""
    if operand is Operand.A:
        return Transfer.PLAIN, element_bits, limits.dpas_k_bytes * 8 // element_bits
    if operand is Operand.B_TRANSPOSED:
        return Transfer.TRANSPOSED, WORD, limits.dpas_k_bytes * 8 // WORD
    packs = operand is Operand.B and element_bits < WORD
    return Transfer.PACKED if packs else Transfer.PLAIN, element_bits, limits.dpas_n


@cache
def _shuffles(plan: BlockLoadPlan) -> tuple[Shuffle, ...]:
    found: list[Shuffle] = []
    for row, height in _tile_rows(plan):
        dpas = plan.limits.dpas(plan.element_bits, height if plan.operand in (Operand.A, Operand.C) else None)
        step = dpas.tile_shape(plan.operand)[1]
        tiles = [(row, column) for column in range(0, plan.cols, step)]
        found += shuffles_of(plan.loads, plan.element_bits, tiles, dpas, plan.operand)
    return tuple(found)


def _tile_rows(plan: BlockLoadPlan) -> list[tuple[int, int]]:
    """Return first row and height of the DPAS tiles; the last of A and C may be lower: 4, 2 or 1 rows."""
    most = plan.limits.dpas(plan.element_bits).tile_shape(plan.operand)[0]
    sizes = [size for size in (1, 2, 4, 8) if size < most] if plan.operand in (Operand.A, Operand.C) else []
    return cut(plan.rows, [*sizes, most]) or []


def shuffles_of(
    loads: Sequence[PlacedMessage],
    element_bits: int,
    tiles: Iterable[tuple[int, int]],
    dpas: DpasLayout,
    operand: Operand,
) -> Iterator[Shuffle]:
    """Yield the part of a load that is the operand of each DPAS whose tile starts at one of `tiles`.

    Raises:
        LayoutRefused: a load puts elements in other lanes than the DPAS needs.
    """
    wanted = dpas.tile_layout(operand)
    for tile in tiles:
        number = next(i for i, load in enumerate(loads) if _covers(load, element_bits, tile))
        load = loads[number]
        message, unit = load.message, load.message.bits // element_bits
        per_slot, register_of = max(unit, message.slot_elements), _registers(message)
        first = tile[0] - load.row, tile[1] - load.column
        registers: list[int] = []
        for wanted_register in range(0, wanted.in_sizes["register"], per_slot):
            # Checking unit steps of lanes suffices: both layouts are linear.
            for lane in (1, 2, 4, 8, 0):
                r, c = wanted.apply({"register": wanted_register, "lane": lane})
                register, at_lane = register_of.apply({ROW: first[0] + r, COLUMN: (first[1] + c) // unit})
                if at_lane != lane:
                    raise LayoutRefused(f"{message.name} brings elements to lane {at_lane} that are wanted in {lane}")
            registers.append(register)
        yield Shuffle(*tile, number, tuple(register * unit // per_slot for register in registers))


@cache
def _registers(message: BlockMessage) -> LinearLayout:
    """Return (row, column) -> register, lane of a message."""
    return message.lane_layout().invert()


def _covers(load: PlacedMessage, element_bits: int, place: tuple[int, int]) -> bool:
    rows, columns = extent_of(load.message, element_bits)
    return 0 <= place[0] - load.row < rows and 0 <= place[1] - load.column < columns
