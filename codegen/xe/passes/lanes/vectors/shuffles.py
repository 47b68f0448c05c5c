"""Moves elements between lanes and registers.

Every rearrangement maps wanted places to the current places of their elements. A register whose lanes all
keep their element is renamed; one that takes from other lanes of one register is a shuffle; several shuffles
are joined by selects. A transposition exchanges bits of the lane with bits of the register, step by step.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.upstream.vector_ops import TransposeOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    Register,
    bits_of,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.values import Lanes, lane_element, shape_of
from codegen.xe.passes.lanes.vectors.layout import (
    NOTHING,
    Choice,
    LaneLayout,
    Places,
)
from codegen.xe.passes.lanes.vectors.subgroup_shuffles import exchanged, shuffled

_BYTE, _WORD = 8, 32
_KEPT = 4096  # plans: of the rows of a tile, and of tiles of equal kernels


def convert(emitter: Emitter, value: Lanes, layout: LaneLayout) -> Lanes:
    """Convert a vector to another layout."""
    return value if value.layout == layout else rearrange(emitter, value, layout, value.type)


def rearrange(
    emitter: Emitter, value: Lanes, layout: LaneLayout, type_: VectorType, source_of: Places | None = None
) -> Lanes:
    """Return the vector of `type_` in `layout` whose element e is element `source_of[e]` of `value`, or e itself."""
    if value.splat is not None:
        return splat(emitter, value.splat, layout, type_)
    if 1 < bits_of(lane_element(type_.element_type)) < _BYTE:
        raise PassFailedException(
            f"lower-to-lanes: expected elements that share a byte to be converted where they are, got {type_} that "
            "another operation moves between registers: convert them to bytes or floats first"
        )
    wanted = layout.places
    if source_of is not None:
        wanted = np.where(wanted < 0, NOTHING, source_of[wanted])
    chunks = _by_words(emitter, value, layout, wanted)
    if chunks is None:
        found = gather(emitter, value.registers(), value.layout.places, wanted)
        chunks = [emitter.chunk(found[first : first + length]) for first, length in layout.spans()]
    return Lanes(type_, layout, tuple(chunks))


def _by_words(emitter: Emitter, value: Lanes, layout: LaneLayout, wanted: Places) -> list[SSAValue] | None:
    """Return chunks of wanted elements, moved between lanes as words of several; None if none moves, or there are no
    words whose parts stay together.
    """
    element, places = element_of(value.chunks[0]), value.layout.places
    parts = _WORD // bits_of(element)
    if not 1 < parts <= _WORD // _BYTE or len(_grouped(*_key(places), *_key(wanted))[0]) == len(wanted):
        return None
    plan, registers = _words(_key(places), _key(wanted), parts), value.registers()
    if plan is None:
        return None
    words = [_word(emitter, [registers[i] for i in some]) for some in plan.registers.tolist()]
    different = list({row.tobytes(): row for row in plan.wanted}.values())
    moved = gather(emitter, words, plan.places, np.array(different))
    found = {row.tobytes(): word for row, word in zip(different, moved, strict=True)}
    out = [(found[row.tobytes()], part) for row, part in zip(plan.wanted, plan.parts, strict=True)]
    return [_of_words(emitter, out[first : first + length], element, parts) for first, length in layout.spans()]


def _word(emitter: Emitter, parts: Sequence[Register]) -> Register:
    chunk, at = parts[0]
    count = len(parts)
    if at % count == length_of(chunk) % count == 0 and list(parts) == [(chunk, at + i) for i in range(count)]:
        return emitter.bitcast(chunk, i32), at // count
    return emitter.bitcast(emitter.chunk(parts), i32), 0


def _of_words(emitter: Emitter, of_chunk: Sequence[tuple[Register, int]], element: Attribute, parts: int) -> SSAValue:
    """Return the chunk of elements that are each a part of a word."""
    words = [word for word, _ in of_chunk[::parts]]
    if list(of_chunk) == [(word, part) for word in words for part in range(parts)]:
        return emitter.bitcast(emitter.chunk(words), element)
    return emitter.chunk([(emitter.bitcast(emitter.register(word), element), part) for word, part in of_chunk])


@dataclass(frozen=True, slots=True)
class _Words:
    """Registers that form words, [words, parts], and the places of these; the word and part of each wanted register."""

    registers: Places
    places: Places
    wanted: Places
    parts: Sequence[int]


@lru_cache(_KEPT)
def _words(places: tuple[bytes, int], wanted: tuple[bytes, int], parts: int) -> _Words | None:
    """Return words of registers of which each wanted register takes the same part in all lanes; None if there are none.

    Parts are neighbours, or elements whose numbers differ by bits that belong to registers before and afterwards.
    """
    held, then = _of_key(*places), _of_key(*wanted)
    for names in _numberings(held, then, parts):
        now, goal = (np.where(of < 0, NOTHING, names[of]) for of in (held, then))
        used = np.flatnonzero(np.isin(now, goal[goal >= 0]).any(1))
        if len(used) % parts:
            continue
        registers = used[np.argsort(now[used].max(1), kind="stable")].reshape(-1, parts)
        of_words = now[registers]
        first = of_words[:, :1]
        whole = np.where(first < 0, NOTHING, first // parts * parts + np.arange(parts)[:, None])
        part = np.where(goal < 0, NOTHING, goal % parts)
        part_of = part.max(1, keepdims=True)
        if (of_words == whole).all() and ((part == part_of) | (part == NOTHING)).all():
            return _Words(registers, first[:, 0] // parts, goal // parts, np.maximum(part_of[:, 0], 0).tolist())
    return None


def _numberings(held: Places, wanted: Places, parts: int) -> Iterator[Places]:
    """Yield numberings of the elements, each with the part of a word in the lowest bits."""
    elements = np.arange(max(held.max(), wanted.max()) + 1)
    yield elements
    used = held[np.isin(held, wanted[wanted >= 0]).any(1)]
    now, goal = _weights(*_key(used)), _weights(*_key(wanted))
    if now is None or goal is None:
        return
    bits = sorted({*now[0]} & {*goal[0]} - {0})[: parts.bit_length() - 1]
    if 1 << len(bits) == parts:
        offset = elements - used.min()
        of_word = offset - sum((offset & bit for bit in bits), np.zeros_like(offset))
        part = sum((offset // bit % 2 << at for at, bit in enumerate(bits)), np.zeros_like(offset))
        yield np.unique(of_word, return_inverse=True)[1] * parts + part


def splat(emitter: Emitter, scalar: SSAValue, layout: LaneLayout, type_: VectorType) -> Lanes:
    """Return the vector of one scalar."""
    of_length = {length: emitter.splat(scalar, length) for length in sorted(set(layout.chunks))}
    return Lanes(type_, layout, tuple(of_length[length] for length in layout.chunks), scalar)


def gather(emitter: Emitter, registers: Sequence[Register], places: Places, wanted: Places) -> list[Register]:
    """Return registers that hold the wanted elements, from those that hold `places`."""
    out: list[Register | None] = [None] * len(wanted)
    same, groups = _grouped(*_key(places), *_key(wanted))
    joins: list[tuple[int, list[tuple[_Part, Register]]]] = []
    for targets, sources in groups:
        if all(t in same for t in targets):
            for target in targets:
                out[target] = registers[same[target]]
            continue
        now, at = [registers[s] for s in sources], places[sources]
        if len(targets) > 1 and len(targets) * 2 >= len(sources):
            now, at = _exchange(emitter, now, at, wanted[targets])
        for target in targets:
            parts = _parts(*_key(at), _key(wanted[target])[0])
            joins.append((target, [(part, now[part.source]) for part in parts]))
    shuffles = _Shuffles(emitter, [part for _, parts in joins for part in parts])
    for target, parts in joins:
        out[target] = shuffles.joined(parts)
    return [r for r in out if r is not None]


def _key(places: Places) -> tuple[bytes, int]:
    """Return places as a key of a cache: their bytes and the number of lanes."""
    return np.asarray(places, np.int64).tobytes(), places.shape[-1]


def _of_key(data: bytes, lanes: int) -> Places:
    return np.frombuffer(data, np.int64).reshape(-1, lanes)


@lru_cache(_KEPT)
def _grouped(
    places: bytes, lanes: int, wanted: bytes, wanted_lanes: int
) -> tuple[Mapping[int, int], Sequence[tuple[list[int], list[int]]]]:
    """Return the wanted registers that exist unchanged, and the groups of `_independent`."""
    now, then = _of_key(places, lanes), _of_key(wanted, wanted_lanes)
    same = _same_rows(now, then)
    return same, _independent(now, then, same)


def _same_rows(places: Places, wanted: Places) -> dict[int, int]:
    """Map wanted registers that exist unchanged to their first occurrence."""
    first = {row.tobytes(): register for register, row in reversed(list(enumerate(places)))}
    full = (wanted != NOTHING).all(1)
    out: dict[int, int] = {}
    for target, row in enumerate(wanted):
        if full[target]:
            register = first.get(row.tobytes())
        else:  # unwanted elements may come from any register
            register = next(iter(np.flatnonzero(((places == row) | (row == NOTHING)).all(1)).tolist()), None)
        if register is not None:
            out[target] = register
    return out


def _independent(places: Places, wanted: Places, same: Mapping[int, int]) -> list[tuple[list[int], list[int]]]:
    """Return groups of wanted registers and the registers they need, disjoint between groups.

    `same`: the wanted registers that exist unchanged.
    """
    holders: dict[int, int] = {}
    if len(same) < len(wanted):
        for register, row in reversed(list(enumerate(places.tolist()))):
            holders.update((element, register) for element in row if element != NOTHING)
    group_of: dict[int, int] = {}
    groups: list[tuple[list[int], set[int]]] = []
    for target, row in enumerate(wanted):
        needs = {same[target]} if target in same else {holders[e] for e in row.tolist() if e != NOTHING}
        joined = sorted({group_of[s] for s in needs if s in group_of})
        if not joined:
            joined = [len(groups)]
            groups.append(([], set()))
        targets, sources = groups[joined[0]]
        for other in joined[1:]:
            targets += groups[other][0]
            sources |= groups[other][1]
            groups[other] = ([], set())
        targets.append(target)
        sources |= needs
        group_of.update(dict.fromkeys(sources, joined[0]))
    return [(sorted(targets), sorted(sources)) for targets, sources in groups if targets]


@dataclass(frozen=True, slots=True)
class _Part:
    """Lanes that take their elements from one register, unchanged or shuffled by a pattern of source lanes."""

    covered: tuple[bool, ...]
    source: int
    pattern: tuple[int, ...] | None = None


_Pattern = tuple[int, ...]


class _Shuffles:
    """Shuffles of registers, each made once; a chunk of words that is wanted whole by a pattern is shuffled at once."""

    def __init__(self, emitter: Emitter, wanted: Sequence[tuple[_Part, Register]]) -> None:
        self._emitter = emitter
        self._made: dict[tuple[_Pattern, Register], Register] = {}
        of_chunk: dict[tuple[_Pattern, SSAValue], set[int]] = {}
        for part, (chunk, position) in wanted:
            if part.pattern is not None and bits_of(element_of(chunk)) == _WORD:
                of_chunk.setdefault((part.pattern, chunk), set()).add(position)
        for (pattern, chunk), positions in of_chunk.items():
            if 1 < len(positions) == length_of(chunk):
                moved = shuffled(emitter, chunk, pattern)
                self._made.update({(pattern, (chunk, position)): (moved, position) for position in positions})

    def joined(self, parts: Sequence[tuple[_Part, Register]]) -> Register:
        """Return a register of parts, each of the lanes that it covers."""
        *others, last = (self._shuffled(part, register) for part, register in parts)
        if not others:
            return last
        emitter = self._emitter
        scalar = emitter.register(last)
        for (part, _), other in zip(reversed(parts[:-1]), reversed(others), strict=True):
            scalar = emitter.chosen(emitter.lanes(part.covered), emitter.register(other), scalar)
        return scalar, 0

    def _shuffled(self, part: _Part, register: Register) -> Register:
        if part.pattern is None:
            return register
        key = part.pattern, register
        if key not in self._made:
            self._made[key] = shuffled(self._emitter, self._emitter.register(register), part.pattern), 0
        return self._made[key]


@lru_cache(_KEPT)
def _parts(places: bytes, lanes: int, wanted: bytes) -> Sequence[_Part]:
    """Return the parts of a wanted register: greedily those that cover most lanes, unchanged ones first."""
    now, then = _of_key(places, lanes), np.frombuffer(wanted, np.int64)
    missing, at_home = then != NOTHING, now == then
    parts: list[_Part] = []
    while missing.any() or not parts:
        kept = (at_home & missing).sum(1)
        best = int(kept.argmax())
        if kept[best] == missing.sum():
            parts.append(_Part(tuple(missing.tolist()), best))
            break
        source, from_lanes = _best_shuffle(now, then, missing)
        if kept[best] >= sum(lane >= 0 for lane in from_lanes):
            covered, pattern, source = at_home[best] & missing, None, best
        else:
            covered, pattern = np.array(from_lanes) >= 0, _regular(from_lanes)
        parts.append(_Part(tuple(covered.tolist()), source, pattern))
        missing = missing & ~covered
    return parts


def _best_shuffle(places: Places, wanted: Places, missing: Choice) -> tuple[int, list[int]]:
    """Return the first register with most of the missing elements, and their lanes in it, -1 for others."""
    held = places[:, :, None] == wanted
    found = held.any(1) & missing
    best = int(found.sum(1).argmax())
    return best, np.where(found[best], held[best].argmax(0), -1).tolist()


def _regular(lanes: Sequence[int]) -> tuple[int, ...]:
    """Return the source lanes with -1 (any) filled in: a simple function of the lane if there is one."""
    known = [(lane, source) for lane, source in enumerate(lanes) if source >= 0]
    first_lane, first = known[0]
    count = len(lanes)
    candidates = [
        [first] * count,
        [lane ^ (first_lane ^ first) for lane in range(count)],
        [(lane + first - first_lane) % count for lane in range(count)],
        *([lane % width for lane in range(count)] for width in (1, 2, 4, 8)),
    ]
    for candidate in candidates:
        if all(candidate[lane] == source for lane, source in known):
            return tuple(candidate)
    return tuple(source if source >= 0 else lane for lane, source in enumerate(lanes))


def _exchange(
    emitter: Emitter, registers: Sequence[Register], places: Places, wanted: Places
) -> tuple[Sequence[Register], Places]:
    """Exchange bits of lanes and registers until each lane bit has its wanted meaning, as far as possible.

    An exchange may bring what another lane bit needs to the registers.
    """
    steps, at = _steps(*_key(places), *_key(wanted))
    return (exchanged(emitter, registers, steps) if steps else registers), _of_key(at, places.shape[1])


@lru_cache(_KEPT)
def _steps(places: bytes, lanes: int, wanted: bytes, wanted_lanes: int) -> tuple[Sequence[tuple[int, int]], bytes]:
    """Return the bits of the lane and of the register that are exchanged in turn, and the places afterwards."""
    now, goal = _weights(places, lanes), _weights(wanted, wanted_lanes)
    steps, at = list[tuple[int, int]](), _of_key(places, lanes)
    if now is None or goal is None:
        return steps, places
    (of_registers, of_lanes), (_, wanted_of_lanes) = map(list, now), goal

    def is_held(bit: int) -> bool:
        weight = wanted_of_lanes[bit]
        return of_lanes[bit] != weight and 0 not in (of_lanes[bit], weight) and weight in of_registers

    while (bit := next(filter(is_held, range(_lane_bits(at))), None)) is not None:
        other = of_registers.index(wanted_of_lanes[bit])
        steps.append((bit, other))
        at = _exchanged_bit(at, bit, other)
        of_registers[other], of_lanes[bit] = of_lanes[bit], of_registers[other]
    return steps, _key(at)[0]


@lru_cache(_KEPT)
def _weights(data: bytes, size: int) -> tuple[list[int], list[int]] | None:
    """Return the increment of the element number per bit of register and lane number; None if not additive."""
    places = _of_key(data, size)
    count = len(places)
    if count & (count - 1) or (places == NOTHING).any():
        return None
    base = int(places[0, 0])
    of_registers = [int(places[1 << bit, 0]) - base for bit in range(count.bit_length() - 1)]
    of_lanes = [int(places[0, 1 << bit]) - base for bit in range(_lane_bits(places))]
    rows = sum((((np.arange(count) >> bit) & 1) * w for bit, w in enumerate(of_registers)), np.zeros(count, np.int64))
    lanes = sum((((np.arange(size) >> bit) & 1) * w for bit, w in enumerate(of_lanes)), np.zeros(size, np.int64))
    return (of_registers, of_lanes) if (places == base + rows[:, None] + lanes).all() else None


def _lane_bits(places: Places) -> int:
    return places.shape[1].bit_length() - 1


def _exchanged_bit(places: Places, lane_bit: int, register_bit: int) -> Places:
    """Return places after upper lanes exchanged low registers for the high ones of lower lanes."""
    registers, lanes = np.indices(places.shape)
    differ = (registers >> register_bit ^ lanes >> lane_bit) & 1 == 1
    return np.where(differ, places[registers ^ 1 << register_bit, lanes ^ 1 << lane_bit], places)


def transposed_source(op: TransposeOp, layout: LaneLayout) -> LaneLayout:
    """Return the layout of the operand of a transposition with which the result has a layout without movement."""
    shape = shape_of(op.vector)
    return layout.relabelled(np.arange(int(np.prod(shape))).reshape(shape).transpose(op.dims).reshape(-1))
