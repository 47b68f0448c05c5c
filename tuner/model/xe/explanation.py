"""Performance breakdown of a predicted time."""

from dataclasses import dataclass

from codegen import GemmProblem, XeConfig
from hal import DeviceSpec
from tuner.model.xe.columns import columns_of
from tuner.model.xe.device import Case, case_of
from tuner.model.xe.fetch import fetch_of
from tuner.model.xe.l2 import L2Size
from tuner.model.xe.memory import memory_bytes
from tuner.model.xe.prediction import PARTS, predict_many, prepared
from tuner.model.xe.registers import needed_registers, spilled_registers
from tuner.model.xe.work import work_of
from tuner.session.trial import Prediction

_WHAT = {
    "multiply": "multiply instructions",
    "l1": "operands into registers",
    "l2": "tiles out of L2 to the cores",
    "instructions": "addresses, moves, sends",
    "spills": "registers kept in memory",
    "latency": "one thread, waiting for loads",
    "tiles": "first loads, and stores of C",
    "memory": "bytes over the memory bus",
    "kernels": "operands prepared, splits or reductions summed",
    "launch": "start of the launch",
}


@dataclass(frozen=True, slots=True)
class PartTime:
    """Time of one part alone, in microseconds."""

    name: str
    time_us: float
    what: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A level of the memory: its rate, the GEMM's intensity there, and the resulting bound on throughput."""

    level: str
    gbytes_per_s: float
    flops_per_byte: float

    @property
    def tflops(self) -> float:
        """Bound on throughput by this level."""
        return self.gbytes_per_s * self.flops_per_byte / 1e3


@dataclass(frozen=True, slots=True)
class Explanation:
    """A performance breakdown of a prediction. `bound_by` is the longest part; parts overlap, so they do not add up.

    `busy` is the occupied share of the cores' work-group slots, 1 without a tail. `waves` is the number of
    rounds of work-groups on the busiest core. `memory_bytes` cross the memory bus; `least_bytes` is the
    minimum, with nothing read twice. `l2` is the size of L2, or the range that is assumed.
    """

    prediction: Prediction
    parts: tuple[PartTime, ...]
    bound_by: str
    tflops: float
    peak_tflops: float
    ceilings: tuple[Ceiling, ...]
    work_groups: int
    groups_per_core: int
    threads_per_engine: int
    waves: int
    busy: float
    memory_bytes: int
    least_bytes: int
    registers_needed: int
    registers: int
    registers_spilled: int
    l2: L2Size


def explain(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> Explanation:
    """Return the performance breakdown of a configuration.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    columns = columns_of([config])
    on, predicted = prepared(case_of(problem, spec), columns), predict_many(problem, columns, spec)
    work = work_of(on, columns)
    prediction = predicted.at(0)
    parts = tuple(PartTime(name, float(predicted.parts[name][0]), _WHAT[name]) for name in PARTS)
    waves = int(work.rounds[0] + (work.left[0] > 0))
    places = on.cores * (work.rounds * work.resident + work.left)
    fetch = fetch_of(on, columns, work)
    steps = float((work.groups * work.turns * work.steps)[0])
    near, far = float(fetch.near_bytes[0]) * steps, float(fetch.far_bytes[0]) * steps
    moved = float(memory_bytes(on, columns, work)[0])
    return Explanation(
        prediction=prediction,
        parts=parts,
        bound_by=max(parts, key=lambda part: part.time_us).name,
        tflops=problem.flops / prediction.time_us / 1e6,
        peak_tflops=on.peak_flops_per_us / 1e6,
        ceilings=_ceilings(on, near, far, moved),
        work_groups=int(work.groups[0]),
        groups_per_core=int(work.resident[0]),
        threads_per_engine=int(work.threads_per_engine[0]),
        waves=waves,
        busy=float((work.groups / places)[0]),
        memory_bytes=round(moved),
        least_bytes=sum(problem.accessed_bytes(o) * (1 + (o.role == "inout")) for o in problem.operands),
        registers_needed=round(float(needed_registers(on, columns)[0])),
        registers=config.strategy.grf_mode,
        registers_spilled=round(float(spilled_registers(on, columns)[0])),
        l2=on.l2,
    )


def _ceilings(on: Case, near: float, far: float, memory: float) -> tuple[Ceiling, ...]:
    k, clocks_per_ns, flops = on.constants, on.clock_mhz / 1e3, on.problem.flops
    l1 = on.l1_bytes_per_clk * on.cores * clocks_per_ns
    l2 = k.l2_bytes_per_clk_per_core * on.cores * clocks_per_ns
    return (
        Ceiling("L1", l1, flops / near),
        Ceiling("L2", l2, flops / far),
        Ceiling("memory", on.bytes_per_us / 1e3, flops / memory),
    )
