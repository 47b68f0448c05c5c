"""Compilation of requests in sandboxed child processes, with a limit on concurrent ones."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict

from pydantic import BaseModel, Field, ValidationError

from hal import DeviceSpec
from service.api.compile.schemas import (
    CompileBody,
    CompileOut,
    ConfinementOut,
)
from service.api.compile.work import (
    GemmWork,
    ModuleWork,
    Wanted,
)
from service.configurations import from_config_body
from service.errors import BadRequest, FieldError, RefusedByRule, TooLarge
from service.http.limits import Slots
from service.sandbox.limits import (
    Held,
    Limits,
)
from service.sandbox.parent import (
    ConfinedFailure,
    LimitReached,
    probe,
    run_confined,
)
from service.schemas import check_size, to_problem
from service.settings import Settings
from service.telemetry.loggers import Logger

_WORK = "service.api.compile.work"
_PROBED_AGAIN_S = 10.0
_log = Logger(__name__)


class Compiler:
    """Sandboxed compilations of one service. Thread-safe."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = Limits(
            memory_bytes=settings.compile_memory_bytes,
            cpu_s=settings.compile_cpu_s,
            wall_s=settings.compile_wall_s,
        )
        self.slots = Slots(settings.max_compiles, "compiles", "compilations")
        self._held: Held | None = None
        self._clock, self._again_at = clock, 0.0
        self._trying, self._failed = threading.Lock(), False

    def compile(self, asked: ModuleWork | GemmWork) -> CompileOut:
        """Compile in a sandboxed child process.

        Raises:
            TooMany: rule `compiles`.
            BadRequest: it cannot be compiled, reaches a limit (rule `limit-` and its name), or has no such
            file; rule
                `files-bytes`: the files are too large.
            RefusedByRule: a legality rule refuses it.
        """
        with self.slots.one():
            try:
                answer = run_confined(_WORK, asked, self._limits)
            except LimitReached as reached:
                raise BadRequest(f"{reached}; send less at once", rule=f"limit-{reached.limit.value}") from reached
            except ConfinedFailure as ended:
                raise BadRequest(str(ended), rule="compiler-ended") from ended
        self._held = answer.held
        return _read(answer.document, answer.held)

    def confinement(self) -> ConfinementOut | None:
        """Return the restrictions of the child; None if none started, which is retried some seconds later.

        Callers wait for the first attempt; later attempts do not block other callers.
        """
        if self._held is None and self._trying.acquire(blocking=not self._failed):
            try:
                self._try_again()
            finally:
                self._trying.release()
        return None if self._held is None else _told(self._held)

    def prepare(self) -> None:
        """Find out in a background thread what this machine restricts, and log it."""
        threading.Thread(target=self.confinement, name="confinement", daemon=True).start()

    def _try_again(self) -> None:
        if self._held is not None or self._clock() < self._again_at:
            return
        try:
            self._held = held = probe(self._limits)
            say = _log.warning if held.lacks else _log.info
            say("texts are compiled in a confined process", **asdict(held), lacks=held.lacks)
        except ConfinedFailure as failure:
            self._failed, self._again_at = True, self._clock() + _PROBED_AGAIN_S
            _log.warning("no confined process starts", why=str(failure))


def understand(body: CompileBody, spec: DeviceSpec, settings: Settings) -> ModuleWork | GemmWork:
    """Convert a request body to the work of a child.

    Raises:
        BadRequest: both a text and a problem, or neither; a configuration that contradicts itself; a large
        problem.
        TooLarge: a text longer than the setting.
    """
    wanted = Wanted(tuple(body.files), settings.compile_files_bytes)
    if (body.source is None) == (body.problem is None):
        raise _invalid("source", "expected either source or problem, got both or neither")
    if body.source is not None:
        if body.config is not None:
            raise _invalid("config", "expected it with problem, got it with source")
        nbytes = len(body.source.encode())
        if nbytes > settings.max_source_bytes:
            message = f"source has {nbytes} bytes; at most {settings.max_source_bytes} are compiled"
            raise TooLarge(f"{message} (XETUNE_MAX_SOURCE_BYTES)", rule="source-bytes")
        return ModuleWork(body.source, spec, wanted)
    assert body.problem is not None
    problem = to_problem(body.problem)
    check_size(problem, settings)
    return GemmWork(problem, None if body.config is None else from_config_body(body.config), spec, wanted)


def _told(held: Held) -> ConfinementOut:
    return ConfinementOut.model_validate({**asdict(held), "lacks": held.lacks})


class _AtPlace(BaseModel):
    """An error, at a place of the text if it is about one."""

    message: str
    line: int | None = Field(default=None, ge=1)
    column: int | None = Field(default=None, ge=1)

    def errors(self) -> list[FieldError] | None:
        """Return the error of the field with the text; None for one without a place."""
        if self.line is None:
            return None
        return [FieldError(field="source", message=self.message, line=self.line, column=self.column)]


class _Refused(_AtPlace):
    rule: str


class _Failed(_AtPlace):
    stage: str


class _Said(BaseModel):
    """Answer of a child; untrusted, since the child compiles untrusted text."""

    made: dict[str, object] | None = None
    refused: _Refused | None = None
    invalid: FieldError | None = None
    failed: _Failed | None = None
    too_large: str | None = None


def _read(document: dict[str, object], held: Held) -> CompileOut:
    try:
        said = _Said.model_validate(document)
        if said.made is not None:
            return CompileOut.model_validate({**said.made, "confinement": _told(held)})
    except ValidationError as error:
        raise BadRequest("what the compiler answered cannot be read", rule="compiler-ended") from error
    if said.refused is not None:
        raise RefusedByRule(said.refused.message, rule=said.refused.rule, errors=said.refused.errors())
    if said.invalid is not None:
        raise _invalid(said.invalid.field, said.invalid.message)
    if said.too_large is not None:
        more = "ask for fewer, or have XETUNE_COMPILE_FILES_BYTES raised"
        raise BadRequest(f"files: {said.too_large}; {more}", rule="files-bytes")
    if said.failed is not None:
        detail = f"stage {said.failed.stage}: {said.failed.message}"
        raise BadRequest(detail, rule="compile-failed", errors=said.failed.errors())
    raise BadRequest("the compiler answered nothing", rule="compiler-ended")


def _invalid(field: str, message: str) -> BadRequest:
    return BadRequest(f"{field}: {message}", rule="invalid-request", errors=[FieldError(field=field, message=message)])
