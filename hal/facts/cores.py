"""CPUs that this process may use, and which of them share a core, a cache or a memory node."""

import os
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

SYS = Path("/sys")


@dataclass(frozen=True, slots=True)
class LogicalCpu:
    """One CPU by its number in Linux. CPUs of one core have the same `core`; `node` is the NUMA node, None if
    unknown.
    """

    number: int
    core: int
    node: int | None


def usable_cpus(sys: Path = SYS) -> tuple[LogicalCpu, ...]:
    """Return the CPUs that this thread may run on, in order of number."""
    return tuple(_cpu(number, sys) for number in sorted(os.sched_getaffinity(0)))


def pinning_order(cpus: tuple[LogicalCpu, ...]) -> tuple[int, ...]:
    """Return the CPU numbers in the order that threads use them: each core once, node by node, then once more.

    Virtual machines often hide which CPUs share a core. If no two seem to, neighbours and CPUs half of all
    apart, the usual numberings of siblings, are not placed early together.
    """
    taken: dict[int, int] = {}
    ranked: list[tuple[int, int, bool, int]] = []
    hidden = len({cpu.core for cpu in cpus}) == len(cpus)
    for place, cpu in enumerate(cpus):
        turn = taken.get(cpu.core, 0)
        taken[cpu.core] = turn + 1
        ranked.append((turn, cpu.node or 0, hidden and _may_share(place, len(cpus)), cpu.number))
    return tuple(number for *_, number in sorted(ranked))


def _may_share(place: int, count: int) -> bool:
    """Return whether a CPU may share its core with one placed earlier, if neighbours or CPUs half of all apart do."""
    half = count // 2
    return bool(place % 2) if place < half else not (place - half) % 2


def folder_of(cpu: int, sys: Path = SYS) -> Path:
    """Return the sysfs folder of a CPU."""
    return sys / f"devices/system/cpu/cpu{cpu}"


def cpus_of_list(text: str) -> tuple[int, ...]:
    """Return the numbers in a list such as "0-3,8"; empty for anything else."""
    return tuple(chain.from_iterable(_range(part) for part in text.split(",")))


def _range(part: str) -> range:
    first, _, last = part.strip().partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        return range(0)
    return range(int(first), int(last or first) + 1)


def _cpu(number: int, sys: Path) -> LogicalCpu:
    folder = folder_of(number, sys)
    node = next(
        (int(name) for path in folder.glob("node*") if (name := path.name.removeprefix("node")).isdecimal()), None
    )
    return LogicalCpu(number, min(siblings(number, sys), default=number), node)


def siblings(cpu: int, sys: Path = SYS) -> tuple[int, ...]:
    """Return the CPUs of one core, whether or not this process may use them; empty if unknown."""
    return cpus_of_list(read(folder_of(cpu, sys) / "topology/thread_siblings_list"))


def read(path: Path) -> str:
    """Return the text of a file of /proc or /sys; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
