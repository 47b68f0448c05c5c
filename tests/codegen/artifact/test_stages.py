"""Outputs of stages: in order, and none before all are made."""

import pytest

from codegen.artifact.stages import Stages


def test_outputs_that_are_deferred_must_be_completed() -> None:
    stages = Stages()
    stages.add_or_defer("xegpu", "xegpu.mlir", lambda: lambda: "made later")
    stages.add("llvm", "llvm.ll", lambda: "made now")
    with pytest.raises(AssertionError, match="xegpu are deferred"):
        stages.outputs()
    stages.complete()
    assert [(output.name, output.data) for output in stages.outputs()] == [
        ("xegpu", b"made later"),
        ("llvm", b"made now"),
    ]
