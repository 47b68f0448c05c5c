"""Exported results as commands read them."""

from typing import TYPE_CHECKING

from service.cli.access.resource import Asked, File, FileResource, checked

if TYPE_CHECKING:
    from service.http.context import Context


def _export(context: "Context", asked: Asked) -> File:
    from service.api.exchange.export_stream import exported
    from service.api.exchange.schemas import ExportQuery

    file = exported(checked(ExportQuery, asked), context)
    headers = {name.lower(): value for name, value in file.headers.items()}
    return File("".join(file.parts).encode(), headers)


EXPORT = FileResource("/v1/exports", _export)
