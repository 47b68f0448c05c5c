"""The fewest 2-D block messages that read a sub-group's tile, and which part of each feeds which DPAS."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codegen.layout.dpas import COLUMN, ROW, DpasLayout, Operand
from codegen.layout.messages import LANES, MESSAGES, WORD, BlockMessage, Reading
from codegen.layout.refusal import LayoutRefused
from codegen.target import Target

_DEPTH = 8  # steps of the systolic array: K of a DPAS is 8 words
_MESSAGE_REGISTERS = 32  # Source: intel/llvm, ESIMD: 2-D loads of at most 2048 bytes, in registers of 64


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """What the hardware allows of one message, and the shape of its DPAS."""

    max_rows: int
    max_width_bytes: int
    grf_bytes: int
    dpas_m: int
    dpas_n: int
    dpas_k_bytes: int

    def allow(self, message: BlockMessage) -> bool:
        """True where a message is within the limits."""
        response = message.rows * message.row_bytes
        return (
            message.rows <= self.max_rows
            and message.row_bytes <= self.max_width_bytes
            and response <= _MESSAGE_REGISTERS * self.grf_bytes
        )

    def dpas(self, element_bits: int, repeat_count: int | None = None) -> DpasLayout:
        """One DPAS of this device for elements of so many bits, for a single sub-group."""
        if element_bits not in (8, 16, 32):
            raise LayoutRefused(f"DPAS takes elements of 8, 16 or 32 bits, got {element_bits}")
        ops = self.dpas_k_bytes * 8 // element_bits // _DEPTH
        return DpasLayout(repeat_count or self.dpas_m, _DEPTH, self.dpas_n, ops, LANES, (1, 1), (1, 1))


def block_limits(target: Target) -> BlockLimits:
    """The limits of a device."""
    return BlockLimits(
        max_rows=target.block2d_max_rows,
        max_width_bytes=target.block2d_max_width_bytes,
        grf_bytes=target.grf_bytes,
        dpas_m=target.dpas_m,
        dpas_n=target.dpas_n,
        dpas_k_bytes=target.dpas_k_bytes,
    )


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The operand of the DPAS at (row, column) of the tile: these elements of the result of load number `load`."""

    row: int
    column: int
    load: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockLoadPlan:
    """How a tile is read: one message at each place of `loads`, in elements of the stored matrix.

    rows, width, array_length: of the message; a transposed one counts words of 32 bits in its width. `shuffles` lists
    the DPAS operands row by row of tiles.
    """

    message: BlockMessage
    loads: tuple[tuple[int, int], ...]
    shuffles: tuple[Shuffle, ...]

    @property
    def rows(self) -> int:
        """Rows of a message."""
        return self.message.rows

    @property
    def width(self) -> int:
        """Elements in a row of one block of a message."""
        return self.message.width

    @property
    def array_length(self) -> int:
        """Blocks of a message, side by side."""
        return self.message.array_length

    @property
    def vnni(self) -> bool:
        """True where the message packs rows into words."""
        return self.message.reading is Reading.PACKED

    @property
    def transposed(self) -> bool:
        """True where the message transposes words."""
        return self.message.reading is Reading.TRANSPOSED


def plan_block_loads(rows: int, cols: int, element_bits: int, operand: Operand, limits: BlockLimits) -> BlockLoadPlan:
    """The fewest equal messages that cover exactly rows x cols of the stored matrix; among them the widest.

    Operand.C stands for any tile whose elements are wanted in rows of lanes.

    Raises:
        LayoutRefused: no message reads parts of such a tile as such an operand.
    """
    tile = operand_tile(rows, element_bits, operand, limits)
    found = [
        message
        for message in messages_for(element_bits, operand, limits)
        if rows % message.rows == 0 and cols % _columns(message, element_bits) == 0 and message.rows % tile[0] == 0
    ]
    if not found:
        offered = sorted({(m.rows, _columns(m, element_bits)) for m in messages_for(element_bits, operand, limits)})
        shapes = ", ".join(f"{r}x{c}" for r, c in offered) or "nothing"
        raise LayoutRefused(
            f"no 2-D block messages cover {rows}x{cols} of {element_bits}-bit elements as operand {operand.value}; "
            f"they read {shapes}: make the tile a multiple of one of these"
        )
    best = min(found, key=lambda m: (rows // m.rows * (cols // _columns(m, element_bits)), -m.row_bytes))
    step = _columns(best, element_bits)
    loads = tuple((row, column) for row in range(0, rows, best.rows) for column in range(0, cols, step))
    tiles = ((row, column) for row in range(0, rows, tile[0]) for column in range(0, cols, tile[1]))
    dpas = limits.dpas(element_bits, tile[0] if operand in (Operand.A, Operand.C) else None)
    return BlockLoadPlan(best, loads, tuple(shuffles_of(best, element_bits, loads, tiles, dpas, operand)))


def operand_tile(rows: int, element_bits: int, operand: Operand, limits: BlockLimits) -> tuple[int, int]:
    """Rows and columns of the stored matrix that one DPAS takes of a tile of so many rows."""
    shape = limits.dpas(element_bits).tile_shape(operand)
    # A DPAS may have fewer rows of A and C: 1, 2 or 4.
    return (min(shape[0], rows & -rows), shape[1]) if operand in (Operand.A, Operand.C) else shape


def messages_for(element_bits: int, operand: Operand, limits: BlockLimits) -> Iterator[BlockMessage]:
    """The messages that bring elements of so many bits to the lanes where a DPAS wants them as this operand."""
    reading, bits, width = _form(element_bits, operand, limits)
    for message in MESSAGES:
        form = (message.reading, message.bits, message.width)
        # A register that is not full belongs to no operand.
        if form == (reading, bits, width) and limits.allow(message) and message.rows * message.width >= LANES:
            yield message


def _form(element_bits: int, operand: Operand, limits: BlockLimits) -> tuple[Reading, int, int]:
    """Reading, element size and width of the messages for an operand."""
    if operand is Operand.A:
        return Reading.PLAIN, element_bits, limits.dpas_k_bytes * 8 // element_bits
    if operand is Operand.B_TRANSPOSED:
        return Reading.TRANSPOSED, WORD, limits.dpas_k_bytes * 8 // WORD
    packs = operand is Operand.B and element_bits < WORD
    return Reading.PACKED if packs else Reading.PLAIN, element_bits, limits.dpas_n


def _columns(message: BlockMessage, element_bits: int) -> int:
    return message.row_bytes * 8 // element_bits


def shuffles_of(
    message: BlockMessage,
    element_bits: int,
    loads: Sequence[tuple[int, int]],
    tiles: Iterable[tuple[int, int]],
    dpas: DpasLayout,
    operand: Operand,
) -> Iterator[Shuffle]:
    """Which part of which load makes the operand of each DPAS whose tile starts at one of `tiles`.

    Raises:
        LayoutRefused: a load brings elements to other lanes than the DPAS wants them in.
    """
    unit = message.bits // element_bits
    per_slot = max(unit, message.slot_elements)
    wanted, register_of = dpas.tile_layout(operand), message.lane_layout().invert()
    extent = (message.rows, _columns(message, element_bits))
    for row, column in tiles:
        load = next(i for i, at in enumerate(loads) if _inside((row, column), at, extent))
        first = (row - loads[load][0], column - loads[load][1])
        registers: list[int] = []
        for wanted_register in range(0, wanted.in_sizes["register"], per_slot):
            # Unit steps of lanes suffice: both layouts are linear.
            for lane in (1, 2, 4, 8, 0):
                r, c = wanted.apply({"register": wanted_register, "lane": lane})
                register, at_lane = register_of.apply({ROW: first[0] + r, COLUMN: (first[1] + c) // unit})
                if at_lane != lane:
                    raise LayoutRefused(f"{message.name} brings elements to lane {at_lane} that are wanted in {lane}")
                if lane == 0:
                    registers.append(register)
        yield Shuffle(row, column, load, tuple(register * unit // per_slot for register in registers))


def _inside(place: tuple[int, int], origin: tuple[int, int], extent: tuple[int, int]) -> bool:
    return all(0 <= p - o < e for p, o, e in zip(place, origin, extent, strict=True))
