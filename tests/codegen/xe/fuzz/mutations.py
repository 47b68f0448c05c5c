"""Kernels with a few tokens deleted, doubled, swapped or changed and given to the compiler."""

import gc
import json
import os
import re
import resource
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from typing import NoReturn

import numpy as np

from codegen.artifact.kernel_artifact import KernelArtifact
from codegen.artifact.signature import KernelArgument
from codegen.errors import CodegenError
from codegen.pipeline import compile_module
from codegen.simulate.run_module import Value, dtype_of, simulate_module
from codegen.xe.opt import our_passes, read_passes, run_passes
from codegen.xe.spirv import start_emitter
from hal.facts.xe import find

_ROOT = Path(__file__).parents[4]
_SOURCES = (
    "examples/*.mlir",
    "tests/codegen/xe/minimal/*.mlir",
    "tests/codegen/xe/operations/*.mlir",
    "tests/codegen/xe/programs/*.mlir",
    "tests/filecheck/*.mlir",
)
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
_WALL_LIMIT_S = 240
_PER_CHILD = 2_000
"""MLIR keeps every type that it has seen."""
_CHARACTERS = '()[]{}<>%#!@^"\\:,.=-+*0x\0\x1b\u0660\u2028\U0001f600'
_NAME = "kernel.mlir"
_PLACED = re.compile(rf"(?:^|: ){re.escape(_NAME)}:\d+:\d+: .+\n[^\n]*\n *\^$", re.DOTALL)
_DEPTHS, _LONG = (60, 400, 5_000), "7" * 5_000
COMPILED, REFUSED, TIME_LIMIT, MEMORY_LIMIT = "compiled", "refused", "time limit", "memory limit"


@cache
def corpus() -> list[str]:
    """Return kernels of the examples, tests and documents."""
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
    match rng.randrange(14):
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
        case 8:  # characters within a token
            where = rng.randrange(len(tokens[at]) + 1)
            tokens[at] = tokens[at][:where] + rng.choice(_CHARACTERS) + tokens[at][where + rng.randrange(2) :]
        case 9:
            tokens[at] = rng.choice(("(", "[", "{", "<", "vector<4x", "-", "dense<[")) * rng.choice(_DEPTHS)
        case 10:
            _replace(tokens, rng, r"\d+(?=x|$)", (_LONG,))
        case 11:
            del tokens[max(1, at) :]
        case 12:  # a line of another kernel
            lines = rng.choice(corpus()).splitlines()
            tokens.insert(at, f"\n{rng.choice(lines)}\n")
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of the kernel of a seed: the word of its judge, or the fault that ended the judge."""

    seed: int
    word: str = ""
    fault: str = ""


Judge = Callable[[str, Random], str]
"""Takes a kernel and returns a word for how it ended; what it raises is a fault."""


def faults(seeds: range) -> list[Verdict]:
    """Compile and run the kernels of seeds; return those that end in anything but an artifact or one message."""
    return [verdict for verdict in verdicts(seeds, compile_or_refuse) if verdict.fault]


def verdicts(seeds: range, judge: Judge, memory_bytes: int = 4 << 30, cpu_limit_s: int = 20) -> Iterator[Verdict]:
    """Judge the kernels of seeds in one child process, and in another after each that ends it."""
    texts, first = corpus(), seeds.start
    while first < seeds.stop:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
            _judge_all(texts, range(first, min(seeds.stop, first + _PER_CHILD)), judge, writing, cpu_limit_s)
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                yield (verdict := Verdict(*json.loads(line)))
                first = verdict.seed + 1
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            yield Verdict(first, TIME_LIMIT) if name == "SIGPROF" else Verdict(first, fault=name)
            first += 1


def _judge_all(texts: Sequence[str], seeds: range, judge: Judge, to: int, cpu_limit_s: int) -> NoReturn:
    """Judge the kernels of seeds in a child, which must not return to the test; write a line for each."""
    try:
        gc.freeze()
        start_emitter()
        for seed in seeds:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, cpu_limit_s)
            signal.alarm(_WALL_LIMIT_S)
            word = fault = ""
            try:
                word = judge(source_of(seed, texts), Random(seed))
            except MemoryError:
                word = MEMORY_LIMIT
            except Exception:  # noqa: BLE001 (which, is what is looked for)
                fault = traceback.format_exc()
            os.write(to, (json.dumps([seed, word, fault]) + "\n").encode())
    finally:
        os._exit(0)


def source_of(seed: int, texts: Sequence[str]) -> str:
    """Return the kernel of a seed."""
    rng = Random(seed)
    return mutated(rng.choice(texts), rng)


class _TooLong(Exception):
    """A kernel has used its processor time."""


def _end(*_: object) -> None:
    raise _TooLong


def compile_or_refuse(source: str, rng: Random) -> str:
    """Compile and run a kernel, and run passes over it, which may end in a message each; anything else is raised.

    Raises:
        AssertionError: a message of the compiler or of a pass shows no line of the kernel.
    """
    signal.signal(signal.SIGPROF, _end)
    word = REFUSED
    try:
        artifact = compile_module(source, find("b580"), _NAME)
    except CodegenError as refused:
        check_place(refused)
    else:
        word = COMPILED
        with suppress(_TooLong, CodegenError):  # a loop of any length is legal
            _run(artifact)
        signal.setitimer(signal.ITIMER_PROF, _CPU_LIMIT_S)
    for passes in (["lower-xetile", "distribute-to-subgroups"], [rng.choice(_PASSES)]):
        try:
            run_passes(source, read_passes(passes), name=_NAME)
        except CodegenError as refused:
            check_place(refused)
    return word


def check_place(refused: CodegenError) -> None:
    """Check that a message has the line and column of the kernel, and ends with the line and a caret."""
    assert _PLACED.search(str(refused)), f"expected a place and a caret, got {refused}"


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
