"""Reads a kernel, its evidence and the texts of its stages for the kernel page."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath

from sqlalchemy.orm import Session

from db import kernels
from db.models import Artifact, Kernel
from service.dashboard.evidence import ProofFigure, TimeFigure
from service.dashboard.highlight import Listing, listing
from service.dashboard.jobs.trials import proof_figure
from service.dashboard.kernels.rows import NO_PROOF, identity
from service.dashboard.naming import config_pairs, problem_label, problem_pairs
from service.dashboard.trial_time import trial_figure
from service.errors import NotFound
from service.kernels.service import telling_trials
from service.launch import Launch, read_launch

ReadArtifact = Callable[[str], bytes | None]
"""The bytes kept under a SHA-256 in hex; None when the file is gone or damaged."""

_TITLES = {
    "xetile.mlir": "XeTile",
    "xegpu.mlir": "XeGPU",
    "subgroup.mlir": "XeGPU of a sub-group",
    "lanes.mlir": "Lanes",
    "deep-tiled.mlir": "The deep-tiled matmul, MLIR",
    "nest.ll": "Loops around the micro-kernel, LLVM IR",
    "llvm.ll": "LLVM IR",
    "kernel.h": "C header",
    "isa.asm": "Xe instructions",
}
_ORDER = (*_TITLES, "kernel.spv", "kernel.o", "kernel.json")


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


def find_kernel(session: Session, text: str) -> Kernel:
    """The kernel of an id.

    Raises:
        NotFound: there is none.
    """
    kernel_id = identity(text)
    kernel = None if kernel_id is None else kernels.get(session, kernel_id)
    if kernel is None:
        raise NotFound(f"No kernel has the id {text}.")
    return kernel


def kernel_page(session: Session, text: str, read: ReadArtifact) -> KernelPage:
    """The page of the kernel of an id.

    Raises:
        NotFound: there is none.
    """
    kernel = find_kernel(session, text)
    trial = telling_trials(session, [kernel.id]).get(kernel.id)
    return KernelPage(
        id=str(kernel.id),
        content_hash=kernel.content_hash,
        problem=problem_label(kernel.problem),
        target=kernel.target,
        problem_facts=tuple(problem_pairs(kernel.problem)),
        launch=read_launch(kernel.manifest),
        time=None if trial is None else trial_figure(trial, kernel.device.slug, kernel.problem),
        proof=NO_PROOF if trial is None else proof_figure(trial),
        status=None if trial is None else trial.status,
        reason=None if trial is None else trial.reason,
        config=tuple(config_pairs(kernel.config)),
        toolchain=tuple((name, str(v)) for name, v in kernel.toolchain.items()),
        stages=tuple(_stage(a, read) for a in sorted(kernel.artifacts, key=_position)),
        job_id=None if trial is None else str(trial.job_id),
        trial_number=None if trial is None else trial.number,
        created_at=kernel.created_at,
    )


def _position(artifact: Artifact) -> tuple[int, str]:
    return (_ORDER.index(artifact.name) if artifact.name in _ORDER else len(_ORDER), artifact.name)


def _stage(artifact: Artifact, read: ReadArtifact) -> Stage:
    is_text = artifact.name in _TITLES
    data = read(artifact.sha256) if is_text else None
    return Stage(
        title=_TITLES.get(artifact.name, artifact.name),
        file_name=artifact.name,
        nbytes=artifact.size,
        is_text=is_text,
        listing=None if data is None else listing(data.decode(errors="replace"), PurePath(artifact.name).suffix),
    )
