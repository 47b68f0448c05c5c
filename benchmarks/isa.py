"""What Intel's offline compiler makes of a SPIR-V module: instructions and spilled bytes."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_LARGE_GRF = "-ze-opt-large-register-file"


@dataclass(frozen=True, slots=True)
class Isa:
    """Of all kernels of a module: multiply instructions, messages, moves, and bytes that registers did not hold."""

    dpas: int
    sends: int
    moves: int
    spilled_bytes: int


def isa_of(spirv: bytes, chip: str, ocloc: Path) -> Isa:
    """Compile for a chip ("bmg", "pvc") with 256 registers, and disassemble.

    Raises:
        RuntimeError: the compiler failed; its output.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernel.spv").write_bytes(spirv)
        compile_ = ["compile", "-file", "kernel.spv", "-spirv_input", "-options", _LARGE_GRF, "-output", "kernel"]
        _run(ocloc, folder, [*compile_, "-out_dir", "binary", "-device", chip])
        (binary,) = (folder / "binary").glob("*.bin")
        _run(ocloc, folder, ["disasm", "-file", str(binary), "-dump", "dump", "-device", chip])
        code = "\n".join(file.read_text(errors="replace") for file in (folder / "dump").glob(".text.*.asm"))
        info = (folder / "dump" / ".ze_info").read_text()
    spilled = sum(map(int, re.findall(r"spill_size: *(\d+)", info)))
    return Isa(_count(code, "dpas"), _count(code, "send"), _count(code, "mov"), spilled)


def _run(ocloc: Path, folder: Path, arguments: list[str]) -> None:
    done = subprocess.run([ocloc, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{ocloc.name} {arguments[0]}: {done.stdout}{done.stderr}")


def _count(code: str, instruction: str) -> int:
    return len(re.findall(rf"^\s*(?:\(\S+\)\s+)*{instruction}", code, re.MULTILINE))
