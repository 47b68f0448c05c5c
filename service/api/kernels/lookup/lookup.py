"""Lookup of the kernel for a problem on a device, from the first of five sources that has an answer.

The order: tuned for this problem and valid; the same but stale; the nearest tuned problem on the same device;
the model; the heuristic's default. Measurements of another device are never an answer, and the time of
another problem is never presented as that of this one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from codegen import (
    GemmArtifact,
    GemmProblem,
    InvalidLaunch,
    KernelConfig,
    Refused,
)
from codegen.backend import (
    backend_of,
    check_kernel,
)
from codegen.workers.cache import CompileCache
from db.queries.results import kernels, warm_starts
from hal import DeviceSpec
from hal.devices.listed import ListedDevice
from service.api.kernels.launch_schemas import to_launch
from service.api.kernels.lookup import confidence as trust
from service.api.kernels.lookup.exact import (
    Found,
    exact_answers,
    time_text,
    what_helps,
)
from service.api.kernels.lookup.nearby import (
    Nearby,
    Tuned,
)
from service.api.kernels.lookup.schemas import (
    AnswerSource,
    ElsewhereOut,
    LookupOut,
)
from service.api.kernels.lookup.staleness import staleness
from service.api.kernels.service import describe as describe_kernel
from service.configurations import to_config_body
from service.errors import NextRequest, NotFound
from service.evidence import headline_of
from service.job_summary import known_by
from service.row_mapping import config_to_json
from service.schemas import TimeEvidence, to_body
from service.times import shown_us
from tuner.backend import tuning_for
from tuner.search.space_prediction import prediction_if_known
from tuner.search.warm_start import (
    MOST,
    Donor,
    adapted,
    epilogue_class,
    fitted,
)

FARTHEST = 2.0
"""Maximum distance of a nearby problem, in doublings of M, N, K and batch."""
_ASKED = 20  # winners of a problem, or problems nearby, that are considered

Compiled = Callable[[GemmProblem, KernelConfig], GemmArtifact | None]
"""Find a compiled kernel in the compile cache."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """One lookup within a transaction.

    `compiled` finds kernels whose launch is computed for other sizes; lookups on one device may share a
    `nearby`.
    """

    session: Session
    problem: GemmProblem
    device: ListedDevice
    now: datetime
    compiled: Compiled = lambda _problem, _config: None
    nearby: Nearby = field(default_factory=Nearby)

    def answer(self) -> LookupOut:
        """Return the answer of the first of the five sources that has one.

        Raises:
            NotFound: rule `no-kernel`: nothing is stored, and nothing can be compiled for the device or is
            legal on it.
        """
        exact = exact_answers(self.session, [self.problem], self.device, self.now)
        found = exact.get(self.problem.key)
        return self.fallback().answer if found is None else found.answer

    def fallback(self) -> Found:
        """Return the answer of the first of the last three sources that has one, for a problem that was never
        tuned; raises as `answer`.
        """
        if (nearest := self._nearest()) is not None:
            return nearest
        if (foreseen := self._foreseen()) is not None:
            return Found(foreseen, None)
        raise NotFound(
            f"no kernel is stored for {self.problem} on {self.device.spec.id}",
            rule="no-kernel",
            next_requests=self._what_helps(),
        )

    def _nearest(self) -> Found | None:
        """Return the best of the nearest problem on this device whose choices are legal for this problem."""
        near = self.nearby.jobs(self.session, self.problem, self.device.spec.id, FARTHEST, _ASKED)
        tuned = self.nearby.tuned(self.session, [job.job_id for _, job in near])
        for far, job in near:
            for found in tuned[job.job_id][:1]:
                if (answer := self._adapted(found, far)) is not None:
                    return answer
        return None

    def _adapted(self, found: Tuned, far: float) -> Found | None:
        source, config = found.problem, found.config
        if epilogue_class(source) != epilogue_class(self.problem):
            return None
        here = self._fitted(source, config)
        if here is None and not source.dynamic:
            return None
        trial = warm_starts.whole(self.session, found.trial_id)
        kernel = None if trial.kernel_id is None else kernels.get(self.session, trial.kernel_id)
        launched = None if kernel is None else self._launched(source, config)
        if launched is not None:
            here = launched.config
        if here is None:
            return None
        there = headline_of(trial).time
        measured = trial.measurement is not None
        stale = [] if kernel is None else staleness(kernel, trial, self.device.spec)
        base = trust.NEARBY_MEASURED if measured else trust.NEARBY_PREDICTED
        what = f"{'measured' if measured else 'predicted'} for a problem nearby on this device"
        against = [
            *trust.of_distance(far, source, self.problem),
            *trust.of_trial(trial, self.now),
            *trust.of_device(trial, self.device),
            *trust.of_job(trial),
            *trust.of_staleness(stale),
        ]
        time = self._predicted(here)
        at_there = "" if there is None else f"; for {source} it was {shown_us(there.value)}, {known_by(there)}"
        answer = LookupOut(
            source=AnswerSource.NEAREST,
            confidence=trust.confidence(base, what, against),
            kernel=None if kernel is None or launched is None else describe_kernel(kernel, trial),
            config=to_config_body(config_to_json(here)),
            launch=None if launched is None else to_launch(dict(backend_of(launched.config).manifest(launched))),
            time=time,
            time_text=(time_text(time) if time is not None else "unknown here") + at_there,
            elsewhere=ElsewhereOut(
                problem=to_body(source),
                distance=round(far, 4),
                kernel_id=trial.kernel_id,
                job=trial.job_id,
                trial=trial.number,
                time=there,
            ),
            next=self._what_helps(),
        )
        return Found(answer, trust.same_until(trial, self.now))

    def _fitted(self, source: GemmProblem, config: KernelConfig) -> KernelConfig | None:
        """Return the configuration with its choices applied to this problem; None if a rule refuses it."""
        try:
            return adapted(config, source, self.problem, self.device.spec)
        except Refused:
            return None

    def _launched(self, source: GemmProblem, config: KernelConfig) -> GemmArtifact | None:
        """Return the dynamic kernel launched with these sizes; None if it does not support them, or is not
        cached.
        """
        if not source.dynamic:
            return None
        artifact = self.compiled(source, config)
        if artifact is None:
            return None
        from codegen.artifact.launch import kernel_for  # imports xDSL, which other lookups do without

        try:
            return kernel_for(artifact, self.problem, self.device.spec)
        except (InvalidLaunch, Refused):
            return None

    def _foreseen(self) -> LookupOut | None:
        """Return the configuration that the model predicts to be the fastest of the candidates and the
        default; else the default.
        """
        spec = self.device.spec
        if not self.device.targetable:
            return None
        try:
            default = tuning_for(spec).default(self.problem, spec)
        except Refused:
            return None
        times = [(time.value, place, config, time) for place, config, time in self._ranked(default)]
        if len(times) > 1:
            _, _, config, time = min(times, key=lambda entry: entry[:2])
            base = trust.MODEL, f"the least predicted time of {len(times)} configurations; not compiled, not verified"
            return self._unverified(AnswerSource.MODEL, config, time, base)
        time = times[0][-1] if times else None
        base = trust.HEURISTIC, "the heuristic's choice; not compiled, not verified"
        return self._unverified(AnswerSource.HEURISTIC, default, time, base)

    def _ranked(self, default: KernelConfig) -> Iterator[tuple[int, KernelConfig, TimeEvidence]]:
        configs = [default, *self._good_elsewhere()]
        for place, config in enumerate(dict.fromkeys(configs)):
            if (time := self._predicted(config)) is not None:
                yield place, config, time

    def _good_elsewhere(self) -> Iterator[KernelConfig]:
        """Yield legal configurations from similar problems on this device, at any distance."""
        near = self.nearby.jobs(self.session, self.problem, self.device.spec.id, None, MOST)
        tuned = self.nearby.tuned(self.session, [job.job_id for _, job in near])
        offered = [Donor(found.config, found.problem) for _, job in near for found in tuned[job.job_id]]
        for config in fitted(offered, self.problem, self.device.spec):
            try:
                check_kernel(self.problem, config, self.device.spec)
            except Refused:
                continue
            yield config

    def _unverified(
        self, source: AnswerSource, config: KernelConfig, time: TimeEvidence | None, base: tuple[float, str]
    ) -> LookupOut:
        return LookupOut(
            source=source,
            confidence=trust.confidence(*base),
            config=to_config_body(config_to_json(config)),
            time=time,
            time_text="unknown here: nothing was measured, and the model does not know the device"
            if time is None
            else time_text(time),
            next=self._what_helps(),
        )

    def _predicted(self, config: KernelConfig) -> TimeEvidence | None:
        """Return the predicted time of a configuration; None for CPUs, emulating devices and GPUs with
        unknown facts.
        """
        p = prediction_if_known(self.problem, config, self.device.spec)
        if p is None:
            return None
        return TimeEvidence(
            kind="predicted", basis="predicted", value=p.time_us, low=p.low_us, high=p.high_us, label=p.model_version
        )

    def _what_helps(self) -> list[NextRequest]:
        return what_helps(self.problem, self.device, "tunes")


def kernels_of(cache: CompileCache, spec: DeviceSpec) -> Compiled:
    """Return a function that finds kernels for a device that the current versions compiled before."""

    def find(problem: GemmProblem, config: KernelConfig) -> GemmArtifact | None:
        artifact = cache.get(problem, config, spec)
        return artifact if isinstance(artifact, GemmArtifact) else None

    return find
