"""Lower bound of the time of a GEMM on an x86 CPU, from rates that were measured on it."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen import GemmProblem, Isa
from codegen.cpu.isa import Multiply, isas_that_multiply, multiply_of, products_of
from hal import DeviceSpec
from tuner.errors import NoRoofline


@dataclass(frozen=True, slots=True)
class MultiplyRate:
    """Operations a second of one multiply instruction, such as "avx512 bf16", on all cores together."""

    instruction: str
    ops_per_s: float


@dataclass(frozen=True, slots=True)
class CpuRates:
    """Rates of all cores of a CPU together: of each multiply instruction, and bytes a second read from memory.

    Raises:
        ValueError: a rate that is not positive.
    """

    multiplies: tuple[MultiplyRate, ...]
    bytes_per_s: float

    def __post_init__(self) -> None:
        if not all(rate > 0 for rate in (self.bytes_per_s, *(each.ops_per_s for each in self.multiplies))):
            raise ValueError(f"expected positive rates, got {self}")

    def at_least(self, other: "CpuRates") -> "CpuRates":
        """Return the higher of each rate of the two."""
        known = {each.instruction: each.ops_per_s for each in other.multiplies}
        multiplies = tuple(
            MultiplyRate(each.instruction, max(each.ops_per_s, known.get(each.instruction, 0.0)))
            for each in self.multiplies
        )
        return CpuRates(multiplies, max(self.bytes_per_s, other.bytes_per_s))


@dataclass(frozen=True, slots=True)
class CpuRoof:
    """Bounds of a GEMM's time, in us: by the multiply instruction, and by reading or writing every operand once.

    `memory_us` is 0 if the caches are unknown, so that operands may stay in them from one launch to the next.
    """

    instruction: str
    multiply_us: float
    memory_us: float

    @property
    def time_us(self) -> float:
        """The longer of the two."""
        return max(self.multiply_us, self.memory_us)


def cpu_roof(problem: GemmProblem, spec: DeviceSpec, rates: CpuRates | None, isa: Isa | None = None) -> CpuRoof:
    """Return the bounds of a GEMM, by the fastest multiply instruction or by that of `isa`, if its rate is known.

    Raises:
        NoRoofline: the rate of its multiply instruction was not measured.
    """
    measured = {each.instruction: each.ops_per_s for each in (() if rates is None else rates.multiplies)}
    ways = list(instructions_of(problem, spec))
    if rates is None or not ways or ways[0].measured_as not in measured:
        raise NoRoofline(spec.name)
    known = [way for way in ways if way.measured_as in measured]
    found = {way.name: measured[way.measured_as] / way.products for way in known}
    own = (way.name for way in known if way.isa is isa)
    name = next(own, max(found, key=lambda way: found[way]))
    nbytes = sum(problem.accessed_bytes(operand) for operand in problem.operands)
    memory_us = 0.0 if spec.l2_bytes is None and spec.l3_bytes is None else nbytes / rates.bytes_per_s * 1e6
    return CpuRoof(name, problem.flops / found[name] * 1e6, memory_us)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A multiply instruction by its name, such as "amx bf16x3": `products` of the one that is measured make one."""

    isa: Isa
    name: str
    measured_as: str
    products: int


def instructions_of(problem: GemmProblem, spec: DeviceSpec) -> Iterator[Instruction]:
    """Yield the multiply instructions of a CPU for the types of a problem; the first is not one of parts."""
    for isa in isas_that_multiply(problem.dtype_a, problem.dtype_b, spec):
        multiply = multiply_of(problem.dtype_a, problem.dtype_b, isa, spec.isa or ())
        assert multiply is not None, "it multiplies the types"
        if isa is Isa.AMX and spec.amx_permitted is False:
            continue
        products = len(products_of(multiply))
        measured = multiply if products == 1 else Multiply.BF16
        yield Instruction(isa, f"{isa} {multiply}", f"{isa} {measured}", products)
