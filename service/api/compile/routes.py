"""POST /v1/compile."""

from fastapi import APIRouter

from service.api.compile.schemas import (
    CompileBody,
    CompileOut,
)
from service.api.compile.service import understand
from service.api.keys.guard import (
    TUNE,
    GuardedRoute,
)
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    TOO_LARGE,
)

router = APIRouter(prefix="/v1/compile", tags=["kernels"], route_class=GuardedRoute)


@router.post("", responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def compile_kernels(body: CompileBody, context: ContextDep) -> CompileOut:
    """Compile a text or a problem at once, without a job: the hashes of every stage and the files asked for.

    Nothing is stored.
    It happens in a process that may use little and reach nothing; a limit that it hits is the answer's `rule`.
    """
    spec = context.devices.resolve(body.device, body.target).spec
    return context.compiler.compile(understand(body, spec, context.settings))
