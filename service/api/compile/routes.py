"""POST /v1/compile."""

from service.api.compile.schemas import (
    CompileBody,
    CompileOut,
)
from service.api.compile.service import understand
from service.api.keys.guard import (
    TUNE,
    guarded_router,
)
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    TOO_LARGE,
)

router = guarded_router("/v1/compile", "kernels")


@router.post("", responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def compile_kernels(body: CompileBody, context: ContextDep) -> CompileOut:
    """Compile kernels or a problem at once, without a job; returns the hashes of every stage and the
    requested files.

    Nothing is stored. Compilation runs in a sandboxed process with limited resources; a limit that it reaches
    is the `rule` of the error.
    """
    spec = context.devices.resolve(body.device, body.target).spec
    return context.compiler.compile(understand(body, spec, context.settings))
