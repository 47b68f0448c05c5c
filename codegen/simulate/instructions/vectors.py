"""Vector operations of LLVM IR on arrays."""

import numpy as np

from codegen.simulate.instructions.arithmetic import Compute
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import (
    Array,
    undefined,
)


def _at(vector: Array, index: Array, where: Instruction, count: int) -> tuple[Array, Array]:
    position = index.astype(np.int64)
    if ((position < 0) | (position >= count)).any():
        raise SimulationRefused(where.text, f"index outside of a vector of {count} elements")
    shape = np.broadcast_shapes(vector.shape[:2], position.shape)
    return np.broadcast_to(vector, (*shape, count)), np.broadcast_to(position, shape)[..., None]


def _extractelement(i: Instruction, v: list[Array]) -> Array:
    count = i.operands[0].type.count
    if i.operands[1].is_constant:
        position = int(v[1].flat[0])
        if not 0 <= position < count:
            raise SimulationRefused(i.text, f"index outside of a vector of {count} elements")
        return v[0][..., position]
    vector, position = _at(v[0], v[1], i, count)
    return np.take_along_axis(vector, position, 2)[..., 0]


def _insertelement(i: Instruction, v: list[Array]) -> Array:
    if i.operands[2].is_constant:
        return _inserted(i, v, int(v[2].flat[0]))
    vector, position = _at(v[0], v[2], i, i.type.count)
    shape = np.broadcast_shapes(vector.shape[:2], v[1].shape)
    out = np.broadcast_to(vector, (*shape, i.type.count)).copy()
    np.put_along_axis(out, np.broadcast_to(position, (*shape, 1)), np.broadcast_to(v[1], shape)[..., None], 2)
    return out


def _inserted(i: Instruction, v: list[Array], position: int) -> Array:
    """Return the vector with one element replaced at a known index."""
    count = i.type.count
    if not 0 <= position < count:
        raise SimulationRefused(i.text, f"index outside of a vector of {count} elements")
    (rows, lanes), (new_rows, new_lanes) = v[0].shape[:2], v[1].shape
    out = np.empty((max(rows, new_rows), max(lanes, new_lanes), count), v[0].dtype)
    out[...] = v[0]
    out[..., position] = v[1]
    return out


def _shufflevector(i: Instruction, v: list[Array]) -> Array:
    count = i.operands[0].type.count
    mask = i.operands[2].constant
    if len(mask) != i.type.count:
        raise SimulationRefused(i.text, "a shuffle needs a constant mask")
    shape = np.broadcast_shapes(v[0].shape[:2], v[1].shape[:2])
    out = undefined(i.type, shape)
    for at, source in enumerate(mask):
        if source is not None:
            which, element = divmod(int(source), count)
            out[..., at] = v[which][..., element]
    return out


VECTORS: dict[str, Compute] = {
    "extractelement": _extractelement,
    "insertelement": _insertelement,
    "shufflevector": _shufflevector,
}
