"""Differences between two kernels, by fact."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from db.schema.kernel import Kernel
from service.dashboard.kernels.code import CodeReport
from service.dashboard.naming import config_pairs, problem_label
from service.dashboard.units import count, exact, size
from service.manifest_reader import (
    Launch,
    read_launch,
)

NOTHING = "none"
NOT_COUNTED = "not counted"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact of both kernels; `change` is the ratio of the second number to the first, as text."""

    name: str
    left: str
    right: str
    change: str = ""

    @property
    def differs(self) -> bool:
        """True if the values differ."""
        return self.left != self.right


@dataclass(frozen=True, slots=True)
class Group:
    """A group of facts."""

    id: str
    title: str
    note: str
    facts: tuple[Difference, ...]

    @property
    def changed(self) -> tuple[Difference, ...]:
        """Facts that differ."""
        return tuple(fact for fact in self.facts if fact.differs)

    @property
    def same(self) -> tuple[Difference, ...]:
        """Facts that are equal."""
        return tuple(fact for fact in self.facts if not fact.differs)


def groups(left: Kernel, right: Kernel, codes: tuple[CodeReport | None, CodeReport | None]) -> list[Group]:
    """Return the groups: origin, configuration, launch, and code; `codes` are the reports on instructions."""
    return [
        Group("origin", "Where they come from", "", tuple(_pairs(_origin(left), _origin(right)))),
        Group("config", "Configuration", "", tuple(_pairs(*(dict(config_pairs(k.config)) for k in (left, right))))),
        Group("launch", "Launch", "", tuple(_pairs(_launch(left), _launch(right)))),
        Group(
            "code",
            "Code",
            "counted, not measured; a K loop's counts are of one turn, for one thread",
            tuple(_code(left, right, *codes)),
        ),
    ]


def _pairs(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*left, *right)):
        yield Difference(name, left.get(name, NOTHING), right.get(name, NOTHING))


def _origin(kernel: Kernel) -> dict[str, str]:
    facts = {
        "problem": problem_label(kernel.problem),
        "device": kernel.device.slug,
        "driver": kernel.device.driver or "not known",
        "compiled for": kernel.target,
        "compiled": exact(kernel.created_at),
        "imported from": NOTHING if kernel.origin is None else kernel.origin,
        "binary, SHA-256": kernel.content_hash,
    }
    return facts | {f"version of {name}": str(version) for name, version in kernel.toolchain.items()}


def _launch(kernel: Kernel) -> dict[str, str]:
    launch = read_launch(kernel.manifest)
    facts: dict[str, str] = {}
    for number, step in enumerate(launch.steps, 1):
        of = f"kernel {number}" if len(launch.steps) > 1 else "kernel"
        facts[of] = f"{step.kernel} of {', '.join(step.parameters) or 'nothing'}"
        if step.threads is not None:
            facts[f"{of}: threads"] = str(step.threads)
        else:
            facts[f"{of}: global size"] = " x ".join(step.global_size)
            facts[f"{of}: local size"] = " x ".join(step.local_size)
    return facts | dict(_of_all(launch))


def _of_all(launch: Launch) -> Iterator[tuple[str, str]]:
    if not launch.for_cpu:
        yield "sub-group size", launch.subgroup_size
    for api, options in launch.build_options:
        yield f"build options, {api.replace('_', ' ')}", options or NOTHING
    for path in launch.memory_paths:
        yield f"{path.matrix} moved by", path.by + (f": {path.because}" if path.because else "")
    for packed in launch.packing:
        yield f"{packed.matrix} packed", packed.when
    for argument in launch.arguments:
        if argument.role == "scratch" and argument.nbytes is not None:
            yield f"scratch {argument.name}", size(argument.nbytes)


def _code(left: Kernel, right: Kernel, of_left: CodeReport | None, of_right: CodeReport | None) -> Iterator[Difference]:
    yield from _numbers(_counts(of_left), _counts(of_right), NOT_COUNTED)
    yield from _numbers(_sizes(left), _sizes(right))


def _sizes(kernel: Kernel) -> dict[str, tuple[str, float]]:
    return {f"file {a.name}": ("B", float(a.size)) for a in kernel.artifacts}


def _counts(report: CodeReport | None) -> dict[str, tuple[str, float]]:
    if report is None:
        return {}
    return {
        (f"{kernel.kernel}, {each.name}" if len(report.kernels) > 1 else each.name): (each.unit, each.value)
        for kernel in report.kernels
        for each in kernel.counts
        if each.value is not None
    }


def _numbers(
    left: Mapping[str, tuple[str, float]], right: Mapping[str, tuple[str, float]], missing: str = NOTHING
) -> Iterable[Difference]:
    for name in dict.fromkeys((*left, *right)):
        (_, a), (_, b) = (known := left.get(name)) or ("", None), (other := right.get(name)) or ("", None)
        change = "" if a is None or b is None or a == b else f"{b / a:,.2f}x" if a else f"{b - a:+,g}"
        yield Difference(name, _number(known, missing), _number(other, missing), change)


def _number(found: tuple[str, float] | None, missing: str) -> str:
    if found is None:
        return missing
    unit, value = found
    shown = count(int(value)) if value == int(value) else f"{value:,.1f}"
    return f"{shown} {unit}".strip()
