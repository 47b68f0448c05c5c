"""Elements that tile registers multiply in parts of bf16: the sums are those of the elements."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import DType, GemmProblem, Packing
from codegen.config.cpu import CpuConfig, Isa
from codegen.config.matmul import LoopOrder
from codegen.cpu.microkernel import microkernels
from codegen.cpu.nest.plan import Plan
from tests.codegen.cpu.jit import guarded
from tests.codegen.cpu.run_kernels import cpu_config, this_cpu
from tests.codegen.cpu.run_tiles import RAPIDS, run_tiles

pytestmark = pytest.mark.skipif(
    not {"avx512f", "avx512_bf16"} <= set(this_cpu().isa or ()), reason="runs what surrounds tiles: needs AVX-512 BF16"
)
_M, _N, _K = 40, 52, 150
_KINDS = {DType.F32: np.float32, DType.TF32: np.float32, DType.F16: np.float16}
_ROUNDING = 2.0**-24  # of f32


def _config(depth: int, b: Packing = Packing.WHOLE) -> CpuConfig:
    return cpu_config(Isa.AMX, block=(32, 32, depth), tile=(32, 32, 32), order=LoopOrder.M_OUTER, a=Packing.BLOCK, b=b)


def _product(a: NDArray[np.generic], b: NDArray[np.generic], dtype: DType, config: CpuConfig) -> NDArray[np.float32]:
    (m, k), n = a.shape, b.shape[1]
    problem = GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=DType.F32)
    buffers = tuple(guarded(x.reshape(-1)) for x in (a, b, np.full((m, n), np.nan, np.float32)))
    run_tiles(problem, config, buffers)
    return buffers[2].reshape(m, n).view(np.float32)


def _drawn(dtype: DType, exponents: int) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    rng = np.random.default_rng(5)
    shapes = (_M, _K), (_K, _N)
    scales = [2.0 ** rng.integers(-exponents, exponents + 1, shape) for shape in shapes]
    a, b = (
        (rng.standard_normal(shape) * scale).astype(_KINDS[dtype]) for shape, scale in zip(shapes, scales, strict=True)
    )
    if dtype is DType.TF32:  # 11 bits
        a, b = ((x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b))
    return a, b


@pytest.mark.parametrize(("dtype", "exponents"), [(DType.F32, 0), (DType.F32, 20), (DType.TF32, 10), (DType.F16, 3)])
def test_sums_of_parts_err_less_than_those_of_fused_multiply_adds(dtype: DType, exponents: int) -> None:
    a, b = _drawn(dtype, exponents)
    doubles = a.astype(np.float64), b.astype(np.float64)
    exact, sizes = doubles[0] @ doubles[1], np.abs(doubles[0]) @ np.abs(doubles[1])
    fused = np.zeros(exact.shape, np.float32)
    for column, row in zip(doubles[0].T, doubles[1], strict=True):  # each product is exact
        fused = (fused + np.outer(column, row)).astype(np.float32)
    errors = [np.abs(got - exact) / sizes / _ROUNDING for got in (_product(a, b, dtype, _config(160)), fused)]
    assert np.sqrt((errors[0] ** 2).mean()) < np.sqrt((errors[1] ** 2).mean())
    assert errors[0].max() < 8


@pytest.mark.parametrize("depth", [32, 64, 160])
@pytest.mark.parametrize(
    ("dtype", "special"),
    [
        (DType.F32, np.inf), (DType.F32, -np.inf), (DType.F32, np.nan), (DType.F32, 3.4e38), (DType.F32, -3.4028234e38),
        (DType.TF32, np.inf), (DType.TF32, 3.4e38), (DType.F16, -np.inf), (DType.F16, np.nan),
    ],
)  # fmt: skip
def test_what_is_not_finite_or_large_gives_what_elements_do(dtype: DType, special: float, depth: int) -> None:
    kind, rng = _KINDS[dtype], np.random.default_rng(3)
    a, b = rng.standard_normal((_M, _K)).astype(kind), rng.standard_normal((_K, _N)).astype(kind)
    a[7, 5] = a[9, 70] = b[133, 11] = special
    b[5], b[70], a[:, 133] = 0.75, 0, np.where(np.arange(_M) % 2, 1, 2**-9)
    with np.errstate(all="ignore"):
        expected = a.astype(np.float64) @ b.astype(np.float64)
        sizes = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        expected = np.where(np.abs(expected) > 3.4028235e38, np.copysign(np.inf, expected), expected)
        got = _product(a, b, dtype, _config(depth, Packing.BEFOREHAND if depth == 64 else Packing.WHOLE))
        near = np.abs(got - expected) <= 100 * _ROUNDING * sizes
    assert ((got == expected) | (np.isnan(got) & np.isnan(expected)) | near).all()
    assert np.isfinite(got[8, 12]), "of other rows and columns all are finite"


def test_what_is_smaller_than_the_least_normal_number_is_lost() -> None:
    a, b = _drawn(DType.F32, 0)
    a[3] *= np.float32(2.0**-120)
    got = _product(a, b, DType.F32, _config(160))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    lost = 2.0**-126 * (np.abs(a.astype(np.float64)).sum(1)[:, None] + np.abs(b.astype(np.float64)).sum(0) + 8 * _K)
    assert (np.abs(got - exact)[3] <= lost[3]).all()
    assert (got[3] != exact[3].astype(np.float32)).any()


def test_sums_that_nobody_stored_are_not_checked() -> None:
    problem = GemmProblem(40, 40, 96, dtype_c=DType.F32, experts=3)
    text = microkernels(Plan(problem, _config(96, Packing.BLOCK), RAPIDS.isa or ()))
    for columns, vectors in ((32, 2), (8, 1)):
        (body,) = re.findall(rf"define internal i1 @are_finite_{columns}\(.*?\n}}", text, re.DOTALL)
        assert body.count("load <16 x i32>") == vectors
        rows = re.findall(rf"call i1 @are_finite_{columns}\(ptr \S+, i64 (\S+)\)", text)
        assert set(rows) == {"%rows"}
    assert "i64 %rows, i64 " in text[text.index("call void @sums_of_elements") :]
