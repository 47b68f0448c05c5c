"""Errors of this package."""


class XetuneTorchError(Exception):
    """Base of the errors of this package."""


class KernelRefused(XetuneTorchError):
    """A kernel that this machine cannot run, or that computed nothing."""


class WrongResult(XetuneTorchError):
    """A kernel whose results differ from torch's."""


class StoreFailed(XetuneTorchError):
    """A store that does not answer, or cannot tune."""
