"""Rows for the dashboard's tests: jobs with every kind of trial, a kernel with stages, schedules."""

import hashlib
import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import Activation, DType, Gate, GemmProblem
from codegen.problem.epilogue_text import parse_epilogue
from db.queries import problems
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.schedule import Schedule, ScheduleFire
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from db.values import new_id
from service.gemm_json import problem_to_json

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FAILURES = {
    "rejected": "rule block2d-pitch: the row of A is 1000 bytes, expected a multiple of 16",
    "compile_failed": "stage llvm: spills 12 registers",
    "wrong_result": "largest error 3.1 is above the tolerance 0.0124 in work-group (3, 0)",
    "timed_out": "no answer after 20 s",
    "crashed": "the device process ended with signal 11",
}
STAGES = {
    "xetile.mlir": b"// the tile\nfunc.func @gemm(%a: memref<512x1024xf16>) {\n  %t = xetile.init_tile %a\n}\n",
    "xegpu.mlir": b"gpu.module @m {\n  %0 = xegpu.create_nd_tdesc %a : memref<512x1024xf16>\n}\n",
    "llvm.ll": b"define spir_kernel void @gemm(ptr %a) #0 {\n  %1 = load half, ptr %a ; <b>&\n  ret void\n}\n",
}


def sha256(text: str) -> str:
    """A content hash of anything, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def config(number: int) -> dict[str, object]:
    """A configuration as canonical JSON; another number is another configuration."""
    draw = random.Random(number)
    return {
        "matmul": {
            "threads": {"m": draw.choice([4, 8, 16]), "n": 6, "k": 1},
            "block": {"m": draw.choice([64, 128, 256]), "n": draw.choice([32, 96, 192]), "k": draw.choice([16, 32])},
            "innermost": {"m": 8, "n": 16, "k": 32},
            "loop_order": "pmpnpkomonokiminik",
        },
        "strategy": {
            "sg_layout": [draw.choice([4, 8]), 2],
            "prefetch": {"levels": "l1", "distance": number + 1},
            "grf_mode": 256,
            "pipelined_registers": False,
        },
    }


def add_device(session: Session, slug: str = "opencl-cpu-as-b580", emulates: str | None = "b580") -> Device:
    """A device; unless said otherwise the CPU that stands in for a GPU."""
    device = Device(slug=slug, name=f"Device {slug}", kind="cpu" if emulates else "gpu", emulates=emulates, spec={})
    session.add(device)
    session.flush()
    return device


RICH = GemmProblem(
    512, 384, 1024, batch=4, dtype_a=DType.S8, dtype_b=DType.U8, dtype_c=DType.F16, transpose_b=True, ldc=400,
    batch_stride_b=0, dynamic=True, deterministic=True,
    epilogue=parse_epilogue("scale:row, beta=0.5, bias:column:f16, gelu_tanh, add:bf16:ld=400, clip=-1..6, reduce:row"),
    gate=Gate(Activation.SILU, 64),
)  # fmt: skip
RICH_MANIFEST: dict[str, object] = {
    "arguments": [
        *({"index": i, "name": o.name, "role": o.role, "dtype": o.dtype.value, "bytes": o.nbytes(RICH.batch)}
          for i, o in enumerate(RICH.operands)),
        {"index": 7, "name": "workspace", "role": "scratch", "dtype": "f32", "bytes": 4 * 4 * 512 * 384 * 4},
    ],
    "steps": [
        {"kernel": "clear", "parameters": [{"argument": 7}], "global_size": [1024, 1, 1], "local_size": [256, 1, 1]},
        {"kernel": "gemm", "global_size": [512, 4, 16], "local_size": [128, 1, 1],
         "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 7},
                        *({"scalar": name, "value": 512} for name in ("m", "n", "k", "lda", "ldb", "batch_stride_a"))],
         "global_size_formula": ["128 * ceil(n / 96)", "ceil(m / 128)", "4 * batch"]},
        {"kernel": "finish", "parameters": [{"argument": i} for i in (7, 2, 3, 4, 5, 6)],
         "global_size": [2048, 1, 1], "local_size": [256, 1, 1]},
    ],
    "memory_paths": {
        "A": {"by": "block2d", "because": None},
        "B": {"by": "lanes", "because": "block2d-pitch: rows of B are 1001 bytes apart, expected a multiple of 16"},
        "C": {"by": "block2d", "because": None},
    },
    "subgroup_size": 16,
    "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"},
}  # fmt: skip


def add_problem(
    session: Session, m: int = 512, n: int = 384, k: int = 1024, problem: GemmProblem | None = None
) -> Problem:
    """A plain GEMM, or that problem."""
    gemm = problem or GemmProblem(m, n, k)
    return problems.upsert(session, key=gemm.key, definition=problem_to_json(gemm))


def add_job(
    session: Session, problem: Problem, device: Device, status: str = "succeeded", budget: int = 20, **values: object
) -> Job:
    """A job without trials."""
    running, over = status == "running", status in ("succeeded", "failed", "cancelled")
    job = Job(
        problem_id=problem.id, device_id=device.id, status=status, budget_trials=budget, budget_seconds=600.0, seed=1,
        request_hash=sha256(str(new_id())), worker="w1" if running else None,
        lease_until=NOW if running else None, attempts=0 if status == "queued" else 1,
        started_at=None if status == "queued" else NOW - timedelta(minutes=4), finished_at=NOW if over else None,
        created_at=NOW - timedelta(minutes=5), cancel_requested=status == "cancelled",
        error="internal: the disk is full" if status == "failed" else None,
    )  # fmt: skip
    for name, value in values.items():
        setattr(job, name, value)
    session.add(job)
    session.flush()
    return job


def add_kernel(
    session: Session, job: Job, problem: Problem, number: int = 0, files: dict[str, bytes] = STAGES
) -> Kernel:
    """A kernel with its files' rows."""
    kernel = Kernel(
        problem_id=job.problem_id, device_id=job.device_id, target="b580", config=config(number),
        config_hash=sha256(f"config {number}"), compile_key=sha256(f"key {job.id} {number}"),
        content_hash=sha256(f"spv {number}"), toolchain={"llvmlite": "0.50.1", "xdsl": "0.74.0"},
        manifest={
            "arguments": [
                {"index": 0, "name": "a", "role": "input", "dtype": "f16", "bytes": 2 * problem.m * problem.k},
                {"index": 1, "name": "b", "role": "input", "dtype": "f16", "bytes": 2 * problem.k * problem.n},
                {"index": 2, "name": "c", "role": "output", "dtype": "f32", "bytes": 4 * problem.m * problem.n},
            ],
            "steps": [{
                "kernel": "gemm", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}],
                "global_size": [512, 4, 1], "global_size_formula": ["128 * ceil(n / 96)", "ceil(m / 128)", "1"],
                "local_size": [128, 1, 1],
            }],
            "subgroup_size": 16,
            "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"},
        },
    )  # fmt: skip
    session.add(kernel)
    session.flush()
    for name, data in {**files, "kernel.spv": b"\x03\x02\x23\x07" * 300, "kernel.json": b"{}"}.items():
        session.add(
            Artifact(
                kernel_id=kernel.id,
                name=name,
                sha256=hashlib.sha256(data).hexdigest(),
                size=len(data),
                media_type="text/plain",
            )
        )
    return kernel


def add_trial(
    session: Session, job: Job, number: int, status: str, kernel: UUID | None = None, **values: object
) -> Trial:
    """A trial that ended so, or pending."""
    timed = status in ("measured", "predicted")
    proven = timed or status == "wrong_result"
    trial = Trial(
        job_id=job.id, number=number, config=config(number), config_hash=sha256(f"config {number}"), status=status,
        reason=None if timed or status == "pending" else FAILURES[status], kernel_id=kernel,
        proof_kind="simulator" if proven else "none",
        proof_checked=12 if proven else 0, proof_total=64 if proven else 0,
        max_error=0.0011 if timed else 3.1 if proven else None, tolerance=0.0124 if proven else None,
        ended_at=None if status == "pending" else NOW,
    )  # fmt: skip
    for name, value in values.items():
        setattr(trial, name, value)
    session.add(trial)
    session.flush()
    return trial


def add_measured(
    session: Session, job: Job, number: int, median_us: float, kernel: UUID, label: str = "DPAS emulated"
) -> Trial:
    """A trial with a measured time."""
    trial = add_trial(session, job, number, "measured", kernel)
    session.add(
        Measurement(
            trial_id=trial.id,
            median_us=median_us,
            min_us=median_us * 0.9,
            p10_us=median_us * 0.95,
            p90_us=median_us * 1.1,
            samples=30,
            label=label,
            driver="26.27",
            versions={},
        )
    )
    return trial


def add_predicted(session: Session, job: Job, number: int, time_us: float) -> Trial:
    """A trial with a predicted time."""
    return predict(session, add_trial(session, job, number, "predicted"), time_us)


def predict(session: Session, trial: Trial, time_us: float) -> Trial:
    """A trial, with a predicted time."""
    times = {"time_us": time_us, "low_us": time_us * 0.7, "high_us": time_us * 1.6}
    session.add(Prediction(trial_id=trial.id, model_version="xe-1", **times))
    return trial


def add_history(session: Session, job: Job, kernel: UUID, trials: int, start: int = 0) -> None:
    """Trials that get faster with noise; every seventh or so fails in one of the ways."""
    draw = random.Random(7)
    kinds = list(FAILURES)
    for number in range(start, start + trials):
        if number > 0 and draw.random() < 0.16:
            add_trial(session, job, number, draw.choices(kinds, [60, 20, 6, 4, 2])[0])
        else:
            floor = 900 + 5200 / (1 + 0.02 * number)
            add_measured(session, job, number, floor * draw.lognormvariate(0.35, 0.3), kernel)


def add_schedule(session: Session, name: str = "nightly", enabled: bool = True) -> Schedule:
    """A schedule that is due in the next night."""
    schedule = Schedule(
        name=name, cron="0 2 * * *", timezone="Europe/Warsaw", template={}, misfire_grace_s=600, enabled=enabled,
        next_due_at=NOW + timedelta(hours=13) if enabled else None,
    )  # fmt: skip
    session.add(schedule)
    session.flush()
    session.add(ScheduleFire(schedule_id=schedule.id, due_at=NOW - timedelta(hours=11), outcome="missed"))
    return schedule
