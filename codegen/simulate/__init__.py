"""Executes final LLVM IR in numpy with the real semantics of the built-ins, and refuses what it cannot represent."""

from codegen.simulate.launch import SimulationReport, simulate
from codegen.simulate.refusal import SimulationRefused, SimulationTimedOut
from codegen.simulate.sampling import sample_groups

__all__ = ["SimulationRefused", "SimulationReport", "SimulationTimedOut", "sample_groups", "simulate"]
