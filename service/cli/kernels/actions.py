"""Actions of commands on kernels."""

from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel

from service.api.kernels.schemas import WithdrawalBody
from service.api.keys.caller import COMMAND_LINE
from service.cli.access.resource import Action, Done, Removal, checked

if TYPE_CHECKING:
    from service.http.context import Context

# The functions of routes are imported when an action is done here: with a service none is needed.


class Withdrawn(BaseModel):
    """A withdrawn kernel, of which a service returns more."""

    withdrawn: str


def withdrawal_of(kernel_id: UUID, reason: str) -> Action[Withdrawn]:
    """Return the action that withdraws a kernel.

    Raises:
        Malformed: the reason is too short or too long.
    """

    def withdraw(context: "Context") -> Done[Withdrawn]:
        from service.api.kernels import withdrawal

        with context.database.write() as session:
            withdrawal.withdraw(session, COMMAND_LINE, kernel_id, body.reason, context.now())
        return Done(Withdrawn(withdrawn=body.reason))

    body = checked(WithdrawalBody, {"reason": reason})
    return Action(f"/v1/kernels/{kernel_id}/withdrawal", body, Withdrawn, withdraw, method="PUT")


def restoration_of(kernel_id: UUID) -> Removal:
    """Return the removal of a kernel's withdrawal."""

    def restore(context: "Context") -> None:
        from service.api.kernels import withdrawal

        with context.database.write() as session:
            withdrawal.restore(session, COMMAND_LINE, kernel_id)

    return Removal(f"/v1/kernels/{kernel_id}/withdrawal", restore)
