"""Small kernels for tests of the interpreter: one computation on values that lie in memory."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from codegen.xe.dialects import context
from tests.oracle import interpret

Array = NDArray[Any]
Argument = Array | int | float

_DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "tf32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "index": np.int64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "si8": np.int8,
}


def module(source: str) -> ModuleOp:
    """Parse and verify; operations that no dialect here has may stand in their generic form."""
    ctx: Context = context().clone()
    ctx.allow_unregistered = True
    parsed = Parser(ctx, source).parse_module()
    parsed.verify()
    return parsed


def run(
    signature: str,
    body: str,
    args: Sequence[Argument],
    *,
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] | None = None,
    attributes: str = "",
    before: str = "",
    aliases: str = "",
) -> None:
    """Interpret `gpu.func @k(signature) attributes { body; gpu.return }`."""
    source = f"""{aliases}
gpu.module @m {{
{before}
gpu.func @k({signature}) {attributes} {{
{body}
  gpu.return
}}
}}"""
    interpret(module(source), "k", grid, args, block)


def compute(body: str, inputs: Mapping[str, tuple[str, Any]], output: str) -> Array:
    """`%out` as `body` makes it of inputs: a type, `vector<4x8xf32>` or `i32`, and an array or number for each."""
    result = np.zeros(*_memory(output))
    signature = [f"%{name}_memory: {_memref(type_)}" for name, (type_, _) in inputs.items()]
    reads = [_access(name, type_) for name, (type_, _) in inputs.items()]
    loads = [
        f"  %{name} = {_load(type_)} {access}" for (name, (type_, _)), access in zip(inputs.items(), reads, strict=True)
    ]
    store = f"  {_store(output)} %out, {_access('out', output)}"
    args = [np.array(value, dtype=_memory(type_)[1]) for type_, value in inputs.values()]
    run(
        ", ".join([*signature, f"%out_memory: {_memref(output)}"]),
        "\n".join(["  %zero = arith.constant 0 : index", *loads, body, store]),
        [*args, result],
    )
    return result


def _memory(type_: str) -> tuple[tuple[int, ...], Any]:
    found = re.fullmatch(r"vector<((?:\d+x)*)(\w+)>", type_)
    shape, element = found.groups() if found else ("", type_)
    return tuple(map(int, shape.split("x")[:-1])), _DTYPES[element]


def _memref(type_: str) -> str:
    return type_.replace("vector", "memref") if "vector" in type_ else f"memref<{type_}>"


def _access(name: str, type_: str) -> str:
    zeros = ", ".join(["%zero"] * len(_memory(type_)[0]))
    return f"%{name}_memory[{zeros}] : {_memref(type_)}" + (f", {type_}" if "vector" in type_ else "")


def _load(type_: str) -> str:
    return "vector.load" if "vector" in type_ else "memref.load"


def _store(type_: str) -> str:
    return "vector.store" if "vector" in type_ else "memref.store"


def to_bf16(values: Array) -> Array:
    """The bits of numbers that bf16 holds exactly."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    assert not np.any(bits & 0xFFFF)
    return (bits >> 16).astype(np.uint16)


def from_bf16(bits: Array) -> Array:
    """The numbers that bits of bf16 are."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
