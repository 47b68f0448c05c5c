"""Numbers: conversion between types, and products that are added without rounding between."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from codegen.simulate.values import Array, bf16_to_f32, f32_to_bf16, f64_to_bf16
from codegen.xe.machine.execute.threads import VIEWS, Rounding
from codegen.xe.machine.operands import DataType

Exact = Callable[[Sequence[Fraction]], Fraction]

_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
_BELOW_F32 = (1 << 29) - 1  # bits of a float64 that a float32 does not have
_HALFWAY = 1 << 28


def widened(values: Array, type_: DataType) -> Array:
    """Return values for arithmetic: integers as int64 or, of 64 bits without sign, uint64; floats as float32 or 64."""
    match type_:
        case DataType.BF:
            return bf16_to_f32(np.ascontiguousarray(values))
        case DataType.BF8:  # the upper half of a float16
            return (values.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
        case DataType.HF:
            return values.astype(np.float32)
        case DataType.F | DataType.DF | DataType.TF32 | DataType.VF | DataType.UQ:
            return values
        case _:
            return values.astype(np.int64)


def converter(to: DataType, saturate: bool) -> Callable[[Array], Array]:
    """Return a function that converts results to a type: floats to nearest, floats to integers towards zero."""
    dtype = VIEWS[to]
    if to.is_float:
        return lambda values: _to_float(_saturated(values) if saturate else values, to, dtype)
    return lambda values: _to_integer(values, dtype, saturate)


def _saturated(values: Array) -> Array:
    """Return values clamped to 0 and 1; NaN becomes 0. Source: IGC's virtual ISA, "Saturation"."""
    return np.where(np.isnan(values), values.dtype.type(0), np.clip(values, 0, 1))


def _to_float(values: Array, to: DataType, dtype: np.dtype[np.generic]) -> Array:
    if to is not DataType.BF:
        return values.astype(dtype, copy=False)
    return f32_to_bf16(values) if values.dtype == np.float32 else f64_to_bf16(values.astype(np.float64))


def _to_integer(values: Array, dtype: np.dtype[np.generic], saturate: bool) -> Array:
    limits = np.iinfo(dtype.str)
    if values.dtype.kind != "f":
        return np.clip(values, limits.min, limits.max).astype(dtype) if saturate else values.astype(dtype)
    whole = np.trunc(values.astype(np.float64))
    inside = (whole >= limits.min) & (whole < float(limits.max) + 1)
    exact = np.where(inside, whole, 0).astype(dtype)
    ends = np.where(whole > 0, limits.max, limits.min).astype(dtype)
    return np.where(np.isnan(values), dtype.type(0), np.where(inside, exact, ends)).astype(dtype)


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c of float32, rounded once; of float64 without errors but of the last rounding."""
    if np.result_type(a, b, c) == np.float64:
        return _fused_f64(*np.broadcast_arrays(*(v.astype(np.float64) for v in (a, b, c))))
    product = a.astype(np.float64) * b
    wide = product + c
    bits = wide.view(np.int64)
    # A second rounding can differ from one only from halfway, and where float32 has fewer bits.
    if ((bits & _BELOW_F32) == _HALFWAY).any() or (np.abs(wide) < _SMALLEST_NORMAL).any():
        wide = _to_odd(wide, _sum_error(product, c.astype(np.float64), wide))
    return wide.astype(np.float32)


def rounded_half(a: Array, b: Array, c: Array) -> Array:
    """Return a * b + c of float16 values, rounded once to float16, as float32."""
    product = a.astype(np.float64) * b
    wide = product + c
    return _to_odd(wide, _sum_error(product, c.astype(np.float64), wide)).astype(np.float16).astype(np.float32)


def _sum_error(a: Array, b: Array, total: Array) -> Array:
    """Return what a sum of two lost."""
    part = total - a
    return (a - (total - part)) + (b - part)


def _to_odd(total: Array, error: Array) -> Array:
    """Round a sum to odd: if it is not exact, its last bit says so to the next rounding."""
    bits = np.ascontiguousarray(total).view(np.int64)
    changed = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(changed, bits + step, bits).view(np.float64)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _fused_f64(a: Array, b: Array, c: Array) -> Array:
    """Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd"."""
    high = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    low = al * bl - (((high - ah * bh) - al * bh) - ah * bl)
    t = c + low
    t_low = _sum_error(c, low, t)
    v = high + t
    v_low = _sum_error(high, t, v)
    z = t_low + v_low
    result = v + _to_odd(z, _sum_error(t_low, v_low, z))
    return np.where(np.isfinite(result), result, high + c)


def exact_sum(a: Array, b: Array) -> Array:
    """Return a + b of float64, rounded to odd."""
    total = a + b
    return _to_odd(total, _sum_error(a, b, total))


def exact_product(a: Array, b: Array) -> Array:
    """Return a * b of float32, which float64 holds."""
    return a.astype(np.float64) * b


def rounded_to_bf16(values: Array, mode: Rounding) -> Array:
    """Round float64 to bf16 in a direction: float32 of the same values."""
    bits = f64_to_bf16(values)
    near = bf16_to_f32(bits).astype(np.float64)
    match mode:
        case Rounding.NEAREST:
            beyond = np.zeros(near.shape, np.bool_)
        case Rounding.UP:
            beyond = near < values
        case Rounding.DOWN:
            beyond = near > values
        case Rounding.TO_ZERO:
            beyond = np.abs(near) > np.abs(values)
    negative = bits >> 15 != 0
    away = negative if mode is Rounding.DOWN else ~negative if mode is Rounding.UP else np.zeros(near.shape, np.bool_)
    step = np.where(away, bits + np.uint16(1), bits - np.uint16(1))
    return bf16_to_f32(np.where(beyond, step, bits).astype(np.uint16))


def rounded_by(values: Array, dtype: np.dtype[np.generic], mode: Rounding) -> Array:
    """Round float64 to a shorter type in a direction."""
    near = values.astype(dtype)
    match mode:
        case Rounding.NEAREST:
            return near
        case Rounding.UP:
            beyond, towards = near < values, np.inf
        case Rounding.DOWN:
            beyond, towards = near > values, -np.inf
        case Rounding.TO_ZERO:
            beyond, towards = np.abs(near) > np.abs(values), 0.0
    return np.where(beyond, np.nextafter(near, dtype.type(towards)), near)


def rounded_in_direction(near: Array, sources: Sequence[Array], exact: Exact, mode: Rounding) -> Array:
    """Return the neighbours in a direction of results that were rounded to nearest; `exact` gives what they are of.

    Element by element in rational numbers: kernels do this for a few scalars, in divisions of integers.
    """
    shaped = np.broadcast_arrays(near, *sources)
    out = np.ascontiguousarray(shaped[0])
    flat, operands = out.reshape(-1).copy(), [source.reshape(-1).tolist() for source in shaped[1:]]
    for place, values in enumerate(zip(*operands, strict=True)):
        if all(math.isfinite(value) for value in values):
            rounded, result = flat[place].item(), exact([Fraction(value) for value in values])
            towards = _beyond(rounded, result, mode)
            if towards is not None:
                flat[place] = np.nextafter(flat[place], flat.dtype.type(towards))
    return flat.reshape(out.shape)


def _beyond(rounded: float, result: Fraction, mode: Rounding) -> float | None:
    """Return where the neighbour is that a mode gives, None if it gives this one."""
    match mode:
        case Rounding.UP if rounded < result:
            return math.inf
        case Rounding.DOWN if rounded > result:
            return -math.inf
        case Rounding.TO_ZERO if abs(rounded) > abs(result):
            return 0.0
        case _:
            return None
