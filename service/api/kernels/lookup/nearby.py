"""Tuned configurations of similar problems on a device, read once for all problems of a request."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, InvalidProblem, KernelConfig
from db.queries.results import warm_starts
from service.gemm_json import config_from_json, problem_from_json, problem_to_json
from tuner.search.warm_start import OF_A_JOB

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_MOST_JOBS = 1_000  # whose trials are cached: some 10 MB


@dataclass(frozen=True, slots=True)
class Tuned:
    """A verified trial of a job: its best, or one of the fastest. `measured`: it has a measured time. `content_hash`
    is that of its kernel; None if none is stored.
    """

    trial_id: int
    config: KernelConfig
    problem: GemmProblem
    measured: bool
    content_hash: str | None


@dataclass(frozen=True, slots=True)
class _Alike:
    """Jobs, the newest first; `log_sizes` has their log2 of M, N, K and batch in a row each."""

    jobs: Sequence[warm_starts.Near]
    log_sizes: "npt.NDArray[np.float64]"
    static: "npt.NDArray[np.bool_]"


class Nearby:
    """Cache for one device and one request; entries do not change."""

    def __init__(self) -> None:
        self._alike: dict[tuple[object, ...], _Alike] = {}
        self._tuned: OrderedDict[UUID, list[Tuned]] = OrderedDict()

    def jobs(
        self,
        session: Session,
        problem: GemmProblem,
        device: str,
        farthest: float | None,
        most: int,
        *,
        dynamic: bool = False,
    ) -> list[tuple[float, warm_starts.Near]]:
        """Return jobs of the nearest similar problems on a device (a slug), nearest first, with their
        distance in doublings.

        Jobs of problems that differ only in size, and of the problem itself, are similar; the caller decides
        about other differences. At equal distance the newer job comes first. `dynamic`: only jobs of dynamic
        problems.
        """
        # Imported here: lists of kernels, which import this module too, do without.
        import numpy as np

        types = problem_to_json(problem)
        key = tuple(types[name] for name in warm_starts.TYPES)
        alike = self._alike.get(key)
        if alike is None:
            jobs = warm_starts.alike(session, types, device)
            sizes = np.array([job.sizes for job in jobs], dtype=np.float64).reshape(-1, len(warm_starts.SIZES))
            alike = self._alike[key] = _Alike(
                jobs, np.log2(sizes), np.array([not job.dynamic for job in jobs], dtype=bool)
            )
        here = np.log2(np.array([problem.m, problem.n, problem.k, problem.batch], dtype=np.float64))
        far = np.sqrt(np.square(alike.log_sizes - here).sum(axis=1))
        allowed = np.inf if farthest is None else farthest
        if dynamic:
            far, allowed = np.where(alike.static, np.inf, far), min(allowed, np.finfo(np.float64).max)
        nearest = np.argsort(far, kind="stable")[:most]
        return [(float(far[place]), alike.jobs[place]) for place in nearest if far[place] <= allowed]

    def tuned(self, session: Session, jobs: Iterable[UUID]) -> dict[UUID, list[Tuned]]:
        """Return the best of each job, then its fastest verified trials, at most `OF_A_JOB`; without unreadable."""
        wanted = list(jobs)
        if left := [job for job in wanted if job not in self._tuned]:
            self._tuned |= _read(session, left)
        found = {job: self._tuned[job] for job in wanted}
        for job in found:
            self._tuned.move_to_end(job)
        while len(self._tuned) > _MOST_JOBS:
            self._tuned.popitem(last=False)
        return found


def _read(session: Session, jobs: Sequence[UUID]) -> dict[UUID, list[Tuned]]:
    rows = warm_starts.fastest_of(session, jobs, OF_A_JOB)
    rows_of = warm_starts.definitions(session, {row.problem_id for row in rows})
    problems: dict[int, GemmProblem | None] = {}
    found: dict[UUID, list[Tuned]] = {job: [] for job in jobs}
    for row in rows:
        if row.problem_id not in problems:
            problems[row.problem_id] = _problem(rows_of[row.problem_id].definition)
        problem = problems[row.problem_id]
        if problem is None:
            continue
        try:
            config = config_from_json(row.config)
            found[row.job_id].append(Tuned(row.trial_id, config, problem, row.measured, row.content_hash))
        except InvalidConfig:
            continue
    return found


def _problem(definition: dict[str, object]) -> GemmProblem | None:
    try:
        return problem_from_json(definition)
    except InvalidProblem:
        return None
