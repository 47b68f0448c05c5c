"""Problems and configurations in a line, written from the canonical JSON that rows keep."""

from collections.abc import Iterator, Mapping
from typing import cast

from codegen import DType, InvalidProblem
from codegen.problem.dtype import WEIGHTS
from codegen.problem.epilogue_text import print_epilogue
from codegen.problem.gemm import Operand
from db.schema.target import Problem
from service.gemm_json import config_line, problem_from_json, problem_line

INPUT_DTYPES = tuple(dtype.value for dtype in (DType.F16, DType.BF16, DType.TF32, DType.F32, DType.S8, DType.U8))
"""Element types of A and B that forms offer."""
B_DTYPES = (*INPUT_DTYPES, *(dtype.value for dtype in WEIGHTS if dtype.value not in INPUT_DTYPES))
"""Element types of B that forms offer, and of A or B by which lists are filtered."""
SCALE_DTYPES = (DType.F16, DType.BF16, DType.F32, DType.E8M0)
"""Element types of the scales of B that forms offer."""
OUTPUT_DTYPES = tuple(dtype.value for dtype in (DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8))
"""Element types of C that forms offer."""


def problem_label(problem: Problem) -> str:
    """Sizes, types and layouts, and the epilogue's steps when there are any."""
    return problem_line(problem.definition)


def problem_pairs(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield the operands in memory and the operations on them; nothing if this version cannot read the problem."""
    try:
        gemm = problem_from_json(problem.definition)
    except InvalidProblem:
        return
    for operand in gemm.operands:
        yield operand.name, _operand(operand, gemm.batch)
    yield "accumulator", gemm.dtype_acc.value
    if gemm.gate is not None:
        yield "gate", str(gemm.gate)
    if gemm.quantization is not None:
        yield "quantization", str(gemm.quantization)
    if gemm.experts is not None:
        yield "experts", f"{gemm.experts}, each with a B for its rows"
    if gemm.epilogue:
        yield "epilogue", print_epilogue(gemm.epilogue)
    yield "shapes", "dynamic: arguments of the kernel" if gemm.dynamic else "static"
    if gemm.deterministic:
        yield "numbers", "bitwise-reproducible results"
    yield "alignment", f"{gemm.alignment} bytes"


def config_label(config: Mapping[str, object]) -> str:
    """The nine numbers, and of the strategy what differs from the plainest, in a line."""
    return config_line(dict(config))


def config_pairs(config: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a configuration with the path to it; extents and layouts as `256x128x32`."""
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, object]", value)
            if set(inner) == {"m", "n", "k"}:
                yield path, f"{inner['m']}x{inner['n']}x{inner['k']}"
            else:
                yield from config_pairs(inner, f"{path} ")
        elif isinstance(value, list | tuple):
            yield path, "x".join(str(v) for v in cast("list[object]", value))
        elif value is None:
            yield path, "left to the builder"
        elif isinstance(value, bool):
            yield path, "yes" if value else "no"
        else:
            yield path, str(value)


def _operand(operand: Operand, batch: int) -> str:
    words = f" words of {operand.dtype.packed} elements" if operand.dtype.packed > 1 else ""
    said = f"{operand.role}, {operand.dtype.value}, {operand.rows} x {operand.columns}{words}"
    if operand.pitch != operand.columns:
        said += f", rows {operand.pitch} {'words' if words else 'elements'} apart"
    if batch > 1:
        said += f", matrices {operand.batch_stride} apart" if operand.batch_stride else ", one for all of the batch"
    return said
