"""Configuration files of vLLM and SGLang as records, and back under another name of the device."""

import ast
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

import pytest

from tests.peers import peer_folder
from tests.xetune_client.tuners.test_triton import out_of
from xetune_client import models
from xetune_client.tuners import InvalidEntry, Stated, serving
from xetune_client.tuners.serving import Engine

STATED = Stated(models.RecordDevice(pci_id="8086:E211", driver="25.18.33578.15"))
ROWS: dict[str, object] = {"1": {"BLOCK_SIZE_M": 16, "num_warps": 4}, "64": {"BLOCK_SIZE_M": 64, "num_warps": 8}}
OLD, NEW = "Intel(R) Arc(TM) Pro B60 Graphics", "Intel(R) Graphics [0xe211]"


def write(folder: Path, name: str, content: dict[str, object] | None = None) -> Path:
    """Write a configuration file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(ROWS if content is None else content))
    return folder / name


@pytest.mark.parametrize(
    ("name", "kernel", "renamed"),
    [
        ("E=64,N=896,device_name={}.json", "fused_moe", None),
        ("E=64,N=896,device_name={}_down.json", "fused_moe", None),
        ("E=64,N=896,device_name={},dtype=fp8_w8a8,block_shape=[128,128].json", "fused_moe", None),
        ("E=64,N=896,device_name={},dtype=fp8_w8a8,block_shape=[128, 128]_down.json", "fused_moe", None),
        ("N=384,K=512,device_name={},dtype=int8_w8a8,block_shape=[128,128].json", "w8a8_block", None),
        ("headdim=64,dstate=128,device_name={},cache_dtype=float16.json", "selective_state_update", None),
    ],
)
def test_a_file_is_written_again_under_the_new_name_of_its_device(
    tmp_path: Path, name: str, kernel: str, renamed: str | None
) -> None:
    write(tmp_path / "old", name.format("Intel(R)_Arc(TM)_Pro_B60_Graphics"))
    (entry,) = serving.entries(tmp_path / "old")
    assert (entry.kernel, entry.device_name) == (kernel, "Intel(R)_Arc(TM)_Pro_B60_Graphics")
    body = serving.record(Engine.VLLM, entry, STATED)
    assert (body.problem, body.config, body.time_us) == ({"file": name.format("*")}, ROWS, None)
    path = serving.restore(Engine.VLLM, out_of(body), tmp_path / "new", NEW)
    assert path.name == name.format("Intel(R)_Graphics_[0xe211]")
    assert json.loads(path.read_text()) == ROWS


def test_the_version_of_triton_is_that_of_the_file_or_its_folder(tmp_path: Path) -> None:
    name = "E=64,N=896,device_name=X.json"
    write(tmp_path / "a", name, {"triton_version": "3.7.1", **ROWS})
    write(tmp_path / "configs/triton_3_8_0", name)
    of_file, of_folder = serving.entries(tmp_path)
    assert serving.record(Engine.VLLM, of_file, STATED).versions == {"triton": "3.7.1"}
    found = serving.record(Engine.SGLANG, of_folder, STATED)
    assert found.versions == {"triton": "3.8.0"}
    path = serving.restore(Engine.SGLANG, out_of(found), tmp_path / "new", "X Y")
    assert path == tmp_path / "new/configs/triton_3_8_0/E=64,N=896,device_name=X_Y.json"
    with pytest.raises(InvalidEntry, match="expected a version of Triton"):
        serving.restore(Engine.SGLANG, out_of(found, versions={"triton": "../.."}), tmp_path / "new", "X")


def test_other_files_are_left_out_or_refused(tmp_path: Path) -> None:
    write(tmp_path, "world=8,H=7168,device_name=X.json")
    write(tmp_path, "config.json")
    assert list(serving.entries(tmp_path)) == []
    write(tmp_path, "E=1,N=2,device_name=X.json", {"x": 1})
    with pytest.raises(InvalidEntry, match="configurations by number of rows"):
        serving.record(Engine.VLLM, next(serving.entries(tmp_path)), STATED)


@pytest.mark.parametrize(
    "pattern", ["../device_name=*.json", "/etc/device_name=*.json", "x", 3, "device_name=*,a/b.json"]
)
def test_a_record_writes_into_the_folder_only(tmp_path: Path, pattern: object) -> None:
    write(tmp_path, "E=1,N=2,device_name=X.json")
    body = serving.record(Engine.VLLM, next(serving.entries(tmp_path)), STATED)
    with pytest.raises(InvalidEntry, match="expected the name of a configuration file"):
        serving.restore(Engine.VLLM, out_of(body, problem={"file": pattern}), tmp_path / "new", "X")
    path = serving.restore(Engine.VLLM, out_of(body), tmp_path / "new", "a/../b")
    assert path.parent == tmp_path / "new"


def function_of(file: Path, name: str, **names: object) -> Any:
    """Return a function of a file that cannot be imported here; `names` are what it uses."""
    tree = ast.parse(file.read_text())
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    found.decorator_list = []
    code: dict[str, Any] = dict(names)
    exec(compile(ast.Module([found], []), str(file), "exec"), code)
    return code[name]


@pytest.mark.slow
def test_vllm_asks_for_the_names_that_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vllm = peer_folder("vllm")
    named: Any = type("Platform", (), {"get_device_name": staticmethod(lambda _: NEW)})
    plain = function_of(vllm / "utils/platform_utils.py", "get_device_name_as_file_name", re=re)
    for name in ("vllm", "vllm.platforms"):
        module = ModuleType(name)
        module.__dict__["current_platform"] = named
        monkeypatch.setitem(sys.modules, name, module)
    ask = function_of(
        vllm / "model_executor/layers/fused_moe/fused_moe.py",
        "get_config_file_name",
        get_device_name_as_file_name=plain,
    )
    write(tmp_path / "old", "E=64,N=896,device_name=B60,dtype=fp8_w8a8,block_shape=[128,64].json")
    (entry,) = serving.entries(tmp_path / "old")
    found = out_of(serving.record(Engine.VLLM, entry, STATED))
    assert serving.restore(Engine.VLLM, found, tmp_path, NEW).name == ask(64, 896, "fp8_w8a8", [128, 64])


@pytest.mark.slow
def test_sglang_asks_for_the_names_that_are_written(tmp_path: Path) -> None:
    experts = peer_folder("sglang") / "srt/layers/moe/moe_runner/triton_utils/fused_moe_triton_config.py"
    names: dict[str, object] = {"get_device_name": lambda: NEW, "Optional": Optional}
    ask = function_of(experts, "get_config_file_name", **names)
    write(
        tmp_path / "configs/triton_3_8_0", "E=64,N=896,device_name=B60,dtype=fp8_w8a8,block_shape=[128, 64]_down.json"
    )
    (entry,) = serving.entries(tmp_path)
    found = out_of(serving.record(Engine.SGLANG, entry, STATED))
    path = serving.restore(Engine.SGLANG, found, tmp_path / "new", NEW)
    assert path.name == ask(64, 896, "fp8_w8a8", [128, 64], down_moe=True)


@pytest.mark.slow
@pytest.mark.parametrize("engine", list(Engine))
def test_every_file_of_the_real_package_is_restored(tmp_path: Path, engine: Engine) -> None:
    folder = peer_folder(engine.value)
    kinds: dict[str, int] = {"fused_moe": 0, "w8a8_block": 0}
    for entry in serving.entries(folder):
        body = serving.record(engine, entry, STATED)
        found = out_of(body, versions=body.versions or {"triton": "3.0.0"})
        path = serving.restore(engine, found, tmp_path, entry.device_name)
        assert path.name == entry.path.name
        assert json.loads(path.read_text()) == json.loads(entry.path.read_text())
        kinds[entry.kernel] = kinds.get(entry.kernel, 0) + 1
    assert min(kinds["fused_moe"], kinds["w8a8_block"]) > 100
