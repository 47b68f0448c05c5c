"""Lowerings of the XeTile operations to XeGPU, by group: the parts of lower-xetile."""
