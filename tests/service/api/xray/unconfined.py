"""X-rays within the process of a test, and a compiler that disassembles all to a recorded kernel."""

import json
import os
import pickle
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from codegen.xe.isa import Ocloc
from service.api.xray.work import FileWork
from service.sandbox.limits import NO_GRANTS, Grants, Limits
from service.sandbox.parent import Answer
from tests.codegen.xe.isa.fake_ocloc import fake_ocloc
from tests.codegen.xe.isa.recordings import RECORDED, recorded
from tests.codegen.xe.xray.files import zebin
from tests.service.api.compile.unconfined import NOTHING_HELD


@pytest.fixture
def unconfined_xray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files here: a sandboxed child imports the compiler anew, in most of a second."""

    def run(module: str, asked: object, _: Limits, grants: Grants = NO_GRANTS) -> Answer:
        assert grants.programs
        if isinstance(asked, FileWork):
            assert grants.files == (asked.file,)
            asked = replace(asked, file=os.dup(asked.file))
        result = import_module(module).run(pickle.loads(pickle.dumps(asked)))
        return Answer(json.loads(json.dumps(result, allow_nan=False)), NOTHING_HELD)

    monkeypatch.setattr("service.api.xray.service.run_confined", run)


@pytest.fixture
def recorded_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unconfined_xray: None) -> tuple[Path, Path]:
    """A compiler to which all is `straight_pvc`, our GEMMs too, and the listing that it prints."""
    text = recorded("straight_pvc").assembly["gemm"]
    listing = tmp_path / "listing.asm"
    listing.write_text(text[: text.index("L1288:")])  # without the alignment after its end
    info = RECORDED / "straight_pvc.ze_info"
    disasm = f"mkdir dump; cp {info} dump/.ze_info; cp {listing} dump/.text.gemm.asm"
    gemm = SimpleNamespace(stage=lambda _: SimpleNamespace(data=b"spirv"), launch=SimpleNamespace(build_options=""))
    monkeypatch.setattr(Ocloc, "compile", lambda *_: zebin())
    monkeypatch.setattr("codegen.backend.compile_kernel", lambda *_: gemm)
    monkeypatch.setattr("service.api.xray.work.GemmArtifact", SimpleNamespace)
    return fake_ocloc(tmp_path, disasm=disasm), listing
