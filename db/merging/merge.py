"""Takes the results of another database into this one, within a transaction of the caller."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, func, inspect, select
from sqlalchemy.orm import Session, joinedload, selectinload

from db.merging import beginnings, dependents, evidence, sets
from db.merging.evidence import Decision, decide
from db.merging.rows import Copier, agree, differ, facts, fill
from db.queries import (
    jobs,
    predictions,
)
from db.queries.insert import insert_missing
from db.schema import (
    ACTIVE_STATUSES,
    Artifact,
    Change,
    Coordinator,
    Device,
    IdempotentAnswer,
    Job,
    JobImport,
    Kernel,
    KernelImport,
    Measurement,
    Presence,
    Problem,
    ReachedDevice,
    RecordedTrial,
    Recording,
    ResultChange,
    ShapeSetRun,
    Trial,
)
from db.schema.base import (
    Base,
    new_id,
)

_RUNNING = {Change, Coordinator, IdempotentAnswer, Presence, ReachedDevice, ResultChange, ShapeSetRun}
"""Tables by which an installation runs: of no use to another one."""

_OF_HERE = "request_hash", "idempotency_key", "worker", "lease_until", "attempts", "cancel_requested"


@dataclass(frozen=True, slots=True)
class Merged:
    """What came, what was here, and what stayed there.

    `running` are jobs that are not over there, `busy` those that are over there and not here, which stay as they are.
    `staying_sets` are sets of shapes that are not over there, or of which a job is not over, or is of another set here.
    `left` counts rows of tables that hold no results, by table, but not those by which an installation runs.
    """

    jobs: int
    trials: int
    kernels: int
    devices: int
    recordings: int
    shape_sets: int
    known_jobs: int
    running: tuple[UUID, ...]
    busy: tuple[UUID, ...]
    staying_sets: tuple[UUID, ...]
    left: dict[str, int]
    decisions: tuple[Decision, ...]


def needed_artifacts(there: Session) -> dict[str, int]:
    """Files of the kernels that would come, SHA-256 and size."""
    of = select(Trial.kernel_id).join(Trial.job).where(Job.status.not_in(ACTIVE_STATUSES))
    query = select(Artifact.sha256, Artifact.size).where(Artifact.kernel_id.in_(of)).order_by(Artifact.sha256)
    return dict(there.execute(query).all())


def merge(here: Session, there: Session, origin: str) -> Merged:
    """Bring the jobs that are over `there`, with their trials and kernels, to `here`; nothing is written there.

    Files of kernels are here already. `origin` names the other database in what comes from it.
    """
    return _Merge(here, there, origin).run()


class _Merge:
    def __init__(self, here: Session, there: Session, origin: str) -> None:
        self._here, self._there, self._origin = here, there, origin
        self._devices: dict[object, int] = {}
        self._problems: dict[object, int] = {}
        self._kernels: dict[object, UUID] = {}
        self._trials: dict[object, int] = {}
        self._recorded: dict[object, int] = {}
        self._members: dict[object, int] = {}
        found = {
            "device": self._devices.get,
            "problem": self._problems.get,
            "job": _itself,
            "recording": _itself,
            "recorded_trial": self._recorded.get,
            "shape_set": _itself,
            "shape_set_member": self._members.get,
            "kernel": self._kernels.get,
            "trial": self._trials.get,
            "measurement": self._trials.get,
            "prediction": self._trials.get,
        }
        self._copier = Copier(here, found)
        self._count: Counter[str] = Counter()
        self._decisions: list[Decision] = []
        self._busy: list[UUID] = []
        self._new_jobs: set[UUID] = set()
        self._last_trial = here.scalar(select(func.max(Trial.id))) or 0  # of those that were here before
        self._known_kernels: set[UUID | None] = set()
        self._new_kernels: set[UUID] = set()
        self._new_trials: set[int] = set()
        self._known_jobs: set[UUID] = set()
        self._agreeing: set[int] = set()  # trials there that say what those here do, or more
        self._replaced: set[int] = set()
        self._touched: set[tuple[int, str]] = set()

    def run(self) -> Merged:
        for job in self._there.scalars(_over()):
            self._device(job.device)
            self._problem(job.problem)
            self._job(job)
        self._recordings()
        self._copier.finish()
        taken = {"job": self._new_jobs, "trial": self._new_trials, "kernel": self._new_kernels}
        known: dict[str, dict[object, object]] = {
            "job": {job: job for job in self._known_jobs},
            "trial": {trial: self._trials[trial] for trial in self._agreeing},
        }
        dependents.copy(self._here, self._there, self._copier, taken, self._replaced, known)
        beginnings.copy(self._here, self._there, self._copier, self._new_jobs | self._known_jobs)
        over = set(self._there.scalars(select(Job.id).where(Job.status.not_in(ACTIVE_STATUSES)))) - set(self._busy)
        came, staying = sets.copy(self._here, self._there, self._copier, self._members, over)
        for problem_id, slug in sorted(self._touched):
            predictions.judge(self._here, problem_id, slug)
        running = select(Job.id).where(Job.status.in_(ACTIVE_STATUSES)).order_by(Job.id)
        return Merged(
            self._count["jobs"],
            self._count["trials"],
            self._count["kernels"],
            self._count["devices"],
            self._count["recordings"],
            came,
            self._count["known"],
            tuple(self._there.scalars(running)),
            tuple(self._busy),
            tuple(staying),
            dict(self._left()),
            tuple(self._decisions),
        )

    def _device(self, theirs: Device) -> None:
        if theirs.id in self._devices:
            return
        same = select(Device).where(Device.slug == theirs.slug, Device.driver == theirs.driver)
        ours = self._here.scalars(same).first()
        if ours is None:
            ours = Device(**self._copier.values(theirs))
            self._here.add(ours)
            self._count["devices"] += 1
        elif facts(ours, "created_at") != facts(theirs, "created_at"):
            what = f"device {ours.slug} with driver {ours.driver or 'unknown'}"
            if self._decide(what, evidence.of_device(ours), evidence.of_device(theirs)) == "there":
                _overwrite(ours, facts(theirs))
        self._here.flush()
        self._devices[theirs.id] = ours.id

    def _problem(self, theirs: Problem) -> None:
        if theirs.id not in self._problems:
            insert_missing(self._here, Problem, self._copier.values(theirs))
            of_key = select(Problem.id).where(Problem.key == theirs.key)
            self._problems[theirs.id] = self._here.scalars(of_key).one()

    def _job(self, theirs: Job) -> None:
        ours = jobs.get(self._here, theirs.id)
        if ours is not None and ours.status in ACTIVE_STATUSES:
            self._busy.append(ours.id)
            return
        found = list(self._there.scalars(_ended(theirs.id)))
        if ours is None:
            self._add_job(theirs)
            self._add_trials([(trial, trial.number) for trial in found])
        else:
            self._same_job(ours, theirs, found)

    def _add_job(self, theirs: Job) -> None:
        values = self._copier.values(theirs)
        key = values["idempotency_key"]
        if key is not None and jobs.by_idempotency_key(self._here, str(key)) is not None:
            values["idempotency_key"] = None  # a client of this database has it
        self._copier.put(Job(**values), theirs)
        self._here.flush()
        imported = theirs.imported
        origin = self._origin if imported is None else imported.origin
        self._here.add(JobImport(job_id=theirs.id, origin=origin))
        self._count["jobs"] += 1
        self._new_jobs.add(theirs.id)
        self._touch(theirs)

    def _same_job(self, ours: Job, theirs: Job, found: list[Trial]) -> None:
        """A job that is here too: its trials are brought together, the job itself is as the better side has it.

        What only one side says of it is kept.
        """
        mine = {trial.config_hash: trial for trial in self._here.scalars(_ended(ours.id))}
        before = evidence.of_job(ours, list(mine.values())), evidence.of_job(theirs, found)
        same = [(mine[trial.config_hash], trial) for trial in found if trial.config_hash in mine]
        new = [trial for trial in found if trial.config_hash not in mine]
        taken = [self._same_trial(ours, theirs, *pair) for pair in same]
        numbers = {trial.number for trial in mine.values()}
        self._add_trials(_numbered(new, numbers))
        compared_here = ours.compared_best_us is not None
        differs = differ(ours, theirs, *_OF_HERE)
        if differs and self._decide(f"job {ours.id}", *before) == "there":
            _overwrite(ours, facts(theirs, *_OF_HERE))
            ours.cancel_requested = theirs.cancel_requested
            ours.attempts = max(ours.attempts, theirs.attempts)
            self._take_best(ours, theirs)
        elif not differs:
            fill(ours, theirs, *_OF_HERE)
            if not compared_here:
                self._take_best(ours, theirs)
        if ours.imported is not None and theirs.imported is None:
            ours.imported.origin = self._origin
        self._known_jobs.add(theirs.id)
        self._count["known"] += 1
        if any(taken) or new or differs:
            self._here.flush()
            self._touch(theirs)
            if ours.compared_best_us is None:
                jobs.update_best(self._here, ours.id)

    def _take_best(self, ours: Job, theirs: Job) -> None:
        """The winner of a comparison in turns is that of the side whose comparison is kept."""
        if theirs.compared_best_us is not None:
            ours.best_trial_id = self._trials.get(theirs.best_trial_id, ours.best_trial_id)

    def _same_trial(self, job: Job, their_job: Job, ours: Trial, theirs: Trial) -> bool:
        """Take the better version of a trial that is here; False if that is here."""
        self._trials[theirs.id] = ours.id
        if agree(ours, theirs):
            return self._fill_trial(ours, theirs)
        what = f"trial {ours.number} of job {ours.job_id}"
        if self._decide(what, evidence.of_trial(ours, job), evidence.of_trial(theirs, their_job)) == "here":
            return False
        self._kernel(theirs.kernel)
        proposer = theirs.proposer or ours.proposer
        _overwrite(ours, {k: v for k, v in self._copier.values(theirs).items() if k not in ("number", "job_id")})
        ours.proposer = proposer
        self._new_trials.add(theirs.id)
        self._replaced.add(ours.id)
        self._replace(ours.measurement, theirs.measurement)
        self._replace(ours.prediction, theirs.prediction)
        self._here.flush()
        return True

    def _fill_trial(self, ours: Trial, theirs: Trial) -> bool:
        """Take what a trial that is here leaves open, its kernel and that one's files too.

        True if a prediction came, which is to be judged.
        """
        fill(ours, theirs, "number")
        if ours.measurement is not None and theirs.measurement is not None:
            fill(ours.measurement, theirs.measurement)
        if theirs.kernel is not None and (ours.kernel is None or _binary(ours.kernel) == _binary(theirs.kernel)):
            self._kernel(theirs.kernel)
            ours.kernel_id = self._kernels[theirs.kernel.id]
        self._agreeing.add(theirs.id)
        if ours.prediction is None:
            self._replace(None, theirs.prediction)
        return ours.prediction is None and theirs.prediction is not None

    def _replace(self, old: Base | None, new: Base | None) -> None:
        """Take the times of the better version; what it does not say, such as a prediction, stays."""
        if old is not None and new is not None:
            _overwrite(old, facts(new))
        elif new is not None:
            self._here.add(type(new)(**self._copier.values(new)))

    def _add_trials(self, numbered: list[tuple[Trial, int]]) -> None:
        made: list[Trial] = []
        for theirs, number in numbered:
            self._kernel(theirs.kernel)
            made.append(Trial(**self._copier.values(theirs) | {"number": number}))
            self._copier.put(made[-1], theirs)
        self._here.flush()
        for (theirs, _), ours in zip(numbered, made, strict=True):
            self._trials[theirs.id] = ours.id
            self._new_trials.add(theirs.id)
            for row in (theirs.measurement, theirs.prediction):
                if row is not None:
                    self._copier.put(type(row)(**self._copier.values(row)), row)
        self._here.flush()
        for (theirs, _), ours in zip(numbered, made, strict=True):
            self._compare_times(theirs, ours)
        self._count["trials"] += len(made)

    def _compare_times(self, theirs: Trial, ours: Trial) -> None:
        """Say when a kernel that was here has another time in a job that came: both are measurements, both stay."""
        if theirs.measurement is None or ours.kernel_id not in self._known_kernels:
            return
        others = (
            select(Measurement.median_us)
            .join(Trial)
            .where(Trial.kernel_id == ours.kernel_id, Trial.id <= self._last_trial)
        )
        least = self._here.scalar(others.order_by(Measurement.median_us).limit(1))
        if least is not None and least != theirs.measurement.median_us:
            what, came = f"time of kernel {ours.kernel_id}", theirs.measurement.median_us
            because = (
                f"two measurements, {least:.4g} us here and {came:.4g} us in job {theirs.job_id}: the least is served"
            )
            self._decisions.append(Decision(what, "both", because))

    def _kernel(self, theirs: Kernel | None) -> None:
        if theirs is None or theirs.id in self._kernels:
            return
        self._device(theirs.device)
        self._problem(theirs.problem)
        values = self._copier.values(theirs)
        if self._here.get(Kernel, theirs.id) is not None:
            values["id"] = new_id()
        added = insert_missing(self._here, Kernel, values)
        same = {name: values[name] for name in ("device_id", "compile_key", "content_hash")}
        ours = self._here.scalars(select(Kernel).filter_by(**same).options(selectinload(Kernel.artifacts))).one()
        self._kernels[theirs.id] = ours.id
        if added:
            origin = self._origin if theirs.imported is None else theirs.imported.origin
            self._here.add(KernelImport(kernel_id=ours.id, origin=origin))
            self._new_kernels.add(theirs.id)
            self._count["kernels"] += 1
        else:
            self._known_kernels.add(ours.id)
        self._files(ours, theirs)

    def _files(self, ours: Kernel, theirs: Kernel) -> None:
        """Files that a kernel lacks here come; of two of one name the newer kernel's stays."""
        mine = {file.name: file for file in ours.artifacts}
        for file in theirs.artifacts:
            same = mine.get(file.name)
            if same is None:
                insert_missing(self._here, Artifact, self._copier.values(file))
            elif same.sha256 != file.sha256 and ours.created_at < theirs.created_at:
                _overwrite(same, facts(file))
                what = f"{file.name} of kernel {ours.id}"
                self._decisions.append(Decision(what, "there", "its kernel is newer"))
            elif same.sha256 != file.sha256:
                self._decisions.append(Decision(f"{file.name} of kernel {ours.id}", "here", "its kernel is newer"))

    def _recordings(self) -> None:
        """Recordings that are not here: what they say is their identity, so none contradicts another."""
        loads = joinedload(Recording.device), joinedload(Recording.problem), selectinload(Recording.tried)
        for theirs in self._there.scalars(select(Recording).options(*loads).order_by(Recording.id)):
            self._device(theirs.device)
            self._problem(theirs.problem)
            if insert_missing(self._here, Recording, self._copier.values(theirs)):
                self._here.add_all(RecordedTrial(**self._copier.values(tried)) for tried in theirs.tried)
                self._count["recordings"] += 1
                self._here.flush()
            same = (
                select(RecordedTrial.number, RecordedTrial.id).join(Recording).where(Recording.digest == theirs.digest)
            )
            numbers = dict(self._here.execute(same).all())
            self._recorded |= {tried.id: numbers[tried.number] for tried in theirs.tried}

    def _decide(self, what: str, ours: evidence.Rank, theirs: evidence.Rank) -> str:
        self._decisions.append(decide(what, ours, theirs))
        return self._decisions[-1].kept

    def _touch(self, theirs: Job) -> None:
        self._touched.add((self._problems[theirs.problem_id], theirs.device.slug))

    def _left(self) -> Iterator[tuple[str, int]]:
        unsaid = dependents.tables() | {model.__tablename__ for model in _RUNNING}
        for table in Base.metadata.sorted_tables:
            if table.name not in unsaid and (count := self._there.scalar(select(func.count()).select_from(table))):
                yield table.name, count


def _itself(identifier: object) -> object:
    return identifier


def _binary(kernel: Kernel) -> tuple[str, str]:
    return kernel.compile_key, kernel.content_hash


def _over() -> Select[Job]:
    loads = joinedload(Job.problem), joinedload(Job.device), joinedload(Job.imported)
    return select(Job).where(Job.status.not_in(ACTIVE_STATUSES)).options(*loads).order_by(Job.id)


def _ended(job_id: UUID) -> Select[Trial]:
    kernel = joinedload(Trial.kernel)
    loads = (
        joinedload(Trial.measurement).joinedload(Measurement.key),
        joinedload(Trial.prediction),
        kernel.joinedload(Kernel.device),
        kernel.joinedload(Kernel.problem),
        kernel.joinedload(Kernel.imported),
        kernel.selectinload(Kernel.artifacts),
    )
    query = select(Trial).where(Trial.job_id == job_id, Trial.status != "pending")
    return query.options(*loads).order_by(Trial.number)


def _numbered(trials: list[Trial], taken: set[int]) -> list[tuple[Trial, int]]:
    """Trials under their own numbers, or where those are taken under the next that are free."""
    made: list[tuple[Trial, int]] = []
    for trial in trials:
        number = trial.number if trial.number not in taken else max(taken) + 1
        taken.add(number)
        made.append((trial, number))
    return made


def _overwrite(row: Base, values: dict[str, object]) -> None:
    known = {attribute.key for attribute in inspect(type(row)).column_attrs}
    for name, value in values.items():
        if name in known:
            setattr(row, name, value)
