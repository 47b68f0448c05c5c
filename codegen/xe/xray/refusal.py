"""Error of files that cannot be x-rayed."""

from codegen.errors import CodegenError


class XrayRefused(CodegenError):
    """A file has no device code, or is damaged, or unpacks to too much. `where` is the file, with its members."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return XrayRefused, (self.where, self.message)
