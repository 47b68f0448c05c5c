"""Element types of tiles and descriptors, and their names in the RFCs."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IntegerType, Signedness, f16, f32
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

_MOST_BITS = 64

NAMES_IN_C: dict[str, TypeAttribute] = {
    **{f"uint{width}": IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)},
    **{f"int{width}": IntegerType(width) for width in (8, 16, 32, 64)},
    "Uint8_t": IntegerType(8),
    "fp16": f16,
    "fp32": f32,
}
"""Types as the RFC of XeGPU names them."""


def verify_element(what: str, element: Attribute) -> None:
    """Check that elements are numbers of a known width in memory.

    Raises:
        VerifyException: otherwise.
    """
    if not isinstance(element, IntegerType | AnyFloat) or not 1 <= element.bitwidth <= _MOST_BITS:
        raise VerifyException(
            f"{what}: expected elements that are integers or floats of at most {_MOST_BITS} bits, got {element}"
        )


def verify_static(what: str, shape: Sequence[int]) -> None:
    """Check that a shape has at least one dimension and that all are static.

    Raises:
        VerifyException: otherwise.
    """
    if not shape or min(shape) < 1:
        got = ", ".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)
        raise VerifyException(f"{what}: expected a static shape of at least one dimension, got [{got}]")
