"""Export of a job's trials as an Optuna study in a SQLite file, for `optuna.load_study` and optuna-dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

Parameter = int | str


@dataclass(frozen=True, slots=True)
class StudyTrial:
    """A trial: the parameters of its configuration, its time if it has one, and further attributes.

    `ended_at` is None while it runs. `attributes` become user attributes; None values are left out.
    """

    params: Mapping[str, Parameter]
    time_us: float | None
    begun_at: datetime
    ended_at: datetime | None
    attributes: Mapping[str, str | float | None]


def write_study(path: Path, name: str, trials: Sequence[StudyTrial], attributes: Mapping[str, str]) -> None:
    """Write a study that minimizes the time in microseconds.

    Numbers become integer parameters, from the least to the greatest that was tried; words become categories.
    A trial that ended without a time is pruned, not failed: samplers ignore failed trials, and would propose
    the same again.

    Raises:
        FileExistsError: the file exists.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists already: remove it, or write to another file")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = _distributions([trial.params for trial in trials])
    storage = RDBStorage(f"sqlite:///{path}")
    try:
        study = optuna.create_study(storage=storage, study_name=name, direction="minimize")
        for key, value in attributes.items():
            study.set_user_attr(key, value)
        study.add_trials([_frozen(trial, distributions) for trial in trials])
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _distributions(params: Sequence[Mapping[str, Parameter]]) -> dict[str, BaseDistribution]:
    """Return a distribution for each parameter, of the values that occur."""
    names = dict.fromkeys(name for each in params for name in each)
    return {name: _distribution([each[name] for each in params if name in each]) for name in names}


def _distribution(values: Sequence[Parameter]) -> BaseDistribution:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values):
        return IntDistribution(min(numbers), max(numbers))
    return CategoricalDistribution(tuple(dict.fromkeys(values)))


def _frozen(trial: StudyTrial, distributions: Mapping[str, BaseDistribution]) -> FrozenTrial:
    state = TrialState.RUNNING
    if trial.ended_at is not None:
        state = TrialState.PRUNED if trial.time_us is None else TrialState.COMPLETE
    return FrozenTrial(
        number=0,  # number and id: assigned by the storage
        trial_id=0,
        state=state,
        value=trial.time_us,
        datetime_start=_local(trial.begun_at),
        datetime_complete=None if trial.ended_at is None else _local(trial.ended_at),
        params=dict(trial.params),
        distributions={name: distributions[name] for name in trial.params},
        user_attrs={key: value for key, value in trial.attributes.items() if value is not None},
        system_attrs={},
        intermediate_values={},
    )


def _local(moment: datetime) -> datetime:
    """Return a time in Optuna's form: local, without a time zone."""
    return moment.astimezone().replace(tzinfo=None)
