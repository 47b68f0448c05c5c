"""Whether 2-D block messages may access a matrix.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".
"""

from dataclasses import dataclass

from codegen.layout import BlockLimits
from codegen.transforms.lanes.divisibility import constant_part, divisor, is_given
from codegen.transforms.lanes.surfaces import MatrixAccess

_MAX_EXTENT = 1 << 24
_COLUMN_BYTES = 4


@dataclass(frozen=True, slots=True)
class Legality:
    """Whether block messages may access a matrix; `assumed`: what they rely on that only the launch decides."""

    legal: bool
    assumed: tuple[str, ...] = ()


def legality(matrix: MatrixAccess, bits: int, limits: BlockLimits) -> Legality:
    """Whether block messages may access a matrix with elements of so many bits."""
    nbytes = bits // 8
    if matrix.local or bits not in (8, 16, 32) or matrix.height is None or matrix.width is None:
        return Legality(legal=False)
    pitch = matrix.width if matrix.height == 1 else matrix.pitch
    rules = (
        (matrix.width, limits.min_width_bytes, _COLUMN_BYTES, "width"),
        (pitch, limits.min_width_bytes, limits.pitch_multiple_bytes, "pitch"),
    )
    assumed: list[str] = []
    for value, least, multiple, what in rules:
        if isinstance(value, int):
            if value * nbytes < least or value * nbytes % multiple or value * nbytes > _MAX_EXTENT:
                return Legality(legal=False)
        else:
            assumed.append(f"{what} at least {least} bytes and a multiple of {multiple}")
    places = [(matrix.column, 1, _COLUMN_BYTES, "columns of blocks")]
    places += [
        (offset, stride, limits.base_alignment_bytes, "matrices of a buffer") for offset, stride in matrix.skipped
    ]
    for offset, stride, multiple, what in places:
        if divisor(offset) * divisor(stride) * nbytes % multiple == 0:
            continue
        fixed = constant_part(offset) * divisor(stride) * nbytes % multiple and not is_given(stride)
        if fixed or not (is_given(offset) or is_given(stride)):
            return Legality(legal=False)
        assumed.append(f"{what} at multiples of {multiple} bytes")
    return Legality(legal=True, assumed=tuple(assumed))
