"""A stand-in for Intel's offline compiler: a script that gives what was recorded, or does as told."""

import os
import shutil
import struct
from pathlib import Path

import pytest
from platformdirs import user_data_path

from codegen.xe.isa import Ocloc
from tests.codegen.xe.isa.recordings import RECORDED

_DATA = Path(os.environ.get("XETUNE_DATA_DIR") or user_data_path("xetune"))  # before a test sets another
_SCRIPT = """\
#!/bin/sh
recorded={recorded}
case "$1" in
compile) {compile} ;;
disasm) {disasm} ;;
ids) {ids} ;;
*) {version} ;;
esac
"""
_DISASM = 'mkdir dump; cp "$recorded/{name}.ze_info" dump/.ze_info; cp "$recorded/{name}.asm" dump/.text.gemm.asm'


def fake_ocloc(
    folder: Path,
    *,
    compile: str | None = None,
    disasm: str | None = None,
    ids: str = "echo 'Matched ids:'",
    version: str = "echo 26.27.0",
    undefined: str = "",
) -> Path:
    """Write the script into a folder; each argument is shell code for a question, `undefined` names with commas."""
    binary = folder / "fake.bin"
    binary.write_bytes(elf(*filter(None, undefined.split(","))))
    script = folder / "ocloc"
    script.write_text(
        _SCRIPT.format(
            recorded=RECORDED,
            compile=compile or f"mkdir binary; cp {binary} binary/kernel_bmg.bin",
            disasm=disasm or _DISASM.format(name="loop_bmg"),
            ids=ids,
            version=version,
        )
    )
    script.chmod(0o755)
    return script


def real_ocloc() -> Ocloc:
    """The compiler of this machine; skips the test where there is none."""
    own = _DATA / "ocloc" / "ocloc"
    found = (
        os.environ.get("TEST_OCLOC")
        or os.environ.get("XETUNE_OCLOC")
        or (str(own) if own.exists() else shutil.which("ocloc"))
    )
    if found is None:
        pytest.skip("Intel's offline compiler is not here: run `xetune toolchain install`")
    return Ocloc(Path(found))


def elf(*undefined: str) -> bytes:
    """An ELF file whose symbol table names functions that are defined nowhere."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in undefined)
    symbols, at = [struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)], 1
    for name in undefined:
        symbols.append(struct.pack("<IBBHQQ", at, 0, 0, 0, 0, 0))
        at += len(name) + 1
    table = b"".join(symbols)
    sections = [(0, 0, 0, 0, 0, 0), (0, 3, 64, len(names), 0, 0), (0, 2, 64 + len(names), len(table), 1, 24)]
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 0, 1, entry)
        for name, kind, offset, size, link, entry in sections
    )
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    start = 64 + len(names) + len(table)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 1, 205, 1, 0, 0, start, 0, 64, 0, 0, 64, len(sections), 1)
    return header + names + table + headers
