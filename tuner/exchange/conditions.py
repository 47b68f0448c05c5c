"""The conditions of a T1 space: expressions of its parameters, read as a small part of Python and never run as code.

Names of parameters, numbers, texts and whether; `+ - * / // %`, comparisons, `in` a list, `and`, `or`, `not`,
`a if b else c`, and `min`, `max`, `abs`. Powers are not among these: they alone make numbers of any length.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tuner.space.space import Value

_MOST = 10.0**18  # of a number on the way
_Evaluate = Callable[[Mapping[str, Value]], Any]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_CALLS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression and the parameters that it is of."""

    text: str
    names: frozenset[str]
    _evaluate: _Evaluate

    def holds(self, values: Mapping[str, Value]) -> bool:
        """Whether it holds of a configuration; one that cannot be computed, such as a division by 0, does not.

        Raises:
            ValueError: it compares or computes what has no such operation.
        """
        try:
            return bool(self._evaluate(values))
        except ZeroDivisionError:
            return False
        except (TypeError, RecursionError) as error:
            raise ValueError(f"{self.text[:80]!r}: {error}") from error


def parse_condition(text: str, parameters: frozenset[str]) -> Condition:
    """Read an expression of some parameters.

    Raises:
        ValueError: it is no expression, or has what is not read here; says what.
    """
    names: set[str] = set()
    try:
        evaluate = _read(ast.parse(text.strip(), mode="eval").body, parameters, names)
    except (SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise ValueError(f"expected an expression of parameters, got {text[:80]!r}") from error
    return Condition(text, frozenset(names), evaluate)


def _read(node: ast.expr, parameters: frozenset[str], names: set[str]) -> _Evaluate:
    def read(part: ast.expr) -> _Evaluate:
        return _read(part, parameters, names)

    match node:
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return lambda _: value
        case ast.Name(id=name) if name in parameters:
            names.add(name)
            return lambda values: values[name]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            # Combinations that are listed may be many: those of constants are made once.
            if all(isinstance(part, ast.Constant | ast.Tuple | ast.List) for part in parts) and not _has_names(node):
                listed = frozenset(cast("list[object]", ast.literal_eval(node)))
                return lambda _: listed
            each = [read(part) for part in parts]
            return lambda values: tuple(one(values) for one in each)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a, b, compute = read(left), read(right), _BINARY[type(op)]
            return lambda values: compute(_number(a(values)), _number(b(values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            a = read(operand)
            return lambda values: not a(values)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            a, change = read(operand), _UNARY[type(op)]
            return lambda values: change(_number(a(values)))
        case ast.BoolOp(op=op, values=parts):
            each, some = [read(part) for part in parts], any if isinstance(op, ast.Or) else all
            return lambda values: some(one(values) for one in each)
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(op) in _COMPARE for op in ops):
            terms, tests = [read(part) for part in (left, *comparators)], [_COMPARE[type(op)] for op in ops]
            return lambda values: all(
                test(a(values), b(values)) for test, a, b in zip(tests, terms, terms[1:], strict=False)
            )
        case ast.IfExp(test=test, body=body, orelse=orelse):
            asked, then, other = read(test), read(body), read(orelse)
            return lambda values: then(values) if asked(values) else other(values)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _CALLS and parts:
            call, each = _CALLS[name], [read(part) for part in parts]
            return lambda values: call(*(_number(one(values)) for one in each))
        case ast.Name(id=name):
            raise ValueError(f"expected one of the parameters {', '.join(sorted(parameters))}, got {name!r}")
        case _:
            raise ValueError(
                "expected numbers, parameters, + - * / // %, comparisons, `in`, and, or, not, min, max and abs; got "
                f"{ast.unparse(node)[:80]!r}"
            )


def _has_names(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"expected a number, got {value!r}")
    if not math.isfinite(value) or abs(value) > _MOST:
        raise TypeError(f"expected numbers of at most {_MOST:g}, got more")
    return value
