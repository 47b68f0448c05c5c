"""The table of operations: what parses, verifies, interprets, lowers, computes right numbers, and what IGC accepts.

Run: python -m benchmarks.operations [--ocloc PATH] > docs/operations.md
"""

import argparse
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from codegen import compile_module
from hal.xe import find
from tests.codegen.operations.case import Case
from tests.codegen.operations.catalogue import CASES
from tests.codegen.operations.table import NO, YES, Row, render, row_of

_GPUS = {"bmg": "b580", "pvc": "pvc"}
_OPTIONS = "-ze-opt-large-register-file"
_LIMIT_S = 120
_SYMBOLS = 2  # SHT_SYMTAB of ELF


def main() -> None:
    """Judge every case and print the page; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler")
    options = arguments.parse_args()
    rows: list[Row] = []
    for case in CASES:
        row, faults = row_of(case)
        if options.ocloc is not None:
            refusals = {gpu: _refusals(case, gpu, options.ocloc) for gpu in _GPUS}
            row = replace(row, **{gpu: NO if said else YES for gpu, said in refusals.items()})
            faults += tuple(said for of_gpu in refusals.values() for said in of_gpu)
        rows.append(row)
        for fault in faults:
            print(f"{case.name}: {fault}", file=sys.stderr)
    print(render(rows, CASES), end="")


def _refusals(case: Case, gpu: str, ocloc: Path) -> tuple[str, ...]:
    """What Intel's compiler says against a case at its levels."""
    spec = find(_GPUS[gpu])
    codes = (compile_module(source, spec).stage("spirv").data for source in case.sources.values())
    return tuple(said for code in codes if (said := _refusal(code, gpu, ocloc)))


def _refusal(spirv: bytes, gpu: str, ocloc: Path) -> str:
    """What the compiler says, or which functions its code calls that do not exist; empty if it accepts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.spv"
        file.write_bytes(spirv)
        asked = [
            "-file",
            file,
            "-spirv_input",
            "-device",
            gpu,
            "-options",
            _OPTIONS,
            "-output",
            "k",
            "-out_dir",
            folder,
        ]
        done = subprocess.run([ocloc, "compile", *asked], capture_output=True, timeout=_LIMIT_S, text=True, check=False)
        if done.returncode:
            return f"{gpu}: exit status {done.returncode}: {done.stderr or done.stdout}"
        missing = [name for binary in Path(folder).glob("*.bin") for name in _undefined(binary.read_bytes())]
        return f"{gpu}: {', '.join(missing)} do not exist" if missing else ""


def _undefined(elf: bytes) -> Iterator[str]:
    """Functions that a binary needs and lacks; the loader gives those of Intel's names."""
    (sections,), (size, count) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, sections + size * i) for i in range(count)]
    for _, kind, _, _, at, nbytes, strings, *_ in headers:
        if kind != _SYMBOLS:
            continue
        for symbol in range(at, at + nbytes, 24):
            name, _, _, section = struct.unpack_from("<IBBH", elf, symbol)
            text = elf[headers[strings][4] + name :].partition(b"\0")[0].decode()
            if section == 0 and text and not text.startswith("__INTEL"):
                yield text


if __name__ == "__main__":
    main()
