"""Builder of per-lane operations, with values that depend only on the lane."""

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from math import gcd
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerType,
    VectorType,
    f32,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, GEPOp, LoadOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.creation import append, create, insert_before
from codegen.xe.dialects.gpu import LaneIdOp
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.interned import (
    dense,
    index,
    integer,
    vector,
)
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, IndexCastOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.upstream.llvm_ops import DeviceFuncOp, ExchangeOp, LoadEachOp
from codegen.xe.dialects.upstream.vector_ops import FromElementsOp
from codegen.xe.passes.lanes.analysis.cse import PureValues
from codegen.xe.passes.lanes.analysis.divisibility import number
from codegen.xe.subgroup import subgroup_size

Register = tuple[SSAValue, int]
"""One register: its chunk, and its position there."""

_NIBBLE = 4
_WORD = 32
_LONGEST = 16  # elements of a vector in SPIR-V
_NONE: Mapping[str, Attribute] = {}
_PREDICATES = {name: integer(number, i64) for number, name in enumerate(CmpiOp.PREDICATES)}


class Emitter:
    """Appends operations to a block; values that depend only on the lane are created once, at the kernel's start.

    `functions` are the declarations of the device functions that the code calls.
    """

    def __init__(self, entry: Block) -> None:
        self.block, self._entry, self._prologue = entry, entry, Block()
        self._of_lane = PureValues()
        self._pure = self._of_body = PureValues(self._of_lane)
        self.functions: dict[str, Operation] = {}
        self._known: dict[object, SSAValue] = {}
        self._integers: dict[tuple[int, int], tuple[SSAValue, Attribute]] = {}

    def drop_unused(self) -> None:
        """Erase the unused pure values."""
        self._of_body.drop_unused()
        self._of_lane.drop_unused()

    def finish(self) -> None:
        """Insert the prologue at the start of the kernel, without its unused constants."""
        first = self._entry.first_op
        assert first is not None  # a kernel ends with a terminator
        for op in list(self._prologue.ops):
            op.detach()
            if type(op) is not arith.ConstantOp or op.result.first_use is not None:
                insert_before(op, first)

    def add(self, op: Operation) -> SSAValue | None:
        """Append an operation; return its first result, if it has one."""
        append(self.block, op)
        return op.results[0] if op.results else None

    def value(self, op: Operation) -> SSAValue:
        """Append an operation; return its result."""
        append(self.block, op)
        (result, *_) = op.results
        return result

    def make(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] = _NONE,
    ) -> SSAValue:
        """Append an operation of a kind with one result; return the result."""
        op = create(kind, operands, (type_,), properties)
        append(self.block, op)
        (result,) = op.results
        return result

    def declare(
        self,
        symbol: str,
        operands: Sequence[SSAValue],
        result: Attribute | None,
        *,
        convergent: bool = False,
        accesses: str | None = None,
    ) -> None:
        """Declare a device function to be called with such operands, unless it is declared."""
        if symbol not in self.functions:
            types = [operand.type for operand in operands]
            self.functions[symbol] = DeviceFuncOp(symbol, types, result, convergent=convergent, accesses=accesses)

    def pure(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] = _NONE,
    ) -> SSAValue:
        """Return the result of a pure operation, reusing one in scope."""
        return self._pure.value(self.block, kind, operands, type_, properties)

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Context in which operations are appended to a block nested in the current one."""
        outside, mark = self.block, self._pure.mark()
        self.block = block
        try:
            yield
        finally:
            self.block = outside
            self._pure.forget(mark)

    def once(self, key: object, make: Callable[[], SSAValue]) -> SSAValue:
        """Return the result of `make`, emitted once at the start of the kernel."""
        if key in self._known:
            return self._known[key]
        outside = self.block, self._pure
        self.block, self._pure = self._prologue, self._of_lane
        try:
            value = self._known[key] = make()
        finally:
            self.block, self._pure = outside
        return value

    # Numbers.

    def constant(self, number: int | float, type_: Attribute) -> SSAValue:
        """Return a scalar constant."""

        def make() -> SSAValue:
            if type(type_) is IntegerType or type(type_) is IndexType:
                value = integer(int(number), type_)
            else:
                assert isinstance(type_, AnyFloat)
                value = FloatAttr(float(number), type_)
            return self.make(arith.ConstantOp, (), type_, {"value": value})

        if type(number) is not int:
            return self.once(("constant", repr(number), type_), make)
        known = self._integers.get((number, id(type_)))
        if known is None:
            value = self.once(("constant", repr(number), type_), make)
            known = self._integers[number, id(type_)] = value, type_  # kept alive, so that its id is not reused
        return known[0]

    def numbers(self, numbers: Sequence[int], element: IntegerType | IndexType) -> SSAValue:
        """Return a chunk of constants.

        Raises:
            PassFailedException: the type does not hold one, as offsets in rows of 2**62 elements.
        """

        def make() -> SSAValue:
            type_ = vector(element, len(numbers))
            try:
                value = DenseIntOrFPElementsAttr.from_list(type_, list(numbers))
            except struct.error as error:
                got = max(numbers, key=abs)
                raise PassFailedException(
                    f"lower-to-lanes: expected numbers within the range of {element}, got {got}"
                ) from error
            return self.make(arith.ConstantOp, (), type_, {"value": value})

        return self.once(("numbers", tuple(numbers), element), make)

    def index(self, value: Index) -> SSAValue:
        """Return an index as an SSA value."""
        return self.constant(value, index) if isinstance(value, int) else value

    def as_int(self, value: Index, type_: IntegerType) -> SSAValue:
        """Return an index as an integer; sums and products of indices are recomputed as integers."""
        if isinstance(value, int):
            return self.constant(value, type_)
        return self._pure.known((value, type_), lambda: self._as_int(value, type_))

    def as_integers(self, chunk: SSAValue) -> SSAValue:
        """Return a chunk of indices as i64."""
        return self.pure(IndexCastOp, (chunk,), chunk_type(i64, length_of(chunk)))

    def _as_int(self, value: SSAValue, type_: IntegerType) -> SSAValue:
        known = number(value)
        if known is not None:
            return self.constant(known, type_)
        owner = value.owner
        if value.type == type_:
            return value
        if type(owner) is arith.IndexCastOp and owner.input.type == type_:
            return owner.input
        if (type(owner) is arith.AddiOp or type(owner) is arith.MuliOp) and type_ == i32:
            lhs, rhs = owner.operands
            return self.pure(type(owner), (self.as_int(lhs, type_), self.as_int(rhs, type_)), type_)
        return self.pure(arith.IndexCastOp, (value,), type_)

    def sum(self, *terms: Index) -> Index:
        """Return the sum of indices; a number if all are."""
        number, total = 0, None
        for term in terms:  # `isinstance` with xDSL's abstract classes takes long
            if isinstance(term, int):
                number += term
            else:
                total = term if total is None else self.pure(arith.AddiOp, (total, term), index)
        if total is None or number == 0:
            return number if total is None else total
        return self.pure(arith.AddiOp, (total, self.index(number)), index)

    def product(self, a: Index, b: Index) -> Index:
        """Return the product of two indices; a number if both are, or one is 0."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        for one, other in ((a, b), (b, a)):
            if isinstance(one, int) and one in (0, 1):
                return 0 if one == 0 else other
        return self.pure(arith.MuliOp, (self.index(a), self.index(b)), index)

    def compared(self, a: SSAValue, b: SSAValue, predicate: str) -> SSAValue:
        """Return the results of an integer comparison, i1."""
        type_ = chunk_type(i1, length_of(a))
        return self.pure(CmpiOp, (a, b), type_, {"predicate": _PREDICATES[predicate]})

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Return the bitwise and of two integers."""
        return self.pure(arith.AndIOp, (a, b), a.type)

    def chosen(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Return the select of two values by a condition."""
        return self.pure(SelectOp, (condition, a, b), a.type)

    # Memory.

    def pointer(self, pointer: SSAValue, offset: Index, element: Attribute) -> SSAValue:
        """Return a pointer advanced by some elements; the offset is an i64 or i32, or a number."""
        operands, number = ((pointer,), offset) if isinstance(offset, int) else ((pointer, offset), GEP_USE_SSA_VAL)
        held = i64 if isinstance(element, IndexType) else element
        place = {"rawConstantIndices": dense(i32, (number,)), "elem_type": held, "noWrapFlags": integer(0, i32)}
        return self.pure(GEPOp, operands, pointer.type, place)

    # Lanes.

    @property
    def lane(self) -> SSAValue:
        """Return the lane id, i32."""
        return self.once("lane", lambda: self.value(arith.IndexCastOp(self.value(LaneIdOp()), i32)))

    def by_lane(self, numbers: Sequence[int]) -> SSAValue:
        """Return a number per lane, i32: by arithmetic if simple, else from a table."""
        return self.once(("by lane", key := tuple(numbers)), lambda: self._by_lane(tuple(map(int, key))))

    def _by_lane(self, numbers: tuple[int, ...]) -> SSAValue:
        first, step = numbers[0], numbers[1] - numbers[0]
        if all(n == first + step * lane for lane, n in enumerate(numbers)):
            return self._scaled(self.lane, step, first) if step else self.constant(first, i32)
        least = min(numbers)
        unit = gcd(*(n - least for n in numbers))
        entries = [(n - least) // unit for n in numbers]
        for width in (2, 4, 8):
            if entries == [lane % width for lane in range(subgroup_size())]:
                low = self.make(arith.AndIOp, (self.lane, self.constant(width - 1, i32)), i32)
                return self._scaled(low, unit, least)
            if entries == [lane // width for lane in range(subgroup_size())]:
                shift = self.constant(width.bit_length() - 1, i32)
                return self._scaled(self.value(arith.ShRUIOp(self.lane, shift)), unit, least)
        if max(entries) < subgroup_size():
            return self._scaled(self._from_table(entries), unit, least)
        chosen = self.constant(numbers[-1], i32)
        for one in dict.fromkeys(numbers[:-1]):
            where = self.lanes([n == one for n in numbers])
            chosen = self.value(arith.SelectOp(where, self.constant(one, i32), chosen))
        return chosen

    def _from_table(self, entries: Sequence[int]) -> SSAValue:
        table = sum(entry << (_NIBBLE * lane) for lane, entry in enumerate(entries))
        wide = self.value(arith.ExtUIOp(self.lane, i64))
        at = self.value(arith.MuliOp(wide, self.constant(_NIBBLE, i64)))
        shifted = self.value(arith.ShRUIOp(self.constant(table, i64), at))
        low = self.value(arith.TruncIOp(shifted, i32))
        return self.value(arith.AndIOp(low, self.constant(subgroup_size() - 1, i32)))

    def _scaled(self, value: SSAValue, unit: int, least: int) -> SSAValue:
        if unit != 1:
            value = self.value(arith.MuliOp(value, self.constant(unit, i32)))
        return self.value(arith.AddiOp(value, self.constant(least, i32))) if least else value

    def lanes(self, chosen: Sequence[bool]) -> SSAValue:
        """Return an i1 that is true in the chosen lanes."""
        return self.once(("lanes", key := tuple(chosen)), lambda: self._lanes(tuple(map(bool, key))))

    def _lanes(self, chosen: tuple[bool, ...]) -> SSAValue:
        if all(chosen) or not any(chosen):
            return self.constant(chosen[0], i1)
        count = sum(chosen)
        if chosen == tuple(lane < count for lane in range(subgroup_size())):
            return self.value(arith.CmpiOp(self.lane, self.constant(count, i32), "ult"))
        if sum(chosen) == 1:
            return self.value(arith.CmpiOp(self.lane, self.constant(chosen.index(True), i32), "eq"))
        table = self.constant(sum(1 << lane for lane, c in enumerate(chosen) if c), i32)
        bit = self.value(arith.AndIOp(self.value(arith.ShRUIOp(table, self.lane)), self.constant(1, i32)))
        return self.value(arith.CmpiOp(bit, self.constant(0, i32), "ne"))

    def index_by_lane(self, numbers: Sequence[int]) -> SSAValue:
        """Return a number per lane, as an index."""
        if len(set(numbers)) == 1:
            return self.constant(numbers[0], index)
        key = "index by lane", tuple(numbers)
        return self.once(key, lambda: self.value(arith.IndexCastOp(self.by_lane(numbers), index)))

    # Chunks.

    def register(self, register: Register) -> SSAValue:
        """Return the scalar of a register."""
        chunk, position = register
        if not isinstance(chunk.type, VectorType):
            return chunk
        element = cast("VectorType[Attribute]", chunk.type).element_type
        return self.pure(xvector.ExtractOp, (chunk,), element, {"static_position": dense(i64, (position,))})

    def chunk(self, registers: Sequence[Register]) -> SSAValue:
        """Join registers to a chunk."""
        first = registers[0][0]
        if len(registers) == 1:
            return self.register(registers[0])
        if len(registers) == length_of(first) and list(registers) == [(first, at) for at in range(len(registers))]:
            return first
        if all(register == registers[0] for register in registers):
            return self.splat(self.register(registers[0]), len(registers))
        sources = list({id(chunk): chunk for chunk, _ in registers}.values())
        joined = self._of_whole_words(registers) if bits_of(element_of(first)) < _WORD else None
        if joined is None and (bits_of(element_of(first)) < _WORD or all(map(_is_compound, sources))):
            joined = self._of_many(registers, sources)
        if joined is not None:
            return joined
        lengths = [length_of(s) for s in sources]
        joins = len(sources) <= 2 and min(lengths) > 1 and len(set(lengths)) == 1 and not _are_words(sources)
        if joins and not _is_slice([position for _, position in registers], sources):
            return self._permuted(registers, sources)
        scalars = [self.register(r) for r in registers]
        return self.pure(FromElementsOp, scalars, vector(scalars[0].type, len(scalars)))

    def _permuted(self, registers: Sequence[Register], sources: Sequence[SSAValue]) -> SSAValue:
        """Join registers of one or two chunks of a length."""
        mask = [sources.index(chunk) * length_of(chunk) + position for chunk, position in registers]
        pair, type_ = (sources[0], sources[-1]), vector(element_of(sources[0]), len(registers))
        return self.pure(xvector.ShuffleOp, pair, type_, {"mask": dense(i64, mask)})

    def _of_whole_words(self, registers: Sequence[Register]) -> SSAValue | None:
        """Join registers that are all parts of words, in order, by joining the words; None if they are not."""
        parts = _WORD // bits_of(element_of(registers[0][0]))
        words = [_word_of(register, parts) for register in registers]
        firsts = [word for word in words[::parts] if word is not None]
        in_turn = [(word, part) for word in firsts for part in range(parts)]
        if in_turn != [(word, position % parts) for word, (_, position) in zip(words, registers, strict=True)]:
            return None
        return self.bitcast(self.chunk(firsts), element_of(registers[0][0]))

    def _of_many(self, registers: Sequence[Register], sources: Sequence[SSAValue]) -> SSAValue | None:
        """Join registers of many chunks of one length by joining pairs of chunks; None if there are not so many."""
        count, length = len(sources), length_of(sources[0])
        alike = length > 1 and all(length_of(source) == length for source in sources) and not _are_words(sources)
        if not alike or count <= 2 or count & (count - 1):
            return None
        half = len(registers) // 2
        if count * length > 2 * _LONGEST:
            if half * 2 < len(registers) or len(dict.fromkeys(chunk for chunk, _ in registers[:half])) * 2 > count:
                return None
            halves = [self.chunk(registers[:half]), self.chunk(registers[half:])]
            return self._permuted([(chunk, at) for chunk in halves for at in range(half)], halves)
        pairs = [sources[first : first + 2] for first in range(0, count, 2)]
        joined = [self._permuted([(chunk, at) for chunk in pair for at in range(length)], pair) for pair in pairs]
        places = [divmod(sources.index(chunk), 2) for chunk, _ in registers]
        moved = [(joined[pair], which * length + at) for (pair, which), (_, at) in zip(places, registers, strict=True)]
        return self.chunk(moved)

    def splat(self, scalar: SSAValue, length: int) -> SSAValue:
        """Return a chunk of equal registers."""
        if length == 1:
            return scalar
        return self.pure(xvector.BroadcastOp, (scalar,), vector(scalar.type, length))

    def bitcast(self, chunk: SSAValue, element: Attribute) -> SSAValue:
        """Cast a chunk's bits to elements of another type, as many as fit; one element is a scalar."""
        before, count = element_of(chunk), length_of(chunk)
        if before is element or before == element:
            return chunk
        length = count * bits_of(before) // bits_of(element)
        if count == length:
            return self.pure(arith.BitcastOp, (chunk,), chunk_type(element, length))
        halves = _halves(chunk)
        if halves and length % 2 == 0 and length < count:  # words are joined without moves, halves are not
            words = [self.bitcast(half, element) for half in halves]
            return self.chunk([(word, position) for word in words for position in range(length // 2)])
        if not isinstance(chunk.type, VectorType):
            chunk = self.pure(xvector.BroadcastOp, (chunk,), vector(chunk.type, 1))
        cast_ = self.pure(xvector.BitcastOp, (chunk,), vector(element, length))
        return cast_ if length > 1 else self.register((cast_, 0))

    def as_llvm(self, chunk: SSAValue) -> SSAValue:
        """Return a chunk with elements of `llvm_element`."""
        element = element_of(chunk)
        return self.as_integers(chunk) if type(element) is IndexType else self.bitcast(chunk, llvm_element(element))

    def from_llvm(self, chunk: SSAValue, element: Attribute) -> SSAValue:
        """Return a chunk with elements of `llvm_element` as those of the element."""
        if type(element) is IndexType:
            return self.pure(IndexCastOp, (chunk,), chunk_type(index, length_of(chunk)))
        return self.bitcast(chunk, element)

    def as_f32(self, chunk: SSAValue) -> SSAValue:
        """Convert 16-bit floats to f32."""
        return chunk if element_of(chunk) == f32 else self.value(ExtFOp(chunk, chunk_type(f32, length_of(chunk))))


def _is_compound(chunk: SSAValue) -> bool:
    """True for the result of a compound or a shuffle of such, of which registers are taken without moves."""
    owner = chunk.owner
    return type(owner) in _COMPOUNDS or (type(owner) is xvector.ShuffleOp and _is_compound(owner.v1))


def _is_slice(mask: Sequence[int], sources: Sequence[SSAValue]) -> bool:
    """True if registers are consecutive in one chunk, which lanes did not load.

    MLIR would load them again from the private memory of a message's result, and LLVM would then extract them
    from the first load as one integer of that many bits.
    """
    is_loaded = type(sources[0].owner) is LoadOp
    return not is_loaded and len(sources) == 1 and list(mask) == list(range(mask[0], mask[0] + len(mask)))


_COMPOUNDS = frozenset({ExchangeOp, LoadEachOp})
_WORDS_OF_LANES = frozenset({LoadOp, *_COMPOUNDS, SelectOp, xvector.BroadcastOp, FromElementsOp})


def _word_of(register: Register, parts: int) -> Register | None:
    """Return the word that a register is a part of, if a chunk of its elements alone was cast from words."""
    chunk, position = register
    cast_ = chunk.owner
    if type(cast_) is not xvector.BitcastOp or bits_of(element_of(cast_.source)) != _WORD:
        return None
    source, at = cast_.source, position // parts
    of = source.owner
    if type(of) is xvector.BroadcastOp:
        return of.source, 0
    if type(of) is FromElementsOp:
        return of.elements[at], 0
    return (source, at) if type(of) in _WORDS_OF_LANES else None


def _are_words(chunks: Sequence[SSAValue]) -> bool:
    """True if a chunk is a bitcast of a message's words, which MLIR would shuffle by splitting the message's result."""
    casts = [chunk.owner for chunk in chunks if type(chunk.owner) is xvector.BitcastOp]
    return any(type(cast_.source.owner) not in _WORDS_OF_LANES for cast_ in casts)


def _halves(chunk: SSAValue) -> Sequence[SSAValue]:
    """Return the two chunks of equal length that were joined to a chunk, if any."""
    joined = chunk.owner
    if not isinstance(joined, xvector.ShuffleOp) or joined.mask.get_values() != tuple(range(length_of(chunk))):
        return ()
    return (joined.v1, joined.v2) if 2 * length_of(joined.v1) == length_of(chunk) else ()


def llvm_element(element: Attribute) -> Attribute:
    """Return the type in which functions of LLVM take elements: integers for indices and bf16."""
    if type(element) is IndexType:
        return i64
    return i16 if type(element) is BFloat16Type else element


def chunk_type(element: Attribute, length: int) -> Attribute:
    """Return the type of a chunk; of one register, the element type."""
    return element if length == 1 else vector(element, length)


def length_of(chunk: SSAValue) -> int:
    """Return the number of registers of a chunk."""
    type_ = chunk.type
    return type_.shape.data[0].data if type(type_) is VectorType else 1


def element_of(chunk: SSAValue) -> Attribute:
    """Return the element type of a chunk."""
    type_ = chunk.type
    return type_.element_type if type(type_) is VectorType else type_


_BITS: dict[type[Attribute], int] = {
    IndexType: 64,
    Float64Type: 64,
    Float32Type: 32,
    Float16Type: 16,
    BFloat16Type: 16,
}


def bits_of(element: Attribute) -> int:
    """Return the bits of an element; an index has those of an address."""
    if type(element) is IntegerType:  # quick: `isinstance` with xDSL's abstract classes takes long
        return element.width.data
    known = _BITS.get(type(element))
    if known is not None:
        return known
    assert isinstance(element, FixedBitwidthType), element
    return element.bitwidth
