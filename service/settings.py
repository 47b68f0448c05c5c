"""Settings from XETUNE_* variables, read once and passed on as values."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "XETUNE_"
# Of the command line and the Python client, and of the files that Grafana is started with.
_OF_OTHERS = ("XETUNE_SERVER", "XETUNE_API_KEY", "XETUNE_READ_KEY_FILE")


class InvalidSettings(Exception):
    """A variable has an invalid value."""


def _default_data_dir() -> Path:
    return user_data_path("xetune")


def _default_database_url(values: dict[str, Path]) -> str:
    return f"sqlite:///{values['data_dir'] / 'xetune.sqlite'}"


class Settings(BaseSettings):
    """All settings with unit and default. The variable is XETUNE_ and the name in capitals."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, env_ignore_empty=True)

    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Folder of artifacts and the default database"
    )
    database_url: str = Field(
        default_factory=_default_database_url,
        repr=False,  # may hold a password
        description="SQLAlchemy URL; SQLite in data_dir unless set",
    )
    ocloc: Path | None = Field(
        default=None,
        description="Intel's offline compiler; unless set, the one that `xetune toolchain install` put into the user's "
        "data folder, or one in PATH",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on")
    allowed_hosts: str = Field(
        default="localhost,127.0.0.1,[::1]",
        description="Names that requests may address it by, besides `host`, with commas between; * allows any",
    )
    open_on_loopback: bool = Field(
        default=False,
        description="Whether processes of this machine need no key, although keys exist; not behind a proxy that does "
        "not say whom it asks for",
    )
    metrics_open_on_loopback: bool = Field(
        default=False,
        description="Whether processes of this machine need no key for /metrics, although keys exist; not for what a "
        "proxy passes on",
    )
    port: int = Field(default=8752, ge=0, le=65535, description="TCP port to listen on; 0 picks a free one")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe message logged"
    )
    log_format: Literal["console", "json"] = Field(default="console", description="How a log line looks")

    traces: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="Where traces are sent by OTLP over HTTP, such as http://localhost:4318/v1/traces; none unless set",
    )

    samplers: str = Field(
        default="",
        description="Samplers of users that jobs may name, with commas between: package.module:Class each; the service "
        "and its workers import and run them; * allows any",
    )
    cors_origins: str = Field(
        default="",
        description="Other sites whose pages may ask, with commas between: scheme://name[:port] each; they need a key, "
        "as cookies are not sent along",
    )
    rate_per_s: float = Field(
        default=20.0, ge=0, description="Requests in a second of one key, or one address without a key; 0: any number"
    )
    rate_burst: int = Field(default=200, ge=1, description="Requests at once, before the rate counts")

    max_body_bytes: int = Field(default=2**20, ge=1024, description="Largest request body, in bytes")
    max_body_s: float = Field(default=30.0, gt=0, description="How long a request body may take to arrive, in seconds")
    max_import_bytes: int = Field(
        default=64 * 2**20, ge=1024, description="Largest file that is imported, as sent and unpacked, in bytes"
    )
    max_import_s: float = Field(default=300.0, gt=0, description="How long such a file may take to arrive, in seconds")
    max_imports: int = Field(default=2, ge=1, description="Imports at a time; more are refused")
    max_problem_bytes: int = Field(
        default=2**37, ge=1, description="Most bytes that the operands of one problem may have together"
    )
    max_trials: int = Field(default=10_000, ge=1, description="Most trials one job may ask for")
    max_seconds: float = Field(default=86_400.0, gt=0, description="Longest time budget of one job, in seconds")
    max_active_jobs: int = Field(default=1_000, ge=1, description="Most active jobs; more are refused until some end")
    max_misfire_grace_s: int = Field(
        default=86_400, ge=1, description="Longest misfire grace of a schedule, in seconds"
    )

    idempotency_s: float = Field(
        default=86_400.0, gt=0, description="How long the answer to a request with an Idempotency-Key is kept, in s"
    )

    answers_bytes: int = Field(
        default=64 * 2**20, ge=2**16, description="Most memory that answers to lookups are kept in, in bytes"
    )
    replica_age_s: float = Field(
        default=0.2,
        ge=0,
        description="How long what is kept in memory may not know of what other processes wrote to PostgreSQL, in "
        "seconds; of SQLite every process knows at once",
    )

    max_lookups: int = Field(
        default=8, ge=1, description="Lookups of problems that were never tuned at a time; more are refused"
    )
    max_streams: int = Field(default=400, ge=1, description="Event streams at a time; more are refused")
    max_compiles: int = Field(default=2, ge=1, description="Compilations on request at a time; more are refused")
    max_source_bytes: int = Field(default=2**19, ge=1, description="Longest text that is compiled, in bytes")
    compile_wall_s: float = Field(default=30.0, gt=0, description="Longest compilation on request, in seconds")
    compile_cpu_s: int = Field(default=30, ge=1, description="Most processor time of a process of it, in seconds")
    compile_memory_bytes: int = Field(
        default=2**31, ge=2**29, description="Most address space of a process of it, in bytes"
    )
    compile_files_bytes: int = Field(
        default=4 * 2**20,
        ge=1,
        description="Most bytes that the files in the answer to a compilation may have together",
    )

    devices_ttl_s: float = Field(default=10.0, ge=0, description="How long a listing of devices is reused, in seconds")
    metrics_fresh_s: float = Field(
        default=5.0, ge=0, description="How long numbers of the database are reused for /metrics, in seconds"
    )
    events_poll_s: float = Field(default=0.5, gt=0, description="How often an event stream looks for news, in seconds")
    scheduler: bool = Field(default=True, description="Whether this process fires schedules")
    scheduler_poll_s: float = Field(default=5.0, gt=0, description="How often due schedules are looked for, in seconds")
    lease_s: float = Field(
        default=60.0, gt=0, description="How long a worker may be silent before others take its job, in s"
    )
    heartbeat_s: float = Field(
        default=10.0, gt=0, description="How often workers and schedulers say that they are there, in seconds"
    )
    coordinator_lease_s: float = Field(
        default=15.0, gt=0, description="How long a coordinator may be silent before another takes its place, in s"
    )
    max_running_jobs: int = Field(
        default=200, ge=1, description="Most jobs under way in one coordinator: each keeps its space in memory"
    )
    cluster_ca: Path | None = Field(
        default=None, description="PEM file: who signs the certificates of Dask's processes"
    )
    cluster_cert: Path | None = Field(
        default=None, description="PEM file: the certificate that this process shows them"
    )
    cluster_key: Path | None = Field(default=None, description="PEM file of that certificate's key")
    quarantine_s: float = Field(
        default=3600.0, gt=0, description="How long a device that keeps failing gets no jobs, in seconds"
    )
    keep_alive_s: int = Field(
        default=75, ge=1, description="How long a connection that nobody uses is kept, in seconds"
    )
    shutdown_s: int = Field(
        default=30, ge=1, description="How long requests and jobs may take to end when a process is stopped, in seconds"
    )
    worker_poll_s: float = Field(default=1.0, gt=0, description="How often an idle worker looks for a job, in seconds")

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, text: str) -> str:
        for origin in _listed(text):
            if not re.fullmatch(r"https?://[a-z0-9.:\[\]-]+", origin):
                raise ValueError(f"expected origins such as https://tools.example:8443, got {origin!r}")
        return text

    def allows_sampler(self, name: str) -> bool:
        """Return whether jobs may name that sampler of a user."""
        listed = [part.strip() for part in self.samplers.split(",")]
        return "*" in listed or name in listed

    @property
    def cors(self) -> list[str]:
        """Allowed origins of other sites; none unless set."""
        return _listed(self.cors_origins)

    @property
    def artifacts_dir(self) -> Path:
        """Folder of the files of kernels."""
        return self.data_dir / "artifacts"

    @property
    def cache_dir(self) -> Path:
        """Folder of the compile cache; may be deleted at any time."""
        return self.data_dir / "cache"

    @property
    def ocloc_dir(self) -> Path:
        """Folder of Intel's offline compiler, in the user's data folder, independent of the folder of artifacts."""
        return _default_data_dir() / "ocloc"


def _listed(text: str) -> list[str]:
    return [part.strip().lower() for part in text.split(",") if part.strip()]


def read_settings() -> Settings:
    """Read the settings of this process.

    Raises:
        InvalidSettings: names each invalid variable, its value and the error.
    """
    try:
        return Settings()
    except ValidationError as error:
        faults = "; ".join(
            f"{PREFIX}{str(e['loc'][0]).upper()} is {e['input']!r}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors(include_url=False)
        )
        raise InvalidSettings(f"cannot start: {faults}; change or unset the variable") from error


def unknown_settings() -> list[str]:
    """Return a sentence for each unknown XETUNE_* variable of this process, with the setting of the nearest
    name.

    Its value is not included: it may be a secret.
    """
    settings = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]
    told = list[str]()
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in (*settings, *_OF_OTHERS):
            near = get_close_matches(name.upper(), settings, n=1, cutoff=0.75)
            instead = f"the nearest is {near[0]}" if near else "docs/service.md lists every setting"
            told.append(f"{name} is no setting and changes nothing; {instead}")
    return told
