"""Reads a kernel, its evidence and the texts of its stages for the kernel page."""

from collections.abc import Callable, Mapping
from typing import cast
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload, selectinload

from db.models import Artifact, Kernel, Trial
from service.dashboard.evidence import ProofFigure, TimeFigure, measured, predicted
from service.dashboard.highlight import listing
from service.dashboard.history import proof_figure
from service.dashboard.naming import config_pairs, problem_flops, problem_label
from service.dashboard.views import ArgumentRow, KernelPage, Stage
from service.kernels.service import telling_trials

ReadArtifact = Callable[[str], bytes | None]
"""The bytes kept under a SHA-256 in hex; None when the file is gone or damaged."""

_TITLES = {"xetile.mlir": "XeTile", "xegpu.mlir": "XeGPU", "llvm.ll": "LLVM IR"}
_ORDER = (*_TITLES, "kernel.spv", "kernel.json")
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
    manifest = kernel.manifest
    return KernelPage(
        id=str(kernel.id),
        content_hash=kernel.content_hash,
        problem=problem_label(kernel.problem),
        target=kernel.target,
        entry=str(manifest.get("kernel", "")),
        arguments=tuple(_arguments(manifest)),
        global_size=tuple(str(v) for v in _list(manifest.get("global_size"))),
        global_size_formula=tuple(str(v) for v in _list(manifest.get("global_size_formula"))),
        local_size=tuple(str(v) for v in _list(manifest.get("local_size"))),
        subgroup_size=str(manifest.get("subgroup_size", "unknown")),
        build_options=tuple((api, str(v)) for api, v in _mapping(manifest.get("build_options")).items()),
        time=None if trial is None else _time(trial, kernel),
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


def _time(trial: Trial, kernel: Kernel) -> TimeFigure | None:
    flops = problem_flops(kernel.problem)
    if (m := trial.measurement) is not None:
        return measured(m.median_us, m.p10_us, m.p90_us, m.label, kernel.device.slug, flops)
    if (p := trial.prediction) is not None:
        return predicted(p.time_us, p.low_us, p.high_us, p.model_version, flops)
    return None


def _arguments(manifest: Mapping[str, object]) -> list[ArgumentRow]:
    rows: list[ArgumentRow] = []
    for position, entry in enumerate(_list(manifest.get("arguments"))):
        a = _mapping(entry)
        nbytes = a.get("bytes")
        size = nbytes if isinstance(nbytes, int) else None
        rows.append(ArgumentRow(position, str(a.get("name")), str(a.get("role")), str(a.get("dtype")), size))
    return rows


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
        listing=None if data is None else listing(data.decode(errors="replace")),
    )


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
