"""Functions on vectors of f32 against float64, over all of f32: numbers of every size, infinities and NaN."""

import ctypes
import math
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.config.cpu import Isa
from codegen.cpu.emit.vector_math import (
    Floats,
    exp,
    gelu,
    gelu_tanh,
    sigmoid,
    silu,
    tanh,
)
from codegen.cpu.emit.writer import Module
from codegen.cpu.isa import ISA_FACTS
from tests.codegen.cpu.microkernels import skip_without

Float32, Float64 = NDArray[np.float32], NDArray[np.float64]

# Every 4096th bit pattern: each exponent has 2048 numbers of either sign.
PATTERNS = np.arange(0, 2**32, 4096, dtype=np.uint64).astype(np.uint32).view(np.float32)
NEAR = np.linspace(-30, 30, 2**18, dtype=np.float32)
EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 88.72283, 88.8, -87.33654, -103.97, -104.1, 0.625, 16.0], "f")
ALL = np.concatenate([PATTERNS[~np.isnan(PATTERNS)], NEAR, EDGES])
_SMALLEST = 2.0**-126


def evaluated(function: Callable[[Floats, str], str], isa: Isa, x: Float32) -> Float32:
    """The function of every number."""
    skip_without(isa)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module, lanes = Module(), ISA_FACTS[isa].vector_bytes // 4
    with (
        module.function("f", [("ptr", "%x"), ("ptr", "%y"), ("i64", "%n")], linkage="") as f,
        f.loop(0, "%n", lanes) as each,
    ):
        v = Floats(f, lanes, isa is Isa.AVX512)
        offset = f.mul(each.index, 4)
        f.store(v.type, function(v, f.load(v.type, f.at("%x", offset), 4)), f.at("%y", offset), 4)
    features = ",".join(f"+{name}" for name in ISA_FACTS[isa].features)
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="x86-64", features=features, jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(module.text), machine)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3)(engine.get_function_address("f"))
    padded = np.resize(x, -(-len(x) // lanes) * lanes)
    y = np.empty_like(padded)
    call(padded.ctypes.data, y.ctypes.data, len(padded))
    return y[: len(x)]


def units(got: Float32, wanted: Float64) -> Float64:
    """Distance in units of the last place of the result in f32, of the smallest normal numbers below those."""
    size = np.maximum(np.abs(wanted), _SMALLEST)
    with np.errstate(invalid="ignore"):
        distance = np.abs(got.astype(np.float64) - wanted) / 2.0 ** (np.floor(np.log2(size)) - 23)
    same = (got == wanted.astype(np.float32)) | (np.isnan(got) & np.isnan(wanted))
    return np.where(same, 0.0, np.nan_to_num(distance, nan=np.inf))


def erf(x: Float64) -> Float64:
    """The error function."""
    return np.array([math.erf(value) for value in x])


both = pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX2])


@both
def test_exp(isa: Isa) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = np.exp(ALL.astype(np.float64))
        wanted = np.where(wanted > float(np.finfo(np.float32).max) * (1 + 2.0**-25), np.inf, wanted)
    assert units(evaluated(exp, isa, ALL), wanted).max() <= 1


@both
def test_sigmoid(isa: Isa) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = 1 / (1 + np.exp(-ALL.astype(np.float64)))
    got = evaluated(sigmoid, isa, ALL)
    normal = ~(wanted < _SMALLEST)
    assert units(got, wanted)[normal].max() <= 2.5
    assert np.abs(got - wanted)[~normal].max() <= _SMALLEST


@both
def test_tanh(isa: Isa) -> None:
    with np.errstate(invalid="ignore"):
        assert units(evaluated(tanh, isa, ALL), np.tanh(ALL.astype(np.float64))).max() <= 1.5


@pytest.mark.parametrize(
    ("isa", "every"),
    [
        (Isa.AVX512, 16),
        (Isa.AVX2, 16),
        *(pytest.param(isa, 1, marks=pytest.mark.slow) for isa in (Isa.AVX512, Isa.AVX2)),
    ],
)
def test_gelu(isa: Isa, every: int) -> None:
    some = np.concatenate([ALL[::every], EDGES])
    x = some.astype(np.float64)
    got, finite = evaluated(gelu, isa, some), np.isfinite(some)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = 0.5 * x * (1 + erf(x / math.sqrt(2)))
        assert (np.abs(got - wanted)[finite] <= 3e-7 * np.abs(x[finite])).all()
    assert np.isnan(got[np.isnan(some)]).all()
    assert (got[np.isposinf(some)] == np.inf).all()
    assert (got[np.isneginf(some)] == 0).all()


@both
def test_gelu_tanh(isa: Isa) -> None:
    x = ALL.astype(np.float64)
    got, finite = evaluated(gelu_tanh, isa, ALL), np.isfinite(ALL)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        assert (np.abs(got - wanted)[finite] <= 2e-7 * np.abs(x[finite])).all()
    assert np.isnan(got[np.isnan(ALL)]).all()
    assert (got[np.isposinf(ALL)] == np.inf).all()


@both
def test_silu(isa: Isa) -> None:
    x = ALL.astype(np.float64)
    got = evaluated(silu, isa, ALL)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = x / (1 + np.exp(-x))
        sigmoids = 1 / (1 + np.exp(-x))
    normal = (sigmoids >= _SMALLEST) & (np.abs(wanted) >= _SMALLEST) & np.isfinite(x)
    assert units(got, wanted)[normal].max() <= 3
    rest = ~normal & np.isfinite(x)
    assert (np.abs(got[rest] - wanted[rest]) <= _SMALLEST * (1 + np.abs(x[rest]))).all()
    assert (got[np.isposinf(ALL)] == np.inf).all()
    assert np.isnan(got[np.isnan(ALL)]).all()
