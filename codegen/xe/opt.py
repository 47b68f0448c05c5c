"""Implementation of `xetune opt`: reads a file, applies passes and prints it. Every error has a location."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from codegen.errors import CodegenError, CompileFailed
from codegen.xe.dialects import (
    context,
    text,
)
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.gpu.host import (
    device_part,
)
from codegen.xe.locations import OperationFailed, Rewriting, verify_at_places
from codegen.xe.modules.blocks import set_blocks
from codegen.xe.modules.reading import read_module
from codegen.xe.modules.source_text import SourceText
from codegen.xe.passes.lanes.lower_to_lanes import LowerToLanesPass
from codegen.xe.passes.mark_levels import mark_levels
from codegen.xe.universe import (
    PASSES,
    UNIVERSE,
)

_SEPARATOR = "// -----"
_MISTYPED = re.compile(r"Incompatible types: given (.*), expected (.*)")  # xDSL's message about the value of an option


class OptFailed(CodegenError):
    """A file that does not parse or verify, or a pass that is unknown or fails; the message has the location."""


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A pass, its options with their defaults, and the first line of its documentation."""

    name: str
    options: str
    purpose: str


def our_passes() -> Iterator[PassInfo]:
    """Yield the passes of this package, in alphabetical order."""
    for name in sorted(PASSES):
        module_pass = UNIVERSE.all_passes[name]()
        options = [f"{_dashed(o.name)}={_shown(o.default_value)}" for o in get_pass_option_infos(module_pass)]
        yield PassInfo(name, " ".join(options), (module_pass.__doc__ or "").splitlines()[0])


def read_passes(specs: Sequence[str]) -> tuple[ModulePass, ...]:
    """Return the passes given as `name` or `name{option=value}`: those of this package and of xDSL.

    Raises:
        OptFailed: a pass or an option is unknown.
    """
    return tuple(module_pass for spec in specs for module_pass in _passes(spec))


def run_passes(
    source: str,
    passes: Sequence[ModulePass],
    *,
    name: str = "<input>",
    generic: bool = False,
    split: bool = False,
    device_only: bool = False,
) -> str:
    """Return the text of a file after the passes; with `split`, process its parts between `// -----` separately.

    Raises:
        OptFailed: the file does not parse or verify, or a pass fails.
    """
    results: list[str] = []
    for part in _parts(source) if split else [source]:
        device = device_part(part)
        text_of_part = SourceText(name, device.text if device_only else part)
        try:
            module = read_module(text_of_part)
            if device_only:  # drop launches, but keep the kernel sizes that they give
                set_blocks(_kernels(module), device.launches)
            if any(module_pass.name == LowerToLanesPass.name for module_pass in passes):
                for op in module.walk():  # first, since later types do not say the level
                    if isinstance(op, FuncOp):
                        mark_levels(op)
            for module_pass in passes:
                _apply(module_pass, module)
        except CompileFailed as error:
            raise OptFailed(error.message) from error
        except OperationFailed as failed:
            raise OptFailed(text_of_part.shown(str(failed), failed.place)) from failed
        results.append(text(module, generic=generic))
    return f"{_SEPARATOR}\n".join(results)


def _kernels(module: ModuleOp) -> list[FuncOp]:
    return [op for op in module.walk() if isinstance(op, FuncOp) and op.kernel is not None]


def _shown(default: str | None) -> str:
    return "" if default is None else default.strip("()").replace(" ", "")


@cache
def _available() -> dict[str, Callable[[], type[ModulePass]]]:
    return {**Universe.get_multiverse().all_passes, **UNIVERSE.all_passes}


def _passes(spec: str) -> Iterator[ModulePass]:
    try:
        parsed = tuple(parse_pipeline(spec))
    except ArgSpecParseError as error:
        said = str(error).rstrip().rpartition("\n")[2].strip()  # the last line, below the position marker
        raise OptFailed(f"--pass {spec}: expected name or name{{option=value}}: {said}") from error
    for one in parsed:
        yield _pass(one)


def _pass(spec: ArgSpec) -> ModulePass:
    factory = _available().get(spec.name)
    if factory is None:
        raise OptFailed(f"--pass {spec.name}: expected a pass of xDSL or one of {', '.join(sorted(PASSES))}")
    module_pass, given = factory(), spec.normalize_parameter_names().parameters
    defaults = {option.name: _shown(option.default_value) for option in get_pass_option_infos(module_pass)}
    if unknown := [_dashed(key) for key in given if key not in defaults]:
        expected = f"one of the options {', '.join(map(_dashed, defaults))}" if defaults else "no options"
        raise OptFailed(f"--pass {spec.name}: expected {expected}, got {', '.join(unknown)}")
    try:
        return module_pass.from_spec(spec)
    except ValueError as error:
        said = _MISTYPED.match(str(error))
        for key, values in given.items():
            if said is not None and str(values) == said[1]:
                expected = f"values like {defaults[key]}" if defaults[key] else said[2]
                got = ",".join(map(str, values))
                raise OptFailed(f"--pass {spec.name}: {_dashed(key)}: expected {expected}, got {got}") from error
        raise OptFailed(f"--pass {spec.name}: {str(error).removeprefix(f'{spec.name}: ')}") from error


def _dashed(option: str) -> str:
    return option.replace("_", "-")


def _parts(source: str) -> Iterator[str]:
    """Yield the parts of a file, each preceded by enough empty lines to keep its line numbers."""
    lines = 0
    for part in source.split(_SEPARATOR):
        yield "\n" * lines + part
        lines += part.count("\n")


def _apply(module_pass: ModulePass, module: ModuleOp) -> None:
    with Rewriting(module):
        module_pass.apply(context(), module)
    try:
        verify_at_places(module)
    except OperationFailed as failed:
        raise OperationFailed(f"after {module_pass.name}: {failed}", failed.place) from failed
