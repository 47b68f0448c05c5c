"""Sources of kernels: a folder, a service, or the results of this machine."""

import atexit
import base64
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol
from uuid import UUID

from xetune_client import Client, ClientError, NotFound, Refused, Retries, models
from xetune_torch.errors import StoreFailed
from xetune_torch.gemm import CPU, Gemm
from xetune_torch.repeats import Outlook

MANIFEST, OBJECT, SPIRV = "kernel.json", "kernel.o", "kernel.spv"
_STARTED_S, _STOPPED_S = 60.0, 10.0
_UNDER_WAY = (models.JobStatus.QUEUED, models.JobStatus.RUNNING)
_log = logging.getLogger("xetune_torch")


@dataclass(frozen=True, slots=True)
class Answer:
    """A kernel for a product: its files, and what the store says of it (`exact`, `nearest`, ...).

    `binary` is object code for a CPU, SPIR-V for a GPU; `native` is the code of the GPU for the driver of the product.
    """

    manifest: dict[str, object]
    binary: bytes
    source: str
    native: bytes | None = None


class Store(Protocol):
    """Finds kernels, and tunes them. `find` and `outlook` are called by one thread at a time."""

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        """Yield kernels for a product on its device; with `constant_b` also one that takes B packed.

        Raises:
            StoreFailed: the store does not answer.
        """
        ...

    def outlook(self, gemm: Gemm) -> Outlook:
        """Return what another `find` of a product may bring after the last one.

        Raises:
            StoreFailed: the store does not answer.
        """
        ...

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None:
        """Return when these products are tuned, each with at most `trials` trials and `seconds`.

        Raises:
            StoreFailed: the store does not answer, or does not tune.
        """
        ...


class FolderStore:
    """Kernels in folders below a folder, each with kernel.json and kernel.o or kernel.spv, as `xetune kernels ... -o`
    writes them.

    They are read once, when the store is made.

    Raises:
        StoreFailed: there is no such folder.
    """

    def __init__(self, folder: str | Path) -> None:
        if not Path(folder).is_dir():
            raise StoreFailed(f"expected a folder of kernels, got {str(folder)!r}, which is none: check the path")
        self._folders: dict[tuple[str, str], list[Path]] = {}
        for manifest in sorted(Path(folder).rglob(MANIFEST)):
            described = json.loads(manifest.read_text(encoding="utf-8"))
            key = _key(models.ProblemBody.model_validate(described["problem"]))
            for file, device in ((OBJECT, CPU.device), (SPIRV, str(described.get("compiled_for")))):
                if (manifest.parent / file).is_file():
                    self._folders.setdefault((key, device), []).append(manifest.parent)

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        """Yield the kernels of the folder; see Store.find."""
        for folder in self._folders.get((_key(gemm.body), gemm.place.device), ()):
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            if constant_b or not any(step.get("once") for step in manifest["steps"]):
                yield Answer(manifest, (folder / _binary_of(gemm)).read_bytes(), "exact")

    def outlook(self, gemm: Gemm) -> Outlook:
        """Return that answers do not change."""
        return Outlook.FINAL

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None:
        """Raise, as a folder does not tune."""
        raise StoreFailed("a folder of kernels does not tune: use LocalStore() or ServiceStore(url)")


class ServiceStore:
    """Kernels of a service, for its CPU, which must have the instructions of this one, or for a GPU.

    URL and API key default to those of `xetune_client.Client`. With `queue` a product without results is queued for
    the workers of the service when it is looked up first; a job that fails is not queued again.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, *, queue: bool = False) -> None:
        self._client = Client(url, api_key, retries=Retries(attempts=2))
        self._queue = queue
        self._jobs: dict[Gemm, UUID] = {}  # those under way
        self._queued: set[Gemm] = set()
        self._exact: set[Gemm] = set()

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        """Look a kernel up, or compile the configuration of the answer; see Store.find."""
        self._exact.discard(gemm)
        tune = models.Tune.ON_MISS if self._queue and gemm not in self._queued else models.Tune.NEVER
        try:
            place = gemm.place
            body = models.LookupBody(problem=gemm.body, device=place.device, driver=place.driver, tune=tune)
            found = self._client.lookup(body)
            if found.job is not None:
                self._jobs[gemm] = found.job
                self._queued.add(gemm)
            if found.source is models.AnswerSource.EXACT:
                self._exact.add(gemm)
            if found.kernel is not None:
                yield self._stored(gemm, found.kernel, found.source.value)
            elif isinstance(found.config, models.ConfigBody):
                yield self._compiled(gemm, found.config, found.source.value)
            if constant_b and isinstance(found.config, models.ConfigBody):
                yield from self._packed_beforehand(gemm, found.config, found.source.value)
        except NotFound:
            return
        except ClientError as error:
            raise StoreFailed(f"no kernel for {gemm}: {error}") from error

    def outlook(self, gemm: Gemm) -> Outlook:
        """Return whether the last answer was exact, and what became of the job that it queued; see Store.outlook."""
        job = self._jobs.get(gemm)
        if job is None:
            return Outlook.FINAL if gemm in self._exact else Outlook.OPEN
        try:
            status = self._client.job(job).status
        except NotFound:
            status = None
        except ClientError as error:
            raise StoreFailed(f"job {job} for {gemm}: {error}") from error
        if status in _UNDER_WAY:
            return Outlook.QUEUED
        del self._jobs[gemm]
        if status is not models.JobStatus.SUCCEEDED:
            ended = "is gone" if status is None else f"{status.value}; `xetune jobs show {job}` says why"
            _log.warning("job %s for %s: %s", job, gemm, ended)
        return Outlook.READY

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None:
        """Queue a job for each product, and wait for all of them; see Store.tune."""
        budget = models.BudgetBody(trials=trials, seconds=seconds)
        jobs: list[UUID] = []
        try:
            for gemm in gemms:
                body = models.JobBody(problem=gemm.body, device=gemm.place.device, budget=budget)
                jobs.append(self._client.create_job(body).id)
            for gemm, job in zip(gemms, jobs, strict=True):
                ended = self._client.wait(job)
                if ended.status not in (models.JobStatus.SUCCEEDED,):
                    raise StoreFailed(f"job {job} for {gemm}: {ended.status.value}; `xetune jobs show {job}` says why")
        except ClientError as error:
            raise StoreFailed(f"tuning: {error}") from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _stored(self, gemm: Gemm, kernel: models.KernelOut, source: str) -> Answer:
        read = self._client.kernel_file
        # Without a driver none is stale; a binary for another one is refused, or worse.
        valid = [each for each in kernel.binaries if not each.stale] if gemm.place.driver is not None else []
        native = read(kernel.id, valid[0].name) if valid else None
        return Answer(json.loads(read(kernel.id, MANIFEST)), read(kernel.id, _binary_of(gemm)), source, native)

    def _compiled(self, gemm: Gemm, config: models.ConfigBody, source: str) -> Answer:
        body = models.CompileBody(problem=gemm.body, device=gemm.place.device, config=config, files=[_binary_of(gemm)])
        made = self._client.compile(body)
        return Answer(made.manifest, base64.b64decode(made.files[0].content), source)

    def _packed_beforehand(self, gemm: Gemm, config: models.ConfigBody, source: str) -> Iterator[Answer]:
        if not isinstance(config.strategy, models.CpuStrategyBody):
            return
        strategy = config.strategy.model_copy(update={"pack_b": models.Packing.BEFOREHAND})
        try:
            yield self._compiled(gemm, config.model_copy(update={"strategy": strategy}), f"{source}, B packed")
        except Refused:  # such as a configuration whose tile reads B in place
            return


class LocalStore:
    """Results of this machine, as the command line has them.

    They are read by a service on a free port of loopback, a process that starts with the first question and ends with
    this process; a worker starts beside it with the first tuning. A service that ended is started again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._service: ServiceStore | None = None
        self._environment: dict[str, str] = {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._printed: IO[bytes] | None = None

    def find(self, gemm: Gemm, *, constant_b: bool = False) -> Iterator[Answer]:
        """See ServiceStore.find."""
        yield from self._started().find(gemm, constant_b=constant_b)

    def outlook(self, gemm: Gemm) -> Outlook:
        """See ServiceStore.outlook."""
        return self._started().outlook(gemm)

    def tune(self, gemms: Sequence[Gemm], trials: int, seconds: float) -> None:
        """Tune in a process of this machine; see Store.tune."""
        service = self._started()
        with self._lock:
            if len(self._processes) == 1:
                self._start("worker", "--parent", str(os.getpid()))
        service.tune(gemms, trials, seconds)

    def close(self) -> None:
        """Close the connections and end the processes; the next question starts others.

        While a store is in use there may always be another one: call `xetune_torch.use(None)` first.
        """
        if self._service is not None:
            self._service.close()
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(_STOPPED_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        self._service = None
        if self._printed is not None:
            self._printed.close()
            self._printed = None

    def _started(self) -> ServiceStore:
        with self._lock:
            if self._processes and self._processes[0].poll() is not None:
                self.close()
            if self._service is None:
                with socket.socket() as free:
                    free.bind(("127.0.0.1", 0))
                    port = str(free.getsockname()[1])
                self._environment = {**os.environ, "XETUNE_HOST": "127.0.0.1", "XETUNE_PORT": port}
                self._start("serve", "--no-worker")
                url = f"http://127.0.0.1:{port}"
                self._wait(url)
                self._service = ServiceStore(url)
            return self._service

    def _start(self, *command: str) -> None:
        if self._printed is None:
            self._printed = TemporaryFile()  # noqa: SIM115 - `close` closes it
            atexit.register(self.close)
        quiet = subprocess.DEVNULL
        self._processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "service.cli", *command],
                env=self._environment,
                stdin=quiet,
                stdout=quiet,
                stderr=self._printed,
            )
        )

    def _last_line(self) -> str:
        """Return what the processes printed last."""
        assert self._printed is not None
        self._printed.seek(0)
        return (self._printed.read().decode(errors="replace").strip() or "without a message").splitlines()[-1]

    def _wait(self, url: str) -> None:
        begun = time.monotonic()
        with Client(url, retries=Retries(attempts=1)) as client:
            while True:
                try:
                    client.health()
                except ClientError as error:
                    if (code := self._processes[-1].poll()) is not None or time.monotonic() - begun > _STARTED_S:
                        why = f"it ended with {code}: {self._last_line()}" if code is not None else str(error)
                        self.close()
                        raise StoreFailed(
                            f"the service of this machine did not start: {why}; try `xetune serve`"
                        ) from error
                    time.sleep(0.1)
                else:
                    return


def _binary_of(gemm: Gemm) -> str:
    return OBJECT if gemm.place == CPU else SPIRV


def _key(body: models.ProblemBody) -> str:
    """Return a problem as text that is equal for equal problems."""
    full = body.model_dump(mode="json")
    rows_a, rows_b = (body.k if body.transpose_a else body.m), (body.n if body.transpose_b else body.k)
    packed = 8 if body.dtype_b in (models.DType.U4, models.DType.S4, models.DType.E2M1) else 1
    full["lda"] = body.lda or (body.m if body.transpose_a else body.k)
    full["ldb"] = body.ldb or (body.k // packed if body.transpose_b else body.n)
    full["ldc"] = body.ldc or body.n
    rows_b = body.n if body.transpose_b else rows_b // packed
    for name, tight in (("a", rows_a * full["lda"]), ("b", rows_b * full["ldb"]), ("c", body.m * full["ldc"])):
        stride = full[f"batch_stride_{name}"]
        full[f"batch_stride_{name}"] = tight if stride is None else stride
    return json.dumps(full, sort_keys=True)
