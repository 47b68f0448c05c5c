"""`xetune --server compile` writes and prints the same as a local compilation."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from service.api.compile.schemas import (
    CompiledFileOut,
    CompileOut,
    ConfinementOut,
    StageOut,
)
from tests.service.api.compile.test_compile import KERNEL
from tests.service.api.compile.unconfined import unconfined
from tests.service.cli.both_transports import Run
from xetune_client import BadRequest, Client, models

__all__ = ["unconfined"]

AT = ("--server", "http://testserver")
GEMM = ("compile", "--m", "8", "--n", "16", "--k", "48", "--dtype", "bf16", "--device", "b580")

pytestmark = pytest.mark.usefixtures("one_database", "unconfined")


def files_of(folder: Path) -> dict[str, object]:
    """Return the contents of a folder's files; kernel.json without its times."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".json"}
    manifest = json.loads((folder / "kernel.json").read_text())
    for stage in manifest["stages"]:
        del stage["elapsed_ms"]
    return found | {"kernel.json": manifest}


def comparable(output: str) -> str:
    """Return `output` without times, paths (cut where a time is long) and the widths of table columns."""
    return re.sub(r"[ ━─]+", " ", re.sub(r"/\S+|[\d.]+ ms", "_", output))


@pytest.mark.slow
def test_a_gemm_is_compiled_by_the_service_as_it_is_here(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here := tmp_path / "a").mkdir()
    (there := tmp_path / "b").mkdir()
    local = run(*GEMM, "-o", str(here))
    monkeypatch.setattr("codegen.workers.pool.CompilePool", None)  # nothing is compiled here any more
    served = run(*AT, *GEMM, "-o", str(there))
    assert (local[0], local[2]) == (served[0], served[2]) == (0, ""), served
    assert comparable(served[1]) == comparable(local[1])
    assert files_of(here) == files_of(there)
    assert (there / "kernel.spv").stat().st_size > 0


def test_what_the_service_refuses_is_told(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "bad.mlir"
    text.write_text("gpu.module @kernels { oops }")
    folder = tmp_path / "out"
    for arguments, told in (
        ((str(text),), f"error: stage source: {text}:1:"),
        ((str(text), "--m", "8"), "error: FILE: expected either a file, or --m, --n and --k, got both: --m"),
        (("--m", "8", "--n", "16", "--k", "32", "--device", "wcl"), "error: refused by rule device-target: "),
        (("--m", "8", "--n", "16", "--k", "32", "--device", "nosuch"), "error: no device is known as 'nosuch'"),
    ):
        status, _, said = run(*AT, "compile", *arguments, "-o", str(folder))
        assert (status, said.startswith(told)) == (2, True), said
    assert not folder.exists()


def answered(name: str, listed: str | None = None, data: bytes = b"x") -> CompileOut:
    """Return an answer of one stage, whose file is `name`, and `listed` in the list of files."""
    digest = sha256(b"x").hexdigest()
    return CompileOut(
        content_hash=digest,
        compile_key=digest,
        target="b580",
        stages=[StageOut(name="spirv", file=name, size=1, sha256=digest, elapsed_ms=1.0)],
        manifest={},
        files=[CompiledFileOut(name=listed or name, size=1, sha256=digest, content=b64encode(data).decode())],
        confinement=ConfinementOut(
            network="none",
            files="none",
            truncation="none",
            system_calls="none",
            process_ids="none",
            user="service",
            processes=False,
        ),
    )


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "..", "", ".bashrc", "a/b", "a\\b", "a\n"])
def test_a_service_names_no_file_outside_the_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    name = name.replace("/evil", f"{tmp_path}/evil") if name.startswith("/") else name
    monkeypatch.setattr(Client, "compile", lambda *_: answered(name))
    status, told, said = run(*AT, *GEMM, "-o", str(tmp_path / "out"))
    assert status == 2
    assert [line.split()[0] for line in told.splitlines() if line[0] != " "] == ["8x16x48", "configuration"]  # no file
    assert said.startswith(
        "error: what the service answered cannot be used, and nothing was written: a stage's file is"
    )
    assert [path for path in tmp_path.rglob("*") if "sqlite" not in path.name] == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (answered("kernel.spv", listed="other.spv"), "it has no file kernel.spv, which was asked for"),
        (answered("kernel.spv", data=b"y"), "expected kernel.spv of 1 bytes with SHA-256 "),
        (answered("kernel.spv", data=b"xx"), "got 2 bytes with "),
    ],
)
def test_files_that_are_not_what_the_answer_says_are_not_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: CompileOut, why: str
) -> None:
    monkeypatch.setattr(Client, "compile", lambda *_: answer)
    status, _, said = run(*AT, *GEMM, "-o", str(tmp_path / "out"))
    assert (status, why in said) == (2, True), said
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_files_that_are_too_large_for_one_answer_come_one_by_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, asked = Client.compile, list[list[str]]()
    refused = [["*"]]

    def up_to_a_size(client: Client, body: models.CompileBody) -> models.CompileOut:
        asked.append(body.files)
        if body.files in refused:
            raise BadRequest(400, "files: the files have 5 bytes together", "files-bytes")
        return compiled(client, body)

    monkeypatch.setattr(Client, "compile", up_to_a_size)
    status, _, said = run(*AT, *GEMM, "-o", str(tmp_path / "out"))
    assert (status, said) == (0, "")
    assert asked[:2] == [["*"], []]
    assert [name for (name,) in asked[2:]] == [
        stage["file"] for stage in json.loads((tmp_path / "out" / "kernel.json").read_text())["stages"]
    ]
    refused.append(["kernel.spv"])
    status, _, said = run(*AT, *GEMM, "-o", str(tmp_path / "none"))
    assert (status, said) == (2, "error: kernel.spv: files: the files have 5 bytes together\n")


@pytest.mark.slow
def test_a_text_is_compiled_by_the_service_and_a_kernel_of_it_proven_here(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "twice.mlir"
    text.write_text(KERNEL)
    assert run("compile", str(text), "-o", str(tmp_path / "a"))[0] == 0
    status, told, said = run(*AT, "compile", str(text), "-o", str(tmp_path / "b"))
    assert (status, said) == (0, "")
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    status, told, said = run(*AT, *GEMM, "--verify", "-o", str(tmp_path / "c"))
    assert (status, said) == (0, "")
    assert "numbers        simulator: " in told
