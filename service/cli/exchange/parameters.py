"""Lighthouse's parameters of stored kernels, and kernels of its parameters."""

from codegen import GemmProblem, XeConfig
from service.api.kernels.schemas import LookupBody
from service.cli.access.opening import Access
from service.cli.kernels.kernel_lists import KERNELS, lookup_of
from service.configurations import ConfigBody, from_config_body
from service.schemas import to_problem

_PAGE = 200


def best(access: Access, device: str) -> dict[str, tuple[GemmProblem, XeConfig]]:
    """Return the fastest kernel for a GPU of each problem, by the evidence that lookups prefer."""
    found: dict[str, tuple[GemmProblem, XeConfig]] = {}
    before = None
    while True:
        page = access.read(KERNELS, {"device": device, "before": before, "limit": _PAGE})
        for kernel in page.kernels:
            problem = to_problem(kernel.problem)
            if problem.key in found:
                continue
            config = access.do(lookup_of(LookupBody(problem=kernel.problem, device=device))).answer.config
            if isinstance(config, ConfigBody):
                made = from_config_body(config)
                if isinstance(made, XeConfig):
                    found[problem.key] = problem, made
        before = page.next_before
        if before is None:
            return found
