"""Executor of deep-tiled matmul modules in numpy: tensors by value, `scf.forall` one thread after another."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch_mlir import ir

Value = int | np.float64 | NDArray[np.float64]
Slices = tuple[slice | int, ...]


def run(module: ir.Module, inputs: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the result of the module's function for these matrices."""
    function = module.body.operations[0]
    values: dict[str, Value] = {}
    block = function.regions[0].blocks[0]
    for argument, value in zip(block.arguments, inputs, strict=True):
        values[argument.get_name()] = value
    result = _block(block, values)
    assert isinstance(result, np.ndarray)
    return result


def _block(block: ir.Block, values: dict[str, Value]) -> Value | None:
    """Execute a block and return the operand of its terminator."""
    for op in block.operations:
        name = op.operation.name
        operands = [values[o.get_name()] for o in op.operands]
        if name in ("func.return", "scf.yield", "linalg.yield"):
            return operands[0]
        if name == "scf.forall.in_parallel":
            for inner in op.regions[0].blocks[0].operations:
                source, into, *_ = [values[o.get_name()] for o in inner.operands]
                assert isinstance(into, np.ndarray)
                into[_place(inner, values)] = np.asarray(source).reshape(into[_place(inner, values)].shape)
            return None
        values[op.results[0].get_name()] = _value(op, name, operands, values)
    return None


def _value(op: ir.OpView, name: str, operands: list[Value], values: dict[str, Value]) -> Value:
    match name:
        case "arith.constant":
            value = op.attributes["value"].value
            return np.float64(value) if "." in str(op) else int(value)
        case "arith.addf" | "arith.addi":
            return operands[0] + operands[1]
        case "affine.apply" | "affine.min":
            return min(_affine(str(op.attributes["map"]), operands))
        case "tensor.empty":
            return np.full([int(n) for n in _sizes(op, operands)], np.nan)
        case "linalg.fill":
            return np.full_like(operands[1], operands[0])
        case "tensor.extract_slice":
            whole = np.asarray(operands[0])
            shape = [n for n, kept in zip(_extents(op, values), _kept(op), strict=True) if kept]
            return whole[_place(op, values)].reshape(shape).copy()
        case "tensor.insert_slice":
            into = np.asarray(operands[1]).copy()
            into[_place(op, values)] = operands[0]
            return into
        case "tensor.expand_shape":
            return np.asarray(operands[0])[None]
        case "linalg.batch_reduce_matmul":
            return np.asarray(operands[2]) + np.einsum("bmk,bkn->mn", operands[0], operands[1])
        case "linalg.generic":
            assert [str(op.attributes["iterator_types"]).count(kind) for kind in ("parallel", "reduction")] == [2, 1]
            return np.asarray(operands[1]) + np.asarray(operands[0]).sum(axis=2)
        case "scf.for":
            return _for(op, operands, values)
        case "scf.forall":
            return _forall(op, operands, values)
        case _:
            raise NotImplementedError(name)


def _for(op: ir.OpView, operands: list[Value], values: dict[str, Value]) -> Value:
    low, high, step, carried = operands
    block = op.regions[0].blocks[0]
    for at in range(int(low), int(high), int(step)):
        values[block.arguments[0].get_name()], values[block.arguments[1].get_name()] = at, carried
        given = _block(block, values)
        assert given is not None
        carried = given
    return carried


def _forall(op: ir.OpView, operands: list[Value], values: dict[str, Value]) -> Value:
    counts = [int(n) for n in re.findall(r"-?\d+", str(op.attributes["staticUpperBound"]).split(":")[1])]
    block = op.regions[0].blocks[0]
    *places, shared = (argument.get_name() for argument in block.arguments)
    values[shared] = np.asarray(operands[-1]).copy()
    for at in np.ndindex(*counts):
        values |= dict(zip(places, at, strict=True))
        _block(block, values)
    return values[shared]


def _affine(text: str, operands: list[Value]) -> list[int]:
    """Evaluate an affine map such as `affine_map<(d0)[s0] -> (64, s0 - d0)>`."""
    found = re.fullmatch(r"affine_map<\(([^)]*)\)(?:\[([^]]*)\])? -> \((.*)\)>", text)
    assert found is not None
    dims, symbols, results = found.groups()
    names = [name.strip() for part in (dims, symbols) if part for name in part.split(",")]
    bound = {name: int(value) for name, value in zip(names, operands, strict=True)}
    return [int(eval(each, {}, bound)) for each in results.split(", ")]  # the text is MLIR's own


def _mixed(op: ir.OpView, what: str, values: dict[str, Value]) -> list[int]:
    """Return the static numbers of a slice, with operands in place of dynamic ones."""
    static = [int(n) for n in re.findall(r"-?\d+", str(op.attributes[f"static_{what}"]).split(":")[1])]
    sizes = [int(n) for n in re.findall(r"\d+", str(op.attributes["operandSegmentSizes"]).split(":")[1])]
    group = {"offsets": len(sizes) - 3, "sizes": len(sizes) - 2}[what]
    first = sum(sizes[:group])
    dynamic = [int(np.asarray(values[op.operands[first + n].get_name()])) for n in range(sizes[group])]
    return [dynamic.pop(0) if number < 0 else number for number in static]


def _extents(op: ir.OpView, values: dict[str, Value]) -> list[int]:
    return _mixed(op, "sizes", values)


def _place(op: ir.OpView, values: dict[str, Value]) -> Slices:
    return tuple(
        slice(offset, offset + size)
        for offset, size in zip(_mixed(op, "offsets", values), _extents(op, values), strict=True)
    )


def _kept(op: ir.OpView) -> list[bool]:
    """Return a flag per dimension of a slice: false for a last one of length 1 that the result drops."""
    rank = len(re.findall(r"[\d?]+x", str(op.operands[0].type)))
    return [at < len(re.findall(r"[\d?]+x", str(op.results[0].type))) for at in range(rank)]


def _sizes(op: ir.OpView, operands: list[Value]) -> list[int]:
    dynamic = [int(np.asarray(operand)) for operand in operands]
    lengths = re.findall(r"(\d+|\?)x", str(op.results[0].type))
    return [dynamic.pop(0) if length == "?" else int(length) for length in lengths]
