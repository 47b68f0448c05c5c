"""X-rays on the wire."""

from uuid import UUID

from pydantic import BaseModel, Field

from codegen import DType, GemmProblem
from codegen.xe.xray import Operation
from service.api.kernels.lookup.schemas import AnswerSource
from service.api.xray.work import SIZE
from service.http.problem_query import OptionalProblemQuery, ProblemQuery
from service.schemas import ProblemBody

_SENDS = {"loads": 8, "prefetches": 4, "stores": 0, "atomics": 0, "slm": 0, "scratch": 0, "barriers": 2, "other": 0}
_LOOP = {
    "is_loop": True,
    "dpas": 32,
    "sends": _SENDS,
    "alu": 24,
    "moves": 12,
    "scalar_moves": 8,
    "barriers": 1,
    "loaded_bytes": 6144,
    "sends_per_256_dpas": 64.0,
    "moves_per_256_dpas": 96.0,
    "scalar_moves_per_256_dpas": 64.0,
    "loaded_bytes_per_dpas": 192.0,
}
_PIPELINE = {
    "threads": 4,
    "level": "L1",
    "clocks": 2048.0,
    "dpas": 32,
    "dpas_clks": 512,
    "utilisation": 1.0,
    "hiding_threads": 2,
    "clocks_by_threads": {"1": 900.0, "2": 1030.0, "4": 2048.0},
    "stalls": {"unit busy": 1400.0},
}
_VERDICT = {"verdict": "ok", "hazards": [], "rules_are_public": True}
_ISA = {
    "kernel": "gemm",
    "grf_count": 256,
    "threads_per_eu": 4,
    "spill_bytes": 0,
    "slm_bytes": 0,
    "instructions": 1200,
    "k_loop": _LOOP,
    "pipeline": _PIPELINE,
    "scoreboard": _VERDICT,
}
_NAME = "MoE::GemmCuteName<cutlass::half_t, cutlass::half_t, cutlass::half_t, cutlass::half_t, (char)82, (char)82>"


class SendsOut(BaseModel):
    """Messages by purpose."""

    loads: int = Field(description="Loads of operands from memory", examples=[8])
    prefetches: int = Field(description="Prefetches", examples=[4])
    stores: int = Field(description="Stores", examples=[0])
    atomics: int = Field(description="Atomic operations", examples=[0])
    slm: int = Field(description="Accesses of shared local memory", examples=[0])
    scratch: int = Field(description="Accesses of spilled registers", examples=[0])
    barriers: int = Field(description="Barriers", examples=[2])
    other: int = Field(description="All others", examples=[0])

    @property
    def total(self) -> int:
        """Number of all messages."""
        return sum(getattr(self, name) for name in SendsOut.model_fields)


class KLoopOut(BaseModel):
    """Counts of one iteration of the K loop, as the compiler unrolled it, for one thread."""

    is_loop: bool = Field(
        description="False: unrolled completely; counted from the first load of an operand to the last DPAS",
        examples=[True],
    )
    dpas: int = Field(description="DPAS instructions", examples=[32], ge=1)
    sends: SendsOut = Field(description="Messages", examples=[_SENDS])
    alu: int = Field(description="All but DPAS, messages, branches and waits", examples=[24])
    moves: int = Field(description="Moves among these", examples=[12])
    scalar_moves: int = Field(description="Moves of one lane among these", examples=[8])
    barriers: int = Field(description="Barriers that a thread signals", examples=[1])
    loaded_bytes: int = Field(description="Bytes that loads write to registers", examples=[6144])
    sends_per_256_dpas: float = Field(description="Messages per 256 DPAS", examples=[64.0])
    moves_per_256_dpas: float = Field(description="Moves per 256 DPAS", examples=[96.0])
    scalar_moves_per_256_dpas: float = Field(description="Moves of one lane per 256 DPAS", examples=[64.0])
    loaded_bytes_per_dpas: float = Field(description="Bytes loaded to registers per DPAS", examples=[192.0])


class PipelineOut(BaseModel):
    """Steady state of the K loop on one engine, by the pipeline model."""

    threads: int = Field(description="Threads on the engine", examples=[4])
    level: str = Field(description="Level of memory that operands are loaded from", examples=["L1"])
    clocks: float = Field(description="Clocks in which each thread does one iteration", examples=[2048.0])
    dpas: int = Field(description="DPAS of an iteration of one thread", examples=[32])
    dpas_clks: int = Field(description="Clocks that these occupy their unit", examples=[512])
    utilisation: float = Field(description="Share of time in which DPAS executes, as a fraction", examples=[1.0])
    hiding_threads: int = Field(description="Least threads with 95 % of the best utilisation", examples=[2])
    clocks_by_threads: dict[str, float] = Field(
        description="Clocks by number of threads", examples=[_PIPELINE["clocks_by_threads"]]
    )
    stalls: dict[str, float] = Field(
        description="Clocks that a thread waits in an iteration, by reason", examples=[_PIPELINE["stalls"]]
    )


class ScoreboardOut(BaseModel):
    """Verdict on the software scoreboard."""

    verdict: str = Field(description="ok, or a number of hazards", examples=["ok"])
    hazards: list[str] = Field(description="Instructions that access a register too early, at most 100", examples=[[]])
    rules_are_public: bool = Field(
        description="False: the chip's rules are inferred from compiled code, and its hazards refuse nothing",
        examples=[True],
    )


class IsaOut(BaseModel):
    """Code of a kernel: an entry of isa.json."""

    kernel: str = Field(description="Name in the binary, mangled", examples=["gemm"])
    grf_count: int = Field(description="Registers per thread", examples=[256])
    threads_per_eu: int | None = Field(
        default=None, description="Threads per EU; null if the binary does not say", examples=[4]
    )
    spill_bytes: int = Field(description="Bytes of registers that a thread spills to memory", examples=[0])
    slm_bytes: int = Field(description="Shared local memory of a work-group, in bytes", examples=[0])
    instructions: int | None = Field(
        default=None, description="Instructions in all; null if one is not known", examples=[1200]
    )
    unread: str | None = Field(default=None, description="The first instruction that is not known", examples=[None])
    k_loop: KLoopOut | None = Field(default=None, description="The K loop; null without DPAS", examples=[_LOOP])
    pipeline: PipelineOut | None = Field(
        default=None,
        description="Its steady state; null without DPAS, or if an instruction is not known",
        examples=[_PIPELINE],
    )
    scoreboard: ScoreboardOut | None = Field(
        default=None,
        description="Verdict on the software scoreboard; null if an instruction is not known",
        examples=[_VERDICT],
    )


class RecognisedOut(BaseModel):
    """Problem of a kernel, as far as its name and code tell; null where they do not."""

    operation: Operation | None = Field(default=None, description="Operation, from the name", examples=["GEMM"])
    multiplied: tuple[DType, DType, DType] = Field(
        description="Types of A, B and the accumulator in DPAS", examples=[["f16", "f16", "f32"]]
    )
    dtype_a: DType | None = Field(default=None, description="Type of A in memory", examples=["f16"])
    dtype_b: DType | None = Field(default=None, description="Type of B in memory", examples=["f16"])
    dtype_c: DType | None = Field(default=None, description="Type of C", examples=["f16"])
    transpose_a: bool | None = Field(default=None, description="A is stored [K, M]", examples=[False])
    transpose_b: bool | None = Field(default=None, description="B is stored [N, K]", examples=[False])
    unknown: list[str] = Field(
        description="Facts that name and code do not tell", examples=[["M, N and K: arguments of the launch"]]
    )
    gemm: ProblemBody | None = Field(
        default=None,
        description="Our GEMM that is compared, of 4096 x 4096 x 4096; null if there is none",
        examples=[None],
    )


_RECOGNISED = {
    "operation": "GEMM",
    "multiplied": ["f16", "f16", "f32"],
    "dtype_a": "f16",
    "dtype_b": "f16",
    "dtype_c": "f16",
    "transpose_a": False,
    "transpose_b": False,
    "unknown": ["M, N and K: arguments of the launch"],
    "gemm": {"m": 4096, "n": 4096, "k": 4096},
}


class XrayKernelOut(BaseModel):
    """One kernel."""

    where: str = Field(description="Place in the file, with members of archives", examples=["a.whl/lib.so+0x1b1150"])
    name: str = Field(description="Name in C++, or as in the binary", examples=[_NAME])
    chip: str = Field(description="Chip of the binary, as Intel's compiler calls it", examples=["bmg"])
    device: str = Field(description="Device id of a GPU with that chip", examples=["b580"])
    subgroup_size: int = Field(description="Work-items of a sub-group", examples=[16])
    barriers: int = Field(description="Barriers that the kernel uses", examples=[0])
    isa: IsaOut = Field(description="Its code", examples=[_ISA])
    problem: RecognisedOut | None = Field(
        default=None, description="Its problem; null without DPAS", examples=[_RECOGNISED]
    )
    ours: int | None = Field(
        default=None, description="Entry of `ours` for the same problem; null without one", examples=[0]
    )


_KERNEL = {
    "where": "a.whl/lib.so+0x1b1150",
    "name": _NAME,
    "chip": "bmg",
    "device": "b580",
    "subgroup_size": 16,
    "barriers": 0,
    "isa": _ISA,
    "problem": _RECOGNISED,
    "ours": 0,
}


class OursOut(BaseModel):
    """Our kernel for a problem: the best that is stored, or the configuration that a lookup recommends."""

    problem: ProblemBody = Field(description="The problem", examples=[{"m": 4096, "n": 4096, "k": 4096}])
    text: str = Field(description="The problem in words", examples=["4096x4096x4096 f16->f16 NN"])
    sizes_are_assumed: bool = Field(description="M, N and K were not given", examples=[True])
    device: str = Field(description="Device id", examples=["b580"])
    source: AnswerSource = Field(description="Source of the lookup's answer", examples=["heuristic"])
    kernel_id: UUID | None = Field(default=None, description="The kernel, if it is stored", examples=[None])
    kernel: XrayKernelOut = Field(description="Its code", examples=[_KERNEL])


class FoundOut(BaseModel):
    """Kernels of a file, or of a stored kernel."""

    kernels: list[XrayKernelOut] = Field(description="In the order of the file", examples=[[_KERNEL]])
    more: int = Field(default=0, description="Further kernels, over the limit", examples=[0])
    other_binaries: int = Field(default=0, description="Binaries for other GPUs", examples=[0])
    modules: int = Field(default=0, description="SPIR-V modules", examples=[0])
    compressed: int = Field(
        default=0, description="Places that may hold compressed code, not read: zstandard is missing", examples=[0]
    )
    failures: list[str] = Field(default=[], description="Modules that do not compile, with the reason", examples=[[]])


class XrayOut(FoundOut):
    """Kernels of a file beside ours for the same problems. Nothing is stored."""

    file: str = Field(description="Name of the file, or id of the kernel", examples=["kernels.whl"])
    ours: list[OursOut] = Field(description="Our kernels, one for each problem and device", examples=[[]])
    notes: list[str] = Field(description="Comparisons that could not be made, with the reason", examples=[[]])


class XrayQuery(OptionalProblemQuery):
    """Options of an x-ray. With a type, layout or other option of a problem, that is compared with all kernels.

    With m, n and k alone these are the sizes of the problems of the kernels; without any they are 4096.
    """

    name: str = Field(
        default="file", min_length=1, max_length=200, description="Name of the file", examples=["kernels.whl"]
    )
    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Only code for this GPU, for which SPIR-V is compiled",
        examples=["b580"],
    )
    kernel: str = Field(
        default="*",
        min_length=1,
        max_length=1000,
        description="Pattern of kernel names, as in the binary",
        examples=["*Gemm*"],
    )
    limit: int = Field(default=20, ge=1, le=10_000, description="Maximum number of kernels", examples=[20])

    @property
    def has_types(self) -> bool:
        """True if a type, layout or other option of a problem is given."""
        return bool(self.model_fields_set & {*ProblemQuery.model_fields})

    @property
    def assumes_sizes(self) -> bool:
        """True if no size is given."""
        return self.m is None and self.n is None and self.k is None

    def problem(self) -> GemmProblem | None:
        """Return the problem, of the usual sizes if only other options are given.

        Raises:
            BadRequest: rule `problem`: some of m, n and k, but not all.
            InvalidProblem: it contradicts itself; names the field.
        """
        if self.has_types and self.assumes_sizes:
            return self.problem_of(SIZE, SIZE, SIZE)
        return super().problem()
