"""Size of L2, or its plausible range where no source states it."""

from dataclasses import dataclass

from hal import DeviceSpec
from tuner.model.core_clocks import known
from tuner.model.xe.constants import MODEL_VERSION, Constants, constants_of


@dataclass(frozen=True, slots=True)
class L2Size:
    """Bytes of L2: the likely value, and the least and the most that are plausible; all equal if the size is known."""

    likely: int
    least: int
    most: int

    @property
    def is_assumed(self) -> bool:
        """True if no source states the size."""
        return self.least < self.most


def l2_size(spec: DeviceSpec, constants: Constants | None = None) -> L2Size:
    """Return the size of a GPU's L2; where it is unknown, what its cores have on the GPUs of the table.

    Raises:
        CannotPredict: neither the size nor the number of cores is known.
    """
    if spec.l2_bytes is not None:
        return L2Size(spec.l2_bytes, spec.l2_bytes, spec.l2_bytes)
    cores, k = known(spec, "xe_cores"), constants or constants_of(spec)
    shares = k.l2_likely_mib_per_core, k.l2_least_mib_per_core, k.l2_most_mib_per_core
    likely, least, most = (round(cores * share * 2**20) for share in shares)
    return L2Size(likely, least, most)


def model_of(spec: DeviceSpec) -> str:
    """Return the version of the model for a device, with what it assumes: "xe-4-0123abcd, L2 assumed"."""
    return MODEL_VERSION if spec.l2_bytes is not None else f"{MODEL_VERSION}, L2 assumed"


def is_current(model: str) -> bool:
    """Return whether the version of a prediction is that of this model, whatever was assumed."""
    return model.partition(",")[0] == MODEL_VERSION
