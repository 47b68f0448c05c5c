"""All steps of a launch in the simulator, whole and for some tiles, with kernels written by hand."""

from dataclasses import replace

import numpy as np
import pytest

from codegen import (
    Extent,
    GemmArtifact,
    GemmProblem,
    MatmulConfig,
    SplitK,
    StageOutput,
    XeConfig,
    XeStrategy,
)
from codegen.simulate import (
    SimulationRefused,
    SimulationTimedOut,
)
from codegen.simulate.run_gemm import run_launch
from hal import Argument, LaunchSpec, LaunchStep, Scalar

# Tiles of 16 x 16 of a C of 3 x 5 tiles, twice; each work-group has one sub-group and notes in C, for each of its
# columns, who computed it. `gemm` writes the number of its split to the workspace, `finish` adds both to C, and
# `sum_4` counts rows that are there.
_TILES, _BATCH, _SPLITS = (3, 5), 2, 2
_HEAD = """
declare spir_func i64 @_Z12get_group_idj(i32)
declare spir_func i64 @_Z12get_local_idj(i32)
"""
_PLACE = """
  %x = call spir_func i64 @_Z12get_group_idj(i32 0)
  %y = call spir_func i64 @_Z12get_group_idj(i32 1)
  %z = call spir_func i64 @_Z12get_group_idj(i32 2)
  %lane = call spir_func i64 @_Z12get_local_idj(i32 0)
  %line = mul i64 %y, 5
  %tile = add i64 %line, %x
"""
_GEMM = f"""
define spir_kernel void @gemm(ptr addrspace(1) %work, i64 %n) {{
  {_PLACE}
  %before = mul i64 %z, 15
  %number = add i64 %before, %tile
  %row = mul i64 %number, 16
  %at = add i64 %row, %lane
  %p = getelementptr float, ptr addrspace(1) %work, i64 %at
  %split = srem i64 %z, 2
  %value = add i64 %split, %n
  %f = sitofp i64 %value to float
  store float %f, ptr addrspace(1) %p
  ret void
}}
"""
_FINISH = f"""
define spir_kernel void @finish(ptr addrspace(1) %c, ptr addrspace(1) %work) {{
  {_PLACE}
  %two = mul i64 %z, 2
  %first = mul i64 %two, 15
  %number0 = add i64 %first, %tile
  %number1 = add i64 %number0, 15
  %row0 = mul i64 %number0, 16
  %row1 = mul i64 %number1, 16
  %at0 = add i64 %row0, %lane
  %at1 = add i64 %row1, %lane
  %p0 = getelementptr float, ptr addrspace(1) %work, i64 %at0
  %p1 = getelementptr float, ptr addrspace(1) %work, i64 %at1
  %v0 = load float, ptr addrspace(1) %p0
  %v1 = load float, ptr addrspace(1) %p1
  %sum = fadd float %v0, %v1
  %matrix = mul i64 %z, 3840
  %down = mul i64 %y, 1280
  %across = mul i64 %x, 16
  %a = add i64 %matrix, %down
  %b = add i64 %across, %lane
  %at = add i64 %a, %b
  %p = getelementptr float, ptr addrspace(1) %c, i64 %at
  store float %sum, ptr addrspace(1) %p
  ret void
}}
"""
_SUM = """
define spir_kernel void @sum_4(ptr addrspace(1) %work) {
  %x = call spir_func i64 @_Z12get_group_idj(i32 0)
  %lane = call spir_func i64 @_Z12get_local_idj(i32 0)
  %row = mul i64 %x, 16
  %at = add i64 %row, %lane
  %p = getelementptr float, ptr addrspace(1) %work, i64 %at
  %v = load float, ptr addrspace(1) %p
  ret void
}
"""
_PROBLEM = GemmProblem(48, 80, 32, batch=_BATCH)
_CONFIG = XeConfig(
    MatmulConfig(Extent(*_TILES, _SPLITS), Extent(16, 16, 16), Extent(8, 16, 16)),
    XeStrategy((1, 1), split_k=SplitK.PARTIAL_SUMS),
)
_ONE = (16, 1, 1)


def _artifact(*, steps: tuple[LaunchStep, ...] = (), problem: GemmProblem = _PROBLEM) -> GemmArtifact:
    arguments = (
        *(Argument(o.name, o.role, o.dtype.value, o.nbytes(_BATCH)) for o in problem.operands),
        Argument("workspace", "scratch", "f32", 4 * 16 * 15 * _BATCH * _SPLITS),
    )
    launched = steps or (
        LaunchStep("gemm", (3, Scalar("n", 10)), (5 * 16, 3, _BATCH * _SPLITS), _ONE),
        LaunchStep("finish", (2, 3), (5 * 16, 3, _BATCH), _ONE),
        LaunchStep("sum_4", (3,), (15 * _BATCH * _SPLITS * 16, 1, 1), _ONE),
    )
    text = _HEAD + _GEMM + _FINISH + _SUM
    return GemmArtifact(
        key="",
        content_hash="",
        target="b580",
        stages=(StageOutput("llvm", "llvm.ll", text.encode(), 0),),
        toolchain={},
        kernels=(),
        problem=problem,
        config=_CONFIG,
        launch=LaunchSpec(b"", arguments, launched, 16, ""),
        memory_paths={},
    )


def _buffers() -> tuple[np.ndarray, ...]:
    a, b = np.zeros((2, 48, 32), np.float16), np.zeros((2, 32, 80), np.float16)
    a.flags.writeable = b.flags.writeable = False
    return a, b, np.full((2, 48, 80), np.nan, np.float32)


def test_all_steps_run_in_order_with_scratch_and_numbers() -> None:
    buffers = _buffers()
    report = run_launch(_artifact(), buffers)
    assert (buffers[2][:, ::16] == 10 + 11).all()
    assert len(report.tiles) == report.total == 30
    assert report.instructions > 0


def test_of_a_sample_only_its_tiles_run_with_all_their_splits() -> None:
    buffers, tiles = _buffers(), {(0, 0, 0), (1, 2, 3), (1, 0, 4)}
    report = run_launch(_artifact(), buffers, tiles)
    assert report.tiles == tiles
    written = {(b, i, j) for b, i, j in np.ndindex(2, 3, 5) if not np.isnan(buffers[2][b, 16 * i, 16 * j])}
    assert written == tiles
    assert np.nansum(buffers[2]) == 3 * 16 * 21


def test_scratch_is_poison_before_it_is_written() -> None:
    steps = tuple(step for step in _artifact().launch.steps if step.kernel == "finish")
    buffers = _buffers()
    buffers[2][...] = 0
    run_launch(_artifact(steps=steps), buffers)
    assert np.isnan(buffers[2][:, ::16]).all()


def test_inputs_and_sizes_are_guarded() -> None:
    buffers = _buffers()
    with pytest.raises(ValueError, match="kernels gemm, finish, sum_4 takes 3 buffers, got 2"):
        run_launch(_artifact(), buffers[:2])
    into_a = replace(_artifact().launch.steps[1], parameters=(0, 3))
    with pytest.raises(SimulationRefused):
        run_launch(_artifact(steps=(into_a,)), buffers)


def test_the_time_limit_is_that_of_all_steps() -> None:
    with pytest.raises(SimulationTimedOut):
        run_launch(_artifact(), _buffers(), time_limit_s=0.0)
