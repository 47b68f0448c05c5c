"""Both ways from a work-group to lanes give the same numbers, bit for bit, and they are numpy's."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import (
    CompileFailed,
    Distributor,
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
    simulate,
)
from codegen.artifact.manifest import module_manifest
from codegen.simulate import RaceDetected
from codegen.xe.build.gemm import build_gemm
from codegen.xe.build.raster import launched
from codegen.xe.dialects import (
    parse,
    text,
)
from hal.facts.xe import find
from tests.codegen.gemm_fixtures import GemmFixture
from tests.codegen.lower_xetile.test_lower_xetile_numbers import FAULTS, arrays_of
from tests.codegen.test_examples import EXAMPLE, EXAMPLES
from tests.codegen.xetile_kernels import KERNELS
from tests.oracle import interpret

Array = NDArray[np.generic]
Doubles = NDArray[np.float64]
Values = Sequence[Array | int]
Grid = tuple[int, int, int]

B580 = find("b580")
OURS = ["source", "xegpu", "subgroup", "lanes", "llvm", "spirv"]
STAGES = {Distributor.MLIR: ["source", "xegpu", "llvm", "spirv"], Distributor.XETUNE: OURS}


def compiled(source: str, way: Distributor, device: str = "b580") -> KernelArtifact:
    """The module by the way that is asked for, which its manifest says."""
    artifact = compile_module(source, find(device), distribution=way)
    because = ["asked-for"] if way is Distributor.XETUNE else []
    assert module_manifest(artifact)["distribution"] == {"by": way.value, "because": because}
    assert [stage.name for stage in artifact.stages] == STAGES[way]
    return artifact


def both(source: str, groups: Grid, made: Callable[[], Values], device: str = "b580", error: float = 0.0) -> Values:
    """The arguments after the kernel has run: as MLIR's way left them, which ours did too but for `error`."""
    left: dict[Distributor, Values] = {}
    for way in Distributor:
        artifact, values = compiled(source, way, device), made()
        report = simulate(artifact, artifact.kernels[0].name, groups, None, values)
        assert report.executed == report.total
        left[way] = values
    for by_mlir, by_us in zip(left[Distributor.MLIR], left[Distributor.XETUNE], strict=True):
        np.testing.assert_allclose(doubles(by_us), doubles(by_mlir), rtol=0, atol=error)
    return left[Distributor.MLIR]


def doubles(value: Array | int) -> Doubles:
    """As doubles, which hold every value of the tests."""
    return np.asarray(value, np.float64)


@pytest.mark.parametrize("device", ["b580", "pvc"])
@pytest.mark.parametrize("name", [name for name, example in EXAMPLE.items() if example.path is Distributor.MLIR])
def test_on_the_examples(name: str, device: str) -> None:
    source, example = (EXAMPLES / f"{name}.mlir").read_text(), EXAMPLE[name]
    expected = example.expected(named := example.arguments(np.random.default_rng(1)))
    left = both(source, example.grid, lambda: list(example.arguments(np.random.default_rng(1)).values()), device)
    for output, values in expected.items():
        result = doubles(left[list(named).index(output)])
        np.testing.assert_allclose(result, doubles(values), rtol=0, atol=example.tolerance)


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in FAULTS])
def test_on_operations(name: str) -> None:
    source, expected = KERNELS[name].source(maps=True), arrays_of(KERNELS[name])
    interpret(parse(source), "k", (1, 1, 1), expected)
    left = both(source, (1, 1, 1), lambda: arrays_of(KERNELS[name]))
    for a, b in zip(left, expected, strict=True):
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
        """What is computed."""
        (m, n, k), t = self.size, self.dtype
        return GemmProblem(m, n, k, dtype_a=t, dtype_b=t, dtype_c=self.out, ldb=self.pitch)

    @property
    def config(self) -> XeConfig:
        """How."""
        levels = PrefetchLevels.L1 if self.distance else PrefetchLevels.NONE
        matmul = MatmulConfig(Extent(1, 1, 1), Extent(*self.block), Extent(8, 16, 16), self.order)
        return XeConfig(matmul, XeStrategy(self.subgroups, Prefetch(levels, self.distance)))


GEMMS = {
    "whole": Gemm((64, 128, 96), (64, 128, 32), (2, 4)),
    "ragged": Gemm((100, 136, 72), (64, 96, 32), (4, 3)),
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


@pytest.mark.parametrize("name", GEMMS)
def test_on_gemms(name: str) -> None:
    case = GEMMS[name]
    problem, config = case.problem, case.config
    groups = launched(problem, config)
    fixture = GemmFixture(name, *case.size, case.dtype.value, case.out.value, groups, 16 * config.subgroups)

    def made() -> Values:
        a, b, c = fixture.operands()
        padded = np.full((problem.k, problem.pitch_b), 7, b.dtype)
        padded[:, : problem.n] = b
        return [a, padded[:, : problem.n], c]

    left = both(text(build_gemm(problem, config, B580)), groups, made)
    assert fixture.worst([np.asarray(value) for value in left]) <= 1


def messages(artifact: KernelArtifact) -> dict[str, int]:
    """How many block messages of each kind the code has."""
    code = artifact.stage("llvm").data.decode()
    kinds = ("2d_block_read", "2d_block_write", "2d_block_prefetch")
    return {kind: len(re.findall(rf"call .*intel_sub_group_{kind}", code)) for kind in kinds}


@pytest.mark.parametrize("name", ["ragged", "prefetch", "bf16", "f16_to_f16", "rows_of_48"])
def test_ours_takes_no_more_messages(name: str) -> None:
    source = text(build_gemm(GEMMS[name].problem, GEMMS[name].config, B580))
    by_mlir, by_us = (messages(compiled(source, way)) for way in (Distributor.MLIR, Distributor.XETUNE))
    assert by_us["2d_block_read"] >= 2
    assert all(by_us[kind] <= count for kind, count in by_mlir.items()), (by_us, by_mlir)


def test_mlir_is_given_the_largest_blocks_that_messages_load() -> None:
    case = Gemm((128, 128, 64), (128, 128, 32), (4, 2))
    artifact = compiled(text(build_gemm(case.problem, case.config, B580)), Distributor.MLIR)
    assert messages(artifact)["2d_block_read"] == 1 + 2  # 32 x 32 of A, 32 x 64 of B


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
    """What follows the product, and what C and X become from the product and X; `error`: sums may differ by order."""

    code: str
    expected: Callable[[Doubles, Doubles], tuple[Doubles, Doubles]]
    by_columns: bool = False
    error: float = 0.0

    @property
    def source(self) -> str:
        """The module's text."""
        b = "memref<64x96xf16, strided<[1, 64]>>" if self.by_columns else "memref<64x96xf16>"
        return EPILOGUE.format(epilogue=self.code, b=b, order=", order = [0, 1]" if self.by_columns else "")


EPILOGUES = {
    "bias_relu": Epilogue(
        f"{BIAS}\n    %y = arith.maximumf %biased, %zero : !c", lambda c, x: (np.maximum(c + x, 0), x)
    ),
    "column_sums": Epilogue(COLUMN_SUMS, lambda c, x: (np.exp(c), c.sum(0, keepdims=True)), error=1e-4),
    "tanh": Epilogue("%y = math.tanh %sum : !c", lambda c, x: (np.tanh(c), x)),
    "product_of_columns": Epilogue("%y = arith.addf %sum, %sum : !c", lambda c, x: (c + c, x), by_columns=True),
    "bias_of_columns": Epilogue(
        f"{BIAS}\n    %y = arith.mulf %biased, %biased : !c", lambda c, x: ((c + x) ** 2, x), by_columns=True
    ),
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_on_epilogues(name: str) -> None:
    case, rng = EPILOGUES[name], np.random.default_rng(2)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((64, 64), (64, 96)))
    x = rng.uniform(-1, 1, (1, 96)).astype(np.float32)
    expected = case.expected(doubles(a) @ doubles(b), doubles(x))
    b = np.asfortranarray(b) if case.by_columns else b
    c = np.full((64, 96), np.nan, np.float32)
    *_, left_x, left_c = both(case.source, (1, 1, 1), lambda: [a, b, x.copy(), c.copy()], error=case.error)
    np.testing.assert_allclose(doubles(left_c), expected[0], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(doubles(left_x), expected[1], rtol=1e-4, atol=1e-4)


def test_on_a_that_is_stored_by_columns() -> None:
    case, rng = EPILOGUES["bias_relu"], np.random.default_rng(4)
    source = case.source.replace("memref<64x64xf16>", "memref<64x64xf16, strided<[1, 64]>>")
    source = source.replace("wg_map = #map_a>", "wg_map = #map_a, order = [0, 1]>")
    a = np.asfortranarray(rng.uniform(-1, 1, (64, 64)).astype(np.float16))
    b, x = rng.uniform(-1, 1, (64, 96)).astype(np.float16), rng.uniform(-1, 1, (1, 96)).astype(np.float32)
    c = np.full((64, 96), np.nan, np.float32)
    *_, left_c = both(source, (1, 1, 1), lambda: [a, b, x.copy(), c.copy()])
    expected, _ = case.expected(doubles(a) @ doubles(b), doubles(x))
    np.testing.assert_allclose(doubles(left_c), expected, rtol=1e-4, atol=1e-4)
    code = compiled(source, Distributor.XETUNE).stage("llvm").data.decode()
    assert "load <16 x half>" in code  # words of two elements, not cut


def test_transposed_messages_do_not_interleave_operands() -> None:
    code = compiled(EPILOGUES["product_of_columns"].source, Distributor.XETUNE).stage("llvm").data.decode()
    assert "block_read_transpose_32b_16r8x1c" in code
    assert "block_read_transpose_32b_32r8x1c" not in code  # moves would take them apart


@pytest.mark.parametrize(("name", "fault"), [("softmax_rows", "computed_rows"), ("subgroup_gemm", "sub-group-level")])
def test_mlir_is_not_asked_for_what_it_gets_wrong(name: str, fault: str) -> None:
    source = (EXAMPLES / f"{name}.mlir").read_text()
    with pytest.raises(CompileFailed, match=f"expected a module that MLIR's pipeline lowers rightly, .*{fault}"):
        compile_module(source, B580, distribution=Distributor.MLIR)
    asked = compile_module(source, B580, distribution=Distributor.XETUNE)
    assert asked.distribution == compile_module(source, B580).distribution


def test_what_is_asked_for_is_in_the_key() -> None:
    source = KERNELS["product"].source(maps=True)
    assert compiled(source, Distributor.MLIR).key != compiled(source, Distributor.XETUNE).key


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
        simulate(artifact, "gemm", example.grid, None, values)


def test_local_memory_is_accessed_in_vectors_that_join_as_words() -> None:
    source = (EXAMPLES / "gemm_shared_memory.mlir").read_text()
    code = compile_module(source, B580).stage("llvm").data.decode()
    assert "store <8 x half>" in code
    assert not re.search(r"(load|store) half\b", code)
    assert "<16 x half>" not in code
