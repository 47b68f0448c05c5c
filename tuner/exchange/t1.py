"""Reader and writer for T1 specifications: a kernel and its space of configurations, before any trial.

`ConfigurationSpace` has the tunable parameters, each with its values as the text of a list, and conditions:
expressions that must all hold for a legal configuration. A space written here has one condition, which lists
the configurations: `(a, b,) in [(1, 2), ...]`; only that form is read. `KernelSpecification` names kernel,
file, language and sizes; Kernel Tuner requires `ProblemSize` there too, and uses `SimulationInput` as the
cache that it replays. Source: odgaard/TuningSchema, T1, as in KernelTuner/kernel_tuner,
kernel_tuner/schema/T1/1.0.0 (Apache-2.0).
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from codegen.serialization import Malformed, to_json
from tuner.errors import InvalidFile
from tuner.exchange.documents import Document, known
from tuner.exchange.results import Provenance, Results, plain_value
from tuner.space.values import Value

_KINDS = {
    "f16": ("half", 2),
    "f32": ("float", 4),
    "tf32": ("float", 4),
    "s8": ("int8", 1),
    "u8": ("uint8", 1),
    "i32": ("int32", 4),
    "bf16": ("custom", 2),
    **dict.fromkeys(("s4", "u4", "e2m1"), ("uint32", 4)),  # words of eight
}
"""Names of types and their sizes in bytes; sizes of other types count bytes."""

_MOST_CONFIGURATIONS = 100_000
_ACCESS = {"input": "ReadOnly", "output": "WriteOnly"}


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer argument of a kernel: `role` is input, output, inout or scratch, `dtype` that of its elements."""

    name: str
    dtype: str
    role: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch of the best kernel of the space, and its file. Sizes are work-items."""

    kernel: str
    file: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Specification:
    """A space that `to_t1` wrote: its problem and device, and each configuration by its parameters."""

    source: Provenance
    configurations: tuple[Mapping[str, Value], ...]


@dataclass(frozen=True, slots=True)
class _Sections:
    ConfigurationSpace: Mapping[str, object]
    General: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _General:
    xetune: Provenance | None = None


@dataclass(frozen=True, slots=True)
class _Space:
    TuningParameters: tuple[Mapping[str, object], ...]
    Conditions: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class _Parameter:
    Name: str
    Values: str


@dataclass(frozen=True, slots=True)
class _Condition:
    Expression: str


def specification_of(document: Document) -> Specification:
    """Return the space of a T1 file that `to_t1` wrote.

    Raises:
        ValueError: another program wrote it, or it does not follow the format.
    """
    sections = known(_Sections, document.value)
    source = known(_General, sections.General).xetune
    if source is None:
        raise Malformed("General.xetune", "expected problem and device, as `xetune export --format t1` writes them")
    space = known(_Space, sections.ConfigurationSpace)
    parameters = dict(_values(i, known(_Parameter, given)) for i, given in enumerate(space.TuningParameters))
    expressions = [known(_Condition, given).Expression for given in space.Conditions]
    return Specification(source, _configurations(parameters, expressions))


def to_t1(results: Results, launch: Launch | None) -> dict[str, object]:
    """Return the specification of a space that holds exactly the configurations of results.

    Raises:
        InvalidFile: there is no launch.
    """
    if launch is None:
        raise InvalidFile("a T1 file says how a kernel is launched on a GPU; there is no best kernel of one here")
    source = {} if results.source is None else {"xetune": to_json(results.source)}
    varied = {name: values for name, values in results.values().items() if len(values) > 1}
    return {
        "General": {"FormatVersion": 1, **source},
        "ConfigurationSpace": {
            "TuningParameters": [_parameter_of(name, values) for name, values in results.values().items()],
            "Conditions": [_membership(results, tuple(varied))] if varied else [],
        },
        "KernelSpecification": {
            "Language": "OpenCL",
            "Device": {"Name": results.device},
            "KernelName": launch.kernel,
            "KernelFile": launch.file,
            "ProblemSize": list(results.problem_size),
            "GlobalSizeType": "OpenCL",
            "GlobalSize": _size(launch.global_size),
            "LocalSize": _size(launch.local_size),
            "Arguments": [_argument_of(argument) for argument in launch.arguments],
        },
    }


def _values(place: int, given: _Parameter) -> tuple[str, tuple[Value, ...]]:
    values = _literal(given.Values)
    if not isinstance(values, list) or not values:
        where = f"ConfigurationSpace.TuningParameters[{place}].Values"
        raise Malformed(where, f"expected the text of a list of numbers or texts, got {given.Values[:80]!r}")
    return given.Name, tuple(plain_value(value) for value in cast("list[object]", values))


def _configurations(
    parameters: Mapping[str, tuple[Value, ...]], expressions: list[str]
) -> tuple[Mapping[str, Value], ...]:
    """Return the combinations that the only condition lists; without a condition each parameter has one value."""
    fixed = {name: values[0] for name, values in parameters.items() if len(values) == 1}
    varied = set(parameters) - set(fixed)
    if not varied and not expressions:
        return (fixed,)
    where = "ConfigurationSpace.Conditions"
    names, points = _listed(expressions[0]) if len(expressions) == 1 else ((), [])
    if set(names) != varied or not points:
        raise Malformed(
            where,
            f"expected one that lists configurations, `({', '.join(sorted(varied))},) in [(...), ...]`, got "
            f"{'; '.join(expressions)[:80] or 'none'!r}",
        )
    if len(points) > _MOST_CONFIGURATIONS:
        raise Malformed(where, f"expected at most {_MOST_CONFIGURATIONS} configurations, got {len(points)}")
    for point in points:
        if len(point) != len(names) or any(v not in parameters[n] for n, v in zip(names, point, strict=True)):
            raise Malformed(where, f"expected values of the parameters {', '.join(names)}, got {point!r}"[:300])
    return tuple(fixed | dict(zip(names, point, strict=True)) for point in points)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _parameter_of(name: str, values: list[Value]) -> dict[str, object]:
    kinds = {type(value) for value in values}
    kind = "int" if kinds == {int} else "float" if kinds <= {int, float} else "string"
    return {"Name": name, "Type": kind, "Values": repr(values)}


def _membership(results: Results, names: tuple[str, ...]) -> dict[str, object]:
    places = [results.parameters.index(name) for name in names]
    points = dict.fromkeys(tuple(tried.values[place] for place in places) for tried in results.tried)
    return {"Parameters": list(names), "Expression": f"({', '.join(names)},) in {list(points)!r}"}


def _listed(expression: str) -> tuple[tuple[str, ...], list[tuple[Value, ...]]]:
    """Return the names and the points of `(a, b,) in [(1, 2), ...]`; none of another expression."""
    try:
        match ast.parse(expression, mode="eval").body:
            case ast.Compare(left=ast.Tuple(elts=names), ops=[ast.In()], comparators=[ast.List() as listed]):
                points = [tuple(point) for point in ast.literal_eval(listed)]
                return tuple(name.id for name in names if isinstance(name, ast.Name)), points
            case _:
                return (), []
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return (), []


def _size(size: tuple[int, ...]) -> dict[str, str]:
    return dict(zip("XYZ", map(str, size), strict=False))


def _argument_of(argument: Argument) -> dict[str, object]:
    kind, size = _KINDS.get(argument.dtype, ("custom", 1))
    told: dict[str, object] = {"Name": argument.name, "Type": kind, "MemoryType": "Vector"}
    told |= {"Size": argument.nbytes // size, "AccessType": _ACCESS.get(argument.role, "ReadWrite")}
    return told | ({"TypeSize": size} if kind == "custom" else {})
