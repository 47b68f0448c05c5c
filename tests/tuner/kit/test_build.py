"""Contents of a kit: the default of each problem first, then the kernels asked for, and the sources."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import CodegenError, CompileFailed, GemmProblem, KernelConfig, Refused, compile_gemm
from hal import DeviceSpec
from tests.tuner.fakes import emulated
from tests.tuner.kit.kits import B580, PROBLEMS, SpirvCompilation, SpirvCompiler, configs, kit, runners_up, written
from tuner.kit.build import build_kit, record_of
from tuner.kit.contents import artifact_of, kernels_of, read_kit
from tuner.space.xe.heuristic import default_config


def test_a_kit_has_the_sources_their_entry_and_the_lines() -> None:
    made = kit()
    assert (made.device, made.problems, made.kernels, made.left_out) == ("b580", 2, 6, ())
    with zipfile.ZipFile(io.BytesIO(made.data)) as archive:
        names = set(archive.namelist())
        entry = archive.read("__main__.py").decode()
    assert {"kit.jsonl", "tuner/kit/command.py", "hal/opencl/device.py", "codegen/target.py"} <= names
    assert "from tuner.kit.command import main" in entry
    assert not any("__pycache__" in name or name.startswith(("service", "db")) for name in names)


def test_the_kernels_of_a_problem_begin_with_its_default(tmp_path: Path) -> None:
    found = read_kit(written(tmp_path))
    assert [line.record for line in found.devices.values()] == [B580]
    for problem in PROBLEMS:
        assert [kernel.config for kernel in kernels_of(found, problem.key)] == configs(problem)
    assert [line.record.config for line in found.candidates.values()] == [c for p in PROBLEMS for c in configs(p)[1:]]


def test_equal_runners_up_make_equal_files() -> None:
    assert build_kit(runners_up(), SpirvCompiler()).data == kit().data


def test_a_kit_is_of_one_device() -> None:
    other = replace(B580, id="b570", name="Intel Arc B570")
    with pytest.raises(ValueError, match="expected predicted configurations of one device, got those of b580 and b570"):
        build_kit(runners_up(B580, other), SpirvCompiler())


def test_what_does_not_compile_is_left_out_with_its_reason() -> None:
    refused: dict[KernelConfig, CodegenError] = {configs(PROBLEMS[0])[1]: Refused("registers", "too many")}
    made = build_kit(runners_up(), SpirvCompiler(errors=refused.get))
    assert made.left_out
    assert set(made.left_out) == {str(Refused("registers", "too many"))}
    assert made.kernels == 6 - len(made.left_out)
    with pytest.raises(Refused, match="too many"):
        build_kit(runners_up(), SpirvCompiler(errors=lambda _: Refused("registers", "too many")))


def test_a_problem_without_its_default_is_left_out(tmp_path: Path) -> None:
    def errors(problem: GemmProblem, config: KernelConfig) -> CompileFailed | None:
        is_default = problem == PROBLEMS[1] and config == configs(problem)[0]
        return CompileFailed("llvm", "no") if is_default else None

    class Failing(SpirvCompiler):
        def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> SpirvCompilation:
            return SpirvCompilation(problem, config, errors(problem, config))

    made = build_kit(runners_up(), Failing())
    assert (made.problems, made.kernels, len(made.left_out)) == (1, 3, 1)


def test_a_kit_of_an_emulated_gpu_is_of_that_cpu() -> None:
    compiler = SpirvCompiler()
    made = build_kit(runners_up(), compiler, stand_in=emulated())
    assert made.device == "opencl-cpu-as-b580"
    assert default_config(PROBLEMS[0], emulated()) in compiler.begun


@pytest.mark.parametrize("emulates", [False, True])
def test_a_compiled_kernel_comes_back_with_its_launch(emulates: bool) -> None:
    spec = emulated() if emulates else B580
    artifact = compile_gemm(PROBLEMS[0], default_config(PROBLEMS[0], spec), spec)
    record = record_of(artifact)
    assert (record.emulated_hash is not None) == emulates
    back = artifact_of(record, PROBLEMS[0], spec)
    for name in ("key", "content_hash", "target", "toolchain", "problem", "config", "launch", "memory_paths"):
        assert getattr(back, name) == getattr(artifact, name), name
