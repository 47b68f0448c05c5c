import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.config.cpu import CpuConfig, CpuStrategy, Isa
from codegen.config.matmul import Extent, MatmulConfig
from codegen.cpu.emit.writer import Module
from codegen.cpu.isa import features, multiply_of
from codegen.cpu.nest.plan import Plan
from codegen.cpu.pack.pack_panels import write_packer
from codegen.cpu.pack.packer import (
    Packer,
    packer_of_a,
    packer_of_b,
)
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from tests.codegen.cpu.jit import AVX512, guarded, load
from tests.few import few

_P, _L = ctypes.c_void_p, ctypes.c_int64
_POISON = 0xA5
_FLAGS = (*AVX512, "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8")
_TYPES = [
    (DType.F32, DType.F32),
    (DType.TF32, DType.TF32),
    (DType.F16, DType.F16),
    (DType.BF16, DType.BF16),
    (DType.S8, DType.S8),
    (DType.U8, DType.S8),
    (DType.U8, DType.U8),
]
_NUMPY = {DType.F32: np.uint32, DType.TF32: np.uint32, DType.F16: np.uint16, DType.BF16: np.uint16}


def _plan(isa: Isa, a: DType, b: DType, mr: int, nr: int, transposed: tuple[bool, bool]) -> Plan | None:
    problem = GemmProblem(
        m=53, n=83, k=71, dtype_a=a, dtype_b=b, transpose_a=transposed[0], transpose_b=transposed[1], lda=97, ldb=101
    )
    config = CpuConfig(MatmulConfig(Extent(1, 1, 1), Extent(mr, nr, 64), Extent(mr, nr, 64)), CpuStrategy(isa))
    plan = Plan(problem, config, _FLAGS)
    return plan if multiply_of(a, b, isa, _FLAGS) is not None else None


def _values(stored: NDArray[np.generic], dtype: DType, plan: Plan) -> NDArray[np.generic]:
    """Elements as they are packed."""
    match plan.element_bytes, dtype:
        case 4, DType.F16:
            return stored.view(np.float16).astype(np.float32).view(np.uint32)
        case 4, DType.BF16:
            return stored.astype(np.uint32) << 16
        case 2, DType.S8 | DType.U8:
            return stored.astype(np.int16).view(np.uint16)
        case _:
            return stored


def _expected(packer: Packer, lines: NDArray[np.generic]) -> NDArray[np.uint8]:
    """The panel of [lines, depth], as bytes."""
    plan, (count, depth) = packer.plan, lines.shape
    if plan.parts > 1:
        return _expected_parts(packer, lines)
    whole = np.zeros((packer.lines, plan.padded(depth)), lines.dtype)
    whole[:count, :depth] = lines
    corrected = whole.view(np.int8).astype(np.int32).sum(1) * 128 if plan.shifted else None
    if plan.shifted and packer.name == "pack_a":
        whole = whole.view(np.uint8) ^ np.uint8(0x80)
    inner = 64 // plan.element_bytes if packer.by_lines else plan.group
    panel = whole.reshape(packer.lines, -1, inner).transpose(1, 0, 2)
    got = np.ascontiguousarray(panel).view(np.uint8).reshape(-1)
    if plan.shifted and packer.name == "pack_b":
        assert corrected is not None
        got = np.concatenate([got, corrected.astype(np.int32).view(np.uint8)])
    return got


def _expected_parts(packer: Packer, lines: NDArray[np.generic]) -> NDArray[np.uint8]:
    """The panel of [lines, depth] in parts: each the nearest bf16 to what the ones before leave."""
    plan, (count, depth) = packer.plan, lines.shape
    rest = np.zeros((packer.lines, plan.padded(depth)), np.float32)
    rest[:count, :depth] = lines.view(np.float16 if packer.dtype is DType.F16 else np.float32)
    parts = list[NDArray[np.uint16]]()
    for _ in range(plan.parts):
        bits = rest.view(np.uint32).astype(np.uint64)
        nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        cut = (bits & 0x7FFFFFFF) >= 0x7F7F8000  # not to infinity
        part = np.where(cut, bits >> 16, nearest).astype(np.uint16)
        part[(bits & 0x7F800000) == 0] &= 0x8000  # the instruction takes such small numbers as 0
        parts.append(part)
        of_part = (part.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(invalid="ignore"):
            rest = np.where(rest == of_part, np.float32(0), rest - of_part)
    inner = 32 if packer.by_lines else 2
    stacked = np.stack(parts).reshape(plan.parts, packer.lines, -1, inner)
    order = (2, 1, 0, 3) if packer.by_lines else (2, 0, 1, 3)  # [step][line][part], or [group][part][line]
    return np.ascontiguousarray(stacked.transpose(order)).view(np.uint8).reshape(-1)


@pytest.mark.parametrize(
    ("isa", "a", "b", "transposed"),
    few([(isa, a, b, (t, t)) for a, b in _TYPES for t in (False, True) for isa in Isa], 4),
)
def test_panels_hold_the_matrix_and_zeros(isa: Isa, a: DType, b: DType, transposed: tuple[bool, bool]) -> None:
    for mr, nr in ((16, 16), (32, 32)) if isa is Isa.AMX else ((14, 32), (6, 16), (24, 48)):
        plan = _plan(isa, a, b, mr, nr, transposed)
        if plan is None:
            pytest.skip(f"{isa.value} does not multiply {a.value} by {b.value}")
        for packer in (packer_of_a(plan), packer_of_b(plan)):
            _check(packer)


def _check(packer: Packer) -> None:
    plan = packer.plan
    operand = plan.problem.operands[0 if packer.name == "pack_a" else 1]
    rng = np.random.default_rng(7)
    elements = (operand.rows - 1) * operand.pitch + operand.columns
    kind = _NUMPY.get(operand.dtype, np.uint8)
    if operand.dtype is DType.F16:
        stored = rng.standard_normal(elements).astype(np.float16).view(np.uint16)
    else:
        stored = rng.integers(0, 256, elements * operand.dtype.nbytes, np.uint8).view(kind)
    memory = guarded(stored)
    step = operand.dtype.nbytes
    matrix = np.lib.stride_tricks.as_strided(memory, (operand.rows, operand.columns), (operand.pitch * step, step))
    lines = _values(np.ascontiguousarray(matrix if packer.along_k else matrix.T), operand.dtype, plan)
    pack = _loaded(packer)
    count, k = lines.shape
    for first in range(0, count, packer.lines):
        for low, depth in ((0, 64), (64, k - 64)):
            at = first * packer.pitch + low if packer.along_k else low * packer.pitch + first
            expected = _expected(packer, lines[first : first + packer.lines, low : low + depth])
            panel = guarded(np.full(expected.size, _POISON, np.uint8))
            pack(memory.ctypes.data + at * step, panel.ctypes.data, count - first, depth)
            same = panel == expected
            if plan.parts > 1:  # NaN has many forms
                same = same.reshape(-1, 2).all(1) | (_is_nan(panel) & _is_nan(expected))
            assert same.all(), (packer.name, plan.mr, plan.nr, first, low)


def _is_nan(bf16: NDArray[np.generic]) -> NDArray[np.bool_]:
    return (bf16.view(np.uint16) & 0x7FFF) > 0x7F80


def _loaded(packer: Packer) -> Callable[[int, int, int, int], None]:
    module = Module()
    write_packer(module, packer, prefetches=True)
    arguments = [("ptr", "%source"), ("ptr", "%panel"), ("i64", "%lines"), ("i64", "%depth")]
    with module.function("pack", arguments, linkage="") as f:
        f.call("void", packer.name, arguments)
    code = load(module.text, features(packer.plan.isa, packer.plan.used))
    return code.entry("pack", _P, _P, _L, _L)
