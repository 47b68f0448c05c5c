"""The attribute that forbids block messages on a matrix."""

LANE_ACCESS = "xetune.lane_access"
"""On init_tile and create_nd_tdesc: the matrix may not lie as block messages need it; lanes access its elements."""
