"""Errors of the tuner.

TunerError
+-- ProofFailed          a kernel's numbers differ from the reference
+-- CannotPredict        the model lacks a fact of the device
+-- TooLargeToProve      this machine's memory does not hold what a proof needs
+-- NoValidMeasurement   a job ended without one configuration that gave a time
+-- DeviceUnusable       the device crashed again and again
"""

from tuner.trial import Proof


class TunerError(Exception):
    """Base of the errors of this room."""


class ProofFailed(TunerError):
    """A kernel's numbers differ from the reference. `proof` holds the error and its bound."""

    def __init__(self, message: str, proof: Proof) -> None:
        super().__init__(message)
        self.message, self.proof = message, proof

    def __reduce__(self) -> tuple[object, ...]:
        return ProofFailed, (self.message, self.proof)


class CannotPredict(TunerError):
    """The model lacks a fact of the device. `fact` is its name."""

    def __init__(self, device: str, fact: str) -> None:
        super().__init__(f"{fact} of {device} is not known; a predicted time needs it: tune where the device is")
        self.device, self.fact = device, fact

    def __reduce__(self) -> tuple[object, ...]:
        return CannotPredict, (self.device, self.fact)


class TooLargeToProve(TunerError):
    """This machine's memory does not hold what a proof needs."""


class NoValidMeasurement(TunerError):
    """A job ended without one configuration that gave a time."""


class DeviceUnusable(TunerError):
    """The device crashed again and again."""
