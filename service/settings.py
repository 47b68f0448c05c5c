"""Settings from XETUNE_* variables, read once and passed on as values."""

import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

PREFIX = "XETUNE_"
_OF_OTHERS = (
    "XETUNE_SERVER",
    "XETUNE_API_KEY",
    "XETUNE_HELION_STALE",
    "XETUNE_READ_KEY_FILE",
    "XETUNE_BASE",
    "XETUNE_WORKER_IMAGE",
)
"""Of the command line and the Python client, and of the files of compositions."""


class InvalidSettings(Exception):
    """A variable has an invalid value."""


def _default_data_dir() -> Path:
    return user_data_path("xetune")


def _default_database_url(values: dict[str, Path]) -> str:
    return f"sqlite:///{values['data_dir'] / 'xetune.sqlite'}"


class Settings(BaseModel):
    """All settings with unit and default. The variable is XETUNE_ and the name in capitals."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_dir: Path = Field(
        default_factory=_default_data_dir, description="Folder of artifacts, installed tools and the default database"
    )
    database_url: str = Field(
        default_factory=_default_database_url,
        repr=False,  # may hold a password
        description="SQLAlchemy URL; SQLite in data_dir unless set",
    )
    ocloc: Path | None = Field(
        default=None,
        description="Intel's offline compiler; default: the one installed by `xetune toolchain install`, or "
        "one in PATH",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on")
    allowed_hosts: str = Field(
        default="localhost,127.0.0.1,[::1]",
        description="Allowed host names besides `host`, comma-separated; * allows any",
    )
    open_on_loopback: bool = Field(
        default=False,
        description="Exempt processes of this machine from API keys; unsafe behind a proxy that sends no "
        "forwarding header",
    )
    metrics_open_on_loopback: bool = Field(
        default=False,
        description="Exempt processes of this machine from API keys for /metrics, except through proxies",
    )
    port: int = Field(default=8752, ge=0, le=65535, description="TCP port to listen on; 0 picks a free one")
    worker_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="TCP port of `host` on which a worker answers /healthz and /readyz; 0 picks a free one",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Minimum severity of logged messages"
    )
    log_format: Literal["console", "json"] = Field(default="console", description="Format of log lines")

    traces: str | None = Field(
        default=None,
        pattern=r"^https?://",
        description="OTLP/HTTP endpoint for traces, such as http://localhost:4318/v1/traces; default: no traces",
    )

    samplers: str = Field(
        default="",
        description="Custom samplers that jobs may name, comma-separated package.module:Class; the service and "
        "its workers import and run them; * allows any",
    )
    cors_origins: str = Field(
        default="",
        description="Allowed CORS origins, comma-separated scheme://name[:port]; their requests need a key, "
        "cookies are not sent",
    )
    rate_per_s: float = Field(
        default=20.0,
        ge=0,
        description="Maximum requests per second of one key, or of one address without a key; 0: unlimited",
    )
    rate_burst: int = Field(default=200, ge=1, description="Maximum burst of requests above the rate")

    max_body_bytes: int = Field(default=2**20, ge=1024, description="Maximum size of a request body, in bytes")
    max_body_s: float = Field(default=30.0, gt=0, description="Timeout for receiving a request body, in seconds")
    max_import_bytes: int = Field(
        default=64 * 2**20,
        ge=1024,
        description="Maximum size of an imported file, compressed and decompressed, in bytes",
    )
    max_import_configurations: int = Field(
        default=50_000, ge=1, description="Maximum configurations in an imported file"
    )
    max_import_s: float = Field(default=300.0, gt=0, description="Timeout for receiving an imported file, in seconds")
    max_imports: int = Field(default=2, ge=1, description="Maximum concurrent imports; more are rejected")
    max_problem_bytes: int = Field(
        default=2**37, ge=1, description="Maximum size of all operands of a problem, in bytes"
    )
    max_trials: int = Field(default=10_000, ge=1, description="Maximum trials of a job")
    max_seconds: float = Field(default=86_400.0, gt=0, description="Maximum time budget of a job, in seconds")
    max_active_jobs: int = Field(default=1_000, ge=1, description="Maximum active jobs; more are rejected")
    max_records: int = Field(default=1_000_000, ge=1, description="Maximum stored records; more are rejected")
    max_records_of_problem: int = Field(
        default=1_000, ge=1, description="Maximum stored records of a problem on a device; more are rejected"
    )
    max_misfire_grace_s: int = Field(
        default=86_400, ge=1, description="Maximum misfire grace time of a schedule, in seconds"
    )

    idempotency_s: float = Field(
        default=86_400.0,
        gt=0,
        description="Retention time of responses to requests with an Idempotency-Key, in seconds",
    )

    answers_bytes: int = Field(
        default=64 * 2**20, ge=2**16, description="Maximum memory of cached lookup answers, in bytes"
    )
    replica_age_s: float = Field(
        default=0.2,
        ge=0,
        description="Maximum staleness of caches after another process writes to PostgreSQL, in seconds; 0 with SQLite",
    )

    max_lookups: int = Field(
        default=8, ge=1, description="Maximum concurrent lookups of untuned problems; more are rejected"
    )
    max_streams: int = Field(default=400, ge=1, description="Maximum concurrent event streams; more are rejected")
    max_compiles: int = Field(
        default=2, ge=1, description="Maximum concurrent compilations on request; more are rejected"
    )
    max_source_bytes: int = Field(default=2**19, ge=1, description="Maximum size of a text to compile, in bytes")
    compile_wall_s: float = Field(default=30.0, gt=0, description="Timeout of a compilation on request, in seconds")
    compile_cpu_s: int = Field(default=30, ge=1, description="Maximum CPU time of each of its processes, in seconds")
    compile_memory_bytes: int = Field(
        default=2**31, ge=2**29, description="Maximum address space of each of its processes, in bytes"
    )
    compile_files_bytes: int = Field(
        default=4 * 2**20,
        ge=1,
        description="Maximum size of all files in the response to a compilation, in bytes",
    )

    max_xrays: int = Field(default=1, ge=1, description="Maximum concurrent x-rays of files; more are rejected")
    max_xray_bytes: int = Field(default=256 * 2**20, ge=1024, description="Maximum size of a file to x-ray, in bytes")
    max_xray_s: float = Field(default=300.0, gt=0, description="Timeout for receiving a file to x-ray, in seconds")
    xray_wall_s: float = Field(default=180.0, gt=0, description="Timeout of an x-ray, in seconds")
    xray_cpu_s: int = Field(default=180, ge=1, description="Maximum CPU time of each of its processes, in seconds")
    xray_memory_bytes: int = Field(
        default=2**32, ge=2**29, description="Maximum address space of each of its processes, in bytes"
    )

    devices_ttl_s: float = Field(default=10.0, ge=0, description="Cache lifetime of the device list, in seconds")
    metrics_fresh_s: float = Field(default=5.0, ge=0, description="Cache lifetime of database metrics, in seconds")
    events_poll_s: float = Field(default=0.5, gt=0, description="Polling interval of event streams, in seconds")
    scheduler: bool = Field(default=True, description="Run schedules in this process")
    scheduler_poll_s: float = Field(default=5.0, gt=0, description="Polling interval for due schedules, in seconds")
    lease_s: float = Field(
        default=60.0, gt=0, description="Lease time of a job: a silent worker's job is taken over after it, in seconds"
    )
    heartbeat_s: float = Field(
        default=10.0, gt=0, description="Heartbeat interval of workers and schedulers, in seconds"
    )
    coordinator_lease_s: float = Field(
        default=15.0, gt=0, description="Lease time of a coordinator: another one takes over after it, in seconds"
    )
    max_running_jobs: int = Field(
        default=200, ge=1, description="Maximum concurrent jobs of a coordinator; each holds its search space in memory"
    )
    cluster_ca: Path | None = Field(
        default=None, description="PEM file of the CA for the certificates of Dask processes"
    )
    cluster_cert: Path | None = Field(default=None, description="PEM file of this process's certificate")
    cluster_key: Path | None = Field(default=None, description="PEM file of the certificate's private key")
    quarantine_s: float = Field(
        default=3600.0, gt=0, description="Quarantine time of a device that fails repeatedly, in seconds"
    )
    keep_alive_s: int = Field(default=75, ge=1, description="Timeout of idle connections, in seconds")
    shutdown_s: int = Field(default=30, ge=1, description="Grace period for requests and jobs at shutdown, in seconds")
    worker_poll_s: float = Field(default=1.0, gt=0, description="Polling interval of an idle worker, in seconds")

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
        """Folder of Intel's offline compiler."""
        return self.data_dir / "ocloc"

    @property
    def driver_dir(self) -> Path:
        """Folder of Intel's GPU driver in its simulation mode."""
        return self.data_dir / "driver"


def _listed(text: str) -> list[str]:
    return [part.strip().lower() for part in text.split(",") if part.strip()]


def read_settings() -> Settings:
    """Read the settings of this process.

    Raises:
        InvalidSettings: names each invalid variable, its value and the error.
    """
    given = {name.upper(): value for name, value in os.environ.items() if value}
    variables = {name: f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    try:
        return Settings.model_validate({n: given[variable] for n, variable in variables.items() if variable in given})
    except ValidationError as error:
        from service.http.validation_errors import message_of

        faults = "; ".join(
            f"{PREFIX}{str(e['loc'][0]).upper()} is {e['input']!r}: {message_of(e)}"
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
            instead = f"the nearest is {near[0]}" if near else "docs/reference/configuration.md lists every setting"
            told.append(f"unknown setting {name} is ignored; {instead}")
    return told
