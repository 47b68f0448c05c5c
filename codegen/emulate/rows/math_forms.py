"""Mathematical functions on rows: those of LLVM and of OpenCL."""

import re

from codegen.emulate.calls import name_of
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.elements import Form, rounded, widened
from codegen.emulate.rows.rows import Functions, Lines, row_type
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS

_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
# OpenCL's name of a function, its parameters all of one type: `S_` and `S0_` repeat a vector.
_OPENCL = re.compile(r"(?P<name>_Z\d+\w*?)(?:Dv\d+_)?(?P<letter>Dh|[fd])(?P<more>(?:S\d*_|Dh|[fd])*)")

# LLVM's intrinsics whose form is that of a comparison: the predicate by which the first is taken.
_CHOSEN = {"umin": "ult", "umax": "ugt", "smin": "slt", "smax": "sgt"}
_SATURATED = {"uadd.sat": ("add", "or", "ult"), "usub.sat": ("sub", "and", "ule")}
_EXTREMES = {"maximum": "ogt", "minimum": "olt", "maxnum": "ogt", "minnum": "olt"}
_ROUNDED_AS = {"roundeven": "rint", "nearbyint": "rint", "fmuladd": "fma"}
_DIRECT = frozenset(
    (
        *("exp", "exp2", "log", "log2", "log10", "sqrt", "pow", "fma", "fabs", "copysign"),
        *("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "round", "rint"),
    )
)

_CONVERSIONS: dict[str, Form] = {
    TO_BITS: lambda w, f, i, rows: rounded(w, rows[0]),
    FROM_BITS: lambda w, f, i, rows: widened(w, rows[0]),
}


def math_form(i: Instruction) -> Form:
    """Return the row form of a function.

    Raises:
        CompileFailed: it is not known.
    """
    name = name_of(i)
    if name in _CONVERSIONS:
        return _CONVERSIONS[name]
    if not name.startswith("llvm."):
        return _opencl
    name = name.removeprefix("llvm.")
    name = _ROUNDED_AS.get(name, name)
    if name in _CHOSEN:
        return _chosen
    if name in _SATURATED:
        return _saturated
    if name in _EXTREMES:
        return _extreme
    if name == "abs":
        return _absolute
    if name in _DIRECT:
        return _direct
    raise not_emulated(f"function {i.detail}", i.text)


def _direct(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    name = name_of(i).removeprefix("llvm.")
    name = _ROUNDED_AS.get(name, name)
    row, symbol = row_type(i.type.element), f"llvm.{name}.v16{_SUFFIX[i.type.element]}"
    f.declare(symbol, f"declare {row} @{symbol}({', '.join([row] * len(rows))})")
    return w.line(f"call {row} @{symbol}({', '.join(f'{row} {value}' for value in rows)})")


def _opencl(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    m = _OPENCL.fullmatch(i.detail)
    if m is None or i.type.element not in _SUFFIX:
        raise not_emulated(f"function {i.detail}", i.text)
    row = row_type(i.type.element)
    symbol = f"{m['name']}Dv16_{m['letter']}{'S_' * (len(rows) - 1)}"
    f.declare(symbol, f"declare spir_func {row} @{symbol}({', '.join([row] * len(rows))})")
    return w.line(f"call spir_func {row} @{symbol}({', '.join(f'{row} {value}' for value in rows)})")


def _chosen(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    row, predicate = row_type(i.type.element), _CHOSEN[name_of(i).removeprefix("llvm.")]
    first = w.line(f"icmp {predicate} {row} {rows[0]}, {rows[1]}")
    return w.line(f"select {row_type('i1')} {first}, {row} {rows[0]}, {row} {rows[1]}")


def _saturated(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    """Return the sum or all ones, the difference or zero: with all ones where the result is below the first operand."""
    row, (operation, mask, predicate) = row_type(i.type.element), _SATURATED[name_of(i).removeprefix("llvm.")]
    result = w.line(f"{operation} {row} {rows[0]}, {rows[1]}")
    below = w.line(f"icmp {predicate} {row} {result}, {rows[0]}")
    ones = w.line(f"sext {row_type('i1')} {below} to {row}")
    return w.line(f"{mask} {row} {result}, {ones}")


def _extreme(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    """Return the maximum or minimum; NaN wins in maximum and minimum, and loses in maxnum and minnum."""
    name, row, (a, b) = name_of(i).removeprefix("llvm."), row_type(i.type.element), rows
    first = w.line(f"fcmp {_EXTREMES[name]} {row} {a}, {b}")
    winner, other = (a, b) if name.endswith("imum") else (b, a)
    unordered = w.line(f"fcmp uno {row} {winner}, {winner}")
    first = w.line(f"or {row_type('i1')} {first}, {unordered}")
    chosen = w.line(f"select {row_type('i1')} {first}, {row} {a}, {row} {b}")
    if name.endswith("imum"):
        unordered = w.line(f"fcmp uno {row} {other}, {other}")
        chosen = w.line(f"select {row_type('i1')} {unordered}, {row} {other}, {row} {chosen}")
    return chosen


def _absolute(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    row = row_type(i.type.element)
    negative = w.line(f"icmp slt {row} {rows[0]}, zeroinitializer")
    negated = w.line(f"sub {row} zeroinitializer, {rows[0]}")
    return w.line(f"select {row_type('i1')} {negative}, {row} {negated}, {row} {rows[0]}")
