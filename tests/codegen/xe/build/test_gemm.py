"""Effect of each field of a configuration and of a problem on the generated XeTile."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Operation

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.artifact.launch import groups_of
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import (
    gpu,
    parse,
    text,
)
from codegen.xe.dialects.verification import verify
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    InitTileOp,
    LoadTileOp,
    PrefetchTileOp,
    StoreTileOp,
    TileMmaOp,
)
from codegen.xe.rules import check
from hal import DeviceSpec
from hal.facts.xe import find

B580 = find("b580")
PROBLEM = GemmProblem(200, 144, 176)  # 4 x 2 tiles, and 6 K steps
L1, L2_L1 = PrefetchLevels.L1, PrefetchLevels.L2_L1


def config(
    block: tuple[int, int, int] = (64, 96, 32),
    sg_layout: tuple[int, int] = (2, 3),
    threads: tuple[int, int, int] | None = None,
    order: LoopOrder = LoopOrder.M_OUTER,
    load: tuple[int, int, int] = (32, 32, 32),
    **strategy: Any,
) -> XeConfig:
    """Return a configuration for a problem of this M and N."""
    tiles = -(-PROBLEM.m // block[0]), -(-PROBLEM.n // block[1]), 1
    return XeConfig(
        MatmulConfig(Extent(*(threads or tiles)), Extent(*block), Extent(*load), order),
        XeStrategy(sg_layout, **strategy),
    )


def build(chosen: XeConfig | None = None, problem: GemmProblem = PROBLEM, spec: DeviceSpec = B580) -> ModuleOp:
    """Build the kernels of a legal configuration."""
    chosen = chosen or config()
    check(problem, chosen, spec)
    module = build_gemm(problem, chosen, spec)
    verify(module)
    return module


def kernels(module: ModuleOp) -> dict[str, gpu.FuncOp]:
    """Return the kernels of a module by name."""
    return {op.sym_name.data: op for op in module.walk() if isinstance(op, gpu.FuncOp)}


def count(within: Operation, kind: type[Operation]) -> int:
    """Count the operations of a class."""
    return sum(isinstance(op, kind) for op in within.walk())


def loops(module: ModuleOp) -> list[scf.ForOp]:
    """Return the loops of the multiply, outermost first."""
    return [op for op in kernels(module)["gemm"].walk() if isinstance(op, scf.ForOp)]


def numbers(module: ModuleOp) -> list[int]:
    """Return the steps of the loops."""
    found = (re.search(r"constant (\d+)", str(loop.step.owner)) for loop in loops(module))
    return [int(m[1]) if m else 0 for m in found]


def prefetches(module: ModuleOp) -> list[PrefetchTileOp]:
    """Return all prefetches of a module."""
    return [op for op in module.walk() if isinstance(op, PrefetchTileOp)]


def test_the_kernel_takes_the_matrices_as_they_are_stored() -> None:
    problem = GemmProblem(200, 144, 176, lda=192, ldc=160, dtype_a=DType.BF16, dtype_b=DType.BF16)
    kernel = kernels(build(problem=problem))["gemm"]
    assert [str(t) for t in kernel.function_type.inputs] == [
        "memref<200x176xbf16, strided<[192, 1]>>",
        "memref<176x144xbf16>",
        "memref<200x144xf32, strided<[160, 1]>>",
    ]
    assert kernel.known_block_size is not None
    assert kernel.known_block_size.get_values() == (2 * 3 * 16, 1, 1)


def test_transposed_matrices_and_those_of_a_batch_have_their_strides() -> None:
    problem = GemmProblem(200, 144, 176, batch=3, batch_stride_b=0, transpose_a=True)
    kernel = kernels(build(config(load=(8, 32, 32)), problem))["gemm"]
    assert [str(t) for t in kernel.function_type.inputs] == [
        "memref<3x200x176xf16, strided<[35200, 1, 200]>>",
        "memref<176x144xf16>",
        "memref<3x200x144xf32>",
    ]


def test_a_dynamic_kernel_takes_sizes_and_distances() -> None:
    problem = GemmProblem(200, 144, 176, batch=2, dynamic=True)
    kernel = kernels(build(problem=problem))["gemm"]
    inputs = [str(t) for t in kernel.function_type.inputs]
    assert inputs[:3] == ["memref<?x?xf16, strided<[?, 1]>>"] * 2 + ["memref<?x?xf32, strided<[?, 1]>>"]
    assert inputs[3:] == ["index"] * 9
    names = [argument.name_hint for argument in kernel.body.block.args][3:]
    assert names == ["m", "n", "k", "lda", "ldb", "ldc", "batch_stride_a", "batch_stride_b", "batch_stride_c"]


def test_the_text_is_a_module_of_the_dialects() -> None:
    module = build()
    again = parse(text(module))
    again.verify()
    assert text(again) == text(module)
    assert again.is_structurally_equivalent(module)


def test_block_and_layout_are_the_tiles_and_who_owns_them() -> None:
    (mma,) = (op for op in build(config((32, 192, 48), load=(16, 32, 16))).walk() if isinstance(op, TileMmaOp))
    maps = (mma.wg_map_a, mma.wg_map_b, mma.wg_map_c)
    assert [(m.sg_layout, m.sg_data) for m in maps if m is not None] == [
        ((2, 3), (16, 48)),
        ((2, 3), (48, 64)),
        ((2, 3), (16, 64)),
    ]
    assert str(mma.d.type) == "vector<32x192xf32>"


@pytest.mark.parametrize(
    ("order", "expected", "row_from"), [(LoopOrder.M_OUTER, (2, 4, 1), "y"), (LoopOrder.N_OUTER, (4, 2, 1), "x")]
)
def test_neighbours_in_x_walk_along_the_inner_p_loop(
    order: LoopOrder, expected: tuple[int, int, int], row_from: str
) -> None:
    chosen = config(order=order)
    assert groups_of(PROBLEM, chosen, "gemm") == expected
    rows = re.search(rf"(%\w+) = gpu.block_id {row_from}\n", printed := text(build(chosen)))
    assert rows is not None
    assert re.search(rf"arith.muli {rows[1]}, %c64", printed)


def test_groups_of_a_raster_are_counted_along_one_axis() -> None:
    chosen = config(raster_group=3)
    assert groups_of(PROBLEM, chosen, "gemm") == (8, 1, 1)
    printed = text(build(chosen))
    assert printed.count("gpu.block_id") == 1
    assert "arith.minui" in printed  # the last group is lower
    assert "arith.minui" not in text(build(config(raster_group=2)))


def test_fewer_work_groups_than_tiles_loop_over_them_in_the_order_of_the_o_loops() -> None:
    assert numbers(build()) == [32]
    assert numbers(build(config(threads=(3, 1, 1)))) == [3, 1, 32]
    other = config(threads=(3, 1, 1), order=LoopOrder.M_OUTER_N_FIRST)
    assert numbers(build(other)) == [1, 3, 32]
    assert groups_of(PROBLEM, other, "gemm") == (1, 3, 1)


@pytest.mark.parametrize(
    ("prefetch", "before", "within"),
    [
        (Prefetch(), 0, 0),
        (Prefetch(L1, 1), 2, 2),
        (Prefetch(L1, 3), 6, 2),
        (Prefetch(L2_L1, 1, 4), 8, 4),
    ],
)
def test_prefetch_runs_ahead_by_its_distance(prefetch: Prefetch, before: int, within: int) -> None:
    module = build(config(prefetch=prefetch))
    (loop,) = loops(module)
    assert (count(module, PrefetchTileOp) - count(loop, PrefetchTileOp), count(loop, PrefetchTileOp)) == (
        before,
        within,
    )


def test_hints_and_layouts_are_those_of_prefetches() -> None:
    by_levels = [str(op) for op in prefetches(build(config(prefetch=Prefetch(L2_L1, 1, 2))))]
    assert sum("uncached" in op for op in by_levels) == 4  # into L2 alone: of A and B, before the loop and in it
    assert all("cached" in op for op in by_levels)
    assert not any("cached" in str(op) for op in prefetches(build(config(prefetch=Prefetch(L1, 1, hints=False)))))
    shared = config(prefetch=Prefetch(L1, 1, layout_a=(4, 1), layout_b=(2, 3)))
    tiles = {str(op.tile.type) for op in prefetches(build(shared))}
    assert any("sg_layout = [4, 1], sg_data = [16, 32]" in tile for tile in tiles)
    assert any("sg_layout = [2, 3], sg_data = [16, 32]" in tile for tile in tiles)


@pytest.mark.parametrize(
    ("slm", "stages", "rings"),
    [
        (SlmOperands.A, 2, ["128x32"]),
        (SlmOperands.B, 3, ["96x96"]),
        (SlmOperands.BOTH, 4, ["256x32", "128x96"]),
    ],
)
def test_staged_operands_have_rings_and_a_barrier_in_each_step(slm: SlmOperands, stages: int, rings: list[str]) -> None:
    m = 8 if slm is not SlmOperands.B else 32
    n = 16 if slm is not SlmOperands.A else 32
    module = build(config(load=(m, n, 32 if slm is not SlmOperands.BOTH else 16), slm=slm, slm_stages=stages))
    found = [str(op.memref.type) for op in module.walk() if isinstance(op, AllocaOp)]
    assert found == [f"memref<{ring}xf16, 3 : i32>" for ring in rings]
    (loop,) = loops(module)
    assert count(loop, gpu.BarrierOp) == 1
    assert count(module, StoreTileOp) == 1 + stages * len(rings)
    first = [op for op in module.walk() if isinstance(op, LoadTileOp | StoreTileOp | scf.ForOp)]
    filled = [type(op) for op in first[: first.index(loop)]]
    copies = (stages - 1) * len(rings)
    assert filled == [LoadTileOp] * copies + [StoreTileOp] * copies


@pytest.mark.parametrize(
    ("device", "n", "k", "looped"), [("b580", 143, 175, True), ("b580", 144, 176, False), ("a770", 144, 176, True)]
)
def test_loads_by_lanes_of_several_steps_fill_rings_in_a_loop(device: str, n: int, k: int, looped: bool) -> None:
    staged = config(load=(8, 16 if device == "b580" else 8, 16), slm=SlmOperands.BOTH, slm_stages=4)
    module = build(staged, GemmProblem(200, n, k), find(device))
    fill = next(op for op in module.walk() if isinstance(op, LoadTileOp | scf.ForOp))
    assert isinstance(fill, scf.ForOp) == looped
    if looped:
        loads_and_stores = [type(op) for op in fill.walk() if isinstance(op, LoadTileOp | StoreTileOp)]
        assert loads_and_stores == [LoadTileOp, LoadTileOp, StoreTileOp, StoreTileOp]


def test_a_work_group_of_several_tiles_waits_before_it_fills_its_rings_again() -> None:
    staged = config(load=(8, 32, 32), threads=(2, 2, 1), slm=SlmOperands.A, slm_stages=2)
    assert count(build(staged), gpu.BarrierOp) == 2


def test_pipelined_registers_carry_the_operands_of_the_next_step() -> None:
    (plain,), (ahead,) = loops(build()), loops(build(config(pipelined_registers=True)))
    assert [str(v.type) for v in plain.iter_args] == ["vector<64x96xf32>"]
    assert [str(v.type) for v in ahead.iter_args] == ["vector<64x96xf32>", "vector<64x32xf16>", "vector<32x96xf16>"]
    assert count(build(config(pipelined_registers=True)), LoadTileOp) == 4


@pytest.mark.parametrize(("every", "barriers", "conditions"), [(0, 0, 0), (1, 1, 0), (3, 1, 1)])
def test_barriers_come_every_so_many_steps(every: int, barriers: int, conditions: int) -> None:
    (loop,) = loops(build(config(barrier_every=every)))
    assert (count(loop, gpu.BarrierOp), count(loop, scf.IfOp)) == (barriers, conditions)


@pytest.mark.parametrize(("unroll", "steps", "products"), [(1, [32], 1), (3, [96], 3), (4, [128, 32], 5)])
def test_unrolled_steps_are_in_one_round_and_what_is_left_in_another_loop(
    unroll: int, steps: list[int], products: int
) -> None:
    module = build(config(k_unroll=unroll))
    assert numbers(module) == steps
    assert count(module, TileMmaOp) == products


def test_splits_of_k_are_partial_sums_that_another_kernel_adds() -> None:
    chosen = config(threads=(4, 2, 3), split_k=SplitK.PARTIAL_SUMS)
    module = build(chosen, replace(PROBLEM, epilogue=(EpilogueStep(EpilogueKind.RELU),)))
    assert list(kernels(module)) == ["gemm", "finish"]
    assert groups_of(PROBLEM, chosen, "gemm") == (2, 4, 3)
    finish = kernels(module)["finish"]
    assert Counter(type(op) for op in finish.walk())[LoadTileOp] == 3
    assert "arith.maximumf" in str(finish)
    assert "arith.maximumf" not in str(kernels(module)["gemm"])
    assert str(kernels(module)["gemm"].function_type.inputs.data[3]) == "memref<3x200x144xf32>"


def test_splits_of_k_are_added_to_a_c_that_was_cleared() -> None:
    module = build(config(threads=(4, 2, 2), split_k=SplitK.ATOMIC))
    assert list(kernels(module)) == ["clear", "gemm"]
    assert count(kernels(module)["gemm"], AtomicRmwOp) == 1
    assert count(kernels(module)["gemm"], StoreTileOp) == 0
    assert count(kernels(module)["clear"], StoreTileOp) == 1


def step(kind: EpilogueKind, **values: Any) -> EpilogueStep:
    return EpilogueStep(kind, **values)


STEPS: dict[str, tuple[EpilogueStep, tuple[str, ...], int]] = {
    "alpha": (step(EpilogueKind.ALPHA, value=0.5), ("arith.mulf",), 0),
    "beta": (step(EpilogueKind.BETA, value=0.5), ("arith.mulf", "arith.addf"), 1),
    "bias-row": (step(EpilogueKind.BIAS, axis=Axis.ROW), ("xetile.broadcast", "arith.addf"), 1),
    "bias-column": (step(EpilogueKind.BIAS, axis=Axis.COLUMN, dtype=DType.F16), ("arith.extf", "arith.addf"), 1),
    "scale": (step(EpilogueKind.SCALE, value=2.0), ("arith.mulf",), 0),
    "scale-column": (step(EpilogueKind.SCALE, axis=Axis.COLUMN), ("xetile.broadcast", "arith.mulf"), 1),
    "relu": (step(EpilogueKind.RELU), ("arith.maximumf",), 0),
    "leaky-relu": (step(EpilogueKind.LEAKY_RELU, value=0.1), ("arith.cmpf", "arith.select"), 0),
    "gelu-tanh": (step(EpilogueKind.GELU_TANH), ("math.exp", "arith.divf"), 0),
    "silu": (step(EpilogueKind.SILU), ("math.exp", "arith.divf"), 0),
    "sigmoid": (step(EpilogueKind.SIGMOID), ("math.exp", "arith.divf"), 0),
    "tanh": (step(EpilogueKind.TANH), ("math.tanh",), 0),
    "clip": (step(EpilogueKind.CLIP, value=-1.0, high=1.0), ("arith.maximumf", "arith.minimumf"), 0),
    "add": (step(EpilogueKind.ADD, ld=160), ("arith.addf",), 1),
    "multiply": (step(EpilogueKind.MULTIPLY, dtype=DType.BF16), ("arith.extf", "arith.mulf"), 1),
    "reduce": (step(EpilogueKind.REDUCE, axis=Axis.ROW), ("vector.multi_reduction",), 0),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_written_between_the_product_and_its_store(name: str) -> None:
    steps, operations, loads = STEPS[name]
    problem = replace(PROBLEM, epilogue=(steps,))
    gemm, plain = kernels(build(problem=problem))["gemm"], kernels(build())["gemm"]
    printed = str(gemm)
    at = printed.index("tile_mma")
    assert all(operation in printed[at:] for operation in operations)
    assert not any(operation in str(plain) for operation in operations)
    assert count(gemm, LoadTileOp) == count(plain, LoadTileOp) + loads


def test_gelu_is_exact_without_a_call() -> None:
    printed = text(build(problem=replace(PROBLEM, epilogue=(step(EpilogueKind.GELU),))))
    assert "math.tanh" not in printed


def test_a_reduction_has_a_kernel_that_adds_what_tiles_gave() -> None:
    sums = (step(EpilogueKind.REDUCE, axis=Axis.ROW), step(EpilogueKind.REDUCE, axis=Axis.COLUMN))
    module = build(problem=replace(PROBLEM, epilogue=sums))
    assert list(kernels(module)) == ["gemm", "sum_0", "sum_1"]
    assert count(kernels(module)["gemm"], StoreTileOp) == 3


@pytest.mark.parametrize(
    ("dtype", "dtype_c", "operations"),
    [
        (DType.F16, DType.F16, ("arith.truncf",)),
        (DType.F16, DType.S8, ("math.roundeven", "arith.fptosi", "arith.trunci")),
        (DType.S8, DType.I32, ()),
        (DType.S8, DType.U8, ("arith.maxsi", "arith.minsi", "arith.trunci")),
        (DType.U8, DType.F32, ("arith.sitofp",)),
    ],
)
def test_sums_are_converted_as_c_stores_them(dtype: DType, dtype_c: DType, operations: tuple[str, ...]) -> None:
    problem = GemmProblem(200, 144, 176, dtype_a=dtype, dtype_b=dtype, dtype_c=dtype_c)
    printed = text(build(config(load=(32, 32, 32)), problem))
    assert all(operation in printed for operation in operations)
    if not operations:
        assert not re.search(r"arith\.(trunci|sitofp|maxsi)", printed)


def test_what_messages_cannot_access_is_marked() -> None:
    module = build(config(load=(8, 32, 32)), GemmProblem(200, 144, 176, lda=177))
    marked = {
        str(op.source.name_hint): "lane_access" in str(op.attributes)
        for op in module.walk()
        if isinstance(op, InitTileOp)
    }
    assert marked == {"A": True, "B": False, "C": False}
