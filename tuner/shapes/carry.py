"""Adaptation of a configuration of one shape to another, by the same choices."""

from codegen import GemmProblem, KernelConfig
from hal import DeviceSpec
from tuner.backend import tuning_of


def carried(config: KernelConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """Return the configuration for `problem` with the choices that `config` makes for `source`.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    return config if source == problem else tuning_of(config).carry(config, source, problem, spec)
