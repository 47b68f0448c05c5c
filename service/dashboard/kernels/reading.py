"""Reads a kernel for its page: what it rests on, how it is launched, the texts of its stages."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import InvalidConfig, InvalidProblem
from db.queries.results import kernels
from db.schema.kernel import Kernel
from db.schema.trial import Trial
from service.api.hostcode.schemas import HostCodeOut
from service.api.hostcode.service import list_host_code
from service.dashboard.evidence import ProofFigure, TimeFigure, headline_figure
from service.dashboard.jobs.bounds import Bounds, Roof, bounds_of, roof_of
from service.dashboard.jobs.reading import find_job
from service.dashboard.jobs.rows import reported_times_of_trial
from service.dashboard.jobs.trials import proof_figure
from service.dashboard.kernels.code import CodeReport, read_report
from service.dashboard.kernels.picture import Picture, draw
from service.dashboard.kernels.rows import NO_PROOF, KernelRow
from service.dashboard.kernels.runners_up import runners_up
from service.dashboard.kernels.stages import ReadArtifact, Stage, chosen, in_order, stage, texts
from service.dashboard.kernels.tiling import Level, Tiling, tiling_of
from service.dashboard.naming import config_pairs, problem_label, problem_pairs
from service.dashboard.problem_filter import identity
from service.dashboard.problems.rows import pair_href
from service.device_json import spec_from_json
from service.errors import Conflict, NotFound
from service.evidence import measuring_trial
from service.gemm_json import config_from_json, problem_from_json
from service.job_summary import ReportedTimes
from service.manifest_reader import (
    Launch,
    read_launch,
)


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A file to save."""

    name: str
    nbytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class KernelPage:
    """A kernel: how to launch it, what it rests on, and every stage that made it.

    `conditions` are of its measurement, or of its prediction; `no_host_code` says why there is none. `reported_times`
    are those of its trial and of its job's default; `won` if the trial is the best of the job.
    """

    id: str
    content_hash: str
    compile_key: str
    problem: str
    problem_href: str
    target: str
    device: str
    driver: str
    origin: str | None
    withdrawn: str | None
    withdrawn_at: datetime | None
    problem_facts: tuple[tuple[str, str], ...]
    launch: Launch
    time: TimeFigure | None
    proof: ProofFigure
    roof: Roof | None
    bounds: Bounds | None
    reported_times: ReportedTimes | None
    won: bool
    status: str | None
    reason: str | None
    config: tuple[tuple[str, str], ...]
    toolchain: tuple[tuple[str, str], ...]
    conditions: tuple[tuple[str, str], ...]
    proposer: str | None
    pictures: tuple[Picture, ...]
    levels: tuple[Level, ...]
    code: CodeReport | None
    host_code: tuple[HostCodeOut, ...]
    no_host_code: str | None
    stages: tuple[Stage, ...]
    stage_names: tuple[str, ...]
    files: tuple[KernelFile, ...]
    runners_up: tuple[KernelRow, ...]
    job_id: str | None
    trial_number: int | None
    created_at: datetime

    def toggled(self, name: str) -> str:
        """The address of the page with that stage too, or without it."""
        shown = [each.file_name for each in self.stages]
        names = [n for n in self.stage_names if (n in shown) != (n == name)]
        return f"/kernels/{self.id}?stages={','.join(names)}#stages"


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


def kernel_page(session: Session, kernel: Kernel, read: ReadArtifact, stages: str = "") -> KernelPage:
    """The page of a kernel, with those stages side by side, commas between their names."""
    trial = kernels.telling_trials(session, [kernel.id], judges=True).get(kernel.id)
    time = None if trial is None else headline_figure(trial, kernel.device.slug, kernel.problem)
    job = None if trial is None else find_job(session, str(trial.job_id))
    time_us = None if time is None else time.time_us
    names, of_name = texts(kernel.artifacts), {a.name: a for a in kernel.artifacts}
    tiling, (host_code, refusal) = read_tiling(kernel), _host_code(session, kernel.id)
    return KernelPage(
        id=str(kernel.id),
        content_hash=kernel.content_hash,
        compile_key=kernel.compile_key,
        problem=problem_label(kernel.problem),
        problem_href=pair_href(kernel.problem, kernel.device.slug),
        target=kernel.target,
        device=kernel.device.slug,
        driver=kernel.device.driver,
        origin=kernel.origin,
        withdrawn=kernel.withdrawn,
        withdrawn_at=kernel.withdrawn_at,
        problem_facts=tuple(problem_pairs(kernel.problem)),
        launch=read_launch(kernel.manifest),
        time=time,
        proof=NO_PROOF if trial is None else proof_figure(trial),
        roof=None if job is None else roof_of(job, time_us),
        bounds=None if job is None else bounds_of(job, trial, time_us),
        reported_times=None if job is None or trial is None else reported_times_of_trial(session, job, trial),
        won=job is not None and trial is not None and job.best_trial_id == trial.id,
        status=None if trial is None else trial.status,
        reason=None if trial is None else trial.reason,
        config=tuple(config_pairs(kernel.config)),
        toolchain=tuple((name, str(v)) for name, v in kernel.toolchain.items()),
        conditions=() if trial is None else tuple(conditions(trial).items()),
        proposer=None if trial is None else trial.proposer,
        pictures=() if tiling is None else tuple(draw(zoom) for zoom in tiling.zooms),
        levels=() if tiling is None else tiling.levels,
        code=read_code(kernel, read),
        host_code=host_code,
        no_host_code=refusal,
        stages=tuple(stage(of_name[name], read) for name in chosen(names, stages)),
        stage_names=tuple(names),
        files=tuple(KernelFile(a.name, a.size, a.sha256) for a in in_order(kernel.artifacts)),
        runners_up=tuple(runners_up(session, kernel, time)),
        job_id=None if trial is None else str(trial.job_id),
        trial_number=None if trial is None else trial.number,
        created_at=kernel.created_at,
    )


def read_tiling(kernel: Kernel) -> Tiling | None:
    """Return the tiling of a kernel; None for a row that this version cannot read."""
    try:
        problem, config = problem_from_json(kernel.problem.definition), config_from_json(kernel.config)
    except (InvalidProblem, InvalidConfig):
        return None
    try:
        spec = spec_from_json(kernel.device.spec)
    except ValueError:
        spec = None
    return tiling_of(problem, config, spec)


def read_code(kernel: Kernel, read: ReadArtifact) -> CodeReport | None:
    """Return the report on the native code, if an offline compiler made one."""
    sha256 = next((a.sha256 for a in kernel.artifacts if a.name == "isa.json"), None)
    return read_report(None if sha256 is None else read(sha256))


def conditions(trial: Trial) -> dict[str, str]:
    """Return the conditions of a measurement, or the model of a prediction."""
    by = measuring_trial(trial)
    if by is None or by.measurement is None:
        p = trial.prediction
        return (
            {} if p is None else {"model": p.model_version, "predicted at": f"{p.predicted_at:%Y-%m-%d %H:%M:%S} UTC"}
        )
    m = by.measurement
    told = {"samples": str(m.samples), "least": f"{m.min_us:,.3f} µs", "driver": m.driver or "not recorded"}
    told["measured at"] = f"{m.measured_at:%Y-%m-%d %H:%M:%S} UTC"
    if m.clock_mhz is not None:
        told["clock"] = f"{m.clock_mhz:,.0f} MHz"
    if m.stopped_early:
        told["stopped early"] = "it was clearly slower than the best"
    return told


def _host_code(session: Session, kernel_id: UUID) -> tuple[tuple[HostCodeOut, ...], str | None]:
    try:
        return tuple(list_host_code(session, kernel_id).host_code), None
    except Conflict as error:
        return (), error.detail
