"""Messages read and write what their addresses and descriptors say, and nothing else."""

import numpy as np
import pytest

from codegen.simulate import SimulationRefused
from codegen.xe.machine.execute.memory import address_of, handle_of
from tests.codegen.xe.machine.execute_support import GRF_BYTES, Array, run

LOAD_16, LOAD_VNNI, LOAD_T, LOAD_8_V = "0x02800203", "0x02800283", "0x02808403", "0x02800083"
STORE_32 = "0x02000407"


def header(x: int, y: int, columns: int, rows: int, width: int, height: int, pitch: int, blocks: int = 1) -> Array:
    """The address payload of a block message on the first buffer; x in elements, width and pitch in bytes."""
    base = np.array([address_of(0)], np.uint64).view(np.uint32)
    extents = columns - 1 | rows - 1 << 8 | blocks - 1 << 16
    return np.array([*base, width - 1, height - 1, pitch - 1, x & 0xFFFFFFFF, y & 0xFFFFFFFF, extents], np.uint32)


def block(a: Array, x: int, y: int, columns: int, rows: int, width: int) -> Array:
    """The part of a matrix, of which `width` columns are the surface, with zeros outside."""
    out = np.zeros((rows, columns), a.dtype)
    for i in range(rows):
        for j in range(columns):
            if 0 <= y + i < len(a) and 0 <= x + j < width:
                out[i, j] = a[y + i, x + j]
    return out


@pytest.mark.parametrize(("x", "y"), [(0, 0), (24, 6), (-6, -3), (40, 20), (32, 0)])
def test_blocks_are_clipped_to_the_surface(x: int, y: int) -> None:
    a = np.arange(1, 12 * 48 + 1, dtype=np.uint16).reshape(12, 48)
    given = {2: header(x, y, 16, 8, 80, 12, 96)}
    got = run(f"send.ugm (1|M0) r20 r2 null:0 0x0 {LOAD_16} {{$0}}", given, buffers=[a]).get(20, "u2", count=4)
    np.testing.assert_array_equal(got.reshape(8, 16), block(a, x, y, 16, 8, 40))


def test_an_array_of_blocks_with_pairs_of_rows_interleaved() -> None:
    a = np.arange(1, 20 * 64 + 1, dtype=np.uint16).reshape(20, 64)
    given = {2: header(8, 3, 16, 16, 128, 20, 128, blocks=2)}
    got = run(f"send.ugm (1|M0) r20 r2 null:0 0x0 {LOAD_VNNI} {{$0}}", given, buffers=[a]).get(20, "u2", count=16)
    for number in range(2):
        expected = a[3:19, 8 + 16 * number :][:, :16].reshape(8, 2, 16).transpose(0, 2, 1)
        np.testing.assert_array_equal(got.reshape(2, 8, 16, 2)[number], expected)


def test_bytes_are_interleaved_by_fours_and_dwords_transposed() -> None:
    small = np.arange(40 * 64, dtype=np.uint8).reshape(40, 64)
    got = run(
        f"send.ugm (1|M0) r20 r2 null:0 0x0 {LOAD_8_V} {{$0}}", {2: header(16, 5, 16, 32, 64, 40, 64)}, buffers=[small]
    ).get(20, "u1", count=8)
    np.testing.assert_array_equal(got.reshape(8, 16, 4), small[5:37, 16:32].reshape(8, 4, 16).transpose(0, 2, 1))
    a = np.arange(24 * 16, dtype=np.uint32).reshape(24, 16)
    ran = run(f"send.ugm (1|M0) r20 r2 null:0 0x0 {LOAD_T} {{$0}}", {2: header(4, 3, 8, 16, 64, 24, 64)}, buffers=[a])
    np.testing.assert_array_equal(ran.get(20, "u4", count=8).reshape(8, 16), a[3:19, 4:12].T)


def test_offsets_in_the_extended_descriptor_are_added() -> None:
    a = np.arange(1, 24 * 48 + 1, dtype=np.uint16).reshape(24, 48)
    given = {2: header(2, 1, 16, 8, 96, 24, 96)}
    got = run(f"send.ugm (1|M0) r20 r2 null:0 0x2004000 {LOAD_16} {{$0}}", given, buffers=[a]).get(20, "u2", count=4)
    np.testing.assert_array_equal(got.reshape(8, 16), a[9:17, 6:22])  # 4 columns, 8 rows


def test_a_stored_block_leaves_all_else() -> None:
    c = np.zeros((10, 24), np.uint32)
    values = np.arange(1, 8 * 16 + 1, dtype=np.uint32)
    run(
        f"send.ugm (1|M0) null r2 r20:8 0x0 {STORE_32} {{$0}}",
        {2: header(12, 6, 16, 8, 80, 9, 96), 20: values},
        buffers=[c],
    )
    expected = np.zeros_like(c)
    expected[6:9, 12:20] = values.reshape(8, 16)[:3, :8]
    np.testing.assert_array_equal(c, expected)


def test_surfaces_that_are_not_allowed_or_not_in_memory_are_refused() -> None:
    a = np.zeros((8, 48), np.uint16)
    line = f"send.ugm (1|M0) r20 r2 null:0 0x0 {LOAD_16} {{$0}}"
    for given, named in (
        (header(0, 0, 16, 8, 96, 9, 96), "of a buffer of 768 bytes"),
        (header(1, 0, 16, 8, 96, 8, 96), "multiples of 4 bytes"),
        (header(0, 0, 16, 8, 96, 8, 88), "pitches"),
        (header(0, 0, 16, 8, 32, 8, 96), "at least 64 bytes"),
    ):
        with pytest.raises(SimulationRefused, match=named):
            run(line, {2: given}, buffers=[a])
    read_only = np.zeros((8, 24), np.uint32)
    read_only.flags.writeable = False
    with pytest.raises(SimulationRefused, match="an input"):
        run(
            f"send.ugm (1|M0) null r2 r20:8 0x0 {STORE_32} {{$0}}",
            {2: header(0, 0, 16, 8, 96, 8, 96)},
            buffers=[read_only],
        )


def addresses(offsets: Array) -> Array:
    return address_of(0) + offsets.astype(np.int64)


def test_a_block_of_a_surface_may_end_after_the_buffer() -> None:
    # Intel's compiler loads 5 to 7 dwords of a surface as 8.
    a = np.arange(1, 22, dtype=np.uint32)
    of_surface = "(W) mov (1|M0) a0.0<1>:ud r3.0<0;1,0>:ud\nsend.ugm (1|M0) r20 r2 null:0 a0.0 {} {{ExBSO,$0}}"
    given = {3: np.array([handle_of(0)], np.uint32)}
    for first, inside in ((13, 8), (14, 7), (16, 5)):
        here = {2: np.array([first * 4], np.uint32)}
        got = run(of_surface.format("0x2210C500"), given | here, buffers=[a]).get(20, "u4")[:8]
        assert got.tolist() == [*range(first + 1, first + 1 + inside)] + [0xFFFFFFFF] * (8 - inside)
    for line, beyond in (
        (of_surface.format("0x2210C500"), {2: np.array([17 * 4], np.uint32)}),  # 4 elements, which have a message
        (of_surface.format("0x2210B500"), {2: np.array([18 * 4], np.uint32)}),
        ("send.ugm (1|M0) r20 r2 null:0 0x0 0x0210C580 {$0}", {2: addresses(np.array([14 * 4]))}),
    ):
        with pytest.raises(SimulationRefused, match="of a buffer of 84 bytes"):
            run(line, given | beyond, buffers=[a])


def test_vectors_at_addresses_of_each_channel_under_a_predicate() -> None:
    a, at = np.arange(64, dtype=np.uint32), (np.arange(16) * 5 % 31) * 4
    lines = "(W) mov (1|M0) f0.0<1>:uw 0xFFF:uw\n(f0.0) send.ugm (16|M0) r20 r2 null:0 0x0 0x04201580 {$0}"
    ran = run(lines, {2: addresses(at), 20: np.zeros(32, np.uint32)}, buffers=[a])
    got = ran.get(20, "u4", count=2).reshape(2, 16)
    expected = np.stack([a[at // 4], a[at // 4 + 1]])
    expected[:, 12:] = 0
    np.testing.assert_array_equal(got, expected)


def test_shorter_elements_are_extended_and_stored() -> None:
    a, at = np.arange(100, 164).astype(np.uint8), np.arange(16)
    ran = run("send.ugm (16|M0) r20 r2 null:0 0x0 0x04100980 {$0}", {2: addresses(at)}, buffers=[a])
    assert ran.get(20, "u4").tolist() == list(range(100, 116))
    b = np.zeros(64, np.uint16)
    run(
        "send.ugm (16|M0) null r2 r20:1 0x0 0x04000B84 {$0}",
        {2: addresses(at * 6), 20: np.arange(0x10001, 0x10011, dtype=np.uint32)},
        buffers=[b],
    )
    assert b[:48:3].tolist() == list(range(1, 17))
    assert not b[1::3].any()


def test_a_block_of_one_channel_is_consecutive() -> None:
    a = np.arange(128, dtype=np.uint32)
    ran = run("(W) send.ugm (1|M0) r20 r2 null:0 0x8000 0x0210E580 {$0}", {2: addresses(np.array([16]))}, buffers=[a])
    np.testing.assert_array_equal(ran.get(20, "u4", count=2), np.arange(6, 38))


def test_an_address_outside_of_the_buffers_is_refused() -> None:
    line = "send.ugm (16|M0) r20 r2 null:0 0x0 0x04100580 {$0}"
    at = np.arange(16) * 4
    for given, named in ((addresses(at + 4), "of a buffer of 64 bytes"), (at, "in no buffer")):
        with pytest.raises(SimulationRefused, match=named):
            run(line, {2: given}, buffers=[np.zeros(16, np.uint32)])


def test_atomic_operations_of_all_channels_and_threads_count() -> None:
    sums = np.zeros(4, np.float32)
    given = {2: addresses(np.arange(16) % 3 * 4), 20: np.ones(16, np.float32)}
    run("send.ugm (16|M0) null r2 r20:1 0x0 0x04000593 {$0}", given, threads=2, groups=3, buffers=[sums])
    assert sums.tolist() == [36, 30, 30, 0]
    counter = np.zeros(1, np.int32)
    ran = run(
        "send.ugm (16|M0) r9 r2 r20:1 0x0 0x0410058C {$0}",
        {2: addresses(np.zeros(16)), 20: np.ones(16, "i4")},
        threads=2,
        buffers=[counter],
    )
    assert counter[0] == 32
    assert sorted([*ran.get(9, "i4", 0), *ran.get(9, "i4", 1)]) == list(range(32))


def test_shared_memory_ends_where_it_ends_and_a_tag_in_its_addresses_is_ignored() -> None:
    store, load = (
        "(W) send.slm (1|M0) null r3 r4:1 0x0 0x02008504 {$2}",
        "(W) send.slm (1|M0) r9 r3 null:0 0x0 0x02108500 {$3}",
    )
    given = {3: np.array([0x1000003C], np.uint32), 4: np.array([77], np.uint32)}
    assert run(f"{store}\n{load}", given, slm_bytes=64).get(9, "u4")[0] == 77
    with pytest.raises(SimulationRefused, match="of 60 bytes of shared memory"):
        run(store, given, slm_bytes=60)


def test_scratch_memory_belongs_to_a_thread() -> None:
    values = np.arange(3 * 16, dtype=np.uint32).reshape(3, 16)
    spill = "(W) send.ugm (1|M0) null r66 r20:1 0x80000000:a0.2 0x4200D504 {$0}"
    fill = "(W) send.ugm (1|M0) r30 r66 null:0 0x80000000:a0.2 0x4210D500 {$1}"
    base = np.array([0x10000], np.uint32)
    ran = run(
        f"(W) mov (1|M0) a0.2<1>:ud 0x0:ud\n{spill}\n{fill}", {20: values, 66: base}, threads=3, scratch=GRF_BYTES
    )
    for thread in range(3):
        np.testing.assert_array_equal(ran.get(30, "u4", thread), values[thread])
    with pytest.raises(SimulationRefused, match="of 32 of scratch memory"):
        run(f"(W) mov (1|M0) a0.2<1>:ud 0x0:ud\n{spill}", {20: values, 66: base}, threads=3, scratch=32)
    older = (
        "(W) send.dc0 (16|M0) null r0 r20:1 0x0 0x020F1002 {$0}\n(W) send.dc0 (16|M0) r30 r0 null:0 0x0 0x021C1002 {$1}"
    )
    np.testing.assert_array_equal(run(older, {20: values[1]}, scratch=128).get(30, "u4"), values[1])


def test_registers_of_a_message_that_the_scalar_register_lists() -> None:
    at = np.arange(16, dtype=np.uint32) * 16
    values = np.arange(64, dtype=np.uint32).reshape(4, 16)
    load = "\n".join(f"send.slm (16|M0) r{20 + n} r36 null:0 0x{4 * n << 12:X} 0x02100500 {{$3}}" for n in range(4))
    ran = run(
        "(W) mov (1|M0) s0.0<1>:uq 0xD0C0B0624:uq\nsend.slm (16|M0) null r[s0.0] 0x0 0x0A003504 {$2}\n" + load,
        {36: at, 6: values[0], 11: values[1], 12: values[2], 13: values[3]},
        slm_bytes=256,
    )
    assert ran.get(20, "u4", count=4).reshape(4, 16).tolist() == values.tolist()
