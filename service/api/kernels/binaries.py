"""Native binaries of kernels: built by Intel's offline compiler from the stored SPIR-V, one for each driver version."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from codegen import CodegenError
from codegen.elf import undefined_symbols
from codegen.errors import OclocUnusable
from codegen.target import target_of
from codegen.xe.isa import Ocloc
from db.queries.results import binaries
from db.schema.kernel import Kernel
from db.session import Database
from hal import DeviceKind
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.jobs.requests import submit
from service.api.kernels.schemas import BinaryOut, RebuildOut
from service.api.kernels.service import LOG, binaries_of, find_kernel
from service.api.keys.caller import WORKER, Caller
from service.api.toolchain.offline import find_ocloc
from service.artifacts import ArtifactStore, StorageError
from service.device_json import spec_of_row
from service.errors import Conflict, NotFound
from service.gemm_json import problem_from_json
from service.manifest_reader import read_launch
from service.settings import InvalidSettings, Settings
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions, job_spec

_BUDGET = Budget(trials=1, seconds=600.0)  # of a job that has no trials
_BYTES, _TEXT, _OPENCL = "application/octet-stream", "text/plain", "opencl"


@dataclass(frozen=True, slots=True)
class _Source:
    """SPIR-V of a kernel, and what its compilation needs."""

    spirv: bytes
    chip: str
    options: str


def build(
    database: Database, store: ArtifactStore, settings: Settings, by: Caller, kernel_id: UUID
) -> tuple[BinaryOut, bool]:
    """Build the binary of a kernel for the driver of the installed compiler, unless it is here; and whether it is new.

    Raises:
        NotFound: there is no such kernel.
        Conflict: rule `ocloc`: the compiler is not installed; `no-gpu-code`: the kernel has no SPIR-V for a GPU;
            `isa`: it does not compile.
    """
    ocloc = _ocloc(settings)
    try:
        driver = ocloc.version()
        with database.read() as session:
            row = find_kernel(session, kernel_id)
            here = next((each for each in binaries_of(row) if each.driver == driver), None)
            source = None if here is not None else _source(row, store)
        if source is None:
            assert here is not None
            return here, False
        binary, log = ocloc.build(source.spirv, source.chip, source.options)
        if missing := undefined_symbols(binary):
            raise Conflict(f"kernel {kernel_id}: its code calls {', '.join(missing)}, which do not exist", rule="isa")
    except CodegenError as error:
        raise Conflict(f"kernel {kernel_id}: {error}", rule="isa") from error
    name = f"kernel-{source.chip}-{driver}.zebin"
    files: list[binaries.FileRow] = [(name, store.put(binary), len(binary), _BYTES, source.chip, driver)]
    if text := log.strip().encode():
        files.append((f"{name}{LOG}", store.put(text), len(text), _TEXT, None, None))
    with database.write() as session:
        is_new = binaries.add(session, kernel_id, files)
        record(session, by, "binary.build", kernel_id, Outcome.DONE if is_new else Outcome.UNCHANGED)
        session.flush()
        session.expire_all()
        found = next(each for each in binaries_of(find_kernel(session, kernel_id)) if each.name == name)
    return found, is_new


def queue_rebuilds(database: Database, settings: Settings, by: Caller, most: int) -> RebuildOut:
    """Queue jobs that build the binaries of kernels whose binaries are all of other drivers than the compiler's.

    A worker without the kernel's device may run them.

    Raises:
        Conflict: rule `ocloc`.
        TooMany: the limit of active jobs is reached.
    """
    try:
        driver = _ocloc(settings).version()
    except CodegenError as error:
        raise Conflict(str(error), rule="ocloc") from error
    queued: list[UUID] = []
    with database.write() as session:
        stale = binaries.stale(session, driver)
        for kernel_id in stale[:most]:
            row = find_kernel(session, kernel_id)
            spec = replace(spec_of_row(row.device), driver=None)
            wanted = job_spec(JobOptions(budget=_BUDGET), problem_from_json(row.problem.definition), spec)
            job, _ = submit(session, wanted, settings.max_active_jobs, by, binary_of=kernel_id)
            queued.append(job.id)
    return RebuildOut(driver=driver, jobs=queued, left=len(stale) - len(queued))


def builder(settings: Settings, store: ArtifactStore) -> Callable[[Database, UUID], None]:
    """Return what builds the binary of a kernel in a worker.

    It raises OclocUnusable where that is impossible.
    """

    def run(database: Database, kernel_id: UUID) -> None:
        try:
            build(database, store, settings, WORKER, kernel_id)
        except (Conflict, NotFound) as error:
            raise OclocUnusable(error.detail) from error

    return run


def _source(row: Kernel, store: ArtifactStore) -> _Source:
    spec = spec_of_row(row.device)
    spirv = next((each for each in row.artifacts if each.name == "kernel.spv"), None)
    if spirv is None or spec.kind is not DeviceKind.GPU:
        raise Conflict(f"kernel {row.id} has no SPIR-V for a GPU: it is for {spec.id}", rule="no-gpu-code")
    options = dict(read_launch(row.manifest).build_options).get(_OPENCL, "")
    try:
        return _Source(store.get(spirv.sha256), target_of(spec).chip, options)
    except StorageError as error:
        raise Conflict(f"kernel {row.id}: {error}; tune the problem again", rule="no-gpu-code") from error


def _ocloc(settings: Settings) -> Ocloc:
    try:
        found = find_ocloc(settings)
    except InvalidSettings as error:
        raise Conflict(str(error), rule="ocloc") from error
    if found is None:
        raise Conflict("Intel's offline compiler is not installed: run `xetune toolchain install`", rule="ocloc")
    return found
