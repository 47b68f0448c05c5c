"""xetune explain: performance breakdown of a configuration and its bound; on a CPU, reasons for the
configuration.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.devices.drivers import asking_drivers
from service.cli.options.config_flags import ConfigFile, Settings
from service.cli.options.output import AsJson
from service.cli.options.problem import DeviceOrFile, ProblemOptions, with_problem

if TYPE_CHECKING:
    from hal.probe.probe import Probes

Compiled = Annotated[
    bool,
    typer.Option("--isa", help="Compile it for the GPU, and time the K loop of its machine code."),
]


@with_problem
def explain_command(
    problem: ProblemOptions,
    device: DeviceOrFile = "b580",
    config: ConfigFile = None,
    settings: Settings = None,
    isa: Compiled = False,
    as_json: AsJson = False,
) -> None:
    """Predict the time of a GEMM on a GPU (--m, --n, --k), by part, with a roofline and the accuracy of
    predictions. With --isa, also the pipeline of the kernel's K loop, and the time with its clocks.

    On a CPU, where times are measured: the steps to the default configuration, and an estimate of cache
    traffic.
    """
    with asking_drivers() as probes:
        _explain(problem, device, config, settings or [], probes, isa=isa, as_json=as_json)


def _explain(
    problem: ProblemOptions,
    device: str,
    config: Path | None,
    settings: list[str],
    probes: "Callable[[], Probes] | None",
    *,
    isa: bool,
    as_json: bool,
) -> None:
    # Imported here, before the answers of the drivers are waited for.
    from codegen import CpuConfig
    from codegen.backend import check_kernel
    from service.cli.options.configuration import ConfigOptions
    from service.cli.options.device_file import named_device
    from service.cli.printing.output import CONSOLE, print_json, print_wrapped
    from tuner.model.xe import explain

    spec, gemm = named_device(device, None, probes).spec, problem.read()
    if not as_json:  # before what takes longer
        print_wrapped(f"{gemm} on {spec.name}")

    chosen = ConfigOptions(config, settings).read(gemm, spec)
    check_kernel(gemm, chosen, spec)
    if not as_json:
        print_wrapped(f"configuration  {chosen}", indent=" " * 15)

    from service.cli.compiler.inspection.explaining import (
        explain_cpu,
        in_unit,
        pipeline_json_of,
        render_explanation,
        time_with_pipeline,
        unit_of,
    )

    if isinstance(chosen, CpuConfig):  # no model predicts its times
        explain_cpu(gemm, chosen, spec, as_json=as_json)
        return
    explained, pipeline = explain(gemm, chosen, spec), None
    if not as_json:
        CONSOLE.print(render_explanation(explained))
    if isa:
        # Imported here: it brings the compiler.
        from service.cli.compiler.inspection.isa import k_loop_of, wanted_ocloc

        ocloc = wanted_ocloc(isa)
        pipeline = None if ocloc is None else k_loop_of(gemm, chosen, spec, ocloc)
    if not as_json and pipeline is not None:
        from codegen.xe.machine.pipeline import summary

        time_us = time_with_pipeline(gemm, chosen, spec, pipeline)
        CONSOLE.print("", *summary(pipeline), sep="\n", highlight=False, soft_wrap=True)
        CONSOLE.print(f"with these clocks {in_unit(unit_of(time_us), time_us)}", highlight=False)

    # Imported here: it brings the database.
    from service.cli.devices.accuracy import accuracy_lines, known_accuracy

    accuracy = known_accuracy(spec.id, probes)
    if as_json:
        from service.api.explain.service import gpu_explanation

        document = gpu_explanation(gemm, chosen, spec, explained, accuracy.models).model_dump(mode="json")
        print_json(document | pipeline_json_of(gemm, chosen, spec, pipeline))
        return
    for line in accuracy_lines(accuracy):
        print_wrapped(line)
