"""Exchange files come back as they were written, and a bad line is refused by its number, whatever is wrong with it."""

import base64
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, changed, read, results, text_of
from tuner.errors import InvalidLine
from tuner.exchange import jsonl
from tuner.exchange.jsonl import join_files
from tuner.exchange.kernel_record import binary_of

DEVICE, PROBLEM, JOB_LINE, KERNEL, TRIAL, SECOND, PREDICTED = 2, 3, 4, 5, 6, 8, 9
Change = Callable[[dict[str, Any]], object]


def put(path: str, value: object) -> Change:
    """Sets the field that a dotted path names."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document[parent]
        document[last] = value

    return change


def drop(path: str) -> Change:
    """Removes the field that a dotted path names."""

    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document[parent]
        del document[last]

    return change


def test_a_file_comes_back_as_it_was_written() -> None:
    exchange = read(text_of(results()))
    assert exchange.header == lines.header()
    assert exchange.devices["b580", lines.DRIVER].record == lines.b580()
    assert exchange.problems[GEMM.key].record == GEMM
    assert exchange.jobs[JOB].record == lines.job()
    assert [line.record for line in exchange.kernels.values()] == [lines.kernel(0), lines.kernel(1)]
    trials = [lines.measured(0, 50.0, 25.0), lines.measured(1, 40.0), lines.predicted(2, 30.0), lines.failed(3)]
    assert [line.record for line in exchange.trials.values()] == trials
    assert [line.number for line in exchange.trials.values()] == [6, 8, 9, 10]
    assert binary_of(lines.kernel(1)) == lines.binary_of_kernel(1)


def test_configurations_to_measure_come_back_too() -> None:
    found = read(text_of(lines.candidates())).candidates.values()
    assert [line.record.config for line in found] == [lines.config(0), lines.config(1)]
    assert [line.record.prediction.time_us for line in found] == [10.0, 10.0]


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (
            TRIAL,
            put("outcome.measurement.clock_mhz", 0),
            "line 6: trial: outcome.measurement.clock_mhz: expected 1e",
        ),
        (JOB_LINE, put("options.budget.seconds", 10**400), "line 4: job: options.budget.seconds: expected a"),
        (TRIAL, put("outcome.proof.checked", 0), "line 6: trial: a proof compares at least one tile, got 0 of "),
        (2, put("spec.driver", "x" * 300), "line 2: device: spec.driver: expected 1 to 200 printable characters"),
        (TRIAL, put("config.matmul.block.m", 10**30), "line 6: trial: block_m: expected numbers of at most 10 digits"),
        (JOB_LINE, put("options.budget.no_gain", 2**31), "line 4: job: options.budget.no_gain: expected 1 to"),
        (JOB_LINE, put("options.budget.roofline", 2.0), "line 4: job: expected a fraction of the roof"),
        (JOB_LINE, put("donors", [7]), "line 4: job: donors"),
        (JOB_LINE, put("donors", [{"config": 7}]), "line 4: job: donors[0]: missing number"),
        (TRIAL, put("proposer", "\n"), "line 6: trial: proposer: expected a word"),
        (1, put("version", 2), "line 1: version: expected 1, got 2 (written by 'xetune 0.1.0'): export it again"),
        (1, put("version", True), "line 1: version: expected 1, got True"),
        (1, put("format", "t4"), "line 1: format: expected 'xetune-exchange', got 't4'"),
        (1, put("record", "trial"), "line 1: record: expected the header, got 'trial'"),
        (1, put("colour", 1), "line 1: header: colour: unknown field; there are format, version"),
        (1, put("origin", ""), "line 1: header: origin: expected 1 to 200 printable characters, got ''"),
        (1, put("origin", "a\nb"), "line 1: header: origin: expected 1 to 200 printable"),
        (1, put("written_at", "2026-03-04"), "line 1: header: written_at: expected a moment with its time zone"),
        (1, put("written_at", "0001-01-01T00:00:00+14:00"), "line 1: header: written_at: expected a moment"),
        (DEVICE, put("record", "gadget"), "line 2: record: expected one of header, device"),
        (DEVICE, put("record", "header"), "line 2: record: expected one of device"),
        (DEVICE, put("spec.colour", "red"), "line 2: device: spec.colour: unknown field"),
        (DEVICE, put("spec.xe_cores", "20"), "line 2: device: spec.xe_cores: expected int, got '20'"),
        (
            DEVICE,
            put("spec.id", "simulated-driver-b580"),
            "line 2: device: spec.id: expected a device that runs kernels",
        ),
        (DEVICE, drop("spec.provenance.xe_cores"), "line 2: device: DeviceSpec b580: every known fact needs"),
        (DEVICE, put("spec.driver", "1"), "line 4: job: device: expected a device of a line before (b580 with driver"),
        (PROBLEM, put("definition.m", 97), "line 3: problem: "),
        (PROBLEM, put("definition.m", 0), "line 3: problem: m: expected 1 to"),
        (PROBLEM, put("key", "0" * 64), "line 3: problem: key: expected "),
        (JOB_LINE, put("id", "7"), "line 4: job: id: expected a UUID in lower case"),
        (JOB_LINE, put("id", JOB.upper()), "line 4: job: id: expected a UUID in lower case"),
        (JOB_LINE, put("status", "running"), "line 4: job: status: expected one of succeeded, failed, cancelled"),
        (JOB_LINE, put("problem", "0" * 64), "line 4: job: problem: expected the key of a problem in a line before"),
        (JOB_LINE, put("device", "b60"), "line 4: job: device: expected a device of a line before"),
        (JOB_LINE, put("options.budget.trials", 0), "line 4: job: options.budget.trials: expected 1 to"),
        (JOB_LINE, put("options.budget.seconds", 0), "line 4: job: "),
        (JOB_LINE, put("options.seed", 2**63), "line 4: job: "),
        (JOB_LINE, put("error", "x"), "line 4: job: error: expected one of a failed job and only that"),
        (JOB_LINE, put("compared_best_us", 3.0), "line 4: job: compared_default_us: expected it with compared_best"),
        (JOB_LINE, drop("started_at"), "line 4: job: missing started_at"),
        (KERNEL, put("spirv", "AwIj*"), "line 5: kernel: spirv: expected base64"),
        (KERNEL, put("spirv", "AAAA"), "line 5: kernel: spirv: expected a SPIR-V module, got 3 bytes"),
        (KERNEL, put("spirv", base64.b64encode(b"\x03\x02\x23\x07" * 9).decode()), "line 5: kernel: spirv: an instruc"),
        (
            KERNEL,
            put("spirv", base64.b64encode(lines.binary_of_kernel(9)).decode()),
            "line 5: kernel: spirv: expected by",
        ),
        (
            KERNEL,
            put("manifest.steps", [{"kernel": "other"}]),
            "line 5: kernel: spirv: expected the kernels that the manif",
        ),
        (KERNEL, put("content_hash", "../../etc"), "line 5: kernel: content_hash: expected a SHA-256 in hex"),
        (KERNEL, put("problem", "0" * 64), "line 5: kernel: problem: expected the key"),
        (KERNEL, put("manifest.problem.m", 95), "line 5: kernel: manifest: expected the problem"),
        (KERNEL, put("manifest.compiled_for", "b60"), "line 5: kernel: manifest: expected the problem"),
        (KERNEL, put("manifest.compile_key", "0" * 64), "line 5: kernel: manifest: expected compile_key"),
        (KERNEL, put("compile_key", "0" * 64), "line 5: kernel: manifest: expected compile_key"),
        (TRIAL, put("job", JOB[:-1] + "b"), "line 6: trial: job: expected the id of a job in a line before"),
        (TRIAL, put("number", -1), "line 6: trial: number: expected 0 to"),
        (TRIAL, put("number", 2**31), "line 6: trial: number: expected 0 to"),
        (TRIAL, put("number", 1.5), "line 6: trial: number: expected int, got 1.5"),
        (TRIAL, put("config.matmul.block.m", 0), "line 6: trial: m: expected whole numbers of at least 1, got 0"),
        (TRIAL, put("config.matmul.bloc", 0), "line 6: trial: config.matmul.bloc: unknown field"),
        (TRIAL, put("outcome.measurement.median_us", -40.0), "line 6: trial: expected samples, and 0 < min <= p10"),
        (TRIAL, put("outcome.measurement.p90_us", 1.0), "line 6: trial: expected samples, and 0 < min <= p10"),
        (TRIAL, put("outcome.measurement.p90_us", 1e13), "line 6: trial: expected samples, and 0 < min <= p10"),
        (TRIAL, put("outcome.measurement.min_us", 1e-300), "line 6: trial: outcome.measurement.min_us: expected 1e-06"),
        (TRIAL, put("outcome.measurement.samples", 0), "line 6: trial: outcome.measurement.samples: expected 1"),
        (TRIAL, put("outcome.measurement.samples", 2**40), "line 6: trial: outcome.measurement.samples: expected 1"),
        (TRIAL, put("outcome.measurement.median_us", "fast"), "line 6: trial: outcome.measurement.median_us: expected"),
        (
            TRIAL,
            put("outcome.measurement.label", "DPAS emulated"),
            "line 6: trial: outcome.measurement: expected label",
        ),
        (TRIAL, put("outcome.measurement.driver", "9"), "line 6: trial: outcome.measurement: expected label 'native'"),
        (TRIAL, put("outcome.measurement", None), "line 6: trial: a measurement goes with status measured"),
        (TRIAL, put("outcome.status", "pending"), "line 6: trial: outcome.status: expected one of measured"),
        (TRIAL, put("outcome.reason", "slow"), "line 6: trial: status measured and reason 'slow' contradict"),
        (TRIAL, put("outcome.proof.kind", "none"), "line 6: trial: proof none of 6 of 6 work-groups is none"),
        (TRIAL, put("outcome.proof.checked", 7), "line 6: trial: proof device of 7 of 6 work-groups is none"),
        (TRIAL, put("outcome.proof.max_error", 0.75), "line 6: trial: an error of 0.75 is above its tolerance"),
        (TRIAL, put("outcome.proof.max_error", None), "line 6: trial: a measurement needs a proof with its error"),
        (TRIAL, put("outcome.proof.max_error", -1.0), "line 6: trial: outcome.proof.max_error: expected at least 0"),
        (TRIAL, put("outcome.prediction.low_us", 900.0), "line 6: trial: expected 0 < low <= time <= high"),
        (TRIAL, put("outcome.compile_s", -0.5), "line 6: trial: outcome.compile_s: expected 0 to"),
        (TRIAL, put("outcome.kernel_hash", "0" * 64), "line 6: trial: kernel_hash: expected a kernel of a line before"),
        (TRIAL, put("outcome.kernel_hash", None), "line 6: trial: outcome.kernel_hash: expected the kernel"),
        (TRIAL, put("outcome.acceptance.driver", ""), "line 6: trial: outcome.acceptance.driver: expected 1 to 200"),
        (TRIAL, put("outcome.acceptance.log", ""), "line 6: trial: outcome.acceptance.log: expected a text, got none"),
        (TRIAL, put("compile_key", None), "line 6: trial: compile_key: expected it with outcome.kernel_hash"),
        (TRIAL, put("measured_at", None), "line 6: trial: measured_at: expected it with the times"),
        (TRIAL, put("predicted_at", None), "line 6: trial: predicted_at: expected it with the times"),
        (TRIAL, put("begun_at", "noon"), "line 6: trial: begun_at: expected a moment"),
        (TRIAL, put("evidence", 3), "line 6: trial: evidence: unknown field"),
        (TRIAL, put("versions", {"llvm": 22}), "line 6: trial: versions.llvm: expected str, got 22"),
        (TRIAL, put("versions", {"a\0": "1"}), "line 6: expected text without NUL"),
        (TRIAL, put("versions", {"a": "\ud800"}), "line 6: expected text without NUL and lone surrogates"),
        (SECOND, put("number", 0), "line 8: trial: expected it once, got"),
        (PREDICTED, put("outcome.prediction.time_us", 0), "line 9: trial: expected 0 < low <= time <= high"),
        (PREDICTED, put("outcome.prediction.model_version", ""), "line 9: trial: outcome.prediction.model_version"),
    ],
)
def test_a_bad_line_is_refused_by_its_number_with_what_was_expected_and_what_came(
    line: int, change: Change, said: str
) -> None:
    with pytest.raises(InvalidLine) as refused:
        read(changed(results(), line, change))
    assert str(refused.value).startswith(said), str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_configuration_comes_once_in_a_job() -> None:
    twice = [*results(), lines.predicted(2, 30.0)]
    with pytest.raises(InvalidLine, match=r"line 11: trial: expected it once, got .*again after line 9"):
        read(text_of(twice))
    with pytest.raises(
        InvalidLine, match="line 10: trial: config: expected each configuration once in a job, got that"
    ):
        read(changed(results(), 10, put("config", json.loads(text_of(results()).splitlines()[8])["config"])))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "line 1: expected the header of a xetune-exchange file, got an empty file"),
        (b"{}\n", "line 1: record: expected the header, got None"),
        (b"[1]\n", "line 1: expected one JSON object, got b'[1]"),
        (
            b'{"a": "b',
            'line 1: expected one JSON object, got b\'{"a": "b\': Unterminated string starting at character 6',
        ),
        (b"\xff\xfe\n", "line 1: expected UTF-8"),
        (b"[" * 100_000 + b"\n", "line 1: "),
        (b'{"record": "header", "version": ' + b"9" * 5000 + b"}\n", "line 1: "),
        (
            b'{"record": "header", "record": "header"}\n',
            "line 1: expected each key of an object once, got 'record' twice",
        ),
        (b'{"record": {"header": NaN}}\n', "line 1: expected a finite number, got NaN"),
    ],
)
def test_what_is_no_exchange_file_is_refused_at_its_first_line(text: bytes, said: str) -> None:
    with pytest.raises(InvalidLine) as refused:
        read(text)
    assert str(refused.value).startswith(said), str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_times_are_finite_numbers(number: bytes) -> None:
    data = text_of(results()).replace(b'"median_us":40.0', b'"median_us":' + number)
    with pytest.raises(InvalidLine, match="line 8: expected a finite number, got"):
        read(data)


def test_a_file_and_its_lines_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    data = text_of(results())
    longest = max(len(line) for line in data.splitlines(keepends=True))
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", longest)
    assert len(read(data).trials) == 4
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", longest - 1)
    with pytest.raises(InvalidLine, match=f"expected at most {longest - 1} bytes, got more"):
        read(data)
    monkeypatch.undo()
    monkeypatch.setattr(jsonl, "MAX_FILE_BYTES", len(data) - 1)
    with pytest.raises(InvalidLine, match=r"line 11: expected at most .* export fewer problems"):
        read(data)


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 1000)
    endless = tmp_path / "endless"
    with endless.open("wb") as stream:
        stream.truncate(2**33)  # takes no room: a hole
    with endless.open("rb") as stream, pytest.raises(InvalidLine, match="line 1: expected at most 1000 bytes"):
        jsonl.read_lines(stream)


def test_a_file_that_was_cut_edited_or_extended_is_refused() -> None:
    data = text_of(results())
    lines = data.splitlines(keepends=True)
    assert json.loads(lines[-1])["record"] == "end"
    for cut, said in (
        (data[:-40], "line 11: expected one JSON object"),
        (b"".join(lines[:-1]), "line 11: end: expected it, got no more lines"),
        (b"".join(lines[:4]), "line 5: end: expected it"),
    ):
        with pytest.raises(InvalidLine, match=said):
            read(cut)
    edited = data.replace(b'"median_us":40.0', b'"median_us":39.9')
    with pytest.raises(InvalidLine, match=r"line 11: end: expected SHA-256 .*: the file was edited or damaged"):
        read(edited)
    for more in (lines[-1], lines[2], lines[0]):
        with pytest.raises(InvalidLine, match="line 12: "):
            read(data + more)
    assert len(read(data[:-1]).trials) == 4  # the last line end is not needed


def test_files_are_joined_below_one_header() -> None:
    other = JOB[:-1] + "b"
    second = [lines.job(id=other), lines.kernel(0), lines.measured(0, 45.0, job=other)]
    joined = join_files([text_of(results()), text_of([lines.header("elsewhere"), *results()[1:3], *second])])
    exchange = read("".join(joined).encode())
    assert (exchange.header.origin, list(exchange.jobs), len(exchange.trials)) == ("the lab", [JOB, other], 5)
