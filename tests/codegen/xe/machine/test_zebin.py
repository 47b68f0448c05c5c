"""Binaries are read as .ze_info describes them, and refused where that is not as expected."""

import pytest

from codegen.xe.machine import MachineCodeRefused, read_zebin
from codegen.xe.machine.zebin import Argument
from tests.codegen.xe.isa.recordings import RECORDED
from tests.codegen.xe.machine.elf_file import elf_file

_INFO = b"""---
version: '1.73'
kernels:
  - name: k
    user_attributes:
      intel_reqd_workgroup_walk_order: [ 0, 1, 2 ]
    execution_env:
      barrier_count: 1
      grf_count: 256
      inline_data_payload_size: 32
      required_work_group_size: [ 64, 2, 1 ]
      simd_size: 16
      slm_size: 4096
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 8
        size: 8
        arg_index: 1
        addrmode: stateless
        addrspace: global
      - arg_type: arg_byvalue
        offset: 36
        size: 4
        arg_index: 2
        source_offset: 4
    per_thread_payload_arguments:
      - arg_type: local_id
        offset: 0
        size: 96
"""


def test_a_kernel_is_read_with_its_payloads_and_registers() -> None:
    zebin = read_zebin(elf_file({".ze_info": _INFO, ".text.k": b"code"}))
    kernel = zebin.kernel("k")
    assert zebin.version == "1.73"
    assert kernel.text == b"code"
    assert (kernel.grf_count, kernel.simd_size, kernel.slm_bytes, kernel.barriers) == (256, 16, 4096, 1)
    assert (kernel.inline_bytes, kernel.local_size, kernel.walk_order) == (32, (64, 2, 1), (0, 1, 2))
    assert kernel.cross_thread == (
        Argument("arg_bypointer", 8, 8, 1, "stateless", "global"),
        Argument("arg_byvalue", 36, 4, 2, source_offset=4),
    )
    assert kernel.per_thread == (Argument("local_id", 0, 96),)


def test_a_recorded_description_is_read() -> None:
    info = (RECORDED / "straight_pvc.ze_info").read_bytes()
    kernel = read_zebin(elf_file({".ze_info": info, ".text.gemm": b""})).kernel("gemm")
    assert [argument.index for argument in kernel.cross_thread] == [0, 1, 2]
    assert (kernel.grf_count, kernel.simd_size, kernel.threads_per_eu) == (256, 16, 4)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"\x7fELF\x01", "expected a 64-bit ELF file"),
        (elf_file({".ze_info": _INFO, ".text.k": b""})[:-70], "cut short"),
        (elf_file({".text.k": b""}), "expected a section .ze_info, got .text.k"),
        (elf_file({".ze_info": _INFO}), "expected its instructions in a section .text.k"),
        (elf_file({".ze_info": b"version: '1'\nkernels:\n  - name: k\n", ".text.k": b""}), "execution_env"),
    ],
)
def test_a_binary_that_is_not_as_expected_is_refused(file: bytes, message: str) -> None:
    with pytest.raises(MachineCodeRefused, match=message):
        read_zebin(file)


def test_a_kernel_that_the_binary_lacks_is_refused() -> None:
    with pytest.raises(MachineCodeRefused, match="expected a kernel of k"):
        read_zebin(elf_file({".ze_info": _INFO, ".text.k": b""})).kernel("other")
