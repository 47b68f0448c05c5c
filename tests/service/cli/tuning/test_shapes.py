"""xetune tune --shapes and xetune shapes at the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.api.shapes.sources import read_shapes
from service.cli.app import app
from service.errors import BadRequest
from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base


def _run(*words: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output, result.exception


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data folder of its own."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path / "data"))


def test_shapes_come_from_a_file_by_its_suffix_and_from_text(tmp_path: Path) -> None:
    table, listed, text = tmp_path / "a.csv", tmp_path / "a.json", tmp_path / "a.txt"
    table.write_text("m,n,k\n3,5,7\n")
    listed.write_text('[{"m": 3, "n": 5, "k": 7}]')
    text.write_text("3x5x7  # one\n")
    found = {read_shapes(source, Base()) for source in (str(table), str(listed), str(text), "3x5x7", "m=3 n=5 k=7")}
    assert len(found) == 1
    table.write_text("m,n,k\n3,5,seven\n")
    with pytest.raises(InvalidShapes, match=r"a\.csv, line 2, column 3: k: expected a whole number"):
        read_shapes(str(table), Base())
    text.write_text("# nothing\n")
    with pytest.raises(InvalidShapes, match="at least one shape"):
        read_shapes(str(text), Base())
    with pytest.raises(InvalidShapes, match="expected a file, a preset that `xetune shapes presets` lists"):
        read_shapes("nowhere.csv", Base())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--shapes", "3x5x7", "--m", "3"), "each shape says its own sizes"),
        (("--shapes", "3x5x7", "--within", "half"), "--within: expected 0% to 100%"),
        (("--shapes", "3x5x7", "--roofline", "1.5"), "--roofline: expected 0% to 100%, as in 80%; got '1.5'"),
        (("--shapes", "3x5x7 k=2"), "expected k once"),
        (("--shapes", "3x5x7", "--quant", "w4"), "quant: expected one of w4a16"),
        (("--shapes", "3x5x64", "--quant", "fp8", "--dtype-b", "u4"), "quant: expected no dtype_b beside it, got u4"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], told: str) -> None:
    code, _, error = _run("tune", "--device", "b580", *words)
    assert code == 1  # main() prints it and ends with 2
    assert told in str(error)
    assert error is not None
    assert not isinstance(error, AssertionError)


def test_presets_are_listed_with_their_source() -> None:
    code, output, _ = _run("shapes", "presets", "--json")
    assert code == 0
    llama = json.loads(output)["llama-3-8b"]
    qkv = {"name": "qkv", "n": 6144, "k": 4096, "times": 32, "experts": None, "gated": False, "quantised": True}
    assert llama["layers"][0] == qkv
    assert llama["source"].startswith("https://huggingface.co/meta-llama/")
    code, output, _ = _run("shapes", "presets", "gpt-oss-20b")
    (row,) = (line for line in output.splitlines() if "expert_gate_up" in line)
    assert row.split() == ["expert_gate_up", "5760", "2880", "24", "4", "of", "32", "experts,", "gate", "and", "up"]
    assert "qkv_a" not in output
    notes = [line.split()[-2:] for line in output.splitlines() if "router" in line or "lm_head" in line]
    assert notes == [["not", "quantised"]] * 2
    _, _, error = _run("shapes", "presets", "gpt-oss-21b")
    assert "such as gpt-oss-20b" in str(error)


def test_an_unknown_set_is_not_found_and_none_are_listed_at_first() -> None:
    code, output, _ = _run("shapes")
    assert (code, "No sets of shapes yet" in output) == (0, True)
    _, _, error = _run("shapes", "show", "01970a3c-0000-7000-8000-000000000000")
    assert "`xetune shapes` lists those that do" in str(error)
    assert not isinstance(error, BadRequest)


@pytest.mark.slow
def test_a_set_is_predicted_for_a_gpu_that_is_not_here() -> None:
    words = ("tune", "--shapes", "m=64,256 n=512 k=256", "--device", "b580", "--trials", "12", "--seconds", "200")
    code, output, _ = _run(*words, "--json")
    assert code == 0
    found = json.loads(output)
    assert [shape["status"] for shape in found["shapes"]] == ["succeeded"] * 2
    assert found["cover"]["evidence"] == ["predicted"]
    code, output, _ = _run("shapes", "show", found["id"], "--within", "100%")
    told = " ".join(output.split())
    assert (code, "1 of " in told, "predicted by the model" in told) == (0, True, True)
