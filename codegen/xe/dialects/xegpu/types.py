"""XeGPU's types: descriptors of blocks and of scattered elements, of matrices in local memory, named barriers."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, NoneAttr, ShapedType, VectorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from codegen.xe.dialects.elements import (
    verify_element,
    verify_static,
)
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu.layout import (
    DistributeLayout,
    Distribution,
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.memory import (
    BlockTdesc,
    BlockTdescAttr,
    MemLayoutAttr,
    MemorySpace,
    ScatteredTdescAttr,
    ScatterTdesc,
    ScatterTdescAttr,
    TdescAttr,
)

__all__ = ["Distribution", "LayoutAttr", "MemDescType", "NbarrierType", "TensorDescType", "bits"]

_NONE = NoneAttr()
_KEPT = 1024  # types
_SUBGROUP_SIZES = (8, 16, 32)
_MAX_SCATTER_BYTES = 512  # of one access by a sub-group; source: XeGPU RFC, create_tdesc


@irdl_attr_definition
class TensorDescType(ParametrizedAttribute, TypeAttribute, ShapedType):
    """A block of a matrix, or scattered elements: `!xegpu.tensor_desc<256x32xf16, #encoding, #layout>`."""

    name = "xegpu.tensor_desc"
    vector_type: VectorType = param_def()
    encoding: Attribute = param_def()
    layout_attr: Attribute = param_def()

    def __init__(
        self,
        vector_type: VectorType,
        encoding: BlockTdescAttr | ScatterTdescAttr | None = None,
        layout: DistributeLayout | None = None,
    ) -> None:
        super().__init__(vector_type, encoding or _NONE, layout or _NONE)

    @property
    def element_type(self) -> Attribute:
        """Type of one element."""
        return self.vector_type.element_type

    @property
    def layout(self) -> DistributeLayout | None:
        """Distribution of the block, if the type gives it."""
        return self.layout_attr if isinstance(self.layout_attr, LayoutAttr | SliceAttr | SgMapAttr) else None

    @property
    def scatter(self) -> ScatterTdesc | None:
        """Attributes of a scattered descriptor; None for a block."""
        return self.encoding.data if isinstance(self.encoding, ScatterTdescAttr) else None

    @property
    def block(self) -> BlockTdesc:
        """Attributes of a block descriptor, or the defaults."""
        return self.encoding.data if isinstance(self.encoding, BlockTdescAttr) else BlockTdesc()

    @property
    def memory_space(self) -> MemorySpace:
        """Memory space of the data."""
        return (self.scatter or self.block).memory_space

    @property
    def offsets_shape(self) -> tuple[int, ...]:
        """Shape of the offsets of a scattered descriptor: its own without the chunk dimension."""
        chunked = self.scatter is not None and self.scatter.chunk_size > 1
        return self.get_shape()[:-1] if chunked else self.get_shape()

    def get_num_dims(self) -> int:
        return self.vector_type.get_num_dims()

    def get_shape(self) -> tuple[int, ...]:
        return self.vector_type.get_shape()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        encoding: Attribute = _NONE
        layout: Attribute = _NONE
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            while parser.parse_optional_punctuation(",") or _is_attribute_next(parser):  # the RFC also has no comma
                attribute = _canonical(parser.parse_attribute())
                if isinstance(attribute, BlockTdescAttr | ScatterTdescAttr) and encoding == _NONE:
                    encoding = attribute
                elif isinstance(attribute, LayoutAttr | SliceAttr | SgMapAttr) and layout == _NONE:
                    layout = attribute
                else:
                    parser.raise_error(f"tensor_desc: expected one encoding and one layout, got {attribute}")
        if layout == _NONE and isinstance(encoding, BlockTdescAttr) and encoding.data.sg_map is not None:
            layout, d = encoding.data.sg_map, encoding.data
            encoding = BlockTdescAttr(BlockTdesc(d.memory_space, d.array_length, d.boundary_check))
        if encoding == BlockTdescAttr(BlockTdesc()):
            encoding = _NONE
        return [VectorType(element_type, shape), encoding, layout]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{d}x" for d in self.get_shape()))
            printer.print_attribute(self.element_type)
            for attribute in (self.encoding, self.layout_attr):
                if attribute != _NONE:
                    printer.print_string(", ")
                    printer.print_attribute(attribute)

    def verify(self) -> None:
        shape = self.get_shape()
        verify_static("xegpu.tensor_desc", shape)
        verify_element("xegpu.tensor_desc", self.element_type)
        if len(shape) == 1 and self.block.boundary_check:
            raise VerifyException("xegpu.tensor_desc: expected boundary_check = false for one dimension, got true")
        if self.scatter is not None:
            self._verify_chunks(self.scatter.chunk_size)
        if self.layout is not None:
            self._verify_layout(self.layout)

    def _verify_chunks(self, chunk: int) -> None:
        shape, width = self.get_shape(), bits(self.element_type)
        if chunk == 1:
            return
        if len(shape) < 2 or shape[-1] != chunk:
            raise VerifyException(
                f"xegpu.tensor_desc: expected a last dimension of chunk_size {chunk}, got {format_ints(shape)}"
            )
        if chunk * width % 32:
            raise VerifyException(
                f"xegpu.tensor_desc: expected chunks of whole 32-bit words, got {chunk} elements of {width} bits"
            )
        nbytes = prod(shape) * width // 8
        if self.layout is None and shape[:-1] in [(n,) for n in _SUBGROUP_SIZES] and nbytes > _MAX_SCATTER_BYTES:
            raise VerifyException(
                f"xegpu.tensor_desc: expected chunks of a sub-group of at most {_MAX_SCATTER_BYTES} bytes "
                f"together, got {nbytes}"
            )

    def _verify_layout(self, layout: DistributeLayout) -> None:
        if isinstance(layout, SgMapAttr) and (layout.distribution.rank, self.get_num_dims()) == (2, 1):
            _verify_one_row(layout)
        distribution = distribution_of(layout, self.get_num_dims())
        distribution.verify_distributes("xegpu.tensor_desc", self.get_shape())
        distribution.verify_distributes_to_lanes("xegpu.tensor_desc", self.get_shape())


@irdl_attr_definition
class MemDescType(ParametrizedAttribute, TypeAttribute, ShapedType):
    """A matrix in shared local memory: `!xegpu.mem_desc<128x64xf16, #xegpu.mem_layout<stride = [1, 128]>>`."""

    name = "xegpu.mem_desc"
    vector_type: VectorType = param_def()
    layout_attr: Attribute = param_def()

    def __init__(self, vector_type: VectorType, mem_layout: MemLayoutAttr | None = None) -> None:
        super().__init__(vector_type, mem_layout or _NONE)

    @property
    def element_type(self) -> Attribute:
        """Type of one element."""
        return self.vector_type.element_type

    @property
    def mem_layout(self) -> MemLayoutAttr | None:
        """Layout in memory; None: row-major."""
        return self.layout_attr if isinstance(self.layout_attr, MemLayoutAttr) else None

    @property
    def stride(self) -> Ints:
        """Strides in elements, ignoring blocks."""
        said = self.mem_layout.data.stride if self.mem_layout is not None else None
        return said or row_major(self.get_shape())

    @property
    def block(self) -> Ints | None:
        """Shape of the contiguous blocks."""
        return self.mem_layout.data.block if self.mem_layout is not None else None

    def get_num_dims(self) -> int:
        return self.vector_type.get_num_dims()

    def get_shape(self) -> tuple[int, ...]:
        return self.vector_type.get_shape()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        layout: Attribute = _NONE
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            if parser.parse_optional_punctuation(","):
                layout = parser.parse_attribute()
        if layout != _NONE and not isinstance(layout, MemLayoutAttr):
            parser.raise_error(f"mem_desc: expected #xegpu.mem_layout, got {layout}")
        return [VectorType(element_type, shape), layout]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{d}x" for d in self.get_shape()))
            printer.print_attribute(self.element_type)
            if self.mem_layout is not None:
                printer.print_string(", ")
                printer.print_attribute(self.mem_layout)

    def verify(self) -> None:
        shape = self.get_shape()
        verify_static("xegpu.mem_desc", shape)
        verify_element("xegpu.mem_desc", self.element_type)
        for key, values in (("stride", self.stride), ("block", self.block)):
            if values is not None and len(values) != len(shape):
                raise VerifyException(
                    f"xegpu.mem_desc: expected {key} of {len(shape)} entries for {format_ints(shape)}, "
                    f"got {format_ints(values)}"
                )
        if self.block is not None and any(n % b for n, b in zip(shape, self.block, strict=True)):
            raise VerifyException(
                f"xegpu.mem_desc: expected block to divide {format_ints(shape)}, got {format_ints(self.block)}"
            )


@irdl_attr_definition
class NbarrierType(ParametrizedAttribute, TypeAttribute):
    """A named barrier: `!xegpu.nbarrier`."""

    name = "xegpu.nbarrier"


def distribution_of(layout: DistributeLayout, rank: int) -> Distribution:
    """Return the distribution of a layout for a block of a rank; a 2-D sg_map may apply to a 1-D block."""
    d = layout.distribution
    return d.without((0,)) if isinstance(layout, SgMapAttr) and (d.rank, rank) == (2, 1) else d


def _verify_one_row(layout: SgMapAttr) -> None:
    """Check that the first dimension of an sg_map on a block of one dimension has extent 1."""
    for key, values in (("wi_layout", layout.wi_layout), ("wi_data", layout.wi_data)):
        if values is not None and values[0] != 1:
            raise VerifyException(
                f"xegpu.tensor_desc: expected {key}[0] = 1 in the sg_map of a block of one dimension, "
                f"got {format_ints(values)}"
            )


def row_major(shape: Sequence[int]) -> Ints:
    """Return the strides of a dense matrix of this shape."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


@lru_cache(_KEPT)
def tensor_desc(vector_type: VectorType, encoding: BlockTdescAttr | ScatterTdescAttr | None = None) -> TensorDescType:
    """Return the type of a descriptor without a layout."""
    return TensorDescType(vector_type, encoding)


def bits(element_type: Attribute) -> int:
    """Return the bits of an element in memory; tf32 is stored as f32."""
    assert isinstance(element_type, FixedBitwidthType), element_type
    return 32 if element_type.bitwidth == 19 else element_type.bitwidth


def bytes_of(element_type: Attribute) -> int:
    """Return the bytes of an element in memory."""
    return -(-bits(element_type) // 8)


def _canonical(attribute: Attribute) -> Attribute:
    if isinstance(attribute, TdescAttr):
        return attribute.resolved
    return ScatterTdescAttr(attribute.data) if isinstance(attribute, ScatteredTdescAttr) else attribute


def _is_attribute_next(parser: AttrParser) -> bool:
    return parser._current_token.kind is MLIRTokenKind.HASH_IDENT  # pyright: ignore[reportPrivateUsage]  # no public API
