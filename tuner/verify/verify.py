"""Verification of a kernel's outputs against numpy in float64, in the simulator or on a device."""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from codegen import AnyArtifact, Axis, GemmArtifact, GemmProblem
from codegen.artifact.workgroup_tiles import (
    Tile,
    WorkgroupTiles,
)
from codegen.backend import backend_of
from codegen.problem.experts import offsets, rows_of_tile
from codegen.problem.gemm import Operand
from codegen.simulate import Execute, sample_groups
from codegen.simulate.run_gemm import run_launch
from codegen.xe.isa import Compiled
from codegen.xe.machine.execute.launch import read_machine_code, run_machine_code
from codegen.xe.machine.refusal import MachineCodeRefused, NotRepresented
from hal import Buffer, Device, RunReport, Timing
from tuner.errors import ProofFailed
from tuner.session.trial import (
    Proof,
    ProofKind,
    ProofMethod,
)
from tuner.verify.freivalds import (
    first_wrong,
    is_applicable,
)
from tuner.verify.memory_layout import (
    bits_of,
    decode,
    matrices,
    outside_is_poison,
)
from tuner.verify.reference import (
    WHOLE_MULTIPLY_ADDS,
    Bounds,
    Part,
    Reference,
)
from tuner.verify.simulated_tiles import (
    SAMPLE,
    tiles_to_simulate,
)

_BAND = 2**20  # elements compared at a time if all are
_SAMPLED_SUMS = 32  # of a second output, if not all are computed
_C = 2
_NO_CHANCE = 16  # number of poisoned integers that cannot be there by chance


def verify_by_simulation(
    artifact: GemmArtifact,
    seed: int = 0,
    reference: Reference | None = None,
    time_limit_s: float | None = None,
    compiled: Compiled | None = None,
) -> Proof:
    """Execute the machine code, if there is some and all of it is represented, else the final LLVM IR; a sample of
    tiles if the problem is large. The proof says what of the machine code is not represented.

    `seed` draws the inputs and the sample; `reference` has the inputs already, and its seed draws the sample.

    Raises:
        ProofFailed: the results are wrong.
        SimulationRefused: the simulator cannot represent the kernel, or it does what it must not.
        SimulationTimedOut: `time_limit_s` passed.
    """
    reference = reference or Reference(artifact.problem, seed, sampled=True)
    begun_s = time.monotonic()
    refusal = None
    if compiled is not None:
        try:
            execute = partial(run_machine_code, read_machine_code(compiled))
            return _simulated(artifact, reference, ProofKind.MACHINE_CODE, time_limit_s, execute)
        except (MachineCodeRefused, NotRepresented) as error:
            refusal = str(error)
    left_s = None if time_limit_s is None else time_limit_s - (time.monotonic() - begun_s)
    return replace(_simulated(artifact, reference, ProofKind.SIMULATOR, left_s), refusal=refusal)


def _simulated(
    artifact: GemmArtifact,
    reference: Reference,
    kind: ProofKind,
    time_limit_s: float | None,
    execute: Execute | None = None,
) -> Proof:
    tiles = tiles_to_simulate(artifact.problem, artifact.config, reference.seed)
    computed = None if tiles is None else _workgroup_tiles(artifact).computed_with(tiles)
    buffers = reference.buffers(None if computed is None else _tiles_of(artifact, computed))
    report = run_launch(artifact, buffers, tiles, time_limit_s, execute)
    return compare(artifact, reference, _outputs(artifact.problem, buffers), kind, report.tiles)


@runtime_checkable
class VerifyingDevice(Protocol):
    """A device of another machine that compares results there, so that operands are not transferred.

    It generates the same inputs from the problem and the seed. Raises as `verify_on_device`.
    """

    def verify(
        self, artifact: AnyArtifact, seed: int, timing: Timing | None, timeout_s: float
    ) -> tuple[Proof, RunReport]: ...


def verify_on_device(
    device: Device, artifact: AnyArtifact, reference: Reference, timing: Timing | None, timeout_s: float
) -> tuple[Proof, RunReport]:
    """Run a launch, measure it if `timing` is given, and compare the results, on the device's side if it can.

    For very large problems a sample of tiles is compared, and all of C by Freivalds' check.

    Raises:
        ProofFailed: the results are wrong.
        DeviceFailed: the run has no result.
    """
    if isinstance(device, VerifyingDevice):
        return device.verify(artifact, reference.seed, timing, timeout_s)
    report = device.run(artifact.launch, reference.buffers(), timing, timeout_s)
    kind = ProofKind.DEVICE if device.spec.emulates is None else ProofKind.OPENCL_CPU
    return compare(artifact, reference, report.outputs, kind), report


def compare(
    artifact: AnyArtifact,
    reference: Reference,
    outputs: Mapping[int, Buffer],
    kind: ProofKind,
    computed: Collection[Tile] | None = None,
) -> Proof:
    """Compare outputs, by their index among the problem's operands, with the reference: all, or `computed` tiles of C.

    Sums of second outputs are compared if all of their tiles are computed.

    Raises:
        ProofFailed: an element is beyond its bound or was not written, or other memory was written.
    """
    p, grid = artifact.problem, _workgroup_tiles(artifact)
    every = computed is None or len(computed) == grid.count
    tiles = frozenset(_sampled(grid, reference.seed)) if every and p.multiply_adds > WHOLE_MULTIPLY_ADDS else computed
    found = _Comparison()
    for number, operand in enumerate(p.operands):
        if operand.role == "input":
            continue
        output = _Output(operand, outputs[number], reference.before(number), p.batch)
        if operand.step is None:
            parts = _bands(p) if tiles is None or (every and tiles is computed) else _tiles_of(artifact, tiles)
            for part in parts:
                found.add(output, part, reference.bounds_of_c(*part))
        else:
            for part in _sums(artifact, operand.step, None if every else tiles):
                along = part[1] if p.epilogue[operand.step].axis is Axis.ROW else part[2]
                found.add(output, part, reference.bounds_of_sums(operand, part[0], along))
    checked = grid.count if tiles is None else len(tiles)
    finite = found.max_error if np.isfinite(found.max_error) else None
    signed = every and tiles is not None and tiles is not computed and is_applicable(p)
    method = ProofMethod.FREIVALDS if signed else ProofMethod.ELEMENTS
    proof = Proof(kind, checked, grid.count, finite, found.tolerance, method)
    if found.wrong:
        raise ProofFailed(
            f"{found.first}; {found.wrong} elements are wrong, the largest error is {found.max_error:.3g}", proof
        )
    for number, operand in enumerate(p.operands):
        if operand.role != "input":
            output = _Output(operand, outputs[number], reference.before(number), p.batch)
            _check_untouched(artifact, output, None if every else computed, proof)
    if signed:
        _check_sums(p, reference, outputs[_C], proof)
    return proof


def _check_sums(p: GemmProblem, reference: Reference, c: Buffer, proof: Proof) -> None:
    """Check all of a C whose elements would take too long to compare.

    Raises:
        ProofFailed: a sum is beyond its bound, so some of its elements are wrong.
    """
    found = first_wrong(reference.signed_sums, matrices(c.reshape(-1), p.c, p.batch))
    if found is None:
        return
    entry, wrong = found
    place = f"{entry}, " * (p.batch > 1) + f"{wrong.row}, {wrong.columns.start}:{wrong.columns.stop}"
    raise ProofFailed(
        f"C[{place}] is wrong somewhere: added with random signs it is {wrong.got:.6g}, "
        f"expected {wrong.expected:.6g} within {wrong.bound:.3g}",
        proof,
    )


@dataclass(frozen=True, slots=True)
class _Output:
    """An operand that a launch wrote, with the previous contents of its memory."""

    operand: Operand
    memory: Buffer
    before: Buffer
    batch: int

    def stored(self, part: Part, memory: Buffer) -> Buffer:
        """Return a part of one matrix, as stored."""
        entry, rows, columns = part
        found = matrices(memory.reshape(-1), self.operand, self.batch)
        return found[entry % len(found), rows, columns]

    def unchanged(self, part: Part) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Return which elements hold the same bits as before."""
        return bits_of(self.stored(part, self.memory)) == bits_of(self.stored(part, self.before))

    def lacks(self, part: Part) -> bool:
        """Return whether some of a part was not written, as far as detectable: integers may be unchanged by chance."""
        unchanged = self.unchanged(part)
        if self.operand.dtype.is_integer:
            return self.operand.role == "output" and unchanged.size >= _NO_CHANCE and bool(unchanged.all())
        return self.operand.role == "output" and bool(unchanged.any())

    def name(self, entry: int, row: int, column: int) -> str:
        """Return the name of an element, for messages."""
        o = self.operand
        place = [row, column] if o.step is None else [max(row, column)]
        return f"{o.name}[{', '.join(map(str, ([entry] if self.batch > 1 else []) + place))}]"


@dataclass(slots=True)
class _Comparison:
    """Result so far: the largest error and bound, and the first element beyond its bound."""

    max_error: float = 0.0
    tolerance: float = 0.0
    wrong: int = 0
    first: str = ""

    def add(self, output: _Output, part: Part, bounds: Bounds) -> None:
        stored = output.stored(part, output.memory)
        got = decode(stored, output.operand.dtype).astype(np.float64).reshape(bounds.value.shape)
        bad = ~bounds.holds(got)
        with np.errstate(invalid="ignore"):
            error = np.abs(got - bounds.value)
        error[np.isinf(error) & ~bad] = np.nan  # ignored, as that of a NaN: its type cannot hold the result
        self.tolerance = max(self.tolerance, bounds.widest)
        self.max_error = max(self.max_error, float(np.fmax.reduce(error, axis=None, initial=0.0)))
        if bad.any() and not self.wrong:
            shape = stored.shape
            i, j = (int(index) for index in np.argwhere(bad.reshape(shape))[0])
            got, value, width = (values.reshape(shape) for values in (got, bounds.value, bounds.width()))
            name = output.name(part[0], part[1].start + i, part[2].start + j)
            said = _said(output, bool(output.unchanged(part)[i, j]), float(got[i, j]))
            wanted = f"expected {value[i, j]:.6g} within {width[i, j]:.3g}"
            self.first = f"{name} is {said}" if said == _NOT_WRITTEN else f"{name} is {said}, {wanted}"
        self.wrong += int(bad.sum())


_NOT_WRITTEN = "not written"


def _said(output: _Output, unchanged: bool, got: float) -> str:
    """Describe the value of a wrong element; if it is unchanged, say that it was not written."""
    value = f"{got:.6g}"
    if not unchanged:
        return value
    if output.operand.role == "inout":
        return f"{value} as before the launch"
    return (
        f"{value}, which is what memory held that is not written" if output.operand.dtype.is_integer else _NOT_WRITTEN
    )


def _check_untouched(artifact: AnyArtifact, output: _Output, computed: Collection[Tile] | None, proof: Proof) -> None:
    """Check that all other memory is unchanged: around matrices, and tiles that no executed work-group computes.

    Raises:
        ProofFailed: it is changed; or, if only a sample of tiles was compared, another tile was not written.
    """
    o = output.operand
    if not outside_is_poison(output.memory.reshape(-1), o, output.batch):
        beyond = f"beyond column {o.columns - 1}" + (" or between matrices" if output.batch > 1 else "")
        raise ProofFailed(f"something was written between the rows of {o.name}, {beyond}", proof)
    if computed is None and proof.checked == proof.total:
        return
    if o.step is not None:
        whole = (slice(0, o.rows), slice(0, o.columns))
        if computed is None and any(output.lacks((entry, *whole)) for entry in range(output.batch)):
            raise ProofFailed(f"some of {o.name} is not written", proof)
        return
    for tile in _workgroup_tiles(artifact).all_tiles():
        part = _part(artifact, tile)
        name = output.name(tile[0], part[1].start, part[2].start)
        if computed is None and output.lacks(part):
            raise ProofFailed(f"{name} is not written, or something else of the tile that begins there", proof)
        if computed is not None and tile not in computed and not output.unchanged(part).all():
            raise ProofFailed(f"the tile of C from {name} on was written; no work-group that ran computes it", proof)


def _workgroup_tiles(artifact: AnyArtifact) -> WorkgroupTiles:
    return backend_of(artifact.config).workgroup_tiles(artifact.problem, artifact.config)


def _outputs(p: GemmProblem, buffers: tuple[Buffer, ...]) -> dict[int, Buffer]:
    return {number: buffers[number] for number, operand in enumerate(p.operands) if operand.role != "input"}


def _sampled(grid: WorkgroupTiles, seed: int) -> Iterator[Tile]:
    over_m, over_n = grid.tiles
    for number in sample_groups((over_n, over_m, grid.batch), SAMPLE, seed):
        yield number // (over_m * over_n), number // over_n % over_m, number % over_n


def _part(artifact: AnyArtifact, tile: Tile) -> Part:
    p, block = artifact.problem, artifact.config.matmul.block
    entry, row, column = tile
    rows = slice(row * block.m, min((row + 1) * block.m, p.m))
    if p.experts is not None:
        entry, rows = rows_of_tile(p.rows_of_experts, block.m, row)
    return entry, rows, slice(column * block.n, min((column + 1) * block.n, p.n))


def _tiles_of(artifact: AnyArtifact, tiles: Collection[Tile]) -> Iterator[Part]:
    return (_part(artifact, tile) for tile in sorted(tiles))


def _bands(p: GemmProblem) -> Iterator[Part]:
    """Yield all of C, in bands of rows, each of one expert."""
    rows = max(1, _BAND // p.n)
    matrices = [(entry, 0, p.m) for entry in range(p.batch)]
    if p.experts is not None:
        matrices = [(expert, *part) for expert, part in enumerate(pairwise(offsets(p.rows_of_experts)))]
    for entry, first, end in matrices:
        for start in range(first, end, rows):
            yield entry, slice(start, min(start + rows, end)), slice(0, p.n)


def _sums(artifact: AnyArtifact, step: int, tiles: Collection[Tile] | None) -> Iterator[Part]:
    """Yield parts of a second output to compare: all, a sample, or those whose tiles are all computed."""
    p, grid = artifact.problem, _workgroup_tiles(artifact)
    by_rows = p.epilogue[step].axis is Axis.ROW
    length = p.m if by_rows else p.n
    block = artifact.config.matmul.block.m if by_rows else artifact.config.matmul.block.n
    if tiles is not None:
        lines, across = grid.tiles if by_rows else grid.tiles[::-1]
        for entry in range(p.batch):
            for line in range(lines):
                needed = ((entry, line, at) if by_rows else (entry, at, line) for at in range(across))
                if all(tile in tiles for tile in needed):
                    yield _line(entry, slice(line * block, min((line + 1) * block, length)), by_rows)
    elif p.multiply_adds > WHOLE_MULTIPLY_ADDS:
        few = min(_SAMPLED_SUMS // 2, length)
        for entry in {0, p.batch - 1}:
            for part in (slice(0, few), slice(length - few, length)):
                yield _line(entry, part, by_rows)
    else:
        for entry in range(p.batch):
            yield _line(entry, slice(0, length), by_rows)


def _line(entry: int, part: slice, by_rows: bool) -> Part:
    return (entry, part, slice(0, 1)) if by_rows else (entry, slice(0, 1), part)
