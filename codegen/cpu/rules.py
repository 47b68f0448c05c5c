"""Legality rules of CPU kernels: one named function per rule, with its user-visible message."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from codegen.config.cpu import CpuConfig, Isa, Packing
from codegen.cpu.isa import (
    FLAGS_OF_PARTS,
    ISA_FACTS,
    PRODUCTS_OF_PARTS,
    Multiply,
    isas_of,
    isas_that_multiply,
    multiply_of,
)
from codegen.cpu.microkernel.amx_rows_of_b import registers_of_rows_of_b
from codegen.cpu.nest.plan import Plan
from codegen.errors import Refused
from codegen.problem.device_types import failing_types
from codegen.problem.dtype import WEIGHTS, DType
from codegen.problem.epilogue import EpilogueKind
from codegen.problem.gemm import GemmProblem
from codegen.problem.quantization import GROUP_MULTIPLE
from codegen.xe.rules.sizes import ceil_div
from hal import DeviceSpec

MOST_UNROLLED = 16
"""Steps of one round of the micro-kernel's loop: more only makes code longer."""
MOST_PREFETCHED = 64
_TILE_REGISTERS = 8
_FLOATS = (DType.F16, DType.BF16, DType.TF32, DType.F32)
_BYTES = (DType.S8, DType.U8)
_OUTPUTS = (DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8)


@dataclass(frozen=True)
class CpuProblem:
    """A problem on a CPU."""

    problem: GemmProblem
    spec: DeviceSpec

    @property
    def flags(self) -> tuple[str, ...]:
        """Instruction sets of the CPU, as /proc/cpuinfo names them."""
        return self.spec.isa or ()

    @property
    def isas(self) -> tuple[Isa, ...]:
        """Instruction sets that can multiply the problem's types, in the order in which they are tried."""
        return isas_that_multiply(self.problem.dtype_a, self.problem.dtype_b, self.spec)


@dataclass(frozen=True)
class CpuCase:
    """Configuration of a problem on a CPU; `plan` is valid once the rule `isa` has passed."""

    on: CpuProblem
    config: CpuConfig

    @property
    def problem(self) -> GemmProblem:
        """Problem of the configuration."""
        return self.on.problem

    @cached_property
    def plan(self) -> Plan:
        """Plan of the problem and the configuration."""
        return Plan(self.on.problem, self.config, self.on.flags)

    @property
    def by_dots(self) -> bool:
        """Return whether the micro-kernel reads rows of A and of a transposed B, and sums products along K."""
        return reads_dots(self.problem, self.config)


def reads_dots(problem: GemmProblem, config: CpuConfig) -> bool:
    """Return whether a configuration multiplies rows of A by stored rows of B along K, without packing."""
    strategy = config.strategy
    return problem.transpose_b and strategy.pack_b is Packing.NONE and strategy.isa is not Isa.AMX


def device_cpu(on: CpuProblem) -> str | None:
    """Check that the device is an x86-64 CPU whose instruction sets are known."""
    spec = on.spec
    if spec.architecture not in ("x86_64", "AMD64"):
        return f"kernels are made for x86-64 CPUs; {spec.name} is {spec.architecture or 'of an unknown architecture'}"
    if not isas_of(on.flags):
        return f"kernels need at least AVX2 with FMA; {spec.name} has {', '.join(on.flags) or 'none that is known'}"
    return None


def dtype_pair(on: CpuProblem) -> str | None:
    """Check the types: inputs that can be multiplied, f32 sums (i32 of integers), and an output type."""
    p = on.problem
    other = p.has_weights or (p.dtype_a in _BYTES and p.dtype_b in _BYTES)
    if not other and (p.dtype_a is not p.dtype_b or p.dtype_a not in _FLOATS):
        kinds, small = (", ".join(kind.value for kind in of) for of in (_FLOATS, WEIGHTS))
        return (
            f"A and B must be of one type of {kinds}, or each s8 or u8, or A f16 or bf16 and B weights of {small}; "
            f"got {p.dtype_a.value} and {p.dtype_b.value}"
        )
    acc = DType.I32 if p.dtype_a.is_integer else DType.F32
    if p.dtype_acc is not acc:
        return f"sums of {p.dtype_a.value} are {acc.value}; got dtype_acc {p.dtype_acc.value}"
    if p.dtype_c not in _OUTPUTS:
        return f"C must be of {', '.join(kind.value for kind in _OUTPUTS)}; got {p.dtype_c.value}"
    return None


def device_types(on: CpuProblem) -> str | None:
    """Check that kernels with the types do not fail on the CPU."""
    return failing_types(on.problem, on.spec)


def alignment(on: CpuProblem) -> str | None:
    """Check that elements are naturally aligned."""
    p = on.problem
    largest = max(operand.dtype.nbytes for operand in p.operands)
    if p.alignment >= largest:
        return None
    return f"alignment must be at least that of the largest element, {largest}; got {p.alignment}"


def dynamic(on: CpuProblem) -> str | None:
    """Check that the problem is static: loops and addresses of a kernel are constants."""
    if not on.problem.dynamic:
        return None
    return "a CPU kernel is compiled for one M, N and K; leave dynamic out and tune each size"


def experts(on: CpuProblem) -> str | None:
    """Check that rows of experts are only computed: sums over them would be of rows known at run time."""
    if on.problem.experts is None or all(step.kind is not EpilogueKind.REDUCE for step in on.problem.epilogue):
        return None
    return "sums along rows or columns are not those of experts: take reduce out of the epilogue"


def memory(on: CpuProblem) -> str | None:
    """Check that all operands fit in memory."""
    p, have = on.problem, on.spec.memory_bytes
    need = sum(operand.nbytes(p.batch) for operand in p.operands)
    if have is None or need <= have:
        return None
    return f"the operands need {need / 2**30:.1f} GiB; {on.spec.name} has {have / 2**30:.1f} GiB"


def isa(case: CpuCase) -> str | None:
    """Check that the CPU has the instructions, and that they multiply the problem's types."""
    p, wanted, spec = case.problem, case.config.strategy.isa, case.on.spec
    if wanted in case.on.isas:
        return None
    usable = ", ".join(isa.value for isa in case.on.isas)
    lacking = sorted(set(ISA_FACTS[wanted].flags) - set(case.on.flags))
    if lacking:
        return f"{spec.name} lacks {', '.join(lacking)}; use isa {usable}"
    types = f"{p.dtype_a.value} by {p.dtype_b.value}"
    with_parts = (*case.on.flags, *FLAGS_OF_PARTS)
    if multiply_of(p.dtype_a, p.dtype_b, wanted, with_parts) in PRODUCTS_OF_PARTS:
        lacking = sorted(set(FLAGS_OF_PARTS) - set(case.on.flags))
        return f"{spec.name} lacks {', '.join(lacking)}, by which {wanted.value} multiplies {types}; use isa {usable}"
    if multiply_of(p.dtype_a, p.dtype_b, wanted, case.on.flags) is not None:
        return (
            f"{spec.name} has no pairs of bf16, and multiplies {types} as f32 by {Isa.AVX512.value}; use isa {usable}"
        )
    return f"{wanted.value} of {spec.name} does not multiply {types}; use isa {usable}"


def amx_permission(case: CpuCase) -> str | None:
    """Check that Linux lets programs use the tile registers."""
    if case.config.strategy.isa is not Isa.AMX or case.on.spec.amx_permitted is not False:
        return None
    others = [isa.value for isa in case.on.isas if isa is not Isa.AMX]
    return f"the system of {case.on.spec.name} does not permit AMX (Linux 5.16 or later does); use isa {others[0]}"


def gate(case: CpuCase) -> str | None:
    """Check that columns of both products of a tile are at most two strips of memory."""
    plan, chosen = case.plan, case.problem.gate
    if chosen is None or plan.columns.fits:
        return None
    block = chosen.interleave
    return f"innermost.n must be a multiple of the {block} columns that alternate, or divide them; got {plan.nr}"


def packed_experts(case: CpuCase) -> str | None:
    """Check that nothing is packed for experts without rows, and that threads share no sums of rows."""
    plan = case.plan
    if case.problem.experts is None:
        return None
    for name, packs in (("pack_a", plan.packs_a), ("pack_b", plan.packs_b)):
        if packs is Packing.WHOLE:
            return f"of experts, whose rows are known at run time, not all is packed; use {name} block"
    if plan.threads.k > 1:
        return f"threads.k must be 1 with experts, whose rows are known at run time; got {plan.threads.k}"
    return None


def innermost_n(case: CpuCase) -> str | None:
    """Check that columns of a tile fill vectors and do not exceed N."""
    plan = case.plan
    if case.by_dots:
        return f"innermost.n must be at most N {case.problem.n}; got {plan.nr}" if plan.nr > case.problem.n else None
    most = ceil_div(case.problem.n, plan.lanes) * plan.lanes
    if plan.nr % plan.lanes or plan.nr > most:
        return f"innermost.n must be a multiple of {plan.lanes} sums, at most {most}; got {plan.nr}"
    return None


def innermost_m(case: CpuCase) -> str | None:
    """Check that rows of a tile do not exceed M, and fill tile registers of 16."""
    plan, m = case.plan, case.problem.m
    if plan.mr > m:
        return f"innermost.m must be at most M {m}; got {plan.mr}"
    height = ISA_FACTS[Isa.AMX].tile_rows
    least = case.problem.experts is not None and plan.mr < height
    if plan.isa is Isa.AMX and plan.mr % height and plan.mr != m and not least:
        return f"innermost.m must be a multiple of 16 rows of a tile register, or M {m}; got {plan.mr}"
    return None


def innermost_k(case: CpuCase) -> str | None:
    """Check that the unrolled depth is whole steps of the instruction, not too many, and within the block."""
    plan, k = case.plan, case.config.matmul.innermost.k
    unit = ISA_FACTS[plan.isa].vector_bytes // plan.problem.dtype_a.nbytes if case.by_dots else plan.depth_unit
    if k % unit:
        return f"innermost.k must be a multiple of {unit}, what one instruction adds up; got {k}"
    steps = most_unrolled(plan.isa, plan.multiply)
    if k > steps * unit:
        why = ", or sums leave the registers" if steps < MOST_UNROLLED else ""
        return f"innermost.k must be at most {steps} steps of {unit}{why}; got {k}"
    most = ceil_div(case.problem.k, unit) * unit
    return f"innermost.k must be at most K rounded up, {most}; got {k}" if k > most else None


def most_unrolled(isa: Isa, multiply: Multiply) -> int:
    """Return the largest number of steps that the micro-kernel's loop may unroll.

    Of products that take two instructions LLVM brings more forward than 16 registers hold.
    """
    return 2 if isa is Isa.AVX2 and multiply is Multiply.S16 else MOST_UNROLLED


def registers(case: CpuCase) -> str | None:
    """Check that accumulators and factors fit in registers."""
    plan = case.plan
    need, have = registers_of(case)
    if need <= have:
        return None
    kind = "tile" if plan.isa is Isa.AMX else "vector"
    return f"a tile of {plan.mr}x{plan.width} sums needs {need} {kind} registers, {plan.isa.value} has {have}"


def registers_of(case: CpuCase) -> tuple[int, int]:
    """Return the registers that the micro-kernel's loop needs at once, and those available."""
    plan = case.plan
    if plan.isa is Isa.AMX:
        if plan.reads_rows_of_b:
            return registers_of_rows_of_b(plan), _TILE_REGISTERS
        rows, columns = ceil_div(plan.mr, 16), ceil_div(plan.width, 16)
        return rows * columns + rows + columns, _TILE_REGISTERS
    have = ISA_FACTS[plan.isa].vector_registers
    if case.by_dots:
        sums = (plan.mr + (1 if plan.shifted else 0)) * plan.width
        return sums + min(plan.mr, plan.width) + 1 + _of_weights(plan), have
    vectors = plan.width // plan.lanes
    # One holds an element of A; conversion, shifting or unfused products need more.
    direct_a, direct_b = plan.packs_a is Packing.NONE, plan.packs_b is Packing.NONE
    # Of 16 registers one more is left for what LLVM loads early: without it sums go to memory and back.
    spare = 1 + (1 if plan.isa is Isa.AVX2 else 0)
    spare += 1 if plan.multiply is Multiply.S16 else 0
    spare += 2 if direct_a and plan.shifted else 0
    spare += 1 if direct_a and plan.multiply is Multiply.F32 and plan.problem.dtype_a.nbytes == 2 else 0
    spare += 2 if direct_b and plan.group > 1 else 0
    sums = (plan.mr + (1 if direct_b and plan.shifted else 0)) * vectors
    return sums + vectors + spare, have


def _of_weights(plan: Plan) -> int:
    """Return the registers that decoding holds beside what is multiplied: tables or scales, and what is decoded."""
    p = plan.problem
    if not p.has_weights:
        return 0
    if p.dtype_b.bits == 4:
        return plan.width * (2 if plan.isa is Isa.AVX2 else 1) + 1
    scales = 0 if p.quantization is None else 2 if p.quantization.zeros else 1
    return plan.width * scales + plan.group


def pack_a(case: CpuCase) -> str | None:
    """Check that A is read in place only if the instruction supports its memory order."""
    plan, p = case.plan, case.problem
    if plan.packs_a is not Packing.NONE:
        return None
    use = "; use pack_a block or whole"
    if plan.multiply is Multiply.S16:
        return f"bytes that are made 16 bits wide must be packed{use}"
    if plan.parts > 1:
        return f"{p.dtype_a.value} that is split into {plan.parts} bf16 must be packed{use}"
    if p.transpose_a and plan.group > 1:
        return f"of a transposed A, {plan.group} elements along K must be brought together{use}"
    if plan.isa is Isa.AMX and p.k % plan.depth_unit:
        return f"a tile register reads {plan.depth_unit} elements of a row of A, which do not divide K {p.k}{use}"
    return None


def pack_b(case: CpuCase) -> str | None:
    """Check that B is read in place only if the instruction supports its memory order."""
    plan, p = case.plan, case.problem
    if plan.packs_b is not Packing.NONE:
        return None
    use = "; use pack_b block or whole"
    if plan.isa is Isa.AMX:
        why = _not_rows_of_b(case)
        return None if why is None else f"{why}{use}"
    if p.has_weights and (why := _not_decoded_in_registers(case)) is not None:
        return f"{why}{use}"
    if plan.multiply is Multiply.S16:
        return f"bytes that are made 16 bits wide must be packed{use}"
    if p.transpose_b and (p.transpose_a or plan.packs_a is not Packing.NONE):
        return f"a transposed B is read in place together with a plain A that is read in place too{use}"
    return None


def _not_rows_of_b(case: CpuCase) -> str | None:
    """Return why tile registers are not loaded with stored rows of B; None if they are."""
    plan, p = case.plan, case.problem
    if plan.parts > 1:
        return f"{p.dtype_b.value} that is split into {plan.parts} bf16 must be packed"
    if not p.transpose_b:
        return f"tile registers hold B in groups of {plan.group} along K"
    if plan.mr > ISA_FACTS[Isa.AMX].tile_rows:
        return f"tile registers hold rows of B in place for tiles of at most 16 rows of A, not {plan.mr}"
    if plan.packs_a is Packing.NONE:
        return "rows of B in tile registers are multiplied by packed A"
    if p.k % plan.depth_unit:
        return f"a tile register reads {plan.depth_unit} elements of a row of B, which do not divide K {p.k}"
    if plan.k_blocks > 1:
        return f"rows of B in tile registers are read over the whole K {p.k} at once, not in blocks of {plan.block.k}"
    return _not_decoded_in_registers(case) if p.has_weights else None


def _not_decoded_in_registers(case: CpuCase) -> str | None:
    """Return why weights are not decoded where they are multiplied; None if they are."""
    plan, p = case.plan, case.problem
    group = p.quantization.group if p.quantization is not None else None
    step = plan.lanes * plan.group
    if not p.transpose_b:
        return "weights stored [K, N] are decoded into panels"
    if plan.k_blocks > 1:
        return f"weights are read in place over the whole K {p.k} at once, not in blocks of {plan.block.k}"
    if group is not None and group % step and group < p.k:
        return f"weights are read in place {step} elements at a time, which do not divide groups of {group}"
    return None


def block(case: CpuCase) -> str | None:
    """Check that blocks are whole tiles and steps, and no larger than the problem."""
    plan, p, inner = case.plan, case.problem, case.config.matmul.innermost
    for name, size, tile, length in (
        ("m", plan.block.m, inner.m, p.m),
        ("n", plan.block.n, inner.n, p.n),
        ("k", plan.block.k, inner.k, p.k),
    ):
        most = ceil_div(length, tile) * tile
        if size % tile or size > most:
            return f"block.{name} must be a multiple of innermost.{name} {tile}, at most {most}; got {size}"
    if p.has_weights and plan.k_blocks > 1 and plan.block.k % GROUP_MULTIPLE:
        return f"block.k of weights must be a multiple of {GROUP_MULTIPLE}, or all of K; got {plan.block.k}"
    return None


def threads(case: CpuCase) -> str | None:
    """Check that every thread has work and a core."""
    plan, spec, count = case.plan, case.on.spec, case.config.thread_count
    for name, wanted, most in (
        ("m", plan.threads.m, plan.row_tiles),
        ("n", plan.threads.n, plan.tiles_n),
        ("k", plan.threads.k, plan.k_blocks),
    ):
        if wanted > most:
            what = "blocks" if name == "k" else "tiles"
            return f"threads.{name} must be at most the {what} there are, {most}; got {wanted}"
    if spec.cores is not None and count > spec.cores:
        return f"{spec.name} has {spec.cores} cores for threads; got {plan.threads}, {count} threads"
    return None


def pieces(case: CpuCase) -> str | None:
    """Check that every piece has a tile, and that there is another thread to take it."""
    plan, most = case.plan, most_pieces(case.plan)
    if plan.pieces <= most:
        return None
    if case.config.thread_count == 1:
        return f"pieces must be 1 with one thread, as no other takes them; got {plan.pieces}"
    return f"pieces must be at most {most}, tiles of a thread along {plan.cut_along.upper()}; got {plan.pieces}"


def most_pieces(plan: Plan) -> int:
    """Return the largest number of pieces of a thread's part."""
    if plan.config.thread_count == 1:
        return 1
    if plan.cut_along == "m":
        return max(1, plan.row_tiles // plan.threads.m)
    return max(1, plan.tiles_n // plan.threads.n)


def prefetch_distance(case: CpuCase) -> str | None:
    """Check that prefetches are not too far ahead."""
    distance = case.config.strategy.prefetch_distance
    if distance <= MOST_PREFETCHED:
        return None
    return f"prefetch_distance must be at most {MOST_PREFETCHED}; got {distance}"


def prefetch_tiles_n(case: CpuCase) -> str | None:
    """Check that prefetches are not too far ahead, and that tiles along N read the same rows of B before K goes on."""
    ahead = case.config.strategy.prefetch_tiles_n
    if ahead and not case.plan.reads_blocks_of_b:
        return f"prefetch_tiles_n must be 0 unless blocks of K of a B [K, N] are read in place; got {ahead}"
    return f"prefetch_tiles_n must be at most {MOST_PREFETCHED}; got {ahead}" if ahead > MOST_PREFETCHED else None


CpuProblemRule = Callable[[CpuProblem], str | None]
CpuConfigRule = Callable[[CpuCase], str | None]

CPU_PROBLEM_RULES: tuple[CpuProblemRule, ...] = (
    device_cpu,
    dtype_pair,
    device_types,
    alignment,
    dynamic,
    experts,
    memory,
)
CPU_CONFIG_RULES: tuple[CpuConfigRule, ...] = (
    isa,
    amx_permission,
    gate,
    packed_experts,
    pack_a,
    pack_b,
    innermost_n,
    innermost_m,
    innermost_k,
    registers,
    block,
    threads,
    pieces,
    prefetch_distance,
    prefetch_tiles_n,
)


def check_cpu_problem(problem: GemmProblem, spec: DeviceSpec) -> CpuProblem:
    """Check the rules on the problem and the CPU alone.

    Raises:
        Refused: the first rule that refuses; its message tells of the others too.
    """
    on = CpuProblem(problem, spec)
    refusals = [(_name(rule), why) for rule in CPU_PROBLEM_RULES if (why := rule(on)) is not None]
    if refusals:
        first, *others = refusals
        raise Refused(first[0], "; ".join([first[1], *(f"also {name}: {why}" for name, why in others)]))
    return on


def refusal_on_cpu(on: CpuProblem, config: CpuConfig) -> Refused | None:
    """Return the first rule that refuses a configuration of a problem that passed `check_cpu_problem`."""
    case = CpuCase(on, config)
    for rule in CPU_CONFIG_RULES:
        if (why := rule(case)) is not None:
            return Refused(_name(rule), why)
    return None


def check_cpu(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> None:
    """Check everything.

    Raises:
        Refused: the first rule that refuses.
    """
    refused = refusal_on_cpu(check_cpu_problem(problem, spec), config)
    if refused is not None:
        raise refused


def _name(rule: Callable[..., str | None]) -> str:
    return rule.__name__.replace("_", "-")
