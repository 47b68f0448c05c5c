"""Maps of a matrix to the work-items of a sub-group, and which of them block accesses and DPAS allow.

Source: the RFC of the XeGPU dialect, "Rules of sg_map setting"; what it leaves out is noted with each row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from codegen.xe.layout.dpas import Operand
from codegen.xe.layout.refusal import LayoutRefused

_WORD = 32
_CHUNKS = (1, 2, 3, 4, 8, 16, 32, 64)
_CHUNKED_BYTES = 512  # of one access, by all work-items together


@dataclass(frozen=True, slots=True)
class WorkItemMap:
    """wi_layout: work-items along each dimension, the last the fastest. wi_data: elements of one packed unit."""

    wi_layout: tuple[int, ...]
    wi_data: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.wi_layout) != len(self.wi_data) or min((*self.wi_layout, *self.wi_data), default=0) < 1:
            raise LayoutRefused(
                f"wi_layout and wi_data have equal ranks and positive sizes, got {self.wi_layout} and {self.wi_data}"
            )
        if sum(size > 1 for size in self.wi_data) > 1:
            raise LayoutRefused(f"elements of a unit come from one dimension, got wi_data {self.wi_data}")

    @property
    def subgroup_size(self) -> int:
        """Work-items of a sub-group."""
        return prod(self.wi_layout)

    def __str__(self) -> str:
        return f"wi_layout = {list(self.wi_layout)}, wi_data = {list(self.wi_data)}"


class Access(StrEnum):
    """What a map is for."""

    BLOCK_LOAD = "block load"
    BLOCK_STORE = "block store"
    TRANSPOSED_LOAD = "transposed block load"
    DPAS = "dpas"
    LINEAR = "1-D block access"
    CHUNKED = "chunked access"


ANY_ELEMENT = "any"
ELEMENT_BITS = {
    **dict.fromkeys(("ui8", "si8", "i8"), 8),
    **dict.fromkeys(("bf16", "f16", "i16"), 16),
    **dict.fromkeys(("tf32", "f32", "si32", "i32"), 32),
}


@dataclass(frozen=True, slots=True)
class LegalMap:
    """One row: what a sub-group of this size may access so. `shape`: the tile that the RFC deals out with it."""

    subgroup_size: int
    access: Access
    operand: Operand | None
    element: str
    map: WorkItemMap
    shape: tuple[int, int] | None


def _rows() -> Iterator[LegalMap]:
    yield from _dpas_rows(
        16,
        a={"bf16": (8, 16), "f16": (8, 16), "tf32": (8, 8), "ui8": (8, 32), "si8": (8, 32)},
        b={"bf16": (16, 16), "f16": (16, 16), "tf32": (8, 16), "ui8": (32, 16), "si8": (32, 16)},
        c={"f32": (8, 16), "si32": (8, 16)},
        a_maps={16: ((1, 16), (1, 1)), 32: ((2, 8), (1, 1)), 8: ((1, 16), (1, 2))},
    )
    yield from _dpas_rows(
        8,
        a={"bf16": (8, 16), "f16": (8, 16), "tf32": (8, 8), "ui8": (8, 32), "si8": (8, 32)},
        b={"bf16": (16, 8), "f16": (16, 8), "tf32": (8, 8), "ui8": (32, 8), "si8": (32, 8)},
        c={"f32": (8, 8), "si32": (8, 8)},
        a_maps={16: ((1, 8), (1, 2)), 32: ((1, 8), (1, 1)), 8: ((1, 8), (1, 4))},
    )
    for lanes in (16, 8):
        for access in (Access.BLOCK_LOAD, Access.BLOCK_STORE):
            yield LegalMap(lanes, access, None, ANY_ELEMENT, WorkItemMap((1, lanes), (1, 1)), (8, lanes))
        for element, bits in ELEMENT_BITS.items():
            # The RFC's table has tf32 alone; its examples of transpose_bit_width have 16-bit elements in words.
            words = (1, _WORD // bits)
            shape = (lanes, 8 * words[1])
            yield LegalMap(lanes, Access.TRANSPOSED_LOAD, None, element, WorkItemMap((lanes, 1), words), shape)
            yield LegalMap(lanes, Access.LINEAR, None, element, WorkItemMap((1, lanes), words), None)
            yield LegalMap(lanes, Access.CHUNKED, None, element, WorkItemMap((lanes, 1), words), None)


def _dpas_rows(
    lanes: int,
    a: dict[str, tuple[int, int]],
    b: dict[str, tuple[int, int]],
    c: dict[str, tuple[int, int]],
    a_maps: dict[int, tuple[tuple[int, int], tuple[int, int]]],
) -> Iterator[LegalMap]:
    for access in (Access.BLOCK_LOAD, Access.DPAS):
        for element, shape in a.items():
            yield LegalMap(lanes, access, Operand.A, element, WorkItemMap(*a_maps[ELEMENT_BITS[element]]), shape)
        for element, shape in b.items():
            words = WorkItemMap((1, lanes), (_WORD // ELEMENT_BITS[element], 1))
            yield LegalMap(lanes, access, Operand.B, element, words, shape)
        for element, shape in c.items():
            yield LegalMap(lanes, access, Operand.C, element, WorkItemMap((1, lanes), (1, 1)), shape)


LEGAL_MAPS = tuple(_rows())
"""The RFC's tables: sub-groups of 16 are those of PVC, of 8 those of ARC."""


def check_work_item_map(
    subgroup_size: int, access: Access, operand: Operand | None, element: str, wi_map: WorkItemMap
) -> str | None:
    """None if the map is legal, else what is.

    operand: what a block load is for or a DPAS takes, if it is for one; element: as the RFC spells types.
    """
    if wi_map.subgroup_size != subgroup_size:
        return f"wi_layout must place {subgroup_size} work-items, got {list(wi_map.wi_layout)}"
    rows = [row for row in LEGAL_MAPS if (row.subgroup_size, row.access) == (subgroup_size, access)]
    rows = [row for row in rows if row.operand is operand and row.element in (element, ANY_ELEMENT)]
    if any(row.map == wi_map for row in rows):
        return None
    what = f"a {access.value} of {element}" + (f" as operand {operand.value}" if operand is not None else "")
    if not rows:
        return f"sub-groups of {subgroup_size} have no map for {what}"
    return f"{what} by {subgroup_size} work-items needs {' or '.join(str(row.map) for row in rows)}; got {wi_map}"


def check_chunk_size(subgroup_size: int, element: str, chunk_size: int) -> str | None:
    """None if each work-item may access so many adjacent elements at once, else why not."""
    bits = ELEMENT_BITS[element]
    if chunk_size not in _CHUNKS:
        return f"chunk_size must be one of {_CHUNKS}, got {chunk_size}"
    if chunk_size > 1 and chunk_size * bits % _WORD:
        return f"a chunk of {element} must be a multiple of {_WORD} bits, got {chunk_size} elements"
    nbytes = subgroup_size * chunk_size * bits // 8
    if nbytes > _CHUNKED_BYTES:
        what = f"{chunk_size} {element} of {subgroup_size} work-items"
        return f"an access is at most {_CHUNKED_BYTES} bytes, {what} are {nbytes}"
    return None
