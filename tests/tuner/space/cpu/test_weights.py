"""The default, the space and the traffic of problems with weights."""

from dataclasses import replace

import pytest

from codegen import DType, GemmProblem, Packing
from codegen.cpu.rules import check_cpu
from codegen.problem.dtype import WEIGHTS
from codegen.problem.quantization import parse_quantization
from tests.tuner.space.cpu.cpus import OLD, RAPIDS, ZEN
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.space.cpu.space import cpu_space
from tuner.space.cpu.traffic import traffic

_K = 1056  # no multiple of 64


def _problem(m: int, dtype: DType = DType.U4, scales: str = "32:bf16", *, transpose_b: bool = True) -> GemmProblem:
    return GemmProblem(
        m, 640, _K,
        dtype_a=DType.BF16, dtype_b=dtype, transpose_b=transpose_b, quantization=parse_quantization(scales),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", WEIGHTS)
def test_the_default_is_legal(dtype: DType) -> None:
    for spec in (RAPIDS, ZEN, OLD):
        for m, scales, transpose_b in ((1, "32:bf16", True), (3, "48:f16", True), (7, "column:f32", False)):
            p = _problem(m, dtype, scales, transpose_b=transpose_b)
            check_cpu(p, default_cpu_config(p, spec), spec)


@pytest.mark.parametrize(
    ("m", "scales", "transpose_b", "packing"),
    [
        (1, "32:bf16", True, Packing.NONE),
        (8, "column:f16", True, Packing.NONE),
        (9, "32:bf16", True, Packing.BLOCK),
        (1, "48:bf16", True, Packing.BLOCK),
        (1, "32:bf16", False, Packing.BLOCK),
        (700, "32:bf16", True, Packing.WHOLE),
    ],
)
def test_few_rows_decode_in_registers(m: int, scales: str, transpose_b: bool, packing: Packing) -> None:
    p = _problem(m, scales=scales, transpose_b=transpose_b)
    assert default_cpu_config(p, replace(ZEN, cores=4)).strategy.pack_b is packing


@pytest.mark.slow
def test_points_of_the_space_are_legal() -> None:
    p = _problem(2)
    space = cpu_space(p, ZEN)
    for row in range(0, len(space), 400):
        check_cpu(p, space.config(row), ZEN)


def test_bytes_of_b_are_those_of_the_codes() -> None:
    p, spec = _problem(2), replace(ZEN, l1_bytes=2**12, l2_bytes=2**14)
    for problem, nbytes in (
        (p, 640 * _K // 2),
        (replace(p, dtype_b=DType.S8, ldb=None, batch_stride_b=None), 640 * _K),
    ):
        config = default_cpu_config(problem, replace(spec, cores=1))
        assert traffic(problem, config, spec)[-1].b == nbytes
