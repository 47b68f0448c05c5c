"""Sub-group matrix multiply-accumulate of cl_intel_subgroup_matrix_multiply_accumulate and its tf32 extension.

Of A, a register of 16 lanes holds one row: lane l its column l, for 8-bit elements its columns 2 l and 2 l + 1; of
tf32, whose rows have 8 elements, it holds two rows. A lane of a sub-group of 8, which has no tf32, holds a word of a
row. Of B and of the accumulator lane l holds column l; B has as many rows to an i32 as fit, the lower in the lower
bits. Products of floats are exact in float32 and summed there; those of integers wrap.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from codegen.simulate.functions.call import Call
from codegen.simulate.values import (
    Array,
    bf16_to_f32,
    f16_to_f32,
    f32_to_bf16,
)

MAD_NAME = re.compile(r"intel_sub_group_(?P<a>[a-z]+\d+)_(?P<b>[a-z]+\d+)_matrix_mad_k(?P<k>\d+)")
_ROWS = (1, 2, 4, 8)
_WIDE = 16
_TF32_BITS = np.uint32(0xFFFFE000)  # sign, exponent and 10 bits; the others are not looked at


@dataclass(frozen=True, slots=True)
class _Kind:
    """Elements of A or B: how many make a row of A, what registers of A and B are, and how they are read."""

    k: int
    register_a: str
    register_b: str
    accumulators: tuple[str, ...]
    decode: Callable[[Array], Array]


def _tf32(values: Array) -> Array:
    return (np.ascontiguousarray(values).view(np.uint32) & _TF32_BITS).view(np.float32)


_F16 = _Kind(16, "i16", "i32", ("float", "half"), f16_to_f32)
_BF16 = _Kind(16, "i16", "i32", ("float", "i16"), lambda v: bf16_to_f32(v.view(np.uint16)))
_TF32 = _Kind(8, "float", "float", ("float",), _tf32)
_I8 = _Kind(32, "i16", "i32", ("i32",), lambda v: v.view(np.int8).astype(np.float64))
_U8 = _Kind(32, "i16", "i32", ("i32",), lambda v: v.view(np.uint8).astype(np.float64))

_KINDS = {
    ("f16", "f16"): (_F16, _F16),
    ("bf16", "bf16"): (_BF16, _BF16),
    ("tf32", "tf32"): (_TF32, _TF32),
    ("i8", "i8"): (_I8, _I8),
    ("i8", "u8"): (_I8, _U8),
    ("u8", "i8"): (_U8, _I8),
    ("u8", "u8"): (_U8, _U8),
}


def dpas(call: Call, type_a: str, type_b: str, k: int) -> Array:
    """Return acc + A B, [sub-groups, lanes, rows].

    Raises:
        SimulationRefused: no such built-in, or operands of other types than it has.
    """
    kind_a, kind_b = _kinds(call, type_a, type_b, k)
    a, b, acc = (o.type for o in call.instruction.operands)
    rows = acc.count or 1
    size = call.subgroups.size
    register_a = kind_a.register_a if size == _WIDE else "i32"
    elements = _elements_of_register(kind_a, size)
    registers_a = -(-rows * kind_a.k // elements)
    if (a.element, a.count or 1) != (register_a, registers_a) or (b.element, b.count) != (kind_b.register_b, 8):
        raise call.refuse(
            f"matrix_mad of {rows} rows takes {registers_a} x {register_a} and 8 x {kind_b.register_b}, got {a} and {b}"
        )
    if acc.element not in kind_a.accumulators or rows not in _ROWS or call.instruction.type != acc:
        raise call.refuse(f"matrix_mad has an accumulator of 1, 2, 4 or 8 of {kind_a.accumulators}, got {acc}")
    a_values, b_values, accumulator = (
        value if o.type.count else value[..., None]
        for value, o in zip(call.operands, call.instruction.operands, strict=True)
    )
    a_matrix = _matrix_a(kind_a.decode(_all_lanes(a_values, size)), elements, rows, kind_a.k)
    b_matrix = kind_b.decode(_all_lanes(b_values, size)).transpose(0, 2, 1)
    product = np.matmul(a_matrix, b_matrix).transpose(0, 2, 1)
    result = _accumulated(accumulator, product, acc.element)
    return result if acc.count else result[..., 0]


def _kinds(call: Call, type_a: str, type_b: str, k: int) -> tuple[_Kind, _Kind]:
    kinds = _KINDS.get((type_a, type_b))
    if kinds is None or kinds[0].k != k or (kinds[0] is _TF32 and call.subgroups.size != _WIDE):
        hint = ": signed bytes are called i8" if "s8" in (type_a, type_b) else ""
        raise call.refuse(f"Intel has no built-in {type_a}_{type_b}_matrix_mad_k{k}{hint}")
    return kinds


def _elements_of_register(kind: _Kind, lanes: int) -> int:
    return kind.k if lanes != _WIDE else lanes * (2 if kind.k == 32 else 1)


def _matrix_a(values: Array, elements: int, rows: int, k: int) -> Array:
    """Reshape [sub-groups, lanes, elements] to [sub-groups, rows, K]: consecutive registers hold it row by row."""
    count, lanes = values.shape[:2]
    if elements == lanes == k:  # one element of one row each
        return values.transpose(0, 2, 1)
    by_register = values.reshape(count, lanes, -1, elements // lanes).transpose(0, 2, 1, 3)
    return by_register.reshape(count, -1)[:, : rows * k].reshape(count, rows, k)


def _accumulated(before: Array, product: Array, element: str) -> Array:
    if element == "i32":
        return before + product.astype(np.int64).astype(np.int32)
    if element == "i16":
        return f32_to_bf16(bf16_to_f32(before.view(np.uint16)) + product).view(np.int16)
    return (before.astype(np.float32, copy=False) + product).astype(before.dtype, copy=False)


def _all_lanes(values: Array, lanes: int) -> Array:
    return np.ascontiguousarray(np.broadcast_to(values, (values.shape[0], lanes, values.shape[2])))
