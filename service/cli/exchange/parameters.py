"""Lighthouse's parameters of stored kernels, and kernels of its parameters."""

from codegen import GemmProblem, XeConfig
from service.cli.access.connection import same
from service.configurations import ConfigBody, from_config_body
from service.schemas import ProblemBody, to_problem
from xetune_client import Client, models

_PAGE = 200


def best(client: Client, device: str) -> dict[str, tuple[GemmProblem, XeConfig]]:
    """Return the fastest kernel for a GPU of each problem, by the evidence that lookups prefer."""
    found: dict[str, tuple[GemmProblem, XeConfig]] = {}
    before = None
    while True:
        page = client.kernels(device=device, before=before, limit=_PAGE)
        for kernel in page.kernels:
            problem = to_problem(same(ProblemBody, kernel.problem))
            if problem.key in found:
                continue
            config = client.lookup(models.LookupBody(problem=kernel.problem, device=device)).config
            if isinstance(config, models.ConfigBody):
                made = from_config_body(same(ConfigBody, config))
                if isinstance(made, XeConfig):
                    found[problem.key] = problem, made
        before = page.next_before
        if before is None:
            return found
