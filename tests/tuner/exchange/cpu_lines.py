"""Two jobs of a CPU: the first measured a kernel, the second took its time."""

import base64
import hashlib
from dataclasses import replace
from typing import Any

from codegen import DType, GemmProblem
from codegen.serialization import to_json
from tests.codegen.elf_objects import object_file
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import JOB, NOON
from tests.tuner.fakes import cpu_spec
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import (
    DeviceRecord,
    Effort,
    JobRecord,
    ProblemRecord,
    Record,
    TrialRecord,
)
from tuner.session.result import Stop
from tuner.session.trial import (
    Measurement,
    Outcome,
    ReusedFrom,
    Status,
)
from tuner.space.cpu.heuristic import default_cpu_config

SECOND_JOB = "01970a3c-0000-7000-8000-00000000000b"
CPU_GEMM = GemmProblem(96, 64, 128, dtype_a=DType.F32, dtype_b=DType.F32)
CONFIG = default_cpu_config(CPU_GEMM, cpu_spec())
OBJECT, HEADER = object_file(["gemm"]), "/* how to call it */\n"
EFFORT = Effort(9.5, 0.25, 6.0, 2.0, 1.5, 3.0, 0.5, device_restarts=1)
DRIVER = cpu_spec().driver or ""


def kernel() -> KernelRecord:
    """The object code of the configuration."""
    compile_key, content = hashlib.sha256(b"key").hexdigest(), hashlib.sha256(OBJECT).hexdigest()
    manifest: dict[str, object] = {
        "content_hash": f"sha256:{content}",
        "compile_key": compile_key,
        "compiled_for": cpu_spec().id,
        "problem": to_json(CPU_GEMM),
        "configuration": to_json(CONFIG),
        "arguments": [],
        "steps": [{"kernel": "gemm", "parameters": [], "threads": 2}],
    }
    code = base64.b64encode(OBJECT).decode()
    versions = {"llvmlite": "0.50"}
    return KernelRecord(
        compile_key,
        content,
        cpu_spec().id,
        CPU_GEMM.key,
        CONFIG,
        manifest,
        versions,
        object_code=code,
        header=HEADER,
        code_hash=hashlib.sha256(b"code").hexdigest(),
    )


def measured() -> TrialRecord:
    """Trial 0 of the first job."""
    made = kernel()
    times = Measurement(40.0, 38.0, 39.0, 41.0, samples=30, label="native", driver=DRIVER)
    outcome = Outcome(Status.MEASURED, proof=lines.PROVEN, measurement=times, kernel_hash=made.content_hash)
    return TrialRecord(JOB, 0, CONFIG, outcome, NOON, NOON, made.compile_key, {"llvmlite": "0.50"}, NOON)


def taken() -> TrialRecord:
    """Trial 3 of the second job, which took that time."""
    return replace(measured(), job=SECOND_JOB, number=3, source=ReusedFrom(JOB, 0, 1.125))


def job(**changes: Any) -> JobRecord:
    """A job of the CPU."""
    return lines.job(**{"problem": CPU_GEMM.key, "device": cpu_spec().id, "driver": DRIVER, **changes})


def results() -> list[Record]:
    """Line 4 is the first job, 5 the second, 6 the kernel, 7 what was measured and 8 what was taken."""
    jobs = job(best=0, effort=EFFORT, stop=Stop.NO_GAIN), job(id=SECOND_JOB, best=None)
    named = [lines.header(), DeviceRecord(cpu_spec()), ProblemRecord(CPU_GEMM.key, CPU_GEMM)]
    return [*named, *jobs, kernel(), measured(), taken()]
