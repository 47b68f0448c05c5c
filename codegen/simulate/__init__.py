"""Simulator of final LLVM IR in numpy, with the semantics of the built-ins; refuses what it cannot represent."""

from codegen.simulate.launch import (
    Execute,
    SimulationReport,
    run_kernel,
    simulate,
)
from codegen.simulate.refusal import (
    RaceDetected,
    SimulationRefused,
    SimulationTimedOut,
)
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
