"""The on-disk cache of Triton's autotuner (`@triton.autotune(..., cache_results=True)` or TRITON_CACHE_AUTOTUNING=1).

An entry is FOLDER/KEY/NAME.autotune.json, where KEY hashes Triton, the target, the kernel's source, the environment,
the tuning key and the configurations, but not the driver. Source: triton 3.9, runtime/autotuner.py, check_disk_cache.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from xetune_client import models
from xetune_client.tuners.stated import InvalidEntry, JsonObject, Stated, read_object, write_object

TUNER = "triton"
_SUFFIX = ".autotune.json"
_KEY = re.compile(r"[A-Za-z0-9]{20,100}")
_NAME = re.compile(r"\w{1,150}", re.ASCII)
_US_A_MS = 1e3


def entries(folder: Path) -> Iterator[Path]:
    """Yield the entries of a cache, TRITON_CACHE_DIR or ~/.triton/cache, in the order of their names."""
    yield from sorted(path for path in folder.glob(f"*/*{_SUFFIX}") if _KEY.fullmatch(path.parent.name))


def record(path: Path, stated: Stated) -> models.RecordBody:
    """Return an entry as a record: the fastest configuration, and the entry as its document.

    Configurations that failed have an infinite time, which JSON does not have; they are left out: Triton's choice is
    the same without them.

    Raises:
        InvalidEntry: it is no entry, or every configuration failed.
    """
    content = read_object(path)
    try:
        timings = cast("list[tuple[JsonObject, float | list[float]]]", content["configs_timings"])
        finite = [(config, timed) for config, timed in timings if all(map(math.isfinite, _listed(timed)))]
        key, (config, timed) = content["key"], min(finite, key=lambda each: _listed(each[1]))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidEntry(f"{path}: expected the key and a finite time of Triton's autotuner: {error!r}") from error
    return models.RecordBody(
        tuner=TUNER,
        kernel=path.name.removesuffix(_SUFFIX),
        problem={"key": key, "cache_key": path.parent.name},
        device=stated.device,
        versions=dict(stated.versions),
        config=config,
        document={"key": key, "configs_timings": list(map(list, finite))},
        time_us=_listed(timed)[0] * _US_A_MS,
        origin=stated.origin,
    )


def restore(found: models.RecordOut, folder: Path) -> Path:
    """Write the entry of a record into a cache and return its path.

    Raises:
        InvalidEntry: the record is none of Triton's cache.
    """
    key = found.problem.get("cache_key")
    if not (isinstance(key, str) and _KEY.fullmatch(key) and _NAME.fullmatch(found.kernel) and found.document):
        raise InvalidEntry(f"record {found.id}: expected an entry of Triton's cache, got {found.kernel!r}, {key!r}")
    path = folder / key / f"{found.kernel}{_SUFFIX}"
    write_object(path, found.document)
    return path


def _listed(timed: "float | list[float]") -> list[float]:
    """Return the median, and the quantiles where Triton measured them, in ms."""
    return timed if isinstance(timed, list) else [timed]
