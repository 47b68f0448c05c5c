"""Errors of the simulator."""

from codegen.errors import CodegenError

_TIMED_OUT = "the simulation took longer than its time limit"


class SimulationRefused(CodegenError):
    """The simulator cannot represent something and does not guess. `where` is the instruction or argument.

    `name` stands for it in the text of the error, where the source has another name.
    """

    def __init__(self, where: str, message: str, name: str = "") -> None:
        at = f" at `{name or where}`" if where else ""
        super().__init__(f"simulation refused{at}: {message}")
        self.where, self.message, self._name = where, message, name

    def __reduce__(self) -> tuple[object, ...]:
        return SimulationRefused, (self.where, self.message, self._name)


class RaceDetected(SimulationRefused):
    """Race: two accesses of shared local memory that no barrier orders, so that the result depends on timing.

    `where` and `other` are the instructions, `subgroups` those that ran them, `address` the first byte of shared
    memory that both touch.
    """

    def __init__(self, where: str, other: str, address: int, subgroups: tuple[int, int], message: str) -> None:
        super().__init__(
            where,
            f"race at byte {address} of shared memory: sub-group {subgroups[0]} {message}, sub-group {subgroups[1]} "
            f"at `{other}`, with no barrier between",
        )
        self.other, self.address, self.subgroups, self._said = other, address, subgroups, message

    def __reduce__(self) -> tuple[object, ...]:
        return RaceDetected, (self.where, self.other, self.address, self.subgroups, self._said)


class RefusedAtPlace(SimulationRefused):
    """A refusal whose message `shown` shows the line of the source."""

    def __init__(self, refused: SimulationRefused, shown: str) -> None:
        super().__init__(refused.where, refused.message)
        self.args, self._refused, self._shown = (shown,), refused, shown

    def __reduce__(self) -> tuple[object, ...]:
        return RefusedAtPlace, (self._refused, self._shown)


class SimulationTimedOut(CodegenError):
    """The time limit of a simulation passed. `running` are the blocks that ran last, latest first."""

    def __init__(self, running: tuple[str, ...] = (), message: str = _TIMED_OUT) -> None:
        super().__init__(message)
        self.running = running

    def __reduce__(self) -> tuple[object, ...]:
        return SimulationTimedOut, (self.running, str(self))
