"""Packing of operands into the order in which the micro-kernel reads them."""
