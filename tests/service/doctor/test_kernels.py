"""Jobs take the fallbacks of kernels that doctor saw fail, until it sees these kernels work."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
import structlog
from structlog.testing import LogCapture

from codegen import DType, GemmProblem, KernelConfig, Refused, XeConfig
from db.queries import problems
from db.queries.cluster import leases
from db.session import open_database
from hal import DeviceSpec, HalError, KernelBuildFailed, UnknownDevice, find
from hal.devices.listed import ListedDevice, Runtime, listed
from hal.driver.installed import Driver
from hal.probe.findings import Finding, State
from service.api.jobs.service import read_job
from service.artifacts import ArtifactStore
from service.cluster import local
from service.cluster.local import LocalExecutor
from service.dashboard.jobs.reading import find_job, job_page
from service.dashboard.jobs.trials import Wanted
from service.doctor.kernels import Chosen, chosen, kernels
from service.gemm_json import problem_to_json
from service.jobs import restrictions, tuning
from service.jobs.job_runs import ClaimedJob
from service.jobs.restrictions import restrictions_of, store_restrictions
from service.jobs.store import DbTrialStore
from service.jobs.tuning import Tuning
from tests.db import rows
from tests.tuner.any_problem import AnyProblem, Compiler, Fault
from tests.tuner.fakes import emulated
from tuner.measure import kernel_checks
from tuner.measure.kernel_checks import CheckedKernel
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.space.restrictions import Restriction

SPEC = emulated()
HERE = ListedDevice(SPEC, Runtime.OPENCL, "0:0", runnable=True, targetable=True, note="")
F16 = GemmProblem(16, 48, 32)
S8 = GemmProblem(16, 48, 32, dtype_a=DType.S8, dtype_b=DType.S8, dtype_acc=DType.I32, dtype_c=DType.I32)


class Lab:
    """A machine with one device whose kernels have a fault, and a database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.executor = LocalExecutor(lambda _: HERE, folder / "locks")
        self.fault: Fault = works
        self.compiler = Compiler()

    def doctor(self) -> list[Finding]:
        """Check the kernels of the device."""
        devices = Chosen((HERE,))
        return list(kernels(devices, self.executor, self.folder / "cache", self.url, lambda _: None))

    def tune(self, problem: GemmProblem) -> UUID:
        """Run a job of a few trials on the device; return its id."""
        database = open_database(self.url)
        try:
            with database.write() as session:
                row = problems.upsert(session, key=problem.key, definition=problem_to_json(problem))
                job_id = rows.add_job(session, SPEC.id, problem_id=row.id).id
                leases.claim(session, job_id, "w", 60.0)
            job = ClaimedJob(job_id, "w", JobSpec(problem=problem, device=SPEC, budget=Budget(3, 60.0), seed=7))
            artifacts = ArtifactStore(self.folder / "artifacts")
            Tuning(database, artifacts, self.folder / "cache", executor=self.executor).run(job, threading.Event())
            return job_id
        finally:
            database.close()

    def configs(self, job_id: UUID) -> list[XeConfig]:
        """Return the configurations of a job's trials."""
        database = open_database(self.url)
        try:
            trials = DbTrialStore(database, ArtifactStore(self.folder / "artifacts"), job_id, "w").trials()
        finally:
            database.close()
        return [trial.config for trial in trials if isinstance(trial.config, XeConfig)]


def works(*_: object) -> None:
    return None


def refuses_large_registers(_: GemmProblem, config: KernelConfig, __: DeviceSpec) -> HalError | None:
    is_large = isinstance(config, XeConfig) and config.strategy.grf_mode == 256
    return KernelBuildFailed("no such mode") if is_large else None


def refuses_bytes(problem: GemmProblem, *_: object) -> HalError | None:
    return KernelBuildFailed("no such product") if problem.dtype_a is DType.S8 else None


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sqlite_url: str) -> Lab:
    """A machine whose compiler and device are fakes, and the checks of two kernels."""
    checks = tuple(check for check in kernel_checks.GPU_CHECKS if check.name in ("registers-256", "s8"))
    monkeypatch.setattr(kernel_checks, "GPU_CHECKS", checks)
    lab = Lab(tmp_path, sqlite_url)
    monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(lab.compiler))
    monkeypatch.setattr(local, "open_device", lambda _: AnyProblem(SPEC, lab.compiler, lambda *k: lab.fault(*k)))
    return lab


def told(findings: Sequence[Finding]) -> list[str]:
    return [finding.found for finding in findings if finding.check == "restrictions"]


@pytest.mark.slow
def test_the_next_job_has_no_such_configuration_and_has_it_again_when_it_is_mended(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.fault = refuses_large_registers
    found = lab.doctor()
    assert told(found) == ["jobs on it take from now on: 128 registers only"]
    log = LogCapture()
    monkeypatch.setattr(tuning, "_log", structlog.wrap_logger(None, processors=[log]))
    restricted = lab.tune(F16)
    assert {config.strategy.grf_mode for config in lab.configs(restricted)} == {128}
    (line,) = [line for line in log.entries if line["event"] == "device is restricted"]
    assert (line["device"], line["name"], line["check"]) == (SPEC.id, "no-grf-256", "gemm-registers-256")

    lab.fault = works
    assert told(lab.doctor()) == ["jobs on it are no longer restricted to: 128 registers only"]
    mended = lab.tune(F16)
    assert {config.strategy.grf_mode for config in lab.configs(mended)} == {256}
    assert told(lab.doctor()) == []

    database = open_database(lab.url)
    with database.read() as session:
        job, later = read_job(session, restricted), read_job(session, mended)
        page = job_page(session, find_job(session, str(restricted)), Wanted(), "http://localhost", keyed=False)
    database.close()
    (one,) = job.restrictions
    assert (one.name, one.effect, one.check) == ("no-grf-256", "128 registers only", "gemm-registers-256")
    assert one.reason == "f16 to f32, DPAS, 2-D loads, 256 registers: compile_failed, no such mode"
    assert page.restrictions == (one,)
    assert later.restrictions == []


@pytest.mark.slow
def test_a_job_with_types_that_fail_is_refused_by_name_and_others_run(lab: Lab) -> None:
    lab.fault = refuses_bytes
    states = {finding.check: finding.state for finding in lab.doctor()}
    assert (states["gemm-s8"], states["gemm-registers-256"]) == (State.FAULT, State.OK)
    with pytest.raises(Refused, match="kernels with s8 fail on") as caught:
        lab.tune(S8)
    assert caught.value.rule == "device-types"
    assert lab.configs(lab.tune(F16))


def test_restrictions_are_of_one_driver_and_one_version(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = CheckedKernel(Finding("gemm-s8", SPEC.id, State.FAULT, "it crashed"), (Restriction.NO_BYTES,))
    database = open_database(sqlite_url)
    with database.write() as session:
        store_restrictions(session, SPEC, [failed])
        assert [row.name for row in restrictions_of(session, SPEC)] == ["no-bytes"]
        assert restrictions_of(session, replace(SPEC, driver="fake 2")) == []
        assert restrictions_of(session, replace(SPEC, id="opencl-cpu-as-b70")) == []
        monkeypatch.setattr(restrictions, "version", lambda _: "9.9.9")
        assert restrictions_of(session, SPEC) == []
    database.close()


def test_a_database_is_made_for_fallbacks_alone(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "new" / "xetune.sqlite"
    lab.url = f"sqlite:///{path}"
    lab.doctor()
    assert not path.exists()
    lab.fault = refuses_bytes
    assert told(lab.doctor()) == ["jobs on it take from now on: no s8 and u8"]
    assert path.exists()


def test_fallbacks_that_cannot_be_stored_are_a_fault(lab: Lab) -> None:
    lab.url, lab.fault = "postgresql+psycopg://ana@127.0.0.1:1/x", refuses_large_registers
    last = lab.doctor()[-1]
    assert (last.check, last.state) == ("restrictions", State.FAULT)
    assert last.found.startswith("its fallbacks are not stored, so that jobs do not take them: ")


DRIVER = Driver(Path("/nowhere"), "26.27.1", {})
TABLE = [listed(find(name), Runtime.TABLE, None, runnable=False) for name in ("b580", "b70", "max1100")]


def accepted(devices: Sequence[ListedDevice], *names: str, driver: Driver | None = DRIVER) -> list[tuple[str, str]]:
    """Return the chip and the device of each GPU for which the driver is asked."""
    return [(each.gpu.chip, each.spec.id) for each in chosen(devices, names, driver).accepting]


def test_the_driver_is_asked_for_the_gpus_of_this_machine_else_for_the_default_target() -> None:
    assert accepted(TABLE) == [("bmg", "b580")]
    assert accepted([listed(find("max1100"), Runtime.PCI, None, runnable=False), *TABLE[:2]]) == [("pvc", "max1100")]
    assert accepted(TABLE, driver=None) == []


def test_the_driver_is_asked_for_the_named_families() -> None:
    assert accepted(TABLE, "simulated-driver-a770", "b70") == [("dg2", "a770"), ("bmg", "b70")]
    assert chosen(TABLE, ["b70"], DRIVER).running == ()


@pytest.mark.parametrize(
    ("name", "driver", "message"),
    [
        ("simulated-driver-b580", None, "needs the simulated driver: `xetune toolchain install driver`"),
        ("simulated-driver-b70", DRIVER, "no driver simulates simulated-driver-b70; there are simulated-driver-b580, "),
        ("b580", None, "b580 runs no kernels here .* gets a driver that accepts its kernels"),
    ],
)
def test_a_family_that_no_driver_here_simulates_is_refused(name: str, driver: Driver | None, message: str) -> None:
    with pytest.raises(UnknownDevice, match=message):
        chosen(TABLE, [name], driver)
