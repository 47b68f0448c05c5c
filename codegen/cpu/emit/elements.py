"""Vectors of elements in memory: masked loads and stores, conversion to f32, and conversion from accumulators."""

from dataclasses import dataclass, replace

from codegen.config.cpu import Isa
from codegen.cpu.emit.vector_math import Floats
from codegen.cpu.emit.writer import (
    Function,
    splat,
)
from codegen.cpu.nest.plan import Plan
from codegen.problem.dtype import DType

_STORED = {DType.F32: "float", DType.TF32: "float", DType.F16: "half", DType.BF16: "i16", DType.I32: "i32"}
_SUFFIXES = {"float": "f32", "half": "f16"}
_RANGES = {DType.S8: (-128, 127), DType.U8: (0, 255), DType.I32: (-(2**31), 2**31 - 1)}
_LARGEST_BELOW_2_31 = 2.0**31 - 128  # in f32


def stored(dtype: DType) -> str:
    """Return LLVM's type of an element in memory; bf16 is stored as 16 bits."""
    return _STORED.get(dtype, "i8")


@dataclass(frozen=True, slots=True)
class Elements:
    """Vectors of as many elements as `floats` has lanes; `rounds_bf16`: an instruction converts f32 to bf16."""

    floats: Floats
    rounds_bf16: bool

    @property
    def f(self) -> Function:
        """Function that instructions are written to."""
        return self.floats.f

    def kind(self, dtype: DType) -> str:
        """LLVM's type of a vector as stored."""
        return f"<{self.floats.lanes} x {stored(dtype)}>"

    def load(self, pointer: str, dtype: DType, count: int) -> str:
        """Load the first `count` elements as stored, zeros beyond; nothing beyond is read."""
        if count == self.floats.lanes:
            return self.f.load(self.kind(dtype), pointer, dtype.nbytes)
        arguments = f"ptr align {dtype.nbytes} {pointer}, {self._inside(count)}, {self.kind(dtype)} zeroinitializer"
        return self.f.op(f"call {self.kind(dtype)} @llvm.masked.load.{self._suffix(dtype)}.p0({arguments})")

    def store(self, value: str, pointer: str, dtype: DType, count: int) -> None:
        """Write the first `count` elements."""
        if count == self.floats.lanes:
            self.f.store(self.kind(dtype), value, pointer, dtype.nbytes)
            return
        if count == 1:  # LLVM makes a masked store of one element that was narrowed one of all 32 bits
            first = self.f.op(f"extractelement {self.kind(dtype)} {value}, i64 0")
            self.f.store(stored(dtype), first, pointer, dtype.nbytes)
            return
        arguments = f"{self.kind(dtype)} {value}, ptr align {dtype.nbytes} {pointer}, {self._inside(count)}"
        self.f.emit(f"call void @llvm.masked.store.{self._suffix(dtype)}.p0({arguments})")

    def same(self, kind: str, value: str) -> str:
        """Return a vector whose lanes all hold one value."""
        lanes = self.floats.lanes
        first = self.f.op(f"insertelement <{lanes} x {kind}> poison, {kind} {value}, i64 0")
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.f.op(f"shufflevector <{lanes} x {kind}> {first}, <{lanes} x {kind}> poison, {zeros}")

    def same_bf16(self, value: str) -> str:
        """Return a vector of f32 whose lanes all hold one bf16, an i16."""
        v, pairs = self.floats, replace(self, floats=replace(self.floats, lanes=2 * self.floats.lanes))
        twice = self.f.op(f"bitcast <{2 * v.lanes} x i16> {pairs.same('i16', value)} to {v.integers}")
        upper = self.f.op(f"and {v.integers} {twice}, {splat('i32', -0x10000)}")
        return self.f.op(f"bitcast {v.integers} {upper} to {v.type}")

    def mask(self, count: int) -> str:
        """Return an i1 mask, true for the first `count` lanes, without its type."""
        return f"<{', '.join(f'i1 {int(n < count)}' for n in range(self.floats.lanes))}>"

    def widened(self, value: str, dtype: DType) -> str:
        """Convert stored elements to f32."""
        v, kind = self.floats, self.kind(dtype)
        match dtype:
            case DType.F32 | DType.TF32:
                return value
            case DType.F16:
                return self.f.op(f"fpext {kind} {value} to {v.type}")
            case DType.BF16:
                wide = self.f.op(f"zext {kind} {value} to {v.integers}")
                high = self.f.op(f"shl {v.integers} {wide}, {splat('i32', 16)}")
                return self.f.op(f"bitcast {v.integers} {high} to {v.type}")
            case _:
                return self.f.op(f"{'uitofp' if dtype is DType.U8 else 'sitofp'} {kind} {value} to {v.type}")

    def as_floats(self, integers: str) -> str:
        """Convert i32 to f32."""
        return self.f.op(f"sitofp {self.floats.integers} {integers} to {self.floats.type}")

    def of_floats(self, value: str, dtype: DType) -> str:
        """Convert f32 to the stored type: round to nearest even, saturate integers."""
        v = self.floats
        match dtype:
            case DType.F32 | DType.TF32:
                return value
            case DType.F16:
                return self.f.op(f"fptrunc {v.type} {value} to <{v.lanes} x half>")
            case DType.BF16:
                return self._as_bf16(value)
            case _:
                return self._as_whole(value, dtype)

    def of_integers(self, value: str, dtype: DType) -> str:
        """Convert i32 to the stored type, saturating integers."""
        if not dtype.is_integer:
            return self.of_floats(self.as_floats(value), dtype)
        if dtype is DType.I32:
            return value
        f, kind, lanes = self.f, self.floats.integers, self.floats.lanes
        least, most = _RANGES[dtype]
        value = f.call(kind, f"llvm.smax.v{lanes}i32", [(kind, value), (kind, splat("i32", least))])
        value = f.call(kind, f"llvm.smin.v{lanes}i32", [(kind, value), (kind, splat("i32", most))])
        return f.op(f"trunc {kind} {value} to <{lanes} x i8>")

    def _as_bf16(self, value: str) -> str:
        """Convert f32 to bf16; without the instruction, add the rounding carry to the upper half of the bits."""
        f, v, short = self.f, self.floats, f"<{self.floats.lanes} x i16>"
        if self.rounds_bf16:
            narrow = f.op(f"fptrunc {v.type} {value} to <{v.lanes} x bfloat>")
            return f.op(f"bitcast <{v.lanes} x bfloat> {narrow} to {short}")
        bits = f.op(f"bitcast {v.type} {value} to {v.integers}")
        high = f.op(f"lshr {v.integers} {bits}, {splat('i32', 16)}")
        odd = f.op(f"and {v.integers} {high}, {splat('i32', 1)}")
        up = f.op(f"add {v.integers} {odd}, {splat('i32', 0x7FFF)}")
        carried = f.op(f"add {v.integers} {bits}, {up}")
        rounded = f.op(f"lshr {v.integers} {carried}, {splat('i32', 16)}")
        # A NaN could be rounded to infinity, so its quiet bit is set instead.
        quiet = f.op(f"or {v.integers} {high}, {splat('i32', 0x40)}")
        nan = f.op(f"fcmp uno {v.type} {value}, {value}")
        chosen = f.op(f"select <{v.lanes} x i1> {nan}, {v.integers} {quiet}, {v.integers} {rounded}")
        return f.op(f"trunc {v.integers} {chosen} to {short}")

    def _as_whole(self, value: str, dtype: DType) -> str:
        """Round to the nearest integer, ties to even, saturated; NaN is 0."""
        f, v = self.f, self.floats
        least, most = _RANGES[dtype]
        number = v.whole(v.select("ord", value, value, value, "zeroinitializer"))
        highest = min(float(most), _LARGEST_BELOW_2_31)
        bounded = v.at_most(v.at_least(number, float(least)), highest)
        whole = f.op(f"fptosi {v.type} {bounded} to {v.integers}")
        if dtype is not DType.I32:
            return f.op(f"trunc {v.integers} {whole} to <{v.lanes} x i8>")
        beyond = f.op(f"fcmp ogt {v.type} {number}, {v.constant(highest)}")
        return f.op(f"select <{v.lanes} x i1> {beyond}, {v.integers} {splat('i32', most)}, {v.integers} {whole}")

    def _inside(self, count: int) -> str:
        return f"<{self.floats.lanes} x i1> {self.mask(count)}"

    def _suffix(self, dtype: DType) -> str:
        return f"v{self.floats.lanes}{_SUFFIXES.get(stored(dtype), stored(dtype))}"


def elements_of(f: Function, plan: Plan) -> Elements:
    """Return the vectors of a plan's instruction set."""
    wide = plan.isa is not Isa.AVX2
    return Elements(Floats(f, plan.lanes, wide), "avx512_bf16" in plan.used)
