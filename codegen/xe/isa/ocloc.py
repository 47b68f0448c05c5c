"""The only interface to Intel's offline compiler, ocloc: compiles SPIR-V for a chip and disassembles the binary."""

import math
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import CompileCrashed, CompileFailed, CompileTimedOut, OclocUnusable
from hal.process.temporary import temporary_folder

_STAGE = "isa"
_ASK_S = 20.0  # time limit of queries that compile nothing
_SHOWN_CHARACTERS = 500
_NOISE = ("Command was:", "Compilation from IR", "Build failed")
_INSTALL = "run `xetune toolchain install`"


@dataclass(frozen=True, slots=True)
class Disassembly:
    """A disassembled binary: its metadata (.ze_info, in YAML) and the instructions of each kernel by name."""

    ze_info: str
    assembly: dict[str, str]


@dataclass(frozen=True, slots=True)
class Ocloc:
    """An installed compiler. Thread-safe.

    `timeout_s` limits one compilation or disassembly; `until_s` (monotonic clock) is a deadline for all of
    them.
    """

    path: Path
    timeout_s: float = 60.0
    until_s: float = math.inf

    def version(self) -> str:
        """Return the version that the compiler reports.

        Raises:
            OclocUnusable: it does not run.
        """
        done = self._ask("--version")
        lines = done.stdout.split("\n")
        if done.returncode or not lines[0].strip():
            raise OclocUnusable(f"{self.path} --version: {_told(done)}; {_INSTALL}")
        return lines[0].strip()

    def check_knows(self, chip: str) -> None:
        """Check that the compiler supports a chip ("bmg").

        Raises:
            OclocUnusable: it does not run, or is too old for the chip.
        """
        done = self._ask("ids", chip)
        if done.returncode:
            raise OclocUnusable(f"{self.path} does not know the chip {chip}: {_told(done)}; for a newer one {_INSTALL}")

    def compile(self, spirv: bytes, chip: str, options: str) -> bytes:
        """Compile a SPIR-V module for a chip to a binary (ELF), with a driver's build options; see `build`."""
        return self.build(spirv, chip, options)[0]

    def build(self, spirv: bytes, chip: str, options: str) -> tuple[bytes, str]:
        """Compile a SPIR-V module for a chip to a binary (ELF), with a driver's build options; return it and the log.

        Raises:
            CompileFailed: stage isa; the compiler's message.
            CompileTimedOut, CompileCrashed: stage isa.
            OclocUnusable: it does not run.
        """
        with temporary_folder("isa") as folder:
            (folder / "kernel.spv").write_bytes(spirv)
            target = ["-device", chip, "-options", options] if options else ["-device", chip]
            # Without the SPIR-V, which a driver would compile instead of refusing the code of another chip.
            output = ["-output", "kernel", "-out_dir", "binary", "-exclude_ir"]
            log = self._work(folder, "compile", "-file", "kernel.spv", "-spirv_input", *target, *output)
            binaries = sorted((folder / "binary").glob("*.bin"))
            if len(binaries) != 1:
                raise CompileFailed(_STAGE, f"expected one binary for {chip}, got {len(binaries)}")
            return binaries[0].read_bytes(), log

    def disassemble(self, binary: bytes, chip: str) -> Disassembly:
        """Disassemble a binary for a chip.

        Raises:
            CompileFailed: stage isa; it cannot be disassembled.
            CompileTimedOut, CompileCrashed: stage isa.
            OclocUnusable: it does not run.
        """
        with temporary_folder("isa") as folder:
            (folder / "kernel.bin").write_bytes(binary)
            self._work(folder, "disasm", "-file", "kernel.bin", "-dump", "dump", "-device", chip)
            info = folder / "dump" / ".ze_info"
            if not info.exists():
                raise CompileFailed(_STAGE, f"expected .ze_info in what a binary for {chip} disassembles to, got none")
            texts = sorted((folder / "dump").glob(".text.*.asm"))
            kernels = {file.name.removeprefix(".text.").removesuffix(".asm"): file for file in texts}
            assembly = {name: file.read_text(errors="replace") for name, file in kernels.items()}
            return Disassembly(info.read_text(errors="replace"), assembly)

    def _work(self, folder: Path, *arguments: str) -> str:
        left_s = max(self.until_s - time.monotonic(), 0.0)
        limit_s = min(self.timeout_s, left_s)
        try:
            if not left_s:
                raise subprocess.TimeoutExpired(arguments[0], 0.0)
            done = self._run(folder, limit_s, *arguments)
        except subprocess.TimeoutExpired:
            whose = ", all that was left" if limit_s == left_s else ""
            message = f"ocloc {arguments[0]}: no result within {limit_s:.3g} s{whose}; it was ended"
            raise CompileTimedOut(_STAGE, message) from None
        if done.returncode < 0:
            raise CompileCrashed(_STAGE, f"ocloc {arguments[0]}: {_told(done)}")
        if done.returncode:
            raise CompileFailed(_STAGE, f"ocloc {arguments[0]}: {_told(done)}")
        return done.stdout + done.stderr

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            return self._run(None, _ASK_S, *arguments)
        except subprocess.TimeoutExpired:
            raise OclocUnusable(f"{self.path} {arguments[0]}: no answer within {_ASK_S:g} s; {_INSTALL}") from None

    def _run(self, folder: Path | None, limit_s: float, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the compiler in `folder`.

        Raises:
            OclocUnusable: it cannot be started.
            subprocess.TimeoutExpired: it exceeded the limit.
        """
        command = [str(self.path), *arguments]
        try:
            return subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=limit_s, check=False
            )
        except OSError as error:
            raise OclocUnusable(f"{self.path} cannot be run: {error.strerror}; {_INSTALL}") from error


def _told(done: subprocess.CompletedProcess[str]) -> str:
    """Return exit status and output of a run, for an error message."""
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    lines = [line.strip() for line in f"{done.stderr}\n{done.stdout}".splitlines()]
    said = "; ".join(line for line in lines if line and not line.startswith(_NOISE))
    return f"{how}: {said[:_SHOWN_CHARACTERS]}" if said else how
