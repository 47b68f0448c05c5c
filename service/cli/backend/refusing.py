"""What a service cannot be asked for is refused by name."""

from service.errors import BadRequest


def not_there(what: str, instead: str) -> BadRequest:
    """`what` works on this machine alone; `instead` says what else to do."""
    return BadRequest(f"--server: {what} works on the database of this machine alone: {instead}, or leave --server out")
