"""Report of the findings about this machine, as text to paste into an issue or as JSON."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

from hal.probe.findings import Finding, State
from tuner.measure.kernel_checks import CHECK


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
        """Devices whose kernels were checked, with whether all of them worked."""
        subjects = dict.fromkeys(f.subject for f in self.findings if f.check.startswith(CHECK))
        faults = {f.subject for f in self.findings if f.state is State.FAULT}
        return {subject: subject not in faults for subject in subjects}

    def to_json(self) -> dict[str, object]:
        """Return the report as JSON."""
        return {
            **system(),
            "ready": self.is_ready,
            "devices": self.devices,
            "findings": [asdict(finding) for finding in self.findings],
        }


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
    works: Sequence[str] = [device for device, worked in report.devices.items() if worked]
    if works:
        yield f"kernels run on {', '.join(works)}"
    faults = sum(finding.state is State.FAULT for finding in report.findings)
    yield "no faults" if not faults else f"{faults} fault{'s' if faults > 1 else ''}: do what follows the arrows"
