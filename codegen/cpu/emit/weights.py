"""Decoding of weights in registers: codes of 4 and 8 bits to the values that are multiplied, with scales and zeros.

A code of 4 bits is looked up among 16 values. Where these hold the scale of a column and a group they are what is
multiplied, so that nothing remains to be computed per element; else they are what the codes stand for.

Source: OCP 8-bit floating point specification; OCP microscaling formats specification.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.config.cpu import Isa
from codegen.cpu.emit.elements import Elements, elements_of
from codegen.cpu.emit.writer import Function, Value, f32, mask, splat
from codegen.cpu.isa import Multiply
from codegen.cpu.nest.plan import LINE, Plan
from codegen.problem.dtype import DType
from codegen.problem.quantization import Quantization

_CODES = 16  # of 4 bits
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_E4M3_MAGNITUDE, _E4M3_RANGE = 0x7F, 256.0  # f16's exponent has a bias larger by 8
_E8M0_NAN, _E8M0_LEAST = 255, 0
_NAN_BITS, _LEAST_BITS = 0x7FC00000, 0x00400000
_FRACTION_BITS = 23
TABLE_BYTES = LINE
"""Bytes of the 16 values of a column and a group: bf16 twice, or f32."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Decoder of B's codes in one function."""

    f: Function
    plan: Plan

    @property
    def elements(self) -> Elements:
        """Vectors of the plan's instruction set."""
        return elements_of(self.f, self.plan)

    @property
    def dtype(self) -> DType:
        """Type of the codes."""
        return self.plan.problem.dtype_b

    @property
    def quantization(self) -> Quantization | None:
        """Scales and zero points."""
        return self.plan.problem.quantization

    @property
    def _as_pairs(self) -> bool:
        return self.plan.multiply is Multiply.BF16

    @property
    def _wide(self) -> bool:
        return self.plan.isa is not Isa.AVX2

    @property
    def floats(self) -> str:
        """LLVM's type of a vector of f32."""
        return self.elements.floats.type

    @property
    def integers(self) -> str:
        """LLVM's type of a vector of i32."""
        return self.elements.floats.integers

    @property
    def table_parts(self) -> int:
        """Vectors of a table."""
        return TABLE_BYTES // (4 * self.plan.lanes)

    @property
    def table_kind(self) -> str:
        """LLVM's type of a vector of a table."""
        return f"<{2 * self.plan.lanes} x i16>" if self._as_pairs else self.floats

    # Scales and zero points.

    def scale(self, stored: str, dtype: DType) -> str:
        """Convert a vector of scales as stored to f32."""
        if dtype is not DType.E8M0:
            return self.elements.widened(stored, dtype)
        f, kind, lanes = self.f, self.integers, self.plan.lanes
        codes = f.op(f"zext <{lanes} x i8> {stored} to {kind}")
        bits = f.op(f"shl {kind} {codes}, {splat('i32', _FRACTION_BITS)}")
        for code, instead in ((_E8M0_NAN, _NAN_BITS), (_E8M0_LEAST, _LEAST_BITS)):
            found = f.op(f"icmp eq {kind} {codes}, {splat('i32', code)}")
            bits = f.op(f"select <{lanes} x i1> {found}, {kind} {splat('i32', instead)}, {kind} {bits}")
        return f.op(f"bitcast {kind} {bits} to {self.floats}")

    def zero(self, stored: str, group: Value) -> str:
        """Convert a vector of stored zero points, bytes or words of eight groups, to f32."""
        f, kind = self.f, self.integers
        if self.dtype.packed == 1:
            return f.op(f"uitofp <{self.plan.lanes} x i8> {stored} to {self.floats}")
        place = f.op(f"trunc i64 {f.mul(f.rem(group, self.dtype.packed), self.dtype.bits)} to i32")
        shifted = f.op(f"lshr {kind} {stored}, {self.elements.same('i32', place)}")
        code = f.op(f"and {kind} {shifted}, {splat('i32', _CODES - 1)}")
        return f.op(f"uitofp {kind} {code} to {self.floats}")

    def table(self, scale: str, zero: str) -> list[str]:
        """Return the values of all codes of 4 bits of one column and group, from vectors of one scale and zero point.

        "" is no scale, and no zero point.
        """
        parts = [self.scaled(values, scale, zero) for values in self._values()]
        if not self._as_pairs:
            return [self.rounded(part) for part in parts]
        (part,) = parts
        lanes = self.plan.lanes
        if "avx512_bf16" in self.plan.used:
            kind = f"<{2 * lanes} x bfloat>"
            name = f"llvm.x86.avx512bf16.cvtne2ps2bf16.{32 * lanes}"
            both = self.f.call(kind, name, [(self.floats, part), (self.floats, part)])
            return [self.f.op(f"bitcast {kind} {both} to {self.table_kind}")]
        short = self.elements.of_floats(part, DType.BF16)
        twice = mask([n % lanes for n in range(2 * lanes)])
        return [self.f.op(f"shufflevector <{lanes} x i16> {short}, <{lanes} x i16> poison, {twice}")]

    def scaled(self, values: str, scale: str, zero: str) -> str:
        """Return (values - zero) * scale, not rounded; values have the problem's one zero point subtracted already."""
        v = self.elements.floats
        if zero:
            values = v.sub(values, zero)
        return v.mul(values, scale) if scale else values

    def rounded(self, values: str) -> str:
        """Round f32 to A's type, as f32; exact where nothing is scaled."""
        if self.quantization is None:
            return values
        a, elements = self.plan.problem.dtype_a, self.elements
        return elements.widened(elements.of_floats(values, a), a)

    # Codes.

    def looked_up(self, pointer: str, table: Sequence[str], count: int = 0) -> str:
        """Load consecutive codes of 4 bits along K, of a vector of groups, and return what they are in a table.

        `count`: the codes that there are, zeros beyond; 0: all.
        """
        f, bits = self.f, 16 if self._as_pairs else 32
        length = self.plan.lanes * self.plan.group
        each, of_codes = bits // 4, length // 2
        loaded = f"<{of_codes} x i8>"
        value = self._bytes(pointer, of_codes, count // 2)
        units = length // each
        words, all_ = f"<{units} x i{bits}>", f"<{length} x i{bits}>"
        value = f.op(f"bitcast {loaded} {value} to {words}")
        value = f.op(f"shufflevector {words} {value}, {words} poison, {mask([n // each for n in range(length)])}")
        places = ", ".join(f"i{bits} {4 * (n % each)}" for n in range(length))
        value = f.op(f"lshr {all_} {value}, <{places}>")
        if not self._as_pairs:
            return self._chosen(value, table)
        found = f.call(all_, "llvm.x86.avx512.permvar.hi.512", [(all_, table[0]), (all_, value)])
        return f.op(f"bitcast {all_} {found} to {self.integers}")

    def by_lanes(self, pointer: str, table: Sequence[str]) -> list[str]:
        """Load 128 codes of 4 bits along K, and return what they are in a table of pairs.

        Code 4 j + s of them is lane j of vector s, so that nothing is brought to another lane.
        """
        f, kind = self.f, self.table_kind
        words = f.load(kind, pointer, 4)
        found = list[str]()
        for place in range(16 // 4):
            codes = f.op(f"lshr {kind} {words}, {splat('i16', 4 * place)}") if place else words
            found.append(f.call(kind, "llvm.x86.avx512.permvar.hi.512", [(kind, table[0]), (kind, codes)]))
        return found

    def along(self, pointer: str, scale: str, zero: str, count: int = 0) -> str:
        """Load consecutive codes of 8 bits along K and return a vector of groups, as integers or floats."""
        lanes, parts = self.plan.lanes, list[str]()
        for part in range(self.plan.group):
            left = lanes if not count else max(0, min(lanes, count - part * lanes))
            codes = "zeroinitializer"
            if left:
                codes = self._bytes(self.f.at(pointer, part * lanes), lanes, left if left < lanes else 0)
            parts.append(self.scaled(self.of_bytes(codes), scale, zero))
        return self.joined(parts)

    def across(self, rows: Sequence[str], scale: str, zero: str) -> str:
        """Return a vector of groups from the f32 values of the codes in consecutive rows."""
        return self.joined([self.scaled(row, scale, zero) for row in rows], interleaved=True)

    def nibbles(self, words: str) -> list[str]:
        """Return the f32 values of the eight codes of each word, along K, without their one zero point."""
        f, kind, table = self.f, self.integers, self._values()
        found: list[str] = []
        for place in range(self.dtype.packed):
            code = f.op(f"lshr {kind} {words}, {splat('i32', 4 * place)}") if place else words
            found.append(self._chosen(code, table))
        return found

    def of_bytes(self, codes: str) -> str:
        """Convert a vector of codes of 8 bits to f32, without their one zero point."""
        f, lanes, kind = self.f, self.plan.lanes, f"<{self.plan.lanes} x i8>"
        match self.dtype:
            case DType.E5M2 | DType.E4M3:
                short, half = f"<{lanes} x i16>", f"<{lanes} x half>"
                wide = f.op(f"zext {kind} {codes} to {short}")
                if self.dtype is DType.E5M2:
                    bits = f.op(f"shl {short} {wide}, {splat('i16', 8)}")
                    return f.op(f"fpext {half} {f.op(f'bitcast {short} {bits} to {half}')} to {self.floats}")
                return self._of_e4m3(wide)
            case _:
                extends = "sext" if self.dtype is DType.S8 else "zext"
                wide = f.op(f"{extends} {kind} {codes} to {self.integers}")
                zero = self.quantization.zero if self.quantization is not None else 0
                if zero:
                    wide = f.op(f"sub {self.integers} {wide}, {splat('i32', zero)}")
                return f.op(f"sitofp {self.integers} {wide} to {self.floats}")

    def joined(self, parts: Sequence[str], *, interleaved: bool = False) -> str:
        """Round vectors of f32 and return one of groups: of consecutive elements, or one of each part to a lane."""
        f, lanes = self.f, self.plan.lanes
        if not self._as_pairs:
            (part,) = parts
            return self.rounded(part)
        low, high = parts
        whole = f"<{2 * lanes} x i16>"
        turns = [n // 2 + n % 2 * lanes for n in range(2 * lanes)]
        if "avx512_bf16" in self.plan.used:
            kind = f"<{2 * lanes} x bfloat>"
            name = f"llvm.x86.avx512bf16.cvtne2ps2bf16.{32 * lanes}"
            both = f.call(kind, name, [(self.floats, high), (self.floats, low)])
            value = f.op(f"bitcast {kind} {both} to {whole}")
            if interleaved:
                value = f.op(f"shufflevector {whole} {value}, {whole} poison, {mask(turns)}")
        else:
            short = f"<{lanes} x i16>"
            two = [self.elements.of_floats(part, DType.BF16) for part in (low, high)]
            order = mask(turns if interleaved else range(2 * lanes))
            value = f.op(f"shufflevector {short} {two[0]}, {short} {two[1]}, {order}")
        return f.op(f"bitcast {whole} {value} to {self.integers}")

    def _of_e4m3(self, wide: str) -> str:
        """Convert codes of e4m3 in 16 bits to f32, by f16 with the same fraction."""
        f, v, lanes = self.f, self.elements.floats, self.plan.lanes
        short, half = f"<{lanes} x i16>", f"<{lanes} x half>"
        size = f.op(f"and {short} {wide}, {splat('i16', _E4M3_MAGNITUDE)}")
        sign = f.op(f"shl {short} {f.op(f'xor {short} {wide}, {size}')}, {splat('i16', 8)}")
        moved = f.op(f"shl {short} {size}, {splat('i16', 7)}")
        bits = f.op(f"or {short} {moved}, {sign}")
        number = f.op(f"fpext {half} {f.op(f'bitcast {short} {bits} to {half}')} to {v.type}")
        number = v.mul(number, v.constant(_E4M3_RANGE))
        nan = f.op(f"icmp eq {short} {size}, {splat('i16', _E4M3_MAGNITUDE)}")
        return f.op(f"select <{lanes} x i1> {nan}, {v.type} {v.constant(float('nan'))}, {v.type} {number}")

    def _values(self) -> list[str]:
        """Return what the 16 codes stand for, less their one zero point, as constant vectors of f32."""
        zero = self.quantization.zero if self.quantization is not None else 0
        match self.dtype:
            case DType.E2M1:
                values = [*_E2M1, *(-value for value in _E2M1)]
            case DType.S4:
                values = [float(code - (code >> 3 << 4) - zero) for code in range(_CODES)]
            case _:
                values = [float(code - zero) for code in range(_CODES)]
        lanes = self.plan.lanes
        return [
            f"<{', '.join(f'float {f32(value)}' for value in values[first : first + lanes])}>"
            for first in range(0, _CODES, lanes)
        ]

    def _chosen(self, codes: str, table: Sequence[str]) -> str:
        """Return the f32 of a table at the lowest four bits of each i32."""
        f, kind, integers = self.f, self.floats, self.integers
        if self._wide:
            return f.call(kind, "llvm.x86.avx512.permvar.sf.512", [(kind, table[0]), (integers, codes)])
        low, high = (f.call(kind, "llvm.x86.avx2.permps", [(kind, part), (integers, codes)]) for part in table)
        upper = f.op(f"shl {integers} {codes}, {splat('i32', 28)}")
        is_high = f.op(f"icmp slt {integers} {upper}, zeroinitializer")
        return f.op(f"select <{self.plan.lanes} x i1> {is_high}, {kind} {high}, {kind} {low}")

    def _bytes(self, pointer: str, length: int, count: int) -> str:
        """Load bytes, only the first `count` if that is not 0, zeros beyond."""
        kind = f"<{length} x i8>"
        if not count or count == length:
            return self.f.load(kind, pointer, 1)
        inside = f"<{', '.join(f'i1 {int(n < count)}' for n in range(length))}>"
        arguments = [("ptr align 1", pointer), (f"<{length} x i1>", inside), (kind, "zeroinitializer")]
        return self.f.call(kind, f"llvm.masked.load.v{length}i8.p0", arguments)
