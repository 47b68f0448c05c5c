"""Runs sub-group-level kernels twice: as they are in the interpreter, and as lane code in the simulator."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.ir import SSAValue

from codegen.artifact.signature import (
    Field,
    KernelArgument,
    Parameter,
)
from codegen.simulate import run_kernel
from codegen.xe.dialects import (
    gpu,
    parse,
    text,
)
from codegen.xe.llvm import (
    OptimisedModule,
    optimise,
)
from codegen.xe.mlir import MlirModule
from codegen.xe.passes.bf16_to_bits import bf16_to_bits
from codegen.xe.passes.lanes import lower_to_lanes
from codegen.xe.spirv import emit_spirv
from tests.oracle import interpret

Array = NDArray[Any]
Argument = Array | int | float

DTYPES: dict[str, type[np.generic]] = {
    "f64": np.float64,
    "f32": np.float32,
    "tf32": np.float32,
    "f16": np.float16,
    "bf16": np.uint16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui8": np.uint8,
}


def kernel(arguments: str, body: str, subgroups: int = 1) -> str:
    """A module with the kernel `k` of some sub-groups; `%c0`, `%c1`, `%c8`, `%c16` and `%c32` are there to be used."""
    numbers = "".join(f"    %c{n} = arith.constant {n} : index\n" for n in (0, 1, 8, 16, 32))
    return f"""gpu.module @kernels {{
  gpu.func @k({arguments}) kernel attributes {{known_block_size = array<i32: {16 * subgroups}, 1, 1>}} {{
{numbers}{body}
    gpu.return
  }}
}}"""


def lanes_text(source: str) -> str:
    """The lane code of a module, that MLIR verified."""
    module = parse(source)
    module.verify()
    lower_to_lanes(module)
    module.verify()
    return str(MlirModule(text(module, generic=True)))


@dataclass(frozen=True, slots=True)
class Compiled:
    """Final LLVM IR of kernel `k`, its parameters and the work-items of a work-group."""

    ll: str
    parameters: tuple[Parameter, ...]
    block: tuple[int, int, int]


@cache
def _parsed(source: str) -> ModuleOp:
    module = parse(source)
    module.verify()
    return module


@cache
def compiled(source: str, chip: str = "pvc", *, bf16_instructions: bool = True) -> Compiled:
    """A kernel as lane code that MLIR verified and lowered to LLVM IR, of which there is SPIR-V."""
    module = _parsed(source).clone()
    function = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    assert function.known_block_size is not None
    x, y, z = function.known_block_size.get_values()
    arguments = [_argument(value) for value in function.body.blocks[0].args]
    lower_to_lanes(module)
    bf16_to_bits(module, instructions=bf16_instructions)
    module.verify()
    optimised: OptimisedModule = optimise(MlirModule(text(module, generic=True)).to_llvm(chip), {"k": arguments})
    assert emit_spirv(optimised.text)
    return Compiled(optimised.text, optimised.parameters["k"], (x, y, z))


def run(
    source: str, args: Sequence[Argument], grid: tuple[int, int, int] = (1, 1, 1), *, bf16_instructions: bool = True
) -> None:
    """Run the lane code of kernel `k` on arguments that it changes."""
    code = compiled(source, bf16_instructions=bf16_instructions)
    run_kernel(code.ll, "k", grid, code.block, [_value(p, args[p.argument]) for p in code.parameters])


def check(
    source: str, args: Sequence[Argument], tolerance: float = 0, grid: tuple[int, int, int] = (1, 1, 1)
) -> list[Argument]:
    """Run a kernel as lane code, and see that it does to its arguments what the interpreter does; the arguments."""
    got, wanted = (
        [a.copy() if isinstance(a, np.ndarray) else a for a in args],
        [a.copy() if isinstance(a, np.ndarray) else a for a in args],
    )
    interpret(_parsed(source), "k", grid, wanted)
    run(source, got, grid)
    for number, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=f"argument {number}")
    return got


def numbers(element: str, *shape: int, seed: int = 5) -> Array:
    """Numbers of a type: floats around 0, integers of two digits, bf16 as bits, tf32 with as many bits as it has."""
    rng = np.random.default_rng(seed)
    if element.endswith(("i8", "i16", "i32", "i64")):
        return rng.integers(0 if element.startswith("u") else -99, 99, shape).astype(DTYPES[element])
    values = rng.standard_normal(shape)
    if element == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if element == "tf32":
        return (values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    return values.astype(DTYPES[element])


def floats(bits: Array) -> NDArray[np.float32]:
    """bf16, held as bits, as f32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _argument(value: SSAValue) -> KernelArgument:
    name, type_ = value.name_hint or "argument", value.type
    if not isinstance(type_, MemRefType):
        return KernelArgument(name, str(type_))
    shape = tuple(None if extent == DYNAMIC_INDEX else extent for extent in type_.get_shape())
    return KernelArgument(name, str(type_.element_type), shape)


def _value(parameter: Parameter, argument: Argument) -> Argument:
    if not isinstance(argument, np.ndarray) or parameter.field in (Field.POINTER, Field.VALUE):
        return argument
    if parameter.field is Field.SIZE:
        return argument.shape[parameter.axis]
    return argument.strides[parameter.axis] // argument.itemsize if parameter.field is Field.STRIDE else 0
