"""Base class of samplers that choose a row of the space."""

from abc import ABC, abstractmethod
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.samplers.parameters import Parameters
from tuner.search.tried import Tried


class RowSampler(BaseSampler, ABC):
    """Sampler of all parameters together, as those of one open row. Rows are read from `tried`, not from the study."""

    def __init__(self, parameters: Parameters, tried: Tried) -> None:
        self.parameters, self.tried = parameters, tried

    @abstractmethod
    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return an open row; at least one is open. All randomness derives from the entropy of `tried`."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return all parameters."""
        return self.parameters.distributions

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameters of the chosen row."""
        return self.parameters.of(self.choose(study, trial))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Reject a parameter that is not in the space."""
        raise ValueError(f"expected a parameter out of {', '.join(self.parameters.distributions)}, got {param_name}")
