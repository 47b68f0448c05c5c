"""Dask worker of XeTune: compile workers and devices of its machine, and the tasks that use them.

Tasks return errors as values: Dask itself sees a failure only if a machine is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from distributed import Worker, WorkerPlugin, get_worker

from codegen import AnyArtifact, CodegenError, GemmProblem, KernelConfig
from codegen.workers.pool import (
    CompilePool,
    Made,
)
from hal import (
    Buffer,
    DeviceSpec,
    HalError,
    LaunchSpec,
    ListedDevice,
    RunReport,
    Timing,
    open_device,
    resolve_device,
)
from service.artifacts import StorageError
from service.cluster.dask.buffers import Kept
from service.cluster.dask.guarded import DeviceInUse, GuardedDevice
from service.cluster.dask.quiet import Quiet
from service.cluster.executor import OpenedDevice
from service.cluster.local import COMPILE_TIMEOUT_S, hardware_of
from service.telemetry.traces import work_span
from tuner.errors import ProofFailed, TooLargeToProve
from tuner.session.trial import Proof
from tuner.verify.reference import Reference
from tuner.verify.verify import verify_on_device

Answer = TypeVar("Answer")
_KEPT_BYTES = 2**32
COMPILES = "compile"
"""Dask resource of a compilation; that of a device is `device_resource`."""


def device_resource(hardware: str) -> str:
    """Return the Dask resource of a device: one launch at a time."""
    return f"run:{hardware}"


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer of a machine: number of concurrent compilations, and devices without emulating ones."""

    version: str
    host: str
    compilations: int
    devices: tuple[ListedDevice, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The device's process is running; `restarts` as in Ran."""

    restarts: int


@dataclass(frozen=True, slots=True)
class Ran:
    """A launch, and the number of restarts of the device's process so far."""

    report: RunReport
    restarts: int


@dataclass(frozen=True, slots=True)
class Missing:
    """Hashes of buffers that must be sent."""

    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """A launch whose result is verified, without its outputs."""

    proof: Proof
    report: RunReport
    restarts: int


@dataclass(frozen=True, slots=True)
class WrongResult:
    """A launch whose result is wrong."""

    message: str
    proof: Proof
    restarts: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Error raised on the machine; `restarts` as in Ran."""

    error: CodegenError | HalError | StorageError | TooLargeToProve | ValueError
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class InUse:
    """Another program has the device."""


@dataclass(frozen=True, slots=True)
class Run:
    """A requested launch. `hashes` identify its buffers in order."""

    slug: str
    launch: LaunchSpec
    hashes: tuple[str, ...]
    timing: Timing | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class VerifyTask:
    """A requested launch whose result is verified on inputs that are generated from the seed."""

    slug: str
    artifact: AnyArtifact
    seed: int
    timing: Timing | None
    timeout_s: float


@dataclass
class TuningPlugin(WorkerPlugin):
    """State of one machine. Tasks run in threads of the worker; one at a time for each device."""

    offer: Offer
    cache: Path
    locks: Path
    name: str = "xetune"
    pool: CompilePool = field(init=False)
    quiet: Quiet = field(default_factory=Quiet)
    kept: Kept = field(default_factory=lambda: Kept(_KEPT_BYTES))
    opened: dict[str, OpenedDevice] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.pool = CompilePool(self.offer.compilations, COMPILE_TIMEOUT_S, self.cache)

    def setup(self, worker: Worker) -> None:
        """Do nothing: it outlives the worker, which restarts when its scheduler does."""

    def close(self) -> None:
        """End the processes."""
        self.pool.close()
        with self.lock:
            for device in self.opened.values():
                device.close()

    @property
    def resources(self) -> dict[str, float]:
        """Return the resources that Dask counts."""
        hardware = {hardware_of(device) for device in self.offer.devices}
        return {COMPILES: float(self.offer.compilations)} | {device_resource(each): 1.0 for each in hardware}

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Made[AnyArtifact] | Failed:
        """Compile in a separate process."""
        try:
            with self.quiet.shared():
                return self.pool.compile(problem, config, spec).finished()
        except CodegenError as error:
            return Failed(error)

    def start(self, slug: str, timeout_s: float) -> Started | Failed | InUse:
        """Start the process of a device of this machine, unless it is running."""

        def begin(device: GuardedDevice) -> Started:
            device.start(timeout_s)
            return Started(device.restarts)

        return self._on_device(slug, begin)

    def run(self, run: Run, sent: Mapping[str, Buffer]) -> Ran | Missing | Failed | InUse:
        """Launch on a device of this machine."""
        found = self.kept.take(run.hashes, sent)
        buffers = tuple(each for each in found if not isinstance(each, str))
        if len(buffers) < len(run.hashes):
            return Missing(tuple(each for each in found if isinstance(each, str)))

        def launch(device: GuardedDevice) -> Ran:
            return Ran(device.run(run.launch, buffers, run.timing, run.timeout_s), device.restarts)

        return self._on_device(run.slug, launch)

    def verify(self, asked: VerifyTask) -> Verified | Failed | WrongResult | InUse:
        """Launch on a device of this machine and verify the result here."""

        def verify(device: GuardedDevice) -> Verified | WrongResult:
            reference = self._reference(asked)
            try:
                proof, report = verify_on_device(device, asked.artifact, reference, asked.timing, asked.timeout_s)
            except ProofFailed as failure:
                return WrongResult(failure.message, failure.proof, device.restarts)
            return Verified(proof, replace(report, outputs={}), device.restarts)

        return self._on_device(asked.slug, verify)

    def _on_device(self, slug: str, work: Callable[[GuardedDevice], Answer]) -> Answer | Failed | InUse:
        device: GuardedDevice | None = None
        try:
            device = self._device(resolve_device(slug, None, self.offer.devices))
            return work(device)
        except DeviceInUse:
            return InUse()
        except (HalError, StorageError, TooLargeToProve, ValueError) as error:
            return Failed(error, 0 if device is None else device.restarts)

    def _reference(self, asked: VerifyTask) -> Reference:
        """Return the reference of the device's current job; computed once."""
        known = self.references.get(asked.slug)
        if known is None or known.problem != asked.artifact.problem or known.seed != asked.seed:
            self.references.pop(asked.slug, None)  # before memory is allocated for the next
            known = self.references[asked.slug] = Reference(asked.artifact.problem, asked.seed)
        return known

    def close_device(self, slug: str) -> None:
        """End the process of a device whose job is over."""
        self.references.pop(slug, None)
        with self.lock:
            device = self.opened.pop(slug, None)
        if device is not None:
            device.close()

    def _device(self, listed: ListedDevice) -> GuardedDevice:
        with self.lock:
            if listed.spec.id not in self.opened:
                self.opened[listed.spec.id] = open_device(listed)
            return GuardedDevice(self.opened[listed.spec.id], listed, self.locks, self.quiet)


def offer_of(devices: Sequence[ListedDevice], host: str, compilations: int) -> Offer:
    """Return the offer of a machine with these devices: those that can run kernels."""
    return Offer(version("xetune"), host, compilations, tuple(d for d in devices if d.runnable))


# Dask tasks: they run in a worker.


def tell_offer(dask_worker: Worker) -> Offer | None:
    """Return the offer of a worker; None if it is not XeTune's. Dask passes the worker by this parameter name."""
    plugin = dask_worker.plugins.get("xetune")
    return plugin.offer if isinstance(plugin, TuningPlugin) else None


def compile_there(
    problem: GemmProblem, config: KernelConfig, spec: DeviceSpec, trace: str | None
) -> Made[AnyArtifact] | Failed:
    """Compile on this worker; `trace` is the parent span."""
    plugin = _plugin()
    with work_span("remote compile", trace, plugin.offer.host):
        return plugin.compile(problem, config, spec)


def start_there(slug: str, timeout_s: float, trace: str | None) -> Started | Failed | InUse:
    """Start the process of a device of this worker."""
    plugin = _plugin()
    with work_span("remote start", trace, plugin.offer.host):
        return plugin.start(slug, timeout_s)


def run_there(run: Run, sent: Mapping[str, Buffer], trace: str | None) -> Ran | Missing | Failed | InUse:
    """Launch on a device of this worker."""
    plugin = _plugin()
    with work_span("remote run", trace, plugin.offer.host):
        return plugin.run(run, sent)


def verify_there(asked: VerifyTask, trace: str | None) -> Verified | Failed | WrongResult | InUse:
    """Launch on a device of this worker and verify the result there."""
    plugin = _plugin()
    with work_span("remote verify", trace, plugin.offer.host):
        return plugin.verify(asked)


def close_there(slug: str) -> None:
    """End the process of a device of this worker."""
    _plugin().close_device(slug)


def _plugin() -> TuningPlugin:
    plugin = get_worker().plugins["xetune"]
    assert isinstance(plugin, TuningPlugin)  # only XeTune's workers have the resources that the tasks require
    return plugin
