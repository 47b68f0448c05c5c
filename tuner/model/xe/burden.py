"""Order of configurations that the predicted time does not tell apart: what an engineer would take."""

import numpy as np

from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.device import Case
from tuner.model.xe.fetch import Fetch
from tuner.model.xe.work import Work

_PARTS_OF_SLOTS = 8
_OCCUPANCY, _UNFETCHED, _UNMEASURED = 8.0, 4.0, 2.0  # each above the sum of all smaller ones
_DPAS_ROWS = 8

MOST = _PARTS_OF_SLOTS * _OCCUPANCY + _UNFETCHED + _UNMEASURED + 1.0
"""Upper end of the burden."""


def burden(on: Case, c: Columns, work: Work, fetch: Fetch, unmeasured: Column) -> Column:
    """Return the burden of configurations, 0 to MOST, the least preferred; the first of these that differs decides:

    eighths of the thread slots, with the most registers, that hold no sub-group; operands are not fetched ahead;
    features that no public measurement covers; share of messages in the messages and DPAS of a K step.
    """
    slots = on.cores * on.engines * min(on.threads.values())
    empty = 1 - np.minimum(1, work.running * work.subgroups / slots)
    ahead = c.prefetch + np.maximum(0, c.stages - 1) + c.pipelined
    multiplies = c.block_m / _DPAS_ROWS * c.block_n / on.dpas_n * c.k_step / on.dpas_k * on.problem.products
    messages = fetch.messages + fetch.lane_messages + fetch.vector_messages
    return (
        _OCCUPANCY * np.round(_PARTS_OF_SLOTS * empty)
        + _UNFETCHED * (ahead <= 0)
        + _UNMEASURED * unmeasured
        + messages / (messages + multiplies)
    )
