"""Runs a module through the pinned MLIR's own pipeline, in a process of its own, as that may end."""

import faulthandler
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType, ModuleOp

from codegen.artifact.signature import (
    Field,
    KernelArgument,
    Parameter,
)
from codegen.errors import CompileFailed
from codegen.simulate import (
    SimulationRefused,
    run_kernel,
)
from codegen.xe.dialects import (
    gpu,
    parse,
    text,
)
from codegen.xe.llvm import optimise
from codegen.xe.mlir import XeGpuModule
from codegen.xe.passes.legalise_xegpu import legalise_xegpu
from codegen.xe.passes.lower_xetile import (
    LowerXeTilePass,
    lower_xetile,
)

Array = NDArray[np.generic]
_DTYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a module: the arrays after one work-group ran, or why it did not. Neither: the process ended."""

    arrays: dict[str, Array] | None = None
    message: str | None = None


def lowered(source: str) -> ModuleOp:
    """XeTile or XeGPU text as verified XeGPU."""
    module = parse(source)
    module.verify()
    lower_xetile(module, LowerXeTilePass())
    module.verify()
    return module


def run_upstream(source: str, arrays: Sequence[Array] | None = None) -> Outcome:
    """Lower, compile and run `source`: on arrays, legalised, or else as it is on `operands`."""
    module = lowered(source)
    if arrays is not None:
        legalise_xegpu(module)
    kernel, arguments = kernel_of(module)
    given = operands(arguments) if arrays is None else dict(zip((a.name for a in arguments), arrays, strict=True))
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process
    child = process(target=_run, args=(module, kernel, arguments, given, send))
    child.start()
    send.close()
    try:
        return receive.recv()
    except EOFError:
        return Outcome()
    finally:
        child.join()
        receive.close()


def operands(arguments: Sequence[KernelArgument]) -> dict[str, Array]:
    """By the arguments' names: I the unit matrix, C zeros, others random."""
    rng = np.random.default_rng(5)
    made: dict[str, Array] = {}
    for a in arguments:
        assert a.shape is not None
        shape = tuple(n or 0 for n in a.shape)
        values = rng.integers(-9, 9, shape) + (0 if a.element.startswith("i") else 0.5)
        if a.name in "IC":
            values = np.eye(shape[0]) if a.name == "I" else np.zeros(shape)
        made[a.name] = values.astype(_DTYPES[a.element])
    return made


def kernel_of(module: ModuleOp) -> tuple[gpu.FuncOp, tuple[KernelArgument, ...]]:
    """The only kernel and its arguments, which are memrefs of static shape."""
    (kernel,) = (op for op in module.walk() if isinstance(op, gpu.FuncOp))
    arguments: list[KernelArgument] = []
    for value in kernel.body.blocks[0].args:
        assert isinstance(value.type, MemRefType)
        shape = value.type.get_shape()
        arguments.append(KernelArgument(value.name_hint or "", str(value.type.element_type), shape, shape))
    return kernel, tuple(arguments)


def _run(
    module: ModuleOp,
    kernel: gpu.FuncOp,
    arguments: tuple[KernelArgument, ...],
    arrays: dict[str, Array],
    send: Connection,
) -> None:
    faulthandler.disable()  # that the process ends is what is asked
    name = kernel.sym_name.data
    try:
        bitcode = XeGpuModule(text(module, generic=True)).lower("bmg")
        final = optimise(bitcode, {name: arguments})
        values = [_value(p, list(arrays.values())) for p in final.parameters[name]]
        assert kernel.known_block_size is not None
        x, y, z = kernel.known_block_size.get_values()
        run_kernel(final.text, name, (1, 1, 1), (x, y, z), values)
        send.send(Outcome(arrays=arrays))
    except (CompileFailed, SimulationRefused) as error:
        send.send(Outcome(message=str(error)))


def _value(parameter: Parameter, arrays: list[Array]) -> Array | int:
    array = arrays[parameter.argument]
    if parameter.field is Field.POINTER:
        return array if array.flags.c_contiguous else array.T
    return 0 if parameter.field is Field.OFFSET else array.shape[parameter.axis]
