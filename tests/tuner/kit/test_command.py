"""The command of a kit writes what it finished in one file that can be imported, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from hal import Buffer, DeviceCrashed, LaunchSpec, ListedDevice, RunReport, Runtime, Timing
from tests.tuner.fakes import FakeDevice
from tests.tuner.kit.kits import B580, PROBLEMS, configs, written
from tuner.exchange.jsonl import Exchange, read_lines
from tuner.exchange.kernel_record import binary_of
from tuner.exchange.records import Ended
from tuner.kit import command
from tuner.kit.contents import kernels_of, read_kit
from tuner.session.result import Stop
from tuner.session.trial import ProofKind, Status

HERE = ListedDevice(B580, Runtime.OPENCL, "opencl:0:0", runnable=True, targetable=True, note="")


class OneDevice(FakeDevice):
    """Multiplies for both problems; `stops_at` is the number of the run that ends in an error."""

    stops_at: int = 99
    error: BaseException = KeyboardInterrupt()

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        if len(self.runs) + 1 == self.stops_at:
            self.runs.append((launch.binary, timeout_s, True))
            raise self.error
        sizes = tuple(argument.nbytes for argument in launch.arguments)
        self.problem = next(p for p in PROBLEMS if tuple(o.nbytes(p.batch) for o in p.operands) == sizes)
        return super().run(launch, buffers, timing, timeout_s)


class Kit:
    """A kit in a folder, and a device to run it on."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.device = OneDevice(PROBLEMS[0], B580)
        self.file, self.output = written(folder), folder / "found.jsonl"
        monkeypatch.setattr(command, "list_devices", lambda: [HERE])
        monkeypatch.setattr(command, "open_device", lambda _: self.device)

    def run(self, *arguments: str) -> int:
        """Run the kit; return the status."""
        return command.main([*arguments, "--output", str(self.output)], self.file)

    def found(self) -> Exchange:
        """Result lines of the file."""
        with self.output.open("rb") as stream:
            return read_lines(stream)


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    return Kit(tmp_path, monkeypatch)


def test_each_kernel_is_verified_measured_and_written_with_its_evidence(
    kit: Kit, capsys: pytest.CaptureFixture[str]
) -> None:
    kit.device.report = {"clock_mhz": 2850.0}
    assert kit.run("--origin", "a bench", "--seconds", "90") == 0
    found = kit.found()
    assert (found.header.origin, list(found.devices)) == ("a bench", [("b580", "fake 1")])
    assert [line.record.status for line in found.jobs.values()] == [Ended.SUCCEEDED] * 2
    for job in (line.record for line in found.jobs.values()):
        assert (job.options.budget.trials, job.options.budget.seconds, job.stop) == (3, 90.0, Stop.EXHAUSTED)
        trials = [line.record for line in found.trials.values() if line.record.job == job.id]
        problem = found.problems[job.problem].record
        assert [trial.config for trial in trials] == configs(problem)
        assert job.best == min(trials, key=lambda trial: trial.outcome.time_us or 0).number
        for trial in trials:
            name = trial.compile_key or "", trial.outcome.kernel_hash or ""
            measured, kernel = trial.outcome.measurement, found.kernels[name].record
            assert measured is not None
            assert (measured.label, measured.clock_mhz, measured.driver) == ("native", 2850.0, "fake 1")
            assert measured.p10_us < measured.median_us < measured.p90_us
            assert trial.outcome.proof.kind is ProofKind.DEVICE
            assert trial.versions == kernel.toolchain
            assert trial.begun_at <= trial.ended_at
    said = capsys.readouterr().out
    assert "6 kernels of 2 problems for Intel Arc B580 (b580), from the lab, 2026-03-04" in said
    assert "6 results written to " in said
    assert " 5 samples, 2850 MHz), " in said


def test_a_kernel_that_fails_is_an_outcome(kit: Kit) -> None:
    kit.device.stops_at, kit.device.error = 2, DeviceCrashed("gone")
    assert kit.run() == 0
    statuses = [line.record.outcome.status for line in kit.found().trials.values()]
    assert statuses == [Status.MEASURED, Status.CRASHED, *[Status.MEASURED] * 4]


def test_an_interrupted_run_writes_what_was_finished(kit: Kit) -> None:
    kit.device.stops_at = 5
    assert kit.run() == 130
    found = kit.found()
    assert [line.record.status for line in found.jobs.values()] == [Ended.SUCCEEDED, Ended.CANCELLED]
    assert len(found.trials) == 4
    assert [path.name for path in kit.output.parent.iterdir() if path.suffix != ".pyz"] == ["found.jsonl"]


def test_nothing_is_written_if_nothing_was_finished(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    kit.device.stops_at = 1
    assert kit.run() == 130
    assert not kit.output.exists()
    assert "nothing was finished, and nothing is written" in capsys.readouterr().out


def test_a_device_that_fails_again_and_again_ends_the_run(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuner.measure.measure_configs.FAILURES", 2)
    kit.device.every = DeviceCrashed("gone")
    assert kit.run() == 1
    (job,) = (line.record for line in kit.found().jobs.values())
    assert (job.status, "failed 5 times in a row; last: gone" in (job.error or "")) == (Ended.FAILED, True)


def test_a_problem_without_a_time_does_not_end_the_run(kit: Kit) -> None:
    exchange = read_kit(kit.file)
    kit.device.faults = {binary_of(k): DeviceCrashed("gone") for k in kernels_of(exchange, PROBLEMS[0].key)}
    assert kit.run() == 1
    assert [line.record.status for line in kit.found().jobs.values()] == [Ended.FAILED, Ended.SUCCEEDED]


def test_a_driver_that_executes_nothing_is_told_and_nothing_is_written(
    kit: Kit, capsys: pytest.CaptureFixture[str]
) -> None:
    kit.device.times_us = (0.0,) * 40
    assert kit.run() == 2
    assert not kit.output.exists()
    said = capsys.readouterr().err
    assert said.startswith("error: fake 1 built kernel gemm and accepted 40 launches, and none took any time: it simul")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--device", "3"), "error: --device: expected a number or a name out of a list, got '3'; here are 1. b580"),
        (("--origin", "a\tb"), "argument --origin: expected 1 to "),
        (("--seconds", "0"), "argument --seconds: expected 1 to 86400 seconds, got '0'"),
    ],
)
def test_what_a_user_says_wrongly_is_refused(
    kit: Kit, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    try:
        status: Any = kit.run(*arguments)
    except SystemExit as ended:
        status = ended.code
    assert (status, said in capsys.readouterr().err, kit.output.exists()) == (2, True, False)


def test_results_that_are_there_are_not_overwritten(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    kit.output.write_text("mine")
    assert kit.run() == 2
    assert (kit.output.read_text(), kit.device.runs) == ("mine", [])
    assert "found.jsonl exists: name another file with --output" in capsys.readouterr().err


def test_results_that_could_not_be_written_are_not_measured(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    kit.output = kit.output.parent / "absent" / "found.jsonl"
    assert kit.run() == 2
    assert "expected a folder that can be written" in capsys.readouterr().err
    assert kit.device.runs == []


def test_devices_are_listed(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    assert kit.run("--list") == 0
    assert "1. b580 (Intel Arc B580): is measured by default\n" in capsys.readouterr().out
    assert not kit.output.exists()
