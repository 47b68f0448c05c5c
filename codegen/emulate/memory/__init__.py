"""Memory of an emulated kernel: blocks, lanes, private arrays and shared local memory."""
