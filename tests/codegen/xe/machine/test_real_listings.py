"""Listings of Intel's compiler: nothing is refused, what is read is what the disassembler and the binary say, and the
scoreboard has no hazards.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from codegen import CodegenError, KernelArtifact, compile_gemm, compile_module
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.machine import Instruction, Listing, parse_listing, read_zebin
from codegen.xe.machine.messages import FenceMessage
from codegen.xe.machine.operands import Immediate
from codegen.xe.machine.pipes import RULES
from codegen.xe.machine.scoreboard import check as check_scoreboard
from codegen.xe.machine.zebin import Zebin
from hal import find
from tests.codegen.xe.build.coverage import cases
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.codegen.xe.machine.message_notes import note_of

ROOT = Path(__file__).parents[4]
DEVICES = ("b580", "max1550", "a770", "ptl")
MODULES = (*ROOT.glob("examples/*.mlir"), *ROOT.glob("tests/codegen/xe/programs/*.mlir"))
_CELLS = 24


def artifacts(device: str) -> Iterator[tuple[KernelArtifact, str]]:
    """Yield the modules that compile for a device and a sample of the coverage, with their build options."""
    for file in sorted(MODULES):
        try:
            yield compile_module(file.read_text(), find(device)), LARGE_GRF_OPENCL
        except CodegenError:  # some are for one size of sub-groups
            continue
    legal = [case for case in cases(device) if case.refusal() is None]
    for case in Random(5).sample(legal, _CELLS):
        artifact = compile_gemm(case.problem, case.config, find(device))
        yield artifact, artifact.launch.build_options


def listings(artifact: KernelArtifact, device: str, options: str) -> tuple[Zebin, list[Listing]]:
    """Compile to machine code and read it."""
    ocloc, chip = real_ocloc(), target_of(find(device)).chip
    binary = ocloc.compile(artifact.stage("spirv").data, chip, options)
    assembly = ocloc.disassemble(binary, chip).assembly
    zebin = read_zebin(binary)
    return zebin, [parse_listing(kernel.name, assembly[kernel.name]) for kernel in zebin.kernels]


def check(i: Instruction, code: bytes) -> int:
    """Compare an instruction with the disassembler's note and with its encoding; return how much was compared."""
    if i.message is not None and i.note:
        noted = i.note.rpartition(";")[2].strip()
        assert note_of(i.message) == noted or isinstance(i.message, FenceMessage), i.text
    if "Compacted" in i.options or i.opcode == "sync" or len(i.sources) > 2:
        return 0
    encoding, count = code[i.offset : i.offset + 16], 0
    for source in i.sources:
        if isinstance(source, Immediate):
            low, high = int.from_bytes(encoding[12:], "little"), int.from_bytes(encoding[8:12], "little")
            bits = low | high << 32 if source.type.bits == 64 else low
            assert bits & ((1 << source.type.bits) - 1) == source.bits, i.text
            count += 1
    return count


def test_a_small_kernel_is_read_from_its_binary() -> None:
    device = "b580"
    artifact = compile_module((ROOT / "examples/subgroup_gemm.mlir").read_text(), find(device))
    zebin, (listing,) = listings(artifact, device, LARGE_GRF_OPENCL)
    assert sum(check(i, zebin.kernel("gemm").text) for i in listing.instructions) > 10
    assert sum(i.ends_thread for i in listing.instructions) == 1
    assert zebin.kernel("gemm").grf_count == 256
    assert not check_scoreboard(listing, RULES["bmg"], 64).hazards


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
def test_every_kernel_is_read(device: str) -> None:
    kernels = compared = 0
    target = target_of(find(device))
    for artifact, options in artifacts(device):
        zebin, all_listings = listings(artifact, device, options)
        for listing in all_listings:
            kernels += 1
            code = zebin.kernel(listing.kernel).text
            compared += sum(check(i, code) for i in listing.instructions)
            assert not check_scoreboard(listing, RULES[target.chip], target.grf_bytes).hazards
    assert kernels >= _CELLS
    assert compared > 1000
