"""Errors of the tuner.

TunerError
+-- ProofFailed          a kernel's results differ from the reference
+-- CannotPredict        the model lacks facts of the device
+-- NoRoofline           a job should stop near a roofline that is unknown
+-- NoPredictions        a search begins with predicted times, and the device has none
+-- NoEnergy             a search weighs energy, which the device does not report
+-- ContraryObjective    a search does not support the requested objective
+-- NotOnThisCpu         a job for a CPU, on another one
+-- TooLargeToProve      not enough memory to verify a kernel
+-- NoValidMeasurement   a job ended without a timed configuration
+-- DeviceUnusable       the device crashed repeatedly
+-- NothingExecuted      the driver took launches and ran none
+-- InvalidLine          a line of an exchange file is invalid
+-- InvalidFile          a file of another program's format does not follow its format
+-- InvalidShapes        a list of shapes is invalid
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuner.session.trial import Proof


class TunerError(Exception):
    """Base of the errors of this room."""


class ProofFailed(TunerError):
    """The results of a kernel differ from the reference. `proof` holds the error and its bound."""

    def __init__(self, message: str, proof: "Proof") -> None:
        super().__init__(message)
        self.message, self.proof = message, proof

    def __reduce__(self) -> tuple[object, ...]:
        return ProofFailed, (self.message, self.proof)


class CannotPredict(TunerError):
    """The model lacks facts of the device. `fact` is the name of the first missing fact, `facts` has all."""

    def __init__(self, device: str, *facts: str) -> None:
        are, them = ("is", "it") if len(facts) == 1 else ("are", "them")
        names = " and ".join(filter(None, (", ".join(facts[:-1]), facts[-1])))
        super().__init__(
            f"{names} of {device} {are} not known; a predicted time needs {them}: tune where the device is"
        )
        self.device, self.facts, self.fact = device, facts, facts[0]

    def __reduce__(self) -> tuple[object, ...]:
        return CannotPredict, (self.device, *self.facts)


class NoRoofline(TunerError):
    """The roofline of a device is unknown. `facts` are the missing ones; empty for a CPU whose rates were not
    measured, and one that emulates a GPU.
    """

    def __init__(self, device: str, *facts: str) -> None:
        why = (
            f"the roofline of {device} is unknown ({', '.join(facts)})"
            if facts
            else f"{device} is a CPU that emulates a GPU, or whose rates were not measured"
        )
        super().__init__(
            f"a fraction of the roofline was requested, but {why}: leave it out, and stop by trials, seconds or no gain"
        )
        self.device, self.facts = device, facts

    def __reduce__(self) -> tuple[object, ...]:
        return NoRoofline, (self.device, *self.facts)


class NoPredictions(TunerError):
    """A search needs predicted times, and there are none."""

    def __init__(self, search: str) -> None:
        super().__init__(
            f"the search {search!r} begins with predicted times, and this device has none; choose another search"
        )
        self.search = search

    def __reduce__(self) -> tuple[object, ...]:
        return NoPredictions, (self.search,)


class UnknownSearch(TunerError):
    """No search or sampler has that name, or the sampler cannot be constructed."""

    def __init__(self, search: str, reason: str) -> None:
        super().__init__(f"the search {search!r} is not known: {reason}")
        self.search, self.reason = search, reason

    def __reduce__(self) -> tuple[object, ...]:
        return UnknownSearch, (self.search, self.reason)


class NoEnergy(TunerError):
    """A search weighs energy, and the device's cannot be read. `reason` says why."""

    def __init__(self, device: str, reason: str) -> None:
        super().__init__(
            f"the energy that launches on {device} take cannot be read: {reason}; leave out the objective "
            "time-energy, or tune where it can be read"
        )
        self.device, self.reason = device, reason

    def __reduce__(self) -> tuple[object, ...]:
        return NoEnergy, (self.device, self.reason)


class ContraryObjective(TunerError):
    """A search does not support the requested objective."""

    def __init__(self, objective: str, search: str) -> None:
        super().__init__(
            f"the search {search!r} does not weigh {objective}: nsga2 weighs time-memory or time-energy, every other "
            "time alone; leave one of the two out"
        )
        self.objective, self.search = objective, search

    def __reduce__(self) -> tuple[object, ...]:
        return ContraryObjective, (self.objective, self.search)


class NotOnThisCpu(TunerError):
    """A job for another CPU: its kernels can be neither timed nor verified on this one."""

    def __init__(self, device: str) -> None:
        super().__init__(
            f"kernels for {device} are verified and timed only on it, and it is not this machine's CPU: tune there; "
            "`xetune compile` makes a kernel for it here"
        )
        self.device = device

    def __reduce__(self) -> tuple[object, ...]:
        return NotOnThisCpu, (self.device,)


class TooLargeToProve(TunerError):
    """Not enough memory to verify a kernel."""


class NoValidMeasurement(TunerError):
    """A job ended without a timed configuration."""


class DeviceUnusable(TunerError):
    """The device crashed repeatedly."""


class NothingExecuted(TunerError):
    """The driver accepted launches and executed none, as it does when it simulates its GPU."""


class InvalidLine(TunerError):
    """A line of an exchange file is invalid. `line` counts from 1; the message has expected and got."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line, self.message = line, message

    def __reduce__(self) -> tuple[object, ...]:
        return InvalidLine, (self.line, self.message)


class InvalidFile(TunerError):
    """A file of another program does not follow its format, or lacks required content."""


class InvalidShapes(TunerError):
    """A list of shapes is invalid. `where` is the place, such as "line 3, column 7"."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return InvalidShapes, (self.where, self.message)
