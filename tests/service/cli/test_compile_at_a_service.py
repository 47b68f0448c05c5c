"""`xetune --server compile` asks the service, and writes and says what a compilation here does."""

import json
import re
from pathlib import Path

import pytest

from service.cli.compiler import compile as command
from tests.service.cli.ways import Run
from tests.service.compiling.test_compile import KERNEL

AT = ("--server", "http://testserver")
GEMM = ("compile", "--m", "8", "--n", "16", "--k", "48", "--dtype", "bf16", "--device", "b580")

pytestmark = pytest.mark.usefixtures("one_database")


def files_of(folder: Path) -> dict[str, object]:
    """What is in a folder; of kernel.json all but the times, which differ."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".json"}
    manifest = json.loads((folder / "kernel.json").read_text())
    for stage in manifest["stages"]:
        del stage["elapsed_ms"]
    return found | {"kernel.json": manifest}


def without_times(told: str) -> str:
    """What was printed, without times and the widths of the table that follow from them."""
    return re.sub(r"[ ━─]+", " ", re.sub(r"[\d.]+ ms", "T ms", told))


def test_a_gemm_is_compiled_by_the_service_as_it_is_here(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "a").mkdir()
    (there := tmp_path / "b").mkdir()
    local = run(*GEMM, "-o", str(here))
    monkeypatch.delattr(command, "CompilePool")  # nothing is compiled here any more
    served = run(*AT, *GEMM, "-o", str(there))
    assert (local[0], local[2]) == (served[0], served[2]) == (0, ""), served
    assert without_times(served[1]) == without_times(local[1].replace(str(here), str(there)))
    assert files_of(here) == files_of(there)
    assert (there / "kernel.spv").stat().st_size > 0


def test_what_the_service_refuses_is_told(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "bad.mlir"
    text.write_text("gpu.module @kernels { oops }")
    folder = tmp_path / "out"
    for arguments, told in (
        ((str(text),), "error: stage source: source:1:"),
        ((str(text), "--m", "8"), "error: FILE: expected either a file, or --m, --n and --k, got both: --m"),
        (("--m", "8", "--n", "16", "--k", "32", "--device", "a770"), "error: refused by rule device-subgroup-size: "),
        (("--m", "8", "--n", "16", "--k", "32", "--device", "nosuch"), "error: no device is known as 'nosuch'"),
    ):
        status, _, said = run(*AT, "compile", *arguments, "-o", str(folder))
        assert (status, said.startswith(told)) == (2, True), said
    assert not folder.exists()


@pytest.mark.slow
def test_a_text_is_compiled_by_the_service_and_a_kernel_of_it_proven_here(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "twice.mlir"
    text.write_text(KERNEL)
    assert run("compile", str(text), "-o", str(tmp_path / "a"))[0] == 0
    status, told, said = run(*AT, "compile", str(text), "-o", str(tmp_path / "b"))
    assert (status, said) == (0, "")
    assert "distribution   by " in told
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    status, told, said = run(*AT, *GEMM, "--prove", "-o", str(tmp_path / "c"))
    assert (status, said) == (0, "")
    assert "numbers        simulator: " in told
