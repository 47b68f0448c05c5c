"""Compile a random kernel and compare its numbers with the interpreter's."""

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from codegen import KernelArtifact, compile_module
from codegen.errors import CompileFailed, InvalidLaunch, Refused
from codegen.simulate import Execute
from codegen.simulate.run_module import (
    Value,
    dtype_of,
    simulate_module,
)
from codegen.xe.dialects import parse
from hal.facts.xe import find
from tests.codegen.upstream import check_upstream
from tests.codegen.xe.fuzz.draw import Draw
from tests.codegen.xe.fuzz.kernel import Memory
from tests.codegen.xe.fuzz.numbers import INTEGERS
from tests.oracle import interpret

Array = NDArray[np.generic]
_NAMED = re.compile(r"(?:lower-to-lanes|distribute-to-subgroups|lower-xetile): expected .+, got ")
_ODD_INTEGER = re.compile(r"(?<![\w.%@])i(?!(?:1|8|16|32|64)\b)\d+\b")
_SLACK = 4.0


def judge(
    drawn: Draw, device: str = "b580", execution: Callable[[KernelArtifact], Execute] | None = None
) -> str | None:
    """Compile and run a kernel, and return why it is refused, or None if its numbers are the interpreter's.

    `execution` returns what runs it, by default its LLVM IR.

    Raises:
        AssertionError: numbers differ.
        CompileFailed: the refusal names no reason.
    """
    expected = values(drawn)
    interpret(parse(drawn.source), "k", drawn.grid, expected, drawn.block)
    try:
        artifact = compile_module(drawn.source, find(device))
        check_widths(artifact)
        check_upstream(artifact)
        _compare(drawn, artifact, expected, None if execution is None else execution(artifact))
    except CompileFailed as failed:
        if not _NAMED.search(failed.message):
            raise
        return failed.message
    except (Refused, InvalidLaunch) as refused:
        return str(refused)
    return None


def values(drawn: Draw) -> list[Value]:
    """Return the arguments of a kernel, the same for each call."""
    rng = np.random.default_rng(drawn.seed)
    return [_value(rng, memory) for memory in drawn.arguments]


def _value(rng: np.random.Generator, memory: Memory) -> Value:
    if not memory.shape:
        return memory.number
    dtype, order = np.dtype(dtype_of(memory.element)), "F" if memory.by_columns else "C"
    if memory.element in INTEGERS:
        return rng.integers(-100, 101, memory.shape).astype(dtype, order=order)
    quarters = (rng.integers(-8, 9, memory.shape) / 4).astype(np.float32)
    if memory.element == "bf16":
        return (quarters.view(np.uint32) >> 16).astype(dtype, order=order)
    return quarters.astype(dtype, order=order)


def check_widths(artifact: KernelArtifact) -> None:
    """Check that no integer has a width that SPIR-V lacks."""
    found = set(_ODD_INTEGER.findall(artifact.stage("llvm").data.decode()))
    assert not found, f"integers of {found}"


def _compare(drawn: Draw, artifact: KernelArtifact, expected: list[Value], execute: Execute | None) -> None:
    got = values(drawn)
    report = simulate_module(artifact, "k", drawn.grid, drawn.block, got, execute)
    assert report.executed == report.total
    for memory, a, b in zip(drawn.arguments, expected, got, strict=True):
        if not memory.shape or memory.numbers is None:
            continue
        wanted, found = _doubles(memory, a), _doubles(memory, b)
        wrong = ~np.isclose(found, wanted, rtol=0, atol=_SLACK * memory.numbers.error, equal_nan=True)
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0]))
            raise AssertionError(
                f"{memory.name}{list(at)}: expected {wanted[at]}, got {found[at]}; "
                f"{wrong.sum()} of {wrong.size} differ by more than {_SLACK * memory.numbers.error}"
            )


def _doubles(memory: Memory, value: Value) -> NDArray[np.float64]:
    array = np.asarray(value)
    if memory.element == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)
