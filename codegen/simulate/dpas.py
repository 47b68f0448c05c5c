"""Sub-group matrix multiply-accumulate of cl_intel_subgroup_matrix_multiply_accumulate.

Lane l holds column l of A (one element for each row), of B (all K elements, two to an i32, the lower K in the lower
half) and of the accumulator. Products are exact in float32 and summed there.
"""

import re

import numpy as np

from codegen.simulate.call import Call
from codegen.simulate.values import LANES, Array, bf16_to_f32

DPAS_NAME = re.compile(r"intel_sub_group_(?P<type>f16_f16|bf16_bf16)_matrix_mad_k16")
_K = 16
_ROWS = (1, 2, 4, 8)


def dpas(call: Call, type_: str) -> Array:
    """acc + A B, [sub-groups, lanes, rows].

    Raises:
        SimulationRefused: operands of other types than the built-in has.
    """
    a, b, acc = (o.type for o in call.instruction.operands)
    rows = a.count or 1
    if a.element != "i16" or (b.element, b.count) != ("i32", _K // 2) or acc.element != "float" or rows not in _ROWS:
        raise call.refuse(f"matrix_mad takes i16 rows, <8 x i32> and float rows, got {a}, {b} and {acc}")
    if (acc.count or 1) != rows or call.instruction.type != acc:
        raise call.refuse(f"matrix_mad of {rows} rows has an accumulator of {acc}")
    a_values, b_values, accumulator = call.operands
    if not a.count:
        a_values, accumulator = a_values[..., None], accumulator[..., None]
    a_by_k = _all_lanes(_to_f32(a_values, type_))
    b_by_n = _all_lanes(_to_f32(np.ascontiguousarray(b_values).view(np.int16), type_))
    product = np.matmul(a_by_k.transpose(0, 2, 1), b_by_n.transpose(0, 2, 1))
    result = accumulator + product.transpose(0, 2, 1)
    return result if a.count else result[..., 0]


def _to_f32(bits: Array, type_: str) -> Array:
    if type_ == "f16_f16":
        return bits.view(np.float16).astype(np.float32)
    return bf16_to_f32(bits.view(np.uint16))


def _all_lanes(values: Array) -> Array:
    return np.broadcast_to(values, (values.shape[0], LANES, values.shape[2]))
