"""Clocks of a K step from the pipeline model of a configuration's machine code."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen import GemmProblem, XeConfig
from codegen.xe.machine.pipeline import PipelineReport
from hal import DeviceSpec
from tuner.model.xe.columns import Column
from tuner.model.xe.device import case_of

_DPAS_ROWS = 8


@dataclass(frozen=True, slots=True)
class StepClocks:
    """Clocks of a K step of each thread of an engine, by the number of threads."""

    by_threads: Mapping[int, float]

    def at(self, threads: Column) -> Column:
        """Return the clocks for numbers of threads, interpolated; more than known run one after the other."""
        numbers = np.array([0, *sorted(self.by_threads)], dtype=np.float64)
        clocks = np.array([0.0, *(self.by_threads[int(n)] for n in numbers[1:])])
        most = numbers[-1]
        return np.interp(np.minimum(threads, most), numbers, clocks) * np.maximum(1, threads / most)


def step_clocks(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, report: PipelineReport) -> StepClocks:
    """Return the clocks of a K step of a configuration from the report on its machine code.

    The compiler unrolls the loop: an iteration has the K steps that its DPAS are.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    on = case_of(problem, spec)
    rows, columns = -(-config.sg_m // _DPAS_ROWS), -(-config.sg_n // on.dpas_n)
    steps = report.dpas / (rows * columns * problem.products * config.matmul.block.k / on.dpas_k)
    return StepClocks({threads: clocks / steps for threads, clocks in report.by_threads.items()})
