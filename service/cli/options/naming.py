"""Names of options in error messages of requests."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from pydantic import ValidationError

from service.errors import BadRequest, FieldError, Malformed
from service.http.validation_errors import faults_of
from xetune_client.errors import BadRequest as Refused


@contextmanager
def told_by_options(options: Mapping[str, str]) -> Generator[None]:
    """Report each error by the option of its field: `options` by dotted fields; an entry includes nested
    fields.

    Raises:
        BadRequest: as from the service, but for the names.
    """
    try:
        yield
    except ValidationError as error:
        raise _told(faults_of(error.errors(include_url=False)), None, options) from error
    except (BadRequest, Malformed, Refused) as error:
        if not error.errors:
            raise
        raise _told([FieldError.model_validate(dict(each)) for each in error.errors], error.rule, options) from error


def _told(faults: list[FieldError], rule: str | None, options: Mapping[str, str]) -> BadRequest:
    sentences = (f"{_name(fault.field, options)}: {fault.message}" for fault in faults)
    return BadRequest("; ".join(sentences), rule=rule)


def _name(field: str, options: Mapping[str, str]) -> str:
    """Return the option of the longest prefix of a field that has one, followed by the rest; else the field."""
    parts = field.split(".")
    for end in range(len(parts), 0, -1):
        option = options.get(".".join(parts[:end]))
        if option is not None:
            return ": ".join([option, *([".".join(parts[end:])] if end < len(parts) else [])])
    return field
