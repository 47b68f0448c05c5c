"""Kernels of an x-ray in tables: those with one problem together, and ours for it in the last row."""

from collections.abc import Iterator
from dataclasses import dataclass

from service.api.xray.schemas import OursOut, XrayKernelOut, XrayOut
from service.text.kernel_names import labels

_STALLS = 2


@dataclass(frozen=True, slots=True)
class XrayRow:
    """One kernel; `ours` is the comparison that it stands for, None for a kernel of the file."""

    label: str
    kernel: XrayKernelOut
    ours: OursOut | None = None

    @property
    def stalls(self) -> tuple[tuple[str, float], ...]:
        """The reasons for which a thread waits most in an iteration of the K loop, with clocks."""
        pipeline = self.kernel.isa.pipeline
        return () if pipeline is None else tuple(_longest(pipeline.stalls)[:_STALLS])

    @property
    def all_stalls(self) -> str:
        """All reasons with their clocks, in words."""
        pipeline = self.kernel.isa.pipeline
        stalls = [] if pipeline is None else _longest(pipeline.stalls)
        return ", ".join(f"{reason} {clocks:,.0f}" for reason, clocks in stalls)

    @property
    def hiding(self) -> str:
        """Clocks of an iteration by threads on the engine, in words."""
        pipeline = self.kernel.isa.pipeline
        by_threads = {} if pipeline is None else pipeline.clocks_by_threads
        return ", ".join(f"{threads}: {clocks:,.0f}" for threads, clocks in by_threads.items())


@dataclass(frozen=True, slots=True)
class XrayGroup:
    """Kernels of one table. `ours` is the comparison, None for kernels that are compared with nothing."""

    rows: tuple[XrayRow, ...]
    ours: OursOut | None

    @property
    def all_rows(self) -> tuple[XrayRow, ...]:
        """The kernels, and ours."""
        return self.rows if self.ours is None else (*self.rows, XrayRow("ours", self.ours.kernel, self.ours))


@dataclass(frozen=True, slots=True)
class XrayView:
    """An x-ray. `notes` are sentences on what is not shown."""

    file: str
    count: int
    groups: tuple[XrayGroup, ...]
    notes: tuple[str, ...]


def xray_view(found: XrayOut) -> XrayView:
    """Return the tables of an x-ray."""
    groups = [XrayGroup(_of(found, number), own) for number, own in enumerate(found.ours)]
    groups.append(XrayGroup(_of(found, None), None))
    shown = tuple(group for group in groups if group.rows)
    return XrayView(found.file, len(found.kernels), shown, tuple(_notes(found)))


def _of(found: XrayOut, ours: int | None) -> tuple[XrayRow, ...]:
    kernels = [kernel for kernel in found.kernels if kernel.ours == ours]
    names = labels([kernel.name for kernel in kernels])
    return tuple(XrayRow(label, kernel) for label, kernel in zip(names, kernels, strict=True))


def _longest(stalls: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(((reason, clocks) for reason, clocks in stalls.items() if clocks >= 1), key=lambda s: -s[1])


def _notes(found: XrayOut) -> Iterator[str]:
    yield from found.notes
    if found.more:
        yield f"{found.more:,} more kernels are not shown: raise the limit, or choose by name and device"
    if found.other_binaries:
        yield f"{found.other_binaries:,} binaries are for other GPUs"
    if found.compressed:
        yield f"{found.compressed:,} places may hold compressed code, which the service cannot read: it lacks zstandard"
    yield from (f"not compiled: {failure}" for failure in found.failures)
