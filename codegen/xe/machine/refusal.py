"""Errors of the reader of machine code."""

from codegen.errors import CodegenError
from codegen.simulate.refusal import SimulationRefused


class MachineCodeRefused(CodegenError):
    """A binary or a listing holds something that is not known. `where` is the line of the listing, or a section."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(
            f"machine code refused at `{where}`: {message}" if where else f"machine code refused: {message}"
        )
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return MachineCodeRefused, (self.where, self.message)


class NotRepresented(SimulationRefused):
    """The interpreter does not represent something; other refusals by it are faults of the code or of the launch."""

    def __reduce__(self) -> tuple[object, ...]:
        return NotRepresented, (self.where, self.message)
