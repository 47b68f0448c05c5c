"""Health on the wire."""

from typing import Literal

from pydantic import BaseModel, Field

from service.api.compile.schemas import ConfinementOut


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = Field(default="ok", description="ok: the process is up", examples=["ok"])


class WorkerOut(BaseModel):
    """What the leases of running jobs say of the workers."""

    running: int = Field(description="Jobs with a live lease", examples=[1])
    stale: int = Field(description="Running jobs whose worker has been silent too long", examples=[0])
    queued: int = Field(description="Jobs that wait for a worker", examples=[3])


class CheckOut(BaseModel):
    """A part that was looked at."""

    name: Literal["database", "migrations", "artifacts", "compiler", "worker", "scheduler", "coordinator"] = Field(
        description="database: it answers; migrations: it has this version's tables; artifacts: their folder can be "
        "written; compiler: texts that are sent can be compiled; worker, scheduler: a process somewhere said lately "
        "that it is there; coordinator: one has the lease to give out jobs",
        examples=["worker"],
    )
    ok: bool = Field(description="Whether it works", examples=[False])
    detail: str | None = Field(
        default=None, description="What is wrong and what to do; null when it works", examples=["none was seen lately"]
    )


class Readiness(BaseModel):
    """The service can serve: the database is reachable and migrated. What else is missing is named."""

    status: Literal["ready", "degraded"] = Field(
        description="ready: all is there; degraded: requests are served, but some check failed", examples=["ready"]
    )
    checks: list[CheckOut] = Field(
        description="Each part that was looked at", examples=[[{"name": "database", "ok": True, "detail": None}]]
    )
    database: str = Field(description="Revision the database is at", examples=["0001"])
    confinement: ConfinementOut | None = Field(
        description="What a process that compiles on request is held to; null: none starts",
        examples=[{"network": "namespace", "files": "landlock", "system_calls": "seccomp", "processes": True}],
    )
    workers: WorkerOut = Field(description="Who works", examples=[{"running": 1, "stale": 0, "queued": 3}])
