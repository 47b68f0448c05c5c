"""Requests that would improve the answer of a lookup: those alone that the service accepts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen import GemmProblem, KernelConfig
from codegen.backend import backend_of
from hal.devices.listed import ListedDevice
from service.api.kernels.lookup.schemas import JOBS, RefusalOut
from service.configurations import to_config_body
from service.errors import BadRequest, NextRequest
from service.gemm_json import config_to_json
from service.refusals import REFUSALS, refusal_of
from service.schemas import check_size, to_body
from service.settings import Settings

if TYPE_CHECKING:
    from service.api.jobs.schemas import BudgetBody

_MANIFEST, _COMPILE = "kernel.json", "/v1/compile"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Limits of the service for a device: its settings, and that it lists the device."""

    device: ListedDevice
    settings: Settings
    is_listed: bool = True

    def refusal(self, problem: GemmProblem) -> RefusalOut | None:
        """Return why a job of that problem would be refused; None if it would not."""
        if not self.is_listed:
            return RefusalOut(rule="unknown-device", detail=f"{self.device.spec.id} is known from stored results alone")
        # Imported here, as a valid answer proposes nothing.
        from service.api.jobs.requests import check_problem, read_options
        from service.api.jobs.schemas import JobBody

        try:
            check_problem(problem, self.device.spec, self.settings)
            read_options(JobBody(problem=to_body(problem)), self._budget(), self.device, self.settings)
        except (BadRequest, *REFUSALS) as error:
            refusal = error if isinstance(error, BadRequest) else refusal_of(error)
            return RefusalOut(rule=refusal.rule or refusal.kind, detail=refusal.detail)
        return None

    def job(self, problem: GemmProblem, does: str) -> NextRequest:
        """Return the request of a job."""
        body: dict[str, object] = {
            "problem": to_body(problem).model_dump(mode="json"),
            "device": self.device.spec.id,
            "budget": self._budget().model_dump(mode="json", include={"trials", "seconds"}),
        }
        why = f"{does} {problem} on {self.device.spec.id}; its best kernel is then served here"
        return NextRequest(method="POST", href=JOBS, body=body, why=why)

    def compilation(self, problem: GemmProblem, config: KernelConfig) -> list[NextRequest]:
        """Return the request that compiles a configuration; none if it would be refused."""
        try:
            check_size(problem, self.settings)
        except BadRequest:
            return []
        if not (self.is_listed and self.device.targetable):
            return []
        files = [backend_of(config).binary, _MANIFEST]
        configuration = to_config_body(config_to_json(config))
        body: dict[str, object] = {
            "problem": to_body(problem).model_dump(mode="json"),
            "device": self.device.spec.id,
            "config": configuration if isinstance(configuration, dict) else configuration.model_dump(mode="json"),
            "files": files,
        }
        why = f"compiles the configuration for {problem}, unverified; returns {' and '.join(files)}, stores nothing"
        return [NextRequest(method="POST", href=_COMPILE, body=body, why=why)]

    def _budget(self) -> "BudgetBody":
        """Return the default budget, within the service's limits."""
        from service.api.jobs.schemas import BudgetBody

        usual, most = BudgetBody(), self.settings
        return BudgetBody(trials=min(usual.trials, most.max_trials), seconds=min(usual.seconds, most.max_seconds))
