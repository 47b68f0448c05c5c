"""Launches of the kernels of a GEMM: their order, arguments, numbers and grids."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from codegen.artifact.kernel_artifact import GemmArtifact
from codegen.artifact.signature import (
    Field,
    KernelSignature,
    Parameter,
)
from codegen.config.xe import SplitK, XeConfig
from codegen.errors import InvalidLaunch
from codegen.problem.epilogue import Axis
from codegen.problem.gemm import GemmProblem
from codegen.target import LARGE_GRF, LARGE_GRF_OPENCL, Target, target_of
from codegen.workers.code_key import (
    kind_of,
    with_groups,
)
from codegen.xe.build.gemm import (
    KERNEL_NAME,
    kernels_of,
)
from codegen.xe.build.matrices import launch_sizes
from codegen.xe.build.raster import launched
from codegen.xe.build.sums import SUM_LENGTH
from codegen.xe.operand_access import (
    AccessBy,
    memory_path,
)
from codegen.xe.prepare import prepare_groups, prepare_kernel, prepared_operands
from codegen.xe.rules.sizes import (
    ceil_div,
    is_persistent,
    tiles_of,
)
from codegen.xe.workspace import scratch
from hal import Argument, DeviceSpec, LaunchSpec, LaunchStep, Scalar


def launch_spec(
    problem: GemmProblem, config: XeConfig, target: Target, binary: bytes, kernels: Sequence[KernelSignature]
) -> LaunchSpec:
    """Return the launch of a problem; of a dynamic one, `problem` may be any that its kernels accept."""
    large = config.strategy.grf_mode == LARGE_GRF and not target.emulated
    signatures = {kernel.name: kernel for kernel in kernels}
    return LaunchSpec(
        binary=binary,
        arguments=arguments(problem, config),
        steps=tuple(_step(problem, config, target, signatures[name]) for name in kernels_of(problem, config)),
        subgroup_size=target.subgroup_size,
        build_options=LARGE_GRF_OPENCL if large else "",
    )


def kernel_for(artifact: GemmArtifact, problem: GemmProblem, spec: DeviceSpec) -> GemmArtifact:
    """Return a dynamic kernel as that of another problem: the same binary, with the launch and the work-groups of
    its sizes.

    Raises:
        InvalidLaunch: the kernel is for one size, for another kind of problem, or relies on what `problem` breaks.
        Refused: codegen cannot target the device.
    """
    tuned, config, target = artifact.problem, artifact.config, target_of(spec)
    if not tuned.dynamic:
        raise InvalidLaunch(f"expected the kernel of a dynamic problem, got one of {tuned}")
    problem = replace(problem, dynamic=True)
    if problem.deterministic and config.strategy.split_k is SplitK.ATOMIC:
        raise InvalidLaunch("expected a problem that is not deterministic: the kernel adds atomically, in any order")
    mine, asked = kind_of(tuned, config, target), kind_of(problem, config, target)
    if replace(mine, by_lanes=asked.by_lanes) != asked:
        raise InvalidLaunch(f"expected a problem that differs in sizes alone from the kernel's, {tuned}; got {problem}")
    for operand in problem.operands:
        path = memory_path(problem, operand, target)
        by = artifact.memory_paths[operand.name].by
        if by is not AccessBy.LANES and path.by is AccessBy.LANES:
            how = "block messages" if by is AccessBy.BLOCK2D else "vectors"
            raise InvalidLaunch(f"the kernel accesses {operand.name} by {how}; {path.rule}: {path.why}")
    for signature in artifact.kernels:
        _check_assumptions(problem, signature)
    here = config if is_persistent(tuned, config) else with_groups(config, tiles_of(problem, config))
    launch = launch_spec(problem, here, target, artifact.launch.binary, artifact.kernels)
    return replace(artifact, problem=problem, config=here, launch=launch)


def _check_assumptions(problem: GemmProblem, signature: KernelSignature) -> None:
    """Check that sizes fulfil the kernel's assumptions; the problem itself guarantees pointer alignment."""
    sizes = launch_sizes(problem)
    for assumption in signature.assumes or ():
        of_terms = [
            term.factor * prod(sizes.get(signature.arguments[p.argument].name, 0) for p in term.of)
            for term in assumption.terms
        ]
        if of_terms and not assumption.holds(sum(of_terms)):
            relied_on = assumption.in_words(signature.arguments)
            raise InvalidLaunch(f"{signature.name} relies on {relied_on}; of {problem} it is {sum(of_terms)}")


def arguments(problem: GemmProblem, config: XeConfig) -> tuple[Argument, ...]:
    """Return the memory arguments of a launch: the operands, then the workspace."""
    operands = [Argument(o.name, o.role, o.dtype.value, o.nbytes(problem.batch)) for o in problem.operands]
    return (*operands, *(Argument(s.name, "scratch", s.dtype, s.nbytes) for s in scratch(problem, config)))


def groups_of(problem: GemmProblem, config: XeConfig, kernel: str) -> tuple[int, int, int]:
    """Return the work-groups of one of the kernels in x, y and z."""
    if kernel in (prepares := _prepares(problem, config)):
        return prepares[kernel]
    x, y, z = launched(problem, config)
    if kernel == KERNEL_NAME:
        return x, y, z
    if not kernel.startswith("sum_"):
        return x, y, problem.batch
    axis = problem.epilogue[int(kernel.removeprefix("sum_"))].axis
    return ceil_div(problem.m if axis is Axis.ROW else problem.n, SUM_LENGTH), 1, problem.batch


def _prepares(problem: GemmProblem, config: XeConfig) -> dict[str, tuple[int, int, int]]:
    """Return the work-groups of each kernel that prepares an operand."""
    operands = prepared_operands(problem, config.strategy.workspace)
    return {prepare_kernel(problem, operand): prepare_groups(problem, operand) for operand in operands}


def groups_formula(problem: GemmProblem, config: XeConfig, kernel: str) -> tuple[str, str, str]:
    """Return the work-groups as formulas of m and n, for launches of other sizes."""
    block, threads, order = config.matmul.block, config.matmul.threads, config.matmul.loop_order
    if kernel in (prepares := _prepares(problem, config)):
        x, y, matrices = map(str, prepares[kernel])  # of a static problem
        return x, y, matrices
    z = str(problem.batch * threads.k if kernel == KERNEL_NAME else problem.batch)
    if kernel.startswith("sum_"):
        axis = problem.epilogue[int(kernel.removeprefix("sum_"))].axis
        return f"ceil({'m' if axis is Axis.ROW else 'n'} / {SUM_LENGTH})", "1", z
    over_m, over_n = f"ceil(m / {block.m})", f"ceil(n / {block.n})"
    if problem.experts is not None:
        return str(threads.m * threads.n), "1", "1"
    if is_persistent(problem, config):
        if config.strategy.raster_group > 1:
            return str(threads.m * threads.n), "1", z
        over_m, over_n = f"min({threads.m}, {over_m})", f"min({threads.n}, {over_n})"
    if config.strategy.raster_group > 1:
        return f"{over_m} * {over_n}", "1", z
    return (over_n, over_m, z) if order.walks_along_n else (over_m, over_n, z)


def _step(problem: GemmProblem, config: XeConfig, target: Target, signature: KernelSignature) -> LaunchStep:
    assert signature.local_size is not None  # the builder says it
    groups = groups_of(problem, config, signature.name)
    along_x, along_y, along_z = signature.local_size
    # Emulated, one work-item runs a whole sub-group.
    local = (along_x // target.subgroup_size if target.emulated else along_x, along_y, along_z)
    x, y, z = (count * extent for count, extent in zip(groups, local, strict=True))
    parameters = tuple(_parameter(problem, signature, parameter) for parameter in signature.parameters)
    return LaunchStep(signature.name, parameters, (x, y, z), local)


def _parameter(problem: GemmProblem, signature: KernelSignature, parameter: Parameter) -> int | Scalar:
    argument = signature.arguments[parameter.argument]
    if parameter.field is Field.POINTER:
        return parameter.argument
    sizes = launch_sizes(problem)
    if parameter.field is not Field.VALUE or argument.name not in sizes:
        raise InvalidLaunch(f"{signature.name}: expected pointers and sizes, got {parameter.field} of {argument.name}")
    return Scalar(argument.name, sizes[argument.name])
