"""The typed refusal of the simulator."""

from codegen.errors import CodegenError


class SimulationRefused(CodegenError):
    """The simulator cannot represent something and does not guess. `where` is the instruction or argument."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"simulation refused at `{where}`: {message}" if where else f"simulation refused: {message}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return SimulationRefused, (self.where, self.message)


class SimulationTimedOut(CodegenError):
    """The time limit of a simulation passed."""

    def __init__(self) -> None:
        super().__init__("the simulation took longer than its time limit")

    def __reduce__(self) -> tuple[object, ...]:
        return SimulationTimedOut, ()
