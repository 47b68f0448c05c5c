"""What becomes of a trial that would lead: its kernel compiled for its GPU; default and best measured in turns."""

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

from codegen import CompileFailed, CompileTimedOut, GemmArtifact, KernelConfig
from codegen.errors import OclocUnusable
from codegen.isa import NativeCode, with_isa
from tuner.measure import Bench, Compilation, median_us
from tuner.result import Comparison
from tuner.trial import Outcome, Status, Trial

ROUNDS = 3

Native = Callable[[GemmArtifact], NativeCode]
"""Compiles a kernel for its GPU, which need not be here. Raises CompileFailed and OclocUnusable."""


def examine(
    native: Native, outcome: Outcome, artifact: GemmArtifact, *, is_last_chance: bool
) -> tuple[Outcome, GemmArtifact]:
    """A trial that would lead, with what its GPU runs in its artifact, or without its time.

    A time that was measured on the GPU stands, whatever its code is like. A predicted one knows nothing of spilled
    registers: the trial is rejected, unless nothing else is left (`is_last_chance`). Code that cannot be made fails.
    """
    begun_s = time.perf_counter()
    finding: Outcome | None = None
    try:
        code = native(artifact)
        artifact = with_isa(artifact, code)
        if code.spill_bytes and not is_last_chance:
            finding = Outcome(Status.REJECTED, _spill(code))
    except OclocUnusable:
        return outcome, artifact  # nothing is known of the kernel
    except CompileTimedOut as failure:
        finding = Outcome(Status.TIMED_OUT, f"compilation: {failure}")
    except CompileFailed as failure:
        finding = Outcome(Status.COMPILE_FAILED, str(failure))
    compile_s = outcome.compile_s + time.perf_counter() - begun_s
    if finding is None or outcome.measurement is not None:
        return replace(outcome, compile_s=compile_s), artifact
    failed = replace(outcome, status=finding.status, reason=finding.reason, prediction=None, compile_s=compile_s)
    return failed, artifact


def _spill(code: NativeCode) -> str:
    worst = max(code.reports, key=lambda report: report.spill_bytes)
    return (
        f"spill: kernel {worst.kernel} spills {worst.spill_bytes} bytes of {worst.grf_count} registers on {code.chip}, "
        "which the model that predicts times does not know of"
    )


def compare_finalists(
    bench: Bench,
    baseline: Trial,
    best: Trial,
    kernel_of: Callable[[KernelConfig], GemmArtifact | Compilation],
    left_s: float,
) -> Comparison | None:
    """Compare within `left_s` seconds, by the trials' own times where that cannot be; None without a default time."""
    default_us = baseline.outcome.time_us if baseline.outcome is not None else None
    best_us = best.outcome.time_us if best.outcome is not None else None
    if default_us is None or best_us is None:
        return None
    as_tried = Comparison(default_us, best_us, remeasured=False)
    if bench.device is None or best.number == baseline.number:
        return as_tried
    pairs: list[tuple[float, float]] = []
    begun_s = time.monotonic()
    kernels = (kernel_of(baseline.config), kernel_of(best.config))
    for _ in range(ROUNDS):
        spent_s = time.monotonic() - begun_s
        # Another round only if it fits, taking the last for its length.
        if spent_s * (1 + 1 / len(pairs) if pairs else 1) >= left_s:
            break
        times = [median_us(bench, kernel, left_s - (time.monotonic() - begun_s)) for kernel in kernels]
        if times[0] is None or times[1] is None:
            break
        pairs.append((times[0], times[1]))
    if not pairs:
        return as_tried
    return Comparison(median(p[0] for p in pairs), median(p[1] for p in pairs), remeasured=True)
