"""Native binaries of kernels, as commands list, build and print them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from service.api.kernels.schemas import BinaryList, BinaryOut, BinaryQuery, RebuildOut
from service.api.keys.caller import COMMAND_LINE
from service.cli.access.resource import Action, Asked, Done, Resource, checked
from service.cli.printing.output import CONSOLE, text_table

if TYPE_CHECKING:
    from service.http.context import Context


def binaries_of(kernel_id: UUID) -> Resource[BinaryList]:
    """Return the resource of a kernel's binaries."""

    def read(context: "Context", asked: Asked) -> BinaryList:
        from service.api.kernels.service import list_binaries

        query = checked(BinaryQuery, asked)
        with context.database.read() as session:
            return list_binaries(session, kernel_id, query)

    return Resource(f"/v1/kernels/{kernel_id}/binaries", BinaryList, read)


def build_of(kernel_id: UUID) -> Action[BinaryOut]:
    """Return the action that builds a binary."""

    def build(context: "Context") -> Done[BinaryOut]:
        from service.api.kernels import binaries

        return Done(*binaries.build(context.database, context.artifacts, context.settings, COMMAND_LINE, kernel_id))

    return Action(f"/v1/kernels/{kernel_id}/binaries", None, BinaryOut, build)


def rebuild_of(most: int) -> Action[RebuildOut]:
    """Return the action that queues jobs which build the binaries of up to `most` kernels again."""

    def rebuild(context: "Context") -> Done[RebuildOut]:
        from service.api.kernels import binaries

        return Done(binaries.queue_rebuilds(context.database, context.settings, COMMAND_LINE, most), is_new=True)

    return Action("/v1/binaries/rebuild", None, RebuildOut, rebuild, asked={"most": most})


def print_binaries(binaries: Sequence[BinaryOut]) -> None:
    """Print the native binaries of a kernel."""
    table = text_table("chip", "driver", "file", "validity")
    for binary in binaries:
        table.add_row(binary.chip, binary.driver, binary.name, "; ".join(binary.stale) or "-")
    CONSOLE.print(table if binaries else "No binary. Build one: xetune kernels binaries KERNEL --build")
