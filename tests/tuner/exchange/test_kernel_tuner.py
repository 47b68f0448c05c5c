"""Caches of Kernel Tuner: each version, whole and cut off, and what they cannot be."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuner.errors import InvalidFile
from tuner.exchange.file_format import Format
from tuner.exchange.formats import open_file, read_recorded, results_of
from tuner.exchange.kernel_tuner import to_cache
from tuner.session.trial import Status

WALL = {"compile_time": 900.0, "verification_time": 0, "benchmark_time": 120.5, "strategy_time": 0, "framework_time": 1}
Change = Callable[[dict[str, Any]], object]
AT = "2024-05-06 07:08:09.123456+00:00"


def cache(version: str | None = "1.1.0") -> dict[str, Any]:
    """Four configurations: two with a time, one that no rule allows, one that did not compile."""
    entries = {
        "16,1,row": {"block": 16, "vector": 1, "order": "row", "time": 2.5, "times": [3.0, 2.0, 2.25, 2.75], **WALL},
        "16,2,row": {"block": 16, "vector": 2, "order": "row", "time": "InvalidConfig", **WALL},
        "32,1,col": {"block": 32, "vector": 1, "order": "col", "time": 1.25, **WALL},
        "32,4,col": {"block": 32, "vector": 4, "order": "col", "time": "CompilationFailedConfig", **WALL},
    }
    made: dict[str, Any] = {
        "device_name": "A GPU",
        "kernel_name": "sgemm",
        "problem_size": [512, 384],
        "tune_params_keys": ["block", "vector", "order"],
        "tune_params": {"block": [16, 32], "vector": [1, 2, 4], "order": ["row", "col"]},
        "objective": "time",
        "cache": {key: {**entry, "timestamp": AT} for key, entry in entries.items()},
    }
    return made if version is None else {"schema_version": version, **made}


def text_of(document: dict[str, Any]) -> str:
    """A cache as Kernel Tuner writes it: an entry a line, the brackets that close it in the end."""
    head = json.dumps({**document, "cache": {}}, indent="")[:-3]
    return head + ",".join("\n" + json.dumps({k: e})[1:-1] for k, e in document["cache"].items()) + "}\n}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Path of a test's cache."""
    return tmp_path / "cache.json"


@pytest.mark.parametrize("version", [None, "1.0.0", "1.0.1", "1.1.0"])
def test_every_version_is_a_space_with_its_times(file: Path, version: str | None) -> None:
    file.write_text(text_of(cache(version)))
    space = read_recorded(file)
    assert [(axis.name, axis.values) for axis in space.axes] == [
        ("block", (16, 32)),
        ("vector", (1, 2, 4)),
        ("order", ("row", "col")),
    ]
    np.testing.assert_array_equal(space.times_us, [2500.0, np.nan, 1250.0, np.nan])
    assert space.space().config(2) == (32, 1, "col")


def test_results_keep_samples_reasons_and_wall_times(file: Path) -> None:
    file.write_text(text_of(cache()))
    results = results_of(open_file(file))
    assert (results.kernel, results.device, results.problem_size) == ("sgemm", "A GPU", (512, 384))
    sampled, refused, plain, broken = results.tried
    assert sampled.times is not None
    assert plain.times is not None
    assert (sampled.times.min_us, sampled.times.samples) == (2000.0, 4)
    assert sampled.times.p90_us == pytest.approx(2925.0)
    assert (plain.times.min_us, plain.times.samples) == (None, None)
    assert (refused.status, refused.reason) == (Status.REJECTED, "Kernel Tuner: InvalidConfig")
    assert (broken.status, broken.compile_s, broken.measure_s, broken.at) == (Status.COMPILE_FAILED, 0.9, 0.1205, AT)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_unpacked(file: Path, pack: Callable[[bytes], bytes]) -> None:
    file.write_bytes(pack(text_of(cache()).encode()))
    assert len(read_recorded(file)) == 4
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InvalidFile, match=r"cache.json: its compression is damaged: .*; fetch it again"):
        read_recorded(file)


@pytest.mark.parametrize(
    ("lost", "kept"),
    [(3, 4), (2, 4), (4, 3), (30, 3), (260, 2)],  # brackets of the file, of the last entry, more
)
def test_what_was_written_before_a_kill_is_read(file: Path, lost: int, kept: int) -> None:
    file.write_text(text_of(cache())[:-lost])
    results = results_of(open_file(file))
    assert len(results.tried) == kept
    assert results.notes == ("its end was missing: what was not written whole is left out",)
    notes: list[str] = []
    read_recorded(file, on_note=notes.append)
    assert notes == ["cache.json: its end was missing: what was not written whole is left out"]


@pytest.mark.parametrize("digits", [401, 5000])
def test_a_number_that_is_too_long_is_refused(file: Path, digits: int) -> None:
    file.write_text(text_of(cache()).replace('"time": 1.25', f'"time": 1{"0" * (digits - 1)}'))
    with pytest.raises(InvalidFile, match=r"cache.json: "):
        read_recorded(file)


def test_a_key_that_is_there_twice_is_refused(file: Path) -> None:
    text = text_of(cache())
    key = next(iter(cache()["cache"]))
    other = list(cache()["cache"])[1]
    file.write_text(text.replace(f'"{other}"', f'"{key}"'))
    with pytest.raises(InvalidFile, match=f"each key of an object once, got '{key}' twice: keep one"):
        read_recorded(file)


def test_an_open_cache_may_end_in_a_comma_an_entry_in_an_empty_object_and_have_no_entry(file: Path) -> None:
    whole = text_of(cache())
    file.write_text(whole[:-3] + ",")
    assert len(results_of(open_file(file)).tried) == 4
    made = cache()
    made["tune_params_keys"].append("object")
    for entry in made["cache"].values():
        entry["object"] = {}
    file.write_text(text_of(made)[:-3] + "\n")
    assert [tried.values[-1] for tried in results_of(open_file(file)).tried] == ["{}"] * 4
    file.write_text(whole[: whole.index("\n", whole.index('"cache"'))])
    assert results_of(open_file(file)).tried == ()
    with pytest.raises(InvalidFile, match="none of 0 configurations has a time"):
        read_recorded(file)


def test_old_files_say_1e20_where_there_is_no_time(file: Path) -> None:
    made = cache(None)
    made["cache"]["32,4,col"]["time"] = 1e20
    file.write_text(text_of(made))
    tried = results_of(open_file(file)).tried[3]
    assert (tried.status, tried.times, tried.reason) == (Status.CRASHED, None, "Kernel Tuner: no finite time, 1e+20")


REFUSED: list[tuple[Change, str]] = [
    (lambda c: c.update(schema_version="2.0.0"), "schema_version: expected one of 1.0.0, 1.0.1, 1.1.0, or none"),
    (lambda c: c.pop("device_name"), "missing device_name"),
    (lambda c: c.update(tune_params_keys="block"), "tune_params_keys: expected a list, got 'block'"),
    (lambda c: c["cache"]["16,1,row"].pop("vector"), r"cache\['16,1,row'\]: expected a value of each parameter"),
    (lambda c: c["cache"]["16,1,row"].update(time="Odd"), r"cache\['16,1,row'\].time: expected a time or one of"),
    (lambda c: c["cache"]["16,1,row"].pop("time"), "expected a time in milliseconds under `time`, got none"),
    (lambda c: c["cache"]["16,1,row"].update(times=[1, -1]), "expected times in milliseconds"),
    (lambda c: c["cache"]["16,1,row"].update(compile_time="1"), r"\.compile_time: expected float, got '1'"),
    (lambda c: c["cache"]["16,2,row"].update(vector=1), "a configuration is recorded twice"),
    (lambda c: c.pop("cache") and c.pop("tune_params_keys"), "expected one of the formats jsonl, kernel-tuner"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_a_cache_cannot_be_is_said(file: Path, change: Change, message: str) -> None:
    made = cache()
    change(made)
    file.write_text(json.dumps(made))
    with pytest.raises(InvalidFile, match=message):
        read_recorded(file)


@pytest.mark.parametrize("text", ["", "[1, 2]", "no JSON", '{"cache": {"1": {"time"', "\x00"])
def test_what_is_no_json_object_is_said(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidFile, match=r"cache.json: expected|missing"):
        read_recorded(file)


def test_a_cache_that_is_written_again_says_the_same(file: Path) -> None:
    file.write_text(text_of(cache()))
    first = results_of(open_file(file))
    again = to_cache(first)
    assert (again["schema_version"], again["tune_params"]) == (
        "1.1.0",
        {**cache()["tune_params"], "order": ["col", "row"]},
    )
    file.write_text(json.dumps(again))
    assert open_file(file).format is Format.KERNEL_TUNER
    assert results_of(open_file(file)) == first
