"""Explanations of a configuration, for the API and the command line."""

from codegen import CpuConfig, GemmProblem, KernelConfig, XeConfig
from codegen.backend import check_kernel
from hal import DeviceSpec
from service.api.accuracy.schemas import AccuracyOut
from service.api.explain.schemas import (
    CeilingOut,
    CpuExplanation,
    GpuExplanation,
    HeuristicStepOut,
    TrafficOut,
)
from service.configurations import to_config_body
from service.gemm_json import config_to_json
from tuner.backend import tuning_for
from tuner.model.xe import Explanation, explain
from tuner.space.cpu.traffic import traffic


def explanation(
    problem: GemmProblem, config: KernelConfig | None, spec: DeviceSpec, accuracy: list[AccuracyOut]
) -> GpuExplanation | CpuExplanation:
    """Explain the time of a configuration (None: the default); `accuracy` is that of predictions for the
    device.

    Raises:
        Refused: a legality rule refuses the problem, the device or the configuration.
        CannotPredict: a required fact of the device is unknown.
        NotOnThisCpu: the device is a CPU other than this one.
    """
    chosen = tuning_for(spec).default(problem, spec) if config is None else config
    check_kernel(problem, chosen, spec)
    match chosen:
        case CpuConfig():
            return cpu_explanation(problem, chosen, spec)
        case XeConfig():
            return gpu_explanation(problem, chosen, spec, explain(problem, chosen, spec), accuracy)


def gpu_explanation(
    problem: GemmProblem,
    config: XeConfig,
    spec: DeviceSpec,
    explained: Explanation,
    accuracy: list[AccuracyOut],
) -> GpuExplanation:
    """Return the breakdown of a predicted time as its response model."""
    e, p = explained, explained.prediction
    return GpuExplanation(
        problem=str(problem),
        device=spec.id,
        config=to_config_body(config_to_json(config)),
        model=p.model_version,
        time_us=p.time_us,
        low_us=p.low_us,
        high_us=p.high_us,
        tflops=e.tflops,
        peak_tflops=e.peak_tflops,
        bound_by=e.bound_by,
        parts_us={part.name: part.time_us for part in e.parts},
        ceilings=[
            CeilingOut(level=c.level, gbytes_per_s=c.gbytes_per_s, flops_per_byte=c.flops_per_byte, tflops=c.tflops)
            for c in e.ceilings
        ],
        work_groups=e.work_groups,
        groups_per_core=e.groups_per_core,
        threads_per_engine=e.threads_per_engine,
        waves=e.waves,
        busy=e.busy,
        memory_bytes=e.memory_bytes,
        least_bytes=e.least_bytes,
        registers_needed=e.registers_needed,
        registers=e.registers,
        registers_spilled=e.registers_spilled,
        assumed={"l2_bytes": [e.l2.likely, e.l2.least, e.l2.most]} if e.l2.is_assumed else {},
        accuracy=accuracy,
    )


def cpu_explanation(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuExplanation:
    """Return the steps to the default configuration, and the traffic of the loops."""
    return CpuExplanation(
        problem=str(problem),
        device=spec.id,
        config=to_config_body(config_to_json(config)),
        default_steps=[
            HeuristicStepOut(name=s.name, choice=s.choice, why=s.why)
            for s in tuning_for(spec).explain_default(problem, spec)
        ],
        operand_bytes=held_bytes(problem),
        traffic_bytes=[
            TrafficOut(into=t.level.name, a=t.a, b=t.b, c=t.c, packing=t.packing, total=t.total)
            for t in traffic(problem, config, spec)
        ],
        flops=problem.flops,
    )


def held_bytes(problem: GemmProblem) -> dict[str, int]:
    """Return the bytes of A, B and C; those of the epilogue's operands are counted with C."""
    a, b, *others = (operand.nbytes(problem.batch) for operand in problem.operands)
    return {"a": a, "b": b, "c": sum(others)}
