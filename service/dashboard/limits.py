"""The most that forms may ask for: what the service takes at all, and what this one allows."""

from dataclasses import dataclass

from codegen.problem.gemm import MAX_DIMENSION
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest size of a problem in elements, and the most trials and seconds of wall time of a job or a set."""

    size: int
    trials: int
    seconds: float


def limits_of(settings: Settings) -> Limits:
    """Return the limits of a service with these settings."""
    return Limits(MAX_DIMENSION, settings.max_trials, settings.max_seconds)
