"""Arithmetic, comparisons and selection of LLVM IR on arrays."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import (
    Array,
    undefined,
    unsigned,
)

Compute = Callable[[Instruction, list[Array]], Array]


def _float_binary(function: Callable[[Array, Array], Array]) -> Compute:
    def rule(i: Instruction, v: list[Array]) -> Array:
        return function(v[0], v[1])

    return rule


def _integer_binary(function: Callable[[Array, Array], Array]) -> Compute:
    """Compute in two's complement, so that signed and unsigned coincide."""
    of_one_bit = np.bitwise_and if function is np.multiply else np.bitwise_xor

    def rule(i: Instruction, v: list[Array]) -> Array:
        is_arithmetic = i.opcode in ("add", "sub", "mul")
        return (of_one_bit if i.type.element == "i1" and is_arithmetic else function)(v[0], v[1])

    return rule


def _divide(signed: bool, remainder: bool) -> Compute:
    def rule(i: Instruction, v: list[Array]) -> Array:
        a, b = v if signed else (unsigned(v[0]), unsigned(v[1]))
        if (b == 0).any():
            raise SimulationRefused(i.text, "division by zero")
        quotient = a // b
        if signed:  # numpy rounds down, LLVM towards zero
            quotient = quotient + ((quotient * b != a) & ((a < 0) != (b < 0)))
        return (a - quotient * b if remainder else quotient).astype(a.dtype, copy=False).view(i.type.dtype)

    return rule


def _shift(opcode: str) -> Compute:
    def rule(i: Instruction, v: list[Array]) -> Array:
        width = v[0].dtype.itemsize * 8
        amount = unsigned(v[1])
        safe = np.minimum(amount, amount.dtype.type(width - 1))
        value = v[0] if opcode == "ashr" else unsigned(v[0])
        shifted = value << safe.astype(value.dtype) if opcode == "shl" else value >> safe.astype(value.dtype)
        shifted = shifted.view(i.type.dtype)
        return np.where(amount < width, shifted, undefined(i.type, (1, 1)))

    return rule


_INTEGER_PREDICATES: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}


def _icmp(i: Instruction, v: list[Array]) -> Array:
    a, b = v
    if i.detail.startswith("u"):
        a, b = unsigned(a), unsigned(b)
    elif i.detail.startswith("s") and a.dtype.kind == "b":
        raise SimulationRefused(i.text, "truth values have no sign here")
    predicate = _INTEGER_PREDICATES.get(i.detail[-2:])
    if predicate is None:
        raise SimulationRefused(i.text, f"predicate {i.detail} is not known")
    return predicate(a, b)


def _fcmp(i: Instruction, v: list[Array]) -> Array:
    a, b = v
    unordered = np.isnan(a) | np.isnan(b)
    if i.detail in ("ord", "uno"):
        return unordered if i.detail == "uno" else ~unordered
    predicate = _INTEGER_PREDICATES.get(i.detail[1:])
    if predicate is None or i.detail[0] not in "ou":
        raise SimulationRefused(i.text, f"predicate {i.detail} is not known")
    holds = predicate(a, b)
    return holds | unordered if i.detail[0] == "u" else holds & ~unordered


def _select(i: Instruction, v: list[Array]) -> Array:
    condition = v[0]
    if i.type.count and not i.operands[0].type.count:
        condition = condition[..., None]
    return np.where(condition, v[1], v[2])


def _fneg(i: Instruction, v: list[Array]) -> Array:
    return np.negative(v[0])


ARITHMETIC: dict[str, Compute] = {
    "add": _integer_binary(np.add),
    "sub": _integer_binary(np.subtract),
    "mul": _integer_binary(np.multiply),
    "and": _integer_binary(np.bitwise_and),
    "or": _integer_binary(np.bitwise_or),
    "xor": _integer_binary(np.bitwise_xor),
    "udiv": _divide(signed=False, remainder=False),
    "sdiv": _divide(signed=True, remainder=False),
    "urem": _divide(signed=False, remainder=True),
    "srem": _divide(signed=True, remainder=True),
    "shl": _shift("shl"),
    "lshr": _shift("lshr"),
    "ashr": _shift("ashr"),
    "fadd": _float_binary(np.add),
    "fsub": _float_binary(np.subtract),
    "fmul": _float_binary(np.multiply),
    "fdiv": _float_binary(np.divide),
    "frem": _float_binary(np.fmod),
    "fneg": _fneg,
    "icmp": _icmp,
    "fcmp": _fcmp,
    "select": _select,
}
