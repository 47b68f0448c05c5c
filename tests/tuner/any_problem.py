"""A fake device that runs kernels of any problem, and its compiler."""

from collections.abc import Callable
from dataclasses import dataclass, field

from codegen import GemmProblem, KernelConfig
from hal import Buffer, DeviceSpec, HalError, LaunchSpec, RunReport, Timing
from tests.tuner.fakes import FakeCompilation, FakeCompiler, FakeDevice, binary_of, refuse_rates

Fault = Callable[[GemmProblem, KernelConfig, DeviceSpec], HalError | Callable[[Buffer], None] | None]


@dataclass
class Compiler(FakeCompiler):
    """Remembers what it compiled last to each binary: the problem, the configuration and the device."""

    of_binary: dict[bytes, tuple[GemmProblem, KernelConfig, DeviceSpec]] = field(
        default_factory=dict[bytes, tuple[GemmProblem, KernelConfig, DeviceSpec]]
    )

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> FakeCompilation:
        self.of_binary[binary_of(config)] = problem, config, spec
        return super().compile(problem, config, spec)


class AnyProblem:
    """A device that runs what the compiler made; `fault` is asked for each kernel."""

    restarts = 0

    def __init__(self, spec: DeviceSpec, compiler: Compiler, fault: Fault) -> None:
        self.spec, self._compiler, self._fault = spec, compiler, fault

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        refuse_rates(launch)
        problem, config, spec = self._compiler.of_binary[launch.binary]
        device = FakeDevice(problem, self.spec, every=self._fault(problem, config, spec))
        return device.run(launch, buffers, timing, timeout_s)

    def close(self) -> None:
        pass
