"""Errors of the compiler.

CodegenError
+-- InvalidProblem   a GemmProblem that contradicts itself
+-- InvalidConfig    a XeConfig that contradicts itself
+-- Refused          a legality rule refuses (problem, configuration, device)
+-- CompileFailed    a stage failed
|   +-- CompileTimedOut     the time limit of a compilation passed
|   +-- CompileCrashed      the compiler ended its process
|   +-- UnresolvedBuiltins  the GPU's code calls functions that do not exist
|   +-- ScoreboardHazards   the GPU's code accesses a register too early
|   +-- MissingDpas         the GPU's code multiplies without DPAS
+-- OclocUnusable    Intel's offline compiler does not run, or does not know a chip
+-- InvalidLaunch    arguments, grid or block that a kernel does not take
+-- SimulationRefused    the simulator cannot represent something (simulate/refusal.py)
+-- SimulationTimedOut   the time limit of a simulation passed (simulate/refusal.py)
+-- MachineCodeRefused   the reader of machine code does not know something (xe/machine/refusal.py)
+-- LayoutRefused    a layout or block load that cannot be (xe/layout/refusal.py)
"""

from dataclasses import dataclass


class CodegenError(Exception):
    """Base of the errors of this room."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the text of a module: line and column, counted from 1."""

    line: int
    column: int


class InvalidProblem(CodegenError):
    """A GemmProblem that contradicts itself. `field` names where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field, self.message = field, message

    def __reduce__(self) -> tuple[object, ...]:
        return InvalidProblem, (self.field, self.message)


class InvalidConfig(CodegenError):
    """A XeConfig that contradicts itself. `field` names where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field, self.message = field, message

    def __reduce__(self) -> tuple[object, ...]:
        return InvalidConfig, (self.field, self.message)


class Refused(CodegenError):
    """A legality rule refuses the combination. `rule` is its name, `message` says why and what to change.

    `place` is that of the operation in the text of a module, which the message shows, too.
    """

    def __init__(self, rule: str, message: str, place: Place | None = None) -> None:
        super().__init__(f"refused by rule {rule}: {message}")
        self.rule, self.message, self.place = rule, message, place

    def __reduce__(self) -> tuple[object, ...]:
        return Refused, (self.rule, self.message, self.place)


class CompileFailed(CodegenError):
    """A stage failed. `stage` names it, `message` holds the compiler's diagnostics.

    `place` is that of the operation in the text of a module, which the message shows, too.
    """

    def __init__(self, stage: str, message: str, place: Place | None = None) -> None:
        super().__init__(f"stage {stage}: {message}")
        self.stage, self.message, self.place = stage, message, place

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.stage, self.message, self.place)


class CompileTimedOut(CompileFailed):
    """The time limit of a compilation passed."""


class CompileCrashed(CompileFailed):
    """The compiler ended its process."""


class UnresolvedBuiltins(CompileFailed):
    """The GPU's code calls functions that do not exist: Intel's compiler takes any name for a function to come."""


class ScoreboardHazards(CompileFailed):
    """The machine code accesses registers before its annotations allow it; by public rules of the chip."""


class MissingDpas(CompileFailed):
    """The SPIR-V contains matrix products, but the GPU's code contains no DPAS."""


class OclocUnusable(CodegenError):
    """Intel's offline compiler is missing, does not run, or does not know a chip."""


class InvalidLaunch(CodegenError):
    """Arguments, grid or block that a kernel does not accept."""
