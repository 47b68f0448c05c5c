"""Reader and writer for cache files of Kernel Tuner.

A cache names a device, a kernel, a problem size and the tunable parameters, and holds an entry for each configuration
that was tried: its values, `time` in milliseconds or the name of an error, and the wall times of its phases. Files come
without a version, or with `schema_version` 1.0.0, 1.0.1 or 1.1.0; the last two brackets are missing while Kernel Tuner
writes, and after it was killed. Source: KernelTuner/kernel_tuner, kernel_tuner/schema/cache and kernel_tuner/util.py
(Apache-2.0).
"""

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

VERSIONS = (None, "1.0.0", "1.0.1", "1.1.0")
_MS = 1e3  # microseconds
_S = 1e3  # milliseconds
_NO_TIME_MS = 1e19  # used for errors by versions that did not name them, which wrote 1e20
_ERRORS = {
    "InvalidConfig": Status.REJECTED,
    "CompilationFailedConfig": Status.COMPILE_FAILED,
    "RuntimeFailedConfig": Status.CRASHED,
    "ErrorConfig": Status.CRASHED,
}
_NAMES = {
    Status.REJECTED: "InvalidConfig",
    Status.COMPILE_FAILED: "CompilationFailedConfig",
    Status.CRASHED: "RuntimeFailedConfig",
    Status.TIMED_OUT: "RuntimeFailedConfig",
    Status.WRONG_RESULT: "RuntimeFailedConfig",
}


@dataclass(frozen=True, slots=True)
class _Cache:
    """Fields of every version, and `xetune`, which only XeTune writes."""

    device_name: str
    kernel_name: str
    tune_params_keys: tuple[str, ...]
    cache: Mapping[str, Mapping[str, object]]
    problem_size: object = None
    schema_version: str | None = None
    xetune: Provenance | None = None


@dataclass(frozen=True, slots=True)
class _Phases:
    """Wall times of an entry in milliseconds, and the time of the trial."""

    compile_time: float | None = None
    verification_time: float | None = None
    benchmark_time: float | None = None
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class _Spread:
    """Fields that only XeTune writes: spread of the samples, in milliseconds; status and reason of failures."""

    time_min: float | None = None
    time_p10: float | None = None
    time_p90: float | None = None
    samples: int | None = None
    xetune_status: Status | None = None
    xetune_reason: str | None = None


def results_of(document: Document) -> Results:
    """Return the results of a cache.

    Raises:
        ValueError: it does not follow the format.
    """
    cache = known(_Cache, document.value)
    if cache.schema_version not in VERSIONS:
        expected = ", ".join(version for version in VERSIONS if version is not None)
        raise Malformed("schema_version", f"expected one of {expected}, or none, got {cache.schema_version!r}")
    tried = tuple(_tried(cache.tune_params_keys, key, entry) for key, entry in cache.cache.items())
    size = _problem_size(cache.problem_size)
    return Results(cache.kernel_name, cache.device_name, size, cache.tune_params_keys, tried, cache.xetune)


def to_cache(results: Results) -> dict[str, object]:
    """Return the document of results, by schema 1.1.0. Wall times of the strategy and the framework are not
    recorded: 0.
    """
    source = {} if results.source is None else {"xetune": to_json(results.source)}
    return {
        "schema_version": VERSIONS[-1],
        "device_name": results.device,
        "kernel_name": results.kernel,
        "problem_size": list(results.problem_size),
        "tune_params_keys": list(results.parameters),
        "tune_params": results.values(),
        "objective": "time",
        **source,
        "cache": {",".join(map(str, tried.values)): _entry(results.parameters, tried) for tried in results.tried},
    }


def _tried(parameters: tuple[str, ...], key: str, entry: Mapping[str, object]) -> Tried:
    where = f"cache[{key!r}]"
    if missing := [name for name in parameters if name not in entry]:
        raise Malformed(where, f"expected a value of each parameter, got none of {', '.join(missing)}")
    try:
        phases, spread = known(_Phases, entry), known(_Spread, entry)
    except Malformed as error:
        raise within(where, error) from error
    status, times, reason = _outcome(where, entry, spread)
    return Tried(
        tuple(plain_value(entry[name]) for name in parameters),
        status,
        times,
        reason,
        compile_s=_seconds(phases.compile_time),
        verify_s=_seconds(phases.verification_time),
        measure_s=_seconds(phases.benchmark_time),
        at=phases.timestamp,
    )


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / _S


def _outcome(where: str, entry: Mapping[str, object], spread: _Spread) -> tuple[Status, Times | None, str | None]:
    """Return the status of an entry, and its times or the reason that it has none."""
    time = entry.get("time")
    error = entry.get("__error__", time if isinstance(time, str) else None)
    if error is None and is_time(time) and cast(float, time) < _NO_TIME_MS:
        return Status.MEASURED, _times(where, cast(float, time), entry, spread), None
    if isinstance(error, str) and error not in _ERRORS:
        raise Malformed(f"{where}.time", f"expected a time or one of {', '.join(_ERRORS)}, got {error!r}")
    if error is None and "time" not in entry:
        raise Malformed(
            where, "expected a time in milliseconds under `time`, got none: other objectives cannot be read"
        )
    status = spread.xetune_status or (_ERRORS[error] if isinstance(error, str) else Status.CRASHED)
    said = f"Kernel Tuner: {error}" if isinstance(error, str) else f"Kernel Tuner: no finite time, {time!r}"
    return status, None, spread.xetune_reason or said


def _times(where: str, time: float, entry: Mapping[str, object], spread: _Spread) -> Times:
    least, p10, p90 = spread.time_min, spread.time_p10, spread.time_p90
    if least is not None and p10 is not None and p90 is not None:
        return Times(time * _MS, least * _MS, p10 * _MS, p90 * _MS, spread.samples)
    samples = entry.get("times", [])
    if not isinstance(samples, list) or not all(map(is_time, cast("list[object]", samples))):
        raise Malformed(f"{where}.times", f"expected times in milliseconds, got {str(samples)[:80]}")
    return times_of(time, cast("list[float]", samples), _MS)


def _problem_size(size: object) -> tuple[int, ...]:
    """Return the size as numbers; empty if the file names a function, or nothing."""
    if size is None or isinstance(size, str):
        return ()
    return decode(tuple[int, ...], size if isinstance(size, list) else [size])


def _entry(parameters: tuple[str, ...], tried: Tried) -> dict[str, object]:
    entry: dict[str, object] = dict(zip(parameters, tried.values, strict=True))
    if tried.times is None:
        entry |= {"time": _NAMES[tried.status], "__error__": _NAMES[tried.status]}
        entry |= {"xetune_status": tried.status.value, "xetune_reason": tried.reason}
    else:
        times = tried.times
        told = {"time": times.time_us, "time_min": times.min_us, "time_p10": times.p10_us, "time_p90": times.p90_us}
        entry |= {name: us / _MS for name, us in told.items() if us is not None}
        entry |= {} if times.samples is None else {"samples": times.samples}
    wall = {"compile_time": tried.compile_s, "verification_time": tried.verify_s, "benchmark_time": tried.measure_s}
    entry |= {name: (s or 0.0) * _S for name, s in wall.items()}
    return entry | {"strategy_time": 0.0, "framework_time": 0.0, "timestamp": tried.at}
