"""Work of the sandboxed child: one compilation, whose result or error is returned as JSON."""

import hashlib
import json
import re
import sys
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen import CompileFailed, GemmProblem, InvalidConfig, InvalidProblem, KernelConfig, Refused
from codegen.errors import Place
from hal import DeviceSpec
from service.sandbox.limits import Limit

if TYPE_CHECKING:  # the parent does without compilers
    from codegen.artifact.kernel_artifact import AnyArtifact, KernelArtifact

Json = dict[str, object]

_SHOWN_CHARACTERS = 2000
_LIMITS = (
    (re.compile(r"bad_alloc|out of memory|MemoryError|Cannot allocate memory", re.IGNORECASE), Limit.MEMORY),
    (re.compile(r"of processor time"), Limit.CPU_TIME),
    (re.compile(r"File too large|SIGXFSZ"), Limit.FILE_SIZE),
    (re.compile(r"maximum recursion depth"), Limit.NESTING),
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to return, by name or all by `EVERY_FILE`, and the maximum of their total size in bytes."""

    names: tuple[str, ...]
    most_bytes: int


_NOTHING = Wanted((), 0)
EVERY_FILE = "*"


@dataclass(frozen=True, slots=True)
class ModuleWork:
    """Kernels as text, XeTile or XeGPU."""

    source: str
    spec: DeviceSpec
    wanted: Wanted = _NOTHING


@dataclass(frozen=True, slots=True)
class GemmWork:
    """A GEMM in a configuration; None is the default configuration."""

    problem: GemmProblem
    config: KernelConfig | None
    spec: DeviceSpec
    wanted: Wanted = _NOTHING


def run(asked: ModuleWork | GemmWork) -> Json:
    """Compile; return the result as `made`, or an error as `refused`, `failed`, `invalid`, `too_large` or
    `limit`.
    """
    try:
        return _module(asked) if isinstance(asked, ModuleWork) else _gemm(asked)
    except Refused as refused:
        return {"refused": {"rule": refused.rule, "message": refused.message} | _place(refused.place)}
    except (InvalidProblem, InvalidConfig) as invalid:
        return {"invalid": {"field": invalid.field, "message": invalid.message}}
    except CompileFailed as failed:
        for sign, limit in _LIMITS:
            if sign.search(failed.message):
                return {"limit": limit.value}
        message = failed.message[:_SHOWN_CHARACTERS]
        return {"failed": {"stage": failed.stage, "message": message} | _place(failed.place)}
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        most = sys.get_int_max_str_digits()
        return {"failed": {"stage": "parse", "message": f"expected numbers of at most {most} digits, got a longer one"}}


def _place(place: Place | None) -> Json:
    return {} if place is None else {"line": place.line, "column": place.column}


def _module(asked: ModuleWork) -> Json:
    from codegen.artifact.manifest import module_manifest
    from codegen.pipeline import compile_module

    artifact = compile_module(asked.source, asked.spec, "source")
    return _answer(artifact, dict(module_manifest(artifact)), asked.wanted)


def _gemm(asked: GemmWork) -> Json:
    from codegen.backend import backend_of, compile_kernel
    from tuner.backend import tuning_for

    config = tuning_for(asked.spec).default(asked.problem, asked.spec) if asked.config is None else asked.config
    artifact = compile_kernel(asked.problem, config, asked.spec)
    return _answer(artifact, dict(backend_of(artifact.config).manifest(artifact)), asked.wanted)


def _answer(artifact: "AnyArtifact | KernelArtifact", manifest: Json, wanted: Wanted) -> Json:
    files = {stage.file_name: stage.data for stage in artifact.stages}
    files["kernel.json"] = (json.dumps(manifest, indent=2) + "\n").encode()
    names = tuple(files) if EVERY_FILE in wanted.names else tuple(dict.fromkeys(wanted.names))
    if unknown := [name for name in names if name not in files]:
        message = f"expected names out of {', '.join(files)}; got {', '.join(map(repr, unknown))}"
        return {"invalid": {"field": "files", "message": message}}
    nbytes = sum(len(files[name]) for name in names)
    if nbytes > wanted.most_bytes:
        return {"too_large": f"the files have {nbytes} bytes together; at most {wanted.most_bytes} are answered"}
    return {"made": _made(artifact, manifest) | {"files": [_file(name, files[name]) for name in names]}}


def _file(name: str, data: bytes) -> Json:
    digest = hashlib.sha256(data).hexdigest()
    return {"name": name, "size": len(data), "sha256": digest, "content": b64encode(data).decode()}


def _made(artifact: "AnyArtifact | KernelArtifact", manifest: Json) -> Json:
    return {
        "content_hash": artifact.content_hash,
        "compile_key": artifact.key,
        "target": artifact.target,
        "stages": [
            {
                "name": stage.name,
                "file": stage.file_name,
                "size": len(stage.data),
                "sha256": hashlib.sha256(stage.data).hexdigest(),
                "elapsed_ms": round(stage.elapsed_ms, 3),
            }
            for stage in artifact.stages
        ],
        "manifest": manifest,
    }
