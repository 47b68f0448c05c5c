"""Report of the findings about this machine, as text to paste into an issue or as JSON."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

from hal.probe.findings import Finding, State
from tuner.measure.kernel_checks import ACCEPT, CHECK


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, in the order in which they were made."""

    findings: tuple[Finding, ...]

    @property
    def is_ready(self) -> bool:
        """True if there is no fault."""
        return all(finding.state is not State.FAULT for finding in self.findings)

    @property
    def devices(self) -> dict[str, bool]:
        """Devices whose kernels were run, with whether all of them worked."""
        return _without_fault([f for f in self.findings if not f.check.startswith(ACCEPT)], CHECK)

    @property
    def accepted(self) -> dict[str, bool]:
        """GPUs whose kernels the simulated driver was given, with whether it accepted all of them."""
        return _without_fault([f for f in self.findings if f.check.startswith(ACCEPT)], ACCEPT)

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON."""
        return {
            **system(),
            "ready": self.is_ready,
            "devices": self.devices,
            "accepted": self.accepted,
            "findings": [asdict(finding) for finding in self.findings],
        }


def _without_fault(findings: Sequence[Finding], prefix: str) -> dict[str, bool]:
    """Return the subjects of the checks with that prefix, with whether no finding about them is a fault."""
    faults = {f.subject for f in findings if f.state is State.FAULT}
    return {f.subject: f.subject not in faults for f in findings if f.check.startswith(prefix)}


def system() -> dict[str, object]:
    """Return the versions that an issue report needs."""
    return {"xetune": version("xetune"), "python": platform.python_version(), "system": platform.platform()}


def heading() -> str:
    """Return the first line of the text."""
    return ", ".join(f"{name} {value}" for name, value in system().items())


def lines(finding: Finding) -> Iterator[str]:
    """Yield the lines of a finding."""
    yield f"{finding.state.value:<8} {finding.check:<21} {finding.subject}: {finding.found}"
    if finding.remedy:
        yield f"{'':<8} {'':<21} -> {finding.remedy}"


def summary(report: Report) -> Iterator[str]:
    """Yield what this machine is ready for, and the number of faults."""
    if works := [device for device, worked in report.devices.items() if worked]:
        yield f"kernels run on {', '.join(works)}"
    if accepted := [gpu for gpu, are in report.accepted.items() if are]:
        yield f"kernels are accepted for {', '.join(accepted)}"
    faults = sum(finding.state is State.FAULT for finding in report.findings)
    yield "no faults" if not faults else f"{faults} fault{'s' if faults > 1 else ''}: do what follows the arrows"
