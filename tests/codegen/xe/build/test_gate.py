"""XeTile of gated problems: one load of A for both products, and where columns of B are taken and parted."""

import re
from collections.abc import Iterator

import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Operation

from codegen import (
    Activation,
    EpilogueKind,
    EpilogueStep,
    Extent,
    Gate,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SplitK,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.artifact.launch import arguments
from codegen.target import target_of
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import gpu, text
from codegen.xe.dialects.upstream.vector_ops import ShapeCastOp
from codegen.xe.dialects.verification import verify
from codegen.xe.dialects.xetile import LoadTileOp, StoreTileOp, TileMmaOp
from codegen.xe.isa import compile_kernel
from codegen.xe.rules import check
from hal import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc

B580 = find("b580")
LARGE = (4096, 4096, 2048)


def problem(gate: Gate, **more: object) -> GemmProblem:
    return GemmProblem(96, 192, 160, gate=gate, **more)  # pyright: ignore[reportArgumentType]


def config(block: tuple[int, int, int] = (32, 64, 32), splits: int = 1) -> XeConfig:
    """Sub-groups of 16x32 for that problem."""
    split_k = SplitK.PARTIAL_SUMS if splits > 1 else SplitK.NONE
    threads = Extent(96 // block[0], 192 // block[1], splits)
    strategy = XeStrategy((2, block[1] // 32), Prefetch(PrefetchLevels.L1, 1), split_k=split_k)
    return XeConfig(MatmulConfig(threads, Extent(*block), Extent(16, 32, 32)), strategy)


def built(of: GemmProblem, chosen: XeConfig) -> ModuleOp:
    check(of, chosen, B580)
    module = build_gemm(of, chosen, B580)
    verify(module)
    return module


def kernel(module: ModuleOp, name: str = "gemm") -> gpu.FuncOp:
    return next(op for op in module.walk() if isinstance(op, gpu.FuncOp) and op.sym_name.data == name)


def k_loop(module: ModuleOp) -> scf.ForOp:
    return next(op for op in kernel(module).walk() if isinstance(op, scf.ForOp))


def shapes(within: Operation, kind: type[LoadTileOp | TileMmaOp]) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the results of operations of a class."""
    for op in within.walk():
        if isinstance(op, kind):
            assert isinstance(op.results[0].type, VectorType)
            yield op.results[0].type.get_shape()


@pytest.mark.parametrize(
    "gate", [Gate(Activation.SILU), Gate(Activation.SILU, 64)], ids=("one after the other", "in blocks of a tile")
)
def test_one_load_of_a_is_multiplied_by_a_tile_of_each_product(gate: Gate) -> None:
    loop = k_loop(built(problem(gate), config()))
    assert list(shapes(loop, LoadTileOp)) == [(32, 32), (32, 64), (32, 64)]
    assert list(shapes(loop, TileMmaOp)) == [(32, 64), (32, 64)]
    first, second = (op for op in loop.walk() if isinstance(op, TileMmaOp))
    assert first.a is second.a


def test_the_second_product_begins_n_columns_after_the_first() -> None:
    printed = text(k_loop(built(problem(Gate(Activation.SILU)), config())))
    columns = re.findall(r"init_tile %B\[%\w+, %(\w+)\]", printed)
    assert len(set(columns[:2])) == 2
    module = text(built(problem(Gate(Activation.SILU)), config()))
    assert re.search(r"constant 192 : index", module)


@pytest.mark.parametrize("block", [1, 4, 16, 32])
def test_narrow_blocks_are_one_tile_of_b_that_is_parted_after_the_loop(block: int) -> None:
    module = built(problem(Gate(Activation.GELU, block)), config())
    loop = k_loop(module)
    assert list(shapes(loop, LoadTileOp)) == [(32, 32), (32, 128)]
    assert list(shapes(loop, TileMmaOp)) == [(32, 128)]
    casts = [op for op in kernel(module).walk() if isinstance(op, ShapeCastOp)]
    assert len(casts) == 3
    assert not any(isinstance(op, ShapeCastOp) for op in loop.walk())


def test_the_gate_precedes_the_steps() -> None:
    steps = (EpilogueStep(EpilogueKind.RELU),)
    printed = text(kernel(built(problem(Gate(Activation.SILU), epilogue=steps), config())))
    after = printed[printed.index("scf.yield") :]
    assert after.index("math.exp") < after.index("arith.maximumf")
    assert after.count("arith.mulf") == 2  # x * sigmoid(x), and times the other product


def test_partial_sums_are_those_of_both_products() -> None:
    of, chosen = problem(Gate(Activation.SILU), batch=3), config(splits=2)
    module = built(of, chosen)
    assert sum(isinstance(op, StoreTileOp) for op in kernel(module).walk()) == 2
    assert len(list(shapes(kernel(module, "finish"), LoadTileOp))) == 4
    assert "math.exp" not in text(kernel(module))
    (partials,) = (argument for argument in arguments(of, chosen) if argument.name == "partials")
    assert partials.nbytes == 2 * 2 * 3 * 96 * 192 * 4


def test_parts_of_k_of_both_products_meet_in_shared_local_memory() -> None:
    of = problem(Gate(Activation.SILU, 16))
    matmul = MatmulConfig(Extent(12, 6, 1), Extent(8, 32, 32), Extent(8, 16, 16))
    found = kernel(built(of, XeConfig(matmul, XeStrategy((1, 1), k_subgroups=4))))
    (sums,) = (op.memref.type for op in found.walk() if isinstance(op, AllocaOp))
    assert sums.get_shape() == (4 * 2 * 8, 32)
    printed = text(found)
    assert printed.index("gpu.barrier") < printed.index("math.exp")


def test_a_dynamic_kernel_takes_n_alone() -> None:
    found = kernel(built(problem(Gate(Activation.SILU), dynamic=True), config()))
    names = [argument.name_hint for argument in found.body.block.args][3:]
    assert names == ["m", "n", "k", "lda", "ldb", "ldc"]


@pytest.mark.parametrize(("block", "shuffles"), [(1, 2), (8, 1), (16, 0)])
def test_parting_an_accumulator_takes_a_shuffle_for_each_register_that_it_is_made_of(block: int, shuffles: int) -> None:
    artifact = compile_gemm(problem(Gate(Activation.SILU, block)), config(), B580)
    calls = re.findall(r"call spir_func (?:<(\d+) x )?.*sub_group_shuffle", artifact.stage("llvm").data.decode())
    assert sum(int(length or 1) for length in calls) == shuffles * 2 * 16 * 32 // 16  # of both products of a sub-group


@pytest.mark.slow
@pytest.mark.parametrize("device", ["b580", "max1550"])
@pytest.mark.parametrize("transpose_b", [False, True], ids=("NN", "NT"))
@pytest.mark.parametrize(
    "gate",
    [*(Gate(kind) for kind in Activation), *(Gate(Activation.SILU, block) for block in (1, 4, 16, 32))],
    ids=str,
)
def test_two_products_of_32x32_spill_nothing(gate: Gate, transpose_b: bool, device: str) -> None:
    of, spec = GemmProblem(*LARGE, transpose_b=transpose_b, gate=gate), find(device)
    matmul = MatmulConfig(Extent(16, 32, 1), Extent(256, 128, 32), Extent(32, 16 if transpose_b else 32, 32))
    chosen = XeConfig(matmul, XeStrategy((8, 4), Prefetch(PrefetchLevels.L1, 3)))
    report = compile_kernel(real_ocloc(), compile_gemm(of, chosen, spec), target_of(spec)).reports[0]
    assert (report.grf_count, report.spill_bytes) == (256, 0)
    assert report.k_loop is not None
    assert report.k_loop.moves_per_256_dpas < 400
