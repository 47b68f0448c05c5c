"""Workers as jobs of a batch system: PBS and Slurm, through dask-jobqueue."""

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from dask import config as dask_config
from dask_jobqueue.core import Job
from dask_jobqueue.pbs import PBSJob
from dask_jobqueue.slurm import SLURMJob

from service.cluster.link import Link
from service.settings import InvalidSettings

_WORKER = "service.cli worker --scheduler"


class System(StrEnum):
    """A batch system."""

    PBS = "pbs"
    SLURM = "slurm"


_JOBS: dict[System, type[Job]] = {System.PBS: PBSJob, System.SLURM: SLURMJob}


@dataclass(frozen=True, slots=True)
class BatchJob:
    """What each worker's job asks for. `directives` and `prologue` are lines of its script; it offers `devices`."""

    cores: int
    memory: str
    walltime: str
    queue: str | None = None
    account: str | None = None
    directives: Sequence[str] = ()
    prologue: Sequence[str] = ()
    devices: Sequence[str] = ()


def job_of(system: System, link: Link, asked: BatchJob, name: str, *, insecure: bool = False) -> Job:
    """The job of one worker of that name; `job_script()` is what is handed to the batch system."""
    wanted = [*(word for device in asked.devices for word in ("--device", shlex.quote(device)))]
    # Dask's own worker would end when its scheduler is away for a while; ours looks for it until the job ends.
    with dask_config.set({f"jobqueue.{system}.death-timeout": None}):
        make = cast(Any, _JOBS[system])
        return make(
            link.address,
            name,
            job_name="xetune",
            queue=asked.queue,
            account=asked.account,
            walltime=asked.walltime,
            cores=asked.cores,
            processes=1,
            memory=asked.memory,
            worker_command=_WORKER,
            worker_extra_args=[*wanted, *(["--insecure"] if insecure else [])],
            job_extra_directives=list(asked.directives),
            job_script_prologue=[*_exports(link), *asked.prologue],
        )


def submit(jobs: Sequence[Job]) -> list[str]:
    """Hand jobs to the batch system; their ids.

    Raises:
        InvalidSettings: it refuses one, or its command is not here.
    """

    async def start() -> list[str]:
        return [await _started(job) for job in jobs]

    return asyncio.run(start())


async def _started(job: Job) -> str:
    command = cast(Any, job).submit_command
    try:
        await job.start()
    except FileNotFoundError as error:
        raise InvalidSettings(
            f"{command} is not here: submit from a machine of the cluster, or see --script"
        ) from error
    except RuntimeError as error:
        raise InvalidSettings(f"{command} refused the job: {error}") from error
    return str(cast(Any, job).job_id)


def _exports(link: Link) -> list[str]:
    files = link.certificates
    if files is None:
        return []
    paths = {"CA": files.ca, "CERT": files.cert, "KEY": files.key}
    return [f"export XETUNE_CLUSTER_{name}={shlex.quote(str(path.resolve()))}" for name, path in paths.items()]
