"""Answers of a GPU to Intel's queries become facts."""

import struct

import pytest

from hal.facts.intel_attributes import (
    gpu_attributes,
    pci_address,
    subgroup_sizes,
)

# As a B580 would answer: IP version 20.1.4, five slices of four cores.
B580 = {
    0x1002: struct.pack("I", 160),
    0x4108: struct.pack("2Q", 16, 32),
    0x4250: struct.pack("I", 0x05004004),
    0x4251: struct.pack("I", 0xE20B),
    0x4252: struct.pack("I", 5),
    0x4253: struct.pack("I", 4),
    0x4254: struct.pack("I", 8),
    0x4255: struct.pack("I", 8),
    0x4256: struct.pack("Q", 3),
}


def test_a_gpus_answers_become_facts() -> None:
    attributes = gpu_attributes(B580.get)
    assert {fact.name: fact.value for fact in attributes.facts} == {
        "pci_ids": ("E20B",),
        "ip_version": "20.1.4",
        "xe_cores": 20,
        "eus_per_core": 8,
        "threads_per_eu": 8,
    }
    assert attributes.has_dpas is True
    assert subgroup_sizes(B580.get) == (16, 32)


def answers(compute_units: int, slices: int, sub_slices: int, eus: int = 8) -> dict[int, bytes]:
    """Return the answers of a GPU that rounds its sub-slices per slice up."""
    told = {0x1002: compute_units, 0x4252: slices, 0x4253: sub_slices, 0x4254: eus}
    return B580 | {parameter: struct.pack("I", value) for parameter, value in told.items()}


@pytest.mark.parametrize(
    ("told", "cores"),
    [
        pytest.param(answers(144, 5, 4), 18, id="B570"),
        pytest.param(answers(56, 2, 4), 7, id="Arc 130V"),
        pytest.param(answers(448, 1, 64), 56, id="Max 1100"),
        pytest.param(answers(448, 7, 4, 16), 28, id="A750"),
    ],
)
def test_cores_that_are_fused_off_do_not_count(told: dict[int, bytes], cores: int) -> None:
    assert {fact.name: fact.value for fact in gpu_attributes(told.get).facts}["xe_cores"] == cores


def test_cores_are_unknown_where_one_answer_is_missing() -> None:
    for parameter in (0x1002, 0x4254):
        told = {key: answer for key, answer in B580.items() if key != parameter}
        assert "xe_cores" not in {fact.name for fact in gpu_attributes(told.get).facts}


def test_the_dpas_bit_is_the_second() -> None:
    assert gpu_attributes((B580 | {0x4256: struct.pack("Q", 1)}).get).has_dpas is False


def test_a_device_that_does_not_answer_has_no_facts() -> None:
    attributes = gpu_attributes({}.get)
    assert attributes.facts == ()
    assert attributes.has_dpas is None
    assert subgroup_sizes({}.get) is None


def test_a_gpu_tells_where_it_is_on_the_bus() -> None:
    assert pci_address({0x410F: struct.pack("4I", 0, 0x3A, 0, 1)}.get) == "0000:3a:00.1"
    assert pci_address(B580.get) is None
