"""T1 specifications, read and written: a kernel and its space of configurations, before anything is tried.

`ConfigurationSpace` has the tunable parameters, each with its values as the text of a list, and conditions as
expressions of parameters that all hold for a legal configuration (conditions.py). `KernelSpecification` names kernel,
file, language and sizes; Kernel Tuner wants `ProblemSize` there too, and takes `SimulationInput` as the cache that it
replays.
Source: odgaard/TuningSchema, T1, as in KernelTuner/kernel_tuner, kernel_tuner/schema/T1/1.0.0 (Apache-2.0).
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice
from typing import cast

from codegen.serialization import (
    Malformed,
    decode,
    to_json,
)
from tuner.errors import InvalidFile
from tuner.exchange.conditions import Condition, parse_condition
from tuner.exchange.documents import Document, known
from tuner.exchange.results import Results, Source, plain_value
from tuner.space.space import Value

_LANGUAGES = ("OpenCL", "CUDA", "Vulkan", "Hypertuner")
_KINDS = {
    "f16": ("half", 2),
    "f32": ("float", 4),
    "tf32": ("float", 4),
    "s8": ("int8", 1),
    "u8": ("uint8", 1),
    "i32": ("int32", 4),
    "bf16": ("custom", 2),
}
"""Names of types and their sizes in bytes; of others the size counts bytes."""

MOST_CONFIGURATIONS = 100_000
MOST_STEPS = 3_000_000
"""Combinations of some of the parameters that are looked at while a space is found: some seconds."""

_ACCESS = {"input": "ReadOnly", "output": "WriteOnly"}
_TYPES = ("int", "uint", "float", "bool", "string")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A tunable parameter and its values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """Memory that a kernel is given: `role` is input, output, inout or scratch, `dtype` that of its elements."""

    name: str
    dtype: str
    role: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Launch:
    """How the kernel that stands for the space is launched, and the file that it is in. Sizes are work-items."""

    kernel: str
    file: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Specification:
    """What a T1 file says of a kernel and its space. `conditions` are expressions, as they stand in the file."""

    kernel: str
    language: str
    device: str | None
    problem_size: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    conditions: tuple[str, ...]
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class _Sections:
    ConfigurationSpace: Mapping[str, object]
    KernelSpecification: Mapping[str, object]
    General: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class _Space:
    TuningParameters: tuple[Mapping[str, object], ...]
    Conditions: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class _Parameter:
    Name: str
    Type: str
    Values: str


@dataclass(frozen=True, slots=True)
class _Condition:
    Parameters: tuple[str, ...]
    Expression: str


@dataclass(frozen=True, slots=True)
class _Device:
    Name: str | None = None


@dataclass(frozen=True, slots=True)
class _Kernel:
    Language: str
    KernelName: str
    KernelFile: str
    GlobalSize: Mapping[str, object]
    LocalSize: Mapping[str, object]
    Device: Mapping[str, object] | None = None
    ProblemSize: object = None


@dataclass(frozen=True, slots=True)
class _General:
    xetune: Source | None = None


def specification_of(name: str, document: Document) -> Specification:
    """What a T1 file says.

    Raises:
        InvalidFile: it is not what the format says, or has values that are no plain list.
    """
    try:
        sections = known(_Sections, document.value)
        space = known(_Space, sections.ConfigurationSpace)
        kernel = known(_Kernel, sections.KernelSpecification)
        if kernel.Language not in _LANGUAGES:
            raise Malformed("KernelSpecification.Language", f"expected one of {', '.join(_LANGUAGES)}")
        size = kernel.ProblemSize
        return Specification(
            kernel.KernelName,
            kernel.Language,
            known(_Device, kernel.Device or {}).Name,
            () if size is None else decode(tuple[int, ...], size if isinstance(size, list) else [size]),
            tuple(_parameter(i, known(_Parameter, given)) for i, given in enumerate(space.TuningParameters)),
            tuple(known(_Condition, given).Expression for given in space.Conditions),
            known(_General, sections.General or {}).xetune,
        )
    except ValueError as error:
        raise InvalidFile(f"{name}: {error}") from error


def to_t1(results: Results, launch: Launch) -> dict[str, object]:
    """The specification of a space that holds the configurations of results and no others."""
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


def configurations_of(name: str, specification: Specification) -> list[dict[str, Value]]:
    """The configurations of a space: all combinations of its values of which all conditions hold, at most 100,000.

    Raises:
        InvalidFile: a condition is no expression that is read here, or there are none of these, or too many.
    """
    names = frozenset(parameter.name for parameter in specification.parameters)
    try:
        conditions = [_condition(i, text, names) for i, text in enumerate(specification.conditions)]
        found = list(islice(_combined(specification.parameters, conditions), MOST_CONFIGURATIONS + 1))
    except ValueError as error:
        raise InvalidFile(f"{name}: {error}") from error
    if not found:
        raise InvalidFile(f"{name}: expected Conditions that some combination of values meets, got none that does")
    if len(found) > MOST_CONFIGURATIONS:
        raise InvalidFile(f"{name}: expected at most {MOST_CONFIGURATIONS} configurations, got more: add Conditions")
    return found


def _condition(place: int, text: str, names: frozenset[str]) -> Condition:
    try:
        return parse_condition(text, names)
    except ValueError as error:
        raise Malformed(f"ConfigurationSpace.Conditions[{place}].Expression", str(error)) from error


def _combined(parameters: tuple[Parameter, ...], conditions: list[Condition]) -> Iterator[dict[str, Value]]:
    """The legal combinations; of a space that one condition lists only the listed ones are looked at."""
    fixed: dict[str, Value] = {p.name: p.values[0] for p in parameters if len(p.values) == 1}
    varied = [parameter for parameter in parameters if len(parameter.values) > 1]
    names = {parameter.name for parameter in varied}
    lists = [found for condition in conditions if (found := _listed(condition.text)) is not None]
    listed = next((found for found in lists if set(found[0]) == names), None)
    if listed is not None:
        each = (fixed | dict(zip(listed[0], point, strict=True)) for point in listed[1])
        yield from (chosen for chosen in each if all(condition.holds(chosen) for condition in conditions))
        return
    known, waiting = set(fixed), conditions
    if not all(condition.holds(fixed) for condition in waiting if condition.names <= known):
        return
    stages: list[tuple[Parameter, list[Condition]]] = []
    for parameter in varied:
        waiting = [condition for condition in waiting if not condition.names <= known]
        known.add(parameter.name)
        stages.append((parameter, [condition for condition in waiting if condition.names <= known]))
    yield from _extended(fixed, stages, count(1))


def _extended(
    chosen: dict[str, Value], stages: list[tuple[Parameter, list[Condition]]], steps: Iterator[int]
) -> Iterator[dict[str, Value]]:
    """Combinations value by value: a condition is asked as soon as all of its parameters have one."""
    if not stages:
        yield chosen
        return
    (parameter, conditions), *others = stages
    for value in parameter.values:
        if next(steps) > MOST_STEPS:
            raise ValueError(f"Conditions: expected a space found within {MOST_STEPS} partial combinations, got more")
        longer = chosen | {parameter.name: value}
        if all(condition.holds(longer) for condition in conditions):
            yield from _extended(longer, others, steps)


def _parameter(place: int, given: _Parameter) -> Parameter:
    where = f"ConfigurationSpace.TuningParameters[{place}]"
    if given.Type not in _TYPES:
        raise Malformed(f"{where}.Type", f"expected one of {', '.join(_TYPES)}, got {given.Type!r}")
    values = _literal(given.Values)
    if not isinstance(values, list | tuple) or not values:
        raise Malformed(
            f"{where}.Values", f"expected the text of a list of numbers or texts, got {given.Values[:80]!r}"
        )
    return Parameter(given.Name, tuple(plain_value(value) for value in cast("list[object]", values)))


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


def _listed(expression: str) -> tuple[tuple[str, ...], list[tuple[Value, ...]]] | None:
    """The names and the points of `(a, b) in [(1, 2), ...]`; None of any other expression."""
    try:
        body = ast.parse(expression, mode="eval").body
        match body:
            case ast.Compare(left=ast.Tuple(elts=names), ops=[ast.In()], comparators=[ast.List() as points]):
                found = ast.literal_eval(points)
                return tuple(name.id for name in names if isinstance(name, ast.Name)), found
            case _:
                return None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _size(size: tuple[int, ...]) -> dict[str, str]:
    return dict(zip("XYZ", map(str, size), strict=False))


def _argument_of(argument: Argument) -> dict[str, object]:
    kind, size = _KINDS.get(argument.dtype, ("custom", 1))
    told: dict[str, object] = {"Name": argument.name, "Type": kind, "MemoryType": "Vector"}
    told |= {"Size": argument.nbytes // size, "AccessType": _ACCESS.get(argument.role, "ReadWrite")}
    return told | ({"TypeSize": size} if kind == "custom" else {})
