"""Host code of stored kernels."""

from uuid import UUID

from sqlalchemy.orm import Session

from db.queries.results import kernels
from service.api.hostcode.languages import Language
from service.api.hostcode.program import (
    HostProgram,
    program_of,
)
from service.api.hostcode.rendering import (
    languages_of,
    render,
)
from service.api.hostcode.schemas import (
    HostCodeList,
    HostCodeOut,
)
from service.errors import NotFound


def read_host_code(session: Session, kernel_id: UUID, language: Language) -> str:
    """Return a program that runs a kernel.

    Raises:
        NotFound: there is no such kernel.
        Conflict: the kernel does not support that API, or its stored facts are incomplete.
    """
    return render(_program(session, kernel_id), language)


def list_host_code(session: Session, kernel_id: UUID) -> HostCodeList:
    """Return the programs for a kernel.

    Raises:
        NotFound: there is no such kernel.
        Conflict: its stored facts are incomplete.
    """
    program = _program(session, kernel_id)
    return HostCodeList(
        host_code=[
            HostCodeOut(
                language=language,
                file=language.file_name,
                needs=program.binary,
                href=f"/v1/kernels/{kernel_id}/host-code/{language}",
            )
            for language in languages_of(program)
        ]
    )


def _program(session: Session, kernel_id: UUID) -> HostProgram:
    kernel = kernels.get(session, kernel_id)
    if kernel is None:
        raise NotFound(f"kernel {kernel_id} does not exist")
    return program_of(kernel)
