"""Address operands of block messages."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32

from codegen.xe.dialects.upstream.xevm import BlockPlace
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.memory.messages import Piece
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess


class Messages:
    """Block messages to one matrix."""

    def __init__(self, emitter: Emitter, matrix: MatrixAccess, bits: int) -> None:
        assert matrix.width is not None
        assert matrix.height is not None
        self._emitter, self._matrix = emitter, matrix
        nbytes = bits // 8
        pitch = matrix.width if matrix.height == 1 else matrix.pitch
        self._width = emitter.as_int(emitter.product(matrix.width, nbytes), i32)
        self._height = emitter.as_int(matrix.height, i32)
        self._pitch = emitter.as_int(emitter.product(pitch, nbytes), i32)

    def place(self, piece: Piece) -> BlockPlace:
        """Return the position of the message of a piece."""
        emitter, matrix = self._emitter, self._matrix
        column = emitter.as_int(emitter.sum(matrix.column, piece.column), i32)
        if piece.unit != 1:
            shift = emitter.constant(piece.unit.bit_length() - 1, i32)
            column = emitter.pure(arith.ShRSIOp, (column, shift), i32)
        row = emitter.as_int(emitter.sum(matrix.row, piece.row), i32)
        return BlockPlace(matrix.pointer, self._width, self._height, self._pitch, column, row)
