"""Rows of a made-up database: jobs, trials and kernels that agree with each other as a worker's do. Times are drawn."""

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from uuid import UUID

from codegen import DType, GemmProblem, LoopOrder, XeConfig
from codegen.artifact.toolchain import toolchain_versions
from codegen.xe.rules import (
    ceil_div,
    check_problem,
    refusal,
)
from codegen.xe.rules.case import Problem
from db.schema.base import Base
from db.schema.job import Job as JobRow
from db.schema.kernel import Artifact as ArtifactRow
from db.schema.kernel import Kernel as KernelRow
from db.schema.target import Problem as ProblemRow
from db.schema.trial import Measurement as MeasurementRow
from db.schema.trial import Prediction as PredictionRow
from db.schema.trial import PredictionError as PredictionErrorRow
from db.schema.trial import Trial as TrialRow
from db.values import JsonObject
from hal import DeviceSpec
from service.gemm_json import config_to_json, problem_to_json
from tuner.model.xe import MODEL_VERSION
from tuner.space.xe.axes import Point, ranges_of
from tuner.space.xe.points import config_of
from tuner.space.xe.tiles import widest_tiles

OF_A_JOB = 50  # trials; every fifth has a kernel
A_KERNEL_IN = 5
LARGE_JOB = 10_000  # trials of the only job that has more, where there are so many
_LASTS = timedelta(minutes=5)
_FAILURES = {
    "rejected": "rule registers: accumulator and operands take 34816 bytes, expected at most 32768",
    "compile_failed": "stage llvm: the module spills 12 registers",
    "wrong_result": "largest error 3.1 is above the tolerance 0.0124 in work-group (3, 0)",
    "timed_out": "no answer after 20 s",
    "crashed": "the device process ended with signal 11",
}
_PROPOSERS = ("default", "donor", "portfolio", "gp", "tpe")
_OLDER = {"xetune-codegen": "0" * 16}
_SIDES = range(128, 8193, 128)
_CHECKED = (GemmProblem(8192, 8192, 8192), GemmProblem(128, 128, 128), GemmProblem(8192, 128, 4096))


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that is stored once and named by every kernel."""

    name: str
    sha256: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Target:
    """A device with configurations that are legal for every problem that is drawn, and what each makes of the device.

    `measured` says whether its jobs ran on it; those of others were predicted.
    """

    row_id: int
    spec: DeviceSpec
    measured: bool
    configs: list[JsonObject]
    efficiency: list[float]


@dataclass(slots=True)
class Rows:
    """Rows by table, in an order in which they can be inserted; `best` are jobs and their best trials."""

    of: dict[type[Base], list[dict[str, object]]] = field(
        default_factory=lambda: {
            table: []
            for table in (
                ProblemRow,
                KernelRow,
                ArtifactRow,
                JobRow,
                TrialRow,
                MeasurementRow,
                PredictionRow,
                PredictionErrorRow,
            )
        }
    )
    best: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    def add(self, table: type[Base], **values: object) -> None:
        """Add a row."""
        self.of[table].append(values)


@dataclass(frozen=True, slots=True)
class Tuned:
    """A problem on a device, and its kernels: of every fifth configuration of its jobs."""

    problem_id: int
    problem: GemmProblem
    target: Target
    kernels: list[UUID]


def target_of(row_id: int, spec: DeviceSpec, count: int, rng: random.Random, *, measured: bool) -> Target:
    """A device with `count` configurations, drawn from widths, distances and orders of tiles that are legal on it."""
    problem, ranges, tiles = _CHECKED[0], ranges_of(_checked(spec)[0]), _tiles(spec)
    configs: dict[XeConfig, None] = {}
    for _ in range(100 * count):
        point = rng.choice(tiles)._replace(
            prefetch=rng.choice(ranges.prefetch),
            prefetch_hints=rng.choice((0, 1)),
            raster_group=rng.choice(ranges.raster_group),
            k_unroll=rng.choice(ranges.k_unroll),
            order=rng.choice((LoopOrder.M_OUTER, LoopOrder.N_OUTER)).value,
        )
        config = config_of(problem, point)
        if config not in configs and _is_legal_everywhere(config, spec):
            configs[config] = None
            if len(configs) == count:
                break
    else:
        raise ValueError(f"expected {count} legal configurations on {spec.id}, found {len(configs)}")
    efficiency = [min(rng.lognormvariate(-1.2, 0.5), 0.9) for _ in configs]
    return Target(row_id, spec, measured, [config_to_json(config) for config in configs], efficiency)


def jobs_of(
    targets: list[Target], blobs: list[Blob], kernels: int, trials: int, until: datetime, rng: random.Random
) -> Iterator[Rows]:
    """The rows of one job after the other; jobs of one problem on one device share its kernels.

    Raises:
        ValueError: fewer trials than one job has, or too few for the kernels.
    """
    if trials < OF_A_JOB:
        raise ValueError(f"expected at least {OF_A_JOB} trials, those of one job, got {trials}")
    large = LARGE_JOB if trials >= 10 * LARGE_JOB else 0
    pairs = (kernels - large // A_KERNEL_IN) * A_KERNEL_IN // OF_A_JOB
    count = (trials - large) // OF_A_JOB
    if not 0 < pairs <= count or pairs > len(targets) * len(_SIDES) ** 2:
        raise ValueError(f"expected 1 to {trials // A_KERNEL_IN} kernels for {trials} trials, got {kernels}")
    of_large = pairs + -pairs % len(targets)  # a pair of the first device: it has as many configurations
    of_pair = _pairs(targets, of_large + 1, rng)
    sizes = [OF_A_JOB] * count + [large] * bool(large)
    tuned: dict[int, Tuned] = {}
    first_trial = 1
    for number, size in enumerate(sizes):
        rows, pair = Rows(), number % pairs if size == OF_A_JOB else of_large
        made_at = until - timedelta(days=180) * (1 - number / len(sizes)) - _LASTS
        if pair not in tuned:
            target, problem = of_pair[pair]
            tuned[pair] = _tune(rows, pair, len(targets), target, problem, blobs, size, made_at, rng)
        _add_job(rows, number, tuned[pair], first_trial, size, made_at, rng)
        first_trial += size
        yield rows


@cache
def _checked(spec: DeviceSpec) -> tuple[Problem, ...]:
    return tuple(check_problem(problem, spec) for problem in _CHECKED)


@cache
def _tiles(spec: DeviceSpec) -> list[Point]:
    on = _checked(spec)[0]
    tiles = widest_tiles(on, ranges_of(on))
    return [tile for tile in tiles if _is_legal_everywhere(config_of(on.problem, tile), spec)]


def _is_legal_everywhere(config: XeConfig, spec: DeviceSpec) -> bool:
    return all(refusal(on, _on_tiles(config, on.problem)) is None for on in _checked(spec))


def _on_tiles(config: XeConfig, problem: GemmProblem) -> XeConfig:
    block, threads = config.matmul.block, config.matmul.threads
    grid = replace(threads, m=ceil_div(problem.m, block.m), n=ceil_div(problem.n, block.n))
    return replace(config, matmul=replace(config.matmul, threads=grid))


def _pairs(targets: list[Target], count: int, rng: random.Random) -> list[tuple[Target, GemmProblem]]:
    """Problems, each on every device in turn, so that no two pairs are the same."""
    problems: dict[GemmProblem, None] = {}
    while len(problems) * len(targets) < count:
        dtype = rng.choice((DType.F16, DType.BF16))
        problem = GemmProblem(rng.choice(_SIDES), rng.choice(_SIDES), rng.choice(_SIDES), dtype_a=dtype, dtype_b=dtype)
        problems[problem] = None
    return [(target, problem) for problem in problems for target in targets][:count]


def _tune(
    rows: Rows,
    pair: int,
    devices: int,
    target: Target,
    problem: GemmProblem,
    blobs: list[Blob],
    trials: int,
    made_at: datetime,
    rng: random.Random,
) -> Tuned:
    problem_id, device = divmod(pair, devices)
    problem_id += 1
    if device == 0:
        definition = problem_to_json(problem)
        columns = {name: definition[name] for name in _PROBLEM_COLUMNS}
        columns |= {"products": problem.products, "quantization": ""}
        rows.add(ProblemRow, id=problem_id, key=problem.key, definition=definition, created_at=made_at, **columns)
    versions = toolchain_versions() if pair % 10 else toolchain_versions() | _OLDER
    tuned = Tuned(problem_id, problem, target, [])
    for place in range(trials // A_KERNEL_IN):
        config, config_hash = _config(tuned, place * A_KERNEL_IN)
        kernel_id = _id_at(made_at + timedelta(seconds=place * 20 % 300), rng)
        tuned.kernels.append(kernel_id)
        compile_key, content_hash = _digest(f"{problem.key} {target.spec.id} {config_hash} {versions}"), blobs[0].sha256
        hashes: JsonObject = {"compile_key": compile_key, "content_hash": f"sha256:{content_hash}"}
        rows.add(
            KernelRow,
            id=kernel_id,
            problem_id=problem_id,
            device_id=target.row_id,
            target=target.spec.id,
            config=config,
            config_hash=config_hash,
            compile_key=compile_key,
            content_hash=content_hash,
            manifest=_manifest(problem, config) | hashes,
            toolchain=versions,
            created_at=made_at,
        )
        for blob in blobs:
            rows.add(
                ArtifactRow,
                kernel_id=kernel_id,
                name=blob.name,
                sha256=blob.sha256,
                size=blob.size,
                media_type=blob.media_type,
            )
    return tuned


def _add_job(
    rows: Rows, number: int, tuned: Tuned, first_trial: int, trials: int, made_at: datetime, rng: random.Random
) -> None:
    status = "failed" if number % 50 == 49 else "cancelled" if number % 33 == 32 else "succeeded"
    job_id, ended_at = _id_at(made_at, rng), made_at + _LASTS
    rows.add(
        JobRow,
        id=job_id,
        problem_id=tuned.problem_id,
        device_id=tuned.target.row_id,
        status=status,
        budget_trials=trials,
        budget_seconds=600.0,
        seed=number,
        request_hash=_digest(f"request {tuned.problem.key} {tuned.target.spec.id}"),
        cancel_requested=status == "cancelled",
        error="device-unusable: it failed three times in a row" if status == "failed" else None,
        attempts=1,
        created_at=made_at,
        started_at=made_at + timedelta(seconds=1),
        finished_at=ended_at,
    )
    least: tuple[float, int] | None = None
    for place in range(trials):
        trial_id, at = first_trial + place, made_at + _LASTS * (place + 1) / trials
        time_us = None
        if status != "failed":
            time_us = _add_times(rows, tuned, trial_id, place, at, rng)
        config, config_hash = _config(tuned, place)
        rows.add(
            TrialRow,
            id=trial_id,
            job_id=job_id,
            number=place,
            config=config,
            config_hash=config_hash,
            proposer=_PROPOSERS[min(place, len(_PROPOSERS) - 1)],
            begun_at=at - _LASTS / trials,
            ended_at=at,
            **_outcome(tuned, place, time_us, rng),
        )
        if time_us is not None and place % A_KERNEL_IN == 0 and (least is None or time_us < least[0]):
            least = time_us, trial_id
    if least is not None:
        rows.best.append({"of_job": job_id, "best": least[1]})


def _add_times(rows: Rows, tuned: Tuned, trial_id: int, place: int, at: datetime, rng: random.Random) -> float | None:
    """Measurement and prediction of a trial; None for those, two of five, that fail."""
    if place % A_KERNEL_IN in (3, 4):
        return None
    target, p = tuned.target, tuned.problem
    model_us = 2 * p.m * p.n * p.k / _flop_per_us(target.spec) / target.efficiency[place % len(target.configs)] + 5.0
    rows.add(
        PredictionRow,
        trial_id=trial_id,
        time_us=model_us,
        low_us=model_us * 0.7,
        high_us=model_us * 1.5,
        model_version=MODEL_VERSION,
        predicted_at=at,
    )
    if place % A_KERNEL_IN or not target.measured:
        return model_us
    median_us = model_us * rng.lognormvariate(0.0, 0.15)
    rows.add(
        MeasurementRow,
        trial_id=trial_id,
        median_us=median_us,
        min_us=median_us * 0.97,
        p10_us=median_us * 0.98,
        p90_us=median_us * 1.03,
        samples=30,
        label="native",
        driver=target.spec.driver,
        versions=toolchain_versions(),
        measured_at=at,
    )
    rows.add(PredictionErrorRow, trial_id=trial_id, measured_trial_id=trial_id, ratio=median_us / model_us)
    return median_us


def _outcome(tuned: Tuned, place: int, time_us: float | None, rng: random.Random) -> dict[str, object]:
    """The columns of a trial that say how it ended."""
    if time_us is None:
        status = rng.choices(list(_FAILURES), [60, 20, 6, 4, 2])[0]
        proof = _PROOF if status == "wrong_result" else _UNPROVEN
        return proof | {"status": status, "reason": _FAILURES[status], "kernel_id": None}
    if place % A_KERNEL_IN:
        return _UNPROVEN | {"status": "predicted", "reason": None, "kernel_id": None}
    status, kernel = "measured" if tuned.target.measured else "predicted", tuned.kernels[place // A_KERNEL_IN]
    return _PROOF | {"status": status, "reason": None, "kernel_id": kernel, "max_error": 0.0011, "tolerance": 0.0124}


_PROOF: dict[str, object] = {"proof_kind": "simulator", "proof_checked": 12, "proof_total": 64,
                             "proof_method": "elements", "max_error": 3.1, "tolerance": 0.0124, "compile_s": 0.12,
                             "verify_s": 0.4, "measure_s": 0.3}  # fmt: skip
_UNPROVEN: dict[str, object] = {"proof_kind": "none", "proof_checked": 0, "proof_total": 0, "proof_method": None,
                                "max_error": None, "tolerance": None, "compile_s": 0.0, "verify_s": 0.0,
                                "measure_s": 0.0}  # fmt: skip
_PROBLEM_COLUMNS = (
    "m", "n", "k", "batch", "dtype_a", "dtype_b", "dtype_c", "dtype_acc", "transpose_a", "transpose_b"
)  # fmt: skip


def _config(tuned: Tuned, place: int) -> tuple[JsonObject, str]:
    """The configuration of that place, on the tiles of the problem, and its key."""
    stored = tuned.target.configs[place % len(tuned.target.configs)]
    matmul: dict[str, dict[str, int]] = stored["matmul"]  # pyright: ignore[reportAssignmentType]
    block, p = matmul["block"], tuned.problem
    grid = {"m": ceil_div(p.m, block["m"]), "n": ceil_div(p.n, block["n"]), "k": matmul["threads"]["k"]}
    config: JsonObject = {"matmul": {**matmul, "threads": grid}, "strategy": stored["strategy"]}
    text = json.dumps(config, sort_keys=True, separators=(",", ":"))  # what codegen.serialization writes, only faster
    return config, _digest(text)


def _manifest(problem: GemmProblem, config: JsonObject) -> JsonObject:
    operands = zip("ABC", ("input", "input", "output"), problem.operands, strict=False)
    threads = config["matmul"]["threads"]  # pyright: ignore[reportIndexIssue]
    return {
        "arguments": [
            {"index": i, "name": name, "role": role, "dtype": of.dtype.value, "bytes": of.nbytes(problem.batch)}
            for i, (name, role, of) in enumerate(operands)
        ],
        "steps": [
            {
                "kernel": "gemm",
                "parameters": [{"argument": place} for place in range(3)],
                "global_size": [128 * threads["n"], threads["m"], threads["k"]],
                "local_size": [128, 1, 1],
            }
        ],
        "memory_paths": {name: {"by": "block2d", "because": None} for name in "ABC"},
        "pointer_alignment_bytes": 64,
        "subgroup_size": 16,
        "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"},
    }  # fmt: skip


def _flop_per_us(spec: DeviceSpec) -> float:
    facts = spec.xe_cores, spec.eus_per_core, spec.dpas_f16_fma_per_clk_per_eu, spec.clock_mhz
    cores, eus, fma, mhz = (fact or 1 for fact in facts)
    return 2.0 * cores * eus * fma * mhz


def _id_at(moment: datetime, rng: random.Random) -> UUID:
    """An id as new_id() gives it at a moment. Source: RFC 9562, section 5.7."""
    bits = (round(moment.timestamp() * 1000) << 80) | rng.getrandbits(80)
    return UUID(int=(bits & ~(0xF << 76) & ~(0x3 << 62)) | (7 << 76) | (2 << 62))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
