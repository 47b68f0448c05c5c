"""A correct kernel in numpy's f32, with every epilogue step."""

import math

import numpy as np
from numpy.typing import NDArray

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem
from hal import Buffer
from tuner.verify.memory_layout import (
    decode,
    encode,
    matrices,
)

Float32 = NDArray[np.float32]
F = np.float32


def computed(problem: GemmProblem, buffers: tuple[Buffer, ...]) -> dict[int, Buffer]:
    """Return the memory of each output after a correct kernel, by the index of the operand."""
    p = problem
    outputs = {i: buffers[i].copy() for i, operand in enumerate(p.operands) if operand.role != "input"}
    views = [
        np.broadcast_to(view := matrices(outputs.get(i, buffers[i]), o, p.batch), (p.batch, *view.shape[1:]))
        for i, o in enumerate(p.operands)
    ]
    written = {i: matrices(buffer, p.operands[i], p.batch) for i, buffer in outputs.items()}
    for entry in range(p.batch):
        exact = _combined(p, _accumulated(p, views[0][entry], views[1][entry]))
        x = exact.astype(F)
        for number, step in enumerate(p.epilogue):
            place = next((i for i, o in enumerate(p.operands) if o.step == number), 2)
            stored = decode(views[place][entry], p.operands[place].dtype).astype(F)
            if step.kind is EpilogueKind.REDUCE:
                sums = x.sum(1 if step.axis is Axis.ROW else 0, dtype=F)
                written[place][entry] = sums.reshape(written[place][entry].shape)
            else:
                x = step_in_f32(step, x, stored)
        written[2][entry] = encode(x if p.epilogue else exact, p.dtype_c)
    return outputs


def step_in_f32(step: EpilogueStep, x: Float32, stored: Float32) -> Float32:
    """Apply one step, each operation rounded to f32."""
    value, high = F(step.value or 0), F(step.high or 0)
    match step.kind:
        case EpilogueKind.ALPHA:
            return value * x
        case EpilogueKind.BETA:
            scaled: Float32 = value * stored
            return x + scaled
        case EpilogueKind.BIAS | EpilogueKind.ADD:
            return x + stored
        case EpilogueKind.SCALE:
            return x * (value if step.axis is None else stored)
        case EpilogueKind.MULTIPLY:
            return x * stored
        case EpilogueKind.RELU:
            return np.maximum(x, F(0))
        case EpilogueKind.LEAKY_RELU:
            return np.where(x > 0, x, value * x)
        case EpilogueKind.GELU:
            erf = np.vectorize(math.erf)(x * F(math.sqrt(0.5))).astype(F)
            return F(0.5) * x * (F(1) + erf)
        case EpilogueKind.GELU_TANH:
            return F(0.5) * x * (F(1) + np.tanh(F(math.sqrt(2 / math.pi)) * (x + F(0.044715) * x * x * x)))
        case EpilogueKind.SILU:
            return x * sigmoid(x)
        case EpilogueKind.SIGMOID:
            return sigmoid(x)
        case EpilogueKind.TANH:
            return np.tanh(x)
        case EpilogueKind.CLIP:
            return np.clip(x, value, high)
        case EpilogueKind.REDUCE:
            raise AssertionError("a sum is no step on elements")


def sigmoid(x: Float32) -> Float32:
    """Return the sigmoid of f32 values, in f32."""
    with np.errstate(over="ignore"):
        return F(1) / (F(1) + np.exp(-x))


def _combined(p: GemmProblem, sums: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the product, or the gate of two in f32."""
    if p.gate is None:
        return sums
    block = p.gate.interleave or p.n
    parts = sums.astype(F).reshape(p.m, p.n // block, 2, block)
    first, second = (parts[:, :, product].reshape(p.m, p.n) for product in range(2))
    return step_in_f32(p.gate.step, first, first) * second


def _accumulated(p: GemmProblem, a: Buffer, b: Buffer) -> NDArray[np.generic]:
    a, b = decode(a, p.dtype_a), decode(b, p.dtype_b)
    a, b = a.T if p.transpose_a else a, b.T if p.transpose_b else b
    if p.dtype_acc is DType.I32:
        return a.astype(np.float64) @ b.astype(np.float64)
    return a.astype(F) @ b.astype(F)
