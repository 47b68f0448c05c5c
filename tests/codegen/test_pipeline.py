"""Stages, keys, launch and manifest of a compiled kernel, and the cache of them."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from codegen import (
    Axis,
    CompileFailed,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmArtifact,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.artifact.manifest import manifest
from codegen.pipeline import compile_gemm, compile_key
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gemm import MAX_DIMENSION
from codegen.simulate.run_gemm import run_launch
from codegen.target import target_of
from codegen.workers.cache import CompileCache
from codegen.xe.llvm import OptimisedModule, optimise
from codegen.xe.spirv import start_emitter
from hal import Scalar, emulated_spec, find
from hal.facts.cpu import probe_cpu

PROBLEM = GemmProblem(200, 136, 72, lda=80)
CONFIG = XeConfig(
    MatmulConfig(Extent(4, 3, 1), Extent(64, 64, 32), Extent(32, 32, 32), LoopOrder.N_OUTER),
    XeStrategy((2, 2), Prefetch(PrefetchLevels.L1, 2)),
)
B580 = find("b580")


@pytest.fixture(scope="module")
def artifact() -> GemmArtifact:
    return compile_gemm(PROBLEM, CONFIG, B580)


def test_the_stages_come_in_order_and_hold_what_they_say(artifact: GemmArtifact) -> None:
    files = {stage.file_name: stage.data for stage in artifact.stages}
    ours = ["xetile.mlir", "xegpu.mlir", "subgroup.mlir", "lanes.mlir", "llvm.ll", "kernel.spv"]
    assert list(files) == ours
    assert b"xetile.tile_mma" in files["xetile.mlir"]
    assert b"xegpu.dpas" in files["xegpu.mlir"]
    assert b"layout_a = #xegpu.layout<sg_layout = [2, 2]" in files["xegpu.mlir"]
    assert b"matrix_mad_k16" in files["llvm.ll"]
    assert files["kernel.spv"][:4] == b"\x03\x02\x23\x07"
    assert all(stage.elapsed_ms > 0 for stage in artifact.stages)


@pytest.mark.parametrize("later", ["codegen.pipeline.lower_to_lanes", "codegen.pipeline.emit_spirv"])
@pytest.mark.parametrize("stage", ["xetile", "xegpu", "subgroup"])
def test_a_check_that_waits_for_emission_precedes_failures_of_later_stages(
    stage: str, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_module: object, of: str = "xetile") -> object:
        if of == stage:
            raise CompileFailed(of, "what is wrong")
        return _module

    def fail(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a pass met what it did not expect")

    monkeypatch.setattr("codegen.pipeline.verify" if stage == "xetile" else "codegen.pipeline.MlirModule", refuse)
    monkeypatch.setattr(later, fail)
    with pytest.raises(CompileFailed, match=f"stage {stage}: what is wrong"):
        compile_gemm(PROBLEM, CONFIG, B580)


def test_a_check_that_fails_while_spirv_is_emitted_leaves_the_emitter_in_order(
    artifact: GemmArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_module: ModuleOp) -> None:
        raise CompileFailed("xetile", "what is wrong")

    emitter, other = start_emitter(), dataclasses.replace(PROBLEM, dtype_c=DType.F16)
    with monkeypatch.context() as patch:
        patch.setattr("codegen.pipeline.verify", refuse)
        with pytest.raises(CompileFailed, match="stage xetile: what is wrong"):
            compile_gemm(other, CONFIG, B580)
    again = compile_gemm(PROBLEM, CONFIG, B580)
    assert [stage.data for stage in again.stages] == [stage.data for stage in artifact.stages]
    emitter.close()


def test_compiling_again_gives_the_same_bytes(artifact: GemmArtifact) -> None:
    again = compile_gemm(PROBLEM, CONFIG, B580)
    assert [stage.data for stage in again.stages] == [stage.data for stage in artifact.stages]
    assert (again.key, again.content_hash) == (artifact.key, artifact.content_hash)


def test_the_launch_covers_c(artifact: GemmArtifact) -> None:
    launch = artifact.launch
    (step,) = launch.steps
    assert (step.kernel, step.parameters) == ("gemm", (0, 1, 2))
    assert (step.local_size, step.global_size, step.groups) == ((64, 1, 1), (4 * 64, 3, 1), (4, 3, 1))
    assert [(a.name, a.role, a.nbytes) for a in launch.arguments] == [
        ("A", "input", 200 * 80 * 2),
        ("B", "input", 72 * 136 * 2),
        ("C", "output", 200 * 136 * 4),
    ]
    assert launch.build_options == "-cl-intel-256-GRF-per-thread"


def test_the_manifest_says_how_to_launch_any_size_of_it(artifact: GemmArtifact) -> None:
    document = json.loads(json.dumps(manifest(artifact)))
    (step,) = document["steps"]
    assert step["global_size_formula"] == ["64 * ceil(m / 64)", "ceil(n / 64)", "1"]
    assert step["parameters"] == [{"argument": 0}, {"argument": 1}, {"argument": 2}]
    assert document["memory_paths"]["A"] == {"by": "block2d", "because": None}
    assert document["content_hash"] == f"sha256:{artifact.content_hash}"
    assert document["toolchain"].keys() == {"torch-mlir", "llvmlite", "xdsl", "xetune-codegen"}
    assert document["build_options"]["level_zero"] == "-ze-opt-large-register-file"


def test_the_manifest_says_what_the_binary_needs_of_a_driver(artifact: GemmArtifact) -> None:
    needs = json.loads(json.dumps(manifest(artifact)))["driver_needs"]
    assert needs["spirv"] == "1.4"
    assert needs["spirv_extensions"] == ["SPV_INTEL_cache_controls"]
    assert {"Kernel", "SubgroupDispatch", "Int16"} <= set(needs["spirv_capabilities"])
    assert needs["opencl_extensions"] == [
        "cl_intel_required_subgroup_size",
        "cl_intel_subgroup_2d_block_io",
        "cl_intel_subgroup_matrix_multiply_accumulate",
    ]
    of_bf16 = compile_gemm(dataclasses.replace(PROBLEM, dtype_c=DType.BF16), CONFIG, B580)
    more = json.loads(json.dumps(manifest(of_bf16)))["driver_needs"]
    assert more["spirv_extensions"] == ["SPV_INTEL_bfloat16_conversion", "SPV_INTEL_cache_controls"]
    assert set(more["opencl_extensions"]) - set(needs["opencl_extensions"]) == {"cl_intel_bfloat16_conversions"}


@pytest.mark.parametrize(
    "change", [{"m": 208}, {"dtype_c": DType.F16}, {"lda": 88}], ids=lambda change: next(iter(change))
)
def test_the_key_hangs_on_the_problem(change: dict[str, object]) -> None:
    target = target_of(B580)
    other = GemmProblem(**({"m": 200, "n": 136, "k": 72, "lda": 80} | change))  # pyright: ignore[reportArgumentType]
    assert compile_key(other, CONFIG, target) != compile_key(PROBLEM, CONFIG, target)


def test_the_key_hangs_on_target_facts_and_not_on_clocks() -> None:
    def key(device: str, **change: object) -> str:
        return compile_key(PROBLEM, CONFIG, target_of(dataclasses.replace(find(device), **change)))

    assert key("b580") == key("b580", clock_mhz=1)
    assert key("b580") != key("max1550")
    assert key("b580") != compile_key(PROBLEM, CONFIG, target_of(emulated_spec(probe_cpu(), B580)))


SUMS = EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW)
OF_STEPS = GemmProblem(40, 56, 96, batch=2, alignment=16, dynamic=True, epilogue=(SUMS,))
SPLIT = XeConfig(
    MatmulConfig(Extent(2, 1, 2), Extent(16, 32, 16), Extent(8, 16, 16)),
    XeStrategy((2, 1), split_k=SplitK.PARTIAL_SUMS, grf_mode=128),
)


@pytest.fixture(scope="module")
def of_steps() -> GemmArtifact:
    return compile_gemm(OF_STEPS, SPLIT, B580)


def test_a_launch_of_several_steps_has_its_kernels_scratch_and_sizes(of_steps: GemmArtifact) -> None:
    launch = of_steps.launch
    assert [(step.kernel, step.groups, step.local_size) for step in launch.steps] == [
        ("gemm", (1, 2, 2 * 2), (32, 1, 1)),
        ("finish", (1, 2, 2), (32, 1, 1)),
        ("sum_0", (2, 1, 2), (16, 1, 1)),
    ]
    assert [(a.name, a.role, a.dtype, a.nbytes) for a in launch.arguments[2:]] == [
        ("C", "output", "f32", 2 * 40 * 56 * 4),
        ("reduce", "output", "f32", 2 * 40 * 4),
        ("partials", "scratch", "f32", 2 * 2 * 40 * 64 * 4),
        ("sums0", "scratch", "f32", 2 * 40 * 2 * 4),
    ]
    gemm = launch.steps[0]
    assert [p for p in gemm.parameters if isinstance(p, int)] == list(range(len(launch.arguments)))
    sizes = {p.name: p.value for p in gemm.parameters if isinstance(p, Scalar)}
    assert sizes == {"m": 40, "n": 56, "k": 96, "lda": 96, "ldb": 56, "ldc": 56} | {
        f"batch_stride_{name}": elements for name, elements in (("a", 40 * 96), ("b", 96 * 56), ("c", 40 * 56))
    }
    assert launch.build_options == ""


def test_the_manifest_tells_of_steps_paths_and_assumptions(of_steps: GemmArtifact) -> None:
    document = json.loads(json.dumps(manifest(of_steps)))
    assert [step["kernel"] for step in document["steps"]] == ["gemm", "finish", "sum_0"]
    assert [step["global_size_formula"] for step in document["steps"]] == [
        ["32 * min(1, ceil(n / 32))", "min(2, ceil(m / 16))", "4"],
        ["32 * min(1, ceil(n / 32))", "min(2, ceil(m / 16))", "2"],
        ["16 * ceil(m / 32)", "1", "2"],
    ]
    assert {"scalar": "k", "value": 96} in document["steps"][0]["parameters"]
    paths = document["memory_paths"]
    assert paths["A"] == {
        "by": "lanes",
        "because": "block2d-base: A is aligned to 16 bytes; block messages need 64",
    }
    assert document["pointer_alignment_bytes"] == 16
    assert set(document["assumes"]) == {"gemm", "finish", "sum_0"}
    extents = {f"extent ({name}): at least 1, at most {MAX_DIMENSION}" for name in "mnk"}
    assert all(extents <= set(assumed) for assumed in document["assumes"].values())


def with_strategy(**changed: Any) -> XeConfig:
    """CONFIG with other values on some axes of its strategy."""
    return dataclasses.replace(CONFIG, strategy=dataclasses.replace(CONFIG.strategy, **changed))


@pytest.mark.parametrize(("mode", "option"), [(128, ""), (256, "-cl-intel-256-GRF-per-thread")])
def test_registers_of_a_thread_are_a_build_option(mode: int, option: str) -> None:
    matmul = dataclasses.replace(CONFIG.matmul, innermost=Extent(8, 32, 16))
    chosen = dataclasses.replace(with_strategy(grf_mode=mode), matmul=matmul)
    assert compile_gemm(PROBLEM, chosen, B580).launch.build_options == option


@pytest.mark.parametrize(
    ("load", "messages"),
    [
        (Extent(32, 32, 32), {"16b_32r16x2c", "transform_16b_32r16x2c"}),
        (Extent(8, 16, 16), {"16b_8r16x1c", "transform_16b_16r16x1c"}),
        (Extent(16, 32, 32), {"16b_16r16x2c", "transform_16b_32r16x2c"}),
    ],
)
def test_load_blocks_are_what_messages_fetch(load: Extent, messages: set[str]) -> None:
    chosen = dataclasses.replace(CONFIG, matmul=dataclasses.replace(CONFIG.matmul, innermost=load))
    ll = compile_gemm(PROBLEM, chosen, B580).stage("llvm").data.decode()
    found = re.findall(r"@_Z\d+intel_sub_group_2d_block_read_(\w+?)PU3", ll)
    assert set(found) == messages


def test_payloads_of_prefetches_are_kept_by_the_gpus_own_functions() -> None:
    kept = with_strategy(prefetch=Prefetch(PrefetchLevels.L1, 2, payloads=True))
    plain, code = (compile_gemm(PROBLEM, c, B580).stage("llvm").data.decode() for c in (CONFIG, kept))
    assert "createBlock2DAddressPayload" in code
    assert "createBlock2DAddressPayload" not in plain
    assert plain.count("2d_block_prefetch") > code.count("2d_block_prefetch")


def test_grouped_rasters_are_launched_along_one_axis() -> None:
    made = compile_gemm(PROBLEM, with_strategy(raster_group=2), B580)
    assert made.launch.steps[0].groups == (12, 1, 1)
    (step,) = json.loads(json.dumps(manifest(made)))["steps"]
    assert step["global_size_formula"] == ["64 * ceil(m / 64) * ceil(n / 64)", "1", "1"]


def test_what_a_kernel_of_several_steps_is_comes_back_from_the_cache(of_steps: GemmArtifact, tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.put(of_steps, B580)
    assert cache.get(OF_STEPS, SPLIT, B580) == of_steps
    assert cache.get(dataclasses.replace(OF_STEPS, alignment=64), SPLIT, B580) is None


def test_atomic_updates_which_mlir_has_no_descriptors_for_compile() -> None:
    atomic = dataclasses.replace(SPLIT, strategy=dataclasses.replace(SPLIT.strategy, split_k=SplitK.ATOMIC))
    made = compile_gemm(GemmProblem(40, 56, 96), atomic, B580)
    assert b"xegpu.create_tdesc" in made.stage("xegpu").data


def test_llvm_is_told_of_arguments_apart_only_of_kernels_beside_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def note(code: str, *given: Any) -> OptimisedModule:
        told.extend(given[3])
        return optimise(code, *given)

    monkeypatch.setattr("codegen.pipeline.optimise", note)
    compile_gemm(OF_STEPS, SPLIT, B580)
    assert told == ["finish", "sum_0"]


@pytest.mark.parametrize(("device", "lanes"), [("b580", 16), ("a770", 8)])
def test_a_k_loop_of_any_size_runs(device: str, lanes: int) -> None:
    """Code for a K loop that does not run held other accumulators: 128 registers more on a770, and 2.7 KB spilled."""
    narrow = Extent(16, 2 * lanes, 16)
    config = XeConfig(MatmulConfig(Extent(3, 4, 1), narrow, Extent(8, lanes, 16)), XeStrategy((1, 1)))
    made = compile_gemm(GemmProblem(40, 56, 96, dynamic=True), config, find(device))
    assert made.stage("llvm").data.count(b"= phi <8 x float>") == 2 * 2


def test_no_launch_takes_what_llvm_is_told_does_not_overlap() -> None:
    problem = GemmProblem(40, 56, 96, dtype_c=DType.F16, epilogue=parse_epilogue("add:f16, bias:column:f16"))
    artifact = compile_gemm(problem, SPLIT, B580)
    given = [argument for argument in artifact.launch.arguments if argument.role != "scratch"]
    assert [argument.name for argument in given] == ["A", "B", "C", "add", "bias"]
    buffers = [np.zeros(argument.nbytes, np.uint8) for argument in given]
    run_launch(artifact, buffers)
    for at, argument in enumerate(given):
        if argument.name != "C":
            shared = np.zeros(max(argument.nbytes, given[2].nbytes), np.uint8)
            buffers_of_two = [*buffers]
            buffers_of_two[at], buffers_of_two[2] = shared[: argument.nbytes], shared[: given[2].nbytes]
            with pytest.raises(ValueError, match=f"writes C, which shares memory with {argument.name}$"):
                run_launch(artifact, buffers_of_two)


def test_what_the_rules_refuse_is_not_compiled() -> None:
    with pytest.raises(Refused) as caught:
        compile_gemm(PROBLEM, dataclasses.replace(CONFIG, strategy=XeStrategy((3, 2))), B580)
    assert caught.value.rule == "subgroups-divide-block"


def test_a_damaged_cache_entry_is_a_miss(artifact: GemmArtifact, tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    assert cache.get(PROBLEM, CONFIG, B580) is None
    cache.put(artifact, B580)
    assert cache.get(PROBLEM, CONFIG, B580) == artifact
    (stored,) = tmp_path.rglob("*.kernel")
    whole = stored.read_bytes()
    for damage in (b"", b"[]", whole[:1000], whole[:-1], whole.replace(b'"spirv"', b'"spirw"', 1), b"\xff\n{}"):
        stored.write_bytes(damage)
        assert cache.get(PROBLEM, CONFIG, B580) is None
    stored.write_bytes(whole)
    assert cache.get(PROBLEM, CONFIG, B580) == artifact


def test_a_cache_write_that_fails_leaves_nothing(
    artifact: GemmArtifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("codegen.artifact.files.os.replace", full)
    with pytest.raises(OSError, match="No space"):
        CompileCache(tmp_path).put(artifact, B580)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
