"""Configurations that spill registers with Intel's compiler, although no rule refuses them: they are correct.

Each case was compiled for b580, max1550 and lunar-lake, those of lanes for a770 and meteor-lake-h; the default
configuration avoids them.
"""

from codegen import DType, SlmOperands, XeConfig
from codegen.problem.epilogue import Axis
from codegen.xe.rules import steps_of
from codegen.xe.rules.case import Problem
from codegen.xe.rules.sizes import products_of_tile
from codegen.xe.rules.tiles import RESERVED_REGISTERS

# A loop with few rounds is fully unrolled. With only B by columns, f16 and tf32 then spill: at 16 rounds, not at 64.
_LEAST_ROUNDS = 32
# Maximum number of K steps of a fully unrolled loop, whose operands are live together.
_STEPS_TOGETHER = 2
# Of the operands of a K step, where B is converted: 64x32 by 32 needs no more than 256 registers, 32x64 does.
_HELD_OF_A, _HELD_OF_B = 0.6, 2.3
# Bytes that lanes fetch take a word each until they are packed.
_HALF_BYTES, _WORD_BYTES, _ADDRESS_BYTES = 2, 4, 8
_LOADS_IN_FLIGHT = 16
_A, _B = (SlmOperands.A, SlmOperands.BOTH), (SlmOperands.B, SlmOperands.BOTH)


def keeps_registers(on: Problem, config: XeConfig) -> bool:
    """Return whether none of the known cases applies to a legal configuration."""
    p, s = on.problem, config.strategy
    steps = steps_of(p, config)
    if p.transpose_b and not p.transpose_a and s.k_unroll > 1 and steps // s.k_unroll < _LEAST_ROUNDS:
        return False
    cases = _by_lanes, _in_vectors, _exchanged, _rows_apart, _of_parts, _converted, _beside_rows
    operands = max(_turned(on, config, steps), *(case(on, config) for case in cases))
    held = config.sg_m * config.sg_n * p.products * p.dtype_acc.nbytes + operands
    return held <= (s.grf_mode - RESERVED_REGISTERS) * on.target.grf_bytes


def _beside_rows(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands and of vectors along rows of experts, which lanes load before the K loop ends."""
    p, rows = on.problem, sum(step.axis is Axis.ROW for step in on.problem.epilogue)
    if p.experts is None or not rows or not on.uses_dpas:
        return 0
    operands = (config.sg_m + config.sg_n * p.products) * config.matmul.block.k * p.dtype_a.nbytes
    return operands + rows * config.sg_m * on.target.subgroup_size * _WORD_BYTES


def _turned(on: Problem, config: XeConfig, steps: int) -> int:
    """Return the bytes of operands where moves transpose A of f32 or bytes: the loaded and the transposed form."""
    p = on.problem
    if not _turns_a(on) or (on.uses_dpas and p.dtype_a.nbytes > 1):
        return 0
    together = (steps if steps <= _STEPS_TOGETHER else 0) if on.uses_dpas else config.strategy.k_unroll
    columns = config.sg_n * p.products
    return (2 * config.sg_m + columns) * config.matmul.block.k * together * p.dtype_a.nbytes


def _by_lanes(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands if lanes access single elements of one: those being multiplied, those being copied,
    and addresses of rows and columns, and of loads in flight.

    All loads of a K step are issued before their values are packed, or widened where there is no DPAS; neighbours in
    memory that are none along K take a word each, too. From shared local memory words are loaded right before they are
    multiplied, but bytes are unpacked before, and of several steps in a round with block messages those of one are all
    loaded together.
    """
    p, block, slm = on.problem, config.matmul.block, config.strategy.slm
    by_a, by_b = on.lanes_a and not on.vectors_a, on.lanes_b and not on.vectors_b
    if not (by_a or by_b):
        return 0
    products, nbytes = p.products, p.dtype_a.nbytes
    loads_a, loads_b = slm not in _A, slm not in _B
    unrolled = config.strategy.k_unroll > 1 and on.target.block2d
    widened = 0 if on.uses_dpas or nbytes == _WORD_BYTES else _WORD_BYTES
    a = _WORD_BYTES if by_a or (on.vectors_a and p.transpose_a) else 2 if nbytes == 1 and _turns_a(on) else nbytes
    b = _WORD_BYTES if by_b or (on.vectors_b and not p.transpose_b) else nbytes
    of_a, of_b = (
        size + widened if loads or nbytes == 1 else nbytes * unrolled for size, loads in ((a, loads_a), (b, loads_b))
    )
    held = config.sg_m * of_a + config.sg_n * products * of_b
    copied = block.m * a * (on.lanes_a and not loads_a) + block.n * products * b * (on.lanes_b and not loads_b)
    lines = config.sg_m * (by_a and loads_a) + config.sg_n * products * (by_b and loads_b)
    addresses = lines + _LOADS_IN_FLIGHT * on.target.subgroup_size
    return (held + copied // config.subgroups) * block.k + addresses * _ADDRESS_BYTES


def _in_vectors(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands that lanes access in vectors: all loads of a K step are issued before their values
    are used, and take a word for each element of B that is loaded by rows.

    Rows that are not of whole words are loaded by elements, and each takes a word. Of an operand in shared local memory
    the part is held that a sub-group copies there: of A twice, and of B by columns a word for each element, before and
    after halves of words are exchanged, and then their bytes.
    """
    if not (on.vectors_a and on.vectors_b):
        return 0
    p, block, slm = on.problem, config.matmul.block, config.strategy.slm
    columns = p.products
    a, b = _loaded_bytes(p.dtype_a, p.row_a, p.pitch_a), _loaded_bytes(p.dtype_b, p.row_b, p.pitch_b)
    of_a = config.sg_m * a * (slm is not SlmOperands.BOTH)
    if slm in _A:
        of_a += 2 * block.m * a // config.subgroups
    if slm not in _B:
        of_b = config.sg_n * columns * (b if p.transpose_b else _WORD_BYTES)
    else:
        words = 2 if p.dtype_b.nbytes > 1 else 3
        of_b = block.n * columns * (b + words * _WORD_BYTES if p.transpose_b else b) // config.subgroups
    return (of_a + of_b) * block.k


def _loaded_bytes(dtype: DType, row: int, pitch: int) -> int:
    """Return the bytes in registers of an element that is loaded from rows of a length and a pitch in elements."""
    of_words = all(n * dtype.nbytes % _WORD_BYTES == 0 for n in (row, pitch))
    return dtype.nbytes if of_words else _WORD_BYTES


def _exchanged(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands of 16 bits that are copied to shared local memory, while DPAS multiplies others.

    Of an operand that is stored along K, lanes exchange halves of words: two words for each element until they are
    stored. Of A another copy is live as it was loaded. From shared local memory A of one DPAS along K and a block of B
    are loaded right before they are multiplied; what is not there is all live, and B by rows takes words. Two products
    of a gate, one after the other, take A of a whole K step.
    """
    p, t, slm, nbytes = on.problem, on.target, config.strategy.slm, on.problem.dtype_a.nbytes
    copies_a, copies_b = on.lanes_a and slm in _A, on.lanes_b and slm in _B
    if not (on.uses_dpas and not t.block2d and nbytes == _HALF_BYTES and (copies_a or copies_b)):
        return 0
    block, columns = config.matmul.block, config.sg_n * p.products
    a = block.m * copies_a * (2 * _WORD_BYTES if p.transpose_a else 2 * nbytes)
    b = block.n * p.products * copies_b * (2 * _WORD_BYTES if p.transpose_b else nbytes)
    in_turn = products_of_tile(p, block.n) < p.products
    of_a = config.sg_m * (on.dpas_k if slm in _A and not in_turn else block.k) * nbytes
    of_b = t.dpas_n * on.dpas_k * nbytes
    if slm not in _B:
        of_b = columns * block.k * (nbytes if p.transpose_b else _WORD_BYTES)
    return (a + b) * block.k // config.subgroups + of_a + of_b


def _rows_apart(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands without DPAS where a K step is shorter than a register: A as it is loaded, with
    some rows in a register, and then one row in each; B; and the payloads of a message of each.
    """
    p, k, lanes = on.problem, config.matmul.block.k, on.target.subgroup_size
    if on.uses_dpas or p.transpose_b or k >= lanes:
        return 0
    a, b = config.sg_m * (k + lanes), config.sg_n * p.products * k
    return (a + b) * p.dtype_acc.nbytes + 2 * on.target.grf_bytes


def _of_parts(on: Problem, config: XeConfig) -> int:
    """Return the bytes of the operands of a K step where sub-groups multiply parts of K: blocks hold all of it, and
    B is held twice where vectors of it are packed or its weights decoded.
    """
    if config.strategy.k_subgroups == 1:
        return 0
    columns = config.sg_n * on.problem.products * (1 + (on.vectors_b or on.problem.quantization is not None))
    return (config.sg_m + columns) * config.matmul.block.k * on.problem.dtype_a.nbytes


def _converted(on: Problem, config: XeConfig) -> int:
    """Return the bytes of operands where B is converted from weights: part of A, and B more than twice."""
    p = on.problem
    if not p.has_weights:
        return 0
    held = _HELD_OF_A * config.sg_m + _HELD_OF_B * config.sg_n * p.products
    return int(held * config.matmul.block.k * on.problem.dtype_a.nbytes)


def _turns_a(on: Problem) -> bool:
    """Return whether messages load A by columns and moves must transpose it, because B does not transpose the
    product.
    """
    return on.problem.transpose_a and not on.problem.transpose_b and not on.lanes_a
