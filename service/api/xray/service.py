"""X-rays: the child process, and our kernels for the same problems."""

from typing import BinaryIO
from uuid import UUID

from pydantic import BaseModel, ValidationError

from codegen import GemmProblem, InvalidProblem, XeConfig
from codegen.xe.isa import Ocloc
from codegen.xe.xray import Wanted
from db.queries.results import kernels
from db.schema.kernel import Kernel
from hal import DeviceKind, DeviceSpec
from service.api.kernels.lookup.answering import answer_all, the_answer
from service.api.kernels.lookup.answers import Wanted as Lookup
from service.api.kernels.lookup.schemas import LookupOut
from service.api.toolchain.offline import find_ocloc
from service.api.xray.schemas import FoundOut, OursOut, XrayKernelOut, XrayOut, XrayQuery
from service.api.xray.work import FileWork, GemmWork, ModuleWork, XrayWork
from service.artifacts import StorageError
from service.configurations import ConfigBody
from service.device_json import spec_from_json
from service.errors import BadRequest, Conflict, NotFound, ServiceError
from service.gemm_json import config_from_json, problem_from_json
from service.http.context import Context
from service.manifest_reader import read_launch
from service.sandbox.limits import NO_GRANTS, Grants, Limits
from service.sandbox.parent import ConfinedFailure, LimitReached, run_confined
from service.schemas import check_size, to_body, to_problem
from service.settings import InvalidSettings, Settings

_WORK = "service.api.xray.work"
_MOST_COMPARED = 4
_OPENCL = "opencl"


def xray_file(context: Context, file: BinaryIO, query: XrayQuery) -> XrayOut:
    """Report on the kernels of a file, and on ours for the same problems.

    Raises:
        BadRequest: rule `xray`: no such kernel, or the file is damaged; `limit-` and a name: it reaches a limit;
            a problem or device that cannot be.
        Conflict: rule `ocloc`: Intel's offline compiler is not installed.
        TooMany: rule `xrays`.
    """
    given = query.problem()
    if given is not None:
        check_size(given, context.settings)
    ocloc = _ocloc(context.settings)
    spec = None if query.device is None else _gpu(context.devices.resolve(query.device, None).spec)
    wanted = Wanted(spec, query.kernel, query.limit)
    with context.xrays.one():
        work = FileWork(query.name, file.fileno(), wanted, ocloc)
        found = _run(context.settings, work, Grants(_programs(ocloc), (file.fileno(),)))
        return _beside_ours(context, ocloc, found, query, given)


def xray_kernel(context: Context, kernel_id: UUID) -> XrayOut:
    """Report on the code of a stored kernel, and on our best for its problem and device if that is another.

    Raises:
        NotFound: there is none.
        Conflict: rule `no-gpu-code`: it is for a CPU, or its SPIR-V is lost; rule `ocloc`.
        TooMany, BadRequest: as xray_file.
    """
    ocloc = _ocloc(context.settings)
    with context.database.read() as session:
        row = kernels.get(session, kernel_id)
        if row is None:
            raise NotFound(f"kernel {kernel_id} does not exist")
        device, definition, work = row.device.slug, row.problem.definition, _stored(context, row, ocloc)
    with context.xrays.one():
        found = _run(context.settings, work, Grants(_programs(ocloc)))
        try:
            problem = problem_from_json(definition)
        except InvalidProblem:  # of another version
            return XrayOut(file=str(kernel_id), ours=[], notes=[], **dict(found))
        return _beside_best(context, ocloc, kernel_id, found, problem, device)


def _beside_best(
    context: Context, ocloc: Ocloc, kernel_id: UUID, found: FoundOut, problem: GemmProblem, device: str
) -> XrayOut:
    ours: list[OursOut] = []
    notes: list[str] = []
    try:
        answer = _look_up(context, problem, device)
        if answer.kernel is not None and answer.kernel.id == kernel_id:
            notes.append("it is our best for its problem")
        else:
            ours.append(_ours(context, ocloc, problem, device, answer, assumed=False))
    except ServiceError as error:
        notes.append(f"our best for {problem}: {error.detail}")
    for kernel in found.kernels:
        kernel.ours = 0 if ours and kernel.isa.k_loop is not None else None
    return XrayOut(file=str(kernel_id), ours=ours, notes=notes, **dict(found))


def _beside_ours(
    context: Context, ocloc: Ocloc, found: FoundOut, query: XrayQuery, given: GemmProblem | None
) -> XrayOut:
    """Compare each kernel with ours for its problem, of the given sizes, or for a problem whose types are given."""
    places: dict[tuple[str, str], int | None] = {}
    ours: list[OursOut] = []
    notes: list[str] = []
    for kernel in found.kernels:
        problem = given if query.has_types else _problem_of(kernel, given)
        if problem is None:
            continue
        place = (problem.key, kernel.device)
        if place not in places and len(places) == _MOST_COMPARED:
            notes.append(f"only {_MOST_COMPARED} problems are compared; {problem} is not: choose kernels by name")
            places[place] = None
        if place not in places:
            try:
                answer = _look_up(context, problem, kernel.device)
                ours.append(_ours(context, ocloc, problem, kernel.device, answer, assumed=query.assumes_sizes))
                places[place] = len(ours) - 1
            except ServiceError as error:
                notes.append(f"ours for {problem} on {kernel.device}: {error.detail}")
                places[place] = None
        kernel.ours = places[place]
    return XrayOut(file=query.name, ours=ours, notes=notes, **dict(found))


def _problem_of(kernel: XrayKernelOut, sizes: GemmProblem | None) -> GemmProblem | None:
    if kernel.problem is None or kernel.problem.gemm is None:
        return None
    body = kernel.problem.gemm
    if sizes is not None:
        body = body.model_copy(update={"m": sizes.m, "n": sizes.n, "k": sizes.k})
    packed = {"lda": None, "ldb": None, "ldc": None}
    packed |= {"batch_stride_a": None, "batch_stride_b": None, "batch_stride_c": None}
    return to_problem(body.model_copy(update=packed))


def _look_up(context: Context, problem: GemmProblem, device: str) -> LookupOut:
    ((_, kept),) = answer_all(context, [Lookup(problem, device, None)])
    return the_answer(kept)


def _ours(
    context: Context, ocloc: Ocloc, problem: GemmProblem, device: str, answer: LookupOut, *, assumed: bool
) -> OursOut:
    spec = _gpu(context.devices.resolve(device, None).spec)
    json = answer.config.model_dump(mode="json") if isinstance(answer.config, ConfigBody) else answer.config
    config = config_from_json(json)
    assert isinstance(config, XeConfig)  # the device is a GPU
    found = _run(context.settings, GemmWork(problem, config, spec, ocloc), Grants(_programs(ocloc)))
    main = max(found.kernels, key=lambda kernel: 0 if kernel.isa.k_loop is None else kernel.isa.k_loop.dpas)
    return OursOut(
        problem=to_body(problem),
        text=str(problem),
        sizes_are_assumed=assumed,
        device=device,
        source=answer.source,
        kernel_id=None if answer.kernel is None else answer.kernel.id,
        kernel=main,
    )


def _stored(context: Context, row: Kernel, ocloc: Ocloc) -> ModuleWork:
    artifact = next((a for a in row.artifacts if a.name == "kernel.spv"), None)
    try:
        spec = _gpu(spec_from_json(row.device.spec))
        spirv = b"" if artifact is None else context.artifacts.read(artifact.sha256)
    except (ValueError, StorageError) as error:
        raise Conflict(f"kernel {row.id}: {error}; tune the problem again", rule="no-gpu-code") from error
    if not spirv:
        raise Conflict(f"kernel {row.id} has no SPIR-V: it is for a CPU", rule="no-gpu-code")
    return ModuleWork(spirv, dict(read_launch(row.manifest).build_options).get(_OPENCL, ""), spec, ocloc)


def _gpu(spec: DeviceSpec) -> DeviceSpec:
    """Check that a device is a GPU; return it.

    Raises:
        BadRequest: rule `xray`: it is a CPU.
    """
    if spec.kind is not DeviceKind.GPU:
        raise BadRequest(f"{spec.id}: expected a GPU, got a CPU", rule="xray")
    return spec


def _ocloc(settings: Settings) -> Ocloc:
    try:
        found = find_ocloc(settings)
    except InvalidSettings as error:
        raise Conflict(str(error), rule="ocloc") from error
    if found is None:
        message = "Intel's offline compiler is not installed: run `xetune toolchain install`"
        raise Conflict(message, rule="ocloc")
    return found


def _programs(ocloc: Ocloc) -> tuple[str, ...]:
    return (str(ocloc.path.resolve().parent),)


class _Said(BaseModel):
    """Answer of a child; untrusted, since the child reads untrusted files."""

    found: FoundOut | None = None
    refused: str | None = None
    failed: str | None = None


def _run(settings: Settings, work: XrayWork, grants: Grants = NO_GRANTS) -> FoundOut:
    limits = Limits(memory_bytes=settings.xray_memory_bytes, cpu_s=settings.xray_cpu_s, wall_s=settings.xray_wall_s)
    try:
        said = _Said.model_validate(run_confined(_WORK, work, limits, grants).document)
    except LimitReached as reached:
        raise BadRequest(f"{reached}; choose fewer kernels by name", rule=f"limit-{reached.limit.value}") from reached
    except (ConfinedFailure, ValidationError) as ended:
        raise BadRequest(f"the file cannot be read: {ended}", rule="xray-ended") from ended
    if said.found is None:
        raise BadRequest(said.refused or said.failed or "no result", rule="xray")
    return said.found
