"""The problem that a kernel of others computes, as far as its name and its code tell.

The code tells the types that DPAS multiplies, and the layouts of operands that 2-D blocks bring unchanged to it. The
name of a template tells the operation, and the types and layouts that are its arguments. Sizes are arguments of a
launch.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from codegen.errors import InvalidProblem
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.xe.machine import Listing
from codegen.xe.machine.messages import MemoryMessage
from codegen.xe.machine.operands import Register, RegisterFile
from codegen.xe.machine.pipeline import k_loop

_DPAS = re.compile(r"^[^/\n]*\bdpasw?\.\S+\s+\(\S+\)" + r"\s+(?:null|r[\d.]+):(\w+)" * 4, re.MULTILINE)
_TYPES = {
    "hf": DType.F16,
    "bf": DType.BF16,
    "tf32": DType.TF32,
    "b": DType.S8,
    "ub": DType.U8,
    "f": DType.F32,
    "d": DType.I32,
}
_ELEMENTS = {
    r"half_t|sycl.*detail::half_impl::half|half": DType.F16,
    r"bfloat16_t|bfloat16|sycl.*bfloat16": DType.BF16,
    r"tfloat32_t|tf32": DType.TF32,
    r"float": DType.F32,
    r"signed char|int8_t": DType.S8,
    r"int": DType.I32,
}
_OTHER_ELEMENTS = re.compile(r"(?:.*::)?(?:float_e\dm\d_t|uint\d+b?_t|int4b?_t|unsigned char)")
_NAMED_LAYOUTS = {"(char)82": False, "(char)67": True}  # 'R' and 'C'
_CUTLASS_LAYOUTS = {"RowMajor": False, "ColumnMajor": True}


class Operation(StrEnum):
    """Operation of a kernel, from its name."""

    GROUPED_GEMM = "grouped GEMM"
    GEMM = "GEMM"
    ATTENTION = "attention"
    CONVOLUTION = "convolution"


_OPERATIONS = {
    Operation.ATTENTION: re.compile(r"fmha|flash|attention|sdpa", re.IGNORECASE),
    Operation.CONVOLUTION: re.compile(r"conv(?!ert)", re.IGNORECASE),
    Operation.GROUPED_GEMM: re.compile(r"(?:moe|group).*gemm|gemm.*group", re.IGNORECASE),
    Operation.GEMM: re.compile(r"gemm|matmul", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Recognised:
    """A problem without its sizes; None stands for what is not known. `transpose` is False for rows in memory.

    `multiplied` are the types of A, B and the accumulator in DPAS; `dtype_a` and `dtype_b` are those in memory, None
    where the kernel converts them from a type that is not known. `unknown` says what is missing, in words.
    """

    operation: Operation | None
    multiplied: tuple[DType, DType, DType]
    dtype_a: DType | None
    dtype_b: DType | None
    dtype_c: DType | None
    transpose_a: bool | None
    transpose_b: bool | None
    unknown: tuple[str, ...]

    def problem(self, m: int, n: int, k: int) -> GemmProblem | None:
        """Return the GEMM of one matrix of these sizes; None if the kernel is none, or a type in memory is not known.

        Layouts and a type of C that are not known are the usual ones: rows in memory, the accumulator's.
        """
        if self.operation not in (Operation.GEMM, Operation.GROUPED_GEMM) or not self.dtype_a or not self.dtype_b:
            return None
        a, b, acc = self.multiplied
        if (a, b) != (self.dtype_a, self.dtype_b):
            return None
        try:
            return GemmProblem(
                m,
                n,
                k,
                dtype_a=a,
                dtype_b=b,
                dtype_acc=acc,
                dtype_c=self.dtype_c or acc,
                transpose_a=bool(self.transpose_a),
                transpose_b=bool(self.transpose_b),
            )
        except InvalidProblem:
            return None


@dataclass(frozen=True, slots=True)
class _Said:
    """Statements of a name: types in memory by operand, False for one that our GEMMs do not have; layouts."""

    types: Mapping[str, DType | bool]
    layouts: tuple[bool, ...]


def recognise(name: str, assembly: str, listing: Listing | None) -> Recognised | None:
    """Return the problem of a kernel by its C++ name and its code; None without DPAS, or with types of no `DType`.

    `listing` is None where an instruction is not known: then the code tells types only.
    """
    found = _DPAS.search(assembly)
    if found is None or not all(word in _TYPES for word in found.groups()):
        return None
    acc, _, b, a = (_TYPES[word] for word in found.groups())
    operation = next((o for o, pattern in _OPERATIONS.items() if pattern.search(name)), None)
    said = _said(name) if operation in (Operation.GEMM, Operation.GROUPED_GEMM) else _Said({}, ())
    loaded_a, loaded_b = (None, None) if listing is None else _layouts(listing)
    dtype_a, dtype_b = _stored(a, said.types.get("a"), loaded_a), _stored(b, said.types.get("b"), loaded_b)
    dtype_c = said.types.get("c")
    transpose_a = said.layouts[0] if said.layouts else loaded_a
    transpose_b = said.layouts[1] if said.layouts else loaded_b
    known = Recognised(
        operation,
        (a, b, acc),
        dtype_a,
        dtype_b,
        dtype_c if isinstance(dtype_c, DType) else None,
        transpose_a,
        transpose_b,
        unknown=(),
    )
    return replace(known, unknown=tuple(_unknown(known, said)))


def _stored(multiplied: DType, named: DType | bool | None, transposed: bool | None) -> DType | None:
    if isinstance(named, DType):
        return multiplied if (named, multiplied) == (DType.F32, DType.TF32) else named
    return multiplied if named is None and transposed is not None else None


def _unknown(r: Recognised, said: _Said) -> Iterator[str]:
    if r.operation is None:
        yield "operation: the name says none that is known here"
        return
    if r.operation in (Operation.ATTENTION, Operation.CONVOLUTION):
        yield f"no GEMM: {r.operation}"
        return
    for operand, dtype, multiplied in (("A", r.dtype_a, r.multiplied[0]), ("B", r.dtype_b, r.multiplied[1])):
        if said.types.get(operand.lower()) is False:
            yield f"{operand}: of a type that our GEMMs do not have, converted to {multiplied}"
        elif dtype is None:
            yield f"type of {operand} in memory: it comes to DPAS through other instructions, as {multiplied}"
        elif dtype is not multiplied:
            yield f"{operand}: {dtype} in memory, converted to {multiplied}"
    yield "M, N and K: arguments of the launch"
    for operand, transposed in (("A", r.transpose_a), ("B", r.transpose_b)):
        if transposed is None:
            yield f"layout of {operand}: taken as rows"
    if r.dtype_c is None:
        yield f"type of C: taken as {r.multiplied[2]}"


def _said(name: str) -> _Said:
    arguments = next((list(_arguments(name, at.end())) for at in re.finditer(r"(?i)gemm\w*<", name)), [])
    types: list[DType | bool] = []
    for text in arguments:
        if (kind := _element(text)) is None:
            break
        types.append(kind)
    named: dict[str, DType | bool] = {"a": types[0], "b": types[1]} if len(types) > 1 else {}
    if len(types) > 2:
        named["c"] = types[-1]
    layouts = [_NAMED_LAYOUTS[text] for text in arguments if text in _NAMED_LAYOUTS]
    layouts = layouts or [_CUTLASS_LAYOUTS[word] for word in re.findall(r"layout::(\w+Major)\b", name)]
    return _Said(named, tuple(layouts[:2]) if len(layouts) > 1 else ())


def _arguments(name: str, at: int) -> Iterator[str]:
    """Yield the template arguments that begin at `at`."""
    depth, begin = 0, at
    for place in range(at, len(name)):
        character = name[place]
        if character in ",>" and depth == 0:
            yield name[begin:place].strip()
            begin = place + 1
            if character == ">":
                return
        depth += (character in "<(") - (character in ">)")


def _element(text: str) -> DType | bool | None:
    """Return the type of elements that a C++ type is; False for another type of elements, None for no such type."""
    if _OTHER_ELEMENTS.fullmatch(text):
        return False
    return next((dtype for words, dtype in _ELEMENTS.items() if re.fullmatch(rf"(?:\w+::)*(?:{words})", text)), None)


def _layouts(listing: Listing) -> tuple[bool | None, bool | None]:
    """Return whether A and B are stored transposed, where 2-D blocks bring them to DPAS and nothing changes them."""
    loop = k_loop(listing)
    if loop is None:
        return None, None
    blocks: dict[int, bool | None] = {}
    votes: dict[int, set[bool | None]] = {2: set(), 1: set()}  # by the place among the sources: A, B
    for number in (*loop, *loop):  # what the iteration before loaded, too
        i = listing.instructions[number]
        if i.payload is not None:
            first, transposed = i.payload.destination, None
            if isinstance(i.message, MemoryMessage) and i.message.access.is_block_2d:
                transposed = i.message.transposed
            for register in range(first.number, first.number + i.payload.destination_count):
                if first.file is RegisterFile.GRF:
                    blocks[register] = transposed
        elif i.opcode.startswith("dpas"):
            for place, seen in votes.items():
                source = i.sources[place]
                seen.add(blocks.get(source.number) if isinstance(source, Register) else None)
        elif isinstance(i.destination, Register) and i.destination.file is RegisterFile.GRF:
            blocks.pop(i.destination.number, None)
    return _agreed(votes[2]), _agreed(votes[1])


def _agreed(votes: set[bool | None]) -> bool | None:
    return next(iter(votes)) if len(votes) == 1 else None
