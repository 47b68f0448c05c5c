"""Kernels as lines of an exchange file: the binary in base64, checked against its hash."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from codegen.backend import backend_of
from tuner.exchange.parameters import AnyConfig
from tuner.session.bounds import Name, Reason, Sha256

FIELD_OF_FILE = {"kernel.spv": "spirv", "kernel.o": "object_code", "kernel.h": "header"}
"""Field of a `KernelRecord` that holds each file of the kernel."""


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A kernel: kernel.json as `manifest`, and in base64 SPIR-V, or for a CPU object code with its C `header`.

    Object code contains its own name, which differs between versions. `code_hash` is the hash without it, by
    which jobs recognize a known time; None if not recorded. `emulated` is the SPIR-V that a CPU runs in place of
    the GPU's, in measuring kits and their results. `withdrawn` is the reason why it is not served where it comes from.
    """

    compile_key: Sha256
    content_hash: Sha256
    target: Name
    problem: str
    config: AnyConfig
    manifest: Mapping[str, object]
    toolchain: Mapping[str, str]
    spirv: str | None = None
    object_code: str | None = None
    header: str | None = None
    code_hash: Sha256 | None = None
    emulated: str | None = None
    emulated_hash: Sha256 | None = None
    withdrawn: Reason | None = None

    def __post_init__(self) -> None:
        said = self.manifest.get("compile_key"), self.manifest.get("content_hash")
        expected = self.compile_key, f"sha256:{self.content_hash}"
        if said != expected:
            raise ValueError(f"manifest: expected compile_key and content_hash {expected}, got {said}")
        backend = backend_of(self.config)
        given = [name for name in FIELD_OF_FILE.values() if getattr(self, name) is not None]
        needed = [FIELD_OF_FILE[name] for name in backend.files]
        if given != needed:
            raise ValueError(
                f"expected {' and '.join(needed)} of {backend.device}'s kernel, got {' and '.join(given) or 'none'}"
            )
        if self.code_hash is not None and not backend.names_code:
            raise ValueError(
                f"code_hash: expected none of {backend.device}'s kernel, which its content_hash names, got one"
            )
        if (self.emulated is None) != (self.emulated_hash is None):
            raise ValueError("emulated_hash: expected it with emulated and only then")


def binary_of(kernel: KernelRecord) -> bytes:
    """Return the binary of a kernel.

    Raises:
        ValueError: it is not base64, of another format, lacks a kernel that is launched, or does not match its hash.
    """
    name = FIELD_OF_FILE[backend_of(kernel.config).binary]
    return _checked(kernel, name, getattr(kernel, name), kernel.content_hash)


def emulated_of(kernel: KernelRecord) -> bytes | None:
    """Return the SPIR-V for a CPU that emulates the kernel's GPU; None if the record has none.

    Raises:
        ValueError: as `binary_of`.
    """
    if kernel.emulated is None or kernel.emulated_hash is None:
        return None
    return _checked(kernel, "emulated", kernel.emulated, kernel.emulated_hash)


def _checked(kernel: KernelRecord, name: str, text: str, sha256: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{name}: expected base64: {error}") from error
    try:
        functions = backend_of(kernel.config).functions_of(data)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if (found := hashlib.sha256(data).hexdigest()) != sha256:
        raise ValueError(f"{name}: expected bytes of SHA-256 {sha256}, got {found}")
    if missing := sorted(_launched(kernel.manifest) - functions):
        raise ValueError(
            f"{name}: expected the kernels that the manifest launches, got none named {', '.join(missing)}"
        )
    return data


def _launched(manifest: Mapping[str, object]) -> set[str]:
    """Return the names of the kernels of the steps; other parts of the program check the form of the manifest."""
    steps = manifest.get("steps")
    return {str(step.get("kernel")) for step in steps if isinstance(step, dict)} if isinstance(steps, list) else set()
