"""Lookup of the kernel for a problem on a device, from the first of five sources that has an answer.

The order: tuned for this problem and valid; the same but stale; the nearest tuned problem on the same device;
the model; the heuristic's default. A stored dynamic kernel that runs the problem comes before configurations that
would have to be compiled, whatever its distance. What is predicted alone is preferred to the default only beyond the
resolution of the model, as jobs do. Measurements of another device are never an answer, and the time of
another problem is never presented as that of this one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

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
from service.api.kernels.launch_schemas import to_launch
from service.api.kernels.lookup import confidence as trust
from service.api.kernels.lookup.choices import (
    Choice,
    Faster,
    Transfer,
    is_preferred,
    predicted_us,
    why_of_several,
)
from service.api.kernels.lookup.exact import (
    Found,
    exact_answers,
    time_text,
)
from service.api.kernels.lookup.nearby import (
    Nearby,
)
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import (
    AnswerSource,
    ElsewhereOut,
    LookupOut,
)
from service.api.kernels.lookup.staleness import staleness
from service.api.kernels.service import describe as describe_kernel
from service.configurations import to_config_body
from service.errors import NotFound
from service.evidence import headline_of
from service.gemm_json import config_to_json
from service.job_summary import known_by
from service.schemas import TimeEvidence, to_body
from service.text.times import shown_us
from tuner.backend import prediction_if_known, tuning_for
from tuner.model.resolution import RESOLUTION
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
_TRIED = 4  # dynamic kernels whose launch is computed
_UNTIL_COMPILED = timedelta(minutes=1)

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
    accepted: Accepted
    now: datetime
    compiled: Compiled = lambda _problem, _config: None
    nearby: Nearby = field(default_factory=Nearby)

    def answer(self) -> LookupOut:
        """Return the answer of the first of the five sources that has one.

        Raises:
            NotFound: nothing is stored, and nothing can be compiled for the device or is legal on it: the rule is
            the one that refuses, or `no-kernel`.
        """
        exact = exact_answers(self.session, [self.problem], self.accepted, self.now)
        found = exact.get(self.problem.key)
        return self.fallback().answer if found is None else found.answer

    def fallback(self) -> Found:
        """Return the answer of the first of the last three sources that has one, for a problem that was never
        tuned; raises as `answer`.
        """
        near = self._nearest()
        running, until = self._running()
        if running is not None:
            return self._transferred(running, self._faster(running, near))
        if near is not None and (near.found.measured or near.choice.time is None):
            return self._transferred(near).within(until)
        default = self._default()
        if near is not None and is_preferred(near.choice, default):
            return self._transferred(near).within(until)
        if default is None:
            raise self._nothing()
        return Found(self._foreseen(default), until)

    @property
    def _spec(self) -> DeviceSpec:
        return self.accepted.device.spec

    def _nearest(self) -> Transfer | None:
        """Return the best of the nearest problem on this device whose choices are legal for this problem."""
        near = self.nearby.jobs(self.session, self.problem, self._spec.id, FARTHEST, _ASKED)
        tuned = self.nearby.tuned(self.session, [job.job_id for _, job in near])
        for far, job in near:
            for found in tuned[job.job_id][:1]:
                if epilogue_class(found.problem) != epilogue_class(self.problem):
                    continue
                try:
                    config = adapted(found.config, found.problem, self.problem, self._spec)
                except Refused:
                    continue
                return Transfer(found, far, self._choice(config))
        return None

    def _running(self) -> tuple[Transfer | None, datetime | None]:
        """Return the stored dynamic kernel, of a problem at any distance, that runs this one: the nearest, or one that
        is predicted to be faster; and until when there is none, if one is not in the compile cache now.
        """
        near = self.nearby.jobs(self.session, self.problem, self._spec.id, None, _ASKED, dynamic=True)
        tuned = self.nearby.tuned(self.session, [job.job_id for _, job in near])
        several = {(found.problem, found.config): (far, found) for far, job in near for found in tuned[job.job_id][:1]}
        best: Transfer | None = None
        until: datetime | None = None
        for far, found in list(several.values())[:_TRIED]:
            artifact = self.compiled(found.problem, found.config)
            if artifact is None or artifact.content_hash != found.content_hash:
                until = self.now + _UNTIL_COMPILED
                continue
            launched = self._launched(artifact)
            if launched is None:
                continue
            here = Transfer(found, far, self._choice(launched.config), launched)
            if best is None or here.choice.gains_over(best.choice):
                best = here
        return best, until

    def _launched(self, artifact: GemmArtifact) -> GemmArtifact | None:
        """Return a dynamic kernel launched with these sizes; None if it does not support them."""
        from codegen.artifact.launch import kernel_for  # imports xDSL, which other lookups do without

        try:
            return kernel_for(artifact, self.problem, self._spec)
        except (InvalidLaunch, Refused):
            return None

    def _transferred(self, transfer: Transfer, faster: Faster | None = None) -> Found:
        source, launched, choice = transfer.found.problem, transfer.launched, transfer.choice
        trial = warm_starts.whole(self.session, transfer.found.trial_id)
        kernel = None
        if trial.kernel_id is not None and launched is not None:
            kernel = kernels.get(self.session, trial.kernel_id)
        there = headline_of(trial).time
        measured = trial.measurement is not None
        stale = [] if trial.kernel is None else staleness(trial.kernel, trial, self._spec)
        base = trust.NEARBY_MEASURED if measured else trust.NEARBY_PREDICTED
        against = [
            *trust.of_distance(transfer.distance, source, self.problem),
            *trust.of_trial(trial, self.now),
            *trust.of_device(trial, self.accepted.device),
            *trust.of_job(trial),
            *trust.of_staleness(stale),
        ]
        was_compared = choice.time is not None and (launched is not None or not measured)
        of = (
            "a problem nearby on this device" if launched is None else "another problem, whose dynamic kernel runs this"
        )
        at_there = "" if there is None else f"; for {source} it was {shown_us(there.value)}, {known_by(there)}"
        answer = LookupOut(
            source=AnswerSource.NEAREST,
            confidence=trust.confidence(
                base,
                f"{'measured' if measured else 'predicted'} for {of}",
                against,
                trust.LEAST_IF_RANKED if was_compared and faster is None else trust.LEAST,
            ),
            kernel=None if kernel is None else describe_kernel(kernel, trial),
            config=to_config_body(config_to_json(choice.config)),
            launch=None if launched is None else to_launch(dict(backend_of(launched.config).manifest(launched))),
            time=choice.time,
            time_text=(time_text(choice.time) if choice.time is not None else "unknown here") + at_there,
            elsewhere=ElsewhereOut(
                problem=to_body(source),
                distance=round(transfer.distance, 4),
                kernel_id=trial.kernel_id,
                job=trial.job_id,
                trial=trial.number,
                time=there,
            ),
            faster=None if faster is None else faster.told(),
        )
        to_compile = choice.config if launched is None else None if faster is None else faster.choice.config
        return Found(self._advised(answer, to_compile), trust.same_until(trial, self.now))

    def _faster(self, running: Transfer, near: Transfer | None) -> Faster | None:
        """Return what is expected to be faster than a kernel that runs: by prediction or, without, the best of a
        problem that is nearer.
        """
        if running.choice.time is None:
            if near is None or near.distance >= running.distance:
                return None
            return Faster(near.choice, f"the best of {near.found.problem}, a nearer problem")
        default = self._default()
        choices = [] if default is None else self._ranked(default)
        if near is not None:
            choices.append(near.choice)
        best = min(choices, key=predicted_us, default=None)
        if best is None or best.time is None or not best.gains_over(running.choice):
            return None
        times = running.choice.time.value / best.time.value
        within = f"{RESOLUTION - 1:.0%}"
        return Faster(
            best, f"predicted {times:.2f} times as fast as the kernel; the resolution of the model is {within}"
        )

    def _default(self) -> Choice | None:
        """Return the default; None if none is legal, or nothing can be compiled for the device."""
        if not self.accepted.device.targetable:
            return None
        try:
            return self._choice(tuning_for(self._spec).default(self.problem, self._spec))
        except Refused:
            return None

    def _foreseen(self, default: Choice) -> LookupOut:
        """Return the configuration that the model predicts to be the fastest of the candidates, beyond its resolution;
        else the default.
        """
        ranked = self._ranked(default)
        best = min(ranked, key=predicted_us, default=default)
        if len(ranked) < 2:
            source, base = (
                AnswerSource.HEURISTIC,
                (trust.HEURISTIC, "the heuristic's choice; not compiled, not verified"),
            )
            chosen = default
        else:
            chosen = best if best.gains_over(default) else default
            source, base = (
                AnswerSource.MODEL,
                (trust.MODEL, why_of_several(len(ranked), chosen is default, best is default)),
            )
        time = chosen.time
        answer = LookupOut(
            source=source,
            confidence=trust.confidence(*base),
            config=to_config_body(config_to_json(chosen.config)),
            time=time,
            time_text="unknown here: nothing was measured, and the model does not know the device"
            if time is None
            else time_text(time),
        )
        return self._advised(answer, chosen.config)

    def _ranked(self, default: Choice) -> list[Choice]:
        """Return the default and the configurations of similar problems, those whose time is predicted."""
        configs = dict.fromkeys(self._good_elsewhere())
        others = (self._choice(config) for config in configs if config != default.config)
        return [choice for choice in (default, *others) if choice.time is not None]

    def _good_elsewhere(self) -> Iterator[KernelConfig]:
        """Yield legal configurations from similar problems on this device, at any distance."""
        near = self.nearby.jobs(self.session, self.problem, self._spec.id, None, MOST)
        tuned = self.nearby.tuned(self.session, [job.job_id for _, job in near])
        offered = [Donor(found.config, found.problem) for _, job in near for found in tuned[job.job_id]]
        for config in fitted(offered, self.problem, self._spec):
            try:
                check_kernel(self.problem, config, self._spec)
            except Refused:
                continue
            yield config

    def _choice(self, config: KernelConfig) -> Choice:
        """Return a configuration with its predicted time; None for CPUs, emulating devices and GPUs with
        unknown facts.
        """
        p = prediction_if_known(self.problem, config, self._spec)
        if p is None:
            return Choice(config, None)
        time = TimeEvidence(
            kind="predicted", basis="predicted", value=p.time_us, low=p.low_us, high=p.high_us, label=p.model_version
        )
        return Choice(config, time)

    def _advised(self, answer: LookupOut, to_compile: KernelConfig | None) -> LookupOut:
        """Return the answer with the requests that would improve it, and why a job would not."""
        refusal, accepted = self.accepted.refusal(self.problem), self.accepted
        jobs = [accepted.job(self.problem, "tunes")] if refusal is None else []
        compilations = [] if to_compile is None else accepted.compilation(self.problem, to_compile)
        return answer.model_copy(update={"untunable": refusal, "next": [*jobs, *compilations]})

    def _nothing(self) -> NotFound:
        refusal = self.accepted.refusal(self.problem)
        said = f"no kernel is stored for {self.problem} on {self._spec.id}"
        if refusal is not None:
            return NotFound(f"{said}, and none can be made: {refusal.detail}", rule=refusal.rule)
        return NotFound(said, rule="no-kernel", next_requests=[self.accepted.job(self.problem, "tunes")])


def kernels_of(cache: CompileCache, spec: DeviceSpec) -> Compiled:
    """Return a function that finds kernels for a device that the current versions compiled before."""

    def find(problem: GemmProblem, config: KernelConfig) -> GemmArtifact | None:
        artifact = cache.get(problem, config, spec)
        return artifact if isinstance(artifact, GemmArtifact) else None

    return find
