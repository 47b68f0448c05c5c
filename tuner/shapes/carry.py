"""A configuration of one shape for another, by the same choices."""

from codegen import GemmProblem, KernelConfig
from hal import DeviceSpec
from tuner.backend import tuning_of


def carried(config: KernelConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """The choices that `config` makes for `source`, for another problem.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    return config if source == problem else tuning_of(config).carry(config, source, problem, spec)
