"""Parts of kernel.json that host code uses: all are validated, since a kernel may be imported."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from codegen import DType
from db.values import JsonObject
from service.errors import Conflict
from service.http.validation_errors import message_of

_Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
_Options = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9 =._-]{0,200}$")]
_Count = Annotated[int, Field(ge=1, lt=2**31)]


class Argument(BaseModel):
    """A buffer that a launch takes."""

    name: _Name
    role: Literal["input", "output", "inout", "scratch"]
    dtype: DType
    bytes: Annotated[int, Field(ge=1, lt=2**48)]


class Parameter(BaseModel):
    """A parameter: an index of an argument, or the name of a number."""

    argument: Annotated[int, Field(ge=0, lt=64)] | None = None
    scalar: _Name | None = None


class Step(BaseModel):
    """A kernel of a launch."""

    kernel: _Name
    parameters: list[Parameter]
    global_size: list[_Count] = []
    global_size_formula: list[str] = []
    local_size: list[_Count] = []
    threads: _Count | None = None
    once: bool = False


class BuildOptions(BaseModel):
    """Build options of the driver, by API."""

    opencl: _Options = ""
    level_zero: _Options = ""


class DriverNeeds(BaseModel):
    """Extensions and capabilities that the binary needs of a driver."""

    opencl_extensions: list[_Name] = []


class Manifest(BaseModel):
    """Facts of a kernel that a program is generated from."""

    arguments: Annotated[list[Argument], Field(min_length=1)]
    steps: Annotated[list[Step], Field(min_length=1)]
    build_options: BuildOptions = BuildOptions()
    driver_needs: DriverNeeds = DriverNeeds()
    assumes: dict[str, list[str] | None] = {}
    threads: _Count | None = None


def read_manifest(stored: JsonObject) -> Manifest:
    """Parse a stored kernel.json.

    Raises:
        Conflict: it is incomplete, or has values that no program can use.
    """
    try:
        return Manifest.model_validate(stored)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise Conflict(
            f"no host code can be written: kernel.json of the kernel, at {place}: {message_of(error.errors()[0])}; "
            "tune the problem again",
            rule="host-code-manifest",
        ) from error
