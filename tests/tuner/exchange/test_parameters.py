"""Configurations as plain parameters, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen import Extent, KernelConfig, LoopOrder, MatmulConfig, Prefetch, PrefetchLevels, XeConfig, XeStrategy
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.serialization import Malformed
from tests.conformance.trial_samples import config
from tuner.exchange.parameters import config_of, parameters_of

sizes = st.integers(1, 4096)
extents = st.builds(Extent, sizes, sizes, sizes)
matmuls = st.builds(MatmulConfig, extents, extents, extents, st.sampled_from(LoopOrder))
layouts = st.none() | st.tuples(st.integers(1, 64), st.integers(1, 64))
prefetches = st.builds(
    Prefetch,
    st.just(PrefetchLevels.L1),
    st.integers(1, 8),
    st.just(0),
    layouts,
    layouts,
    st.booleans(),
    st.booleans(),
)
xe = st.builds(
    XeConfig,
    matmuls,
    st.builds(
        XeStrategy,
        st.tuples(st.integers(1, 32), st.integers(1, 32)),
        prefetches,
        st.sampled_from([128, 256]),
        pipelined_registers=st.booleans(),
    ),
)
cpu = st.builds(
    CpuConfig, matmuls, st.builds(CpuStrategy, st.sampled_from(Isa), st.just(Packing.NONE), st.sampled_from(Packing))
)


@given(xe | cpu)
def test_every_configuration_comes_back_from_plain_values(made: KernelConfig) -> None:
    said = parameters_of(made)
    assert all(isinstance(value, int | str) and not isinstance(value, bool) for value in said.values())
    assert all(name.isidentifier() for name in said)
    assert config_of(said) == made


def test_names_are_those_of_the_fields() -> None:
    said = parameters_of(config(3))
    assert (said["threads_m"], said["block_k"], said["sg_layout"], said["prefetch_distance"]) == (2, 16, "4x2", 4)
    assert (said["prefetch_layout_a"], said["prefetch_hints"], said["split_k"]) == ("none", 1, "none")


def test_what_is_missing_unknown_or_no_value_is_said() -> None:
    said = parameters_of(config(3))
    with pytest.raises(ValueError, match=r"got none of block_m and unknown ones: BLOCK"):
        config_of({("BLOCK" if name == "block_m" else name): value for name, value in said.items()})
    with pytest.raises(Malformed, match=r"matmul\.block\.m: expected int, got 'wide'"):
        config_of({**said, "block_m": "wide"})
    with pytest.raises(Malformed, match="expected a list, got 'none'"):
        config_of({**said, "sg_layout": "none"})
    with pytest.raises(ValueError, match="block_m: expected numbers of at most 10 digits, got one of 31"):
        config_of({**said, "block_m": 10**30})
    with pytest.raises(ValueError, match="sg_layout: expected numbers of at most 10 digits, got one of 31"):
        config_of({**said, "sg_layout": f"{10**30}x2"})
