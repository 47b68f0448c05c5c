"""The launch of a stored kernel, read from its kernel.json for terminals and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from db.values import JsonObject

_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LaunchArgument:
    """A buffer argument of a launch; `nbytes` is None if kernel.json does not state it."""

    position: int
    name: str
    role: str
    dtype: str
    nbytes: int | None


@dataclass(frozen=True, slots=True)
class LaunchedKernel:
    """One step: a kernel, its parameters as names of arguments or `name=value`, and its sizes in work-items.

    On a CPU it has `threads` in place of sizes; a step that runs `once` prepares memory for all later
    launches.
    """

    kernel: str
    parameters: tuple[str, ...]
    global_size: tuple[str, ...]
    global_size_formula: tuple[str, ...]
    local_size: tuple[str, ...]
    threads: int | None
    once: bool


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """Memory path of a matrix: 2-D blocks, or lanes `because` of a rule."""

    matrix: str
    by: str
    because: str | None


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """Packing of a matrix for a CPU kernel: when it is packed, element type, and size of the whole."""

    matrix: str
    when: str
    elements: str | None
    nbytes: int | None


@dataclass(frozen=True, slots=True)
class Launch:
    """All facts of a launch except the binary. `needs` are the required instructions of a CPU binary."""

    arguments: tuple[LaunchArgument, ...]
    steps: tuple[LaunchedKernel, ...]
    memory_paths: tuple[MemoryPath, ...]
    subgroup_size: str
    build_options: tuple[tuple[str, str], ...]
    needs: tuple[str, ...]
    packing: tuple[PackedMatrix, ...]

    @property
    def for_cpu(self) -> bool:
        """True for a call of native code, which has no work-items."""
        return any(step.threads is not None for step in self.steps)


def read_launch(manifest: JsonObject) -> Launch:
    """Return the launch that kernel.json describes; absent entries are empty."""
    arguments = tuple(_argument(place, _mapping(a)) for place, a in enumerate(_list(manifest.get("arguments"))))
    paths = _mapping(manifest.get("memory_paths"))
    return Launch(
        arguments=arguments,
        steps=tuple(_step(_mapping(step), arguments) for step in _list(manifest.get("steps"))),
        memory_paths=tuple(_path(name, _mapping(path)) for name, path in paths.items()),
        subgroup_size=str(manifest.get("subgroup_size", _UNKNOWN)),
        build_options=tuple((api, str(v)) for api, v in _mapping(manifest.get("build_options")).items()),
        needs=_texts(manifest.get("needs")),
        packing=tuple(_packed(name, _mapping(how)) for name, how in _mapping(manifest.get("packing")).items()),
    )


def _argument(place: int, entry: Mapping[str, object]) -> LaunchArgument:
    size = _number(entry.get("bytes"))
    name, role, dtype = (str(entry.get(key, _UNKNOWN)) for key in ("name", "role", "dtype"))
    return LaunchArgument(place, name, role, dtype, size)


def _step(entry: Mapping[str, object], arguments: tuple[LaunchArgument, ...]) -> LaunchedKernel:
    return LaunchedKernel(
        kernel=str(entry.get("kernel", _UNKNOWN)),
        parameters=tuple(_parameter(_mapping(p), arguments) for p in _list(entry.get("parameters"))),
        global_size=_texts(entry.get("global_size")),
        global_size_formula=_texts(entry.get("global_size_formula")),
        local_size=_texts(entry.get("local_size")),
        threads=_number(entry.get("threads")),
        once=entry.get("once") is True,
    )


def _parameter(entry: Mapping[str, object], arguments: tuple[LaunchArgument, ...]) -> str:
    place = entry.get("argument")
    if isinstance(place, int):
        return arguments[place].name if 0 <= place < len(arguments) else f"argument {place}"
    return f"{entry.get('scalar', _UNKNOWN)}={entry.get('value', _UNKNOWN)}"


def _path(matrix: str, entry: Mapping[str, object]) -> MemoryPath:
    because = entry.get("because")
    return MemoryPath(matrix, str(entry.get("by", _UNKNOWN)), None if because is None else str(because))


def _packed(matrix: str, entry: Mapping[str, object]) -> PackedMatrix:
    elements = entry.get("elements")
    when = str(entry.get("when", _UNKNOWN))
    return PackedMatrix(matrix, when, None if elements is None else str(elements), _number(entry.get("bytes")))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in _list(value))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
