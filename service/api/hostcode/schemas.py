"""Lists of host code on the wire."""

from pydantic import BaseModel, Field

from service.api.hostcode.languages import Language

_HREF = "/v1/kernels/01970a3c-0000-7000-8000-000000000000/host-code/pyopencl"


class HostCodeOut(BaseModel):
    """A program that runs a kernel."""

    language: Language = Field(description="API that it uses", examples=["pyopencl"])
    file: str = Field(description="Suggested file name", examples=["run_pyopencl.py"])
    needs: str = Field(description="File of the kernel that it needs", examples=["kernel.spv"])
    href: str = Field(description="Path to get it from", examples=[_HREF])


class HostCodeList(BaseModel):
    """Programs that run a kernel."""

    host_code: list[HostCodeOut] = Field(
        description="One for each API",
        examples=[[{"language": "pyopencl", "file": "run_pyopencl.py", "needs": "kernel.spv", "href": _HREF}]],
    )
