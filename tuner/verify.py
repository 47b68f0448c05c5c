"""Proof of numbers: a kernel's C against numpy in float64, in the simulator or on a device."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen import GemmArtifact
from codegen.rules import ceil_div
from codegen.simulator import sample_groups, simulate
from hal import Buffer, Device, DeviceKind, RunReport, Timing
from tuner.errors import ProofFailed
from tuner.reference import WHOLE_MULTIPLY_ADDS, Reference, decode
from tuner.trial import Proof, ProofKind

SIMULATED_WHOLE = 2**28
"""Multiply-adds up to which every work-group is simulated."""
_SAMPLE = 9  # the corners, the middles of the edges, and the centre

Tile = tuple[slice, slice]


def verify_by_simulation(
    artifact: GemmArtifact, seed: int = 0, reference: Reference | None = None, time_limit_s: float | None = None
) -> Proof:
    """Execute the final LLVM IR, on a sample of work-groups if the problem is large. `reference` saves drawing one.

    Raises:
        ProofFailed: the numbers are wrong.
        SimulationRefused: the simulator cannot represent the kernel.
        SimulationTimedOut: `time_limit_s` passed.
    """
    reference = reference or Reference(artifact.problem, seed)
    p, launch = artifact.problem, artifact.launch
    local = launch.local_size
    groups = (launch.global_size[0] // local[0], launch.global_size[1] // local[1], launch.global_size[2] // local[2])
    total = groups[0] * groups[1] * groups[2]
    count = total if p.m * p.n * p.k <= SIMULATED_WHOLE else max(_SAMPLE, SIMULATED_WHOLE * total // (p.m * p.n * p.k))
    only = sample_groups(groups, count, seed)
    buffers = reference.buffers()
    report = simulate(
        artifact.stage("llvm").data.decode(),
        launch.kernel,
        buffers,
        groups,
        local[0],
        None if count >= total else only,
        time_limit_s,
    )
    return compare(artifact, reference, buffers[2], ProofKind.SIMULATOR, report.executed)


def verify_on_device(
    device: Device, artifact: GemmArtifact, reference: Reference, timing: Timing | None, timeout_s: float
) -> tuple[Proof, RunReport]:
    """Run a kernel, with `timing` also measure it, and compare; of very large problems a sample of tiles.

    Raises:
        ProofFailed: the numbers are wrong.
        DeviceFailed: the device gave no result.
    """
    report = device.run(artifact.launch, reference.buffers(), timing, timeout_s)
    kind = ProofKind.DEVICE if device.spec.kind is DeviceKind.GPU else ProofKind.OPENCL_CPU
    return compare(artifact, reference, report.outputs[2], kind), report


@dataclass(slots=True)
class _Comparison:
    """What was found so far: the largest error and bound, and the first element beyond its bound."""

    max_error: float = 0.0
    tolerance: float = 0.0
    wrong: int = 0
    first: str = ""

    def add(self, rows: slice, columns: slice, got: NDArray[np.float32], reference: Reference) -> None:
        expected, bound = reference.expected(rows, columns), reference.bound(rows, columns)
        error = np.abs(got.astype(np.float64) - expected)
        bad = ~(error <= bound)
        self.tolerance = max(self.tolerance, float(bound.max()))
        self.max_error = max(self.max_error, float(np.max(error, initial=0.0, where=~np.isnan(error))))
        if bad.any() and not self.wrong:
            i, j = (int(index) for index in np.argwhere(bad)[0])
            value = "not written" if np.isnan(got[i, j]) else f"{got[i, j]:.6g}"
            self.first = (
                f"C[{rows.start + i}, {columns.start + j}] is {value}, expected {expected[i, j]:.6g} "
                f"within {bound[i, j]:.3g}"
            )
        self.wrong += int(bad.sum())


def compare(
    artifact: GemmArtifact, reference: Reference, output: Buffer, kind: ProofKind, executed: int | None = None
) -> Proof:
    """Compare C with the reference: all of it, or the tiles of the `executed` work-groups if they are fewer.

    Raises:
        ProofFailed: an element is beyond its bound or was not written, or something else was written.
    """
    p, block = artifact.problem, artifact.config.matmul.block
    got = decode(output[:, : p.n], p.dtype_c)
    tiles = list(_tiles(p.m, p.n, block.m, block.n))
    total = len(tiles)
    chosen = tiles
    if executed is not None and executed < total:
        # Which work-group owns which tile is the kernel's affair: what counts is that each wrote one, rightly.
        chosen = [tile for tile in tiles if not np.isnan(got[tile]).all()]
    elif p.m * p.n * p.k > WHOLE_MULTIPLY_ADDS:
        chosen = [tiles[i] for i in sample_groups((ceil_div(p.n, block.n), ceil_div(p.m, block.m), 1), _SAMPLE, seed=0)]
    found = _Comparison()
    for rows, columns in chosen:
        found.add(rows, columns, got[rows, columns], reference)
    finite = found.max_error if np.isfinite(found.max_error) else None
    proof = Proof(kind, min(len(chosen), total), total, finite, found.tolerance)
    if found.wrong:
        raise ProofFailed(
            f"{found.first}; {found.wrong} elements are wrong, the largest error is {found.max_error:.3g}", proof
        )
    if executed is not None and len(chosen) != executed:
        raise ProofFailed(f"{executed} work-groups ran and {len(chosen)} tiles of C were written", proof)
    if chosen is not tiles and executed is None and np.isnan(got).any():
        i, j = np.argwhere(np.isnan(got))[0]
        raise ProofFailed(f"C[{i}, {j}] is not written", proof)
    if not np.isnan(decode(output[:, p.n :], p.dtype_c)).all():
        raise ProofFailed(f"something was written between the rows of C, beyond column {p.n - 1}", proof)
    return proof


def _tiles(m: int, n: int, block_m: int, block_n: int) -> Iterator[Tile]:
    for row in range(0, m, block_m):
        for column in range(0, n, block_n):
            yield slice(row, min(row + block_m, m)), slice(column, min(column + block_n, n))
