"""The time of one trial as pages show it."""

from db.schema import (
    Problem,
    Trial,
)
from service.dashboard.evidence import TimeFigure, device_name, measured, predicted
from service.dashboard.naming import problem_flops
from service.evidence import measuring_trial


def trial_figure(trial: Trial, device: str, problem: Problem) -> TimeFigure | None:
    """Return the measured time of a trial's configuration (in any job), or its prediction."""
    flops, by = problem_flops(problem), measuring_trial(trial)
    if by is not None and (m := by.measurement) is not None:
        other = None if by is trial else "another job"
        name = device_name(device, other if by.origin is None else by.origin)
        return measured(m.median_us, m.p10_us, m.p90_us, m.label, name, flops)
    if (p := trial.prediction) is not None:
        return predicted(p.time_us, p.low_us, p.high_us, p.model_version, flops)
    return None
