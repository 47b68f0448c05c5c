"""Candidates compile while another one is measured, but not on the CPU that measures."""

from dataclasses import dataclass, field
from typing import cast

import pytest

from codegen import CompileFailed, DType, GemmProblem, KernelConfig
from hal import Buffer, DeviceSpec, LaunchSpec, RunReport, Timing
from tests.tuner.fakes import SMALL, FakeCompilation, FakeCompiler, FakeDevice, cpu_spec, emulated
from tuner.measure.isa_check import (
    Examining,
    Quiet,
)
from tuner.search.compile_queue import CompileQueue
from tuner.search.proposal import Proposal
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session

CPU_PROBLEM = GemmProblem(40, 96, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)


def _queue(quiet: bool, left: int = 7) -> tuple[CompileQueue, list[int]]:
    """Proposes the numbers 0, 1, ... as configurations; keeps which began to compile."""
    numbers, begun = iter(range(left)), []

    def compile(config: KernelConfig) -> Examining:
        begun.append(config)
        return cast("Examining", config)

    def propose() -> Proposal[KernelConfig] | None:
        number = next(numbers, None)
        return Proposal(cast("KernelConfig", number), "test") if number is not None else None

    return CompileQueue(propose, compile, 3, quiet), begun


def test_others_compile_while_one_is_measured() -> None:
    queue, begun = _queue(quiet=False)
    assert queue.next(9) == (Proposal(0, "test"), 0)
    queue.fill(2)
    assert begun == [0, 1, 2]
    assert queue.next(9) == (Proposal(1, "test"), 1)
    queue.fill(9)
    assert begun == [0, 1, 2, 3, 4]


def test_on_the_cpu_that_measures_candidates_compile_together_and_then_none() -> None:
    queue, begun = _queue(quiet=True)
    for number in range(7):
        candidate = queue.next(9)
        queue.fill(9)
        together = 3 * (number // 3 + 1)
        others = cast("tuple[Examining, ...]", tuple(range(number + 1, min(together, 7))))
        assert candidate == (Proposal(number, "test"), Quiet(cast("Examining", number), others))
        assert len(begun) == min(together, 7)
    assert queue.next(9) is None


def test_no_more_candidates_compile_than_are_left_to_try() -> None:
    queue, begun = _queue(quiet=True)
    queue.next(2)
    assert begun == [0, 1]


@dataclass
class Heard:
    """A compilation that keeps that it was waited for."""

    error: CompileFailed | None = None
    waited: bool = False
    cancelled: bool = False

    def result(self) -> None:
        self.waited = True
        if self.error is not None:
            raise self.error

    def cancel(self) -> None:
        self.cancelled = True


def test_a_quiet_candidate_is_there_when_the_others_have_ended_whatever_became_of_them() -> None:
    wanted, failed, other = Heard(), Heard(CompileFailed("llvm", "x")), Heard()
    quiet = Quiet(cast("Examining", wanted), cast("tuple[Examining, ...]", (failed, other)))
    quiet.result()
    assert wanted.waited
    assert other.waited
    quiet.cancel()
    assert wanted.cancelled
    assert failed.cancelled
    assert other.cancelled
    with pytest.raises(CompileFailed):
        Quiet(cast("Examining", failed), ()).result()


@dataclass
class HeardCompiler(FakeCompiler):
    """Counts compilations that nobody waited for."""

    waiting: set[int] = field(default_factory=set)

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> FakeCompilation:
        made = super().compile(problem, config, spec)
        self.waiting.add(id(made))
        result = made.result

        def waited() -> object:
            self.waiting.discard(id(made))
            return result()

        made.result = waited  # pyright: ignore[reportAttributeAccessIssue]
        return made


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.slow
def test_a_session_measures_on_its_cpu_while_nothing_compiles(native: bool) -> None:
    problem, spec = (CPU_PROBLEM, cpu_spec()) if native else (SMALL, emulated())
    pool, beside = HeardCompiler(), []

    class Device(FakeDevice):
        def run(
            self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
        ) -> RunReport:
            beside.append(len(pool.waiting))
            return super().run(launch, buffers, timing, timeout_s)

    run_session(
        JobSpec(problem=problem, device=spec, budget=Budget(8, 100.0), seed=3),
        Device(problem, spec),
        MemoryTrialStore(),
        pool,
    )
    assert (max(beside) == 0) is native
