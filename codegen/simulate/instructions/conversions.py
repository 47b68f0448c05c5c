"""Conversions of LLVM IR on arrays."""

import numpy as np

from codegen.simulate.instructions.arithmetic import Compute
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import (
    Array,
    undefined,
    unsigned,
)


def _trunc(i: Instruction, v: list[Array]) -> Array:
    return (v[0] & 1).astype(np.bool_) if i.type.element == "i1" else v[0].astype(i.type.dtype)


def _zext(i: Instruction, v: list[Array]) -> Array:
    return unsigned(v[0]).astype(i.type.dtype)


def _sext(i: Instruction, v: list[Array]) -> Array:
    wide = v[0].astype(i.type.dtype)
    return np.negative(wide) if v[0].dtype.kind == "b" else wide


def _float_cast(i: Instruction, v: list[Array]) -> Array:
    return v[0].astype(i.type.dtype)


def _int_to_float(signed: bool) -> Compute:
    def rule(i: Instruction, v: list[Array]) -> Array:
        if v[0].dtype.kind == "b":
            value = np.negative(v[0].astype(np.int8)) if signed else v[0].astype(np.int8)
        else:
            value = v[0] if signed else unsigned(v[0])
        return value.astype(i.type.dtype)

    return rule


def _float_to_int(signed: bool) -> Compute:
    def rule(i: Instruction, v: list[Array]) -> Array:
        value = np.trunc(v[0]).astype(np.float64)
        bits = i.type.dtype.itemsize * 8
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if signed else (0.0, 2.0**bits)
        fits = (value >= low) & (value < high)
        kind = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        whole = np.where(fits, value, 0).astype(kind).view(i.type.dtype)
        return np.where(fits, whole, undefined(i.type, (1, 1)))

    return rule


def _bitcast(i: Instruction, v: list[Array]) -> Array:
    source = i.operands[0].type
    if "i1" in (source.element, i.type.element) and source != i.type:
        return _mask_bits(i, v[0])
    values = v[0] if source.count else v[0][..., None]
    cast = np.ascontiguousarray(values).view(i.type.dtype)
    return cast if i.type.count else cast[..., 0]


def _mask_bits(i: Instruction, value: Array) -> Array:
    """Convert a vector of truth values to an integer, or back: the first is the lowest bit."""
    source, target = i.operands[0].type, i.type
    if source.element == "i1" and not target.count and source.count == target.nbytes * 8:
        return np.packbits(value, axis=-1, bitorder="little").view(target.dtype)[..., 0]
    if target.element == "i1" and not source.count and target.count == source.nbytes * 8:
        raw = np.ascontiguousarray(value[..., None]).view(np.uint8)
        return np.unpackbits(raw, axis=-1, bitorder="little").astype(np.bool_)
    raise SimulationRefused(i.text, f"{source} is not the bits of {target}")


def _same(i: Instruction, v: list[Array]) -> Array:
    return v[0].astype(i.type.dtype, copy=False)


def _to_pointer(i: Instruction, v: list[Array]) -> Array:
    """Convert to a pointer: an i32 is an unsigned address of shared memory."""
    return unsigned(v[0]).astype(i.type.dtype, copy=False)


CONVERSIONS: dict[str, Compute] = {
    "freeze": _same,
    "trunc": _trunc,
    "zext": _zext,
    "sext": _sext,
    "fptrunc": _float_cast,
    "fpext": _float_cast,
    "sitofp": _int_to_float(signed=True),
    "uitofp": _int_to_float(signed=False),
    "fptosi": _float_to_int(signed=True),
    "fptoui": _float_to_int(signed=False),
    "bitcast": _bitcast,
    "addrspacecast": _same,
    "inttoptr": _to_pointer,
    "ptrtoint": _same,
}
