"""Formulas of sizes in kernel.json, as expressions that are valid in both Python and C++."""

import ast
import re
from dataclasses import dataclass

_LONGEST = 200  # characters of a formula
_LONGEST_RULE = 400  # characters of an assumption
_NUMBER = r"[0-9]{1,18}"
_RULE = re.compile(
    rf"([a-z ]+) \(([^()]+)\): ((?:at least|at most|a multiple of) {_NUMBER}(?:, (?:at most|a multiple of) {_NUMBER})*)"
)


class UnknownFormula(ValueError):
    """A text that is not a formula of sizes."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of a kernel: in words, rendered from what was parsed, and as conditions on sizes."""

    words: str
    conditions: tuple[str, ...]


def expression(formula: str, names: frozenset[str]) -> str:
    """Convert a formula such as `2 * ceil(n / 64)` to calls of `ceil_div` and `least`, which programs define.

    Raises:
        UnknownFormula: it has anything but numbers, `names`, ceil, min, and sums and products of them, or more than 200
            characters.
    """
    return ast.unparse(_read(_parsed(formula), names))


def _parsed(formula: str) -> ast.expr:
    if len(formula) > _LONGEST:
        raise UnknownFormula(f"expected a formula of at most {_LONGEST} characters, got {len(formula)}")
    try:
        return ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnknownFormula(f"expected a formula of sizes, got {formula[:60]!r}") from error


def _read(node: ast.expr, names: frozenset[str]) -> ast.expr:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool) and value < 2**62:
            return node
        case ast.Name(id=name) if name in names:
            return node
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            return ast.BinOp(_read(node.left, names), node.op, _read(node.right, names))
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(
            operand, ast.UnaryOp
        ):  # `--` is C++'s decrement
            return ast.UnaryOp(node.op, _read(node.operand, names))
        case ast.Call(
            func=ast.Name(id="ceil"), args=[ast.BinOp(op=ast.Div(), right=ast.Constant()) as whole], keywords=[]
        ):
            return _call("ceil_div", _read(whole.left, names), _read(whole.right, names))
        case ast.Call(func=ast.Name(id="min"), args=[one, other], keywords=[]):
            return _call("least", _read(one, names), _read(other, names))
        case _:
            raise UnknownFormula(f"expected sizes, sums and products, got {type(node).__name__}")


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name), list(arguments), [])


def assumption(words: str, names: frozenset[str]) -> Assumption | None:
    """Return the checks of an assumption before a launch; None for what the kernel computes itself, and for
    addresses, which programs align.
    """
    found = _RULE.fullmatch(words) if len(words) <= _LONGEST_RULE else None
    if found is None:
        return None
    what, formula, rules = found.groups()
    try:
        parsed = _parsed(formula)
        value = ast.unparse(_read(parsed, names))
    except UnknownFormula:
        return None
    conditions: list[str] = []
    for rule in rules.split(", "):
        number = rule.rpartition(" ")[2]
        conditions.append(
            f"({value}) % {number} == 0"
            if rule.startswith("a multiple")
            else f"{value} {'>=' if rule.startswith('at least') else '<='} {number}"
        )
    return Assumption(f"{what} ({ast.unparse(parsed)}): {rules}", tuple(conditions))
