"""Bytes that a configuration moves: those of concurrent work-groups, and those of the memory bus."""

from codegen import GemmProblem, SplitK, XeConfig
from codegen.xe.rules import (
    ceil_div,
    tiles_of,
)
from hal import DeviceSpec
from tuner.model.core_clocks import known
from tuner.model.xe.l2 import l2_size


def bytes_read_together(problem: GemmProblem, config: XeConfig, cores: int) -> int:
    """Return the distinct bytes of A and B that concurrent work-groups read for one element of K."""
    block, threads = config.matmul.block, config.matmul.threads
    along_n, group = config.matmul.loop_order.walks_along_n, config.strategy.raster_group
    down, across = (threads.m, threads.n) if along_n else (threads.n, threads.m)
    running = min(cores, down * across)
    if group > 1:
        rows = min(group, down, running)
        columns = ceil_div(running, rows)
    else:
        columns = min(running, across)
        rows = ceil_div(running, columns)
    m, n = (rows, columns) if along_n else (columns, rows)
    return int(m * block.m * problem.dtype_a.nbytes + n * block.n * problem.products * problem.bytes_b)


def memory_bytes(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> int:
    """Return the bytes over the memory bus: each operand once, and inputs that do not stay in half of L2 once per wave,
    but of experts once.

    Raises:
        CannotPredict: a fact of the device is unknown.
    """
    p = problem
    a, b, *others = [p.accessed_bytes(o) * (2 if o.role == "inout" else 1) for o in p.operands]
    rest = sum(others) + split_bytes(problem, config)
    if a + b <= l2_size(spec).likely / 2 or p.experts is not None:
        return a + b + rest
    cores, (tiles_m, tiles_n) = known(spec, "xe_cores"), tiles_of(problem, config)
    waves = ceil_div(tiles_m * tiles_n, min(cores, config.matmul.threads.m * config.matmul.threads.n))
    return max(a + b, p.batch * waves * bytes_read_together(problem, config, cores) * p.k) + rest


def split_bytes(problem: GemmProblem, config: XeConfig) -> int:
    """Return the bytes of partial sums over K: written and read again, or read and written by each atomic addition."""
    sums = problem.batch * problem.m * problem.columns_b * problem.dtype_acc.nbytes
    match config.strategy.split_k:
        case SplitK.NONE:
            return 0
        case SplitK.PARTIAL_SUMS:
            return 2 * config.matmul.threads.k * sums
        case SplitK.ATOMIC:  # C is cleared first
            return (2 * config.matmul.threads.k + 1) * sums
