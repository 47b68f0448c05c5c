"""Native code of a kernel, from the counts in its isa.json."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

_FACTS = (
    ("registers of a thread", "grf_count", ""),
    ("threads per EU", "threads_per_eu", ""),
    ("spilled by a thread", "spill_bytes", "B"),
    ("shared local memory of a work-group", "slm_bytes", "B"),
    ("instructions", "instructions", ""),
)
_SENDS = ("loads", "prefetches", "stores", "atomics", "slm", "scratch", "barriers", "other")
_NAMES = {"slm": "shared local memory", "scratch": "spilled registers"}


@dataclass(frozen=True, slots=True)
class Count:
    """One count of one kernel; `value` is None where the compiler does not say it. `unit` is B or nothing."""

    name: str
    unit: str
    value: float | None


@dataclass(frozen=True, slots=True)
class CodeOfKernel:
    """The code of one kernel of a binary. The K loop's counts are of one turn, for one thread.

    `scoreboard` is the verdict on the software scoreboard, None if an instruction is not known.
    """

    kernel: str
    loop: str
    counts: tuple[Count, ...]
    scoreboard: str | None
    hazards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The code of a binary for a chip, and by which compiler with which options it was made."""

    chip: str
    compiler: str
    options: str
    kernels: tuple[CodeOfKernel, ...]


def read_report(data: bytes | None) -> CodeReport | None:
    """Return the report in isa.json; None if it is missing or unreadable."""
    try:
        document = None if data is None else _mapping(json.loads(data))
    except ValueError:
        return None
    if not document:
        return None
    chip, compiler = (str(document.get(name) or "not recorded") for name in ("chip", "compiler"))
    kernels = tuple(_kernel(_mapping(each)) for each in _list(document.get("kernels")))
    return CodeReport(chip, compiler, str(document.get("options") or ""), kernels)


def _kernel(entry: Mapping[str, object]) -> CodeOfKernel:
    loop = _mapping(entry.get("k_loop"))
    kind = "no DPAS" if not loop else "a loop" if loop.get("is_loop") is True else "unrolled whole"
    counts = [Count(name, unit, _number(entry.get(key))) for name, key, unit in _FACTS]
    scoreboard = _mapping(entry.get("scoreboard"))
    return CodeOfKernel(
        str(entry.get("kernel", "unknown")),
        kind,
        (*counts, *_loop_counts(loop)),
        str(scoreboard["verdict"]) if "verdict" in scoreboard else None,
        tuple(map(str, _list(scoreboard.get("hazards")))),
    )


def _loop_counts(loop: Mapping[str, object]) -> Iterator[Count]:
    if not loop:
        return
    sends = _mapping(loop.get("sends"))
    known = [(name, _number(sends.get(name))) for name in _SENDS]
    yield Count("K loop: DPAS", "", _number(loop.get("dpas")))
    yield Count("K loop: messages (sends)", "", sum(value or 0 for _, value in known))
    for name, value in known:
        yield Count(f"K loop: sends, {_NAMES.get(name, name)}", "", value)
    yield Count("K loop: moves", "", _number(loop.get("moves")))
    yield Count("K loop: scalar moves", "", _number(loop.get("scalar_moves")))
    yield Count("K loop: sends for 256 DPAS", "", _number(loop.get("sends_per_256_dpas")))
    yield Count("K loop: moves for 256 DPAS", "", _number(loop.get("moves_per_256_dpas")))
    yield Count("K loop: loaded for a DPAS", "B", _number(loop.get("loaded_bytes_per_dpas")))


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
