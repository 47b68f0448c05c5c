"""CPU time limit of the process's control groups.

Source: Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and Documentation/scheduler/sched-bwc.rst.
"""

from collections.abc import Iterator
from pathlib import Path

from hal.facts.cores import read

_ROOT = "fs/cgroup"


def cpu_quota(proc: Path, sys: Path) -> float | None:
    """Return the number of CPUs that the process may keep busy, by its tightest control group; None without a limit."""
    lines = (line.split(":", 2) for line in read(proc / "self/cgroup").splitlines())
    groups = [(controllers.split(","), path) for _, controllers, path in lines]
    quotas = [quota for controllers, path in groups for quota in _quotas(sys / _ROOT, controllers, path)]
    return min(quotas, default=None)


def _quotas(root: Path, controllers: list[str], path: str) -> Iterator[float]:
    """Yield the limits of a group and its ancestors; a container sees its own group as the root."""
    if controllers == [""]:
        places, limit = (root, root / "unified"), _limit
    elif "cpu" in controllers:
        places, limit = (root / ",".join(controllers), root / "cpu"), _limit_of_version_1
    else:
        return
    inside = Path(path.lstrip("/"))
    for place in dict.fromkeys(places):
        for group in (inside, *inside.parents):
            quota = limit(place / group)
            if quota is not None:
                yield quota


def _limit(group: Path) -> float | None:
    return _share(*read(group / "cpu.max").split())


def _limit_of_version_1(group: Path) -> float | None:
    return _share(read(group / "cpu.cfs_quota_us"), read(group / "cpu.cfs_period_us"))


def _share(quota: str = "", period: str = "") -> float | None:
    """Return the microseconds of quota per microsecond of period; "max", or a negative number, is no limit."""
    if not (quota.isdecimal() and period.isdecimal() and int(period)):
        return None
    return int(quota) / int(period)
