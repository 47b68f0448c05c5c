"""What goes over the wire, as openapi.yaml has it. `python -m service.openapi --write` writes this file."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Base: keeps fields that it does not know, so that an older client reads the answers of a newer server."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


class AccuracyOut(Model):
    """How far the predictions of one version of the model were off for a device. Ratios are measured over predicted."""

    model: str
    """Version of the model"""

    measured: int
    """Measured trials that it predicted"""

    off_by: float
    """Median factor between predicted and measured time, at least 1"""

    median_ratio: float
    """Median of measured over predicted time"""

    least_ratio: float
    """Least of them"""

    most_ratio: float
    """Most of them"""

    inside: int
    """How many were measured within the interval that was predicted"""


class AccuracyList(Model):
    """The accuracy of each version of the model that predicted for a device."""

    device: str
    """Id of the device"""

    models: list[AccuracyOut]
    """By version; empty if nothing that was predicted was measured"""


class ArgumentOut(Model):
    """Memory that a launch is given."""

    name: str
    """A, B, C, then vectors and matrices of the epilogue, then what the launch itself needs"""

    index: int | None = None
    """Counts from 0"""

    role: str | None = None
    """input, output, inout (read, then written) or scratch (contents do not matter)"""

    dtype: str | None = None
    """Element type in memory"""

    bytes: int | None = None
    """Least size of the buffer, in bytes"""


class ArtifactOut(Model):
    """A file of a kernel."""

    name: str
    """File name"""

    size: int
    """Length, in bytes"""

    sha256: str
    """SHA-256 of the bytes, in hex"""

    media_type: str
    """Media type"""

    href: str
    """Where to get it"""


class Outcome(StrEnum):
    """What became of it. UNCHANGED: it was so before; REFUSED: the key's scope does not include it."""

    DONE = 'done'
    UNCHANGED = 'unchanged'
    REFUSED = 'refused'


class AuditEventOut(Model):
    """One change."""

    id: UUID
    """Identifier; later ones are larger"""

    at: datetime
    """When, UTC"""

    actor: str
    """Name of the key; local: whoever asked without one; command line: a command of this machine; schedule: the clock"""

    key_id: UUID | None
    """The key; null: none was needed"""

    action: str
    """What was done"""

    subject: str
    """Id of what it was done to; of what was refused, the request"""

    request_id: str | None
    """That of the answer's header X-Request-Id; null: no request"""

    outcome: Outcome
    """done; unchanged: it was so before; refused: the key's scope does not include it"""


class AuditPage(Model):
    """Events, the newest first."""

    events: list[AuditEventOut]
    """This page"""

    next_before: UUID | None
    """`before` of the next page; null on the last"""


class Axis(StrEnum):
    """Which index a vector runs along: `row` has length M, `column` length N."""

    ROW = 'row'
    COLUMN = 'column'


class Backend(StrEnum):
    """How a device is reached."""

    OPENCL = 'opencl'
    SYCL = 'sycl'
    HOST = 'host'
    TABLE = 'table'


class DType(StrEnum):
    """Element types."""

    F16 = 'f16'
    BF16 = 'bf16'
    TF32 = 'tf32'
    F32 = 'f32'
    S8 = 's8'
    U8 = 'u8'
    I32 = 'i32'


class EpilogueKind(StrEnum):
    """One element-wise or reducing step."""

    ALPHA = 'alpha'
    BETA = 'beta'
    BIAS = 'bias'
    SCALE = 'scale'
    RELU = 'relu'
    LEAKY_RELU = 'leaky_relu'
    GELU = 'gelu'
    GELU_TANH = 'gelu_tanh'
    SILU = 'silu'
    SIGMOID = 'sigmoid'
    TANH = 'tanh'
    CLIP = 'clip'
    ADD = 'add'
    MULTIPLY = 'multiply'
    REDUCE = 'reduce'


class EpilogueStepBody(Model):
    """One step on the accumulator, in f32, before it is stored: alpha and scale multiply, beta adds a multiple of C."""

    kind: EpilogueKind
    """What the step does"""

    value: float | None = None
    """Its constant, no unit: of alpha, beta, scale and leaky_relu, and the lower bound of clip"""

    high: float | None = None
    """Upper bound of clip, no unit"""

    axis: Axis | None = None
    """What the vector of bias, scale or reduce runs along: row (M) or column (N)"""

    dtype: DType | None = None
    """What its vector or matrix is stored as: f32 (if left out), f16 or bf16"""

    ld: int | None = None
    """Elements between rows of the matrix of add or multiply; N if left out"""


class ProblemBody(Model):
    """C[M, N] = epilogue(A[M, K] @ B[K, N]), whole. Leading dimensions and strides default to packed."""

    m: int
    """Rows of C, in elements"""

    n: int
    """Columns of C, in elements"""

    k: int
    """Inner (reduction) dimension, in elements"""

    batch: int = 1
    """Number of independent multiplications"""

    dtype_a: DType = DType.F16
    """Element type of A"""

    dtype_b: DType = DType.F16
    """Element type of B"""

    dtype_c: DType | None = None
    """Element type of C; that of the sums if left out"""

    dtype_acc: DType | None = None
    """Accumulator type; default: i32 for s8 and u8, else f32"""

    transpose_a: bool = False
    """A is stored [K, M]"""

    transpose_b: bool = False
    """B is stored [N, K]"""

    lda: int | None = None
    """Elements between stored rows of A"""

    ldb: int | None = None
    """Elements between stored rows of B"""

    ldc: int | None = None
    """Elements between rows of C"""

    batch_stride_a: int | None = None
    """Elements between matrices A; 0: all share one"""

    batch_stride_b: int | None = None
    """Elements between matrices B; 0: all share one"""

    batch_stride_c: int | None = None
    """Elements between matrices C"""

    alignment: int = 64
    """What all pointers are aligned to, in bytes"""

    dynamic: bool = False
    """One kernel that takes M, N, K and the distances of rows and matrices as arguments; those given here are what it is tuned for"""

    deterministic: bool = False
    """Bitwise-reproducible results"""

    epilogue: list[EpilogueStepBody] = Field(default_factory=list[EpilogueStepBody])
    """Steps before C is stored, in order"""


class Form(StrEnum):
    """How the answers are said: each whole, or what a program needs first, in columns."""

    WHOLE = 'whole'
    COLUMNS = 'columns'


class Tune(StrEnum):
    """When a lookup queues a job: never, where nothing of the problem is stored, or also where that is stale."""

    NEVER = 'never'
    ON_MISS = 'on_miss'
    ON_STALE = 'on_stale'


class BatchBody(Model):
    """Which kernels are wanted: whole problems, on one device or on one each."""

    problems: list[ProblemBody]
    """What to compute, at most 1,000"""

    device: str | list[str] = 'auto'
    """Device id, or auto for the best one here; a list names one for each problem"""

    target: str | None = None
    """GPU whose kernels emulating devices run"""

    form: Form = Form.WHOLE
    """whole answers, or columns"""

    tune: Tune = Tune.NEVER
    """When to queue a job, for each problem as a single lookup does. Needs a key that may tune"""


class Source(StrEnum):
    """Where an answer is from, the most certain first."""

    EXACT = 'exact'
    STALE = 'stale'
    NEAREST = 'nearest'
    MODEL = 'model'
    HEURISTIC = 'heuristic'


class ConfidenceOut(Model):
    """How far an answer is to be trusted, and why."""

    level: Literal['high', 'medium', 'low']
    """high from 0.8, medium from 0.4"""

    value: float
    """From 0 to 1, no unit; a rank of answers, not a chance"""

    reasons: list[str]
    """What it follows from, each with its part"""


class TimeEvidence(Model):
    """How long one launch takes and how that is known."""

    kind: Literal['measured', 'predicted']
    """Measured on the device it is for, or predicted by a model"""

    value: float
    """Median of the samples or predicted time, in us"""

    low: float
    """10th percentile or lower end of the interval, in us"""

    high: float
    """90th percentile or upper end of the interval, in us"""

    label: str
    """"native", "DPAS emulated" (that CPU device alone), or the model's version"""

    unit: Literal['us'] = 'us'
    """Unit of the times: microseconds"""

    samples: int | None = None
    """How many launches were timed; null if predicted"""

    driver: str | None = None
    """Driver it was measured with; null if predicted"""

    stopped_early: bool | None = None
    """Given up after a few samples, for it was hopeless; null if not known"""

    first_ratio: float | None = None
    """First sample, which does not count, over the median"""

    clock_mhz: float | None = None
    """What the device ran at, where it tells, in MHz"""

    energy_uj: float | None = None
    """What the device took for a launch in the mean, idle power included, in microjoules; null where it does not tell"""

    origin: str | None = None
    """Where it was measured, if it was imported; null if here"""


class ProofEvidence(Model):
    """Where the kernel's numbers were compared with numpy float64, and how much of C."""

    kind: Literal['device', 'opencl_cpu', 'simulator', 'none']
    """What executed the kernel for the comparison"""

    checked: int
    """Work-groups compared"""

    total: int
    """Work-groups of the launch"""

    max_error: float | None = None
    """Largest |C - reference|, absolute; null if unknown or not finite"""

    tolerance: float | None = None
    """Bound of max_error, absolute"""

    method: Literal['elements', 'freivalds'] | None = None
    """elements: those of the work-groups compared; freivalds: beside these, all of C in sums with random signs; null if not recorded"""


class Evidence(Model):
    """The two facts every result carries. `time` is null when a trial gave none."""

    time: TimeEvidence | None
    """How long and how known"""

    proof: ProofEvidence
    """Correctness of the result"""


class ExtentBody(Model):
    """Numbers for M, N and K."""

    m: int
    """Along M"""

    n: int
    """Along N"""

    k: int
    """Along K"""


class LoopOrder(StrEnum):
    """Order of the p (parallel), o (block) and i (innermost) loops, outermost first.

    On Xe, the p loops are the raster of the work-groups: with `pm` before `pn`, neighbouring work-groups walk along N;
    with `pn` first, along M. The o loops are the tiles that one work-group computes in turn, where there are fewer
    work-groups than tiles. Only the orders of `XE_ORDERS` mean something there.

    On CPUs, the p loops number the threads, the o loops are a thread's walk over its blocks, and the i loops the walk
    over the tiles of one block."""

    PMPNPKOMONOKIMINIK = 'pmpnpkomonokiminik'
    PNPMPKOMONOKIMINIK = 'pnpmpkomonokiminik'
    PMPNPKONOMOKIMINIK = 'pmpnpkonomokiminik'
    PNPMPKONOMOKIMINIK = 'pnpmpkonomokiminik'
    PMPNPKOMONOKINIMIK = 'pmpnpkomonokinimik'
    PMPNPKOMOKONIMINIK = 'pmpnpkomokoniminik'
    PMPNPKOMOKONINIMIK = 'pmpnpkomokoninimik'
    PMPNPKONOMOKINIMIK = 'pmpnpkonomokinimik'
    PMPNPKONOKOMIMINIK = 'pmpnpkonokomiminik'
    PMPNPKONOKOMINIMIK = 'pmpnpkonokominimik'
    PMPNPKOKOMONIMINIK = 'pmpnpkokomoniminik'
    PMPNPKOKOMONINIMIK = 'pmpnpkokomoninimik'
    PMPNPKOKONOMIMINIK = 'pmpnpkokonomiminik'
    PMPNPKOKONOMINIMIK = 'pmpnpkokonominimik'
    PNPMPKOMONOKINIMIK = 'pnpmpkomonokinimik'
    PNPMPKOMOKONIMINIK = 'pnpmpkomokoniminik'
    PNPMPKOMOKONINIMIK = 'pnpmpkomokoninimik'
    PNPMPKONOMOKINIMIK = 'pnpmpkonomokinimik'
    PNPMPKONOKOMIMINIK = 'pnpmpkonokomiminik'
    PNPMPKONOKOMINIMIK = 'pnpmpkonokominimik'
    PNPMPKOKOMONIMINIK = 'pnpmpkokomoniminik'
    PNPMPKOKOMONINIMIK = 'pnpmpkokomoninimik'
    PNPMPKOKONOMIMINIK = 'pnpmpkokonomiminik'
    PNPMPKOKONOMINIMIK = 'pnpmpkokonominimik'


class MatmulBody(Model):
    """The deep-tiled matmul's nine numbers and loop order."""

    threads: ExtentBody
    """On a GPU, work-groups over M and N, which loop where C has more tiles, and the split of K; on a CPU, threads over M, N and K"""

    block: ExtentBody
    """On a GPU, the tile of a work-group and its K step; on a CPU, what a thread walks by; in elements"""

    innermost: ExtentBody
    """On a GPU, what one block load fetches, in elements: m x k of A, k x n of B; on a CPU, the tile of C that stays in registers, and how far the loop over K is unrolled"""

    loop_order: LoopOrder = LoopOrder.PMPNPKOMONOKIMINIK
    """pm first: neighbouring work-groups or threads walk along N; pn first: along M. On a CPU also the order of the loops over blocks (o) and over tiles (i)"""


class PrefetchLevels(StrEnum):
    """Which caches are prefetched into."""

    NONE = 'none'
    L1 = 'l1'
    L2_L1 = 'l2_l1'


class PrefetchBody(Model):
    """Prefetch of A and B, shared by all sub-groups of a work-group."""

    levels: PrefetchLevels = PrefetchLevels.NONE
    """Caches that are prefetched into"""

    distance: int = 0
    """K steps ahead into L1"""

    l2_distance: int = 0
    """K steps ahead into L2; 0 without L2"""

    layout_a: tuple[int, int] | None = None
    """Rows and columns of sub-groups that share A's tile; null: dealt out"""

    layout_b: tuple[int, int] | None = None
    """Rows and columns of sub-groups that share B's tile; null: dealt out"""

    hints: bool = True
    """Every prefetch says which caches it is for"""

    payloads: bool = False
    """Addresses of prefetches stay in registers, by built-ins of Intel's compiler alone"""


class SlmOperands(StrEnum):
    """Which operands are staged through shared local memory."""

    NONE = 'none'
    A = 'a'
    B = 'b'
    BOTH = 'both'


class SplitK(StrEnum):
    """How partial sums over K are combined: stored and added by a second kernel, or added to C in memory."""

    NONE = 'none'
    PARTIAL_SUMS = 'partial_sums'
    ATOMIC = 'atomic'


class StrategyBody(Model):
    """What the nine numbers do not say on an Xe GPU."""

    sg_layout: tuple[int, int]
    """Sub-groups of a work-group over M and N"""

    prefetch: PrefetchBody = Field(default_factory=PrefetchBody)
    """Prefetch into caches"""

    grf_mode: int = 256
    """Registers of a thread"""

    slm: SlmOperands = SlmOperands.NONE
    """Operands staged through shared local memory"""

    slm_stages: int = 0
    """Buffers in shared local memory, used in turn"""

    barrier_every: int = 0
    """K steps between barriers; 0 for none"""

    raster_group: int = 1
    """Rows of tiles (columns where the raster walks along M) that it walks through together"""

    split_k: SplitK = SplitK.NONE
    """How partial sums over K are combined: by a second kernel, or by atomics"""

    pipelined_registers: bool = False
    """The next K step's operands are loaded during this one"""

    k_unroll: int = 1
    """K steps in one round of the loop"""


class Isa(StrEnum):
    """Instructions that the micro-kernel multiplies with."""

    AMX = 'amx'
    AVX512 = 'avx512'
    AVX2 = 'avx2'


class Packing(StrEnum):
    """When an operand is copied into the order in which the micro-kernel reads it.

    `NONE`: never. `BLOCK`: each thread copies each block where its o loops reach it. `WHOLE`: all threads together
    copy all of it before they multiply. `BEFOREHAND`: as `WHOLE`, by a call of its own before the first multiply."""

    NONE = 'none'
    BLOCK = 'block'
    WHOLE = 'whole'
    BEFOREHAND = 'beforehand'


class CpuStrategyBody(Model):
    """What the nine numbers do not say on a CPU."""

    isa: Isa
    """Instructions that multiply"""

    pack_a: Packing = Packing.BLOCK
    """When A is copied into the order that is read: none, block by block, or whole before the multiply"""

    pack_b: Packing = Packing.WHOLE
    """The same of B; beforehand: once, by a call of its own"""

    prefetch_distance: int = 0
    """Steps of innermost k that are prefetched ahead; 0: by the hardware alone"""

    pieces: int = 1
    """Pieces of each thread's part of C, which threads that are done take over"""


class ConfigBody(Model):
    """A configuration, canonical. A strategy with an `isa` is one for a CPU."""

    matmul: MatmulBody
    """The nine numbers and loop order"""

    strategy: StrategyBody | CpuStrategyBody
    """What they do not say"""


class ParameterOut(Model):
    """A parameter of a kernel: a pointer to an argument, or a 64-bit number."""

    argument: int | None = None
    """Index of the argument; null of a number"""

    scalar: str | None = None
    """Name of the number; null of a pointer"""

    value: int | None = None
    """The number for the problem's sizes"""


class StepOut(Model):
    """One kernel of a launch; it runs after the one before it. Of a GPU it has sizes, of a CPU threads."""

    kernel: str
    """Its name in the binary: gemm, clear, finish or another"""

    parameters: list[ParameterOut] = Field(default_factory=list[ParameterOut])
    """What it is given, in order"""

    global_size: list[int] = Field(default_factory=list[int])
    """Work-items in three dimensions"""

    global_size_formula: list[str] = Field(default_factory=list[str])
    """Work-items as formulas of the sizes; empty if they are always the same"""

    local_size: list[int] = Field(default_factory=list[int])
    """Work-items of a work-group"""

    threads: int | None = None
    """Threads of a CPU that it runs on; null of a GPU"""

    once: bool = False
    """It prepares memory that later launches only read: once for the same contents is enough"""


class MemoryPathOut(Model):
    """How a matrix is moved between memory and registers."""

    by: str
    """block2d: 2-D block messages; lanes: each lane its elements"""

    because: str | None = None
    """Rule that 2-D blocks cannot be used by, and why"""


class PackingOut(Model):
    """When a CPU's kernel copies a matrix into the order in which it reads it."""

    when: str
    """none, block, whole or beforehand"""

    elements: str | None = None
    """Type of its elements then; null if it is never packed"""

    bytes: int | None = None
    """Length of all of it, packed whole or beforehand, in bytes"""


class LaunchOut(Model):
    """kernel.json: everything that a launch of kernel.spv, or a call of kernel.o, needs."""

    arguments: list[ArgumentOut] = Field(default_factory=list[ArgumentOut])
    """Memory it is given, in order"""

    steps: list[StepOut] = Field(default_factory=list[StepOut])
    """Its kernels, in order of execution"""

    memory_paths: dict[str, MemoryPathOut] | None = None
    """How each matrix is moved; null of a CPU"""

    pointer_alignment_bytes: int | None = None
    """What all pointers must be aligned to, in bytes"""

    subgroup_size: int | None = None
    """Work-items of a sub-group"""

    build_options: dict[str, str] = Field(default_factory=dict[str, str])
    """What the driver is told, by API"""

    needs: list[str] | None = None
    """Instructions that a CPU must have, as /proc/cpuinfo names them; null of a GPU"""

    threads: int | None = None
    """Least threads of the pool that a CPU's kernel is given; null of a GPU"""

    workspace_bytes: int | None = None
    """Length of the memory that a CPU's kernel works in, in bytes"""

    packing: dict[str, PackingOut] | None = None
    """Which matrices are packed, and when; null of a GPU"""


class KernelOut(Model):
    """A compiled kernel with the evidence it was chosen by."""

    id: UUID
    """Identifier"""

    problem: ProblemBody
    """What it computes, whole"""

    device: str
    """Id of the device it was tuned on; its times hold there alone"""

    driver: str
    """Driver of that device; empty if none was known"""

    target: str
    """Id of the device it was compiled for"""

    evidence: Evidence
    """Time and correctness of its best trial; of its latest if none gave a time"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, canonical; as it was stored if this version cannot read it"""

    launch: LaunchOut
    """kernel.json: arguments, kernels with their parameters and sizes, build options"""

    toolchain: dict[str, object]
    """Versions it was made with"""

    content_hash: str
    """SHA-256 of the SPIR-V, in hex"""

    artifacts: list[ArtifactOut]
    """Its files"""

    created_at: datetime
    """When it was stored, UTC"""

    status: str | None = None
    """How that trial ended: measured, predicted, or why there is no time; null without a trial"""

    reason: str | None = None
    """Why that trial gave no time; null if it gave one"""

    tflops: float | None = None
    """2 M N K batch / time, in TFLOP/s; null without a time"""

    predicted: TimeEvidence | None = None
    """What the model predicted of that trial; null where it did not"""

    prediction_error: float | None = None
    """Measured over predicted time; null without either"""

    origin: str | None = None
    """Where it was compiled, if it was imported; null if here"""

    job: UUID | None = None
    """Job of its best trial"""


class ElsewhereOut(Model):
    """The tuned problem that an answer was carried over from. Its time is of that problem alone."""

    problem: ProblemBody
    """That problem"""

    distance: float
    """Root of the squared doublings of M, N, K and batch between the two"""

    job: UUID
    """The job that tuned it"""

    trial: int
    """The number of its best trial"""

    kernel_id: UUID | None = None
    """Its kernel"""

    time: TimeEvidence | None = None
    """What it took there: never the time of the problem asked for"""


class NextRequest(Model):
    """A request that would help, ready to send."""

    method: str
    """HTTP method"""

    href: str
    """Path of this service"""

    body: dict[str, object]
    """JSON body"""

    why: str
    """What it would do"""


class LookupOut(Model):
    """What to run for a problem on a device."""

    source: Source
    """exact: tuned for this very problem on this very device, under what is installed now; stale: under another driver, compiler or generator; nearest: a tuned problem nearby, said for this one; model: what is predicted to be the fastest of a few; heuristic: the default"""

    confidence: ConfidenceOut
    """How far to trust it"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration to run, legal for this problem on this device"""

    time_told: str
    """The same in words"""

    stale: list[str] = Field(default_factory=list[str])
    """What is another one now; empty unless stale"""

    kernel: KernelOut | None = None
    """The kernel; null where none is stored that runs this problem: the configuration is to be compiled"""

    launch: LaunchOut | None = None
    """The kernel's launch for this problem: of one that takes sizes, for these; null without kernel"""

    time: TimeEvidence | None = None
    """What is known of this problem's time; null if nothing is"""

    elsewhere: ElsewhereOut | None = None
    """Where it was carried over from; null unless nearest"""

    unmeasured: int = 0
    """Configurations of this problem and device that are predicted faster than the kernel's time and that nobody measured; a measured kernel is served before them"""

    next: list[NextRequest] = Field(default_factory=list[NextRequest])
    """What would make the answer better, ready to send"""

    job: UUID | None = None
    """The job that this lookup queued, or found queued; null if it was not to"""


class ColumnsOut(Model):
    """The answers in columns, one entry a problem in each; null in all of a miss."""

    source: list[Source | None]
    """Where each is from"""

    stale: list[bool | None]
    """Whether it was tuned under other versions than are here now"""

    confidence: list[float | None]
    """From 0 to 1, no unit"""

    kernel: list[UUID | None]
    """The kernel, as GET /v1/kernels/{id} tells it; null where one is to be compiled"""

    time_us: list[float | None]
    """Time of this problem, in us; null if nothing is known"""

    time_kind: list[str | None]
    """measured or predicted; null without a time"""


class MissOut(Model):
    """Why there is no answer."""

    problem: str
    """The problem in words"""

    device: str
    """Id of the device"""

    rule: str
    """The rule that a single lookup is refused by"""

    detail: str
    """What happened"""

    next: list[NextRequest] = Field(default_factory=list[NextRequest])
    """What would help, ready to send"""


class PlacedMiss(Model):
    """A problem without an answer."""

    index: int
    """Its place among the problems, from 0"""

    why: MissOut
    """What is missing"""


class PlacedJob(Model):
    """What became of a problem that was to be tuned."""

    index: int
    """Its place among the problems, from 0"""

    job: UUID | None
    """The job, new or queued before; null if refused"""

    refused: str | None = None
    """Rule and reason that it cannot be tuned by; null if it can"""


class BatchOut(Model):
    """What to run for each of many problems: each answer is what a single lookup gives."""

    misses: list[PlacedMiss]
    """The problems without an answer"""

    answers: list[LookupOut | None] | None = None
    """One a problem, null for a miss; null in the form of columns"""

    columns: ColumnsOut | None = None
    """The same in short, if asked for"""

    jobs: list[PlacedJob] = Field(default_factory=list[PlacedJob])
    """Of those that were to be tuned"""


class BudgetBody(Model):
    """When a job ends at the latest; whichever comes first."""

    trials: int = 100
    """Most configurations tried, at least 1"""

    seconds: float = 600.0
    """Longest run, in seconds of wall time, more than 0"""

    no_gain: int | None = None
    """Stop when so many trials in a row gained less than 1 %; null to go on"""

    roofline: float | None = None
    """Stop when the fastest reaches this fraction of what the GPU can do: of its multiply units, or of moving every operand once; null to go on"""


class CeilingOut(Model):
    """What a level of memory allows: a roof of the roofline."""

    level: str
    """Cache, or memory"""

    gbytes_per_s: float
    """Its bandwidth, in GB/s"""

    flops_per_byte: float
    """Operations for each byte that it gives"""

    tflops: float
    """What that allows, in TFLOP/s"""


class CellOut(Model):
    """Time of a kernel on a shape."""

    kernel: int
    """Number of the kernel, from 1"""

    shape: int
    """Number of the shape, from 1"""

    evidence: Literal['in_turns', 'trial', 'predicted', 'none']
    """Interleaved with the others, measured by its trial, predicted by the model, or unknown"""

    time_us: float | None = None
    """Its time, in us"""

    slower: float | None = None
    """Its time over the least known time of the shape"""

    reason: str | None = None
    """Reason of a missing time"""

    content_hash: str | None = None
    """SHA-256 of the binary, equal where shapes share one; null where none was made"""


class CheckOut(Model):
    """A part that was looked at."""

    name: Literal['database', 'migrations', 'artifacts', 'compiler', 'worker', 'scheduler', 'coordinator']
    """database: it answers; migrations: it has this version's tables; artifacts: their folder can be written; compiler: texts that are sent can be compiled; worker, scheduler: a process somewhere said lately that it is there; coordinator: one has the lease to give out jobs"""

    ok: bool
    """Whether it works"""

    detail: str | None = None
    """What is wrong and what to do; null when it works"""


class CommonBody(Model):
    """Defaults of the shapes of a csv, a text or a preset."""

    dtype_a: DType = DType.F16
    """Element type of A"""

    dtype_b: DType = DType.F16
    """Element type of B"""

    dtype_c: DType | None = None
    """Element type of C; default: the accumulator type"""

    dtype_acc: DType | None = None
    """Accumulator type"""

    transpose_a: bool = False
    """A is stored [K, M]"""

    transpose_b: bool = False
    """B is stored [N, K]"""

    batch: int = 1
    """Number of independent multiplications"""

    alignment: int = 64
    """Alignment of all pointers, in bytes"""

    dynamic: bool = False
    """Dynamic shapes: kernels take the sizes as arguments"""

    deterministic: bool = False
    """Bitwise-reproducible results"""

    epilogue: str = ''
    """Steps, as the command line has them"""


class Comparison(Model):
    """The default configuration against the best, re-measured, interleaved, at the end of the job."""

    default_us: float
    """Median of trial 0, in us"""

    best_us: float
    """Median of the best trial, in us"""

    speedup: float
    """How many times as fast the best is"""


class CompileBody(Model):
    """What to compile: the text of kernels, or a problem."""

    device: str = 'auto'
    """Device id, or auto for the best one here"""

    target: str | None = None
    """GPU whose kernels an emulating device runs; its default if left out"""

    config: ConfigBody | None = None
    """Configuration of the problem; null: the default"""

    source: str | None = None
    """Kernels as text, XeTile or XeGPU; then without problem and config"""

    problem: ProblemBody | None = None
    """A GEMM; then without source"""

    files: list[str] = Field(default_factory=list[str])
    """Names of the files to answer: those of the stages, and kernel.json; `*` for all"""


class StageOut(Model):
    """What one stage made."""

    name: str
    """The stage"""

    file: str
    """Name of its file"""

    size: int
    """Bytes in it"""

    sha256: str
    """SHA-256 of it"""

    elapsed_ms: float
    """How long the stage took, in ms"""


class CompiledFileOut(Model):
    """A file that was asked for."""

    name: str
    """Its name"""

    size: int
    """Bytes in it"""

    sha256: str
    """SHA-256 of it"""

    content: str
    """The file, in base64"""


class ConfinementOut(Model):
    """What this machine holds the compiling process to, besides memory, time, an empty environment and folder."""

    network: Literal['namespace', 'seccomp', 'none']
    """namespace: it has none; seccomp: it may open no socket; none: not limited here"""

    files: Literal['landlock', 'none']
    """landlock: it reads the programs and writes nothing; none: not limited here"""

    system_calls: Literal['seccomp', 'none']
    """seccomp: it starts no program and signals none; none: not limited here"""

    processes: bool
    """Whether its processes are counted; not those of root"""


class CompileOut(Model):
    """What was made. Nothing of it is kept: what is not asked for in `files` is gone with the answer."""

    content_hash: str
    """SHA-256 of the binary"""

    compile_key: str
    """Hash of what it was made from"""

    target: str
    """Device it is for"""

    stages: list[StageOut]
    """Every stage in order"""

    manifest: dict[str, object]
    """As kernel.json has it"""

    confinement: ConfinementOut
    """What the compiler was held to"""

    files: list[CompiledFileOut] = Field(default_factory=list[CompiledFileOut])
    """The files that were asked for, in that order"""


class KernelChoice(Model):
    """A kernel of a set: one configuration, and the shapes that it serves in the cover."""

    number: int
    """Counts from 1"""

    shape: int
    """Number of the shape that it is from"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, as that shape has it"""

    serves: list[int]
    """Numbers of the shapes that it serves; empty if not needed"""

    binaries: int
    """Binaries for what it serves; one that takes sizes counts once, one never made for each shape"""

    content_hash: str | None = None
    """SHA-256 of the binary if all that it serves, or else all that it was tried on, share one"""


class CoverOut(Model):
    """The fewest kernels found that keep each shape within a bound of its best."""

    within: float
    """Largest slowdown of a shape, as a fraction"""

    needed: list[int]
    """Numbers of the kernels, those that take most time first"""

    unserved: list[int]
    """Numbers of shapes without any time"""

    one_each: bool
    """True if every shape needs its own kernel"""

    evidence: list[str]
    """Evidence of the times that it rests on"""

    total_us: float
    """Weighted time of all served shapes under it, in us"""

    best_us: float
    """The same with the best kernel of each shape, in us"""

    unknown: int
    """Unknown times of kernels on shapes"""

    kernels: list[KernelChoice]
    """Kernels that were tried on all shapes"""

    cells: list[CellOut]
    """Time of each kernel on each shape"""

    binaries: int = 0
    """Binaries of all needed kernels together"""


class HeuristicStepOut(Model):
    """One step to the default configuration of a CPU."""

    name: str
    """The step"""

    choice: str
    """What it chose"""

    why: str
    """Why"""


class TrafficOut(Model):
    """Bytes that the loops bring into a cache, over all threads, estimated."""

    into: str
    """The cache"""

    a: int
    """Of A"""

    b: int
    """Of B"""

    c: int
    """Of C and sums"""

    packing: int
    """Of packing"""

    total: int
    """Of all"""


class CpuExplanation(Model):
    """Why a configuration for a CPU is as it is, and the traffic that it makes. Times there are measured, by jobs."""

    problem: str
    """What is computed, in words"""

    device: str
    """Device id"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, whole"""

    default_steps: list[HeuristicStepOut]
    """How the default is chosen, which this may not be"""

    operand_bytes: dict[str, int]
    """Bytes of A, of B, and of C with what the epilogue reads"""

    traffic_bytes: list[TrafficOut]
    """For each cache"""

    flops: int
    """2 M N K batch"""


class DeviceKind(StrEnum):
    """What sort of processor a device is."""

    GPU = 'gpu'
    CPU = 'cpu'


class FactOut(Model):
    """One known fact of a device; its name carries the unit."""

    name: str
    """Name, with its unit"""

    value: bool | int | float | str | list[int | str]
    """Value, in the unit of the name"""

    provenance: str
    """probed, derived: <how>, or table:<source>"""


class Use(StrEnum):
    """What a device may be asked for without being here."""

    COMPILE = 'compile'
    PREDICT = 'predict'


class ReadinessOut(Model):
    """Whether a device can be used so without being here, and what stands against it."""

    use: Use
    """What for"""

    ready: bool
    """Nothing stands against it"""

    missing: list[str]
    """Needed facts that nobody stated"""

    reason: str
    """Why not; empty when it can"""


class DisagreementOut(Model):
    """A fact that a driver tells otherwise than the table; the driver's counts."""

    fact: str
    """Name of the fact"""

    probed: bool | int | float | str | list[int | str]
    """What the driver tells"""

    probed_by: str
    """Which runtime told it"""

    tabled: bool | int | float | str | list[int | str]
    """What the table has"""

    tabled_by: str
    """Its provenance there"""


class MatchOut(Model):
    """How a GPU that is here was found in the table."""

    by: str
    """What it was found by"""

    rows: list[str]
    """Ids of the rows; of several, what they share was taken"""

    agreed: list[str]
    """Facts that driver and table tell alike"""

    disagreements: list[DisagreementOut]
    """Facts that they tell differently"""


class DeviceOut(Model):
    """A device that is here, or one of the table that kernels can be compiled for."""

    id: str
    """Stable name, used in requests"""

    name: str
    """What the hardware calls itself"""

    kind: DeviceKind
    """gpu or cpu"""

    backend: Backend
    """How it is reached; table: not in this machine"""

    runnable: bool
    """Kernels can be run on it here"""

    targetable: bool
    """Kernels can be compiled for it"""

    note: str
    """What to know: why not, where facts disagree"""

    facts: list[FactOut]
    """What is known; an absent fact is unknown"""

    aliases: list[str]
    """Other names it is found by"""

    remarks: list[str]
    """What to know of its facts, such as where sources disagree"""

    uses: list[ReadinessOut]
    """What it can be used for without being here"""

    emulates: str | None = None
    """Id of the GPU whose kernels it runs with emulated built-ins"""

    address: str | None = None
    """Where it is on this machine"""

    match: MatchOut | None = None
    """How it was found in the table; null if it is not here or not in the table"""


class QuarantineOut(Model):
    """A quarantined device of a host: it gets no jobs there until it is released or the quarantine ends."""

    device: str
    """Id of the device"""

    host: str
    """The machine it is in"""

    reason: str
    """"code: message" of its last job"""

    job_id: UUID | None
    """That job"""

    since: datetime
    """When it began, UTC"""

    until: datetime
    """When it ends at the latest, UTC"""


class DeviceList(Model):
    """Every device known, and those that get no jobs."""

    devices: list[DeviceOut]
    """Devices here first, then those of the table"""

    quarantined: list[QuarantineOut]
    """Quarantined devices, of all hosts of this database"""


class DonorOut(Model):
    """A configuration that was good elsewhere, which a job began with."""

    trial: int
    """Its number there"""

    problem: Annotated[ProblemBody | dict[str, object], Field(union_mode="left_to_right")]
    """The problem it is good for; as it was stored if this version cannot read it"""

    device: str
    """Id of the device it is good on"""

    distance: float
    """How far that problem is: root of the squared doublings of M, N, K and batch"""

    job: UUID | None = None
    """The job that found it; null if a file of another format brought it"""

    recording: UUID | None = None
    """The recording that has it; null if a job found it, or if it is not here"""


class DueOut(Model):
    """A time at which a schedule will come due."""

    due_at: datetime
    """In UTC"""

    local: str
    """What a clock of the time zone shows"""


class DueList(Model):
    """The next times, in order."""

    due: list[DueOut]
    """None while paused"""


class ExplainBody(Model):
    """What to explain: a problem on a device, in a configuration."""

    problem: ProblemBody
    """A GEMM"""

    device: str = 'auto'
    """Device id, or auto for the best one here"""

    target: str | None = None
    """GPU whose kernels an emulating device runs; its default if left out"""

    config: ConfigBody | None = None
    """Configuration of the problem; null: the default"""


class FieldError(Model):
    """One fault of a request."""

    field: str
    """Where, as a dotted path"""

    message: str
    """What is wrong, what was expected and what came"""

    rule: str | None = None
    """Name of the rule that it breaks; the manual lists those of malformed requests"""


class FireOut(Model):
    """One run, or due times that got none."""

    id: int
    """Number; later ones are larger"""

    due_at: datetime
    """When it came due, UTC; of one asked for by hand, when that was"""

    fired_at: datetime
    """When it was handled, UTC"""

    outcome: Literal['created', 'joined', 'nothing', 'missed', 'refused']
    """created work, joined what was active already, nothing was to be done, was missed, or was refused"""

    by_hand: bool
    """Whether a person asked for it"""

    due_times: int
    """Due times that it stands for; 1000: at least so many"""

    jobs: list[UUID]
    """Jobs that it queued or joined"""

    shape_set: UUID | None = None
    """The set of shapes that it made or joined"""

    reason: str | None = None
    """Why it was refused, or what was left out"""


class FirePage(Model):
    """Runs of a schedule, newest first."""

    fires: list[FireOut]
    """This page"""

    next_before: int | None
    """`before` of the next page; null on the last"""


class Format(StrEnum):
    """A format of result files."""

    JSONL = 'jsonl'
    KERNEL_TUNER = 'kernel-tuner'
    T1 = 't1'
    T4 = 't4'


class GpuExplanation(Model):
    """A predicted time on a GPU, taken apart. Nothing here is measured."""

    problem: str
    """What is computed, in words"""

    device: str
    """Device id"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, whole"""

    model: str
    """Version of the model"""

    time_us: float
    """Predicted, in us"""

    low_us: float
    """Least of the interval, in us"""

    high_us: float
    """Most of the interval, in us"""

    tflops: float
    """2 M N K batch / time, in TFLOP/s"""

    peak_tflops: float
    """Most that the device multiplies, in TFLOP/s"""

    bound_by: str
    """The longest part"""

    parts_us: dict[str, float]
    """What each takes alone, in us; they overlap, and spills, kernels and launch are added"""

    ceilings: list[CeilingOut]
    """The roofs, nearest memory first"""

    work_groups: int
    """Work-groups launched"""

    groups_per_core: int
    """Work-groups on a core at a time"""

    threads_per_engine: int
    """Most threads on an engine"""

    waves: int
    """How often the busiest core takes work-groups"""

    busy: float
    """Share of places that work-groups fill, as a fraction"""

    memory_bytes: int
    """Read from and written to memory, in bytes"""

    least_bytes: int
    """The same if nothing were read twice"""

    registers_needed: int
    """Registers that a thread needs"""

    registers: int
    """Registers that it has"""

    registers_spilled: int
    """Registers kept in memory"""

    accuracy: list[AccuracyOut]
    """How far predictions for the device were off, by version of the model"""


class Health(Model):
    """The process answers."""

    status: Literal['ok'] = 'ok'
    """ok: the process is up"""


class Language(StrEnum):
    """An API and its language: the first four launch kernels of a GPU, the others call those of a CPU."""

    PYOPENCL = 'pyopencl'
    DPCTL = 'dpctl'
    SYCL = 'sycl'
    LEVEL_ZERO = 'level-zero'
    CTYPES = 'ctypes'
    CPP = 'cpp'


class HostCodeOut(Model):
    """A program that runs a kernel."""

    language: Language
    """API that it uses"""

    file: str
    """What to save it as"""

    needs: str
    """File of the kernel that it needs"""

    href: str
    """Where to get it"""


class HostCodeList(Model):
    """The programs that there are for a kernel."""

    host_code: list[HostCodeOut]
    """One for each API"""


class ImportOut(Model):
    """Counts of an import. A file is imported whole or not at all."""

    format: Format
    """Format of the file"""

    origin: str
    """Origin of the results"""

    jobs: int = 0
    """Jobs added"""

    trials: int = 0
    """Trials added"""

    kernels: int = 0
    """Kernels of these trials"""

    known: int = 0
    """Trials, or recorded configurations, that were known before"""

    judged: dict[str, int] = Field(default_factory=dict[str, int])
    """Predictions that now have a measurement, by device"""

    recording: UUID | None = None
    """The recording of a Kernel Tuner cache or T4 file"""

    configurations: int = 0
    """Configurations of that recording, or to be measured"""

    timed: int = 0
    """Those of the recording that have a time"""

    notes: list[str] = Field(default_factory=list[str])
    """Parts of the file that were left out"""

    queued: list[UUID] = Field(default_factory=list[UUID])
    """Jobs that measure what a T1 file or runners-up list, new or active already"""


class Method(StrEnum):
    """The searches of this program. Other names are of samplers: of `optuna.samplers`, or `package.module:Class`."""

    PORTFOLIO = 'portfolio'
    TPE = 'tpe'
    CMAES = 'cmaes'
    NSGA2 = 'nsga2'
    GP = 'gp'
    MODEL = 'model'
    RANDOM = 'random'
    EXHAUSTIVE = 'exhaustive'


class Objective(StrEnum):
    """Objective to minimize."""

    TIME = 'time'
    TIME_MEMORY = 'time-memory'
    TIME_ENERGY = 'time-energy'


class JobBody(Model):
    """A request to tune one problem on one device."""

    problem: ProblemBody
    """What to compute"""

    budget: BudgetBody = Field(default_factory=BudgetBody)
    """When to stop"""

    seed: int = 0
    """Start of the random choices; equal seeds draw equal configurations"""

    reuse: bool = True
    """Reuse cached measurements of identical kernels; false: ignore cached measurements"""

    warm_start: bool = True
    """Begin with what was best for the nearest problems and devices; false: know nothing of them"""

    search: Method = Method.PORTFOLIO
    """How the space is searched: portfolio learns which of several ways pays; tpe, cmaes, nsga2 (time and memory), gp (Gaussian process), model (among the best predicted), random, exhaustive"""

    objective: Objective | None = None
    """Objective to minimize: time; time-memory (beyond the operands) or time-energy (where the device tells it), which nsga2 weighs; null: what the search weighs anyway"""

    device: str = 'auto'
    """Device id, or auto for the best one here"""

    target: str | None = None
    """GPU whose kernels an emulating device runs; its default if left out"""


class JobKind(StrEnum):
    """What a job is for."""

    SEARCH = 'search'
    MEASURE = 'measure'
    SHAPE = 'shape'
    IMPORT = 'import'


class JobLinks(Model):
    """Where to go on."""

    self: str
    """This job"""

    trials: str
    """Its trials"""

    events: str
    """Its event stream"""

    cancel: str
    """POST here to stop it"""

    retry: str
    """POST here to do it anew, when it failed or was cancelled"""


class JobStatus(StrEnum):
    """Where a job is in its life."""

    QUEUED = 'queued'
    RUNNING = 'running'
    SUCCEEDED = 'succeeded'
    FAILED = 'failed'
    CANCELLED = 'cancelled'


class TrialStatus(StrEnum):
    """What became of a trial."""

    PENDING = 'pending'
    MEASURED = 'measured'
    PREDICTED = 'predicted'
    REJECTED = 'rejected'
    COMPILE_FAILED = 'compile_failed'
    WRONG_RESULT = 'wrong_result'
    TIMED_OUT = 'timed_out'
    CRASHED = 'crashed'


class ReusedOut(Model):
    """The trial of an earlier job whose measurement a trial took: of the same binary, launch, device and driver."""

    job: UUID
    """The job that measured it"""

    trial: int
    """Its number there"""

    scale: float
    """How long the default takes now over how long it took there; the time is judged times this"""


class TrialOut(Model):
    """One configuration and what became of it. Number 0 is the baseline, the heuristic's choice."""

    number: int
    """Counts from 0 within the job"""

    status: TrialStatus
    """pending, measured, predicted, rejected, compile_failed, wrong_result, timed_out or crashed"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, canonical; as it was stored if this version cannot read it"""

    evidence: Evidence
    """Time and correctness"""

    compile_s: float
    """Wall time of compiling, in seconds"""

    verify_s: float
    """Wall time of checking the numbers, in seconds"""

    measure_s: float
    """Wall time of measuring, in seconds"""

    begun_at: datetime
    """When it began, UTC"""

    reason: str | None = None
    """The rule or finding, when it gave no time"""

    proposer: str | None = None
    """Who chose it: default, donor, random, gp, tpe, descent, ...; null where that was not recorded"""

    tflops: float | None = None
    """2 M N K batch / time, in TFLOP/s; null without a time"""

    predicted: TimeEvidence | None = None
    """What the model predicted of it; null where it does not predict"""

    measured: TimeEvidence | None = None
    """What was measured of its configuration: in this trial, else by another job for the same problem and device; null if nothing was"""

    measured_by: UUID | None = None
    """The job that measured it, if not this one"""

    prediction_error: float | None = None
    """Measured over predicted time; null without either"""

    kernel_id: UUID | None = None
    """The kernel, if it compiled"""

    reused: ReusedOut | None = None
    """Where its measurement is from, if it was not measured in this job; null if it was"""

    ended_at: datetime | None = None
    """When it ended, UTC"""


class WallTimeOut(Model):
    """Seconds of wall time of a job's runs, by what was done; a run that was killed is not in it.

    In `compile_s` something was being compiled beside the rest, so that all parts may be more than the total."""

    total_s: float
    """All of it"""

    propose_s: float
    """Choosing configurations"""

    compile_s: float
    """With at least one compilation under way, beside the rest"""

    wait_s: float
    """Waiting for a kernel to be compiled"""

    verify_s: float
    """Running and checking for correctness"""

    measure_s: float
    """Warming up and taking times"""

    compare_s: float
    """Measuring finalists and the default, interleaved"""

    device_restarts: int
    """How often the device's process was lost"""


class JobOut(Model):
    """A job: its request, its progress, and the best so far. One of kind `measure` searches nothing."""

    id: UUID
    """Sorts by time of creation"""

    status: JobStatus
    """queued, running, succeeded, failed or cancelled"""

    kind: JobKind
    """search: finds the fastest; measure: measures what it was given; shape: one of a set of shapes; import: ran elsewhere"""

    problem: ProblemBody
    """What is computed, whole"""

    device: str
    """Id of the device"""

    cancel_requested: bool
    """Someone asked it to stop"""

    attempts: int
    """How often a worker took it up"""

    counts: dict[str, int]
    """Trials by status"""

    done: int
    """Trials that ended"""

    created_at: datetime
    """When it was asked for, UTC"""

    donors: list[DonorOut]
    """What it began with, best first; empty of one that has not begun, or found nothing"""

    links: JobLinks
    """Where to go on"""

    budget: BudgetBody = Field(default_factory=BudgetBody)
    """When to stop"""

    seed: int = 0
    """Start of the random choices; equal seeds draw equal configurations"""

    reuse: bool = True
    """Reuse cached measurements of identical kernels; false: ignore cached measurements"""

    warm_start: bool = True
    """Begin with what was best for the nearest problems and devices; false: know nothing of them"""

    search: Method = Method.PORTFOLIO
    """How the space is searched: portfolio learns which of several ways pays; tpe, cmaes, nsga2 (time and memory), gp (Gaussian process), model (among the best predicted), random, exhaustive"""

    objective: Objective | None = None
    """Objective to minimize: time; time-memory (beyond the operands) or time-energy (where the device tells it), which nsga2 weighs; null: what the search weighs anyway"""

    retry_of: UUID | None = None
    """The job that it does anew; null if none"""

    origin: str | None = None
    """Where it ran, if it was imported; null if here"""

    error: str | None = None
    """"code: message" when it failed"""

    stop: str | None = None
    """What ended its search: trials, seconds, exhausted, no_gain, roofline or cancelled; null before, of a job that failed, and where it was not recorded"""

    best: TrialOut | None = None
    """The fastest proven trial so far; in the end the winner of the re-measured finalists. Of a job that only predicted it is corrected when others measure its configurations"""

    basis: str | None = None
    """What the time of `best` rests on: in_turns, measured interleaved with the default and the other finalists; single, the least of single measurements, which may have been the luckiest; predicted by a model. null without a time"""

    comparison: Comparison | None = None
    """Speed-up over the default configuration, interleaved: where it is not null its two times stand for the job, and those of `best` and of trial 0 are single measurements"""

    wall: WallTimeOut | None = None
    """What its time went to; null before a run ended"""

    started_at: datetime | None = None
    """When it first ran, UTC"""

    finished_at: datetime | None = None
    """When it ended, UTC"""


class JobPage(Model):
    """Some jobs, newest first."""

    jobs: list[JobOut]
    """This page"""

    next_before: UUID | None = None
    """Pass as `before` for the next page; null on the last"""


class KernelLine(Model):
    """A kernel in a list."""

    id: UUID
    """Sorts by time of creation; GET /v1/kernels/ID has all of it"""

    problem: ProblemBody
    """What it computes, whole"""

    device: str
    """Id of the device it was tuned on"""

    driver: str
    """Driver of that device; empty if none was known"""

    evidence: Evidence
    """Time and correctness of its best trial"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration; as it was stored if this version cannot read it"""

    content_hash: str
    """SHA-256 of the binary, in hex"""

    created_at: datetime
    """When it was stored, UTC"""

    tflops: float | None = None
    """2 M N K batch / time, in TFLOP/s; null without a time"""

    origin: str | None = None
    """Where it was compiled, if it was imported; null if here"""


class KernelPage(Model):
    """Kernels, newest first."""

    kernels: list[KernelLine]
    """This page"""

    next_before: UUID | None
    """`before` of the next page; null on the last"""


class Scope(StrEnum):
    """Each includes those before it: READ looks, TUNE starts and stops work, ADMIN makes keys and audits."""

    READ = 'read'
    TUNE = 'tune'
    ADMIN = 'admin'


class KeyBody(Model):
    """A key to make."""

    name: str
    """Name for people; of the keys in use only one has it"""

    scope: Scope
    """read: look; tune: start and stop work too; admin: make keys and read the audit log too"""

    expires_at: datetime | None = None
    """When it stops working; null: never"""


class KeyOut(Model):
    """A key, without its secret."""

    id: UUID
    """Identifier"""

    name: str
    """Name for people"""

    prefix: str
    """What it begins with, after xetune_"""

    scope: Scope
    """read: look; tune: start and stop work too; admin: make keys and read the audit log too"""

    created_at: datetime
    """When it was made, UTC"""

    expires_at: datetime | None
    """When it stops working; null: never"""

    last_used_at: datetime | None
    """When it was used last, to the minute; null: never"""

    revoked_at: datetime | None
    """When it was revoked; null: it is not"""


class KeyList(Model):
    """Every key, the newest first, revoked ones too."""

    keys: list[KeyOut]
    """All of them"""


class Known(StrEnum):
    """How the best time of a kernel is known."""

    MEASURED = 'measured'
    EMULATED = 'emulated'
    PREDICTED = 'predicted'
    NONE = 'none'


class LookupBody(Model):
    """Which kernel is wanted: a whole problem on one device."""

    problem: ProblemBody
    """What to compute"""

    device: str = 'auto'
    """Device id, or auto for the best one here"""

    target: str | None = None
    """GPU whose kernels an emulating device runs; its default if left out"""

    tune: Tune = Tune.NEVER
    """When to queue a job: never; on_miss, where nothing of the problem is stored; on_stale, there too. Needs a key that may tune"""


class MissedBody(Model):
    """What becomes of due times that nothing handled in time, because no service ran."""

    policy: Literal['skip', 'once', 'all'] = 'skip'
    """skip: those more than misfire_grace_s ago get no run; once: one run makes up for all of them; all: each of the newest `most` gets a run, one after the other has ended"""

    most: int = 1
    """With all: most due times that get a run"""


class NewKeyOut(Model):
    """A key that was just made: the only answer that holds it."""

    id: UUID
    """Identifier"""

    name: str
    """Name for people"""

    prefix: str
    """What it begins with, after xetune_"""

    scope: Scope
    """read: look; tune: start and stop work too; admin: make keys and read the audit log too"""

    created_at: datetime
    """When it was made, UTC"""

    expires_at: datetime | None
    """When it stops working; null: never"""

    last_used_at: datetime | None
    """When it was used last, to the minute; null: never"""

    revoked_at: datetime | None
    """When it was revoked; null: it is not"""

    key: str | None
    """The key itself, for the header `Authorization: Bearer`; it cannot be shown again: null when the request is repeated"""


class PresetOut(Model):
    """A model whose layers can be tuned."""

    name: str
    """Its name"""

    source: str
    """Source of its sizes"""

    published: str
    """Date of publication"""

    layers: dict[str, tuple[int, int, int]]
    """N, K and how often each layer occurs in one pass"""


class PresetList(Model):
    """The models whose layers can be tuned; NAME@tokens=1,16 sets M, NAME@layers=qkv,down chooses layers."""

    presets: list[PresetOut]
    """By name"""


class Problem(Model):
    """What went wrong, as RFC 9457 has it, with the rule that refused."""

    type: str
    """Stable name of the kind of problem"""

    title: str
    """The kind in words"""

    status: int
    """HTTP status"""

    detail: str
    """What happened and what to change"""

    instance: str
    """Path of the request"""

    rule: str
    """Name of the rule that refused, of a malformed request that of its first fault; the kind where it has none"""

    errors: list[FieldError] | None = None
    """Every fault found"""

    next: list[NextRequest] | None = None
    """Requests that would help"""


class WorkerOut(Model):
    """What the leases of running jobs say of the workers."""

    running: int
    """Jobs with a live lease"""

    stale: int
    """Running jobs whose worker has been silent too long"""

    queued: int
    """Jobs that wait for a worker"""


class Readiness(Model):
    """The service can serve: the database is reachable and migrated. What else is missing is named."""

    status: Literal['ready', 'degraded']
    """ready: all is there; degraded: requests are served, but some check failed"""

    checks: list[CheckOut]
    """Each part that was looked at"""

    database: str
    """Revision the database is at"""

    confinement: ConfinementOut | None
    """What a process that compiles on request is held to; null: none starts"""

    workers: WorkerOut
    """Who works"""


class RecordedOut(Model):
    """A configuration of a recording. Its numbers are not proven here."""

    number: int
    """Place in the file, from 0"""

    config: Annotated[ConfigBody | dict[str, object], Field(union_mode="left_to_right")]
    """The configuration, whole"""

    status: str
    """measured, or how it failed"""

    time_us: float | None
    """Median, or what the file calls its time, in us"""

    min_us: float | None
    """Least sample, in us; null if not said"""

    p10_us: float | None
    """10th percentile, in us; null if not said"""

    p90_us: float | None
    """90th percentile, in us; null if not said"""

    samples: int | None
    """How many were timed; null if not said"""

    tried_at: datetime | None
    """When, UTC; null if not said"""

    reason: str | None = None
    """Why it has no time; null if it has one"""


class RecordingLine(Model):
    """A file that was imported: a problem on a device, measured elsewhere; no kernel is served from it."""

    id: UUID
    """Sorts by time of import"""

    problem: ProblemBody
    """What was computed, whole"""

    device: str
    """Id of the device"""

    named: str
    """What the file calls the device"""

    label: str
    """Of its times: native, or DPAS emulated"""

    origin: str
    """Where it is from"""

    format: str
    """Format of the file"""

    tried: int
    """Configurations in it"""

    timed: int
    """Those that have a time"""

    best_us: float | None
    """The least time, in us"""

    imported_at: datetime
    """When it came, UTC"""


class RecordingOut(Model):
    """A recording with its configurations, fastest first; those without a time come last."""

    id: UUID
    """Sorts by time of import"""

    problem: ProblemBody
    """What was computed, whole"""

    device: str
    """Id of the device"""

    named: str
    """What the file calls the device"""

    label: str
    """Of its times: native, or DPAS emulated"""

    origin: str
    """Where it is from"""

    format: str
    """Format of the file"""

    tried: int
    """Configurations in it"""

    timed: int
    """Those that have a time"""

    best_us: float | None
    """The least time, in us"""

    imported_at: datetime
    """When it came, UTC"""

    configurations: list[RecordedOut]
    """This page of them"""

    next_after: int | None
    """`after` of the next page; null on the last"""


class RecordingPage(Model):
    """Recordings, newest first."""

    recordings: list[RecordingLine]
    """This page"""

    next_before: UUID | None
    """`before` of the next page; null on the last"""


class ShapeBody(Model):
    """A problem of a set, and how often it occurs."""

    problem: ProblemBody
    """The problem"""

    weight: float = 1.0
    """Number of occurrences"""

    name: str = ''
    """Name"""


class SetBudgetBody(Model):
    """Budget of a set, over all its shapes."""

    trials: int | None = None
    """Most configurations tried; null: 25 for each shape"""

    seconds: float = 600.0
    """Wall time of all its runs, in s"""

    no_gain: int | None = None
    """A shape gets no more trials after this many in a row that gained less than 1 %"""


class ShapeSetBody(Model):
    """A shape set to tune under one budget: given by one of shapes, csv, text or preset."""

    device: str = 'auto'
    """Device id, or auto for the best one here"""

    target: str | None = None
    """GPU whose kernels an emulating device runs; its default if left out"""

    shapes: list[ShapeBody] | None = None
    """The shapes"""

    csv: str | None = None
    """A table with a header of m, n, k and optional fields"""

    text: str | None = None
    """Lines as m=1,16 n=4096 k=4096"""

    preset: str | None = None
    """Layers of a model: see /v1/shape-sets/presets"""

    common: CommonBody = Field(default_factory=CommonBody)
    """Defaults of the shapes"""

    budget: SetBudgetBody = Field(default_factory=SetBudgetBody)
    """When to stop"""

    within: float = 0.05
    """Largest slowdown of a shape under the fewest kernels, as a fraction"""

    seed: int = 0
    """Random seed"""

    reuse: bool = True
    """Reuse times that earlier jobs measured of the same kernels"""

    warm_start: bool = True
    """Start from the best configurations of other jobs too, not of the set alone"""

    search: Method = Method.PORTFOLIO
    """Search method of each shape, as of a job"""

    objective: Objective | None = None
    """Objective to minimize on each shape, as of a job: time, time-memory or time-energy; null: the default of the search"""


class StaleBody(Model):
    """Tune again what a change of driver, compiler, generator or model made stale."""

    devices: list[str] | None = None
    """Ids of devices whose results count; null: all"""

    most_jobs: int = 10
    """Most jobs of one run; the rest waits for the next"""

    budget: BudgetBody = Field(default_factory=BudgetBody)
    """When each job stops"""


class ScheduleBody(Model):
    """A schedule: exactly one of `job`, `shapes` and `stale`."""

    name: str
    """Unique name for people"""

    cron: str
    """minute hour day month weekday, as crontab has them (weekday 0 and 7 are Sunday)"""

    timezone: str = 'UTC'
    """IANA time zone the expression is read in"""

    hours: str | None = None
    """Hours of the day in which it may run, in the time zone; null: all"""

    job: JobBody | None = None
    """A job that each run queues"""

    shapes: ShapeSetBody | None = None
    """A set of shapes that each run asks for"""

    stale: StaleBody | None = None
    """Each run queues jobs for results that are stale"""

    missed: MissedBody = Field(default_factory=MissedBody)
    """What becomes of missed runs"""

    misfire_grace_s: int = 300
    """How late a run may be, in seconds, where missed ones are skipped; of several the latest runs"""


class ScheduleOut(Model):
    """A schedule, its next run and its last ones."""

    id: UUID
    """Identifier"""

    name: str
    """Unique name for people"""

    cron: str
    """minute hour day month weekday"""

    timezone: str
    """IANA time zone"""

    kind: Literal['job', 'shapes', 'stale']
    """Which of job, shapes and stale it starts"""

    missed: MissedBody
    """What becomes of missed runs"""

    misfire_grace_s: int
    """How late a run may be where missed ones are skipped, in seconds"""

    enabled: bool
    """False while paused"""

    created_at: datetime
    """When it was made, UTC"""

    fires: list[FireOut]
    """The last ten handled, newest first"""

    hours: str | None = None
    """Hours of the day in which it may run; null: all"""

    job: Annotated[JobBody | dict[str, object] | None, Field(union_mode="left_to_right")] = None
    """The job that each run queues; as stored when this version cannot read it, then runs are refused"""

    shapes: Annotated[ShapeSetBody | dict[str, object] | None, Field(union_mode="left_to_right")] = None
    """The set of shapes that each run asks for"""

    stale: Annotated[StaleBody | dict[str, object] | None, Field(union_mode="left_to_right")] = None
    """Which stale results each run tunes again"""

    next_due_at: datetime | None = None
    """The first due time that was not handled, UTC; null while paused"""


class ScheduleList(Model):
    """Every schedule, by name."""

    schedules: list[ScheduleOut]
    """All of them"""


class ShapeOut(Model):
    """One shape of a set: its job, its best time and that of the default."""

    name: str
    """Name; empty if it has none"""

    problem: ProblemBody
    """The problem"""

    weight: float
    """Number of occurrences, no unit"""

    job_id: UUID
    """The job that tunes it"""

    status: JobStatus
    """Of the job"""

    trials: int
    """Configurations tried"""

    default_us: float | None
    """Time of the heuristic's choice, in us"""

    tuned_us: float | None
    """Time of the best, in us"""

    gain: float | None
    """Speedup of the best over the default"""

    in_turns: bool
    """True if both were re-measured, interleaved, at the end"""

    error: str | None = None
    """Why the job failed"""

    evidence: Evidence | None = None
    """Of the best trial; null before any"""


class ShapeSetLine(Model):
    """A set of shapes in a list."""

    id: UUID
    """Sorts by time of creation"""

    source: str
    """Source of the shapes"""

    status: str
    """active, succeeded or cancelled"""

    device: str
    """Device id"""

    shapes: int
    """Number of shapes"""

    created_at: datetime
    """When it was made, UTC"""


class ShapeSetOut(Model):
    """A set of shapes, tuned under one budget."""

    id: UUID
    """Sorts by time of creation"""

    source: str
    """Source of the shapes"""

    status: Literal['active', 'succeeded', 'cancelled']
    """Status of the set"""

    running: bool
    """True while a process runs it"""

    search: Method
    """Search method"""

    reuse: bool
    """True if stored times are reused"""

    warm_start: bool
    """True if it starts from configurations of other jobs"""

    device: str
    """Device id"""

    budget: BudgetBody
    """Over all shapes"""

    seed: int
    """Random seed"""

    spent_s: float
    """Wall time of all runs, in seconds"""

    trials: int
    """Configurations tried, on all shapes"""

    compiled: int
    """Kernels that were compiled"""

    reused: int
    """Compilations that were cache hits"""

    default_us: float | None
    """Weighted time of the shapes that have one, with the defaults, in us"""

    tuned_us: float | None
    """The same with the best of each, in us"""

    shapes: list[ShapeOut]
    """In the order of the source"""

    created_at: datetime
    """When it was made, UTC"""

    error: str | None = None
    """Why it ended without a result; null if it did not"""

    objective: Objective | None = None
    """Objective to minimize"""

    across: int = 0
    """Trials among these of other shapes' kernels, after the search and beyond the budget"""

    cover: CoverOut | None = None
    """The fewest kernels; null before kernels were compared across shapes"""

    finished_at: datetime | None = None
    """When it ended, UTC"""


class ShapeSetPage(Model):
    """Sets of shapes, newest first."""

    shape_sets: list[ShapeSetLine]
    """The page"""

    next_before: UUID | None
    """`before` of the next page; null on the last"""


class TrialPage(Model):
    """Some trials of a job, in order of number."""

    trials: list[TrialOut]
    """This page"""

    next_after: int | None = None
    """Pass as `after` for the next page; null on the last"""
