"""Commands of xetune: their module, help text and whether they work with a service.

Imports none of them, so that help and completion do not wait for compilers and databases. The module of a command
imports what its options need; the command imports what it works with when it runs.
"""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Command:
    """A command: `at` is "module:name" of its function, or of its Typer if it has subcommands.

    `of_database` marks one that uses this machine's database even if a service is named.
    """

    at: str
    help: str
    with_server: bool = False
    of_database: bool = False


COMMANDS = MappingProxyType(
    {
        "devices": Command(
            "service.cli.devices.listing:devices_app",
            "List the devices of this machine and the known Intel GPUs.",
            with_server=True,
        ),
        "doctor": Command(
            "service.cli.operating.doctor:doctor_command", "Check whether this machine is ready, and say what to do."
        ),
        "compile": Command(
            "service.cli.compiler.compile:compile_command",
            "Compile a GEMM or a module's kernels; write every stage.",
            with_server=True,
        ),
        "explain": Command(
            "service.cli.compiler.inspection.explain:explain_command",
            "Break a GEMM's predicted time down, with a roofline.",
            with_server=True,
        ),
        "opt": Command("service.cli.compiler.opt:opt_command", "Parse and verify a module, apply passes, print it."),
        "run": Command("service.cli.compiler.run:run_command", "Execute a kernel in the simulator, without a GPU."),
        "xray": Command(
            "service.cli.compiler.inspection.xray:xray_command",
            "Show the GPU kernels in a binary, wheel or SPIR-V module.",
            with_server=True,
        ),
        "tune": Command(
            "service.cli.tuning.tune:tune_command",
            "Find the fastest kernel for a GEMM, verify and store it.",
            with_server=True,
        ),
        "kernels": Command(
            "service.cli.kernels.commands:app",
            "List, show and recommend kernels, write programs that run them.",
            with_server=True,
        ),
        "export": Command(
            "service.cli.exchange.results:export_command",
            "Export results to a file.",
            with_server=True,
        ),
        "import": Command(
            "service.cli.exchange.results:import_command",
            "Import results of another database or program.",
            with_server=True,
        ),
        "measure": Command(
            "service.cli.exchange.measure:measure_command",
            "Measure configurations of a file or a service.",
            with_server=True,
        ),
        "recordings": Command(
            "service.cli.exchange.recordings:app",
            "List and show recordings of other autotuners.",
            with_server=True,
        ),
        "records": Command(
            "service.cli.records.commands:app",
            "Keep results of other tuners: Triton, vLLM, Kernel Tuner.",
            with_server=True,
        ),
        "replay": Command("service.cli.tuning.replay:replay_command", "Simulate a search on a recorded space."),
        "layout": Command(
            "service.cli.compiler.inspection.layout:layout_command",
            "Show the layout of a DPAS operand or of its block loads.",
        ),
        "jobs": Command(
            "service.cli.tuning.jobs:app", "List, show, cancel, retry, resume and export tuning jobs.", with_server=True
        ),
        "shapes": Command(
            "service.cli.tuning.shapes:app", "List, show, resume and cancel shape sets.", with_server=True
        ),
        "schedules": Command(
            "service.cli.operating.schedules:app", "Create, list and run schedules of jobs.", with_server=True
        ),
        "serve": Command(
            "service.cli.operating.serve:serve_command", "Start the REST service and dashboard, with a worker."
        ),
        "worker": Command("service.cli.operating.serve:worker_command", "Run jobs of the database until stopped."),
        "coordinator": Command(
            "service.cli.operating.serve:coordinator_command", "Distribute jobs to the workers of a Dask scheduler."
        ),
        "cluster": Command("service.cli.operating.cluster:app", "Run on many machines: scheduler and coordinator."),
        "keys": Command("service.cli.operating.keys:app", "Create, list and revoke API keys.", with_server=True),
        "audit": Command("service.cli.operating.audit:app", "List the audit log, newest first.", with_server=True),
        "db": Command("service.cli.operating.database:app", "Migrate the database.", of_database=True),
        "toolchain": Command(
            "service.cli.compiler.toolchain:app", "Show the installed toolchain; install optional tools."
        ),
    }
)
