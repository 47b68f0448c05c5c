"""Reader and writer for T4 result files, an exchange format of several autotuners.

A result has its `configuration`, `times` of its phases and runs, `invalidity` ("correct" or why not), `correctness`,
and `measurements` with name, value and unit, of which `objectives` names those that were optimised.
`metadata.timeunit` is the unit of `times`, and of measurements without one. A file names neither kernel, device nor
problem size.
Source: odgaard/TuningSchema, T4 1.0.0, as in KernelTuner/kernel_tuner, kernel_tuner/schema/T4 (Apache-2.0).
"""

import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from codegen.serialization import (
    Malformed,
    decode,
    to_json,
)
from tuner.exchange.documents import Document, known, within
from tuner.exchange.results import Provenance, Results, Times, Tried, is_time, plain_value, times_of
from tuner.session.trial import Status

VERSION = "1.0.0"
_CORRECT = "correct"
_INVALID = {
    Status.REJECTED: "constraints",
    Status.COMPILE_FAILED: "compile",
    Status.WRONG_RESULT: "correctness",
    Status.TIMED_OUT: "timeout",
    Status.CRASHED: "runtime",
}
_STATUSES = {name: status for status, name in _INVALID.items()}
# Units in microseconds, by the first letters of their names in any spelling ("milliseconds", "Miliseconds", "ms").
_UNITS = {"n": 1e-3, "mic": 1.0, "us": 1.0, "mil": 1e3, "ms": 1e3, "s": 1e6}
_MS = 1e3  # microseconds
_S = 1e3  # milliseconds
_REASON, _SAMPLES = "reason", "samples"
_SPREAD = ("time_min", "time_p10", "time_p90")


@dataclass(frozen=True, slots=True)
class _Metadata:
    timeunit: str | None = None
    xetune: Provenance | None = None


@dataclass(frozen=True, slots=True)
class _File:
    results: tuple[Mapping[str, object], ...]
    schema_version: str | None = None
    metadata: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class _Result:
    configuration: Mapping[str, object]
    times: Mapping[str, object]
    invalidity: str
    correctness: float
    timestamp: str | None = None
    measurements: tuple[Mapping[str, object], ...] = ()
    objectives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Measured:
    name: str
    value: object
    unit: str = ""


def results_of(document: Document) -> Results:
    """Return the results of a T4 file; kernel, device and problem size only if XeTune wrote it.

    Raises:
        ValueError: it does not follow the format.
    """
    file = known(_File, document.value)
    if file.schema_version is not None and not re.fullmatch(r"1\.[0-9]+\.[0-9]+", file.schema_version):
        raise Malformed("schema_version", f"expected {VERSION}, got {file.schema_version!r}")
    metadata = known(_Metadata, file.metadata or {})
    unit_us = None if metadata.timeunit is None else _unit("metadata.timeunit", metadata.timeunit)
    parameters = tuple(known(_Result, file.results[0]).configuration) if file.results else ()
    tried = tuple(_tried(f"results[{i}]", given, parameters, unit_us) for i, given in enumerate(file.results))
    source = metadata.xetune
    if source is None:
        return Results("", "", (), parameters, tried)
    size = source.problem.m, source.problem.n, source.problem.k
    return Results("gemm", source.device_name, size, parameters, tried, source)


def to_t4(results: Results) -> dict[str, object]:
    """Return the document of results; times are milliseconds."""
    source = {} if results.source is None else {"xetune": to_json(results.source)}
    return {
        "schema_version": VERSION,
        "metadata": {"timeunit": "milliseconds", **source},
        "results": [_result(results.parameters, tried) for tried in results.tried],
    }


def _tried(where: str, given: Mapping[str, object], parameters: tuple[str, ...], unit_us: float | None) -> Tried:
    try:
        result = known(_Result, given)
        said = {each.name: each for each in (known(_Measured, each) for each in result.measurements)}
    except Malformed as error:
        raise within(where, error) from error
    if set(result.configuration) != set(parameters):
        raise Malformed(f"{where}.configuration", f"expected {', '.join(parameters)}, as the first result has")
    if result.invalidity not in (_CORRECT, *_STATUSES):
        expected = ", ".join((_CORRECT, *_STATUSES))
        raise Malformed(f"{where}.invalidity", f"expected one of {expected}, got {result.invalidity!r}")
    status = _STATUSES.get(result.invalidity, Status.MEASURED)
    reason = str(said[_REASON].value) if _REASON in said else f"T4: {result.invalidity}"
    return Tried(
        tuple(plain_value(result.configuration[name]) for name in parameters),
        status,
        _times(where, result, said, unit_us) if status is Status.MEASURED else None,
        None if status is Status.MEASURED else reason,
        compile_s=_seconds(result.times.get("compilation"), unit_us),
        verify_s=_seconds(result.times.get("validation"), unit_us),
        measure_s=_seconds(result.times.get("benchmark"), unit_us),
        at=result.timestamp,
    )


def _times(where: str, result: _Result, said: Mapping[str, _Measured], unit_us: float | None) -> Times:
    """Return the optimised time, else the measurement named time, else the median of the runs."""
    runs = result.times.get("runtimes", [])
    if not isinstance(runs, list) or not all(map(is_time, cast("list[object]", runs))):
        raise Malformed(f"{where}.times.runtimes", f"expected times above 0, got {str(runs)[:80]}")
    runs_us = [run * unit_us for run in cast("list[float]", runs)] if unit_us is not None else []
    name = next((name for name in (*result.objectives, "time") if name in said), None)
    if name is None and not runs_us:
        raise Malformed(where, "expected a measurement called time, or runs and their unit, got neither")
    if name is None:
        return times_of(statistics.median(runs_us), runs_us, 1.0)
    time_us = _us(where, said[name], unit_us)
    spread = [_us(where, said[of], unit_us) for of in _SPREAD if of in said]
    if len(spread) != len(_SPREAD):
        return times_of(time_us, runs_us, 1.0)
    least, p10, p90 = spread
    return Times(time_us, least, p10, p90, decode(int, said[_SAMPLES].value) if _SAMPLES in said else None)


def _us(where: str, measured: _Measured, unit_us: float | None) -> float:
    """Return a measurement in microseconds; without a unit, one named time has the file's."""
    where = f"{where}.measurements.{measured.name}"
    if measured.unit:
        unit_us = _unit(where, measured.unit)
    elif not measured.name.startswith("time") or unit_us is None:
        raise Malformed(where, "expected a time with its unit, got a number without: other objectives cannot be read")
    if not is_time(measured.value):
        raise Malformed(where, f"expected a time above 0, got {measured.value!r}")
    return cast(float, measured.value) * unit_us


def _unit(where: str, name: str) -> float:
    """Return a unit of time in microseconds."""
    for begin, us in _UNITS.items():
        if name.lower().startswith(begin):
            return us
    raise Malformed(where, f"expected nano-, micro-, milliseconds or seconds, got {name!r}")


def _seconds(time: object, unit_us: float | None) -> float | None:
    if unit_us is None or not isinstance(time, int | float):
        return None
    return time * unit_us / _UNITS["s"]


def _result(parameters: tuple[str, ...], tried: Tried) -> dict[str, object]:
    wall = {"compilation": tried.compile_s, "validation": tried.verify_s, "benchmark": tried.measure_s}
    told: dict[str, object] = {} if tried.at is None else {"timestamp": tried.at}
    return told | {
        "configuration": dict(zip(parameters, tried.values, strict=True)),
        "objectives": ["time"],
        "times": {name: s * _S for name, s in wall.items() if s is not None} | {"runtimes": []},
        "invalidity": _INVALID.get(tried.status, _CORRECT),
        "correctness": float(tried.status is Status.MEASURED),
        "measurements": _measurements(tried),
    }


def _measurements(tried: Tried) -> list[dict[str, object]]:
    if tried.times is None:
        return [{"name": _REASON, "value": tried.reason, "unit": ""}]
    times = tried.times
    us = {"time": times.time_us, **dict(zip(_SPREAD, (times.min_us, times.p10_us, times.p90_us), strict=True))}
    made: list[dict[str, object]] = [
        {"name": name, "value": value / _MS, "unit": "ms"} for name, value in us.items() if value is not None
    ]
    return made if times.samples is None else [*made, {"name": _SAMPLES, "value": times.samples, "unit": ""}]
