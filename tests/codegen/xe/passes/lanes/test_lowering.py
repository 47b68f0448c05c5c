"""Compiled kernels compute what numpy and the interpreter do."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import (
    DType,
    Extent,
    GemmProblem,
    KernelArtifact,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeConfig,
    XeStrategy,
    compile_module,
    simulate_module,
)
from codegen.simulate import RaceDetected
from codegen.xe.build.gemm import build_gemm
from codegen.xe.build.raster import launched
from codegen.xe.dialects import (
    parse,
    text,
)
from hal.facts.xe import find
from tests.codegen.upstream import check_upstream
from tests.codegen.xe.gemm_fixtures import GemmFixture
from tests.codegen.xe.modules.test_examples import EXAMPLE, EXAMPLES
from tests.codegen.xe.passes.test_lower_xetile_numbers import arrays_of
from tests.codegen.xetile_kernels import KERNELS
from tests.few import few
from tests.oracle import interpret

Array = NDArray[np.generic]
Doubles = NDArray[np.float64]
Values = Sequence[Array | int]
Grid = tuple[int, int, int]

B580 = find("b580")
STAGES = ["source", "xegpu", "subgroup", "lanes", "llvm", "spirv"]


def run(source: str, groups: Grid, values: Values, device: str = "b580") -> None:
    """Compile a module of one kernel and run it in the simulator; arrays change in place."""
    artifact = compile_module(source, find(device))
    assert [stage.name for stage in artifact.stages] == STAGES
    report = simulate_module(artifact, artifact.kernels[0].name, groups, None, values)
    assert report.executed == report.total


def doubles(value: Array | int) -> Doubles:
    """Convert to float64, which represents every value of the tests."""
    return np.asarray(value, np.float64)


ATOMIC = {"atomic", "atomic_columns"}  # of which a sub-group alone has no room for the offsets


@pytest.mark.parametrize(
    ("name", "maps"),
    [
        *few([(name, True) for name in KERNELS], 3),
        *(pytest.param(name, False, marks=pytest.mark.slow) for name in KERNELS if name not in ATOMIC),
    ],
)
def test_an_operation_computes_what_the_interpreter_says(name: str, maps: bool) -> None:
    source, expected, values = KERNELS[name].source(maps=maps), arrays_of(KERNELS[name]), arrays_of(KERNELS[name])
    interpret(parse(source), "k", (1, 1, 1), expected)
    artifact = compile_module(source, B580)
    check_upstream(artifact)
    simulate_module(artifact, "k", (1, 1, 1), None if maps else (16, 1, 1), values)
    for a, b in zip(values, expected, strict=True):
        np.testing.assert_allclose(doubles(a), doubles(b), rtol=1e-5, atol=1e-5)


@dataclass(frozen=True, slots=True)
class Gemm:
    """A GEMM of the builder; sizes in elements, `subgroups` over M and N."""

    size: tuple[int, int, int]
    block: tuple[int, int, int]
    subgroups: tuple[int, int]
    dtype: DType = DType.F16
    out: DType = DType.F32
    distance: int = 0
    order: LoopOrder = LoopOrder.M_OUTER
    pitch: int | None = None

    @property
    def problem(self) -> GemmProblem:
        """The problem."""
        (m, n, k), t = self.size, self.dtype
        return GemmProblem(m, n, k, dtype_a=t, dtype_b=t, dtype_c=self.out, ldb=self.pitch)

    @property
    def config(self) -> XeConfig:
        """The configuration."""
        levels = PrefetchLevels.L1 if self.distance else PrefetchLevels.NONE
        matmul = MatmulConfig(Extent(1, 1, 1), Extent(*self.block), Extent(8, 16, 16), self.order)
        return XeConfig(matmul, XeStrategy(self.subgroups, Prefetch(levels, self.distance)))


GEMMS = {
    "ragged": Gemm((100, 136, 72), (64, 96, 32), (4, 3)),
    "whole": Gemm((64, 128, 96), (64, 128, 32), (2, 4)),
    "less_than_a_block": Gemm((24, 40, 40), (32, 64, 16), (2, 2)),
    "prefetch": Gemm((128, 192, 160), (64, 96, 32), (2, 2), distance=2),
    "prefetch_beyond_k": Gemm((64, 96, 48), (64, 96, 32), (2, 2), distance=4),
    "bf16": Gemm((80, 104, 88), (32, 64, 48), (1, 4), DType.BF16, distance=1),
    "bf16_to_bf16": Gemm((80, 104, 88), (32, 64, 16), (4, 1), DType.BF16, DType.BF16),
    "f16_to_f16": Gemm((72, 144, 64), (40, 48, 32), (1, 3), out=DType.F16),
    "columns_first": Gemm((96, 200, 64), (32, 64, 64), (2, 2), order=LoopOrder.N_OUTER, distance=1),
    "pitch": Gemm((40, 72, 64), (40, 32, 32), (1, 2), pitch=80),
    "rows_of_48": Gemm((96, 64, 128), (96, 64, 32), (2, 2)),
    "one_subgroup": Gemm((40, 56, 32), (16, 32, 16), (1, 1)),
}


@pytest.mark.parametrize("name", few(GEMMS, 2))
def test_a_gemm_computes_what_numpy_does(name: str) -> None:
    case = GEMMS[name]
    problem, config = case.problem, case.config
    groups = launched(problem, config)
    fixture = GemmFixture(name, *case.size, case.dtype.value, case.out.value, groups, 16 * config.subgroups)
    a, b, c = fixture.operands()
    padded = np.full((problem.k, problem.pitch_b), 7, b.dtype)
    padded[:, : problem.n] = b
    values = [a, padded[:, : problem.n], c]
    run(text(build_gemm(problem, config, B580)), groups, values)
    assert fixture.worst(values) <= 1


def messages(artifact: KernelArtifact) -> tuple[int, ...]:
    """Count the block messages that read, write and prefetch in the code."""
    code = artifact.stage("llvm").data.decode()
    kinds = ("2d_block_read", "2d_block_write", "2d_block_prefetch")
    return tuple(len(re.findall(rf"call .*intel_sub_group_{kind}", code)) for kind in kinds)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ragged", (2, 4, 0)),
        ("prefetch", (4, 12, 12)),
        ("bf16", (6, 4, 12)),
        ("f16_to_f16", (6, 5, 0)),
        ("rows_of_48", (4, 12, 0)),
    ],
)
def test_a_gemm_takes_few_messages(name: str, expected: tuple[int, ...]) -> None:
    source = text(build_gemm(GEMMS[name].problem, GEMMS[name].config, B580))
    assert messages(compile_module(source, B580)) == expected


EPILOGUE = """
#map_a = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 32]>
#map_c = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 32]>
#a = #xetile.tile_attr<wg_map = #map_a>
#b = #xetile.tile_attr<wg_map = #map_b{order}>
#c = #xetile.tile_attr<wg_map = #map_c>
#row = #xetile.tile_attr<wg_map = #xetile.wg_map<sg_layout = [2, 3], sg_data = [1, 32]>>
!row = vector<1x96xf32>
!c = vector<64x96xf32>

gpu.module @m {{
  gpu.func @k(%A: memref<64x64xf16>, %B: {b}, %X: memref<1x96xf32>, %C: memref<64x96xf32>) kernel {{
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !c
    %x0 = xetile.init_tile %X[0, 0] : memref<1x96xf32> -> !xetile.tile<1x96xf32, #row>
    %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (!c) {{
      %at = xetile.init_tile %A[%c0, %k] : memref<64x64xf16> -> !xetile.tile<64x32xf16, #a>
      %bt = xetile.init_tile %B[%k, %c0] : {b} -> !xetile.tile<32x96xf16, #b>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf16, #a> -> vector<64x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x96xf16, #b> -> vector<32x96xf16>
      %d = xetile.tile_mma %a, %b, %acc {{wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}}
          : vector<64x32xf16>, vector<32x96xf16>, !c -> !c
      scf.yield %d : !c
    }}
    {epilogue}
    %ct = xetile.init_tile %C[0, 0] : memref<64x96xf32> -> !xetile.tile<64x96xf32, #c>
    xetile.store_tile %y, %ct : !c, !xetile.tile<64x96xf32, #c>
    gpu.return
  }}
}}"""

BIAS = """%x = xetile.load_tile %x0 : !xetile.tile<1x96xf32, #row> -> !row
    %bias = xetile.broadcast %x [0] : !row -> !c
    %biased = arith.addf %sum, %bias : !c"""
COLUMN_SUMS = """%s = xetile.reduction <add>, %sum [0] : !c -> !row
    xetile.store_tile %s, %x0 : !row, !xetile.tile<1x96xf32, #row>
    %y = math.exp %sum : !c"""


@dataclass(frozen=True, slots=True)
class Epilogue:
    """Epilogue code, and a function from the product and X to the expected C and X."""

    code: str
    expected: Callable[[Doubles, Doubles], tuple[Doubles, Doubles]]
    by_columns: bool = False

    @property
    def source(self) -> str:
        """Text of the module."""
        b = "memref<64x96xf16, strided<[1, 64]>>" if self.by_columns else "memref<64x96xf16>"
        return EPILOGUE.format(epilogue=self.code, b=b, order=", order = [0, 1]" if self.by_columns else "")


EPILOGUES = {
    "bias_relu": Epilogue(
        f"{BIAS}\n    %y = arith.maximumf %biased, %zero : !c", lambda c, x: (np.maximum(c + x, 0), x)
    ),
    "column_sums": Epilogue(COLUMN_SUMS, lambda c, x: (np.exp(c), c.sum(0, keepdims=True))),
    "tanh": Epilogue("%y = math.tanh %sum : !c", lambda c, x: (np.tanh(c), x)),
    "product_of_columns": Epilogue("%y = arith.addf %sum, %sum : !c", lambda c, x: (c + c, x), by_columns=True),
    "bias_of_columns": Epilogue(
        f"{BIAS}\n    %y = arith.mulf %biased, %biased : !c", lambda c, x: ((c + x) ** 2, x), by_columns=True
    ),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_an_epilogue_computes_what_numpy_does(name: str) -> None:
    case, rng = EPILOGUES[name], np.random.default_rng(2)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((64, 64), (64, 96)))
    x = rng.uniform(-1, 1, (1, 96)).astype(np.float32)
    expected = case.expected(doubles(a) @ doubles(b), doubles(x))
    b = np.asfortranarray(b) if case.by_columns else b
    c = np.full((64, 96), np.nan, np.float32)
    run(case.source, (1, 1, 1), [a, b, x, c])
    np.testing.assert_allclose(doubles(c), expected[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(doubles(x), expected[1], rtol=1e-4, atol=1e-4)


def test_a_may_be_stored_by_columns() -> None:
    case, rng = EPILOGUES["bias_relu"], np.random.default_rng(4)
    source = case.source.replace("memref<64x64xf16>", "memref<64x64xf16, strided<[1, 64]>>")
    source = source.replace("wg_map = #map_a>", "wg_map = #map_a, order = [0, 1]>")
    a = np.asfortranarray(rng.uniform(-1, 1, (64, 64)).astype(np.float16))
    b, x = rng.uniform(-1, 1, (64, 96)).astype(np.float16), rng.uniform(-1, 1, (1, 96)).astype(np.float32)
    c = np.full((64, 96), np.nan, np.float32)
    expected, _ = case.expected(doubles(a) @ doubles(b), doubles(x))
    run(source, (1, 1, 1), [a, b, x, c])
    np.testing.assert_allclose(doubles(c), expected, rtol=1e-4, atol=1e-4)
    code = compile_module(source, B580).stage("llvm").data.decode()
    assert "load <16 x half>" in code  # words of two elements, not cut


def test_transposed_messages_do_not_interleave_operands() -> None:
    code = compile_module(EPILOGUES["product_of_columns"].source, B580).stage("llvm").data.decode()
    assert "block_read_transpose_32b_16r8x1c" in code
    assert "block_read_transpose_32b_32r8x1c" not in code  # moves would take them apart


@pytest.mark.parametrize("which", [0, 1], ids=["before_the_loop", "in_the_loop"])
def test_a_barrier_that_is_missing_is_a_race(which: int) -> None:
    barrier, source = "gpu.barrier\n", (EXAMPLES / "gemm_shared_memory.mlir").read_text()
    parts = source.split(barrier)
    assert len(parts) == 3
    without = barrier.join(parts[: which + 1]) + barrier.join(parts[which + 1 :])
    artifact = compile_module(without, B580)
    example = EXAMPLE["gemm_shared_memory"]
    values = list(example.arguments(np.random.default_rng(0)).values())
    with pytest.raises(RaceDetected, match="shared"):
        simulate_module(artifact, "gemm", example.grid, None, values)


def test_local_memory_is_accessed_in_vectors_that_join_as_words() -> None:
    source = (EXAMPLES / "gemm_shared_memory.mlir").read_text()
    code = compile_module(source, B580).stage("llvm").data.decode()
    assert "store <8 x half>" in code
    assert not re.search(r"(load|store) half\b", code)
    assert "<16 x half>" not in code
