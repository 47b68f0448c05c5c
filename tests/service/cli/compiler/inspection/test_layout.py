"""xetune layout shows layouts as the documents do, and refuses with one line."""

import sys
from pathlib import Path

import pytest

from service.cli.main import main

LISTINGS = Path(__file__).parents[4] / "codegen" / "xe" / "layout" / "listings"
GEMM = ("--subgroups", "8", "4", "--cluster", "4", "2")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """`xetune layout` with those arguments; its exit status."""
    monkeypatch.setattr(sys, "argv", ["xetune", "layout", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("a", "256", "32", *GEMM, "--view", "hardware"), "a_hardware_view"),
        (("b", "32", "256", *GEMM, "--view", "hardware"), "b_hardware_view"),
        (("a", "256", "32", *GEMM, "--view", "work-items"), "a_work_items"),
        (("b", "32", "256", *GEMM, "--view", "work-items"), "b_work_items"),
    ],
)
def test_views_are_the_documents(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], name: str
) -> None:
    assert run(monkeypatch, *arguments) == 0
    assert capsys.readouterr().out == (LISTINGS / f"{name}.txt").read_text()


def test_loads_come_with_their_message_places_and_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "b_transposed", "256", "32", *GEMM) == 0
    out = capsys.readouterr().out
    listing, _, rest = out.partition("\n\nmessage ")
    assert listing + "\n" == (LISTINGS / "b_transposed_block_loads.txt").read_text()
    assert rest.splitlines() == [
        "intel_sub_group_2d_block_read_transpose_32b_32r8x1c",
        "load 0 at (0, 0)",
        "load 1 at (0, 16)",
        "load 2 at (128, 0)",
        "load 3 at (128, 16)",
        "",
        "DPAS operand at (0, 0): load 0, elements 0 2 4 6 8 10 12 14",
        "DPAS operand at (16, 0): load 0, elements 1 3 5 7 9 11 13 15",
        "DPAS operand at (0, 16): load 1, elements 0 2 4 6 8 10 12 14",
        "DPAS operand at (16, 16): load 1, elements 1 3 5 7 9 11 13 15",
        "DPAS operand at (128, 0): load 2, elements 0 2 4 6 8 10 12 14",
        "DPAS operand at (144, 0): load 2, elements 1 3 5 7 9 11 13 15",
        "DPAS operand at (128, 16): load 3, elements 0 2 4 6 8 10 12 14",
        "DPAS operand at (144, 16): load 3, elements 1 3 5 7 9 11 13 15",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("c", "256", "128"), "expected operand a, b or b_transposed"),
        (("c", "256", "32"), "expected operand a, b or b_transposed to load; --view hardware and work-items show c"),
        (
            ("a", "256", "32", "--subgroups", "0", "4"),
            "sizes of a DPAS layout are powers of two, got instr",
        ),
        (
            ("a", "65536", "32"),
            "expected a tile that fits the registers of a sub-group, 16384 bytes, got 65536x32 elements of it in each",
        ),
        (("c", "1024", "64", "--view", "hardware"), "expected a tile that fits the registers of a sub-group"),
        (("a", "64", "32", "--bits", "12"), "DPAS takes elements of 8, 16 or 32 bits, got 12"),
        (("a", "64", "8"), "expected a multiple of (8, 16) as the tile of operand a, got (64, 8)"),
        (("a", "64", "16", "--device", "wildcat-lake"), "refused by rule device-target"),
    ],
)
def test_what_cannot_be_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}")
    assert error.count("\n") == 1
