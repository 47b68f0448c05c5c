"""What a search was made from: with it and the outcomes of its job, the same search is made again."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from codegen import AnyConfig
from hal import DeviceSpec
from hal.facts.cpu import cpu_model

_PACKAGES = "xetune", "optuna", "cmaes", "numpy"
PROCESSOR = "processor"


@dataclass(frozen=True, slots=True)
class SearchStart:
    """What the search of one run of a job was made from, beside what the job was asked for.

    `told` outcomes, from number 0 on, it was told before it proposed. `spec` are the facts of the device then, and
    `trials` how many the job might have. `donors` are good elsewhere, best first. Trials were `measured`, else
    predicted. `space` names the space that was made, `versions` are those of what computed proposals; the processor is
    among them, as sums are rounded in its order.

    Raises:
        ValueError: counts that cannot be.
    """

    told: int
    spec: DeviceSpec
    measured: bool
    trials: int
    donors: tuple[AnyConfig, ...]
    space: str
    versions: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.told < 0 or self.trials < 1:
            raise ValueError(f"expected told of at least 0 and trials of at least 1, got {self.told} and {self.trials}")

    @classmethod
    def now(
        cls, spec: DeviceSpec, space: str, told: int, *, measured: bool, trials: int, donors: tuple[AnyConfig, ...]
    ) -> "SearchStart":
        """That of a search that this program makes."""
        return cls(told, spec, measured, trials, donors, space, search_versions())


def search_versions() -> dict[str, str]:
    """Versions here of what computes proposals."""
    from tuner.model.xe import MODEL_VERSION  # whoever only names what a search was made from needs no model

    return {name: version(name) for name in _PACKAGES} | {"model": MODEL_VERSION, PROCESSOR: cpu_model()}
