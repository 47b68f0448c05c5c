"""Job as text: its trials by rank, the winner and its files."""

import math
from collections import Counter
from pathlib import Path
from statistics import median
from uuid import UUID

from rich.table import Column, Table
from rich.text import Text

from service.api.jobs.schemas import (
    ChoiceOut,
    DonorOut,
    JobOut,
    TrialOut,
)
from service.api.jobs.wall import wall_sentence
from service.cli.access.opening import Access
from service.cli.kernels.binaries import print_binaries
from service.cli.kernels.kernel_lists import files_of, kernel_of, print_files
from service.cli.printing.evidence import (
    shown_kind,
    shown_proof,
    shown_proof_short,
    shown_rate,
    shown_time,
    shown_us,
)
from service.cli.printing.output import (
    CONSOLE,
    number_column,
    print_fact,
    print_json,
    print_line,
    print_wrapped,
    text_table,
)
from service.cli.tuning.job_lists import each_trial, job_of
from service.cli.tuning.waiting import why_waiting
from service.gemm_json import config_line
from service.job_summary import (
    WIDE_SPREAD,
    Basis,
    acceptance_words,
    energy_text,
    reported_times_of,
    stop_words,
)
from service.schemas import ProblemBody, to_problem
from service.text.short_ids import short_ids
from tuner.search.method import (
    Objective,
    front,
)

_SHOWN_TRIALS, _SHOWN_DONORS = 10, 3
_LONG_US = 10_000.0


def print_job(access: Access, job_id: UUID, as_json: bool, output: Path | None = None) -> JobOut:
    """Print a job, its trials from fastest to slowest, and where the winner's files are; return the job.

    The files are copied to the folder `output`, if it is given.
    """
    job = access.read(job_of(job_id))
    if not as_json:  # before what takes longer
        CONSOLE.print(_heading(job))
        for reason in why_waiting(access, job):
            print_wrapped(f"waits: {reason}")
    if job.builds is not None:
        _print_built(access, job, job.builds, as_json)
        return job
    trials = list(each_trial(access, job_id))
    best = job.best.kernel_id if job.best is not None else None
    ranked = sorted((t for t in trials if t.evidence.time is not None), key=_order)
    files = {} if best is None else files_of(access, access.read(kernel_of(best)), output)
    if as_json:
        document = job.model_dump(mode="json")
        document["trials"] = [trial.model_dump(mode="json") for trial in [*ranked, *_without_time(trials)]]
        print_json(document | {"artifacts": files})
    else:
        if ranked:
            CONSOLE.print(_table(ranked, job))
        _print_restrictions(job)
        _print_donors(job)
        _print_reused(trials)
        _print_prediction_error(ranked)
        _print_front(job, ranked)
        _print_without_time(trials)
        if job.stop is not None:
            print_line(f"ended: {stop_words(job.stop)}")
        _print_winner(job, next((t for t in trials if t.number == 0), None))
        if job.choice is not None:
            print_fact("choice", job.choice.sentence)
        print_files(files, best, output)
        _print_spread(job)
        _print_stored_best(job)
        if job.wall is not None:
            print_wrapped(f"took {wall_sentence(job.wall)}")
        _print_next(job)
    return job


def _print_built(access: Access, job: JobOut, kernel_id: UUID, as_json: bool) -> None:
    """Print a job that builds a native binary: its kernel, and the binaries that this has."""
    binaries = access.read(kernel_of(kernel_id)).binaries
    if as_json:
        binary_list = [binary.model_dump(mode="json") for binary in binaries]
        print_json(job.model_dump(mode="json") | {"trials": [], "binaries": binary_list})
        return
    print_wrapped(f"builds the native binary of kernel {short_ids([kernel_id])[kernel_id]}, and has no trials")
    print_binaries(binaries)


def _heading(job: JobOut) -> Text:
    where = "" if job.origin is None else f", imported from {job.origin}"
    heading = Text(f"job {job.id}: {job.status.value}\n{to_problem(job.problem)} on {job.device}{where}")
    return heading if job.error is None else heading.append(f"\n{job.error}", style="red")


def _table(ranked: list[TrialOut], job: JobOut) -> Table:
    kinds = sorted({shown_kind(trial.evidence.time) for trial in ranked})
    is_predicted = all(trial.measured is None for trial in ranked)
    table = text_table(
        number_column("rank"),
        number_column("trial"),
        Column("configuration", min_width=20),
        Column(f"time ({'interval' if is_predicted else 'spread'})", no_wrap=True),
        Column("numbers", no_wrap=True),
        *([Column("time is")] if len(kinds) > 1 else []),
        title=f"{' and '.join(kinds)}, on {job.device}",
    )
    shown = [
        (rank, trial) for rank, trial in enumerate(ranked, start=1) if rank <= _SHOWN_TRIALS or _is_named(trial, job)
    ]
    unit_us = _unit_us([_time(trial) for _, trial in shown])
    for rank, trial in shown:
        cells = [
            f"{rank}=" if _is_tied(trial, job.choice) else str(rank),
            _shown_number(trial, job),
            config_line(trial.model_dump(mode="json")["config"]),
            f"{shown_time(trial.evidence.time, unit_us)}{_shown_again(trial, job, unit_us)}\n{shown_rate(trial.tflops)}"
            f"{_shown_energy(trial)}{_shown_reused(trial)}{_shown_early(trial)}{_shown_against(trial)}",
            shown_proof_short(trial.evidence),
        ]
        is_winner = job.best is not None and job.best.number == trial.number
        kind = [shown_kind(trial.evidence.time)] if len(kinds) > 1 else []
        table.add_row(*cells, *kind, style="bold" if is_winner else None)
    captions: list[str] = []
    if (choice := job.choice) is not None:
        near = f"predicted within {choice.resolution - 1:.0%} of the least time"
        captions.append(f"=: verified, {near}, which the model does not tell apart")
    if len(ranked) > len(shown):
        captions.append(f"{len(ranked) - len(shown)} slower ones not shown (--json has all)")
    table.caption = "\n".join(captions) or None
    return table


def _is_tied(trial: TrialOut, choice: ChoiceOut | None) -> bool:
    """Return whether the model does not tell a trial from the one of least predicted time."""
    is_verified = trial.evidence.proof.kind != "none"
    return choice is not None and is_verified and _time(trial) <= choice.least_us * choice.resolution


def _shown_energy(trial: TrialOut) -> str:
    energy_uj = energy_of(trial)
    return "" if energy_uj is None else f"\n{energy_text(energy_uj)} a launch"


def _shown_early(trial: TrialOut) -> str:
    time = trial.evidence.time
    return f"\n{time.samples} samples, stopped early" if time is not None and time.stopped_early else ""


def _shown_reused(trial: TrialOut) -> str:
    """Return, for a time of an earlier job, what it is taken for in the ranking: the device is slower or faster now."""
    if trial.reused is None:
        return ""
    now_us = _time(trial) * trial.reused.scale
    return f"\nof an earlier job,\n{shown_us(now_us)} expected now"


def _shown_number(trial: TrialOut, job: JobOut) -> str:
    """Return the number of a trial and its proposer, and whether it won."""
    by = "" if trial.proposer is None or trial.number == 0 else f"\n{trial.proposer}"
    won = "\nwinner" if job.best is not None and job.best.number == trial.number else ""
    return f"{trial.number or 'default'}{by}{won}"


def _is_named(trial: TrialOut, job: JobOut) -> bool:
    """Return whether a trial is shown however slow it is: the default, and the winner."""
    return trial.number == 0 or (job.best is not None and trial.number == job.best.number)


def _shown_again(trial: TrialOut, job: JobOut, unit_us: float) -> str:
    """Return the re-measured time of the default or the winner."""
    if job.comparison is None or not _is_named(trial, job):
        return ""
    again_us = job.comparison.best_us if job.best and trial.number == job.best.number else job.comparison.default_us
    return f"\nre-measured {shown_us(again_us, unit_us)}"


def _unit_us(times_us: list[float]) -> float:
    """Return the time whose unit a table has: of the least, or of the greatest if that is long in it."""
    return max(times_us) if max(times_us) >= _LONG_US else min(times_us)


def _shown_against(trial: TrialOut) -> str:
    if trial.prediction_error is None or trial.measured is None:
        return ""
    if trial.measured_by is None:
        return f"\n{trial.prediction_error:.2f} times predicted"
    where = trial.measured.origin or "another job"
    return f"\n{shown_time(trial.measured)}\nmeasured by {where},\n{trial.prediction_error:.2f} times predicted"


def _print_restrictions(job: JobOut) -> None:
    for each in job.restrictions:
        print_wrapped(f"{each.effect} on {job.device}, since {each.check} of `xetune doctor` failed: {each.reason}")


def _print_donors(job: JobOut) -> None:
    if not job.donors:
        return
    of = dict.fromkeys(f"{_shown_problem(donor)} on {donor.device}" for donor in job.donors)
    few = "; ".join(list(of)[:_SHOWN_DONORS]) + ("; and others" if len(of) > _SHOWN_DONORS else "")
    print_wrapped(f"warm start from {len(job.donors)} configurations of {few} (--cold starts without)")


def _shown_problem(donor: DonorOut) -> str:
    return str(to_problem(donor.problem) if isinstance(donor.problem, ProblemBody) else donor.problem)


def _print_reused(trials: list[TrialOut]) -> None:
    of_jobs = Counter(str(trial.reused.job) for trial in trials if trial.reused is not None)
    for job, count in of_jobs.items():
        print_wrapped(f"{count} of {len(trials)} trials reused measurements of job {job} (--again ignores them)")


def _print_prediction_error(ranked: list[TrialOut]) -> None:
    both = [(t.predicted, t.measured, t.prediction_error) for t in ranked]
    judged = [(p, m.value, e) for p, m, e in both if p is not None and m is not None and e is not None]
    if not judged:
        return
    errors = [error for _, _, error in judged]
    inside = sum(
        (predicted.low or 0) <= measured_us <= (predicted.high or math.inf) for predicted, measured_us, _ in judged
    )
    models = " and ".join(sorted({predicted.label for predicted, _, _ in judged}))
    print_wrapped(
        f"measured over predicted by {models}: median {median(errors):.2f}, {min(errors):.2f} to {max(errors):.2f}; "
        f"{inside} of {len(judged)} in the interval"
    )


def _print_front(job: JobOut, ranked: list[TrialOut]) -> None:
    """Print the Pareto front of time and energy."""
    if job.objective is not Objective.TIME_ENERGY:
        return
    known = [(t, t.evidence.time.value, uj) for t in ranked if t.evidence.time and (uj := energy_of(t)) is not None]
    for trial in front(known):
        print_wrapped(
            f"no trial is both faster and uses less energy than {trial.number}: {shown_time(trial.evidence.time)}, "
            f"{energy_text(energy_of(trial) or 0.0)} a launch, idle power included"
        )


def energy_of(trial: TrialOut) -> float | None:
    """Microjoules of a launch, as measured in this job."""
    return None if trial.evidence.time is None or trial.reused is not None else trial.evidence.time.energy_uj


def _print_without_time(trials: list[TrialOut]) -> None:
    for trial in _without_time(trials):
        became = f"{trial.status}: {trial.reason}" if trial.reason is not None else "not finished"
        print_wrapped(f"trial {trial.number}: {became}", indent="  ")


def _print_winner(job: JobOut, default: TrialOut | None) -> None:
    if job.best is None or (time := job.best.evidence.time) is None:
        return
    c = job.comparison
    again = (None, None) if c is None else (c.default_us, c.best_us)
    line = reported_times_of(time, None if default is None else default.evidence.time, interleaved=again)
    interleaved = line.basis is Basis.INTERLEAVED
    shown = f"{shown_us(line.best_us)}, interleaved" if interleaved else f"{shown_time(time)}, {line.basis}"
    print_line(f"winner: trial {job.best.number}, {shown}")
    print_fact("time", f"{shown_kind(time)} on {job.device}")
    if interleaved:
        print_fact("trial", f"{shown_time(time)}, {Basis.SINGLE}")
    if job.roof_us is not None:
        strategy = job.best.model_dump()["config"].get("strategy", {})
        launch = "" if "isa" in strategy else ", without the launch"  # of a GPU
        allowed = f"{job.roof_us / line.best_us:.0%} of what the device allows, {shown_us(job.roof_us)}"
        print_fact("roof", f"{allowed}{launch}")
    if job.best.measured is not None and job.best.measured_by is not None:
        where = f"{shown_kind(job.best.measured)}, job {job.best.measured_by}"
        print_fact("measured", f"{shown_time(job.best.measured)}, {where}")
    print_fact("numbers", shown_proof(job.best.evidence))
    if (acceptance := acceptance_words(job.best.evidence.acceptance)) is not None:
        print_fact("driver", acceptance)
    if line.gain is not None and line.default_us is not None:
        beaten = ", the default configuration was not beaten" if job.best.number == 0 else ""
        times = f"{shown_us(line.default_us)} against {shown_us(line.best_us)}, {line.basis.of_two}"
        print_fact("speed-up", f"{line.gain:.2f} over the default: {times}{beaten}")
    if job.status.over and line.basis is Basis.SINGLE and job.best.measured_by is None and job.best.number:
        print_fact("speed-up", "not measured interleaved with the default: this is the least of single trials")


def _print_spread(job: JobOut) -> None:
    if job.best is None or (time := job.best.evidence.time) is None or time.kind != "measured":
        return
    if time.low is None or time.high is None:
        return
    if (spread := (time.high - time.low) / time.value) > WIDE_SPREAD:
        text = f"warning: times of the winner spread by {spread:.0%}: repeat on a quiet machine with `tune --again`"
        print_wrapped(text, style="yellow")


def _print_stored_best(job: JobOut) -> None:
    if (stored := job.stored_best) is not None and job.status.over:
        text = (
            f"warning: {stored.slowdown:.1f} times slower than the stored best for this problem on {job.device}: "
            f"{shown_us(stored.time_us)}, {Basis[stored.basis.upper()]}, of job {stored.job}"
        )
        print_wrapped(text, style="yellow")


def _print_next(job: JobOut) -> None:
    """Print the commands that a result is for."""
    if job.best is None or (kernel_id := job.best.kernel_id) is None or not job.status.over:
        return
    is_cpu = "isa" in job.best.model_dump(mode="json")["config"]["strategy"]
    language, short = "cpp" if is_cpu else "pyopencl", short_ids([kernel_id])[kernel_id]
    print_line(f"next: xetune kernels host-code {short} {language} -o program")
    if job.basis == Basis.PREDICTED.word:
        print_line(f"      xetune export --device {job.device} --runners-up --kit measure.pyz")


def _without_time(trials: list[TrialOut]) -> list[TrialOut]:
    return [trial for trial in trials if trial.evidence.time is None]


def _order(trial: TrialOut) -> tuple[bool, float]:
    """Return the sort key of a trial: measured ones first, including those measured by other jobs."""
    if trial.measured is None:
        return True, _time(trial)
    return False, trial.measured.value * (1.0 if trial.reused is None else trial.reused.scale)


def _time(trial: TrialOut) -> float:
    assert trial.evidence.time is not None
    return trial.evidence.time.value
