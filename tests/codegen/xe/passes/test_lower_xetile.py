"""MLIR accepts what XeTile lowers to, and keeps its layouts. Golden text is in tests/filecheck."""

import pytest

from codegen import (
    DType,
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeConfig,
    XeStrategy,
)
from codegen.target import target_of
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.mlir import MlirModule
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_gemm,
    lower_xetile,
)
from hal.facts.xe import find

B580 = find("b580")
TARGET = target_of(B580)
RAGGED = GemmProblem(200, 136, 72)
LARGE = GemmProblem(1000, 1016, 520)


def config(
    block: tuple[int, int, int],
    sg_layout: tuple[int, int],
    innermost: tuple[int, int, int] = (32, 32, 32),
    distance: int = 2,
    order: LoopOrder = LoopOrder.M_OUTER,
) -> XeConfig:
    """A configuration; the number of work-groups does not matter here."""
    matmul = MatmulConfig(Extent(1, 1, 1), Extent(*block), Extent(*innermost), order)
    levels = PrefetchLevels.L1 if distance else PrefetchLevels.NONE
    return XeConfig(matmul, XeStrategy(sg_layout, Prefetch(levels, distance)))


def lowered(problem: GemmProblem, chosen: XeConfig) -> str:
    """The XeGPU of a GEMM, in generic form."""
    module = build_gemm(problem, chosen, B580)
    lower_gemm(module, problem, chosen, TARGET)
    return text(module, generic=True)


CASES = {
    "ragged": (RAGGED, config((64, 64, 32), (2, 2))),
    "ragged-no-prefetch": (RAGGED, config((64, 64, 32), (2, 2), distance=0)),
    "large": (LARGE, config((256, 256, 32), (8, 4), distance=3)),
    "n-outer": (LARGE, config((256, 256, 32), (8, 4), distance=3, order=LoopOrder.N_OUTER)),
    "strided-bf16": (
        GemmProblem(200, 136, 72, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16, lda=88, ldb=144, ldc=160),
        config((64, 128, 64), (2, 4)),
    ),
    "f16-output": (GemmProblem(1000, 1016, 520, dtype_c=DType.F16), config((128, 256, 32), (4, 8))),
    "odd-tiles": (GemmProblem(512, 384, 1024), config((160, 96, 48), (4, 3), (8, 32, 16))),
    "one-dpas": (GemmProblem(512, 384, 1024), config((8, 16, 16), (1, 1), (8, 16, 16))),
}


@pytest.mark.parametrize("case", CASES)
def test_mlir_accepts_the_xegpu(case: str) -> None:
    problem, chosen = CASES[case]
    module = build_gemm(problem, chosen, B580)
    lower_gemm(module, problem, chosen, TARGET)
    module.verify()
    generic = text(module, generic=True)
    assert text(parse(generic), generic=True) == generic
    MlirModule(generic)


def test_load_blocks_are_the_innermost_loops() -> None:
    chosen = config((64, 128, 64), (2, 4), innermost=(8, 32, 16))
    generic = lowered(RAGGED, chosen)
    a, b = (line for line in generic.splitlines() if '"xegpu.load_nd"' in line)
    assert "sg_data = [32, 64], inst_data = [8, 16]" in a
    assert "sg_data = [64, 32], inst_data = [16, 32]" in b


def test_mlir_keeps_the_layouts_of_the_operations() -> None:
    chosen = config((64, 128, 32), (2, 4), distance=1)
    generic = lowered(RAGGED, chosen)
    printed = str(MlirModule(generic))
    for layout in (
        "<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [32, 32]>",  # loads of A and B
        "<sg_layout = [8, 1], sg_data = [8, 32], inst_data = [8, 32]>",  # prefetch of A
        "<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>",  # dpas and store
    ):
        assert f"#xegpu.layout{layout}" in printed


def test_one_tile_may_be_prefetched_loaded_and_stored() -> None:
    """Users of one descriptor with layouts of their own."""
    source = """
    #t = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [32, 32]>>
    module attributes {gpu.container_module} {
      gpu.module @m { gpu.func @k(%A: memref<200x136xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
        %t = xetile.init_tile %A[8, 16] : memref<200x136xf32> -> !xetile.tile<64x64xf32, #t>
        xetile.prefetch_tile %t locality<3> : !xetile.tile<64x64xf32, #t>
        %v = xetile.load_tile %t : !xetile.tile<64x64xf32, #t> -> vector<64x64xf32>
        %w = arith.addf %v, %v : vector<64x64xf32>
        xetile.store_tile %w, %t : vector<64x64xf32>, !xetile.tile<64x64xf32, #t>
        gpu.return
      } }
    }"""
    module = parse(source)
    lower_xetile(module, LowerXeTilePass(prefetch=(16, 16)))
    module.verify()
    generic = text(module, generic=True)
    assert generic.count("xegpu.create_nd_tdesc") == 1
    MlirModule(generic)


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="lower-xetile: expected sizes of at least 1, got 8,0"):
        LowerXeTilePass(load_a=(8, 0))
