"""A kernel as text: its problem and device, its configuration, its evidence, its code, its origin and its files."""

import json
from collections.abc import Iterator
from contextlib import suppress
from uuid import UUID

from service.api.kernels.schemas import KernelOut
from service.cli.access.connection import file_places
from service.cli.access.opening import Access
from service.cli.kernels.kernel_lists import kernel_of, table_of_files
from service.cli.printing.evidence import shown_proof, shown_rate, shown_time
from service.cli.printing.facts import binary
from service.cli.printing.output import CONSOLE, print_fact, print_json, print_line, print_wrapped
from service.gemm_json import config_line
from service.job_summary import acceptance_words, known_by
from service.schemas import to_problem
from service.text.short_ids import short_ids

_REPORT = "isa.json"
Fact = tuple[str, str]


def print_kernel(access: Access, kernel_id: UUID, *, as_json: bool) -> None:
    """Print all facts of a kernel, its files, and what can be done with it."""
    found = access.read(kernel_of(kernel_id))
    code = _code_of(access, found)
    if as_json:
        print_json(found.model_dump(mode="json") | {"files": file_places(found), "isa": code})
        return
    print_line(f"kernel {found.id}")
    print_wrapped(f"{to_problem(found.problem)} on {found.device}")
    for name, text in (*_evidence(found), *_code(found, code), *_origin(found)):
        print_fact(name, text)
    CONSOLE.print(table_of_files(found))
    short = short_ids([found.id])[found.id]
    language = "pyopencl" if found.launch.needs is None else "cpp"
    print_line(f"next: xetune kernels files {short} -o DIR")
    print_line(f"      xetune kernels host-code {short} {language} -o program")


def _code_of(access: Access, kernel: KernelOut) -> dict[str, object] | None:
    """Return the report of Intel's offline compiler; None if there is none, or if it is no JSON."""
    sha256 = next((artifact.sha256 for artifact in kernel.artifacts if artifact.name == _REPORT), None)
    with suppress(ValueError):
        return None if sha256 is None else json.loads(access.artifact(sha256))
    return None


def _evidence(kernel: KernelOut) -> Iterator[Fact]:
    """Yield the configuration, how fast it is, how that is known, and how its numbers were verified."""
    yield "config", config_line(kernel.model_dump(mode="json")["config"])
    time = kernel.evidence.time
    if time is None:
        yield "time", "none" if kernel.reason is None else f"none, {kernel.status}: {kernel.reason}"
    else:
        where = "" if time.origin is None else f" by {time.origin}"
        yield "time", f"{shown_time(time)}, {known_by(time)}; {time.label}{where} on {kernel.device}"
        yield "rate", shown_rate(kernel.tflops)
    if kernel.predicted is not None and kernel.prediction_error is not None:
        predicted = f"{shown_time(kernel.predicted)} by {kernel.predicted.label}"
        yield "model", f"predicted {predicted}; measured is {kernel.prediction_error:.2f} times that"
    yield "numbers", shown_proof(kernel.evidence)
    if (acceptance := acceptance_words(kernel.evidence.acceptance)) is not None:
        yield "driver", acceptance
    if kernel.withdrawn is not None:
        yield "served", f"no, withdrawn {kernel.withdrawn_at:%Y-%m-%d %H:%M} UTC: {kernel.withdrawn}"


def _code(kernel: KernelOut, code: dict[str, object] | None) -> Iterator[Fact]:
    """Yield its launches, and what is known of its instructions."""
    for step in kernel.launch.steps:
        size = " x ".join(map(str, step.global_size))
        groups = " x ".join(map(str, step.local_size))
        of_gpu = f"{size or 'an unknown number of'} work-items in groups of {groups or 'unknown size'}"
        yield "launch", f"{step.kernel}, {of_gpu if step.threads is None else f'threads: {step.threads}'}"
    if kernel.launch.needs is not None:
        yield "needs", ", ".join(kernel.launch.needs) or "every x86-64 CPU"
    if code is not None:
        yield from _reports(code)
    for built in kernel.binaries:
        yield "binary", f"{built.name}, {built.size:,} bytes, for driver {built.driver}"


def _reports(code: dict[str, object]) -> Iterator[Fact]:
    # Imported here, where a kernel has machine code: it brings the disassembler.
    from service.api.xray.schemas import IsaOut

    kernels = code.get("kernels")
    for entry in kernels if isinstance(kernels, list) else []:
        with suppress(ValueError):  # of another version
            report = IsaOut.model_validate(entry)
            threads = "" if report.threads_per_eu is None else f", {report.threads_per_eu} threads per EU"
            loop = "" if report.pipeline is None else f", dpas used {report.pipeline.utilisation:.0%} (model)"
            yield (
                "code",
                f"{report.kernel}: {report.grf_count} registers{threads}, spilled {binary(report.spill_bytes)} a thread"
                f"{loop}; counted, for {code.get('chip')} by ocloc {code.get('compiler')}",
            )


def _origin(kernel: KernelOut) -> Iterator[Fact]:
    """Yield where it came from."""
    where = "here" if kernel.origin is None else f"by {kernel.origin}"
    yield "compiled", f"{kernel.created_at:%Y-%m-%d %H:%M} UTC {where} for {kernel.target}"
    yield "tools", ", ".join(f"{name} {version}" for name, version in kernel.toolchain.items()) or "not recorded"
    yield "device", f"{kernel.device}, driver {kernel.driver or 'unknown'}"
    if kernel.job is not None:
        yield "job", str(kernel.job)
    yield "SHA-256", f"{kernel.content_hash} of its {'SPIR-V' if kernel.launch.needs is None else 'object code'}"
