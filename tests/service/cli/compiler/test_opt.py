"""xetune opt prints what its passes make, or one error with its place and exit status 2, and never half a file."""

import io
import sys
from pathlib import Path

import pytest

from codegen.xe.universe import PASSES
from service.cli.main import main

ROOT = Path(__file__).parents[4]
EXAMPLE = ROOT / "examples" / "gemm_prefetch.mlir"
FIXTURES = ROOT / "tests" / "codegen" / "xe" / "fixtures" / "xetile"

KERNEL = """\
gpu.module @m {
  gpu.func @k(%A: memref<64x32xf16>) kernel {
    %t = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> !xetile.tile<16x32xf16>
    %u = xetile.update_tile_offset %t, [16, 0] : !xetile.tile<16x32xf16>
    xetile.prefetch_tile %u : !xetile.tile<16x32xf16>
    gpu.return
  }
}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A file with a small kernel."""
    file = tmp_path / "kernel.mlir"
    file.write_text(KERNEL)
    return file


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int | str | None:
    """`xetune opt` with those arguments; its exit status."""
    monkeypatch.setattr(sys, "argv", ["xetune", "opt", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_passes_apply_in_order_and_print(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: Path
) -> None:
    assert run(monkeypatch, kernel, "--pass", "fold-tile-offsets", "--pass", "dce") == 0
    out = capsys.readouterr().out
    assert "xetile.init_tile %A[16, 0]" in out
    assert "update_tile_offset" not in out
    assert "%A[0, 0]" not in out


def test_the_example_of_the_help_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    assert run(monkeypatch, "--help") == 0
    words = " ".join(capsys.readouterr().out.split())
    example = words.split("Example: xetune opt ")[1].split(" xDSL's")[0]
    assert run(monkeypatch, *example.replace('"', "").split()) == 0
    lowered = capsys.readouterr().out
    assert "xegpu.load_nd" in lowered
    assert "xetile." not in lowered


def test_standard_input_and_the_generic_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(KERNEL.encode())))
    assert run(monkeypatch, "-", "--generic") == 0
    generic = capsys.readouterr().out
    assert '"xetile.init_tile"(%A)' in generic
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(generic.encode())))
    assert run(monkeypatch, "-") == 0
    assert "xetile.init_tile %A[0, 0]" in capsys.readouterr().out


def test_an_output_file_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.mlir"
    assert run(monkeypatch, kernel, "-o", target) == 0
    assert capsys.readouterr().out == ""
    assert "gpu.func @k" in target.read_text()


def test_verify_only_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: Path
) -> None:
    assert run(monkeypatch, kernel, "--verify-only") == 0
    assert capsys.readouterr() == ("", "")


def test_host_functions_are_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, FIXTURES / "gemm_host.mlir", "--device-only") == 0
    out = capsys.readouterr().out
    assert "gpu.func @gemm_kernel" in out
    assert "func.func" not in out


def test_parts_of_a_file_go_through_one_by_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "parts.mlir"
    file.write_text(f"{KERNEL}\n// -----\n{KERNEL}")
    assert run(monkeypatch, file, "--split-input-file") == 0
    assert capsys.readouterr().out.count("gpu.module @m") == 2
    file.write_text(f"{KERNEL}\n// -----\n{KERNEL.replace('memref<64x32xf16> ->', 'memref<64x32xf16> =>> ')}")
    assert run(monkeypatch, file, "--split-input-file") == 2
    assert f"error: {file}:13:58: " in capsys.readouterr().err


def test_every_pass_is_listed_and_can_be_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--list-passes") == 0
    out = capsys.readouterr().out
    assert all(f"\n{name}" in f"\n{out}" for name in PASSES)
    assert "lower-xetile{dpas=8,16,16" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("-> !xetile", "!xetile"), "3:56: expected -> before the type of the result"),
        (("!xetile.tile<16x32xf16>\n    %u", "!xetile.tile<16x32xbf16>\n    %u"), "4:"),
        (("%A[0, 0]", "%A[0]"), "3:5: init_tile: expected 2 offsets for memref<64x32xf16>, got 1"),
        (("tile<16x32xf16>\n", "tile<16x32xf16, #xetile.tile_attr<order = [2, 1]>>\n"), "order [1, 0] or [0, 1]"),
        ((KERNEL, ""), "1:1: expected a module, got an empty file"),
        ((KERNEL, "// nothing"), "expected a module, got an empty file"),
        (("gpu.return", "affine.for %i = 0 to 4 {}"), "6:5: expected an operation, got affine.for"),
        (("[16, 0]", "[16, %n]"), "4:45: expected a value that is defined, got %n"),
    ],
)
def test_an_error_has_line_and_column_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kernel: Path,
    tmp_path: Path,
    change: tuple[str, str],
    message: str,
) -> None:
    assert change[0] in KERNEL
    kernel.write_text(KERNEL.replace(*change, 1))
    target = tmp_path / "out.mlir"
    assert run(monkeypatch, kernel, "--pass", "fold-tile-offsets", "-o", target) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {kernel}:")
    assert message in captured.err
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pass", "no-such-pass"), "error: --pass no-such-pass: expected a pass of xDSL or one of"),
        (
            ("--pass", "lower-xetile{nothing=1}"),
            "error: --pass lower-xetile: expected one of the options dpas, load-a, load-b, prefetch, got nothing\n",
        ),
        (("--pass", "canonicalize{nothing=1}"), "error: --pass canonicalize: expected no options, got nothing\n"),
        (
            ("--pass", "lower-xetile{"),
            "error: --pass lower-xetile{: expected name or name{option=value}: Expected argument name here\n",
        ),
        (("--pass", "lower-xetile{dpas=0,16,16}"), "error: --pass lower-xetile: expected sizes of at least 1"),
        (("--pass", "lower-xetile{load-a=-3}"), "lower-xetile: load-a: expected values like 8,16, got -3\n"),
        (("--pass", "lower-xetile{load-a=3,5}"), "load-a: expected multiples or parts of 8,16, which a DPAS takes"),
        (("--pass", "tile-linalg{block=0,0,0}"), "error: --pass tile-linalg: expected a block that divides"),
        (("-o", "nowhere/x.mlir"), "error: -o nowhere/x.mlir: expected a folder that exists, got nowhere\n"),
    ],
)
def test_a_wrong_pass_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kernel: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert run(monkeypatch, kernel, *arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_a_pass_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kernel: Path
) -> None:
    source = KERNEL.replace("%A: memref<64x32xf16>", "%A: memref<64x32xf16>, %t: !xetile.tile<16x32xf16>")
    kernel.write_text(
        source.replace("    %t = xetile.init_tile %A[0, 0] : memref<64x32xf16> -> !xetile.tile<16x32xf16>\n", "")
    )
    assert run(monkeypatch, kernel, "--pass", "fold-tile-offsets") == 2
    assert f"error: {kernel}:3:5: fold-tile-offsets: expected a tile from" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "message"), [("missing.mlir", "No such file"), (".", "Is a directory")])
def test_what_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, message: str
) -> None:
    assert run(monkeypatch, tmp_path / name) == 2
    assert message in capsys.readouterr().err


def test_bytes_that_are_no_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "kernel.mlir"
    file.write_bytes(b"gpu.module \xff")
    assert run(monkeypatch, file) == 2
    assert "expected text in UTF-8: invalid start byte at byte 11" in capsys.readouterr().err
