"""Device of another machine, with the interface of a local one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from distributed import KilledWorker

from codegen import AnyArtifact
from hal import Buffer, DeviceSpec, LaunchSpec, RunReport, Timing
from service.cluster.dask.buffers import hash_of
from service.cluster.dask.dask_worker import (
    Failed,
    InUse,
    Missing,
    Ran,
    Run,
    Started,
    Verified,
    VerifyTask,
    WrongResult,
    close_there,
    device_resource,
    run_there,
    start_there,
    verify_there,
)
from service.cluster.dask.lost import SchedulerLost
from service.cluster.executor import ExecutorLost
from service.telemetry.traces import trace_here
from tuner.errors import ProofFailed
from tuner.session.trial import Proof

if TYPE_CHECKING:
    from service.cluster.dask.engine import DaskEngine

_START_S = 300.0  # for opening the device, waiting for compilations there and verification, besides the launch
_PRIORITY = 10  # above compilations


class DaskDevice:
    """A device whose process a worker starts. Buffers are sent once, and then identified by their hashes.

    A launch whose worker is lost raises ExecutorLost: whether it ran is unknown, and its result is discarded.
    """

    def __init__(self, engine: DaskEngine, address: str, hardware: str, spec: DeviceSpec) -> None:
        self._engine, self._address, self._hardware, self._spec = engine, address, hardware, spec
        self._restarts, self._is_up = 0, False

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self._spec

    @property
    def restarts(self) -> int:
        """Number of restarts of its process, as reported by launches."""
        return self._restarts

    def start(self, timeout_s: float) -> None:
        """As StartingDevice.start; called once, and again after a launch that failed.

        Raises:
            ExecutorLost: as `run`.
        """
        if self._is_up:
            return
        answer = self._ask(timeout_s, start_there, self._spec.id, timeout_s)
        if not isinstance(answer, Started):
            raise self._failure(answer)
        self._restarts, self._is_up = answer.restarts, True

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """As Device.run.

        Raises:
            ExecutorLost: the worker or the scheduler is gone, or another program uses the device.
        """
        hashes = tuple(map(hash_of, buffers))
        run = Run(self._spec.id, launch, hashes, timing, timeout_s)
        answer = self._ask(timeout_s, run_there, run, {})
        if isinstance(answer, Missing):
            named = dict(zip(hashes, buffers, strict=True))
            sent = self._engine.scatter({name: named[name] for name in answer.hashes}, self._address)
            answer = self._ask(timeout_s, run_there, run, sent)
        if isinstance(answer, Ran):
            self._restarts = answer.restarts
            return answer.report
        raise self._failure(answer)

    def verify(
        self, artifact: AnyArtifact, seed: int, timing: Timing | None, timeout_s: float
    ) -> tuple[Proof, RunReport]:
        """As VerifyingDevice.verify: the worker generates the inputs and verifies the result.

        Raises:
            ExecutorLost: as `run`.
        """
        lean = replace(artifact, stages=())  # the texts are not needed there
        answer = self._ask(timeout_s, verify_there, VerifyTask(self._spec.id, lean, seed, timing, timeout_s))
        match answer:
            case Verified():
                self._restarts = answer.restarts
                return answer.proof, answer.report
            case WrongResult():
                self._restarts = answer.restarts
                raise ProofFailed(answer.message, answer.proof)
            case _:
                raise self._failure(answer)

    def _failure(self, answer: object) -> Exception:
        self._is_up = False
        match answer:
            case Failed():
                self._restarts = max(answer.restarts, self._restarts)
                return answer.error
            case InUse():
                return ExecutorLost(f"another program on {self._address} keeps {self._spec.id}")
            case _:
                return ExecutorLost(f"{self._address} does not keep what it is sent: {answer}")

    def close(self) -> None:
        """Ask the worker to end the device's process, unless the worker is gone."""
        self._is_up = False
        with suppress(SchedulerLost):
            self._engine.tell(close_there, self._spec.id, workers=[self._address])

    def _ask(self, timeout_s: float, task: Callable[..., object], *arguments: object) -> object:
        until_s = time.monotonic() + timeout_s + _START_S

        def is_lost() -> bool:
            return time.monotonic() > until_s or not self._engine.is_there(self._address)

        where = {"workers": [self._address], "allow_other_workers": False, "priority": _PRIORITY}
        try:
            future = self._engine.submit(
                task,
                *arguments,
                trace_here(),
                key=f"run-{uuid4().hex}",
                resources={device_resource(self._hardware): 1},
                **where,
            )
            try:
                return self._engine.wait(future, threading.Event(), lambda: False, is_lost)
            finally:
                future.release()
        except (SchedulerLost, KilledWorker) as lost:
            raise ExecutorLost(f"worker {self._address} with {self._spec.id} is lost: {lost}") from lost
