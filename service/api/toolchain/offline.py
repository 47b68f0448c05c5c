"""Location of Intel's offline compiler, and its use in tuning runs."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.errors import OclocUnusable
from codegen.target import Target, target_of
from codegen.xe.isa import Ocloc
from hal import DeviceKind, DeviceSpec
from service.settings import PREFIX, InvalidSettings, Settings
from service.telemetry.loggers import Logger

if TYPE_CHECKING:  # measurement, which asking for the compiler does without
    from codegen import GemmArtifact
    from codegen.xe.isa import NativeCode
    from tuner.measure.isa_check import Native

NAME = "ocloc"
_log = Logger(__name__)


def find_ocloc(settings: Settings) -> Ocloc | None:
    """Return the compiler named in the settings, or the one in the user's folder, or in PATH; None without
    any.

    Raises:
        InvalidSettings: the settings name a file that does not exist.
    """
    if settings.ocloc is not None:
        if not settings.ocloc.is_file():
            raise InvalidSettings(
                f"{PREFIX}OCLOC is {str(settings.ocloc)!r}: expected Intel's offline compiler, there is no such file"
            )
        return Ocloc(settings.ocloc.absolute())
    own = settings.ocloc_dir / NAME
    found = own if own.is_file() else shutil.which(NAME)
    return None if found is None else Ocloc(Path(found).absolute())


def need_ocloc(settings: Settings) -> Ocloc:
    """Return the compiler of `find_ocloc`.

    Raises:
        InvalidSettings: the settings name a file that does not exist.
        OclocUnusable: there is none; says how to install it.
    """
    found = find_ocloc(settings)
    if found is None:
        raise OclocUnusable("Intel's offline compiler is not installed: run `xetune toolchain install`")
    return found


@dataclass(frozen=True, slots=True)
class OfflineCompiler:
    """Factory of native compilations for the GPU of a job, if a compiler supports it."""

    ocloc: Ocloc | None

    def __call__(self, spec: DeviceSpec) -> "Native | None":
        """Return the native compilation for a device; None without a compiler, and for a CPU, even one that
        emulates a GPU.
        """
        if self.ocloc is None or spec.kind is DeviceKind.CPU:
            return None
        target = target_of(spec)
        try:
            self.ocloc.check_knows(target.chip)
        except OclocUnusable as error:
            _log.warning("kernels are not compiled for their GPU", device=spec.id, error=str(error))
            return None
        return partial(_compile, self.ocloc, target)


NativeFor = Callable[[DeviceSpec], "Native | None"]


def _compile(ocloc: Ocloc, target: Target, artifact: "GemmArtifact", until_s: float) -> "NativeCode":
    from codegen.xe.isa import compile_kernel

    return compile_kernel(replace(ocloc, until_s=until_s), artifact, target)
