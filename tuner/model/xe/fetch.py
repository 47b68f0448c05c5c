"""Traffic of a K step from each level of the memory, for one work-group."""

from dataclasses import dataclass

import numpy as np

from codegen import GemmProblem
from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.constants import CONVERSIONS, SCALED
from tuner.model.xe.device import Case
from tuner.model.xe.registers import copied_registers, operand_registers
from tuner.model.xe.work import Work, slm_bytes

_TRANSPOSED_REGISTERS = 8  # of a transposing message
_LINE_BYTES = 64
_PREFETCH_BYTES = 8 * _LINE_BYTES
_MESSAGE_REGISTERS = 32  # of the largest message: 32 rows of 64 bytes


@dataclass(frozen=True, slots=True)
class Fetch:
    """Traffic of one K step of a work-group. `near_bytes` come from L1 or shared local memory into registers,
    `far_bytes` from L2. `messages` are by blocks or from shared local memory, `lane_messages` by lanes,
    `vector_messages` by vectors of lanes, `instructions` all but multiplies of one sub-group, `conversions` those of
    them that convert weights.
    """

    near_bytes: Column
    far_bytes: Column
    messages: Column
    lane_messages: Column
    vector_messages: Column
    instructions: Column
    conversions: Column


def fetch_of(on: Case, c: Columns, work: Work) -> Fetch:
    """Return the traffic of a K step."""
    k, nbytes = on.constants, on.problem.dtype_a.nbytes
    subgroups, fetches = work.subgroups, c.prefetch > 0
    tile_a, tile_b = c.block_m * c.k_step * nbytes, c.k_step * c.block_n * on.problem.products * on.problem.bytes_b
    whole_a, whole_b = tile_a * c.sg_columns, tile_b * c.sg_rows
    staged = tile_a * c.staged_a + tile_b * c.staged_b
    in_cache = _kept_in_l1(on, c, work)
    far = np.zeros(len(c))
    # Data beyond the edges of a matrix is not fetched; neighbours along the rows of memory fetch whole lines each.
    inside_a = (
        on.problem.m / (work.tiles_m * c.block_m) if on.problem.experts else np.minimum(1, on.problem.m / c.block_m)
    )
    inside_a = inside_a * (_lines(c.block_m * nbytes) if on.problem.transpose_a else 1)
    row_b = c.block_n * on.problem.dtype_b.nbytes
    inside_b = np.minimum(1, on.problem.n / c.block_n) * (1 if on.problem.transpose_b else _lines(row_b))
    for tile, whole, is_staged, by_lanes in (
        (inside_a * tile_a, inside_a * whole_a, c.staged_a, on.lanes_a),
        (inside_b * tile_b, inside_b * whole_b, c.staged_b, on.lanes_b),
    ):
        # Barriers of staging keep sub-groups in step, so that they miss together.
        together = np.maximum(is_staged, c.stages > 0)
        demanded = tile + (1 - together) * k.unshared_misses * (whole - tile)
        ahead = fetches * (not by_lanes) * (1 - together)
        far = far + ahead * tile + (1 - ahead * in_cache) * demanded
    prefetched = (tile_a * (not on.lanes_a) + tile_b * (not on.lanes_b)) * fetches * (1 + (c.prefetch_l2 > 0))
    by_lanes = _fetched_registers(on, c, subgroups, on.lanes_a and not on.vectors_a, on.lanes_b and not on.vectors_b)
    by_vectors = _fetched_registers(on, c, subgroups, on.vectors_a, on.vectors_b)
    blocks = _blocks(on, c) + k.sends_copied * copied_registers(on, c) + prefetched / _PREFETCH_BYTES / subgroups
    lane_messages, vector_messages = k.sends_lanes * by_lanes, k.sends_vectors * by_vectors
    messages, conversions = blocks + lane_messages + vector_messages, _conversions(on, c)
    return Fetch(
        near_bytes=whole_a + whole_b + 2 * staged,
        far_bytes=far,
        messages=blocks * subgroups,
        lane_messages=lane_messages * subgroups,
        vector_messages=vector_messages * subgroups,
        instructions=messages * (1 + k.moves_per_message)
        + k.moves_lanes * by_lanes
        + k.moves_vectors * by_vectors
        + _moves(on, c)
        + conversions,
        conversions=conversions,
    )


def _lines(width: Column) -> Column:
    """Return the bytes of whole lines over the bytes of a row of a tile."""
    return np.ceil(width / _LINE_BYTES) * _LINE_BYTES / width


def _kept_in_l1(on: Case, c: Columns, work: Work) -> Column:
    """Return the share of prefetched data that L1 still holds when it is used."""
    if on.l1_bytes is None:
        return np.ones(len(c))
    p = on.problem
    tile = (c.block_m * p.dtype_a.nbytes + c.block_n * p.products * p.bytes_b) * c.k_step
    need = work.resident * tile * (c.prefetch + 1)
    room = np.maximum(on.constants.kept_in_l1 * on.l1_bytes - work.resident * slm_bytes(on, c), 1)
    return np.clip(2 - need / room, 0, 1)


def _blocks(on: Case, c: Columns) -> Column:
    """Return the block messages by which a sub-group fetches A and B in a K step."""
    p, k, (a, b) = on.problem, on.constants, operand_registers(on, c)
    deep = np.ceil(c.block_k / c.load_k)
    plain_a = np.ceil(c.block_m / c.sg_rows / c.load_m) * deep
    plain_b = np.ceil(c.block_n * p.products / c.sg_columns / c.load_n) * deep
    turned_a, turned_b = np.ceil(a / _TRANSPOSED_REGISTERS), np.ceil(b / _TRANSPOSED_REGISTERS)
    # Sub-groups that multiply parts of K load the largest blocks.
    plain_a = np.where(c.k_subgroups > 1, np.ceil(a / _MESSAGE_REGISTERS), plain_a)
    plain_b = np.where(c.k_subgroups > 1, np.ceil(b / _MESSAGE_REGISTERS), plain_b)
    of_a = 0 if on.lanes_a else turned_a if p.transpose_a else plain_a
    of_b = 0 if on.lanes_b else turned_b if p.transpose_b else plain_b
    if p.has_weights:
        of_b = of_b * p.bytes_b / p.dtype_a.nbytes + (p.quantization is not None)
    sends_a, sends_b = (k.sends_staged_a, k.sends_staged_b) if on.has_block2d else (k.sends_staged_words,) * 2
    return np.where(c.staged_a > 0, sends_a * a, of_a) + np.where(c.staged_b > 0, sends_b * b, of_b)


def _fetched_registers(on: Case, c: Columns, subgroups: Column, fetch_a: bool, fetch_b: bool) -> Column:
    """Return the registers of these operands that lanes of a sub-group fill in a K step; only its share of a staged
    copy.
    """
    a, b = operand_registers(on, c)
    of_a = np.where(c.staged_a > 0, a * c.sg_rows / subgroups, a) * fetch_a
    return of_a + np.where(c.staged_b > 0, b * c.sg_columns / subgroups, b) * fetch_b


def _moves(on: Case, c: Columns) -> Column:
    """Return the moves of a sub-group in a K step besides those for messages."""
    k, (a, b) = on.constants, operand_registers(on, c)
    moves = k.moves_pipelined * c.pipelined * (a + b)
    if on.has_block2d:
        moves = moves + k.moves_staged_a * c.staged_a * a + k.moves_staged_b * c.staged_b * b
    if on.problem.transpose_a and not on.lanes_a:
        moves = moves + k.moves_transposed_a * a
    return moves


def _conversions(on: Case, c: Columns) -> Column:
    """Return the instructions by which a sub-group converts weights in a K step."""
    p = on.problem
    if not p.has_weights:
        return np.zeros(len(c))
    elements = c.block_n * p.products / c.sg_columns * c.block_k / on.dpas_n
    return elements * conversion_of(p)


def conversion_of(problem: GemmProblem) -> float:
    """Return the instructions that convert an element of weights for each lane."""
    return CONVERSIONS[problem.dtype_b] + SCALED * (problem.quantization is not None)
