"""Rates of a CPU, which give its roofline: measured when it is first used, stored with its device."""

from codegen import CodegenError
from codegen.serialization import to_json
from db.queries import devices
from db.session import Database
from hal import Device, DeviceSpec, HalError, runs_own_code
from service.api.devices.elsewhere import store_missing_device
from service.evidence import rates_of
from service.telemetry.loggers import Logger
from tuner.backend import tuning_for
from tuner.measure.cpu_rates import measure_rates
from tuner.model.cpu_roof import CpuRates

_log = Logger(__name__)


def stored_rates(database: Database, spec: DeviceSpec) -> CpuRates | None:
    """Return the stored rates of a device under its driver; None if it is not a CPU, or was not measured."""
    with database.read() as session:
        row = devices.find(session, spec.id, spec.driver or "")
        try:
            return None if row is None else rates_of(row)
        except ValueError:  # of another version: they are measured again
            return None


def measure_once(database: Database, device: Device, spec: DeviceSpec) -> None:
    """Measure and store the rates of a CPU that has none; a job does without them if that fails."""
    if runs_own_code(spec) and stored_rates(database, spec) is None:
        _measure(database, device, spec, None)


def measure_again(database: Database, device: Device, spec: DeviceSpec) -> None:
    """Measure the rates again and keep the higher of each: a kernel beat the roofline, so they were too low."""
    _measure(database, device, spec, stored_rates(database, spec))


def _measure(database: Database, device: Device, spec: DeviceSpec, before: CpuRates | None) -> None:
    try:
        found = measure_rates(device, spec, tuning_for(spec).caches_bytes(spec))
    except (CodegenError, HalError) as error:
        _log.warning("rates of the CPU not measured: its jobs have no roofline", device=spec.id, error=str(error))
        return
    kept = found if before is None else found.at_least(before)
    with database.write() as session:
        store_missing_device(session, spec, spec.driver).rates = _json(kept)
    _log.info(
        "rates of the CPU measured", device=spec.id, **{r.instruction: f"{r.ops_per_s:.4g}/s" for r in kept.multiplies}
    )


def _json(rates: CpuRates) -> dict[str, object]:
    found = to_json(rates)
    assert isinstance(found, dict)
    return dict(found)
