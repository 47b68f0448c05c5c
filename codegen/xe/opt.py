"""Implementation of `xetune opt`: reads a file, applies passes and prints it. Every error has a location."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, ParseError, PassFailedException, VerifyException

from codegen.errors import CodegenError, CompileFailed
from codegen.xe.dialects import (
    context,
    text,
)
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.gpu.host import (
    Launch,
    device_part,
)
from codegen.xe.dialects.kernel_context import KernelParser
from codegen.xe.modules.blocks import set_blocks
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
        module = _read(device.text if device_only else part, name)
        if device_only:  # drop launches, but keep the kernel sizes that they give
            _set_blocks(module, device.launches, name)
        if any(module_pass.name == LowerToLanesPass.name for module_pass in passes):
            _mark_levels(module, name)  # first, since later types do not say the level
        for module_pass in passes:
            _apply(module_pass, module, name)
        results.append(text(module, generic=generic))
    return f"{_SEPARATOR}\n".join(results)


def _mark_levels(module: ModuleOp, name: str) -> None:
    try:
        for op in module.walk():
            if isinstance(op, FuncOp):
                mark_levels(op)
    except PassFailedException as error:
        raise OptFailed(f"{name}: {error}") from error


def _set_blocks(module: ModuleOp, launches: Sequence[Launch], name: str) -> None:
    try:
        set_blocks([op for op in module.walk() if isinstance(op, FuncOp) and op.kernel is not None], launches)
    except CompileFailed as error:
        raise OptFailed(f"{name}: {error.message}") from error


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


@dataclass(init=False)
class _PlacedParser(KernelParser):
    """A parser that records the positions of operations."""

    places: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def __init__(self, source: str, name: str) -> None:
        super().__init__(context(), source, name)
        self.places = {}

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        self.places[op] = start
        return op


def _read(source: str, name: str) -> ModuleOp:
    parser = _PlacedParser(source, name)
    try:
        module = parser.parse_module()
    except ParseError as error:
        raise OptFailed(_at(source, name, _use(parser, source) or error.span.start, error.msg)) from error
    except VerifyException as error:  # an invalid attribute or type before the current token
        raise OptFailed(_at(source, name, parser.pos, str(error))) from error
    try:
        module.verify()
    except VerifyException as error:
        raise OptFailed(_at(source, name, _place(module, parser.places), str(error))) from error
    return module


def _use(parser: Parser, source: str) -> int | None:
    """Return the position of the first undefined value, if the parser reached the end of the text."""
    names = [re.escape(name) for name in parser.forward_ssa_references]
    if not names or source[parser.pos :].strip():
        return None
    found = re.search(rf"%(?:{'|'.join(names)})(?![\w$.-])", source)
    return None if found is None else found.start()


def _place(module: ModuleOp, places: dict[Operation, int]) -> int:
    """Return the position of the first operation that fails verification; 0 if there is none."""
    for op in module.walk():
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException:
            return places.get(op, 0)
    return 0


def _at(source: str, name: str, position: int, message: str) -> str:
    """Return `file:line:column: message`, the line, and a marker under the position."""
    before = source[:position]
    line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
    shown = source.splitlines()[line - 1] if line <= len(source.splitlines()) else ""
    return f"{name}:{line}:{column}: {message}\n{shown}\n{' ' * (column - 1)}^"


def _apply(module_pass: ModulePass, module: ModuleOp, name: str) -> None:
    try:
        module_pass.apply(context(), module)
    except PassFailedException as error:
        raise OptFailed(f"{name}: {error}") from error
    try:
        module.verify()
    except VerifyException as error:
        raise OptFailed(f"{name}: after {module_pass.name}: {error}") from error
