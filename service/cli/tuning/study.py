"""A job's trials as an Optuna study in a file."""

from collections.abc import Sequence
from pathlib import Path

from service.api.jobs.schemas import JobOut, TrialOut, TrialStatus
from service.configurations import ConfigBody, from_config_body
from service.gemm_json import config_from_json
from service.schemas import to_problem
from tuner.exchange.parameters import parameters_of


def write_job_study(job: JobOut, trials: Sequence[TrialOut], path: Path) -> None:
    """Write the study of a job.

    Raises:
        FileExistsError: there is a file of that name.
        InvalidConfig: this version cannot read the configuration of a trial.
    """
    from tuner.search.samplers.study_file import StudyTrial, write_study  # imports Optuna, which takes a second

    written = [
        StudyTrial(_parameters(trial), _time_us(trial), trial.begun_at, trial.ended_at, _attributes(trial))
        for trial in trials
    ]
    about = {
        "problem": str(to_problem(job.problem)),
        "device": job.device,
        "search": job.search or "none",
        "unit": "us",
    }
    write_study(path, f"job {job.id}", written, about)


def _parameters(trial: TrialOut) -> dict[str, int | str]:
    body = trial.config
    return parameters_of(from_config_body(body) if isinstance(body, ConfigBody) else config_from_json(body))


def _time_us(trial: TrialOut) -> float | None:
    """Return the time on the scale of this job, as reported to the search: one of an earlier job is rescaled."""
    if trial.status is TrialStatus.MEASURED and trial.measured is not None:
        return trial.measured.value * (1.0 if trial.reused is None else trial.reused.scale)
    # Of a predicted trial `measured` is a later measurement of another job.
    return trial.predicted.value if trial.status is TrialStatus.PREDICTED and trial.predicted is not None else None


def _attributes(trial: TrialOut) -> dict[str, str | float | None]:
    time, proof = trial.evidence.time, trial.evidence.proof
    return {
        "number": trial.number,
        "outcome": trial.status.value,
        "reason": trial.reason,
        "evidence": None if time is None else f"{time.kind}, {time.label}",
        "correctness": f"{proof.kind}: {proof.checked} of {proof.total}",
        "proposer": trial.proposer,
        "tflops": trial.tflops,
    }
