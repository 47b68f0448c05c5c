"""Pipeline model: the K loop of a kernel's machine code on one engine, with the threads that it interleaves."""

from codegen.xe.machine.pipeline.analysis import PipelineReport, analyse
from codegen.xe.machine.pipeline.clocks import Level, Rates, rates_of
from codegen.xe.machine.pipeline.issue import Issued, Stall
from codegen.xe.machine.pipeline.loop import k_loop
from codegen.xe.machine.pipeline.text import annotated, summary

__all__ = [
    "Issued",
    "Level",
    "PipelineReport",
    "Rates",
    "Stall",
    "analyse",
    "annotated",
    "k_loop",
    "rates_of",
    "summary",
]
