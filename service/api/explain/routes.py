"""POST /v1/explain."""

from service.api.explain.schemas import (
    CpuExplanation,
    ExplainBody,
    GpuExplanation,
)
from service.api.explain.service import explanation
from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.configurations import from_config_body
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    TOO_LARGE,
)
from service.schemas import check_size, to_problem

router = guarded_router("/v1/explain", "kernels")


@router.post("", responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[READ])
def explain_configuration(body: ExplainBody, context: ContextDep) -> GpuExplanation | CpuExplanation:
    """Performance breakdown of a configuration: predicted time by part and its bound; on a CPU, reasons.

    Nothing is compiled, measured or stored.
    """
    spec = context.devices.resolve(body.device, body.target).spec  # may probe: before the transaction
    problem = to_problem(body.problem)
    check_size(problem, context.settings)
    config = None if body.config is None else from_config_body(body.config)
    return explanation(problem, config, spec, context.accuracies.of(spec.id).models)
