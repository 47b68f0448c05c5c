"""Health on the wire."""

from typing import Literal

from pydantic import BaseModel, Field

from service.api.compile.schemas import HELD, ConfinementOut


class Health(BaseModel):
    """The process is up."""

    status: Literal["ok"] = Field(default="ok", description="ok: the process is up", examples=["ok"])


class WorkerOut(BaseModel):
    """Numbers of jobs at the workers, from the leases of running jobs; not of workers."""

    running: int = Field(description="Jobs with a live lease", examples=[1])
    stale: int = Field(description="Running jobs whose worker has not sent a heartbeat for too long", examples=[0])
    queued: int = Field(description="Jobs waiting for a worker", examples=[3])


class CheckOut(BaseModel):
    """Result of one check."""

    name: Literal["database", "migrations", "artifacts", "compiler", "worker", "scheduler", "coordinator"] = Field(
        description="database: it answers; migrations: it is at this version's revision; artifacts: their folder is "
        "writable; compiler: kernels can be compiled on request; worker, scheduler: a process sent a heartbeat lately; "
        "coordinator: one has the lease to assign jobs",
        examples=["worker"],
    )
    ok: bool = Field(description="Whether it works", examples=[False])
    detail: str | None = Field(
        default=None, description="The problem and its remedy; null if it works", examples=["none was seen lately"]
    )


class Readiness(BaseModel):
    """State of a service that can serve requests: the database is reachable and migrated. Failed checks are
    listed.
    """

    status: Literal["ready", "degraded"] = Field(
        description="ready: all checks passed; degraded: requests are served, but some check failed", examples=["ready"]
    )
    checks: list[CheckOut] = Field(
        description="Result of each check", examples=[[{"name": "database", "ok": True, "detail": None}]]
    )
    database: str = Field(description="Revision of the database", examples=["0001"])
    confinement: ConfinementOut | None = Field(
        description="Restrictions of a process that compiles on request; null: none starts",
        examples=[HELD],
    )
    workers: WorkerOut = Field(description="Jobs at the workers", examples=[{"running": 1, "stale": 0, "queued": 3}])
