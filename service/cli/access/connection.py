"""The client of a service that a command uses.

Importing this module does not import it: help and completion do without.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from service.cli.access.chosen_server import server

if TYPE_CHECKING:
    from pydantic import BaseModel

    from service.api.kernels.schemas import KernelOut
    from xetune_client import Client, models

M = TypeVar("M", bound="BaseModel")
TIMEOUT_S = 60.0
_BY_A_RULE = "urn:xetune:problem:refused"


@contextmanager
def of_service(url: str, attempts: int | None = None, timeout_s: float = TIMEOUT_S) -> "Generator[Client]":
    """Open the client of the service at a URL; `attempts` bounds how often a request is sent, `timeout_s` each.

    Raises:
        BadRequest: the URL is invalid.
    """
    from service.errors import BadRequest
    from xetune_client import Client, Misused, Retries

    try:
        retries = Retries() if attempts is None else Retries(attempts=attempts)
        client = Client(url, retries=retries, timeout_s=timeout_s)
    except Misused as error:
        raise BadRequest(str(error)) from error
    with client:
        yield client


def file_places(kernel: "KernelOut | models.KernelOut") -> dict[str, str]:
    """Return where the files of a kernel are, by name: paths on this machine, or URLs of the service."""
    from service.artifacts import ArtifactStore
    from service.settings import read_settings

    if (url := server()) is not None:
        # Imported here: it brings httpx.
        from xetune_client.server import address

        base = str(address(url)).rstrip("/")
        return {artifact.name: f"{base}{artifact.href}" for artifact in kernel.artifacts}
    store = ArtifactStore(read_settings().artifacts_dir)
    return {artifact.name: str(store.path(artifact.sha256)) for artifact in kernel.artifacts}


def same(model: type[M], value: "BaseModel") -> M:
    """Convert a model of the client to the service's model of the same schema, or back."""
    return model.model_validate_json(value.model_dump_json())


def message_of(error: Exception) -> str:
    """Return the one line that an error of a command is printed as."""
    from xetune_client.errors import ClientError, NotReached, Refused

    match error:
        case Refused(status=401):
            return f"{error.detail}; set XETUNE_API_KEY to a key"
        case Refused():
            return f"refused by rule {error.rule}: {error.detail}" if error.type == _BY_A_RULE else error.detail
        case ClientError() if (url := server()) is not None:
            # Imported here: it brings httpx.
            from xetune_client.server import address

            hint = "; does a service run there? `xetune serve` starts one" if isinstance(error, NotReached) else ""
            return f"{str(address(url)).rstrip('/')}: {error}{hint}"
        case _:
            return str(error)
