"""Reads a kernel, its evidence and the texts of its stages for the kernel page."""

from collections.abc import Callable
from pathlib import PurePath
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from db.models import Artifact, Kernel
from service.dashboard.evidence import ProofFigure
from service.dashboard.highlight import listing
from service.dashboard.jobs.trials import proof_figure
from service.dashboard.naming import config_pairs, problem_label, problem_pairs
from service.dashboard.trial_time import trial_figure
from service.dashboard.views import KernelPage, Stage
from service.kernels.service import telling_trials
from service.launch import read_launch

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
_NO_PROOF = ProofFigure("none", 0, 0, None, None)


def kernel_page(session: Session, kernel_id: UUID, read: ReadArtifact) -> KernelPage | None:
    """The page of a kernel, or None when there is no such kernel."""
    query = (
        select(Kernel)
        .where(Kernel.id == kernel_id)
        .options(joinedload(Kernel.problem), joinedload(Kernel.device), selectinload(Kernel.artifacts))
    )
    kernel = session.scalars(query).one_or_none()
    if kernel is None:
        return None
    trial = telling_trials(session, [kernel_id]).get(kernel_id)
    return KernelPage(
        id=str(kernel.id),
        content_hash=kernel.content_hash,
        problem=problem_label(kernel.problem),
        target=kernel.target,
        problem_facts=tuple(problem_pairs(kernel.problem)),
        launch=read_launch(kernel.manifest),
        time=None if trial is None else trial_figure(trial, kernel.device.slug, kernel.problem),
        proof=_NO_PROOF if trial is None else proof_figure(trial),
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
