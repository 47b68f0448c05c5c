"""Machines of a Dask scheduler: kernels are compiled on any of them, and run on the machine with the device."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from importlib.metadata import version
from typing import Any, cast
from uuid import uuid4

from dask import config as dask_config
from distributed import Client, Future, KilledWorker, fire_and_forget
from distributed.comm.core import CommClosedError

from hal import XE_DEVICES, ListedDevice, Runtime
from hal.devices.listed import listed
from service.cluster.dask.dask_worker import (
    Offer,
    tell_offer,
)
from service.cluster.dask.executors import (
    DaskExecutor,
    Predictions,
)
from service.cluster.dask.lost import SchedulerLost
from service.cluster.dask.security import security_of
from service.cluster.executor import (
    Executor,
    ExecutorLost,
    Reached,
)
from service.cluster.link import Link
from service.cluster.local import hardware_of
from service.cluster.shard import (
    WHOLE,
    Shard,
)
from service.telemetry.loggers import Logger

NAME = "cluster"
_ANSWER_S = 10.0  # for the scheduler
_SILENT_S = 10.0  # after which executors are removed if the scheduler does not answer
_LOOK_S = 1.0  # maximum age of the list of workers
_WATCH_S = 1.0  # how often a waiting task checks that its machine is alive
_LOST = (CancelledError, CommClosedError, OSError, KilledWorker)
_log = Logger(__name__)


class DaskEngine:
    """Executors of a share of the current XeTune workers of a scheduler. Thread-safe."""

    def __init__(self, link: Link, shard: Shard = WHOLE, clock: Callable[[], float] = time.monotonic) -> None:
        self._link, self._shard, self._clock = link, shard, clock
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._looked_s: float | None = None
        self._answered_s = clock()
        self._offers: dict[str, Offer | None] = {}
        self._said: str | None = None

    @property
    def name(self) -> str:
        """Name for the lease: one coordinator for all machines, or for each shard of them."""
        return NAME if self._shard == WHOLE else f"{NAME} {self._shard}"

    def executors(self) -> Sequence[Executor]:
        """Return one executor for each device of a worker, and one for jobs without a device if there is any
        worker.
        """
        offers = self._ours()
        if not offers:
            return ()
        mine = {address: offer for address, offer in offers.items() if self._shard.has(address)}
        executors = [DaskExecutor(self, *each) for each in _by_hardware(mine)]
        return (*executors, Predictions(self, _table())) if self._shard.is_first else tuple(executors)

    def reached(self) -> Sequence[Reached]:
        """Return the devices of these workers, without emulating ones."""
        return [
            Reached(address, offer.host, device)
            for address, offer in sorted(self._ours().items())
            if self._shard.has(address)
            for device in offer.devices
        ]

    def is_there(self, address: str) -> bool:
        """Return whether a worker was connected at the last poll, at most a second ago."""
        return address in self._ours()

    def compilations(self) -> int:
        """Return the number of concurrent compilations for each executor, at least one."""
        offers = self._ours()
        return max(1, sum(offer.compilations for offer in offers.values()) // max(1, len(list(_by_hardware(offers)))))

    def submit(self, task: Callable[..., object], *arguments: object, key: str, **where: Any) -> Future[Any]:
        """Start a task of the plugin.

        Raises:
            SchedulerLost: it cannot be reached.
        """
        with self._lock:
            client = self._connected()
        try:
            return client.submit(task, *arguments, key=key, pure=False, retries=0, **where)
        except _LOST as error:
            raise SchedulerLost(f"scheduler {self._link.address}: {error}") from error

    def scatter(self, data: dict[str, Any], address: str) -> dict[str, Any]:
        """Send values to a worker; return their references for the arguments of a task.

        Raises:
            ExecutorLost: it cannot be reached.
        """
        with self._lock:
            client = self._connected()
        try:
            return cast(dict[str, Any], client.scatter(data, workers=[address], hash=False))
        except (*_LOST, KeyError, ValueError) as error:
            raise ExecutorLost(f"worker {address}: buffers cannot be sent: {error}") from error

    def tell(self, task: Callable[..., object], *arguments: object, **where: Any) -> None:
        """Start a task without waiting for its end.

        Raises:
            SchedulerLost: it cannot be reached.
        """
        fire_and_forget(self.submit(task, *arguments, key=f"tell-{uuid4().hex}", **where))

    def wait(
        self, future: Future[Any], moved: threading.Event, given_up: Callable[[], bool], is_lost: Callable[[], bool]
    ) -> object:
        """Return the result of a task. Setting `moved` makes this check whether it was `given_up`.

        Raises:
            CancelledError: it was given up.
            SchedulerLost: the scheduler forgot it, or `is_lost` reports that it will not end.
            KilledWorker: workers died repeatedly while running it.
        """

        def done(_future: object) -> None:
            moved.set()

        future.add_done_callback(done)
        while not future.done():
            moved.wait(_WATCH_S)
            moved.clear()
            if given_up():
                raise CancelledError
            if is_lost():
                raise SchedulerLost("its machine is gone, or does not answer")
        try:
            return future.result(timeout=_ANSWER_S)
        except KilledWorker:
            raise
        except _LOST as error:
            raise SchedulerLost(str(error)) from error

    def close(self) -> None:
        """Disconnect from the scheduler; running tasks are dropped."""
        with self._lock:
            self._drop()

    def _ours(self) -> dict[str, Offer]:
        """Return the workers of this version, by address; none while the scheduler does not answer."""
        with self._lock:
            if self._looked_s is None or self._clock() - self._looked_s >= _LOOK_S:
                try:
                    self._look()
                    self._answered_s = self._clock()
                except (SchedulerLost, *_LOST) as error:
                    self._say(f"scheduler {self._link.address} does not answer: {error}")
                    if self._clock() - self._answered_s > _SILENT_S:
                        self._offers = {}
                self._looked_s = self._clock()
            return {address: offer for address, offer in self._offers.items() if offer is not None}

    def _look(self) -> None:
        client = self._connected()
        assert client.scheduler is not None
        told = cast(Any, client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_ANSWER_S))
        present = set(told["workers"])
        known = {address: offer for address, offer in self._offers.items() if address in present}
        new = sorted(present - set(known))
        if new:
            answers = cast(dict[str, object], client.run(tell_offer, workers=new, on_error="return"))
            known |= {address: self._accepted(address, answer) for address, answer in answers.items()}
        self._offers = known
        self._said = None

    @staticmethod
    def _accepted(address: str, answer: object) -> Offer | None:
        if not isinstance(answer, Offer):
            _log.warning("a worker that is not XeTune's is left alone", worker=address, answer=repr(answer)[:200])
            return None
        if answer.version != version("xetune"):
            _log.warning("worker of another version is left alone", worker=address, version=answer.version)
            return None
        _log.info("worker reached", worker=address, host=answer.host, devices=[d.spec.id for d in answer.devices])
        return answer

    def _connected(self) -> Client:
        if self._client is not None and self._client.status in ("closed", "closing"):
            self._drop()
        if self._client is None:
            # Data is sent once: no warning about large graphs.
            dask_config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
            try:
                self._client = Client(
                    self._link.address,
                    security=security_of(self._link),
                    timeout=_ANSWER_S,
                    set_as_default=False,
                    name="xetune",
                )
            except _LOST as error:
                raise SchedulerLost(str(error)) from error
        return self._client

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(*_LOST, RuntimeError):
                client.close(timeout=_WATCH_S)

    def _say(self, message: str) -> None:
        if message.partition(":")[0] != (self._said or "").partition(":")[0]:
            _log.warning("no executors", reason=message)
        self._said = message


def _by_hardware(offers: dict[str, Offer]) -> list[tuple[str, str, str, tuple[ListedDevice, ...]]]:
    """Yield address, host, hardware and all devices of each executor."""
    return [
        (address, offer.host, hardware, offer.devices)
        for address, offer in sorted(offers.items())
        for hardware in sorted({hardware_of(device) for device in offer.devices})
    ]


def _table() -> list[ListedDevice]:
    """Return the devices that can be predicted."""
    return [listed(row.spec, Runtime.TABLE, None, runnable=False) for row in XE_DEVICES]
