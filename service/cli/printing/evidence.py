"""Times, verification and acceptance as text, always with unit and evidence."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from service.job_summary import Basis
from service.schemas import Evidence, ProofEvidence, TimeEvidence
from service.text.times import digits, shown_us, unit_of

if TYPE_CHECKING:
    from service.api.jobs.schemas import JobOut
    from tuner.session.trial import Proof

PROOFS = {
    "device": "device",
    "opencl_cpu": "CPU OpenCL",
    "machine_code": "machine code",
    "simulator": "simulator",
    "none": "not verified",
}


def shown_best(job: "JobOut") -> tuple[str, str]:
    """Return the reported time of a job, as its page and the API report it, and the label of its basis.

    A time that was not measured again has its spread.
    """
    if job.time_us is None or job.basis is None or job.best is None:
        return "none", ""
    basis = Basis[job.basis.upper()]
    time = shown_us(job.time_us) if basis is Basis.INTERLEAVED else shown_time(job.best.evidence.time)
    return time, basis.value


def shown_time(time: TimeEvidence | None, unit_of_us: float | None = None) -> str:
    """Return the median or prediction with its spread, if that is known, in a readable unit or that of `unit_of_us`."""
    if time is None:
        return "-"
    if time.low is None or time.high is None:
        return shown_us(time.value, unit_of_us)
    scale, unit = unit_of(time.value if unit_of_us is None else unit_of_us)
    return f"{digits(time.value * scale)} {unit} ({digits(time.low * scale)}, {digits(time.high * scale)})"


def shown_kind(time: TimeEvidence | None) -> str:
    """Return the evidence of a time."""
    if time is None:
        return "-"
    where = "" if time.origin is None else f" by {time.origin}"
    return f"{time.kind}, {time.label}{where}"


def known_lines(time: TimeEvidence, basis: str) -> list[str]:
    """Return the basis of a time and its evidence, for a column of a table; of a prediction the evidence says both."""
    return [shown_kind(time)] if basis == Basis.PREDICTED.value else [basis, shown_kind(time)]


def shown_proof(evidence: Evidence) -> str:
    """Return how the results were verified, and the error."""
    proof = evidence.proof
    if proof.kind == "none":
        return PROOFS[proof.kind]
    closeness = "" if proof.max_error is None else f", error {proof.max_error:.1e} within {proof.tolerance:.1e}"
    whole = ", all of C by Freivalds' check" if proof.method == "freivalds" else ""
    return f"{PROOFS[proof.kind]}: {proof.checked} of {proof.total} tiles of C{closeness}{whole}{not_executed(proof)}"


def not_executed(proof: "Proof | ProofEvidence") -> str:
    """Return why machine code was compiled and not executed; nothing where there is no such reason."""
    return "" if proof.refusal is None else f"; machine code not executed: {proof.refusal}"


def shown_proof_short(evidence: Evidence) -> str:
    """Return how the results were verified, how many tiles, and any acceptance, for a column of a table."""
    proof, by = evidence.proof, evidence.acceptance
    verified = PROOFS[proof.kind] + ("" if proof.kind == "none" else f"\n{proof.checked}/{proof.total}")
    return verified if by is None else f"{verified}\ndriver {by.driver}"


def shown_rate(tflops: float | None) -> str:
    """Return the throughput in GFLOP/s, or TFLOP/s from 10 on."""
    if tflops is None:
        return "-"
    return f"{tflops:,.1f} TFLOP/s" if tflops >= 10 else f"{tflops * 1e3:,.2f} GFLOP/s"


def shown_files(paths: Mapping[str, str]) -> Iterator[str]:
    """Return a line per file: its name and path."""
    longest = max(map(len, paths), default=0)
    return (f"  {name:{longest}} {path}" for name, path in paths.items())
