"""A small exchange file: one job of two measured trials, one that was predicted, and one that failed."""

import base64
import hashlib
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from codegen import GemmProblem, Prefetch, XeConfig
from codegen.serialization import to_json
from hal import DeviceSpec, find
from tests.conformance.trial_samples import config
from tests.hal.spirv_modules import spirv_module
from tuner.exchange.jsonl import Exchange, read_lines, seal, write_lines
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import (
    FORMAT,
    VERSION,
    CandidateRecord,
    DeviceRecord,
    Ended,
    Header,
    JobRecord,
    ProblemRecord,
    Record,
    TrialRecord,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions
from tuner.session.trial import (
    Acceptance,
    Measurement,
    Outcome,
    Prediction,
    Proof,
    ProofKind,
    Status,
)
from tuner.space.xe.heuristic import default_config

JOB = "01970a3c-0000-7000-8000-00000000000a"
NOON = "2026-03-04T12:00:00+00:00"
GEMM = GemmProblem(96, 64, 128)
DRIVER = "26.27.1"
PROVEN = Proof(ProofKind.DEVICE, 6, 6, 0.25, 0.5)

OPTIONS = JobOptions(budget=Budget(20, 60.0), seed=7)


def b580(driver: str = DRIVER) -> DeviceSpec:
    """A B580 under a driver."""
    known = find("b580")
    return replace(known, driver=driver, provenance={**known.provenance, "driver": "probed"})


def binary_of_kernel(number: int) -> bytes:
    """The SPIR-V of configuration `number`."""
    return spirv_module(extensions=(f"SPV_{number}",), kernels=("gemm",))


def kernel(number: int, problem: GemmProblem = GEMM) -> KernelRecord:
    """The kernel of configuration `number`."""
    binary = binary_of_kernel(number)
    compile_key, content = (hashlib.sha256(data).hexdigest() for data in (b"key" + binary, binary))
    manifest: dict[str, object] = {
        "content_hash": f"sha256:{content}",
        "compile_key": compile_key,
        "compiled_for": "b580",
        "problem": to_json(problem),
        "configuration": to_json(config(number)),
        "arguments": [],
        "steps": [{"kernel": "gemm", "parameters": [], "global_size": [64, 2, 1], "local_size": [64, 1, 1]}],
    }
    toolchain, spirv = {"llvm": "22.1"}, base64.b64encode(binary).decode()
    return KernelRecord(compile_key, content, "b580", problem.key, config(number), manifest, toolchain, spirv)


def prediction(time_us: float) -> Prediction:
    """A predicted time."""
    return Prediction(time_us, time_us / 1.5, time_us * 1.5, "xe-1")


def measured(number: int, median_us: float, predicted_us: float | None = None, job: str = JOB) -> TrialRecord:
    """A measured trial of configuration `number`."""
    made = kernel(number)
    outcome = Outcome(
        Status.MEASURED,
        proof=PROVEN,
        measurement=Measurement(
            *(median_us, median_us - 2, median_us - 1, median_us + 1),
            samples=30,
            label="native",
            driver=DRIVER,
            stopped_early=False,
            first_ratio=1.25,
            clock_mhz=2850.0,
            energy_uj=5120.0,
        ),
        prediction=None if predicted_us is None else prediction(predicted_us),
        acceptance=None if predicted_us is None else Acceptance("26.27.1", "bmg", "warning: recompiled"),
        kernel_hash=made.content_hash,
        compile_s=0.125,
    )
    predicted_at = None if predicted_us is None else NOON
    return TrialRecord(
        job, number, config(number), outcome, NOON, NOON, made.compile_key, {"llvm": "22.1"}, NOON, predicted_at
    )


def predicted(number: int, time_us: float, job: str = JOB) -> TrialRecord:
    """A predicted trial, not proven and without its kernel."""
    outcome = Outcome(Status.PREDICTED, prediction=prediction(time_us))
    return TrialRecord(job, number, config(number), outcome, NOON, NOON, predicted_at=NOON)


def failed(number: int, job: str = JOB) -> TrialRecord:
    """A trial that crashed."""
    return TrialRecord(job, number, config(number), Outcome(Status.CRASHED, "signal 11"), NOON, NOON)


def job(best: int | None = 1, **changes: Any) -> JobRecord:
    """The job of the file."""
    made = JobRecord(JOB, GEMM.key, "b580", DRIVER, Ended.SUCCEEDED, OPTIONS, NOON, NOON, NOON, best=best)
    return replace(made, **changes)


def header(origin: str = "the lab") -> Header:
    """The first line."""
    return Header(FORMAT, VERSION, origin, "xetune 0.1.0", NOON)


def results() -> list[Record]:
    """Trials 0 and 1 are measured, 2 is predicted, 3 crashed."""
    found = [kernel(0), measured(0, 50.0, 25.0), kernel(1), measured(1, 40.0), predicted(2, 30.0), failed(3)]
    return [header(), DeviceRecord(b580()), ProblemRecord(GEMM.key, GEMM), job(), *found]


def candidates(*configs: XeConfig) -> list[Record]:
    """Configurations to measure."""
    asked = [CandidateRecord(GEMM.key, "b580", DRIVER, c, prediction(10.0)) for c in configs or (config(0), config(1))]
    return [header(), DeviceRecord(b580()), ProblemRecord(GEMM.key, GEMM), *asked]


def plain(problem: GemmProblem) -> list[XeConfig]:
    """Two configurations that a CPU which stands in for a B580 can run too: without prefetch."""
    chosen = default_config(problem, b580())
    strategies = [replace(chosen.strategy, prefetch=Prefetch(), k_unroll=unroll) for unroll in (1, 2)]
    return [replace(chosen, strategy=strategy) for strategy in strategies]


def text_of(records: Iterable[Record]) -> bytes:
    """The bytes of a file."""
    return "".join(write_lines(records)).encode()


def read(data: bytes) -> Exchange:
    """Read a file of these bytes."""
    return read_lines(io.BytesIO(data))


def changed(records: list[Record], line: int, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with one line changed as JSON, and sealed again."""
    lines = text_of(records).decode().splitlines(keepends=True)[:-1]
    document = json.loads(lines[line - 1])
    change(document)
    lines[line - 1] = json.dumps(document) + "\n"
    return "".join(seal(lines)).encode()
