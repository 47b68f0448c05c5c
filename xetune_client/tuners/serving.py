"""Configuration files of the Triton kernels of vLLM and SGLang, which both look for by the name of the device.

A file is "E=64,N=896,device_name=DEVICE,dtype=fp8_w8a8.json" for fused experts, "N=..,K=..,device_name=DEVICE,..." for
block-scaled W8A8, "headdim=..,dstate=..,device_name=DEVICE,..." for state-space models. Records keep it by PCI id
and driver, with "*" for the name. Sources: vllm 0.33, model_executor/layers/fused_moe/fused_moe.py (get_moe_configs),
layers/quantization/utils/fp8_utils.py, layers/mamba/ops/mamba_ssm.py; sglang 0.5.23,
srt/layers/moe/moe_runner/triton_utils/fused_moe_triton_config.py.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from xetune_client import models
from xetune_client.tuners.stated import InvalidEntry, Stated, read_object, write_object

_FILE = re.compile(
    r"(?P<before>(?:[\w=.]+,)*)device_name=(?P<name>[^,/\\]+?)(?P<after>(?:,[\w=.,\[\] ]+?)?(?:_down)?)\.json"
)
_PATTERN = re.compile(r"(?:[\w=.]+,)*device_name=\*(?:,[\w=.,\[\] ]+?)?(?:_down)?\.json")
_TRITON_FOLDER = re.compile(r"triton_(\d+(?:_\d+)*)")
_VERSION = re.compile(r"\d+(?:\.\d+)*")
_OF_FIELDS = {"E,N": "fused_moe", "N,K": "w8a8_block", "headdim,dstate": "selective_state_update"}


class Engine(StrEnum):
    """Programs that read such files."""

    VLLM = "vllm"
    SGLANG = "sglang"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its kernel, its name with "*" for the device, and the name of the device, with underscores."""

    path: Path
    kernel: str
    pattern: str
    device_name: str


def entries(folder: Path) -> Iterator[Entry]:
    """Yield the configuration files in a folder and below, in the order of their paths; other files are left out."""
    for path in sorted(folder.rglob("*device_name=*.json")):
        found = _FILE.fullmatch(path.name)
        said = "" if found is None else found["before"]
        fields = ",".join(field.partition("=")[0] for field in said.split(",")[:2])
        if found is not None and fields in _OF_FIELDS:
            pattern = f"{found['before']}device_name=*{found['after']}.json"
            yield Entry(path, _OF_FIELDS[fields], pattern, found["name"])


def record(engine: Engine, entry: Entry, stated: Stated) -> models.RecordBody:
    """Return a file as a record. The version of Triton is that of the file or its folder, unless `stated` has it.

    Raises:
        InvalidEntry: it is no configuration file.
    """
    config = read_object(entry.path)
    if not any(key.isdigit() and isinstance(value, dict) for key, value in config.items()):
        raise InvalidEntry(f"{entry.path}: expected configurations by number of rows, got {sorted(config)[:5]}")
    folder = _TRITON_FOLDER.fullmatch(entry.path.parent.name)
    of_file = config.get("triton_version") or (folder and folder[1].replace("_", "."))
    versions = {"triton": str(of_file)} if of_file else {}
    return models.RecordBody(
        tuner=engine.value,
        kernel=entry.kernel,
        problem={"file": entry.pattern},
        device=stated.device,
        versions={**versions, **stated.versions},
        config=config,
        origin=stated.origin,
    )


def restore(engine: Engine, found: models.RecordOut, folder: Path, device_name: str) -> Path:
    """Write the file of a record under the name that the current driver gives the device; return its path.

    For vLLM `folder` is VLLM_TUNED_CONFIG_FOLDER; for SGLang it is SGLANG_MOE_CONFIG_DIR, where fused experts are in
    a folder for each version of Triton.

    Raises:
        InvalidEntry: the record is no such file, or SGLang needs a version of Triton that it does not state.
    """
    pattern, triton = found.problem.get("file"), str(found.versions.get("triton", ""))
    if not (isinstance(pattern, str) and _PATTERN.fullmatch(pattern)):
        raise InvalidEntry(f"record {found.id}: expected the name of a configuration file, got {pattern!r}")
    if engine is Engine.SGLANG and found.kernel == "fused_moe":
        if not _VERSION.fullmatch(triton):
            raise InvalidEntry(f"record {found.id}: expected a version of Triton such as 3.8.0, got {triton!r}")
        folder = folder / "configs" / f"triton_{triton.replace('.', '_')}"
    path = folder / pattern.replace("*", file_name_of(device_name))
    write_object(path, found.config, indent=4)
    return path


def file_name_of(device_name: str) -> str:
    """Return the name of a device as both programs write it in names of files."""
    return re.sub(r"[\s/]+", "_", device_name)
