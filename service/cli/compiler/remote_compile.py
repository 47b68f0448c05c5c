"""Compilation by a service: all files are verified before one of them is written."""

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterator

from codegen import StageOutput
from codegen.artifact.files import is_plain_name
from service.api.compile.schemas import (
    CompileBody,
    CompiledFileOut,
    CompileOut,
    StageOut,
)
from service.api.compile.work import EVERY_FILE
from service.cli.access.connection import of_service, same
from service.cli.compiler.compiled import Made
from service.errors import BadRequest, RefusedByRule, Unavailable
from xetune_client import BadRequest as Refused
from xetune_client import Client, Conflict, models

_PLACE = re.compile(r'\bsource(?="?:\d+:\d+)')  # the service's name for a text it was sent


def remote_compile(url: str, body: CompileBody, name: str | None = None) -> Made:
    """Compile at a service, and return the files of all stages. Locations in a text are reported as in the
    file `name`.

    Raises:
        ServiceError: it refuses, cannot compile it, or the answer is invalid.
    """
    with of_service(url) as client:
        try:
            answer = _compiled(client, body)
        except Refused as refused:
            if name is None or refused.rule != "compile-failed":
                raise
            raise BadRequest(_PLACE.sub(lambda _: name, refused.detail), rule=refused.rule) from refused
        except Conflict as refused:
            if name is None or not refused.rule:
                raise
            raise RefusedByRule(_PLACE.sub(lambda _: name, refused.detail), rule=refused.rule) from refused
    return Made(answer.target, answer.content_hash, tuple(_stages(answer)), answer.manifest)


def _compiled(client: Client, body: CompileBody) -> CompileOut:
    """Request all files in one response; separately if they are too large together."""
    try:
        return _compile(client, body.model_copy(update={"files": [EVERY_FILE]}))
    except Refused as refused:
        if refused.rule != "files-bytes":
            raise
    answer = _compile(client, body)
    for name in dict.fromkeys(stage.file for stage in answer.stages):
        try:
            answer.files += _compile(client, body.model_copy(update={"files": [name]})).files
        except Refused as refused:
            raise BadRequest(f"{name}: {refused.detail}", rule=refused.rule) from refused
    return answer


def _compile(client: Client, body: CompileBody) -> CompileOut:
    return same(CompileOut, client.compile(same(models.CompileBody, body)))


def _stages(answer: CompileOut) -> Iterator[StageOutput]:
    files = {file.name: file for file in answer.files}
    for stage in answer.stages:
        if not is_plain_name(stage.file):
            raise _strange(f"a stage's file is called {stage.file!r}, which is not a plain file name")
        if stage.file not in files:
            raise _strange(f"it has no file {stage.file}, which was asked for")
        yield StageOutput(stage.name, stage.file, _data(files[stage.file], stage), stage.elapsed_ms)


def _data(file: CompiledFileOut, stage: StageOut) -> bytes:
    try:
        data = b64decode(file.content, validate=True)
    except ValueError as error:
        raise _strange(f"file {file.name} is no base64") from error
    found, digest = len(data), hashlib.sha256(data).hexdigest()
    if (found, digest) != (stage.size, stage.sha256):
        raise _strange(
            f"expected {file.name} of {stage.size} bytes with SHA-256 {stage.sha256}, got {found} bytes with {digest}"
        )
    return data


def _strange(why: str) -> Unavailable:
    return Unavailable(f"what the service answered cannot be used, and nothing was written: {why}")
