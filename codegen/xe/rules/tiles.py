"""Rules about the tiles of a sub-group: multiply instructions, load blocks, registers."""

from functools import cache

from codegen.config.xe import SlmOperands
from codegen.target import Target
from codegen.xe.layout import block_limits
from codegen.xe.layout.messages import (
    MESSAGES,
    Transfer,
)
from codegen.xe.rules.case import (
    Case,
    ConfigRule,
    Problem,
)
from codegen.xe.rules.sizes import products_of_tile

RESERVED_REGISTERS = 16
"""Registers for addresses, payloads and loop state."""
_BITS, _WORD_BYTES = 8, 4


def dpas_shape(case: Case) -> str | None:
    """Require that sub-group tiles and the K step are multiples of the DPAS shape."""
    c, t, k = case.config, case.on.target, case.on.dpas_k
    if c.sg_m % t.dpas_m or c.sg_n % t.dpas_n or c.matmul.block.k % k:
        return (
            f"sub-group tile and K step must be multiples of the DPAS shape {t.dpas_m}x{t.dpas_n}x{k}, "
            f"got {c.sg_m}x{c.sg_n}x{c.matmul.block.k}"
        )
    return None


def load_block_a(case: Case) -> str | None:
    """Require that innermost m x k is a 2-D block of A that one message loads, if A is loaded by such blocks."""
    inner, c, least = case.config.matmul.innermost, case.config, case.on.target.dpas_m
    if chooses_blocks_of_a(case):
        tile = c.sg_m, c.matmul.block.k
        return _load_block(case, "m x k (A's load block)", (inner.m, inner.k), tile, (least, case.on.dpas_k))
    if inner.m != least:
        return f"innermost m is {least} where A is {_NOT_BY_BLOCKS}: it has no effect there; got {inner.m}"
    return None


def load_block_b(case: Case) -> str | None:
    """Require that innermost k x n is a 2-D block of B that one message loads, if B is loaded by such blocks."""
    inner, c, least = case.config.matmul.innermost, case.config, case.on.target.dpas_n
    if chooses_blocks_of_b(case):
        tile = c.matmul.block.k, c.sg_n * products_of_tile(case.problem, c.matmul.block.n)
        return _load_block(case, "k x n (B's load block)", (inner.k, inner.n), tile, (case.on.dpas_k, least))
    if inner.n != least:
        return f"innermost n is {least} where B is {_NOT_BY_BLOCKS}: it has no effect there; got {inner.n}"
    if not chooses_blocks_of_a(case) and inner.k != case.on.dpas_k:
        return (
            f"innermost k is {case.on.dpas_k} where A and B are {_NOT_BY_BLOCKS}: it has no effect there; got {inner.k}"
        )
    return None


_NOT_BY_BLOCKS = "transposed, staged, f32, weights, accessed by lanes, or split over k_subgroups"


def chooses_blocks_of_a(case: Case) -> bool:
    """True if A is loaded by blocks of innermost m x k."""
    strategy = case.config.strategy
    return loads_blocks_of_a(case.on, strategy.slm, strategy.k_subgroups)


def chooses_blocks_of_b(case: Case) -> bool:
    """True if B is loaded by blocks of innermost k x n."""
    strategy = case.config.strategy
    return loads_blocks_of_b(case.on, strategy.slm, strategy.k_subgroups)


def loads_blocks_of_a(on: Problem, slm: SlmOperands, k_subgroups: int) -> bool:
    """True if A is loaded by blocks of innermost m x k where a strategy has these operands staged and sub-groups."""
    staged = slm in (SlmOperands.A, SlmOperands.BOTH)
    return _chooses_blocks(on, k_subgroups) and not (on.problem.transpose_a or on.lanes_a or staged)


def loads_blocks_of_b(on: Problem, slm: SlmOperands, k_subgroups: int) -> bool:
    """True if B is loaded by blocks of innermost k x n where a strategy has these operands staged and sub-groups."""
    p, staged = on.problem, slm in (SlmOperands.B, SlmOperands.BOTH)
    return _chooses_blocks(on, k_subgroups) and not (p.transpose_b or on.lanes_b or staged or p.has_weights)


def _chooses_blocks(on: Problem, k_subgroups: int) -> bool:
    # Sub-groups that split K have tiles of their own, which the compiler divides into the largest messages.
    return on.uses_dpas and k_subgroups == 1


def gate_interleave(case: Case) -> str | None:
    """Require that columns of C of a sub-group are whole blocks of those that B interleaves, or a tile's within one."""
    c, gate = case.config, case.problem.gate
    if gate is None or gate.interleave is None:
        return None
    if c.sg_n % gate.interleave and gate.interleave % c.matmul.block.n:
        return (
            f"B interleaves blocks of {gate.interleave} columns: columns of a sub-group must be a multiple of it, or "
            f"block n divide it; got {c.sg_n} and {c.matmul.block.n}"
        )
    return None


def registers(case: Case) -> str | None:
    """Require that the accumulator and the operands held at one time fit the registers."""
    c, p = case.config, case.problem
    accumulator = c.sg_m * c.sg_n * p.products * p.dtype_acc.nbytes
    depth = c.matmul.block.k
    if c.strategy.pipelined_registers:
        operands = 2 * _operands(case, depth, depth)
    elif case.on.uses_dpas:
        operands = _operands(case, c.matmul.innermost.k, c.matmul.innermost.k)
    else:
        # Without DPAS a whole K step is multiplied before the next load, but an iteration first loads all of its B.
        operands = _operands(case, depth, depth * c.strategy.k_unroll)
    have = (c.strategy.grf_mode - RESERVED_REGISTERS) * case.on.target.grf_bytes
    if accumulator + operands > have:
        tile = f"{c.sg_m}x{c.sg_n}" + (" of two products" if p.gate is not None else "")
        return (
            f"sub-group tile {tile} needs {accumulator} bytes of accumulator and {operands} of operands; "
            f"{c.strategy.grf_mode} registers leave {have}"
        )
    return None


def _operands(case: Case, depth_a: int, depth_b: int) -> int:
    c, p = case.config, case.problem
    nbytes = p.dtype_a.nbytes if case.on.uses_dpas else p.dtype_acc.nbytes  # lanes multiply what they sum
    return (c.sg_m * depth_a + depth_b * c.sg_n * p.products) * nbytes


def weights_step(case: Case) -> str | None:
    """Require K steps of whole words of weights that lie in one group of scales, and none staged."""
    p, k = case.problem, case.config.matmul.block.k
    if not p.has_weights:
        return None
    if case.config.strategy.slm in (SlmOperands.B, SlmOperands.BOTH):
        return f"weights of {p.dtype_b.value} are not staged: set slm to none or a"
    group = None if p.quantization is None else p.quantization.group
    if group is not None and group % k:
        return f"the K step must divide the {group} elements of a group of scales, got {k}"
    return None


def _load_block(
    case: Case, what: str, block: tuple[int, int], tile: tuple[int, int], unit: tuple[int, int]
) -> str | None:
    rows, columns = block
    what = f"innermost {what}"
    if rows % unit[0] or columns % unit[1] or tile[0] % rows or tile[1] % columns:
        return (
            f"{what} must be a multiple of {unit[0]}x{unit[1]} that divides the sub-group's {tile[0]}x{tile[1]}, "
            f"got {rows}x{columns}"
        )
    offered = _message_shapes(case, packed=what.endswith("(B's load block)"))
    if block not in offered:
        shapes = ", ".join(f"{r}x{c}" for r, c in sorted(offered) if r % unit[0] == 0 and c % unit[1] == 0)
        return f"{what} must be what one 2-D block message loads: {shapes}; got {rows}x{columns}"
    return None


def _message_shapes(case: Case, packed: bool) -> frozenset[tuple[int, int]]:
    return _shapes(case.on.target, case.problem.dtype_a.nbytes, packed)


@cache
def _shapes(target: Target, nbytes: int, packed: bool) -> frozenset[tuple[int, int]]:
    """Return rows and columns that one message loads, in elements."""
    limits, transfer = block_limits(target), Transfer.PACKED if packed and nbytes < _WORD_BYTES else Transfer.PLAIN
    fitting = (m for m in MESSAGES if m.transfer is transfer and m.bits == nbytes * _BITS and limits.allow(m))
    return frozenset((m.rows, m.width * m.array_length) for m in fitting)


TILE_RULES: tuple[ConfigRule, ...] = (
    dpas_shape,
    gate_interleave,
    load_block_a,
    load_block_b,
    weights_step,
    registers,
)
