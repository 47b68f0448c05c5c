"""Predicted time of configurations: time of the busiest core, of memory, and of further kernels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen import EpilogueKind, GemmProblem, WorkspaceOperands, XeConfig
from codegen.problem.gemm import SCALE_B, ZERO_B, Operand
from codegen.xe.prepare import is_decoded, multiplied, prepared_operands
from hal import DeviceSpec
from tuner.model.resolution import RESOLUTION
from tuner.model.xe.burden import MOST, burden
from tuner.model.xe.columns import Column, Columns, columns_of
from tuner.model.xe.constants import Constants
from tuner.model.xe.core import CoreTime, core_time
from tuner.model.xe.device import Case, case_of
from tuner.model.xe.fetch import conversion_of, fetch_of
from tuner.model.xe.l2 import L2Size, model_of
from tuner.model.xe.machine_code import StepClocks
from tuner.model.xe.memory import input_bytes, output_bytes
from tuner.model.xe.work import Work, work_of
from tuner.session.trial import Prediction

PARTS = ("multiply", "l1", "l2", "instructions", "spills", "latency", "tiles", "memory", "kernels", "launch")
"""Parts of the time; all but the last two overlap."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """Times in microseconds by the `model`, one for each configuration; `parts` are the times of each part alone.

    Of times that the model cannot tell apart, the configuration with the least `burden` is preferred. `shared_us` of
    the width of each interval is launch overhead, the same for all configurations.
    """

    model: str
    time_us: Column
    low_us: Column
    high_us: Column
    burden: Column
    parts: Mapping[str, Column]
    shared_us: float

    def __len__(self) -> int:
        return len(self.time_us)

    def at(self, index: int) -> Prediction:
        """Return one of them, in the form that trials store."""
        time_us, low_us, high_us, burdens = (
            float(each[index]) for each in (self.time_us, self.low_us, self.high_us, self.burden)
        )
        return Prediction(time_us, low_us, high_us, self.model, burdens)

    @property
    def ranked_us(self) -> Column:
        """Times to rank by: the burden adds up to the model's resolution."""
        return self.time_us * RESOLUTION ** (self.burden / MOST)

    @property
    def order(self) -> "np.typing.NDArray[np.intp]":
        """Indices of the configurations, the fastest first."""
        return np.argsort(self.time_us, kind="stable")


def predict(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, known: StepClocks | None = None) -> Prediction:
    """Return the predicted time of one configuration, from the `known` clocks of its machine code if given.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    return predict_many(problem, columns_of([config]), spec, known=known).at(0)


def predict_many(
    problem: GemmProblem,
    columns: Columns,
    spec: DeviceSpec,
    constants: Constants | None = None,
    known: StepClocks | None = None,
) -> Predictions:
    """Return the predicted times of legal configurations. Constants are those of the table unless they are given.

    `known` are the clocks of the machine code of a single configuration.

    Where the size of L2 is unknown, the intervals cover its plausible range.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    on = case_of(problem, spec, constants)
    ways = columns.workspace_a + 2 * columns.workspace_b
    if not ways.any():
        return _of_way(on, columns, spec, known)
    found: dict[float, Predictions] = {}
    for way in np.unique(ways).tolist():
        these = columns.at(np.flatnonzero(ways == way))
        found[way] = _of_way(prepared(on, these), these, spec, known)
    return _merged(ways, found)


def prepared(on: Case, columns: Columns) -> Case:
    """Return a problem of which the operands are prepared that all of these configurations prepare."""
    which = WorkspaceOperands.of(bool(columns.workspace_a.all()), bool(columns.workspace_b.all()))
    return replace(
        on,
        problem=multiplied(on.given, which),
        workspace=which,
        lanes_a=on.lanes_a and not which.has_a,
        lanes_b=on.lanes_b and not which.has_b,
    )


def _merged(ways: Column, found: Mapping[float, Predictions]) -> Predictions:
    """Return the predictions of all configurations in order, from those of each way."""
    if len(found) == 1:
        return next(iter(found.values()))

    def joined(of: Callable[[Predictions], Column]) -> Column:
        column = np.empty(len(ways))
        for way, predictions in found.items():
            column[ways == way] = of(predictions)
        return column

    one = next(iter(found.values()))
    return Predictions(
        one.model,
        joined(lambda p: p.time_us),
        joined(lambda p: p.low_us),
        joined(lambda p: p.high_us),
        joined(lambda p: p.burden),
        {name: joined(lambda p, name=name: p.parts[name]) for name in one.parts},
        one.shared_us,
    )


def _of_way(on: Case, columns: Columns, spec: DeviceSpec, known: StepClocks | None) -> Predictions:
    work = work_of(on, columns)
    core, model = core_time(on, columns, work, known), model_of(spec)
    likely = _predictions(on, columns, work, core, model)
    if not on.l2.is_assumed:
        return likely
    ends = (_predictions(_with_l2(on, size), columns, work, core, model) for size in (on.l2.least, on.l2.most))
    slow, fast = ends
    return replace(likely, low_us=fast.low_us, high_us=slow.high_us)


def _with_l2(on: Case, size: int) -> Case:
    return replace(on, l2=L2Size(size, size, size))


def _predictions(on: Case, c: Columns, work: Work, core: CoreTime, model: str) -> Predictions:
    k = on.constants
    inputs_us, outputs_us = input_bytes(on, c, work) / on.bytes_per_us, output_bytes(on) / on.bytes_per_us
    core_us = core.total / on.clock_mhz
    # The larger the multiplying share of a core's time, and the longer it runs, the lower the clock that power allows.
    busy = core.multiply / core.total * on.problem.flops / (on.problem.flops + k.power_flops)
    core_us = core_us * (1 + on.power_slowdown * busy)
    loops_us = (core_us**k.memory_overlap + inputs_us**k.memory_overlap) ** (1 / k.memory_overlap)
    tiles_us = np.maximum(core.tiles / on.clock_mhz, outputs_us)
    kernels_us = _kernels_us(on, c)
    work_us = np.maximum(_overlapped(loops_us, tiles_us, work.resident), inputs_us + outputs_us) + kernels_us
    unjudged = _unjudged(on, c, work)
    interval = k.interval * np.where(unjudged, k.unjudged, 1.0) * (1.0 if on.is_fitted else k.unjudged)
    parts = {name: getattr(core, name) / on.clock_mhz for name in PARTS[:7]}
    parts |= {"memory": inputs_us + outputs_us, "kernels": kernels_us, "launch": np.full(len(c), k.launch_us)}
    burdens = burden(on, c, work, fetch_of(on, c, work), unjudged.astype(np.float64))
    low_us, high_us = work_us / interval + k.least_launch_us, work_us * interval + k.most_launch_us
    shared_us = k.most_launch_us - k.least_launch_us
    return Predictions(model, work_us + k.launch_us, low_us, high_us, burdens, parts, shared_us)


def _overlapped(loops: Column, tiles: Column, resident: Column) -> Column:
    """Return the time of K loops and of what is outside of them: a pipeline of two stages for as many work-groups as
    share a core. A work-group alone does one after the other; of several, one stores while the others multiply.
    """
    return np.maximum(loops, tiles) + np.minimum(loops, tiles) / resident


def _kernels_us(on: Case, c: Columns) -> Column:
    """Return the time of kernels besides the multiply: preparing operands, clearing or adding splits of K, and the sums
    of reductions.
    """
    p, k = on.problem, on.constants
    c_bytes = p.batch * p.m * p.n * p.dtype_acc.nbytes
    sums = c_bytes * p.products
    l2_us = k.l2_bytes_per_clk_per_core * on.cores * on.clock_mhz
    stored = sums * c.splits
    rate = np.where(stored <= k.cached * on.l2.likely, l2_us, on.bytes_per_us)
    partial_us = 2 * stored / rate + k.next_kernel_us
    atomic_us = (k.atomic_cost * stored + c_bytes) / l2_us + k.next_kernel_us
    reductions = sum(step.kind is EpilogueKind.REDUCE for step in p.epilogue)
    return _prepare_us(on) + c.partial_sums * partial_us + c.atomic * atomic_us + reductions * k.next_kernel_us


def _prepare_us(on: Case) -> float:
    """Return the time of the kernels that copy operands for block messages, element by element, and decode weights."""
    found = 0.0
    for operand in prepared_operands(on.given, on.workspace):
        (made,) = (o for o in on.problem.operands if o.name == operand.name)
        found += _decode_us(on, made) if is_decoded(on.given, operand) else _copy_us(on, operand)
    return found


def _copy_us(on: Case, operand: Operand) -> float:
    nbytes = on.given.accessed_bytes(operand)
    return _kernel_us(on, 2 * nbytes, nbytes * on.constants.copied_instructions)


def _decode_us(on: Case, made: Operand) -> float:
    """Return the time of the kernel that reads weights, with scales and zero points, and writes `made`."""
    read = sum(on.given.accessed_bytes(o) for o in on.given.operands if o.name in ("B", SCALE_B, ZERO_B))
    nbytes = on.problem.accessed_bytes(made)
    conversions = on.register_bytes / made.dtype.nbytes / on.dpas_n * conversion_of(on.given)
    return _kernel_us(on, read + nbytes, nbytes * (on.constants.decoded_instructions + conversions))


def _kernel_us(on: Case, moved: int, instructions: float) -> float:
    """Return the time of a kernel that moves bytes, with that many instructions for all bytes of its registers."""
    k = on.constants
    l2_us = k.l2_bytes_per_clk_per_core * on.cores * on.clock_mhz
    rate = l2_us if moved <= k.cached * on.l2.likely else on.bytes_per_us
    issue_us = instructions / on.register_bytes / (on.engines * on.cores * on.clock_mhz)
    return max(moved / rate, issue_us) + k.next_kernel_us


def _unjudged(on: Case, c: Columns, work: Work) -> "np.typing.NDArray[np.bool_]":
    """Return whether a configuration uses features that no public measurement covers."""
    p = on.problem
    steps = bool(p.epilogue or p.gate)
    problem = (
        on.lanes_a
        or on.lanes_b
        or on.workspace is not WorkspaceOperands.NONE
        or not on.uses_dpas
        or p.transpose_a
        or p.transpose_b
        or steps
    )
    return (
        problem
        | (c.pipelined > 0)
        | (c.splits > 1)
        | (work.turns > 1)
        | (c.barrier_every > 0)
        | (c.stages > 0)
        | (c.k_subgroups > 1)
    )
