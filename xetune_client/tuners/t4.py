"""Results of Kernel Tuner in the T4 format, for kernels of any kind.

Source: github.com/odgaard/TuningSchema, T4/1.0.0/results-schema.json; kernel_tuner 1.5, file_utils.get_t4_results.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from typing import cast

from xetune_client import models
from xetune_client.tuners.stated import InvalidEntry, JsonObject, Stated

TUNER = "kernel-tuner"
_US = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3, "seconds": 1e6, "milliseconds": 1e3, "microseconds": 1.0}
_CORRECT, _OBJECTIVE = "correct", "time"


def records(
    content: Mapping[str, object], kernel: str, problem: JsonObject, stated: Stated, best: int = 1
) -> list[models.RecordBody]:
    """Return the `best` fastest correct results of a T4 file, whose kernel and problem it does not state.

    Raises:
        InvalidEntry: it is no T4 file, its objective is not a time, or no result is correct.
    """
    results = content.get("results")
    if not isinstance(results, list) or "schema_version" not in content:
        raise InvalidEntry("expected the results and schema_version of a T4 file")
    unit = str(cast("Mapping[str, object]", content.get("metadata") or {}).get("timeunit", "milliseconds"))
    correct = list(_correct(cast("list[Mapping[str, object]]", results), unit))
    if not correct:
        raise InvalidEntry(f"expected a result that is correct, got none of {len(cast('list[object]', results))}")
    return [
        models.RecordBody(
            tuner=TUNER,
            kernel=kernel,
            problem=problem,
            device=stated.device,
            versions=dict(stated.versions),
            config=config,
            origin=stated.origin,
            time_us=time_us,
            min_us=_part(runs_us, 0.0),
            p10_us=_part(runs_us, 0.1),
            p90_us=_part(runs_us, 0.9),
            samples=len(runs_us) or None,
        )
        for time_us, config, runs_us in nsmallest(best, correct, key=lambda result: result[0])
    ]


def _correct(results: Sequence[Mapping[str, object]], unit: str) -> Iterator[tuple[float, JsonObject, list[float]]]:
    """Yield time, configuration and samples, in us."""
    for number, result in enumerate(results):
        try:
            if result["invalidity"] != _CORRECT or not result["correctness"]:
                continue
            runs = cast("Mapping[str, list[float]]", result["times"]).get("runtimes", [])
            yield _time_us(result, unit), cast("JsonObject", result["configuration"]), [r * _US[unit] for r in runs]
        except (KeyError, TypeError, StopIteration) as error:
            raise InvalidEntry(f"result {number}: expected a T4 result with a {_OBJECTIVE}: {error!r}") from error


def _time_us(result: Mapping[str, object], unit: str) -> float:
    objectives = cast("list[str]", result.get("objectives") or [_OBJECTIVE])
    measured = cast("list[Mapping[str, object]]", result["measurements"])
    found = next(each for each in measured if each["name"] == objectives[0] == _OBJECTIVE)
    return float(cast("float", found["value"])) * _US[str(found.get("unit") or unit)]


def _part(runs_us: list[float], part: float) -> float | None:
    """Return the sample below which this part of the samples is; None without samples."""
    return sorted(runs_us)[round(part * (len(runs_us) - 1))] if runs_us else None
