"""The device part of a file: its gpu.modules and aliases, and the sizes with which host functions launch kernels.

Host functions use dialects that the compiler does not need. Their text is cut out unparsed, so that it cannot
fail.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.xe.dialects import context, gpu
from codegen.xe.dialects.kernel_context import KernelParser

Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Launch:
    """One `gpu.launch_func`; sizes are None where they are not constants in the text."""

    module: str
    kernel: str
    grid: Extents | None
    block: Extents | None


@dataclass(frozen=True, slots=True)
class DevicePart:
    """The device part of a file. Each line of `text` keeps its line number, so that errors name the right place."""

    text: str
    launches: tuple[Launch, ...]


def device_part(source: str) -> DevicePart:
    """Extract the gpu.modules and aliases of a file, and read the launches. A file without gpu.module stays whole."""
    plain = _without_literals(source)
    modules = list(_gpu_modules(source, plain))
    if not modules:
        return _generic_part(source)
    kept = sorted([*_aliases(plain), *modules])
    host = _only(plain, _gaps(kept, len(plain)))
    device = _HINT.sub(lambda found: _blank(found[0]), _only(source, kept))
    return DevicePart(device, tuple(_launches(source, host)))


def launches_in(module: ModuleOp) -> tuple[Launch, ...]:
    """Return the launches of a parsed module that includes its host functions."""
    return tuple(_launch(op) for op in module.walk() if isinstance(op, gpu.LaunchFuncOp))


def launched_block(kernel: str, launches: Iterable[Launch]) -> Extents | None:
    """Return the block size with which a kernel is launched; None if no launch gives it.

    Raises:
        VerifyException: its launches differ.
    """
    blocks = {launch.block for launch in launches if launch.kernel == kernel and launch.block is not None}
    if len(blocks) > 1:
        raise VerifyException(f"expected one block in the launches of {kernel}, got {sorted(blocks)}")
    return next(iter(blocks), None)


_LITERAL = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
_MODULE = re.compile(r'(?<![\w.%@#!$-])gpu\.module\s+@(?:[\w$.-]+|"[^"]*")')
_HINT = re.compile(r"(?m)^\s*xegpu\.compile_hint\s*$")  # of no use to this compiler
_ALIAS = re.compile(r"[#!][A-Za-z_][\w$.]*\s*=\s*")
_ATTRIBUTES = re.compile(r"\s*attributes\s*(?=\{)")
_CONSTANTS = ("arith.constant", "index.constant", "constant")
_BRACKET = re.compile(r"->|[<>{}()\[\]]")
_CLOSES = {"}": "{", ")": "(", "]": "[", ">": "<"}

Span = tuple[int, int]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _without_literals(source: str) -> str:
    """Return the text with strings and comments blanked, so that only syntax is left."""
    return _LITERAL.sub(lambda found: _blank(found[0]), source)


def _only(text: str, spans: list[Span]) -> str:
    """Return the text with everything outside the spans blanked."""
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts += [_blank(text[end:start]), text[start:stop]]
        end = stop
    return "".join([*parts, _blank(text[end:])])


def _gaps(spans: list[Span], length: int) -> list[Span]:
    """Return the spans between the given ones."""
    starts, ends = [s for s, _ in spans], [e for _, e in spans]
    return list(zip([0, *ends], [*starts, length], strict=True))


def _end_of_brackets(plain: str, start: int) -> int:
    """Return the end of the bracket at `start`; the end of the text if it is not closed."""
    opened: list[str] = []
    for found in _BRACKET.finditer(plain, start):
        bracket = found[0]
        if bracket in "<{([":
            opened.append(bracket)
        elif bracket in _CLOSES and (bracket != ">" or opened[-1] == "<"):  # any other > is a comparison
            while opened.pop() != _CLOSES[bracket] and opened:
                pass
        if not opened:
            return found.end()
    return len(plain)


def _gpu_modules(source: str, plain: str) -> Iterator[Span]:
    """Yield the span of each gpu.module in pretty syntax."""
    end = 0
    for found in _MODULE.finditer(source):
        if found.start() >= end and plain[found.start()] == "g":  # neither nested nor in a literal
            end = _end_of_brackets(plain, _body(plain, found.end()))
            yield found.start(), end


def _body(plain: str, at: int) -> int:
    """Return the position of a gpu.module's opening brace, after its targets and attributes."""
    while at < len(plain) and plain[at] != "{":
        header = _ATTRIBUTES.match(plain, at)
        if header is not None:
            at = _end_of_brackets(plain, header.end())
        else:
            at = _end_of_brackets(plain, at) if plain[at] in "<[(" else at + 1
    return at


def _aliases(plain: str) -> Iterator[Span]:
    """Yield the span of each alias definition: at the top level, to the end of its line or of its brackets."""
    at = 0
    while at < len(plain):
        if plain[at] in "{([":
            at = _end_of_brackets(plain, at)
        elif found := _ALIAS.match(plain, at):
            at = found.end()
            while at < len(plain) and plain[at] != "\n":
                at = _end_of_brackets(plain, at) if plain[at] in "<{([" else at + 1
            yield found.start(), at
        else:
            at += 1


_TRIPLE = r"\(\s*([^()]*?)\s*\)"
_LAUNCH = re.compile(
    r'gpu\.launch_func\b[^@{}]*?@([\w$.-]+|"[^"]*")::@([\w$.-]+|"[^"]*")[^{}@]*?'
    rf"\bblocks\s+in\s*{_TRIPLE}\s*threads\s+in\s*{_TRIPLE}"
)


def _launches(source: str, host: str) -> Iterator[Launch]:
    for found in _LAUNCH.finditer(source):
        if host[found.start()] == "g":
            module, kernel = (name.strip('"') for name in found.group(1, 2))
            grid, block = (_extents(host, found.start(), values) for values in found.group(3, 4))
            yield Launch(module, kernel, grid, block)


def _extents(host: str, before: int, values: str) -> Extents | None:
    numbers = [_constant(host, before, value.strip()) for value in values.split(",")]
    if len(numbers) != 3 or None in numbers:
        return None
    x, y, z = (n or 0 for n in numbers)
    return x, y, z


def _constant(host: str, before: int, name: str) -> int | None:
    """Return the number of a value, if its function defines it as a constant."""
    function = max(host.rfind("func.func", 0, before), 0)
    definition = re.compile(rf"{re.escape(name)}\s*=\s*([\w.]+)\s+(?:\{{[^{{}}]*\}}\s*)?(-?\d{{1,18}})\b")
    found = [m for m in definition.finditer(host, function, before) if m[1] in _CONSTANTS]
    return int(found[-1][2]) if found else None


def _generic_part(source: str) -> DevicePart:
    """Extract the device part of a file in MLIR's generic form, which parses with any dialects."""
    if '"gpu.module"' not in source:
        return DevicePart(source, ())
    parser = _ModuleSpans(source)
    try:
        module = parser.parse_module()
    except ParseError:  # the parser reports the error
        return DevicePart(source, ())
    kept = sorted([*_aliases(_without_literals(source)), *parser.spans])
    return DevicePart(_only(source, kept), launches_in(module))


class _ModuleSpans(KernelParser):
    """A parser that records the spans of gpu.modules."""

    def __init__(self, source: str) -> None:
        super().__init__(context(), source)
        self.spans: list[Span] = []

    def parse_operation(self) -> Operation:
        start, op = self.pos, super().parse_operation()
        if isinstance(op, gpu.ModuleOp):
            self.spans.append((start, self.pos))
        return op


def _launch(op: gpu.LaunchFuncOp) -> Launch:
    return Launch(op.module_name, op.kernel_name, _numbers(op.grid), _numbers(op.block))


def _numbers(values: Sequence[SSAValue]) -> Extents | None:
    known = [v.owner.value for v in values if isinstance(v.owner, arith.ConstantOp)]
    numbers = [k.value.data for k in known if isinstance(k, IntegerAttr)]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) == len(values) == 3 else None
