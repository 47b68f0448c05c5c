"""A small kit: the default and two other configurations of each of two problems for a B580, compiled by a fake."""

import base64
import hashlib
import io
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from codegen import CodegenError, GemmArtifact, GemmProblem, KernelConfig, XeConfig
from codegen.xe.rules import violations
from hal import DeviceSpec
from tests.tuner.exchange.lines import b580, header, prediction
from tests.tuner.fakes import FakeCompilation, FakeCompiler
from tuner.exchange.jsonl import Exchange, read_lines, write_lines
from tuner.exchange.records import CandidateRecord, DeviceRecord, ProblemRecord
from tuner.kit.build import Kit, build_kit
from tuner.kit.contents import CONTENTS
from tuner.space.xe.heuristic import default_config

DRIVER = "fake 1"
B580 = b580(DRIVER)
PROBLEMS = (GemmProblem(200, 136, 96), GemmProblem(72, 144, 224))
HEADER = (0x07230203, 0x00010400, 0, 2, 0)
OP_STRING, OP_ENTRY_POINT = 7, 15
KERNEL_MODEL = 6


def spirv_of(text: bytes, kernel: bytes) -> bytes:
    """A SPIR-V module that holds nothing but a string and the name of a kernel."""
    return struct.pack("<5I", *HEADER) + named(OP_STRING, (1,), text) + named(OP_ENTRY_POINT, (KERNEL_MODEL, 1), kernel)


def named(opcode: int, operands: tuple[int, ...], text: bytes) -> bytes:
    """An instruction whose last operand is a string."""
    words = text + b"\0" * (4 - len(text) % 4)
    count = 1 + len(operands) + len(words) // 4
    return struct.pack(f"<{1 + len(operands)}I", count << 16 | opcode, *operands) + words


class SpirvCompilation(FakeCompilation):
    """Gives a kernel whose binary looks like SPIR-V."""

    def result(self) -> GemmArtifact:
        made = super().result()
        assert isinstance(made, GemmArtifact)
        binary = spirv_of(made.launch.binary + self.problem.key.encode(), made.launch.steps[0].kernel.encode())
        spirv = replace(made.stages[0], data=binary)
        return replace(
            made,
            key=hashlib.sha256(b"key" + binary).hexdigest(),
            content_hash=hashlib.sha256(binary).hexdigest(),
            target="b580",
            stages=(spirv,),
            toolchain={"llvm": "22.1"},
            launch=replace(made.launch, binary=binary),
        )


@dataclass
class SpirvCompiler(FakeCompiler):
    """Compiles at once to what looks like SPIR-V."""

    errors: Callable[[KernelConfig], CodegenError | None] = lambda _: None

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> SpirvCompilation:
        self.begun.append(config)
        return SpirvCompilation(problem, config, self.errors(config))


def configs(problem: GemmProblem, count: int = 3) -> list[XeConfig]:
    """The default of a B580, and configurations that differ in registers and barriers."""
    default = default_config(problem, B580)
    others = [
        replace(default, strategy=replace(default.strategy, grf_mode=mode, barrier_every=every))
        for mode in (128, 256)
        for every in (0, 1, 2)
    ]
    legal = [config for config in others if config != default and not violations(problem, config, B580)]
    return [default, *legal][:count]


def runners_up(*devices: DeviceSpec) -> Exchange:
    """The two configurations of each problem and device, as an export lists them."""
    of = devices or (B580,)
    candidates = [
        CandidateRecord(problem.key, spec.id, spec.driver or "", config, prediction(10.0))
        for problem in PROBLEMS
        for spec in of
        for config in configs(problem)[1:]
    ]
    problems = [ProblemRecord(problem.key, problem) for problem in PROBLEMS]
    records = [header(), *map(DeviceRecord, of), *problems, *candidates]
    return read_lines(io.BytesIO("".join(write_lines(records)).encode()))


@cache
def kit() -> Kit:
    """The kit."""
    return build_kit(runners_up(), SpirvCompiler())


def written(folder: Path, change: Callable[[bytes], bytes] = lambda lines: lines) -> Path:
    """The file of the kit, with changed lines."""
    path = folder / "kit.pyz"
    with zipfile.ZipFile(io.BytesIO(kit().data)) as archive, zipfile.ZipFile(path, "w") as made:
        made.writestr(CONTENTS, change(archive.read(CONTENTS)))
    return path


def flipped(lines: bytes, name: bytes = b"spirv") -> bytes:
    """Lines of a kit in which one bit of the first binary of that field is another."""
    text = re.search(b'"' + name + rb'":"([^"]{24,})"', lines)
    assert text is not None
    binary = bytearray(base64.b64decode(text[1]))
    binary[20] ^= 1
    return lines.replace(text[1], base64.b64encode(binary))
