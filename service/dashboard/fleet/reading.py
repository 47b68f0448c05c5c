"""Data of the page: for each device its sums over all periods, and its latest figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.api.fleet.schemas import FleetCell, FleetOut, GainOut
from service.dashboard.evidence import TimeEvidence


@dataclass(frozen=True, slots=True)
class LatestGain:
    """The median gain of the last period that has one."""

    evidence: TimeEvidence
    median: float
    jobs: int


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device over all periods. `off_by` and `gain` are of the last period that has them."""

    device: str
    jobs: int
    failed_jobs: int
    trials: int
    trials_per_hour: float | None
    failed_share: float | None
    off_by: float | None
    judged: int
    gain: LatestGain | None


def device_rows(found: FleetOut) -> list[DeviceRow]:
    """Return the devices, that with the most trials first."""
    by_device: dict[str, list[FleetCell]] = {}
    for cell in found.cells:
        by_device.setdefault(cell.device, []).append(cell)
    rows = [_row(device, cells) for device, cells in by_device.items()]
    return sorted(rows, key=lambda row: (-row.trials, row.device))


def _row(device: str, cells: Sequence[FleetCell]) -> DeviceRow:
    trials, seconds = sum(cell.trials for cell in cells), sum(cell.work_s for cell in cells)
    failed = sum((cell.failed_share or 0) * cell.trials for cell in cells)
    judged = next((cell for cell in reversed(cells) if cell.off_by is not None), None)
    gained = next((cell.gains for cell in reversed(cells) if cell.gains), [])
    return DeviceRow(
        device=device,
        jobs=sum(cell.jobs for cell in cells),
        failed_jobs=sum(cell.failed_jobs for cell in cells),
        trials=trials,
        trials_per_hour=trials / seconds * 3600 if seconds else None,
        failed_share=failed / trials if trials else None,
        off_by=None if judged is None else judged.off_by,
        judged=0 if judged is None else judged.judged,
        gain=_best_known(gained),
    )


def _best_known(gains: Sequence[GainOut]) -> LatestGain | None:
    """Return the gain with the strongest evidence."""
    by_evidence = {TimeEvidence(gain.evidence): gain for gain in gains}
    found = next((e for e in TimeEvidence if e in by_evidence), None)
    return None if found is None else LatestGain(found, by_evidence[found].median, by_evidence[found].jobs)
