"""The attribute that forbids block messages on a matrix."""

LANE_ACCESS = "xetune.lane_access"
"""On init_tile and create_nd_tdesc: the matrix may break the rules of block messages; lanes access its elements."""
