"""What pages show, as plain values; templates see nothing else."""

from dataclasses import dataclass
from datetime import datetime

from service.dashboard.evidence import ProofFigure, TimeEvidence, TimeFigure
from service.dashboard.highlight import Listing
from service.launch import Launch


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """One device. `present` means it can run work now, `targetable` that kernels can be compiled for it."""

    id: str
    name: str
    kind: str
    emulates: str | None
    present: bool
    targetable: bool
    note: str | None

    @property
    def times(self) -> TimeEvidence | None:
        """What a time for this device would be: no CPU has DPAS, so what one runs for GPUs alone is emulated."""
        if self.present:
            stands_in = self.kind == "cpu" and (self.emulates is not None or not self.targetable)
            return TimeEvidence.EMULATED if stands_in else TimeEvidence.MEASURED
        return TimeEvidence.PREDICTED if self.targetable else None


@dataclass(frozen=True, slots=True)
class Stage:
    """One file of a kernel. `listing` is None for bytes, and for a text whose file is gone or damaged."""

    title: str
    file_name: str
    nbytes: int
    is_text: bool
    listing: Listing | None


@dataclass(frozen=True, slots=True)
class KernelPage:
    """A kernel: how to launch it, what it rests on, and every stage that made it."""

    id: str
    content_hash: str
    problem: str
    target: str
    problem_facts: tuple[tuple[str, str], ...]
    launch: Launch
    time: TimeFigure | None
    proof: ProofFigure
    status: str | None
    reason: str | None
    config: tuple[tuple[str, str], ...]
    toolchain: tuple[tuple[str, str], ...]
    stages: tuple[Stage, ...]
    job_id: str | None
    trial_number: int | None
    created_at: datetime
