"""What pages show, as plain values; templates see nothing else."""

from dataclasses import dataclass
from datetime import datetime

from service.dashboard.evidence import ProofFigure, TimeFigure
from service.dashboard.highlight import Listing
from service.launch import Launch


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
