"""Kernels with a few tokens deleted, doubled, swapped or changed, and how the compiler takes them."""

import os
import re
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from tempfile import TemporaryFile
from typing import NoReturn

import numpy as np

from codegen.artifact.kernel_artifact import KernelArtifact
from codegen.artifact.signature import KernelArgument
from codegen.errors import CodegenError
from codegen.pipeline import compile_module
from codegen.simulate.run_module import Value, dtype_of, simulate_module
from codegen.xe.opt import our_passes, read_passes, run_passes
from hal.facts.xe import find

_ROOT = Path(__file__).parents[4]
_SOURCES = ("examples/*.mlir", "tests/codegen/xe/minimal/*.mlir", "tests/codegen/xe/operations/*.mlir")
_DOCUMENTS = ("docs/*.md",)
_TOKEN = re.compile(r'"[^"\n]*"|[%#!@^]?[\w$.]+|->|\S|\s+')
_TYPES = ("f16", "bf16", "f32", "f64", "tf32", "i1", "i8", "i16", "i32", "i64", "index", "ui8", "f8E5M2", "i4", "none")
_NUMBERS = ("0", "1", "-1", "2", "3", "7", "16", "17", "64", "1000000007", "99999999999999999999", "0x7F", "1.5", "?")
_EXTENTS = ("1", "2", "3", "4", "5", "7", "8", "12", "16", "24", "32", "48", "64", "128")
_LONGEST = 12_000
_EXTENT, _MOST_ELEMENTS = 64, 1 << 22
_PASSES = [info.name for info in our_passes()]
_CPU_LIMIT_S = 20
"""Of one kernel, without its forked emitter, which has a limit of its own."""


def corpus() -> list[str]:
    """Return kernels of the examples and documents."""
    texts: list[str] = []
    for path in (path for pattern in _SOURCES for path in sorted(_ROOT.glob(pattern))):
        whole = path.read_text()
        texts += [_in_kernel(part, _aliases(whole)) for part in whole.split("// -----")]
    for path in (path for pattern in _DOCUMENTS for path in sorted(_ROOT.glob(pattern))):
        texts += [_in_kernel(part, "") for part in re.findall(r"```mlir\n(.*?)```", path.read_text(), re.DOTALL)]
    return [text for text in texts if len(text) < _LONGEST and "$" not in text]


def _aliases(text: str) -> str:
    return "\n".join(re.findall(r"(?m)^[#!]\w+ *=.*$", text))


def _in_kernel(text: str, aliases: str) -> str:
    if "gpu.module" in text:
        return text
    aliases, body = aliases or _aliases(text), re.sub(r"(?m)^[#!]\w+ *=.*$", "", text)
    if "gpu.func" not in text:
        body = f"gpu.func @k() kernel {{\n{body}\ngpu.return\n}}"
    return f"{aliases}\ngpu.module @m {{\n{body}\n}}"


def mutated(text: str, rng: Random) -> str:
    """Return a text after one to three changes of tokens."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(tokens, rng)
    return "".join(tokens)


def _change(tokens: list[str], rng: Random) -> None:
    at = rng.randrange(len(tokens))
    match rng.randrange(9):
        case 0:
            del tokens[at]
            tokens += [" "] if not tokens else []
        case 1:
            tokens.insert(at, tokens[at])
        case 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 3:
            _replace(tokens, rng, r"-?\d+$", _NUMBERS)
        case 4:
            _replace(tokens, rng, "|".join(_TYPES), _TYPES)
        case 5:  # types and extents are one token: memref<64x32xf16>
            _replace(tokens, rng, r"(?:\d+x)+\w+$", [t for t in tokens if re.match(r"(?:\d+x)+\w+$", t)])
        case 6:  # everywhere: types still agree, so that later stages see the kernel
            _replace_all(tokens, rng, rf"(?:{'|'.join(_TYPES)})$", _TYPES)
        case 7:
            _replace_all(tokens, rng, r"\d+(?=x|$)", _EXTENTS)
        case _:
            _replace(tokens, rng, r"(?:arith|math|vector)\.\w+$", _operations())


def _replace(tokens: list[str], rng: Random, what: str, by: Sequence[str]) -> None:
    places = [i for i, token in enumerate(tokens) if re.match(what, token)]
    if places and by:
        at = rng.choice(places)
        tokens[at] = re.sub(what, lambda _: rng.choice(by), tokens[at])


def _replace_all(tokens: list[str], rng: Random, what: str, by: Sequence[str]) -> None:
    """Replace one type or extent by another wherever it is."""
    if found := sorted({match for token in tokens for match in re.findall(rf"(?:^|x)({what})", token)}):
        old, new = rng.choice(found), rng.choice(by)
        alone = re.compile(rf"(?:^|(?<=\dx)){re.escape(old)}(?=x|$)")
        tokens[:] = [alone.sub(new, token) for token in tokens]


@cache
def _operations() -> list[str]:
    return sorted({name for text in corpus() for name in re.findall(r"\b(?:arith|math|vector)\.\w+", text)})


def faults(seeds: range) -> Iterator[tuple[int, str]]:
    """Compile the kernels of seeds in children; yield those that end in anything but an artifact or one message."""
    texts, first = corpus(), seeds.start
    while first < seeds.stop:
        with TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                os.dup2(output.fileno(), 2)
                _compile_all(texts, range(first, seeds.stop))
            _, status = os.waitpid(child, 0)
            if status == 0:
                return
            output.seek(0)
            number, _, said = output.read().decode(errors="replace").partition("\n")
            first = int(number) + 1
            killed = status & 127
            yield int(number), signal.Signals(killed).name if killed else said


def _compile_all(texts: Sequence[str], seeds: range) -> NoReturn:
    """Compile the kernels of seeds, and exit: with status 1 and a traceback at the first fault."""
    signal.signal(signal.SIGPROF, _end)
    for seed in seeds:
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)
        os.write(2, f"{seed}\n".encode())
        ended = False
        try:
            compile_or_refuse(source_of(seed, texts), Random(seed))
            ended = True
        finally:
            if not ended:  # a child of a fork must not return to the test
                os.write(2, traceback.format_exc().encode())
                os._exit(1)
    os._exit(0)


def source_of(seed: int, texts: Sequence[str]) -> str:
    """Return the kernel of a seed."""
    rng = Random(seed)
    return mutated(rng.choice(texts), rng)


class _TooLong(Exception):
    """A kernel has used its processor time."""


def _end(*_: object) -> None:
    raise _TooLong


def compile_or_refuse(source: str, rng: Random) -> None:
    """Compile and run a kernel, and run passes over it, which may end in a message each; anything else is raised."""
    signal.setitimer(signal.ITIMER_PROF, _CPU_LIMIT_S)
    with suppress(CodegenError):
        artifact = compile_module(source, find("b580"), "kernel.mlir")
        with suppress(_TooLong):  # a loop of any length is legal
            _run(artifact)
        signal.setitimer(signal.ITIMER_PROF, _CPU_LIMIT_S)
    for passes in (["lower-xetile", "distribute-to-subgroups"], [rng.choice(_PASSES)]):
        with suppress(CodegenError):
            run_passes(source, read_passes(passes), name="kernel.mlir")
    signal.setitimer(signal.ITIMER_PROF, 0)


def _run(artifact: KernelArtifact) -> None:
    """Run one work-group of each kernel on zeros."""
    for kernel in artifact.kernels:
        if max((prod(n or _EXTENT for n in a.shape or ()) for a in kernel.arguments), default=0) < _MOST_ELEMENTS:
            block = None if kernel.local_size else (16, 1, 1)
            simulate_module(artifact, kernel.name, (1, 1, 1), block, [_zeros(a) for a in kernel.arguments])


def _zeros(argument: KernelArgument) -> Value:
    if argument.shape is None:
        return 0
    shape = [_EXTENT if extent is None else extent for extent in argument.shape]
    if argument.strides and argument.strides[0] == 1:
        return np.zeros(shape, dtype_of(argument.element), order="F")
    return np.zeros(shape, dtype_of(argument.element))
