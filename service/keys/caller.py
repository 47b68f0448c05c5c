"""Who asks."""

from dataclasses import dataclass
from uuid import UUID

from service.keys.scopes import Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and what for at most. `key_id` is None where no key was needed, `request_id` where nothing was sent."""

    name: str
    scope: Scope
    key_id: UUID | None = None
    request_id: str | None = None


LOCAL = Caller("local", Scope.ADMIN)
COMMAND_LINE = Caller("command line", Scope.ADMIN)
CLOCK = Caller("schedule", Scope.ADMIN)
