"""What is legal: one named function a rule, with the message a user sees.

A rule returns why it refuses, or None. Its name is the function's, with dashes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codegen.config import KernelConfig, PrefetchLevels, SlmOperands, SplitK
from codegen.errors import Refused
from codegen.problem import DType, GemmProblem
from codegen.target import LARGE_GRF, SUBGROUP_SIZE, Target, target_of
from hal import DeviceSpec

_MAX_PREFETCH_DISTANCE = 8
_MAX_SURFACE_BYTES = 2**24  # width and pitch of a 2-D block surface; source: cl_intel_subgroup_2d_block_io
_SURFACE_WIDTH_MULTIPLE_BYTES = 4  # same source
_MAX_MATRIX_BYTES = 2**36
_RESERVED_REGISTERS = 16  # addresses, payloads and loop state


@dataclass(frozen=True, slots=True)
class _Case:
    problem: GemmProblem
    config: KernelConfig
    target: Target
    spec: DeviceSpec


def ceil_div(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


# Problems


def dtype_pair(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Inputs of one 16-bit floating type, accumulated in f32, stored as f32 or the input type."""
    inputs = (problem.dtype_a, problem.dtype_b)
    if inputs not in ((DType.F16, DType.F16), (DType.BF16, DType.BF16)):
        return f"inputs must be both f16 or both bf16, got {inputs[0].value} and {inputs[1].value}"
    if problem.dtype_acc is not DType.F32:
        return f"the accumulator must be f32, got {problem.dtype_acc.value}"
    if problem.dtype_c not in (DType.F32, problem.dtype_a):
        return f"the output must be f32 or {problem.dtype_a.value}, got {problem.dtype_c.value}"
    return None


def row_major(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """No transposed operand."""
    if problem.transpose_a or problem.transpose_b:
        return "transposed A or B is not built yet; store both row-major"
    return None


def single_matrix(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """No batch."""
    return f"a batch is not built yet, got {problem.batch}; use 1" if problem.batch != 1 else None


def static_sizes(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Sizes known at compile time."""
    return "dynamic sizes are not built yet; compile one kernel for each size" if problem.dynamic else None


def plain_epilogue(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """No epilogue beyond conversion to the output type."""
    if problem.epilogue:
        return f"epilogue steps are not built yet, got {', '.join(s.kind.value for s in problem.epilogue)}"
    return None


def block2d_pitch(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Rows start at multiples of what 2-D block messages need."""
    multiple = target_of(spec).block2d_pitch_multiple_bytes
    for name, option, pitch, dtype in _pitches(problem):
        if pitch * dtype.nbytes % multiple:
            step = multiple // dtype.nbytes
            return (
                f"rows of {name} are {pitch} elements = {pitch * dtype.nbytes} bytes apart; 2-D block messages need a "
                f"multiple of {multiple} bytes: pad the rows and set {option} to {ceil_div(pitch, step) * step}"
            )
        if pitch * dtype.nbytes > _MAX_SURFACE_BYTES:
            return f"rows of {name} are {pitch * dtype.nbytes} bytes apart; the hardware allows {_MAX_SURFACE_BYTES}"
    return None


def block2d_width(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Rows are as long as 2-D block messages need."""
    least = target_of(spec).block2d_min_width_bytes
    for name, row, dtype in (
        ("A", problem.row_a, problem.dtype_a),
        ("B", problem.row_b, problem.dtype_b),
        ("C", problem.n, problem.dtype_c),
    ):
        if row * dtype.nbytes < least:
            return (
                f"rows of {name} are {row} elements = {row * dtype.nbytes} bytes long; 2-D block messages need at "
                f"least {least}: pad to {least // dtype.nbytes} elements with zeros"
            )
        if row * dtype.nbytes % _SURFACE_WIDTH_MULTIPLE_BYTES:
            return (
                f"rows of {name} are {row} elements = {row * dtype.nbytes} bytes long; 2-D block messages need a "
                f"multiple of {_SURFACE_WIDTH_MULTIPLE_BYTES}: pad to {row + 1} elements with zeros"
            )
    return None


def block2d_base(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Matrices start where 2-D block messages can."""
    least = target_of(spec).block2d_base_alignment_bytes
    if problem.alignment < least:
        return f"matrices are aligned to {problem.alignment} bytes; 2-D block messages need {least}"
    return None


def memory(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """A, B and C fit in the device's memory."""
    need = (
        problem.rows_a * problem.pitch_a * problem.dtype_a.nbytes
        + problem.rows_b * problem.pitch_b * problem.dtype_b.nbytes
        + problem.m * problem.pitch_c * problem.dtype_c.nbytes
    )
    have = min(spec.memory_bytes or _MAX_MATRIX_BYTES, _MAX_MATRIX_BYTES)
    if need > have:
        return f"A, B and C need {need / 2**30:.1f} GiB; {spec.name} can hold {have / 2**30:.1f} GiB"
    return None


# Configurations


def threads_cover(case: _Case) -> str | None:
    """One work-group for each tile of C, and no split of K."""
    threads, block, p = case.config.matmul.threads, case.config.matmul.block, case.problem
    tiles = (ceil_div(p.m, block.m), ceil_div(p.n, block.n))
    if (threads.m, threads.n) != tiles:
        return (
            f"threads m x n must be the tiles of C, {tiles[0]}x{tiles[1]} for blocks of {block.m}x{block.n}, "
            f"got {threads.m}x{threads.n}: work-groups that loop over tiles are not built yet"
        )
    return None


def split_k(case: _Case) -> str | None:
    """No split of K."""
    if case.config.matmul.threads.k != 1 or case.config.strategy.split_k is not SplitK.NONE:
        return (
            f"a split of K is not built yet; set threads k to 1 and split_k to none, got {case.config.matmul.threads.k}"
        )
    return None


def strategy_built(case: _Case) -> str | None:
    """Only strategies that are built."""
    s = case.config.strategy
    if s.slm is not SlmOperands.NONE or s.slm_stages:
        return "staging through shared local memory is not built yet; set slm to none and slm_stages to 0"
    if s.barrier_every:
        return "barriers in the K loop are not built yet; set barrier_every to 0"
    if s.raster_group != 1:
        return "grouped raster is not built yet; set raster_group to 1"
    if s.pipelined_registers:
        return "register pipelining is not built yet; set pipelined_registers to false"
    if s.prefetch.levels is PrefetchLevels.L2_L1:
        return "prefetch through L2 is not built yet; set prefetch levels to l1"
    return None


def prefetch_distance(case: _Case) -> str | None:
    """Prefetch at most a few K steps ahead."""
    distance = case.config.strategy.prefetch.distance
    if distance > _MAX_PREFETCH_DISTANCE:
        return f"prefetch distance must be at most {_MAX_PREFETCH_DISTANCE} K steps, got {distance}"
    return None


def subgroups_divide_block(case: _Case) -> str | None:
    """Sub-groups share the block evenly."""
    block, layout = case.config.matmul.block, case.config.strategy.sg_layout
    if block.m % layout[0] or block.n % layout[1]:
        return f"block {block.m}x{block.n} does not divide over sg_layout {layout[0]}x{layout[1]}"
    return None


def dpas_shape(case: _Case) -> str | None:
    """Sub-group tiles and the K step are multiples of the DPAS shape."""
    c, t = case.config, case.target
    dpas_k = t.dpas_k_bytes // case.problem.dtype_a.nbytes
    if c.sg_m % t.dpas_m or c.sg_n % t.dpas_n or c.matmul.block.k % dpas_k:
        return (
            f"sub-group tile and K step must be multiples of the DPAS shape {t.dpas_m}x{t.dpas_n}x{dpas_k}, "
            f"got {c.sg_m}x{c.sg_n}x{c.matmul.block.k}"
        )
    return None


def load_block_a(case: _Case) -> str | None:
    """Innermost m x k is a 2-D block of A that the hardware loads."""
    inner = case.config.matmul.innermost
    return _load_block("A", "m", "k", inner.m, inner.k, case.config.sg_m, case, dpas_rows=case.target.dpas_m)


def load_block_b(case: _Case) -> str | None:
    """Innermost k x n is a 2-D block of B that the hardware loads."""
    inner, t = case.config.matmul.innermost, case.target
    dpas_k = t.dpas_k_bytes // case.problem.dtype_b.nbytes
    return _load_block("B", "k", "n", inner.k, inner.n, case.config.matmul.block.k, case, dpas_rows=dpas_k)


def workgroup_size(case: _Case) -> str | None:
    """The work-group fits the device."""
    size, most = case.config.subgroups * SUBGROUP_SIZE, case.spec.max_workgroup_size
    if most is not None and size > most:
        return f"{case.config.subgroups} sub-groups are {size} work-items; {case.spec.name} allows {most}"
    return None


def resident_subgroups(case: _Case) -> str | None:
    """A work-group's sub-groups are hardware threads of one Xe core in the chosen GRF mode."""
    s = case.spec
    if s.eus_per_core is None or s.threads_per_eu is None or s.threads_per_eu_large_grf is None:
        return None
    # An EU's registers are shared out: half as many a thread, twice as many threads, up to what it has.
    per_eu = min(s.threads_per_eu, s.threads_per_eu_large_grf * LARGE_GRF // case.config.strategy.grf_mode)
    if case.config.subgroups > s.eus_per_core * per_eu:
        return (
            f"{case.config.subgroups} sub-groups do not fit one Xe core with {case.config.strategy.grf_mode} "
            f"registers a thread; {s.name} has {s.eus_per_core * per_eu} such threads"
        )
    return None


def grf_mode(case: _Case) -> str | None:
    """The device has the GRF mode."""
    mode, modes = case.config.strategy.grf_mode, case.target.grf_modes
    return None if mode in modes else f"grf_mode must be one of {list(modes)}, got {mode}"


def registers(case: _Case) -> str | None:
    """Accumulator and one load block deep of A and B fit the registers."""
    c, p, t = case.config, case.problem, case.target
    k = c.matmul.innermost.k
    accumulator = c.sg_m * c.sg_n * p.dtype_acc.nbytes
    operands = c.sg_m * k * p.dtype_a.nbytes + k * c.sg_n * p.dtype_b.nbytes
    have = (c.strategy.grf_mode - _RESERVED_REGISTERS) * t.grf_bytes
    if accumulator + operands > have:
        return (
            f"sub-group tile {c.sg_m}x{c.sg_n} needs {accumulator} bytes of accumulator and {operands} of operands; "
            f"{c.strategy.grf_mode} registers leave {have}"
        )
    return None


def _load_block(
    name: str, row_axis: str, column_axis: str, rows: int, columns: int, tile_rows: int, case: _Case, dpas_rows: int
) -> str | None:
    t, nbytes = case.target, case.problem.dtype_a.nbytes
    widest = t.block2d_max_width_bytes // nbytes
    tile_columns = case.config.matmul.block.k if name == "A" else case.config.sg_n
    dpas_columns = t.dpas_k_bytes // nbytes if name == "A" else t.dpas_n
    what = f"innermost {row_axis} x {column_axis} ({name}'s load block)"
    if rows > t.block2d_max_rows or columns > widest:
        return f"{what} must be at most {t.block2d_max_rows}x{widest}, got {rows}x{columns}"
    if rows % dpas_rows or columns % dpas_columns:
        return f"{what} must be a multiple of {dpas_rows}x{dpas_columns}, got {rows}x{columns}"
    if tile_rows % rows or tile_columns % columns or rows & (rows - 1) or columns & (columns - 1):
        return (
            f"{what} must be powers of two that divide the sub-group's {tile_rows}x{tile_columns}, got {rows}x{columns}"
        )
    return None


def _pitches(problem: GemmProblem) -> Iterator[tuple[str, str, int, DType]]:
    yield "A", "lda", problem.pitch_a, problem.dtype_a
    yield "B", "ldb", problem.pitch_b, problem.dtype_b
    yield "C", "ldc", problem.pitch_c, problem.dtype_c


PROBLEM_RULES: tuple[Callable[[GemmProblem, DeviceSpec], str | None], ...] = (
    dtype_pair,
    row_major,
    single_matrix,
    static_sizes,
    plain_epilogue,
    block2d_pitch,
    block2d_width,
    block2d_base,
    memory,
)

CONFIG_RULES: tuple[Callable[[_Case], str | None], ...] = (
    split_k,
    strategy_built,
    prefetch_distance,
    grf_mode,
    subgroups_divide_block,
    dpas_shape,
    load_block_a,
    load_block_b,
    workgroup_size,
    resident_subgroups,
    registers,
    threads_cover,
)


def rule_name(rule: Callable[..., str | None]) -> str:
    """The name a user sees."""
    return rule.__name__.replace("_", "-")


def check_problem(problem: GemmProblem, spec: DeviceSpec) -> None:
    """Check what concerns the problem and the device alone.

    Raises:
        Refused: the first rule that refuses; its message tells of the others too.
    """
    target_of(spec)
    refusals = [(rule_name(rule), why) for rule in PROBLEM_RULES if (why := rule(problem, spec)) is not None]
    if refusals:
        first, *others = refusals
        raise Refused(first[0], "; ".join([first[1], *(f"also {name}: {why}" for name, why in others)]))


def config_refusal(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec, target: Target) -> Refused | None:
    """The first rule that refuses the configuration of a problem that passed `check_problem`."""
    case = _Case(problem, config, target, spec)
    for rule in CONFIG_RULES:
        if (why := rule(case)) is not None:
            return Refused(rule_name(rule), why)
    return None


def violations(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> list[Refused]:
    """Every rule about the configuration that refuses, in order.

    Raises:
        Refused: the problem or the device is refused already.
    """
    check_problem(problem, spec)
    case = _Case(problem, config, target_of(spec), spec)
    return [Refused(rule_name(rule), why) for rule in CONFIG_RULES if (why := rule(case)) is not None]


def check(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> None:
    """Check everything.

    Raises:
        Refused: the first rule that refuses.
    """
    check_problem(problem, spec)
    if (refusal := config_refusal(problem, config, spec, target_of(spec))) is not None:
        raise refusal
