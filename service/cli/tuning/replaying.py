"""How a terminal shows a job's search that is made again: proposal by proposal the same, or the first that is not."""

from uuid import UUID

import typer

from codegen import AnyConfig, InvalidConfig
from service.api.jobs.schemas import (
    JobOut,
    TrialOut,
    TrialStatus,
)
from service.api.jobs.search_schemas import (
    SearchAsStored,
    SearchOut,
)
from service.cli.backend.protocol import Backend
from service.cli.printing.output import CONSOLE, ERRORS, print_json, print_wrapped
from service.configurations import ConfigBody, from_config_body
from service.row_mapping import (
    config_from_json,
    config_to_json,
    search_from_json,
)
from service.schemas import to_problem
from tuner.errors import NotReplayable
from tuner.replay.job import Difference, Replayed, SearchedJob, Tried, replay_job
from tuner.search.method import Method
from tuner.search.start import SearchStart


def print_replay(backend: Backend, job_id: UUID, as_json: bool) -> bool:
    """Replay a job and say what came of it; whether every proposal was the same.

    Raises:
        NotFound: there is no such job.
        InvalidConfig: the configuration of a trial is of another version.
    """
    job = backend.read_job(job_id)
    trials, starts = backend.trials(job_id), backend.searches(job_id)
    try:
        with ERRORS.status("making the search again"):
            found = replay_job(_asked(job), [_start(each) for each in starts], [_tried(trial) for trial in trials])
    except NotReplayable as error:
        if as_json:
            print_json({"job": str(job_id), "replayable": False, "missing": str(error)})
        else:
            message = f"error: job {job_id} cannot be replayed: {error}"
            typer.secho(message, fg=typer.colors.RED, bold=True, err=True)
        return False
    if as_json:
        print_json(_document(job_id, found))
    else:
        _print(found)
    return found.difference is None


def _asked(job: JobOut) -> SearchedJob:
    method = None if job.search is None else Method(job.search)
    return SearchedJob(to_problem(job.problem), job.seed, method, job.objective)


def _start(search: SearchOut | SearchAsStored) -> SearchStart:
    try:
        if isinstance(search, SearchAsStored):
            return search_from_json(search.told, search.stored)
        donors: list[object] = [config_to_json(_config(donor)) for donor in search.donors]
        given: dict[str, object] = search.model_dump(mode="json", exclude={"told", "donors"})
        return search_from_json(search.told, {**given, "donors": donors})
    except (InvalidConfig, ValueError) as error:
        raise NotReplayable(
            f"another version kept what its search was made from that was told {search.told} outcomes first: {error}"
        ) from error


def _tried(trial: TrialOut) -> Tried:
    time_us, energy_uj = None, None
    # Of a predicted trial `measured` is what others measured later: the search was told what was predicted.
    if trial.status is TrialStatus.MEASURED and trial.measured is not None:
        scale = 1.0 if trial.reused is None else trial.reused.scale
        time_us, energy_uj = trial.measured.value * scale, trial.measured.energy_uj
    elif trial.status is TrialStatus.PREDICTED and trial.predicted is not None:
        time_us = trial.predicted.value
    ended = trial.status is not TrialStatus.PENDING
    return Tried(trial.number, _config(trial.config), trial.proposer, trial.told, ended, time_us, energy_uj)


def _config(body: ConfigBody | dict[str, object]) -> AnyConfig:
    return from_config_body(body) if isinstance(body, ConfigBody) else config_from_json(body)


def _print(found: Replayed) -> None:
    if (differs := found.difference) is not None:
        CONSOLE.print(f"trial {differs.trial.number} is not what its search proposes now", highlight=False)
        CONSOLE.print(f"  tried:    {differs.trial.config} ({differs.trial.proposer})", highlight=False)
        proposed = "nothing: all are tried" if differs.config is None else f"{differs.config} ({differs.by})"
        CONSOLE.print(f"  proposed: {proposed}", highlight=False)
        print_wrapped(f"likely reason: {differs.reason}")
    print_wrapped(f"replayed: {found.same} of {found.proposals} proposals the same")


def _document(job_id: UUID, found: Replayed) -> dict[str, object]:
    said = None if found.difference is None else _said(found.difference)
    return {
        "job": str(job_id),
        "replayable": True,
        "proposals": found.proposals,
        "same": found.same,
        "difference": said,
    }


def _said(differs: Difference) -> dict[str, object]:
    return {
        "trial": differs.trial.number,
        "tried": config_to_json(differs.trial.config),
        "tried_by": differs.trial.proposer,
        "proposed": None if differs.config is None else config_to_json(differs.config),
        "proposed_by": differs.by,
        "reason": differs.reason,
    }
