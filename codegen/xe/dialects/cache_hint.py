"""Cache hints of a load, a store or a prefetch: `#xetile.cache_hint<cached>`, `#xegpu.cache_hint<cached>`."""

from collections.abc import Collection
from enum import auto

from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

HINTS = ("l1_hint", "l2_hint", "l3_hint")
"""Names of the hint properties, nearest cache first."""


class CachePolicy(StrEnum):
    """Caching of the data of an access. Source: XeGPU dialect, CacheHintAttr."""

    CACHED = auto()
    UNCACHED = auto()
    STREAMING = auto()
    READ_INVALIDATE = auto()
    WRITE_BACK = auto()
    WRITE_THROUGH = auto()


class _CacheHint(Data[CachePolicy]):
    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> CachePolicy:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(CachePolicy)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


@irdl_attr_definition
class TileCacheHint(_CacheHint):
    """A hint on an XeTile operation."""

    name = "xetile.cache_hint"


@irdl_attr_definition
class XeGPUCacheHint(_CacheHint):
    """A hint on an XeGPU operation."""

    name = "xegpu.cache_hint"


_NEAREST_CACHE = {3: 0, 2: 1, 1: 2, 0: 3}  # RFC of XeTile, 2.5: locality<3> is the first cache level, <2> the second


def parse_optional_locality(parser: Parser, hint: type[_CacheHint]) -> dict[str, Attribute]:
    """Parse `locality<2>` if present: hints to cache from a level on."""
    if parser.parse_optional_keyword("locality") is None:
        return {}
    with parser.in_angle_brackets():
        locality = parser.parse_integer()
    if locality not in _NEAREST_CACHE:
        parser.raise_error(f"expected locality 0 to 3, got {locality}")
    nearest = _NEAREST_CACHE[locality]
    policies = (CachePolicy.CACHED if level >= nearest else CachePolicy.UNCACHED for level in range(len(HINTS)))
    return {key: hint(policy) for key, policy in zip(HINTS, policies, strict=True)}


_READ = (CachePolicy.CACHED, CachePolicy.UNCACHED, CachePolicy.STREAMING, CachePolicy.READ_INVALIDATE)
# XeGPU's RFC allows streaming but not cached here, MLIR cached but not streaming.
_WRITE = (
    CachePolicy.CACHED,
    CachePolicy.UNCACHED,
    CachePolicy.STREAMING,
    CachePolicy.WRITE_BACK,
    CachePolicy.WRITE_THROUGH,
)


def verify_read_hints(op: Operation) -> None:
    """Check the hints of a load or a prefetch.

    Raises:
        VerifyException: one of them is for stores.
    """
    _verify_hints(op, _READ, "read")


def verify_write_hints(op: Operation) -> None:
    """Check the hints of a store.

    Raises:
        VerifyException: one of them is for loads.
    """
    _verify_hints(op, _WRITE, "write")


def _verify_hints(op: Operation, allowed: Collection[CachePolicy], what: str) -> None:
    for key in HINTS:
        hint = op.properties.get(key)
        if isinstance(hint, _CacheHint) and hint.data not in allowed:
            expected, name = ", ".join(map(str, allowed)), op.name.partition(".")[2]
            raise VerifyException(f"{name}: {key}: expected {expected} for what {what}s, got {hint.data.value}")
