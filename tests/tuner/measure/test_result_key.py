"""A time holds for what ran: the key says all parts, and another name or generator of the same code changes no run."""

from dataclasses import replace

import pytest

from codegen import AnyArtifact, CpuArtifact, StageOutput
from codegen.backend import backend_of
from codegen.problem.gemm import GemmProblem
from hal import DeviceSpec, LaunchStep, find
from tests.conformance.trial_samples import artifact
from tests.tuner.fakes import artifact_of, cpu_spec
from tuner.measure.result_key import (
    ResultKey,
    result_key,
)
from tuner.space.cpu.heuristic import default_cpu_config

B580 = find("b580")
SAMPLE = artifact(3)
LONGER = replace(SAMPLE.launch, steps=(LaunchStep("gemm", (0,), (128, 2, 1), (64, 1, 1)),))
CHANGES: dict[str, AnyArtifact] = {
    "binary": replace(SAMPLE, launch=replace(SAMPLE.launch, binary=b"other")),
    "launch": replace(SAMPLE, launch=LONGER),
    "problem": replace(SAMPLE, problem=replace(SAMPLE.problem, lda=256, batch_stride_a=None)),
}


def _result_key(of: AnyArtifact, spec: DeviceSpec, driver: str) -> ResultKey:
    return result_key(of, backend_of(of.config).manifest(of), spec, driver)


def key(of: AnyArtifact, **changes: object) -> ResultKey:
    """The key of a kernel on a B580."""
    return _result_key(of, replace(B580, **changes), "26.27")


@pytest.mark.parametrize("part", CHANGES)
def test_what_ran_is_told_apart_by_each_part(part: str) -> None:
    mine, other = key(SAMPLE), key(CHANGES[part])
    assert getattr(mine, part) != getattr(other, part)
    assert (mine.run != other.run, mine.key != other.key) == (True, True)


def test_another_device_or_driver_is_another_run() -> None:
    mine = key(SAMPLE)
    others = [
        _result_key(SAMPLE, find("b570"), "26.27"),
        _result_key(SAMPLE, B580, "26.28"),
        key(SAMPLE, xe_cores=18),
        key(SAMPLE, pci_ids=("e20c",)),
    ]
    assert len({mine.run, *(other.run for other in others)}) == 5
    assert mine.device.eus == (B580.xe_cores or 0) * (B580.eus_per_core or 0) == 160


def test_other_versions_of_the_same_binary_are_the_same_run_under_another_key() -> None:
    mine, newer = key(SAMPLE), key(replace(SAMPLE, toolchain={"llvm": "23"}))
    assert (mine.run == newer.run, mine.key == newer.key) == (True, False)


def test_the_name_of_a_cpu_kernel_is_not_part_of_what_ran() -> None:
    spec, problem = cpu_spec(), GemmProblem(48, 40, 56)
    config = default_cpu_config(problem, spec)

    def named(compile_key: str, code: str = "add") -> CpuArtifact:
        made = artifact_of(problem, config)
        assert isinstance(made, CpuArtifact)
        name = f"xetune_gemm_{compile_key[:12]}"
        text = StageOutput("llvm", "llvm.ll", f"define @{name} {{ {code} }}".encode(), 1.0)
        steps = tuple(replace(step, kernel=name) for step in made.launch.steps)
        launch = replace(made.launch, steps=steps, binary=name.encode())
        return replace(
            made, key=compile_key, stages=(*(s for s in made.stages if s.name != "llvm"), text), launch=launch
        )

    runs = [_result_key(named(*of), spec, "1").run for of in (("a" * 64,), ("b" * 64,), ("b" * 64, "mul"))]
    assert runs[0] == runs[1] != runs[2]
