"""Compiles kernels for this CPU, runs them in this process and compares what they made with numpy."""

import ctypes
import math
import random
from functools import cache
from itertools import pairwise

import numpy as np

from codegen import Axis, CpuArtifact, DType, GemmProblem
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.config.matmul import Extent, LoopOrder, MatmulConfig
from codegen.cpu.compile import compile_cpu_gemm
from codegen.cpu.isa import isas_that_multiply
from codegen.problem.gemm import OFFSETS
from hal import DeviceSpec
from hal.buffer import Buffer
from hal.facts.cpu import probe_cpu
from tests.codegen.cpu.jit import Loaded, guarded
from tuner.verify.memory_layout import (
    decode,
    matrices,
    outside_is_poison,
)
from tuner.verify.reference import Reference

_PAGE = 4096


@cache
def this_cpu() -> DeviceSpec:
    """The facts of this machine's CPU, with more cores: kernels of many threads are right on few, too."""
    import dataclasses

    return dataclasses.replace(probe_cpu(), cores=64)


VECTORS_HERE = tuple(isa for isa in isas_that_multiply(DType.BF16, DType.BF16, this_cpu()) if isa is not Isa.AMX)
"""Instruction sets of this CPU without tile registers, each of which multiplies some types."""


def cpu_config(
    isa: Isa = Isa.AVX512,
    threads: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (28, 96, 64),
    tile: tuple[int, int, int] = (14, 32, 4),
    order: LoopOrder = LoopOrder.M_OUTER,
    a: Packing = Packing.BLOCK,
    b: Packing = Packing.WHOLE,
    prefetch: int = 0,
    prefetch_tiles_n: int = 0,
    pieces: int = 1,
) -> CpuConfig:
    """A configuration by its numbers."""
    matmul = MatmulConfig(Extent(*threads), Extent(*block), Extent(*tile), order)
    return CpuConfig(matmul, CpuStrategy(isa, a, b, prefetch, prefetch_tiles_n, pieces))


class Run:
    """One kernel, loaded, with a pool of `pool` threads, as many as it needs if left out."""

    def __init__(self, artifact: CpuArtifact, pool: int | None = None) -> None:
        self.artifact = artifact
        self._code = Loaded(artifact.launch.binary)
        self._destroy = self._code.entry("xetune_pool_destroy", ctypes.c_void_p)
        create = self._code.entry("xetune_pool_create", ctypes.c_int, ctypes.c_void_p, result=ctypes.c_void_p)
        self.pool = create(artifact.config.thread_count if pool is None else pool, None)
        assert self.pool

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self._destroy(self.pool)

    def __call__(self, buffers: tuple[Buffer, ...]) -> list[int]:
        """Run all steps on `buffers`, those of the operands in order, and give what they returned."""
        launch = self.artifact.launch
        memory = list(buffers)
        memory += [scratch(argument.nbytes) for argument in launch.arguments[len(buffers) :]]
        results: list[int] = []
        for step in launch.steps:
            pointers = [memory[p].ctypes.data for p in step.parameters if isinstance(p, int)]
            kinds = [ctypes.c_void_p] * (1 + len(pointers))
            entry = self._code.entry(step.kernel, *kinds, result=ctypes.c_int)
            results.append(entry(self.pool, *pointers))
        return results


def scratch(nbytes: int) -> Buffer:
    """Scratch full of ones in every bit, from a multiple of 64 bytes to memory that nobody may touch."""
    ones = np.full(math.ceil(nbytes / 64) * 64, 0xFF, np.uint8)
    return guarded(ones)


def check_kernel(problem: GemmProblem, config: CpuConfig, calls: int = 1) -> CpuArtifact:
    """Compile, run and compare all of the outputs; inputs end where memory that nobody may touch begins.

    Experts have the rows that the problem is tuned for in the first call, then any.
    """
    artifact = compile_cpu_gemm(problem, config, this_cpu())
    reference = Reference(problem, seed=11)
    with Run(artifact) as run:
        for call in range(calls):
            buffers = placed(problem, reference.buffers())
            if problem.experts is not None and call:
                buffers[_offsets_at(problem)][:] = _any_offsets(problem, call)
            assert set(run(buffers)) == {0}
            compare_outputs(problem, reference, buffers)
    return artifact


def placed(problem: GemmProblem, buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
    """Copies that end at the last element: nothing behind the last row of the last matrix may be touched."""
    placed: list[Buffer] = []
    for operand, buffer in zip(problem.operands, buffers, strict=True):
        used = operand.elements(problem.batch) - (operand.pitch - operand.columns)
        placed.append(guarded(buffer[:used]))
    return tuple(placed)


def _offsets_at(problem: GemmProblem) -> int:
    return next(number for number, operand in enumerate(problem.operands) if operand.name == OFFSETS)


def _any_offsets(problem: GemmProblem, seed: int) -> list[int]:
    """Ascending numbers from 0 to at most M, several of them equal."""
    r = random.Random(f"{problem.key} {seed}")
    ends = [r.choice([0, r.randint(0, problem.m), problem.m]) for _ in range(problem.experts or 1)]
    return [0, *sorted(ends)]


def _parts(problem: GemmProblem, buffers: tuple[Buffer, ...]) -> list[tuple[int, int, slice]]:
    """Matrix of C, matrix of B and rows of each part of C that a call computes."""
    if problem.experts is None:
        return [(entry, entry, slice(0, problem.m)) for entry in range(problem.batch)]
    ends = buffers[_offsets_at(problem)].tolist()
    return [(0, expert, slice(*rows)) for expert, rows in enumerate(pairwise(ends)) if rows[0] < rows[1]]


def compare_outputs(problem: GemmProblem, reference: Reference, buffers: tuple[Buffer, ...]) -> None:
    """Every element of every output within its bound, and nothing written between rows."""
    for number, operand in enumerate(problem.operands):
        if operand.role == "input":
            continue
        whole = reference.buffers()[number].copy()
        whole[: buffers[number].size] = buffers[number]
        got = decode(matrices(whole, operand, problem.batch), operand.dtype).astype(np.float64)
        assert outside_is_poison(whole, operand, problem.batch), f"written between rows of {operand.name}"
        parts = _parts(problem, buffers)
        if problem.experts is not None:
            last = parts[-1][2].stop if parts else 0
            before = decode(matrices(reference.buffers()[number], operand, 1), operand.dtype).astype(np.float64)
            assert np.array_equal(got[0, last:], before[0, last:], equal_nan=True), f"rows of nobody from {last} on"
        for matrix, entry, rows in parts:
            of_rows = got[matrix]
            if operand.step is None:
                of_rows = of_rows[rows]
                bounds = reference.bounds_of_c(entry, rows, slice(0, problem.n))
            else:
                length = problem.m if problem.epilogue[operand.step].axis is Axis.ROW else problem.n
                bounds = reference.bounds_of_sums(operand, entry, slice(0, length))
            right = bounds.holds(of_rows.reshape(bounds.value.shape))
            if not right.all():
                at = tuple(np.argwhere(~right)[0])
                raise AssertionError(
                    f"{operand.name}{[entry, *at]} of rows {rows} is {of_rows.reshape(right.shape)[at]}, expected "
                    f"{bounds.value[at]}; {(~right).sum()} of {right.size} are wrong"
                )
