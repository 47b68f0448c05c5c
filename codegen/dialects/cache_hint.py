"""How caches treat a load, a store or a prefetch: `#xetile.cache_hint<cached>`, `#xegpu.cache_hint<cached>`."""

from enum import auto

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

HINTS = ("l1_hint", "l2_hint", "l3_hint")
"""Names of the properties that carry hints, nearest cache first."""


class CachePolicy(StrEnum):
    """What a cache does with the data. Source: XeGPU dialect, CacheHintAttr."""

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
