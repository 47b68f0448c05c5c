"""Rates of a CPU are measured once and stored with its device."""

from collections.abc import Callable

import pytest

from db.queries import devices
from db.session import Database, open_database
from hal import DeviceFailed, DeviceSpec
from hal.facts.cpu import probe_cpu
from service.api.devices.elsewhere import store_device
from service.jobs import device_rates
from service.jobs.device_rates import measure_again, measure_once, stored_rates
from tests.tuner.fakes import emulated
from tuner.model.cpu_roof import CpuRates, MultiplyRate

HERE = probe_cpu()


def rates(ops_per_s: float, bytes_per_s: float) -> CpuRates:
    return CpuRates((MultiplyRate("avx2 f32", ops_per_s),), bytes_per_s)


@pytest.fixture
def database(sqlite_url: str) -> Database:
    return open_database(sqlite_url)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[DeviceSpec]]:
    """Makes each measurement give the next of some rates; the devices measured are listed."""

    def give(*found: CpuRates | Exception) -> list[DeviceSpec]:
        left, seen = list(found), list[DeviceSpec]()

        def measure(_device: object, spec: DeviceSpec, _caches: int) -> CpuRates:
            seen.append(spec)
            if isinstance(given := left.pop(0), Exception):
                raise given
            return given

        monkeypatch.setattr(device_rates, "measure_rates", measure)
        return seen

    return give


def test_a_cpu_is_measured_once(database: Database, measured: Callable[..., list[DeviceSpec]]) -> None:
    seen = measured(rates(2e11, 3e10))
    for _ in range(2):
        measure_once(database, object(), HERE)  # pyright: ignore[reportArgumentType]
    assert seen == [HERE]
    assert stored_rates(database, HERE) == rates(2e11, 3e10)
    with database.write() as session:
        store_device(session, HERE)
    assert stored_rates(database, HERE) == rates(2e11, 3e10), "new facts leave the rates"


def test_a_cpu_that_emulates_a_gpu_is_not(database: Database, measured: Callable[..., list[DeviceSpec]]) -> None:
    seen = measured()
    measure_once(database, object(), emulated())  # pyright: ignore[reportArgumentType]
    assert (seen, stored_rates(database, emulated())) == ([], None)


def test_of_two_measurements_the_higher_rates_are_kept(
    database: Database, measured: Callable[..., list[DeviceSpec]]
) -> None:
    measured(rates(1e11, 3e10), rates(2e11, 1e10))
    measure_once(database, object(), HERE)  # pyright: ignore[reportArgumentType]
    measure_again(database, object(), HERE)  # pyright: ignore[reportArgumentType]
    assert stored_rates(database, HERE) == rates(2e11, 3e10)


def test_a_loop_that_fails_leaves_no_rates(database: Database, measured: Callable[..., list[DeviceSpec]]) -> None:
    measured(DeviceFailed("it crashed"))
    measure_once(database, object(), HERE)  # pyright: ignore[reportArgumentType]
    assert stored_rates(database, HERE) is None


def test_rates_of_another_version_are_measured_again(
    database: Database, measured: Callable[..., list[DeviceSpec]]
) -> None:
    with database.write() as session:
        store_device(session, HERE).rates = {"gflops": 3}
    measured(rates(2e11, 3e10))
    measure_once(database, object(), HERE)  # pyright: ignore[reportArgumentType]
    assert stored_rates(database, HERE) == rates(2e11, 3e10)
    with database.read() as session:
        assert devices.find(session, HERE.id, HERE.driver or "") is not None
