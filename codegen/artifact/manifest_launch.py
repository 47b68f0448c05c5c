"""The launch that kernel.json describes, read back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from codegen.serialization import Malformed, decode
from hal import Argument, LaunchSpec, LaunchStep, Role, Scalar

_ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class _Argument:
    index: int
    name: str
    role: str
    dtype: str
    bytes: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Parameter:
    argument: int | None = None
    scalar: str | None = None
    value: int | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    kernel: str
    parameters: tuple[_Parameter, ...]
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    global_size_formula: object = None


@dataclass(frozen=True, slots=True)
class _Options:
    opencl: str
    level_zero: str


@dataclass(frozen=True, slots=True)
class _Launch:
    arguments: tuple[_Argument, ...]
    steps: tuple[_Step, ...]
    subgroup_size: int
    build_options: _Options


def launch_from_manifest(manifest: Mapping[str, object], binary: bytes) -> LaunchSpec:
    """Return the launch of a GPU's kernel.json with its binary.

    Raises:
        ValueError: it is not what `codegen.artifact.manifest` writes of a GEMM.
    """
    names = _Launch.__dataclass_fields__
    said = decode(_Launch, {name: value for name, value in manifest.items() if name in names})
    if [argument.index for argument in said.arguments] != list(range(len(said.arguments))):
        raise ValueError("arguments: expected them in the order of their index")
    return LaunchSpec(
        binary=binary,
        arguments=tuple(Argument(a.name, _role(a.role), a.dtype, a.bytes) for a in said.arguments),
        steps=tuple(
            LaunchStep(step.kernel, tuple(map(_parameter, step.parameters)), step.global_size, step.local_size)
            for step in said.steps
        ),
        subgroup_size=said.subgroup_size,
        build_options=said.build_options.opencl,
    )


def _role(text: str) -> Role:
    if text not in _ROLES:
        raise Malformed("arguments", f"role: expected one of {', '.join(_ROLES)}, got {text!r}")
    return text


def _parameter(said: _Parameter) -> int | Scalar:
    match said:
        case _Parameter(argument=int(index), scalar=None, value=None):
            return index
        case _Parameter(argument=None, scalar=str(name), value=int(value)):
            return Scalar(name, value)
        case _:
            raise Malformed("steps", f"parameters: expected an argument, or a scalar and its value, got {said}")
