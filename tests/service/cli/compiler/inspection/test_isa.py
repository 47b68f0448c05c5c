"""xetune compile --isa writes what a GPU runs beside the other stages and shows it, or says how to get the compiler."""

import json
import sys
from pathlib import Path

import pytest

from codegen.xe.isa import (
    IsaReport,
    KLoop,
    NativeCode,
    Sends,
)
from hal import find
from service.api.toolchain.offline import (
    OfflineCompiler,
    find_ocloc,
)
from service.cli.compiler.inspection.isa import isa_table
from service.cli.main import main
from service.cli.printing.output import CONSOLE
from service.settings import read_settings
from tests.codegen.xe.isa.fake_ocloc import fake_ocloc
from tests.tuner.fakes import emulated

EXAMPLE = Path(__file__).parents[5] / "examples" / "subgroup_gemm.mlir"
LOOP = KLoop(
    is_loop=True, dpas=64, sends=Sends(6, 4, 0, 0, 0, 0, 2, 4), alu=40, moves=30, scalar_moves=20, loaded_bytes=64 * 192
)


@pytest.fixture(autouse=True)
def no_ocloc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A user without the compiler."""
    monkeypatch.delenv("XETUNE_OCLOC", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def compile_(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int | str | None:
    """`xetune compile` of the example; its exit status."""
    monkeypatch.setattr(sys, "argv", ["xetune", "compile", str(EXAMPLE), *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.slow
def test_isa_files_are_written_and_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_OCLOC", str(fake_ocloc(tmp_path)))
    out = tmp_path / "out"
    assert compile_(monkeypatch, "-o", out, "--isa") == 0
    said = capsys.readouterr().out
    assert "code for bmg by ocloc 26.27.0" in said
    assert "prefetches" in said
    assert (out / "isa.asm").read_text().startswith("// kernel gemm\nL0:")
    report = json.loads((out / "isa.json").read_text())
    assert report["kernels"][0]["k_loop"]["sends"]["loads"] == 8
    assert report["kernels"][0]["scoreboard"]["verdict"] == "1 hazard", "steps are cut out of the recording"
    assert "scoreboard 1 hazard" in " ".join(said.split())
    listed = [stage["file"] for stage in json.loads((out / "kernel.json").read_text())["stages"]]
    assert listed[-3:] == ["isa.asm", "isa.json", "pipeline.txt"]

    assert compile_(monkeypatch, "-o", out, "--isa", "--json") == 0
    assert json.loads(capsys.readouterr().out)["isa"] == report


def test_without_the_compiler_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert compile_(monkeypatch, "-o", tmp_path / "out", "--isa") == 2
    message = "error: Intel's offline compiler is not installed: run `xetune toolchain install`\n"
    assert capsys.readouterr().err == message
    assert not (tmp_path / "out").exists()


def test_a_kernel_that_the_compiler_refuses_is_one_line_and_no_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_OCLOC", str(fake_ocloc(tmp_path, undefined="made_up")))
    assert compile_(monkeypatch, "-o", tmp_path / "out", "--isa") == 2
    assert capsys.readouterr().err == "error: stage isa: the code for bmg calls made_up, which do not exist\n"
    assert not (tmp_path / "out").exists()


def test_the_compiler_is_what_the_setting_names_then_the_users_then_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path / "data"))

    def found() -> Path | None:
        ocloc = find_ocloc(read_settings())
        return None if ocloc is None else ocloc.path

    places = [tmp_path / name for name in ("bin", "data/ocloc", "named")]
    for place in places:
        place.mkdir(parents=True)
    assert found() is None
    system, own, named = places
    monkeypatch.setenv("PATH", f"{system}:/usr/bin:/bin")
    assert fake_ocloc(system) == found()
    assert fake_ocloc(own) == found()
    monkeypatch.setenv("XETUNE_OCLOC", str(fake_ocloc(named)))
    assert named / "ocloc" == found()


def test_a_setting_that_names_no_file_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_OCLOC", "/nowhere/ocloc")
    assert compile_(monkeypatch, "-o", tmp_path / "out", "--isa") == 2
    assert capsys.readouterr().err.startswith("error: XETUNE_OCLOC is '/nowhere/ocloc': expected Intel's offline")


def test_finalists_are_compiled_for_gpus_that_the_compiler_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_OCLOC", str(fake_ocloc(tmp_path)))
    native_for = OfflineCompiler(find_ocloc(read_settings()))
    assert native_for(find("b580")) is not None
    assert native_for(emulated()) is None, "a CPU runs other code"
    fake_ocloc(tmp_path, ids="exit 226")
    assert native_for(find("b580")) is None
    assert OfflineCompiler(None)(find("b580")) is None


def test_the_table_has_counts_and_what_they_are_for_256_dpas(capsys: pytest.CaptureFixture[str]) -> None:
    reports = (IsaReport("gemm", 256, 4, 0, 0, 900, LOOP), IsaReport("reduce", 128, None, 512, 4096, 70, None))
    CONSOLE.print(isa_table(NativeCode("pvc", "26.27", "", "", reports, 1.0)))
    rows = {line.split("  ")[0].strip() or line.strip(): line.split() for line in capsys.readouterr().out.splitlines()}
    assert rows["registers per thread"][-2:] == ["256", "128"]
    assert rows["threads per EU"][-2:] == ["4", "-"]
    assert rows["messages"] == ["messages", "16", "64", "-"]
    assert rows["moves"] == ["moves", "30", "120", "-"]
    assert not any("atomics" in row for row in rows.values())


def test_kernels_without_products_have_no_rows_of_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    reports = (IsaReport("softmax", 256, 4, 0, 64, 700, None), IsaReport("other", 128, 8, 0, 32, 50, None))
    CONSOLE.print(isa_table(NativeCode("pvc", "26.27", "", "", reports, 1.0)))
    said = capsys.readouterr().out
    assert "K loop" not in said
    assert said.split()[-7:] == ["700", "50", "scoreboard", "not", "read", "not", "read"]


@pytest.mark.slow
def test_hazards_are_listed_and_fail_a_verification(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_OCLOC", str(fake_ocloc(tmp_path)))
    sizes = ("--m", "64", "--n", "96", "--k", "128", "--device", "b580", "-o", tmp_path / "out")
    monkeypatch.setattr(sys, "argv", ["xetune", "compile", *map(str, sizes), "--isa"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "gemm: read after write of r116-r123: 0x560" in said
    monkeypatch.setattr(sys, "argv", ["xetune", "compile", *map(str, sizes), "--isa", "--verify"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "scoreboard: kernel gemm for bmg: read after write of " in " ".join(capsys.readouterr().err.split())
