"""Evidence of results from their rows."""

import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING

from codegen import CodegenError
from codegen.serialization import decode
from db.queries.results.headline import again_us
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from service.gemm_json import problem_from_json
from service.schemas import AcceptanceEvidence, Evidence, ProofEvidence, TimeEvidence
from tuner.errors import TunerError

if TYPE_CHECKING:
    from hal import DeviceSpec
    from tuner.model.cpu_roof import CpuRates


def evidence_of(trial: Trial) -> Evidence:
    """Return time, correctness and acceptance of a trial, whose evidence is loaded."""
    return Evidence(
        time=_time(trial),
        proof=ProofEvidence.model_validate(
            {
                "kind": trial.proof_kind,
                "checked": trial.proof_checked,
                "total": trial.proof_total,
                "max_error": _finite(trial.max_error),
                "tolerance": trial.tolerance,
                "method": trial.proof_method,
                "refusal": trial.proof_refusal,
            }
        ),
        acceptance=acceptance_of(trial),
    )


def headline_of(trial: Trial | None) -> Evidence:
    """Return the same with the headline time: re-measured against the default where the trial's job did that.

    The job is loaded. Without a trial there is no evidence.
    """
    if trial is None:
        return Evidence(time=None, proof=ProofEvidence(kind="none", checked=0, total=0))
    evidence, us = evidence_of(trial), again_us(trial)
    if us is None or evidence.time is None or trial.measurement is None:
        return evidence
    again = {"basis": "interleaved", "value": us, "low": None, "high": None}
    run = dict.fromkeys(("samples", "stopped_early", "first_ratio"))
    return evidence.model_copy(update={"time": evidence.time.model_copy(update=again | run)})


def acceptance_of(trial: Trial) -> AcceptanceEvidence | None:
    """Return the acceptance of a trial's kernel by its driver; None if there was none."""
    return None if trial.acceptance is None else AcceptanceEvidence.model_validate(trial.acceptance)


def foretold(trial: Trial) -> TimeEvidence | None:
    """Return the prediction of a trial, which may be measured too; None without one."""
    return None if trial.prediction is None else _predicted(trial.prediction)


def measured_of(trial: Trial) -> TimeEvidence | None:
    """Return the measurement of a trial's configuration: its own, or the one of another job that judges its
    prediction.
    """
    by = measuring_trial(trial)
    return None if by is None or by.measurement is None else _measured(by, by.measurement)


def measuring_trial(trial: Trial) -> Trial | None:
    """Return the trial with that measurement."""
    if trial.measurement is not None:
        return trial
    error = None if trial.prediction is None else trial.prediction.error
    return None if error is None else error.measured_trial


def prediction_error(trial: Trial) -> float | None:
    """Return measured over predicted time; None without either."""
    error = None if trial.prediction is None else trial.prediction.error
    return None if error is None else error.ratio


def tflops(problem: Problem, evidence: Evidence) -> float | None:
    """Return the operations of the problem over the time, in TFLOP/s."""
    if evidence.time is None:
        return None
    return problem.flops / evidence.time.value / 1e6


def roof_us(problem: Problem, device: Device) -> float | None:
    """Return the time that the device's multiply units and memory allow at the least, in us; None if unknown."""
    return _roof_us(*(json.dumps(part) for part in (problem.definition, device.spec, device.rates)))


@lru_cache(maxsize=1024)  # a page is read again and again
def _roof_us(definition: str, facts: str, rates: str) -> float | None:
    # Imported here: many responses with results have no roofline, and its model takes time to load.
    from tuner.model import roof
    from tuner.model.cpu_roof import CpuRates

    try:
        measured = json.loads(rates)
        given = None if measured is None else decode(CpuRates, measured)
        return roof.roof_us(problem_from_json(json.loads(definition)), _spec(facts), given)
    except (CodegenError, TunerError, ValueError):  # unknown facts, or a row of another version
        return None


@lru_cache(maxsize=64)  # lists have few devices
def _spec(facts: str) -> "DeviceSpec":
    # Imported here: only rooflines need the facts of a device.
    from service.device_json import spec_from_json

    return spec_from_json(json.loads(facts))


def rates_of(device: Device) -> "CpuRates | None":
    """Return the measured rates of a CPU; None for another device, and if they were not measured.

    Raises:
        ValueError: they are not in this version's form.
    """
    # Imported here: few of the modules that import this one read rates.
    from tuner.model.cpu_roof import CpuRates

    return None if device.rates is None else decode(CpuRates, device.rates)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _time(trial: Trial) -> TimeEvidence | None:
    if trial.measurement is not None:
        return _measured(trial, trial.measurement)
    return foretold(trial)


def _measured(trial: Trial, m: Measurement) -> TimeEvidence:
    return TimeEvidence(
        kind="measured",
        basis="single",
        value=m.median_us,
        low=m.p10_us,
        high=m.p90_us,
        label=m.label,
        samples=m.samples,
        driver=m.driver,
        stopped_early=m.stopped_early,
        first_ratio=m.first_ratio,
        clock_mhz=m.clock_mhz,
        energy_uj=m.energy_uj,
        origin=trial.origin,
    )


def _predicted(p: Prediction) -> TimeEvidence:
    return TimeEvidence(
        kind="predicted", basis="predicted", value=p.time_us, low=p.low_us, high=p.high_us, label=p.model_version
    )
