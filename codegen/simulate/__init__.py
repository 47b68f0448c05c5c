"""Simulator of final LLVM IR in numpy, with the semantics of the built-ins; refuses what it cannot represent."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
    from codegen.simulate.launch import Execute, SimulationReport, run_kernel, simulate
    from codegen.simulate.refusal import RaceDetected, SimulationRefused, SimulationTimedOut
    from codegen.simulate.sampling import sample_groups

__all__ = [
    "Execute",
    "RaceDetected",
    "SimulationRefused",
    "SimulationReport",
    "SimulationTimedOut",
    "run_kernel",
    "sample_groups",
    "simulate",
]

# Imported when it is first asked for: errors are needed where nothing is simulated, without numpy.
_LATE = {
    "Execute": "codegen.simulate.launch",
    "RaceDetected": "codegen.simulate.refusal",
    "SimulationRefused": "codegen.simulate.refusal",
    "SimulationReport": "codegen.simulate.launch",
    "SimulationTimedOut": "codegen.simulate.refusal",
    "run_kernel": "codegen.simulate.launch",
    "sample_groups": "codegen.simulate.sampling",
    "simulate": "codegen.simulate.launch",
}

__getattr__ = late_exports(globals(), _LATE)
