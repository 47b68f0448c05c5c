"""Multiply-accumulate instructions of each `Multiply`."""

from dataclasses import dataclass

from codegen.config.cpu import Isa
from codegen.cpu.emit.writer import (
    Function,
    splat,
)
from codegen.cpu.isa import Multiply
from codegen.cpu.nest.plan import Plan
from codegen.problem.dtype import DType

_ELEMENTS = {Multiply.F32: "float", Multiply.BF16: "bfloat", Multiply.S8: "i8", Multiply.S16: "i16"}
_MADD = {Isa.AVX512: "llvm.x86.avx512.pmaddw.d.512", Isa.AVX2: "llvm.x86.avx2.pmadd.wd"}


@dataclass(frozen=True, slots=True)
class Products:
    """Vectors of accumulators and of factors, for the vector instructions of a plan."""

    f: Function
    plan: Plan

    @property
    def sums(self) -> str:
        """Type of a vector of sums."""
        return f"<{self.plan.lanes} x {'i32' if self.plan.sums_are_integers else 'float'}>"

    @property
    def factors(self) -> str:
        """Type of a vector of elements, `group` for each sum."""
        return f"<{self.plan.lanes * self.plan.group} x {_ELEMENTS[self.plan.multiply]}>"

    @property
    def shift(self) -> str:
        """Vector of bytes 128: XOR with it maps a signed byte to an unsigned one, 128 larger."""
        return splat("i8", -128)

    def plus(self, a: str, b: str) -> str:
        """Add two vectors of accumulators."""
        return self.f.op(f"{'add' if self.plan.sums_are_integers else 'fadd'} {self.sums} {a}, {b}")

    def minus(self, a: str, b: str) -> str:
        """Subtract vectors of integer accumulators."""
        return self.f.op(f"sub {self.sums} {a}, {b}")

    def total(self, sums: str) -> str:
        """Return the sum over all lanes of a vector of accumulators."""
        lanes, kind = self.plan.lanes, self.sums
        if self.plan.sums_are_integers:
            return self.f.call("i32", f"llvm.vector.reduce.add.v{lanes}i32", [(kind, sums)])
        # The neutral start value of a float sum is -0.
        return self.f.op(f"call reassoc float @llvm.vector.reduce.fadd.v{lanes}f32(float -0.0, {kind} {sums})")

    def add(self, sums: str, a: str, b: str) -> str:
        """Add the products of elements of A and B to accumulators, each lane the products of its group."""
        bits = 8 * self.plan.lanes * 4
        match self.plan.multiply:
            case Multiply.F32:
                kind = self.sums
                return self.f.call(kind, f"llvm.fma.v{self.plan.lanes}f32", [(kind, a), (kind, b), (kind, sums)])
            case Multiply.BF16:
                return self._call(f"llvm.x86.avx512bf16.dpbf16ps.{bits}", sums, a, b)
            case Multiply.S8:
                # The instruction wants unsigned bytes first.
                p = self.plan.problem
                swapped = p.dtype_a is DType.S8 and p.dtype_b is DType.U8
                return self._call(f"llvm.x86.avx512.vpdpbusd.{bits}", sums, *((b, a) if swapped else (a, b)))
            case Multiply.S16:
                return self._add_pairs(sums, a, b, bits)
            case Multiply.BF16X2 | Multiply.BF16X3:
                raise AssertionError("tile registers alone multiply parts")

    def _add_pairs(self, sums: str, a: str, b: str, bits: int) -> str:
        isa, factors = self.plan.isa, self.factors
        if ("avx512_vnni" if isa is Isa.AVX512 else "avx_vnni") in self.plan.flags:
            return self._call(f"llvm.x86.avx512.vpdpwssd.{bits}", sums, a, b)
        return self.plus(sums, self.f.call(self.sums, _MADD[isa], [(factors, a), (factors, b)]))

    def _call(self, name: str, sums: str, a: str, b: str) -> str:
        return self.f.call(self.sums, name, [(self.sums, sums), (self.factors, a), (self.factors, b)])
